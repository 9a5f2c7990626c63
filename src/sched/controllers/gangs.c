/* Gangs (waiting/gang.h): whose members start together, and what becomes of them when one ends. */
#include "sched/waiting/gang_array.h"
#include "sched/waiting/gang_order.h"

#include "berth/sched_admin.h"
#include "sched/controllers/rows.h"

static void entered(sched_t *s, uint32_t slot)
{
    struct gang *gang = gang_of(s, slot);
    if (gang && (!is_entry(s, slot) || gang->array))
        gang_due(s, gang);
}

static void count_member_started(sched_t *s, uint32_t slot, enum sched_how how)
{
    struct gang *gang = gang_of(s, slot);
    (void)how;
    if (!gang)
        return;
    s->jobs[slot].details->is_in_gang = true;
    gang_role_of(gang, s->jobs[slot].details->member)->running++;
    if (gang->running++ == 0)
        gang_due(s, gang);
    gang_order_changed(s, gang);
    if (s->jobs[slot].details->is_stopping)
        gang_stops(s, slot); /* it is restored */
}

/* It runs no more. */
static void leave_running_gang(sched_t *s, uint32_t slot, struct gang *gang)
{
    struct details *d = s->jobs[slot].details;
    struct gang_role *role = gang_role_of(gang, d->member);
    if (!gang_is_up(gang) || gang->stopping > 0)
        gang_due(s, gang);
    gang->stopping -= d->leaves_gang;
    role->stopping -= d->leaves_gang;
    d->is_in_gang = d->leaves_gang = false;
    gang->running--;
    role->running--;
    gang_order_changed(s, gang);
    if (!gang_is_up(gang) || gang->array)
        gang_due(s, gang);
}

bool sched_replaces(const sched_t *s, sched_job_t job)
{
    uint32_t slot = job_in_queue(s, job);
    const struct gang *gang = slot == JOB_NONE ? NULL : gang_of(s, slot);
    const struct details *d = s->jobs[slot == JOB_NONE ? 0 : slot].details;
    return gang && s->jobs[slot].state == SCHED_RUNNING && !gang->is_over &&
           gang->failure == SCHED_FAIL_REPLACE && !d->is_stopping && !d->is_cleared &&
           gang->replaced < d->of->size;
}

static void count_member_requeued(sched_t *s, uint32_t slot)
{
    struct gang *gang = gang_of(s, slot);
    if (!gang)
        return;
    gang->replaced += !s->jobs[slot].details->leaves_gang;
    leave_running_gang(s, slot, gang);
    s->jobs[slot].details->is_dismissed = false;
    if (gang->is_over)
        gang_due(s, gang);
}

/* A member has failed, was cancelled or was stopped for a block, and not for another job. */
static void fail_gang(sched_t *s, uint32_t slot, struct gang *gang)
{
    const struct gang_role *few = gang_lost_min(gang);
    if (gang->failure != SCHED_FAIL_ALL && !few)
        return;
    gang->is_over = true;
    gang->why = gang->failure == SCHED_FAIL_ALL
                    ? (struct sched_reason){.kind = SCHED_REASON_GANG_FAILED,
                                            .gang.have = s->jobs[slot].details->member}
                    : gang_left_reason(few, role_has(few));
    gang_due(s, gang);
}

static void count_member_ended(sched_t *s, uint32_t slot, enum job_end end)
{
    struct gang *gang = gang_of(s, slot);
    const struct details *d = s->jobs[slot].details;
    if (!gang)
        return;
    if (!d->is_in_gang) {
        gang_due(s, gang); /* one less that waits */
        return;
    }
    gang->done += end == JOB_FINISHED;
    gang_role_of(gang, d->member)->done += end == JOB_FINISHED;
    leave_running_gang(s, slot, gang);
    if (end != JOB_FINISHED && !gang->is_over && !d->is_stopping)
        fail_gang(s, slot, gang);
}

static enum step block_for_gang(sched_t *s, uint32_t slot)
{
    struct gang *gang = gang_of(s, slot);
    if (!gang || (!gang->is_over && !gang_leaves(gang) &&
                  gang_waits_whole(gang) == gang_asks_whole(s, slot)))
        return STEP_BUSY;
    job_block(s, slot, BLOCK_GANG);
    gang_due(s, gang);
    return STEP_DONE;
}

static void gang_waits_reason(const sched_t *s, uint32_t slot, struct sched_reason *why)
{
    (void)s, (void)slot;
    why->kind = SCHED_REASON_GANG_WAITS;
}

static enum step settle_gangs_first(sched_t *s)
{
    enum step step = gang_settle(s);
    return step == STEP_BUSY && gang_order_refresh(s) < 0 ? STEP_FAILED : step;
}

static enum step settle_gangs(sched_t *s, bool again)
{
    (void)again;
    return settle_gangs_first(s);
}

static void turn_reason(const sched_t *s, uint32_t slot, struct sched_reason *why)
{
    *why = (struct sched_reason){.kind = SCHED_REASON_LIMIT,
                                 .limit = {.whose = SCHED_OF_ARRAY, .what = "running"},
                                 .second = s->queues->setup->second};
    uint32_t most;
    gang_array_name(gang_of(s, slot), &most);
    why->limit.most = most;
}

const struct controller turn_controller = {
    .name = "turn",
    .block = BLOCK_TURN,
    .reason = turn_reason,
};

const struct controller gang_controller = {
    .name = "gang",
    .block = BLOCK_GANG,
    .entered = entered,
    .started = count_member_started,
    .requeued = count_member_requeued,
    .ended = count_member_ended,
    .gate = block_for_gang,
    .reason = gang_waits_reason,
    .turn = settle_gangs_first,
    .settle = settle_gangs,
};
