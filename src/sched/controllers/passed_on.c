#include "sched/controllers/passed_on.h"

#include "sched/controllers/ask.h"
#include "sched/controllers/awaited.h"
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
        if (job->state != SCHED_RUNNING || job->is_lifted || !is_awaited(s, n->victims[i]))
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

void preemptors_due_aside(sched_t *s, uint32_t but, bool aside)
{
    for (uint32_t i = 0; i < s->due.n; i++) {
        const struct job *job = &s->jobs[s->due.v[i].item];
        if (s->due.v[i].item != but && job->is_preempting && !job->is_lifted &&
            job->details->victims == 0)
            (aside ? controllers_set_aside : controllers_put_back)(s, s->due.v[i].item);
    }
}

/* Whether any job waits for victims. */
static bool anybody_waits(const sched_t *s)
{
    for (uint32_t i = 0; i < s->n_lanes; i++)
        if (s->lanes[i].preempting > 0)
            return true;
    return false;
}

bool may_ask_at_last(sched_t *s, uint32_t slot)
{
    const struct place_ask *ask = &s->jobs[slot].ask;
    if (!anybody_waits(s) || !passed_on_aside(s, true))
        return false;
    bool may = controllers_may_ask(s, slot, ask, s->now);
    passed_on_aside(s, false);
    if (!may)
        return false;
    preemptors_aside(s, slot, true);
    may = controllers_may_ask(s, slot, ask, s->now);
    preemptors_aside(s, slot, false);
    return may;
}
