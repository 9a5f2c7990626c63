/* What jobs may take beyond their estimates, and limits.
 *
 * A limit's calendar has each booking for as long as its estimate. Where jobs may take longer, limits must have room for
 * all of them when somebody else is promised a start, as the machine must (pass/expect.c): for the job that is asked about,
 * who may still be there then, and for the rests of others. These are the limits in which both jobs count. What begins
 * after that start is asked about its own. Before what is only expected, estimates count; and so nobody is promised a start,
 * but only expected to start, while limits have no room for the rest of another job as well. What begins with it and stands
 * behind it gives way. What is out of the calendars for a while counts as if it were there.
 */
#include <string.h>

#include "sched/controllers/blocks.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/limiter_priv.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"

static int64_t begin_of(const sched_t *s, const struct job *job)
{
    return job->at < s->now && job->state == SCHED_RESERVED ? s->now : job->at;
}

/* When a job that begins at a time ends at the latest. Where it has a reservation then, a block may stop it on what that is;
 * else it is asked about whatever it will hold.
 */
static int64_t last_end(const sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    const struct job *job = &s->jobs[slot];
    int64_t limit = job->details->limit;
    if (job->state == SCHED_RESERVED && booking == job->booking && at == begin_of(s, job))
        return gone_by(s, slot, booking, at);
    return limit < INT64_MAX - at ? at + limit : INT64_MAX;
}

/* ---- The rests of others ---- */

/* What a job may take of a window beyond its estimate. */
static struct limits_window rest_in(const sched_t *s, const struct job *job,
                                    struct limits_window in)
{
    int64_t from = job->details->counted.until;
    int64_t until = gone_by(s, (uint32_t)(job - s->jobs), job->booking, begin_of(s, job));
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

/* ---- Those behind ---- */

/* What a job is promised counts, or does not for a while. */
static void count_promise(const sched_t *s, const struct job *job, bool counts)
{
    const struct details *d = job->details;
    struct measured m = {.s = s, .booking = job->booking, .class = job->ask.class};
    (counts ? limits_add : limits_sub)(s->queues->limits, d->party, d->counted, measure_held, &m,
                                       measure_listed(&m, d->shared));
}

static void set_back(const sched_t *s, const struct job *job, bool is)
{
    count_promise(s, job, is);
    job->details->is_back = job->details->is_counted = is;
}

bool limits_return(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    uint32_t party = job->details->party;
    bool any = false;
    if (!limits_share(s->queues->limits, party, party))
        return false;
    for (size_t i = 0; i < s->due.n; i++) {
        const struct job *other = &s->jobs[s->due.v[i].item];
        const struct details *d = other->details;
        if (other == job || other->state != SCHED_RESERVED || !other->is_lifted || !d->is_open ||
            d->is_counted || level_last(other->key).rank != level_last(job->key).rank ||
            !limits_share(s->queues->limits, party, d->party))
            continue;
        set_back(s, other, true);
        any = true;
    }
    return any;
}

void limits_leave(const sched_t *s, bool any)
{
    for (size_t i = 0; any && i < s->due.n; i++)
        if (s->jobs[s->due.v[i].item].details->is_back)
            set_back(s, &s->jobs[s->due.v[i].item], false);
}

static void give_way(const sched_t *s, const struct job *job, bool gives)
{
    count_promise(s, job, !gives);
    job->details->gives_way = gives;
}

bool limits_give_way(const sched_t *s, uint32_t slot, int64_t at)
{
    const struct job *job = &s->jobs[slot];
    uint32_t party = job->details->party;
    bool any = false;
    if (!limits_share(s->queues->limits, party, party))
        return false;
    for (size_t i = 0; i < s->due.n; i++) {
        const struct job *other = &s->jobs[s->due.v[i].item];
        if (other->at != at || !queue_before(job->key, other->key) || !other->details->is_counted ||
            !limits_share(s->queues->limits, party, other->details->party))
            continue;
        give_way(s, other, true);
        any = true;
    }
    return any;
}

void limits_go_back(const sched_t *s, bool any)
{
    for (size_t i = 0; any && i < s->due.n; i++)
        if (s->jobs[s->due.v[i].item].details->gives_way)
            give_way(s, &s->jobs[s->due.v[i].item], false);
}

/* ---- Questions ---- */

/* Whether the limits of a job that is promised a start have room then for what another one may still have. */
static bool has_room_for_rests(const sched_t *s, uint32_t slot, const struct job *promised,
                               int64_t jobs, const struct limits_ask *ask, struct limits_over *over)
{
    return limits_start_beside(s->queues->limits, s->jobs[slot].details->party,
                               promised->details->party,
                               (struct limits_window){promised->at, promised->at + 1, jobs},
                               ask->amount, ask->arg, ask->nodes, over);
}

/* The same beside those that give way to it. */
static bool has_room_first(const sched_t *s, uint32_t slot, uint32_t promised, int64_t jobs,
                           const struct limits_ask *ask, struct limits_over *over)
{
    struct limits_over found;
    if (has_room_for_rests(s, slot, &s->jobs[promised], jobs, ask, NULL))
        return true;
    bool any = limits_give_way(s, promised, s->jobs[promised].at);
    bool has = has_room_for_rests(s, slot, &s->jobs[promised], jobs, ask, &found);
    limits_go_back(s, any);
    if (!has && over)
        *over = found;
    return has;
}

/* Whether a promised start is before another one: so it does not depend on the heap which limit is told. */
static bool is_sooner(const struct job *a, const struct job *b)
{
    return a->at != b->at ? a->at < b->at : a->key.seq < b->key.seq;
}

uint32_t tail_meets(const sched_t *s, uint32_t slot, struct limits_window window,
                    const struct limits_ask *ask, struct limits_over *over)
{
    const struct limits *limits = s->queues->limits;
    uint32_t party = s->jobs[slot].details->party, met = JOB_NONE;
    const struct measured *m = ask->arg;
    struct limits_window stay = {window.from + 1, last_end(s, slot, m->booking, window.from), 0};
    bool any = false;
    if (!s->queues->any_tails || !limits_share(limits, party, party))
        return JOB_NONE;
    for (size_t i = 0; i < s->due.n; i++) {
        uint32_t other = s->due.v[i].item;
        const struct job *job = &s->jobs[other];
        if (other == slot || job->is_lifted || job->details->is_expected || job->at < stay.from ||
            job->at >= stay.until || (met != JOB_NONE && is_sooner(&s->jobs[met], job)) ||
            !limits_share(limits, party, job->details->party))
            continue;
        if (!any)
            rests_count(s, slot, stay);
        any = true;
        if (!has_room_first(s, slot, other, window.jobs, ask, over))
            met = other;
    }
    if (any)
        rests_forget(s, stay);
    return met;
}

/* Two bookings. */
struct both {
    struct measured m[2];
    const struct limits_nodes *of[2]; /* nodes that each of them shares with others; NULL: none */
    int64_t twice;                    /* so many of these both of them have */
    struct limits_nodes nodes;        /* all of these, each once */
};

static bool is_among(const struct limits_nodes *nodes, uint32_t node)
{
    uint32_t i = 0, one;
    while (nodes && nodes->next(nodes->arg, &i, &one))
        if (one == node)
            return true;
    return false;
}

/* Nodes of the second one have the first bit of *i set. */
static bool next_of_both(void *arg, uint32_t *i, uint32_t *node)
{
    static const uint32_t second = UINT32_C(1) << 31;
    const struct both *b = arg;
    if (!(*i & second)) {
        if (b->of[0] && b->of[0]->next(b->of[0]->arg, i, node))
            return true;
        *i = second;
    }
    uint32_t at = *i & ~second;
    bool any;
    do
        any = b->of[1] && b->of[1]->next(b->of[1]->arg, &at, node);
    while (any && is_among(b->of[0], *node));
    *i = at | second;
    return any;
}

/* What two bookings hold together. */
static int64_t measure_both(void *arg, const char *type)
{
    struct both *b = arg;
    int64_t sum;
    if (__builtin_add_overflow(measure_held(&b->m[0], type), measure_held(&b->m[1], type), &sum))
        return INT64_MAX;
    return strcmp(type, "node") == 0 ? sum - b->twice : sum;
}

/* What a job holds, and a booking of another one beside it. O(nodes that one shares, times those of the other). */
static const struct limits_nodes *both_of(const sched_t *s, uint32_t slot, uint32_t beside,
                                          int64_t booking, struct both *b)
{
    const struct job *job = &s->jobs[slot];
    uint32_t i = 0, node;
    *b = (struct both){.m = {{.s = s, .booking = job->booking}, {.s = s, .booking = booking}}};
    b->of[0] = measure_listed(&b->m[0], job->details->shared);
    b->of[1] = measure_shared(&b->m[1], beside);
    while (b->of[0] && b->of[1] && b->of[1]->next(b->of[1]->arg, &i, &node))
        b->twice += is_among(b->of[0], node);
    int64_t n = (b->of[0] ? b->of[0]->n : 0) + (b->of[1] ? b->of[1]->n : 0) - b->twice;
    b->nodes = (struct limits_nodes){next_of_both, b, n};
    return n > 0 ? &b->nodes : NULL;
}

/* What a job may take beyond its estimate counts, or does not for a while. */
static void rest_aside(const sched_t *s, const struct job *job, struct limits_window rest,
                       bool aside)
{
    struct measured m = {.s = s, .booking = job->booking, .class = job->ask.class};
    const struct limits_nodes *nodes = measure_listed(&m, job->details->shared);
    (aside ? limits_sub : limits_add)(s->queues->limits, job->details->party, rest, measure_held,
                                      &m, nodes);
}

bool limits_let_tail(const sched_t *s, uint32_t slot, uint32_t beside, int64_t booking, int64_t at)
{
    const struct job *job = &s->jobs[slot], *other = &s->jobs[beside];
    struct limits_window window = limits_window_of(s, slot, job->booking, at, at + 1);
    struct limits_window rest = rest_in(s, job, window);
    struct limits_ask ask;
    struct both b;
    if (other->details->is_counted) {
        b.m[0] = (struct measured){.s = s, .booking = job->booking};
        ask = (struct limits_ask){measure_held, &b.m[0],
                                  measure_listed(&b.m[0], job->details->shared)};
    } else {
        ask = (struct limits_ask){measure_both, &b, both_of(s, slot, beside, booking, &b)};
        window.jobs += limits_window_of(s, beside, booking, at, at + 1).jobs;
    }
    if (job->details->is_rest_counted)
        rest_aside(s, job, rest, true);
    bool lets = limits_start_beside(s->queues->limits, other->details->party, job->details->party,
                                    window, ask.amount, ask.arg, ask.nodes, NULL);
    if (job->details->is_rest_counted)
        rest_aside(s, job, rest, false);
    return lets;
}
