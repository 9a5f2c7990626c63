/* Any bytes are a graph in JSON, or an error of one line that changes nothing; and what was read once and
 * is read again adds nothing. An input may hold two texts, one after the other with a zero byte between:
 * the second grows the first.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "resource/readers/common.h"

static void check_paths(const struct graph *g)
{
    struct strbuf out = {0};

    for (uint32_t v = 0; v < g->n; v++)
        for (uint8_t s = 0; s < g->subsystems.n; s++) {
            strbuf_reset(&out);
            graph_path(g, v, s, &out);
        }
    strbuf_clear(&out);
}

static void read_text(struct graph *g, const char *text, size_t length)
{
    berth_error_t err = {""};
    uint32_t n = g->n, live = g->live, n_edges = g->n_edges, n_paths = g->n_paths;
    uint32_t root = g->root[GRAPH_CONTAINMENT];

    errno = 0;
    if (read_jgf(g, text, length, &err) == 0) {
        FUZZ_CHECK(g->live > 0);
        check_paths(g);
        n = g->n;
        n_edges = g->n_edges;
        FUZZ_CHECK(read_jgf(g, text, length, &err) == 0);
        FUZZ_CHECK(g->n == n);
        FUZZ_CHECK(g->n_edges == n_edges);
    } else {
        FUZZ_CHECK(errno == EINVAL || errno == EEXIST || errno == ENOMEM);
        FUZZ_CHECK(err.text[0] && !strchr(err.text, '\n'));
        FUZZ_CHECK(g->n == n && g->live == live);
        FUZZ_CHECK(g->n_edges == n_edges && g->n_paths == n_paths);
        FUZZ_CHECK(g->root[GRAPH_CONTAINMENT] == root);
    }
    FUZZ_CHECK(graph_check(g));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *zero = size > 0 ? memchr(text, '\0', size) : NULL;
    size_t first = zero ? (size_t)(zero - text) : size;
    struct graph *g = graph_create();

    read_text(g, text, first);
    if (zero)
        read_text(g, zero + 1, size - first - 1);
    graph_destroy(g);
    return 0;
}
