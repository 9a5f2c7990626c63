/* sched_requeue: a running job that is stopped waits again, in its place. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "fixture/world.h"

static const char text[] = "resources: {nodes: 1, cores: 2}\n"
                           "match: {policy: low}\n"
                           "queues: {q: {policy: easy}}\n";

static sched_job_t submit_to(struct world *w, int64_t now, const char *queue, const char *id,
                             const char *dependency)
{
    sched_job_t job = world_submit(
        w, now, 2, (struct sched_request){.id = id, .queue = queue, .dependency = dependency});
    assert_true(job >= 0);
    return job;
}

static sched_job_t submit(struct world *w, int64_t now, const char *id, const char *dependency)
{
    return submit_to(w, now, NULL, id, dependency);
}

static void it_waits_in_its_place(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, text);
    sched_t *s = w.sched;
    sched_job_t a = submit(&w, 0, "a", NULL);
    sched_job_t b = submit(&w, 0, "b", NULL);
    sched_job_t c = submit(&w, 0, "c", "afterok:a");
    errno = 0;
    assert_int_equal(sched_requeue(s, 0, a), -1); /* it doesn't run */
    assert_int_equal(errno, EINVAL);
    world_pass(&w, 0);
    assert_int_equal(sched_state(s, a), SCHED_RUNNING);
    assert_int_equal(sched_requeue(s, 10, a), 0);
    assert_int_equal(sched_requeue(s, 10, a), -1);
    assert_int_equal(sched_state(s, b), SCHED_RESERVED);
    assert_true(sched_check(s));
    world_pass(&w, 10);
    assert_int_equal(sched_state(s, a), SCHED_RUNNING); /* before b, as it came before it */
    assert_int_equal(sched_start_time(s, a), 10);
    assert_int_equal(sched_state(s, c), SCHED_BLOCKED); /* it isn't known yet how a ends */
    assert_int_equal(sched_finish(s, 20, a, true), 0);
    world_pass(&w, 20);
    assert_int_equal(sched_state(s, b), SCHED_RUNNING);
    assert_int_not_equal(sched_state(s, c), SCHED_BLOCKED);
    world_close(&w);
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
    struct world w;
    (void)state;
    world_open(&w, queues);
    sched_t *s = w.sched;
    sched_job_t spare = submit_to(&w, 0, "spare", "spare", NULL);
    world_pass(&w, 0);
    assert_int_equal(sched_state(s, spare), SCHED_RUNNING);
    sched_job_t first = submit_to(&w, 5, "q", "first", NULL);
    sched_job_t after = submit_to(&w, 5, "spare", "after", "afterok:spare");
    world_pass(&w, 5);
    assert_true(w.n > 0);
    const struct sched_decision *d = w.decision;
    assert_int_equal(d->kind, SCHED_PREEMPT);
    assert_true(d->job == spare && d->requeue);
    assert_int_equal(sched_finish(s, 6, spare, true), 0);
    assert_int_equal(sched_state(s, spare), -1);
    world_pass(&w, 6);
    assert_int_equal(sched_state(s, first), SCHED_RUNNING);
    assert_int_equal(sched_finish(s, 7, first, true), 0);
    world_pass(&w, 7);
    assert_int_equal(sched_state(s, after), SCHED_RUNNING);
    world_close(&w);
}

/* It waits until a time, others go before it, and the time that it was submitted with is forgotten. */
static void it_waits_until_a_time(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, text);
    sched_t *s = w.sched;
    sched_job_t a = submit(&w, 0, "a", NULL), b = submit(&w, 0, "b", NULL);
    errno = 0;
    world_pass(&w, 0);
    assert_int_equal(sched_set_begin(s, 0, a, 50), -1); /* it runs */
    assert_int_equal(errno, EINVAL);
    assert_int_equal(sched_requeue(s, 10, a), 0);
    assert_int_equal(sched_set_begin(s, 10, a, -1), -1);
    assert_int_equal(sched_set_begin(s, 10, a, 50), 0);
    assert_int_equal(sched_state(s, a), SCHED_BLOCKED);
    assert_true(sched_check(s));
    world_pass(&w, 10);
    assert_int_equal(sched_state(s, b), SCHED_RUNNING);
    assert_int_equal(sched_finish(s, 20, b, true), 0);
    world_pass(&w, 20);
    assert_int_equal(sched_state(s, a), SCHED_BLOCKED);
    assert_int_equal(sched_next_time(s), 50);
    assert_int_equal(sched_set_begin(s, 20, a, 30), 0); /* sooner after all */
    world_pass(&w, 20);
    assert_int_equal(sched_next_time(s), 30);
    assert_int_equal(sched_set_begin(s, 20, a, 20), 0); /* at once */
    world_pass(&w, 20);
    assert_int_equal(sched_state(s, a), SCHED_RUNNING);
    assert_true(sched_check(s));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_waits_in_its_place),
                                       cmocka_unit_test(what_has_ended_does_not_run_again),
                                       cmocka_unit_test(it_waits_until_a_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
