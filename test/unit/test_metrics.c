/* report/metrics.c: small schedules worked out by hand, and quantiles against a sort. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/metrics.h"

#define NEAR(a, b) assert_true((a) - (b) < 1e-9 && (b) - (a) < 1e-9)

static void test_by_hand(void **state)
{
    (void)state;
    const struct schedule_job jobs[] = {
        {.id = 1, .submit = 100, .run = 50, .limit = 60, .procs = 4},
        {.id = 2, .submit = 110, .run = 5, .limit = 5, .procs = 2},
        {.id = 3, .submit = 120, .run = 20, .limit = 20, .procs = 3},
        {.id = 4, .submit = 90, .run = 1, .limit = 1, .procs = 9},
    };
    const int64_t start[] = {100, 150, 125, SCHEDULE_NEVER};
    struct schedule s = {.procs = 8, .n = 4, .jobs = jobs, .start = start};
    struct metrics m;
    assert_int_equal(metrics_compute(&s, 10, &m, NULL), 0);
    assert_int_equal(m.n, 3);
    assert_int_equal(m.rejected, 1);
    NEAR(m.avg_wait, 15); /* 0, 40, 5 */
    assert_int_equal(m.median_wait, 5);
    assert_int_equal(m.p95_wait, 40); /* number int(2.85) = 2 */
    assert_int_equal(m.max_wait, 40);
    NEAR(m.avg_flow, 120.0 / 3); /* 50, 45, 25 */
    assert_int_equal(m.max_flow, 50);
    NEAR(m.avg_bsld, (1 + 4.5 + 1.25) / 3); /* 45 / max(10, 5) is 4.5 */
    NEAR(m.max_bsld, 4.5);
    assert_int_equal(m.makespan, 55); /* 100 to 155: the rejected job's submission doesn't count */
    NEAR(m.utilisation, (200.0 + 10 + 60) / 8 / 55);

    assert_int_equal(metrics_compute(&s, 100, &m, NULL), 0);
    NEAR(m.avg_bsld, 1); /* never below 1 */
}

static void test_nothing(void **state)
{
    (void)state;
    const struct schedule_job job = {.id = 1, .submit = 5, .run = 1, .limit = 1, .procs = 1};
    const int64_t never = SCHEDULE_NEVER;
    struct schedule s = {.procs = 8};
    struct metrics m;
    assert_int_equal(metrics_compute(&s, 10, &m, NULL), 0);
    assert_int_equal(m.n, 0);
    assert_int_equal(m.makespan, 0);
    s = (struct schedule){.procs = 8, .n = 1, .jobs = &job, .start = &never};
    assert_int_equal(metrics_compute(&s, 10, &m, NULL), 0);
    assert_int_equal(m.rejected, 1);
    NEAR(m.utilisation, 0);
    NEAR(m.avg_bsld, 0);
}

static void test_refusals(void **state)
{
    (void)state;
    struct schedule_job job = {.id = 7, .submit = 5, .run = 10, .limit = 10, .procs = 1};
    int64_t start = 5;
    struct schedule s = {.procs = 8, .n = 1, .jobs = &job, .start = &start};
    struct metrics m = {.n = 99};
    berth_error_t err;
    assert_int_equal(metrics_compute(&s, 0, &m, &err), -1);
    assert_int_equal(errno, EINVAL);
    start = 4;
    assert_int_equal(metrics_compute(&s, 10, &m, &err), -1);
    assert_string_equal(err.text, "job 7 has times out of order");
    start = INT64_MAX - 5;
    assert_int_equal(metrics_compute(&s, 10, &m, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(m.n, 99);
}

/* Sums that would leave 64 bits. */
static void test_large(void **state)
{
    (void)state;
    const int64_t big = INT64_C(1) << 61;
    const struct schedule_job jobs[8] = {
        {.submit = 0, .run = 4, .limit = 4, .procs = big},
        {.run = 4, .limit = 4, .procs = big},
        {.run = 4, .limit = 4, .procs = big},
        {.run = 4, .limit = 4, .procs = big},
        {.run = 4, .limit = 4, .procs = big},
        {.run = 4, .limit = 4, .procs = big},
        {.run = 4, .limit = 4, .procs = big},
        {.run = 4, .limit = 4, .procs = big},
    };
    const int64_t start[8] = {0, big, big, big, big, big, big, big};
    struct schedule s = {.procs = big, .n = 8, .jobs = jobs, .start = start};
    struct metrics m;
    assert_int_equal(metrics_compute(&s, 10, &m, NULL), 0);
    assert_true(m.avg_wait == (double)big / 8 * 7);
    assert_int_equal(m.median_wait, big);
    assert_int_equal(m.makespan, big + 4);
    assert_true(m.utilisation > 0);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void test_quantiles(void **state)
{
    (void)state;
    enum { MOST = 600 };
    static struct schedule_job jobs[MOST];
    static int64_t start[MOST], sorted[MOST];
    uint64_t random = 42;
    for (size_t n = 1; n < MOST; n++) {
        int shift = (int)(n % 61) + 2; /* waits from 0 .. 1 to 0 .. 2^61 */
        for (size_t i = 0; i < n; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            jobs[i] = (struct schedule_job){.run = 1, .limit = 1, .procs = 1};
            start[i] = sorted[i] = (int64_t)(random >> (66 - shift > 63 ? 63 : 66 - shift));
        }
        qsort(sorted, n, sizeof(*sorted), compare);
        struct schedule s = {.procs = 1, .n = n, .jobs = jobs, .start = start};
        struct metrics m;
        assert_int_equal(metrics_compute(&s, 10, &m, NULL), 0);
        assert_int_equal(m.median_wait, sorted[n / 2]);
        assert_int_equal(m.p95_wait, sorted[(size_t)((double)n * .95)]);
        assert_int_equal(m.max_wait, sorted[n - 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),   cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_large),
        cmocka_unit_test(test_quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
