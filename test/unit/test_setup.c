#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_config.h"
#include "sched/config/setup.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct setup *make(const struct sched_config *config)
{
    berth_error_t err = {""};
    struct setup *setup = setup_create(config, &err);
    if (!setup)
        fail_msg("%s", err.text);
    return setup;
}

static void refuse(const struct sched_config *config, const char *why)
{
    berth_error_t err = {""};
    errno = 0;
    assert_null(setup_create(config, &err));
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, why);
    assert_null(setup_create(config, NULL));
}

static void refuse_queues(const struct sched_queue_config *queues, size_t n, const char *why)
{
    refuse(&(struct sched_config){.second = 1, .queues = queues, .n_queues = n}, why);
}

static void refuse_queue(struct sched_queue_config queue, const char *why)
{
    queue.name = "q";
    refuse_queues(&queue, 1, why);
}

static void nothing_said_is_one_queue(void **state)
{
    (void)state;
    struct setup *s = make(&(struct sched_config){.second = 1000000});
    assert_int_equal(s->n_queues, 1);
    assert_string_equal(s->queue[0].name, "default");
    assert_int_equal(s->default_queue, 0);
    assert_int_equal(s->queue[0].parent, 0);
    assert_int_equal(s->queue[0].depth, 1);
    assert_int_equal(s->queue[0].queue_depth, SCHED_UNLIMITED);
    assert_int_equal(s->queue[0].default_duration, INT64_C(3600000000));
    assert_null(s->queue[0].requires);
    assert_int_equal(s->queue[0].preemptible, SCHED_NOT_PREEMPTIBLE);
    assert_int_equal(s->max_events, SCHED_UNLIMITED);
    assert_int_equal(s->min_interval, 0);
    assert_int_equal(s->ended_jobs, 262144);
    assert_int_equal(s->what_if_holders, 1024);
    assert_int_equal(s->what_if_tries, 1000);
    assert_int_equal(s->n_blocks, 0);
    assert_true(setup_admits(s, 0, NULL, NULL, 0));
    setup_destroy(s);
    setup_destroy(NULL);
}

static void policies_bound_the_reservations(void **state)
{
    static const struct {
        const char *policy;
        int64_t said, most, depth;
    } cases[] = {
        {NULL, 0, 0, 1},
        {"fcfs", 9, 9, 0},
        {"easy", 9, 9, 1},
        {"hybrid", 0, 0, 64},
        {"hybrid", 0, 10, 10},
        {"hybrid", 100, 0, 100},
        {"hybrid", 100, 99, 99},
        {"conservative", 0, 0, SCHED_UNLIMITED},
        {"conservative", 5, 0, SCHED_UNLIMITED},
        {"conservative", 0, 7, 7},
        {"ageing", 5, 9, 1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sched_queue_config q = {.name = "q",
                                       .policy = cases[i].policy,
                                       .reservation_depth = cases[i].said,
                                       .max_reservation_depth = cases[i].most};
        struct setup *s = make(&(struct sched_config){.second = 1, .queues = &q, .n_queues = 1});
        assert_int_equal(s->queue[0].depth, cases[i].depth);
        setup_destroy(s);
    }
}

static void queue_depths_are_bounded(void **state)
{
    (void)state;
    struct sched_queue_config q[] = {
        {.name = "a", .queue_depth = 5},
        {.name = "b", .max_queue_depth = 7},
        {.name = "c", .queue_depth = 8, .max_queue_depth = 7},
        {.name = "d", .queue_depth = 6, .max_queue_depth = 7},
    };
    struct setup *s = make(&(struct sched_config){.second = 1, .queues = q, .n_queues = 4});
    assert_int_equal(s->queue[0].queue_depth, 5);
    assert_int_equal(s->queue[1].queue_depth, 7);
    assert_int_equal(s->queue[2].queue_depth, 7);
    assert_int_equal(s->queue[3].queue_depth, 6);
    assert_int_equal(s->default_queue, SETUP_NONE);
    assert_int_equal(setup_find(s, "c"), 2);
    assert_int_equal(setup_find(s, "x"), SETUP_NONE);
    assert_int_equal(setup_find(s, NULL), SETUP_NONE);
    setup_destroy(s);
}

static void a_virtual_queue_is_part_of_its_parent(void **state)
{
    static const char *const users[] = {"ann"};
    (void)state;
    struct sched_queue_config q[] = {
        {.name = "vip",
         .parent = "batch",
         .policy = "fcfs",
         .priority = 10,
         .users = users,
         .n_users = 1},
        {.name = "slow", .parent = "batch", .default_duration = 70},
        {.name = "batch",
         .policy = "easy",
         .queue_depth = 9,
         .requires = "{}",
         .default_duration = 60,
         .preemptible = SCHED_PREEMPT_REQUEUE,
         .priority = -2},
        {.name = "other"},
    };
    struct setup *s = make(&(struct sched_config){.second = 1,
                                                  .queues = q,
                                                  .n_queues = 4,
                                                  .default_queue = "slow",
                                                  .default_duration = 5,
                                                  .max_events = 4,
                                                  .min_interval = 3});
    assert_int_equal(s->queue[0].parent, 2);
    assert_int_equal(s->queue[2].parent, 2);
    assert_int_equal(s->queue[0].depth, 1);
    assert_int_equal(s->queue[0].queue_depth, 9);
    assert_int_equal(s->queue[0].priority, 10);
    assert_int_equal(s->queue[2].priority, -2);
    assert_string_equal(s->queue[0].requires, "{}");
    assert_int_equal(s->queue[0].preemptible, SCHED_PREEMPT_REQUEUE);
    assert_int_equal(s->queue[0].default_duration, 60);
    assert_int_equal(s->queue[1].default_duration, 70);
    assert_int_equal(s->queue[3].default_duration, 5);
    assert_int_equal(s->default_queue, 1);
    assert_int_equal(s->max_events, 4);
    assert_int_equal(s->min_interval, 3);
    assert_true(setup_admits(s, 0, "ann", NULL, 0));
    assert_false(setup_admits(s, 0, "bob", NULL, 0));
    assert_true(setup_admits(s, 2, "bob", NULL, 0));
    setup_destroy(s);
}

static void lists_say_who_is_admitted(void **state)
{
    static const char *const users[] = {"ann", "bob"};
    static const char *const groups[] = {"ops"};
    static const char *const of[] = {"users", "ops"};
    (void)state;
    struct sched_queue_config q = {
        .name = "q", .users = users, .n_users = 2, .groups = groups, .n_groups = 1};
    struct setup *s = make(&(struct sched_config){.second = 1, .queues = &q, .n_queues = 1});
    assert_true(setup_admits(s, 0, "bob", NULL, 0));
    assert_true(setup_admits(s, 0, "cid", of, 2));
    assert_false(setup_admits(s, 0, "cid", of, 1));
    assert_false(setup_admits(s, 0, "ops", NULL, 0));
    assert_false(setup_admits(s, 0, NULL, NULL, 0));
    setup_destroy(s);
}

/* Nothing of what was given is needed any more. */
static void all_is_copied(void **state)
{
    char name[] = "q", what[] = "node", user[] = "ann", text[] = "{}", block[] = "maint";
    const char *users[] = {user};
    const char *queues[] = {name};
    struct sched_limit limit = {what, 3};
    struct sched_exception exception = {
        .users = users, .n_users = 1, .limits = {.job = &limit, .n_job = 1}};
    struct sched_queue_config q = {.name = name,
                                   .requires = text,
                                   .users = users,
                                   .n_users = 1,
                                   .limits = {.queue = &limit, .n_queue = 1},
                                   .exceptions = &exception,
                                   .n_exceptions = 1};
    struct sched_block b = {.name = block,
                            .resources = what,
                            .duration = 9,
                            .every = 10,
                            .queues = queues,
                            .n_queues = 1};
    (void)state;
    struct setup *s = make(&(struct sched_config){
        .second = 1, .queues = &q, .n_queues = 1, .blocks = &b, .n_blocks = 1});
    name[0] = what[0] = user[0] = text[0] = block[0] = '#';
    users[0] = queues[0] = NULL;
    limit.most = 0;
    memset(&exception, 0, sizeof(exception));
    memset(&q, 0, sizeof(q));
    memset(&b, 0, sizeof(b));
    const struct sched_queue_config *c = s->queue[0].config;
    assert_string_equal(s->queue[0].name, "q");
    assert_string_equal(s->queue[0].requires, "{}");
    assert_string_equal(c->users[0], "ann");
    assert_string_equal(c->limits.queue[0].what, "node");
    assert_int_equal(c->limits.queue[0].most, 3);
    assert_string_equal(c->exceptions[0].users[0], "ann");
    assert_string_equal(c->exceptions[0].limits.job[0].what, "node");
    assert_int_equal(s->n_blocks, 1);
    assert_string_equal(s->block[0].name, "maint");
    assert_string_equal(s->block[0].resources, "node");
    assert_string_equal(s->block[0].queues[0], "q");
    assert_int_equal(s->block[0].every, 10);
    struct sched_block *copy = setup_copy_block(&s->block[0]);
    assert_non_null(copy);
    setup_destroy(s);
    assert_string_equal(copy->name, "maint");
    assert_string_equal(copy->queues[0], "q");
    free(copy);
}

static void wrong_names(void **state)
{
    (void)state;
    refuse_queues((struct sched_queue_config[]){{.name = "a"}, {.name = ""}}, 2,
                  "queue 2 has no name");
    refuse_queues((struct sched_queue_config[]){{.name = NULL}}, 1, "queue 1 has no name");
    refuse_queues((struct sched_queue_config[]){{.name = "a"}, {.name = "a"}}, 2,
                  "queue 'a': the name comes twice");
    refuse_queues((struct sched_queue_config[]){{.name = "a", .parent = "b"}}, 1,
                  "queue 'a': parent: no queue 'b'");
    refuse_queues((struct sched_queue_config[]){{.name = "a", .parent = "a"}}, 1,
                  "queue 'a': parent: it can't be its own");
    refuse_queues((struct sched_queue_config[]){{.name = "a", .parent = "b"},
                                                {.name = "b", .parent = "c"},
                                                {.name = "c"}},
                  3, "queue 'a': parent: 'b' has a parent itself");
    refuse_queue((struct sched_queue_config){.policy = "lifo"},
                 "queue 'q': policy: expected one of fcfs, easy, hybrid, conservative, ageing, "
                 "found 'lifo'");
    refuse_queues(
        (struct sched_queue_config[]){{.name = "a", .parent = "b"}, {.name = "b", .policy = "x"}},
        2,
        "queue 'b': policy: expected one of fcfs, easy, hybrid, conservative, ageing, found 'x'");
    refuse(&(struct sched_config){.second = 1, .default_queue = "x"},
           "default queue: no queue 'x'");
    refuse_queue((struct sched_queue_config){.users = (const char *const[]){""}, .n_users = 1},
                 "queue 'q': users: an empty name");
    refuse_queue(
        (struct sched_queue_config){.groups = (const char *const[]){"a", NULL}, .n_groups = 2},
        "queue 'q': groups: an empty name");
}

static void wrong_numbers(void **state)
{
    (void)state;
    refuse(&(struct sched_config){0}, "second: expected 1 to 2562047788015215 ticks, found 0");
    refuse(&(struct sched_config){.second = 1, .min_interval = -1},
           "min-interval: must not be negative, is -1");
    refuse(&(struct sched_config){.second = 1, .max_events = -2},
           "max-events: must not be negative, is -2");
    refuse(&(struct sched_config){.second = 1, .ended_jobs = -1},
           "ended-jobs: must not be negative, is -1");
    refuse(&(struct sched_config){.second = 1, .what_if_holders = -1},
           "what-if-holders: must not be negative, is -1");
    refuse(&(struct sched_config){.second = 1, .what_if_tries = -1},
           "what-if-tries: must not be negative, is -1");
    refuse(&(struct sched_config){.second = 1, .default_duration = -3},
           "default-duration: must not be negative, is -3");
    refuse_queue((struct sched_queue_config){.queue_depth = -1},
                 "queue 'q': queue-depth: must not be negative, is -1");
    refuse_queue((struct sched_queue_config){.max_queue_depth = -1},
                 "queue 'q': max-queue-depth: must not be negative, is -1");
    refuse_queue((struct sched_queue_config){.reservation_depth = -1},
                 "queue 'q': reservation-depth: must not be negative, is -1");
    refuse_queue((struct sched_queue_config){.max_reservation_depth = -1},
                 "queue 'q': max-reservation-depth: must not be negative, is -1");
    refuse_queue((struct sched_queue_config){.default_duration = -1},
                 "queue 'q': default-duration: must not be negative, is -1");
    refuse_queue((struct sched_queue_config){.preemptible = (enum sched_preemptible)3},
                 "queue 'q': preemptible: no such way: 3");
}

#define LIST(field, ...)                                                                           \
    .field = (const struct sched_limit[]){__VA_ARGS__},                                            \
    .n_##field = COUNT(((const struct sched_limit[]){__VA_ARGS__}))

static void wrong_limits(void **state)
{
    static const char *const users[] = {"ann"};
    (void)state;
    refuse_queue((struct sched_queue_config){.limits = {LIST(job, {"running", 1})}},
                 "queue 'q': limits of job: 'running' is not one of job limits");
    refuse_queue((struct sched_queue_config){.limits = {LIST(job, {"pending", 1})}},
                 "queue 'q': limits of job: 'pending' is not one of job limits");
    refuse_queue((struct sched_queue_config){.limits = {LIST(user, {"duration", 1})}},
                 "queue 'q': limits of user: 'duration' is not one of user limits");
    refuse_queue((struct sched_queue_config){.limits = {LIST(queue, {"node", 1}, {"duration", 1})}},
                 "queue 'q': limits of queue: 'duration' is not one of queue limits");
    refuse_queue((struct sched_queue_config){.limits = {LIST(user, {"node", -1})}},
                 "queue 'q': limits of user: node: must not be negative, is -1");
    refuse_queue((struct sched_queue_config){.limits = {LIST(user, {"node", 1}, {"node", 2})}},
                 "queue 'q': limits of user: node comes twice");
    refuse_queue((struct sched_queue_config){.limits = {LIST(user, {"", 1})}},
                 "queue 'q': limits of user: an empty name");
    struct sched_exception e = {0};
    struct sched_queue_config q = {.exceptions = &e, .n_exceptions = 1};
    refuse_queue(q, "queue 'q': exception 1: names no users and no groups");
    e = (struct sched_exception){
        .users = users, .n_users = 1, .limits = {LIST(job, {"running", 1})}};
    refuse_queue(q, "queue 'q': exception 1: limits of job: 'running' is not one of job limits");
}

static const struct sched_account physics = {
    .name = "physics",
    .users = (const char *const[]){"ann", "bob"},
    .n_users = 2,
    .weights = (const struct sched_weight[]){{"bob", 3}},
    .n_weights = 1,
};

static void refuse_account(const struct sched_account *other, const char *why)
{
    struct sched_account accounts[] = {physics, *other};
    refuse(&(struct sched_config){.second = 1, .accounts = accounts, .n_accounts = 2}, why);
}

static void accounts_have_users(void **state)
{
    struct sched_account accounts[] = {
        {.name = "chem", .users = (const char *const[]){"ann"}, .n_users = 1},
        physics,
        {.name = "optics",
         .under = "physics",
         .users = (const char *const[]){"cid", "ann"},
         .n_users = 2,
         .default_for = (const char *const[]){"ann"},
         .n_default_for = 1},
    };
    struct setup *s =
        make(&(struct sched_config){.second = 1, .accounts = accounts, .n_accounts = 3});
    const struct setup_accounts *a = &s->accounts;
    (void)state;
    assert_int_equal(a->v[2].parent, 1);
    assert_int_equal(setup_account_usual(a, "ann"), 2);
    assert_int_equal(setup_account_usual(a, "bob"), 1);
    assert_int_equal(setup_account_usual(a, "dan"), SETUP_NONE);
    assert_int_equal(setup_member_find(a, 1, "bob")->weight, 3);
    assert_int_equal(setup_member_find(a, 1, "ann")->weight, 1);
    assert_null(setup_member_find(a, 1, "cid")); /* only below it */
    setup_destroy(s);
}

static void wrong_accounts(void **state)
{
    static const char *const ann[] = {"ann"}, *const twice[] = {"ann", "ann"};
    struct sched_weight weight = {"ann", 0};
    (void)state;
    refuse_account(&(struct sched_account){0}, "account 2 has no name");
    refuse_account(&(struct sched_account){.name = "physics"},
                   "account 'physics': the name comes twice");
    refuse_account(&(struct sched_account){.name = "a", .under = "b"},
                   "account 'a': under: no account 'b'");
    refuse_account(&(struct sched_account){.name = "a", .under = "a"},
                   "account 'a': under: it is part of itself, or below 15 others");
    refuse_account(&(struct sched_account){.name = "a", .weight = -1},
                   "account 'a': weight: must be from 1 to 1000000, is -1");
    refuse_account(&(struct sched_account){.name = "a", .users = twice, .n_users = 2},
                   "account 'a': users: 'ann' comes twice");
    refuse_account(&(struct sched_account){.name = "a", .default_for = ann, .n_default_for = 1},
                   "account 'a': default-for: 'ann' is no user of it");
    refuse_account(
        &(struct sched_account){
            .name = "a", .users = ann, .n_users = 1, .default_for = twice, .n_default_for = 2},
        "account 'a': default-for: account 'a' is that of 'ann' already");
    refuse_account(&(struct sched_account){.name = "a", .weights = &weight, .n_weights = 1},
                   "account 'a': weights: 'ann' is no user of it");
    refuse_account(
        &(struct sched_account){
            .name = "a", .users = ann, .n_users = 1, .weights = &weight, .n_weights = 1},
        "account 'a': weights: must be from 1 to 1000000, is 0");
    struct sched_limit limits[] = {{"core", 4}, {"core", 5}};
    refuse_account(&(struct sched_account){.name = "a", .limits = limits, .n_limits = 2},
                   "account 'a': limits of account: core comes twice");
    limits[0].what = "duration";
    refuse_account(&(struct sched_account){.name = "a", .limits = limits, .n_limits = 1},
                   "account 'a': limits of account: 'duration' is not one of account limits");
    limits[0] = (struct sched_limit){"core", -1};
    refuse_account(&(struct sched_account){.name = "a", .limits = limits, .n_limits = 1},
                   "account 'a': limits of account: core: must not be negative, is -1");
    refuse_queue((struct sched_queue_config){.by = SCHED_SHARE_ACCOUNT},
                 "queue 'q': by: no accounts are configured");
}

static void wrong_blocks(void **state)
{
    static const char *const queues[] = {"default", "x"};
    static const struct {
        struct sched_block block;
        const char *why;
    } cases[] = {
        {{.resources = "r", .duration = 1}, "a block has no name"},
        {{.name = "m", .duration = 1}, "block 'm': resources: there are none"},
        {{.name = "m", .resources = "r", .start = -1, .duration = 1},
         "block 'm': start: must not be negative, is -1"},
        {{.name = "m", .resources = "r"}, "block 'm': duration: must be above 0, is 0"},
        {{.name = "m", .resources = "r", .start = 1, .duration = INT64_MAX},
         "block 'm': duration: it ends past the end of time"},
        {{.name = "m", .resources = "r", .duration = 5, .every = 5},
         "block 'm': every: must be above the duration, or 0"},
        {{.name = "m", .resources = "r", .duration = 5, .queues = queues, .n_queues = 2},
         "block 'm': queues: no queue 'x'"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        refuse(&(struct sched_config){.second = 1, .blocks = &cases[i].block, .n_blocks = 1},
               cases[i].why);
    struct sched_block twice[] = {{.name = "m", .resources = "r", .duration = 5},
                                  {.name = "m", .resources = "s", .duration = 5}};
    refuse(&(struct sched_config){.second = 1, .blocks = twice, .n_blocks = 2},
           "block 'm': the name comes twice");
    static struct sched_block many[BLOCKS_MAX + 1];
    refuse(&(struct sched_config){.second = 1, .blocks = many, .n_blocks = BLOCKS_MAX + 1},
           "blocks: at most 64, not 65");
}

static void blocks_permit_those_they_name(void **state)
{
    static const char *const users[] = {"ann"};
    static const char *const queues[] = {"batch"};
    static const char *const jobs[] = {"a"};
    (void)state;
    struct sched_queue_config q[] = {
        {.name = "batch"}, {.name = "vip", .parent = "batch"}, {.name = "other"}};
    struct setup *s = make(&(struct sched_config){.second = 1, .queues = q, .n_queues = 3});
    struct sched_block b = {.name = "m", .resources = "r", .duration = 1};
    assert_false(setup_permits(s, &b, 0, "ann", "a"));
    b.users = users;
    b.n_users = 1;
    assert_true(setup_permits(s, &b, 2, "ann", "b"));
    assert_false(setup_permits(s, &b, 2, "bob", "a"));
    b.jobs = jobs;
    b.n_jobs = 1;
    assert_true(setup_permits(s, &b, 2, "bob", "a"));
    assert_false(setup_permits(s, &b, 0, NULL, NULL));
    b.queues = queues;
    b.n_queues = 1;
    assert_true(setup_permits(s, &b, 0, NULL, NULL));
    assert_true(setup_permits(s, &b, 1, NULL, NULL));
    assert_false(setup_permits(s, &b, 2, NULL, NULL));
    setup_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_is_one_queue),
        cmocka_unit_test(policies_bound_the_reservations),
        cmocka_unit_test(queue_depths_are_bounded),
        cmocka_unit_test(a_virtual_queue_is_part_of_its_parent),
        cmocka_unit_test(lists_say_who_is_admitted),
        cmocka_unit_test(all_is_copied),
        cmocka_unit_test(wrong_names),
        cmocka_unit_test(wrong_numbers),
        cmocka_unit_test(wrong_limits),
        cmocka_unit_test(accounts_have_users),
        cmocka_unit_test(wrong_accounts),
        cmocka_unit_test(wrong_blocks),
        cmocka_unit_test(blocks_permit_those_they_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
