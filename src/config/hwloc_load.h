/* A graph of what hwloc sees, through the module that is linked with hwloc. */
#ifndef CONFIG_HWLOC_LOAD_H
#define CONFIG_HWLOC_LOAD_H

#include <stddef.h>

#include "berth/error.h"
#include "resource/graph.h"
#include "resource/readers/machine.h"

/* Fill an empty graph from hwloc's XML, or if that is NULL, from the local machine; config/hwloc_module.h
 * describes `allow`. XML is read by a child process (config/apart.h), within 10 s of processor time, so this
 * process must have one thread. Returns 0; or -1 with ENOENT if the module can't be loaded, or the errno of
 * the module, apart_do or read_machine, and leaves the graph as it was.
 */
int hwloc_load(struct graph *g, const char *xml, size_t length, const char *allow,
               berth_error_t *err);

/* The same as a machine, which is empty before. */
int hwloc_machine(struct machine *machine, const char *xml, size_t length, const char *allow,
                  berth_error_t *err);

/* The same as a new graph, which the caller destroys; NULL with errno and a text. */
struct graph *hwloc_graph(const char *xml, size_t length, const char *allow, berth_error_t *err);

/* The system's CPUs of each core of this machine, by the core's id: "0,8". */
struct hwloc_cpus {
    char **v; /* by core; NULL: there is no such core */
    size_t n;
};

/* -1 with errno and a text, as above. */
int hwloc_cpus(struct hwloc_cpus *cpus, berth_error_t *err);
void hwloc_cpus_clear(struct hwloc_cpus *cpus);

#endif
