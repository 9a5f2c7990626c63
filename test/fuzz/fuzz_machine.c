/* Any bytes are a machine of which a graph in order is made, or refused in one line; and packed again it is
 * the same bytes.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "resource/graph.h"
#include "resource/readers/machine.h"

static void make_graph(const struct machine *m)
{
    struct graph *g = graph_create();
    berth_error_t err = {""};

    errno = 0;
    if (read_machine(g, m, &err) == 0) {
        FUZZ_CHECK(g->live == m->n + 1);
    } else {
        FUZZ_CHECK(errno == EINVAL || errno == ENOMEM);
        FUZZ_CHECK(err.text[0] && !strchr(err.text, '\n'));
        FUZZ_CHECK(g->n == 0);
    }
    FUZZ_CHECK(graph_check(g));
    graph_destroy(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct machine m = {0};
    struct strbuf again = {0};
    berth_error_t err = {""};

    errno = 0;
    if (machine_unpack(&m, (const char *)data, size, &err) == 0) {
        machine_pack(&m, &again);
        FUZZ_CHECK(again.len == size && memcmp(again.data, data, size) == 0);
        make_graph(&m);
    } else {
        FUZZ_CHECK(errno == EINVAL || errno == ENOMEM);
        FUZZ_CHECK(err.text[0] && !strchr(err.text, '\n'));
        FUZZ_CHECK(m.n == 0 && m.texts.n == 0);
    }
    machine_clear(&m);
    strbuf_clear(&again);
    return 0;
}
