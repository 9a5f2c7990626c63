/* For whom a claim waits, and who may run in it meanwhile. */
#include "berth/sched_config.h"
#include "berth/sched_query.h"
#include "sched/controllers/claims_priv.h"
#include "sched/controllers/starving.h"
#include "sched/waiting/gang.h"

/* A claim's job, and those that it may wait for, one by one. */
struct waiting {
    const sched_t *s;
    uint32_t slot;
    bool is_any;     /* those that may be stopped for it, too */
    size_t of, i;    /* of which heap, and the next one */
    bool is_weighed; /* what all of them and claims have of pools is counted */
};

/* The next one that holds something, now or before the job, and can't be stopped for it; JOB_NONE. */
static uint32_t next_in_place(struct waiting *w)
{
    const sched_t *s = w->s;
    const struct heap *from[] = {&s->queues->ends, &s->due};
    for (; w->of < 2; w->of++, w->i = 0)
        while (w->i < from[w->of]->n) {
            uint32_t other = from[w->of]->v[w->i++].item;
            bool runs = s->jobs[other].state == SCHED_RUNNING; /* some are in both */
            if (runs == (w->of == 0) && may_lie_over(s, w->slot, &s->jobs[other]) &&
                (w->is_any || !may_stop(s, w->slot, other)))
                return other;
        }
    return JOB_NONE;
}

/* Count what it claims, what the others have, and what is claimed for others, or don't any more. Returns 0, or -1 with ENOMEM. */
static int weigh_all(struct waiting *w, bool on)
{
    const struct place_ops *ops = w->s->place->ops;
    struct waiting all = {.s = w->s, .slot = w->slot, .is_any = w->is_any};
    if (ops->weigh(w->s->place, w->s->jobs[w->slot].booking, on) < 0)
        return -1;
    for (uint32_t other; (other = next_in_place(&all)) != JOB_NONE;)
        ops->weigh(w->s->place, w->s->jobs[other].booking, on);
    for (size_t i = 0; i < w->s->queues->n_claims; i++) {
        const struct job *other = &w->s->jobs[w->s->queues->claims[i].slot];
        if (w->s->queues->claims[i].slot != w->slot && !other->is_lifted)
            ops->weigh(w->s->place, other->booking, on);
    }
    w->is_weighed = on;
    return 0;
}

/* Whether one is in the way of what is claimed, which is marked: it holds something of it, or a pool has no room for all. 1, 0, or
 * -1 with ENOMEM.
 */
static int is_awaited(struct waiting *w, uint32_t other)
{
    const struct place_ops *ops = w->s->place->ops;
    enum place_meet meet = ops->meets(w->s->place, w->s->jobs[other].booking);
    if (meet != PLACE_BESIDE || w->is_weighed)
        return meet == PLACE_IN_WAY;
    if (weigh_all(w, true) < 0)
        return -1;
    return ops->meets(w->s->place, w->s->jobs[other].booking) == PLACE_IN_WAY;
}

static int each_in_way(struct waiting *w, claim_awaited_f *f, void *arg)
{
    const sched_t *s = w->s;
    int64_t booking = s->jobs[w->slot].booking;
    int is = 0;
    if (s->place->ops->mark(s->place, booking, true) < 0)
        return -1;
    for (uint32_t other; is >= 0 && (other = next_in_place(w)) != JOB_NONE;) {
        is = is_awaited(w, other);
        if (is > 0 && !f(arg, s, other))
            break;
    }
    if (w->is_weighed)
        weigh_all(w, false);
    s->place->ops->mark(s->place, booking, false);
    return is < 0 ? -1 : 0;
}

int claim_each_awaited(const sched_t *s, uint32_t slot, claim_awaited_f *f, void *arg)
{
    struct waiting w = {.s = s, .slot = slot};
    return each_in_way(&w, f, arg);
}

static bool is_not_free(void *arg, const sched_t *s, uint32_t other)
{
    (void)s;
    (void)other;
    *(bool *)arg = false;
    return false;
}

int claim_is_free(const sched_t *s, uint32_t slot)
{
    struct waiting w = {.s = s, .slot = slot, .is_any = true};
    bool is_free = true;
    return each_in_way(&w, is_not_free, &is_free) < 0 ? -1 : is_free;
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

/* Whether a job has started since the job of a claim is starving, without a promise, or will when its victims have ended: then it
 * is as if it had found that free.
 */
static bool has_come(const struct job *job, int64_t starves)
{
    bool has =
        job->state == SCHED_RUNNING ? job->details->how != SCHED_PROMISED : job->is_preempting;
    return has && job->at >= starves;
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
    struct claim *claim = claim_of(s, slot);
    struct awaiting a = {.since = starves_at(s, slot)};
    uint64_t now = s->booked + s->place->freed.next + 1;
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
