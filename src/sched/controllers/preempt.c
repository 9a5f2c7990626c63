/* A job that can't start takes what jobs of preemptible queues hold (RFC 33, RFC 14's preemptible-after).
 *
 * Any job of another queue may, wherever it stands, in queue order, if that lets it start now beside all
 * reservations. The choice of its victims is in victims.h, what becomes of them and of the job in make_room.h.
 *
 * A search for victims that was in vain is not repeated until something was freed or more may be preempted: a lane's open
 * jobs know that by group (waiting/job_group.h); of holders, the last pass that went through all of them
 * does.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "berth/sched_admin.h"
#include "berth/sched_config.h"
#include "berth/sched_query.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/awaited.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/make_room.h"
#include "sched/controllers/rows.h"
#include "sched/controllers/young.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/gang_array.h"

/* Take what an open job needs. */
static enum step preempt_for_open(sched_t *s, uint32_t slot)
{
    if (s->queues->n_victims == 0 || !pass_does(s, DOES(PREEMPT)) ||
        !may_preempt(s, &s->jobs[slot]))
        return STEP_BUSY;
    return room_for_open(s, slot, preemption_begin, ROOM_BY_PREEMPTION);
}

/* The same for a job that holds a reservation for later, or a claim, which is without end. */
static enum step preempt_for_holder(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (job->is_preempting || (job->at <= s->now && !job->is_claiming) || !may_preempt(s, job) ||
        !pass_does(s, DOES(PREEMPT)))
        return STEP_BUSY;
    if (job->is_claiming)
        job->ask.duration = job->details->estimate;
    enum step step = room_for_holder(s, slot, preemption_begin);
    job = &s->jobs[slot]; /* there may be more slots by now */
    if (job->is_claiming)
        job->ask.duration = s->place->endless;
    return step;
}

/* Whether jobs of a lane may preempt any. */
static bool lane_may_preempt(const sched_t *s, const struct lane *lane)
{
    const struct setup *setup = s->queues->setup;
    /* With shares, the first one may come to be stopped, and awaited, in this walk. */
    bool any = s->queues->n_victims > 0 || (s->queues->shares && setup->preempts);
    return any && !lane->is_stopped && pass_does(s, DOES(PREEMPT)) &&
           setup->queue[lane->queue].preemptible == SCHED_NOT_PREEMPTIBLE;
}

/* ---- Who may be preempted, and from when on ---- */

int64_t next_preemptible(const sched_t *s, int64_t after)
{
    const struct queues *n = s->queues;
    int64_t next = INT64_MAX;
    size_t count;
    const uint32_t *list = young_list(s, after, &count);
    if (!list) {
        list = n->victims;
        count = n->n_victims;
    }
    for (size_t i = 0; i < count; i++) {
        const struct job *job = &s->jobs[list[i]];
        if (job->state != SCHED_RUNNING || !job->details->is_in_victims)
            continue;
        int64_t from = preemptible_from(s, job);
        if (is_preemptible(s, job) && from > after && from < next)
            next = from;
    }
    return next;
}

void victim_add(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    if (d->is_in_victims || !is_listed_victim(s, slot))
        return;
    d->is_in_victims = true;
    s->queues->victims[s->queues->n_victims++] = slot;
}

/* A job runs no more that might have been preempted; one that could not may be told too. */
static void victim_remove(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    struct details *d = s->jobs[slot].details;
    size_t kept = 0;
    stopping_left(s, slot);
    if (!d->is_in_victims)
        return;
    for (size_t i = 0; i < n->n_victims; i++)
        if (n->victims[i] != slot)
            n->victims[kept++] = n->victims[i];
    n->n_victims = kept;
    d->is_in_victims = false;
    if (n->preemptible_next > s->now) /* else it has come, and is yet to be looked at */
        n->preemptible_next = next_preemptible(s, s->now);
}

int victims_reserve(struct queues *n, size_t more)
{
    return array_grow((void **)&n->victims, &n->cap_victims, more, sizeof(*n->victims));
}

void victim_leaves(sched_t *s, uint32_t slot)
{
    victim_add(s, slot);
    s->queues->stopping_is_stale = true;
    s->queues->more_preemptible++; /* what it leaves may be enough for others */
    limit_seek_again(s);
}

void victims_list(sched_t *s)
{
    struct queues *n = s->queues;
    n->n_victims = 0;
    for (uint32_t slot = n->first; slot != JOB_NONE; slot = s->jobs[slot].details->following) {
        s->jobs[slot].details->is_in_victims = false;
        if (s->jobs[slot].state == SCHED_RUNNING)
            victim_add(s, slot);
    }
    n->runners.is_known = false;
    young_forget(s);
    n->more_preemptible++;
    n->preemptible_next = n->reclaim_next = s->now;
}

int sched_leave(sched_t *s, int64_t now, sched_job_t handle)
{
    uint32_t slot = job_in_queue(s, handle);
    if (slot == JOB_NONE || s->jobs[slot].state != SCHED_RUNNING) {
        errno = EINVAL;
        return -1;
    }
    if (victims_reserve(s->queues, s->queues->n_victims + 1) < 0 || core_event(s, now) < 0)
        return -1;
    s->jobs[slot].details->is_leaving = true;
    victim_leaves(s, slot);
    return 0;
}

size_t sched_victims(const sched_t *s, sched_job_t job, sched_job_t *victims, size_t most)
{
    const struct queues *n = s->queues;
    uint32_t slot = job_in_queue(s, job),
             left = slot == JOB_NONE ? 0 : s->jobs[slot].details->victims;
    size_t found = 0;
    for (size_t i = 0; i < n->n_victims && found < left; i++)
        if (is_awaited_by(s, n->victims[i], slot) && found++ < most)
            victims[found - 1] = job_handle(s, n->victims[i]);
    return found;
}

sched_job_t sched_preemptor(const sched_t *s, sched_job_t job)
{
    uint32_t slot = job_in_queue(s, job);
    uint32_t other = slot == JOB_NONE ? JOB_NONE : awaited_first(s, slot);
    return other == JOB_NONE ? -1 : job_handle(s, other);
}

/* ---- The controller ---- */

static int reserve_victim(sched_t *s, uint32_t slot)
{
    (void)slot;
    return victims_reserve(s->queues, s->queues->n_victims + 1);
}

/* A held job has preempted others no longer, or starts. */
static void leave_preempting(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (!job->is_preempting)
        return;
    lane_of(s, slot)->preempting--;
    job->is_preempting = false;
    gang_array_changed(s, slot);
}

static void list_if_preemptible(sched_t *s, uint32_t slot, enum sched_how how)
{
    struct queues *n = s->queues;
    const struct job *job = &s->jobs[slot];
    (void)how;
    leave_preempting(s, slot);
    victim_add(s, slot);
    stopping_started(s, slot);
    young_started(s, slot);
    int64_t from = preemptible_from(s, job);
    if (is_preemptible(s, job) && from > s->now && from < n->preemptible_next)
        n->preemptible_next = from;
}

static void release_preempting(sched_t *s, uint32_t slot)
{
    s->queues->more_preemptible++;
    awaited_let_go(s, slot);
    leave_preempting(s, slot);
}

static void requeue_victim(sched_t *s, uint32_t slot)
{
    awaited_end(s, slot);
    s->jobs[slot].details->is_stopping = s->jobs[slot].details->is_leaving = false;
    victim_remove(s, slot);
}

static void end_victim(sched_t *s, uint32_t slot, enum job_end end)
{
    (void)end;
    awaited_end(s, slot);
}

static enum step renew_preemptible(sched_t *s)
{
    struct queues *n = s->queues;
    if (!n->is_recount_due && awaited_put_off(s) < 0) /* else when limits have been counted anew */
        return STEP_FAILED;
    if (n->preemptible_next > s->now)
        return STEP_BUSY;
    young_settle(s);
    n->preemptible_next = next_preemptible(s, s->now);
    n->more_preemptible++;
    return STEP_BUSY;
}

static int64_t next_preemptible_time(const sched_t *s)
{
    return s->queues->preemptible_next;
}

const struct controller preemption_controller = {
    .name = "preemption",
    .prepare = reserve_victim,
    .started = list_if_preemptible,
    .released = release_preempting,
    .requeued = requeue_victim,
    .ended = end_victim,
    .forgotten = victim_remove,
    .turn = renew_preemptible,
    .make_room = preempt_for_open,
    .make_room_for_holder = preempt_for_holder,
    .may_make_room = lane_may_preempt,
    .next_time = next_preemptible_time,
};
