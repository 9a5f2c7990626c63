/* The sweep: after ends, each reservation in queue order moves to its earliest time, given all the others.
 *
 * Searching the calendar for each from now on would be right and slow. Two things are known instead.
 *
 *  1. A reservation stood at its earliest time when it was last tried. A window that has become possible since
 *     contains an instant that was freed since, so it does not end before the first of these (freed.h).
 *  2. If a job of the same shape, the same units and duration, was tried just now and has no window before t,
 *     then every such window has an instant before t at which too much is taken. That holds for the next job of
 *     this shape too, as long as it does not itself stand before t: what it holds would count as free for it.
 *     Windows that contain an instant freed meanwhile are excepted, as in 1.
 *
 * The search begins where these leave off, and ends at the reservation itself. Jobs of one shape often come in
 * crowds, of which only the first costs a search.
 */
#include <errno.h>

#include "sched/sched_priv.h"

uint8_t shape_slot(const struct place_ask *ask)
{
    uint64_t hash = ((uint64_t)ask->units * 0x9e3779b97f4a7c15u) ^
                    ((uint64_t)ask->duration * 0xc2b2ae3d27d4eb4fu);
    return (uint8_t)(hash >> (64 - SHAPE_BITS));
}

/* What is known of the job's shape, in its slot of the table; another shape's knowledge there is forgotten. */
static struct shape *shape_of(sched_t *s, const struct job *job)
{
    struct shape *shape = &s->shapes[job->shape];
    if (shape->ask.units != job->ask.units || shape->ask.duration != job->ask.duration)
        *shape = (struct shape){.ask = job->ask, .needs = INT64_MAX};
    return shape;
}

/* The first start whose window reaches `from`. */
static int64_t first_to_reach(int64_t from, int64_t duration)
{
    return from > duration ? from - duration + 1 : 0;
}

/* Before this time a reservation need not be looked for. */
static int64_t known_bound(const sched_t *s, const struct job *job, const struct shape *shape)
{
    int64_t duration = job->ask.duration;
    int64_t own = first_to_reach(freed_since(&s->freed, job->seen), duration);
    int64_t bound = own > s->now ? own : s->now;
    if (shape->needs <= job->at) {
        int64_t freed = first_to_reach(freed_since(&s->freed, shape->seen), duration);
        int64_t alike = shape->none_before < freed ? shape->none_before : freed;
        bound = alike > bound ? alike : bound;
    }
    return bound;
}

/* Move one reservation if it can. 0, or -1 with ENOMEM. */
static int pull(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct shape *shape = shape_of(s, job);
    int64_t bound = known_bound(s, job, shape);
    int64_t was = job->at;
    if (bound < was) {
        if (decision_reserve(s) < 0)
            return -1;
        int64_t at = s->place->ops->pull(s->place, &job->ask, job->booking, was, bound);
        if (at < 0)
            return -1;
        shape->none_before = at;
        shape->needs = was; /* what rules out the windows before the bound may lie beyond `at` */
        shape->seen = s->freed.place;
        job->at = at;
    }
    job->seen = s->freed.place;
    if (job->at == was)
        return 0;
    int64_t end = job->at + job->ask.duration;
    freed_add(&s->freed, end > was ? end : was);
    heap_move(&s->due, slot, job->at, job->key.seq);
    decision_add(s, SCHED_RESERVE, slot, job->at, NULL);
    return 0;
}

int sweep(sched_t *s)
{
    struct queue_cursor c;
    uint64_t begun = s->freed.place;
    for (bool any = queue_begin(s->held, &c); any; any = queue_next(&c)) {
        if (pull(s, queue_item(&c)) < 0) {
            errno = ENOMEM;
            return -1;
        }
    }
    freed_forget(&s->freed, begun);
    s->swept = true;
    return 0;
}
