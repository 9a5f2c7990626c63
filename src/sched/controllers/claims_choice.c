/* For whom a claim waits: the choice of what is claimed. */
#include <errno.h>
#include <stdlib.h>

#include "sched/controllers/blocks.h"
#include "sched/controllers/claims_priv.h"

/* A job that holds something that the job of a claim could use, or a reservation before it. */
struct awaited {
    uint32_t slot;
    bool is_lifted, is_needed;
    int64_t free; /* beside it, in a node of its own: the more the less is missing there */
    int64_t end;  /* INT64_MAX: nobody knows */
    int64_t at;
    struct queue_key key;
};

struct choice {
    sched_t *s;
    uint32_t slot;
    struct place_ask ask;
    struct awaited *v; /* the best first; those that may be stopped come before */
    size_t n, stopped;
    int64_t at; /* from when on */
};

/* The best to wait for first: beside whom most is free, who is expected to end first, who has run for longest. */
static int compare_awaited(const void *a, const void *b)
{
    const struct awaited *x = a, *y = b;
    if (x->free != y->free)
        return x->free > y->free ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return queue_before(x->key, y->key) ? -1 : queue_before(y->key, x->key);
}

static void list_awaited(struct choice *c, const struct heap *from, bool stopped)
{
    const sched_t *s = c->s;
    for (size_t i = 0; i < from->n; i++) {
        const struct job *job = &s->jobs[from->v[i].item];
        bool runs = job->state == SCHED_RUNNING,
             stops = runs && may_stop(s, c->slot, from->v[i].item);
        if (runs != (from == &s->queues->ends) || stops != stopped ||
            !may_lie_over(s, c->slot, job) ||
            s->place->ops->useful(s->place, &c->ask, job->booking) == 0)
            continue;
        c->v[c->n++] = (struct awaited){.slot = from->v[i].item,
                                        .end = known_end(s, c->slot, from->v[i].item),
                                        .at = job->at,
                                        .key = job->key};
    }
}

static int measure_free_beside(struct choice *c)
{
    const sched_t *s = c->s;
    int64_t *v = reallocarray(NULL, 2 * c->n + 1, sizeof(*v));
    if (!v)
        return -1;
    for (size_t i = 0; i < c->n; i++)
        v[i] = s->jobs[c->v[i].slot].booking;
    bool any = claims_lift(c->s, CLAIMS_ALL, JOB_NONE); /* they withhold, and hold nothing */
    int rc = s->place->ops->free_beside(s->place, v, c->n, s->now, v + c->n);
    if (any)
        claims_lay(c->s);
    for (size_t i = 0; i < c->n && rc == 0; i++)
        c->v[i].free = v[c->n + i];
    free(v);
    return rc;
}

/* List whom it may wait for. Returns 0, or -1 with ENOMEM. */
static int choice_begin(struct choice *c, sched_t *s, uint32_t slot)
{
    const struct heap *ends = &s->queues->ends;
    *c = (struct choice){.s = s, .slot = slot, .ask = s->jobs[slot].ask, .at = s->now};
    c->ask.clear = clear_for(s, slot);
    c->ask.duration = s->place->endless;
    c->v = reallocarray(NULL, (size_t)ends->n + s->due.n + 1, sizeof(*c->v));
    if (!c->v)
        return -1;
    list_awaited(c, ends, true);
    c->stopped = c->n;
    list_awaited(c, ends, false);
    list_awaited(c, &s->due, false);
    if (measure_free_beside(c) < 0) {
        free(c->v);
        return -1;
    }
    qsort(c->v + c->stopped, c->n - c->stopped, sizeof(*c->v), compare_awaited);
    return 0;
}

static void lift_awaited(struct choice *c, size_t i, bool is)
{
    const struct place_ops *ops = c->s->place->ops;
    const struct job *job = &c->s->jobs[c->v[i].slot];
    if (c->v[i].is_lifted == is)
        return;
    c->v[i].is_lifted = is;
    if (is)
        ops->lift(c->s->place, job->booking, false);
    else
        ops->drop(c->s->place, &job->ask, job->booking);
}

/* Whether it fits with the first so many out of the calendars, beside those that are needed. 1, 0, or -1 with ENOMEM. */
static int fits_with(struct choice *c, size_t first)
{
    const struct place_ops *ops = c->s->place->ops;
    for (size_t i = 0; i < c->n; i++)
        lift_awaited(c, i, i < first || c->v[i].is_needed);
    int64_t booking = ops->probe(c->s->place, &c->ask, c->at);
    if (booking == -1)
        return errno == ENOMEM ? -1 : 0;
    ops->release(c->s->place, booking);
    return 1;
}

/* The least number of the first ones that are enough; so many are. -1: ENOMEM. */
static int64_t fewest(struct choice *c, size_t most)
{
    size_t low = c->stopped, high = most;
    bool is_next = true; /* on a full machine few can be spared */
    while (low < high) {
        size_t middle = is_next ? high - 1 : low + (high - low) / 2;
        int fits = fits_with(c, middle);
        if (fits < 0)
            return -1;
        if (fits)
            high = middle;
        else
            low = middle + 1;
        is_next = false;
    }
    return (int64_t)high;
}

/* Take those out of the calendars whom it waits for: the worst of them is as good as can be, then the next one, and so
 * on. Returns 1, 0 if it does not fit with all of them, or -1 with ENOMEM.
 */
static int choose_awaited(struct choice *c)
{
    size_t most = c->n;
    int fits = fits_with(c, most);
    while (fits == 1 && most > c->stopped) {
        int64_t fewer = fewest(c, most);
        if (fewer < 0)
            return -1;
        most = (size_t)fewer;
        if (most > c->stopped)
            c->v[--most].is_needed = true;
    }
    return fits == 1 ? fits_with(c, most) : fits;
}

/* They are back, as they were: nothing but claims lies over others. */
static void choice_end(struct choice *c)
{
    claims_lift(c->s, CLAIMS_ALL, JOB_NONE);
    for (size_t i = 0; i < c->n; i++)
        lift_awaited(c, i, false);
    claims_lay(c->s);
    free(c->v);
}

/* Where it is blocks that leave too little: the first time at which enough of them are over. As choose_awaited. */
static int choose_after_blocks(struct choice *c)
{
    uint64_t permits = c->ask.permits;
    c->ask.permits = UINT64_MAX;
    int fits = fits_with(c, c->n);
    c->ask.permits = permits;
    if (fits != 1)
        return fits;
    fits = 0;
    for (int i = 0; fits == 0 && i < TURNS_FOLLOWED; i++) {
        int64_t end = blocks_next_end(c->s, c->slot, c->at);
        if (end >= c->s->place->endless)
            return 0;
        c->at = end;
        fits = choose_awaited(c);
    }
    return fits;
}

int64_t claim_choose(sched_t *s, uint32_t slot, int64_t *at)
{
    struct choice c;
    if (choice_begin(&c, s, slot) < 0)
        return -1;
    int fits = choose_awaited(&c);
    if (fits == 0 && c.ask.clear != 1) {
        c.ask.clear = 1; /* what a block has later will do, too */
        fits = choose_awaited(&c);
    }
    if (fits == 0 && blocks_next_end(s, slot, s->now) < INT64_MAX)
        fits = choose_after_blocks(&c);
    *at = c.at;
    int64_t booking = fits == 1 ? s->place->ops->book(s->place, &c.ask, c.at) : -1;
    int error = fits == 0 ? EBUSY : errno;
    if (booking >= 0)
        s->place->ops->lift(s->place, booking, false);
    choice_end(&c);
    errno = error;
    return booking;
}
