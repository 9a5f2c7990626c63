/* The short form of a job: a number of tasks with a number of cores, on a number of nodes. The HTTP
 * interface, the command line, scenarios and traces use it, and only this file turns it into a jobspec
 * (RFC 14):
 *
 *     only nodes                        slot[nodes] > node[1], whole ones
 *     tasks                             slot[tasks] > core[cores], gpu[gpus]
 *     with nodes, memory or exclusive   node[nodes] > slot[1] > core, gpu, memory of all tasks of a node
 *     with gpu_memory                   node[nodes] > slot[1] > core, memory; beside that slot gpu[gpus of all tasks of the node,
 *                                       or 1] > gpu-memory[gpu_memory], where the gpu is shared
 *     licences, beside each of these    license:NAME[count], exclusively
 *
 * With nodes_max the count of nodes is a range, and each node that comes beyond `nodes` has what the others have.
 */
#ifndef JOBSPEC_SHORT_H
#define JOBSPEC_SHORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

#define SHORT_LICENSE_NAME                                                                         \
    "a name of at most 63 letters, digits, dots, hyphens and underscores, of which the first is "  \
    "a letter"
#define SHORT_LICENSES_MAX 1000000000 /* tokens of a name, and of a job */
enum { SHORT_LICENSE_NAME_MAX = 63, SHORT_LICENSE_TYPE_SIZE = 80 };

/* Tokens of the machine, so many of a name. */
struct short_license {
    const char *name;
    int64_t count; /* >= 1 */
};

struct short_form {
    int64_t nodes, tasks;     /* 0: not given */
    int64_t nodes_max;        /* up to so many nodes, as many as there are; 0: `nodes` */
    int64_t cores, gpus;      /* of each task; 0: not given */
    int64_t memory;           /* of all tasks, in units of the machine's memory; 0: not given */
    int64_t gpu_memory;       /* of each GPU, in units of that; 0: GPUs are given whole */
    const char *unit;         /* of memory, for the jobspec: "GB"; NULL: none */
    const char *gpu_property; /* that each GPU has; NULL: any */
    bool exclusive;
    const char *constraint;               /* RFC 31, as JSON; NULL */
    const struct short_license *licenses; /* of the whole job */
    size_t n_licenses;
};

/* Whether a text may be the name of a licence: SHORT_LICENSE_NAME. */
bool short_license_is_name(const char *name);

/* The type of resource that is the tokens of a name, "license:matlab"; and the name of the tokens of a type; NULL:
 * of another type.
 */
void short_license_type(const char *name, char type[SHORT_LICENSE_TYPE_SIZE]);
const char *short_license_of(const char *type);

/* Fill in what is not given: if only nodes are, they are whole nodes with a task each; else there is one
 * task, or one for each node, and a task has one core. Returns NULL, or the key that is wrong, and what
 * was expected of it.
 */
const char *short_complete(struct short_form *f, const char **expected);

/* Append a complete short form as a jobspec. O(its length). */
void short_put(struct strbuf *out, const struct short_form *f);

#endif
