/* The rows of the table of controllers (controller.c), each from a file of its own. */
#ifndef SCHED_ROWS_H
#define SCHED_ROWS_H

#include "sched/controllers/controller.h"

extern const struct controller
    history_controller; /* history.c: what has been decided, for whoever asks */
extern const struct controller block_controller;      /* blocks.c: resources set aside for a time */
extern const struct controller hold_controller;       /* holds.c: jobs that users hold, */
extern const struct controller begin_controller;      /* and jobs that wait for a time */
extern const struct controller preemption_controller; /* preempt.c */
extern const struct controller
    rebalance_controller; /* rebalance.c: workers that classes have borrowed go to others */
extern const struct controller
    reclaim_controller; /* reclaim.c: what others have beyond their share, or with less priority */
extern const struct controller
    overrun_controller;                          /* overrun.c: jobs that run on after their ends */
extern const struct controller clear_controller; /* clear.c: jobs without limit end before blocks */
extern const struct controller depend_controller; /* dependencies.c: jobs that wait for others */
extern const struct controller gang_controller;   /* gangs.c: members that start together, */
extern const struct controller turn_controller;   /* and gangs that wait for others */
extern const struct controller array_controller;  /* arrays.c: members at a time */
extern const struct controller limit_controller;  /* limiter.c: what a user and a queue may have */
extern const struct controller claim_controller;  /* claims.c: what is withheld for some of them */
extern const struct controller starving_controller; /* starving.c: jobs that have waited for long */
extern const struct controller share_controller;    /* holding.c: shares, of what jobs hold */

/* Whether others would be stopped for a job that a limit has blocked, so that it starts: 1, 0, or -1 with ENOMEM (reclaim.c). If
 * not, jobs like it are not tried until all that are blocked are looked through again.
 */
int reclaim_would(sched_t *s, uint32_t slot);

#endif
