#include "config/hwloc_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "config/hwloc_module.h"
#include "config/module_load.h"
#include "resource/readers/machine.h"

#define MODULE "berth-hwloc.so"

int hwloc_load(struct graph *g, const char *xml, size_t length, const char *allow,
               berth_error_t *err)
{
    int (*read)(const char *, size_t, const char *, struct machine *, berth_error_t *);
    struct machine machine = {0};
    void *symbol = module_load(MODULE, HWLOC_MODULE_FUNCTION, err);

    if (!symbol)
        return -1;
    memcpy(&read, &symbol, sizeof(read));
    int rc = read(xml, length, allow, &machine, err);
    if (rc == 0)
        rc = read_machine(g, &machine, err);
    int saved = errno;
    machine_clear(&machine);
    errno = saved;
    return rc;
}

int hwloc_cpus(struct hwloc_cpus *cpus, berth_error_t *err)
{
    int (*read)(struct hwloc_cpus *, berth_error_t *);
    void *symbol = module_load(MODULE, HWLOC_MODULE_CPUS, err);

    if (!symbol)
        return -1;
    memcpy(&read, &symbol, sizeof(read));
    return read(cpus, err);
}

void hwloc_cpus_clear(struct hwloc_cpus *cpus)
{
    for (size_t i = 0; i < cpus->n; i++)
        free(cpus->v[i]);
    free(cpus->v);
    *cpus = (struct hwloc_cpus){0};
}

struct graph *hwloc_graph(const char *xml, size_t length, const char *allow, berth_error_t *err)
{
    struct graph *graph = graph_create();

    if (!graph) {
        errtext_set(err, ENOMEM, "out of memory");
        return NULL;
    }
    if (hwloc_load(graph, xml, length, allow, err) == 0)
        return graph;
    int saved = errno;
    graph_destroy(graph);
    errno = saved;
    return NULL;
}
