/* Jobs that have waited for longer than their queue says (starvation-threshold).
 *
 * A job is starving once it has been pending for that long since it last became so: was submitted, released, or
 * requeued, or had its time or the jobs come that it waited for. A limit that keeps it is no such thing. Once
 * it is starving it takes its turn before holders, as one that was raised, and whatever its lane has to give it is
 * promised a time, beside the depth; of a lane whose jobs go one after the other only the first is. Where no time
 * can be known it gets a claim (claims.h). One that gets neither is tried again whenever something was freed.
 *
 * Nothing of this costs anything where no queue has a threshold.
 */
#ifndef SCHED_STARVING_H
#define SCHED_STARVING_H

#include "sched/queues.h"

/* What keeps a job from being pending. */
#define BLOCKS_PENDING (BLOCK_HOLD | BLOCK_DEPEND | BLOCK_BEGIN)

/* A job is pending from now on, or has been since `details.since`; where there is no memory for that, the next
 * pass sees to it. O(log jobs).
 */
void starving_begin(sched_t *s, uint32_t slot);
void starving_resume(sched_t *s, uint32_t slot);

/* The time from which on a pending job is starving; INT64_MAX: it never is. */
int64_t starves_at(const sched_t *s, uint32_t slot);

/* A job has lost its claim to one before it; a member of an array waits by itself. And whether a walk is to look at such ones that
 * are starving.
 */
void starving_opened(sched_t *s, uint32_t slot);
void starving_parted(sched_t *s, uint32_t part);
bool starving_is_due(const sched_t *s);

/* A scheduler was restored whose last pass was then: who was starving is so. And thresholds have changed: the next
 * pass looks at all jobs.
 */
void starving_restored(sched_t *s, int64_t passed);
void starving_look_all(sched_t *s);

/* Whether an open job may be promised a time beside the depth of its lane. */
bool starving_may(const sched_t *s, uint32_t slot);

/* It starts if there is room, of what those behind it claim too. */
enum step starving_start(sched_t *s, uint32_t slot);

/* It has been promised a time so; and a queue with such a job before another one does not serve that. */
void starving_relieved(sched_t *s, uint32_t slot);
bool starving_is_before(const sched_t *s, const struct lane *lane, struct queue_key key);

/* The starving jobs that are to be looked at in a walk, in queue order: it begins (and lists none where nothing has changed since
 * the last one, but for those that come to be open in it); a round of it in a level begins, which goes through those
 * that the first one does; it has ended; the next one, JOB_NONE; and look at it, or it was looked at in the turn of its lane.
 * Where a member of an array has started, the one after it comes next. starving_list: 0, or -1 with ENOMEM.
 */
void starving_walk(sched_t *s);
void starving_round(sched_t *s, bool is_first);
void starving_walked(sched_t *s);
int starving_list(sched_t *s);
uint32_t starving_next(sched_t *s);
enum step starving_look(sched_t *s, uint32_t slot);
void starving_looked(sched_t *s, uint32_t slot);

#endif
