#include "sched/controllers/passed_on.h"

#include "sched/controllers/ask.h"
#include "sched/queues.h"

static void put_aside(sched_t *s, uint32_t slot, bool aside)
{
    const struct job *job = &s->jobs[slot];
    if (aside) {
        s->place->ops->lift(s->place, job->booking, false);
        controllers_set_aside(s, slot);
    } else {
        s->place->ops->drop(s->place, &job->ask, job->booking);
        controllers_put_back(s, slot);
    }
}

bool passed_on_aside(sched_t *s, bool aside)
{
    const struct queues *n = s->queues;
    bool any = false;
    for (size_t i = 0; i < n->n_victims; i++) {
        const struct job *job = &s->jobs[n->victims[i]];
        if (job->state != SCHED_RUNNING || job->is_lifted || !job->details->is_stopping ||
            job->details->preempted_for == JOB_NONE)
            continue;
        put_aside(s, n->victims[i], aside);
        any = true;
    }
    return any;
}

void preemptors_aside(sched_t *s, uint32_t but, bool aside)
{
    for (uint32_t i = 0; i < s->due.n; i++) {
        const struct job *job = &s->jobs[s->due.v[i].item];
        if (s->due.v[i].item != but && job->is_preempting && !job->is_lifted &&
            job->details->victims > 0)
            put_aside(s, s->due.v[i].item, aside);
    }
}
