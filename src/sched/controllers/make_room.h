/* Room is made for a job: others that run are stopped, and it holds what they leave. */
#ifndef SCHED_MAKE_ROOM_H
#define SCHED_MAKE_ROOM_H

#include "sched/controllers/victims.h"
#include "sched/waiting/job_group.h"

/* Begin to choose whom to stop for a job that asks for this; preemption_end frees that. Returns 0, or -1 with
 * ENOMEM.
 */
typedef int (*victims_begin)(struct preemption *h, sched_t *s, uint32_t slot,
                             const struct place_ask *ask);

/* For an open job, in a way. STEP_BUSY: there is none, or a limit keeps it. In the walk of a pass what was in vain is noted
 * for those that ask for as much, and they are not tried.
 */
enum step room_for_open(sched_t *s, uint32_t slot, victims_begin begin, enum room_way way);

/* Whether an open job, or one that limits keep, would have room now if its victims were stopped. Nobody is told, and nothing
 * stays booked. 1, 0, or -1 with ENOMEM.
 */
int room_would_be(sched_t *s, uint32_t slot, victims_begin begin);

/* For one that holds a reservation for later, which it keeps if there is no room. */
enum step room_for_holder(sched_t *s, uint32_t slot, victims_begin begin);

/* Whether limits let a job have a booking for now, both beside what runs now and beside what is there once those jobs have ended
 * that others wait for.
 */
bool may_hold_at_last(sched_t *s, uint32_t slot, int64_t booking);

/* The victims of a holder have ended, and limits keep it all the same, which leave it and others who wait for victims out. It
 * waits for those, too, that others wait for and that have what it lacks: STEP_DONE. STEP_KEPT: they have not. O(all that are
 * awaited^2).
 */
enum step await_more(sched_t *s, uint32_t slot);

/* One that waits for its victims starts if it has room beside them by now, as others have left: STEP_DONE. Then nobody waits
 * for its victims any more. STEP_BUSY: it has none.
 */
enum step room_elsewhere(sched_t *s, uint32_t slot);

#endif
