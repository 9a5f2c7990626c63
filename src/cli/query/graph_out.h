/* The graph of a machine as a file for other programs. */
#ifndef CLI_QUERY_GRAPH_OUT_H
#define CLI_QUERY_GRAPH_OUT_H

#include <stdbool.h>

#include "berth/error.h"
#include "berth/resource.h"

/* Write BASE.dot for Graphviz, or BASE.graphml. Returns 0, or -1 with errno and a text that names
 * the file.
 */
int graph_out(const resource_graph_t *graph, const char *base, bool graphml, berth_error_t *err);

#endif
