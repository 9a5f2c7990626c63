/* Deadlines: times by which jobs are to have started. They say who goes first where the order of a queue has
 * `deadline`, and promise nothing.
 *
 * A deadline counts in whole minutes, rounded down, of jobs of one queue as part of their ranks and among users in the
 * tree of shares alike. As ranks have so much room, deadlines beyond the year 2115 count as none where any queue goes
 * by them, and jobs may have priorities from -65536 to 65535.
 */
#ifndef SCHED_DEADLINES_H
#define SCHED_DEADLINES_H

#include "berth/sched_config.h"

/* How many priorities there is room for, half of them below 0; and minutes. */
#define DEADLINE_PRIORITIES (INT64_C(1) << 17)
#define DEADLINE_MINUTES    ((SCHED_PRIORITY_MAX + 1) >> 17)

/* Where deadlines stand in the order of a queue. */
enum deadlines { DEADLINES_NONE, DEADLINES_BEHIND_PRIORITY, DEADLINES_BEFORE_PRIORITY };

enum deadlines deadlines_in(const struct sched_share_order *order);

/* Whether the order of a queue is one that it may have if nobody takes turns in it: what tells jobs apart alone.
 * Returns 0, or -1 with EINVAL and a text.
 */
int deadlines_check_order(const struct sched_queue_config *queue, berth_error_t *err);

/* The whole minute of a time; INT64_MAX for SCHED_UNLIMITED. */
int64_t deadline_minute(int64_t at, int64_t second);

/* The rank of a job by its priority (order_priority) and its deadline's minute: a number within SCHED_PRIORITY_MAX. And
 * one behind all ranks of the same priority; not where deadlines come first.
 */
int64_t deadline_rank(enum deadlines place, int64_t by_priority, int64_t minute);
int64_t deadline_turn(int64_t by_priority);

#endif
