/* What a machine has in all, and what running jobs hold of it. */
#ifndef SERVER_API_MACHINE_SUM_H
#define SERVER_API_MACHINE_SUM_H

#include <stdint.h>

#include "berth/match.h"
#include "server/server.h"

struct machine_sum {
    int64_t nodes, cores, gpus, memory; /* memory: in the machine's units */
    int64_t gpu_memory;                 /* likewise */
};

/* O(vertices). */
struct machine_sum machine_sum(const match_t *machine);

/* Cores, GPUs and memory of GPUs; nodes and memory are 0. O(runs and what they hold). */
struct machine_sum machine_sum_used(const server_t *s);

/* Licences of a name. O(runs and what they hold). */
int64_t machine_sum_licenses(const server_t *s, const char *name);

#endif
