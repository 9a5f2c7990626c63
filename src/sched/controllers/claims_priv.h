/* What the parts of the controller of claims share: for whom they wait, and whom they may have stopped. */
#ifndef SCHED_CLAIMS_PRIV_H
#define SCHED_CLAIMS_PRIV_H

#include "sched/controllers/blocks.h"
#include "sched/controllers/claims.h"
#include "sched/controllers/victims.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"

/* Whether a job of a queue may have a running one stopped as that is by now (is_spare). */
static inline bool may_stop(const sched_t *s, uint32_t slot, uint32_t other)
{
    return may_preempt(s, &s->jobs[slot]) && is_spare(s, other);
}

/* When a job is expected to have ended, or may be stopped for another one; INT64_MAX: nobody knows, also where it has overrun. */
static inline int64_t known_end(const sched_t *s, uint32_t slot, uint32_t other)
{
    const struct job *job = &s->jobs[other];
    bool is_known = job->ask.duration < s->place->endless &&
                    (job->state != SCHED_RUNNING || overrun_since(s, other) > s->now);
    int64_t end = is_known ? job_until(job) : INT64_MAX;
    if (job->state != SCHED_RUNNING || !is_preemptible(s, job) || !may_preempt(s, &s->jobs[slot]) ||
        !gang_spares(s, other))
        return end;
    int64_t from = preemptible_from(s, job);
    return from < end ? from : end;
}

static inline struct claim *claim_of(const sched_t *s, uint32_t slot)
{
    struct claim *claim = s->queues->claims;
    while (claim->slot != slot)
        claim++;
    return claim;
}

/* Whether a claim of a job may lie over what another one holds: it runs, or it holds a reservation and goes before the job, as
 * that would with a promise (key_held).
 */
static inline bool may_lie_over(const sched_t *s, uint32_t slot, const struct job *other)
{
    if (other->state == SCHED_RUNNING)
        return true;
    return other->state == SCHED_RESERVED && !other->is_lifted && !other->is_claiming &&
           (other->is_preempting || queue_before(other->key, key_held(s, slot, 0)));
}

/* Call `f` for each job that a claim waits for, until it returns false. Returns 0, or -1 with ENOMEM. */
typedef bool claim_awaited_f(void *arg, const sched_t *s, uint32_t other);
int claim_each_awaited(const sched_t *s, uint32_t slot, claim_awaited_f *f, void *arg);

/* Whether nobody is in the way of a claim, not even a job that may be stopped for it: 1, 0, or -1 with ENOMEM. */
int claim_is_free(const sched_t *s, uint32_t slot);

/* Whether a job may run in the claim of another one. */
bool claim_admits(const sched_t *s, uint32_t slot, uint32_t other);

/* Book what an open job may claim, without an end, chosen by whom it has to wait for: from now on, or where blocks have what it
 * can't do without from *at on, when they are over. The booking is out of the calendars, and all else is as it was. -1 with
 * EBUSY: it fits nowhere even so; ENOMEM.
 */
int64_t claim_choose(sched_t *s, uint32_t slot, int64_t *at);

#endif
