/* sched_requeue: a running job that is stopped waits again, in its place. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "config/config.h"

static const char text[] = "resources: {nodes: 1, cores: 2}\n"
                           "match: {policy: low}\n"
                           "queues: {q: {policy: easy}}\n";

#define SPEC                                                                                       \
    "{\"version\":9999,\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"t\",\"with\":["   \
    "{\"type\":\"core\",\"count\":2}]}],\"tasks\":[{\"command\":[\"x\"],\"slot\":\"t\","           \
    "\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":{}}}"

static sched_job_t submit_to(sched_t *s, int64_t now, const char *queue, const char *id,
                             const char *dependency)
{
    struct sched_request request = {.duration = 100,
                                    .id = id,
                                    .queue = queue,
                                    .dependency = dependency,
                                    .jobspec = SPEC,
                                    .jobspec_length = strlen(SPEC)};
    sched_job_t job = sched_submit(s, now, &request);
    assert_true(job >= 0);
    return job;
}

static sched_job_t submit(sched_t *s, int64_t now, const char *id, const char *dependency)
{
    return submit_to(s, now, NULL, id, dependency);
}

static const struct sched_decision *pass(sched_t *s, int64_t now)
{
    const struct sched_decision *decisions;
    size_t n;
    assert_int_equal(sched_pass(s, now, false, &decisions, &n), 0);
    assert_true(sched_check(s));
    return n > 0 ? decisions : NULL;
}

static void it_waits_in_its_place(void **state)
{
    berth_error_t err;
    struct config *config = config_read("c", text, strlen(text), 1, &err);
    resource_graph_t *graph = config_make_nodes(&config->resources, &err);
    match_t *machine = match_create(graph, &config->match, &err);
    sched_t *s = sched_create(machine, &config->sched, &err);
    (void)state;
    assert_non_null(s);
    sched_job_t a = submit(s, 0, "a", NULL);
    sched_job_t b = submit(s, 0, "b", NULL);
    sched_job_t c = submit(s, 0, "c", "afterok:a");
    errno = 0;
    assert_int_equal(sched_requeue(s, 0, a), -1); /* it doesn't run */
    assert_int_equal(errno, EINVAL);
    pass(s, 0);
    assert_int_equal(sched_state(s, a), SCHED_RUNNING);
    assert_int_equal(sched_requeue(s, 10, a), 0);
    assert_int_equal(sched_requeue(s, 10, a), -1);
    assert_int_equal(sched_state(s, b), SCHED_RESERVED);
    assert_true(sched_check(s));
    pass(s, 10);
    assert_int_equal(sched_state(s, a), SCHED_RUNNING); /* before b, as it came before it */
    assert_int_equal(sched_start_time(s, a), 10);
    assert_int_equal(sched_state(s, c), SCHED_BLOCKED); /* it isn't known yet how a ends */
    assert_int_equal(sched_finish(s, 20, a, true), 0);
    pass(s, 20);
    assert_int_equal(sched_state(s, b), SCHED_RUNNING);
    assert_int_not_equal(sched_state(s, c), SCHED_BLOCKED);
    sched_destroy(s);
    match_destroy(machine);
    config_destroy(config);
}

/* Whom a pass has preempted, to be requeued, may come to its end before it is stopped: then it must not run
 * again.
 */
static void what_has_ended_does_not_run_again(void **state)
{
    static const char queues[] = "resources: {nodes: 1, cores: 2}\n"
                                 "match: {policy: low}\n"
                                 "queues: {q: {policy: easy, priority: 5},\n"
                                 "         spare: {policy: easy, preemptible: requeue}}\n"
                                 "default-queue: q\n";
    berth_error_t err;
    struct config *config = config_read("c", queues, strlen(queues), 1, &err);
    if (!config)
        fail_msg("%s", err.text);
    resource_graph_t *graph = config_make_nodes(&config->resources, &err);
    match_t *machine = match_create(graph, &config->match, &err);
    sched_t *s = sched_create(machine, &config->sched, &err);
    (void)state;
    assert_non_null(s);
    sched_job_t spare = submit_to(s, 0, "spare", "spare", NULL);
    pass(s, 0);
    assert_int_equal(sched_state(s, spare), SCHED_RUNNING);
    sched_job_t first = submit_to(s, 5, "q", "first", NULL);
    sched_job_t after = submit_to(s, 5, "spare", "after", "afterok:spare");
    const struct sched_decision *d = pass(s, 5);
    assert_non_null(d);
    assert_int_equal(d->kind, SCHED_PREEMPT);
    assert_true(d->job == spare && d->requeue);
    assert_int_equal(sched_finish(s, 6, spare, true), 0);
    assert_int_equal(sched_state(s, spare), -1);
    pass(s, 6);
    assert_int_equal(sched_state(s, first), SCHED_RUNNING);
    assert_int_equal(sched_finish(s, 7, first, true), 0);
    pass(s, 7);
    assert_int_equal(sched_state(s, after), SCHED_RUNNING);
    sched_destroy(s);
    match_destroy(machine);
    config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_waits_in_its_place),
                                       cmocka_unit_test(what_has_ended_does_not_run_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
