/* What jobs may take beyond their estimates, and limits.
 *
 * A limit's calendar has each booking for as long as its estimate. Where a job may take longer, it must not be over a
 * limit then with what others are promised, as for the machine (pass/expect.c): the rest of its own limit is asked for
 * in the windows of these. Before what is only expected, estimates count; and so nobody is promised a start, but only
 * expected to start, while limits have no room for the rest of another job as well.
 */
#include "sched/controllers/limiter.h"
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

/* What two bookings hold together. */
static int64_t measure_both(void *arg, const char *type)
{
    struct measured *m = arg;
    int64_t sum;
    return __builtin_add_overflow(measure_held(&m[0], type), measure_held(&m[1], type), &sum)
               ? INT64_MAX
               : sum;
}

bool limits_let_tail(const sched_t *s, uint32_t slot, uint32_t beside, int64_t booking, int64_t at)
{
    const struct job *job = &s->jobs[slot], *other = &s->jobs[beside];
    int64_t begin = job->at < s->now && job->state == SCHED_RESERVED ? s->now : job->at;
    int64_t end = begin + job->ask.duration, until = at + other->ask.duration;
    int64_t limit = job->details->limit,
            over = limit < INT64_MAX - begin ? begin + limit : INT64_MAX;
    struct limits_window window =
        limits_window_of(s, slot, job->booking, at > end ? at : end, over < until ? over : until);
    struct measured m[] = {{.s = s, .booking = job->booking}, {.s = s, .booking = booking}};
    bool is_counted = other->details->is_counted;
    if (!is_counted)
        window.jobs += limits_window_of(s, beside, booking, at, until).jobs;
    return limits_start(s->queues->limits, job->details->party, window,
                        is_counted ? measure_held : measure_both, m, NULL, NULL);
}
