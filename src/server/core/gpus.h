/* The names of the GPUs of the machine: what tells a program which it may use. */
#ifndef SERVER_CORE_GPUS_H
#define SERVER_CORE_GPUS_H

#include <stddef.h>
#include <stdint.h>

#include "resource/graph.h"

struct gpu_name {
    int64_t rank, id;    /* of the node, and in it */
    char *name, *vendor; /* vendor "": unknown */
    char *device;        /* as config/gpus.h has it; "": unknown */
};

struct gpu_names {
    struct gpu_name *v; /* by rank and id; those that have no name are not there */
    size_t n;
};

/* Collect them from the properties `uuid`, `vendor` and `device` of the machine's GPUs. Returns 0, or -1 with ENOMEM
 * and *names empty.
 */
int gpu_names_collect(struct gpu_names *names, const struct graph *g);
void gpu_names_clear(struct gpu_names *names);

/* NULL: it has no name. O(log n). */
const struct gpu_name *gpu_names_find(const struct gpu_names *names, int64_t rank, int64_t id);

#endif
