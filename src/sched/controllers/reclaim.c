/* A job of a queue that `preempts` takes what jobs of lower priority of its queue hold, or of users of it who have more, or
 * of queues that have more than they deserve, as far as its own has less (berth/sched_config.h).
 *
 * Who is stopped is in lots.h, what becomes of them and of the job in make_room.h. Who may take and who may lose is
 * one test (share_may_reclaim), between queues: nobody gives what it deserves, and nobody takes more than that, so no
 * two take from each other in turns. Between users it is share_may_even_out. Members beyond their gang's min have nobody
 * stopped.
 *
 * A search in vain is not repeated in the same pass, until something is given back. The next pass does it again: what has
 * started or is promised a time since counts for its queue, which may have more than it deserves by that.
 */
#include <stdlib.h>

#include "sched/controllers/ask.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/lots.h"
#include "sched/controllers/make_room.h"
#include "sched/controllers/rows.h"
#include "sched/controllers/young.h"
#include "sched/queues.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/shares.h"

/* Of those that jobs of a queue may have stopped, those for whom it is the time. */
static unsigned preempts_now(const sched_t *s, unsigned preempts)
{
    unsigned now =
        (pass_does(s, DOES(PREEMPT)) ? SCHED_PREEMPTS_LOWER | SCHED_PREEMPTS_RICHER : 0) |
        (pass_does(s, DOES(RECLAIM)) ? SCHED_PREEMPTS_BORROWERS : 0);
    return preempts & now;
}

static unsigned preempts_of(const sched_t *s, uint32_t slot)
{
    return preempts_now(s, s->queues->setup->queue[s->jobs[slot].details->queue].preempts);
}

/* By shares nobody takes from those for whose jobs it is stopped itself: these would have it stopped at once again. */
static bool may(const sched_t *s, uint32_t slot, uint32_t victim, bool *by_share)
{
    const struct job *job = &s->jobs[slot], *other = &s->jobs[victim];
    unsigned preempts = preempts_of(s, slot);
    bool beside = other->lane == job->lane;
    unsigned by = beside ? SCHED_PREEMPTS_RICHER : SCHED_PREEMPTS_BORROWERS;
    *by_share = (preempts & by) != 0 || !beside;
    if (*by_share)
        return preempts & by && s->queues->shares &&
               !(may_preempt(s, other) && is_preemptible(s, job));
    return preempts & SCHED_PREEMPTS_LOWER && other->details->priority < job->details->priority;
}

static int begin_reclaim(struct preemption *h, sched_t *s, uint32_t slot,
                         const struct place_ask *ask)
{
    return lots_begin(h, s, slot, ask, may);
}

/* Whether anybody might be stopped for a job: it is in need, and somebody runs. */
static bool may_try(const sched_t *s, uint32_t slot)
{
    return preempts_of(s, slot) != 0 && s->running > 0 && gang_lacks(s, slot);
}

static enum step reclaim_for_open(sched_t *s, uint32_t slot)
{
    bool walks = s->pass.phase == PASS_WALK; /* else reservations are out of the calendars */
    return walks && may_try(s, slot) ? room_for_open(s, slot, begin_reclaim, ROOM_BY_RECLAIM)
                                     : STEP_BUSY;
}

/* Where it is not enough for one blocked job to stop others, it is not for those of its user and queue that ask for the same,
 * last as long or longer, and are not more important.
 */
static bool is_vain_for(const sched_t *s, uint32_t slot, const struct limited_vain *v)
{
    const struct place_ask *ask = &s->jobs[slot].ask;
    const struct details *d = s->jobs[slot].details;
    bool is_as_long = v->limit == d->limit || (v->limit < d->limit && d->limit < SCHED_UNLIMITED);
    bool is_same = v->ask.units == ask->units && v->ask.class == ask->class &&
                   v->ask.part == ask->part && v->ask.permits == ask->permits &&
                   v->ask.clear == ask->clear;
    bool is_leaf = !s->queues->shares || v->leaf == s->queues->shares->job[slot].leaf;
    return v->round == s->queues->rounds && v->party == d->party && is_leaf && is_same &&
           is_as_long && v->ask.duration <= ask->duration && v->priority >= d->priority;
}

static struct limits_giver giver_of(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    uint32_t leaf = s->queues->shares ? s->queues->shares->job[slot].leaf : UINT32_MAX;
    return (struct limits_giver){job->details->priority, job->lane, leaf};
}

/* Whether a job that could be stopped for a blocked one, or is being stopped, counts in a limit with it; perhaps, if true. Once
 * in a round O(running), else O(1).
 */
static bool any_gives_limit(const sched_t *s, uint32_t slot)
{
    const struct queues *n = s->queues;
    unsigned preempts = n->shares ? preempts_of(s, slot) : 0;
    bool counts = limits_begin_givers(n->limits, n->rounds);
    for (uint32_t i = 0; counts && i < n->ends.n; i++) {
        uint32_t other = n->ends.v[i].item;
        bool goes = is_being_stopped(s, other);
        if (!goes && !may_be_told(s, other))
            continue;
        struct limits_giver giver = giver_of(s, other);
        giver.priority = goes ? INT64_MIN : giver.priority;
        limits_add_giver(n->limits, s->jobs[other].details->party, giver);
    }
    return limits_has_giver(n->limits, s->jobs[slot].details->party, giver_of(s, slot),
                            preempts & SCHED_PREEMPTS_BORROWERS, preempts & SCHED_PREEMPTS_RICHER);
}

/* Its queue deserves what it asks for as if it was open, which it would be. */
static int would_be_as_open(sched_t *s, uint32_t slot)
{
    if (!s->queues->shares)
        return room_would_be(s, slot, begin_reclaim);
    shares_opened(s, slot);
    int would = lots_are_none(s, slot) ? 0 : room_would_be(s, slot, begin_reclaim);
    shares_closed(s, slot);
    return would;
}

int reclaim_would(sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    const struct details *d = job->details;
    bool notes = !gang_of(s, slot); /* else who it is may count, too */
    uint32_t at = (d->party * 31 + job->ask.class + (uint32_t)job->ask.units) % LIMITED_VAIN;
    struct limited_vain *vain = s->queues->limited_vain;
    if (s->replan.is || !may_try(s, slot) || (notes && vain && is_vain_for(s, slot, &vain[at])))
        return 0;
    int would = any_gives_limit(s, slot) ? would_be_as_open(s, slot) : 0;
    if (would == 0 && notes && !vain) /* without memory it is tried again */
        s->queues->limited_vain = vain = calloc(LIMITED_VAIN, sizeof(*vain));
    if (would == 0 && notes && vain)
        vain[at] = (struct limited_vain){s->queues->rounds,      job->ask, d->party,
                                         giver_of(s, slot).leaf, d->limit, d->priority};
    return would;
}

static enum step reclaim_for_holder(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (job->is_preempting || (job->at <= s->now && !job->is_claiming) || !may_try(s, slot))
        return STEP_BUSY;
    if (lots_are_none(s, slot))
        return STEP_BUSY; /* it keeps what it was promised */
    if (job->is_claiming)
        job->ask.duration = job->details->estimate;
    enum step step = room_for_holder(s, slot, begin_reclaim);
    job = &s->jobs[slot]; /* there may be more slots by now */
    if (job->is_claiming)
        job->ask.duration = s->place->endless;
    return step;
}

static bool lane_may_reclaim(const sched_t *s, const struct lane *lane)
{
    return preempts_now(s, s->queues->setup->queue[lane->queue].any_preempts) != 0 &&
           s->running > 0 && !lane->is_stopped;
}

/* ---- When ---- */

/* After a second its queue has more by it, of which others may be stopped, and later it may be stopped itself. */
int64_t next_reclaimed(const sched_t *s, int64_t after)
{
    const struct setup *setup = s->queues->setup;
    const struct heap *running = &s->queues->ends;
    int64_t next = INT64_MAX;
    size_t n;
    const uint32_t *young = young_list(s, after, &n);
    n = young ? n : running->n;
    for (size_t i = 0; setup->preempts && i < n; i++) {
        const struct job *job = &s->jobs[young ? young[i] : running->v[i].item];
        if (job->state != SCHED_RUNNING)
            continue;
        int64_t from =
            job->at + setup->second > after ? job->at + setup->second : preemptible_from(s, job);
        next = from > after && from < next ? from : next;
    }
    return next;
}

static void note_reclaim_time(sched_t *s, uint32_t slot, enum sched_how how)
{
    const struct setup *setup = s->queues->setup;
    (void)slot;
    (void)how;
    if (setup->preempts && s->now + setup->second < s->queues->reclaim_next)
        s->queues->reclaim_next = s->now + setup->second;
}

static enum step renew_reclaimable(sched_t *s)
{
    struct queues *n = s->queues;
    if (!n->setup->preempts)
        n->reclaim_next = INT64_MAX;
    else
        n->more_preemptible++; /* what somebody has, or has received, or priorities, may have changed */
    bool seeks =
        n->shares || n->reclaim_next <= s->now || n->sought_for_limited != s->place->freed.next;
    if (seeks)
        limit_seek_again(s);
    if (n->reclaim_next <= s->now) {
        young_settle(s);
        n->reclaim_next = next_reclaimed(s, s->now);
    }
    return STEP_BUSY;
}

static int64_t next_reclaim_time(const sched_t *s)
{
    return s->queues->reclaim_next;
}

const struct controller reclaim_controller = {
    .name = "reclaim",
    .started = note_reclaim_time,
    .turn = renew_reclaimable,
    .make_room = reclaim_for_open,
    .make_room_for_holder = reclaim_for_holder,
    .may_make_room = lane_may_reclaim,
    .next_time = next_reclaim_time,
};
