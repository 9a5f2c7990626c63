/* How ready a gang is to start: at once, if those were gone that may be stopped for it, or not even then. */
#include <errno.h>

#include "berth/sched_query.h"
#include "sched/controllers/victims.h"
#include "sched/queues.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/members.h"

/* All that may be stopped for a job by its queue are out of the calendars, or back. */
static void stopped_aside(sched_t *s, uint32_t slot, bool aside)
{
    const struct queues *n = s->queues;
    for (size_t i = 0; i < n->n_victims && !is_preemptible(s, &s->jobs[slot]); i++) {
        const struct job *job = &s->jobs[n->victims[i]];
        if (job->state != SCHED_RUNNING || job->is_lifted)
            continue;
        if (aside)
            s->place->ops->lift(s->place, job->booking, false);
        else
            s->place->ops->drop(s->place, &job->ask, job->booking);
    }
}

/* What a waiting job is promised, or claims, is in nobody's way. */
static void own_aside(sched_t *s, uint32_t slot, bool aside)
{
    const struct job *job = &s->jobs[slot];
    if (job->state != SCHED_RESERVED || job->is_lifted)
        return;
    if (aside)
        s->place->ops->lift(s->place, job->booking, false);
    else if (job->is_claiming)
        s->place->ops->lay(s->place, job->booking);
    else
        s->place->ops->drop(s->place, &job->ask, job->booking);
}

/* The slot that asks for those that are to start together; JOB_NONE: none does by now. */
static uint32_t asking(const sched_t *s, uint32_t slot)
{
    const struct gang *gang = gang_of(s, slot);
    const struct members *m = s->jobs[slot].details->of;
    if (gang)
        slot = m->entry != JOB_NONE ? m->entry : gang->leader;
    if (slot == JOB_NONE ||
        (s->jobs[slot].state != SCHED_WAITING && s->jobs[slot].state != SCHED_RESERVED))
        return JOB_NONE;
    return slot;
}

/* For how many there is room, with and without those who may be stopped. Returns 0, or -1 with ENOMEM. */
static int count_room(sched_t *s, uint32_t slot, struct sched_gang_now *now)
{
    const struct place_ops *ops = s->place->ops;
    struct place_ask ask = s->jobs[slot].ask;
    ask.duration = s->jobs[slot].details->estimate;
    ops->try(s->place, true);
    own_aside(s, slot, true);
    int64_t room = ops->room(s->place, &ask, s->now);
    stopped_aside(s, slot, true);
    int64_t more = room < 0 ? -1 : ops->room(s->place, &ask, s->now);
    stopped_aside(s, slot, false);
    own_aside(s, slot, false);
    ops->try(s->place, false);
    if (more < 0) {
        errno = ENOMEM;
        return -1;
    }
    now->allocated = (uint32_t)room;
    now->conditional = (uint32_t)(more - room);
    return 0;
}

int sched_gang_look(sched_t *s, sched_job_t job, struct sched_gang_now *now)
{
    uint32_t slot = job_in_queue(s, job);
    if (slot == JOB_NONE || s->jobs[slot].state == SCHED_REJECTED) {
        errno = EINVAL;
        return -1;
    }
    const struct gang *gang = gang_of(s, slot);
    *now = (struct sched_gang_now){.min = gang ? gang->min : 1};
    now->running = gang ? gang->running : s->jobs[slot].state == SCHED_RUNNING;
    now->succeeded = gang ? gang->done : 0;
    uint32_t asks = asking(s, slot);
    bool is_up = now->running + now->succeeded >= now->min;
    if (!is_up && asks != JOB_NONE && count_room(s, asks, now) < 0)
        return -1;
    uint32_t have = now->running + now->succeeded + now->allocated;
    now->readiness = have >= now->min                      ? SCHED_READY
                     : have + now->conditional >= now->min ? SCHED_CONDITIONALLY_READY
                                                           : SCHED_NOT_READY;
    return 0;
}
