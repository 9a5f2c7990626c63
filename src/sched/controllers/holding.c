/* The tree of shares is told of what jobs hold (waiting/shares.h). It lets every job go on. */
#include "sched/controllers/rows.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/shares.h"

static enum step count_in_shares(sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    (void)at;
    if (s->queues->shares)
        shares_hold(s, slot, booking, false);
    return STEP_BUSY;
}

static void uncount_in_shares(sched_t *s, uint32_t slot, int64_t booking)
{
    (void)booking;
    if (s->queues->shares)
        shares_released(s, slot);
}

static int tell_shares_held(sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t until)
{
    (void)at, (void)until;
    if (s->queues->shares)
        shares_hold(s, slot, booking, s->jobs[slot].state == SCHED_RUNNING);
    return 0;
}

static void tell_shares_started(sched_t *s, uint32_t slot, enum sched_how how)
{
    (void)how;
    if (s->queues->shares)
        shares_started(s, slot);
}

static void tell_shares_released(sched_t *s, uint32_t slot)
{
    if (s->queues->shares)
        shares_released(s, slot);
}

static enum step refresh_class_order(sched_t *s)
{
    return class_order_refresh(s) < 0 ? STEP_FAILED : STEP_BUSY;
}

const struct controller share_controller = {
    .name = "share",
    .turn = refresh_class_order,
    .started = tell_shares_started,
    .released = tell_shares_released,
    .count = count_in_shares,
    .uncount = uncount_in_shares,
    .enter = tell_shares_held,
};
