/* The members of a gang start together (waiting/gang.h). */
#include "sched/controllers/ask.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/shares.h"

/* Have memory for the gang's slot to be open, asking for one member, or for it to be held still. */
int gang_prepare(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct place_ask one, whole = job->ask;
    uint32_t group, was = job->details->job_group;
    if (gang_know_one(s, slot, &one, &group) < 0)
        return -1;
    job->ask = one;
    job->details->job_group = group;
    int rc = open_reserve(s, slot);
    job->ask = whole;
    job->details->job_group = was;
    if (rc == 0)
        rc = queue_reserve(lane_of(s, slot)->held);
    if (rc == 0)
        rc = array_grow((void **)&s->due_list, &s->cap_due, (size_t)s->due.n + 1,
                        sizeof(*s->due_list));
    if (rc == 0)
        rc = heap_reserve(&s->due, s->cap_jobs);
    gang_forget(s, &one, group);
    return rc;
}

/* The next member from one on that waits in a slot of its own beside the gang's; JOB_NONE: there is none. */
static uint32_t next_other(const sched_t *s, uint32_t slot, uint32_t from)
{
    for (uint32_t i = from; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
        if (i != slot && s->jobs[i].state == SCHED_BLOCKED &&
            s->jobs[i].details->blocked & BLOCK_GANG && !(s->jobs[i].details->blocked & GANG_AWAY))
            return i;
    return JOB_NONE;
}

/* One member starts with the first booking of a bundle. The gang's slot has the last one, so that it can hold what is left
 * as long as there is any. Others are looked for from *from on. Returns 0, or -1 with ENOMEM and nothing changed.
 */
static int start_one(sched_t *s, uint32_t slot, int64_t *bundle, uint32_t *from, enum sched_how how)
{
    const struct place_ops *ops = s->place->ops;
    struct place_ask one;
    uint32_t group;
    bool is_last = ops->holds(s->place, *bundle) == 1;
    uint32_t other = is_last ? JOB_NONE : next_other(s, slot, *from);
    uint32_t part = other != JOB_NONE ? other : part_reserve(s, slot);
    int64_t until = s->now + s->jobs[slot].ask.duration;
    if (part == JOB_NONE || decision_reserve(s) < 0 || controllers_prepare(s, part) < 0 ||
        gang_know_one(s, slot, &one, &group) < 0)
        return -1;
    if (controllers_open(s, slot, ops->first(s->place, *bundle), s->now, until) < 0) {
        gang_forget(s, &one, group);
        return -1;
    }
    if (other == JOB_NONE && is_entry(s, slot))
        part = part_leave(s, slot);
    gang_ask(s, part, &one, group);
    struct job *job = &s->jobs[part];
    job->booking = ops->detach(s->place, *bundle);
    *bundle = is_last ? -1 : *bundle;
    *from = other == JOB_NONE ? JOB_NONE : job->details->gang_behind;
    job->at = s->now;
    job->details->blocked = 0;
    job->state = SCHED_RUNNING;
    controllers_enter(s, part, job->booking, s->now, until);
    controllers_close(s, part, s->now, until);
    job_started(s, part, how);
    return 0;
}

/* There was no memory for all: the rest holds what is left, and goes on in the next pass. */
static void hold_rest(sched_t *s, uint32_t slot, int64_t bundle)
{
    struct job *job = &s->jobs[slot];
    struct queue_entry entry = {job->key, 1, job->ask.duration, slot};
    gang_of(s, slot)->leader = slot; /* and goes on to be (gang_settle) */
    s->queues->starting = job_handle(s, slot);
    job->booking = bundle;
    job->at = s->now;
    job->state = SCHED_RESERVED;
    job->is_kept = false;
    queue_insert(lane_of(s, slot)->held, &entry);
    heap_put(&s->due, slot, s->now, job->key.seq);
    controllers_enter(s, slot, bundle, s->now, s->now + job->ask.duration);
}

/* What is left of the gang waits for itself. There is memory for it. */
static void let_rest_wait(sched_t *s, uint32_t slot)
{
    struct place_ask one;
    uint32_t group;
    if (gang_know_one(s, slot, &one, &group) < 0) {
        s->jobs[slot].details->blocked = BLOCK_GANG; /* the gang is due: it is let go on then */
        return;
    }
    gang_ask(s, slot, &one, group);
    if (array_is_full(s, slot))
        array_block(s, slot);
    else
        open_insert(s, slot, false);
    tell_later(s, slot);
}

enum step gang_start(sched_t *s, uint32_t slot, enum sched_how how)
{
    int64_t bundle = s->jobs[slot].booking;
    uint32_t from = gang_of(s, slot)->first; /* those in slots of their own */
    if (s->jobs[slot].is_preempting)         /* as for the first, for all */
        how = SCHED_IMMEDIATE;
    s->finder->done(s, slot,
                    s->jobs[slot].key); /* of its group, which it leaves; this takes no memory */
    s->jobs[slot].state = SCHED_BLOCKED;
    controllers_uncount(s, slot, bundle);
    while (bundle >= 0)
        if (start_one(s, slot, &bundle, &from, how) < 0) {
            hold_rest(s, slot, bundle);
            return STEP_FAILED;
        }
    if (s->jobs[slot].state == SCHED_BLOCKED)
        let_rest_wait(s, slot);
    gang_due(s, gang_of(s, slot));
    return STEP_DONE;
}

int gang_go_on(sched_t *s)
{
    uint32_t slot = s->queues->starting < 0 ? JOB_NONE : job_in_queue(s, s->queues->starting);
    s->queues->starting = -1;
    if (slot == JOB_NONE || !gang_of(s, slot) || !gang_is_starting(s, gang_of(s, slot)))
        return 0; /* it was taken back since */
    if (start_held(s, slot) != STEP_FAILED)
        return 0;
    s->queues->starting = job_handle(s, slot);
    return -1;
}
