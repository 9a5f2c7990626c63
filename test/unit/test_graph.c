#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "fixture/machine.h"
#include "resource/graph.h"

static struct graph *small(void)
{
    struct graph *g = graph_of("node(2 core) node(core)");
    assert_true(graph_check(g));
    return g;
}

static void is_at(const struct graph *g, const char *path, size_t n, uint32_t v)
{
    uint32_t *found;
    size_t many;

    assert_int_equal(graph_find_path(g, path, &found, &many), 0);
    assert_int_equal(many, n);
    if (n > 0)
        assert_int_equal(found[0], v);
    free(found);
}

static void has_path(const struct graph *g, uint32_t v, uint8_t subsystem, const char *path)
{
    struct strbuf out = {0};

    assert_true(graph_path(g, v, subsystem, &out));
    assert_string_equal(strbuf_text(&out), path);
    strbuf_clear(&out);
}

static void paths(void **state)
{
    struct graph *g = small();

    (void)state;
    has_path(g, 0, GRAPH_CONTAINMENT, "/cluster0");
    has_path(g, 3, GRAPH_CONTAINMENT, "/cluster0/node0/core1");
    is_at(g, "/cluster0", 1, 0);
    is_at(g, "/cluster0/node0/core1", 1, 3);
    is_at(g, "/cluster0/node1", 1, 4);
    static const char *const nowhere[] = {
        "",         "/",          "cluster0", "/cluster0/",       "//cluster0",
        "/cluster", "/cluster00", "/node0",   "/cluster0//node0", "/cluster0/n",
    };
    for (size_t i = 0; i < sizeof(nowhere) / sizeof(*nowhere); i++)
        is_at(g, nowhere[i], 0, 0);
    graph_destroy(g);
}

static void names_with_slashes(void **state)
{
    struct graph *g = graph_create();
    uint32_t root = add_one(g, VERTEX_NONE, "cluster", 0);

    (void)state;
    uint32_t odd = add_vertex(
        g, root,
        &(struct vertex_spec){
            .type = "node", .name = "odd", .id = 1, .uniq_id = -1, .size = 1, .rank = -1});
    uint32_t below = add_one(g, odd, "core", 7);
    assert_int_equal(graph_set_path(g, odd, GRAPH_CONTAINMENT, "/elsewhere/a/b"), 0);
    assert_int_equal(graph_seal(g), 0);
    has_path(g, odd, GRAPH_CONTAINMENT, "/elsewhere/a/b");
    has_path(g, below, GRAPH_CONTAINMENT, "/elsewhere/a/b/core7");
    is_at(g, "/elsewhere/a/b/core7", 1, below);
    is_at(g, "/cluster0/odd", 0, 0);
    assert_true(graph_is_named(g, odd, "odd", 3));
    assert_false(graph_is_named(g, odd, "odd1", 4));
    assert_true(graph_is_named(g, below, "core7", 5));
    assert_false(graph_is_named(g, below, "core", 4));
    graph_destroy(g);
}

static void subsystems(void **state)
{
    struct graph *g = small();
    uint32_t power = graph_subsystem(g, "power");
    const uint32_t *children;

    (void)state;
    assert_int_equal(power, 1);
    struct vertex_spec spec = {
        .type = "pdu", .id = 0, .uniq_id = -1, .size = 1, .rank = -1, .subsystem = (uint8_t)power};
    uint32_t pdu = graph_add(g, &spec);
    graph_set_root(g, (uint8_t)power, pdu);
    assert_int_equal(graph_connect(g, pdu, 1, (uint8_t)power), 0);
    assert_int_equal(graph_connect(g, pdu, 4, (uint8_t)power), 0);
    assert_int_equal(graph_seal(g), 0);
    assert_true(graph_check(g));
    assert_int_equal(graph_children(g, pdu, &children), 2);
    assert_int_equal(graph_child_subsystem(g, pdu, 0), power);
    assert_int_equal(graph_child_subsystem(g, 0, 0), GRAPH_CONTAINMENT);
    assert_int_equal(graph_parent(g, 1, GRAPH_CONTAINMENT), 0);
    assert_int_equal(graph_parent(g, 1, (uint8_t)power), pdu);
    has_path(g, 1, (uint8_t)power, "/pdu0/node0");
    is_at(g, "/pdu0/node1", 1, 4);
    is_at(g, "/pdu0/node0/core0", 0, 0);
    for (int i = 2; i < GRAPH_SUBSYSTEM_MAX; i++) {
        char name[] = {'s', (char)('a' + i), '\0'};
        assert_int_equal(graph_subsystem(g, name), i);
    }
    errno = 0;
    assert_int_equal(graph_subsystem(g, "one too many"), UINT32_MAX);
    assert_int_equal(errno, EOVERFLOW);
    graph_destroy(g);
}

static void an_edge_counts_once(void **state)
{
    struct graph *g = small();
    const uint32_t *children;

    (void)state;
    assert_int_equal(graph_connect(g, 0, 1, GRAPH_CONTAINMENT), 0);
    assert_int_equal(graph_connect(g, 0, 1, GRAPH_CONTAINMENT), 0);
    assert_int_equal(graph_seal(g), 0);
    assert_int_equal(graph_children(g, 0, &children), 2);
    assert_int_equal(g->n_edges, 5);
    assert_true(graph_check(g));
    graph_destroy(g);
}

static void removal(void **state)
{
    struct graph *g = small();
    uint32_t roots[] = {1};
    const uint32_t *children;

    (void)state;
    assert_int_equal(graph_remove(g, roots, 1, GRAPH_CONTAINMENT), 0);
    assert_true(graph_check(g));
    assert_int_equal(g->live, 3);
    assert_int_equal(g->n, 6);
    assert_true(g->v[2].gone);
    assert_int_equal(graph_children(g, 0, &children), 1);
    assert_int_equal(children[0], 4);
    is_at(g, "/cluster0/node0", 0, 0);
    is_at(g, "/cluster0/node1/core0", 1, 5);
    uint32_t again = add_one(g, 0, "node", 0);
    assert_int_equal(graph_seal(g), 0);
    is_at(g, "/cluster0/node0", 1, again);
    graph_destroy(g);
}

/* A seal that fails takes back what has come, and the graph is as it was. */
static void fails_to_seal(struct graph *g)
{
    uint64_t version = g->version;

    errno = 0;
    assert_int_equal(graph_seal(g), -1);
    assert_int_equal(errno, ELOOP);
    assert_true(graph_check(g));
    assert_int_equal(g->n, 6);
    assert_int_equal(g->n_edges, 5);
    assert_int_equal(g->version, version);
    is_at(g, "/cluster0/node0/core1", 1, 3);
}

static void circles(void **state)
{
    struct graph *g = small();

    (void)state;
    assert_int_equal(graph_connect(g, 2, 0, GRAPH_CONTAINMENT), 0);
    fails_to_seal(g);
    uint32_t a = graph_add(
        g, &(struct vertex_spec){.type = "rack", .id = 1, .uniq_id = -1, .size = 1, .rank = -1});
    uint32_t b = add_one(g, a, "rack", 2);
    assert_int_equal(graph_connect(g, b, a, GRAPH_CONTAINMENT), 0);
    fails_to_seal(g);
    graph_destroy(g);
}

static void depth(void **state)
{
    struct graph *g = small();
    uint32_t v = 5;

    (void)state;
    for (int level = 4; level <= GRAPH_DEPTH_MAX + 1; level++)
        v = add_one(g, v, "box", level);
    fails_to_seal(g);
    v = 5;
    for (int level = 4; level <= GRAPH_DEPTH_MAX; level++)
        v = add_one(g, v, "box", level);
    assert_int_equal(graph_seal(g), 0);
    assert_true(graph_check(g));
    graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),      cmocka_unit_test(names_with_slashes),
        cmocka_unit_test(subsystems), cmocka_unit_test(an_edge_counts_once),
        cmocka_unit_test(removal),    cmocka_unit_test(circles),
        cmocka_unit_test(depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
