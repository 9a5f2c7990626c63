/* The limits controller: what a job, a user and a queue may have at most, and what they have.
 *
 * The ledger counts, for each user in each queue and for each queue, pending jobs, running jobs, and of the
 * resource types that some limit names, how much running jobs hold. A job in a virtual queue counts for that
 * queue's user and queue limits and for the queue limits of its parent, whose own user limits it doesn't
 * touch.
 *
 * An account is a user in a queue, under the limits that apply to them there: those of the queue, changed by
 * the first exception that names the user or one of their groups. Accounts of one user in a queue under
 * different limits (their groups have changed) share what the user has. Accounts are small numbers and stay
 * until the ledger is destroyed: memory grows with the pairs of user and queue, some 100 bytes each.
 *
 * A resource is measured by the caller's function, which says how much of a type the job at hand asks for or
 * holds, >= 0, and is asked only for types that a limit names. What limits_sub is told must be what
 * limits_add was told: a job whose holdings change is taken out before and entered again after.
 *
 * Where the answer is no, `over` (which may be NULL) gets the limit, the first in the order job, user, queue,
 * parent, and in each as configured; its text is the ledger's. Calls are O(limits of the queue), accounts
 * also O(exceptions of the queue).
 *
 * For another configuration, make another ledger and enter all jobs again.
 */
#ifndef SCHED_LIMITS_H
#define SCHED_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/sched_reason.h"
#include "sched/config/setup.h"

struct limits;

/* How much of a resource type the job at hand asks for, or holds. */
typedef int64_t limits_amount_f(void *arg, const char *type);

/* An empty ledger. The setup must outlive it. NULL with ENOMEM. */
struct limits *limits_create(const struct setup *setup);

/* NULL is fine; errno is kept. */
void limits_destroy(struct limits *limits);

/* The account of a user in a queue; user NULL is "". A number, or -1 with ENOMEM. */
int64_t limits_account(struct limits *limits, uint32_t queue, const char *user,
                       const char *const *groups, size_t n_groups);

/* ---- Questions ---- */

/* Whether this much of resources would be within the limits of the user and the queue if nobody else had
 * anything.
 */
bool limits_ever(const struct limits *limits, uint32_t account, limits_amount_f *amount, void *arg,
                 struct sched_reason_limit *over);

/* Whether one job may be of this duration (ticks) and ask for, or hold, this much. */
bool limits_job(const struct limits *limits, uint32_t account, int64_t duration,
                limits_amount_f *amount, void *arg, struct sched_reason_limit *over);

/* Whether n more jobs may be pending. */
bool limits_pending(const struct limits *limits, uint32_t account, uint32_t n,
                    struct sched_reason_limit *over);

/* Whether one more job may run, as far as that is a matter of numbers of jobs: no measuring, no match is
 * needed.
 */
bool limits_open(const struct limits *limits, uint32_t account, struct sched_reason_limit *over);

/* Whether a job that holds this much may run beside what user and queue hold. What it holds none of doesn't
 * stand in its way, even where a limit has become smaller than what is held already.
 */
bool limits_start(const struct limits *limits, uint32_t account, limits_amount_f *amount, void *arg,
                  struct sched_reason_limit *over);

/* Whether any of these calls would measure a job of this account; if not, amount may be NULL. */
bool limits_measures(const struct limits *limits, uint32_t account);

/* ---- Entries ---- */

/* n more pending jobs; fewer if it is negative. */
void limits_wait(struct limits *limits, uint32_t account, int64_t n);

/* A job starts to run; 0, or -1 with ENOMEM and nothing changed. And ends. The limits are not looked at. */
int limits_add(struct limits *limits, uint32_t account, limits_amount_f *amount, void *arg);
void limits_sub(struct limits *limits, uint32_t account, limits_amount_f *amount, void *arg);

/* What user and queue of an account hold decreases. And the last decrease that a rule for the account looks
 * at: its number among all, 0: none. A job over a limit keeps the number, and is looked at again when there
 * is a later one. Why this is a number for each tally and not the log of what the machine has freed
 * (place/freed.h): most of what is freed there is another account's. O(1).
 */
void limits_note_decrease(struct limits *limits, uint32_t account);
int64_t limits_last_decrease(const struct limits *limits, uint32_t account);

/* True if nothing is below 0 and each queue has what its users and virtual queues have together.
 * O(accounts).
 */
bool limits_check(const struct limits *limits);

#endif
