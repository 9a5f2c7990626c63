/* A pass: who starts now, who gets a reservation.
 *
 * The waiting jobs are walked in queue order, but only those are visited that can matter: held ones whose time
 * has come, open ones while a reservation is to be had, and after that only open ones that fit what is free.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sched/sched_priv.h"

enum {
    ROOMS_MAX = 64
}; /* steps of what is free by duration that a search knows; more are rounded up */

/* What a step of the walk did. */
enum step { STEP_FAILED = -1, STEP_BUSY, STEP_DONE };

/* The held jobs whose time had come when the walk began, in queue order. */
struct walk {
    size_t due;
    size_t next_due;
};

static int due_compare(const void *a, const void *b)
{
    const struct due *x = a;
    const struct due *y = b;
    return queue_before(x->key, y->key) ? -1 : queue_before(y->key, x->key);
}

/* List the held jobs whose time has come; returns their number. The list itself is the queue of a search
 * through the heap, whose subtrees end where a time has not come.
 */
static size_t due_collect(sched_t *s)
{
    const struct heap *heap = &s->due;
    size_t n = 0;
    if (heap->n > 0 && heap->v[0].key <= s->now)
        s->due_list[n++].slot = 0;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = 1; k <= HEAP_ARITY; k++) {
            uint64_t child = (uint64_t)s->due_list[i].slot * HEAP_ARITY + k;
            if (child < heap->n && heap->v[child].key <= s->now)
                s->due_list[n++].slot = (uint32_t)child;
        }
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = heap->v[s->due_list[i].slot].item;
        s->due_list[i] = (struct due){s->jobs[slot].key, slot};
    }
    if (n > 1)
        qsort(s->due_list, n, sizeof(*s->due_list), due_compare);
    return n;
}

/* The first due job that has not been started or given way since the list was made; NULL if there is none. */
static const struct due *due_next(const sched_t *s, struct walk *w)
{
    for (; w->next_due < w->due; w->next_due++) {
        const struct due *due = &s->due_list[w->next_due];
        if (s->jobs[due->slot].state == SCHED_RESERVED)
            return due;
    }
    return NULL;
}

static void start(sched_t *s, uint32_t slot)
{
    s->jobs[slot].state = SCHED_RUNNING;
    s->jobs[slot].at = s->now;
    s->running++;
    decision_add(s, SCHED_START, slot, s->now, NULL);
}

/* Let the machine choose what a job gets that starts with its booking. 0, or -1 with EBUSY or ENOMEM. */
static int choose(sched_t *s, const struct job *job, int64_t booking)
{
    const struct place_ops *ops = s->place->ops;
    return ops->start ? ops->start(s->place, &job->ask, booking, s->now) : 0;
}

/* The last holder gives way to open jobs before it, or one that comes too late to have its reservation. */
static enum step give_way(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct queue_entry entry = {job->key, job->ask.units, job->ask.duration, slot};
    if (queue_insert(s->open, &entry) < 0)
        return STEP_FAILED;
    held_release(s, slot);
    job->state = SCHED_WAITING;
    return STEP_DONE;
}

/* Start a held job: its reservation becomes its allocation. */
static enum step start_held(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (decision_reserve(s) < 0)
        return STEP_FAILED;
    if (choose(s, job, job->booking) < 0)
        return errno == EBUSY ? give_way(s, slot) : STEP_FAILED;
    queue_remove(s->held, job->key);
    heap_take(&s->due, slot);
    start(s, slot);
    return STEP_DONE;
}

/* Start an open job if it fits now. */
static enum step start_open(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (decision_reserve(s) < 0)
        return STEP_FAILED;
    int64_t booking = s->place->ops->book(s->place, &job->ask, s->now);
    if (booking < 0)
        return errno == EBUSY ? STEP_BUSY : STEP_FAILED;
    if (choose(s, job, booking) < 0) {
        s->place->ops->release(s->place, booking);
        return STEP_FAILED;
    }
    job->booking = booking;
    queue_remove(s->open, job->key);
    start(s, slot);
    return STEP_DONE;
}

static int due_reserve(sched_t *s)
{
    if (s->due.n < s->cap_due)
        return 0;
    size_t cap = s->cap_due ? s->cap_due * 2 : 16;
    struct due *list = reallocarray(s->due_list, cap, sizeof(*list));
    if (!list)
        return -1;
    s->due_list = list;
    s->cap_due = cap;
    return 0;
}

/* Make an open job a held one from `at` on. */
static enum step hold(sched_t *s, uint32_t slot, int64_t at)
{
    struct job *job = &s->jobs[slot];
    struct queue_entry entry = {job->key, job->ask.units, job->ask.duration, slot};
    if (due_reserve(s) < 0 || decision_reserve(s) < 0)
        return STEP_FAILED;
    int64_t booking = s->place->ops->book(s->place, &job->ask, at);
    if (booking < 0)
        return STEP_FAILED;
    if (heap_put(&s->due, slot, at, job->key.seq) < 0) {
        s->place->ops->release(s->place, booking);
        return STEP_FAILED;
    }
    if (queue_insert(s->held, &entry) < 0) {
        heap_take(&s->due, slot);
        s->place->ops->release(s->place, booking);
        return STEP_FAILED;
    }
    queue_remove(s->open, job->key);
    job->state = SCHED_RESERVED;
    job->at = at;
    job->booking = booking;
    job->seen = s->freed.place;
    decision_add(s, SCHED_RESERVE, slot, at, NULL);
    return STEP_DONE;
}

/* Give an open job a reservation at its earliest time. */
static enum step promise(sched_t *s, uint32_t slot)
{
    int64_t at = s->place->ops->when(s->place, &s->jobs[slot].ask, s->now);
    if (at >= 0)
        return hold(s, slot, at);
    if (decision_reserve(s) < 0)
        return STEP_FAILED;
    queue_remove(s->open, s->jobs[slot].key);
    decision_add(s, SCHED_REJECT, slot, s->now, "no time in the calendar is long enough");
    job_free(s, slot);
    return STEP_DONE;
}

/* Start an open job or, if it can't, give it a reservation. */
static enum step plan(sched_t *s, uint32_t slot)
{
    enum step step = start_open(s, slot);
    return step == STEP_BUSY ? promise(s, slot) : step;
}

/* Whether a waiting job is among the first that a pass considers. */
static bool considered(const sched_t *s, struct queue_key key)
{
    return s->queue_depth == SCHED_UNLIMITED ||
           queue_rank(s->open, key) + queue_rank(s->held, key) < (size_t)s->queue_depth;
}

/* Start open jobs that fit beside all reservations, in queue order. */
static enum step backfill(sched_t *s)
{
    struct queue_entry entry;
    struct queue_key after;
    bool begun = false;
    for (;;) {
        struct planner_room room[ROOMS_MAX];
        struct queue_bound bound[ROOMS_MAX];
        size_t n = s->place->ops->rooms(s->place, s->now, room, ROOMS_MAX);
        for (size_t i = 0; i < n; i++)
            bound[i] = (struct queue_bound){room[i].free, room[i].within};
        if (!queue_match(s->open, begun ? &after : NULL, bound, n, &entry) ||
            !considered(s, entry.key))
            return STEP_DONE;
        begun = true;
        after = entry.key;
        if (start_open(s, entry.item) == STEP_FAILED)
            return STEP_FAILED;
    }
}

/* Start open jobs in queue order up to the first that can't. */
static enum step serve(sched_t *s)
{
    struct queue_entry entry;
    enum step step = STEP_DONE;
    while (step == STEP_DONE && queue_first(s->open, &entry) && considered(s, entry.key))
        step = start_open(s, entry.item);
    return step == STEP_FAILED ? STEP_FAILED : STEP_DONE;
}

/* Start nobody, and give each open job a reservation. */
static enum step promise_all(sched_t *s)
{
    struct queue_entry entry;
    enum step step = STEP_DONE;
    while (step == STEP_DONE && queue_first(s->open, &entry) && considered(s, entry.key))
        step = promise(s, entry.item);
    return step;
}

/* One step while held jobs may be due or reservations to be had; STEP_BUSY when neither is so any more. A due
 * job goes before an open one behind it asks whether the bound is used up.
 */
static enum step walk_step(sched_t *s, struct walk *w)
{
    struct queue_entry open;
    struct queue_entry last;
    const struct due *due = due_next(s, w);
    bool any = queue_first(s->open, &open) && considered(s, open.key);
    if (due && !(any && queue_before(open.key, due->key)))
        return start_held(s, due->slot);
    if (!any)
        return STEP_BUSY;
    if ((int64_t)queue_size(s->held) < s->depth)
        return plan(s, open.item);
    queue_last(s->held, &last);
    return queue_before(open.key, last.key) ? give_way(s, last.item) : STEP_BUSY;
}

static enum step walk(sched_t *s, bool more)
{
    if (s->depth == 0)
        return serve(s);
    if (more && (int64_t)sched_waiting(s) <= s->depth)
        return promise_all(s);
    struct walk w = {.due = due_collect(s)};
    enum step step;
    do {
        step = walk_step(s, &w);
    } while (step == STEP_DONE);
    if (step == STEP_FAILED || (int64_t)queue_size(s->held) < s->depth || queue_size(s->open) == 0)
        return step;
    return backfill(s);
}

/* Units that are free now for whoever starts now: reservations whose time has come don't count as taken. After a
 * late pass one may have run out by now and counts twice: the sum stops at the largest number.
 */
static int64_t idle_now(sched_t *s)
{
    int64_t idle = s->place->ops->idle(s->place, s->now);
    size_t due = due_collect(s);
    for (size_t i = 0; i < due; i++) {
        int64_t units = s->jobs[s->due_list[i].slot].ask.units;
        idle = units < INT64_MAX - idle ? idle + units : INT64_MAX;
    }
    return idle;
}

/* Whether a walk can decide anything. Time alone lets no waiting job start but a held one, so that after mere
 * submissions the new jobs count, and they must fit, get a reservation or take one over.
 */
static bool walk_needed(sched_t *s, bool more)
{
    if (s->woken || (!more && s->due.n > 0 && s->due.v[0].key <= s->now))
        return true;
    if (s->fresh_least == INT64_MAX)
        return false;
    if ((int64_t)queue_size(s->held) < s->depth || s->fresh_least <= idle_now(s))
        return true;
    struct queue_entry open;
    struct queue_entry last;
    return queue_last(s->held, &last) && queue_first(s->open, &open) &&
           queue_before(open.key, last.key);
}

/* Say which jobs can never start, in the order in which they were submitted, and forget them. */
static int reject(sched_t *s)
{
    uint32_t list = JOB_NONE;
    while (s->rejected != JOB_NONE) {
        uint32_t slot = s->rejected;
        s->rejected = s->jobs[slot].next;
        s->jobs[slot].next = list;
        list = slot;
    }
    while (list != JOB_NONE) {
        uint32_t slot = list;
        if (decision_reserve(s) < 0)
            break;
        list = s->jobs[slot].next;
        decision_add(s, SCHED_REJECT, slot, s->now, "more units than the machine has");
        job_free(s, slot);
    }
    if (list == JOB_NONE)
        return 0;
    while (list != JOB_NONE) {
        uint32_t slot = list;
        list = s->jobs[slot].next;
        s->jobs[slot].next = s->rejected;
        s->rejected = slot;
    }
    return -1;
}

int sched_pass(sched_t *s, int64_t now, bool more, const struct sched_decision **decisions,
               size_t *n)
{
    *n = 0;
    *decisions = NULL;
    if (now < s->now) {
        errno = EINVAL;
        return -1;
    }
    s->now = now;
    s->n_decisions = 0;
    int rc = s->rejected == JOB_NONE ? 0 : reject(s);
    if (rc == 0 && !s->swept)
        rc = sweep(s);
    if (rc == 0 && walk_needed(s, more))
        rc = walk(s, more) == STEP_FAILED ? -1 : 0;
    if (rc == 0) {
        s->woken = false;
        s->fresh_least = INT64_MAX;
    } else {
        s->woken = true;
        errno = ENOMEM;
    }
    *decisions = s->decisions;
    *n = s->n_decisions;
    return rc;
}
