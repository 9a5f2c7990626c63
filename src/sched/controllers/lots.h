/* Who may be stopped for a job, by lots: one running job, or those of a gang that may only be stopped together.
 *
 * Lots stand in an order. First come those that are being stopped already and that nobody waits for; then members that
 * their gangs can spare, the last ones of each gang; then others, and what is left of gangs as a whole. Within these
 * go: those of queues of lower priority; those of queues nearer to the job's own in the tree of shares; those of lower
 * priority; with less work to be lost; that have started later; that come later in queue order. The whole of a gang goes
 * with its spare members or not at all; it stays while others
 * are being stopped for a member, who would not start then.
 *
 * Lots are taken in that order until the job fits, beside all reservations and within all limits; then each that is
 * not needed is put back, the last one first. Where a share gives no more before it fits, as the first ones leave nothing of what
 * is short, say, that is tried once more: first with those that are left if all lots are taken and each is put back that is not
 * needed, the last one first, as if the share gave each; then with others that hold anything it could use.
 * Of those that are left a share has to give each with the others gone. So nobody is stopped unless the job starts by it. What may be taken of a
 * queue by its share is asked anew for each lot, with all that leave counted as gone.
 */
#ifndef SCHED_LOTS_H
#define SCHED_LOTS_H

#include "sched/controllers/victims.h"

/* Whether a running job may be stopped for one; and whether that is as its queue has more than it deserves, or its user has
 * more.
 */
typedef bool (*lots_may)(const sched_t *s, uint32_t slot, uint32_t victim, bool *by_share);

/* List the lots for a job, in *h; preemption_end frees that. Returns 0, or -1 with ENOMEM. O(running log running). */
int lots_begin(struct preemption *h, sched_t *s, uint32_t slot, const struct place_ask *ask,
               lots_may may);

/* Whether there is no lot for a job, by shares: they give it nothing, and nobody is being stopped. False: it is not known. In a
 * pass; O(as reach_is_short).
 */
bool lots_are_none(sched_t *s, uint32_t slot);

/* Free what a search has listed, or keep it for the next one of the lane, which mostly lists the same. NULL is fine. */
struct lots_kept;
void lots_end(struct preemption *h);
void lots_kept_free(struct lots_kept *kept);

/* Whether who runs is listed by lane as it is, where that is known. O(running + lanes) */
bool lane_runners_check(const sched_t *s);

#endif
