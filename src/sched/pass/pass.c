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
#include <errno.h>
#include <stdlib.h>

#include "sched/controllers/ask.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/loans.h"
#include "sched/controllers/starving.h"
#include "sched/controllers/victims.h"
#include "sched/pass/displaced.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/pass/walk.h"
#include "sched/waiting/finder.h"
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

/* Those that borrow come last (controllers/loans.h): those that have been put off are listed at the front. */
static enum step lend(sched_t *s, const struct due *due)
{
    struct pass *p = &s->pass;
    if (!p->lends && loan_is_one(s, due->slot)) {
        s->due_list[p->n_put_off++] = *due;
        return STEP_DONE;
    }
    enum step step = p->lends ? loan_give_way(s, due->slot) : STEP_BUSY;
    if (step == STEP_DONE && s->jobs[due->slot].state == SCHED_RESERVED)
        p->next_due--; /* its turn is yet to come */
    return step;
}

/* Start the next of the held jobs whose time has come. */
static enum step due_step(sched_t *s)
{
    struct pass *p = &s->pass;
    if (!p->begun) {
        p->n_due = due_collect(s);
        p->next_due = p->n_put_off = 0;
        p->begun = true;
        p->lends = false;
    }
    if (p->next_due == p->n_due && p->n_put_off > 0) {
        p->n_due = p->n_put_off;
        p->next_due = p->n_put_off = 0;
        p->lends = true;
    }
    if (p->next_due == p->n_due)
        return STEP_BUSY;
    const struct due due = s->due_list[p->next_due++];
    const struct job *job = &s->jobs[due.slot];
    if (job->state != SCHED_RESERVED || job->at > s->now || queue_before(p->floor, due.key))
        return STEP_DONE;
    enum step step = lend(s, &due);
    return step == STEP_BUSY ? start_held(s, due.slot) : step;
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

/* Whether a walk has promised a job the present. Where somebody claims something, or has until just now, what was learned of
 * the job's kind may have kept it from being tried; elsewhere a limit lets it start only where the limit's promise has it, for
 * which the pass goes through its phases once more.
 */
static bool promise_is_due(sched_t *s)
{
    struct pass *p = &s->pass;
    bool is_due = s->due.n > 0 && s->due.v[0].key <= s->now;
    bool is_again = is_due && (s->queues->had_claims || !p->has_been_due);
    p->has_been_due |= is_due;
    return is_again;
}

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
        int lets_in = depth_let_in(s);
        if (lets_in < 0)
            return STEP_FAILED;
        bool softens = p->softens && !p->has_softened;
        p->has_softened |= softens;
        s->swept &= !softens;
        p->is_again = lets_in > 0 || p->let > 0 || s->n_fresh > p->n_fresh || repair_is_due(s) ||
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
    bool is_looking =
        s->pass.phase > PASS_OUTRANK && s->pass.phase < PASS_HEADS; /* cut off there */
    if (rc == 0 && s->pass.by_level && s->pass.has_made_room && !is_looking)
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
    if (rc == 0 && s->pass.phase <= PASS_PREPARED)
        rc = depth_let_in(s) < 0 ? -1 : 0;
    if (s->pass.phase == PASS_PREPARED && s->queues->setup->has_levels)
        heads_lift(s);
    if (rc == 0 && s->pass.phase == PASS_PREPARED)
        judge_expected(s);
    if (rc == 0 && repair_is_due(s))
        rc = go(s, PASS_REPAIR, repair_step);
    if (rc == 0 && enter_phase(s, PASS_OUTRANK)) {
        s->pass.n_fresh = s->n_fresh;
        levels_begin(s);
        sweep_forget(s);
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
    stopping_begin(s);
    s->queues->runners.is_known = false;
    s->pass.budget = budget;
    s->pass.is_whole = budget == UINT64_MAX;
    if (s->queues->told.block) {
        arena_clear(&s->queues->told);
        memset(s->queues->told_last, 0, sizeof(s->queues->told_last));
    }
    if (!resumed) {
        s->pass.phase = PASS_IDLE;
        s->pass.yields = s->pass.softens = s->pass.has_softened = s->pass.has_renewed = false;
        s->pass.has_been_due = false;
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
        depth_note(s);
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
