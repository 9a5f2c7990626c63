/* What comes with time alone: jobs may begin, blocks begin and end, jobs become preemptible. */
#include "sched/control.h"
#include "sched/named.h"

/* When the next of the running jobs that may be preempted some day may be so. */
static int64_t next_preemptible(const sched_t *s)
{
    const struct named *n = s->named;
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < n->n_victims; i++) {
        const struct job *job = &s->jobs[n->victims[i]];
        int64_t after = job->details->preemptible_after;
        int64_t from = job->at < INT64_MAX - after ? job->at + after : INT64_MAX;
        if (from > s->now && from < next)
            next = from;
    }
    return next;
}

int clock_turn(sched_t *s)
{
    struct named *n = s->named;
    while (n->begins.n > 0 && n->begins.v[0].key <= s->now) {
        uint32_t slot = n->begins.v[0].item;
        if (job_unblock(s, slot, BLOCK_BEGIN) < 0)
            return -1;
        heap_take(&n->begins, slot);
    }
    if (n->turn <= s->now) {
        n->turn = s->place->ops->named->turn(s->place, s->now);
        n->wake_all = true;
        s->woken = true;
    }
    if (n->preemptible_next <= s->now) {
        n->preemptible_next = next_preemptible(s);
        n->has_victims = true;
    }
    return 0;
}

int64_t clock_next(const sched_t *s)
{
    const struct named *n = s->named;
    int64_t next = s->due.n > 0 ? s->due.v[0].key : INT64_MAX;
    if (n->begins.n > 0 && n->begins.v[0].key < next)
        next = n->begins.v[0].key;
    if (n->preemptible_next < next)
        next = n->preemptible_next;
    return n->turn < next ? n->turn : next;
}
