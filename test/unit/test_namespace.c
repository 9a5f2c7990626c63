/* R of an instance within another: the graph of the outer one in the ranks and core ids of the inner one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../property/random.h"
#include "flux/r.h"

#define MOST_NODES 6
#define MOST_CORES 8

/* What an outer instance gives an inner one: of some ranks some cores. The inner one counts both from 0. */
struct given {
    int nodes;
    int rank[MOST_NODES];
    int cores[MOST_NODES];
    int core[MOST_NODES][MOST_CORES];
};

static void vertex(json_t *nodes, const char *type, int id, int rank, const char *path)
{
    json_t *node = json_pack("{s:o s:{s:s s:i s:o s:i s:{s:s}}}", "id",
                             json_sprintf("%zu", json_array_size(nodes)), "metadata", "type", type,
                             "id", id, "name", json_sprintf("%s%d", type, id), "rank", rank,
                             "paths", "containment", path);
    assert_int_equal(json_array_append_new(nodes, node), 0);
}

static json_t *own_cores(int cores)
{
    return cores == 1 ? json_string("0") : json_sprintf("0-%d", cores - 1);
}

/* The R that the inner instance's module gets. */
static json_t *r_of(const struct given *g)
{
    json_t *lite = json_array(), *nodes = json_array();
    char path[64];

    vertex(nodes, "cluster", 0, -1, "/c0");
    for (int i = 0; i < g->nodes; i++) {
        json_array_append_new(lite,
                              json_pack("{s:o s:{s:o s:s}}", "rank", json_sprintf("%d", i),
                                        "children", "core", own_cores(g->cores[i]), "gpu", "3"));
        snprintf(path, sizeof(path), "/c0/n%d", g->rank[i]);
        vertex(nodes, "node", g->rank[i], g->rank[i], path);
        for (int k = 0; k < g->cores[i]; k++) {
            snprintf(path, sizeof(path), "/c0/n%d/core%d", g->rank[i], g->core[i][k]);
            vertex(nodes, "core", g->core[i][k], g->rank[i], path);
        }
        snprintf(path, sizeof(path), "/c0/n%d/gpu3", g->rank[i]);
        vertex(nodes, "gpu", 3, g->rank[i], path);
    }
    return json_pack("{s:i s:{s:o s:i s:i} s:{s:{s:o s:[]}}}", "version", 1, "execution", "R_lite",
                     lite, "starttime", 0, "expiration", 0, "scheduling", "graph", "nodes", nodes,
                     "edges");
}

static const json_t *nodes_of(const json_t *r)
{
    return json_object_get(json_object_get(json_object_get(r, "scheduling"), "graph"), "nodes");
}

/* The next vertex is this one. */
static void expect_vertex(const json_t *r, size_t *at, const char *type, int id, int rank,
                          const char *path)
{
    const json_t *meta = json_object_get(json_array_get(nodes_of(r), (*at)++), "metadata");
    char name[32];

    snprintf(name, sizeof(name), "%s%d", type, id);
    assert_string_equal(json_string_value(json_object_get(meta, "type")), type);
    assert_int_equal(json_integer_value(json_object_get(meta, "id")), id);
    assert_string_equal(json_string_value(json_object_get(meta, "name")), name);
    assert_int_equal(json_integer_value(json_object_get(meta, "rank")), rank);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(meta, "paths"), "containment")), path);
}

/* Names of nodes stay those of the hosts, and gpus keep their ids; ranks and cores have the place that they have among
 * those given.
 */
static void expect_own(const struct given *g, const json_t *own)
{
    size_t at = 0;
    char path[64];

    expect_vertex(own, &at, "cluster", 0, -1, "/c0");
    for (int i = 0; i < g->nodes; i++) {
        snprintf(path, sizeof(path), "/c0/n%d", g->rank[i]);
        expect_vertex(own, &at, "node", g->rank[i], i, path);
        for (int k = 0; k < g->cores[i]; k++) {
            snprintf(path, sizeof(path), "/c0/n%d/core%d", g->rank[i], k);
            expect_vertex(own, &at, "core", k, i, path);
        }
        snprintf(path, sizeof(path), "/c0/n%d/gpu3", g->rank[i]);
        expect_vertex(own, &at, "gpu", 3, i, path);
    }
    assert_int_equal(json_array_size(nodes_of(own)), at);
}

/* Some of the numbers below a bound, ascending; at least one. Returns how many. */
static int choose(struct random *random, int below, int most, int *numbers)
{
    int n = 0;

    for (int i = 0; i < below && n < most; i++)
        if (random_between(random, 0, 1) == 1)
            numbers[n++] = i;
    if (n == 0)
        numbers[n++] = (int)random_between(random, 0, below - 1);
    return n;
}

static struct given any_given(struct random *random)
{
    struct given g = {0};

    g.nodes = choose(random, 40, MOST_NODES, g.rank);
    for (int i = 0; i < g.nodes; i++)
        g.cores[i] = choose(random, 16, MOST_CORES, g.core[i]);
    return g;
}

static void counts_from_zero(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct random random = {seed};
        struct given g = any_given(&random);
        json_t *r = r_of(&g), *before = json_deep_copy(r), *own = r_in_own_ranks(r), *again;
        assert_non_null(own);
        assert_true(json_equal(r, before));
        expect_own(&g, own);
        /* the execution part stays, and what is in the own numbers stays as it is */
        assert_true(json_equal(json_object_get(r, "execution"), json_object_get(own, "execution")));
        again = r_in_own_ranks(own);
        assert_true(json_equal(own, again));
        for (int i = 0; i < g.nodes; i++) {
            assert_int_equal(r_own_id(r, g.rank[i], "rank", g.rank[i]), i);
            assert_int_equal(r_own_id(r, g.rank[i], "gpu", 3), 3);
            for (int k = 0; k < g.cores[i]; k++)
                assert_int_equal(r_own_id(r, g.rank[i], "core", g.core[i][k]), k);
            assert_int_equal(r_own_id(r, g.rank[i], "core", 16), -1);
        }
        assert_int_equal(r_own_id(r, 40, "rank", 40), -1);
        assert_int_equal(r_own_id(r, 40, "core", 0), -1);
        assert_true(r_graph_has_cores(r));
        json_decref(again);
        json_decref(own);
        json_decref(before);
        json_decref(r);
    }
}

/* A graph of another number of ranks than R_lite is of no use for counting, and so are cores of another number. */
static void leaves_what_does_not_agree(void **state)
{
    (void)state;
    struct given g = {.nodes = 2, .rank = {3, 7}, .cores = {2, 2}, .core = {{4, 6}, {0, 1}}};
    json_t *r = r_of(&g), *own;
    json_t *lite = json_object_get(json_object_get(r, "execution"), "R_lite");
    size_t at = 0;

    json_object_set_new(json_object_get(json_array_get(lite, 0), "children"), "core",
                        json_string("0-2"));
    own = r_in_own_ranks(r);
    expect_vertex(own, &at, "cluster", 0, -1, "/c0");
    expect_vertex(own, &at, "node", 3, 0, "/c0/n3");
    expect_vertex(own, &at, "core", 4, 0, "/c0/n3/core4");
    expect_vertex(own, &at, "core", 6, 0, "/c0/n3/core6");
    expect_vertex(own, &at, "gpu", 3, 0, "/c0/n3/gpu3");
    expect_vertex(own, &at, "node", 7, 1, "/c0/n7");
    assert_int_equal(r_own_id(r, 3, "core", 4), -1);
    assert_int_equal(r_own_id(r, 7, "core", 1), 1);
    json_decref(own);
    json_array_remove(lite, 0);
    own = r_in_own_ranks(r);
    assert_ptr_equal(own, r);
    assert_int_equal(r_own_id(r, 3, "rank", 3), 3);
    json_decref(own);
    json_decref(r);
}

static void takes_what_has_no_graph(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"execution\":{\"R_lite\":[{\"rank\":\"0-1\",\"children\":{\"core\":\"0\"}}]}}",
        "{\"execution\":{\"R_lite\":[]},\"scheduling\":{\"graph\":{\"nodes\":[{}]}}}",
        "{\"scheduling\":{\"graph\":{\"nodes\":[{\"metadata\":{\"rank\":0}}]}}}",
        "{\"execution\":{\"R_lite\":[{\"rank\":\"0\"}]},\"scheduling\":{\"graph\":{\"nodes\":1}}}",
        "{}",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        json_t *r = json_loads(texts[i], 0, NULL), *own = r_in_own_ranks(r);
        assert_ptr_equal(own, r);
        assert_int_equal(r_own_id(r, 5, "core", 6), 6);
        json_decref(own);
        json_decref(r);
    }
    assert_int_equal(r_own_id(NULL, 5, "core", 6), 6);
}

/* A short graph has no vertices below a node that is whole. */
static void knows_a_short_graph(void **state)
{
    (void)state;
    static const struct {
        const char *nodes, *children;
        bool has;
    } rows[] = {
        {"{\"metadata\":{\"type\":\"node\",\"rank\":0}}", "{\"core\":\"0-3\"}", false},
        {"{\"metadata\":{\"type\":\"node\",\"rank\":0}}", "{\"gpu\":\"0\"}", true},
        {"{\"metadata\":{\"type\":\"core\",\"rank\":0}}", "{\"core\":\"0-3\"}", true},
    };
    char text[256];

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        snprintf(text, sizeof(text),
                 "{\"execution\":{\"R_lite\":[{\"rank\":\"0\",\"children\":%s}]},"
                 "\"scheduling\":{\"graph\":{\"nodes\":[%s]}}}",
                 rows[i].children, rows[i].nodes);
        json_t *r = json_loads(text, 0, NULL);
        assert_int_equal(r_graph_has_cores(r), rows[i].has);
        json_decref(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_from_zero),
        cmocka_unit_test(leaves_what_does_not_agree),
        cmocka_unit_test(takes_what_has_no_graph),
        cmocka_unit_test(knows_a_short_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
