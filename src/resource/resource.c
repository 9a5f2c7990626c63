/* The public face of the resource graph (berth/resource.h). */
#include "berth/resource.h"

#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "resource/graph.h"
#include "resource/readers/reader.h"

static const struct {
    const char *name;
    int (*read)(struct graph *g, const char *text, size_t length, berth_error_t *err);
} formats[] = {
    {"grug", read_grug},   {"jgf", read_jgf},           {"jgf_shorthand", read_jgf},
    {"rv1exec", read_rv1}, {"rv1exec_force", read_rv1},
};

resource_graph_t *resource_graph_read(const char *format, const char *text, size_t length,
                                      berth_error_t *err)
{
    struct graph *g;

    for (size_t i = 0; format && i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(formats[i].name, format) != 0)
            continue;
        g = graph_create();
        if (!g) {
            errtext_no_memory(err);
            return NULL;
        }
        if (formats[i].read(g, text, length, err) == 0)
            return g;
        graph_destroy(g);
        return NULL;
    }
    errtext_set(err, EINVAL,
                "unknown format '%s', expected grug, jgf, jgf_shorthand, rv1exec or rv1exec_force",
                format ? format : "");
    return NULL;
}

void resource_graph_destroy(resource_graph_t *graph)
{
    graph_destroy(graph);
}

size_t resource_graph_vertices(const resource_graph_t *graph)
{
    return graph->live;
}

size_t resource_graph_edges(const resource_graph_t *graph)
{
    return graph->n_edges;
}
