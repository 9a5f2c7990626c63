/* Several jobs have others stopped that share a pool with them: each as many as it needs, and each starts when its own have
 * ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "fixture/world.h"

static const char by_priority[] = "resources: {nodes: 1, cores: 8, memory: 5}\n"
                                  "match: {policy: low}\n"
                                  "queues: {q: {policy: conservative, preempts: lower}}\n";

static const char preemptible[] = "resources: {nodes: 1, cores: 8, memory: 5}\n"
                                  "match: {policy: low}\n"
                                  "queues: {q: {policy: conservative, priority: 5},\n"
                                  "         spare: {policy: easy, preemptible: requeue}}\n"
                                  "default-queue: q\n";

static const char limited[] =
    "resources: {nodes: 1, cores: 8, memory: 8}\n"
    "match: {policy: low}\n"
    "queues: {q: {policy: conservative, preempts: lower, limits: {queue: {memory: 5}}}}\n";

enum { LOW = 5 };

struct scene {
    struct world w;
    sched_job_t low[LOW], high, next;
    uint64_t submitted;
};

/* A job for so much of the pool, as long as it likes. */
static sched_job_t submit(struct scene *x, int64_t now, const char *queue, int memory,
                          int64_t priority)
{
    char text[300];
    snprintf(text, sizeof(text),
             "{version: 9999, resources: [{type: node, count: 1, with: [{type: slot, count: 1, "
             "label: s, with: "
             "[{type: core, count: 1}, {type: memory, count: %d}]}]}], tasks: [{command: [a], "
             "slot: s, count: "
             "{per_slot: 1}}], attributes: {system: {duration: 0}}}",
             memory);
    sched_job_t job = sched_submit(x->w.sched, now,
                                   &(struct sched_request){.jobspec = text,
                                                           .jobspec_length = strlen(text),
                                                           .tag = x->submitted++,
                                                           .duration = SCHED_UNLIMITED,
                                                           .estimate = SCHED_UNLIMITED,
                                                           .queue = queue,
                                                           .priority = priority});
    assert_true(job >= 0);
    return job;
}

/* Five jobs have a fifth of the pool each; two come for which some are stopped. */
static void begin(struct scene *x, const char *text, const char *queue, int needs)
{
    *x = (struct scene){0};
    world_open(&x->w, text);
    for (int i = 0; i < LOW; i++)
        x->low[i] = submit(x, 0, queue, 1, 0);
    world_pass(&x->w, 0);
    for (int i = 0; i < LOW; i++)
        assert_int_equal(sched_state(x->w.sched, x->low[i]), SCHED_RUNNING);
    x->high = submit(x, 5, "q", needs, 5);
    x->next = submit(x, 5, "q", needs, 4);
    world_pass(&x->w, 5);
}

static int stopped_for(const struct scene *x, sched_job_t job)
{
    int n = 0;
    for (size_t i = 0; i < x->w.n; i++)
        n += x->w.decision[i].kind == SCHED_PREEMPT && x->w.decision[i].other == job;
    return n;
}

/* All that were stopped for a job have been, at some time. */
static void stop_for(struct scene *x, int64_t now, sched_job_t job)
{
    sched_job_t victims[LOW];
    size_t n = sched_victims(x->w.sched, job, victims, LOW);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(sched_requeue(x->w.sched, now, victims[i]), 0);
}

static void each_has_its_own(const char *text, const char *queue, int needs)
{
    struct scene x;
    begin(&x, text, queue, needs);
    assert_int_equal(stopped_for(&x, x.high), needs);
    assert_int_equal(stopped_for(&x, x.next), needs);
    stop_for(&x, 10, x.high);
    world_pass(&x.w, 10);
    assert_int_equal(sched_state(x.w.sched, x.high), SCHED_RUNNING);
    assert_int_equal(sched_state(x.w.sched, x.next), SCHED_RESERVED);
    stop_for(&x, 20, x.next);
    world_pass(&x.w, 20);
    assert_int_equal(sched_state(x.w.sched, x.next), SCHED_RUNNING);
    world_close(&x.w);
}

static void of_lower_priority(void **state)
{
    (void)state;
    each_has_its_own(by_priority, "q", 1);
    each_has_its_own(by_priority, "q", 2);
}

static void of_a_preemptible_queue(void **state)
{
    (void)state;
    each_has_its_own(preemptible, "spare", 1);
    each_has_its_own(preemptible, "spare", 2);
}

static void within_a_limit(void **state)
{
    (void)state;
    each_has_its_own(limited, "q", 1);
    each_has_its_own(limited, "q", 2);
}

/* The one that is stopped leaves more than the first needs: nobody starts on that before it has ended, and nobody else is
 * stopped for it in vain.
 */
static void what_is_left_over_waits(void **state)
{
    struct scene x = {0};
    (void)state;
    world_open(&x.w, by_priority);
    x.low[0] = submit(&x, 0, "q", 5, 0);
    world_pass(&x.w, 0);
    x.high = submit(&x, 5, "q", 2, 5);
    x.next = submit(&x, 5, "q", 2, 4);
    world_pass(&x.w, 5);
    assert_int_equal(stopped_for(&x, x.high), 1);
    assert_int_not_equal(sched_state(x.w.sched, x.next), SCHED_RUNNING);
    assert_int_equal(sched_requeue(x.w.sched, 10, x.low[0]), 0);
    world_pass(&x.w, 10);
    assert_int_equal(sched_state(x.w.sched, x.high), SCHED_RUNNING);
    assert_int_equal(sched_state(x.w.sched, x.next), SCHED_RUNNING);
    world_close(&x.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_lower_priority),
        cmocka_unit_test(of_a_preemptible_queue),
        cmocka_unit_test(within_a_limit),
        cmocka_unit_test(what_is_left_over_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
