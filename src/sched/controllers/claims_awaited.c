/* For whom a claim waits, and who may run in it meanwhile. */
#include "berth/sched_config.h"
#include "berth/sched_query.h"
#include "sched/controllers/claims_priv.h"
#include "sched/controllers/starving.h"
#include "sched/waiting/gang.h"

int claim_each_awaited(const sched_t *s, uint32_t slot, claim_awaited_f *f, void *arg)
{
    const struct heap *from[] = {&s->queues->ends, &s->due};
    const struct place_ops *ops = s->place->ops;
    int64_t booking = s->jobs[slot].booking;
    bool goes_on = true;
    if (ops->mark(s->place, booking, true) < 0)
        return -1;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < from[k]->n && goes_on; i++) {
            const struct job *other = &s->jobs[from[k]->v[i].item];
            bool runs = other->state == SCHED_RUNNING;
            if (runs == (k == 0) && may_lie_over(s, slot, other) &&
                ops->meets(s->place, other->booking) && !may_stop(s, slot, from[k]->v[i].item))
                goes_on = f(arg, s, from[k]->v[i].item);
        }
    ops->mark(s->place, booking, false);
    return 0;
}

/* ---- Who may run in it ---- */

/* Whether a job that waits may be stopped as soon as it runs, whatever becomes of its gang. */
static bool is_stopped_at_once(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return is_preemptible(s, job) && job->details->preemptible_after <= s->queues->setup->second &&
           !gang_may_need(s, slot);
}

static bool ends_unknown(const sched_t *s, const struct job *job)
{
    return job->details->estimate >= s->place->endless;
}

bool claims_are_open(const sched_t *s, const struct lane *lane)
{
    const struct setup *setup = s->queues->setup;
    return s->queues->n_claims > 0 &&
           (setup->admits_unknown ||
            setup->queue[lane->queue].preemptible != SCHED_NOT_PREEMPTIBLE);
}

bool claims_admit(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return job->details && s->queues->n_claims > 0 &&
           (is_stopped_at_once(s, slot) ||
            (s->queues->setup->admits_unknown && ends_unknown(s, job)));
}

/* Whether a job runs that has started since the job of a claim is starving, without a promise. */
static bool has_come(const struct job *job, int64_t starves)
{
    return job->state == SCHED_RUNNING && job->at >= starves && job->details->how != SCHED_PROMISED;
}

struct awaiting {
    int64_t since; /* when the claim's job became starving */
    bool has_others;
};

/* A job that fills what is claimed until this is needed is preemptible, or has started since then without a promise.
 * Returns whether it does.
 */
static bool fills_it(void *arg, const sched_t *s, uint32_t other)
{
    struct awaiting *a = arg;
    const struct job *job = &s->jobs[other];
    a->has_others = !is_preemptible(s, job) && !has_come(job, a->since);
    return !a->has_others;
}

/* Whether a claim waits for others than jobs that fill it. O(1) while nothing is booked and released, else O(running). */
static bool waits_for_others(const sched_t *s, uint32_t slot)
{
    struct claim *claim = s->queues->claims;
    struct awaiting a = {.since = starves_at(s, slot)};
    uint64_t now = s->booked + s->place->freed.next + 1;
    while (claim->slot != slot)
        claim++;
    if (claim->asked != now) {
        if (claim_each_awaited(s, slot, fills_it, &a) < 0)
            return false; /* nobody enters */
        claim->asked = now;
        claim->has_others = a.has_others;
    }
    return claim->has_others;
}

bool claim_admits(const sched_t *s, uint32_t slot, uint32_t other)
{
    const struct job *job = &s->jobs[other];
    const struct setup_queue *queue = &s->queues->setup->queue[s->jobs[slot].details->queue];
    bool may = is_stopped_at_once(s, other);
    if (may && may_preempt(s, &s->jobs[slot]))
        return true;
    bool fills =
        (may && queue->preempts_nobody) || (queue->claims_admit_unknown && ends_unknown(s, job));
    return fills && waits_for_others(s, slot);
}

/* Whether a job has come to a claim that admits jobs of unknown end. */
static bool has_entered(const sched_t *s, uint32_t slot, uint32_t claim)
{
    const struct place_ops *ops = s->place->ops;
    const struct job *job = &s->jobs[slot], *other = &s->jobs[claim];
    if (!s->queues->setup->queue[other->details->queue].claims_admit_unknown ||
        !ends_unknown(s, job) || !has_come(job, starves_at(s, claim)) ||
        ops->mark(s->place, other->booking, true) < 0)
        return false;
    bool meets = ops->meets(s->place, job->booking);
    ops->mark(s->place, other->booking, false);
    return meets;
}

bool sched_is_filling(const sched_t *s, sched_job_t handle)
{
    uint32_t slot = job_in_queue(s, handle);
    if (slot == JOB_NONE || s->jobs[slot].state != SCHED_RUNNING)
        return false;
    bool is = is_spare(s, slot);
    for (size_t i = 0; i < s->queues->n_claims && !is; i++)
        is = has_entered(s, slot, s->queues->claims[i].slot);
    return is;
}
