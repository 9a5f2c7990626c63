/* More nodes like the last one: a graph (JGF) of the way down to it, and of copies of it with all that is
 * below.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/json_out.h"
#include "resource/graph.h"
#include "sim/play_priv.h"

struct growth {
    const struct graph *g;
    uint32_t node;      /* the one that is copied */
    struct strbuf name; /* its name; the number follows `prefix` bytes */
    size_t prefix, width;
    int64_t number, id;   /* the last ones of the machine's nodes */
    int64_t rank, unique; /* of all vertices */
    struct strbuf nodes_text, edges_text;
    struct json_out nodes, edges;
    struct strbuf text;
};

static uint32_t last_node(const struct graph *g)
{
    for (uint32_t v = g->n; v-- > 0;)
        if (!g->v[v].gone && g->v[v].type == TYPE_NODE && g->v[v].subsystem == GRAPH_CONTAINMENT)
            return v;
    return VERTEX_NONE;
}

/* How many bytes of a name precede its final number. */
static size_t prefix_of(const char *name, size_t length)
{
    size_t digits = 0;
    while (digits < length && digits < 18 && isdigit((unsigned char)name[length - 1 - digits]))
        digits++;
    return length - digits;
}

/* Find the names and numbers that are in use. */
static void survey(struct growth *w)
{
    const struct graph *g = w->g;
    graph_name(g, w->node, &w->name);
    w->prefix = prefix_of(strbuf_text(&w->name), w->name.len);
    w->width = w->name.len - w->prefix;
    w->number = w->id = w->rank = w->unique = -1;
    for (uint32_t v = 0; v < g->n; v++) {
        const struct vertex *x = &g->v[v];
        int64_t unique = graph_uniq_id(g, v);
        w->unique = unique > w->unique ? unique : w->unique;
        w->rank = x->rank > w->rank ? x->rank : w->rank;
        if (x->gone || x->type != TYPE_NODE)
            continue;
        w->id = x->id > w->id ? x->id : w->id;
        strbuf_reset(&w->text);
        graph_name(g, v, &w->text);
        const char *name = strbuf_text(&w->text);
        if (prefix_of(name, w->text.len) != w->prefix ||
            memcmp(name, w->name.data, w->prefix) != 0 || w->text.len == w->prefix)
            continue;
        int64_t number = strtoll(name + w->prefix, NULL, 10);
        w->number = number > w->number ? number : w->number;
    }
}

static void put_properties_like(struct growth *w, const struct vertex *x)
{
    const struct propset *p = &w->g->props;
    struct json_out *out = &w->nodes;
    bool is_divisible = false;
    json_open(out, "properties", '{');
    for (size_t i = 0; i < propset_size(p, x->props); i++) {
        struct property property = propset_at(p, x->props, i);
        const char *key = intern_text(&p->texts, property.key);
        is_divisible = is_divisible || strcmp(key, "divisible") == 0;
        json_key_bytes(out, key, intern_length(&p->texts, property.key));
        strbuf_put_json(out->text, intern_text(&p->texts, property.value),
                        intern_length(&p->texts, property.value));
    }
    if (x->divisible && !is_divisible)
        json_put_string(out, "divisible", "");
    json_close(out, '}');
}

/* Describe a vertex like v. */
static void put_vertex_like(struct growth *w, uint32_t v, int64_t unique, int64_t id, int64_t rank,
                            const char *name, const char *path)
{
    const struct vertex *x = &w->g->v[v];
    struct json_out *out = &w->nodes;
    json_open(out, NULL, '{');
    json_put_int_string(out, "id", unique);
    json_open(out, "metadata", '{');
    json_put_string(out, "type", graph_type_name(w->g, v));
    json_put_string(out, "basename", graph_basename(w->g, v));
    json_put_string(out, "name", name);
    json_put_int(out, "id", id);
    json_put_int(out, "uniq_id", unique);
    json_put_int(out, "rank", rank);
    json_put_int(out, "size", x->size);
    if (x->unit)
        json_put_string(out, "unit", intern_text(&w->g->names, x->unit));
    put_properties_like(w, x);
    json_open(out, "paths", '{');
    json_put_string(out, "containment", path);
    json_close(out, '}');
    json_close(out, '}');
    json_close(out, '}');
}

static void put_link(struct growth *w, int64_t source, int64_t target)
{
    struct json_out *out = &w->edges;
    json_open(out, NULL, '{');
    json_put_int_string(out, "source", source);
    json_put_int_string(out, "target", target);
    json_close(out, '}');
}

/* The vertices from the root to v. */
static void put_way(struct growth *w, uint32_t v)
{
    uint32_t parent = graph_parent(w->g, v, GRAPH_CONTAINMENT);
    struct strbuf name = {0}, path = {0};
    if (parent != VERTEX_NONE)
        put_way(w, parent);
    graph_name(w->g, v, &name);
    graph_path(w->g, v, GRAPH_CONTAINMENT, &path);
    put_vertex_like(w, v, graph_uniq_id(w->g, v), w->g->v[v].id, w->g->v[v].rank,
                    strbuf_text(&name), strbuf_text(&path));
    if (parent != VERTEX_NONE)
        put_link(w, graph_uniq_id(w->g, parent), graph_uniq_id(w->g, v));
    w->nodes_text.failed = w->nodes_text.failed || name.failed || path.failed;
    strbuf_clear(&name);
    strbuf_clear(&path);
}

/* A copy of v and everything below it, under a path. Names below a node are those of the original. */
static void put_copy(struct growth *w, uint32_t v, int64_t parent, int64_t rank, const char *name,
                     int64_t id, const char *above)
{
    const uint32_t *children;
    struct strbuf path = {0}, child = {0};
    int64_t unique = ++w->unique;
    uint32_t n = graph_children(w->g, v, &children);
    strbuf_puts(&path, above);
    strbuf_putc(&path, '/');
    strbuf_puts(&path, name);
    put_vertex_like(w, v, unique, id, w->g->v[v].rank < 0 ? -1 : rank, name, strbuf_text(&path));
    put_link(w, parent, unique);
    for (uint32_t i = 0; i < n && !w->nodes_text.failed; i++) {
        if (graph_child_subsystem(w->g, v, i) != GRAPH_CONTAINMENT)
            continue;
        strbuf_reset(&child);
        graph_name(w->g, children[i], &child);
        put_copy(w, children[i], unique, rank, strbuf_text(&child), w->g->v[children[i]].id,
                 strbuf_text(&path));
    }
    w->nodes_text.failed = w->nodes_text.failed || path.failed || child.failed;
    strbuf_clear(&path);
    strbuf_clear(&child);
}

static void put_new_name(struct growth *w, struct strbuf *out, int64_t i)
{
    char digits[STRBUF_NUMBER_MAX];
    size_t n = strbuf_decimal(digits, (uint64_t)(w->number + 1 + i));
    strbuf_reset(out);
    strbuf_put(out, w->name.data, w->prefix);
    strbuf_fill(out, '0', n < w->width && w->name.data[w->prefix] == '0' ? w->width - n : 0);
    strbuf_put(out, digits, n);
}

/* The text of the graph; NULL if memory has run out. */
static char *join_graph(struct growth *w)
{
    struct json_out out = {.text = &w->text, .spaced = true};
    bool failed = w->nodes_text.failed || w->edges_text.failed || w->name.failed || w->text.failed;
    strbuf_reset(&w->text);
    json_open(&out, NULL, '{');
    json_open(&out, "graph", '{');
    json_open(&out, "nodes", '[');
    json_put_raw(&out, NULL, strbuf_text(&w->nodes_text));
    json_close(&out, ']');
    json_open(&out, "edges", '[');
    json_put_raw(&out, NULL, strbuf_text(&w->edges_text));
    json_close(&out, ']');
    json_close(&out, '}');
    json_close(&out, '}');
    return failed ? NULL : strbuf_steal(&w->text);
}

static char *add_node_copies(struct growth *w, int64_t n)
{
    struct strbuf above = {0}, name = {0};
    uint32_t parent = graph_parent(w->g, w->node, GRAPH_CONTAINMENT);
    w->nodes = (struct json_out){.text = &w->nodes_text, .spaced = true};
    w->edges = (struct json_out){.text = &w->edges_text, .spaced = true};
    survey(w);
    put_way(w, parent);
    graph_path(w->g, parent, GRAPH_CONTAINMENT, &above);
    for (int64_t i = 0; i < n && !w->nodes_text.failed; i++) {
        put_new_name(w, &name, i);
        put_copy(w, w->node, graph_uniq_id(w->g, parent), w->rank + 1 + i, strbuf_text(&name),
                 w->id + 1 + i, strbuf_text(&above));
    }
    w->nodes_text.failed = w->nodes_text.failed || above.failed || name.failed;
    strbuf_clear(&above);
    strbuf_clear(&name);
    return join_graph(w);
}

char *play_more_nodes(const match_t *machine, int64_t n, berth_error_t *err)
{
    struct growth w = {.g = match_graph(machine)};
    char *text = NULL;
    w.node = last_node(w.g);
    if (w.node == VERTEX_NONE || graph_parent(w.g, w.node, GRAPH_CONTAINMENT) == VERTEX_NONE)
        errtext_set(err, EINVAL, "the machine has no node that could be copied");
    else if (!(text = add_node_copies(&w, n)))
        errtext_no_memory(err);
    int saved = errno;
    strbuf_clear(&w.name);
    strbuf_clear(&w.nodes_text);
    strbuf_clear(&w.edges_text);
    strbuf_clear(&w.text);
    errno = saved;
    return text;
}
