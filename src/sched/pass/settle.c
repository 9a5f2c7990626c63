/* Jobs that are blocked for no reason any more go on, and those that never can start are rejected. */
#include "sched/controllers/ask.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"

/* Why a job is rejected; valid as the decision is. NULL with ENOMEM. */
static const struct sched_reason *rejection_of(sched_t *s, uint32_t slot)
{
    static const struct sched_reason too_many = {.kind = SCHED_REASON_UNITS};
    const struct details *d = s->jobs[slot].details;
    return d ? told_reason(s->queues, d->never) : &too_many;
}

/* List those that are to be rejected in the order in which they were submitted; jobs that came to it have
 * the last one first. False: there are none.
 */
static bool reject_begin(sched_t *s)
{
    uint32_t list = s->rejecting;
    while (s->rejecting == JOB_NONE && s->rejected != JOB_NONE) {
        uint32_t slot = s->rejected;
        s->rejected = s->jobs[slot].next;
        s->jobs[slot].next = list;
        list = slot;
    }
    s->rejecting = list;
    return s->rejecting != JOB_NONE;
}

/* Say of one that it can never start, and forget it. */
static enum step reject_next(sched_t *s)
{
    uint32_t slot = s->rejecting;
    if (slot == JOB_NONE)
        return STEP_BUSY;
    const struct sched_reason *reason = rejection_of(s, slot);
    if (!reason || decision_reserve(s) < 0)
        return STEP_FAILED;
    s->rejecting = s->jobs[slot].next;
    decision_add(s, SCHED_REJECT, slot, s->now, reason);
    controllers_ended(s, slot, JOB_REJECTED);
    job_forget(s, slot);
    return STEP_DONE;
}

enum step settle_jobs(sched_t *s, bool again)
{
    enum { RESOLVE, REJECT, LET };
    uint8_t *stage = &s->pass.stage;
    enum step step = STEP_BUSY;
    while (*stage != LET && step == STEP_BUSY) {
        if (*stage == RESOLVE) {
            step = controllers_resolve(s);
            if (step == STEP_BUSY)
                *stage = reject_begin(s) ? REJECT : LET;
        } else {
            step = reject_next(s);
            if (step == STEP_BUSY)
                *stage = RESOLVE; /* which lets go others */
        }
    }
    return step == STEP_BUSY ? controllers_settle(s, again) : step;
}

enum step settle_first(sched_t *s)
{
    return settle_jobs(s, false);
}
