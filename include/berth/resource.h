/* The resource graph: a machine as vertices (cluster, rack, node, core, memory, ...) and edges.
 *
 * A graph is read from text and given to a matcher (berth/match.h), which then owns it.
 */
#ifndef BERTH_RESOURCE_H
#define BERTH_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graph resource_graph_t;

/* Read a graph. Formats:
 *   grug            a recipe in GraphML
 *   jgf             a graph in Flux's JSON Graph Format; jgf_shorthand is read the same way
 *   rv1exec         R, version 1 (RFC 20): the ranks and what each has; rv1exec_force is the same
 * Returns the graph, or NULL with EINVAL (a wrong text or an unknown format), EEXIST or ENOMEM. O(vertices).
 */
resource_graph_t *resource_graph_read(const char *format, const char *text, size_t length,
                                      berth_error_t *err);

/* Destroy a graph that no matcher owns. NULL is allowed. */
void resource_graph_destroy(resource_graph_t *graph);

/* The number of vertices and of edges. */
size_t resource_graph_vertices(const resource_graph_t *graph);
size_t resource_graph_edges(const resource_graph_t *graph);

/* No job is given resources that are down or drained; jobs that run there keep what they hold. */
enum resource_status { RESOURCE_UP, RESOURCE_DOWN, RESOURCE_DRAINED };

/* The ids from first to last, both included. */
struct resource_range {
    uint32_t first;
    uint32_t last;
};

/* What a job holds of a host. Ranges of ids are ascending, with a gap between any two. */
struct resource_host {
    const char *name;
    int32_t rank;
    const struct resource_range *cores;
    size_t n_cores; /* ranges */
    const struct resource_range *gpus;
    size_t n_gpus;
    int64_t memory;  /* units */
    size_t n_shared; /* GPUs, of these, that it may have to share */
    int64_t of_gpus; /* units of the memory of GPUs: all of whole ones, and its parts of others */
};

#ifdef __cplusplus
}
#endif

#endif
