/* Which leaves of a lane have a job that may fit, in a walk that goes by shares.
 *
 * On a full machine nearly no job has room, and the tree of shares would name one leaf after the other in vain. So where
 * few jobs of a lane may fit, their leaves are listed, and the lane's turn is that of the first of these. A leaf that is
 * not listed has nothing to be looked at: as a walk goes on there is only less room, and a leaf with another open job is
 * listed. So what is chosen is what the tree would choose after it had named the others in vain.
 *
 * Invariant: in a walk, while a lane is listed, each of its leaves that is offered and not listed has no open job that may
 * fit. One that is listed may have none any more; the walk takes it out when it finds that.
 */
#ifndef SCHED_MAY_FIT_H
#define SCHED_MAY_FIT_H

#include "sched/sched_priv.h"

/* A walk, or a level of it, begins: no lane is listed. O(lanes). */
void may_fit_begin(sched_t *s);

/* Whether the leaves of a lane are listed, which is tried first: not where too many jobs may fit, or where other things
 * than what is free say who is looked at. O(kinds of jobs + MAY_FIT_MAX * log open).
 */
bool may_fit_listed(sched_t *s, struct lane *lane);

/* The first of the listed leaves of a lane, by the tree; JOB_NONE. O(listed leaves * depth). */
uint32_t may_fit_first(sched_t *s, struct lane *lane);

/* A leaf has another open job. O(1). */
void may_fit_changed(sched_t *s, uint32_t leaf);

/* Whether the invariant holds. O(leaves + open jobs). */
bool may_fit_check(const sched_t *s);

#endif
