/* The walk over open jobs where there are shares: the tree says of which leaf the next job is (waiting/shares.h).
 *
 * Queues of a higher priority go first. Of those of one priority, holders for whom room may be made go before
 * open jobs. Then each leaf that has a job which may be looked at is offered to the tree; the one that is chosen
 * has its next job looked at, whose start or promise the next choice knows of.
 *
 * A leaf is offered with its first open job. Whether that may fit is asked when the leaf is chosen. If not, the
 * leaf is offered again with the first job that may fit, or is withdrawn.
 */
#include "sched/controllers/ask.h"
#include "sched/controllers/limiter.h"
#include "sched/pass/walk.h"
#include "sched/queues.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/shares.h"

static void offer(sched_t *s, uint32_t number, uint32_t slot)
{
    struct leaf *leaf = &s->queues->shares->leaf[number];
    const struct job *job = &s->jobs[slot];
    struct share_first first = {.priority = job->details->priority,
                                .deadline = INT64_MAX,
                                .since = job->submitted,
                                .submit = job->key.seq};
    leaf->offered = slot;
    share_offer(s->queues->shares->tree, leaf->node, &first);
}

static void withdraw(sched_t *s, uint32_t number)
{
    struct leaf *leaf = &s->queues->shares->leaf[number];
    leaf->offered = JOB_NONE;
    share_withdraw(s->queues->shares->tree, leaf->node);
}

/* The first job of a leaf that was not looked at; false: there is none, or its class starts nothing. */
static bool first_left(const sched_t *s, const struct leaf *leaf, struct queue_entry *entry)
{
    struct lane *lane = &s->lanes[leaf->lane];
    const struct line *line = line_at(lane, leaf->line);
    if (leaf_is_shut(s, leaf))
        return false;
    return queue_after(line->open ? line->open : lane->open, line->begun ? &line->after : NULL,
                       entry);
}

/* The first of a leaf's jobs that are to be looked at for a promise of a limit; JOB_NONE. O(such jobs). */
static uint32_t candidate_of(const sched_t *s, uint32_t number)
{
    const struct queues *n = s->queues;
    uint32_t first = JOB_NONE;
    for (size_t i = 0; i < n->n_candidates; i++) {
        uint32_t slot = n->candidates[i];
        if (limit_is_candidate(s, slot) && n->shares->job[slot].leaf == number &&
            (first == JOB_NONE || queue_before(s->jobs[slot].key, s->jobs[first].key)))
            first = slot;
    }
    return first;
}

/* Whether that job may be looked at in this walk, as far as its lane says. */
static bool may_look(const sched_t *s, uint32_t number, struct queue_key key)
{
    const struct lane *lane = &s->lanes[s->queues->shares->leaf[number].lane];
    return (lane->mode != LANE_DONE && is_considered(lane, key)) ||
           candidate_of(s, number) != JOB_NONE;
}

/* Offer the leaves that have a job of the next level, which is told; false: there is none. */
static bool offer_level(sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    struct pass *p = &s->pass;
    struct queue_entry entry;
    struct queue_key floor = KEY_LAST;
    bool any = false;
    for (uint32_t i = 0; i < shares->names.n; i++) {
        if (!first_left(s, &shares->leaf[i], &entry))
            continue;
        struct queue_key last = level_last(entry.key);
        if (queue_before(p->share_floor, last) && !queue_before(p->floor, entry.key) &&
            (!any || queue_before(last, floor))) {
            floor = last;
            any = true;
        }
    }
    for (uint32_t i = 0; any && i < shares->names.n; i++) {
        if (first_left(s, &shares->leaf[i], &entry) && !queue_before(floor, entry.key) &&
            may_look(s, i, entry.key))
            offer(s, i, entry.item);
    }
    p->share_floor = floor;
    return any;
}

void share_walk_begin(sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        struct lane *lane = &s->lanes[i];
        for (uint32_t k = 1; k <= lane->n_more; k++) {
            struct line *line = line_at(lane, k);
            line->begun = lane->line.begun;
            line->after = lane->line.after;
            s->finder->begin(lane, line);
        }
    }
    for (uint32_t i = 0; i < shares->names.n; i++)
        withdraw(s, i);
    class_turns_begin(s->queues->shares);
    s->pass.share_floor = s->pass.above;
    if (level_is_first(&s->pass))
        s->pass.share_floor = KEY_FIRST;
}

/* The job of a leaf that the walk looks at next, also as a candidate; JOB_NONE. */
static uint32_t next_of(sched_t *s, uint32_t number, bool *is_candidate, bool *failed)
{
    const struct leaf *leaf = &s->queues->shares->leaf[number];
    struct lane *lane = &s->lanes[leaf->lane];
    uint32_t slot = line_next(s, lane, line_at(lane, leaf->line), failed);
    uint32_t candidate = candidate_of(s, number);
    if (slot != JOB_NONE && !is_considered(lane, s->jobs[slot].key))
        slot = JOB_NONE;
    *is_candidate = candidate != JOB_NONE &&
                    (slot == JOB_NONE || queue_before(s->jobs[candidate].key, s->jobs[slot].key));
    slot = *is_candidate ? candidate : slot;
    return slot != JOB_NONE && queue_before(s->pass.share_floor, s->jobs[slot].key) ? JOB_NONE
                                                                                    : slot;
}

/* The job that is looked at next; JOB_NONE: the level has none left. */
static uint32_t choose(sched_t *s, bool *is_candidate, bool *failed)
{
    const struct shares *shares = s->queues->shares;
    for (;;) {
        uint32_t node = share_next(shares->tree, s->now);
        if (node == SHARE_NO_NODE)
            return JOB_NONE;
        uint32_t number = shares->leaf_of[node];
        if (!class_turns_are_due(s, number))
            continue;
        uint32_t slot = next_of(s, number, is_candidate, failed);
        if (*failed)
            return JOB_NONE;
        if (slot == JOB_NONE)
            withdraw(s, number);
        else if (slot != shares->leaf[number].offered)
            offer(s, number, slot);
        else
            return slot;
    }
}

/* A holder of the level for whom room may be made, after those that were tried; JOB_NONE. */
static uint32_t next_holder(const sched_t *s)
{
    const struct pass *p = &s->pass;
    uint32_t holder = p->tries_holders ? held_next(s, p->begun, p->after) : JOB_NONE;
    bool is = holder != JOB_NONE && !queue_before(p->floor, s->jobs[holder].key);
    return is ? holder : JOB_NONE;
}

/* A leaf whose first job was looked at has another one, or has none for this level. */
static void offer_next(sched_t *s, uint32_t number)
{
    struct queue_entry entry;
    if (first_left(s, &s->queues->shares->leaf[number], &entry) &&
        !queue_before(s->pass.share_floor, entry.key) && may_look(s, number, entry.key))
        offer(s, number, entry.item);
    else
        withdraw(s, number);
}

/* A job has been looked at: its leaf is offered with the next one. Where only the first jobs of a queue count,
 * others may do so by now; where nobody is overtaken, none may be looked at any more.
 */
static void looked(sched_t *s, uint32_t number)
{
    const struct shares *shares = s->queues->shares;
    uint32_t lane = shares->leaf[number].lane;
    class_turns_looked(s, number);
    offer_next(s, number);
    if (s->lanes[lane].queue_depth == SCHED_UNLIMITED && s->lanes[lane].mode != LANE_DONE)
        return;
    for (uint32_t i = 0; i < shares->names.n; i++)
        if (shares->leaf[i].lane == lane && i != number)
            offer_next(s, i);
}

enum step share_walk_step(sched_t *s)
{
    struct pass *p = &s->pass;
    bool failed = false, is_candidate = false;
    if (p->has_made_room) /* others may have what that one was promised: first those before it */
        return STEP_BUSY;
    uint32_t holder = next_holder(s);
    if (holder != JOB_NONE) {
        p->begun = true;
        p->after = s->jobs[holder].key;
        return walk_look_at_holder(s, holder);
    }
    uint32_t slot = choose(s, &is_candidate, &failed);
    if (failed)
        return STEP_FAILED;
    if (slot == JOB_NONE && offer_level(s))
        return STEP_DONE;
    if (slot == JOB_NONE) {
        if (level_is_last(p))
            s->queues->holders_tried = p->tried;
        return STEP_BUSY;
    }
    uint32_t leaf = s->queues->shares->job[slot].leaf;
    enum step step = is_candidate ? limit_look(s, slot) : walk_look(s, slot);
    if (step != STEP_FAILED)
        looked(s, leaf);
    return step;
}
