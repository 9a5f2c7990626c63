#include "sched/config/overtake.h"

#include <stdlib.h>

#include "base/array.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"

/* A holder's key, and the least that it or one behind it had. */
struct overtaken {
    struct queue_key is, was;
};

int overtake_begin(struct overtake *o, sched_t *s)
{
    *o = (struct overtake){.was = calloc((size_t)s->n_jobs + 1, sizeof(*o->was)),
                           .holder = calloc((size_t)s->n_jobs + 1, sizeof(*o->holder))};
    if (!o->was || !o->holder ||
        array_grow((void **)&s->fresh, &s->cap_fresh, s->n_fresh + s->n_jobs, sizeof(*s->fresh)) <
            0) {
        overtake_end(o);
        return -1;
    }
    uint32_t slot = s->queues->first;
    for (; slot != JOB_NONE; slot = s->jobs[slot].details->following)
        o->was[slot] = s->jobs[slot].key;
    return 0;
}

/* All holders in queue order. */
static void list_holders(struct overtake *o, const sched_t *s)
{
    uint32_t slot = held_next(s, false, KEY_FIRST);
    for (o->n = 0; slot != JOB_NONE; slot = held_next(s, true, s->jobs[slot].key))
        o->holder[o->n++] = (struct overtaken){s->jobs[slot].key, o->was[slot]};
    for (size_t i = o->n; i-- > 1;)
        if (queue_before(o->holder[i].was, o->holder[i - 1].was))
            o->holder[i - 1].was = o->holder[i].was;
}

/* Whether a job goes before a holder that it went behind. */
static bool overtakes(const struct overtake *o, struct queue_key is, struct queue_key was)
{
    size_t low = 0, high = o->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (queue_before(is, o->holder[middle].is))
            high = middle;
        else
            low = middle + 1;
    }
    return low < o->n && queue_before(o->holder[low].was, was);
}

void overtake_renew(struct overtake *o, sched_t *s)
{
    uint32_t slot = s->queues->first;
    list_holders(o, s);
    for (; slot != JOB_NONE; slot = s->jobs[slot].details->following)
        if (s->jobs[slot].state == SCHED_WAITING && overtakes(o, s->jobs[slot].key, o->was[slot]))
            open_renew(s, slot); /* there is memory for it */
}

void overtake_end(struct overtake *o)
{
    free(o->was);
    free(o->holder);
    *o = (struct overtake){0};
}
