/* Jobs that can never start: the machine could not give them what they ask for, were it all up and idle; or
 * the blocks that come again leave no time for them; or one such job alone is over a limit. New ones are
 * refused (submit.c). One that waits may come to it, by whatever changes machine, queues, limits or blocks,
 * and as time goes on, before a block comes for the first time. It is rejected then: else it would wait for
 * ever, and keep others waiting where jobs start one after the other.
 */
#include <errno.h>

#include "base/errtext.h"
#include "sched/controllers/blocks.h"
#include "sched/controllers/limiter.h"
#include "sched/queues.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"

static int refuse_for_reason(struct sched_reason *why, const struct sched_reason *reason)
{
    *why = *reason;
    errno = EINVAL;
    return -1;
}

/* Whether the machine could give a job what it asks for, were all up and idle. */
static int could_machine(sched_t *s, uint32_t slot, struct sched_reason *why, berth_error_t *err)
{
    const struct place_ops *ops = s->place->ops;
    const struct place_ask *ask = &s->jobs[slot].ask;
    uint32_t class = ask->class;
    int64_t units;
    if (ops->know(s->place, NULL, ask->part, true, &class, &units, err) == 0) {
        ops->forget(s->place, class);
        return 0;
    }
    struct sched_reason unknown = unknown_reason(errno, err);
    return errno == ENOMEM ? -1 : errno == ENODEV ? refuse_for_reason(why, &unknown) : 0;
}

/* Whether a job that waits could start some day, were all up and idle, and beside the blocks that come again.
 * Returns 0, or -1: EINVAL with a reason, whose words are those of the error text; ENOMEM.
 */
static int job_could_ever(sched_t *s, uint32_t slot, struct sched_reason *why, berth_error_t *err)
{
    const struct job *job = &s->jobs[slot];
    struct sched_reason_limit over;
    if (could_machine(s, slot, why, err) < 0)
        return -1;
    if (!job_is_within(s, slot, job->details->limit, &over)) {
        struct sched_reason limit = limit_reason(s, &over);
        return refuse_for_reason(why, &limit);
    }
    return blocks_leave_time(s, slot, time_needed(job->details), s->now, why);
}

/* Reject a job that waits, for a reason that it owns from then on. */
static void reject(sched_t *s, uint32_t slot, struct sched_reason *never)
{
    if (s->jobs[slot].state == SCHED_WAITING) {
        open_remove(s, slot); /* which gives nothing back */
    } else if (s->jobs[slot].state == SCHED_RESERVED) {
        held_release(s, slot);
        s->swept = false;
    }
    job_reject(s, slot, never);
}

/* Whether the gang of a job that is down could start, all that is missing of it together; as job_could_ever. */
static int gang_could_ever(sched_t *s, uint32_t slot, struct sched_reason *why, berth_error_t *err)
{
    struct place_ask *ask = &s->jobs[slot].ask, own = *ask, whole;
    if (gang_know_whole(s, slot, &whole) < 0)
        return -1;
    *ask = whole;
    int rc = job_could_ever(s, slot, why, err), saved = errno;
    *ask = own;
    s->place->ops->forget(s->place, whole.class);
    errno = saved;
    return rc;
}

/* Reject a job that waits; without memory for that, or to find out about it (error), the next pass looks again. */
static int reject_for(sched_t *s, uint32_t slot, int error, const struct sched_reason *why)
{
    struct sched_reason *never = error == EINVAL ? sched_reason_copy(why) : NULL;
    if (!never) {
        s->queues->never_at = 0;
        return -1;
    }
    reject(s, slot, never);
    return 0;
}

/* The first slot of a gang that waits; JOB_NONE. */
static uint32_t first_waiting_slot(const sched_t *s, const struct gang *gang)
{
    uint32_t i = gang->first;
    while (i != JOB_NONE && !job_is_waiting(&s->jobs[i]))
        i = s->jobs[i].details->gang_behind;
    return i;
}

/* Whoever is held or waits for the others can no more start than these. */
static int look_at_whole(sched_t *s, struct gang *gang)
{
    berth_error_t err = {""};
    struct sched_reason why;
    uint32_t slot = first_waiting_slot(s, gang);
    if (gang_could_ever(s, slot, &why, &err) == 0)
        return 0;
    int error = errno;
    for (uint32_t next; slot != JOB_NONE; slot = next) {
        next = s->jobs[slot].details->gang_behind;
        if (job_is_waiting(&s->jobs[slot]) && reject_for(s, slot, error, &why) < 0)
            return -1;
    }
    return 0;
}

int never_look(sched_t *s, uint32_t slot)
{
    berth_error_t err = {""};
    struct sched_reason why;
    struct gang *gang = gang_of(s, slot);
    if (!job_is_waiting(&s->jobs[slot]))
        return 0;
    if (gang && gang_waits_whole(gang))
        return slot == first_waiting_slot(s, gang) ? look_at_whole(s, gang) : 0;
    return job_could_ever(s, slot, &why, &err) == 0 ? 0 : reject_for(s, slot, errno, &why);
}

int never_look_gang(sched_t *s, struct gang *gang)
{
    const struct gang_role *could = NULL;
    if (gang_is_up(gang) && gang->n_roles == 1)
        return 0;
    for (uint32_t slot = gang->first, next; slot != JOB_NONE; slot = next) {
        const struct gang_role *role = gang_role_of(gang, s->jobs[slot].details->member);
        next = s->jobs[slot].details->gang_behind;
        if (role == could || !job_is_waiting(&s->jobs[slot]))
            continue;
        if (never_look(s, slot) < 0)
            return -1;
        could = job_is_waiting(&s->jobs[slot]) ? role : could;
    }
    return 0;
}

void never_note(sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    struct sched_reason why;
    s->queues->never_next = s->queues->first;
    if (job_is_waiting(job) &&
        blocks_leave_time(s, slot, time_needed(job->details), s->now, &why) < 0)
        s->queues->never_at = s->now; /* its time is over by now */
}

void never_look_all(sched_t *s)
{
    s->queues->never_at = INT64_MAX;
    s->queues->never_next = s->queues->first;
}

enum step never_step(sched_t *s)
{
    struct queues *n = s->queues;
    if (n->never_at <= s->now)
        never_look_all(s);
    if (n->never_next == JOB_NONE)
        return STEP_BUSY;
    uint32_t slot = n->never_next;
    if (never_look(s, slot) < 0)
        return STEP_FAILED;
    n->never_next = s->jobs[slot].details->following;
    return STEP_DONE;
}
