#include "sched/record_stopped.h"

#include <stdlib.h>

#include "base/array.h"
#include "sched/queues.h"

int stopped_note(sched_t *s, uint32_t slot, const struct sched_record *r)
{
    struct queues *n = s->queues;
    if (r->state != SCHED_RUNNING || !r->stopping || !r->stopped_for)
        return 0;
    const char *id = queues_text(n, r->stopped_for);
    if (!id || array_grow((void **)&n->stopped, &n->cap_stopped, n->n_stopped + 1,
                          sizeof(*n->stopped)) < 0)
        return -1;
    n->stopped[n->n_stopped++] = (struct stopped){slot, r->stopped_for_member, id};
    return 0;
}

/* A running job is being stopped for a holder, which is due when the last of these has ended. */
static void wait_for_victim(sched_t *s, uint32_t victim, uint32_t holder)
{
    struct job *job = &s->jobs[holder];
    s->jobs[victim].details->preempted_for = holder;
    if (job->details->victims++ == 0)
        heap_move(&s->due, holder, INT64_MAX, job->key.seq);
}

void stopped_resolve(sched_t *s)
{
    struct queues *n = s->queues;
    size_t kept = 0;
    for (size_t i = 0; i < n->n_stopped; i++) {
        const struct stopped *stopped = &n->stopped[i];
        const struct job *job = &s->jobs[stopped->slot];
        int64_t other = depend_find(n->depend, stopped->id, stopped->member);
        if (job->state != SCHED_RUNNING || !job->details->is_stopping)
            continue; /* it is another one by now */
        if (other >= 0 && s->jobs[other].state == SCHED_RESERVED && s->jobs[other].is_preempting)
            wait_for_victim(s, stopped->slot, (uint32_t)other);
        else
            n->stopped[kept++] = *stopped;
    }
    n->n_stopped = kept;
}

void preempting_restored(sched_t *s, uint32_t slot)
{
    s->jobs[slot].is_preempting = true;
    lane_of(s, slot)->preempting++;
    stopped_resolve(s);
}
