#include "cli/query/graph_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "report/outfile.h"
#include "report/report.h"
#include "resource/graph.h"

struct writer {
    const struct graph *g;
    struct outfile *out;
    struct strbuf text;  /* the next text to write */
    struct strbuf value; /* one value in it */
};

/* Append a text with special characters escaped, for XML or for a string in dot. */
static void graph_put_escaped(struct writer *w, bool xml, const char *raw)
{
    char *clean = report_clean_text(raw);
    for (const char *s = clean; s && *s; s++) {
        if (xml && *s == '&')
            strbuf_puts(&w->text, "&amp;");
        else if (xml && *s == '<')
            strbuf_puts(&w->text, "&lt;");
        else if (xml && *s == '>')
            strbuf_puts(&w->text, "&gt;");
        else if (!xml && (*s == '"' || *s == '\\'))
            strbuf_put(&w->text, (const char[]){'\\', *s}, 2);
        else
            strbuf_putc(&w->text, *s);
    }
    w->text.failed = w->text.failed || !clean;
    free(clean);
}

/* Write the text out. Returns 0, or -1 with ENOMEM. */
static int graph_flush(struct writer *w)
{
    if (w->text.failed || w->value.failed) {
        errno = ENOMEM;
        return -1;
    }
    outfile_write(w->out, w->text.data, w->text.len);
    strbuf_reset(&w->text);
    return 0;
}

static void graph_put_name(struct writer *w, bool xml, uint32_t v)
{
    strbuf_reset(&w->value);
    graph_name(w->g, v, &w->value);
    graph_put_escaped(w, xml, strbuf_text(&w->value));
}

static int dot_vertex(struct writer *w, uint32_t v)
{
    strbuf_puts(&w->text, "    ");
    strbuf_put_uint(&w->text, v);
    strbuf_puts(&w->text, " [label=\"");
    graph_put_name(w, false, v);
    strbuf_puts(&w->text, "\"];\n");
    return graph_flush(w);
}

static int dot_edge(struct writer *w, uint32_t source, uint32_t target, uint8_t subsystem)
{
    strbuf_puts(&w->text, "    ");
    strbuf_put_uint(&w->text, source);
    strbuf_puts(&w->text, " -> ");
    strbuf_put_uint(&w->text, target);
    strbuf_puts(&w->text, " [label=\"");
    graph_put_escaped(w, false, intern_text(&w->g->subsystems, subsystem));
    strbuf_puts(&w->text, "\"];\n");
    return graph_flush(w);
}

/* The attributes of a vertex and of an edge in GraphML. */
enum key { TYPE, BASENAME, NAME, ID, UNIQ_ID, SIZE, UNIT, RANK, STATUS, PATHS, PROPERTIES, MEMBER };

static const struct {
    const char *name, *type, *of;
} keys[] = {
    [TYPE] = {"type", "string", "node"},
    [BASENAME] = {"basename", "string", "node"},
    [NAME] = {"name", "string", "node"},
    [ID] = {"id", "long", "node"},
    [UNIQ_ID] = {"uniq_id", "long", "node"},
    [SIZE] = {"size", "long", "node"},
    [UNIT] = {"unit", "string", "node"},
    [RANK] = {"rank", "int", "node"},
    [STATUS] = {"status", "string", "node"},
    [PATHS] = {"paths", "string", "node"},
    [PROPERTIES] = {"properties", "string", "node"},
    [MEMBER] = {"member_of", "string", "edge"},
};

static void graph_put_text(struct writer *w, enum key key, const char *value)
{
    if (!*value)
        return;
    strbuf_puts(&w->text, "<data key=\"");
    strbuf_puts(&w->text, keys[key].name);
    strbuf_puts(&w->text, "\">");
    graph_put_escaped(w, true, value);
    strbuf_puts(&w->text, "</data>");
}

static void graph_put_number(struct writer *w, enum key key, int64_t value)
{
    strbuf_reset(&w->value);
    strbuf_put_int(&w->value, value);
    graph_put_text(w, key, strbuf_text(&w->value));
}

static void graph_put_paths(struct writer *w, uint32_t v)
{
    strbuf_reset(&w->value);
    for (uint32_t s = 0; s < w->g->subsystems.n; s++) {
        if (!graph_has_path(w->g, v, (uint8_t)s))
            continue;
        if (w->value.len > 0)
            strbuf_putc(&w->value, ',');
        strbuf_puts(&w->value, intern_text(&w->g->subsystems, s));
        strbuf_putc(&w->value, '=');
        graph_path(w->g, v, (uint8_t)s, &w->value);
    }
    graph_put_text(w, PATHS, strbuf_text(&w->value));
}

static void graph_put_properties(struct writer *w, uint32_t v)
{
    const struct propset *props = &w->g->props;
    uint32_t set = w->g->v[v].props;
    strbuf_reset(&w->value);
    for (size_t i = 0; i < propset_size(props, set); i++) {
        struct property p = propset_at(props, set, i);
        if (i > 0)
            strbuf_putc(&w->value, ',');
        strbuf_puts(&w->value, propset_text(props, p.key));
        strbuf_putc(&w->value, '=');
        strbuf_puts(&w->value, propset_text(props, p.value));
    }
    graph_put_text(w, PROPERTIES, strbuf_text(&w->value));
}

static int graphml_vertex(struct writer *w, uint32_t v)
{
    const struct vertex *vertex = &w->g->v[v];
    strbuf_puts(&w->text, "    <node id=\"n");
    strbuf_put_uint(&w->text, v);
    strbuf_puts(&w->text, "\">");
    graph_put_text(w, TYPE, graph_type_name(w->g, v));
    graph_put_text(w, BASENAME, graph_basename(w->g, v));
    strbuf_reset(&w->value);
    graph_name(w->g, v, &w->value);
    graph_put_text(w, NAME, strbuf_text(&w->value));
    graph_put_number(w, ID, vertex->id);
    graph_put_number(w, UNIQ_ID, graph_uniq_id(w->g, v));
    graph_put_number(w, SIZE, vertex->size);
    graph_put_text(w, UNIT, intern_text(&w->g->names, vertex->unit));
    graph_put_number(w, RANK, vertex->rank);
    graph_put_text(w, STATUS, vertex->down ? "down" : "up");
    graph_put_paths(w, v);
    graph_put_properties(w, v);
    strbuf_puts(&w->text, "</node>\n");
    return graph_flush(w);
}

static int graphml_edge(struct writer *w, uint32_t source, uint32_t target, uint8_t subsystem)
{
    strbuf_puts(&w->text, "    <edge source=\"n");
    strbuf_put_uint(&w->text, source);
    strbuf_puts(&w->text, "\" target=\"n");
    strbuf_put_uint(&w->text, target);
    strbuf_puts(&w->text, "\">");
    graph_put_text(w, MEMBER, intern_text(&w->g->subsystems, subsystem));
    strbuf_puts(&w->text, "</edge>\n");
    return graph_flush(w);
}

static void graph_begin(struct writer *w, bool graphml)
{
    if (!graphml) {
        strbuf_puts(&w->text, "digraph machine {\n");
        return;
    }
    strbuf_puts(&w->text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                          "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        strbuf_puts(&w->text, "  <key id=\"");
        strbuf_puts(&w->text, keys[i].name);
        strbuf_puts(&w->text, "\" for=\"");
        strbuf_puts(&w->text, keys[i].of);
        strbuf_puts(&w->text, "\" attr.name=\"");
        strbuf_puts(&w->text, keys[i].name);
        strbuf_puts(&w->text, "\" attr.type=\"");
        strbuf_puts(&w->text, keys[i].type);
        strbuf_puts(&w->text, "\"/>\n");
    }
    strbuf_puts(&w->text, "  <graph id=\"machine\" edgedefault=\"directed\">\n");
}

static int write_graph(struct writer *w, bool graphml)
{
    const struct graph *g = w->g;
    graph_begin(w, graphml);
    for (uint32_t v = 0; v < g->n; v++) {
        if (!g->v[v].gone && (graphml ? graphml_vertex(w, v) : dot_vertex(w, v)) < 0)
            return -1;
    }
    for (uint32_t v = 0; v < g->n; v++) {
        const uint32_t *children;
        uint32_t n = g->v[v].gone ? 0 : graph_children(g, v, &children);
        for (uint32_t i = 0; i < n; i++) {
            uint8_t subsystem = graph_child_subsystem(g, v, i);
            if ((graphml ? graphml_edge : dot_edge)(w, v, children[i], subsystem) < 0)
                return -1;
        }
    }
    strbuf_puts(&w->text, graphml ? "  </graph>\n</graphml>\n" : "}\n");
    return graph_flush(w);
}

int graph_out(const resource_graph_t *graph, const char *base, bool graphml, berth_error_t *err)
{
    struct writer w = {.g = graph};
    char *path;
    if (asprintf(&path, "%s.%s", base, graphml ? "graphml" : "dot") < 0)
        return errtext_no_memory(err);
    w.out = outfile_open(path, err);
    free(path);
    if (!w.out)
        return -1;
    int rc = write_graph(&w, graphml);
    if (rc < 0) {
        outfile_close(w.out, false, NULL);
        errtext_no_memory(err);
    } else {
        rc = outfile_close(w.out, true, err);
    }
    strbuf_clear(&w.text);
    strbuf_clear(&w.value);
    return rc;
}
