/* jgf and jgf_shorthand: the vertices and edges as a JSON graph, as Fluxion writes it: with jansson's
 * separators and escapes, keys in a fixed order, and without default values.
 *
 * Graphs have tens of thousands of vertices, and most vertices have the same type and parent as the one
 * before. What follows from these is made once and copied.
 */
#include "resource/writers/writer.h"

#include <errno.h>

#include "base/json_out.h"

#define NO_TYPE UINT32_MAX

struct jgf {
    const struct graph *g;
    struct strbuf text;   /* for what is not written yet */
    struct strbuf head;   /* "metadata" up to the basename, */
    uint32_t type;        /* of vertices of this type, or NO_TYPE, */
    uint32_t basename;    /* and with this basename, */
    struct strbuf base;   /* which as it stands in a string is this */
    struct strbuf prefix; /* "paths", up to the name at the end of the one in containment, */
    uint32_t parent;      /* of this vertex's children, or VERTEX_NONE */
    bool failed;          /* one of these buffers was once out of memory */
};

/* Empty one of the buffers, but remember that it failed. */
static void renew(struct jgf *j, struct strbuf *b)
{
    j->failed = j->failed || b->failed;
    strbuf_reset(b);
}

/* Append text as the inside of a JSON string. */
static void put_escaped(struct strbuf *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] >= ' ' && text[i] != '"' && text[i] != '\\')
            continue;
        size_t start = out->len;
        strbuf_put_json(out, text, length);
        if (out->failed)
            return;
        out->len -= 2;
        memmove(out->data + start, out->data + start + 1, out->len - start);
        return;
    }
    strbuf_put(out, text, length);
}

static void put_vertex_name(const struct jgf *j, const struct vertex *v, struct strbuf *out)
{
    const struct intern *names = &j->g->names;
    if (v->name) {
        put_escaped(out, intern_text(names, v->name), intern_length(names, v->name));
        return;
    }
    strbuf_put(out, j->base.data, j->base.len);
    if (v->id != -1)
        strbuf_put_int(out, v->id);
}

static void put_interned_text(struct json_out *out, const char *key, const struct intern *t,
                              uint32_t id)
{
    json_put_bytes(out, key, intern_text(t, id), intern_length(t, id));
}

static bool is_type(const struct graph *g, const struct vertex *v)
{
    size_t length = intern_length(&g->types, v->type);
    return length == intern_length(&g->names, v->basename) &&
           memcmp(intern_text(&g->types, v->type), intern_text(&g->names, v->basename), length) ==
               0;
}

static void find_head(struct jgf *j, const struct vertex *v)
{
    if (v->type == j->type && v->basename == j->basename)
        return;
    renew(j, &j->head);
    struct json_out head = {.text = &j->head, .spaced = true};
    json_open(&head, "metadata", '{');
    put_interned_text(&head, "type", &j->g->types, v->type);
    if (!is_type(j->g, v))
        put_interned_text(&head, "basename", &j->g->names, v->basename);
    renew(j, &j->base);
    put_escaped(&j->base, intern_text(&j->g->names, v->basename),
                intern_length(&j->g->names, v->basename));
    j->type = v->type;
    j->basename = v->basename;
}

/* True if the name isn't what basename and id make it. A vertex without an id has -1, and mostly no such
 * name.
 */
static bool has_own_name(struct jgf *j, const struct vertex *v)
{
    if (!v->name)
        return v->id == -1;
    renew(j, &j->text);
    strbuf_put(&j->text, intern_text(&j->g->names, v->basename),
               intern_length(&j->g->names, v->basename));
    strbuf_put_int(&j->text, v->id);
    return j->text.len != intern_length(&j->g->names, v->name) ||
           memcmp(j->text.data, intern_text(&j->g->names, v->name), j->text.len) != 0;
}

static void put_property_set(const struct graph *g, uint32_t set, struct json_out *out)
{
    const struct propset *p = &g->props;
    json_open(out, "properties", '{');
    for (size_t i = 0; i < propset_size(p, set); i++) {
        struct property property = propset_at(p, set, i);
        json_key_bytes(out, intern_text(&p->texts, property.key),
                       intern_length(&p->texts, property.key));
        strbuf_put_json(out->text, intern_text(&p->texts, property.value),
                        intern_length(&p->texts, property.value));
    }
    json_close(out, '}');
}

/* False if the path of a vertex in containment isn't its parent's and its name. */
static bool make_prefix(struct jgf *j, uint32_t vertex)
{
    uint32_t parent = graph_parent(j->g, vertex, GRAPH_CONTAINMENT);
    if (parent == VERTEX_NONE || j->g->n_paths > 0)
        return false;
    if (parent == j->parent)
        return true;
    j->parent = VERTEX_NONE;
    renew(j, &j->text);
    if (!graph_path(j->g, parent, GRAPH_CONTAINMENT, &j->text))
        return false;
    renew(j, &j->prefix);
    struct json_out prefix = {.text = &j->prefix, .spaced = true};
    json_open(&prefix, "paths", '{');
    json_key(&prefix, "containment");
    strbuf_putc(&j->prefix, '"');
    put_escaped(&j->prefix, strbuf_text(&j->text), j->text.len);
    strbuf_putc(&j->prefix, '/');
    j->parent = parent;
    return true;
}

static void put_paths(struct jgf *j, uint32_t vertex, struct json_out *out)
{
    uint32_t s = 0;
    bool any = make_prefix(j, vertex);
    if (any) {
        json_key(out, NULL);
        strbuf_put(out->text, j->prefix.data, j->prefix.len);
        put_vertex_name(j, &j->g->v[vertex], out->text);
        strbuf_putc(out->text, '"');
        s++;
    }
    for (; s < j->g->subsystems.n; s++) {
        renew(j, &j->text);
        if (!graph_path(j->g, vertex, (uint8_t)s, &j->text))
            continue;
        if (!any)
            json_open(out, "paths", '{');
        json_key_bytes(out, intern_text(&j->g->subsystems, s), intern_length(&j->g->subsystems, s));
        strbuf_put_json(out->text, strbuf_text(&j->text), j->text.len);
        any = true;
    }
    if (any)
        json_close(out, '}');
}

static void put_ephemeral(const struct emitted *item, struct json_out *out)
{
    if (item->label) {
        json_open(out, "ephemeral", '{');
        json_put_string(out, "label", item->label);
        json_close(out, '}');
    }
    if (item->usage && *item->usage) {
        json_open(out, "agfilter", '{');
        json_put_raw(out, NULL, item->usage);
        json_close(out, '}');
    }
}

static void put_emitted_vertex(struct jgf *j, const struct emitted *item, struct json_out *out)
{
    const struct vertex *v = &j->g->v[item->vertex];
    find_head(j, v);
    json_open(out, NULL, '{');
    json_put_int_string(out, "id", graph_uniq_id(j->g, item->vertex));
    json_key(out, NULL);
    strbuf_put(out->text, j->head.data, j->head.len);
    if (has_own_name(j, v))
        put_interned_text(out, "name", &j->g->names, v->name ? v->name : v->basename);
    json_put_int(out, "id", v->id);
    json_put_int(out, "rank", v->rank);
    if (v->props)
        put_property_set(j->g, v->props, out);
    if (v->unit)
        put_interned_text(out, "unit", &j->g->names, v->unit);
    if (item->flags & EMIT_EXCLUSIVE)
        json_put_bool(out, "exclusive", true);
    if (item->needs != 1)
        json_put_int(out, "size", item->needs);
    put_paths(j, item->vertex, out);
    put_ephemeral(item, out);
    json_close(out, '}');
    json_close(out, '}');
}

static void put_emitted_edge(const struct graph *g, const struct emitted *item, uint8_t subsystem,
                             struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_int_string(out, "source", graph_uniq_id(g, item->parent));
    json_put_int_string(out, "target", graph_uniq_id(g, item->vertex));
    if (subsystem != GRAPH_CONTAINMENT) {
        json_open(out, "metadata", '{');
        put_interned_text(out, "subsystem", &g->subsystems, subsystem);
        json_close(out, '}');
    }
    json_close(out, '}');
}

int writer_jgf_object(const struct emission *e, const struct graph *g, int flags,
                      struct strbuf *out)
{
    struct jgf j = {.g = g, .type = NO_TYPE, .parent = VERTEX_NONE};
    int hidden = flags & WRITER_SHORTHAND ? EMIT_EXCLUSIVE_PARENT : 0;
    struct json_out json = {.text = out, .spaced = true};
    size_t nodes = 0, edges = 0;
    json_open(&json, NULL, '{');
    json_open(&json, "graph", '{');
    json_open(&json, "nodes", '[');
    for (size_t i = 0; i < e->n; i++) {
        if (e->item[i].flags & hidden)
            continue;
        nodes++;
        put_emitted_vertex(&j, &e->item[i], &json);
    }
    json_close(&json, ']');
    json_open(&json, "edges", '[');
    for (size_t i = 0; i < e->n; i++) {
        if (e->item[i].flags & hidden || e->item[i].parent == VERTEX_NONE)
            continue;
        edges++;
        put_emitted_edge(g, &e->item[i], e->subsystem, &json);
    }
    json_close(&json, ']');
    json_close(&json, '}');
    if (nodes < e->n)
        json_put_string(&json, "writer", "fluxion:jgf_shorthand");
    json_close(&json, '}');
    bool failed = j.failed || j.text.failed || j.head.failed || j.base.failed || j.prefix.failed;
    strbuf_clear(&j.text);
    strbuf_clear(&j.head);
    strbuf_clear(&j.base);
    strbuf_clear(&j.prefix);
    if (nodes == 0 || edges == 0 || failed) {
        errno = failed ? ENOMEM : ENOENT;
        return -1;
    }
    return 0;
}

int writer_jgf(const struct emission *e, const struct graph *g, int flags, struct strbuf *out)
{
    if (e->n == 0)
        return 0;
    int rc = writer_jgf_object(e, g, flags, out);
    strbuf_putc(out, '\n');
    return rc;
}
