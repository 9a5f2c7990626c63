/* Configurations, made at random: what config_show writes of one, config_read reads to the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_config.h"
#include "config_draw.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { STEPS = 10000 };

static void same_text(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a && b)
        assert_string_equal(a, b);
}

static void same_names(const char *const *a, size_t n_a, const char *const *b, size_t n_b)
{
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++)
        assert_string_equal(a[i], b[i]);
}

static void same_list(const struct sched_limit *a, size_t n_a, const struct sched_limit *b,
                      size_t n_b)
{
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++) {
        assert_string_equal(a[i].what, b[i].what);
        assert_int_equal(a[i].most, b[i].most);
    }
}

static void same_limits(const struct sched_limits *a, const struct sched_limits *b)
{
    same_list(a->job, a->n_job, b->job, b->n_job);
    same_list(a->user, a->n_user, b->user, b->n_user);
    same_list(a->queue, a->n_queue, b->queue, b->n_queue);
}

static void same_order(const struct sched_share_order *a, const struct sched_share_order *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++)
        assert_int_equal(a->by[i], b->by[i]);
}

static void same_share(const struct sched_share *a, const struct sched_share *b)
{
    same_text(a->under, b->under);
    assert_int_equal(a->weight, b->weight);
    same_list(a->guarantee, a->n_guarantee, b->guarantee, b->n_guarantee);
    same_list(a->deserved, a->n_deserved, b->deserved, b->n_deserved);
    same_list(a->capability, a->n_capability, b->capability, b->n_capability);
}

static void same_shares(const struct sched_shares *a, const struct sched_shares *b)
{
    same_names(a->resources, a->n_resources, b->resources, b->n_resources);
    assert_int_equal(a->half_life, b->half_life);
    same_order(&a->order, &b->order);
    assert_int_equal(a->n_divisions, b->n_divisions);
    for (size_t i = 0; i < a->n_divisions; i++) {
        same_text(a->divisions[i].name, b->divisions[i].name);
        same_share(&a->divisions[i].share, &b->divisions[i].share);
        same_order(&a->divisions[i].order, &b->divisions[i].order);
    }
}

static void same_weights(const struct sched_weight *a, size_t n, const struct sched_weight *b,
                         size_t others)
{
    assert_int_equal(n, others);
    for (size_t i = 0; i < n; i++) {
        same_text(a[i].name, b[i].name);
        assert_int_equal(a[i].weight, b[i].weight);
    }
}

static void same_account(const struct sched_account *a, const struct sched_account *b)
{
    same_text(a->name, b->name);
    same_text(a->under, b->under);
    assert_int_equal(a->weight, b->weight);
    same_names(a->users, a->n_users, b->users, b->n_users);
    same_weights(a->weights, a->n_weights, b->weights, b->n_weights);
    same_names(a->default_for, a->n_default_for, b->default_for, b->n_default_for);
}

static void same_classes(const struct sched_classes *a, const struct sched_classes *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        same_text(a->classes[i].name, b->classes[i].name);
        assert_int_equal(a->classes[i].percent, b->classes[i].percent);
    }
    assert_int_equal(a->n_patterns, b->n_patterns);
    for (size_t i = 0; i < a->n_patterns; i++) {
        same_text(a->patterns[i].pattern, b->patterns[i].pattern);
        same_text(a->patterns[i].name, b->patterns[i].name);
    }
    same_text(a->default_class, b->default_class);
    assert_int_equal(a->n_worker, b->n_worker);
    for (size_t i = 0; i < a->n_worker; i++) {
        same_text(a->worker[i].what, b->worker[i].what);
        assert_int_equal(a->worker[i].most, b->worker[i].most);
    }
    assert_int_equal(a->rebalance_threshold, b->rebalance_threshold);
    assert_int_equal(a->rebalance_duration, b->rebalance_duration);
}

static void same_queue(const struct sched_queue_config *a, const struct sched_queue_config *b)
{
    same_text(a->name, b->name);
    same_text(a->parent, b->parent);
    same_text(a->policy, b->policy);
    same_text(a->requires, b->requires);
    assert_int_equal(a->queue_depth, b->queue_depth);
    assert_int_equal(a->max_queue_depth, b->max_queue_depth);
    assert_int_equal(a->reservation_depth, b->reservation_depth);
    assert_int_equal(a->max_reservation_depth, b->max_reservation_depth);
    assert_int_equal(a->priority, b->priority);
    assert_int_equal(a->default_duration, b->default_duration);
    assert_int_equal(a->default_limit, b->default_limit);
    assert_int_equal(a->starvation_threshold, b->starvation_threshold);
    assert_int_equal(a->sla_waiting_time, b->sla_waiting_time);
    assert_int_equal(a->claims, b->claims);
    assert_int_equal(a->claims_admit_unknown, b->claims_admit_unknown);
    assert_int_equal(a->preempts, b->preempts);
    assert_int_equal(a->keeps_gangs, b->keeps_gangs);
    assert_int_equal(a->preemptible, b->preemptible);
    same_names(a->users, a->n_users, b->users, b->n_users);
    same_names(a->groups, a->n_groups, b->groups, b->n_groups);
    same_limits(&a->limits, &b->limits);
    same_share(&a->share, &b->share);
    assert_int_equal(a->by, b->by);
    same_order(&a->order, &b->order);
    same_weights(a->weights, a->n_weights, b->weights, b->n_weights);
    same_classes(&a->classes, &b->classes);
    assert_int_equal(a->n_exceptions, b->n_exceptions);
    for (size_t i = 0; i < a->n_exceptions; i++) {
        const struct sched_exception *x = &a->exceptions[i], *y = &b->exceptions[i];
        same_names(x->users, x->n_users, y->users, y->n_users);
        same_names(x->groups, x->n_groups, y->groups, y->n_groups);
        same_limits(&x->limits, &y->limits);
    }
}

static void same_block(const struct sched_block *a, const struct sched_block *b)
{
    same_text(a->name, b->name);
    same_text(a->resources, b->resources);
    assert_int_equal(a->start, b->start);
    assert_int_equal(a->duration, b->duration);
    assert_int_equal(a->every, b->every);
    same_names(a->users, a->n_users, b->users, b->n_users);
    same_names(a->queues, a->n_queues, b->queues, b->n_queues);
    same_names(a->jobs, a->n_jobs, b->jobs, b->n_jobs);
}

static void same_numbers(const struct config_name *a, size_t n_a, const struct config_name *b,
                         size_t n_b)
{
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++) {
        assert_int_equal(a[i].number, b[i].number);
        assert_string_equal(a[i].name, b[i].name);
    }
}

static void same_machine(const struct config *a, const struct config *b)
{
    assert_int_equal(a->resources.source, b->resources.source);
    same_text(a->resources.file, b->resources.file);
    same_text(a->resources.format, b->resources.format);
    assert_int_equal(a->resources.nodes, b->resources.nodes);
    assert_int_equal(a->resources.cores, b->resources.cores);
    assert_int_equal(a->resources.gpus, b->resources.gpus);
    assert_int_equal(a->resources.gpu_memory, b->resources.gpu_memory);
    assert_int_equal(a->resources.memory, b->resources.memory);
    same_text(a->slurm.partition, b->slurm.partition);
    same_text(a->slurm.options, b->slurm.options);
    same_text(a->match.policy, b->match.policy);
    same_text(a->match.traverser, b->match.traverser);
    same_text(a->match.filters, b->match.filters);
    same_text(a->match.matcher, b->match.matcher);
    same_text(a->match_format, b->match_format);
}

static void same_config(const struct config *a, const struct config *b)
{
    const struct config_trace *s = &a->trace, *t = &b->trace;
    same_machine(a, b);
    same_shares(&a->sched.shares, &b->sched.shares);
    assert_int_equal(a->sched.n_accounts, b->sched.n_accounts);
    for (size_t i = 0; i < a->sched.n_accounts; i++)
        same_account(&a->sched.accounts[i], &b->sched.accounts[i]);
    assert_int_equal(a->sched.second, b->sched.second);
    same_text(a->sched.default_queue, b->sched.default_queue);
    assert_int_equal(a->sched.default_duration, b->sched.default_duration);
    assert_int_equal(a->sched.default_limit, b->sched.default_limit);
    assert_int_equal(a->sched.starvation_threshold, b->sched.starvation_threshold);
    assert_int_equal(a->sched.sla_waiting_time, b->sched.sla_waiting_time);
    assert_int_equal(a->sched.claims, b->sched.claims);
    assert_int_equal(a->sched.n_actions, b->sched.n_actions);
    for (size_t i = 0; i < a->sched.n_actions; i++)
        assert_int_equal(a->sched.actions[i], b->sched.actions[i]);
    assert_int_equal(a->sched.min_interval, b->sched.min_interval);
    assert_int_equal(a->sched.max_events, b->sched.max_events);
    assert_int_equal(a->sched.ended_jobs, b->sched.ended_jobs);
    assert_int_equal(a->match.tries, b->match.tries);
    assert_int_equal(a->sched.what_if_holders, b->sched.what_if_holders);
    assert_int_equal(a->sched.what_if_tries, b->sched.what_if_tries);
    assert_int_equal(a->sched.n_queues, b->sched.n_queues);
    for (size_t i = 0; i < a->sched.n_queues; i++)
        same_queue(&a->sched.queues[i], &b->sched.queues[i]);
    assert_int_equal(a->sched.n_blocks, b->sched.n_blocks);
    for (size_t i = 0; i < a->sched.n_blocks; i++)
        same_block(&a->sched.blocks[i], &b->sched.blocks[i]);
    assert_int_equal(a->n_users, b->n_users);
    for (size_t i = 0; i < a->n_users; i++) {
        same_text(a->users[i].name, b->users[i].name);
        same_names(a->users[i].groups, a->users[i].n_groups, b->users[i].groups,
                   b->users[i].n_groups);
    }
    same_text(s->processor, t->processor);
    same_numbers(s->queues, s->n_queues, t->queues, t->n_queues);
    same_numbers(s->users, s->n_users, t->users, t->n_users);
    same_numbers(s->groups, s->n_groups, t->groups, t->n_groups);
    same_numbers(s->partitions, s->n_partitions, t->partitions, t->n_partitions);
    same_names(a->server.administrators, a->server.n_administrators, b->server.administrators,
               b->server.n_administrators);
    assert_int_equal(a->server.retention, b->server.retention);
    assert_int_equal(a->server.grace, b->server.grace);
    assert_int_equal(a->server.max_jobs_per_user, b->server.max_jobs_per_user);
    assert_int_equal(a->server.max_stored_per_user, b->server.max_stored_per_user);
    assert_int_equal(a->server.requests_per_second, b->server.requests_per_second);
    assert_int_equal(a->server.tasks_per_core, b->server.tasks_per_core);
    assert_int_equal(a->server.processes_per_core, b->server.processes_per_core);
}

/* What the scheduler refuses is refused by the reader, in the same words. */
static bool is_refused(const struct config *made, const struct config *read, const char *text,
                       const berth_error_t *err)
{
    berth_error_t why;
    char expected[sizeof(why.text)];
    bool refused = sched_check_config(&made->sched, &why) < 0;
    if (refused == !read) {
        snprintf(expected, sizeof(expected), "shown: %.240s", refused ? why.text : "");
        if (refused && strncmp(err->text, expected, strlen(expected)) != 0)
            fail_msg("%s, not %s", err->text, expected);
        return refused;
    }
    fail_msg("%s\n%s", refused ? why.text : err->text, text);
    return true;
}

static void what_is_shown_reads_as_the_same(void **state)
{
    int same = 0;
    (void)state;
    static const int64_t seconds[] = {1, 3, 1000, 1000000, 1000000000};
    struct maker m = {.r = {1}};
    for (int step = 0; step < STEPS; step++) {
        struct arena_mark mark = arena_mark(&m.arena);
        struct config made;
        berth_error_t err;
        m.second = seconds[draw_any(&m, 0, COUNT(seconds) - 1)];
        make_config(&m, &made);
        char *text = config_show(&made, m.second);
        assert_non_null(text);
        struct config *c = config_read("shown", text, strlen(text), m.second, &err);
        if (!is_refused(&made, c, text, &err)) {
            same_config(&made, c);
            same++;
        }
        config_destroy(c);
        free(text);
        arena_release(&m.arena, mark);
    }
    arena_clear(&m.arena);
    assert_true(same > STEPS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_shown_reads_as_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
