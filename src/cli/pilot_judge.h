/* What follows for the nodes of pilots from what Slurm says. Pure: no clock, no process. */
#ifndef CLI_PILOT_JUDGE_H
#define CLI_PILOT_JUDGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/slurm/queue.h"
#include "pilot/plan.h"

#define PILOT_TWICE 10 /* s between two answers that do not have a job, until there is none */
#define PILOT_NEW   30 /* s in which a pilot need not have a job yet */

/* What follows from what is known of a pilot (an object of GET /v1/pilots) at a time (s since 1970): a change for
 * PATCH /v1/pilots/PILOT, or NULL, there is none.
 *
 * job: its line of squeue; NULL: Slurm has answered, and has no such job, for the first time at `absent_since`
 * (0: Slurm has not answered).
 *
 *     slurm, reason, start  as it says
 *     end         when its nodes are taken back, if that has changed
 *     given_up    nodes that Slurm no longer counts to it, or all of a job that ended by NODE_FAIL: they may go on,
 *                 as far as anybody knows, and are over only PILOT_LATE after their end
 *     lost        nodes on which nothing runs any more, for certain: the job is over, and Slurm had not given them up
 *     over        there is no job any more, nor will one come
 */
json_t *pilot_judge(const json_t *pilot, const struct squeue_job *job, int64_t absent_since,
                    int64_t now);

#endif
