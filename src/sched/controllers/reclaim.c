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
#include "sched/controllers/ask.h"
#include "sched/controllers/lots.h"
#include "sched/controllers/make_room.h"
#include "sched/controllers/rows.h"
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
    for (uint32_t i = 0; setup->preempts && i < running->n; i++) {
        const struct job *job = &s->jobs[running->v[i].item];
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
    if (n->reclaim_next <= s->now)
        n->reclaim_next = next_reclaimed(s, s->now);
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
