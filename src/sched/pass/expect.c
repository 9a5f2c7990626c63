/* Reservations that stand even if all jobs take as long as they may are promised; the others are expected.
 *
 * A booking is as long as its job's estimate. From there to its limit, what it holds may stay taken: that is
 * its tail. That of a job without a limit ends where a block stops it (controllers/clear.c). A reservation is only expected if it begins in the tail of another booking and both hold
 * the same; or if a pool of which both have units, or a limit of its user or queue, has no room for the tails of all
 * others then; or if a job before it could use what it holds and is itself only expected to start:
 * where that is put off, it is placed anew before those behind it. Bookings that begin after the reservation don't delay
 * it, nor do those whose tails begin after it: the calendars have room for both.
 *
 * A promise is kept in two ways. First, no booking is made whose tail may take what a promised reservation needs at its
 * start, alone or of a pool together with others that may still be there (keeps_promises). A job is placed by its
 * estimate. If that breaks a promise, it is placed where its whole limit fits, or on other nodes, or beside what is
 * promised on them (book.c). Second, a booking that overruns its estimate grows up to its limit only
 * (controllers/overrun.c), so it stays within its tail.
 *
 * Where no job may last longer than it is expected to, there are no tails, and nothing is looked at.
 */
#include <errno.h>

#include "sched/controllers/ask.h"
#include "sched/controllers/blocks.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/limits.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"

/* Whether another job's booking counts for a job. One that is out of the calendars for a while counts where `lifted`
 * says so, as it is put back where it was if it can be; but not for jobs of higher queues.
 */
static bool booking_counts(const struct job *job, const struct job *other, bool lifted)
{
    if (other->state == SCHED_RESERVED && other->is_lifted)
        return lifted && level_last(other->key).rank == level_last(job->key).rank;
    return other->state == SCHED_RUNNING || other->state == SCHED_RESERVED;
}

/* Where a job begins, and when; `lifted`: those that are out of the calendars for a while count. `is_weighed`: pools are, in
 * which those give way that begin with `first` and stand behind it.
 */
struct start_at {
    int64_t booking, at;
    bool lifted, is_weighed;
    const struct job *first;
};

/* From when until when another job may be there. One whose victims take their time begins late. */
static void stay_of(const sched_t *s, const struct job *other, int64_t *begin, int64_t *end)
{
    bool is_late = other->state == SCHED_RESERVED && other->at < s->now;
    *begin = is_late ? s->now : other->at;
    *end = gone_by(s, (uint32_t)(other - s->jobs), other->booking, *begin);
}

/* Whether it has its part of pools when a job begins. */
static bool is_weighed(const sched_t *s, const struct job *job, const struct start_at *start,
                       const struct job *other)
{
    int64_t begin, end;
    if (other == job || other->is_claiming || !booking_counts(job, other, start->lifted) ||
        (other->state == SCHED_RUNNING && other->is_lifted)) /* it is stopped in a trial */
        return false;
    if (other->state == SCHED_RESERVED && other->at == start->at &&
        queue_before(start->first->key, other->key))
        return false;
    stay_of(s, other, &begin, &end);
    return begin <= start->at && end > start->at;
}

/* Count what all have of pools who may be there when a job begins, itself among them, or don't any more. Returns 0, or -1 with
 * ENOMEM and nothing is counted. O(what they hold).
 */
static int weigh(const sched_t *s, const struct job *job, struct start_at *start, bool on)
{
    const struct place_ops *ops = s->place->ops;
    const struct heap *from[] = {&s->queues->ends, &s->due};
    if (ops->weigh(s->place, start->booking, on) < 0)
        return -1; /* there is memory for the first one, or for none */
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < from[k]->n; i++) {
            const struct job *other = &s->jobs[from[k]->v[i].item];
            bool is_once = (other->state == SCHED_RUNNING) == (k == 0); /* some are in both */
            if (is_once && is_weighed(s, job, start, other))
                ops->weigh(s->place, other->booking, on);
        }
    start->is_weighed = on;
    return 0;
}

/* Whether another booking is in the way of a job that begins, of which what it holds is marked, if both are there
 * then: they hold the same, or a pool has no room for all.
 */
static bool is_in_way(const sched_t *s, const struct job *job, struct start_at *start,
                      int64_t booking)
{
    enum place_meet meet = s->place->ops->meets(s->place, booking);
    if (meet != PLACE_BESIDE || start->is_weighed)
        return meet == PLACE_IN_WAY;
    return weigh(s, job, start, true) < 0 ||
           s->place->ops->meets(s->place, booking) == PLACE_IN_WAY;
}

/* Whether `other` may still be there when a job begins at a time, or while it lasts, or may itself be put
 * off and then take what the job's booking holds, as it goes before it. What is marked is what the booking
 * holds: that is looked at last.
 */
static bool may_delay(const sched_t *s, const struct job *job, struct start_at *start,
                      const struct job *other)
{
    int64_t at = start->at, booking = start->booking, begin, end;
    if (other == job || !booking_counts(job, other, start->lifted) || other->is_claiming)
        return false; /* a claim begins behind what it meets */
    stay_of(s, other, &begin, &end);
    int64_t until = begin + other->ask.duration;
    bool tail = begin < at && until <= at && end > at;
    bool waits =
        tail && limits_share(s->queues->limits, job->details->party, other->details->party) &&
        !limits_let_tail(s, (uint32_t)(other - s->jobs), (uint32_t)(job - s->jobs), booking, at);
    bool goes_before = other->state == SCHED_RESERVED && other->details->is_expected &&
                       queue_before(other->key, job->key);
    return waits || (tail && is_in_way(s, job, start, other->booking)) ||
           (goes_before && s->place->ops->useful(s->place, &other->ask, booking) > 0);
}

static bool culprit_is_left(const sched_t *s, const struct job *job)
{
    uint32_t slot = job->details->culprit < 0 ? JOB_NONE : job_find(s, job->details->culprit);
    struct start_at start = {job->booking, job->at, true, false, job};
    bool is_left = slot != JOB_NONE && may_delay(s, job, &start, &s->jobs[slot]);
    if (start.is_weighed)
        weigh(s, job, &start, false);
    return is_left;
}

/* Who might delay it, by itself or together with others; JOB_NONE: nobody. */
static uint32_t find_culprit(const sched_t *s, const struct job *job, struct start_at start)
{
    const struct heap *from[] = {&s->queues->ends, &s->due};
    struct limits_window window = {start.at, start.at + 1, 0};
    uint32_t culprit = JOB_NONE;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < from[k]->n; i++)
            if (&s->jobs[from[k]->v[i].item] != job)
                rest_count(s, from[k]->v[i].item, job->details->party, window);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < from[k]->n && culprit == JOB_NONE; i++)
            if (may_delay(s, job, &start, &s->jobs[from[k]->v[i].item]))
                culprit = from[k]->v[i].item;
    if (start.is_weighed)
        weigh(s, job, &start, false);
    rests_forget(s, window);
    return culprit;
}

/* Those behind a job that is only expected to start are so, too. */
static void judge_behind(sched_t *s, const struct job *job)
{
    for (size_t i = 0; i < s->due.n && !s->queues->judges_all; i++) {
        const struct job *other = &s->jobs[s->due.v[i].item];
        if (!other->details->is_expected && queue_before(job->key, other->key))
            judge_all(s->queues);
    }
}

/* Those that begin with a job and stand behind it gave way to it when it was judged: it may leave limits and pools too little for
 * them beside the tails of others.
 */
static void judge_beside(sched_t *s, const struct job *job)
{
    for (size_t i = 0; i < s->due.n; i++) {
        const struct job *other = &s->jobs[s->due.v[i].item];
        if (other->at == job->at && !other->details->is_expected &&
            queue_before(job->key, other->key))
            other->details->is_judge_due = true;
    }
}

static void judge_now(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    if (!s->queues->any_tails || !d || job->is_claiming)
        return;
    if (job->is_preempting || job->at <= s->now) { /* it starts as soon as it can */
        d->is_expected = false;
        return;
    }
    if (s->place->ops->mark(s->place, job->booking, true) < 0) {
        d->is_expected = true; /* nobody can say */
        d->culprit = -1;
        return;
    }
    bool back = limits_return(s, slot), any = limits_give_way(s, slot, job->at);
    if (!culprit_is_left(s, job)) {
        struct start_at start = {job->booking, job->at, true, false, job};
        uint32_t culprit = find_culprit(s, job, start);
        d->culprit = culprit == JOB_NONE ? -1 : job_handle(s, culprit);
    }
    limits_go_back(s, any);
    limits_leave(s, back);
    bool was_promised = !d->is_expected;
    d->is_expected = d->culprit >= 0;
    s->place->ops->mark(s->place, job->booking, false);
    if (d->is_expected && was_promised) {
        controllers_freed(s, slot); /* limits may let others be there then */
        s->queues->more_preemptible++;
        s->pass.softens = true; /* others were looked at before it, perhaps, by their limits */
    }
    if (d->is_expected)
        judge_behind(s, job);
    if (d->is_expected == was_promised)
        judge_beside(s, job);
}

void judge_anew(sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    bool waits =
        s->queues->any_taken && job->details && job->details->is_expected && job->at > s->now;
    if (!waits ||
        !sweep_lets_before(s, job->key)) /* they may take the place of one that has made it so */
        judge_now(s, slot);
}

void judge(sched_t *s, uint32_t slot)
{
    judge_now(s, slot);
    if (s->queues->any_tails)
        judge_beside(s, &s->jobs[slot]);
}

void judge_expected(sched_t *s)
{
    bool is_due = s->queues->any_tails && (!s->swept || s->queues->judges_all);
    uint32_t slot = is_due ? held_next(s, false, KEY_FIRST) : JOB_NONE;
    for (; slot != JOB_NONE; slot = held_next(s, true, s->jobs[slot].key))
        if ((s->jobs[slot].details->is_expected || s->queues->judges_all) &&
            !s->jobs[slot].is_lifted)
            judge_anew(s, slot);
}

bool keeps_own_promise(const sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    const struct job *job = &s->jobs[slot];
    if (!s->queues->any_tails || job->details->is_expected || at <= s->now)
        return true; /* who starts now is sure of it */
    if (s->place->ops->mark(s->place, booking, true) < 0)
        return false;
    bool back = limits_return(s, slot), any = limits_give_way(s, slot, at);
    bool keeps = find_culprit(s, job, (struct start_at){booking, at, true, false, job}) == JOB_NONE;
    limits_go_back(s, any);
    limits_leave(s, back);
    s->place->ops->mark(s->place, booking, false);
    return keeps;
}

/* Whether somebody is promised a start at a time at which a job may still be there that is expected to be gone. Who starts
 * before that has what it holds beside the job.
 */
static bool is_promised_in(const struct job *other, const struct job *job, int64_t from,
                           int64_t until)
{
    return other != job && !other->is_lifted && !other->details->is_expected && other->at < until &&
           other->at >= from;
}

bool has_tail(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    return s->queues->any_tails && d->limit > d->estimate;
}

/* Whether it is in the way of another job's promised start with a booking that is marked and ends at a time: before that
 * calendars have room for both, but pools perhaps not for the tails of others as well.
 */
static bool is_in_way_of(const sched_t *s, const struct job *job, int64_t booking, int64_t end,
                         const struct job *other)
{
    struct start_at start = {booking, other->at, false, false, other};
    if (other->at < end && s->place->ops->meets(s->place, other->booking) == PLACE_IN_WAY)
        return false;
    bool is = is_in_way(s, job, &start, other->booking);
    if (start.is_weighed)
        weigh(s, job, &start, false);
    return is;
}

/* When a job may be there at the latest whose booking is yet to be chosen. */
static int64_t limit_end(const struct job *job, int64_t at)
{
    int64_t limit = job->details->limit;
    return limit < INT64_MAX - at ? at + limit : INT64_MAX;
}

/* The same with a booking: what is chosen for later is not to need a block that stops it, as others may choose it then. */
static int64_t last_end(const sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    return at <= s->now ? gone_by(s, slot, booking, at) : limit_end(&s->jobs[slot], at);
}

/* Who is promised a start that a job is in the way of which is gone at a time; JOB_NONE: nobody. */
static uint32_t first_broken(const sched_t *s, uint32_t slot, int64_t booking, int64_t at,
                             int64_t until)
{
    const struct job *job = &s->jobs[slot];
    uint32_t broken = JOB_NONE;
    int64_t end = at + job->ask.duration;
    bool is_marked = false;
    for (size_t i = 0; i < s->due.n && broken == JOB_NONE; i++) {
        const struct job *other = &s->jobs[s->due.v[i].item];
        if (!is_promised_in(other, job, at + 1, until))
            continue;
        if (!is_marked && s->place->ops->mark(s->place, booking, true) < 0)
            return s->due.v[i].item; /* nobody can say */
        is_marked = true;
        if (is_in_way_of(s, job, booking, end, other))
            broken = s->due.v[i].item;
    }
    if (is_marked)
        s->place->ops->mark(s->place, booking, false);
    return broken;
}

uint32_t promise_broken(const sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    return s->queues->any_tails ? first_broken(s, slot, booking, at, last_end(s, slot, booking, at))
                                : JOB_NONE;
}

/* Whether nobody, and no block, finds a job there that is gone at a time. */
static bool keeps_until(const sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t until)
{
    const struct job *job = &s->jobs[slot];
    return (!has_tail(s, slot) || job->details->limit == SCHED_UNLIMITED ||
            blocks_keep_clear(s, slot, booking, at + job->ask.duration, until)) &&
           first_broken(s, slot, booking, at, until) == JOB_NONE;
}

bool keeps_promises(const sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    return !s->queues->any_tails ||
           keeps_until(s, slot, booking, at, last_end(s, slot, booking, at));
}

bool still_keeps_promises(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return !s->queues->any_tails ||
           keeps_until(s, slot, job->booking, job->at, gone_by(s, slot, job->booking, job->at));
}

int promises_avoid(sched_t *s, uint32_t slot, int64_t at, int64_t *until)
{
    const struct job *job = &s->jobs[slot];
    int64_t duration = job->ask.duration, end = limit_end(job, at);
    *until = INT64_MAX;
    if (s->place->ops->narrow(s->place, &job->ask, true) < 0)
        return -1;
    for (size_t i = 0; i < s->due.n; i++) {
        const struct job *other = &s->jobs[s->due.v[i].item];
        if (!is_promised_in(other, job, at + duration, end))
            continue;
        s->place->ops->deny(s->place, other->booking);
        if (other->at - duration < *until)
            *until = other->at - duration + 1;
    }
    return 0;
}

bool promises_share_nodes(const sched_t *s, uint32_t slot, int64_t at)
{
    const struct job *job = &s->jobs[slot];
    const struct place_ops *ops = s->place->ops;
    int64_t from = at + job->ask.duration, until = limit_end(job, at);
    bool any = false;
    for (size_t i = 0; ops->keep_free && i < s->due.n && !any; i++) {
        const struct job *other = &s->jobs[s->due.v[i].item];
        uint32_t k = 0, node;
        any = is_promised_in(other, job, from, until) &&
              ops->next_shared(s->place, other->booking, &k, &node);
    }
    return any;
}

int promises_keep_free(sched_t *s, uint32_t slot, int64_t at)
{
    const struct job *job = &s->jobs[slot];
    const struct place_ops *ops = s->place->ops;
    int64_t from = at + job->ask.duration, until = limit_end(job, at);
    bool any = promises_share_nodes(s, slot, at);
    for (size_t i = 0; i < s->due.n && any; i++) {
        const struct job *other = &s->jobs[s->due.v[i].item];
        if (is_promised_in(other, job, from, until) &&
            ops->keep_free(s->place, other->booking, from - 1) < 0)
            return -1;
    }
    return any;
}

struct place_ask ask_by_limit(const sched_t *s, uint32_t slot)
{
    struct place_ask ask = s->jobs[slot].ask;
    int64_t limit = s->jobs[slot].details->limit;
    ask.clear = limit < SCHED_UNLIMITED ? 0 : ask.duration; /* a block stops it (clear.c) */
    ask.duration = limit < s->place->endless ? limit : s->place->endless;
    return ask;
}

bool judge_is_due(const sched_t *s)
{
    const struct queues *n = s->queues;
    bool is_due = n->judges_all;
    for (size_t i = 0; n->any_tails && i < s->due.n && !is_due; i++) {
        const struct details *d = s->jobs[s->due.v[i].item].details;
        is_due = d->is_expected || d->is_expected_told || d->is_judge_due;
    }
    return n->any_tails && is_due;
}

/* Judge a reservation anew, if that is due. Only what was expected can have become promised, unless somebody was given a
 * longer limit. Returns whether it was one of those that are judged as all are: a step of its own, and done in this
 * round, so that a pass that is begun again goes on with the others.
 */
static bool judge_again(sched_t *s, uint32_t slot)
{
    const struct queues *n = s->queues;
    struct details *d = s->jobs[slot].details;
    if (d->is_expected) { /* which job makes it so is known */
        judge_anew(s, slot);
        return false;
    }
    bool is_due = d->is_judge_due || (n->judges_all && d->judged != n->judge_round);
    if (!is_due)
        return false;
    judge_anew(s, slot);
    d->is_judge_due = false;
    d->judged = n->judge_round;
    return true;
}

static enum step tell_judged(sched_t *s, uint32_t slot)
{
    if (decision_reserve(s) < 0)
        return STEP_FAILED;
    if (s->jobs[slot]
            .details->is_expected) { /* others go by their estimates before it from now on */
        s->pass.softens = true;
        s->queues->more_preemptible++;
    }
    decision_add(s, SCHED_RESERVE, slot, s->jobs[slot].at, NULL);
    return STEP_DONE;
}

/* Judge one reservation after the other anew, and tell of those that are promised now, or no more. */
enum step judge_step(sched_t *s)
{
    struct queues *n = s->queues;
    uint32_t slot = n->any_tails ? held_next(s, s->pass.begun, s->pass.after) : JOB_NONE;
    for (; slot != JOB_NONE; slot = held_next(s, true, s->pass.after)) {
        const struct job *job = &s->jobs[slot];
        struct details *d = job->details;
        s->pass.begun = true;
        s->pass.after = job->key;
        if (job->is_lifted || job->is_preempting || job->is_claiming)
            continue;
        bool is_step = judge_again(s, slot);
        if (d->is_expected != d->is_expected_told)
            return tell_judged(s, slot);
        if (is_step)
            return STEP_DONE;
    }
    n->judges_all = false;
    return STEP_BUSY;
}
