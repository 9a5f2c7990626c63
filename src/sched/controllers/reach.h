/* How much a job of each queue may ask for so that shares give it anything of what others have.
 *
 * By share_may_reclaim (share/tree.h) a job is given something of a resource only if its queue, and each node above that up to
 * where it parts from the other queue, deserves all that the job asks for of it beside what they keep; and the other queue and
 * those above it there have more of it than they deserve, and than they are guaranteed. So there is one number for each queue and
 * resource, its *reach*: the most that a job may ask for of it and be given any; 0 where nobody gives any. A job that asks for
 * more than the reach of its queue, of each resource, is given nothing, however little would be taken.
 *
 * Invariant: what is known is as of the changes of the tree (share_changes) and of the list of who is being stopped
 * (queues.stopping_lists). A job whose victims are being stopped counts with what it will have: the tree changes in the step in
 * which it begins to wait for them, and in which it does so no longer.
 */
#ifndef SCHED_REACH_H
#define SCHED_REACH_H

#include "sched/sched_priv.h"

struct reach;

/* NULL is fine. */
void reach_destroy(struct reach *reach);

/* An amount leaves, among the first n nodes of the tree of shares, what a job is below; or is back (sign -1). */
void reach_note_gone(const sched_t *s, int64_t *gone, uint32_t n, uint32_t slot,
                     const int64_t *amount, int64_t sign);

/* What is about to leave each of the first n nodes, by node and resource, as shares count it: what is promised for later,
 * and what those hold who are being stopped; but jobs will have what they wait for whose victims are being stopped. In a
 * pass, where there are shares. Returns 0, or -1 with ENOMEM. O(n + being stopped + reservations), and stopping_list; O(n) for
 * the nodes of the setup, where nothing has changed since the last time.
 */
int reach_count_gone(sched_t *s, int64_t *gone, uint32_t n);

/* Whether shares give nothing to a job of a lane that asks for so much of each resource, as long as nobody is stopped for it.
 * Without memory it is not known: false. O(resources), and where something has changed O(nodes of the setup + being stopped +
 * reservations).
 */
bool reach_is_short(sched_t *s, uint32_t lane, const int64_t *amount);

/* Whether nobody can be stopped for any job of a lane that asks for a class of the place: its queue may have others stopped only
 * by shares between queues, which give it nothing, and nobody is being stopped for whose end it could wait. False: it is
 * not known. O(as above).
 */
bool reach_is_nothing(sched_t *s, uint32_t lane, uint32_t class);

/* Whether what is known agrees with share_may_reclaim, asked of each two queues. O(queues^2 x resources) */
bool reach_check(const sched_t *s);

#endif
