/* Slurm's commands, as pilots need them. Each runs as a child process and is killed after 20 s. */
#ifndef CLI_PILOT_SLURM_H
#define CLI_PILOT_SLURM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "berth/error.h"

struct slurm_ask {
    const char *folder;            /* what the agents are told */
    const char *agent;             /* the program */
    const char *comment;           /* by which its job is known */
    int64_t pilot, nodes, minutes; /* minutes 0: Slurm's default */
    const char *partition;         /* NULL: Slurm's default */
    /* further options of sbatch, ended by NULL; whole nodes are asked for unless they say how much of each */
    char *const *more;
};

/* Whether further options of sbatch, ended by NULL, say how much of each node is wanted. */
bool slurm_asks_for_parts(char *const *more);

/* Submit a pilot. 0, with the job's number; or -1 with a text: EINVAL, Slurm refuses it; ETIMEDOUT, it is not known
 * whether there is a job now; else sbatch could not be run.
 */
int slurm_submit(const struct slurm_ask *ask, struct strbuf *job, berth_error_t *err);

/* The user's jobs of this kind in a form of squeue's, a line each, also those that have just ended. 0, or -1 with a
 * text.
 */
int slurm_queue(const char *form, struct strbuf *lines, berth_error_t *err);

/* Why a job will wait for ever, as Slurm says right away. 0: it says nothing of the kind, or does not answer. -1, with
 * EINVAL and a text.
 */
int slurm_check(const char *job, berth_error_t *err);

/* End a job. 0, or -1 with a text. */
int slurm_cancel(const char *job, berth_error_t *err);

#endif
