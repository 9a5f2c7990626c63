/* report/machine_rows.c: rows of a machine, and which of them a text names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/machine_rows.h"

static void expect(const struct machine_rows *m, const char *text, const struct machine_span *want,
                   int64_t n)
{
    struct machine_span *spans;
    assert_int_equal(machine_rows_find(m, text, &spans), n);
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(spans[i].first, want[i].first);
        assert_int_equal(spans[i].n, want[i].n);
    }
    free(spans);
}

/* Two nodes of two cores and a GPU: rows 0 to 2 and 3 to 5. */
static void test_names(void **state)
{
    (void)state;
    const struct machine_node nodes[] = {{"node0", 2, 1}, {"node1", 2, 1}};
    struct machine_rows m;
    assert_int_equal(machine_rows_make(&m, nodes, 2, NULL, 0, NULL), 0);
    assert_int_equal(m.n, 2);
    assert_int_equal(m.rows, 6);
    expect(&m, "node1/core1", (struct machine_span[]){{4, 1}}, 1);
    expect(&m, "node[0-1]/core[0-1]", (struct machine_span[]){{0, 2}, {3, 2}}, 2);
    expect(&m, "node1", (struct machine_span[]){{3, 3}}, 1);
    expect(&m, "node[0-1]", (struct machine_span[]){{0, 6}}, 1);
    expect(&m, "node1/gpu0,node0/core1", (struct machine_span[]){{1, 1}, {5, 1}}, 2);
    expect(&m, "node1/core1,node1/core1", (struct machine_span[]){{4, 1}}, 1);
    expect(&m, "node1/socket0/core1", (struct machine_span[]){{4, 1}}, 1);
    expect(&m, "", NULL, 0);
    expect(&m, "node7,node0/core9,node0/memory0,node0/core", NULL, 0);
    expect(&m, "node[", NULL, 0);
    machine_rows_clear(&m);
}

/* A node of which a part of the cores is in use has rows for these, and one that is gone has what jobs had. */
static void test_other_numbers(void **state)
{
    (void)state;
    const struct machine_node nodes[] = {{"vm", 2, 0}};
    const char *texts[] = {"vm/core[33,32]", "gone/core[0,2]", "far", "no [name"};
    struct machine_rows m;
    assert_int_equal(machine_rows_make(&m, nodes, 1, texts, 4, NULL), 0);
    assert_int_equal(m.n, 3);
    assert_int_equal(m.rows, 2 + 2 + 1);
    assert_int_equal(m.v[0].part[0].number[0], 32);
    assert_int_equal(m.v[0].part[0].number[1], 33);
    expect(&m, "vm/core33", (struct machine_span[]){{1, 1}}, 1);
    expect(&m, "gone/core2,far", (struct machine_span[]){{3, 2}}, 1);
    machine_rows_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_other_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
