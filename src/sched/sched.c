/* The scheduling core's life and the events it is told of (berth/sched.h). */
#include "berth/sched.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "sched/flat.h"
#include "sched/graph_place.h"
#include "sched/policy.h"
#include "sched/sched_priv.h"

enum { GENERATION_MAX = INT32_MAX }; /* keeps handles from being negative */

static int check_params(const struct sched_params *params, berth_error_t *err)
{
    if (!params->policy || !policy_find(params->policy))
        return errtext_set(err, EINVAL,
                           "unknown policy \"%s\": expected fcfs, easy, hybrid or conservative",
                           params->policy ? params->policy : "");
    if (params->order < SCHED_ORDER_SUBMIT || params->order > SCHED_ORDER_PRIORITY)
        return errtext_set(err, EINVAL, "unknown order of the queue: %d", (int)params->order);
    return 0;
}

/* A scheduler for a place, which it owns from then on, also when the call fails; NULL means that there was no memory
 * for one.
 */
static sched_t *create(struct place *place, const struct sched_params *params, berth_error_t *err)
{
    const struct policy *policy = policy_find(params->policy);
    bool told = policy->tunable && params->reservation_depth > 0;
    sched_t *s = place ? calloc(1, sizeof(*s)) : NULL;
    if (s) {
        int64_t units = place->ops->most(place);
        s->place = place;
        s->open = queue_create(units);
        s->held = queue_create(units);
    } else if (place) {
        place->ops->destroy(place);
    }
    if (!s || !s->open || !s->held) {
        sched_destroy(s);
        errtext_set(err, ENOMEM, "out of memory");
        return NULL;
    }
    s->depth = told ? params->reservation_depth : policy->depth;
    s->queue_depth = params->queue_depth > 0 ? params->queue_depth : SCHED_UNLIMITED;
    s->order = params->order;
    s->free_job = JOB_NONE;
    s->rejected = JOB_NONE;
    s->swept = true;
    s->fresh_least = INT64_MAX;
    return s;
}

sched_t *sched_create_flat(int64_t units, const struct sched_params *params, berth_error_t *err)
{
    if (units < 1) {
        errtext_set(err, EINVAL, "a machine needs at least 1 unit, not %lld", (long long)units);
        return NULL;
    }
    return check_params(params, err) < 0 ? NULL : create(flat_create(units), params, err);
}

sched_t *sched_create_match(struct match *machine, const struct sched_params *params,
                            berth_error_t *err)
{
    if (check_params(params, err) < 0)
        return NULL;
    struct place *place = graph_place_create(machine, err);
    return place ? create(place, params, err) : NULL;
}

int64_t sched_units(const sched_t *s)
{
    return s->place->ops->most(s->place);
}

void sched_destroy(sched_t *s)
{
    if (!s)
        return;
    int saved = errno;
    if (s->place)
        s->place->ops->destroy(s->place);
    queue_destroy(s->open);
    queue_destroy(s->held);
    heap_clear(&s->due);
    free(s->due_list);
    free(s->jobs);
    free(s->decisions);
    free(s);
    errno = saved;
}

int decision_reserve(sched_t *s)
{
    if (s->n_decisions < s->cap_decisions)
        return 0;
    size_t cap = s->cap_decisions ? s->cap_decisions * 2 : 64;
    struct sched_decision *v = reallocarray(s->decisions, cap, sizeof(*v));
    if (!v)
        return -1;
    s->decisions = v;
    s->cap_decisions = cap;
    return 0;
}

void decision_add(sched_t *s, enum sched_decision_kind kind, uint32_t slot, int64_t at,
                  const char *reason)
{
    assert(s->n_decisions < s->cap_decisions);
    s->decisions[s->n_decisions++] =
        (struct sched_decision){kind, job_handle(s, slot), s->jobs[slot].tag, at, reason};
}

/* A slot for a job, or JOB_NONE with ENOMEM. */
static uint32_t job_alloc(sched_t *s)
{
    uint32_t slot = s->free_job;
    if (slot != JOB_NONE) {
        s->free_job = s->jobs[slot].next;
        return slot;
    }
    if (s->n_jobs == s->cap_jobs) {
        uint32_t cap = s->cap_jobs ? s->cap_jobs + s->cap_jobs / 2 : 64;
        struct job *jobs = cap < INT32_MAX ? reallocarray(s->jobs, cap, sizeof(*jobs)) : NULL;
        if (!jobs) {
            errno = ENOMEM;
            return JOB_NONE;
        }
        s->jobs = jobs;
        s->cap_jobs = cap;
    }
    s->jobs[s->n_jobs] = (struct job){.state = JOB_FREE};
    return s->n_jobs++;
}

static void slot_give_back(sched_t *s, uint32_t slot)
{
    s->jobs[slot].state = JOB_FREE;
    s->jobs[slot].next = s->free_job;
    s->free_job = slot;
}

void job_free(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    job->state = JOB_FREE;
    if (job->generation == GENERATION_MAX)
        return; /* the slot is worn out: no handle must ever come again */
    job->generation++;
    slot_give_back(s, slot);
}

/* The slot of a job that exists, or JOB_NONE with EINVAL. */
static uint32_t job_find(const sched_t *s, sched_job_t job)
{
    uint32_t slot = (uint32_t)job;
    if (job >= 0 && slot < s->n_jobs && s->jobs[slot].state != JOB_FREE &&
        job_handle(s, slot) == job)
        return slot;
    errno = EINVAL;
    return JOB_NONE;
}

static int64_t rank_of(const sched_t *s, int64_t duration, int64_t priority)
{
    switch (s->order) {
    case SCHED_ORDER_SHORTEST:
        return duration;
    case SCHED_ORDER_PRIORITY:
        return ~priority; /* higher first, without overflow */
    case SCHED_ORDER_SUBMIT:
        break;
    }
    return 0;
}

/* Take over the time of a call; -1 with EINVAL if it goes back. */
static int advance(sched_t *s, int64_t now)
{
    if (now < s->now) {
        errno = EINVAL;
        return -1;
    }
    s->now = now;
    return 0;
}

sched_job_t sched_submit(sched_t *s, int64_t now, const struct sched_request *request)
{
    if (request->units < 1 || request->duration < 1 || now < s->now ||
        request->duration > INT64_MAX - now) {
        errno = EINVAL;
        return -1;
    }
    uint32_t slot = job_alloc(s);
    if (slot == JOB_NONE)
        return -1;
    struct job *job = &s->jobs[slot];
    struct queue_key key = {rank_of(s, request->duration, request->priority), s->seq};
    struct queue_entry entry = {key, request->units, request->duration, slot};
    bool never = request->units > s->place->ops->most(s->place);
    if (!never && queue_insert(s->open, &entry) < 0) {
        slot_give_back(s, slot); /* its handle was never given out */
        return -1;
    }
    job->key = key;
    job->ask = (struct place_ask){request->units, request->duration};
    job->shape = shape_slot(&job->ask);
    job->tag = request->tag;
    job->state = never ? SCHED_REJECTED : SCHED_WAITING;
    s->seq++;
    s->now = now;
    if (never) {
        job->next = s->rejected;
        s->rejected = slot;
    } else if (request->units < s->fresh_least) {
        s->fresh_least = request->units;
    }
    return job_handle(s, slot);
}

/* Give back what a job holds and note it. */
static void job_release(sched_t *s, const struct job *job)
{
    int64_t left = INT64_MAX - job->at; /* less than its duration if it started late */
    int64_t duration = job->ask.duration < left ? job->ask.duration : left;
    s->place->ops->release(s->place, job->booking);
    int64_t from = job->at > s->now ? job->at : s->now;
    if (job->at + duration > from)
        freed_add(&s->freed, from);
}

void held_release(sched_t *s, uint32_t slot)
{
    queue_remove(s->held, s->jobs[slot].key);
    heap_take(&s->due, slot);
    job_release(s, &s->jobs[slot]);
}

static void running_release(sched_t *s, uint32_t slot)
{
    job_release(s, &s->jobs[slot]);
    s->running--;
}

int sched_finish(sched_t *s, int64_t now, sched_job_t handle)
{
    uint32_t slot = job_find(s, handle);
    if (slot == JOB_NONE)
        return -1;
    if (s->jobs[slot].state != SCHED_RUNNING) {
        errno = EINVAL;
        return -1;
    }
    if (advance(s, now) < 0)
        return -1;
    running_release(s, slot);
    job_free(s, slot);
    s->swept = false;
    s->woken = true;
    return 0;
}

static void rejected_unlink(sched_t *s, uint32_t slot)
{
    uint32_t *link = &s->rejected;
    while (*link != slot)
        link = &s->jobs[*link].next;
    *link = s->jobs[slot].next;
}

int sched_cancel(sched_t *s, int64_t now, sched_job_t handle)
{
    uint32_t slot = job_find(s, handle);
    if (slot == JOB_NONE || advance(s, now) < 0)
        return -1;
    switch (s->jobs[slot].state) {
    case SCHED_WAITING:
        queue_remove(s->open, s->jobs[slot].key);
        break;
    case SCHED_RESERVED:
        held_release(s, slot);
        s->swept = false;
        break;
    case SCHED_RUNNING:
        running_release(s, slot);
        s->swept = false;
        break;
    default:
        rejected_unlink(s, slot);
        break;
    }
    job_free(s, slot);
    s->woken = true;
    return 0;
}

int sched_prioritize(sched_t *s, int64_t now, sched_job_t handle, int64_t priority)
{
    uint32_t slot = job_find(s, handle);
    if (slot == JOB_NONE)
        return -1;
    struct job *job = &s->jobs[slot];
    if (job->state != SCHED_WAITING && job->state != SCHED_RESERVED) {
        errno = EINVAL;
        return -1;
    }
    if (now < s->now) {
        errno = EINVAL;
        return -1;
    }
    struct queue_key key = {rank_of(s, job->ask.duration, priority), job->key.seq};
    if (key.rank != job->key.rank) {
        struct queue *queue = job->state == SCHED_RESERVED ? s->held : s->open;
        struct queue_entry entry = {key, job->ask.units, job->ask.duration, slot};
        if (queue_insert(queue, &entry) < 0)
            return -1;
        queue_remove(queue, job->key);
        job->key = key;
        s->woken = true;
    }
    s->now = now;
    return 0;
}

int64_t sched_next_time(const sched_t *s)
{
    return s->due.n > 0 ? s->due.v[0].key : INT64_MAX;
}

int sched_state(const sched_t *s, sched_job_t handle)
{
    uint32_t slot = job_find(s, handle);
    return slot == JOB_NONE ? -1 : s->jobs[slot].state;
}

int64_t sched_start_time(const sched_t *s, sched_job_t handle)
{
    uint32_t slot = job_find(s, handle);
    if (slot != JOB_NONE &&
        (s->jobs[slot].state == SCHED_RUNNING || s->jobs[slot].state == SCHED_RESERVED))
        return s->jobs[slot].at;
    errno = EINVAL;
    return -1;
}

int sched_allocation(sched_t *s, sched_job_t handle, const struct sched_range **ranges, size_t *n)
{
    uint32_t slot = job_find(s, handle);
    if (slot == JOB_NONE)
        return -1;
    const struct job *job = &s->jobs[slot];
    if (job->state != SCHED_RUNNING) {
        errno = EINVAL;
        return -1;
    }
    *ranges = NULL;
    *n = 0;
    if (!s->place->ops->given)
        return 0;
    int64_t found = s->place->ops->given(s->place, job->booking, ranges);
    if (found < 0)
        return -1;
    *n = (size_t)found;
    return 0;
}

size_t sched_waiting(const sched_t *s)
{
    return queue_size(s->open) + queue_size(s->held);
}

size_t sched_running(const sched_t *s)
{
    return s->running;
}

bool sched_check(const sched_t *s)
{
    size_t count[SCHED_REJECTED + 1] = {0};
    for (uint32_t slot = 0; slot < s->n_jobs; slot++) {
        const struct job *job = &s->jobs[slot];
        if (job->state == JOB_FREE)
            continue;
        count[job->state]++;
        bool held = job->state == SCHED_RESERVED;
        if (heap_has(&s->due, slot) != held ||
            (held && s->due.v[s->due.place[slot] - 1].key != job->at))
            return false;
    }
    return count[SCHED_WAITING] == queue_size(s->open) &&
           count[SCHED_RESERVED] == queue_size(s->held) && count[SCHED_RESERVED] == s->due.n &&
           count[SCHED_RUNNING] == s->running && (int64_t)s->due.n <= s->depth &&
           queue_check(s->open) && queue_check(s->held) && heap_check(&s->due) &&
           s->place->ops->check(s->place);
}
