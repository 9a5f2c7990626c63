/* Jobs that wait for others (depend.h). */
#include "sched/controllers/rows.h"
#include "sched/queues.h"

/* Take a blocked job whose dependency is met, or never can be. */
static int resolve_job(sched_t *s, uint32_t slot, bool never)
{
    struct details *d = s->jobs[slot].details;
    if (s->jobs[slot].state != SCHED_BLOCKED)
        return 0;
    if (!never)
        return job_unblock(s, slot, BLOCK_DEPEND);
    char reason[sizeof(d->reason)];
    struct sched_reason why;
    depend_reason(s->queues->depend, slot, &why);
    job_reject(s, slot, sched_reason_text(&why, reason));
    return 0;
}

/* Jobs whose dependencies are met wait for resources; those whose never can be are rejected. Where there is no memory for it the next
 * pass does the rest. Returns 0, or -1 with ENOMEM.
 */
static int resolve(sched_t *s)
{
    struct queues *n = s->queues;
    uint32_t slot;
    bool never;
    int rc = 0;
    while (depend_next_ready(n->depend, &slot, &never))
        rc = resolve_job(s, slot, never) < 0 ? -1 : rc;
    while (depend_next_nearer(n->depend, &slot))
        tell_later(s, slot);
    if (n->recheck_depend && rc == 0) {
        for (slot = 0; slot < s->n_jobs && rc == 0; slot++)
            if (s->jobs[slot].state == SCHED_BLOCKED &&
                s->jobs[slot].details->blocked & BLOCK_DEPEND && !depend_waits(n->depend, slot))
                rc = resolve_job(s, slot, false);
    }
    n->recheck_depend = rc < 0;
    return rc;
}

static int waits(sched_t *s, uint32_t slot, const struct sched_request *request)
{
    (void)request;
    return depend_waits(s->queues->depend, slot);
}

static void started(sched_t *s, uint32_t slot, enum sched_how how)
{
    (void)how;
    depend_started(s->queues->depend, slot);
}

static void requeued(sched_t *s, uint32_t slot)
{
    depend_requeued(s->queues->depend, slot);
}

static void ended(sched_t *s, uint32_t slot, enum job_end end)
{
    if (!s->jobs[slot].details->is_nameless)
        depend_ended(s->queues->depend, slot, end == JOB_FINISHED);
}

static void forgotten(sched_t *s, uint32_t slot)
{
    if (!s->jobs[slot].details->is_nameless)
        depend_forget(s->queues->depend, slot);
}

const struct controller depend_controller = {
    .name = "depend",
    .block = BLOCK_DEPEND,
    .waits = waits,
    .started = started,
    .requeued = requeued,
    .ended = ended,
    .forgotten = forgotten,
    .resolve = resolve,
};
