#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "fixture/machine.h"
#include "match/machine/topo.h"

static uint32_t add(struct graph *g, uint32_t parent, const char *type, int64_t id, int64_t size)
{
    return add_vertex(
        g, parent,
        &(struct vertex_spec){.type = type, .id = id, .uniq_id = -1, .size = size, .rank = -1});
}

/* A node with cores from `first` on and a memory. */
static uint32_t add_node(struct graph *g, uint32_t parent, int64_t id, int64_t first,
                         int64_t memory)
{
    uint32_t node = add(g, parent, "node", id, 1);

    for (int64_t i = 0; i < 3; i++)
        add(g, node, "core", first + i, 1);
    add(g, node, "memory", 0, memory);
    return node;
}

static void make(struct topo *t, struct graph *g)
{
    assert_int_equal(graph_seal(g), 0);
    assert_int_equal(topo_init(t, g, GRAPH_CONTAINMENT), 0);
    assert_true(topo_check(t));
}

static void classes(void **state)
{
    struct graph *g = graph_create();
    struct topo t;

    (void)state;
    uint32_t root = add(g, VERTEX_NONE, "cluster", 0, 1);
    uint32_t a = add_node(g, root, 0, 0, 8), b = add_node(g, root, 1, 0, 8);
    uint32_t other_ids = add_node(g, root, 2, 3, 8), other_size = add_node(g, root, 3, 0, 9);
    make(&t, g);
    assert_true(t.is_tree && t.ascending);
    assert_int_equal(t.class_of[a], t.class_of[b]);
    assert_int_not_equal(t.class_of[a], t.class_of[other_ids]);
    assert_int_not_equal(t.class_of[a], t.class_of[other_size]);
    assert_int_equal(t.class_of[a + 1], t.class_of[other_ids + 2]); /* a core is a core */
    assert_true(topo_class(&t, a)->uniform);
    assert_false(topo_class(&t, root)->uniform);
    topo_clear(&t);
    graph_destroy(g);
}

static void sums(void **state)
{
    struct graph *g = graph_create();
    struct topo t;

    (void)state;
    uint32_t root = add(g, VERTEX_NONE, "cluster", 0, 1);
    add_node(g, root, 0, 4, 8);
    add(g, root, "core", 40, 1);
    add_node(g, root, 7, 0, 2);
    make(&t, g);
    const struct class_sum *core = topo_sum(&t, root, TYPE_CORE);
    assert_int_equal(core->count, 7);
    assert_int_equal(core->in_node, 6);
    assert_int_equal(core->units, 7);
    assert_int_equal(core->min_id, 0);
    assert_int_equal(core->max_id, 40);
    uint16_t type = (uint16_t)graph_type(g, "memory");
    assert_int_equal(topo_sum(&t, root, type)->units, 10);
    assert_int_equal(topo_sum(&t, root, type)->size, 0);
    assert_null(topo_sum(&t, root, TYPE_GPU));
    assert_true(topo_has_child(&t, root, TYPE_CORE));
    assert_false(topo_has_child(&t, root, type));
    const struct class *c = topo_class(&t, root);
    assert_int_equal(c->n_runs, 3); /* node, core, node */
    topo_clear(&t);
    graph_destroy(g);
}

static void several_parents(void **state)
{
    struct graph *g = graph_create();
    struct topo t;

    (void)state;
    uint32_t root = add(g, VERTEX_NONE, "cluster", 0, 1);
    uint32_t a = add_node(g, root, 0, 0, 8), b = add_node(g, root, 1, 0, 8);
    uint32_t shared = add(g, a, "ssd", 0, 5);
    assert_int_equal(graph_connect(g, b, shared, GRAPH_CONTAINMENT), 0);
    make(&t, g);
    assert_false(t.is_tree);
    assert_int_equal(topo_sum(&t, root, TYPE_SSD)->units, 5);
    assert_int_equal(topo_sum(&t, a, TYPE_SSD)->units, 5);
    assert_null(topo_sum(&t, b, TYPE_SSD));
    assert_int_not_equal(t.class_of[a], t.class_of[b]);
    topo_clear(&t);
    graph_destroy(g);
}

static void other_subsystems(void **state)
{
    struct graph *g = graph_create();
    struct topo t;

    (void)state;
    uint32_t root = add(g, VERTEX_NONE, "cluster", 0, 1);
    uint32_t node = add_node(g, root, 0, 0, 8);
    uint8_t power = (uint8_t)graph_subsystem(g, "power");
    assert_int_equal(graph_seal(g), 0);
    errno = 0;
    assert_int_equal(topo_init(&t, g, power), -1);
    assert_int_equal(errno, ENOTSUP);
    graph_set_root(g, power, root);
    assert_int_equal(graph_connect(g, node, node + 1, power), 0); /* the edge is power's now */
    assert_int_equal(graph_seal(g), 0);
    assert_int_equal(topo_init(&t, g, power), 0);
    assert_true(topo_check(&t));
    assert_int_equal(t.class_of[node], CLASS_NONE);
    topo_clear(&t);
    assert_int_equal(topo_init(&t, g, GRAPH_CONTAINMENT), 0);
    assert_true(topo_check(&t));
    assert_int_equal(topo_sum(&t, root, TYPE_CORE)->count, 2);
    topo_clear(&t);
    graph_destroy(g);
}

static void circles(void **state)
{
    struct graph *g = graph_create();
    struct topo t;

    (void)state;
    uint32_t root = add(g, VERTEX_NONE, "cluster", 0, 1), v = root;
    uint8_t net = (uint8_t)graph_subsystem(g, "network");
    graph_set_root(g, net, root);
    for (int i = 0; i < 3; i++) {
        uint32_t next = add(g, root, "node", i, 1);
        add(g, next, "core", 0, 1);
        uint32_t from = v == root ? root : v + 1;
        if (v != root)
            assert_int_equal(graph_connect(g, from, next, net), 0);
        v = next;
    }
    assert_int_equal(graph_connect(g, v, root, net), 0);
    assert_int_equal(graph_connect(g, root, v + 1, net), 0);
    assert_int_equal(graph_connect(g, v + 1, v, net), 0);
    assert_int_equal(graph_seal(g), 0);
    errno = 0;
    assert_int_equal(topo_init(&t, g, net), -1);
    assert_int_equal(errno, ELOOP);
    graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes),         cmocka_unit_test(sums),
        cmocka_unit_test(several_parents), cmocka_unit_test(other_subsystems),
        cmocka_unit_test(circles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
