/* Which options sbatch has, and which of them mean something here. */
#ifndef CLI_FOREIGN_SLURM_LIST_H
#define CLI_FOREIGN_SLURM_LIST_H

#include "cli/foreign/options.h"

enum slurm_what {
    SLURM_AS_IS, /* the same value under another name */
    SLURM_NOTHING,
    SLURM_NOT_HERE,
    SLURM_ARRAY,
    SLURM_BEGIN,
    SLURM_CPUS,
    SLURM_DEPENDENCY,
    SLURM_ERROR,
    SLURM_EXCLUSIVE,
    SLURM_EXPORT,
    SLURM_FEATURES,
    SLURM_GPUS,
    SLURM_GPUS_NODE,
    SLURM_GPUS_TASK,
    SLURM_GRES,
    SLURM_HELP,
    SLURM_HOSTS,
    SLURM_INPUT,
    SLURM_MEM,
    SLURM_MEM_CPU,
    SLURM_MEM_GPU,
    SLURM_NAME,
    SLURM_NICE,
    SLURM_NODES,
    SLURM_NOT_HOSTS,
    SLURM_NO_REQUEUE,
    SLURM_OPEN_MODE,
    SLURM_OUTPUT,
    SLURM_PARSABLE,
    SLURM_PARTITION,
    SLURM_REQUEUE,
    SLURM_SIGNAL,
    SLURM_TASKS,
    SLURM_TASKS_NODE,
    SLURM_TEST_ONLY,
    SLURM_MAIL_TYPE,
    SLURM_MAIL_USER,
    SLURM_TIME,
    SLURM_VERSION,
    SLURM_WAIT,
    SLURM_WRAP
};

extern const struct foreign_option slurm_list[];
extern const size_t slurm_list_n;

#endif
