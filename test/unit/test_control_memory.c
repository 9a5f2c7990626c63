/* Setups, limits and dependencies without memory: each allocation that a call makes fails once, the first,
 * the second and so on, until the call comes through, and nothing has changed before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "berth/sched_config.h"
#include "fixture/failing_alloc.h"
#include "sched/config/setup.h"
#include "sched/controllers/depend.h"
#include "sched/controllers/limits.h"

#define TRIES 100

static const struct sched_limit limit = {"node", 4};
static const char *const users[] = {"ann"};
static const struct sched_exception exception = {
    .users = users, .n_users = 1, .limits = {.user = &limit, .n_user = 1}};
static const struct sched_queue_config queues[] = {
    {.name = "batch",
     .limits = {.job = &limit, .n_job = 1},
     .exceptions = &exception,
     .n_exceptions = 1},
    {.name = "vip", .parent = "batch", .limits = {.queue = &limit, .n_queue = 1}},
};
static const struct sched_block block = {.name = "m", .resources = "r", .duration = 1};
static const struct sched_config config = {
    .second = 1, .queues = queues, .n_queues = 2, .blocks = &block, .n_blocks = 1};

static struct setup *make_setup(void)
{
    struct setup *setup = setup_create(&config, NULL);
    assert_non_null(setup);
    return setup;
}

static void no_setup(void **state)
{
    (void)state;
    struct setup *setup = NULL;
    int64_t n = 0;
    for (; !setup && n < TRIES; n++) {
        berth_error_t err = {""};
        until_failure = n;
        errno = 0;
        setup = setup_create(&config, &err);
        until_failure = -1;
        if (!setup) {
            assert_int_equal(errno, ENOMEM);
            assert_string_equal(err.text, "out of memory");
        }
    }
    assert_non_null(setup);
    assert_true(n > 3);
    setup_destroy(setup);
    until_failure = 0;
    assert_null(setup_copy_block(&block));
    assert_int_equal(errno, ENOMEM);
}

static void no_ledger(void **state)
{
    (void)state;
    struct setup *setup = make_setup();
    struct limits *limits = NULL;
    int64_t n = 0;
    for (; !limits && n < TRIES; n++) {
        until_failure = n;
        errno = 0;
        limits = limits_create(setup);
        until_failure = -1;
        assert_true(limits || errno == ENOMEM);
    }
    assert_non_null(limits);
    assert_true(n > 3);
    limits_destroy(limits);
    setup_destroy(setup);
}

static int64_t two(void *arg, const char *type)
{
    (void)arg, (void)type;
    return 2;
}

static void no_account(void **state)
{
    (void)state;
    struct setup *setup = make_setup();
    struct limits *limits = limits_create(setup);
    int64_t party = -1, n = 0;
    assert_non_null(limits);
    for (; party < 0 && n < TRIES; n++) {
        until_failure = n;
        errno = 0;
        party = limits_party(limits, 0, NULL, "ann", NULL, 0);
        until_failure = -1;
        assert_true(party >= 0 || errno == ENOMEM);
        assert_true(limits_check(limits));
    }
    assert_int_equal(party, 0);
    assert_true(n > 3);
    struct limits_window window = {10, 20, 0};
    int rc = -1;
    for (n = 0; rc < 0 && n < TRIES; n++) {
        until_failure = n;
        errno = 0;
        rc = limits_open(limits, 0, window, NULL);
        until_failure = -1;
        assert_true(rc == 0 || errno == ENOMEM);
        assert_true(limits_check(limits) && limits_start(limits, 0, window, two, NULL, NULL, NULL));
    }
    assert_true(rc == 0 && n > 2);
    assert_int_equal(limits_open(limits, 0, window, NULL), 0);
    for (int i = 0; i < 2; i++)
        limits_add(limits, 0, window, two, NULL, NULL);
    assert_false(limits_start(limits, 0, window, two, NULL, NULL, NULL));
    assert_true(limits_check(limits));
    limits_destroy(limits);
    setup_destroy(setup);
}

/* Jobs in the order of their slots; the first has ended before the last is entered. */
static const struct {
    const char *id;
    uint32_t member, members;
    const char *expression;
} jobs[] = {
    {"a", 0, 1, NULL},
    {"b", 0, 2, "after:a,singleton"},
    {"b", 1, 2, "afterok:a,afternotok:a,singleton"},
    {"a", 0, 1, "afterany:b"},
};

#define JOBS (sizeof(jobs) / sizeof(*jobs))

static int enter(struct depend *d, uint32_t i)
{
    return depend_job(d, i, jobs[i].id, jobs[i].member, jobs[i].members, "u", "n",
                      jobs[i].expression, NULL);
}

/* Before job i is entered. */
static struct depend *before(uint32_t i)
{
    struct depend *d = depend_create();
    assert_non_null(d);
    for (uint32_t k = 0; k < i; k++)
        assert_int_equal(enter(d, k), 0);
    if (i == JOBS - 1) {
        depend_ended(d, 0, true);
        depend_forget(d, 0);
    }
    return d;
}

/* Whether job i can be entered with n allocations; if not, all is as it was. */
static bool enters(uint32_t i, int64_t n)
{
    struct depend *d = before(i);
    until_failure = n;
    errno = 0;
    bool entered = enter(d, i) == 0;
    until_failure = -1;
    assert_true(depend_check(d));
    if (!entered) {
        assert_int_equal(errno, ENOMEM);
        assert_int_equal(depend_find(d, jobs[i].id, jobs[i].member), -1);
        if (i == JOBS - 1) { /* the outcome of an id stays until another job has it */
            assert_int_equal(depend_job(d, 9, "c", 0, 1, "u", NULL, "afterok:a", NULL), 0);
            assert_false(depend_waits(d, 9));
        }
    }
    depend_destroy(d);
    return entered;
}

static void no_dependency(void **state)
{
    static const int64_t allocations[JOBS] = {6, 3, 2, 3};
    (void)state;
    until_failure = 0;
    assert_null(depend_create());
    assert_int_equal(errno, ENOMEM);
    for (uint32_t i = 0; i < JOBS; i++) {
        int64_t n = 0;
        while (!enters(i, n))
            n++;
        assert_true(n >= allocations[i]);
    }
    struct depend *d = depend_create();
    for (int64_t n = 0; n < 2; n++) {
        until_failure = n;
        assert_int_equal(depend_outcome(d, "e", true), -1);
        assert_int_equal(errno, ENOMEM);
        until_failure = -1;
        assert_true(depend_check(d));
        depend_destroy(d);
        d = depend_create();
    }
    depend_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_setup),
        cmocka_unit_test(no_ledger),
        cmocka_unit_test(no_account),
        cmocka_unit_test(no_dependency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
