/* Trials: what would become of a waiting job if it asked for less.
 *
 * They are made on a copy of the scheduler, with a machine of its own, in which the job's place in the queue is taken by
 * probes that are held: each is let go for one pass, and taken out again. So all that speaks for or against a start is
 * what the core says, and nothing of it is known here.
 */
#ifndef SERVER_TRIAL_H
#define SERVER_TRIAL_H

#include "server/server_priv.h"

#define TRIAL_JOBS_MAX  5000 /* waiting jobs that are copied, the first ones */
#define TRIAL_CORES_MAX 16   /* smaller requests that are tried */

struct trial {
    int64_t duration; /* ticks: the longest found with which it would start now; 0: none */
    int64_t cores;    /* the largest such number of cores in all, below its own; 0: none */
};

/* handle: of a job of the server's that waits for resources. EINVAL, ENOMEM or what the machine's reader says. */
int trial_run(server_t *s, sched_job_t handle, struct trial *found, berth_error_t *err);

#endif
