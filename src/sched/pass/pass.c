/* A pass: which jobs start now, and which get a reservation.
 *
 * It has phases, each of small steps, so that it can be cut off and go on:
 *  1. Controllers do what is due by now, and jobs that can never start are rejected (settle.c).
 *  2. Reservations that overlap something else by now move (repair.c).
 *  3. New jobs that go before holders in queue order take their turn (outrank.c).
 *  4. After ends, each reservation moves to its earliest time (sweep.c).
 *  5. Jobs whose reservation is due start, in queue order.
 *  6. Open jobs of all lanes are looked at in queue order: each, while there are reservations to give; then
 *     only those that may fit what is free, or that controllers may make room for (by preemption). So are
 *     holders, where room may be made for them. Where the configuration has actions, that is done in a round for each.
 *     Where queues have different priorities, 3 to 6 are done for one level after the other (levels.c).
 *  7. Reservations become promised, or only expected (expect.c).
 *  8. Jobs that wait for a new reason are reported.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/controllers/ask.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/starving.h"
#include "sched/pass/displaced.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/pass/walk.h"
#include "sched/queues.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/gang_order.h"
#include "sched/waiting/lane.h"

/* List the held jobs whose time has come, of which there is one; returns their number. The list itself is the
 * queue of a search through the heap, whose subtrees end where a time has not come.
 */
static size_t due_list(sched_t *s)
{
    const struct heap *heap = &s->due;
    size_t n = 0;
    s->due_list[n++].slot = 0;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = 1; k <= HEAP_ARITY; k++) {
            uint64_t child = (uint64_t)s->due_list[i].slot * HEAP_ARITY + k;
            if (child < heap->n && heap->v[child].key <= s->now)
                s->due_list[n++].slot = (uint32_t)child;
        }
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = heap->v[s->due_list[i].slot].item;
        s->due_list[i] = (struct due){s->jobs[slot].key, slot};
    }
    if (n > 1)
        qsort(s->due_list, n, sizeof(*s->due_list), due_compare);
    return n;
}

static inline size_t due_collect(sched_t *s)
{
    return s->due.n > 0 && s->due.v[0].key <= s->now ? due_list(s) : 0;
}

/* Start the next of the held jobs whose time has come. */
static enum step due_step(sched_t *s)
{
    struct pass *p = &s->pass;
    if (!p->begun) {
        p->n_due = due_collect(s);
        p->next_due = 0;
        p->begun = true;
    }
    if (p->next_due == p->n_due)
        return STEP_BUSY;
    const struct due *due = &s->due_list[p->next_due++];
    if (s->jobs[due->slot].state != SCHED_RESERVED || queue_before(p->floor, due->key))
        return STEP_DONE;
    return start_held(s, due->slot);
}

/* ---- The walk over open jobs ---- */

/* How a lane offers its jobs in a round: where nothing is promised, those that may fit or have room made for them. */
static enum lane_mode mode_in_round(const sched_t *s, enum lane_mode mode)
{
    if (mode == LANE_PLAN && !pass_does(s, DOES(ALLOCATE)))
        mode = LANE_FILL;
    unsigned not_for = mode == LANE_SERVE ? DOES(BACKFILL) : mode == LANE_FILL ? DOES(ALLOCATE) : 0;
    return mode != LANE_DONE && pass_does(s, ~not_for) ? mode : LANE_DONE;
}

/* Whether a lane has a promise to give. Where there are shares, jobs of a level have their turns in the walk: they take what
 * one of a lower level was promised, the last one's first.
 */
static bool has_promise(const sched_t *s, const struct lane *lane)
{
    if (lane_holds(lane) < lane->depth)
        return true;
    uint32_t last = s->queues->shares && s->pass.by_level ? last_holder(s, lane) : JOB_NONE;
    return last != JOB_NONE && queue_before(s->pass.floor, s->jobs[last].key);
}

static enum lane_mode mode_of(const sched_t *s, const struct lane *lane)
{
    const struct pass *p = &s->pass;
    struct queue_entry first;
    if (lane->is_stopped)
        return LANE_DONE;
    if (p->by_level && (!queue_first(lane->open, &first) || queue_before(p->floor, first.key)))
        return LANE_DONE; /* in this level */
    if (p->by_level && lane->depth == 0 && queue_before(first.key, p->above))
        return LANE_DONE; /* it was of a higher one, and could not start */
    return mode_in_round(s, lane->depth == 0       ? LANE_SERVE
                            : has_promise(s, lane) ? LANE_PLAN
                                                   : LANE_FILL);
}

static void walk_begin(sched_t *s)
{
    struct pass *p = &s->pass;
    bool tries_holders = false;
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        struct lane *lane = &s->lanes[i];
        lane->mode = mode_of(s, lane);
        lane->line.begun = !level_is_first(p);
        lane->line.after = p->above;
        lane->makes_room = controllers_may_make_room(s, lane);
        tries_holders |= lane->makes_room && queue_size(lane->held) + queue_size(lane->kept) > 0;
        s->finder->begin(lane, &lane->line);
    }
    p->begun = !level_is_first(p);
    p->after = p->above;
    if (s->queues->shares)
        share_walk_begin(s);
    /* For a lower level something may be free by now that the first job of a queue above was to have. */
    p->tries_holders = tries_holders && !tried_is_now(s, &s->queues->holders_tried);
    if (!p->begun && p->round == 0) {
        p->tried = tried_now(s);
        starving_walk(s);
    } else {
        starving_round(s, p->round == 0);
    }
}

/* Where jobs go one after the other, those behind one that is promised a time as it was starving wait, too. */
static bool is_served(const sched_t *s, struct lane *lane, struct queue_key key)
{
    if (lane->mode != LANE_SERVE || !starving_is_before(s, lane, key))
        return true;
    lane->mode = LANE_DONE;
    return false;
}

uint32_t line_next(sched_t *s, struct lane *lane, struct line *line, bool *failed)
{
    const struct queue *open = line->open ? line->open : lane->open;
    struct queue_entry entry;
    if (lane->mode == LANE_DONE)
        return JOB_NONE;
    if (lane->mode == LANE_FILL)
        return s->finder->next(s, lane, line, failed);
    bool any = queue_after(open, line->begun ? &line->after : NULL, &entry);
    return any && is_served(s, lane, entry.key) ? entry.item : JOB_NONE;
}

/* The job of a lane that the walk would look at next; JOB_NONE: it is done with it, or a candidate before that
 * job (limiter.h) is to be looked at first.
 */
static uint32_t lane_next(sched_t *s, struct lane *lane, uint32_t candidate, bool *failed)
{
    struct line *line = &lane->line;
    struct queue_entry entry;
    uint32_t slot = JOB_NONE;
    if (lane->mode == LANE_DONE)
        return JOB_NONE;
    if (lane->mode != LANE_FILL) {
        if (queue_after(lane->open, line->begun ? &line->after : NULL, &entry) &&
            is_served(s, lane, entry.key))
            slot = entry.item;
    } else {
        slot = s->finder->next(s, lane, line, failed);
    }
    bool counts = slot != JOB_NONE && is_considered(s, lane, s->jobs[slot].key);
    if (slot != JOB_NONE && !counts && candidate != JOB_NONE &&
        queue_before(s->jobs[candidate].key, s->jobs[slot].key))
        return JOB_NONE; /* which may count no more then */
    if (!counts) {
        lane->mode = LANE_DONE;
        return JOB_NONE;
    }
    return slot;
}

/* An open job could not start and get no reservation. */
static enum step wait(sched_t *s, uint32_t slot)
{
    struct lane *lane = lane_of(s, slot);
    if (lane->mode == LANE_SERVE)
        lane->mode = LANE_DONE;
    tell_later(s, slot);
    return STEP_DONE;
}

/* Whether the machine has room for an open job now. 1, 0, or -1 with ENOMEM. */
static int fits_now(sched_t *s, uint32_t slot)
{
    int64_t booking = s->place->ops->probe(s->place, &s->jobs[slot].ask, s->now);
    if (booking == -1)
        return errno == ENOMEM ? -1 : 0;
    s->place->ops->release(s->place, booking);
    return 1;
}

/* Start an open job, if this round starts those of its lane; or make room for one that has none. */
static enum step start_in_round(sched_t *s, uint32_t slot, enum lane_mode mode, bool turn)
{
    bool starts = pass_does(s, mode == LANE_FILL ? DOES(BACKFILL) : DOES(ALLOCATE));
    enum step step = starts ? start_open(s, slot, turn) : STEP_BUSY;
    int fits = step == STEP_BUSY && !starts ? fits_now(s, slot) : 0;
    if (fits < 0)
        return STEP_FAILED;
    return step == STEP_BUSY && !fits ? controllers_make_room(s, slot) : step;
}

/* Look at an open job: it starts, is promised a time, or waits. */
static inline enum step look_at_open(sched_t *s, uint32_t slot)
{
    struct lane *lane = lane_of(s, slot);
    struct line *line = line_of(s, slot);
    struct queue_key key = s->jobs[slot].key;
    enum lane_mode mode = lane->mode;
    bool allocates = pass_does(s, DOES(ALLOCATE));
    bool turn = mode != LANE_FILL || (allocates && limit_is_candidate(s, slot));
    line->begun = true;
    line->after = key;
    if (allocates) /* else its turn as a candidate is yet to come */
        limit_look_once(s, slot);
    enum step step = start_in_round(s, slot, mode, turn);
    if (step == STEP_BUSY && mode == LANE_PLAN) {
        step = promise(s, slot);
        if (step == STEP_DONE && lane_keep(s, lane) < 0)
            step = STEP_FAILED;
    }
    if (step == STEP_BUSY && allocates && starving_may(s, slot))
        step = promise_starving(s, slot);
    if (step == STEP_BUSY)
        step = wait(s, slot);
    if (step == STEP_FAILED)
        return STEP_FAILED;
    if (mode == LANE_FILL)
        return s->finder->done(s, slot, key) < 0 ? STEP_FAILED : STEP_DONE;
    if (mode == LANE_PLAN && !has_promise(s, lane))
        lane->mode = mode_in_round(s, LANE_FILL);
    return STEP_DONE;
}

enum step walk_look(sched_t *s, uint32_t slot)
{
    return look_at_open(s, slot);
}

/* Make room for a holder, if it can be. */
enum step walk_look_at_holder(sched_t *s, uint32_t slot)
{
    enum step step = controllers_make_room_for_holder(s, slot);
    if (step == STEP_DONE) { /* what it was promised is free */
        s->pass.has_made_room = true;
        s->swept = false;
    }
    return step == STEP_FAILED ? STEP_FAILED : STEP_DONE;
}

/* Whether a walk has promised a job the present: where somebody claims something, or has until just now, what was learned
 * of the job's kind may have kept it from being tried.
 */
static bool promise_is_due(const sched_t *s)
{
    return s->queues->had_claims && s->due.n > 0 && s->due.v[0].key <= s->now;
}

void walk_ended(sched_t *s)
{
    if (!level_is_last(&s->pass) || s->pass.round + 1 < s->queues->setup->n_rounds)
        return;
    s->queues->holders_tried = s->pass.tried;
    starving_walked(s);
}

static enum step walk_step(sched_t *s)
{
    struct pass *p = &s->pass;
    uint32_t best = JOB_NONE;
    bool failed = false;
    p->has_made_room |= displaced_are_back(s); /* for those, which are before some of these */
    if (p->has_made_room) /* others may have what that one was promised: first those before it */
        return STEP_BUSY;
    if (gang_order_refresh(s) < 0 || starving_list(s) < 0)
        return STEP_FAILED;
    uint32_t starving = starving_next(s);
    uint32_t candidate = pass_does(s, DOES(ALLOCATE)) ? limit_candidate(s) : JOB_NONE;
    for (uint32_t i = 0; i < s->n_lanes && !failed; i++) {
        uint32_t slot = lane_next(s, &s->lanes[i], candidate, &failed);
        if (slot != JOB_NONE &&
            (best == JOB_NONE || queue_before(s->jobs[slot].key, s->jobs[best].key)))
            best = slot;
    }
    if (failed)
        return STEP_FAILED;
    if (candidate != JOB_NONE && queue_before(p->floor, s->jobs[candidate].key))
        candidate = JOB_NONE;
    if (best != JOB_NONE && queue_before(p->floor, s->jobs[best].key))
        best = JOB_NONE;
    bool is_candidate =
        candidate != JOB_NONE &&
        (best == JOB_NONE || queue_before(s->jobs[candidate].key, s->jobs[best].key));
    if (is_candidate)
        best = candidate;
    uint32_t holder = p->tries_holders ? held_next(s, p->begun, p->after) : JOB_NONE;
    if (holder != JOB_NONE && queue_before(p->floor, s->jobs[holder].key))
        holder = JOB_NONE;
    if (holder != JOB_NONE &&
        (best == JOB_NONE || queue_before(s->jobs[holder].key, s->jobs[best].key))) {
        p->begun = true;
        p->after = s->jobs[holder].key;
        return walk_look_at_holder(s, holder);
    }
    if (starving != JOB_NONE && best == starving)
        starving_leave(s);
    else if (starving != JOB_NONE &&
             (best == JOB_NONE || queue_before(s->jobs[starving].key, s->jobs[best].key)))
        return starving_look(s, starving);
    if (best != JOB_NONE)
        return is_candidate ? limit_look(s, best) : look_at_open(s, best);
    walk_ended(s);
    return STEP_BUSY;
}

/* All rounds of the walk, one after the other. */
static enum step walk_rounds(sched_t *s)
{
    enum step step = s->queues->shares ? share_walk_step(s) : walk_step(s);
    if (step != STEP_BUSY || s->pass.has_made_room ||
        s->pass.round + 1 == s->queues->setup->n_rounds)
        return step;
    s->pass.round++;
    walk_begin(s);
    return STEP_DONE;
}

/* Start nobody, and give each open job a reservation. */
static enum step promise_all(sched_t *s)
{
    struct queue_entry entry;
    enum step step = STEP_DONE;
    while (step == STEP_DONE && queue_first(s->lanes[0].open, &entry) &&
           is_considered(s, &s->lanes[0], entry.key))
        step = promise(s, entry.item);
    return step == STEP_FAILED ? STEP_FAILED : STEP_BUSY;
}

/* Units that are free now for whoever starts now: reservations whose time has come don't count as taken.
 * After a late pass one may have run out by now and counts twice: the sum stops at the largest number.
 */
static int64_t idle_now(sched_t *s)
{
    int64_t idle = s->place->ops->idle(s->place, s->now);
    size_t due = due_collect(s);
    for (size_t i = 0; i < due; i++) {
        int64_t units = s->jobs[s->due_list[i].slot].ask.units;
        idle = units < INT64_MAX - idle ? idle + units : INT64_MAX;
    }
    return idle;
}

/* Whether a walk can decide anything; a no is for machines that count units alone. Time alone lets no
 * waiting job start but a held one, so that after mere submissions the new jobs count, and they must fit or
 * get a reservation.
 */
static bool walk_needed(sched_t *s, bool more)
{
    if (s->woken || !s->place->is_counted || (!more && s->due.n > 0 && s->due.v[0].key <= s->now))
        return true;
    if (s->fresh_least == INT64_MAX)
        return false;
    return (int64_t)queue_size(s->lanes[0].held) < s->lanes[0].depth ||
           s->fresh_least <= idle_now(s);
}

/* ---- The phases ---- */

/* Lanes may promise fewer jobs a time than they did: take the time of one back, as where a job was stopped that goes before
 * it.
 */
static enum step keep_step(sched_t *s)
{
    enum step step = STEP_BUSY;
    for (uint32_t i = 0; i < s->n_lanes && step == STEP_BUSY; i++) {
        step = lane_take_place(s, &s->lanes[i]);
        if (step == STEP_BUSY)
            step = lane_keep_one(s, &s->lanes[i]);
    }
    return step;
}

/* Put off the ends of those whose time came before this pass, before others are promised what they need. */
static int lates_extend(sched_t *s)
{
    if (s->due.n == 0 || s->due.v[0].key >= s->now)
        return 0;
    size_t n = due_collect(s);
    for (size_t i = 0; i < n; i++)
        if (held_late(s, s->due_list[i].slot) < 0)
            return -1;
    return 0;
}

/* Tell why jobs wait. Those that what was decided has let go, and reservations in the way of a late start,
 * are looked at in this very pass first.
 */
static enum step tell_step(sched_t *s)
{
    struct pass *p = &s->pass;
    if (!p->begun) {
        enum step step = settle_is_due(s) ? settle_jobs(s, true) : STEP_BUSY;
        if (step != STEP_BUSY)
            return step;
        bool softens = p->softens && !p->has_softened;
        p->has_softened |= softens;
        s->swept &= !softens;
        p->is_again = p->let > 0 || s->n_fresh > p->n_fresh || repair_is_due(s) ||
                      p->has_made_room || promise_is_due(s) || starving_is_due(s) || softens;
        if (p->is_again || s->queues->n_untold == 0)
            return STEP_BUSY;
        tell_begin(s);
        p->begun = true;
    }
    return tell_next(s);
}

/* The new jobs are no longer new. */
static void fresh_clear(sched_t *s)
{
    for (size_t i = 0; i < s->n_fresh; i++)
        s->jobs[s->fresh[i]].is_fresh = s->jobs[s->fresh[i]].is_placed =
            s->jobs[s->fresh[i]].is_let_again = false;
    s->n_fresh = 0;
    s->fresh_least = INT64_MAX;
    limit_forget_candidates(s);
}

/* Whether a pass is done without a walk: it can decide nothing, or all open jobs are promised a
 * time, and started by a later pass of this instant. -1: ENOMEM.
 */
static int is_done_early(sched_t *s, bool more)
{
    if (!walk_needed(s, more))
        return true;
    if (!more || s->lanes[0].depth == 0 || (int64_t)sched_waiting(s) > s->lanes[0].depth)
        return false;
    return promise_all(s) == STEP_FAILED ? -1 : true;
}

/* Begin a phase, unless the pass was cut off in it or in a later one. */
static bool enter_phase(sched_t *s, enum pass_phase phase)
{
    if (s->pass.phase >= phase)
        return false;
    s->pass.phase = phase;
    s->pass.begun = false;
    return true;
}

/* A phase, or what is left of it. Returns 0, 1 if the budget is used up, or -1 with ENOMEM. */
static inline int go(sched_t *s, enum pass_phase phase, enum step (*step)(sched_t *s))
{
    enter_phase(s, phase);
    if (s->pass.phase > phase)
        return 0;
    for (;;) {
        enum step done = step(s);
        if (done != STEP_DONE)
            return done == STEP_BUSY ? 0 : -1;
        if (s->pass.budget <= 1)
            return 1;
        s->pass.budget--;
    }
}

/* Whether neither time nor events have brought anything: most passes over a trace have none of it. */
static inline bool is_prepared(const sched_t *s)
{
    return !*s->controllers && !settle_is_due(s) && s->place->is_counted &&
           lane_holds(&s->lanes[0]) <= s->lanes[0].depth;
}

/* What time and events have brought, before jobs are looked at. Returns as go. */
static int prepare_pass(sched_t *s)
{
    int rc = go(s, PASS_KEEP, keep_step);
    if (rc == 0 && *s->controllers) {
        if (enter_phase(s, PASS_TURN))
            s->pass.stage = s->pass.row = 0;
        rc = go(s, PASS_TURN, controllers_turn);
    }
    if (rc == 0 && enter_phase(s, PASS_LATE))
        rc = lates_extend(s);
    if (rc == 0 && settle_is_due(s)) {
        if (enter_phase(s, PASS_SETTLE)) {
            settle_begin(s);
            s->queues->lettings++;
        }
        rc = go(s, PASS_SETTLE, settle_first);
    }
    if (rc == 0 && enter_phase(s, PASS_PREPARED)) {
        rc = displaced_renew(s);
        s->finder->wake(s, false);
    }
    return rc;
}

/* Phases that look at jobs: at all of them, or at those of one level. Returns as go; *done: nobody is to be
 * looked at.
 */
static inline int look_at_level(sched_t *s, bool more, bool *done)
{
    int rc = go(s, PASS_OUTRANK, outrank);
    if (rc == 0 && s->pass.by_level && s->pass.has_made_room)
        return go(s, PASS_HEADS, heads_step); /* all are back where they were, or elsewhere */
    if (rc == 0)
        rc = go(s, PASS_SWEEP, sweep_step);
    if (rc == 0 && enter_phase(s, PASS_DUE) && (rc = is_done_early(s, more)) != 0) {
        *done = rc > 0;
        return rc < 0 ? -1 : 0;
    }
    if (rc == 0)
        rc = go(s, PASS_DUE, due_step);
    if (rc == 0 && enter_phase(s, PASS_WALK)) {
        s->finder->wake(s, false); /* reservations that moved have left something */
        s->pass.round = 0;
        walk_begin(s);
    }
    if (rc == 0)
        rc = go(s, PASS_WALK, walk_rounds);
    return rc == 0 && s->pass.by_level ? go(s, PASS_HEADS, heads_step) : rc;
}

/* All phases, in order. */
static inline int phases(sched_t *s, bool more)
{
    bool done = false;
    int rc = s->pass.phase >= PASS_PREPARED || is_prepared(s) ? 0 : prepare_pass(s);
    if (s->pass.phase == PASS_PREPARED && s->queues->setup->has_levels)
        heads_lift(s);
    if (rc == 0 && s->pass.phase == PASS_PREPARED)
        judge_expected(s);
    if (rc == 0 && repair_is_due(s))
        rc = go(s, PASS_REPAIR, repair_step);
    if (rc == 0 && enter_phase(s, PASS_OUTRANK)) {
        s->pass.n_fresh = s->n_fresh;
        levels_begin(s);
    }
    while (rc == 0 && s->pass.phase < PASS_JUDGE) {
        rc = look_at_level(s, more, &done);
        if (rc != 0 || done || !levels_next(s))
            break;
    }
    if (rc != 0 || done)
        return rc;
    if (s->pass.phase == PASS_JUDGE || judge_is_due(s))
        rc = go(s, PASS_JUDGE, judge_step);
    if (rc == 0 && settle_is_due(s) && enter_phase(s, PASS_TELL))
        settle_begin(s);
    return rc == 0 ? go(s, PASS_TELL, tell_step) : rc;
}

static int run_within_budget(sched_t *s, int64_t now, bool more, uint64_t budget)
{
    bool resumed = s->pass.phase != PASS_IDLE && s->now == now;
    if (!time_is_good(s, now)) {
        errno = EINVAL;
        return -1;
    }
    s->now = now;
    s->n_decisions = 0;
    s->pass.budget = budget;
    s->pass.is_whole = budget == UINT64_MAX;
    if (s->queues->told.block) {
        arena_clear(&s->queues->told);
        memset(s->queues->told_last, 0, sizeof(s->queues->told_last));
    }
    if (!resumed) {
        s->pass.phase = PASS_IDLE;
        s->pass.yields = s->pass.softens = s->pass.has_softened = s->pass.has_renewed = false;
    }
    s->pass.is_again = false;
    int rc = gang_go_on(s) < 0 || needs_down_look(s) < 0 ? -1 : phases(s, more);
    while (rc == 0 && s->pass.is_again) {
        s->pass.is_again = false;
        s->pass.phase = PASS_PREPARED;
        rc = displaced_renew_again(s) < 0 ? -1 : phases(s, more);
    }
    if (rc == 1) {
        tell_taken_back(s); /* what there is no memory for is told later */
        return 1;
    }
    s->pass.phase = PASS_IDLE;
    s->failed = s->woken = rc != 0;
    if (rc == 0) {
        fresh_clear(s);
        controllers_passed(s);
        s->queues->events = 0;
        s->queues->passed = now;
        s->queues->is_followed = more;
    } else {
        errno = ENOMEM;
    }
    return rc;
}

static int pass(sched_t *s, int64_t now, bool more, uint64_t budget,
                const struct sched_decision **decisions, size_t *n)
{
    *n = 0;
    *decisions = NULL;
    s->queues->n_extended = 0;
    if (clock_is_early(s, now))
        return 0;
    int rc = run_within_budget(s, now, more, budget);
    *decisions = s->decisions;
    *n = rc < 0 && errno == EINVAL ? 0 : s->n_decisions;
    return rc;
}

int sched_pass(sched_t *s, int64_t now, bool more, const struct sched_decision **decisions,
               size_t *n)
{
    return pass(s, now, more && s->place->is_counted, UINT64_MAX, decisions, n);
}

int sched_pass_some(sched_t *s, int64_t now, uint64_t budget,
                    const struct sched_decision **decisions, size_t *n)
{
    return pass(s, now, false, budget > 0 ? budget : 1, decisions, n);
}
