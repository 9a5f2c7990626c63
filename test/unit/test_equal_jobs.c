/* Jobs with the same jobspec share what is known of it; and a promise that changes is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "fixture/world.h"

#define SPEC(nodes, system)                                                                        \
    "{\"version\":9999,\"resources\":[{\"type\":\"slot\",\"count\":" nodes                         \
    ",\"label\":\"t\",\"with\":[{\"type\":\"node\",\"count\":1,\"exclusive\":true}]}],\"tasks\":"  \
    "[{\"command\":[\"x\"],\"slot\":\"t\",\"count\":{\"per_slot\":1}}],"                           \
    "\"attributes\":{\"system\":{" system "}}}"

static const char text[] = "resources: {nodes: 2, cores: 2}\n"
                           "match: {policy: low}\n"
                           "queues: {q: {policy: easy}, other: {policy: easy}}\n";

static sched_job_t submit(struct world *w, const char *queue, const char *spec, int64_t duration,
                          bool hold)
{
    static uint64_t submitted;
    struct sched_request request = {.duration = duration,
                                    .tag = submitted++,
                                    .queue = queue,
                                    .hold = hold,
                                    .jobspec = spec,
                                    .jobspec_length = strlen(spec)};
    sched_job_t job = sched_submit(w->sched, 0, &request);
    assert_true(job >= 0);
    assert_true(sched_check(w->sched));
    return job;
}

static void the_second_is_as_the_first(void **state)
{
    struct world w;
    const char *spec = SPEC("1", "\"duration\":7,\"queue\":\"other\"");
    struct sched_record record;
    (void)state;
    world_open(&w, text);
    submit(&w, NULL, spec, 0, false);
    sched_job_t second = submit(&w, NULL, spec, 0, false);
    sched_job_t elsewhere = submit(&w, "q", spec, 3, true);
    world_pass(&w, 0);
    assert_int_equal(w.n, 3); /* and that one waits */
    assert_int_equal(w.decision[0].kind, SCHED_START);
    assert_int_equal(w.decision[0].until, 7);
    assert_int_equal(w.decision[1].kind, SCHED_START);
    assert_int_equal(w.decision[1].until, 7);
    assert_int_equal(sched_record(w.sched, second, &record), 0);
    assert_string_equal(record.request.queue, "other");
    assert_string_equal(record.request.jobspec, spec);
    assert_int_equal(sched_record(w.sched, elsewhere, &record), 0);
    assert_string_equal(record.request.queue, "q");
    assert_int_equal(record.request.duration, 3);
    world_close(&w);
}

static void assert_rejected(struct world *w, size_t n, const char *why)
{
    char reason[SCHED_REASON_TEXT];
    assert_int_equal(w->n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(w->decision[i].kind, SCHED_REJECT);
        assert_string_equal(sched_reason_text(w->decision[i].reason, reason), why);
    }
}

static void the_machine_changes_between_them(void **state)
{
    struct world w;
    const char *spec = SPEC("2", "\"duration\":7");
    berth_error_t err = {""};
    (void)state;
    world_open(&w, text);
    submit(&w, "q", spec, 0, true);
    world_pass(&w, 0);
    assert_int_equal(sched_remove(w.sched, 0, "node1", &err), 0);
    submit(&w, "q", spec, 0, false);
    world_pass(&w, 0);
    assert_rejected(&w, 2, "unsatisfiable: asks for 2 nodes, the machine has 1");
    submit(&w, "q", spec, 0, false); /* nobody knows it any more */
    world_pass(&w, 0);
    assert_rejected(&w, 1, "unsatisfiable: asks for 2 nodes, the machine has 1");
    world_close(&w);
}

static void what_is_no_jobspec_is_none_each_time(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, text);
    for (int i = 0; i < 2; i++) {
        submit(&w, "q", "{", 0, false);
        world_pass(&w, 0);
        assert_int_equal(w.n, 1);
        assert_int_equal(w.decision[0].kind, SCHED_REJECT);
        assert_int_equal(w.decision[0].reason->kind, SCHED_REASON_JOBSPEC);
    }
    world_close(&w);
}

static void other_resources_at_the_same_time_are_told(void **state)
{
    struct world w;
    const char *spec = SPEC("1", "");
    const char *node;
    berth_error_t err = {""};
    (void)state;
    world_open(&w, text);
    sched_job_t longer = submit(&w, "q", spec, 20, false);
    submit(&w, "q", spec, 10, false);
    sched_job_t waits = submit(&w, "q", spec, 5, false);
    world_pass(&w, 0);
    assert_int_equal(sched_start_time(w.sched, waits), 10);
    assert_int_equal(sched_resources(w.sched, waits, &node), 0);
    assert_string_equal(node, "node1");
    assert_int_equal(sched_set_duration(w.sched, 1, longer, 10, 0, &err),
                     0); /* node0 is free then, too */
    world_pass(&w, 1);
    assert_int_equal(w.n, 1);
    assert_int_equal(w.decision[0].kind, SCHED_RESERVE);
    assert_true(w.decision[0].job == waits);
    assert_int_equal(w.decision[0].at, 10);
    assert_int_equal(sched_resources(w.sched, waits, &node), 0);
    assert_string_equal(node, "node0");
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_is_as_the_first),
        cmocka_unit_test(the_machine_changes_between_them),
        cmocka_unit_test(what_is_no_jobspec_is_none_each_time),
        cmocka_unit_test(other_resources_at_the_same_time_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
