/* The walks over open jobs: by one order (walk.c), and by shares (share_walk.c). */
#ifndef SCHED_WALK_H
#define SCHED_WALK_H

#include "sched/sched_priv.h"

/* Begin a round of the walk of a pass, or of a level. And look at the next job, in all rounds one after the other. */
void walk_begin(sched_t *s);
enum step walk_rounds(sched_t *s);

/* The next open job of a line, by the mode of its lane; JOB_NONE, or failed with ENOMEM. */
uint32_t line_next(sched_t *s, struct lane *lane, struct line *line, bool *failed);

/* Whether open jobs of a lane in this mode start in this round. */
bool walk_starts(const sched_t *s, enum lane_mode mode);

/* Look at an open job: it starts, is promised a time, or waits. Make room for a holder, if it can be. */
enum step walk_look(sched_t *s, uint32_t slot);
enum step walk_look_at_holder(sched_t *s, uint32_t slot);

/* The next holder of the level for whom room may be made, after those that were tried; JOB_NONE. */
uint32_t walk_next_holder(const sched_t *s);

/* An open job has been looked at, in a step: if a limit has promised it a time, it looks for victims as any holder, wherever the
 * walk is.
 */
enum step walk_looked(sched_t *s, uint32_t slot, enum step step);

/* A walk is done with a level. */
void walk_ended(sched_t *s);

/* The walk over leaves: the lanes are at their beginning. */
void share_walk_begin(sched_t *s);
enum step share_walk_step(sched_t *s);

#endif
