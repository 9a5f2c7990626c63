/* The replay of a workload: small cases computed by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/simulate.h"

#define JOBS_MAX 8

/* Jobs in the order of the trace: submit, run, limit, processors, priority; and when they must
 * start.
 */
struct row {
    int64_t submit, run, limit, procs, priority;
    int64_t start;
};

static void expect(const char *policy, enum sched_order order, enum simulate_events events,
                   int64_t procs, const struct row *row, size_t n)
{
    struct schedule_job jobs[JOBS_MAX];
    int64_t start[JOBS_MAX];
    struct simulate_stats stats;
    berth_error_t err;
    for (size_t i = 0; i < n; i++)
        jobs[i] = (struct schedule_job){
            .id = (int64_t)i,
            .submit = row[i].submit,
            .run = row[i].run,
            .limit = row[i].limit,
            .procs = row[i].procs,
            .priority = row[i].priority,
        };
    struct trace trace = {.jobs = jobs, .n = n, .procs = procs};
    struct simulate_options options = {
        .sched = {.policy = policy, .reservation_depth = -1, .order = order}, .events = events};
    assert_int_equal(simulate(&trace, &options, start, &stats, &err), 0);
    for (size_t i = 0; i < n; i++)
        if (start[i] != row[i].start)
            fail_msg("%s: job %zu starts at %lld instead of %lld", policy, i, (long long)start[i],
                     (long long)row[i].start);
}

#define EXPECT(policy, order, events, procs, ...)                                                  \
    do {                                                                                           \
        const struct row r_[] = {__VA_ARGS__};                                                     \
        expect(policy, order, events, procs, r_, sizeof(r_) / sizeof(*r_));                        \
    } while (0)

static void no_jobs(void **state)
{
    (void)state;
    struct trace trace = {.procs = 3};
    struct simulate_options options = {.sched = {.policy = "easy"}};
    struct simulate_stats stats = {.passes = 99};
    assert_int_equal(simulate(&trace, &options, NULL, &stats, NULL), 0);
    assert_int_equal(stats.passes, 0);
}

/* Job 1 must wait for all of the machine; job 2 would delay it by its limit, job 3 would not. */
static void policies_differ(void **state)
{
    (void)state;
    EXPECT("fcfs", SCHED_ORDER_SUBMIT, SIMULATE_BATCHED, 4, {0, 10, 10, 3, 0, 0},
           {1, 5, 5, 4, 0, 10}, {2, 3, 20, 1, 0, 15}, {3, 2, 7, 1, 0, 15});
    EXPECT("easy", SCHED_ORDER_SUBMIT, SIMULATE_BATCHED, 4, {0, 10, 10, 3, 0, 0},
           {1, 5, 5, 4, 0, 10}, {2, 3, 20, 1, 0, 15}, {3, 2, 7, 1, 0, 3});
    EXPECT("conservative", SCHED_ORDER_SUBMIT, SIMULATE_BATCHED, 4, {0, 10, 10, 3, 0, 0},
           {1, 5, 5, 4, 0, 10}, {2, 3, 20, 1, 0, 15}, {3, 2, 7, 1, 0, 3});
}

/* Job 3 delays job 2 under easy, which promises nothing to it; conservative does. */
static void conservative_keeps_every_promise(void **state)
{
    (void)state;
    EXPECT("easy", SCHED_ORDER_SUBMIT, SIMULATE_BATCHED, 4, {0, 10, 10, 2, 0, 0},
           {0, 10, 10, 3, 0, 10}, {0, 10, 10, 4, 0, 30}, {0, 30, 30, 1, 0, 0});
    EXPECT("conservative", SCHED_ORDER_SUBMIT, SIMULATE_BATCHED, 4, {0, 10, 10, 2, 0, 0},
           {0, 10, 10, 3, 0, 10}, {0, 10, 10, 4, 0, 20}, {0, 30, 30, 1, 0, 30});
}

static void early_end_pulls_reservations(void **state)
{
    (void)state;
    EXPECT("conservative", SCHED_ORDER_SUBMIT, SIMULATE_BATCHED, 2, {0, 4, 10, 2, 0, 0},
           {1, 5, 5, 2, 0, 4}, {1, 1, 5, 1, 0, 9}, {1, 1, 5, 1, 0, 9});
}

/* Sorted by submit time; of one instant, the first in the trace goes first. */
static void sorts_submissions(void **state)
{
    (void)state;
    EXPECT("fcfs", SCHED_ORDER_SUBMIT, SIMULATE_BATCHED, 1, {7, 2, 2, 1, 0, 11}, {3, 5, 5, 1, 0, 5},
           {0, 5, 5, 1, 0, 0}, {3, 1, 1, 1, 0, 10});
    EXPECT("fcfs", SCHED_ORDER_SUBMIT, SIMULATE_PER_EVENT, 1, {7, 2, 2, 1, 0, 11},
           {3, 5, 5, 1, 0, 5}, {0, 5, 5, 1, 0, 0}, {3, 1, 1, 1, 0, 10});
}

static void orders_of_the_queue(void **state)
{
    (void)state;
    EXPECT("easy", SCHED_ORDER_SHORTEST, SIMULATE_BATCHED, 1, {0, 10, 10, 1, 0, 0},
           {1, 7, 7, 1, 0, 15}, {2, 5, 5, 1, 0, 10});
    EXPECT("easy", SCHED_ORDER_PRIORITY, SIMULATE_BATCHED, 1, {0, 10, 10, 1, 0, 0},
           {1, 5, 5, 1, 1, 17}, {2, 7, 7, 1, 2, 10}, {3, 1, 1, 1, 1, 22});
    /* a promise is for those that come later, but not for one that goes before */
    EXPECT("conservative", SCHED_ORDER_SHORTEST, SIMULATE_BATCHED, 1, {0, 10, 10, 1, 0, 0},
           {1, 7, 7, 1, 0, 15}, {2, 5, 5, 1, 0, 10});
}

static void rejected_job_never_starts(void **state)
{
    (void)state;
    EXPECT("easy", SCHED_ORDER_SUBMIT, SIMULATE_BATCHED, 2, {0, 5, 5, 3, 0, SCHEDULE_NEVER},
           {0, 5, 5, 2, 0, 0}, {0, 5, 5, 9, 0, SCHEDULE_NEVER}, {0, 5, 5, 1, 0, 5});
}

static void killed_at_its_limit(void **state)
{
    (void)state;
    EXPECT("easy", SCHED_ORDER_SUBMIT, SIMULATE_BATCHED, 1, {0, 50, 10, 1, 0, 0},
           {1, 5, 5, 1, 0, 10});
    EXPECT("easy", SCHED_ORDER_SUBMIT, SIMULATE_PER_EVENT, 1, {0, 50, 10, 1, 0, 0},
           {10, 5, 5, 1, 0, 10});
}

/* At 10 a job ends early and one is submitted that fits what is left without it. Batched, the
 * head of the queue takes all at once; per event, the submission is planned first and overtakes
 * the head, whose promised time it does not delay.
 */
static void same_instant(void **state)
{
    (void)state;
    EXPECT("easy", SCHED_ORDER_SUBMIT, SIMULATE_BATCHED, 4, {0, 10, 20, 3, 0, 0},
           {1, 5, 5, 4, 0, 10}, {10, 10, 10, 1, 0, 15});
    EXPECT("easy", SCHED_ORDER_SUBMIT, SIMULATE_PER_EVENT, 4, {0, 10, 20, 3, 0, 0},
           {1, 5, 5, 4, 0, 20}, {10, 10, 10, 1, 0, 10});
}

/* What a job that ran to its limit held is free for a submission of that second, in both orders. */
static void limit_reached_at_a_submission(void **state)
{
    (void)state;
    EXPECT("conservative", SCHED_ORDER_SUBMIT, SIMULATE_PER_EVENT, 2, {0, 10, 10, 2, 0, 0},
           {10, 3, 3, 1, 0, 10}, {10, 3, 3, 1, 0, 10}, {10, 3, 3, 1, 0, 13});
    EXPECT("conservative", SCHED_ORDER_SUBMIT, SIMULATE_BATCHED, 2, {0, 10, 10, 2, 0, 0},
           {10, 3, 3, 1, 0, 10}, {10, 3, 3, 1, 0, 10}, {10, 3, 3, 1, 0, 13});
}

/* Two early ends at 4. Batched, one sweep takes the reservations in order: job 2 into all of the
 * machine. Per event, the first end lets job 3 move to 4 while job 2 still can't, and so job 2
 * keeps its time.
 */
static void a_sweep_for_each_end(void **state)
{
    (void)state;
    EXPECT("conservative", SCHED_ORDER_SUBMIT, SIMULATE_BATCHED, 2, {0, 4, 10, 1, 0, 0},
           {0, 4, 10, 1, 0, 0}, {1, 10, 10, 2, 0, 4}, {1, 6, 6, 1, 0, 14});
    EXPECT("conservative", SCHED_ORDER_SUBMIT, SIMULATE_PER_EVENT, 2, {0, 4, 10, 1, 0, 0},
           {0, 4, 10, 1, 0, 0}, {1, 10, 10, 2, 0, 10}, {1, 6, 6, 1, 0, 4});
}

static void refuses_what_is_out_of_range(void **state)
{
    (void)state;
    static const struct schedule_job bad[] = {
        {.id = 1, .submit = -1, .run = 1, .limit = 1, .procs = 1},
        {.id = 2, .submit = 0, .run = 0, .limit = 1, .procs = 1},
        {.id = 3, .submit = 0, .run = 1, .limit = 0, .procs = 1},
        {.id = 4, .submit = 0, .run = 1, .limit = 1, .procs = 0},
    };
    int64_t start[1];
    struct simulate_stats stats;
    berth_error_t err;
    struct simulate_options options = {.sched = {.policy = "easy"}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct schedule_job job = bad[i];
        struct trace trace = {.jobs = &job, .n = 1, .procs = 1};
        errno = 0;
        assert_int_equal(simulate(&trace, &options, start, &stats, &err), -1);
        assert_int_equal(errno, EINVAL);
        assert_non_null(strstr(err.text, "out of range"));
    }
    struct trace trace = {.procs = 1};
    options.sched.policy = "best";
    assert_int_equal(simulate(&trace, &options, start, &stats, &err), -1);
    assert_non_null(strstr(err.text, "\"best\""));
    options.sched.policy = "easy";
    trace.procs = 0;
    assert_int_equal(simulate(&trace, &options, start, &stats, &err), -1);
    assert_int_equal(errno, EINVAL);
}

static void count_progress(void *arg, size_t done, size_t n)
{
    size_t *last = arg;
    assert_true(done > *last && done <= n);
    *last = done;
}

static void tells_progress(void **state)
{
    (void)state;
    enum { JOBS = 10000 };
    static struct schedule_job jobs[JOBS];
    static int64_t start[JOBS];
    size_t last = 0;
    for (int i = 0; i < JOBS; i++)
        jobs[i] =
            (struct schedule_job){.submit = i, .run = 1, .limit = 1, .procs = i % 9 == 0 ? 9 : 1};
    struct trace trace = {.jobs = jobs, .n = JOBS, .procs = 4};
    struct simulate_options options = {
        .sched = {.policy = "easy"}, .progress = count_progress, .progress_arg = &last};
    struct simulate_stats stats;
    assert_int_equal(simulate(&trace, &options, start, &stats, NULL), 0);
    assert_true(last > JOBS / 2);
    assert_true(stats.passes >= JOBS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_jobs),
        cmocka_unit_test(policies_differ),
        cmocka_unit_test(conservative_keeps_every_promise),
        cmocka_unit_test(early_end_pulls_reservations),
        cmocka_unit_test(sorts_submissions),
        cmocka_unit_test(orders_of_the_queue),
        cmocka_unit_test(rejected_job_never_starts),
        cmocka_unit_test(killed_at_its_limit),
        cmocka_unit_test(same_instant),
        cmocka_unit_test(limit_reached_at_a_submission),
        cmocka_unit_test(a_sweep_for_each_end),
        cmocka_unit_test(refuses_what_is_out_of_range),
        cmocka_unit_test(tells_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
