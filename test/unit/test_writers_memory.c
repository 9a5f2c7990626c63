/* Writers and readers of matching without memory: each allocation that a call makes fails once, the first,
 * the second and so on, until the call comes through. What failed must have changed nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/failing_alloc.h"
#include "match/machine/filter_spec.h"
#include "match/text/expr.h"
#include "resource/emission.h"

/* Nodes with cores and properties, all of which is told, root last. */
static struct graph *build(struct emission *e)
{
    static struct emitted items[64];
    struct graph *g = graph_create();
    assert_non_null(g);
    *e = (struct emission){.item = items, .end = 1, .queue = "batch"};
    struct vertex_spec spec = {.type = "cluster", .id = 0, .uniq_id = -1, .size = 1, .rank = -1};
    uint32_t root = graph_add(g, &spec);
    graph_set_root(g, GRAPH_CONTAINMENT, root);
    for (int32_t i = 0; i < 10; i++) {
        spec.type = "node";
        spec.id = spec.rank = i * i % 11 * 2;
        uint32_t node = graph_add(g, &spec);
        assert_int_equal(graph_connect(g, root, node, GRAPH_CONTAINMENT), 0);
        assert_int_equal(graph_set_property(g, node, i % 2 ? "odd" : "even", i % 3 ? "x" : ""), 0);
        spec.type = "core";
        for (spec.id = 0; spec.id < i % 4 + 1; spec.id++) {
            uint32_t core = graph_add(g, &spec);
            assert_int_equal(graph_connect(g, node, core, GRAPH_CONTAINMENT), 0);
            items[e->n++] = (struct emitted){.vertex = core,
                                             .depth = 3,
                                             .flags = EMIT_EXCLUSIVE | EMIT_EXCLUSIVE_PARENT,
                                             .parent = node,
                                             .needs = 1};
        }
        items[e->n++] = (struct emitted){
            .vertex = node, .depth = 2, .flags = EMIT_EXCLUSIVE, .parent = root, .needs = 1};
    }
    items[e->n++] = (struct emitted){.vertex = root, .depth = 1, .parent = VERTEX_NONE, .needs = 1};
    assert_int_equal(graph_seal(g), 0);
    return g;
}

static void write_without_memory(void **state)
{
    struct emission e;
    struct graph *g = build(&e);
    (void)state;
    for (int format = WRITE_SIMPLE; format <= WRITE_JGF_SHORTHAND; format++) {
        struct strbuf right = {0};
        assert_int_equal(emission_write(&e, g, (enum write_format)format, &right), 0);
        bool again = true;
        for (int n = 0; again; n++) {
            struct strbuf out = {0};
            fail_allocation(n);
            strbuf_puts(&out, "before");
            int rc = emission_write(&e, g, (enum write_format)format, &out);
            int saved = errno;
            again = end_failures();
            assert_int_equal(rc, again ? -1 : 0);
            if (again)
                assert_int_equal(saved, ENOMEM);
            if (!out.failed)
                assert_string_equal(strbuf_text(&out) + 6, again ? "" : strbuf_text(&right));
            strbuf_clear(&out);
        }
        strbuf_clear(&right);
    }
    graph_destroy(g);
}

static void parse_filters_without_memory(void **state)
{
    struct graph *g = graph_create();
    struct filter_spec s = {0};
    (void)state;
    assert_non_null(g);
    assert_int_equal(filter_spec_parse(&s, g, "rack:node", NULL), 0);
    bool again = true;
    for (int n = 0; again; n++) {
        fail_allocation(n);
        int rc = filter_spec_parse(&s, g,
                                   "ALL:core,node:new_a,node:new_b,node:new_c,node:new_d,"
                                   "node:new_e,node:new_f,node:new_g,node:new_h",
                                   NULL);
        int saved = errno;
        again = end_failures();
        assert_int_equal(rc, again ? -1 : 0);
        assert_int_equal(s.n, again ? 1 : 10);
        assert_true(filter_spec_check(&s));
        if (again)
            assert_int_equal(saved, ENOMEM);
    }
    filter_spec_clear(&s);
    graph_destroy(g);
}

static void parse_expressions_without_memory(void **state)
{
    (void)state;
    bool again = true;
    for (int n = 0; again; n++) {
        berth_error_t err = {""};
        fail_allocation(n);
        struct expr *e = expr_parse("names=a[0-3],b7 or (status=up sched-now=free) agfilter=t or "
                                    "names=rack[0-1]n[0-3]",
                                    &err);
        int saved = errno;
        again = end_failures();
        assert_true(again ? e == NULL : e != NULL);
        if (again) {
            assert_int_equal(saved, ENOMEM);
            assert_string_equal(err.text, "out of memory");
        }
        expr_destroy(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_without_memory),
        cmocka_unit_test(parse_filters_without_memory),
        cmocka_unit_test(parse_expressions_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
