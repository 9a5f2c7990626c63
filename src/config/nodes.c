/* A machine of equal nodes. */
#include <errno.h>

#include "base/errtext.h"
#include "config/config.h"
#include "resource/graph.h"

struct making {
    struct graph *g;
    const struct config_resources *resources;
    /* those of the first node, or VERTEX_NONE */
    uint32_t like_core, like_gpu, like_memory, like_gpu_memory;
};

int config_check_nodes(const struct config_resources *resources, berth_error_t *err)
{
    int64_t each = 1 + resources->cores + resources->gpus * (1 + (resources->gpu_memory > 0)) +
                   (resources->memory > 0);

    if (resources->nodes <= (CONFIG_VERTICES_MAX - 1) / each)
        return 0;
    return errtext_set(err, EINVAL,
                       "expected at most %d of nodes, cores, gpus and memories in all, got %lld "
                       "nodes with %lld things in each",
                       CONFIG_VERTICES_MAX, (long long)resources->nodes, (long long)(each - 1));
}

/* Add a child; all children of a type are copies of the first. */
static int add_like(struct making *m, uint32_t node, const struct vertex_spec *spec, int64_t id,
                    uint32_t *like)
{
    uint32_t v =
        *like == VERTEX_NONE ? graph_add(m->g, spec) : graph_add_like(m->g, *like, id, spec->rank);

    if (v == VERTEX_NONE)
        return -1;
    if (*like == VERTEX_NONE)
        *like = v;
    return graph_connect(m->g, node, v, GRAPH_CONTAINMENT);
}

/* The same of a pool, of which jobs have so many units. */
static int add_pool(struct making *m, uint32_t in, const struct vertex_spec *spec, uint32_t *like)
{
    if (spec->size == 0)
        return 0;
    return add_like(m, in, spec, 0, like) < 0
               ? -1
               : graph_set_property(m->g, m->g->n - 1, "divisible", "");
}

static int add_children(struct making *m, uint32_t node, int32_t rank)
{
    const struct config_resources *r = m->resources;
    struct vertex_spec core = {.type = "core", .uniq_id = -1, .size = 1, .rank = rank};
    struct vertex_spec gpu = {.type = "gpu", .uniq_id = -1, .size = 1, .rank = rank};
    struct vertex_spec memory = {
        .type = "memory", .unit = "GB", .uniq_id = -1, .size = r->memory, .rank = rank};
    struct vertex_spec gpu_memory = {.type = "gpu-memory",
                                     .unit = "MiB",
                                     .uniq_id = -1,
                                     .size = r->gpu_memory * 1024,
                                     .rank = rank};

    for (int64_t k = 0; k < r->cores; k++)
        if (add_like(m, node, &core, k, &m->like_core) < 0)
            return -1;
    for (int64_t k = 0; k < r->gpus; k++)
        if (add_like(m, node, &gpu, k, &m->like_gpu) < 0 ||
            add_pool(m, (uint32_t)(m->g->n - 1), &gpu_memory, &m->like_gpu_memory) < 0)
            return -1;
    return add_pool(m, node, &memory, &m->like_memory);
}

static int fill_cluster(struct making *m)
{
    struct vertex_spec spec = {.type = "cluster", .id = 0, .uniq_id = -1, .size = 1, .rank = -1};
    uint32_t cluster = graph_add(m->g, &spec), like = VERTEX_NONE;

    if (cluster == VERTEX_NONE)
        return -1;
    graph_set_root(m->g, GRAPH_CONTAINMENT, cluster);
    spec.type = "node";
    for (int64_t k = 0; k < m->resources->nodes; k++) {
        spec.rank = (int32_t)k;
        if (add_like(m, cluster, &spec, k, &like) < 0 ||
            add_children(m, (uint32_t)(m->g->n - 1), spec.rank) < 0)
            return -1;
    }
    return graph_seal(m->g);
}

resource_graph_t *config_make_nodes(const struct config_resources *resources, berth_error_t *err)
{
    struct making m = {.resources = resources,
                       .like_core = VERTEX_NONE,
                       .like_gpu = VERTEX_NONE,
                       .like_memory = VERTEX_NONE,
                       .like_gpu_memory = VERTEX_NONE};

    if (config_check_nodes(resources, err) < 0)
        return NULL;
    m.g = graph_create();
    if (m.g && fill_cluster(&m) == 0)
        return m.g;
    graph_destroy(m.g);
    errtext_no_memory(err);
    return NULL;
}
