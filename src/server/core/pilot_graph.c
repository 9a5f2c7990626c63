/* A node of a pilot, as a graph that can be attached to the machine. */
#include <errno.h>
#include <string.h>

#include "base/json_out.h"
#include "resource/graph.h"
#include "server/core/pilots.h"

#define SPARE "spare" /* a property of nodes that only may come */

struct drawing {
    const struct graph *g;
    uint32_t root;
    int64_t unique, rank, id; /* the highest in use */
    struct strbuf nodes_text, edges_text, path;
    struct json_out nodes, edges;
};

/* The vertex of the graph that is above all others. */
static uint32_t root_of(const struct graph *g)
{
    return g->root[GRAPH_CONTAINMENT];
}

static void survey(struct drawing *d)
{
    d->unique = d->rank = d->id = -1;
    for (uint32_t v = 0; v < d->g->n; v++) {
        const struct vertex *x = &d->g->v[v];
        int64_t unique = graph_uniq_id(d->g, v);
        d->unique = unique > d->unique ? unique : d->unique;
        d->rank = x->rank > d->rank ? x->rank : d->rank;
        if (strcmp(graph_type_name(d->g, v), "node") == 0)
            d->id = x->id > d->id ? x->id : d->id;
    }
}

struct thing {
    const char *type, *basename, *name, *unit, *property, *value;
    int64_t unique, id, rank, size;
};

static void put_vertex(struct drawing *d, const struct thing *t, const char *path)
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
    json_close(out, '}');
    json_open(out, "paths", '{');
    json_put_text(out, "containment", path);
    json_close(out, '}');
    json_close(out, '}');
    json_close(out, '}');
}

static void put_edge(struct drawing *d, int64_t source, int64_t target)
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
    put_vertex(d, &root, strbuf_text(&d->path));
    d->nodes_text.failed = d->nodes_text.failed || name.failed;
    strbuf_clear(&name);
}

/* n children of the node: "core0", ... */
static void put_children(struct drawing *d, int64_t node, struct thing t, size_t n)
{
    size_t length = d->path.len;
    struct strbuf name = {0};
    for (size_t i = 0; i < n; i++) {
        strbuf_reset(&name);
        strbuf_puts(&name, t.type);
        strbuf_put_uint(&name, i);
        d->path.len = length;
        strbuf_putc(&d->path, '/');
        strbuf_puts(&d->path, strbuf_text(&name));
        t.basename = t.type;
        t.name = strbuf_text(&name);
        t.unique = ++d->unique;
        t.id = (int64_t)i;
        t.rank = d->rank;
        put_vertex(d, &t, strbuf_text(&d->path));
        put_edge(d, node, t.unique);
        d->nodes_text.failed = d->nodes_text.failed || name.failed;
    }
    d->path.len = length;
    strbuf_clear(&name);
}

/* Of a list, or a number. */
static size_t count_of(const json_t *value)
{
    return json_is_array(value) ? json_array_size(value) : (size_t)json_integer_value(value);
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
static void put_node(struct drawing *d, const server_t *s, const json_t *node, struct thing t)
{
    size_t length = d->path.len;
    int64_t unit = s->size.memory_unit;
    int64_t memory = unit > 0 ? json_integer_value(json_object_get(node, "memory")) / unit : 0;
    t.type = "node";
    t.basename = t.name;
    t.unique = ++d->unique;
    t.id = ++d->id;
    t.rank = ++d->rank;
    t.size = 1;
    strbuf_putc(&d->path, '/');
    strbuf_puts(&d->path, t.name);
    put_vertex(d, &t, strbuf_text(&d->path));
    put_edge(d, graph_uniq_id(d->g, d->root), t.unique);
    put_children(d, t.unique, (struct thing){.type = "core", .size = 1},
                 count_of(json_object_get(node, "cores")));
    put_children(d, t.unique, (struct thing){.type = "gpu", .size = 1},
                 count_of(json_object_get(node, "gpus")));
    if (memory > 0)
        put_children(d, t.unique,
                     (struct thing){.type = "memory",
                                    .size = memory,
                                    .unit = unit_name(unit),
                                    .property = "divisible",
                                    .value = ""},
                     1);
    d->path.len = length;
}

static void begin_drawing(struct drawing *d, const server_t *s)
{
    *d = (struct drawing){.g = match_graph(s->machine)};
    d->root = root_of(d->g);
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

char *pilot_graph(const server_t *s, const json_t *node)
{
    struct drawing d;
    char pilot[24];
    snprintf(pilot, sizeof(pilot), "%" JSON_INTEGER_FORMAT,
             json_integer_value(json_object_get(node, "pilot")));
    begin_drawing(&d, s);
    put_node(&d, s, node,
             (struct thing){.name = json_string_value(json_object_get(node, "vertex")),
                            .property = "pilot",
                            .value = pilot});
    return end_drawing(&d);
}

char *spare_graph(const server_t *s, const json_t *node, const char *base, int64_t n)
{
    struct drawing d;
    char name[64];
    begin_drawing(&d, s);
    for (int64_t i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "%s-%lld", base, (long long)i);
        put_node(&d, s, node, (struct thing){.name = name, .property = SPARE, .value = ""});
    }
    return end_drawing(&d);
}

bool graph_is_spare(const struct graph *g, uint32_t v)
{
    while (v != VERTEX_NONE && g->v[v].type != TYPE_NODE)
        v = graph_parent(g, v, GRAPH_CONTAINMENT);
    return v != VERTEX_NONE && propset_value(&g->props, g->v[v].props, SPARE);
}

void pilot_node_path(const server_t *s, const char *vertex, struct strbuf *path)
{
    const struct graph *g = match_graph(s->machine);
    graph_path(g, root_of(g), GRAPH_CONTAINMENT, path);
    strbuf_putc(path, '/');
    strbuf_puts(path, vertex);
}

bool pilot_name_taken(const server_t *s, const char *vertex)
{
    const struct graph *g = match_graph(s->machine);
    for (uint32_t v = 0; v < g->n; v++)
        if (!g->v[v].gone && graph_is_named(g, v, vertex, strlen(vertex)))
            return true;
    return false;
}
