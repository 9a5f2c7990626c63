/* The short form of a job: so many tasks with so many cores, on so many nodes. It is what the HTTP
 * interface and the command line have, scenarios, and traces, and is made into a jobspec (RFC 14) here
 * alone:
 *
 *     of nodes alone                    slot[nodes] > node[1], whole ones
 *     of tasks                          slot[tasks] > core[cores], gpu[gpus]
 *     on nodes, with memory, exclusive  node[nodes] > slot[1] > core, gpu, memory of all tasks of a node together
 */
#ifndef JOBSPEC_SHORT_H
#define JOBSPEC_SHORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

struct short_form {
    int64_t nodes, tasks; /* 0: not said */
    int64_t cores, gpus;  /* of each task; 0: not said */
    int64_t memory;       /* of all, in units of the machine's memory; 0: not said */
    const char *unit;     /* the jobspec tells this one, "GB"; NULL: none */
    bool exclusive;
    const char *constraint; /* RFC 31, as JSON; NULL */
};

/* Say what was not said: nodes alone are whole ones with a task each; else there is one task, or one a
 * node, and a task has a core. Returns NULL, or the key that is wrong and what was expected of it.
 */
const char *short_complete(struct short_form *f, const char **expected);

/* Append a complete one as a jobspec. O(its length). */
void short_put(struct strbuf *out, const struct short_form *f);

#endif
