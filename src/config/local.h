/* The machine that this process runs on, as a graph. */
#ifndef CONFIG_LOCAL_H
#define CONFIG_LOCAL_H

#include "berth/error.h"
#include "resource/graph.h"

/* Node, cores, memory and GPUs: those of config/gpus.h if it finds any, each with its name as the property `uuid`
 * and its vendor as `vendor`, the node with what gpu_property says of them; else those that hwloc finds. The caller
 * destroys the graph. NULL with ENOENT if hwloc's module can't be loaded, EINVAL or ENOMEM, and a text.
 */
struct graph *local_graph(berth_error_t *err);

#endif
