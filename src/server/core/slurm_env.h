/* What a job that was written for Slurm finds in its environment. */
#ifndef SERVER_SLURM_ENV_H
#define SERVER_SLURM_ENV_H

#include <stdbool.h>
#include <stdint.h>

struct slurm_env {
    int64_t id, attempts;
    bool array;
    uint32_t member, members, first,
        last; /* of an array: its index, how many there are, the outermost */
    const char *name, *queue, *user, *nodes, *first_node;
    const char *account;  /* NULL: it has none */
    const char *gpu_list; /* of the first node, "0,1"; "": it has none there */
    uint32_t uid, gid;
    uint64_t n_nodes, tasks, cores_per_task, cores, gpus;
    int64_t memory; /* bytes in all; 0: not asked for */
    int64_t start;  /* seconds since 1970, as the next */
    int64_t end;    /* 0: it has no limit */
};

/* Call `add` with each variable. 0, or -1 as soon as it fails. */
int slurm_env_each(const struct slurm_env *e,
                   int (*add)(void *context, const char *name, const char *value), void *context);

#endif
