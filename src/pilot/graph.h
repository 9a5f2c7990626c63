/* New nodes as a graph (JGF) that can be attached to a machine: the way down to them, and the nodes. */
#ifndef PILOT_GRAPH_H
#define PILOT_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "berth/match.h"

struct pilot_vertex {
    const char *name;
    int64_t cores, gpus;
    int64_t memory;               /* bytes */
    const char *property, *value; /* NULL: none */
    const char *properties;       /* further ones, separated by commas; NULL: none */
};

/* NULL with ENOMEM; the caller frees it. `unit`: bytes in a unit of the machine's memory; 0: it counts none, so that the
 * nodes have none. Ranks follow the machine's highest, in the order of the nodes. O(vertices).
 */
char *pilot_nodes_graph(const match_t *machine, int64_t unit, const struct pilot_vertex *node,
                        size_t n);

#endif
