/* Nodes of pilots, as a graph that can be attached to the machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/dict.h"
#include "engine/cluster/node.h"
#include "pilot/graph.h"
#include "resource/graph.h"
#include "server/core/machine.h"
#include "server/core/pilots.h"

/* A property of nodes that only may come. Neither a partition nor a feature of Slurm's has a blank in its name. */
#define SPARE "may come"

/* Of a list, or a number. */
static int64_t count_of(const json_t *value)
{
    return json_is_array(value) ? (int64_t)json_array_size(value) : json_integer_value(value);
}

static struct pilot_vertex vertex_of(const json_t *node, const char *name, const char *property,
                                     const char *value)
{
    const json_t *rank = json_object_get(node, "rank");
    return (struct pilot_vertex){.name = name,
                                 .has_rank = rank != NULL,
                                 .rank = json_integer_value(rank),
                                 .cores = count_of(json_object_get(node, "cores")),
                                 .gpus = count_of(json_object_get(node, "gpus")),
                                 .memory = json_integer_value(json_object_get(node, "memory")),
                                 .property = property,
                                 .value = value};
}

char *pilot_graph(const server_t *s, json_t *const *nodes, size_t n)
{
    struct pilot_vertex *v = calloc(n + 1, sizeof(*v));
    char(*pilot)[24] = calloc(n + 1, sizeof(*pilot)), *text = NULL;
    for (size_t i = 0; v && pilot && i < n; i++) {
        snprintf(pilot[i], sizeof(pilot[i]), "%" JSON_INTEGER_FORMAT,
                 json_integer_value(json_object_get(nodes[i], "pilot")));
        v[i] = vertex_of(nodes[i], json_string_value(json_object_get(nodes[i], "vertex")), "pilot",
                         pilot[i]);
    }
    if (v && pilot)
        text = pilot_nodes_graph(s->machine, machine_memory_unit(s), v, n);
    free(v);
    free(pilot);
    return text;
}

char *ruled_graph(const server_t *s, json_t *const *nodes, size_t n)
{
    struct pilot_vertex *v = calloc(n + 1, sizeof(*v));
    for (size_t i = 0; v && i < n; i++) {
        v[i] =
            vertex_of(nodes[i], json_string_value(json_object_get(nodes[i], "vertex")), NULL, NULL);
        v[i].parts = true;
        v[i].properties = json_string_value(json_object_get(nodes[i], "properties"));
    }
    char *text = v ? pilot_nodes_graph(s->machine, machine_memory_unit(s), v, n) : NULL;
    free(v);
    return text;
}

char *spare_graph(const server_t *s, const json_t *node, const char *base, int64_t n)
{
    struct pilot_vertex *v = calloc((size_t)n, sizeof(*v));
    char(*names)[64] = calloc((size_t)n, sizeof(*names)), *text = NULL;
    for (int64_t i = 0; v && names && i < n; i++) {
        snprintf(names[i], sizeof(names[i]), "%s-%lld", base, (long long)i);
        v[i] = vertex_of(node, names[i], SPARE, "");
    }
    if (v && names)
        text = pilot_nodes_graph(s->machine, machine_memory_unit(s), v, (size_t)n);
    free(v);
    free(names);
    return text;
}

bool graph_is_spare(const struct graph *g, uint32_t v)
{
    while (v != VERTEX_NONE && g->v[v].type != TYPE_NODE)
        v = graph_parent(g, v, GRAPH_CONTAINMENT);
    return v != VERTEX_NONE && propset_value(&g->props, g->v[v].props, SPARE);
}

bool pilot_name_taken(const server_t *s, const char *vertex)
{
    const struct graph *g = match_graph(s->machine);
    for (uint32_t v = 0; v < g->n; v++)
        if (!g->v[v].gone && graph_is_named(g, v, vertex, strlen(vertex)))
            return true;
    return false;
}

/* A name of a node that is to join. */
struct wanted_name {
    struct dict_entry entry;
    bool *taken;
};

int pilot_names_taken(const server_t *s, const struct engine_node *const *nodes, size_t n,
                      bool *taken)
{
    const struct graph *g = match_graph(s->machine);
    struct wanted_name *all = calloc(n + 1, sizeof(*all));
    struct dict names = {0};
    struct strbuf name = {0};
    int rc = all ? 0 : -1;
    for (size_t i = 0; i < n && rc == 0; i++) {
        const char *text = nodes[i]->brings->name;
        all[i] = (struct wanted_name){{.text = text, .length = strlen(text)}, &taken[i]};
        taken[i] = dict_find(&names, text, all[i].entry.length);
        rc = taken[i] ? 0 : dict_reserve(&names);
        if (rc == 0 && !taken[i])
            dict_put(&names, &all[i].entry);
    }
    for (uint32_t v = 0; v < g->n && rc == 0; v++) {
        if (g->v[v].gone)
            continue;
        strbuf_reset(&name);
        graph_name(g, v, &name);
        /* The entry is the first member. */
        struct wanted_name *found =
            (struct wanted_name *)(void *)dict_find(&names, strbuf_text(&name), name.len);
        if (found)
            *found->taken = true;
        rc = name.failed ? -1 : 0;
    }
    dict_clear(&names);
    strbuf_clear(&name);
    free(all);
    errno = ENOMEM;
    return rc;
}
