#include "sched/controllers/limiter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"
#include "sched/controllers/awaited.h"
#include "sched/controllers/kept.h"
#include "sched/controllers/limiter_priv.h"
#include "sched/controllers/passed_on.h"
#include "sched/controllers/rows.h"
#include "sched/pass/displaced.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"

static bool is_request_within(const sched_t *s, uint32_t slot, const struct place_ask *ask,
                              struct sched_reason_limit *over)
{
    struct measured m = measure_request(s, slot, ask->class);
    const struct limits *limits = s->queues->limits;
    uint32_t party = s->jobs[slot].details->party;
    return limits_job(limits, party, ask->duration, measure_wanted, &m, over) &&
           limits_ever(limits, party, measure_wanted, &m, over) &&
           (!gang_asks_whole(s, slot) ||
            limits_together(limits, party, s->place->ops->members(s->place, ask->class), over));
}

bool job_is_within(const sched_t *s, uint32_t slot, int64_t duration,
                   struct sched_reason_limit *over)
{
    struct place_ask ask = s->jobs[slot].ask;
    ask.duration = duration;
    return is_request_within(s, slot, &ask, over);
}

static int64_t measure_nothing(void *arg, const char *type)
{
    (void)arg, (void)type;
    return 0;
}

bool job_may_last(const sched_t *s, uint32_t slot, int64_t duration,
                  struct sched_reason_limit *over)
{
    return limits_job(s->queues->limits, s->jobs[slot].details->party, duration, measure_nothing,
                      NULL, over);
}

/* Whether limits let one start beside what is held and promised, by what it asks for at least. */
static bool is_let(const sched_t *s, uint32_t slot, const struct place_ask *ask, int64_t now,
                   struct limits_over *over)
{
    struct measured m = measure_request(s, slot, ask->class);
    struct limits_window window = limits_window_of(s, slot, -1, now, now + ask->duration);
    struct limits_ask by = {measure_added, &m, NULL};
    return limits_start(s->queues->limits, s->jobs[slot].details->party, window, measure_added, &m,
                        NULL, over) &&
           tail_meets(s, slot, window, &by, over) == JOB_NONE;
}

bool limit_lets(const sched_t *s, uint32_t slot, int64_t now)
{
    return is_let(s, slot, &s->jobs[slot].ask, now, NULL);
}

static bool may_ask(const sched_t *s, uint32_t slot, const struct place_ask *ask, int64_t now)
{
    return is_request_within(s, slot, ask, NULL) && is_let(s, slot, ask, now, NULL);
}

/* Whether limits let it have what a booking holds during a window. */
static bool is_held_let(const sched_t *s, uint32_t slot, struct measured *m,
                        struct limits_window window, struct limits_over *over)
{
    struct limits_ask by = {measure_held, m, measure_shared(m, slot)};
    return limits_start(s->queues->limits, s->jobs[slot].details->party, window, by.amount, m,
                        by.nodes, over) &&
           tail_meets(s, slot, window, &by, over) == JOB_NONE;
}

static bool may_hold_within_limits(const sched_t *s, uint32_t slot, int64_t duration,
                                   int64_t booking, int64_t at)
{
    struct measured m = {.s = s, .booking = booking, .class = s->jobs[slot].ask.class};
    const struct limits *limits = s->queues->limits;
    uint32_t party = s->jobs[slot].details->party;
    struct limits_window window = limits_window_of(s, slot, booking, at, at + duration);
    return (!limits_measures(limits, party) ||
            (limits_job(limits, party, duration, measure_held, &m, NULL) &&
             limits_ever(limits, party, measure_held, &m, NULL))) &&
           is_held_let(s, slot, &m, window, NULL);
}

static bool may_return(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    struct measured m = {
        .s = s, .booking = s->jobs[slot].booking, .class = s->jobs[slot].ask.class};
    struct limits_ask by = {measure_held, &m, measure_listed(&m, d->shared)};
    return !d->is_open || d->is_counted ||
           (limits_start(s->queues->limits, d->party, d->counted, by.amount, &m, by.nodes, NULL) &&
            tail_meets(s, slot, d->counted, &by, NULL) == JOB_NONE);
}

/* Whether what a booking holds could ever be one job's of its party. */
static bool is_ever_within(const sched_t *s, uint32_t slot, limits_amount_f *amount,
                           struct measured *m, struct sched_reason_limit *over)
{
    const struct details *d = s->jobs[slot].details;
    const struct limits *limits = s->queues->limits;
    return limits_job(limits, d->party, d->limit, amount, m, over) &&
           limits_ever(limits, d->party, amount, m, over);
}

static int64_t when(const sched_t *s, uint32_t slot, int64_t booking, int64_t from)
{
    const struct job *job = &s->jobs[slot];
    struct measured m = measure_request(s, slot, job->ask.class);
    m.booking = booking;
    struct limits_ask by = {booking < 0 ? measure_added : measure_held, &m,
                            booking < 0 ? NULL : measure_shared(&m, slot)};
    if (booking >= 0 && limits_measures(s->queues->limits, job->details->party) &&
        !is_ever_within(s, slot, measure_held, &m, NULL))
        return INT64_MAX;
    for (;;) {
        if (from > INT64_MAX - job->ask.duration)
            return from;
        struct limits_window window =
            limits_window_of(s, slot, booking, from, from + job->ask.duration);
        from = limits_when(s->queues->limits, job->details->party, window, by.amount, &m, by.nodes);
        if (from > INT64_MAX - job->ask.duration)
            return from;
        window.from = from;
        window.until = from + job->ask.duration;
        uint32_t promised = tail_meets(s, slot, window, &by, NULL);
        if (promised == JOB_NONE)
            return from;
        from = s->jobs[promised].at;
    }
}

struct sched_reason limit_reason(const sched_t *s, const struct sched_reason_limit *over)
{
    return (struct sched_reason){
        .kind = SCHED_REASON_LIMIT, .limit = *over, .second = s->queues->setup->second};
}

int refuse_call(const struct sched_reason *why, berth_error_t *err)
{
    char text[SCHED_REASON_TEXT];
    return errtext_set(err, EINVAL, "%s", sched_reason_text(why, text));
}

int refuse_limit(const sched_t *s, const struct sched_reason_limit *over, berth_error_t *err)
{
    struct sched_reason why = limit_reason(s, over);
    return refuse_call(&why, err);
}

int limit_keep(sched_t *s, uint32_t slot, const struct sched_reason_limit *over)
{
    const char *what = queues_text(s->queues, over->what);
    const char *account = over->account ? queues_text(s->queues, over->account) : NULL;
    if (!what || (over->account && !account))
        return -1;
    s->jobs[slot].details->over =
        (struct sched_reason_limit){over->whose, what, over->most, account};
    return 0;
}

static int limited_reserve(struct queues *n)
{
    return array_grow((void **)&n->limited, &n->cap_limited, n->n_limited + 1, sizeof(*n->limited));
}

/* A member of an array waits for the same limit. */
static int reserve_part_in_limited(sched_t *s, uint32_t slot, uint32_t part)
{
    (void)slot, (void)part;
    return limited_reserve(s->queues);
}

static void parted(sched_t *s, uint32_t part)
{
    s->queues->limited[s->queues->n_limited++] = part;
    s->jobs[part].details->is_limited = true;
}

int limit_block(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    struct details *d = s->jobs[slot].details;
    if (!d->is_limited && limited_reserve(n) < 0)
        return -1;
    if (!d->is_limited)
        n->limited[n->n_limited++] = slot;
    d->is_limited = true;
    d->limited = limits_last_decrease(n->limits, d->party);
    job_block(s, slot, BLOCK_LIMIT);
    class_order_changed(s, slot); /* a limit chooses among such jobs by their order, too */
    return 0;
}

/* A job is over a limit. */
static enum step keep_over_limit(sched_t *s, uint32_t slot, const struct limits_over *over)
{
    s->jobs[slot].details->calendar = over->calendar;
    return limit_keep(s, slot, &over->limit) < 0 ? STEP_FAILED : STEP_KEPT;
}

static enum step keep_if_over_limit(sched_t *s, uint32_t slot)
{
    struct limits_over over;
    return is_let(s, slot, &s->jobs[slot].ask, s->now, &over) ? STEP_BUSY
                                                              : keep_over_limit(s, slot, &over);
}

bool limit_has_promise(const sched_t *s, uint32_t slot)
{
    struct limits_over over;
    return !is_let(s, slot, &s->jobs[slot].ask, s->now, &over) &&
           kept_may_promise(s, slot, over.calendar, !s->queues->shares);
}

static enum step block_unless_promised(sched_t *s, uint32_t slot)
{
    bool outranks = s->pass.phase == PASS_OUTRANK || s->pass.phase == PASS_SWEEP;
    if (kept_may_promise(s, slot, s->jobs[slot].details->calendar, outranks))
        return STEP_BUSY;
    return limit_block(s, slot) < 0 ? STEP_FAILED : STEP_DONE;
}

/* What it would hold if it had as few nodes as it could be on. */
static int64_t measure_few(void *arg, const char *type)
{
    return strcmp(type, "node") == 0 ? measure_wanted(arg, type) : measure_held(arg, type);
}

bool limit_ever_lets(const sched_t *s, uint32_t slot, int64_t booking)
{
    const struct job *job = &s->jobs[slot];
    struct measured m = {.s = s, .booking = booking, .class = job->ask.class};
    if (is_ever_within(s, slot, measure_held, &m, NULL))
        return true;
    int64_t most = limits_most_nodes(s->queues->limits, job->details->party);
    return !s->place->is_counted && is_ever_within(s, slot, measure_few, &m, NULL) &&
           s->place->ops->ever_on(s->place, job->ask.class, most) != 0;
}

/* Reject a job that can never be within a limit. */
static enum step reject(sched_t *s, uint32_t slot, const struct sched_reason_limit *over)
{
    struct sched_reason why = limit_reason(s, over);
    struct sched_reason *never = sched_reason_copy(&why);
    if (!never)
        return STEP_FAILED;
    if (s->jobs[slot].state == SCHED_RESERVED)
        held_release(s, slot);
    else
        open_remove(s, slot);
    job_reject(s, slot, never);
    return STEP_DONE;
}

/* Count a booking during [at, until). */
static enum step count_during(sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t until)
{
    const struct limits *limits = s->queues->limits;
    uint32_t party = s->jobs[slot].details->party;
    struct measured m = {.s = s, .booking = booking, .class = s->jobs[slot].ask.class};
    struct limits_over over;
    struct limits_window window = limits_window_of(s, slot, booking, at, until);
    if (limits_measures(limits, party) && !is_ever_within(s, slot, measure_held, &m, &over.limit)) {
        if (!limit_ever_lets(s, slot, booking))
            return reject(s, slot, &over.limit);
        over.calendar = limits_calendar(limits, party, &over.limit);
        return keep_over_limit(s, slot, &over);
    }
    if (!is_held_let(s, slot, &m, window, &over))
        return keep_over_limit(s, slot, &over);
    return count_enter(s, slot, booking, window.from, window.until) < 0 ? STEP_FAILED : STEP_BUSY;
}

static enum step count_in_limits(sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    return count_during(s, slot, booking, at, at + s->jobs[slot].ask.duration);
}

static void uncount_in_limits(sched_t *s, uint32_t slot, int64_t booking)
{
    count_leave(s, slot, booking, false);
}

static void set_aside_in_limits(sched_t *s, uint32_t slot)
{
    count_leave(s, slot, s->jobs[slot].booking, true);
}

/* What a job's user and queue hold has become less: jobs that limits have blocked are looked at again. */
static void note_decrease(sched_t *s, uint32_t slot)
{
    limits_note_decrease(s->queues->limits, s->jobs[slot].details->party);
    s->queues->recheck_limited = true;
}

static void release_in_limits(sched_t *s, uint32_t slot)
{
    uncount_in_limits(s, slot, s->jobs[slot].booking);
    kept_leave(s, slot);
    note_decrease(s, slot);
}

/* Where limits have changed, forget what held jobs have, and then count it in queue order: those within them
 * keep what they hold, whatever later ones do. The others, and those that a limit has promised a time, are placed by their rank.
 * Whoever waits for victims is put off after that: those who are in the way of it then give way, and not it. One that is asked
 * about (what_if.c) between two steps may be counted already. Where there is no memory, or something happens, the next pass
 * begins with it again.
 */
static enum step recount_next(sched_t *s)
{
    enum { FORGET, COUNT, END };
    struct pass *p = &s->pass;
    if (!s->queues->is_recount_due)
        return STEP_BUSY;
    uint32_t slot = held_next(s, p->begun, p->after);
    p->begun = slot != JOB_NONE;
    if (slot == JOB_NONE) {
        p->stage++;
        s->queues->is_recount_due = p->stage < END;
        if (p->stage == END && awaited_put_off(s) < 0)
            return STEP_FAILED;
        return p->stage < END ? STEP_DONE : STEP_BUSY;
    }
    const struct job *job = &s->jobs[slot];
    p->after = job->key;
    set_aside_in_limits(s, slot);
    bool is_kept = job->is_kept && !job->details->is_relieved;
    if (p->stage == FORGET && !is_kept)
        return STEP_DONE;
    enum step step = is_kept ? STEP_KEPT /* by another limit perhaps */
                             : count_during(s, slot, job->booking, job->at, booked_until(job));
    if (step == STEP_KEPT)
        step = displaced_to_open(s, slot) < 0 ? STEP_FAILED : STEP_DONE;
    s->swept = false;
    return step == STEP_FAILED ? STEP_FAILED : STEP_DONE;
}

void pending_begin(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    limits_wait(s->queues->limits, d->party, 1);
    d->is_pending = true;
}

void pending_end(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    if (d->is_pending)
        limits_wait(s->queues->limits, d->party, -1);
    d->is_pending = false;
}

bool limit_is_due(const sched_t *s, const struct job *job)
{
    const struct details *d = job->details;
    return s->queues->recheck_all_limited ||
           limits_last_decrease(s->queues->limits, d->party) > d->limited;
}

void held_waits(sched_t *s, uint32_t slot, bool waits)
{
    struct details *d = s->jobs[slot].details;
    s->jobs[slot].is_tried_again = waits;
    if (d) {
        d->waits = waits;
        d->was_wide &= waits;
    }
    if (waits)
        d->limited = limits_last_decrease(s->queues->limits, d->party);
}

void held_unsure(sched_t *s, uint32_t slot)
{
    s->jobs[slot].is_tried_again = true;
    s->jobs[slot].details->limited = -1;
}

/* What was chosen among fewer nodes may be more of them when others have some of what the policy would choose. */
bool held_again(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return job->is_tried_again && (limit_is_due(s, job) || may_be_narrow(s, slot));
}

void limit_ask_again(sched_t *s, uint32_t slot)
{
    s->jobs[slot].details->limited = -1;
    s->queues->recheck_limited = true;
}

void limit_ask_all_again(sched_t *s)
{
    if (s->queues->n_limited > 0)
        s->queues->recheck_limited = s->queues->recheck_all_limited = true;
}

bool limit_seek_again(sched_t *s)
{
    struct queues *n = s->queues;
    if (!n->setup->preempts || n->n_limited == 0)
        return false;
    n->recheck_limited = n->seeks_for_limited = true;
    return true;
}

void limit_ask_lane_again(sched_t *s, const struct lane *lane)
{
    const struct queues *n = s->queues;
    for (size_t i = 0; i < n->n_limited; i++) {
        const struct job *job = &s->jobs[n->limited[i]];
        if (job->state == SCHED_BLOCKED && job->details->blocked & BLOCK_LIMIT &&
            &s->lanes[job->lane] == lane)
            limit_ask_again(s, n->limited[i]);
    }
}

static bool is_same_limit(const struct sched_reason_limit *a, const struct sched_reason_limit *b)
{
    return a->what && b->what && a->whose == b->whose && a->most == b->most &&
           strcmp(a->what, b->what) == 0 && (!a->account || strcmp(a->account, b->account) == 0);
}

/* A job that limits have blocked goes on if others would be stopped for it. Returns 0, or -1 with ENOMEM. */
static int let_take(sched_t *s, uint32_t slot)
{
    bool may = s->jobs[slot].details->blocked == BLOCK_LIMIT && !lane_of(s, slot)->is_stopped;
    int would = may ? reclaim_would(s, slot) : 0;
    if (would <= 0)
        return would;
    if (job_unblock(s, slot, BLOCK_LIMIT) < 0)
        return -1;
    s->jobs[slot].is_fresh = false; /* it has others stopped in the walk */
    return 0;
}

/* A job that limits have blocked goes on if they would let it; else it waits for the one that it is over
 * now. Returns 0, or -1 with ENOMEM.
 */
static int let(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    struct limits_over over;
    if (!limit_is_due(s, job))
        return s->queues->seeks_for_limited ? let_take(s, slot) : 0;
    if (is_let(s, slot, &job->ask, s->now, &over) || may_ask_at_last(s, slot))
        return job_unblock(s, slot, BLOCK_LIMIT);
    if (!is_same_limit(&d->over, &over.limit)) {
        if (limit_keep(s, slot, &over.limit) < 0)
            return -1;
        tell_later(s, slot);
    }
    bool seeks = s->queues->seeks_for_limited || d->limited >= 0; /* else it is a candidate */
    if (seeks && let_take(s, slot) < 0)
        return -1;
    if (!(d->blocked & BLOCK_LIMIT))
        return 0;
    if (d->blocked == BLOCK_LIMIT && kept_may_promise(s, slot, over.calendar, true))
        return candidate_note(s, slot, over.calendar);
    d->limited = limits_last_decrease(s->queues->limits, d->party);
    return 0;
}

/* The list of those that limits have blocked from its beginning: of those that were looked at when a pass was
 * cut off, only those that are kept are in it.
 */
static void limited_begin(sched_t *s)
{
    struct queues *n = s->queues;
    size_t gone = n->limited_seen - n->limited_kept;
    if (gone > 0)
        memmove(n->limited + n->limited_kept, n->limited + n->limited_seen,
                (n->n_limited - n->limited_seen) * sizeof(*n->limited));
    n->n_limited -= gone;
    n->limited_seen = n->limited_kept = 0;
    s->pass.is_letting = true;
    s->pass.is_let_left = false;
    candidates_begin(s);
}

/* Returns 0, or -1 with ENOMEM. */
static int limited_end(sched_t *s, bool again)
{
    struct queues *n = s->queues;
    n->n_limited = n->limited_kept;
    n->limited_seen = n->limited_kept = 0;
    if (candidates_let(s, again) < 0)
        return -1;
    n->recheck_limited = s->pass.is_let_left || s->pass.is_due_left;
    n->recheck_all_limited &= s->pass.is_let_left;
    n->seeks_for_limited &= s->pass.is_let_left;
    n->sought_for_limited = s->place->freed.next;
    s->pass.is_letting = false;
    return 0;
}

/* A job that limits have blocked, and would let now, is so no more. Later in a pass (`again`), which begins
 * with this, each job once.
 */
static enum step let_next_limited_go(sched_t *s, bool again)
{
    struct queues *n = s->queues;
    if (!s->pass.is_letting && class_order_refresh(s) < 0)
        return STEP_FAILED;
    if (!n->recheck_limited)
        return STEP_BUSY;
    if (!s->pass.is_letting)
        limited_begin(s);
    if (n->limited_seen == n->n_limited)
        return limited_end(s, again) < 0 ? STEP_FAILED : STEP_BUSY;
    uint32_t slot = n->limited[n->limited_seen];
    struct job *job = &s->jobs[slot];
    bool is_kept = false;
    if (job->state == SCHED_BLOCKED && job->details->blocked & BLOCK_LIMIT) {
        job->is_let_again &= again;
        s->pass.is_let_left |= job->is_let_again;
        if (!job->is_let_again && let(s, slot) < 0)
            return STEP_FAILED;
        is_kept = job->details->blocked & BLOCK_LIMIT;
        if (is_kept) {
            n->limited[n->limited_kept++] = slot;
        } else if (again && job->state == SCHED_WAITING) {
            job->is_let_again = true;
            job->is_placed = false;
            s->pass.let++;
        }
    }
    if (job->details)
        job->details->is_limited = is_kept;
    n->limited_seen++;
    return STEP_DONE;
}

static void leave_kept_at_start(sched_t *s, uint32_t slot, enum sched_how how)
{
    (void)how;
    pending_end(s, slot);
    if (!s->jobs[slot].is_kept)
        return;
    kept_leave(s, slot);
    note_decrease(s, slot); /* others may be promised a time in its stead */
}

static void end_pending(sched_t *s, uint32_t slot, enum job_end end)
{
    (void)end;
    pending_end(s, slot);
}

static void limit_over_reason(const sched_t *s, uint32_t slot, struct sched_reason *why)
{
    const struct details *d = s->jobs[slot].details;
    if (d->over.what)
        *why = limit_reason(s, &d->over);
}

const struct controller limit_controller = {
    .name = "limit",
    .block = BLOCK_LIMIT,
    .entered = pending_begin,
    .part = reserve_part_in_limited,
    .parted = parted,
    .started = leave_kept_at_start,
    .released = release_in_limits,
    .requeued = pending_begin,
    .ended = end_pending,
    .gate = keep_if_over_limit,
    .keep = block_unless_promised,
    .when = when,
    .count = count_in_limits,
    .uncount = uncount_in_limits,
    .set_aside = set_aside_in_limits,
    .put_back = count_again,
    .may_return = may_return,
    .freed = note_decrease,
    .narrow = narrow_nodes,
    .rethink = narrow_next,
    .open = count_open,
    .close = count_close,
    .enter = count_enter,
    .may_ask = may_ask,
    .may_hold = may_hold_within_limits,
    .reason = limit_over_reason,
    .turn = recount_next,
    .settle = let_next_limited_go,
};
