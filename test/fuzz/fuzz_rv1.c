/* Any bytes are an R whose ranks have hosts, or an error of one line; and a graph within the bound, or
 * none.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "base/idset.h"
#include "resource/readers/common.h"

#define RANKS_MAX    5000
#define VERTICES_MAX 20000

static void check_parse(const char *text, size_t size)
{
    struct rv1 r;
    berth_error_t err = {""};

    errno = 0;
    if (rv1_parse_within(&r, text, size, RANKS_MAX, &err) < 0) {
        FUZZ_CHECK(errno == EINVAL || errno == ENOMEM);
        FUZZ_CHECK(err.text[0] && !strchr(err.text, '\n'));
        FUZZ_CHECK(r.n == 0 && !r.json);
        return;
    }
    FUZZ_CHECK(r.n <= RANKS_MAX);
    for (size_t i = 0; i < r.n; i++) {
        FUZZ_CHECK(r.rank[i].rank >= 0);
        FUZZ_CHECK(*r.rank[i].host);
        FUZZ_CHECK(i == 0 || r.rank[i].entry >= r.rank[i - 1].entry);
    }
    for (size_t i = 0; i < r.n_children; i++)
        FUZZ_CHECK(idset_check(r.children[i].ids));
    rv1_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct graph *g = graph_create();
    berth_error_t err = {""};

    check_parse((const char *)data, size);
    errno = 0;
    if (read_rv1_within(g, (const char *)data, size, VERTICES_MAX, &err) == 0) {
        FUZZ_CHECK(graph_check(g));
        FUZZ_CHECK(g->live <= VERTICES_MAX);
        FUZZ_CHECK(g->n_edges == g->live - 1);
    } else {
        FUZZ_CHECK(errno == EINVAL || errno == EEXIST || errno == ENOMEM);
        FUZZ_CHECK(err.text[0] && !strchr(err.text, '\n'));
        FUZZ_CHECK(g->n == 0);
    }
    graph_destroy(g);
    return 0;
}
