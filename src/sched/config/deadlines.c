#include "sched/config/deadlines.h"

#include <errno.h>

#include "base/errtext.h"
#include "sched/config/order.h"

/* Both share the room of a rank, and of those of one priority the later half is of turns. */
#define PRIORITIES DEADLINE_PRIORITIES
#define MINUTES    DEADLINE_MINUTES

enum deadlines deadlines_in(const struct sched_share_order *order)
{
    enum deadlines place = DEADLINES_BEFORE_PRIORITY;
    for (size_t i = 0; i < order->n; i++) {
        if (order->by[i] == SCHED_BY_DEADLINE)
            return place;
        if (order->by[i] == SCHED_BY_PRIORITY)
            place = DEADLINES_BEHIND_PRIORITY;
    }
    return DEADLINES_NONE;
}

/* Whether a comparator tells jobs apart that have nobody in common. */
static bool is_of_jobs(enum sched_comparator by)
{
    return by == SCHED_BY_PRIORITY || by == SCHED_BY_DEADLINE || by == SCHED_BY_GANG ||
           by == SCHED_BY_AGE || by == SCHED_BY_SUBMIT;
}

int deadlines_check_order(const struct sched_queue_config *queue, berth_error_t *err)
{
    const struct sched_policy *policy =
        queue->policy ? sched_policy_find(queue->policy) : sched_policy_usual();
    if (queue->order.n > 0 && order_of(policy, NULL))
        return errtext_set(err, EINVAL, "queue '%s': order: policy %s has one of its own",
                           queue->name, policy->name);
    for (size_t i = 0; i < queue->order.n; i++)
        if (queue->order.n > SCHED_COMPARATORS || !is_of_jobs(queue->order.by[i]))
            return errtext_set(err, EINVAL,
                               "queue '%s': order: expected priority, deadline, gang, age and "
                               "submit where nobody takes turns",
                               queue->name);
    return 0;
}

int64_t deadline_minute(int64_t at, int64_t second)
{
    return at == SCHED_UNLIMITED ? INT64_MAX : at / second / 60;
}

static int64_t of_priority(int64_t by_priority)
{
    const int64_t half = PRIORITIES / 2;
    int64_t from = by_priority < -half ? -half : by_priority;
    return (from >= half ? half - 1 : from) + half;
}

int64_t deadline_rank(enum deadlines place, int64_t by_priority, int64_t minute)
{
    int64_t priority = of_priority(by_priority);
    int64_t deadline = place == DEADLINES_NONE || minute >= MINUTES ? MINUTES - 1 : minute;
    int64_t rank = place == DEADLINES_BEFORE_PRIORITY ? deadline * PRIORITIES + priority
                                                      : priority * 2 * MINUTES + deadline;
    return rank - SCHED_PRIORITY_MAX - 1;
}

int64_t deadline_turn(int64_t by_priority)
{
    return deadline_rank(DEADLINES_BEHIND_PRIORITY, by_priority, 0) + MINUTES;
}
