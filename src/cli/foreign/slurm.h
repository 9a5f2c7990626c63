/* Options of sbatch, on its command line or in #SBATCH lines, as options of `berth submit`.
 *
 * Slurm counts memory and GPUs by node, CPU or in all, where a job here has a sum of memory and GPUs for each task; so
 * options are collected first and put into words when all are known.
 */
#ifndef CLI_FOREIGN_SLURM_H
#define CLI_FOREIGN_SLURM_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/foreign/options.h"
#include "cli/foreign/slurm_values.h"

/* What has been read. Texts belong to the words that were read, which have to stay. 0 and NULL: not given. */
struct slurm {
    int64_t nodes, nodes_max, tasks, tasks_per_node, cpus;
    int64_t memory_node, memory_cpu, memory_gpu;
    int64_t gpus, gpus_node, gpus_task;
    char gpu_type[SLURM_TYPE_SIZE]; /* "": any */
    const char *array, *features, *hosts, *not_hosts;
    const char *file[3]; /* input, output, error */
    const char *wrap;
    const char *signal;  /* as submit takes it */
    int64_t signal_time; /* seconds before the limit */
    int64_t limit;       /* seconds; -1: none; 0: not given */
    bool is_step;        /* set beforehand: of srun in a job */
    const char *tool;    /* set beforehand: whose options they are; NULL: sbatch's */
    const char *mail_type, *mail_user;
    bool requeue, append, parsable, test_only, wait, wants_help, wants_version;
    struct foreign out; /* words for submit that need no sum; warnings */
};

/* Read options up to the first other word: its place, or -1 with errno and a text. `where` stands before messages. */
int slurm_options(struct slurm *s, char **words, int n, const char *where, berth_error_t *err);

/* Add the words for what was collected to s->out, and tell how many tasks the script has. 0, or -1 with errno and a
 * text.
 */
int slurm_finish(struct slurm *s, const char *where, int64_t *tasks, berth_error_t *err);

void slurm_clear(struct slurm *s);

#endif
