/* The agent of a node: dials the gate of a server and carries bytes between it and the node's keeper. */
#ifndef ENGINE_CLUSTER_AGENT_H
#define ENGINE_CLUSTER_AGENT_H

#include <stdint.h>

#include "berth/error.h"

struct agent_options {
    const char *pilots; /* the folder of all pilots */
    uint64_t pilot;
    const char *temporary; /* where the keeper gets its folder, which outlives the agent */
    const char *keeper;    /* the program */
    int64_t end;           /* when the node is taken back, us since 1970; 0: unknown */
};

/* Go on until it is told to leave (SIGTERM), or 30 s before the end; then it has the keeper end its runs, tells
 * the server that nothing of the node runs any more, and returns 0. -1 with a text: it could not begin.
 */
int agent_run(const struct agent_options *options, berth_error_t *err);

#endif
