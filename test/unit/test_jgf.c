/* The reader of the JSON Graph Format: defaults, names, paths that don't follow from edges, growing,
 * errors.
 */
#include "graph_look.h"

#include <errno.h>

#include "resource/readers/common.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define NODE(id, more, path)                                                                       \
    "{\"id\": \"" id "\", \"metadata\": {" more ", \"paths\": {\"containment\": \"" path "\"}}}"
#define EDGE(source, target) "{\"source\": \"" source "\", \"target\": \"" target "\"}"
#define GRAPH(nodes, edges)  "{\"graph\": {\"nodes\": [" nodes "], \"edges\": [" edges "]}}"
#define TYPE(type)           "\"type\": \"" type "\""
#define SMALL_NODES                                                                                \
    NODE("0", TYPE("cluster"), "/cluster0")                                                        \
    ", " NODE("1", TYPE("node") ", \"name\": \"host07\", \"rank\": 3",                             \
              "/cluster0/host07") ", " NODE("2", TYPE("core") ", \"id\": 0",                       \
                                            "/cluster0/host07/core0")
#define SMALL_EDGES EDGE("0", "1") ", " EDGE("1", "2")
#define SMALL       GRAPH(SMALL_NODES, SMALL_EDGES)

static struct graph *read_text(const char *text)
{
    struct graph *g = graph_create();
    berth_error_t err = {""};

    if (read_jgf(g, text, strlen(text), &err) < 0)
        fail_msg("%s", err.text);
    assert_true(graph_check(g));
    return g;
}

static void grow(struct graph *g, const char *text)
{
    berth_error_t err = {""};

    if (read_jgf(g, text, strlen(text), &err) < 0)
        fail_msg("%s", err.text);
    assert_true(graph_check(g));
}

static void fills_in_what_is_left_out(void **state)
{
    (void)state;
    struct graph *g = read_text(SMALL);
    struct strbuf out = {0};

    assert_int_equal(g->live, 3);
    assert_int_equal(g->n_edges, 2);
    assert_int_equal(g->n_paths, 0);
    assert_int_equal(g->root[GRAPH_CONTAINMENT], 0);
    assert_null(g->uniq_id);
    assert_int_equal(g->v[1].id, 7);
    assert_int_equal(g->v[1].rank, 3);
    assert_string_equal(graph_basename(g, 1), "node");
    assert_string_equal(look_path(g, 1, GRAPH_CONTAINMENT, &out), "/cluster0/host07");
    assert_int_equal(g->v[2].name, 0);
    assert_int_equal(g->v[2].size, 1);
    assert_int_equal(g->v[2].rank, -1);
    assert_false(g->v[2].down);
    strbuf_clear(&out);
    graph_destroy(g);
}

static void takes_what_is_given(void **state)
{
    (void)state;
    struct graph *g = read_text(GRAPH(
        NODE("a",
             TYPE("ssd") ", \"basename\": \"disk\", \"id\": 4, \"uniq_id\": 17, \"rank\": 9, "
                         "\"status\": 1, \"exclusive\": true, \"unit\": \"GiB\", \"size\": 793, "
                         "\"properties\": {\"b\": \"\", \"a\": \"x\"}, \"colour\": 1",
             "/disk4"),
        ""));
    const struct vertex *v = &g->v[0];

    assert_string_equal(graph_basename(g, 0), "disk");
    assert_int_equal(graph_uniq_id(g, 0), 17);
    assert_int_equal(v->rank, 9);
    assert_true(v->down);
    assert_int_equal(v->size, 793);
    assert_string_equal(intern_text(&g->names, v->unit),
                        ""); /* as Fluxion's recorded sessions have it */
    assert_int_equal(propset_size(&g->props, v->props), 2);
    assert_string_equal(propset_value(&g->props, v->props, "a"), "x");
    assert_string_equal(propset_value(&g->props, v->props, "b"), "");
    assert_int_equal(v->name, 0);
    graph_destroy(g);
}

/* A name that is the basename and the id is none of its own. */
static void names_by_id_where_it_can(void **state)
{
    (void)state;
    static const struct {
        const char *node, *name;
    } rows[] = {
        {NODE("5", TYPE("core"), "/x"), NULL},
        {NODE("5", TYPE("core") ", \"name\": \"core5\"", "/x"), NULL},
        {NODE("5", TYPE("core") ", \"name\": \"core05\"", "/x"), "core05"},
        {NODE("5", TYPE("core") ", \"name\": \"core\"", "/x"), "core"},
        {NODE("5", TYPE("core") ", \"id\": -1, \"name\": \"core\"", "/x"), NULL},
        {NODE("5", TYPE("core") ", \"id\": -1", "/x"), "core-1"},
        {NODE("5", TYPE("core") ", \"id\": -7, \"name\": \"core-7\"", "/x"), NULL},
        {NODE("5", TYPE("node") ", \"name\": \"node5\"", "/x"), NULL},
        {NODE("6", TYPE("node") ", \"name\": \"node5\"", "/x"), NULL},
        {NODE("6", TYPE("core") ", \"name\": \"core5\"", "/x"), "core5"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[512];
        struct jgf j;
        snprintf(text, sizeof(text), GRAPH("%s", ""), rows[i].node);
        assert_int_equal(jgf_parse(&j, text, strlen(text), NULL), 0);
        if (rows[i].name)
            assert_string_equal(j.vertex[0].name, rows[i].name);
        else
            assert_null(j.vertex[0].name);
        jgf_free(&j);
    }
}

static void keeps_paths_that_do_not_follow(void **state)
{
    (void)state;
    struct graph *g = read_text(GRAPH(
        NODE("0", TYPE("cluster"), "/cluster0") ", " NODE(
            "1", TYPE("ssd"),
            "/cluster0/ssd0") ", " NODE("2", TYPE("part"),
                                        "/cluster0/ssd0/part2") ", "
                                                                "{\"id\": \"3\", \"metadata\": "
                                                                "{" TYPE(
                                                                    "switch") ", \"paths\": {"
                                                                              "\"network\": "
                                                                              "\"/switch3\"}}}, "
                                                                              "{\"id\": \"4\", "
                                                                              "\"metadata\": "
                                                                              "{" TYPE(
                                                                                  "node") ", "
                                                                                          "\"paths"
                                                                                          "\": {"
                                                                                          "\"contai"
                                                                                          "nment\":"
                                                                                          " \"/"
                                                                                          "cluster0"
                                                                                          "/node4\""
                                                                                          ", "
                                                                                          "\"networ"
                                                                                          "k\": "
                                                                                          "\"/"
                                                                                          "switch3/"
                                                                                          "node4\"}"
                                                                                          "}}",
        SMALL_EDGES ", " EDGE("0", "4") ", {\"source\": \"3\", \"target\": \"4\", "
                                        "\"metadata\": {\"subsystem\": \"network\"}}"));
    uint8_t network = look_subsystem(g, "network");
    struct strbuf out = {0};

    assert_int_equal(g->n_paths, 1);
    assert_string_equal(look_path(g, 1, GRAPH_CONTAINMENT, &out), "/cluster0/ssd0");
    assert_string_equal(look_path(g, 2, GRAPH_CONTAINMENT, &out), "/cluster0/ssd0/part2");
    assert_int_equal(look_find(g, "/cluster0/ssd0"), 1);
    assert_int_equal(look_find(g, "/cluster0/ssd0/part2"), 2);
    assert_string_equal(look_path(g, 3, GRAPH_CONTAINMENT, &out), "");
    assert_string_equal(look_path(g, 4, network, &out), "/switch3/node4");
    assert_int_equal(g->root[network], 3);
    strbuf_clear(&out);
    graph_destroy(g);
}

static void reads_the_scheduling_of_an_r(void **state)
{
    (void)state;
    struct graph *g = read_text("{\"version\": 1, \"scheduling\": " SMALL ", \"execution\": {}}");
    assert_int_equal(g->live, 3);
    graph_destroy(g);
}

static void leaves_out_edges_of_freed_ranks(void **state)
{
    (void)state;
    const char *text = "{\"graph\": {\"nodes\": [" SMALL_NODES "], \"edges\": [" SMALL_EDGES
                       ", " EDGE("1", "9") ", " EDGE("8", "1") "]}, \"free_ranks\": \"0-2\"}";
    struct jgf j;

    assert_int_equal(jgf_parse(&j, text, strlen(text), NULL), 0);
    assert_int_equal(j.n, 3);
    assert_int_equal(j.n_edges, 2);
    assert_string_equal(j.free_ranks, "0-2");
    jgf_free(&j);
}

static void grows_a_graph(void **state)
{
    (void)state;
    struct graph *g = read_text(SMALL);
    struct strbuf out = {0};

    grow(g, GRAPH(SMALL_NODES ", " NODE("7", TYPE("core") ", \"id\": 1", "/cluster0/host07/core1"),
                  EDGE("1", "7") ", " SMALL_EDGES));
    assert_int_equal(g->live, 4);
    assert_int_equal(g->n_edges, 3);
    assert_int_equal(graph_uniq_id(g, 3), 7);
    assert_string_equal(look_path(g, 3, GRAPH_CONTAINMENT, &out), "/cluster0/host07/core1");
    grow(g, GRAPH(SMALL_NODES, SMALL_EDGES));
    assert_int_equal(g->live, 4);
    assert_int_equal(g->n_edges, 3);
    /* The same path with another rank is another vertex. */
    grow(g, GRAPH(NODE("0", TYPE("cluster"), "/cluster0") ", " NODE(
                      "9", TYPE("node") ", \"name\": \"host07\"", "/cluster0/host07"),
                  EDGE("0", "9")));
    assert_int_equal(g->live, 5);
    assert_int_equal(g->n_edges, 4);
    strbuf_clear(&out);
    graph_destroy(g);
}

static void takes_two_nodes_of_one_path_and_rank_for_one(void **state)
{
    (void)state;
    struct graph *g = read_text(
        GRAPH(SMALL_NODES ", " NODE("5", TYPE("core"), "/cluster0/host07/core0"), SMALL_EDGES));
    assert_int_equal(g->live, 3);
    graph_destroy(g);
}

#define X(more) GRAPH(NODE("0", more, "/x0"), "")

static const struct {
    const char *text, *expected;
    int errnum;
} error_rows[] = {
    {"", "line 1, column 0: '[' or '{' expected near end of file, expected JSON", EINVAL},
    {"[]", "graph: expected an object, found nothing", EINVAL},
    {"{\"graph\": {}}", "graph.nodes: expected an array, found nothing", EINVAL},
    {"{\"graph\": {\"nodes\": []}}", "graph.edges: expected an array, found nothing", EINVAL},
    {"{\"scheduling\": {\"graph\": 1}}",
     "scheduling.graph: expected an object, found another number", EINVAL},
    {"{\"graph\": {\"nodes\": [], \"edges\": []}, \"free_ranks\": \"1-\"}",
     "free_ranks: offset 2: expected an id, found the end", EINVAL},
    {GRAPH("", ""), "graph.nodes: expected at least one", EINVAL},
    {GRAPH("1", ""), "graph.nodes[0]: expected an object, found another number", EINVAL},
    {GRAPH("{\"id\": 1}", ""), "graph.nodes[0].id: expected a string, found another number",
     EINVAL},
    {GRAPH("{\"id\": \"1\"}", ""), "graph.nodes[0].metadata: expected an object, found nothing",
     EINVAL},
    {X("\"rank\": 1"), "graph.nodes[0].metadata.type: expected a string, found nothing", EINVAL},
    {X(TYPE("")), "graph.nodes[0].metadata.type: expected a name, found another string", EINVAL},
    {X(TYPE("a") ", \"name\": 5"),
     "graph.nodes[0].metadata.name: expected a string, found another number", EINVAL},
    {X(TYPE("a") ", \"rank\": -2"),
     "graph.nodes[0].metadata.rank: expected a number from -1 to 2147483647, found another number",
     EINVAL},
    {X(TYPE("a") ", \"size\": 1.5"),
     "graph.nodes[0].metadata.size: expected a number from 0 to 9223372036854775807, found a real "
     "number",
     EINVAL},
    {X(TYPE("a") ", \"status\": 2"),
     "graph.nodes[0].metadata.status: expected a number from 0 to 1, found another number", EINVAL},
    {X(TYPE("a") ", \"exclusive\": 1"),
     "graph.nodes[0].metadata.exclusive: expected true or false, found another number", EINVAL},
    {X(TYPE("a") ", \"properties\": []"),
     "graph.nodes[0].metadata.properties: expected an object, found an array", EINVAL},
    {X(TYPE("a") ", \"properties\": {\"p\": null}"),
     "graph.nodes[0].metadata.properties.p: expected a string, found null", EINVAL},
    {GRAPH("{\"id\": \"1\", \"metadata\": {" TYPE("a") "}}", ""),
     "graph.nodes[0].metadata.paths: expected an object, found nothing", EINVAL},
    {GRAPH("{\"id\": \"1\", \"metadata\": {" TYPE("a") ", \"paths\": {}}}", ""),
     "graph.nodes[0].metadata.paths: expected at least one path, found an object", EINVAL},
    {GRAPH(NODE("0", TYPE("a"), "a"), ""),
     "graph.nodes[0].metadata.paths.containment: expected a path that begins with a slash, found "
     "another string",
     EINVAL},
    {GRAPH(NODE("z", TYPE("a"), "/a"), ""),
     "graph.nodes[0].metadata.uniq_id: expected a number, as the node's id is none, found nothing",
     EINVAL},
    {GRAPH(SMALL_NODES ", " NODE("1", TYPE("a"), "/a/b"), ""),
     "graph.nodes[3].id: found duplicate node id '1'", EINVAL},
    {GRAPH(SMALL_NODES ", " NODE("3", TYPE("a"), "/a3"), ""),
     "graph.nodes[3].metadata.paths.containment: possible duplicate root, expected one path with "
     "one slash",
     EINVAL},
    {GRAPH(SMALL_NODES, EDGE("0", "3")),
     "graph.edges[0].target: unknown node '3', expected the id of one", EINVAL},
    {GRAPH(SMALL_NODES, EDGE("0", "1") ", {\"source\": \"1\"}"),
     "graph.edges[1].target: expected a string, found nothing", EINVAL},
    {GRAPH(SMALL_NODES, "{\"source\": \"0\", \"target\": \"1\", \"metadata\": {\"subsystem\": 1}}"),
     "graph.edges[0].metadata.subsystem: expected a string, found another number", EINVAL},
    {GRAPH(SMALL_NODES, EDGE("1", "1")), "an edge from '1' to itself", EINVAL},
    {GRAPH(SMALL_NODES, EDGE("0", "1") ", " EDGE("0", "1")),
     "an edge from '0' to '1': a second child with uniq_id 1", EEXIST},
    {GRAPH(SMALL_NODES ", " NODE("5", TYPE("a") ", \"uniq_id\": 1", "/cluster0/a1"),
           EDGE("0", "1") ", " EDGE("0", "5")),
     "an edge from '0' to '5': a second child with uniq_id 1", EEXIST},
    {GRAPH(SMALL_NODES, SMALL_EDGES ", " EDGE("2", "0")),
     "containment is deeper than 256 levels, or a vertex contains itself", EINVAL},
};

static void says_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(error_rows); i++) {
        struct graph *g = graph_create();
        berth_error_t err = {""};
        const char *text = error_rows[i].text;
        errno = 0;
        assert_int_equal(read_jgf(g, text, strlen(text), &err), -1);
        assert_string_equal(err.text, error_rows[i].expected);
        assert_int_equal(errno, error_rows[i].errnum);
        assert_int_equal(g->n, 0);
        assert_int_equal(g->types.n, TYPE_ALL + 1);
        graph_destroy(g);
    }
}

static void leaves_a_graph_alone_that_it_cannot_grow(void **state)
{
    (void)state;
    static const char *const texts[] = {
        GRAPH(NODE("5", TYPE("a"), "/a5"), ""), /* a second root */
        GRAPH(SMALL_NODES ", " NODE("5", TYPE("a") ", \"uniq_id\": 1", "/cluster0/a1"),
              EDGE("0", "5")),                                      /* a second child 1 */
        GRAPH(SMALL_NODES ", " NODE("5", TYPE("a"), "/cluster0/a"), /* a cycle */
              EDGE("2", "5") ", " EDGE("5", "0")),
    };
    struct graph *g = read_text(SMALL);
    uint64_t version = g->version;

    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_int_equal(read_jgf(g, texts[i], strlen(texts[i]), NULL), -1);
        assert_int_equal(g->n, 3);
        assert_int_equal(g->live, 3);
        assert_int_equal(g->n_edges, 2);
        assert_int_equal(g->n_paths, 0);
        assert_int_equal(g->root[GRAPH_CONTAINMENT], 0);
        assert_int_equal(g->version, version);
        assert_true(graph_check(g));
    }
    graph_destroy(g);
}

static void bounds_subsystems(void **state)
{
    (void)state;
    char text[4096] = "{\"graph\": {\"nodes\": [{\"id\": \"0\", \"metadata\": {\"type\": \"a\", "
                      "\"paths\": {\"containment\": \"/a0\"";
    struct graph *g = graph_create();
    berth_error_t err;

    for (int i = 0; i < 16; i++)
        snprintf(text + strlen(text), 64, ", \"s%d\": \"/a0\"", i);
    strcat(text, "}}}], \"edges\": []}}");
    assert_int_equal(read_jgf(g, text, strlen(text), &err), -1);
    assert_string_equal(err.text, "subsystem 's15' is one too many, expected at most 16");
    graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_in_what_is_left_out),
        cmocka_unit_test(takes_what_is_given),
        cmocka_unit_test(names_by_id_where_it_can),
        cmocka_unit_test(keeps_paths_that_do_not_follow),
        cmocka_unit_test(reads_the_scheduling_of_an_r),
        cmocka_unit_test(leaves_out_edges_of_freed_ranks),
        cmocka_unit_test(grows_a_graph),
        cmocka_unit_test(takes_two_nodes_of_one_path_and_rank_for_one),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(leaves_a_graph_alone_that_it_cannot_grow),
        cmocka_unit_test(bounds_subsystems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
