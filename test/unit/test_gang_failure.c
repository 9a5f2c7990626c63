/* A gang that goes on while enough of it run, of which a member fails while another is being stopped for a job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "fixture/world.h"

static const char text[] = "resources: {nodes: 1, cores: 3}\n"
                           "match: {policy: low}\n"
                           "queues:\n"
                           "  low: {policy: easy, preemptible: requeue}\n"
                           "  high: {policy: easy, priority: 1}\n";

/* A gang of three runs, of which two are its min. The last member is told to stop for another job, which needs a core. */
static void begin(struct world *w)
{
    world_open(w, text);
    world_enter(w, 0, "g", 1,
                (struct sched_request){
                    .queue = "low", .members = 3, .min = 2, .failure = SCHED_FAIL_GO_ON});
    world_pass(w, 0);
    world_enter(w, 5, "h", 1, (struct sched_request){.queue = "high"});
    world_pass(w, 5);
    assert_int_equal(w->n, 1);
    assert_int_equal(w->decision[0].kind, SCHED_PREEMPT);
    assert_int_equal(w->decision[0].member, 2);
}

static sched_job_t member(const struct world *w, uint32_t i)
{
    return sched_find(w->sched, "g", i);
}

/* The first member has succeeded, the second one fails, and the last one does not go on: fewer than two run or have succeeded.
 * So it is also if the last one is gone first: what is reported at one instant is one thing, in any order.
 */
static void one_that_is_being_stopped_runs_no_more(void **state)
{
    (void)state;
    for (int last_first = 0; last_first < 2; last_first++) {
        struct world w;
        begin(&w);
        sched_job_t second = member(&w, 1), last = member(&w, 2);
        assert_int_equal(sched_finish(w.sched, 6, member(&w, 0), true), 0);
        if (last_first)
            assert_int_equal(sched_requeue(w.sched, 7, last), 0);
        assert_int_equal(sched_finish(w.sched, 7, second, false), 0);
        if (!last_first)
            assert_int_equal(sched_requeue(w.sched, 7, last), 0);
        world_pass(&w, 7);
        assert_int_equal(w.decision[0].kind, SCHED_REJECT);
        assert_int_equal(w.decision[0].job, last);
        assert_true(member(&w, 2) < 0);
        world_close(&w);
    }
}

/* With two that have succeeded it has its min, whatever becomes of the last one: that waits to run again. */
static void those_that_have_succeeded_count(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    sched_job_t last = member(&w, 2);
    assert_int_equal(sched_finish(w.sched, 6, member(&w, 0), true), 0);
    assert_int_equal(sched_finish(w.sched, 7, member(&w, 1), true), 0);
    assert_int_equal(sched_requeue(w.sched, 7, last), 0);
    world_pass(&w, 7);
    assert_int_equal(sched_state(w.sched, member(&w, 2)), SCHED_RUNNING);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_being_stopped_runs_no_more),
        cmocka_unit_test(those_that_have_succeeded_count),
    };
    return cmocka_run_group_tests_name("gang_failure", tests, NULL, NULL);
}
