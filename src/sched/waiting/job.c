/* Slots for jobs, and the decisions about them. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "sched/queues.h"

enum { GENERATION_MAX = INT32_MAX }; /* keeps handles from being negative */

struct sched_decision *decision_add(sched_t *s, enum sched_decision_kind kind, uint32_t slot,
                                    int64_t at, const struct sched_reason *reason)
{
    assert(s->n_decisions < s->cap_decisions);
    struct sched_decision *d = &s->decisions[s->n_decisions++];
    struct details *details = s->jobs[slot].details;
    *d = (struct sched_decision){.kind = kind,
                                 .job = job_handle(s, slot),
                                 .tag = s->jobs[slot].tag,
                                 .at = at,
                                 .reason = reason,
                                 .member = details ? details->member : 0,
                                 .other = -1};
    if (details && (kind == SCHED_START || kind == SCHED_RESERVE))
        details->told[0] = '\0';
    if (details)
        details->is_promise_told = kind == SCHED_RESERVE;
    if (details && kind == SCHED_RESERVE)
        d->expected = details->is_expected_told = details->is_expected;
    return d;
}

int job_expect(sched_t *s, uint32_t more)
{
    size_t n = (size_t)s->n_jobs + more;
    if (n < INT32_MAX)
        return array_grow((void **)&s->jobs, &s->cap_jobs, n, sizeof(*s->jobs));
    errno = ENOMEM;
    return -1;
}

uint32_t job_alloc(sched_t *s)
{
    uint32_t slot = s->free_job;
    if (slot != JOB_NONE) {
        s->free_job = s->jobs[slot].next;
        return slot;
    }
    if (job_expect(s, 1) < 0)
        return JOB_NONE;
    s->jobs[s->n_jobs] = (struct job){.state = JOB_FREE};
    return s->n_jobs++;
}

void job_unalloc(sched_t *s, uint32_t slot)
{
    s->jobs[slot].state = JOB_FREE;
    s->jobs[slot].next = s->free_job;
    s->free_job = slot;
}

uint32_t job_next_slot(sched_t *s)
{
    uint32_t slot = job_alloc(s);
    if (slot != JOB_NONE)
        job_unalloc(s, slot);
    return slot;
}

void job_free(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    job->state = JOB_FREE;
    /* Nor is the next one in its slot. */
    job->is_fresh = job->is_placed = job->is_let_again = false;
    if (job->generation == GENERATION_MAX)
        return; /* the slot is worn out: no handle must ever come again */
    job->generation++;
    job_unalloc(s, slot);
}

uint32_t job_find(const sched_t *s, sched_job_t job)
{
    uint32_t slot = (uint32_t)job;
    if (job >= 0 && slot < s->n_jobs && s->jobs[slot].state != JOB_FREE &&
        job_handle(s, slot) == job)
        return slot;
    errno = EINVAL;
    return JOB_NONE;
}

uint32_t job_in_queue(const sched_t *s, sched_job_t job)
{
    uint32_t slot = job_find(s, job);
    if (slot != JOB_NONE && s->jobs[slot].details)
        return slot;
    errno = EINVAL;
    return JOB_NONE;
}

int core_advance(sched_t *s, int64_t now)
{
    if (!time_is_good(s, now)) {
        errno = EINVAL;
        return -1;
    }
    s->now = now;
    s->queues->events += s->pass.phase != PASS_IDLE;
    s->pass.phase = PASS_IDLE;
    return 0;
}

int core_event(sched_t *s, int64_t now)
{
    if (core_advance(s, now) < 0)
        return -1;
    s->queues->events++;
    return 0;
}

void rejected_push(sched_t *s, uint32_t slot)
{
    s->jobs[slot].state = SCHED_REJECTED;
    s->jobs[slot].next = s->rejected;
    s->rejected = slot;
}

void rejected_unlink(sched_t *s, uint32_t slot)
{
    uint32_t *link = &s->rejected;
    while (*link != slot && *link != JOB_NONE)
        link = &s->jobs[*link].next;
    if (*link == JOB_NONE)
        link = &s->rejecting;
    while (*link != slot)
        link = &s->jobs[*link].next;
    *link = s->jobs[slot].next;
}
