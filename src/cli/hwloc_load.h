/* A graph of what hwloc sees, by the module that is linked with it. */
#ifndef CLI_HWLOC_LOAD_H
#define CLI_HWLOC_LOAD_H

#include <stddef.h>

#include "berth/error.h"
#include "resource/graph.h"

/* Fill an empty graph from hwloc's XML, or from the machine this runs on, if that is NULL; of `allow` see
 * cli/hwloc_module.h. Returns 0, or -1 with ENOENT where the module can't be loaded, or what the module and
 * read_machine say, and the graph as it was.
 */
int hwloc_load(struct graph *g, const char *xml, size_t length, const char *allow,
               berth_error_t *err);

/* The same as a graph of its own, to destroy; NULL with errno and a text. */
struct graph *hwloc_graph(const char *xml, size_t length, const char *allow, berth_error_t *err);

#endif
