/* report/rows.c: no processor has two jobs at once, and each job has as many as it asked for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/rows.h"

static void test_by_hand(void **state)
{
    (void)state;
    /* 10 processors: 0-3 and 4-6 busy, then 0-3 free; 5 wanted: no gap is large enough, so two pieces */
    const struct schedule_job jobs[] = {{.run = 5, .procs = 4},
                                        {.run = 20, .procs = 3},
                                        {.run = 5, .procs = 5},
                                        {.run = 1, .procs = 3}};
    const int64_t start[] = {0, 0, 5, 0};
    struct schedule s = {.procs = 10, .n = 4, .jobs = jobs, .start = start};
    struct rows rows;
    assert_int_equal(rows_assign(&s, 100, &rows, NULL), 0);
    const struct rows_piece expected[] = {{0, 0, 4}, {1, 4, 3}, {3, 7, 3}, {2, 0, 4}, {2, 7, 1}};
    assert_int_equal(rows.n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(rows.pieces[i].job, expected[i].job);
        assert_int_equal(rows.pieces[i].first, expected[i].first);
        assert_int_equal(rows.pieces[i].count, expected[i].count);
    }
    rows_clear(&rows);
    assert_int_equal(rows_assign(&s, 4, &rows, NULL), -1);
    assert_int_equal(errno, E2BIG);
    assert_null(rows.pieces);
    assert_int_equal(rows_assign(&s, 3, &rows, NULL), -1);
    assert_int_equal(errno, E2BIG);
    s.procs = 9;
    assert_int_equal(rows_assign(&s, 100, &rows, NULL), -1);
    assert_int_equal(errno, EINVAL);
}

enum { PROCS = 16, JOBS = 400 };

/* A naive schedule: each job starts as soon as the ones before it let it. */
static void make_schedule(struct schedule_job *jobs, int64_t *start, uint64_t seed)
{
    static int64_t busy[PROCS]; /* until when */
    memset(busy, 0, sizeof(busy));
    for (size_t i = 0; i < JOBS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        jobs[i] = (struct schedule_job){.run = (int64_t)(seed >> 33) % 50 + 1,
                                        .procs = (int64_t)(seed >> 50) % PROCS + 1};
        start[i] = i ? start[i - 1] : 0;
        for (;; start[i]++) {
            int64_t free_now = 0;
            for (int p = 0; p < PROCS; p++)
                free_now += busy[p] <= start[i];
            if (free_now >= jobs[i].procs)
                break;
        }
        for (int64_t p = 0, left = jobs[i].procs; left > 0; p++) {
            if (busy[p] <= start[i]) {
                busy[p] = start[i] + jobs[i].run;
                left--;
            }
        }
    }
}

static void test_random(void **state)
{
    (void)state;
    static struct schedule_job jobs[JOBS];
    static int64_t start[JOBS], got[JOBS], until[PROCS];
    for (uint64_t seed = 0; seed < 50; seed++) {
        make_schedule(jobs, start, seed);
        struct schedule s = {.procs = PROCS, .n = JOBS, .jobs = jobs, .start = start};
        struct rows rows;
        assert_int_equal(rows_assign(&s, JOBS * PROCS, &rows, NULL), 0);
        memset(got, 0, sizeof(got));
        memset(until, 0, sizeof(until));
        for (size_t i = 0; i < rows.n; i++) {
            const struct rows_piece *p = &rows.pieces[i];
            got[p->job] += p->count;
            for (int64_t row = p->first; row < p->first + p->count; row++) {
                assert_in_range(row, 0, PROCS - 1);
                assert_true(until[row] <= start[p->job]);
                until[row] = start[p->job] + jobs[p->job].run;
            }
        }
        for (size_t i = 0; i < JOBS; i++)
            assert_int_equal(got[i], jobs[i].procs);
        rows_clear(&rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
