#include "config/local.h"

#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "config/gpus.h"
#include "config/hwloc_load.h"

/* Without sockets: everything that a slot asks for must be in one vertex of the lowest type above what it
 * asks for (doc/fluxion.md), so that with sockets a job could not have more cores or memory than a socket.
 */
#define TYPES          "node,core,memory"
#define TYPES_WITH_GPU TYPES ",gpu"

static int put_machine_text(struct machine *m, const char *text, uint32_t *number)
{
    return intern_put(&m->texts, text, strlen(text), number);
}

/* The memory of the GPU that was added last, of which jobs may have parts. */
static int add_gpu_memory(struct machine *m, int64_t size)
{
    struct machine_object memory = {.in = m->n - 1,
                                    .name = MACHINE_NONE,
                                    .property_key = MACHINE_NONE,
                                    .size = size,
                                    .divisible = true};

    if (put_machine_text(m, "gpu-memory", &memory.type) < 0 ||
        put_machine_text(m, "MiB", &memory.unit) < 0)
        return -1;
    memory.basename = memory.type;
    return machine_add(m, &memory);
}

/* Put them behind all else that is in the node, which is the first object. */
static int add_gpus(struct machine *m, const struct gpus *gpus, berth_error_t *err)
{
    struct machine_object gpu = {.in = 0, .name = MACHINE_NONE, .unit = MACHINE_NONE, .size = 1};

    if (gpus->n == 0)
        return 0;
    if (put_machine_text(m, "gpu", &gpu.type) < 0 ||
        put_machine_text(m, "uuid", &gpu.property_key) < 0)
        return errtext_no_memory(err);
    gpu.basename = gpu.type;
    for (size_t i = 0; i < gpus->n; i++) {
        gpu.id = (int64_t)i;
        if (put_machine_text(m, gpus->v[i].name, &gpu.property_value) < 0 ||
            machine_add(m, &gpu) < 0 ||
            (gpus->v[i].memory > 0 && add_gpu_memory(m, gpus->v[i].memory) < 0))
            return errtext_no_memory(err);
    }
    return 0;
}

static int set_kinds(struct graph *g, uint32_t v, const struct gpu *gpu)
{
    struct strbuf text = {0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && gpu_property(gpu, i, &text); i++)
        rc = text.failed ? -1 : graph_set_property(g, v, strbuf_text(&text), "");
    strbuf_clear(&text);
    return rc;
}

/* A GPU's id is its place in the list. */
static int set_gpu(struct graph *g, uint32_t v, const struct gpus *gpus)
{
    int64_t id = g->v[v].id;

    if (graph_set_property(g, v, "vendor", gpus->vendor) < 0)
        return -1;
    const struct gpu *gpu = id >= 0 && (uint64_t)id < gpus->n ? &gpus->v[id] : NULL;
    if (gpu && set_kinds(g, v, gpu) < 0)
        return -1;
    return gpu && *gpu->device ? graph_set_property(g, v, "device", gpu->device) : 0;
}

static int set_properties(struct graph *g, const struct gpus *gpus, berth_error_t *err)
{
    int rc = 0;

    for (uint32_t v = 0; v < g->n && gpus->n > 0 && rc == 0; v++) {
        const char *type = graph_type_name(g, v);
        if (strcmp(type, "gpu") == 0)
            rc = set_gpu(g, v, gpus);
        for (size_t i = 0; i < gpus->n && rc == 0 && strcmp(type, "node") == 0; i++)
            rc = set_kinds(g, v, &gpus->v[i]);
    }
    return rc < 0 ? errtext_no_memory(err) : 0;
}

static int fill_from_hwloc(struct graph *g, const struct gpus *gpus, berth_error_t *err)
{
    struct machine machine = {0};
    int rc = hwloc_machine(&machine, NULL, 0, gpus->n > 0 ? TYPES : TYPES_WITH_GPU, err);

    if (rc == 0)
        rc = add_gpus(&machine, gpus, err);
    if (rc == 0)
        rc = read_machine(g, &machine, err);
    if (rc == 0)
        rc = set_properties(g, gpus, err);
    machine_clear(&machine);
    return rc;
}

struct graph *local_graph(berth_error_t *err)
{
    struct graph *g = graph_create();
    struct gpus gpus = {0};
    int rc =
        g && gpus_find_own(&gpus) == 0 ? fill_from_hwloc(g, &gpus, err) : errtext_no_memory(err);
    int saved = errno;

    gpus_clear(&gpus);
    if (rc < 0) {
        graph_destroy(g);
        g = NULL;
    }
    errno = saved;
    return g;
}
