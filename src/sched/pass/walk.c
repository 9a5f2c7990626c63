/* The walk over open jobs: phase 6 of a pass (pass.c). */
#include <errno.h>

#include "sched/controllers/ask.h"
#include "sched/controllers/claims.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/starving.h"
#include "sched/pass/displaced.h"
#include "sched/pass/steps.h"
#include "sched/pass/walk.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/gang_order.h"
#include "sched/waiting/lane.h"

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

void walk_begin(sched_t *s)
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

/* Where jobs go one after the other, those behind one that is promised a time or has a claim as it was starving wait, too,
 * until it has started, which it may in this walk.
 */
static bool is_served(const sched_t *s, const struct lane *lane, struct queue_key key)
{
    return lane->mode != LANE_SERVE || !starving_is_before(s, lane, key);
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
        if (queue_after(lane->open, line->begun ? &line->after : NULL, &entry)) {
            if (!is_served(s, lane, entry.key))
                return JOB_NONE;
            slot = entry.item;
        }
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

bool walk_starts(const sched_t *s, enum lane_mode mode)
{
    return pass_does(s, mode == LANE_FILL ? DOES(BACKFILL) : DOES(ALLOCATE));
}

/* Start an open job, if this round starts those of its lane; or make room for one that has none. */
static enum step start_in_round(sched_t *s, uint32_t slot, enum lane_mode mode, bool turn)
{
    bool starts = walk_starts(s, mode);
    bool is_starving = pass_does(s, DOES(ALLOCATE)) && starving_may(s, slot);
    enum step step = !starts       ? STEP_BUSY
                     : is_starving ? starving_start(s, slot)
                                   : start_open(s, slot, turn);
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
    if (step == STEP_DONE && s->jobs[slot].is_claiming)
        step = claim_look(s, slot); /* it has taken claims that were in its way, perhaps */
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

/* One with a claim is not among them: it starts wherever there is room before others are stopped for it (claims.c). */
uint32_t walk_next_holder(const sched_t *s)
{
    const struct pass *p = &s->pass;
    uint32_t holder = p->tries_holders ? held_next(s, p->begun, p->after) : JOB_NONE;
    while (holder != JOB_NONE && s->jobs[holder].is_claiming)
        holder = held_next(s, true, s->jobs[holder].key);
    bool is = holder != JOB_NONE && !queue_before(p->floor, s->jobs[holder].key);
    return is ? holder : JOB_NONE;
}

enum step walk_looked(sched_t *s, uint32_t slot, enum step step)
{
    const struct job *job = &s->jobs[slot];
    bool is_kept = job->state == SCHED_RESERVED && job->is_kept && !job->details->is_relieved;
    bool looks = step == STEP_DONE && is_kept && lane_of(s, slot)->makes_room;
    return looks ? walk_look_at_holder(s, slot) : step;
}

void walk_ended(sched_t *s)
{
    if (!level_is_last(&s->pass) || s->pass.round + 1 < s->queues->setup->n_rounds)
        return;
    s->queues->holders_tried = s->pass.tried;
    starving_walked(s);
}

/* Whether somebody was told to stop, and a job that a limit has blocked stands before the one that would be looked at next, be it
 * open or a holder: with what is left it may go on, and is asked before that one takes it.
 */
static bool is_behind_blocked(const sched_t *s, uint32_t open, uint32_t holder)
{
    uint32_t next = open;
    if (next == JOB_NONE ||
        (holder != JOB_NONE && queue_before(s->jobs[holder].key, s->jobs[open].key)))
        next = holder;
    return s->pass.has_told && next != JOB_NONE && limit_is_before(s, s->jobs[next].key);
}

static enum step walk_step(sched_t *s)
{
    struct pass *p = &s->pass;
    uint32_t best = JOB_NONE;
    bool failed = false;
    int lets_in = depth_let_in(s);
    if (lets_in < 0)
        return STEP_FAILED;
    /* For those, which are before some of these. */
    p->has_made_room |= lets_in > 0 || displaced_are_back(s);
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
    uint32_t holder = walk_next_holder(s);
    if (is_behind_blocked(s, best, holder)) {
        p->has_made_room = true;
        return STEP_BUSY;
    }
    if (holder != JOB_NONE &&
        (best == JOB_NONE || queue_before(s->jobs[holder].key, s->jobs[best].key))) {
        p->begun = true;
        p->after = s->jobs[holder].key;
        return walk_look_at_holder(s, holder);
    }
    if (starving != JOB_NONE && best != starving &&
        (best == JOB_NONE || queue_before(s->jobs[starving].key, s->jobs[best].key)))
        return walk_looked(s, starving, starving_look(s, starving));
    if (best == JOB_NONE) {
        walk_ended(s);
        return STEP_BUSY;
    }
    enum step step = is_candidate ? limit_look(s, best) : look_at_open(s, best);
    if (best == starving && step != STEP_FAILED)
        starving_looked(s, best);
    return walk_looked(s, best, step);
}

enum step walk_rounds(sched_t *s)
{
    enum step step = s->queues->shares ? share_walk_step(s) : walk_step(s);
    if (step != STEP_BUSY || s->pass.has_made_room ||
        s->pass.round + 1 == s->queues->setup->n_rounds)
        return step;
    s->pass.round++;
    walk_begin(s);
    return STEP_DONE;
}
