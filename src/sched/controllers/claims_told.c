/* Why a job with a claim waits. */
#include "sched/controllers/claims_priv.h"

/* Add a job to those that are named, the first ones in queue order. */
static void name(const sched_t *s, struct sched_reason *why, uint32_t named[SCHED_REASON_JOBS],
                 uint32_t slot)
{
    size_t i = why->n_jobs;
    for (; i > 0 && queue_before(s->jobs[slot].key, s->jobs[named[i - 1]].key); i--)
        if (i < SCHED_REASON_JOBS)
            named[i] = named[i - 1];
    if (i < SCHED_REASON_JOBS)
        named[i] = slot;
    why->others |= why->n_jobs == SCHED_REASON_JOBS;
    why->n_jobs += why->n_jobs < SCHED_REASON_JOBS;
}

static struct sched_reason_job name_of_awaited(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    return (struct sched_reason_job){.id = d->is_nameless ? ""
                                                          : depend_base_id(s->queues->depend, slot),
                                     .member = d->of ? (int64_t)d->member : -1};
}

/* Jobs that may be stopped for it hold nothing of a claim, as far as is told. They are out of the calendars, or back. */
static void stopped_aside(sched_t *s, uint32_t slot, bool aside)
{
    const struct queues *n = s->queues;
    for (size_t i = 0; i < n->n_victims; i++) {
        const struct job *job = &s->jobs[n->victims[i]];
        if (!may_stop(s, slot, n->victims[i]))
            continue;
        if (aside)
            s->place->ops->lift(s->place, job->booking, true);
        else
            s->place->ops->drop(s->place, &job->ask, job->booking);
    }
}

/* Those that are named so far. */
struct naming {
    struct sched_reason *why;
    uint32_t named[SCHED_REASON_JOBS];
};

static bool name_awaited(void *arg, const sched_t *s, uint32_t other)
{
    struct naming *n = arg;
    name(s, n->why, n->named, other);
    return true;
}

void claim_reason(sched_t *s, uint32_t slot, struct sched_reason *why)
{
    const struct job *job = &s->jobs[slot];
    struct naming n = {.why = why};
    why->kind = SCHED_REASON_CLAIM;
    stopped_aside(s, slot, true);
    uint64_t blocks =
        blocks_during(s->queues, s->queues->blocks_set & ~job->ask.permits, s->now, s->now + 1);
    why->type =
        s->place->ops->withheld(s->place, job->booking, s->now, blocks, &why->has, &why->of);
    stopped_aside(s, slot, false);
    if (!why->type || claim_each_awaited(s, slot, name_awaited, &n) < 0) {
        *why = (struct sched_reason){.kind = SCHED_REASON_STARVING};
        return;
    }
    for (size_t i = 0; i < why->n_jobs; i++)
        why->job[i] = name_of_awaited(s, n.named[i]);
}
