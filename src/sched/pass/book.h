/* Bookings that delay nobody who is promised a start, even if their jobs take as long as they may (expect.h).
 *
 * A job is planned by its estimate and may run until its limit. Where a booking by the estimate is in the way of a promise or
 * a block, others are tried in turn: one with room for the whole limit; one off the nodes that are promised to others before
 * the limit is over; one beside what they are promised there. What is kept is as long as the estimate.
 *
 * Bookings and times are returned, or -1 with EBUSY if there is none, or with ENOMEM.
 */
#ifndef SCHED_BOOK_H
#define SCHED_BOOK_H

#include "sched/queues.h"

/* Book a job so that it starts now. `narrow`: something else, such as a limit of nodes, says already which nodes the machine
 * may choose; then only the first two of these are tried.
 */
int64_t book_for_now(sched_t *s, uint32_t slot, bool narrow);

/* The same, with a booking by the estimate that is made. */
int64_t book_clear(sched_t *s, uint32_t slot, int64_t booking, bool narrow);

/* Reserve from a time on. `*unsure` becomes true if the reservation by the estimate would break a promise. */
int64_t reserve_clear(sched_t *s, uint32_t slot, int64_t from, int64_t *at, bool *unsure);

/* Reserve in [from, before) beside others' promises where nodes are shared, or else off them. Whose promises these are goes by
 * when the job begins, so up to TIMES_TRIED times are tried.
 */
int64_t reserve_off_promises(sched_t *s, uint32_t slot, int64_t from, int64_t before, int64_t *at);

/* Book or probe (place.h) a job by its estimate so that it starts now: off the nodes that are promised to others, or beside
 * them. The caller has yet to ask whether the booking keeps these promises.
 */
typedef int64_t place_take_f(struct place *place, const struct place_ask *ask, int64_t at);
int64_t take_off_promises(sched_t *s, uint32_t slot, const struct place_ask *ask,
                          place_take_f *take, int64_t now);
int64_t take_beside_promises(sched_t *s, uint32_t slot, const struct place_ask *ask,
                             place_take_f *take, int64_t now);

/* What the job, or one like it, asks for, but clear of blocks for its whole limit, if it has one. */
struct place_ask ask_clear(const sched_t *s, uint32_t slot, const struct place_ask *ask);

/* Give back a booking that a controller or the machine refuses after all. errno stays. */
void unbook(sched_t *s, int64_t booking);

#endif
