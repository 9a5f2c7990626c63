/* Claims: what is withheld for starving jobs whose start nobody knows (starving.h).
 *
 * A claim is a holder's booking. It has all that its job asks for, chosen once: the jobs that it waits for are the
 * best there are, by what is free beside them and by when they are expected to end. It lies in the calendars over what
 * these hold, without an end, so that whatever they leave is withheld at once and nobody is placed there. Its
 * beginning is now, or where the ends of all jobs that it waits for are known, the first of these, but no earlier for
 * jobs that have started since its job was starving: until then others may have what is free of it, if they end by
 * their limits. Jobs that may be stopped at once are placed as if the claims of those were not there who may preempt
 * them. Where a claim's job preempts nobody, such jobs, and where its queue says so jobs of unknown end, are placed as
 * if it were not there for as long as it waits for others than such: those that are not preemptible and that ran before
 * it was starving. Then nobody enters, and it waits for them.
 *
 * It holds until its job starts, which it does wherever there is room, is no more to start, or what it holds is down
 * or set aside: then other resources are chosen. Where blocks have what the job can't do without, it begins no earlier than
 * enough of them are over. Holders before it stand as they did; they, jobs before it that are promised a
 * time, and jobs of higher levels or that outrank its job, may take of it, and then it waits for them too.
 *
 * Its job is told to wait, and holds no promise: for others it is SCHED_WAITING.
 */
#ifndef SCHED_CLAIMS_H
#define SCHED_CLAIMS_H

#include "sched/queues.h"

/* Choose a claim for an open job that starves, if its queue has one to give. STEP_BUSY: there is none for it.
 * O(log running) matches for each job that it waits for, and O(running).
 */
enum step claim_make(sched_t *s, uint32_t slot);

/* Look at a job with a claim: it starts, or preempts others, or waits on, for others perhaps. Where its claim does not
 * stand any more it is open.
 */
enum step claim_look(sched_t *s, uint32_t slot);

/* Whether a job with a claim could start now in place of it, and of what jobs behind it claim: 1, 0, or -1 with ENOMEM. No claim is
 * out of the calendars but its own, perhaps.
 */
int claim_could_start(sched_t *s, uint32_t slot);

/* Put a lifted claim back if it stands. Returns whether it does. */
bool claim_put_back(sched_t *s, uint32_t slot);

/* Claims are out of the calendars while somebody is placed who may take of them: all, while a holder starts; those that
 * a job may enter that may be stopped; those of jobs behind one, as what it is with a promise (key_held), or where it is its turn
 * to start, which may come later. Returns whether there are any. And they are back.
 */
enum claims_which { CLAIMS_ALL, CLAIMS_TO_ENTER, CLAIMS_BEHIND, CLAIMS_BEHIND_TURN };
bool claims_lift(sched_t *s, enum claims_which which, uint32_t slot);
void claims_lay(sched_t *s);

/* Whether jobs of a lane may enter claims, while there are some: what others learn of where claims leave room does not
 * hold for them. And whether a job may enter any: it may be stopped as soon as it has started, or nobody knows when it
 * ends and some claims admit such jobs.
 */
bool claims_are_open(const sched_t *s, const struct lane *lane);
bool claims_admit(const sched_t *s, uint32_t slot);

/* Whether an open job goes before one with a claim, of which it may take: where claims leave room says nothing of it. O(lanes
 * and claims).
 */
bool claims_are_behind(const sched_t *s);

/* Why a job with a claim waits; its texts are valid until the next call that changes anything. */
void claim_reason(sched_t *s, uint32_t slot, struct sched_reason *why);

/* A claim's booking is about to be restored, beside nothing; and it has been (-1: it is not), and lies over what is there.
 */
void claims_begin(sched_t *s);
void claims_end(sched_t *s, int64_t booking);

/* A restored holder has a claim: 0, or -1 with ENOMEM. And all have been restored: nothing but claims lies over others. */
int claim_restored(sched_t *s, uint32_t slot);
void claims_settle(sched_t *s);

#endif
