/* The short form of a job: a number of tasks with a number of cores, on a number of nodes. The HTTP
 * interface, the command line, scenarios and traces use it, and only this file turns it into a jobspec
 * (RFC 14):
 *
 *     only nodes                        slot[nodes] > node[1], whole ones
 *     tasks                             slot[tasks] > core[cores], gpu[gpus]
 *     with nodes, memory or exclusive   node[nodes] > slot[1] > core, gpu, memory of all tasks of a node
 */
#ifndef JOBSPEC_SHORT_H
#define JOBSPEC_SHORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

struct short_form {
    int64_t nodes, tasks; /* 0: not given */
    int64_t cores, gpus;  /* of each task; 0: not given */
    int64_t memory;       /* of all tasks, in units of the machine's memory; 0: not given */
    const char *unit;     /* of memory, for the jobspec: "GB"; NULL: none */
    bool exclusive;
    const char *constraint; /* RFC 31, as JSON; NULL */
};

/* Fill in what is not given: if only nodes are, they are whole nodes with a task each; else there is one
 * task, or one for each node, and a task has one core. Returns NULL, or the key that is wrong, and what
 * was expected of it.
 */
const char *short_complete(struct short_form *f, const char **expected);

/* Append a complete short form as a jobspec. O(its length). */
void short_put(struct strbuf *out, const struct short_form *f);

#endif
