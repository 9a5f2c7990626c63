/* Ranks where some queue goes by gangs: a job whose gang has its min goes behind those that lack theirs, or are of no gang,
 * as `gang` stands in the order of the queue beside priority and deadline.
 *
 * There is room for that in the ranks of all queues then, so that priorities are compared everywhere: ranks without what
 * follows here are in the middle half, from -(SCHED_PRIORITY_MAX + 1) / 2 to that. Where queues have deadlines as well,
 * jobs may have priorities from -8192 to 8191.
 */
#ifndef SCHED_GANG_RANKS_H
#define SCHED_GANG_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/config/deadlines.h"

/* How many priorities there is room for beside deadlines and gangs, half of them below 0. */
#define GANG_DEADLINE_PRIORITIES (INT64_C(1) << 14)

/* Where `gang` stands among what the ranks of a queue go by, which are priorities, and deadlines where it has them. */
enum gangs { GANGS_NONE, GANGS_FIRST, GANGS_BETWEEN, GANGS_LAST };

/* Behind age or submit it decides nothing: GANGS_NONE. */
enum gangs gangs_in(const struct sched_share_order *order);

/* A rank in the middle half for deadline_rank's; `behind`: the gang has its min. And one behind all ranks of the same
 * priority that are not `behind`; not where deadlines come first.
 */
int64_t gang_deadline_rank(enum deadlines place, enum gangs gangs, int64_t by_priority,
                           int64_t minute, bool behind);
int64_t gang_deadline_turn(int64_t by_priority);

/* A rank of the middle half becomes one of those that go first, or (`behind`) of those that go last. */
int64_t gang_half(int64_t rank, bool behind);

#endif
