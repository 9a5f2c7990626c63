/* Jobs whose promise the machine took: they are placed by their rank again as soon as something comes back. */
#ifndef SCHED_DISPLACED_H
#define SCHED_DISPLACED_H

#include "sched/queues.h"

/* A job, open or with a reservation, has lost a promise of this time by what became of the machine, or got a
 * later one: it is displaced, unless it has as early a time by now. And it is so no more.
 */
void displaced_begin(sched_t *s, uint32_t slot, int64_t promised);

/* The time of one that could be promised none, as too much was down: any will do. */
#define DISPLACED_ANY (2 * QUEUES_TIME_MAX)
void displaced_end(sched_t *s, uint32_t slot);

/* The time that a holder had before anything was taken from it. */
int64_t displaced_from(const struct job *job);

/* A holder's reservation is taken back for what became of the configuration: it is open, as new, and displaced. Returns 0, or
 * -1 with ENOMEM and all as it was.
 */
int displaced_to_open(sched_t *s, uint32_t slot);

/* Its reservation is for another time: it is displaced no more if that is as early as it was. */
void displaced_moved(sched_t *s, uint32_t slot);

/* Something has come back: this pass once more, or else the next one, places those that are displaced by their rank. */
void displaced_return(sched_t *s);

/* An open job is about to start: so it is where nothing could be promised behind its place (levels.c). */
void displaced_leave(sched_t *s, uint32_t slot);

/* Such a pass begins: they are new in it. Returns 0, or -1 with ENOMEM. O(jobs) if there are any, else
 * O(1).
 */
int displaced_renew(sched_t *s);

/* Whether something has come back within a pass, for which it goes through all phases once more, and no more than once. */
bool displaced_are_back(const sched_t *s);

/* It does so: if that is why, they are new in it. Returns as displaced_renew. */
int displaced_renew_again(sched_t *s);

/* Whether a displaced holder is due to be placed again in this pass. */
bool displaced_is_due(const sched_t *s, uint32_t slot);

#endif
