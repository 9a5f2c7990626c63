/* The controllers' part in starting and promising: limits, dependencies, what is counted of whom. For schedulers with queues.
 */
#ifndef SCHED_CONTROL_H
#define SCHED_CONTROL_H

#include "sched/sched_priv.h"

/* Whether limits let an open job go on: STEP_BUSY if so; STEP_DONE: it is blocked now; STEP_FAILED: no memory. */
enum step control_gate(sched_t *s, uint32_t slot);

/* Measure a booking and enter it into the ledger. STEP_BUSY if that is done; STEP_DONE: limits refuse it, and the job is
 * blocked or rejected, but its booking is the caller's still; STEP_FAILED.
 */
enum step control_count(sched_t *s, uint32_t slot, int64_t booking);

/* Measure a held job's booking anew: limits or what they are for may have changed. STEP_DONE: they refuse it, and the job
 * is blocked or rejected, its booking given back; STEP_FAILED.
 */
enum step control_recount(sched_t *s, uint32_t slot);

/* The same for all held jobs in queue order, where limits have changed: those within them keep what they hold, whatever later
 * ones do. Returns 0, or -1 with ENOMEM: the rest is in the ledger as it was. O(held log held).
 */
int control_recount_all(sched_t *s);

/* Enter a booking whatever the limits say. Returns 0, or -1 with ENOMEM. And take it out of the ledger. */
int control_enter(sched_t *s, uint32_t slot, int64_t booking);
void control_uncount(sched_t *s, uint32_t slot, int64_t booking);

/* What a job's user and queue hold has become less: jobs that limits have blocked are looked at again. And whether a job that
 * they have blocked is to be.
 */
void control_ease(sched_t *s, uint32_t slot);
bool control_is_eased(const sched_t *s, const struct job *job);

/* Whether one job of this duration may ask for what a job asks for. */
bool job_is_within(const sched_t *s, uint32_t slot, int64_t duration, char *reason, size_t size);

/* Whether limits would let a job go on that asked for this instead (may_ask), and hold a booking (may_hold); nothing of it is in
 * the ledger.
 */
bool control_may_ask(const sched_t *s, uint32_t slot, const struct place_ask *ask);
bool control_may_hold(const sched_t *s, uint32_t slot, int64_t duration, int64_t booking);

/* Have memory for what control_started notes. Returns 0, or -1 with ENOMEM. */
int control_prepare(sched_t *s, uint32_t slot);

/* A job has started, or is promised a time. */
struct sched_decision;
void control_started(sched_t *s, uint32_t slot, enum sched_how how, struct sched_decision *d);
void control_reserved(sched_t *s, uint32_t slot);

/* A held or running job's booking is about to be given back: the ledger forgets it. */
void control_released(sched_t *s, uint32_t slot);

/* Block an open job, or one in no lane, for a reason (queues.h), and unblock it: with no reason left it is open. Return 0, or
 * -1 with ENOMEM and nothing changed.
 */
int job_block(sched_t *s, uint32_t slot, uint8_t reason);
int job_unblock(sched_t *s, uint32_t slot, uint8_t reason);

/* The next pass, or the one at work, tells why this job waits; where there is no memory for that, as soon as it is looked at again.
 * Have memory for one more: 0, or -1 with ENOMEM.
 */
void tell_later(sched_t *s, uint32_t slot);
int tell_reserve(struct queues *n);

/* Jobs whose dependencies are met wait for resources; those that can never be are rejected. Returns 0, or -1 with ENOMEM.
 */
int dependencies_resolve(sched_t *s);

/* Reject a job that is in no lane, with a reason. */
void job_reject(sched_t *s, uint32_t slot, const char *reason);

/* Forget an ended job and all that is known of it. */
void job_forget(sched_t *s, uint32_t slot);

/* Jobs that limits have blocked, and would let now, are so no more. `again`: later in a pass, which begins with this; then each job
 * once, and how many are open by it is returned. -1: ENOMEM.
 */
int64_t limits_resolve(sched_t *s, bool again);

#endif
