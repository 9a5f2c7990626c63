/* Any bytes are a recipe for a graph that is in order, within the bound, or an error of one line. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "resource/readers/common.h"

#define VERTICES_MAX 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct graph *g = graph_create();
    berth_error_t err = {""};
    struct strbuf out = {0};

    errno = 0;
    if (read_grug_within(g, (const char *)data, size, VERTICES_MAX, &err) == 0) {
        FUZZ_CHECK(graph_check(g));
        FUZZ_CHECK(g->live > 0);
        FUZZ_CHECK(g->live <= VERTICES_MAX);
        for (uint32_t v = 0; v < g->n; v++)
            for (uint8_t s = 0; s < g->subsystems.n; s++) {
                strbuf_reset(&out);
                if (graph_path(g, v, s, &out))
                    FUZZ_CHECK(out.len > 1 && out.data[0] == '/');
            }
    } else {
        FUZZ_CHECK(errno == EINVAL || errno == ENOMEM);
        FUZZ_CHECK(err.text[0] && !strchr(err.text, '\n'));
        FUZZ_CHECK(g->n == 0);
    }
    strbuf_clear(&out);
    graph_destroy(g);
    return 0;
}
