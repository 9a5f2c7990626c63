#include "cli/query/size.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/strbuf.h"
#include "resource/graph.h"

struct counts {
    struct intern types, names, paths;
    struct strbuf text;
};

static int count_types(struct intern *set, struct strbuf *text)
{
    uint32_t id;
    const char *bytes = strbuf_text(text);
    if (text->failed) {
        errno = ENOMEM;
        return -1;
    }
    return intern_put(set, bytes, text->len, &id);
}

static int count_vertex(struct counts *c, const struct graph *g, uint32_t v)
{
    strbuf_reset(&c->text);
    strbuf_puts(&c->text, graph_type_name(g, v));
    if (count_types(&c->types, &c->text) < 0)
        return -1;
    strbuf_reset(&c->text);
    graph_name(g, v, &c->text);
    if (count_types(&c->names, &c->text) < 0)
        return -1;
    for (uint32_t s = 0; s < g->subsystems.n; s++) {
        strbuf_reset(&c->text);
        if (graph_path(g, v, (uint8_t)s, &c->text) && count_types(&c->paths, &c->text) < 0)
            return -1;
    }
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

static int print_ranks(const struct graph *g, FILE *out)
{
    size_t n = 0;
    int32_t *ranks = reallocarray(NULL, (size_t)g->n + 1, sizeof(*ranks));
    if (!ranks)
        return -1;
    for (uint32_t v = 0; v < g->n; v++) {
        if (!g->v[v].gone)
            ranks[n++] = g->v[v].rank;
    }
    qsort(ranks, n, sizeof(*ranks), compare_numbers);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && ranks[end] == ranks[i];)
            end++;
        fprintf(out, "INFO: number of vertices with rank %" PRId32 ": %zu\n", ranks[i], end - i);
    }
    free(ranks);
    return 0;
}

int query_print_size(const resource_graph_t *g, double seconds, FILE *out)
{
    struct counts c;
    int rc = 0;
    memset(&c, 0, sizeof(c));
    for (uint32_t v = 0; rc == 0 && v < g->n; v++) {
        if (!g->v[v].gone)
            rc = count_vertex(&c, g, v);
    }
    if (rc == 0) {
        fprintf(out,
                "INFO: Graph Load Time: %g\n"
                "INFO: Vertex Count: %zu\n"
                "INFO: Edge Count: %zu\n"
                "INFO: by_type Key-Value Pairs: %" PRIu32 "\n"
                "INFO: by_name Key-Value Pairs: %" PRIu32 "\n"
                "INFO: by_path Key-Value Pairs: %" PRIu32 "\n",
                seconds, resource_graph_vertices(g), resource_graph_edges(g), c.types.n, c.names.n,
                c.paths.n);
        rc = print_ranks(g, out);
    }
    strbuf_clear(&c.text);
    intern_clear(&c.types);
    intern_clear(&c.names);
    intern_clear(&c.paths);
    return rc;
}
