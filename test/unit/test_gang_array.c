/* Arrays of gangs of which so many run at a time: records, and what the end of one costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "fixture/world.h"

static const char text[] = "resources: {nodes: 1, cores: 4}\n"
                           "match: {policy: low}\n"
                           "queues: {q: {policy: easy}}\n";

/* Submit so many gangs of two, one core each. */
static void submit_gangs(struct world *w, int64_t now, int gangs, uint32_t at_once)
{
    for (int i = 0; i < gangs; i++) {
        char id[16];
        snprintf(id, sizeof(id), "a.%d", i);
        assert_true(world_submit(w, now, 1,
                                 (struct sched_request){.id = id,
                                                        .members = 2,
                                                        .min = 2,
                                                        .gangs = "a",
                                                        .gangs_at_once = at_once}) >= 0);
    }
}

static bool runs(struct world *w, int gang)
{
    char id[16];
    snprintf(id, sizeof(id), "a.%d", gang);
    sched_job_t job = sched_find(w->sched, id, 0);
    return job >= 0 && sched_state(w->sched, job) == SCHED_RUNNING;
}

static void end_gang(struct world *w, int gang)
{
    char id[16];
    snprintf(id, sizeof(id), "a.%d", gang);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(sched_finish(w->sched, 1, sched_find(w->sched, id, i), true), 0);
}

/* Steps of the pass behind the end of a gang, after which another one of so many runs. */
static int steps_of_end(int gangs)
{
    struct world w;
    const struct sched_decision *d;
    size_t n;
    int steps = 1;
    world_open(&w, text);
    submit_gangs(&w, 0, gangs, 1);
    world_pass(&w, 0);
    assert_true(runs(&w, 0) && !runs(&w, 1));
    end_gang(&w, 0);
    while (sched_pass_some(w.sched, 1, 1, &d, &n) == 1)
        steps++;
    assert_true(runs(&w, 1) && !runs(&w, 2));
    assert_true(sched_check(w.sched));
    world_close(&w);
    return steps;
}

static void one_end_lets_one_go(void **state)
{
    (void)state;
    assert_int_equal(steps_of_end(1000), steps_of_end(10));
}

static void records_name_the_array(void **state)
{
    struct world w;
    struct sched_record r;
    (void)state;
    world_open(&w, text);
    submit_gangs(&w, 0, 2, 1);
    world_pass(&w, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sched_record(w.sched, sched_find(w.sched, i == 0 ? "a.0" : "a.1", 0), &r),
                         0);
        assert_string_equal(r.request.gangs, "a");
        assert_int_equal(r.request.gangs_at_once, 1);
    }
    assert_int_equal(r.state, SCHED_BLOCKED);
    assert_string_equal(r.reason, "limit array running 1");
    world_close(&w);
}

/* The name is free again when all of its gangs are gone: the next ones bring a number of their own. */
static void names_come_again(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, text);
    submit_gangs(&w, 0, 1, 1);
    world_pass(&w, 0);
    end_gang(&w, 0);
    world_pass(&w, 1);
    submit_gangs(&w, 1, 3, 2);
    world_pass(&w, 1);
    assert_true(runs(&w, 0) && runs(&w, 1) && !runs(&w, 2));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_end_lets_one_go),
                                       cmocka_unit_test(records_name_the_array),
                                       cmocka_unit_test(names_come_again)};
    return cmocka_run_group_tests_name("gang_array", tests, NULL, NULL);
}
