/* The walk over open jobs where there are shares: the tree says of which leaf the next job is (waiting/shares.h).
 *
 * Queues of a higher priority go first. Of those of one priority, holders for whom room may be made go before
 * open jobs. Then the tree chooses among the leaves with open jobs (waiting/turns.h). The one that is chosen has
 * its next job looked at, whose start or promise the next choice knows of.
 *
 * Whether a leaf has a job that may be looked at is asked when it is chosen. If that job is of a lower priority
 * or a later deadline than the leaf was offered with, the leaf is offered again; if there is none, it is left out. A
 * lane that has nothing that may fit is left out as a whole, with all its leaves; of one in which few jobs may, the tree
 * chooses among the leaves of these (waiting/may_fit.h).
 */
#include "sched/controllers/ask.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/loans.h"
#include "sched/controllers/starving.h"
#include "sched/pass/displaced.h"
#include "sched/pass/steps.h"
#include "sched/pass/walk.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/gang_order.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/may_fit.h"
#include "sched/waiting/shares.h"
#include "sched/waiting/turns.h"

/* The first of a leaf's jobs that are to be looked at for a promise of a limit; JOB_NONE. O(such jobs). */
static uint32_t candidate_of(const sched_t *s, uint32_t number)
{
    const struct queues *n = s->queues;
    uint32_t first = JOB_NONE;
    for (size_t i = 0; i < n->n_candidates && pass_does(s, DOES(ALLOCATE)); i++) {
        uint32_t slot = n->candidates[i];
        if (limit_is_candidate(s, slot) && n->shares->job[slot].leaf == number &&
            (first == JOB_NONE || queue_before(s->jobs[slot].key, s->jobs[first].key)))
            first = slot;
    }
    return first;
}

/* The first job of a lane beyond the last level. */
static bool first_beyond(const struct lane *lane, struct queue_key level, struct queue_entry *entry)
{
    return queue_after(lane->open, &level, entry);
}

/* Whether a lane has jobs of several levels. It has some. */
static bool is_mixed(const struct lane *lane)
{
    struct queue_entry first, last;
    return queue_first(lane->open, &first) && queue_last(lane->open, &last) &&
           queue_before(level_last(first.key), last.key);
}

/* Offer the leaves of a lane of several levels with their first jobs beyond the last one. O(leaves). */
static void offer_leaves(sched_t *s, const struct lane *lane, struct queue_key level)
{
    const struct shares *shares = s->queues->shares;
    struct queue_entry entry;
    for (uint32_t i = 0; i < shares->names.n; i++) {
        const struct leaf *leaf = &shares->leaf[i];
        if (&s->lanes[leaf->lane] != lane || leaf->first == JOB_NONE)
            continue; /* it has none that may start at all */
        const struct queue *own = line_at(&s->lanes[leaf->lane], leaf->line)->open;
        if (queue_after(own ? own : lane->open, &level, &entry))
            turns_offer(s, i, entry.item);
        else
            turns_skip(s, i);
    }
}

/* On to the next level, or if it is not `later`, to the first: its lanes take part. A leaf that had no job in the level
 * before was left out there. False: there is none.
 */
static bool next_level(sched_t *s, bool later)
{
    struct pass *p = &s->pass;
    may_fit_begin(s);
    struct queue_key above = p->share_floor, floor = KEY_LAST;
    struct queue_entry entry;
    bool any = false;
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        if (!first_beyond(&s->lanes[i], above, &entry) || queue_before(p->floor, entry.key))
            continue;
        struct queue_key last = level_last(entry.key);
        if (!any || queue_before(last, floor))
            floor = last;
        any = true;
    }
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        const struct lane *lane = &s->lanes[i];
        bool takes_part = any && first_beyond(lane, above, &entry) &&
                          !queue_before(floor, entry.key) &&
                          (lane->mode != LANE_DONE || s->queues->n_candidates > 0);
        if (takes_part && (later || is_mixed(lane)))
            offer_leaves(s, lane, above);
        turns_open(s, lane, takes_part);
    }
    p->share_above = above;
    p->share_floor = floor;
    return any;
}

void share_walk_begin(sched_t *s)
{
    s->queues->shares->walk++;
    class_turns_begin(s->queues->shares);
    s->pass.share_floor = level_is_first(&s->pass) ? KEY_FIRST : s->pass.above;
    s->pass.n_put_off = 0;
    s->pass.lends = s->pass.puts_holders_off = false;
    turns_restore(s, NULL);
    next_level(s, false);
}

/* A leaf's line, which begins where the walk does. */
static struct line *line_in_walk(const sched_t *s, const struct leaf *leaf)
{
    struct lane *lane = &s->lanes[leaf->lane];
    struct line *line = line_at(lane, leaf->line);
    if (leaf->line != 0 && line->walk != s->queues->shares->walk) {
        line->walk = s->queues->shares->walk;
        line->begun = lane->line.begun;
        line->after = lane->line.after;
    }
    return line;
}

/* The job of a leaf that the walk looks at next, also as a candidate; JOB_NONE. */
static uint32_t next_of(sched_t *s, uint32_t number, bool *is_candidate, bool *failed)
{
    const struct leaf *leaf = &s->queues->shares->leaf[number];
    struct lane *lane = &s->lanes[leaf->lane];
    uint32_t slot = line_next(s, lane, line_in_walk(s, leaf), failed);
    uint32_t candidate = candidate_of(s, number);
    if (slot != JOB_NONE && !is_considered(s, lane, s->jobs[slot].key))
        slot = JOB_NONE;
    *is_candidate = candidate != JOB_NONE &&
                    (slot == JOB_NONE || queue_before(s->jobs[candidate].key, s->jobs[slot].key));
    slot = *is_candidate ? candidate : slot;
    return slot != JOB_NONE && queue_before(s->pass.share_floor, s->jobs[slot].key) ? JOB_NONE
                                                                                    : slot;
}

/* Whether some job of a lane may be looked at; a yes may be wrong. */
static bool goes_on(sched_t *s, struct lane *lane, bool *failed)
{
    if (s->queues->n_candidates > 0)
        return true;
    if (lane->mode != LANE_FILL || lane->n_more == 0)
        return lane->mode != LANE_DONE;
    return s->finder->next(s, lane, &lane->line, failed) != JOB_NONE;
}

/* The leaf that the tree names next, of those that may have something to be looked at; JOB_NONE: there is none left. */
static uint32_t next_leaf(sched_t *s, bool *failed)
{
    const struct shares *shares = s->queues->shares;
    uint32_t node;
    while (!*failed && (node = share_next(shares->tree, s->now)) != SHARE_NO_NODE) {
        uint32_t number = shares->leaf_of[node];
        struct lane *lane = &s->lanes[shares->leaf[number].lane];
        if (may_fit_listed(s, lane))
            number = may_fit_first(s, lane);
        else if (!goes_on(s, lane, failed))
            number = JOB_NONE;
        if (number != JOB_NONE)
            return number;
        turns_open(s, lane, false);
    }
    return JOB_NONE;
}

/* The job that is looked at next; JOB_NONE: the level has none left. */
static uint32_t choose_open_job(sched_t *s, bool *is_candidate, bool *failed)
{
    while (!*failed) {
        uint32_t number = next_leaf(s, failed);
        if (number == JOB_NONE)
            return JOB_NONE;
        if (!class_turns_are_due(s, number))
            continue;
        uint32_t slot = *failed ? JOB_NONE : next_of(s, number, is_candidate, failed);
        if (*failed)
            return JOB_NONE;
        if (slot == JOB_NONE)
            turns_skip(s, number);
        else if (!turns_is_offered_as(s, number, slot))
            turns_offer(s, number, slot);
        else
            return slot;
    }
    return JOB_NONE;
}

/* Those that borrow are looked at when open jobs have had their turns. */
static enum step look_at_holder(sched_t *s, uint32_t holder)
{
    struct pass *p = &s->pass;
    p->begun = true;
    p->after = s->jobs[holder].key;
    if (p->lends != loan_is_one(s, holder)) {
        p->puts_holders_off |= !p->lends;
        return STEP_DONE;
    }
    return walk_look_at_holder(s, holder);
}

/* On to those of the level that were put off as they borrow, or else to the next level, and last to holders that were put off.
 * False: there is none.
 */
static bool next_turns(sched_t *s)
{
    struct pass *p = &s->pass;
    p->lends = p->n_put_off > 0;
    p->n_put_off = 0;
    if (p->lends) {
        p->share_floor = p->share_above;
        turns_restore(s, NULL);
    }
    if (next_level(s, true))
        return true;
    p->lends = p->puts_holders_off;
    p->puts_holders_off = false;
    if (p->lends) {
        p->begun = !level_is_first(p);
        p->after = p->above;
    }
    return p->lends;
}

/* A job of a lane has been looked at. Where only the first jobs of a queue count, others may do so by now. */
static void looked(sched_t *s, const struct lane *lane)
{
    if (lane->queue_depth == SCHED_UNLIMITED)
        return;
    if (is_mixed(lane))
        offer_leaves(s, lane, s->pass.share_above);
    else
        turns_restore(s, lane);
}

/* A job that the walk would look at waits until others have had their turns, where it borrows. Then the next one of its leaf that
 * does not has its turn, or the leaf is left out. STEP_BUSY: it does not wait.
 */
static enum step put_off(sched_t *s, uint32_t slot)
{
    uint32_t leaf = s->queues->shares->job[slot].leaf;
    int wanted = s->pass.lends ? 0 : loan_is_wanted(s, slot);
    if (wanted <= 0)
        return wanted < 0 ? STEP_FAILED : STEP_BUSY;
    enum step step = loan_let_others(s, slot);
    if (step == STEP_FAILED)
        return STEP_FAILED;
    if (step == STEP_DONE) {
        class_turns_looked(s, leaf);
        looked(s, lane_of(s, slot));
        return STEP_DONE;
    }
    s->pass.n_put_off++;
    turns_skip(s, leaf);
    return STEP_DONE;
}

enum step share_walk_step(sched_t *s)
{
    struct pass *p = &s->pass;
    bool failed = false, is_candidate = false;
    p->has_made_room |= displaced_are_back(s);
    if (p->has_made_room) /* others may have what that one was promised: first those before it */
        return STEP_BUSY;
    uint32_t holder = walk_next_holder(s);
    if (holder != JOB_NONE)
        return look_at_holder(s, holder);
    if (class_order_refresh(s) < 0 || gang_order_refresh(s) < 0)
        return STEP_FAILED;
    if (starving_list(s) < 0)
        return STEP_FAILED;
    uint32_t starving = starving_next(s);
    if (starving != JOB_NONE)
        return walk_looked(s, starving, starving_look(s, starving));
    uint32_t slot = choose_open_job(s, &is_candidate, &failed);
    if (failed)
        return STEP_FAILED;
    if (slot == JOB_NONE && next_turns(s))
        return STEP_DONE;
    if (slot == JOB_NONE) {
        turns_restore(s, NULL);
        walk_ended(s);
        return STEP_BUSY;
    }
    enum step step = put_off(s, slot);
    if (step != STEP_BUSY)
        return step;
    const struct lane *lane = lane_of(s, slot);
    uint32_t leaf = s->queues->shares->job[slot].leaf;
    step = is_candidate ? limit_look(s, slot) : walk_look(s, slot);
    if (step == STEP_FAILED)
        return step;
    class_turns_looked(s, leaf);
    looked(s, lane);
    return walk_looked(s, slot, step);
}
