/* Sums of what jobs have used, for jobs whose sums are worked out by hand. Times are those of Berlin, where a day of
 * March 2026 has 23 hours.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cli/report_sum.h"

/* 2026-03-29 00:00 there is 2026-03-28 23:00 UTC. The clock goes from 02:00 to 03:00 that night. */
#define SUNDAY 1774738800.0
#define HOUR   3600.0

static void add(struct report_sum *sum, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct report_sum *sum, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert_int_equal(report_sum_add(sum, text, (size_t)n), 0);
}

static bool is_near(double a, double b)
{
    return a - b < 1e-6 && b - a < 1e-6;
}

static void expect_row(const struct report_sum *sum, size_t i, const char *keys, double jobs,
                       double core_hours, double cpu_hours)
{
    char text[200] = "";
    assert_true(i < sum->n);
    for (size_t k = 0; k < sum->n_keys; k++) {
        strcat(text, k ? "," : "");
        strcat(text, sum->rows[i].text[k]);
    }
    assert_string_equal(text, keys);
    assert_true(is_near(sum->rows[i].jobs, jobs));
    assert_true(is_near(sum->rows[i].core_time / HOUR, core_hours));
    assert_true(is_near(sum->rows[i].cpu_time / HOUR, cpu_hours));
}

static struct report_sum sum_by(const char *by)
{
    struct report_sum sum = {.until = 1e12, .now = SUNDAY + 100 * HOUR};
    assert_true(report_sum_by(&sum, by));
    return sum;
}

static void test_keys(void **state)
{
    static const char *const bad[] = {
        "", "users", "user,", ",user", "user,user", "day,week", "user,account,queue,day", "use"};
    struct report_sum sum = {.n_keys = 0};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(report_sum_by(&sum, bad[i]));
    assert_true(report_sum_by(&sum, "month,account,queue"));
    assert_int_equal(sum.n_keys, 3);
}

static void test_users(void **state)
{
    struct report_sum sum = sum_by("user");
    (void)state;
    add(&sum,
        "{\"user\": \"ann\", \"state\": \"done\", \"start\": %f, \"end\": %f, \"cores\": 4, "
        "\"cpu_time\": 7200}",
        SUNDAY, SUNDAY + HOUR);
    add(&sum,
        "{\"user\": \"bob\", \"state\": \"failed\", \"start\": %f, \"end\": %f, \"cores\": 10, "
        "\"gpus\": 2}",
        SUNDAY, SUNDAY + HOUR);
    add(&sum, "{\"user\": \"ann\", \"state\": \"running\", \"start\": %f, \"cores\": 1}",
        SUNDAY + 98 * HOUR);
    add(&sum,
        "{\"user\": \"eve\", \"state\": \"cancelled\", \"start\": null, \"end\": %f, \"cores\": 1}",
        SUNDAY);
    add(&sum, "{\"user\": \"eve\", \"state\": \"done\"}");
    report_sum_order(&sum);
    assert_int_equal(sum.n, 2);
    expect_row(&sum, 0, "bob", 1, 10, 0);
    expect_row(&sum, 1, "ann", 2, 6, 2);
    assert_true(is_near(sum.rows[0].gpu_time, 2 * HOUR));
    assert_true(is_near(sum.rows[0].failed, 1));
    assert_true(is_near(sum.rows[1].measured, 4 * HOUR));
    report_sum_clear(&sum);
}

/* From Saturday 20:00 to Monday 01:00: 4 hours, 23 and 1. The job counts on Monday. */
static void test_periods(void **state)
{
    struct report_sum sum = sum_by("day");
    (void)state;
    add(&sum, "{\"state\": \"done\", \"start\": %f, \"end\": %f, \"cores\": 2, \"cpu_time\": %f}",
        SUNDAY - 4 * HOUR, SUNDAY + 24 * HOUR, 28 * HOUR);
    report_sum_order(&sum);
    assert_int_equal(sum.n, 3);
    expect_row(&sum, 0, "2026-03-28", 0, 8, 4);
    expect_row(&sum, 1, "2026-03-29", 0, 46, 23);
    expect_row(&sum, 2, "2026-03-30", 1, 2, 1);
    report_sum_clear(&sum);

    /* Saturday and Sunday are of the 13th week, by ISO 8601. */
    sum = sum_by("week");
    add(&sum, "{\"state\": \"done\", \"start\": %f, \"end\": %f, \"cores\": 2}", SUNDAY - 4 * HOUR,
        SUNDAY + 24 * HOUR);
    report_sum_order(&sum);
    assert_int_equal(sum.n, 2);
    expect_row(&sum, 0, "2026-W13", 0, 54, 0);
    expect_row(&sum, 1, "2026-W14", 1, 2, 0);
    report_sum_clear(&sum);

    /* Until the end of March there are 71 hours, of 100. */
    sum = sum_by("month");
    add(&sum, "{\"state\": \"done\", \"start\": %f, \"end\": %f, \"cores\": 1}", SUNDAY,
        SUNDAY + 100 * HOUR);
    report_sum_order(&sum);
    assert_int_equal(sum.n, 2);
    expect_row(&sum, 0, "2026-03", 0, 71, 0);
    expect_row(&sum, 1, "2026-04", 1, 29, 0);
    report_sum_clear(&sum);
}

static void test_window(void **state)
{
    struct report_sum sum = sum_by("queue");
    (void)state;
    sum.since = SUNDAY + HOUR;
    sum.until = SUNDAY + 3 * HOUR;
    /* Across all of it; up to its middle; before; after. */
    add(&sum,
        "{\"queue\": \"a\", \"state\": \"done\", \"start\": %f, \"end\": %f, \"cores\": 1, "
        "\"cpu_time\": %f}",
        SUNDAY, SUNDAY + 8 * HOUR, 4 * HOUR);
    add(&sum, "{\"queue\": \"b\", \"state\": \"done\", \"start\": %f, \"end\": %f, \"cores\": 1}",
        SUNDAY, SUNDAY + 2 * HOUR);
    add(&sum, "{\"queue\": \"c\", \"state\": \"done\", \"start\": %f, \"end\": %f, \"cores\": 1}",
        SUNDAY, SUNDAY + 0.5 * HOUR);
    add(&sum, "{\"queue\": \"d\", \"state\": \"done\", \"start\": %f, \"end\": %f, \"cores\": 1}",
        SUNDAY + 4 * HOUR, SUNDAY + 5 * HOUR);
    report_sum_order(&sum);
    assert_int_equal(sum.n, 2);
    expect_row(&sum, 0, "a", 0, 2, 1);
    expect_row(&sum, 1, "b", 1, 1, 0);
    report_sum_clear(&sum);
}

static void test_bad(void **state)
{
    struct report_sum sum = sum_by("user");
    (void)state;
    errno = 0;
    assert_int_equal(report_sum_add(&sum, "[1]", 3), -1);
    assert_int_equal(errno, EPROTO);
    report_sum_clear(&sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys), cmocka_unit_test(test_users),
                                       cmocka_unit_test(test_periods),
                                       cmocka_unit_test(test_window), cmocka_unit_test(test_bad)};
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
