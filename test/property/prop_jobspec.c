/* Counts of jobspecs against an enumeration of all that are acceptable.
 *
 * The laws: jobspec_calc_count is the largest acceptable count that is not over what is qualified,
 * and a string of RFC 45 or RFC 22 stands for the numbers that writing it out by hand gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/jobspec.h"
#include "random.h"

enum { SMALL = 600, STEPS = 20000, RUNS = 8 };

/* The next acceptable count, or more than any can be. */
static uint64_t naive_next(uint64_t value, const struct jobspec_count *c)
{
    if (c->op == JOBSPEC_ADD)
        return value + c->operand;
    if (c->op == JOBSPEC_MULTIPLY)
        return value * c->operand;
    uint64_t product = 1;
    for (uint32_t i = 0; i < c->operand && product <= UINT32_MAX; i++)
        product *= value;
    return product;
}

static uint32_t naive_calc(const struct jobspec_count *c, uint32_t qualified)
{
    uint32_t best = 0;
    for (uint64_t v = c->min; v <= c->max && v <= qualified; v = naive_next(v, c))
        best = (uint32_t)v;
    return best;
}

static struct jobspec_count draw_range(struct random *r, int64_t most)
{
    static const enum jobspec_operator ops[] = {JOBSPEC_ADD, JOBSPEC_MULTIPLY, JOBSPEC_POWER};
    struct jobspec_count c = {.op = ops[random_between(r, 0, 2)]};
    c.min = (uint32_t)random_between(r, c.op == JOBSPEC_POWER ? 2 : 1, most);
    c.max = random_between(r, 0, 3) ? (uint32_t)random_between(r, c.min, 2 * most) : UINT32_MAX;
    c.operand = (uint32_t)random_between(r, c.op == JOBSPEC_ADD ? 1 : 2, 9);
    return c;
}

static void write_range(struct random *r, const struct jobspec_count *c, char *text, size_t size)
{
    char max[16] = "+";
    char step[32] = "";
    if (c->max != UINT32_MAX)
        snprintf(max, sizeof(max), "-%" PRIu32, c->max);
    if (c->op != JOBSPEC_ADD || random_between(r, 0, 1))
        snprintf(step, sizeof(step), ":%" PRIu32 ":%c", c->operand, c->op);
    else if (c->operand != 1 || random_between(r, 0, 1))
        snprintf(step, sizeof(step), ":%" PRIu32, c->operand);
    bool brackets = random_between(r, 0, 1);
    snprintf(text, size, "%s%" PRIu32 "%s%s%s", brackets ? "[" : "", c->min, max, step,
             brackets ? "]" : "");
}

static void ranges_are_what_they_enumerate(void **state)
{
    (void)state;
    struct random r = {1};
    for (int step = 0; step < STEPS; step++) {
        struct jobspec_count drawn = draw_range(&r, SMALL);
        struct jobspec_count c;
        char text[64];
        write_range(&r, &drawn, text, sizeof(text));
        assert_int_equal(jobspec_count_parse(text, &c, NULL, 0), 0);
        assert_int_equal(c.min, drawn.min);
        assert_int_equal(c.max, drawn.max);
        assert_int_equal(c.op, drawn.op);
        assert_int_equal(c.operand, drawn.operand);
        for (int i = 0; i < 4; i++) {
            uint32_t qualified = (uint32_t)random_between(&r, 0, 3 * SMALL);
            assert_int_equal(jobspec_calc_count(&c, qualified), naive_calc(&drawn, qualified));
        }
        if (c.op != JOBSPEC_ADD)
            assert_int_equal(jobspec_count_max(&c), naive_calc(&drawn, UINT32_MAX));
    }
}

static void nothing_runs_over_at_the_end_of_the_numbers(void **state)
{
    (void)state;
    struct random r = {2};
    for (int step = 0; step < STEPS; step++) {
        struct jobspec_count c = draw_range(&r, UINT32_MAX / 2);
        uint32_t qualified = (uint32_t)random_between(&r, 0, UINT32_MAX);
        uint32_t found = jobspec_calc_count(&c, qualified);
        if (c.op != JOBSPEC_ADD) {
            assert_int_equal(found, naive_calc(&c, qualified));
            continue;
        }
        uint32_t top = qualified < c.max ? qualified : c.max;
        assert_true(found <= top);
        if (c.min <= top) {
            assert_true(found >= c.min && (found - c.min) % c.operand == 0);
            assert_true(top - found < c.operand);
        } else {
            assert_int_equal(found, 0);
        }
    }
}

/* Write a list of some of the numbers 1..SMALL, all of which `in` says, as runs of any length. */
static void write_list(struct random *r, const bool *in, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 1; i <= SMALL; i++) {
        if (!in[i])
            continue;
        int last = i;
        while (last < SMALL && in[last + 1] && random_between(r, 0, 9))
            last++;
        used += (size_t)snprintf(text + used, size - used, last > i ? "%s%d-%d" : "%s%d",
                                 used ? "," : "", i, last);
        i = last;
    }
}

static void lists_are_what_they_list(void **state)
{
    (void)state;
    struct random r = {3};
    for (int step = 0; step < STEPS / 10; step++) {
        bool in[SMALL + 2] = {false};
        char text[SMALL * 5];
        struct jobspec_count c;
        struct jobspec_run runs[SMALL];
        int64_t pieces = random_between(&r, 1, RUNS);
        for (int64_t p = 0; p < pieces; p++) {
            int64_t from = random_between(&r, 1, SMALL);
            int64_t last = random_between(&r, from, from + 40);
            for (int64_t i = from; i <= last && i <= SMALL; i++)
                in[i] = true;
        }
        write_list(&r, in, text, sizeof(text));
        int64_t n = jobspec_count_parse(text, &c, runs, SMALL);
        assert_true(n == 0 || (n >= 2 && c.nruns == n && c.op == JOBSPEC_LIST));
        uint32_t best = 0;
        for (uint32_t q = 0; q <= SMALL + 1; q++) {
            best = in[q] ? q : best;
            assert_int_equal(jobspec_calc_count(&c, q), best);
        }
        assert_int_equal(jobspec_count_max(&c), best);
        assert_int_equal(c.max, best);
        assert_int_equal(jobspec_count_parse(text, &c, NULL, 0), n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_what_they_enumerate),
        cmocka_unit_test(nothing_runs_over_at_the_end_of_the_numbers),
        cmocka_unit_test(lists_are_what_they_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
