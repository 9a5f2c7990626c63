#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "berth/sched_config.h"
#include "sched/controllers/limits.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LIST(field, ...)                                                                           \
    .field = (const struct sched_limit[]){__VA_ARGS__},                                            \
    .n_##field = COUNT(((const struct sched_limit[]){__VA_ARGS__}))

/* What a job holds. */
struct job {
    int64_t node;
    int64_t core;
};

static int64_t amount(void *arg, const char *type)
{
    const struct job *job = arg;
    return strcmp(type, "node") == 0 ? job->node : strcmp(type, "core") == 0 ? job->core : 0;
}

/* Fails: where nothing is measured, nobody asks. */
static int64_t unasked(void *arg, const char *type)
{
    (void)arg;
    fail_msg("asked for %s", type);
    return 0;
}

static const char *const staff[] = {"staff"};
static const char *const vips[] = {"vip", "boss"};

/* A queue with all there is, one that is part of it, and one without limits. */
static const struct sched_exception exceptions[] = {
    {.users = vips,
     .n_users = 2,
     .limits = {LIST(job, {"node", 8}, {"duration", SCHED_UNLIMITED}), LIST(user, {"running", 3})}},
    {.users = vips, .n_users = 1, .limits = {LIST(job, {"node", 100})}},
    {.groups = staff, .n_groups = 1, .limits = {LIST(user, {"core", 16})}},
};
static const struct sched_queue_config queues[] = {
    {.name = "batch",
     .limits = {LIST(job, {"node", 4}, {"duration", 3600500000}),
                LIST(user, {"running", 2}, {"pending", 5}, {"core", 8}),
                LIST(queue, {"node", 10}, {"running", 4}, {"pending", 8})},
     .exceptions = exceptions,
     .n_exceptions = 3},
    {.name = "part",
     .parent = "batch",
     .limits = {LIST(user, {"node", 6}, {"running", SCHED_UNLIMITED}, {"pending", SCHED_UNLIMITED},
                     {"core", SCHED_UNLIMITED}),
                LIST(queue, {"running", 3})}},
    {.name = "free"},
    {.name = "shared",
     .parent = "batch",
     .limits = {LIST(user, {"running", 1})},
     .has_parents_exceptions = true},
};

struct fixture {
    struct setup *setup;
    struct limits *limits;
    struct limits_over over;
};

static const struct limits_window now = {10, 20, 0};

static int begin(void **state)
{
    static struct fixture f;
    struct sched_config config = {.second = 1000000, .queues = queues, .n_queues = COUNT(queues)};
    f.setup = setup_create(&config, NULL);
    assert_non_null(f.setup);
    f.limits = limits_create(f.setup);
    assert_non_null(f.limits);
    *state = &f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;
    assert_true(limits_check(f->limits));
    limits_destroy(f->limits);
    setup_destroy(f->setup);
    return 0;
}

static uint32_t party(struct fixture *f, uint32_t queue, const char *user,
                      const char *const *groups, size_t n_groups)
{
    int64_t number = limits_party(f->limits, queue, NULL, user, groups, n_groups);
    assert_true(number >= 0);
    return (uint32_t)number;
}

static void add(struct fixture *f, uint32_t number, int64_t node, int64_t core)
{
    assert_int_equal(limits_open(f->limits, number, now, NULL), 0);
    limits_add(f->limits, number, now, amount, &(struct job){node, core}, NULL);
    assert_true(limits_check(f->limits));
}

static void sub(struct fixture *f, uint32_t number, int64_t node, int64_t core)
{
    limits_sub(f->limits, number, now, amount, &(struct job){node, core}, NULL);
    limits_close(f->limits, number, now, NULL);
    assert_true(limits_check(f->limits));
}

static void expect_over(const struct fixture *f, const char *expected)
{
    struct sched_reason reason = {
        .kind = SCHED_REASON_LIMIT, .limit = f->over.limit, .second = f->setup->second};
    char text[SCHED_REASON_TEXT];
    assert_string_equal(sched_reason_text(&reason, text), expected);
}

#define JOB(f, party, duration, ...)                                                               \
    limits_job((f)->limits, party, duration, amount, &(struct job){__VA_ARGS__}, &(f)->over.limit)
#define START(f, party, ...)                                                                       \
    limits_start((f)->limits, party, now, amount, &(struct job){__VA_ARGS__}, NULL, &(f)->over)
#define EVER(f, party, ...)                                                                        \
    limits_ever((f)->limits, party, amount, &(struct job){__VA_ARGS__}, &(f)->over.limit)
#define PENDING(f, party, n) limits_pending((f)->limits, party, n, &(f)->over.limit)

static void an_account_is_a_user_under_limits(void **state)
{
    struct fixture *f = *state;
    uint32_t ann = party(f, 0, "ann", NULL, 0);
    uint32_t nobody = party(f, 0, NULL, NULL, 0);
    assert_int_equal(party(f, 0, "ann", vips, 2), ann);
    assert_int_equal(party(f, 0, "", NULL, 0), nobody);
    assert_int_not_equal(party(f, 0, "ann", staff, 1), ann);
    assert_int_not_equal(party(f, 1, "ann", NULL, 0), ann);
    assert_int_not_equal(nobody, ann);
}

static void a_job_has_limits(void **state)
{
    struct fixture *f = *state;
    uint32_t ann = party(f, 0, "ann", NULL, 0);
    assert_true(JOB(f, ann, 3600500000, 4, 100));
    assert_false(JOB(f, ann, 1, 5, 1));
    expect_over(f, "limit job node 4");
    assert_false(JOB(f, ann, 3600500001, 1, 1));
    expect_over(f, "limit job duration 3600.5");
    assert_false(limits_job(f->limits, ann, 1, amount, &(struct job){5, 1}, NULL));
    uint32_t part = party(f, 1, "ann", NULL, 0); /* has none of its own, and none of its parent's */
    assert_true(limits_job(f->limits, part, INT64_MAX, unasked, NULL, NULL));
}

/* The first that names the user holds; what it doesn't name stays. */
static void exceptions_hold(void **state)
{
    struct fixture *f = *state;
    uint32_t boss = party(f, 0, "boss", NULL, 0);
    uint32_t vip = party(f, 0, "vip", staff, 1);
    uint32_t ann = party(f, 0, "ann", staff, 1);
    assert_true(JOB(f, boss, INT64_MAX, 8, 1));
    assert_false(JOB(f, boss, 1, 9, 1));
    expect_over(f, "limit job node 8");
    assert_false(JOB(f, vip, 1, 9, 1));
    assert_true(START(f, ann, 1, 16));
    assert_false(START(f, ann, 1, 17));
    expect_over(f, "limit user core 16");
    assert_false(START(f, boss, 1, 9));
    expect_over(f, "limit user core 8");
    for (int i = 0; i < 3; i++) {
        assert_true(START(f, boss, 0, 0));
        add(f, boss, 1, 1);
    }
    assert_false(START(f, boss, 0, 0));
    expect_over(f, "limit user running 3");
}

static void users_and_queues_have_limits(void **state)
{
    struct fixture *f = *state;
    uint32_t ann = party(f, 0, "ann", NULL, 0);
    uint32_t bob = party(f, 0, "bob", NULL, 0);
    uint32_t cid = party(f, 0, "cid", NULL, 0);
    assert_true(limits_measures(f->limits, ann));
    add(f, ann, 4, 7);
    assert_true(START(f, ann, 1, 1));
    assert_false(START(f, ann, 1, 2));
    expect_over(f, "limit user core 8");
    add(f, ann, 1, 1);
    assert_false(START(f, ann, 0, 0));
    assert_false(START(f, ann, 0, 0));
    expect_over(f, "limit user running 2");
    add(f, bob, 4, 1);
    assert_true(START(f, bob, 1, 1));
    assert_false(START(f, bob, 2, 1));
    expect_over(f, "limit queue node 10");
    add(f, bob, 0, 1);
    assert_false(START(f, cid, 0, 0));
    expect_over(f, "limit queue running 4");
    sub(f, ann, 4, 7);
    assert_true(START(f, cid, 5, 8));
    assert_false(START(f, cid, 6, 8));
}

static void a_part_counts_for_the_whole(void **state)
{
    struct fixture *f = *state;
    uint32_t part = party(f, 1, "ann", NULL, 0);
    uint32_t whole = party(f, 0, "ann", NULL, 0);
    add(f, part, 6, 100);
    assert_true(START(f, whole, 4, 8));
    assert_false(START(f, whole, 5, 8));
    expect_over(f, "limit queue node 10");
    assert_false(START(f, part, 1, 8));
    expect_over(f, "limit user node 6");
    add(f, whole, 1, 8);
    add(f, whole, 1, 0);
    assert_false(START(f, whole, 0, 0));
    expect_over(f, "limit user running 2");
    uint32_t bob = party(f, 1, "bob", NULL, 0);
    assert_true(START(f, bob, 2, 8));
    assert_false(START(f, bob, 3, 8));
    expect_over(f, "limit queue node 10");
    add(f, bob, 0, 0);
    assert_false(START(f, bob, 0, 0));
    expect_over(f, "limit queue running 4");
    sub(f, whole, 1, 8);
    assert_true(START(f, bob, 0, 0));
    add(f, bob, 0, 0);
    assert_false(START(f, bob, 0, 0));
    expect_over(f, "limit queue running 3");
}

/* What a virtual queue doesn't limit itself counts, and is limited, where its parent does. */
static void a_user_has_it_in_the_whole(void **state)
{
    struct fixture *f = *state;
    uint32_t shared = party(f, 3, "ann", NULL, 0);
    uint32_t whole = party(f, 0, "ann", NULL, 0);
    add(f, whole, 1, 3);
    add(f, whole, 1, 2);
    assert_true(START(f, shared, 1, 3)); /* running is its own */
    assert_false(START(f, shared, 1, 4));
    expect_over(f, "limit user core 8");
    add(f, shared, 1, 3);
    assert_false(START(f, shared, 0, 0));
    expect_over(f, "limit user running 1");
    sub(f, whole, 1, 2);
    assert_true(START(f, whole, 1, 2));
    assert_false(START(f, whole, 1, 3));
    expect_over(f, "limit user core 8");
    assert_true(START(f, party(f, 1, "ann", NULL, 0), 1, 100)); /* its own, unlimited */
    limits_wait(f->limits, shared, 3);
    assert_true(PENDING(f, whole, 2));
    assert_false(PENDING(f, whole, 3));
    expect_over(f, "limit user pending 5");
    limits_wait(f->limits, whole, 1);
    assert_false(PENDING(f, shared, 2));
    limits_wait(f->limits, shared, -3);
    assert_true(PENDING(f, shared, 4));
    assert_true(limits_check(f->limits));

    /* The parent's exceptions are its own. */
    assert_true(START(f, party(f, 3, "bob", staff, 1), 1, 16));
    assert_false(START(f, party(f, 3, "bob", staff, 1), 1, 17));
    expect_over(f, "limit user core 16");
}

/* Whatever others have. */
static void what_can_never_be_within(void **state)
{
    struct fixture *f = *state;
    uint32_t ann = party(f, 0, "ann", NULL, 0);
    uint32_t part = party(f, 1, "ann", NULL, 0);
    add(f, ann, 4, 8);
    assert_true(EVER(f, ann, 10, 8));
    assert_false(EVER(f, ann, 1, 9));
    expect_over(f, "limit user core 8");
    assert_false(EVER(f, ann, 11, 1));
    expect_over(f, "limit queue node 10");
    assert_true(EVER(f, party(f, 0, "ann", staff, 1), 1, 16));
    assert_false(EVER(f, part, 7, 100));
    expect_over(f, "limit user node 6");
    assert_true(limits_ever(f->limits, party(f, 2, "ann", NULL, 0), unasked, NULL, NULL));
}

static void pending_jobs_have_limits(void **state)
{
    struct fixture *f = *state;
    uint32_t ann = party(f, 0, "ann", NULL, 0);
    uint32_t bob = party(f, 0, "bob", NULL, 0);
    assert_true(PENDING(f, ann, 5));
    assert_false(PENDING(f, ann, 6));
    expect_over(f, "limit user pending 5");
    limits_wait(f->limits, ann, 4);
    assert_true(PENDING(f, ann, 1));
    assert_false(PENDING(f, ann, 2));
    assert_true(PENDING(f, bob, 4));
    assert_false(PENDING(f, bob, 5));
    expect_over(f, "limit queue pending 8");
    assert_false(PENDING(f, party(f, 1, "cid", NULL, 0), UINT32_MAX));
    expect_over(f, "limit queue pending 8");
    limits_wait(f->limits, ann, -1);
    assert_true(PENDING(f, bob, 5));
}

/* Under other limits it is the same user. */
static void groups_do_not_split_what_a_user_holds(void **state)
{
    struct fixture *f = *state;
    uint32_t ann = party(f, 0, "ann", NULL, 0);
    uint32_t staffed = party(f, 0, "ann", staff, 1);
    add(f, staffed, 1, 9);
    assert_false(START(f, ann, 1, 1));
    expect_over(f, "limit user core 8");
    assert_true(START(f, ann, 1, 0)); /* none of what there is too much of */
    assert_true(START(f, staffed, 1, 7));
    assert_false(START(f, staffed, 1, 8));
}

static void a_window_counts_while_it_lasts(void **state)
{
    struct fixture *f = *state;
    uint32_t boss = party(f, 0, "ann", staff, 1);
    struct job job = {0, 0};
    struct limits_window before = {0, 10, 0}, over = {9, 11, 0}, after = {20, 30, 0};
    while (START(f, boss, 0, 0))
        add(f, boss, 0, 0);
    assert_true(limits_start(f->limits, boss, before, amount, &job, NULL, NULL));
    assert_false(limits_start(f->limits, boss, over, amount, &job, NULL, NULL));
    assert_true(limits_start(f->limits, boss, after, amount, &job, NULL, NULL));
    assert_int_equal(
        limits_when(f->limits, boss, (struct limits_window){0, 10, 0}, amount, &job, NULL), 0);
    assert_int_equal(
        limits_when(f->limits, boss, (struct limits_window){0, 11, 0}, amount, &job, NULL), 20);
    assert_int_equal(
        limits_when(f->limits, boss, (struct limits_window){12, 13, 0}, amount, &job, NULL), 20);
    assert_int_equal(
        limits_when(f->limits, boss, (struct limits_window){22, 23, 0}, amount, &job, NULL), 22);
}

#define BESIDE(f, party, other, ...)                                                               \
    limits_start_beside((f)->limits, party, other, now, amount, &(struct job){__VA_ARGS__}, NULL,  \
                        &(f)->over)

static void beside_another_what_both_count_in_is_asked(void **state)
{
    struct fixture *f = *state;
    uint32_t ann = party(f, 0, "ann", NULL, 0), bob = party(f, 0, "bob", NULL, 0);
    uint32_t free = party(f, 2, "ann", NULL, 0), shared = party(f, 3, "ann", NULL, 0);
    add(f, ann, 1, 7);
    assert_false(BESIDE(f, ann, ann, 1, 2));
    expect_over(f, "limit user core 8");
    assert_true(BESIDE(f, ann, bob, 1, 2));
    assert_false(BESIDE(f, ann, shared, 1, 2));
    expect_over(f, "limit user core 8");
    add(f, bob, 9, 1);
    assert_false(BESIDE(f, ann, bob, 1, 0));
    expect_over(f, "limit queue node 10");
    assert_true(BESIDE(f, ann, free, 1, 2));
    add(f, ann, 0, 0);
    assert_false(BESIDE(f, ann, ann, 0, 0));
    expect_over(f, "limit user running 2");
    assert_true(BESIDE(f, ann, shared, 0, 0)); /* which counts its own */
}

static void without_limits_nothing_is_measured(void **state)
{
    struct fixture *f = *state;
    uint32_t ann = party(f, 2, "ann", NULL, 0);
    assert_false(limits_measures(f->limits, ann));
    assert_true(limits_job(f->limits, ann, INT64_MAX, NULL, NULL, NULL));
    assert_true(limits_pending(f->limits, ann, UINT32_MAX, NULL));
    for (int i = 0; i < 10; i++) {
        assert_true(limits_start(f->limits, ann, now, unasked, NULL, NULL, NULL));
        assert_int_equal(limits_open(f->limits, ann, now, NULL), 0);
        limits_add(f->limits, ann, now, unasked, NULL, NULL);
    }
    limits_sub(f->limits, ann, now, unasked, NULL, NULL);
    assert_int_equal(
        limits_when(f->limits, ann, (struct limits_window){7, 12, 0}, unasked, NULL, NULL), 7);
    limits_destroy(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(an_account_is_a_user_under_limits),
        TEST(a_job_has_limits),
        TEST(exceptions_hold),
        TEST(users_and_queues_have_limits),
        TEST(a_part_counts_for_the_whole),
        TEST(a_user_has_it_in_the_whole),
        TEST(what_can_never_be_within),
        TEST(pending_jobs_have_limits),
        TEST(groups_do_not_split_what_a_user_holds),
        TEST(a_window_counts_while_it_lasts),
        TEST(beside_another_what_both_count_in_is_asked),
        TEST(without_limits_nothing_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
