/* Readers without memory: each allocation that the core makes fails once, the first, the second and so on,
 * until the text is read. What failed must have changed nothing.
 */
#include "graph_look.h"

#include <errno.h>

#include "fixture/failing_alloc.h"
#include "resource/readers/common.h"
#include "resource/readers/machine.h"

#define NODE(id, type, more) "<node id='" id "'><data key='type'>" type "</data>" more "</node>"
#define EDGE(from, to, more) "<edge source='" from "' target='" to "'>" more "</edge>"
#define ROOT                 "<data key='root'>1</data>"
#define POWER                "<data key='subsystem'>power</data>"
#define DRAWS(method)        "<data key='e_subsystem'>power</data><data key='gen_method'>" method "</data>"
#define FOUR                 "<data key='multi_scale'>4</data>"
#define RECIPE                                                                                     \
    "<graphml><key id='root' attr.name='root'/><graph>" NODE("a", "cluster", ROOT)                 \
        NODE("r", "rack", "") NODE("n", "node", "") NODE("c", "core", "") EDGE("a", "r", FOUR)     \
            EDGE("r", "n", FOUR) EDGE("n", "c", FOUR) NODE("p", "panel", ROOT POWER)               \
                NODE("pr", "rack", POWER) EDGE("p", "pr", DRAWS("ASSOCIATE_IN"))                   \
                    NODE("pn", "node", POWER) EDGE("pr", "pn", DRAWS("ASSOCIATE_BY_PATH_IN"))      \
                        NODE("w", "watt", POWER) EDGE("pn", "w", DRAWS("MULTIPLY"))                \
                            NODE("s", "store", "") EDGE("a", "s", "") NODE("sc", "core", "") EDGE( \
                                "s", "sc",                                                         \
                                "<data key='gen_method'>ASSOCIATE_IN</data>") "</graph></graphml>"

#define PATH(path) ", \"paths\": {\"containment\": \"" path "\"}}}"
#define SMALL                                                                                      \
    "{\"graph\": {\"nodes\": [{\"id\": \"0\", \"metadata\": {\"type\": \"cluster\"" PATH(          \
        "/c0") "], \"edges\": []}}"
#define MORE                                                                                       \
    "{\"graph\": {\"nodes\": ["                                                                    \
    "{\"id\": \"0\", \"metadata\": {\"type\": \"cluster\"" PATH(                                   \
        "/c0") ", "                                                                                \
               "{\"id\": \"7\", \"metadata\": {\"type\": \"new\", \"id\": -1, \"properties\": "    \
               "{\"p\": "                                                                          \
               "\"\"}" PATH(                                                                       \
                   "/c0/odd") ", "                                                                 \
                              "{\"id\": \"8\", \"metadata\": {\"type\": \"core\"" PATH(            \
                                  "/c0/odd/core8") "], \"edges\": ["                               \
                                                   "{\"source\": \"0\", \"target\": \"7\"}, "      \
                                                   "{\"source\": \"7\", \"target\": \"8\"}]}}"
#define R                                                                                          \
    "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"0,2\", \"children\": {\"core\": "  \
    "\"0-3\", \"gpu\": \"1\"}}, {\"rank\": \"1\", \"children\": {\"core\": \"0\"}}], "             \
    "\"nodelist\": [\"n[0-1],x\"], \"properties\": {\"p\": \"1\"}}}"

typedef int (*reader)(struct graph *g, const char *text, size_t length, berth_error_t *err);

/* Read into a graph that has what `before` says, if anything. */
static void fail_each_allocation(reader read, const char *before, const char *text)
{
    for (int n = 0;; n++) {
        struct graph *g = graph_create();
        berth_error_t err = {""};
        if (before)
            assert_int_equal(read(g, before, strlen(before), NULL), 0);
        uint32_t vertices = g->n, edges = g->n_edges, paths = g->n_paths;
        errno = 0;
        until_failure = n;
        int rc = read(g, text, strlen(text), &err);
        bool failed = until_failure < 0;
        until_failure = -1;
        assert_true(graph_check(g));
        if (rc < 0) {
            assert_true(failed);
            assert_int_equal(errno, ENOMEM);
            assert_string_equal(err.text, "out of memory");
            assert_int_equal(g->n, vertices);
            assert_int_equal(g->live, vertices);
            assert_int_equal(g->n_edges, edges);
            assert_int_equal(g->n_paths, paths);
        }
        graph_destroy(g);
        if (!failed)
            return;
    }
}

static void recipes(void **state)
{
    (void)state;
    fail_each_allocation(read_grug, NULL, RECIPE);
}

static void json(void **state)
{
    (void)state;
    fail_each_allocation(read_jgf, NULL, MORE);
    fail_each_allocation(read_jgf, SMALL, MORE);
}

static void r(void **state)
{
    (void)state;
    fail_each_allocation(read_rv1, NULL, R);
}

static int read_things(struct graph *g, const char *text, size_t length, berth_error_t *err)
{
    struct machine m = {0};
    struct machine_object t = {.in = MACHINE_NONE, .id = 1, .size = 1};
    int64_t saved = until_failure;
    int rc = 0;

    (void)text;
    (void)length;
    until_failure = -1;
    rc |= intern_put(&m.texts, "core", 4, &t.type);
    t.basename = t.name = t.unit = t.property_key = t.property_value = t.type;
    for (int i = 0; i < 100; i++)
        rc |= machine_add(&m, &t);
    assert_int_equal(rc, 0);
    until_failure = saved;
    rc = read_machine(g, &m, err);
    machine_clear(&m);
    return rc;
}

static void machines(void **state)
{
    (void)state;
    fail_each_allocation(read_things, NULL, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recipes),
        cmocka_unit_test(json),
        cmocka_unit_test(r),
        cmocka_unit_test(machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
