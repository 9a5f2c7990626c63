/* jgf and jgf_shorthand: the vertices and edges as a JSON graph, the way Fluxion writes it: jansson's separators and
 * escapes, keys in a fixed order, and what is as usual left out.
 *
 * Graphs have tens of thousands of vertices, and most have the same type and the same parent as the one before: what
 * follows from these is made once and copied.
 */
#include "resource/writers/writer.h"

#include <errno.h>

#define NO_TYPE UINT32_MAX

struct jgf {
    const struct graph *g;
    struct strbuf *out;
    struct strbuf text;   /* for what is not written yet */
    struct strbuf head;   /* metadata up to the basename, */
    uint32_t type;        /* of vertices of this type, or NO_TYPE, */
    uint32_t basename;    /* and with this basename */
    struct strbuf prefix; /* paths, up to the name at the end of the one in containment, */
    uint32_t parent;      /* of this vertex's children, or VERTEX_NONE */
    bool failed;          /* one of these buffers was once out of memory */
};

/* Empty one of the buffers, but remember that it failed. */
static void renew(struct jgf *j, struct strbuf *b)
{
    j->failed = j->failed || b->failed;
    strbuf_reset(b);
}

/* Append text as it stands inside of a JSON string. */
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

static void put_name(const struct graph *g, const struct vertex *v, struct strbuf *out)
{
    uint32_t part = v->name ? v->name : v->basename;
    put_escaped(out, intern_text(&g->names, part), intern_length(&g->names, part));
    if (!v->name && v->id != -1)
        strbuf_put_int(out, v->id);
}

static void put_text(struct strbuf *out, const struct intern *t, uint32_t id)
{
    strbuf_put_json(out, intern_text(t, id), intern_length(t, id));
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
    PUT(&j->head, "\", \"metadata\": {\"type\": ");
    put_text(&j->head, &j->g->types, v->type);
    if (!is_type(j->g, v)) {
        PUT(&j->head, ", \"basename\": ");
        put_text(&j->head, &j->g->names, v->basename);
    }
    j->type = v->type;
    j->basename = v->basename;
}

/* True if the name isn't what basename and id make it. A vertex without an id has -1, and mostly no such name. */
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

static void put_properties(struct jgf *j, uint32_t set)
{
    const struct propset *p = &j->g->props;
    for (size_t i = 0; i < propset_size(p, set); i++) {
        struct property property = propset_at(p, set, i);
        strbuf_puts(j->out, i == 0 ? ", \"properties\": {" : ", ");
        put_text(j->out, &p->texts, property.key);
        PUT(j->out, ": ");
        put_text(j->out, &p->texts, property.value);
    }
    strbuf_putc(j->out, '}');
}

#define PATHS ", \"paths\": {"

/* False if the path of a vertex in containment isn't its parent's and its name. */
static bool find_prefix(struct jgf *j, uint32_t vertex)
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
    PUT(&j->prefix, PATHS "\"containment\": \"");
    put_escaped(&j->prefix, strbuf_text(&j->text), j->text.len);
    strbuf_putc(&j->prefix, '/');
    j->parent = parent;
    return true;
}

static void put_paths(struct jgf *j, uint32_t vertex)
{
    struct strbuf *out = j->out;
    uint32_t s = 0;
    bool any = find_prefix(j, vertex);
    if (any) {
        strbuf_put(out, j->prefix.data, j->prefix.len);
        put_name(j->g, &j->g->v[vertex], out);
        strbuf_putc(out, '"');
        s++;
    }
    for (; s < j->g->subsystems.n; s++) {
        renew(j, &j->text);
        if (!graph_path(j->g, vertex, (uint8_t)s, &j->text))
            continue;
        strbuf_puts(out, any ? ", " : PATHS);
        put_text(out, &j->g->subsystems, s);
        PUT(out, ": ");
        strbuf_put_json(out, strbuf_text(&j->text), j->text.len);
        any = true;
    }
    if (any)
        strbuf_putc(out, '}');
}

static void put_ephemeral(const struct emitted *item, struct strbuf *out)
{
    if (item->label) {
        PUT(out, ", \"ephemeral\": {\"label\": ");
        strbuf_put_json(out, item->label, strlen(item->label));
        strbuf_putc(out, '}');
    }
    if (item->usage && *item->usage) {
        PUT(out, ", \"agfilter\": {");
        strbuf_puts(out, item->usage);
        strbuf_putc(out, '}');
    }
}

static void put_vertex(struct jgf *j, const struct emitted *item)
{
    const struct vertex *v = &j->g->v[item->vertex];
    struct strbuf *out = j->out;
    find_head(j, v);
    PUT(out, "{\"id\": \"");
    strbuf_put_int(out, graph_uniq_id(j->g, item->vertex));
    strbuf_put(out, j->head.data, j->head.len);
    if (has_own_name(j, v)) {
        PUT(out, ", \"name\": ");
        put_text(out, &j->g->names, v->name ? v->name : v->basename);
    }
    PUT(out, ", \"id\": ");
    strbuf_put_int(out, v->id);
    PUT(out, ", \"rank\": ");
    strbuf_put_int(out, v->rank);
    if (v->props)
        put_properties(j, v->props);
    if (v->unit) {
        PUT(out, ", \"unit\": ");
        put_text(out, &j->g->names, v->unit);
    }
    if (item->flags & EMIT_EXCLUSIVE)
        PUT(out, ", \"exclusive\": true");
    if (item->needs != 1) {
        PUT(out, ", \"size\": ");
        strbuf_put_int(out, item->needs);
    }
    put_paths(j, item->vertex);
    put_ephemeral(item, out);
    PUT(out, "}}");
}

static void put_edge(struct jgf *j, const struct emitted *item, uint8_t subsystem)
{
    struct strbuf *out = j->out;
    PUT(out, "{\"source\": \"");
    strbuf_put_int(out, graph_uniq_id(j->g, item->parent));
    PUT(out, "\", \"target\": \"");
    strbuf_put_int(out, graph_uniq_id(j->g, item->vertex));
    if (subsystem == GRAPH_CONTAINMENT) {
        PUT(out, "\"}");
        return;
    }
    PUT(out, "\", \"metadata\": {\"subsystem\": ");
    put_text(out, &j->g->subsystems, subsystem);
    PUT(out, "}}");
}

int writer_jgf_object(const struct emission *e, const struct graph *g, int flags,
                      struct strbuf *out)
{
    struct jgf j = {.g = g, .out = out, .type = NO_TYPE, .parent = VERTEX_NONE};
    int hidden = flags & WRITER_SHORTHAND ? EMIT_EXCLUSIVE_PARENT : 0;
    size_t nodes = 0, edges = 0;
    PUT(out, "{\"graph\": {\"nodes\": [");
    for (size_t i = 0; i < e->n; i++) {
        if (e->item[i].flags & hidden)
            continue;
        if (nodes++ > 0)
            PUT(out, ", ");
        put_vertex(&j, &e->item[i]);
    }
    PUT(out, "], \"edges\": [");
    for (size_t i = 0; i < e->n; i++) {
        if (e->item[i].flags & hidden || e->item[i].parent == VERTEX_NONE)
            continue;
        if (edges++ > 0)
            PUT(out, ", ");
        put_edge(&j, &e->item[i], e->subsystem);
    }
    PUT(out, "]}");
    if (nodes < e->n)
        PUT(out, ", \"writer\": \"fluxion:jgf_shorthand\"");
    strbuf_putc(out, '}');
    bool failed = j.failed || j.text.failed || j.head.failed || j.prefix.failed;
    strbuf_clear(&j.text);
    strbuf_clear(&j.head);
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
