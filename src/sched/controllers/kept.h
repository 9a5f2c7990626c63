/* Jobs that limits alone keep (kept.c): what limiter.c asks of it. */
#ifndef SCHED_KEPT_H
#define SCHED_KEPT_H

#include "sched/controllers/limiter.h"

/* Whether a limit, by its calendar, may promise a job a time: it has promised fewer than it may, or, if the job
 * goes before holders, one behind the job.
 */
bool kept_may_promise(const sched_t *s, uint32_t slot, uint32_t calendar, bool outranks);

/* A job holds a promise of the limit that its details name, and holds it no more. */
void kept_enter(sched_t *s, uint32_t slot);
void kept_leave(sched_t *s, uint32_t slot);

/* Blocked jobs are looked through: one that its limit may promise a time is noted, and when all have been looked
 * at, the first one in queue order of each limit goes on. In a pass, another one of the same limit does so only
 * if that has promised one more since. Return 0, or -1 with ENOMEM.
 */
void candidates_begin(sched_t *s);
int candidate_note(sched_t *s, uint32_t slot, uint32_t calendar);
int candidates_let(sched_t *s, bool again);

#endif
