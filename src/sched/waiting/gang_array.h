/* Arrays of gangs of which only so many may run at a time.
 *
 * A gang runs while one of its members does, or has preempted others. Of those that wait, the first ones go on, so many that
 * there are as many with those that run as may be: by priority, of equal ones by submission. All others are blocked
 * (BLOCK_TURN), whatever they were promised. A gang's priority is the highest of its members that wait for nothing but
 * resources; where these are too few to start, it has no place among those that wait.
 *
 * So who goes on follows from which gangs run and wait, not from what has come first. It is found out before the gangs that
 * are due are looked at (gang_settle). O(log gangs) for a gang whose state changes.
 */
#ifndef SCHED_GANG_ARRAY_H
#define SCHED_GANG_ARRAY_H

#include "sched/waiting/gang.h"

/* A new gang is one of the array of a request, if that names one. Returns 0, or -1 with ENOMEM. And it is gone. */
int gang_array_join(sched_t *s, struct gang *gang, const struct sched_request *request);
void gang_array_leave(sched_t *s, struct gang *gang);

/* A slot of a gang has preempted others, or has done so no more: the gang may have another place. */
void gang_array_changed(sched_t *s, uint32_t slot);

/* A gang that is due has the place of what it is now. And those whose turn that changes are due as well. */
void gang_array_see(sched_t *s, struct gang *gang);
void gang_arrays_settle(sched_t *s);

/* Whether a gang is one of an array. */
bool gang_is_of_array(const struct gang *gang);

/* Whether a gang waits for others of its array to end. */
bool gang_waits_turn(const struct gang *gang);

/* The name of a gang's array, and how many of it may run at a time; NULL: it is of none. */
const char *gang_array_name(const struct gang *gang, uint32_t *most);

#endif
