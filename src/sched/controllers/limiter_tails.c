/* What jobs may take beyond their estimates, and limits.
 *
 * A limit's calendar has each booking for as long as its estimate. Where a job may take longer, it must not be over a
 * limit then with what others are promised by that limit, as for the machine (pass/expect.c): the rest of its own limit
 * is asked for in the windows of these. Before what is only expected, estimates count.
 */
#include "sched/controllers/limiter_priv.h"
#include "sched/queues.h"

/* Whether limits have room for what a job may take of the window of something promised, from an end on. */
static bool has_room(const sched_t *s, uint32_t slot, struct limits_window tail,
                     const struct job *promised, const struct limits_ask *ask,
                     struct limits_over *over)
{
    int64_t from = promised->at > tail.from ? promised->at : tail.from;
    int64_t until = job_until(promised) < tail.until ? job_until(promised) : tail.until;
    uint32_t party = s->jobs[slot].details->party;
    return limits_start(s->queues->limits, party, (struct limits_window){from, until, tail.jobs},
                        ask->amount, ask->arg, ask->nodes, over);
}

uint32_t tail_meets(const sched_t *s, uint32_t slot, struct limits_window window,
                    const struct limits_ask *ask, struct limits_over *over)
{
    const struct details *d = s->jobs[slot].details;
    const struct limits *limits = s->queues->limits;
    int64_t end = d->limit < INT64_MAX - window.from ? window.from + d->limit : INT64_MAX;
    struct limits_window tail = {window.until, end, window.jobs};
    if (!s->queues->any_tails || tail.from >= tail.until ||
        limits_start(limits, d->party, tail, ask->amount, ask->arg, ask->nodes, NULL))
        return JOB_NONE;
    for (size_t i = 0; i < s->due.n; i++) {
        uint32_t other = s->due.v[i].item;
        const struct job *job = &s->jobs[other];
        if (other != slot && !job->is_lifted && !job->details->is_expected &&
            job->at < tail.until && job_until(job) > tail.from &&
            limits_share(limits, d->party, job->details->party) &&
            !has_room(s, slot, tail, job, ask, over))
            return other;
    }
    return JOB_NONE;
}
