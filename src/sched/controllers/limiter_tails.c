/* What jobs may take beyond their estimates, and limits.
 *
 * A limit's calendar has each booking for as long as its estimate. Where a job may take longer, it must not be over a
 * limit then with what others are promised, as for the machine (pass/expect.c): the rest of its own limit is asked for
 * in the windows of these. Before what is only expected, estimates count; and so nobody is promised a start, but only
 * expected to start, while limits have no room for the rest of another job as well.
 *
 * Several jobs may take longer at once. So while such a question is asked, the calendars have the rests of the others, too.
 */
#include "sched/controllers/limiter.h"
#include "sched/controllers/limiter_priv.h"
#include "sched/queues.h"

/* When a job that begins at a time ends at the latest. */
static int64_t last_end(const struct job *job, int64_t at)
{
    int64_t limit = job->details->limit;
    return limit < INT64_MAX - at ? at + limit : INT64_MAX;
}

static int64_t begin_of(const sched_t *s, const struct job *job)
{
    return job->at < s->now && job->state == SCHED_RESERVED ? s->now : job->at;
}

/* ---- The rests of others ---- */

/* What a job may take of a window beyond its estimate. */
static struct limits_window rest_in(const sched_t *s, const struct job *job,
                                    struct limits_window in)
{
    int64_t from = job->details->counted.until, until = last_end(job, begin_of(s, job));
    return (struct limits_window){from > in.from ? from : in.from,
                                  until < in.until ? until : in.until, job->details->counted.jobs};
}

static void enter_rest(const sched_t *s, struct job *job, struct limits_window rest, bool enters)
{
    struct measured m = {.s = s, .booking = job->booking, .class = job->ask.class};
    const struct limits_nodes *nodes = measure_listed(&m, job->details->shared);
    (enters ? limits_add : limits_sub)(s->queues->limits, job->details->party, rest, measure_held,
                                       &m, nodes);
    job->details->is_rest_counted = enters;
    if (!enters)
        limits_close(s->queues->limits, job->details->party, rest, nodes);
}

void rest_count(const sched_t *s, uint32_t slot, uint32_t party, struct limits_window in)
{
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    struct measured m = {.s = s, .booking = job->booking, .class = job->ask.class};
    if (!d || !d->is_counted || d->limit <= d->estimate || d->is_rest_counted)
        return;
    struct limits_window rest = rest_in(s, job, in);
    if (rest.from < rest.until && limits_share(s->queues->limits, party, d->party) &&
        limits_open(s->queues->limits, d->party, rest, measure_listed(&m, d->shared)) == 0)
        enter_rest(s, job, rest, true);
}

void rests_forget(const sched_t *s, struct limits_window in)
{
    const struct heap *from[] = {&s->queues->ends, &s->due};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < from[k]->n; i++) {
            struct job *job = &s->jobs[from[k]->v[i].item];
            if (job->details && job->details->is_rest_counted)
                enter_rest(s, job, rest_in(s, job, in), false);
        }
}

/* Those of all jobs but one that share a limit with it. */
static void rests_count(const sched_t *s, uint32_t but, struct limits_window in)
{
    const struct heap *from[] = {&s->queues->ends, &s->due};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < from[k]->n; i++)
            if (from[k]->v[i].item != but)
                rest_count(s, from[k]->v[i].item, s->jobs[but].details->party, in);
}

/* ---- Questions ---- */

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
    uint32_t party = s->jobs[slot].details->party, met = JOB_NONE;
    struct limits_window tail = {window.until, last_end(&s->jobs[slot], window.from), window.jobs};
    bool any = false;
    if (!s->queues->any_tails || tail.from >= tail.until)
        return JOB_NONE;
    for (size_t i = 0; i < s->due.n && met == JOB_NONE; i++) {
        uint32_t other = s->due.v[i].item;
        const struct job *job = &s->jobs[other];
        if (other == slot || job->is_lifted || job->details->is_expected || job->at >= tail.until ||
            job_until(job) <= tail.from ||
            !limits_share(s->queues->limits, party, job->details->party))
            continue;
        if (!any)
            rests_count(s, slot, tail);
        any = true;
        if (!has_room(s, slot, tail, job, ask, over))
            met = other;
    }
    if (any)
        rests_forget(s, tail);
    return met;
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
    int64_t begin = begin_of(s, job), over = last_end(job, begin);
    int64_t end = begin + job->ask.duration, until = at + other->ask.duration;
    struct limits_window window =
        limits_window_of(s, slot, job->booking, at > end ? at : end, over < until ? over : until);
    struct measured m[] = {{.s = s, .booking = job->booking}, {.s = s, .booking = booking}};
    bool is_counted = other->details->is_counted;
    if (!is_counted)
        window.jobs += limits_window_of(s, beside, booking, at, until).jobs;
    return limits_start(s->queues->limits, job->details->party, window,
                        is_counted ? measure_held : measure_both, m, NULL, NULL);
}
