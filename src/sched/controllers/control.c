/* The controllers' part in starting and promising (control.h). */
#include "sched/controllers/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sched/queues.h"

struct measured {
    const sched_t *s;
    int64_t booking;
    uint32_t class;
};

static int64_t amount_held(void *arg, const char *type)
{
    const struct measured *m = arg;
    return m->s->place->ops->amount(m->s->place, m->booking, type);
}

static int64_t amount_wanted(void *arg, const char *type)
{
    const struct measured *m = arg;
    return m->s->place->ops->wants(m->s->place, m->class, type);
}

static bool is_request_within(const sched_t *s, uint32_t slot, const struct place_ask *ask,
                              char *reason, size_t size)
{
    struct measured m = {s, -1, ask->class};
    const struct limits *limits = s->queues->limits;
    uint32_t account = s->jobs[slot].details->account;
    return limits_job(limits, account, ask->duration, amount_wanted, &m, reason, size) &&
           limits_ever(limits, account, amount_wanted, &m, reason, size);
}

bool job_is_within(const sched_t *s, uint32_t slot, int64_t duration, char *reason, size_t size)
{
    struct place_ask ask = s->jobs[slot].ask;
    ask.duration = duration;
    return is_request_within(s, slot, &ask, reason, size);
}

/* Whether limits let one more go on beside what is held, by what it asks for at least. */
static bool is_let(const sched_t *s, uint32_t slot, uint32_t class, char *reason, size_t size)
{
    struct measured m = {s, -1, class};
    const struct limits *limits = s->queues->limits;
    uint32_t account = s->jobs[slot].details->account;
    return limits_open(limits, account, reason, size) &&
           (!limits_measures(limits, account) ||
            limits_start(limits, account, amount_wanted, &m, reason, size));
}

bool control_may_ask(const sched_t *s, uint32_t slot, const struct place_ask *ask)
{
    return is_request_within(s, slot, ask, NULL, 0) && is_let(s, slot, ask->class, NULL, 0);
}

bool control_may_hold(const sched_t *s, uint32_t slot, int64_t duration, int64_t booking)
{
    struct measured m = {s, booking, s->jobs[slot].ask.class};
    const struct limits *limits = s->queues->limits;
    uint32_t account = s->jobs[slot].details->account;
    return !limits_measures(limits, account) ||
           (limits_job(limits, account, duration, amount_held, &m, NULL, 0) &&
            limits_ever(limits, account, amount_held, &m, NULL, 0) &&
            limits_start(limits, account, amount_held, &m, NULL, 0));
}

enum step control_gate(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    char reason[sizeof(d->limit_reason)];
    if (is_let(s, slot, s->jobs[slot].ask.class, reason, sizeof(reason)))
        return STEP_BUSY;
    memcpy(d->limit_reason, reason, sizeof(reason));
    return job_block(s, slot, BLOCK_LIMIT) < 0 ? STEP_FAILED : STEP_DONE;
}

enum step control_count(sched_t *s, uint32_t slot, int64_t booking)
{
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    struct limits *limits = s->queues->limits;
    struct measured m = {s, booking, job->ask.class};
    char reason[sizeof(d->limit_reason)];
    if (limits_measures(limits, d->account)) {
        if (!limits_job(limits, d->account, d->limit, amount_held, &m, reason, sizeof(reason)) ||
            !limits_ever(limits, d->account, amount_held, &m, reason, sizeof(reason))) {
            if (job->state == SCHED_RESERVED)
                held_release(s, slot);
            else
                open_remove(s, slot);
            job_reject(s, slot, reason);
            return STEP_DONE;
        }
        if (!limits_start(limits, d->account, amount_held, &m, reason, sizeof(reason))) {
            memcpy(d->limit_reason, reason, sizeof(reason));
            return job_block(s, slot, BLOCK_LIMIT) < 0 ? STEP_FAILED : STEP_DONE;
        }
    }
    return control_enter(s, slot, booking) < 0 ? STEP_FAILED : STEP_BUSY;
}

enum step control_recount(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    char reason[sizeof(d->limit_reason)];
    control_uncount(s, slot, s->jobs[slot].booking);
    if (limits_open(s->queues->limits, d->account, reason, sizeof(reason)))
        return control_count(s, slot, s->jobs[slot].booking);
    memcpy(d->limit_reason, reason, sizeof(reason));
    return job_block(s, slot, BLOCK_LIMIT) < 0 ? STEP_FAILED : STEP_DONE;
}

int control_recount_all(sched_t *s)
{
    static const struct queue_key none;
    uint32_t slot;
    enum step step = STEP_BUSY;
    for (slot = held_next(s, false, none); slot != JOB_NONE;
         slot = held_next(s, true, s->jobs[slot].key))
        control_uncount(s, slot, s->jobs[slot].booking);
    for (slot = held_next(s, false, none); slot != JOB_NONE && step != STEP_FAILED;) {
        struct queue_key at = s->jobs[slot].key;
        step = control_recount(s, slot);
        if (step != STEP_FAILED)
            slot = held_next(s, true, at);
    }
    for (; slot != JOB_NONE; slot = held_next(s, true, s->jobs[slot].key))
        control_enter(s, slot, s->jobs[slot].booking); /* it was just there: that takes no memory */
    s->queues->is_recount_due = step == STEP_FAILED;
    return step == STEP_FAILED ? -1 : 0;
}

int control_enter(sched_t *s, uint32_t slot, int64_t booking)
{
    struct details *d = s->jobs[slot].details;
    struct measured m = {s, booking, s->jobs[slot].ask.class};
    if (limits_add(s->queues->limits, d->account, amount_held, &m) < 0)
        return -1;
    d->is_counted = true;
    return 0;
}

void control_uncount(sched_t *s, uint32_t slot, int64_t booking)
{
    struct details *d = s->jobs[slot].details;
    struct measured m = {s, booking, s->jobs[slot].ask.class};
    if (!d->is_counted)
        return;
    limits_sub(s->queues->limits, d->account, amount_held, &m);
    d->is_counted = false;
}

void control_ease(sched_t *s, uint32_t slot)
{
    limits_ease(s->queues->limits, s->jobs[slot].details->account);
    s->queues->is_eased = true;
}

/* A held job has preempted others no longer, or starts. */
static void leave_preempting(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    lane_of(s, slot)->preempting -= d->is_preempting;
    d->is_preempting = false;
}

void control_released(sched_t *s, uint32_t slot)
{
    if (s->jobs[slot].details->victims > 0)
        preempting_ended(s, slot);
    leave_preempting(s, slot);
    control_uncount(s, slot, s->jobs[slot].booking);
    control_ease(s, slot);
}

int control_prepare(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    if (victims_reserve(n, n->n_victims + 1) < 0)
        return -1;
    return heap_has(&n->ends, slot) ? 0
                                    : heap_put(&n->ends, slot, INT64_MAX, s->jobs[slot].key.seq);
}

void control_started(sched_t *s, uint32_t slot, enum sched_how how, struct sched_decision *decision)
{
    struct queues *n = s->queues;
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    bool preempting = d->is_preempting;
    d->how = preempting ? SCHED_IMMEDIATE : how;
    leave_preempting(s, slot);
    d->until = s->now + job->ask.duration;
    d->reason[0] = '\0';
    decision->how = d->how;
    heap_move(&n->ends, slot, d->until, job->key.seq);
    pending_end(s, slot);
    n->stats[d->queue].started++;
    depend_started(n->depend, slot);
    if (n->setup->queue[d->queue].preemptible == SCHED_NOT_PREEMPTIBLE)
        return;
    n->victims[n->n_victims++] = slot;
    int64_t from = preemptible_from(s, job);
    if (from > s->now && from < n->preemptible_next)
        n->preemptible_next = from;
}

void control_reserved(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    d->until = s->jobs[slot].at + s->jobs[slot].ask.duration;
    d->reason[0] = '\0';
}

void pending_begin(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    limits_wait(s->queues->limits, d->account, 1);
    d->is_pending = true;
}

void pending_end(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    if (d->is_pending)
        limits_wait(s->queues->limits, d->account, -1);
    d->is_pending = false;
}

int job_block(sched_t *s, uint32_t slot, uint8_t reason)
{
    struct queues *n = s->queues;
    struct job *job = &s->jobs[slot];
    if (reason == BLOCK_LIMIT) {
        if (array_grow((void **)&n->limited, &n->cap_limited, n->n_limited + 1,
                       sizeof(*n->limited)) < 0)
            return -1;
        n->limited[n->n_limited++] = slot;
        job->details->limited = limits_eased(n->limits, job->details->account);
    }
    if (job->state == SCHED_WAITING) {
        open_remove(s, slot);
    } else if (job->state == SCHED_RESERVED) {
        held_release(s, slot);
        s->swept = false;
    }
    job->state = SCHED_BLOCKED;
    job->details->blocked |= reason;
    tell_later(s, slot);
    return 0;
}

int job_unblock(sched_t *s, uint32_t slot, uint8_t reason)
{
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    uint8_t before = d->blocked;
    d->blocked &= (uint8_t)~reason;
    if (job->state != SCHED_BLOCKED)
        return 0;
    if (d->blocked == 0 && open_insert(s, slot, true) < 0) {
        d->blocked = before;
        return -1;
    }
    tell_later(s, slot);
    return 0;
}

int tell_reserve(struct queues *n)
{
    return array_grow((void **)&n->untold, &n->cap_untold, n->n_untold + 1, sizeof(*n->untold));
}

void tell_later(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    if (s->jobs[slot].details->is_untold || tell_reserve(n) < 0)
        return;
    n->untold[n->n_untold++] = slot;
    s->jobs[slot].details->is_untold = true;
}

void job_reject(sched_t *s, uint32_t slot, const char *reason)
{
    struct details *d = s->jobs[slot].details;
    snprintf(d->reason, sizeof(d->reason), "%s", reason);
    d->is_untold = false;
    rejected_push(s, slot);
}

/* Take a blocked job whose dependency is met, or never can be. */
static int resolve(sched_t *s, uint32_t slot, bool never)
{
    struct details *d = s->jobs[slot].details;
    if (s->jobs[slot].state != SCHED_BLOCKED)
        return 0;
    if (!never)
        return job_unblock(s, slot, BLOCK_DEPEND);
    char reason[sizeof(d->reason)];
    depend_reason(s->queues->depend, slot, reason, sizeof(reason));
    job_reject(s, slot, reason);
    return 0;
}

int dependencies_resolve(sched_t *s)
{
    struct queues *n = s->queues;
    uint32_t slot;
    bool never;
    int rc = 0;
    while (depend_next_ready(n->depend, &slot, &never))
        rc = resolve(s, slot, never) < 0 ? -1 : rc;
    while (depend_next_nearer(n->depend, &slot))
        tell_later(s, slot);
    if (n->recheck_depend && rc == 0) {
        for (slot = 0; slot < s->n_jobs && rc == 0; slot++)
            if (s->jobs[slot].state == SCHED_BLOCKED &&
                s->jobs[slot].details->blocked & BLOCK_DEPEND && !depend_waits(n->depend, slot))
                rc = resolve(s, slot, false);
    }
    n->recheck_depend = rc < 0;
    return rc;
}

bool control_is_eased(const sched_t *s, const struct job *job)
{
    const struct details *d = job->details;
    return s->queues->is_all_eased || limits_eased(s->queues->limits, d->account) > d->limited;
}

/* A job that limits have blocked goes on if they would let it; else it waits for the one that it is over now. Returns 0, or -1
 * with ENOMEM.
 */
static int let(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    char reason[sizeof(d->limit_reason)];
    if (!control_is_eased(s, job))
        return 0;
    if (is_let(s, slot, job->ask.class, reason, sizeof(reason)))
        return job_unblock(s, slot, BLOCK_LIMIT);
    d->limited = limits_eased(s->queues->limits, d->account);
    if (strcmp(reason, d->limit_reason) != 0) {
        memcpy(d->limit_reason, reason, sizeof(reason));
        tell_later(s, slot);
    }
    return 0;
}

int64_t limits_resolve(sched_t *s, bool again)
{
    struct queues *n = s->queues;
    size_t kept = 0;
    int64_t opened = 0;
    bool left = false;
    int rc = 0;
    for (size_t i = 0; i < n->n_limited; i++) {
        uint32_t slot = n->limited[i];
        struct job *job = &s->jobs[slot];
        if (job->state != SCHED_BLOCKED || !(job->details->blocked & BLOCK_LIMIT))
            continue;
        job->is_let_again &= again;
        left |= job->is_let_again;
        if (rc == 0 && !job->is_let_again)
            rc = let(s, slot);
        if (job->details->blocked & BLOCK_LIMIT) {
            n->limited[kept++] = slot;
        } else if (again && job->state == SCHED_WAITING) {
            job->is_let_again = true;
            job->is_placed = false;
            opened++;
        }
    }
    n->n_limited = kept;
    n->is_eased = rc < 0 || left;
    n->is_all_eased &= rc < 0 || left;
    return rc < 0 ? -1 : opened;
}

void job_forget(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    struct details *d = s->jobs[slot].details;
    if (heap_has(&n->begins, slot))
        heap_take(&n->begins, slot);
    if (heap_has(&n->ends, slot))
        heap_take(&n->ends, slot);
    victim_remove(s, slot);
    details_unlink(s, slot);
    if (d->kind != KIND_NONE) {
        uint32_t class = s->jobs[slot].ask.class;
        kind_leave(s, &n->kinds, d->kind);
        s->place->ops->forget(s->place, class);
    }
    if (!d->is_nameless)
        depend_forget(n->depend, slot);
    details_free(s, d);
    s->jobs[slot].details = NULL;
    job_free(s, slot);
}
