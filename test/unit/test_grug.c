/* The reader of recipes: what is made in which order, ids, ranks, paths in several subsystems, errors,
 * bounds.
 */
#include "graph_look.h"

#include <errno.h>
#include <stdio.h>

#include "resource/readers/common.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define KEY_NODE(name) "<key id='" name "' for='node' attr.name='" name "'/>\n"
#define KEY_EDGE(name) "<key id='" name "' for='edge' attr.name='" name "'/>\n"
#define KEYS                                                                                       \
    KEY_NODE("root")                                                                               \
    KEY_NODE("type")                                                                               \
    KEY_NODE("basename")                                                                           \
    KEY_NODE("unit")                                                                               \
    KEY_NODE("size")                                                                               \
    KEY_NODE("subsystem")                                                                          \
    KEY_EDGE("e_subsystem")                                                                        \
    KEY_EDGE("id_scope")                                                                           \
    KEY_EDGE("id_start")                                                                           \
    KEY_EDGE("id_stride")                                                                          \
    KEY_EDGE("gen_method")                                                                         \
    KEY_EDGE("multi_scale")                                                                        \
    KEY_EDGE("as_tgt_subsystem")                                                                   \
    KEY_EDGE("as_tgt_uplvl")                                                                       \
    KEY_EDGE("as_src_uplvl")

#define DATA(key, value)       "<data key='" key "'>" value "</data>"
#define NODE(id, type, more)   "<node id='" id "'>" DATA("type", type) more "</node>\n"
#define EDGE(from, to, more)   "<edge source='" from "' target='" to "'>" more "</edge>\n"
#define TIMES(from, to, n, id) EDGE(from, to, DATA("multi_scale", n) DATA("id_scope", id))
#define ROOT                   DATA("root", "1")
/* On one line, so that errors are on line 1. */
#define GRAPH(body)                                                                                \
    "<?xml version='1.0' encoding='UTF-8'?>\n<graphml>" KEYS "<graph>\n" body "</graph></graphml>"

/* A small cluster of every common kind. */
#define TINY                                                                                       \
    NODE("cluster", "cluster", ROOT DATA("basename", "tiny"))                                      \
    NODE("rack", "rack", "")                                                                       \
    NODE("node", "node", "")                                                                       \
    NODE("socket", "socket", "")                                                                   \
    NODE("core", "core", "")                                                                       \
    NODE("memory", "memory", DATA("size", "2") DATA("unit", "GB"))                                 \
    NODE("gpu", "gpu", "")                                                                         \
    TIMES("cluster", "rack", "1", "0")                                                             \
    TIMES("rack", "node", "2", "1")                                                                \
    TIMES("node", "socket", "2", "0")                                                              \
    TIMES("socket", "core", "18", "1")                                                             \
    TIMES("socket", "gpu", "1", "1")                                                               \
    TIMES("socket", "memory", "4", "1")

static struct graph *read_text(const char *text)
{
    struct graph *g = graph_create();
    berth_error_t err = {""};

    if (read_grug(g, text, strlen(text), &err) < 0)
        fail_msg("%s", err.text);
    assert_true(graph_check(g));
    return g;
}

static void makes_vertices_in_the_order_of_the_walk(void **state)
{
    (void)state;
    struct graph *g = read_text(GRAPH(TINY));
    static const char *const paths[] = {
        [0] = "/tiny0",
        [1] = "/tiny0/rack0",
        [2] = "/tiny0/rack0/node0",
        [3] = "/tiny0/rack0/node1",
        [4] = "/tiny0/rack0/node0/socket0",
        [7] = "/tiny0/rack0/node1/socket1",
        [8] = "/tiny0/rack0/node0/socket0/core0",
        [26] = "/tiny0/rack0/node0/socket1/core18",
        [44] = "/tiny0/rack0/node1/socket0/core0",
        [79] = "/tiny0/rack0/node1/socket1/core35",
        [80] = "/tiny0/rack0/node0/socket0/gpu0",
        [83] = "/tiny0/rack0/node1/socket1/gpu1",
        [84] = "/tiny0/rack0/node0/socket0/memory0",
        [99] = "/tiny0/rack0/node1/socket1/memory7",
    };
    struct strbuf out = {0};

    assert_int_equal(g->live, 100);
    assert_int_equal(g->n_edges, 99);
    assert_int_equal(g->root[GRAPH_CONTAINMENT], 0);
    assert_int_equal(g->n_paths, 0);
    for (uint32_t v = 0; v < COUNT(paths); v++) {
        assert_int_equal(graph_uniq_id(g, v), v);
        assert_int_equal(g->v[v].rank, v == 2 ? 0 : v == 3 ? 1 : -1);
        if (!paths[v])
            continue;
        assert_string_equal(look_path(g, v, GRAPH_CONTAINMENT, &out), paths[v]);
        assert_int_equal(look_find(g, paths[v]), v);
    }
    assert_int_equal(g->v[84].size, 2);
    assert_string_equal(intern_text(&g->names, g->v[84].unit), "GB");
    assert_string_equal(graph_type_name(g, 84), "memory");
    strbuf_clear(&out);
    graph_destroy(g);
}

/* Ids of the vertices of 2 x 3 under one root, by the scope of the second edge. */
static const struct {
    const char *edge;
    int64_t id[6];
} id_rows[] = {
    {DATA("multi_scale", "3"), {0, 1, 2, 0, 1, 2}},
    {DATA("multi_scale", "3") DATA("id_scope", "1"), {0, 1, 2, 3, 4, 5}},
    {DATA("multi_scale", "3") DATA("id_scope", "9"), {0, 1, 2, 3, 4, 5}},
    {DATA("multi_scale", "3") DATA("id_scope", "-1"), {-1, -1, -1, -1, -1, -1}},
    {DATA("multi_scale", "3") DATA("id_start", "10"), {10, 11, 12, 10, 11, 12}},
    {DATA("multi_scale", "3") DATA("id_start", "5") DATA("id_scope", "1") DATA("id_stride", "2"),
     {5, 7, 9, 11, 13, 15}},
};

static void numbers_by_scope(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(id_rows); i++) {
        char text[8192];
        snprintf(text, sizeof(text),
                 GRAPH(NODE("a", "cluster", ROOT) NODE("b", "b", "") NODE("c", "c", "")
                           TIMES("a", "b", "2", "0") EDGE("b", "c", "%s")),
                 id_rows[i].edge);
        struct graph *g = read_text(text);
        assert_int_equal(g->n, 9);
        for (uint32_t k = 0; k < 6; k++)
            assert_int_equal(g->v[3 + k].id, id_rows[i].id[k]);
        graph_destroy(g);
    }
}

/* A scope of 2 numbers through all racks: the scales above are those of the walk. */
static void numbers_through_two_levels(void **state)
{
    (void)state;
    struct graph *g = read_text(
        GRAPH(NODE("a", "cluster", ROOT) NODE("b", "b", "") NODE("c", "c", "") NODE("d", "d", "")
                  TIMES("a", "b", "2", "0") TIMES("b", "c", "2", "0") TIMES("c", "d", "2", "2")));
    for (uint32_t k = 0; k < 8; k++)
        assert_int_equal(g->v[7 + k].id, k);
    graph_destroy(g);
}

#define POWER DATA("subsystem", "power")
#define DRAWS DATA("e_subsystem", "power")
#define BY(method)                                                                                 \
    DATA("gen_method", method)                                                                     \
    DATA("as_tgt_subsystem", "containment")

/* A panel feeds the distribution unit of each rack, and that the rack's nodes. */
static void associates_in_another_subsystem(void **state)
{
    (void)state;
    struct graph *g = read_text(GRAPH(
        NODE("a", "cluster", ROOT) NODE("r", "rack", "") NODE("u", "pdu", "") NODE("n", "node", "")
            TIMES("a", "r", "2", "0") TIMES("r", "u", "1", "1") TIMES("r", "n", "3", "1") NODE(
                "panel", "panel", ROOT POWER) NODE("pu", "pdu", POWER) NODE("pn", "node", POWER)
                NODE("w", "watt", POWER) EDGE("panel", "pu", DRAWS BY("ASSOCIATE_IN"))
                    EDGE("pu", "pn", DRAWS BY("ASSOCIATE_BY_PATH_IN"))
                        EDGE("pn", "w", DRAWS DATA("multi_scale", "2"))));
    uint8_t power = look_subsystem(g, "power");
    struct strbuf out = {0};
    uint32_t node4 = look_find(g, "/cluster0/rack1/node4");

    assert_int_equal(g->n, 1 + 2 + 2 + 6 + 1 + 12);
    assert_int_equal(g->n_edges, 10 + 2 + 6 + 12);
    assert_string_equal(look_path(g, node4, power, &out), "/panel0/pdu1/node4");
    assert_int_equal(look_find(g, "/panel0/pdu1/node4"), node4);
    assert_string_equal(look_path(g, node4, GRAPH_CONTAINMENT, &out), "/cluster0/rack1/node4");
    assert_string_equal(look_path(g, g->n - 1, power, &out), "/panel0/pdu1/node5/watt1");
    assert_string_equal(look_path(g, g->n - 1, GRAPH_CONTAINMENT, &out), "");
    assert_string_equal(look_path(g, 0, power, &out), "");
    assert_int_equal(g->n_paths, 0);
    strbuf_clear(&out);
    graph_destroy(g);
}

/* An association within containment moves the vertex's path, not those of what was made below it before. */
static void keeps_paths_below_what_is_associated(void **state)
{
    (void)state;
    struct graph *g = read_text(
        GRAPH(NODE("a", "cluster", ROOT) NODE("r", "rack", "") NODE("u", "unit", "")
                  NODE("d", "disk", "") TIMES("a", "r", "2", "0") TIMES("r", "u", "1", "1")
                      TIMES("u", "d", "2", "1") NODE("g", "global", "") TIMES("a", "g", "1", "0")
                          NODE("x", "unit", "") EDGE("g", "x", DATA("gen_method", "ASSOCIATE_IN"))
                              NODE("y", "tape", "") TIMES("x", "y", "1", "0")));
    struct strbuf out = {0};

    assert_int_equal(g->n, 1 + 2 + 2 + 4 + 1 + 2);
    assert_int_equal(g->n_edges, 8 + 1 + 2 + 2);
    assert_string_equal(look_path(g, 3, GRAPH_CONTAINMENT, &out), "/cluster0/global0/unit0");
    assert_string_equal(look_path(g, 4, GRAPH_CONTAINMENT, &out), "/cluster0/global0/unit1");
    assert_string_equal(look_path(g, 8, GRAPH_CONTAINMENT, &out), "/cluster0/rack1/unit1/disk1");
    assert_string_equal(look_path(g, 11, GRAPH_CONTAINMENT, &out), "/cluster0/global0/unit1/tape0");
    strbuf_clear(&out);
    graph_destroy(g);
}

/* There is one edge from a vertex to another: associated again it changes its subsystem, and no path is
 * lost.
 */
static void has_one_edge_for_a_pair(void **state)
{
    (void)state;
    struct graph *g = read_text(
        GRAPH(NODE("a", "cluster", ROOT) NODE("r", "rack", "") NODE("n", "node", "")
                  TIMES("a", "r", "1", "0") TIMES("r", "n", "2", "0")
                      NODE("panel", "panel", ROOT POWER) NODE("pr", "rack", POWER)
                          NODE("pn", "node", POWER) EDGE("panel", "pr", DRAWS BY("ASSOCIATE_IN"))
                              EDGE("pr", "pn", DRAWS BY("ASSOCIATE_IN"))));
    uint8_t power = look_subsystem(g, "power");
    struct strbuf out = {0};

    assert_int_equal(g->n, 5);
    assert_int_equal(g->n_edges, 4);
    assert_int_equal(graph_child_subsystem(g, 1, 0), power);
    assert_string_equal(look_path(g, 3, power, &out), "/panel0/rack0/node1");
    assert_string_equal(look_path(g, 3, GRAPH_CONTAINMENT, &out), "/cluster0/rack0/node1");
    assert_int_equal(look_find(g, "/cluster0/rack0/node1"), 3);
    strbuf_clear(&out);
    graph_destroy(g);
}

static void reads_defaults_and_skips_the_rest(void **state)
{
    (void)state;
    struct graph *g = read_text(
        "<!DOCTYPE graphml SYSTEM 'graphml.dtd'>\n<g:graphml> stray words\n"
        "<key id='k1' for='node' attr.name='type'><default> thing </default></key>"
        "<key id='k2' for='all' attr.name='colour'><default>red</default></key>"
        "<key id='k3' for='edge' attr.name='multi_scale'><default>3</default></key>"
        "<key id='k4' for='node' attr.name='root'/>"
        "<desc><node/></desc>"
        "<graph edgedefault='directed'><edge source='a' target='b'><data key='k2'>1</data></edge>"
        "<node id='a'><data key='k4'> 1\n</data><desc>words</desc></node>"
        "<node id='b'><data key='k2'>blue</data><data key='size'>7</data></node>"
        "</graph></g:graphml>");
    assert_int_equal(g->n, 4);
    assert_string_equal(graph_type_name(g, 3), "thing");
    assert_int_equal(g->v[3].size, 7);
    assert_int_equal(g->v[3].id, 2);
    graph_destroy(g);
}

/* A recipe may go round: what has been seen is not made again. */
static void ends_where_a_recipe_goes_round(void **state)
{
    (void)state;
    struct graph *g = read_text(GRAPH(NODE("a", "cluster", ROOT) NODE("b", "b", "")
                                          TIMES("a", "b", "2", "0") TIMES("b", "a", "2", "0")
                                              TIMES("b", "b", "2", "0") TIMES("a", "b", "5", "0")));
    assert_int_equal(g->n, 3);
    graph_destroy(g);
}

#define PAIR NODE("a", "cluster", ROOT) NODE("b", "b", "")

static const struct {
    const char *text, *expected;
} error_rows[] = {
    {"", "line 1: no element found, expected GraphML"},
    {"<graphml>", "line 1: no element found, expected GraphML"},
    {"{}", "line 1: not well-formed (invalid token), expected GraphML"},
    {"<html/>", "line 1: unknown element 'html', expected <graphml>"},
    {"<graphml/>", "the recipe makes nothing, expected a node whose root is 1 and an edge from it"},
    {GRAPH(NODE("a", "cluster", ROOT)),
     "the recipe makes nothing, expected a node whose root is 1 and an edge from it"},
    {GRAPH(NODE("a", "b", "") NODE("b", "b", "") TIMES("a", "b", "1", "0")),
     "the recipe makes nothing, expected a node whose root is 1 and an edge from it"},
    {GRAPH("<node/>"), "line 18: a <node> without id, expected id=\"...\""},
    {GRAPH(PAIR "<node id='b'/>"), "line 20: a second node 'b', expected an id of its own"},
    {GRAPH("<node id='n'></node>"), "line 18: no type for node 'n', expected <data key=\"type\">"},
    {GRAPH(PAIR "<edge source='a'/>"),
     "line 20: an <edge> without both ends, expected source=\"...\" target=\"...\""},
    {GRAPH(PAIR "\n" EDGE("a", "c", "")),
     "line 21: edge to unknown node 'c', expected the id of a <node>"},
    {GRAPH(PAIR EDGE("c", "a", "")),
     "line 20: edge from unknown node 'c', expected the id of a <node>"},
    {GRAPH("<node id='a'>" DATA("multi_scale", "1") "</node>"),
     "line 18: unknown key 'multi_scale', expected one that a <key for=\"node\"> declares"},
    {GRAPH(PAIR EDGE("a", "b", DATA("scale", "1"))),
     "line 20: unknown key 'scale', expected one that a <key for=\"edge\"> declares"},
    {GRAPH(PAIR EDGE("a", "b", DATA("multi_scale", "-1"))),
     "line 20: multi_scale is '-1', expected a number from 0 to 2147483647"},
    {GRAPH(PAIR EDGE("a", "b", DATA("multi_scale", "1e3"))),
     "line 20: multi_scale is '1e3', expected a number from 0 to 2147483647"},
    {GRAPH(PAIR EDGE("a", "b", DATA("multi_scale", ""))),
     "line 20: multi_scale is '', expected a number from 0 to 2147483647"},
    {GRAPH(NODE("a", "b", DATA("size", "99999999999999999999"))),
     "line 18: size is '99999999999999999999', expected a number from 0 to 9223372036854775807"},
    {GRAPH(NODE("a", "b/c", "")),
     "line 18: type is 'b/c', expected a name of at most 255 bytes without slashes"},
    {GRAPH(PAIR EDGE("a", "b", DATA("gen_method", "DIVIDE"))),
     "line 20: gen_method is 'DIVIDE', expected MULTIPLY, ASSOCIATE_IN or ASSOCIATE_BY_PATH_IN"},
    {GRAPH(PAIR TIMES("a", "b", "2000000000", "0")),
     "line 20: edge from 'a' to 'b' makes too many vertices, expected at most 50000000"},
    {GRAPH(PAIR NODE("c", "c", "") TIMES("a", "b", "100000", "0") TIMES("b", "c", "100000", "0")),
     "line 22: edge from 'b' to 'c' makes too many vertices, expected at most 50000000"},
    {GRAPH(PAIR NODE("c", "b", "") TIMES("a", "b", "2", "0")
               EDGE("b", "c", DATA("gen_method", "ASSOCIATE_IN"))),
     "line 22: edge from 'b' to 'c': vertices of one type can't be associated with each other"},
    {GRAPH(PAIR NODE("c", "cluster", "") TIMES("a", "b", "2", "0")
               EDGE("b", "c", DATA("gen_method", "ASSOCIATE_IN"))),
     "containment is deeper than 256 levels, or a vertex contains itself"},
    {"<!DOCTYPE a [<!ENTITY x 'y'>]><graphml>&x;</graphml>",
     "line 1: a document type with declarations, expected none"},
    {"<!DOCTYPE a SYSTEM 'a'><graphml>&x;</graphml>", "line 1: unknown entity 'x', expected text"},
    {"<graphml>&x;</graphml>", "line 1: undefined entity, expected GraphML"},
    {"<graphml><graph><node id='a'><graph/></node></graph></graphml>",
     "line 1: a graph in a graph, expected one level of nodes"},
};

static void says_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(error_rows); i++) {
        struct graph *g = graph_create();
        berth_error_t err = {""};
        errno = 0;
        const char *text = error_rows[i].text;
        assert_int_equal(read_grug(g, text, strlen(text), &err), -1);
        assert_int_equal(errno, EINVAL);
        assert_string_equal(err.text, error_rows[i].expected);
        assert_int_equal(g->n, 0);
        assert_int_equal(g->types.n, TYPE_ALL + 1);
        assert_int_equal(read_grug(g, text, strlen(text), NULL), -1);
        graph_destroy(g);
    }
}

/* Any beginning of a text is an error. */
static void refuses_what_is_cut_off(void **state)
{
    (void)state;
    const char *text = GRAPH(TINY);
    for (size_t n = 0; n < strlen(text); n++) {
        struct graph *g = graph_create();
        assert_int_equal(read_grug(g, text, n, NULL), -1);
        assert_int_equal(errno, EINVAL);
        graph_destroy(g);
    }
}

static void refuses_depth(void **state)
{
    (void)state;
    struct strbuf text = {0};
    struct graph *g = graph_create();
    berth_error_t err;
    char line[256];

    strbuf_puts(&text, "<graphml>" KEYS "<graph>" NODE("0", "cluster", ROOT));
    for (int i = 1; i <= 300; i++) {
        snprintf(line, sizeof(line), NODE("%d", "x", "") "<edge source='%d' target='%d'/>", i,
                 i - 1, i);
        strbuf_puts(&text, line);
    }
    strbuf_puts(&text, "</graph></graphml>");
    assert_int_equal(read_grug(g, text.data, text.len, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_non_null(strstr(err.text, "one level too deep"));
    strbuf_reset(&text);
    for (int i = 0; i < 10000; i++)
        strbuf_puts(&text, "<graphml>");
    assert_int_equal(read_grug(g, text.data, text.len, &err), -1);
    assert_string_equal(err.text, "line 1: elements in elements, too deep, expected a recipe");
    strbuf_clear(&text);
    graph_destroy(g);
}

static void keeps_within_bounds(void **state)
{
    (void)state;
    struct graph *g = graph_create();
    const char *text = GRAPH(TINY);
    berth_error_t err;

    assert_int_equal(read_grug_within(g, text, strlen(text), 99, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(read_grug_within(g, text, strlen(text), 100, &err), 0);
    assert_int_equal(read_grug(g, text, strlen(text), &err), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(g->live, 100);
    graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_vertices_in_the_order_of_the_walk),
        cmocka_unit_test(numbers_by_scope),
        cmocka_unit_test(numbers_through_two_levels),
        cmocka_unit_test(associates_in_another_subsystem),
        cmocka_unit_test(keeps_paths_below_what_is_associated),
        cmocka_unit_test(has_one_edge_for_a_pair),
        cmocka_unit_test(reads_defaults_and_skips_the_rest),
        cmocka_unit_test(ends_where_a_recipe_goes_round),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(refuses_what_is_cut_off),
        cmocka_unit_test(refuses_depth),
        cmocka_unit_test(keeps_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
