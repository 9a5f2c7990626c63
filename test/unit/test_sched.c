/* The scheduling core, call by call. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_config.h"

static sched_t *create(int64_t units, const char *policy, int64_t depth, enum sched_order order)
{
    struct sched_params params = {.policy = policy, .reservation_depth = depth, .order = order};
    sched_t *s = sched_create_flat(units, &params, NULL);
    assert_non_null(s);
    return s;
}

static sched_job_t submit(sched_t *s, int64_t now, int64_t units, int64_t duration,
                          int64_t priority, uint64_t tag)
{
    struct sched_request request = {
        .units = units, .duration = duration, .priority = priority, .tag = tag};
    sched_job_t job = sched_submit(s, now, &request);
    assert_true(job >= 0);
    assert_true(sched_check(s));
    return job;
}

struct expected {
    enum sched_decision_kind kind;
    uint64_t tag;
    int64_t at;
};

/* A pass decides this, in this order. */
static void expect_pass(sched_t *s, int64_t now, bool more, const struct expected *expected,
                        size_t n)
{
    const struct sched_decision *d;
    size_t found;
    assert_int_equal(sched_pass(s, now, more, &d, &found), 0);
    assert_int_equal(found, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(d[i].kind, expected[i].kind);
        assert_int_equal(d[i].tag, expected[i].tag);
        assert_int_equal(d[i].at, expected[i].at);
        assert_int_equal(d[i].reason != NULL, d[i].kind == SCHED_REJECT);
    }
    assert_true(sched_check(s));
}

#define EXPECT_PASS(s, now, more, ...)                                                             \
    do {                                                                                           \
        const struct expected e_[] = {__VA_ARGS__};                                                \
        expect_pass(s, now, more, e_, sizeof(e_) / sizeof(*e_));                                   \
    } while (0)

static void expect_nothing(sched_t *s, int64_t now)
{
    expect_pass(s, now, false, NULL, 0);
}

/* The call fails with EINVAL and leaves the core in order. */
#define EXPECT_EINVAL(s, call)                                                                     \
    do {                                                                                           \
        errno = 0;                                                                                 \
        assert_int_equal(call, -1);                                                                \
        assert_int_equal(errno, EINVAL);                                                           \
        assert_true(sched_check(s));                                                               \
    } while (0)

static void refuses_to_create(void **state)
{
    (void)state;
    static const struct {
        int64_t units;
        struct sched_params params;
        const char *text; /* a part of it */
    } cases[] = {
        {0, {.policy = "easy"}, "not 0"},
        {-5, {.policy = "easy"}, "not -5"},
        {1, {.policy = "sjf"}, "unknown policy \"sjf\": expected fcfs"},
        {1, {.policy = ""}, "unknown policy \"\""},
        {1, {.policy = NULL}, "unknown policy"},
        {1, {.policy = "easy", .order = (enum sched_order)3}, "unknown order"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        berth_error_t err = {.text = ""};
        errno = 0;
        assert_null(sched_create_flat(cases[i].units, &cases[i].params, &err));
        assert_int_equal(errno, EINVAL);
        assert_non_null(strstr(err.text, cases[i].text));
        errno = 0;
        assert_null(sched_create_flat(cases[i].units, &cases[i].params, NULL));
        assert_int_equal(errno, EINVAL);
    }
}

static void names_its_policies(void **state)
{
    (void)state;
    static const char *const names[] = {"fcfs", "easy", "hybrid", "conservative", "ageing"};
    const size_t n = sizeof(names) / sizeof(*names);
    const char *const *found = sched_policies();
    size_t usual = 0;
    for (size_t i = 0; i < n; i++) {
        const struct sched_policy *policy = sched_policy(i);
        assert_string_equal(found[i], names[i]);
        assert_string_equal(policy->name, names[i]);
        assert_ptr_equal(sched_policy_find(names[i]), policy);
        assert_true(*policy->summary && policy->depth >= 0);
        usual += policy->is_usual;
        sched_destroy(create(1, found[i], -1, SCHED_ORDER_SUBMIT));
    }
    assert_null(found[n]);
    assert_null(sched_policy(n));
    assert_null(sched_policy_find("sjf"));
    assert_null(sched_policy_find(NULL));
    assert_int_equal(usual, 1);
    assert_true(sched_policy_usual()->is_usual);
}

static void destroy_keeps_errno(void **state)
{
    (void)state;
    errno = ENOENT;
    sched_destroy(NULL);
    assert_int_equal(errno, ENOENT);
    sched_t *s = create(4, "easy", -1, SCHED_ORDER_SUBMIT);
    submit(s, 0, 1, 1, 0, 0);
    errno = ENOENT;
    sched_destroy(s);
    assert_int_equal(errno, ENOENT);
}

static void refuses_bad_requests(void **state)
{
    (void)state;
    sched_t *s = create(4, "easy", -1, SCHED_ORDER_SUBMIT);
    sched_job_t job = submit(s, 10, 1, 1, 0, 0);
    static const struct {
        int64_t now, units, duration;
    } cases[] = {
        {10, 0, 1}, {10, -1, 1},        {10, 1, 0},        {10, 1, -1},        {9, 1, 1},
        {-1, 1, 1}, {10, 1, INT64_MAX}, {INT64_MAX, 1, 1}, {10, 1, INT64_MIN}, {10, INT64_MIN, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct sched_request request = {.units = cases[i].units, .duration = cases[i].duration};
        EXPECT_EINVAL(s, sched_submit(s, cases[i].now, &request));
    }
    assert_int_equal(sched_waiting(s), 1);
    EXPECT_PASS(s, 10, false, {SCHED_START, 0, 10}); /* a refused call does not move time on */
    assert_int_equal(sched_state(s, job), SCHED_RUNNING);
    sched_destroy(s);
}

static void time_never_goes_back(void **state)
{
    (void)state;
    const struct sched_decision *d;
    size_t n;
    sched_t *s = create(4, "easy", -1, SCHED_ORDER_SUBMIT);
    EXPECT_EINVAL(s, sched_pass(s, -1, false, &d, &n));
    sched_job_t running = submit(s, 5, 4, 10, 0, 0);
    expect_pass(s, 5, false, (struct expected[]){{SCHED_START, 0, 5}}, 1);
    sched_job_t waiting = submit(s, 7, 4, 10, 0, 1);
    EXPECT_EINVAL(s, sched_pass(s, 6, false, &d, &n));
    assert_int_equal(n, 0);
    EXPECT_EINVAL(s, sched_finish(s, 6, running, true));
    EXPECT_EINVAL(s, sched_cancel(s, 6, running));
    EXPECT_EINVAL(s, sched_cancel(s, 6, waiting));
    EXPECT_EINVAL(s, sched_prioritize(s, 6, waiting, 3));
    assert_int_equal(sched_state(s, running), SCHED_RUNNING);
    assert_int_equal(sched_state(s, waiting), SCHED_WAITING);
    sched_destroy(s);
}

static void rejects_what_never_fits(void **state)
{
    (void)state;
    sched_t *s = create(4, "conservative", -1, SCHED_ORDER_PRIORITY);
    sched_job_t first = submit(s, 0, 5, 1, 0, 7);
    submit(s, 0, 4, 3, 0, 8);
    submit(s, 0, INT64_MAX, 1, 9, 9);
    assert_int_equal(sched_state(s, first), SCHED_REJECTED);
    assert_int_equal(sched_waiting(s), 1);
    EXPECT_EINVAL(s, sched_prioritize(s, 0, first, 1));
    EXPECT_EINVAL(s, sched_finish(s, 0, first, true));
    EXPECT_EINVAL(s, sched_start_time(s, first));
    const struct sched_decision *d;
    size_t n;
    assert_int_equal(sched_pass(s, 0, false, &d, &n), 0);
    assert_int_equal(n, 3);
    assert_int_equal(d[0].kind, SCHED_REJECT); /* in the order of their submission */
    assert_int_equal(d[0].job, first);
    assert_int_equal(d[0].tag, 7);
    assert_int_equal(d[0].reason->kind, SCHED_REASON_UNITS);
    assert_int_equal(d[1].kind, SCHED_REJECT);
    assert_int_equal(d[1].tag, 9);
    assert_int_equal(d[2].kind, SCHED_START);
    assert_null(d[2].reason);
    EXPECT_EINVAL(s, sched_state(s, first));
    EXPECT_EINVAL(s, sched_cancel(s, 0, first));
    sched_destroy(s);
}

static void cancels_in_every_state(void **state)
{
    (void)state;
    sched_t *s = create(4, "easy", -1, SCHED_ORDER_SUBMIT);
    sched_job_t running = submit(s, 0, 3, 10, 0, 0);
    sched_job_t held = submit(s, 0, 4, 10, 0, 1);
    sched_job_t open = submit(s, 0, 4, 10, 0, 2);
    sched_job_t last = submit(s, 0, 1, 20, 0, 3); /* would delay job 1 */
    EXPECT_PASS(s, 0, false, {SCHED_START, 0, 0}, {SCHED_RESERVE, 1, 10});
    sched_job_t rejected = submit(s, 1, 5, 1, 0, 4);
    assert_int_equal(sched_state(s, running), SCHED_RUNNING);
    assert_int_equal(sched_state(s, held), SCHED_RESERVED);
    assert_int_equal(sched_state(s, open), SCHED_WAITING);
    assert_int_equal(sched_state(s, rejected), SCHED_REJECTED);
    assert_int_equal(sched_cancel(s, 1, rejected), 0);
    assert_true(sched_check(s));
    expect_nothing(s, 1);
    assert_int_equal(sched_cancel(s, 2, open), 0);
    assert_true(sched_check(s));
    expect_nothing(s, 2);
    assert_int_equal(sched_cancel(s, 3, held), 0);
    assert_true(sched_check(s));
    EXPECT_PASS(s, 3, false, {SCHED_START, 3, 3});
    assert_int_equal(sched_cancel(s, 4, running), 0);
    assert_true(sched_check(s));
    assert_int_equal(sched_running(s), 1);
    assert_int_equal(sched_waiting(s), 0);
    assert_int_equal(sched_state(s, last), SCHED_RUNNING);
    sched_job_t gone[] = {running, held, open, rejected, -1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof(gone) / sizeof(*gone); i++) {
        EXPECT_EINVAL(s, sched_cancel(s, 4, gone[i]));
        EXPECT_EINVAL(s, sched_finish(s, 4, gone[i], true));
        EXPECT_EINVAL(s, sched_prioritize(s, 4, gone[i], 0));
        EXPECT_EINVAL(s, sched_state(s, gone[i]));
        EXPECT_EINVAL(s, sched_start_time(s, gone[i]));
    }
    sched_destroy(s);
}

/* What a cancelled running job held lets reservations move, as an end would. */
static void cancel_of_running_moves_reservations(void **state)
{
    (void)state;
    sched_t *s = create(4, "conservative", -1, SCHED_ORDER_SUBMIT);
    sched_job_t first = submit(s, 0, 4, 10, 0, 0);
    submit(s, 0, 3, 10, 0, 1);
    submit(s, 0, 2, 10, 0, 2);
    EXPECT_PASS(s, 0, false, {SCHED_START, 0, 0}, {SCHED_RESERVE, 1, 10}, {SCHED_RESERVE, 2, 20});
    assert_int_equal(sched_cancel(s, 4, first), 0);
    EXPECT_PASS(s, 4, false, {SCHED_RESERVE, 1, 4}, {SCHED_RESERVE, 2, 14}, {SCHED_START, 1, 4});
    sched_destroy(s);
}

static void handles_are_never_used_again(void **state)
{
    (void)state;
    enum { JOBS = 3000 };
    sched_t *s = create(2, "easy", -1, SCHED_ORDER_SUBMIT);
    sched_job_t *handle = calloc(JOBS, sizeof(*handle));
    for (int i = 0; i < JOBS; i++) {
        handle[i] = submit(s, i, 1 + i % 3, 1, 0, (uint64_t)i);
        const struct sched_decision *d;
        size_t n;
        assert_int_equal(sched_pass(s, i, false, &d, &n), 0);
        assert_int_equal(n, 1);
        assert_int_equal(d[0].job, handle[i]);
        if (d[0].kind == SCHED_START)
            assert_int_equal(
                i % 2 ? sched_finish(s, i, handle[i], true) : sched_cancel(s, i, handle[i]), 0);
        for (int k = i; k >= 0; k -= k / 4 + 1) {
            assert_int_equal(sched_state(s, handle[k]), -1);
            assert_true(k == i || handle[k] != handle[i]);
        }
    }
    for (int i = 0; i < JOBS; i++)
        assert_int_equal(sched_cancel(s, JOBS, handle[i]), -1);
    free(handle);
    sched_destroy(s);
}

static void prioritize_moves_a_job_in_the_queue(void **state)
{
    (void)state;
    sched_t *s = create(1, "fcfs", -1, SCHED_ORDER_PRIORITY);
    sched_job_t first = submit(s, 0, 1, 5, 0, 0);
    EXPECT_PASS(s, 0, false, {SCHED_START, 0, 0});
    sched_job_t second = submit(s, 1, 1, 5, 0, 1);
    sched_job_t third = submit(s, 1, 1, 5, 0, 2);
    assert_int_equal(sched_prioritize(s, 2, third, INT64_MAX), 0);
    assert_int_equal(sched_prioritize(s, 2, second, INT64_MIN), 0);
    assert_true(sched_check(s));
    assert_int_equal(sched_prioritize(s, 2, first, 1), 0); /* it runs: for when it waits again */
    expect_nothing(s, 2);
    assert_int_equal(sched_finish(s, 3, first, true), 0);
    EXPECT_PASS(s, 3, false, {SCHED_START, 2, 3});
    assert_int_equal(sched_finish(s, 4, third, true), 0);
    EXPECT_PASS(s, 4, false, {SCHED_START, 1, 4});
    sched_destroy(s);
}

static void prioritize_counts_under_its_order_alone(void **state)
{
    (void)state;
    sched_t *s = create(1, "easy", -1, SCHED_ORDER_SUBMIT);
    submit(s, 0, 1, 5, 0, 0);
    sched_job_t second = submit(s, 0, 1, 5, 0, 1);
    sched_job_t third = submit(s, 0, 1, 5, 0, 2);
    EXPECT_PASS(s, 0, false, {SCHED_START, 0, 0}, {SCHED_RESERVE, 1, 5});
    assert_int_equal(sched_prioritize(s, 1, third, 100), 0);
    expect_nothing(s, 1);
    assert_int_equal(sched_state(s, second), SCHED_RESERVED);
    sched_destroy(s);
}

/* A job that is moved before the only holder takes the reservation over. */
static void prioritize_takes_a_reservation_over(void **state)
{
    (void)state;
    sched_t *s = create(2, "easy", -1, SCHED_ORDER_PRIORITY);
    submit(s, 0, 2, 5, 0, 0);
    sched_job_t second = submit(s, 0, 2, 5, 0, 1);
    sched_job_t third = submit(s, 0, 1, 5, 0, 2);
    EXPECT_PASS(s, 0, false, {SCHED_START, 0, 0}, {SCHED_RESERVE, 1, 5});
    assert_int_equal(sched_prioritize(s, 1, third, 1), 0);
    EXPECT_PASS(s, 1, false, {SCHED_RESERVE, 2, 5});
    assert_int_equal(sched_state(s, second), SCHED_WAITING);
    assert_int_equal(sched_next_time(s), 5);
    sched_destroy(s);
}

/* The new job fits nowhere now, and yet it goes before the only holder. */
static void new_job_takes_a_reservation_over(void **state)
{
    (void)state;
    sched_t *s = create(1, "easy", -1, SCHED_ORDER_PRIORITY);
    submit(s, 0, 1, 10, 0, 0);
    sched_job_t second = submit(s, 0, 1, 5, -2, 1);
    EXPECT_PASS(s, 0, false, {SCHED_START, 0, 0}, {SCHED_RESERVE, 1, 10});
    submit(s, 3, 1, 5, -1, 2);
    EXPECT_PASS(s, 3, false, {SCHED_RESERVE, 2, 10});
    assert_int_equal(sched_state(s, second), SCHED_WAITING);
    sched_destroy(s);
}

/* A holder that starts in this pass leaves room in the bound: the last one need not give way. */
static void due_holder_makes_room_in_the_bound(void **state)
{
    (void)state;
    sched_t *s = create(4, "hybrid", 2, SCHED_ORDER_SHORTEST);
    submit(s, 0, 4, 10, 0, 0);
    submit(s, 0, 4, 20, 0, 1);
    submit(s, 0, 4, 40, 0, 2);
    EXPECT_PASS(s, 0, false, {SCHED_START, 0, 0}, {SCHED_RESERVE, 1, 10}, {SCHED_RESERVE, 2, 30});
    const struct sched_decision *d;
    size_t n;
    assert_int_equal(sched_pass(s, 9, false, &d, &n), 0);
    assert_int_equal(n, 0);
    submit(s, 10, 4, 30, 0, 3);
    /* 3 goes before 2, which holds the time after 1; 2 gets another once 1 has started. */
    EXPECT_PASS(s, 10, false, {SCHED_RESERVE, 3, 30}, {SCHED_START, 1, 10}, {SCHED_RESERVE, 2, 60});
    sched_destroy(s);
}

static void decides_in_queue_order(void **state)
{
    (void)state;
    sched_t *s = create(10, "hybrid", 2, SCHED_ORDER_SHORTEST);
    submit(s, 0, 11, 1, 0, 0);
    submit(s, 0, 6, 9, 0, 1);
    submit(s, 0, 6, 8, 0, 2);
    submit(s, 0, 5, 7, 0, 3);
    submit(s, 0, 2, 2, 0, 4);
    submit(s, 0, 2, 12, 0, 5);
    submit(s, 0, 3, 12, 0, 6);
    EXPECT_PASS(s, 0, false, {SCHED_REJECT, 0, 0}, {SCHED_START, 4, 0}, {SCHED_START, 3, 0},
                {SCHED_RESERVE, 2, 7}, {SCHED_RESERVE, 1, 15}, {SCHED_START, 5, 0});
    assert_int_equal(sched_waiting(s), 3);
    assert_int_equal(sched_running(s), 3);
    assert_int_equal(sched_next_time(s), 7);
    expect_nothing(s, 0);
    sched_destroy(s);
}

/* Whatever happens makes a pass due at once, and time alone the next one when a reservation's time has
 * come.
 */
static void a_pass_is_due_when_something_has_happened(void **state)
{
    (void)state;
    sched_t *s = create(4, "easy", -1, SCHED_ORDER_PRIORITY);
    assert_int_equal(sched_next_time(s), INT64_MAX);
    sched_job_t first = submit(s, 3, 4, 10, 0, 0);
    assert_int_equal(sched_next_time(s), 3);
    EXPECT_PASS(s, 3, false, {SCHED_START, 0, 3});
    assert_int_equal(sched_next_time(s), INT64_MAX);
    sched_job_t second = submit(s, 4, 4, 10, 0, 1);
    sched_job_t third = submit(s, 4, 4, 10, 0, 2);
    EXPECT_PASS(s, 5, true, {SCHED_RESERVE, 1, 13});
    assert_int_equal(sched_next_time(s), 13);
    submit(s, 6, 5, 1, 0, 3); /* it is to be rejected */
    assert_int_equal(sched_next_time(s), 6);
    EXPECT_PASS(s, 6, false, {SCHED_REJECT, 3, 6});
    assert_int_equal(sched_prioritize(s, 7, third, 0), 0); /* nothing changes */
    assert_int_equal(sched_next_time(s), 13);
    assert_int_equal(sched_prioritize(s, 7, third, 1), 0);
    assert_int_equal(sched_next_time(s), 7);
    EXPECT_PASS(s, 7, false, {SCHED_RESERVE, 2, 13});
    assert_int_equal(sched_cancel(s, 8, second), 0);
    assert_int_equal(sched_next_time(s), 8);
    expect_nothing(s, 8);
    assert_int_equal(sched_finish(s, 9, first, true), 0);
    assert_int_equal(sched_next_time(s), 9);
    assert_int_equal(sched_last_time(s), INT64_MAX);
    EXPECT_PASS(s, 9, false, {SCHED_RESERVE, 2, 9}, {SCHED_START, 2, 9});
    assert_int_equal(sched_next_time(s), INT64_MAX);
    sched_destroy(s);
}

/* With ten ticks in a second an hour has 36000: a unit of priority is worth that much waiting. */
static void ageing_weighs_waiting_and_priority(void **state)
{
    (void)state;
    struct sched_params params = {.policy = "ageing", .order = SCHED_ORDER_SHORTEST, .second = 10};
    berth_error_t err;
    sched_t *s = sched_create_flat(1, &params, &err);
    assert_non_null(s);
    sched_job_t running = submit(s, 0, 1, 1000000, 0, 0);
    EXPECT_PASS(s, 0, false, {SCHED_START, 0, 0});
    sched_job_t low = submit(s, 100, 1, 50, 0, 1);
    sched_job_t high = submit(s, 36099, 1, 40, 1, 2); /* 3609 - 3600 s, before 10 s */
    sched_job_t tie = submit(s, 36100, 1, 10, 1, 3);  /* 3610 - 3600 s, as low */
    sched_job_t never = submit(s, 36200, 1, 10, INT64_MIN, 4);
    sched_job_t now = submit(s, 36300, 1, 10, INT64_MAX, 5);
    sched_job_t last = submit(s, 36400, 1, 10, INT64_MIN + 1, 6);
    assert_int_equal(sched_prioritize(s, 36500, last, -2), 0); /* since when it waits is known */
    const sched_job_t order[] = {now, high, low, tie, last, never};
    int64_t at = 40000;
    assert_int_equal(sched_finish(s, at, running, true), 0);
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
        const struct sched_decision *decisions;
        size_t n;
        assert_int_equal(sched_pass(s, at, false, &decisions, &n), 0);
        assert_int_equal(decisions[0].kind, SCHED_START);
        assert_int_equal(decisions[0].job, order[i]);
        assert_true(sched_check(s));
        at = decisions[0].until;
        assert_int_equal(sched_finish(s, at, order[i], true), 0);
    }
    sched_destroy(s);
}

static void fcfs_lets_nobody_overtake(void **state)
{
    (void)state;
    sched_t *s = create(4, "fcfs", 5, SCHED_ORDER_SUBMIT);
    sched_job_t first = submit(s, 0, 3, 10, 0, 0);
    submit(s, 0, 2, 10, 0, 1);
    submit(s, 0, 1, 1, 0, 2);
    EXPECT_PASS(s, 0, false, {SCHED_START, 0, 0});
    assert_int_equal(sched_next_time(s), INT64_MAX);
    assert_int_equal(sched_finish(s, 3, first, true), 0);
    EXPECT_PASS(s, 3, false, {SCHED_START, 1, 3}, {SCHED_START, 2, 3});
    sched_destroy(s);
}

static void easy_overtakes_where_nobody_is_delayed(void **state)
{
    (void)state;
    sched_t *s = create(4, "easy", 5, SCHED_ORDER_SUBMIT);
    submit(s, 0, 2, 10, 0, 0);
    submit(s, 0, 3, 10, 0, 1);
    submit(s, 0, 2, 11, 0, 2); /* would run into job 1 */
    submit(s, 0, 1, 99, 0, 3); /* leaves job 1 enough */
    submit(s, 0, 1, 10, 0, 4); /* ends in time */
    EXPECT_PASS(s, 0, false, {SCHED_START, 0, 0}, {SCHED_RESERVE, 1, 10}, {SCHED_START, 3, 0},
                {SCHED_START, 4, 0});
    sched_destroy(s);
}

static void states_and_times(void **state)
{
    (void)state;
    sched_t *s = create(1, "conservative", -1, SCHED_ORDER_SUBMIT);
    assert_int_equal(sched_next_time(s), INT64_MAX);
    sched_job_t a = submit(s, 3, 1, 10, 0, 0);
    sched_job_t b = submit(s, 3, 1, 10, 0, 1);
    assert_int_equal(sched_state(s, a), SCHED_WAITING);
    EXPECT_EINVAL(s, sched_start_time(s, a));
    EXPECT_EINVAL(s, sched_finish(s, 3, a, true));
    EXPECT_PASS(s, 3, false, {SCHED_START, 0, 3}, {SCHED_RESERVE, 1, 13});
    assert_int_equal(sched_state(s, a), SCHED_RUNNING);
    assert_int_equal(sched_state(s, b), SCHED_RESERVED);
    assert_int_equal(sched_start_time(s, a), 3);
    assert_int_equal(sched_start_time(s, b), 13);
    assert_int_equal(sched_next_time(s), 13);
    EXPECT_EINVAL(s, sched_finish(s, 3, b, true));
    assert_int_equal(sched_waiting(s), 1);
    assert_int_equal(sched_running(s), 1);
    assert_int_equal(sched_finish(s, 5, a, true), 0);
    EXPECT_PASS(s, 5, false, {SCHED_RESERVE, 1, 5}, {SCHED_START, 1, 5});
    assert_int_equal(sched_finish(s, 6, b, true), 0);
    assert_int_equal(sched_waiting(s), 0);
    assert_int_equal(sched_running(s), 0);
    sched_destroy(s);
}

static void queue_depth_moves_on_as_jobs_start(void **state)
{
    (void)state;
    struct sched_params params = {.policy = "easy", .queue_depth = 2};
    sched_t *s = sched_create_flat(4, &params, NULL);
    assert_non_null(s);
    sched_job_t first = submit(s, 0, 3, 10, 0, 0);
    submit(s, 0, 3, 10, 0, 1);
    submit(s, 0, 2, 5, 0, 2);
    submit(s, 0, 1, 5, 0, 3); /* fits, but two jobs wait before it */
    EXPECT_PASS(s, 0, false, {SCHED_START, 0, 0}, {SCHED_RESERVE, 1, 10});
    expect_nothing(s, 5);
    assert_int_equal(sched_finish(s, 10, first, true), 0);
    EXPECT_PASS(s, 10, false, {SCHED_START, 1, 10}, {SCHED_RESERVE, 2, 20}, {SCHED_START, 3, 10});
    sched_destroy(s);
}

/* While a bound is not used up nobody starts before the closing pass, which goes in queue order. */
static void closing_pass_starts_in_queue_order(void **state)
{
    (void)state;
    sched_t *s = create(4, "conservative", -1, SCHED_ORDER_SUBMIT);
    sched_job_t first = submit(s, 0, 4, 10, 0, 0);
    EXPECT_PASS(s, 0, true, {SCHED_RESERVE, 0, 0});
    EXPECT_PASS(s, 0, false, {SCHED_START, 0, 0});
    submit(s, 1, 3, 10, 0, 1);
    EXPECT_PASS(s, 1, true, {SCHED_RESERVE, 1, 10});
    submit(s, 10, 1, 10, 0, 2);
    EXPECT_PASS(s, 10, true, {SCHED_RESERVE, 2, 10});
    assert_int_equal(sched_finish(s, 10, first, true), 0);
    expect_pass(s, 10, true, NULL, 0);
    EXPECT_PASS(s, 10, false, {SCHED_START, 1, 10}, {SCHED_START, 2, 10});
    sched_destroy(s);
}

static void ends_of_time(void **state)
{
    (void)state;
    sched_t *s = create(2, "easy", -1, SCHED_ORDER_SUBMIT);
    submit(s, 0, 2, INT64_MAX - 1, 0, 0);
    submit(s, 0, 1, 5, 0, 1);
    const struct sched_decision *d;
    size_t n;
    assert_int_equal(sched_pass(s, 0, false, &d, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(d[0].kind, SCHED_START);
    assert_int_equal(d[1].kind, SCHED_REJECT);
    assert_int_equal(d[1].reason->kind, SCHED_REASON_NO_TIME);
    assert_true(sched_check(s));
    assert_int_equal(sched_waiting(s), 0);
    sched_destroy(s);
}

/* On the largest machine there is, a holder that is late adds to all units being free. */
static void late_holder_on_the_largest_machine(void **state)
{
    (void)state;
    sched_t *s = create(INT64_MAX, "easy", 0, SCHED_ORDER_SUBMIT);
    submit(s, 0, INT64_MAX, 10, 0, 1);
    submit(s, 0, 5, 1, 0, 2);
    EXPECT_PASS(s, 0, false, {SCHED_START, 1, 0}, {SCHED_RESERVE, 2, 10});
    submit(s, 20, 1, 1, 0, 3);
    EXPECT_PASS(s, 20, true, {SCHED_START, 2, 20}, {SCHED_START, 3, 20});
    sched_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_to_create),
        cmocka_unit_test(names_its_policies),
        cmocka_unit_test(destroy_keeps_errno),
        cmocka_unit_test(refuses_bad_requests),
        cmocka_unit_test(time_never_goes_back),
        cmocka_unit_test(rejects_what_never_fits),
        cmocka_unit_test(cancels_in_every_state),
        cmocka_unit_test(cancel_of_running_moves_reservations),
        cmocka_unit_test(handles_are_never_used_again),
        cmocka_unit_test(prioritize_moves_a_job_in_the_queue),
        cmocka_unit_test(prioritize_counts_under_its_order_alone),
        cmocka_unit_test(prioritize_takes_a_reservation_over),
        cmocka_unit_test(new_job_takes_a_reservation_over),
        cmocka_unit_test(due_holder_makes_room_in_the_bound),
        cmocka_unit_test(decides_in_queue_order),
        cmocka_unit_test(a_pass_is_due_when_something_has_happened),
        cmocka_unit_test(ageing_weighs_waiting_and_priority),
        cmocka_unit_test(fcfs_lets_nobody_overtake),
        cmocka_unit_test(easy_overtakes_where_nobody_is_delayed),
        cmocka_unit_test(states_and_times),
        cmocka_unit_test(queue_depth_moves_on_as_jobs_start),
        cmocka_unit_test(closing_pass_starts_in_queue_order),
        cmocka_unit_test(ends_of_time),
        cmocka_unit_test(late_holder_on_the_largest_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
