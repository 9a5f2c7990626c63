#include "sched/controllers/loans.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "berth/sched_config.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/claims.h"
#include "sched/controllers/lots_priv.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/pass/walk.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"

/* A job that borrows: what its queue would have by it counts. */
struct loan {
    sched_t *s;
    uint32_t slot;
    struct lots has; /* its queue, what it asks for, and what goes of all that have something */
};

static bool any_reclaims(const struct setup *setup)
{
    return setup->preempts && (setup->actions & DOES(RECLAIM)) != 0;
}

/* Whether it might be stopped as soon as anybody. */
static bool may_be_stopped_soon(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    return d->preemptible_after <= s->queues->setup->second &&
           !(s->queues->setup->queue[d->queue].keeps_gangs && gang_asks_whole(s, slot));
}

/* Whether its queue may have more than it deserves by it, as if nothing that it is promised were given back. */
static bool may_borrow(const sched_t *s, uint32_t slot, const struct lots *has)
{
    struct share_tree *tree = s->queues->shares->tree;
    bool counts = s->jobs[slot].state == SCHED_RESERVED; /* it is among what is received */
    struct share_view view;
    share_look(tree, has->node, &view);
    for (uint32_t d = 0; d < share_dimensions(tree); d++)
        if (has->amount[d] > 0 &&
            view.received[d] + (counts ? 0 : has->amount[d]) > view.deserved[d])
            return true;
    return false;
}

/* Whether jobs of a lane might take what another job borrows. */
static bool lane_may_take(const sched_t *s, const struct lane *lane, uint32_t slot)
{
    const struct setup_queue *queue = &s->queues->setup->queue[lane->queue];
    bool preemptible = queue->preemptible != SCHED_NOT_PREEMPTIBLE;
    return !lane->is_stopped && lane != lane_of(s, slot) &&
           (queue->any_preempts & SCHED_PREEMPTS_BORROWERS) != 0 &&
           !(preemptible && may_preempt(s, &s->jobs[slot]));
}

static bool any_lane_may_take(const sched_t *s, uint32_t slot)
{
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        const struct lane *lane = &s->lanes[i];
        bool any = queue_size(lane->open) + queue_size(lane->held) + queue_size(lane->kept) > 0;
        if (any && lane_may_take(s, lane, slot))
            return true;
    }
    return false;
}

/* Whether others might take from a job if it borrows. */
static bool may_be_taken_from(const sched_t *s, uint32_t slot)
{
    return s->queues->shares && any_reclaims(s->queues->setup) && may_be_stopped_soon(s, slot) &&
           any_lane_may_take(s, slot);
}

/* Whether a job borrows what others might take. *has: its queue, and what it asks for. */
static bool borrows(const sched_t *s, uint32_t slot, struct lots *has)
{
    *has = (struct lots){0};
    if (!may_be_taken_from(s, slot))
        return false;
    lots_measure(s, has, slot);
    return may_borrow(s, slot, has);
}

/* Whether a job that waits borrows, however little it asks for: of something that it asks for its queue has all that it deserves.
 * No is not sure. O(resources), where borrows measures what it asks for.
 */
static bool surely_borrows(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    const struct share_of_job *job = &shares->job[slot];
    struct share_view view;
    if (!BORROWS_AT_SIGHT || job->state != SHARE_WAITING || shares_are_mixed(s, slot))
        return false;
    share_look(shares->tree, lots_node(s, slot), &view);
    for (uint32_t d = 0; d < share_dimensions(shares->tree); d++)
        if (job->amount[d] > 0 && view.received[d] >= view.deserved[d])
            return true;
    return false;
}

/* 1: it does; 0, or -1 with ENOMEM. loan_end frees what *loan has in any case. */
static int loan_begin(struct loan *loan, sched_t *s, uint32_t slot)
{
    *loan = (struct loan){.s = s, .slot = slot};
    if (!borrows(s, slot, &loan->has))
        return 0;
    if (lots_count_gone(s, &loan->has, slot) < 0)
        return -1;
    lots_note_gone(s, &loan->has, slot, loan->has.amount, -1); /* it has that, too */
    return 1;
}

static void loan_end(struct loan *loan)
{
    free(loan->has.gone);
}

/* Whether a queue with this node may have so much of what is borrowed. */
static bool share_takes(const struct loan *loan, uint32_t node, const int64_t *amount)
{
    return share_may_reclaim(loan->s->queues->shares->tree, node, amount, loan->has.node,
                             loan->has.amount, loan->has.gone);
}

/* Whether a job's queue has less than it deserves of something that is borrowed. */
static bool is_entitled_to_any(const struct loan *loan, uint32_t slot)
{
    uint32_t dimensions = share_dimensions(loan->s->queues->shares->tree);
    for (uint32_t d = 0; d < dimensions; d++) {
        int64_t one[SHARE_DIMENSIONS_MAX] = {0};
        one[d] = 1;
        if (loan->has.amount[d] > 0 && share_takes(loan, lots_node(loan->s, slot), one))
            return true;
    }
    return false;
}

static bool is_of_level(const struct loan *loan, struct queue_key key)
{
    return !queue_before(level_last(loan->s->jobs[loan->slot].key), key);
}

/* Whether a job with a claim waits for what is borrowed, which is entitled to it. */
static bool any_claim_wants(const struct loan *loan)
{
    const sched_t *s = loan->s;
    bool any = false;
    for (size_t i = 0; i < s->queues->n_claims && !any; i++) {
        uint32_t other = s->queues->claims[i].slot;
        any = lane_may_take(s, lane_of(s, other), loan->slot) &&
              is_of_level(loan, s->jobs[other].key) && is_entitled_to_any(loan, other);
    }
    return any;
}

int loan_is_wanted(sched_t *s, uint32_t slot)
{
    struct loan loan;
    struct queue_entry first;
    int wanted = loan_begin(&loan, s, slot);
    bool any = wanted > 0 && any_claim_wants(&loan);
    for (uint32_t i = 0; wanted > 0 && i < s->n_lanes && !any; i++)
        any = lane_may_take(s, &s->lanes[i], slot) && queue_first(s->lanes[i].open, &first) &&
              is_of_level(&loan, first.key) && is_entitled_to_any(&loan, first.item);
    loan_end(&loan);
    return wanted < 0 ? -1 : any;
}

bool loan_is_one(const sched_t *s, uint32_t slot)
{
    struct lots has;
    if (s->jobs[slot].is_preempting || s->jobs[slot].is_claiming)
        return false;
    return s->queues->shares && surely_borrows(s, slot) ? may_be_taken_from(s, slot)
                                                        : borrows(s, slot, &has);
}

enum step loan_let_others(sched_t *s, uint32_t slot)
{
    struct lane *lane = lane_of(s, slot);
    const struct queue *line =
        line_at(lane, s->queues->shares->leaf[s->queues->shares->job[slot].leaf].line)->open;
    struct queue_key level = level_last(s->jobs[slot].key);
    struct queue_entry entry = {.key = s->jobs[slot].key};
    enum step step = STEP_BUSY;
    for (int i = 0; i < LOANS_TRIED && lane->depth > 0 && step == STEP_BUSY; i++) {
        if (!queue_after(line ? line : lane->open, &entry.key, &entry) ||
            queue_before(level, entry.key) || !is_considered(s, lane, entry.key) ||
            !walk_starts(s, lane->mode))
            return STEP_BUSY;
        if (!loan_is_one(s, entry.item))
            step = start_open(s, entry.item, false);
    }
    if (step == STEP_DONE && s->finder->done(s, entry.item, entry.key) < 0)
        return STEP_FAILED;
    return step;
}

/* ---- Jobs that are entitled ---- */

/* Whether a job that waits has room for a start now, what it holds itself counted as free: 1, 0, or -1 with ENOMEM. */
static int has_room_now(sched_t *s, uint32_t slot)
{
    const struct place_ops *ops = s->place->ops;
    const struct job *job = &s->jobs[slot];
    bool holds = job->state == SCHED_RESERVED && !job->is_lifted;
    if (holds) {
        ops->lift(s->place, job->booking, false);
        controllers_set_aside(s, slot);
    }
    int64_t booking = ops->probe(s->place, &job->ask, s->now);
    int has = booking < 0 && errno == ENOMEM ? -1 : booking >= 0;
    if (booking >= 0) {
        has = keeps_promises(s, slot, booking, s->now) &&
              controllers_may_hold(s, slot, job->ask.duration, booking, s->now);
        ops->release(s->place, booking);
    }
    if (holds) {
        controllers_put_back(s, slot);
        ops->drop(s->place, &job->ask, job->booking);
    }
    return has;
}

/* Whether a job waits, and for no limit, and may be entitled to what is lent. */
static bool may_be_entitled(const struct loan *loan, uint32_t slot)
{
    sched_t *s = loan->s;
    const struct job *job = &s->jobs[slot];
    struct lots asks = {0};
    if (!is_of_level(loan, job->key))
        return false;
    if (job->state == SCHED_WAITING ? !is_considered(s, lane_of(s, slot), job->key)
                                    : job->is_preempting)
        return false;
    lots_measure(s, &asks, slot);
    return share_takes(loan, asks.node, asks.amount);
}

/* Whether one of the first holders of a lane's queue that are out of the calendars could start now: 1, 0, or -1 with ENOMEM. */
static int any_lifted_has_room(const struct loan *loan, const struct queue *queue)
{
    sched_t *s = loan->s;
    struct queue_cursor c;
    int tries = LOANS_TRIED, has = 0;
    for (bool any = queue_begin(queue, &c); any && tries > 0 && has == 0; tries--) {
        uint32_t slot = queue_item(&c);
        any = queue_next(&c);
        if (s->jobs[slot].is_lifted && !s->jobs[slot].is_claiming && may_be_entitled(loan, slot))
            has = has_room_now(s, slot);
    }
    return has;
}

/* Whether a job borrows what a holder that is out of the calendars can use now: 1, 0, or -1 with ENOMEM. */
static int is_of_lifted(sched_t *s, uint32_t slot)
{
    struct loan loan;
    int is_loan = loan_begin(&loan, s, slot);
    int has = is_loan < 0 ? -1 : 0;
    for (uint32_t i = 0; is_loan > 0 && i < s->n_lanes && has == 0; i++) {
        const struct lane *lane = &s->lanes[i];
        if (!lane_may_take(s, lane, slot))
            continue;
        has = any_lifted_has_room(&loan, lane->held);
        if (has == 0)
            has = any_lifted_has_room(&loan, lane->kept);
    }
    loan_end(&loan);
    return has;
}

int loan_waits_for_walk(sched_t *s, uint32_t slot)
{
    int wanted = loan_is_wanted(s, slot);
    if (wanted == 0)
        wanted = is_of_lifted(s, slot);
    return wanted > 0 ? has_room_now(s, slot) : wanted;
}

/* ---- A holder that borrows, whose time has come ---- */

/* The next one, from one on in the list of those that are due, of the lane of the one that borrows, if it still holds what
 * it was promised; JOB_NONE. All of the list borrow.
 */
static uint32_t next_of_lane(const struct loan *loan, size_t *from)
{
    const sched_t *s = loan->s;
    while (*from < s->pass.n_due) {
        uint32_t slot = s->due_list[(*from)++].slot;
        const struct job *job = &s->jobs[slot];
        if (job->state == SCHED_RESERVED && job->at <= s->now &&
            job->lane == s->jobs[loan->slot].lane)
            return slot;
    }
    return JOB_NONE;
}

/* It, and those behind it that are to start with it, are out of the calendars. Returns 0, or -1 with ENOMEM. */
static int lift_loans(const struct loan *loan)
{
    uint32_t slot;
    for (size_t from = loan->s->pass.next_due - 1;
         (slot = next_of_lane(loan, &from)) != JOB_NONE;) {
        if (open_reserve(loan->s, slot) < 0)
            return -1;
        holder_lift(loan->s, slot);
    }
    return 0;
}

/* Back in them, under claims as before. Where another one has `started`, those that it leaves no room for are open.
 * Returns 0, or -1 with ENOMEM.
 */
static int put_loans_back(const struct loan *loan, bool started)
{
    sched_t *s = loan->s;
    uint32_t slot;
    int rc = 0;
    bool any = claims_lift(s, CLAIMS_ALL, loan->slot);
    for (size_t from = s->pass.next_due - 1; (slot = next_of_lane(loan, &from)) != JOB_NONE;) {
        if (s->jobs[slot].is_lifted && !started)
            holder_return(s, slot);
        if (!s->jobs[slot].is_lifted || holder_put_back(s, slot))
            continue;
        rc |= held_to_open(s, slot, false);
        s->pass.has_made_room = true; /* for others, too */
        s->swept = false;
    }
    if (any)
        claims_lay(s);
    return rc;
}

/* A job that is entitled starts. STEP_BUSY: it doesn't. */
static enum step start_entitled(sched_t *s, uint32_t slot)
{
    if (s->jobs[slot].state == SCHED_WAITING)
        return start_surely(s, slot);
    if (holder_pull(s, slot) < 0)
        return STEP_FAILED;
    return s->jobs[slot].at <= s->now ? start_held(s, slot) : STEP_BUSY;
}

/* The same in place of the one that borrows, and of those behind it that are to start with it. STEP_BUSY: it has no room there. */
static enum step start_in_place(const struct loan *loan, uint32_t slot)
{
    sched_t *s = loan->s;
    int64_t was = s->jobs[slot].at;
    int has = lift_loans(loan) < 0 ? -1 : has_room_now(s, slot);
    enum step step = has < 0 ? STEP_FAILED : has > 0 ? start_entitled(s, slot) : STEP_BUSY;
    bool moved = s->jobs[slot].state == SCHED_RESERVED && s->jobs[slot].at != was;
    int saved = errno;
    if (put_loans_back(loan, has > 0 && (step != STEP_BUSY || moved)) < 0)
        return STEP_FAILED;
    errno = saved;
    return step;
}

/* One with a claim could start in place of the one that borrows, and of those behind it: it does so in the walk, and the one that
 * borrows is open. STEP_BUSY: it could not.
 */
static enum step let_claim(const struct loan *loan, uint32_t slot)
{
    sched_t *s = loan->s;
    if (!may_be_entitled(loan, slot))
        return STEP_BUSY;
    int can = lift_loans(loan) < 0 ? -1 : claim_could_start(s, slot);
    int saved = errno;
    if (put_loans_back(loan, false) < 0)
        return STEP_FAILED;
    errno = saved;
    if (can <= 0)
        return can < 0 ? STEP_FAILED : STEP_BUSY;
    return held_to_open(s, loan->slot, false) < 0 ? STEP_FAILED : STEP_DONE;
}

/* It starts, if it can, beside the one that borrows, or else in its place. STEP_BUSY: it can't. */
static enum step let_one(const struct loan *loan, uint32_t slot)
{
    sched_t *s = loan->s;
    if (s->jobs[slot].is_claiming)
        return let_claim(loan, slot);
    bool is_open = s->jobs[slot].state == SCHED_WAITING;
    bool is_due = !is_open && s->jobs[slot].at <= s->now;
    if (is_due || !may_be_entitled(loan, slot))
        return STEP_BUSY;
    enum step gate = is_open ? controllers_gate(s, slot) : STEP_BUSY;
    if (gate != STEP_BUSY)
        return gate == STEP_KEPT ? STEP_BUSY : gate;
    int has = is_open ? has_room_now(s, slot) : 0;
    enum step step = has < 0 ? STEP_FAILED : has > 0 ? start_entitled(s, slot) : STEP_BUSY;
    return step == STEP_BUSY ? start_in_place(loan, slot) : step;
}

/* The same for the first ones of a lane's queue. */
static enum step let_some(const struct loan *loan, const struct queue *queue, int tries)
{
    struct queue_cursor c;
    enum step step = STEP_BUSY;
    for (bool any = queue_begin(queue, &c); any && tries > 0 && step == STEP_BUSY; tries--) {
        uint32_t slot = queue_item(&c);
        any = queue_next(&c);
        step = let_one(loan, slot);
    }
    return step;
}

enum step loan_give_way(sched_t *s, uint32_t slot)
{
    struct loan loan;
    if (!pass_does(s, DOES(ALLOCATE)))
        return STEP_BUSY;
    int is_loan = loan_begin(&loan, s, slot);
    enum step step = is_loan < 0 ? STEP_FAILED : STEP_BUSY;
    for (uint32_t i = 0; is_loan > 0 && i < s->n_lanes && step == STEP_BUSY; i++) {
        const struct lane *lane = &s->lanes[i];
        if (!lane_may_take(s, lane, slot))
            continue;
        step = let_some(&loan, lane->open, lane->depth == 0 ? 1 : LOANS_TRIED);
        if (step == STEP_BUSY)
            step = let_some(&loan, lane->held, LOANS_TRIED);
        if (step == STEP_BUSY)
            step = let_some(&loan, lane->kept, LOANS_TRIED);
    }
    loan_end(&loan);
    return step;
}
