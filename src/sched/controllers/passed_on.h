/* What jobs that are being stopped hold, and others wait for.
 *
 * A job that waits for its victims has a booking of what they hold as well. Where amounts are counted, as of a pool or
 * in a limit, that counts twice until they have ended. Who looks for victims then takes those that others wait for as
 * gone; who starts leaves out those that wait.
 */
#ifndef SCHED_PASSED_ON_H
#define SCHED_PASSED_ON_H

#include "sched/sched_priv.h"

/* Running jobs for whose ends somebody waits are out of the calendars and limits, or back. Returns whether there are any.
 * O(running jobs that may be stopped).
 */
bool passed_on_aside(sched_t *s, bool aside);

/* Jobs that wait for their victims, but one, are out of these, or back. O(reservations). */
void preemptors_aside(sched_t *s, uint32_t but, bool aside);

/* Of those whose victims have ended, and that have yet to start, but one: the same in limits. O(reservations). */
void preemptors_due_aside(sched_t *s, uint32_t but, bool aside);

/* Whether a job that limits keep is let by them all the same beside either of what is left, so that it may look for victims. Each
 * of two waits for the other's room, and both are counted. O(running jobs that may be stopped + reservations).
 */
bool may_ask_at_last(sched_t *s, uint32_t slot);

#endif
