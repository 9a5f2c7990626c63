/* The order of a queue: a rank for each job, the least of which goes first; equal ones go in the
 * order of submission.
 *
 * A job gets its rank when it comes, and another one when its priority or its queue changes. It
 * keeps it while time goes by, as waiting jobs stand in trees by their ranks. With named queues a
 * job's duration may change too, which moves nobody: there an order goes by the rest.
 */
#ifndef SCHED_ORDER_H
#define SCHED_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "berth/sched_config.h"

/* What a rank is made of. */
struct order_job {
    int64_t submitted; /* ticks, >= 0 */
    int64_t duration;  /* ticks */
    int64_t priority;
    int64_t second; /* ticks in one, >= 1 */
};

/* A rank. With named queues those below -SCHED_PRIORITY_MAX - 1 or above SCHED_PRIORITY_MAX count
 * as these.
 */
typedef int64_t order_rank(const struct order_job *job);

order_rank order_priority;
order_rank order_ageing; /* ageing.c */

/* The priorities that jobs may have of queues that go by them: as many as there is room for in the ranks, beside what else
 * the queues of the configuration go by. And whether a queue takes one, within SCHED_PRIORITY_MAX: one with an order of
 * its own takes all. O(1).
 */
struct setup;
struct priorities {
    int64_t least, most;
};
struct priorities order_priorities(const struct setup *setup);
bool order_takes(const struct setup *setup, uint32_t queue, int64_t priority);

/* policy.c: a policy's own order, or if it has none, another. */
order_rank *order_of(const struct sched_policy *policy, order_rank *otherwise);

/* One that berth/sched.h has a number for. */
order_rank *order_numbered(enum sched_order order);

#endif
