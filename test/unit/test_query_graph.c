/* What berth query tells of a graph as a whole: its size, and files for other programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/query/graph_out.h"
#include "cli/query/size.h"
#include "fixture/machine.h"
#include "resource/graph.h"

static uint32_t add(struct graph *g, const char *type, int64_t id, int32_t rank, uint32_t parent)
{
    return add_vertex(
        g, parent,
        &(struct vertex_spec){
            .type = type, .id = id, .uniq_id = -1, .size = 1, .rank = rank, .unit = "u"});
}

/* Two nodes with a core each, and a third that is gone. */
static struct graph *machine(void)
{
    struct graph *g = graph_create();
    assert_non_null(g);
    uint32_t cluster = add(g, "cluster", 0, -1, VERTEX_NONE);
    uint32_t node[3];
    for (int i = 0; i < 3; i++) {
        node[i] = add(g, "node", i, i, cluster);
        add(g, "core", 0, i, node[i]);
    }
    assert_int_equal(graph_set_property(g, node[0], "a<", "\"b&\\"), 0);
    assert_int_equal(graph_set_property(g, node[0], "c", "\x01\n"), 0);
    assert_int_equal(graph_seal(g), 0);
    assert_int_equal(graph_remove(g, &node[2], 1, GRAPH_CONTAINMENT), 0);
    return g;
}

static void size(void **state)
{
    (void)state;
    struct graph *g = machine();
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    assert_int_equal(query_print_size(g, 0.25, out), 0);
    fclose(out);
    assert_string_equal(text, "INFO: Graph Load Time: 0.25\n"
                              "INFO: Vertex Count: 5\n"
                              "INFO: Edge Count: 4\n"
                              "INFO: by_type Key-Value Pairs: 3\n"
                              "INFO: by_name Key-Value Pairs: 4\n"
                              "INFO: by_path Key-Value Pairs: 5\n"
                              "INFO: number of vertices with rank -1: 1\n"
                              "INFO: number of vertices with rank 0: 2\n"
                              "INFO: number of vertices with rank 1: 2\n");
    free(text);
    graph_destroy(g);
}

static char *written(const struct graph *g, bool graphml)
{
    char folder[] = "/tmp/berth-test-XXXXXX", name[64], *text = calloc(1, 8192);
    assert_non_null(mkdtemp(folder));
    assert_non_null(text);
    snprintf(name, sizeof(name), "%s/g", folder);
    assert_int_equal(graph_out(g, name, graphml, NULL), 0);
    strcat(name, graphml ? ".graphml" : ".dot");
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    size_t n = fread(text, 1, 8191, file);
    assert_in_range(n, 1, 8190);
    fclose(file);
    unlink(name);
    rmdir(folder);
    return text;
}

static void dot(void **state)
{
    (void)state;
    struct graph *g = machine();
    char *text = written(g, false);
    assert_string_equal(text, "digraph machine {\n"
                              "    0 [label=\"cluster0\"];\n"
                              "    1 [label=\"node0\"];\n"
                              "    2 [label=\"core0\"];\n"
                              "    3 [label=\"node1\"];\n"
                              "    4 [label=\"core0\"];\n"
                              "    0 -> 1 [label=\"containment\"];\n"
                              "    0 -> 3 [label=\"containment\"];\n"
                              "    1 -> 2 [label=\"containment\"];\n"
                              "    3 -> 4 [label=\"containment\"];\n"
                              "}\n");
    free(text);
    graph_destroy(g);
}

static void graphml(void **state)
{
    (void)state;
    struct graph *g = machine();
    char *text = written(g, true);
    assert_non_null(strstr(text, "  <key id=\"uniq_id\" for=\"node\" attr.name=\"uniq_id\" "
                                 "attr.type=\"long\"/>\n"));
    assert_non_null(strstr(text, "    <node id=\"n1\"><data key=\"type\">node</data>"
                                 "<data key=\"basename\">node</data><data key=\"name\">node0</data>"
                                 "<data key=\"id\">0</data><data key=\"uniq_id\">1</data>"
                                 "<data key=\"size\">1</data><data key=\"unit\">u</data>"
                                 "<data key=\"rank\">0</data><data key=\"status\">up</data>"
                                 "<data key=\"paths\">containment=/cluster0/node0</data>"
                                 "<data key=\"properties\">a&lt;=\"b&amp;\\,c=?"
                                 "?</data></node>\n"));
    assert_non_null(strstr(text, "    <edge source=\"n3\" target=\"n4\">"
                                 "<data key=\"member_of\">containment</data></edge>\n"
                                 "  </graph>\n</graphml>\n"));
    free(text);

    berth_error_t err;
    assert_int_equal(graph_out(g, "/tmp/berth-test-none/g", true, &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(err.text, "/tmp/berth-test-none/g.graphml: No such file or directory");
    graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size),
        cmocka_unit_test(dot),
        cmocka_unit_test(graphml),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
