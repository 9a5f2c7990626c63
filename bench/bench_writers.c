/* What the text of an allocation costs, by format: one node's cores as a job gets them, an R of many nodes,
 * and a whole machine as a graph. The buffer is a new one each time unless said; a time is the median of
 * some runs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "resource/emission.h"

enum { RUNS = 15, CORES = 34, SOCKETS = 2, RACK = 64 };

static void check(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "bench_writers: %s\n", what);
    exit(1);
}

static void emit(struct emission *e, uint32_t v, uint16_t depth, uint16_t flags, uint32_t parent)
{
    if (e->n == e->capacity) {
        e->capacity = 2 * e->capacity + 64;
        e->item = reallocarray(e->item, e->capacity, sizeof(*e->item));
        check(e->item != NULL, "no memory");
    }
    e->item[e->n++] =
        (struct emitted){.vertex = v, .depth = depth, .flags = flags, .parent = parent, .needs = 1};
}

static uint32_t add(struct graph *g, const char *type, int64_t id, int32_t rank, uint32_t parent)
{
    struct vertex_spec spec = {.type = type, .id = id, .uniq_id = -1, .size = 1, .rank = rank};
    uint32_t v = graph_add(g, &spec);
    check(v != VERTEX_NONE, "no memory");
    if (parent == VERTEX_NONE)
        graph_set_root(g, GRAPH_CONTAINMENT, v);
    else
        check(graph_connect(g, parent, v, GRAPH_CONTAINMENT) == 0, "no memory");
    return v;
}

/* A machine of nodes with so many sockets and cores in each, all of which a job has, racks and root shared.
 * 
 */
static struct graph *build(struct emission *e, int nodes, int sockets, int cores)
{
    const uint16_t inner = EMIT_EXCLUSIVE | EMIT_EXCLUSIVE_PARENT;
    struct graph *g = graph_create();
    check(g != NULL, "no memory");
    *e = (struct emission){.end = 3600};
    uint32_t root = add(g, "cluster", 0, -1, VERTEX_NONE);
    for (int first = 0; first < nodes; first += RACK) {
        uint32_t rack = add(g, "rack", first / RACK, -1, root);
        for (int n = first; n < nodes && n < first + RACK; n++) {
            uint32_t node = add(g, "node", n, n, rack);
            for (int s = 0; s < sockets; s++) {
                uint32_t socket = add(g, "socket", s, n, node);
                for (int c = 0; c < cores; c++)
                    emit(e, add(g, "core", s * cores + c, n, socket), 5, inner, socket);
                emit(e, socket, 4, inner, node);
            }
            emit(e, node, 3, EMIT_EXCLUSIVE, rack);
        }
        emit(e, rack, 2, 0, root);
    }
    emit(e, root, 1, 0, VERTEX_NONE);
    check(graph_seal(g) == 0, "no memory");
    return g;
}

static void row(const char *what, int nodes, int sockets, int cores, const char *format, bool keep,
                int times)
{
    struct emission e;
    struct graph *g = build(&e, nodes, sockets, cores);
    struct strbuf out = {0};
    enum write_format f = (enum write_format)write_format_parse(format);
    double v[RUNS];
    size_t length = 0;
    for (int run = 0; run < RUNS; run++) {
        double start = now();
        for (int i = 0; i < times; i++) {
            strbuf_reset(&out);
            check(emission_write(&e, g, f, &out) == 0, "cannot write");
            length = out.len;
            if (!keep)
                strbuf_clear(&out);
        }
        v[run] = (now() - start) / times * 1e6;
    }
    qsort(v, RUNS, sizeof(*v), compare);
    printf("%-14s %-44s %8zu vertices %9zu B %10.2f us\n", format, what, e.n, length, v[RUNS / 2]);
    strbuf_clear(&out);
    free(e.item);
    graph_destroy(g);
}

int main(void)
{
    row("a node, buffer kept", 1, SOCKETS, CORES / SOCKETS * SOCKETS, "simple", true, 20000);
    row("a node", 1, SOCKETS, CORES, "simple", false, 20000);
    row("a node, buffer kept", 1, SOCKETS, CORES, "rv1_nosched", true, 20000);
    row("a node, buffer kept", 1, SOCKETS, CORES, "jgf", true, 2000);
    row("1024 nodes, a core of each", 1024, 1, 1, "rv1_nosched", false, 200);
    row("1024 nodes", 1024, SOCKETS, 36, "rv1_nosched", false, 50);
    row("1024 nodes", 1024, SOCKETS, 36, "rv1_shorthand", false, 20);
    row("1024 nodes", 1024, SOCKETS, 36, "simple", false, 5);
    row("1024 nodes", 1024, SOCKETS, 36, "jgf", false, 2);
    row("1024 nodes, buffer kept", 1024, SOCKETS, 36, "jgf", true, 2);
    return 0;
}
