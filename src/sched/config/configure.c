/* A scheduler at work gets another configuration, and all jobs go to the queues of that.
 *
 * For another configuration queues, ledger and groups are built anew beside the old ones, every job entered
 * as it is. Only when that has succeeded are the old ones given up; else they take their place again, and
 * jobs what they knew of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "sched/config/known.h"
#include "sched/config/overtake.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/blocks.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/starving.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"
#include "sched/waiting/usage_kept.h"

/* ---- Another configuration ---- */

/* What a configuration is turned into. */
struct state {
    struct setup *setup;
    struct limits *limits;
    struct shares *shares;
    struct job_groups job_groups;
    struct lane *lanes;
    uint32_t n_lanes;
    uint32_t *lane_of;
    bool *is_closed;
    struct sched_queue_stats *stats;
};

static struct state state_take(const sched_t *s)
{
    const struct queues *n = s->queues;
    return (struct state){n->setup,   n->limits,  n->shares,    n->job_groups, s->lanes,
                          s->n_lanes, n->lane_of, n->is_closed, n->stats};
}

static void state_put(sched_t *s, const struct state *state)
{
    struct queues *n = s->queues;
    n->setup = state->setup;
    n->limits = state->limits;
    n->shares = state->shares;
    n->job_groups = state->job_groups;
    s->lanes = state->lanes;
    s->n_lanes = state->n_lanes;
    n->asked_rooms = 0;
    n->all_held.is_known = false;
    n->lane_of = state->lane_of;
    n->is_closed = state->is_closed;
    n->stats = state->stats;
    depend_remember(n->depend, n->setup->ended_jobs);
}

static void state_drop(struct state *state)
{
    job_groups_clear(&state->job_groups);
    limits_destroy(state->limits);
    shares_destroy(state->shares);
    lanes_free(state->lanes, state->n_lanes);
    free(state->lane_of);
    free(state->is_closed);
    free(state->stats);
    setup_destroy(state->setup);
}

static void lane_inherit(struct lane *new, const struct lane *old)
{
    new->is_stopped = old->is_stopped;
    new->is_given_up = old->is_given_up;
    new->is_returned = old->is_returned;
    new->has_taken = old->has_taken;
}

/* What queues of the same names were told goes over. */
static void state_inherit(struct state *new, const struct state *old)
{
    for (uint32_t q = 0; q < new->setup->n_queues; q++) {
        uint32_t was = setup_find(old->setup, new->setup->queue[q].name);
        if (was == SETUP_NONE)
            continue;
        new->is_closed[q] = old->is_closed[was];
        new->stats[q] = old->stats[was];
        if (old->setup->queue[was].parent == was && new->setup->queue[q].parent == q)
            lane_inherit(&new->lanes[new->lane_of[q]], &old->lanes[old->lane_of[was]]);
    }
}

/* State for a configuration, without jobs. Returns 0, or -1 with a text and as much as there is. */
static int state_make(sched_t *s, struct state *new, const struct sched_config *config,
                      berth_error_t *err)
{
    *new = (struct state){.setup = setup_create(config, err)};
    if (!new->setup)
        return -1;
    if (new->setup->second != s->queues->setup->second)
        return errtext_set(err, EINVAL, "the length of ticks can't change");
    new->lanes = lanes_new(s, new->setup, &new->lane_of, &new->n_lanes, err);
    if (!new->lanes)
        return -1;
    new->limits = limits_create(new->setup);
    if (new->setup->shares.is)
        new->shares = shares_create(s->place, new->setup);
    new->is_closed = calloc(new->setup->n_queues, sizeof(*new->is_closed));
    new->stats = calloc(new->setup->n_queues, sizeof(*new->stats));
    if (!new->limits || (new->setup->shares.is && !new->shares) || !new->is_closed || !new->stats)
        return errtext_no_memory(err);
    return 0;
}

/* A job of which the next pass says that it is rejected: it asks for nothing any more. Returns 0, or -1
 * with ENOMEM.
 */
static int move_rejected(sched_t *s, uint32_t slot, uint32_t queue, berth_error_t *err)
{
    struct limits *limits = s->queues->limits;
    struct details *d = s->jobs[slot].details;
    int64_t party = limits_party(limits, queue, d->account, d->user, d->groups, d->n_groups);
    if (party < 0)
        return errtext_no_memory(err);
    d->queue = queue;
    d->party = (uint32_t)party;
    d->job_group = JOB_GROUP_NONE;
    if (d->is_pending)
        limits_wait(limits, d->party, 1);
    return 0;
}

/* Enter a job into the new state, as it is. Returns 0, or -1 with a text. */
static int move_job(sched_t *s, uint32_t slot, const struct state *old, struct known *was,
                    berth_error_t *err)
{
    struct queues *n = s->queues;
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    const char *name = old->setup->queue[d->queue].name;
    uint32_t queue = setup_find(n->setup, name);
    if (job->state == SCHED_REJECTED)
        return move_rejected(s, slot, queue == SETUP_NONE ? 0 : queue, err);
    if (queue == SETUP_NONE)
        return errtext_set(err, EINVAL, "queue %.100s has jobs and can't be left out", name);
    struct place_ask ask = job->ask;
    if (job_know_in(s, slot, queue, false, err) < 0 || job_know_group(s, slot, err) < 0)
        return -1;
    was->is_known = true;
    job->ask.duration = ask.duration;
    int rc = 0;
    d->is_counted = d->is_open = false; /* in the new ledger, */
    d->shared = NULL;
    d->keeper = NO_CALENDAR; /* whose limits promise it a time anew in the next pass */
    if (was->is_counted)
        rc = controllers_enter(s, slot, job->booking, d->counted.from, d->counted.until);
    if (d->is_pending)
        limits_wait(n->limits, d->party, 1);
    if (rc == 0 && job->state == SCHED_WAITING)
        rc = open_insert(s, slot, job->is_fresh);
    else if (rc == 0 && job->state == SCHED_RESERVED)
        rc = held_enter(s, slot);
    class_order_changed(s, slot);
    lane_of(s, slot)->preempting += job->is_preempting;
    lane_of(s, slot)->relieved += d->is_relieved;
    return rc < 0 ? errtext_no_memory(err) : 0;
}

/* Enter all jobs into the new state, or leave them as they were. Returns 0, or -1 with a text. */
static int move_all(sched_t *s, const struct state *old, struct known *known, berth_error_t *err)
{
    const struct place_ops *ops = s->place->ops;
    uint32_t slot = s->queues->first;
    int rc = 0;
    for (; slot != JOB_NONE && rc == 0; slot = s->jobs[slot].details->following) {
        known[slot] = job_known(s, slot);
        rc = move_job(s, slot, old, &known[slot], err);
    }
    uint32_t end = slot;
    int saved = errno;
    for (slot = s->queues->first; slot != end; slot = s->jobs[slot].details->following) {
        struct known *was = &known[slot];
        struct details *d = s->jobs[slot].details;
        struct limits_list *other = rc == 0 ? was->shared : d->shared;
        if (d->shared != was->shared)
            free(other);
        if (rc < 0)
            d->shared = was->shared;
        if (rc == 0 && was->job_group != JOB_GROUP_NONE)
            ops->forget(s->place, was->job.ask.class);
        if (rc == 0)
            continue;
        if (was->is_known)
            ops->forget(s->place, s->jobs[slot].ask.class);
        job_known_restore(s, slot, was);
        s->jobs[slot].details->is_counted = was->is_counted;
        s->jobs[slot].details->is_open = was->is_open;
        s->jobs[slot].details->keeper = was->keeper;
    }
    errno = saved;
    return rc;
}

/* Whether a holder is of another level now: holders of higher levels know nothing of what it has, those of others do. */
static bool have_levels_changed(const sched_t *s, const struct known *known)
{
    uint32_t slot = s->queues->first;
    for (; slot != JOB_NONE; slot = s->jobs[slot].details->following)
        if (s->jobs[slot].state == SCHED_RESERVED &&
            level_last(s->jobs[slot].key).rank != level_last(known[slot].job.key).rank)
            return true;
    return false;
}

/* Mark the holders that are to choose again: those whose part of the machine or whose blocks have changed, and all where
 * levels have. Nothing was freed that would make them choose.
 */
static void mark_changed_holders(sched_t *s, const struct known *known)
{
    uint32_t slot = s->queues->first;
    bool all = have_levels_changed(s, known);
    for (; slot != JOB_NONE; slot = s->jobs[slot].details->following) {
        const struct place_ask *was = &known[slot].job.ask, *is = &s->jobs[slot].ask;
        if (s->jobs[slot].state == SCHED_RESERVED &&
            (all || is->part != was->part || is->permits != was->permits)) {
            s->jobs[slot].is_tried_again = true;
            s->jobs[slot].details->limited = -1;
        }
    }
}

int sched_configure(sched_t *s, int64_t now, const struct sched_config *config, berth_error_t *err)
{
    struct queues *n = s->queues;
    struct state new;
    if (!n->setup->is_named || !time_is_good(s, now))
        return errtext_set(err, EINVAL,
                           n->setup->is_named ? "time goes back" : "this scheduler has no queues");
    struct known *known = calloc((size_t)s->n_jobs + 1, sizeof(*known));
    struct overtake overtake;
    if (!known || victims_reserve(n, s->running) < 0 || overtake_begin(&overtake, s) < 0) {
        free(known);
        return errtext_no_memory(err);
    }
    struct state old = state_take(s);
    int rc = state_make(s, &new, config, err);
    if (rc == 0) {
        state_inherit(&new, &old);
        state_put(s, &new);
        rc = blocks_configure(s, new.setup, err);
        if (rc == 0 && usage_inherit_users(s, old.shares) < 0)
            rc = errtext_no_memory(err);
        if (rc == 0 && move_all(s, &old, known, err) < 0) {
            int saved = errno;
            blocks_configure(s, old.setup, NULL);
            errno = saved;
            rc = -1;
        }
        new = state_take(s); /* it has grown */
        if (rc < 0) {
            state_put(s, &old);
            needs_down_recall(s);
        }
    }
    int saved = errno;
    for (uint32_t i = 0; rc == 0 && i < old.n_lanes; i++)
        head_release(s, &old.lanes[i]);
    if (rc == 0) {
        usage_inherit(s, old.shares, now);
        class_turns_inherit(n->shares, old.shares);
        mark_changed_holders(s, known);
        overtake_renew(&overtake, s);
    }
    state_drop(rc < 0 ? &new : &old);
    free(known);
    overtake_end(&overtake);
    errno = saved;
    if (rc < 0)
        return -1;
    n->recheck_limited = n->recheck_all_limited = n->is_recount_due = true;
    s->replan.from = s->replan.until = KEY_FIRST; /* jobs may have other keys */
    core_event(s, now);
    never_look_all(s);
    victims_list(s);
    starving_look_all(s);
    return 0;
}
