/* Jobs with the same jobspec share what is known of it; and a promise that changes is told. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "config/config.h"

#define SPEC(nodes, system)                                                                        \
    "{\"version\":9999,\"resources\":[{\"type\":\"slot\",\"count\":" nodes                         \
    ",\"label\":\"t\",\"with\":[{\"type\":\"node\",\"count\":1,\"exclusive\":true}]}],\"tasks\":"  \
    "[{\"command\":[\"x\"],\"slot\":\"t\",\"count\":{\"per_slot\":1}}],"                           \
    "\"attributes\":{\"system\":{" system "}}}"

struct fixture {
    struct config *config;
    match_t *machine;
    sched_t *s;
    const struct sched_decision *decision;
    size_t n;
    uint64_t submitted;
};

static struct fixture make(void)
{
    static const char text[] = "resources: {nodes: 2, cores: 2}\n"
                               "match: {policy: low}\n"
                               "queues: {q: {policy: easy}, other: {policy: easy}}\n";
    berth_error_t err;
    struct fixture f = {.config = config_read("c", text, strlen(text), 1, &err)};
    assert_non_null(f.config);
    resource_graph_t *graph = config_make_nodes(&f.config->resources, &err);
    f.machine = match_create(graph, &f.config->match, &err);
    f.s = sched_create(f.machine, &f.config->sched, &err);
    assert_non_null(f.s);
    return f;
}

static void end(struct fixture *f)
{
    assert_true(sched_check(f->s));
    sched_destroy(f->s);
    match_destroy(f->machine);
    config_destroy(f->config);
}

static sched_job_t submit(struct fixture *f, const char *queue, const char *spec, int64_t duration,
                          bool hold)
{
    struct sched_request request = {.duration = duration,
                                    .tag = f->submitted++,
                                    .queue = queue,
                                    .hold = hold,
                                    .jobspec = spec,
                                    .jobspec_length = strlen(spec)};
    sched_job_t job = sched_submit(f->s, 0, &request);
    assert_true(job >= 0);
    assert_true(sched_check(f->s));
    return job;
}

static void pass(struct fixture *f, int64_t now)
{
    assert_int_equal(sched_pass(f->s, now, false, &f->decision, &f->n), 0);
    assert_true(sched_check(f->s));
}

static void the_second_is_as_the_first(void **state)
{
    struct fixture f = make();
    const char *spec = SPEC("1", "\"duration\":7,\"queue\":\"other\"");
    struct sched_record record;
    (void)state;
    submit(&f, NULL, spec, 0, false);
    sched_job_t second = submit(&f, NULL, spec, 0, false);
    sched_job_t elsewhere = submit(&f, "q", spec, 3, true);
    pass(&f, 0);
    assert_int_equal(f.n, 3); /* and that one waits */
    assert_int_equal(f.decision[0].kind, SCHED_START);
    assert_int_equal(f.decision[0].until, 7);
    assert_int_equal(f.decision[1].kind, SCHED_START);
    assert_int_equal(f.decision[1].until, 7);
    assert_int_equal(sched_record(f.s, second, &record), 0);
    assert_string_equal(record.request.queue, "other");
    assert_string_equal(record.request.jobspec, spec);
    assert_int_equal(sched_record(f.s, elsewhere, &record), 0);
    assert_string_equal(record.request.queue, "q");
    assert_int_equal(record.request.duration, 3);
    end(&f);
}

static void assert_rejected(struct fixture *f, const char *why)
{
    assert_int_equal(f->n, 1);
    assert_int_equal(f->decision[0].kind, SCHED_REJECT);
    char text[SCHED_REASON_TEXT];
    assert_string_equal(sched_reason_text(f->decision[0].reason, text), why);
}

static void the_machine_changes_between_them(void **state)
{
    struct fixture f = make();
    const char *spec = SPEC("2", "\"duration\":7");
    berth_error_t err = {""};
    (void)state;
    sched_job_t first = submit(&f, "q", spec, 0, true);
    pass(&f, 0);
    assert_int_equal(sched_remove(f.s, 0, "node1", &err), 0);
    submit(&f, "q", spec, 0, false);
    pass(&f, 0);
    assert_rejected(&f, "unsatisfiable: asks for 2 nodes, the machine has 1");
    assert_int_equal(sched_cancel(f.s, 0, first), 0);
    submit(&f, "q", spec, 0, false); /* nobody knows it any more */
    pass(&f, 0);
    assert_rejected(&f, "unsatisfiable: asks for 2 nodes, the machine has 1");
    end(&f);
}

static void what_is_no_jobspec_is_none_each_time(void **state)
{
    struct fixture f = make();
    (void)state;
    for (int i = 0; i < 2; i++) {
        submit(&f, "q", "{", 0, false);
        pass(&f, 0);
        assert_int_equal(f.n, 1);
        assert_int_equal(f.decision[0].kind, SCHED_REJECT);
        assert_int_equal(f.decision[0].reason->kind, SCHED_REASON_JOBSPEC);
    }
    end(&f);
}

static void other_resources_at_the_same_time_are_told(void **state)
{
    struct fixture f = make();
    const char *spec = SPEC("1", "");
    const char *text;
    berth_error_t err = {""};
    (void)state;
    sched_job_t longer = submit(&f, "q", spec, 20, false);
    submit(&f, "q", spec, 10, false);
    sched_job_t waits = submit(&f, "q", spec, 5, false);
    pass(&f, 0);
    assert_int_equal(sched_start_time(f.s, waits), 10);
    assert_int_equal(sched_resources(f.s, waits, &text), 0);
    assert_string_equal(text, "node1");
    assert_int_equal(sched_set_duration(f.s, 1, longer, 10, &err), 0); /* node0 is free then, too */
    pass(&f, 1);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.decision[0].kind, SCHED_RESERVE);
    assert_true(f.decision[0].job == waits);
    assert_int_equal(f.decision[0].at, 10);
    assert_int_equal(sched_resources(f.s, waits, &text), 0);
    assert_string_equal(text, "node0");
    end(&f);
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
