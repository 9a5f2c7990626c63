/* Jobs that go before holders (outrank.c) and have equal turns there, as they are of one level and priority: shares say
 * which of them is next, as in the walk.
 */
#ifndef SCHED_EQUALS_H
#define SCHED_EQUALS_H

#include "sched/sched_priv.h"

/* Of the jobs in `turns`, of which there are some, the one that is next. Where there are no shares, or the first is an
 * equal of nobody, that is the first. JOB_NONE with ENOMEM. O(log f) in the depth and breadth of the tree; when the
 * first of equal turns comes, O(leaves + n log n) of n equals.
 */
uint32_t equals_next(sched_t *s);

/* Whether others may have turns that are equal to the first one's: there are shares, and that one has come since. */
bool equals_may_be(const sched_t *s);

/* Whether something is so of the first job, or of one of its equals. O(equals) */
bool equals_any(const sched_t *s, bool (*is)(const sched_t *s, uint32_t slot));

/* One of the equals waits with another key: as its array does with the next member, or by what is held of that. Equals of its leaf
 * that go before it now have their turns first. O(equals of the leaf); if equals_next has named it last, O(those)
 */
void equals_rekeyed(sched_t *s, uint32_t slot);

/* What is known of equal turns holds no more: one has got another turn, or the list is at its end. O(leaves) */
void equals_end(sched_t *s);

#endif
