#include "server/core/gpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
    const struct gpu_name *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* The rank of the node that a vertex is in; -1: none. */
static int64_t rank_of(const struct graph *g, uint32_t v)
{
    while (v != VERTEX_NONE && strcmp(graph_type_name(g, v), "node") != 0)
        v = graph_parent(g, v, GRAPH_CONTAINMENT);
    return v == VERTEX_NONE ? -1 : g->v[v].rank;
}

static char *copy_of_property(const struct graph *g, uint32_t v, const char *key)
{
    const char *value = propset_value(&g->props, g->v[v].props, key);
    return strdup(value ? value : "");
}

static int add_name(struct gpu_names *names, const struct graph *g, uint32_t v)
{
    struct gpu_name *grown = reallocarray(names->v, names->n + 1, sizeof(*grown));
    if (!grown)
        return -1;
    names->v = grown;
    struct gpu_name name = {.rank = rank_of(g, v),
                            .id = g->v[v].id,
                            .name = copy_of_property(g, v, "uuid"),
                            .vendor = copy_of_property(g, v, "vendor"),
                            .device = copy_of_property(g, v, "device")};
    names->v[names->n++] = name;
    return name.name && name.vendor && name.device ? 0 : -1;
}

int gpu_names_collect(struct gpu_names *names, const struct graph *g)
{
    *names = (struct gpu_names){0};
    for (uint32_t v = 0; v < g->n; v++) {
        if (strcmp(graph_type_name(g, v), "gpu") != 0)
            continue;
        const char *uuid = propset_value(&g->props, g->v[v].props, "uuid");
        if (uuid && *uuid && add_name(names, g, v) < 0) {
            gpu_names_clear(names);
            errno = ENOMEM;
            return -1;
        }
    }
    if (names->n > 0)
        qsort(names->v, names->n, sizeof(*names->v), compare_names);
    return 0;
}

void gpu_names_clear(struct gpu_names *names)
{
    for (size_t i = 0; i < names->n; i++) {
        free(names->v[i].name);
        free(names->v[i].vendor);
        free(names->v[i].device);
    }
    free(names->v);
    *names = (struct gpu_names){0};
}

const struct gpu_name *gpu_names_find(const struct gpu_names *names, int64_t rank, int64_t id)
{
    struct gpu_name key = {.rank = rank, .id = id};
    return names->n > 0 ? bsearch(&key, names->v, names->n, sizeof(*names->v), compare_names)
                        : NULL;
}
