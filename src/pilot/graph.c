#include "pilot/graph.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json_out.h"
#include "resource/graph.h"

struct drawing {
    const struct graph *g;
    uint32_t root;
    int64_t unique, rank; /* the highest in use */
    struct strbuf nodes_text, edges_text, path;
    struct json_out nodes, edges;
};

int64_t pilot_highest_rank(const match_t *machine)
{
    const struct graph *g = match_graph(machine);
    int64_t rank = -1;
    for (uint32_t v = 0; v < g->n; v++)
        rank = g->v[v].rank > rank ? g->v[v].rank : rank;
    return rank;
}

static void survey(struct drawing *d)
{
    d->unique = d->rank = -1;
    for (uint32_t v = 0; v < d->g->n; v++) {
        const struct vertex *x = &d->g->v[v];
        int64_t unique = graph_uniq_id(d->g, v);
        d->unique = unique > d->unique ? unique : d->unique;
        d->rank = x->rank > d->rank ? x->rank : d->rank;
    }
}

struct thing {
    const char *type, *basename, *name, *unit, *property, *value;
    const char *properties; /* further ones, separated by commas; NULL: none */
    int64_t unique, id, rank, size;
};

/* Each once. */
static void put_property_names(struct json_out *out, const char *list)
{
    for (const char *at = list; at && *at;) {
        char name[256];
        size_t n = strcspn(at, ",");
        snprintf(name, sizeof(name), "%.*s", n < sizeof(name) ? (int)n : 0, at);
        bool before = false;
        for (const char *b = list; b < at && !before; b += strcspn(b, ",") + 1)
            before = strncmp(b, at, n) == 0 && b[n] == ',';
        if (*name && !before)
            json_put_text(out, name, "");
        at += n + (at[n] == ',');
    }
}

static void put_thing(struct drawing *d, const struct thing *t, const char *path)
{
    struct json_out *out = &d->nodes;
    json_open(out, NULL, '{');
    json_put_int_string(out, "id", t->unique);
    json_open(out, "metadata", '{');
    json_put_string(out, "type", t->type);
    json_put_text(out, "basename", t->basename);
    json_put_text(out, "name", t->name);
    json_put_int(out, "id", t->id);
    json_put_int(out, "uniq_id", t->unique);
    json_put_int(out, "rank", t->rank);
    json_put_int(out, "size", t->size);
    if (t->unit)
        json_put_string(out, "unit", t->unit);
    json_open(out, "properties", '{');
    if (t->property)
        json_put_text(out, t->property, t->value);
    put_property_names(out, t->properties);
    json_close(out, '}');
    json_open(out, "paths", '{');
    json_put_text(out, "containment", path);
    json_close(out, '}');
    json_close(out, '}');
    json_close(out, '}');
}

static void put_containment(struct drawing *d, int64_t source, int64_t target)
{
    json_open(&d->edges, NULL, '{');
    json_put_int_string(&d->edges, "source", source);
    json_put_int_string(&d->edges, "target", target);
    json_close(&d->edges, '}');
}

static void put_root(struct drawing *d)
{
    const struct vertex *x = &d->g->v[d->root];
    struct strbuf name = {0};
    graph_name(d->g, d->root, &name);
    struct thing root = {.type = graph_type_name(d->g, d->root),
                         .basename = graph_basename(d->g, d->root),
                         .name = strbuf_text(&name),
                         .unique = graph_uniq_id(d->g, d->root),
                         .id = x->id,
                         .rank = x->rank,
                         .size = x->size};
    put_thing(d, &root, strbuf_text(&d->path));
    d->nodes_text.failed = d->nodes_text.failed || name.failed;
    strbuf_clear(&name);
}

int64_t pilot_part(int64_t whole, int64_t n, int64_t i)
{
    return whole * (i + 1) / n - whole * i / n;
}

int64_t pilot_memory_parts(int64_t units)
{
    return units < PILOT_MEMORY_PARTS ? units : PILOT_MEMORY_PARTS;
}

/* n children of the node, "core0", ..., which have a size together. */
static void put_children(struct drawing *d, int64_t node, struct thing t, int64_t n)
{
    size_t length = d->path.len;
    int64_t size = t.size;
    struct strbuf name = {0};
    for (int64_t i = 0; i < n; i++) {
        strbuf_reset(&name);
        strbuf_puts(&name, t.type);
        strbuf_put_int(&name, i);
        d->path.len = length;
        strbuf_putc(&d->path, '/');
        strbuf_puts(&d->path, strbuf_text(&name));
        t.basename = t.type;
        t.name = strbuf_text(&name);
        t.unique = ++d->unique;
        t.id = i;
        t.size = pilot_part(size, n, i);
        put_thing(d, &t, strbuf_text(&d->path));
        put_containment(d, node, t.unique);
        d->nodes_text.failed = d->nodes_text.failed || name.failed;
    }
    d->path.len = length;
    strbuf_clear(&name);
}

static const char *unit_name(int64_t bytes)
{
    static const char *const names[] = {"KB", "MB", "GB", "TB"};
    size_t i = 0;
    for (; i < 3 && bytes > (INT64_C(1) << (10 * (i + 1))); i++)
        ;
    return names[i];
}

/* A node with what it has. */
static void put_node_tree(struct drawing *d, int64_t unit, const struct pilot_vertex *node)
{
    size_t length = d->path.len;
    int64_t memory = unit > 0 ? node->memory / unit : 0;
    int64_t rank = node->has_rank ? node->rank : d->rank + 1;
    struct thing t = {.type = "node",
                      .basename = node->name,
                      .name = node->name,
                      .unique = ++d->unique,
                      .id = rank,
                      .rank = rank,
                      .size = 1,
                      .property = node->property,
                      .value = node->value,
                      .properties = node->properties};
    d->rank = rank > d->rank ? rank : d->rank;
    strbuf_putc(&d->path, '/');
    strbuf_puts(&d->path, t.name);
    put_thing(d, &t, strbuf_text(&d->path));
    put_containment(d, graph_uniq_id(d->g, d->root), t.unique);
    put_children(d, t.unique, (struct thing){.type = "core", .rank = rank, .size = node->cores},
                 node->cores);
    put_children(d, t.unique, (struct thing){.type = "gpu", .rank = rank, .size = node->gpus},
                 node->gpus);
    if (memory > 0)
        put_children(d, t.unique,
                     (struct thing){.type = "memory",
                                    .rank = rank,
                                    .size = memory,
                                    .unit = unit_name(unit),
                                    .property = "divisible",
                                    .value = ""},
                     node->parts ? pilot_memory_parts(memory) : 1);
    d->path.len = length;
}

static void begin_drawing(struct drawing *d, const match_t *machine)
{
    *d = (struct drawing){.g = match_graph(machine)};
    d->root = d->g->root[GRAPH_CONTAINMENT];
    d->nodes = (struct json_out){.text = &d->nodes_text};
    d->edges = (struct json_out){.text = &d->edges_text};
    survey(d);
    graph_path(d->g, d->root, GRAPH_CONTAINMENT, &d->path);
    put_root(d);
}

static char *end_drawing(struct drawing *d)
{
    struct strbuf text = {0};
    struct json_out out = {.text = &text};
    json_open(&out, NULL, '{');
    json_open(&out, "graph", '{');
    json_open(&out, "nodes", '[');
    json_put_raw(&out, NULL, strbuf_text(&d->nodes_text));
    json_close(&out, ']');
    json_open(&out, "edges", '[');
    json_put_raw(&out, NULL, strbuf_text(&d->edges_text));
    json_close(&out, ']');
    json_close(&out, '}');
    json_close(&out, '}');
    text.failed = text.failed || d->nodes_text.failed || d->edges_text.failed || d->path.failed;
    strbuf_clear(&d->nodes_text);
    strbuf_clear(&d->edges_text);
    strbuf_clear(&d->path);
    return strbuf_steal(&text);
}

char *pilot_nodes_graph(const match_t *machine, int64_t unit, const struct pilot_vertex *node,
                        size_t n)
{
    struct drawing d;
    begin_drawing(&d, machine);
    for (size_t i = 0; i < n; i++)
        put_node_tree(&d, unit, &node[i]);
    return end_drawing(&d);
}
