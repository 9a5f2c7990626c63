/* report/series.c: busy shares and queue lengths by column, against a count second by second. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/series.h"

enum { JOBS = 60, SPAN = 1000, PROCS = 64, FROM = 77 };

static uint64_t random_state;

static int64_t below(int64_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(random_state >> 33) % n;
}

static void check_columns(const struct schedule *s, const struct waitclass *classes, size_t columns)
{
    struct series series;
    assert_int_equal(series_compute(s, FROM, FROM + SPAN, columns, classes, &series, NULL), 0);
    assert_int_equal(series.columns, columns < SPAN ? columns : SPAN);
    int64_t peak = 0;
    for (size_t c = 0; c < series.columns; c++) {
        int64_t a = FROM + SPAN * (int64_t)c / (int64_t)series.columns;
        int64_t b = FROM + SPAN * (int64_t)(c + 1) / (int64_t)series.columns;
        double busy[WAITCLASS_COUNT] = {0};
        int64_t waiting = 0;
        for (int64_t t = a; t < b; t++) {
            int64_t now = 0;
            for (size_t i = 0; i < s->n; i++) {
                int64_t start = s->start[i], submit = s->jobs[i].submit;
                if (start == SCHEDULE_NEVER)
                    continue;
                now += submit <= t && t < start;
                if (start <= t && t < start + s->jobs[i].run)
                    busy[waitclass_of(classes, start - submit)] += (double)s->jobs[i].procs;
            }
            waiting = now > waiting ? now : waiting;
        }
        assert_int_equal(series.waiting[c], waiting);
        peak = waiting > peak ? waiting : peak;
        double sum = 0;
        for (size_t k = 0; k < WAITCLASS_COUNT; k++) {
            double share = busy[k] / PROCS / (double)(b - a);
            sum += share;
            assert_true(fabs(series.busy[c * WAITCLASS_COUNT + k] - share) < 1e-9);
        }
        assert_true(fabs(series_busy(&series, c) - sum) < 1e-9);
    }
    assert_int_equal(series.max_waiting, peak);
    series_clear(&series);
}

static void test_random(void **state)
{
    (void)state;
    static struct schedule_job jobs[JOBS];
    static int64_t start[JOBS];
    const size_t columns[] = {1, 7, 100, 333, 1000, 5000};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        random_state = seed;
        for (size_t i = 0; i < JOBS; i++) {
            int64_t run = below(200) + 1, submit = FROM + below(SPAN - run + 1);
            int64_t latest = FROM + SPAN - run;
            jobs[i] = (struct schedule_job){.submit = submit, .run = run, .procs = below(5) + 1};
            start[i] = below(3) == 0 ? submit : submit + below(latest - submit + 1);
            if (below(20) == 0)
                start[i] = SCHEDULE_NEVER;
        }
        struct schedule s = {.procs = PROCS, .n = JOBS, .jobs = jobs, .start = start};
        struct waitclass classes = waitclass_choose(500);
        for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
            check_columns(&s, &classes, columns[i]);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    struct schedule_job job = {.submit = 10, .run = 5, .procs = 1};
    int64_t start = 10;
    struct schedule s = {.procs = 1, .n = 1, .jobs = &job, .start = &start};
    struct waitclass classes = waitclass_choose(0);
    struct series series;
    assert_int_equal(series_compute(&s, 10, 10, 5, &classes, &series, NULL), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(series_compute(&s, 11, 20, 5, &classes, &series, NULL), -1);
    assert_int_equal(series_compute(&s, 10, 14, 5, &classes, &series, NULL), -1);
    assert_int_equal(series_compute(&s, 10, 15, 5, &classes, &series, NULL), 0);
    assert_int_equal(series.columns, 5);
    series_clear(&series);
}

static void test_classes(void **state)
{
    (void)state;
    char label[2 * HUMAN_SIZE];
    struct waitclass c = waitclass_choose(3 * 86400);
    assert_int_equal(waitclass_of(&c, 0), 0);
    assert_int_equal(waitclass_of(&c, 1), 1);
    assert_int_equal(waitclass_of(&c, 3600), 2);
    assert_int_equal(waitclass_of(&c, 86399), 3);
    assert_int_equal(waitclass_of(&c, INT64_MAX), 4);
    assert_string_equal(waitclass_label(&c, 0, label), "none");
    assert_string_equal(waitclass_label(&c, 1, label), "under 1h");
    assert_string_equal(waitclass_label(&c, 3, label), "8h to 1d");
    assert_string_equal(waitclass_label(&c, 4, label), "1d and more");
    c = waitclass_choose(0);
    assert_int_equal(c.bound[1], 5);
    c = waitclass_choose(INT64_MAX);
    assert_int_equal(c.bound[3], 365 * 86400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
