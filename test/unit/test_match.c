/* Matching on Fluxion's tiny machine, with the results that its resource-query gives: one rack, two nodes
 * of two sockets, each with 18 cores, a gpu and four memories of 2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/machine.h"
#include "match/inner.h"

static uint32_t add(struct graph *g, uint32_t parent, const char *type, int64_t id, int32_t rank)
{
    return add_vertex(g, parent,
                      &(struct vertex_spec){.type = type,
                                            .basename = parent == VERTEX_NONE ? "tiny" : NULL,
                                            .id = id,
                                            .uniq_id = -1,
                                            .size = strcmp(type, "memory") == 0 ? 2 : 1,
                                            .rank = rank});
}

/* Level by level, as a recipe makes it. */
static struct graph *tiny_graph(void)
{
    struct graph *g = graph_create();
    uint32_t node[2], socket[4];

    assert_non_null(g);
    uint32_t root = add(g, VERTEX_NONE, "cluster", 0, -1), rack = add(g, root, "rack", 0, -1);
    for (int32_t i = 0; i < 2; i++)
        node[i] = add(g, rack, "node", i, i);
    for (int i = 0; i < 4; i++)
        socket[i] = add(g, node[i / 2], "socket", i % 2, -1);
    for (int i = 0; i < 72; i++)
        add(g, socket[i / 18], "core", i % 36, -1);
    for (int i = 0; i < 4; i++)
        add(g, socket[i], "gpu", i % 2, -1);
    for (int i = 0; i < 16; i++)
        add(g, socket[i / 4], "memory", i % 8, -1);
    assert_int_equal(graph_seal(g), 0);
    return g;
}

static match_t *tiny(const char *policy)
{
    match_options_t options = {.policy = policy};
    berth_error_t err;
    match_t *m = match_create(tiny_graph(), &options, &err);

    if (!m)
        fail_msg("%s", err.text);
    assert_true(match_check(m));
    return m;
}

#define SPEC(resources, system)                                                                    \
    "{\"version\":9999,\"resources\":[" resources "],\"attributes\":{\"system\":{" system "}},"    \
    "\"tasks\":[{\"command\":[\"a\"],\"slot\":\"default\",\"count\":{\"per_slot\":1}}]}"
#define SLOT(count, below)                                                                         \
    "{\"type\":\"slot\",\"label\":\"default\",\"count\":" count ",\"with\":[" below "]}"

/* One core with its socket: the first job of Fluxion's tests. */
#define ONE_CORE                                                                                   \
    "{\"type\":\"node\",\"count\":1,\"with\":[" SLOT(                                              \
        "1", "{\"type\":\"socket\",\"count\":1,\"with\":[{\"type\":\"core\",\"count\":1}]}") "]}"
#define WHOLE_NODE SLOT("1", "{\"type\":\"node\",\"count\":1}")

/* Returns 0 or an errno. */
static int run(match_t *m, match_op_t op, const char *text, int64_t id, int64_t now, int64_t *at)
{
    berth_error_t err;
    match_result_t result = {0};
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, &err);

    if (!spec)
        fail_msg("%s", err.text);
    int rc = match_run(m, op, spec, id, now, &result, &err);
    int error = errno;
    jobspec_destroy(spec);
    assert_true(match_check(m));
    if (at)
        *at = result.at;
    return rc < 0 ? error : 0;
}

/* A job that has one of so many alternatives in a node and, if that is not 0, one of so many in another. */
static int with_alternatives(int first, int second)
{
    static char text[1 << 17];
    match_options_t options = {.traverser = "flexible"};
    match_t *m = match_create(tiny_graph(), &options, NULL);
    int counts[2] = {first, second};
    size_t n = 0;

    assert_non_null(m);
#define PUT(...) n += (size_t)snprintf(text + n, sizeof(text) - n, __VA_ARGS__)
    PUT("{\"version\":9999,\"resources\":[");
    for (int k = 0; k < 2 && counts[k] > 0; k++) {
        PUT("%s{\"type\":\"node\",\"count\":1,\"with\":[", k ? "," : "");
        for (int i = 0; i < counts[k]; i++)
            PUT("%s{\"type\":\"xor_slot\",\"label\":\"s%d_%d\",\"count\":1,\"with\":"
                "[{\"type\":\"socket\",\"count\":1}]}",
                i ? "," : "", k, i);
        PUT("]}");
    }
    PUT("],\"attributes\":{\"system\":{}},\"tasks\":[{\"command\":[\"a\"],\"slot\":"
        "\"s0_0\",\"count\":{\"per_slot\":1}}]}");
#undef PUT
    int error = run(m, MATCH_ALLOCATE, text, 1, 0, NULL);
    match_destroy(m);
    return error;
}

/* Beyond a thousand variants, or many requests in all of them, a job is refused. */
static void alternatives_are_bounded(void **state)
{
    (void)state;
    assert_int_equal(with_alternatives(32, 31), EBUSY);     /* 992 are looked for */
    assert_int_equal(with_alternatives(33, 31), EOVERFLOW); /* 1,023 are not */
    assert_int_equal(with_alternatives(361, 0), 0);         /* 361 of 723 requests */
    assert_int_equal(with_alternatives(362, 0), EOVERFLOW);
}

static void wrote(match_t *m, const char *format, const char *expected)
{
    const char *text;
    size_t length;

    assert_int_equal(match_write(m, format, &text, &length), 0);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
}

static void one_core(void **state)
{
    match_t *m = tiny("high");

    (void)state;
    assert_int_equal(run(m, MATCH_ALLOCATE, SPEC(ONE_CORE, "\"duration\":3600"), 1, 0, NULL), 0);
    wrote(m, "simple",
          "      ---------------core35[1:x]\n"
          "      ------------socket1[1:x]\n"
          "      ---------node1[1:s]\n"
          "      ------rack0[1:s]\n"
          "      ---tiny0[1:s]\n");
    wrote(m, "pretty_simple",
          "      ---tiny0[1:shared]\n"
          "      ------rack0[1:shared]\n"
          "      ---------node1[1:shared]\n"
          "      ------------socket1[1:exclusive]\n"
          "      ---------------core35[1:exclusive]\n");
    wrote(m, "rlite", "[{\"rank\": \"1\", \"children\": {\"core\": \"35\"}}]\n");
    wrote(m, "rv1_nosched",
          "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"1\", \"children\": "
          "{\"core\": \"35\"}}], \"nodelist\": [\"node1\"], \"starttime\": 0, \"expiration\": "
          "3600}}\n");
    wrote(m, "jgf_shorthand",
          "{\"graph\": {\"nodes\": [{\"id\": \"7\", \"metadata\": {\"type\": \"socket\", \"id\": "
          "1, \"rank\": -1, \"exclusive\": true, \"paths\": {\"containment\": "
          "\"/tiny0/rack0/node1/socket1\"}}}, {\"id\": \"3\", \"metadata\": {\"type\": \"node\", "
          "\"id\": 1, \"rank\": 1, \"paths\": {\"containment\": \"/tiny0/rack0/node1\"}}}, "
          "{\"id\": \"1\", \"metadata\": {\"type\": \"rack\", \"id\": 0, \"rank\": -1, \"paths\": "
          "{\"containment\": \"/tiny0/rack0\"}}}, {\"id\": \"0\", \"metadata\": {\"type\": "
          "\"cluster\", \"basename\": \"tiny\", \"id\": 0, \"rank\": -1, \"paths\": "
          "{\"containment\": \"/tiny0\"}}}], \"edges\": [{\"source\": \"3\", \"target\": \"7\"}, "
          "{\"source\": \"1\", \"target\": \"3\"}, {\"source\": \"0\", \"target\": \"1\"}]}, "
          "\"writer\": \"fluxion:jgf_shorthand\"}\n");
    match_destroy(m);
}

static void policies(void **state)
{
    static const struct {
        const char *policy, *rlite;
    } expected[] = {
        {"low", "[{\"rank\": \"0-1\", \"children\": {\"core\": \"0\"}}]\n"},
        {"high", "[{\"rank\": \"0-1\", \"children\": {\"core\": \"35\"}}]\n"},
        {"hinode", "[{\"rank\": \"1\", \"children\": {\"core\": \"34-35\"}}]\n"},
        {"lonode", "[{\"rank\": \"0\", \"children\": {\"core\": \"0-1\"}}]\n"},
        {"first", "[{\"rank\": \"1\", \"children\": {\"core\": \"34-35\"}}]\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        match_t *m = tiny(expected[i].policy);
        assert_int_equal(run(m, MATCH_ALLOCATE,
                             SPEC(SLOT("2", "{\"type\":\"core\",\"count\":1}"), "\"duration\":1"),
                             1, 0, NULL),
                         0);
        wrote(m, "rlite", expected[i].rlite);
        match_destroy(m);
    }
}

static void one_after_the_other(void **state)
{
    match_t *m = tiny("low");
    const char *job = SPEC(WHOLE_NODE, "\"duration\":100");
    int64_t at;

    (void)state;
    for (int64_t i = 0; i < 6; i++) {
        assert_int_equal(run(m, MATCH_ALLOCATE_ORELSE_RESERVE, job, i, 0, &at), 0);
        assert_int_equal(at, i / 2 * 100);
    }
    assert_int_equal(run(m, MATCH_ALLOCATE, job, 9, 0, NULL), EBUSY);
    assert_int_equal(run(m, MATCH_ALLOCATE, job, 3, 0, NULL), EEXIST);
    assert_int_equal(match_cancel(m, 2, NULL, NULL), 0);
    assert_int_equal(run(m, MATCH_WITHOUT_ALLOCATING_FUTURE, job, 9, 0, &at), 0);
    assert_int_equal(at, 100);
    assert_int_equal(run(m, MATCH_ALLOCATE_ORELSE_RESERVE, job, 9, 0, &at), 0);
    assert_int_equal(at, 100);
    assert_int_equal(match_cancel(m, 77, NULL, NULL), -1);
    assert_int_equal(errno, ENOENT);
    match_destroy(m);
}

static void never(void **state)
{
    match_t *m = tiny("low");
    const char *three = SPEC(SLOT("3", "{\"type\":\"node\",\"count\":1}"), "\"duration\":1");
    const char *two = SPEC(SLOT("2", "{\"type\":\"node\",\"count\":1}"), "\"duration\":1");

    (void)state;
    assert_int_equal(run(m, MATCH_SATISFIABILITY, three, 1, 0, NULL), ENODEV);
    assert_int_equal(run(m, MATCH_SATISFIABILITY, two, 1, 0, NULL), 0);
    assert_int_equal(run(m, MATCH_ALLOCATE_W_SATISFIABILITY, three, 1, 0, NULL), ENODEV);
    assert_int_equal(run(m, MATCH_ALLOCATE_ORELSE_RESERVE, three, 1, 0, NULL), EBUSY);
    assert_int_equal(match_set_status(m, "/tiny0/rack0/node0", false, NULL), 0);
    assert_int_equal(run(m, MATCH_ALLOCATE_ORELSE_RESERVE, two, 1, 0, NULL), EBUSY);
    assert_int_equal(run(m, MATCH_SATISFIABILITY, two, 1, 0, NULL), 0);
    match_destroy(m);
}

/* Two nodes of two cores and nothing else, as R describes machines. No filter counts cores. */
static match_t *plain(const char *filters)
{
    match_options_t options = {.policy = "low", .filters = filters};
    struct graph *g = graph_create();
    berth_error_t err;

    assert_non_null(g);
    uint32_t root = add(g, VERTEX_NONE, "cluster", 0, -1);
    for (int32_t i = 0; i < 2; i++) {
        uint32_t node = add(g, root, "node", i, i);
        for (int k = 0; k < 2; k++)
            add(g, node, "core", k, i);
    }
    assert_int_equal(graph_seal(g), 0);
    match_t *m = match_create(g, &options, &err);
    if (!m)
        fail_msg("%s", err.text);
    return m;
}

#define CORES_OF_NODE(nodes, n)                                                                    \
    "{\"type\":\"node\",\"count\":" nodes                                                          \
    ",\"with\":[" SLOT("1", "{\"type\":\"core\",\"count\":" n "}") "]}"

/* A job that has all cores of a node, which it shares, keeps others from the cores, whether filters count these or not. */
static void all_of_a_node(void **state)
{
    static const char *const filters[] = {"ALL:core", "ALL:node"};
    const char *both = SPEC(CORES_OF_NODE("1", "2"), "\"duration\":100");
    const char *one = SPEC(CORES_OF_NODE("1", "1"), "\"duration\":100");
    const char *one_each = SPEC(CORES_OF_NODE("2", "1"), "\"duration\":50");
    const char *longer = SPEC(CORES_OF_NODE("1", "1"), "\"duration\":200");
    int64_t at;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        match_t *m = plain(filters[i]);
        assert_int_equal(run(m, MATCH_ALLOCATE, both, 1, 0, NULL), 0);
        assert_int_equal(match_find(m, "sched-now=allocated", 0, NULL), 0);
        assert_int_equal(m->last.n, 4); /* the cores, and what these are in */
        assert_int_equal(run(m, MATCH_ALLOCATE, one, 2, 0, NULL), 0); /* in the other node */
        assert_int_equal(run(m, MATCH_ALLOCATE_ORELSE_RESERVE, one_each, 3, 0, &at), 0);
        assert_int_equal(at, 100);
        assert_int_equal(run(m, MATCH_ALLOCATE_ORELSE_RESERVE, both, 4, 0, &at), 0);
        assert_int_equal(at, 150);
        assert_int_equal(run(m, MATCH_ALLOCATE, one, 5, 0, NULL), 0); /* the last core */
        assert_int_equal(run(m, MATCH_ALLOCATE, one, 6, 0, NULL), EBUSY);
        assert_int_equal(match_cancel(m, 1, NULL, NULL), 0);
        assert_true(match_check(m));
        assert_int_equal(run(m, MATCH_ALLOCATE, longer, 7, 0, NULL),
                         EBUSY); /* job 4 has both at 150 */
        assert_int_equal(run(m, MATCH_ALLOCATE, one_each, 8, 0, NULL), EBUSY);
        assert_int_equal(run(m, MATCH_ALLOCATE, one, 9, 0, NULL), 0);
        match_destroy(m);
    }
}

static void wrong(void **state)
{
    match_t *m = tiny("low");

    (void)state;
    assert_int_equal(
        run(m, MATCH_ALLOCATE, SPEC(WHOLE_NODE, "\"duration\":3153600001"), 1, 0, NULL), EINVAL);
    assert_int_equal(run(m, MATCH_ALLOCATE, SPEC(WHOLE_NODE, "\"duration\":1"), 1, -1, NULL),
                     EINVAL);
    assert_int_equal(run(m, MATCH_ALLOCATE,
                         SPEC("{\"type\":\"unicorn\",\"count\":1}", "\"duration\":1"), 1, 0, NULL),
                     EINVAL);
    match_destroy(m);
    static const match_options_t options[] = {
        {.policy = "lowest"}, {.traverser = "deep"}, {.filters = "core"}, {.matcher = "XA"}};
    for (size_t i = 0; i < 4; i++) {
        berth_error_t err = {""};
        assert_null(match_create(tiny_graph(), &options[i], &err));
        assert_int_equal(errno, EINVAL);
        assert_true(err.text[0]);
    }
    assert_null(match_create(tiny_graph(), &(match_options_t){.matcher = "IBA"}, NULL));
    assert_int_equal(errno, ENOTSUP);
}

/* A job past its end keeps what it has, below a node that it had to itself too. */
static void overrun(void **state)
{
    match_t *m = tiny("lonodex");
    const char *core = SPEC(SLOT("1", "{\"type\":\"core\",\"count\":1}"), "\"duration\":10");

    (void)state;
    assert_int_equal(run(m, MATCH_ALLOCATE, core, 1, 0, NULL), 0);
    assert_int_equal(run(m, MATCH_ALLOCATE, core, 2, 20, NULL), 0);
    wrote(m, "rlite",
          "[{\"rank\": \"1\", \"children\": {\"core\": \"0-35\", \"gpu\": \"0-1\"}}]\n");
    assert_int_equal(run(m, MATCH_ALLOCATE, core, 3, 20, NULL), EBUSY);
    assert_int_equal(match_cancel(m, 1, NULL, NULL), 0);
    assert_int_equal(run(m, MATCH_ALLOCATE, core, 3, 20, NULL), 0);
    match_destroy(m);
}

/* Under locality, runs of consecutive scores: those of a resource span what the ones before it have. */
static void runs_of_several(void **state)
{
    match_t *m = tiny("locality");

    (void)state;
    assert_int_equal(
        run(m, MATCH_ALLOCATE,
            SPEC("{\"type\":\"core\",\"count\":1,\"exclusive\":true},{\"type\":\"gpu\","
                 "\"count\":1,\"exclusive\":true}",
                 "\"duration\":10"),
            1, 0, NULL),
        0);
    wrote(m, "rlite", "[{\"rank\": \"0\", \"children\": {\"core\": \"0\", \"gpu\": \"0\"}}]\n");
    match_destroy(m);
}

#define R(ids)                                                                                     \
    "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0\",\"children\":{\"core\":\"" ids      \
    "\"}}],\"nodelist\":[\"n0\"],\"starttime\":0,\"expiration\":0}}"

static void hold(match_t *m, const char *text, int64_t id, int64_t at, int64_t duration)
{
    assert_int_equal(match_update(m, "rv1exec", text, strlen(text), id, at, duration, true, NULL),
                     0);
}

/* Three free cores are one slot of three; two are two of one. So there may be room where less is free. */
static void less_may_be_enough(void **state)
{
    match_t *m = machine_of("node=n(3 core)", &(match_options_t){.policy = "low"});
    const char *job =
        SPEC(SLOT("2", "{\"type\":\"core\",\"count\":{\"min\":1,\"max\":3,\"operator\":\"+\","
                       "\"operand\":2}}"),
             "\"duration\":1");
    int64_t at;

    (void)state;
    hold(m, R("0-2"), 1, 5, 1);
    hold(m, R("0-2"), 2, 7, 1);
    hold(m, R("0"), 3, 10, 10);
    assert_int_equal(run(m, MATCH_ALLOCATE_ORELSE_RESERVE, job, 4, 0, &at), 0);
    assert_int_equal(at, 10);
    match_destroy(m);
}

/* A vertex of size 2 counts as two sockets, with one set of cores and gpus: a match looks for a slot's once, so the counts of
 * 2 * 2 gpus for what is asked rule nothing out. What others have, or had, makes no difference.
 */
static void pools_have_one_set_of_things(void **state)
{
    struct graph *g = graph_create();
    uint32_t root = add_one(g, VERTEX_NONE, "cluster", 0), node = add_one(g, root, "node", 0);
    uint32_t socket = add_vertex(
        g, node,
        &(struct vertex_spec){.type = "socket", .id = 0, .uniq_id = -1, .size = 2, .rank = -1});
    const char *two =
        SPEC("{\"type\":\"node\",\"count\":1,\"with\":[{\"type\":\"socket\",\"count\":2,"
             "\"with\":[" SLOT("1", "{\"type\":\"core\",\"count\":1},"
                                    "{\"type\":\"gpu\",\"count\":2}") "]}]}",
             "\"duration\":10");
    const char *core = SPEC(SLOT("1", "{\"type\":\"core\",\"count\":1}"), "\"duration\":10");
    int64_t at;

    (void)state;
    for (int64_t i = 0; i < 5; i++)
        add_one(g, socket, "core", i);
    add_vertex(g, socket,
               &(struct vertex_spec){.type = "gpu", .id = 0, .uniq_id = -1, .size = 2, .rank = -1});
    match_t *m = machine_seal(g, &(match_options_t){.policy = "low", .filters = "ALL:core"});
    assert_int_equal(run(m, MATCH_SATISFIABILITY, two, 1, 0, NULL), 0);
    assert_int_equal(run(m, MATCH_ALLOCATE, core, 1, 0, NULL), 0);
    assert_int_equal(run(m, MATCH_SATISFIABILITY, two, 2, 0, NULL), 0);
    assert_int_equal(run(m, MATCH_ALLOCATE, two, 2, 0, &at), 0);
    assert_int_equal(at, 0);
    assert_int_equal(run(m, MATCH_ALLOCATE, two, 3, 0, NULL), EBUSY);
    assert_int_equal(run(m, MATCH_SATISFIABILITY, two, 3, 0, NULL), 0);
    match_destroy(m);
}

static void grow_and_shrink(void **state)
{
    match_t *m = tiny("low");
    const char *job = SPEC(SLOT("2", "{\"type\":\"node\",\"count\":1}"), "\"duration\":100");

    (void)state;
    assert_int_equal(run(m, MATCH_ALLOCATE, job, 1, 0, NULL), 0);
    assert_int_equal(match_remove_path(m, "/tiny0/rack0/node1", NULL), 0);
    assert_true(match_check(m));
    assert_int_equal(resource_graph_vertices(match_graph(m)), 100 - 49);
    assert_int_equal(run(m, MATCH_SATISFIABILITY, job, 2, 0, NULL), ENODEV);
    assert_int_equal(match_remove_path(m, "/tiny0", NULL), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(match_remove_path(m, "/tiny0/rack0/node1", NULL), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(match_remove_ranks(m, "0", NULL), 0);
    assert_true(match_check(m));
    assert_int_equal(resource_graph_vertices(match_graph(m)), 2);
    assert_int_equal(match_cancel(m, 1, NULL, NULL), 0);
    assert_true(match_check(m));
    match_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alternatives_are_bounded),
        cmocka_unit_test(one_core),
        cmocka_unit_test(pools_have_one_set_of_things),
        cmocka_unit_test(policies),
        cmocka_unit_test(never),
        cmocka_unit_test(one_after_the_other),
        cmocka_unit_test(all_of_a_node),
        cmocka_unit_test(wrong),
        cmocka_unit_test(overrun),
        cmocka_unit_test(runs_of_several),
        cmocka_unit_test(grow_and_shrink),
        cmocka_unit_test(less_may_be_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
