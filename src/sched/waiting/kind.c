/* Kinds: what jobs ask for, who of them sleeps, and who may fit now (kind.h). */
#include "sched/waiting/kind.h"

#include <errno.h>
#include <stdlib.h>

#include "sched/queues.h"
#include "sched/waiting/finder.h"

void kinds_clear(struct kinds *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        queue_destroy(t->v[i].open);
    free(t->v);
    free(t->chain);
    *t = (struct kinds){0};
}

static uint32_t hash_of(uint32_t class, uint32_t lane, uint64_t permits)
{
    uint64_t h =
        ((uint64_t) class << 32 | lane) * 0x9e3779b97f4a7c15u ^ permits * 0xc2b2ae3d27d4eb4fu;
    return (uint32_t)(h >> 32);
}

static uint32_t *chain_of(struct kinds *t, const struct kind *k)
{
    return &t->chain[hash_of(k->class, k->lane, k->permits) & (t->chains - 1)];
}

/* More chains where there are more kinds than chains. Returns 0, or -1 with ENOMEM. */
static int rehash(struct kinds *t)
{
    uint32_t chains = t->chains ? t->chains * 2 : 64;
    uint32_t *chain = reallocarray(NULL, chains, sizeof(*chain));
    if (!chain)
        return -1;
    for (uint32_t i = 0; i < chains; i++)
        chain[i] = KIND_NONE;
    free(t->chain);
    t->chain = chain;
    t->chains = chains;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->v[i].jobs == 0)
            continue;
        uint32_t *link = chain_of(t, &t->v[i]);
        t->v[i].next = *link;
        *link = i;
    }
    return 0;
}

/* A slot for a kind that no job knows yet, or KIND_NONE with ENOMEM. */
static uint32_t kind_alloc(struct kinds *t)
{
    uint32_t i = t->free;
    if (t->cap == 0)
        i = KIND_NONE;
    if (i != KIND_NONE) {
        t->free = t->v[i].next;
        return i;
    }
    if (t->n == t->cap) {
        uint32_t cap = t->cap ? t->cap * 2 : 32;
        struct kind *v = reallocarray(t->v, cap, sizeof(*v));
        if (!v)
            return KIND_NONE;
        if (t->cap == 0)
            t->free = KIND_NONE;
        t->v = v;
        t->cap = cap;
    }
    return t->n++;
}

int64_t kind_enter(struct kinds *t, const struct place_ask *ask, uint32_t lane)
{
    if (t->n >= t->chains && rehash(t) < 0)
        return -1;
    uint32_t *link = &t->chain[hash_of(ask->class, lane, ask->permits) & (t->chains - 1)];
    for (uint32_t i = *link; i != KIND_NONE; i = t->v[i].next) {
        struct kind *k = &t->v[i];
        if (k->class == ask->class && k->lane == lane && k->permits == ask->permits) {
            k->jobs++;
            return i;
        }
    }
    uint32_t i = kind_alloc(t);
    if (i == KIND_NONE)
        return -1;
    t->v[i] = (struct kind){.class = ask->class,
                            .lane = lane,
                            .permits = ask->permits,
                            .units = ask->units,
                            .jobs = 1,
                            .next = *link,
                            .fails = INT64_MAX};
    *link = i;
    return i;
}

void kind_leave(sched_t *s, struct kinds *t, uint32_t kind)
{
    struct kind *k = &t->v[kind];
    if (--k->jobs > 0)
        return;
    uint32_t *link = chain_of(t, k);
    while (*link != kind)
        link = &t->v[*link].next;
    *link = k->next;
    if (k->in_fill)
        queue_remove(s->lanes[k->lane].fill, k->key);
    queue_destroy(k->open);
    *k = (struct kind){.next = t->free};
    t->free = kind;
}

struct kind *kind_of(const sched_t *s, uint32_t slot)
{
    return &s->queues->kinds.v[s->jobs[slot].details->kind];
}

static int fill_insert(sched_t *s, uint32_t kind, struct queue_key key, int64_t least)
{
    struct kind *k = &s->queues->kinds.v[kind];
    struct queue_entry entry = {key, k->units, least, kind};
    if (queue_insert(s->lanes[k->lane].fill, &entry) < 0)
        return -1;
    k->in_fill = true;
    k->key = key;
    k->least = least;
    return 0;
}

static void fill_remove(sched_t *s, struct kind *k)
{
    if (!k->in_fill)
        return;
    queue_remove(s->lanes[k->lane].fill, k->key);
    k->in_fill = false;
}

/* A job of this key and duration is there: the entry in fill must not promise less than it. */
static int fill_show(sched_t *s, uint32_t kind, struct queue_key key, int64_t duration)
{
    struct kind *k = &s->queues->kinds.v[kind];
    if (duration >= k->fails)
        return 0;
    if (!k->in_fill)
        return fill_insert(s, kind, key, duration);
    bool sooner = queue_before(key, k->key);
    if (!sooner && duration >= k->least)
        return 0;
    struct queue_key old = k->key;
    int64_t least = duration < k->least ? duration : k->least;
    if (sooner) {
        if (fill_insert(s, kind, key, least) < 0)
            return -1;
        queue_remove(s->lanes[k->lane].fill, old);
        return 0;
    }
    queue_remove(s->lanes[k->lane].fill, old); /* what was just there finds room again */
    k->in_fill = false;
    return fill_insert(s, kind, old, least);
}

/* There was no memory to show a kind in fill: it sleeps until the next pass wakes all. */
static void kind_lose(sched_t *s, struct kind *k)
{
    k->fails = 0;
    s->queues->wake_all = true;
}

static int reserve(sched_t *s, uint32_t slot)
{
    struct kind *k = kind_of(s, slot);
    if (!k->open)
        k->open = queue_create(1);
    k->is_reserved = k->open && queue_reserve(k->open) == 0;
    return k->is_reserved && queue_reserve(s->lanes[k->lane].fill) == 0 ? 0 : -1;
}

static int add(sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    uint32_t number = job->details->kind;
    struct kind *k = kind_of(s, slot);
    struct queue_entry entry = {job->key, 1, job->ask.duration, slot};
    if (!k->open) {
        k->open = queue_create(1);
        if (!k->open)
            return -1;
    }
    if (queue_insert(k->open, &entry) < 0)
        return -1;
    k->is_reserved = false;
    if (fill_show(s, number, job->key, job->ask.duration) == 0)
        return 0;
    queue_remove(k->open, job->key);
    errno = ENOMEM;
    return -1;
}

static void remove_job(sched_t *s, uint32_t slot)
{
    struct kind *k = kind_of(s, slot);
    struct queue_key key = s->jobs[slot].key;
    struct queue_entry first;
    queue_remove(k->open, key);
    if (queue_size(k->open) == 0) {
        fill_remove(s, k);
        if (k->is_reserved)
            return;
        queue_destroy(k->open);
        k->open = NULL;
    } else if (k->in_fill && !queue_before(k->key, key) && queue_first(k->open, &first)) {
        fill_remove(s, k); /* no two entries may have one key */
        if (fill_insert(s, s->jobs[slot].details->kind, first.key, k->least) < 0)
            kind_lose(s, k);
    }
}

static bool sleeps(const sched_t *s, uint32_t slot)
{
    return s->jobs[slot].ask.duration >= kind_of(s, slot)->fails;
}

static void failed_one(sched_t *s, uint32_t slot)
{
    struct kind *k = kind_of(s, slot);
    int64_t duration = s->jobs[slot].ask.duration;
    if (duration < k->fails)
        k->fails = duration;
    if (k->in_fill && k->least >= k->fails)
        fill_remove(s, k);
}

/* The first job of the kind after `after` that lasts no longer than `within`. */
static bool kind_first(const struct kind *k, const struct queue_key *after, int64_t within,
                       struct queue_entry *entry)
{
    struct queue_bound bound = {1, within};
    return k->open && queue_match(k->open, after, &bound, 1, entry);
}

void kinds_measure(sched_t *s)
{
    struct kinds *t = &s->queues->kinds;
    for (uint32_t i = 0; i < t->n; i++) {
        struct kind *k = &t->v[i];
        if (k->jobs == 0)
            continue;
        k->units = s->place->ops->units(s->place, k->class);
        if (k->in_fill) { /* it is shown again with what it has now */
            fill_remove(s, k);
            kind_lose(s, k);
        }
    }
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following)
        if (s->jobs[slot].details->kind != KIND_NONE)
            s->jobs[slot].ask.units = t->v[s->jobs[slot].details->kind].units;
    s->queues->wake_all = true;
}

/* Whether some job of a kind that sleeps may fit now, as far as counts say; else none that lasts as long as
 * the shortest does.
 */
static bool may_fit(sched_t *s, struct kind *k)
{
    const struct lane *lane = &s->lanes[k->lane];
    struct place_ask ask = {
        .units = k->units, .class = k->class, .part = lane->part, .permits = k->permits};
    if (!k->open || queue_size(k->open) == 0)
        return true;
    ask.duration = queue_least(k->open);
    const struct place_ops *ops = s->place->ops;
    bool is_short = ops->is_short(s->place, &ask, s->now, &k->note);
    if (ask.duration > k->fails)
        k->fails = ask.duration;
    ask.duration = k->fails; /* who sleeps lasts as long or longer */
    return !is_short && ops->betters(s->place, &ask, -1, s->now, s->queues->heard);
}

static void wake(sched_t *s, bool all)
{
    all |= s->queues->wake_all;
    s->queues->wake_all = false;
    struct kinds *t = &s->queues->kinds;
    const struct place_ops *ops = s->place->ops;
    if (!all && ops->freed(s->place) == s->queues->heard)
        return;
    for (uint32_t i = 0; i < t->n; i++) {
        struct kind *k = &t->v[i];
        struct queue_entry first;
        if (k->jobs == 0 || k->fails == INT64_MAX || !(all || may_fit(s, k)))
            continue;
        k->fails = INT64_MAX;
        /* Awake with all jobs it has: the least duration is 1 as far as is known without a look. */
        if (k->open && queue_first(k->open, &first)) {
            fill_remove(s, k);
            if (fill_insert(s, i, first.key, 1) < 0)
                kind_lose(s, k);
        }
    }
    ops->settle(s->place);
    s->queues->heard = ops->freed(s->place);
}

static void fill_begin(struct lane *lane)
{
    lane->fill_begun = false;
    lane->rooms_as_of = UINT64_MAX;
    while (lane->candidates.n > 0)
        heap_take(&lane->candidates, lane->candidates.v[0].item);
}

/* What is free now for how long, as of what is booked. */
static void rooms_update(sched_t *s, struct lane *lane)
{
    struct planner_room room[KIND_ROOMS_MAX];
    if (lane->rooms_as_of == s->booked)
        return;
    lane->n_bounds = s->place->ops->rooms(s->place, lane->part, s->now, room, KIND_ROOMS_MAX);
    for (size_t i = 0; i < lane->n_bounds; i++)
        lane->bound[i] = (struct queue_bound){room[i].free, room[i].within};
    lane->rooms_as_of = s->booked;
}

/* How long a job of so many units could last; 0: it has no room. */
static int64_t within_of(const struct lane *lane, int64_t units)
{
    int64_t within = 0;
    for (size_t i = 0; i < lane->n_bounds; i++)
        if (lane->bound[i].units >= units && lane->bound[i].value > within)
            within = lane->bound[i].value;
    return within;
}

/* Make the next job of the kind after `after` that may fit a candidate. Returns 0, or -1 with ENOMEM. */
static int candidate_put(sched_t *s, struct lane *lane, uint32_t kind,
                         const struct queue_key *after)
{
    struct kind *k = &s->queues->kinds.v[kind];
    struct queue_entry entry;
    int64_t within = within_of(lane, k->units);
    if (k->fails <= within)
        within = k->fails - 1;
    if (within < 1 || !kind_first(k, after, within, &entry))
        return 0;
    k->candidate = entry.item;
    return heap_put(&lane->candidates, kind, entry.key.rank, entry.key.seq);
}

/* Take in the kinds that may have a job before the first candidate. */
static int candidates_gather(sched_t *s, struct lane *lane)
{
    struct queue_entry entry;
    while (queue_match(lane->fill, lane->fill_begun ? &lane->fill_after : NULL, lane->bound,
                       lane->n_bounds, &entry)) {
        const struct heap *heap = &lane->candidates;
        if (heap->n > 0) {
            struct queue_key first = {heap->v[0].key, heap->v[0].order};
            if (queue_before(first, entry.key))
                return 0;
        }
        lane->fill_begun = true;
        lane->fill_after = entry.key;
        if (!heap_has(heap, entry.item) &&
            candidate_put(s, lane, entry.item, lane->begun ? &lane->after : NULL) < 0)
            return -1;
    }
    return 0;
}

static int fill_done(sched_t *s, uint32_t number, uint32_t slot)
{
    struct lane *lane = &s->lanes[number];
    uint32_t kind = s->jobs[slot].details->kind;
    struct queue_key key = s->jobs[slot].key;
    heap_take(&lane->candidates, kind);
    rooms_update(s, lane);
    return candidate_put(s, lane, kind, &key);
}

static uint32_t fill_next(sched_t *s, uint32_t number, bool *failed)
{
    struct lane *lane = &s->lanes[number];
    *failed = false;
    for (;;) {
        rooms_update(s, lane);
        if (candidates_gather(s, lane) < 0) {
            *failed = true;
            return JOB_NONE;
        }
        if (lane->candidates.n == 0)
            return JOB_NONE;
        struct kind *k = &s->queues->kinds.v[lane->candidates.v[0].item];
        int64_t duration = s->jobs[k->candidate].ask.duration;
        if (duration <= within_of(lane, k->units) && duration < k->fails)
            return k->candidate;
        if (fill_done(s, number, k->candidate) < 0) { /* there is less room by now */
            *failed = true;
            return JOB_NONE;
        }
    }
}

/* Each open job is in its kind, and fill promises no less than there is. */
static bool kind_check(const sched_t *s, const struct kind *k)
{
    struct queue_cursor c;
    if (!k->open)
        return !k->in_fill;
    if (!queue_check(k->open))
        return false;
    for (bool any = queue_begin(k->open, &c); any; any = queue_next(&c)) {
        const struct job *job = &s->jobs[queue_item(&c)];
        if (job->state != SCHED_WAITING || &s->queues->kinds.v[job->details->kind] != k ||
            job->ask.class != k->class || job->ask.permits != k->permits || job->lane != k->lane)
            return false;
        if (job->ask.duration < k->fails &&
            (!k->in_fill || k->least > job->ask.duration || queue_before(job->key, k->key)))
            return false;
    }
    return true;
}

static bool check(const sched_t *s)
{
    const struct kinds *t = &s->queues->kinds;
    size_t open = 0;
    size_t in_lanes = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->v[i].jobs == 0)
            continue;
        if (!kind_check(s, &t->v[i]))
            return false;
        open += t->v[i].open ? queue_size(t->v[i].open) : 0;
    }
    for (uint32_t i = 0; i < s->n_lanes; i++)
        in_lanes += queue_size(s->lanes[i].open);
    return open == in_lanes;
}

const struct finder finder_by_kind = {
    .add = add,
    .reserve = reserve,
    .remove = remove_job,
    .is_hopeless = sleeps,
    .failed = failed_one,
    .wake = wake,
    .begin = fill_begin,
    .next = fill_next,
    .done = fill_done,
    .check = check,
};
