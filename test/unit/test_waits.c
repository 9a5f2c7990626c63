/* sched_set_dependency: jobs that are to wait for others after they were submitted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "fixture/world.h"

static const char text[] = "resources: {nodes: 1, cores: 3}\n"
                           "match: {policy: low}\n"
                           "queues: {q: {policy: easy}}\n";

static sched_job_t submit(struct world *w, const char *id)
{
    sched_job_t job = world_submit(w, 0, 1, (struct sched_request){.id = id});
    assert_true(job >= 0);
    return job;
}

/* What it waits for comes about in a pass: it has its turn in this pass, as if it had been submitted so. */
static void it_starts_with_what_it_waits_for(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, text);
    sched_t *s = w.sched;
    sched_job_t a = submit(&w, "a"), b = submit(&w, "b");
    sched_job_t c =
        world_submit(&w, 0, 1, (struct sched_request){.id = "c", .dependency = "after:a"});
    assert_int_equal(sched_set_dependency(s, 0, b, "after:a", NULL), 0);
    assert_int_equal(sched_state(s, b), SCHED_BLOCKED);
    assert_int_equal(sched_state(s, c), SCHED_BLOCKED);
    world_pass(&w, 0);
    assert_int_equal(sched_state(s, a), SCHED_RUNNING);
    assert_int_equal(sched_state(s, b), SCHED_RUNNING);
    assert_int_equal(sched_state(s, c), SCHED_RUNNING);
    assert_true(sched_check(s));
    world_close(&w);
}

/* The same where nobody else has it. */
static void it_starts_alone(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, text);
    sched_t *s = w.sched;
    sched_job_t a = submit(&w, "a"), b = submit(&w, "b");
    assert_int_equal(sched_set_dependency(s, 0, b, "after:a", NULL), 0);
    world_pass(&w, 0);
    assert_int_equal(sched_state(s, a), SCHED_RUNNING);
    assert_int_equal(sched_state(s, b), SCHED_RUNNING);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_starts_with_what_it_waits_for),
        cmocka_unit_test(it_starts_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
