/* New nodes as a graph (JGF) that can be attached to a machine: the way down to them, and the nodes. */
#ifndef PILOT_GRAPH_H
#define PILOT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/match.h"

#define PILOT_MEMORY_PARTS 32

struct pilot_vertex {
    const char *name;
    int64_t cores, gpus;
    int64_t memory; /* bytes */
    bool
        parts; /* its memory is in parts (pilot_memory_parts), each of which may be down; else in one */
    bool has_rank;
    int64_t rank; /* if so, which nobody has; else the one after the highest. It is its id, too */
    const char *property, *value; /* NULL: none */
    const char *properties;       /* further ones, separated by commas; NULL: none */
};

/* The size of the i-th of n parts of a whole, which are as even as can be. 0 <= i < n. */
int64_t pilot_part(int64_t whole, int64_t n, int64_t i);

/* As many parts of memory as there are, of so many units. */
int64_t pilot_memory_parts(int64_t units);

/* The highest rank of a machine; -1: it has none. O(vertices). */
int64_t pilot_highest_rank(const match_t *machine);

/* NULL with ENOMEM; the caller frees it. `unit`: bytes in a unit of the machine's memory; 0: it counts none, so that the
 * nodes have none. Ranks that are not given follow the machine's highest, in the order of the nodes. O(vertices).
 */
char *pilot_nodes_graph(const match_t *machine, int64_t unit, const struct pilot_vertex *node,
                        size_t n);

#endif
