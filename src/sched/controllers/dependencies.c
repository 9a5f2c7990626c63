/* Jobs that wait for others (depend.h). */
#include <errno.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "sched/config/known.h"
#include "sched/controllers/rows.h"
#include "sched/queues.h"
#include "sched/waiting/gang.h"

/* Take a blocked job whose dependency is met, or never can be. */
static int resolve_job(sched_t *s, uint32_t slot, bool never)
{
    if (s->jobs[slot].state != SCHED_BLOCKED)
        return 0;
    if (!never)
        return job_unblock(s, slot, BLOCK_DEPEND);
    struct sched_reason why;
    depend_reason(s->queues->depend, slot, &why);
    struct sched_reason *kept = sched_reason_copy(&why);
    if (!kept)
        return -1;
    job_reject(s, slot, kept);
    return 0;
}

/* The same for a job that may not have been told of. */
static int resolve_again(sched_t *s, uint32_t slot)
{
    struct sched_reason why;
    if (s->jobs[slot].state != SCHED_BLOCKED || !(s->jobs[slot].details->blocked & BLOCK_DEPEND))
        return 0;
    depend_reason(s->queues->depend, slot, &why);
    return why.kind == SCHED_REASON_DEPENDENCY
               ? 0
               : resolve_job(s, slot, why.kind == SCHED_REASON_NEVER_MET);
}

/* Look at all of them: there was no memory for one. */
static enum step recheck(sched_t *s)
{
    struct queues *n = s->queues;
    int rc = 0;
    for (uint32_t slot = 0; n->recheck_depend && slot < s->n_jobs && rc == 0; slot++)
        rc = resolve_again(s, slot);
    n->recheck_depend = rc < 0;
    return rc < 0 ? STEP_FAILED : STEP_BUSY;
}

/* A job whose dependencies are met waits for resources; one whose never can be is rejected. Where there is
 * no memory for it the next pass does that.
 */
static enum step resolve_next_ready(sched_t *s)
{
    struct queues *n = s->queues;
    uint32_t slot;
    bool never;
    if (depend_next_ready(n->depend, &slot, &never)) {
        if (resolve_job(s, slot, never) == 0)
            return STEP_DONE;
        n->recheck_depend = true;
        return STEP_FAILED;
    }
    if (depend_next_nearer(n->depend, &slot)) {
        tell_later(s, slot);
        return STEP_DONE;
    }
    return recheck(s);
}

int sched_set_dependency(sched_t *s, int64_t now, sched_job_t handle, const char *dependency,
                         berth_error_t *err)
{
    struct queues *n = s->queues;
    uint32_t slot = job_waiting(s, now, handle);
    if (slot == JOB_NONE || s->jobs[slot].details->is_nameless)
        return errtext_set(err, EINVAL, "no such job waits");
    const struct details *d = s->jobs[slot].details;
    if (gang_of(s, slot))
        return errtext_set(err, EINVAL, "what the members of a gang wait for stays");
    if (d->of && (d->of->is_singleton || depend_is_singleton(dependency)))
        return errtext_set(err, EINVAL, "whether an array is a singleton stays");
    if (depend_change(n->depend, slot, dependency, err) < 0)
        return -1;
    if (depend_waits(n->depend, slot))
        job_block(s, slot, BLOCK_DEPEND);
    else if (d->blocked & BLOCK_DEPEND && job_unblock(s, slot, BLOCK_DEPEND) < 0)
        n->recheck_depend = true; /* the next pass does it */
    return core_event(s, now);
}

static int waits_for_dependencies(sched_t *s, uint32_t slot, const struct sched_request *request)
{
    (void)request;
    return depend_waits(s->queues->depend, slot);
}

static void tell_depend_started(sched_t *s, uint32_t slot, enum sched_how how)
{
    (void)how;
    depend_started(s->queues->depend, slot);
}

static void tell_depend_requeued(sched_t *s, uint32_t slot)
{
    depend_requeued(s->queues->depend, slot);
}

static void tell_depend_ended(sched_t *s, uint32_t slot, enum job_end end)
{
    const struct details *d = s->jobs[slot].details;
    struct idset_range itself = {d->member, d->member, 0};
    if (d->is_nameless)
        return;
    if (end != JOB_FINISHED && !is_entry(s, slot))
        gang_see_needed(s, slot, &(struct idset){.v = &itself, .n = 1, .count = 1});
    if (is_entry(s, slot)) {
        struct idset waiting = members_waiting(d->of);
        gang_see_needed(s, slot, &waiting);
        depend_ended_waiting(s->queues->depend, slot, &waiting);
    } else {
        depend_ended(s->queues->depend, slot, end == JOB_FINISHED);
    }
}

static void forgotten(sched_t *s, uint32_t slot)
{
    if (!s->jobs[slot].details->is_nameless)
        depend_forget(s->queues->depend, slot);
}

static void dependency_reason(const sched_t *s, uint32_t slot, struct sched_reason *why)
{
    depend_reason(s->queues->depend, slot, why);
}

const struct controller depend_controller = {
    .name = "depend",
    .block = BLOCK_DEPEND,
    .waits = waits_for_dependencies,
    .started = tell_depend_started,
    .requeued = tell_depend_requeued,
    .ended = tell_depend_ended,
    .forgotten = forgotten,
    .resolve = resolve_next_ready,
    .reason = dependency_reason,
};
