/* How ready a gang is to start: at once, if those were gone that may be stopped for it, or not even then. */
#include <errno.h>
#include <stdlib.h>

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
        if (job->state != SCHED_RUNNING || job->is_lifted ||
            (!is_being_stopped(s, n->victims[i]) && !is_spare(s, n->victims[i])))
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

/* ---- Those that are to start together ---- */

/* The slot that asks for those that are to start together; JOB_NONE: none does by now. */
static uint32_t asking(const sched_t *s, uint32_t slot)
{
    if (gang_of(s, slot))
        slot = gang_asking(s, slot);
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
    uint32_t of_role[SCHED_ROLES_MAX] = {0}, more_of_role[SCHED_ROLES_MAX] = {0};
    ops->try(s->place, true);
    own_aside(s, slot, true);
    int64_t room = ops->room(s->place, &ask, s->now, of_role);
    stopped_aside(s, slot, true);
    int64_t more = room < 0 ? -1 : ops->room(s->place, &ask, s->now, more_of_role);
    stopped_aside(s, slot, false);
    own_aside(s, slot, false);
    ops->try(s->place, false);
    if (more < 0) {
        errno = ENOMEM;
        return -1;
    }
    now->allocated = (uint32_t)room;
    now->conditional = more > room ? (uint32_t)(more - room) : 0;
    for (size_t i = 0; i < now->n_roles; i++) {
        now->role[i].allocated = of_role[i];
        now->role[i].conditional = more_of_role[i] > of_role[i] ? more_of_role[i] - of_role[i] : 0;
    }
    return 0;
}

/* ---- Those that wait by themselves ---- */

/* Bookings of members that are tried, of those of a role as many as it lacks. */
struct tried_members {
    int64_t *booking;
    uint32_t n;
    uint32_t of_role[SCHED_ROLES_MAX];
};

/* How many of a role its gang lacks: those that run count. */
static uint32_t role_lacks(const struct gang_role *role)
{
    uint32_t have = role->running + role->done;
    return role->min > have ? role->min - have : 0;
}

static uint32_t gang_lacks_in_all(const struct gang *gang)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < gang->n_roles; i++)
        n += role_lacks(&gang->role[i]);
    return n;
}

/* Book members that wait, as there is room for them beside those that are booked. Returns 0, or -1 with ENOMEM. */
static int try_members(sched_t *s, struct gang *gang, struct tried_members *t)
{
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind) {
        const struct job *job = &s->jobs[i];
        if (job->state != SCHED_WAITING && job->state != SCHED_RESERVED)
            continue;
        const struct gang_role *role = gang_role_of(gang, job->details->member);
        uint32_t *n = &t->of_role[role - gang->role];
        struct place_ask ask = job->ask;
        ask.duration = job->details->estimate;
        for (uint64_t k = members_of(s, i); k > 0 && *n < role_lacks(role); k--) {
            int64_t booking = s->place->ops->book(s->place, &ask, s->now);
            if (booking < 0 && errno == ENOMEM)
                return -1;
            if (booking < 0)
                break;
            t->booking[t->n++] = booking;
            ++*n;
        }
    }
    return 0;
}

static void release_members(sched_t *s, struct tried_members *t)
{
    while (t->n > 0)
        s->place->ops->release(s->place, t->booking[--t->n]);
}

static void members_aside(sched_t *s, const struct gang *gang, bool aside)
{
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
        own_aside(s, i, aside);
}

/* As count_room, of a gang whose members wait each by itself. Returns 0, or -1 with ENOMEM. */
static int count_alone(sched_t *s, struct gang *gang, struct sched_gang_now *now)
{
    struct tried_members has = {0}, more = {0};
    uint32_t asks = gang->first;
    has.booking = more.booking = calloc(gang_lacks_in_all(gang) + 1u, sizeof(*has.booking));
    if (!has.booking)
        return -1;
    s->place->ops->try(s->place, true);
    members_aside(s, gang, true);
    int rc = try_members(s, gang, &has);
    now->allocated = has.n;
    release_members(s, &has);
    stopped_aside(s, asks, true);
    if (rc == 0)
        rc = try_members(s, gang, &more);
    now->conditional = more.n > now->allocated ? more.n - now->allocated : 0;
    release_members(s, &more);
    stopped_aside(s, asks, false);
    members_aside(s, gang, false);
    s->place->ops->try(s->place, false);
    free(has.booking);
    for (size_t i = 0; i < now->n_roles; i++) {
        now->role[i].allocated = has.of_role[i];
        now->role[i].conditional =
            more.of_role[i] > has.of_role[i] ? more.of_role[i] - has.of_role[i] : 0;
    }
    return rc;
}

/* ---- The answer ---- */

static enum sched_readiness readiness_of(uint32_t min, uint32_t have, uint32_t conditional)
{
    return have >= min                 ? SCHED_READY
           : have + conditional >= min ? SCHED_CONDITIONALLY_READY
                                       : SCHED_NOT_READY;
}

/* What is known of the roles of a gang. */
static void tell_roles(const struct gang *gang, struct sched_gang_now *now)
{
    for (uint32_t i = 0; i < gang->n_roles && gang->role[i].name; i++) {
        const struct gang_role *role = &gang->role[i];
        now->role[now->n_roles++] = (struct sched_role_now){.name = role->name,
                                                            .min = role->min,
                                                            .running = role->running,
                                                            .succeeded = role->done};
    }
}

sched_job_t sched_gang_leader(const sched_t *s, sched_job_t job)
{
    uint32_t slot = job_in_queue(s, job);
    const struct gang *gang = slot == JOB_NONE ? NULL : gang_of(s, slot);
    uint32_t asks = gang && gang_waits_whole(gang) ? asking(s, slot) : JOB_NONE;
    return asks == JOB_NONE ? -1 : job_handle(s, asks);
}

int sched_gang_look(sched_t *s, sched_job_t job, struct sched_gang_now *now)
{
    uint32_t slot = job_in_queue(s, job);
    if (slot == JOB_NONE || s->jobs[slot].state == SCHED_REJECTED) {
        errno = EINVAL;
        return -1;
    }
    struct gang *gang = gang_of(s, slot);
    *now = (struct sched_gang_now){.min = gang ? gang->min : 1};
    now->running = gang ? gang->running : s->jobs[slot].state == SCHED_RUNNING;
    now->succeeded = gang ? gang->done : 0;
    if (gang)
        tell_roles(gang, now);
    uint32_t asks = asking(s, slot);
    bool is_up = gang ? !gang_short_of(gang) : now->running > 0;
    bool alone = gang && gang->first != JOB_NONE && !gang_waits_whole(gang);
    if (!is_up && (alone              ? count_alone(s, gang, now)
                   : asks != JOB_NONE ? count_room(s, asks, now)
                                      : 0) < 0)
        return -1;
    now->readiness =
        readiness_of(now->min, now->running + now->succeeded + now->allocated, now->conditional);
    for (size_t i = 0; i < now->n_roles; i++) {
        const struct sched_role_now *role = &now->role[i];
        enum sched_readiness is = readiness_of(
            role->min, role->running + role->succeeded + role->allocated, role->conditional);
        now->readiness = i == 0 || is < now->readiness ? is : now->readiness;
    }
    return 0;
}
