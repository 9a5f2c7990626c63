/* report/sharing.c: small runs worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/sharing.h"

#define NEAR(a, b) assert_true((a) - (b) < 1e-9 && (b) - (a) < 1e-9)

static void add(struct sharing *s, int64_t now, double a_deserves, double a_has, double b_deserves,
                double b_has)
{
    const struct sharing_note notes[] = {
        {"machine", "", 0, 1, a_has + b_has},
        {"queue", "a", 0, a_deserves, a_has},
        {"queue", "b", 0, b_deserves, b_has},
    };
    assert_int_equal(sharing_add(s, now, notes, 3), 0);
}

static void numbers(void **state)
{
    (void)state;
    struct sharing *s = sharing_create();
    assert_non_null(s);
    NEAR(sharing_jain(s), 1);
    NEAR(sharing_mean_error(s), 0);
    add(s, 100, .5, 1, .5, 0); /* for 10 s, half of the machine is in other hands */
    add(s, 110, .5, .5, .5, .5);
    add(s, 120, 0, 0, 0, 0);
    assert_int_equal(s->n, 3);
    assert_string_equal(s->nodes[1].name, "a");
    NEAR(s->nodes[1].deserved, 10);
    NEAR(s->nodes[1].had, 15);
    NEAR(s->nodes[2].had, 5);
    NEAR(sharing_jain(s), 4 / (2 * 2.5)); /* of 1.5 and 0.5 */
    NEAR(sharing_mean_error(s), .25);
    NEAR(s->max_error, .5);
    NEAR(s->error_in[3], .5);
    NEAR(s->error_in[13], 0);
    sharing_destroy(s);
}

/* Nodes come when they are first noted; one with others below it is no leaf. */
static void nodes(void **state)
{
    (void)state;
    struct sharing *s = sharing_create();
    const struct sharing_note notes[] = {
        {"machine", "", 0, 1, 1},  {"queue", "q", 0, 1, 1},   {"account", "x", 1, .25, .5},
        {"user", "x", 1, .75, .5}, {"user", "x", 2, .25, .5},
    };
    assert_int_equal(sharing_add(s, 0, notes, 2), 0);
    assert_true(s->nodes[1].is_leaf);
    assert_int_equal(sharing_add(s, 0, notes, 5), 0);
    assert_int_equal(sharing_add(s, 4, notes, 2), 0);
    assert_int_equal(s->n, 5);
    assert_false(s->nodes[1].is_leaf);
    assert_string_equal(s->nodes[3].name, "q/x");
    assert_string_equal(s->nodes[4].name, "q/x/x");
    assert_int_equal(s->nodes[4].depth, 3);
    NEAR(s->nodes[4].had, 2);
    NEAR(s->max_error, .25); /* of q/x and q/x/x; the account is none */
    sharing_destroy(s);
}

/* Columns become wider, and add up to the whole run still. */
static void columns(void **state)
{
    (void)state;
    struct sharing *s = sharing_create();
    add(s, 7, 1, .5, 0, 0);
    add(s, 1000, .25, 1, .5, 0);
    sharing_stopped(s, 1003);
    add(s, 5007, 0, 0, 0, 0);
    assert_int_equal(s->width, 8);
    assert_int_equal(s->columns, 626);
    double had = 0, deserved = 0;
    for (size_t c = 0; c < s->columns; c++) {
        had += s->nodes[1].had_in[c];
        deserved += s->nodes[1].deserved_in[c];
    }
    NEAR(had, 993 * .5 + 4007);
    NEAR(deserved, 993 + 4007 * .25);
    NEAR(s->nodes[1].had_in[0], 4);
    NEAR(s->nodes[1].had_in[200], 8);
    assert_int_equal(s->stops[(1003 - 7) / 8], 1);
    sharing_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(nodes),
        cmocka_unit_test(columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
