/* Turns: what the tree of shares (waiting/shares.h) is told of who waits.
 *
 * A leaf with an open job takes part in the choice at any time, so that a walk has nothing to tell at its beginning.
 * A leaf goes by the priority, the deadline and the gang of the job that it is offered with, which is its first open one, or in
 * a walk that has found that this can't start, the next one that may; and by when its first open job was submitted.
 * Queues and divisions go by the first open job below them. So who can't start changes nothing among the others, and
 * which requests are known not to fit decides nothing.
 *
 * In a walk, leaves that have nothing to be looked at are left out, and queues whose turn is over.
 */
#ifndef SCHED_TURNS_H
#define SCHED_TURNS_H

#include "sched/sched_priv.h"

/* A leaf's open jobs, or the priority of one, have changed. O(d log f), or O(1) if the first is the same. */
void turns_changed(sched_t *s, uint32_t leaf);

/* In this walk a leaf is offered with a job; is left out. */
void turns_offer(sched_t *s, uint32_t leaf, uint32_t slot);
void turns_skip(sched_t *s, uint32_t leaf);

/* Whether a leaf is offered with a job of this one's priority and deadline, whose gang has its min if this one's has. */
bool turns_is_offered_as(const sched_t *s, uint32_t leaf, uint32_t slot);

/* Whether a lane takes part, in this walk. */
void turns_open(sched_t *s, const struct lane *lane, bool is_open);

/* Leaves of a lane that were left out, or offered with another job, are offered as before the walk; of all
 * lanes for NULL, which also take part again. O(such leaves).
 */
void turns_restore(sched_t *s, const struct lane *lane);

/* For a question, which may come while a walk is at work: a leaf is offered with a job, or with none (JOB_NONE);
 * and again as the walk had it, offered or not.
 */
void turns_try(sched_t *s, uint32_t leaf, uint32_t slot);
void turns_again(sched_t *s, uint32_t leaf, bool was_offered);

/* The node of a lane's queue. */
uint32_t turns_node(const sched_t *s, const struct lane *lane);

bool turns_check(const sched_t *s);

#endif
