/* sim/scenario.c, scenario_event.c and scenario_job.c: what events say, what is wrong with lines, and short
 * forms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "berth/jobspec.h"
#include "config/seconds.h"
#include "sim/scenario.h"

/* The only event of a text. */
static struct scenario_event read_one(const char *text)
{
    berth_error_t err = {""};
    struct scenario_event e, none;
    struct scenario *s = scenario_from_text("f", text, strlen(text), &err);
    assert_non_null(s);
    if (scenario_next(s, &e, &err) != 1)
        fail_msg("%s", err.text);
    assert_int_equal(scenario_next(s, &none, &err), 0);
    scenario_close(s);
    return e;
}

static void expect_error(const char *text, const char *expected)
{
    berth_error_t err = {""};
    struct scenario_event e;
    int rc;
    struct scenario *s = scenario_from_text("f", text, strlen(text), &err);
    assert_non_null(s);
    while ((rc = scenario_next(s, &e, &err)) > 0)
        scenario_event_clear(&e);
    assert_int_equal(rc, -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, expected);
    scenario_close(s);
}

static void submissions(void **state)
{
    (void)state;
    struct scenario_event e = read_one(
        "# a job\n\n \t\r\n"
        "{\"at\": 1.5, \"submit\": {\"id\": \"a\", \"queue\": \"q\", \"user\": \"u\", \"groups\": "
        "[\"g\", \"h\"], "
        "\"name\": \"n\", \"nodes\": 2, \"cores\": 4, \"gpus\": 1, \"memory\": 8, \"exclusive\": "
        "true, "
        "\"duration\": 3600, \"runtime\": 0.25, \"priority\": -3, \"dependency\": \"singleton\", "
        "\"begin\": 7, \"deadline\": \"+1m\", "
        "\"hold\": true, \"array\": 5, \"preemptible-after\": 60, \"status\": \"failed\"}}");
    const struct scenario_submit *s = &e.submit;
    assert_int_equal(e.at, 1500000);
    assert_int_equal(e.line, 4);
    assert_int_equal(e.kind, SCENARIO_SUBMIT);
    assert_string_equal(s->id, "a");
    assert_string_equal(s->job.queue, "q");
    assert_string_equal(s->user, "u");
    assert_int_equal(json_array_size(s->groups), 2);
    assert_string_equal(s->job.name, "n");
    assert_int_equal(s->job.nodes, 2);
    assert_int_equal(s->job.cores, 4);
    assert_int_equal(s->job.gpus, 1);
    assert_int_equal(json_integer_value(s->job.memory), 8);
    assert_true(s->job.exclusive);
    assert_int_equal(s->job.limit, 3600 * SECONDS_TICKS);
    assert_int_equal(s->runtime, 250000);
    assert_int_equal(s->job.priority, -3);
    assert_string_equal(s->job.dependency, "singleton");
    assert_int_equal(s->begin, 7 * SECONDS_TICKS);
    assert_int_equal(s->deadline, e.at + 60 * SECONDS_TICKS);
    assert_true(s->job.hold);
    assert_int_equal(json_integer_value(s->job.array), 5);
    assert_int_equal(s->job.preemptible_after, 60 * SECONDS_TICKS);
    assert_int_equal(s->status, SCENARIO_FAILED);
    scenario_event_clear(&e);

    e = read_one("{\"submit\": {\"nodes\": 1, \"id\": \"b\", \"user\": null}, \"at\": 0}");
    assert_null(e.submit.user);
    assert_null(e.submit.job.queue);
    assert_null(e.submit.groups);
    assert_int_equal(e.submit.runtime, -1);
    assert_int_equal(e.submit.job.limit, 0);
    assert_int_equal(e.submit.status, SCENARIO_DONE);
    scenario_event_clear(&e);
}

static void members(void **state)
{
    (void)state;
    struct scenario_event e = read_one("{\"at\": 0, \"cancel\": \"job.7[12]\"}");
    assert_int_equal(e.job.length, 5);
    assert_int_equal(e.job.member, 12);
    scenario_event_clear(&e);
    static const char *const wrong[] = {"",      "[1]",   "a[]", "a[1",  "a[-1]",
                                        "a[01]", "a[1]b", "a b", "a[x]", "a[12345678]",
                                        "a:b",   "a,b",   "a]"};
    struct scenario_job job;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(scenario_job_parse(wrong[i], &job));
}

static void other_events(void **state)
{
    (void)state;
    struct scenario_event e =
        read_one("{\"at\": 0, \"duration\": {\"id\": \"a\", \"value\": 0.5}}");
    assert_int_equal(e.number, 500000);
    scenario_event_clear(&e);
    e = read_one("{\"at\": 0, \"end\": {\"id\": \"a\", \"status\": \"failed\"}}");
    assert_int_equal(e.status, SCENARIO_FAILED);
    scenario_event_clear(&e);
    e = read_one("{\"at\": 0, \"end\": \"a\"}");
    assert_int_equal(e.status, -1);
    scenario_event_clear(&e);
    e = read_one(
        "{\"at\": 0, \"property\": {\"resources\": \"node0\", \"key\": \"x\", \"value\": null}}");
    assert_string_equal(e.key, "x");
    assert_null(e.value);
    scenario_event_clear(&e);
    e = read_one("{\"at\": 0, \"block\": {\"name\": \"maint\", \"resources\": \"node[0-3]\", "
                 "\"start\": 3600, "
                 "\"duration\": 600, \"every\": 86400, \"for\": {\"users\": [\"u1\"]}}}");
    assert_string_equal(e.block.name, "maint");
    assert_int_equal(e.block.every, 86400 * SECONDS_TICKS);
    assert_int_equal(json_array_size(e.block.users), 1);
    assert_null(e.block.queues);
    scenario_event_clear(&e);
    e = read_one("{\"at\": 0, \"block\": {\"name\": \"maint\", \"resources\": \"all\", "
                 "\"start\": 3600, \"end\": 3660}}");
    assert_int_equal(e.block.duration, 60 * SECONDS_TICKS);
    scenario_event_clear(&e);
    e = read_one("{\"at\": 0, \"attach\": {\"graph\": {}}}");
    assert_null(e.text);
    assert_non_null(e.object);
    scenario_event_clear(&e);
}

static void expectations(void **state)
{
    (void)state;
    struct key_place place = {"f", 3};
    struct scenario_expected x;
    berth_error_t err;
    json_t *value = json_string("held");
    assert_int_equal(scenario_expected_read(value, &place, &x, &err), 0);
    assert_int_equal(x.state, SCENARIO_IS_HELD);
    assert_int_equal(x.start, -1);
    assert_null(x.reason);
    json_decref(value);
    value = json_loads("{\"start\": 5, \"reason\": \"r\"}", 0, NULL);
    assert_int_equal(scenario_expected_read(value, &place, &x, &err), 0);
    assert_int_equal(x.state, -1);
    assert_int_equal(x.start, 5 * SECONDS_TICKS);
    assert_string_equal(x.reason, "r");
    json_decref(value);
    value = json_loads("{\"at\": 5}", 0, NULL);
    assert_int_equal(scenario_expected_read(value, &place, &x, &err), -1);
    assert_string_equal(
        err.text, "f:3: expect: unknown key \"at\", expected state, start, end, reason, resources, "
                  "how or queue");
    json_decref(value);
}

static void errors(void **state)
{
    (void)state;
    expect_error("[1]", "f:1: expected an object, {\"at\": 0, ...}");
    expect_error("{\"at\": 3, \"cancel\": \"a\"}\n\n{\"at\": 2.5, \"cancel\": \"a\"}",
                 "f:3: key \"at\": expected no time before 3, got 2.5");
    expect_error("{\"at\": 0, \"submit\": {\"nodes\": 1}}",
                 "f:1: submit: key \"id\": expected a string, got none");
    expect_error("{\"at\": 0, \"submit\": {\"id\": \"a\"}}",
                 "f:1: submit: key \"nodes\": expected nodes, tasks, cores, gpus, memory or a "
                 "jobspec, got none");
    expect_error("{\"at\": 0, \"submit\": {\"id\": \"a\", \"nodes\": 0}}",
                 "f:1: submit: key \"nodes\": expected a whole number from 1 to 1000000000, got 0");
    expect_error("{\"at\": 0, \"submit\": {\"id\": \"a\", \"nodes\": 1, \"status\": \"well\"}}",
                 "f:1: submit: key \"status\": expected done or failed, got \"well\"");
    expect_error(
        "{\"at\": 0, \"duration\": {\"id\": \"a\"}}",
        "f:1: duration: key \"value\": expected a new limit here, or an estimate, got none");
    expect_error("{\"at\": 0, \"submit\": {\"id\": \"a\", \"nodes\": 1, \"hold\": 1}}",
                 "f:1: submit: key \"hold\": expected true or false, got 1");
    expect_error("{\"at\": 0, \"submit\": {\"id\": \"a\", \"nodes\": 1, \"groups\": [\"\"]}}",
                 "f:1: submit: key \"groups\": expected a list of strings, got [\"\"]");
    expect_error("{\"at\": 0, \"submit\": {\"id\": \"a\", \"nodes\": 1, \"duration\": 0}}",
                 "f:1: submit: key \"duration\": expected seconds, or a time such as \"90s\", "
                 "\"1h30m\" or \"1-00:00:00\", up to 4000000000 seconds, or \"unlimited\", got 0");
    expect_error("{\"at\": 0, \"submit\": {\"id\": \"a\", \"nodes\": 1, \"requires\": [1]}}",
                 "f:1: submit: key \"requires\": expected a constraint (RFC 31) or a list of "
                 "properties, got [1]");
    expect_error("{\"at\": 0, \"fail\": 3}",
                 "f:1: key \"fail\": expected resources, such as \"node[0-3]\", got 3");
    expect_error("{\"at\": 0, \"down\": 3}",
                 "f:1: key \"down\": expected resources, such as \"node[0-3]\", got 3");
    expect_error("{\"at\": 0, \"queue-stop\": \"\"}",
                 "f:1: key \"queue-stop\": expected the name of a queue, got \"\"");
    expect_error("{\"at\": 0, \"property\": {\"resources\": \"node0\", \"key\": \"x\"}}",
                 "f:1: property: key \"value\": expected a string, or null to take the property "
                 "away, got none");
    expect_error("{\"at\": 0, \"cancel\": \"a\", \"at\": 1}",
                 "f:1: column 29: duplicate object key near '\"at\"'");
}

/* Without its own, an event is at the time that was set, and none is before. */
static void times_from_a_state(void **state)
{
    (void)state;
    static const char text[] = "{\"cancel\": \"a\"}\n{\"at\": 4, \"cancel\": \"a\"}";
    berth_error_t err = {""};
    struct scenario_event e;
    struct scenario *s = scenario_from_text("f", text, sizeof(text) - 1, &err);
    scenario_begin_at(s, 5 * SECONDS_TICKS);
    assert_int_equal(scenario_next(s, &e, &err), 1);
    assert_int_equal(e.at, 5 * SECONDS_TICKS);
    scenario_event_clear(&e);
    assert_int_equal(scenario_next(s, &e, &err), -1);
    assert_string_equal(err.text, "f:2: key \"at\": expected no time before 5, got 4");
    scenario_close(s);
}

static void expect_form(const char *keys, const char *resources)
{
    char line[400];
    berth_error_t err = {""};
    snprintf(line, sizeof(line), "{\"at\": 5, \"submit\": {\"id\": \"a\", %s}}", keys);
    struct scenario_event e = read_one(line);
    char *text = scenario_jobspec(&e.submit.job,
                                  (struct job_units){INT64_C(1) << 30, INT64_C(1) << 20}, &err);
    assert_non_null(text);
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, &err);
    if (!spec)
        fail_msg("%s: %s", err.text, text);
    jobspec_destroy(spec);
    if (!strstr(text, resources))
        fail_msg("%s: expected %s", text, resources);
    free(text);
    scenario_event_clear(&e);
}

/* Of each node, unless tasks or a size say that it is meant as a server takes it. */
static void short_forms(void **state)
{
    static const char whole[] =
        "[{\"type\":\"slot\",\"count\":3,\"label\":\"task\",\"with\":[{\"type\":\"node\","
        "\"count\":1,\"exclusive\":true}]}]";
    (void)state;
    expect_form("\"nodes\": 3", whole);
    expect_form("\"nodes\": 3, \"tasks\": 3, \"exclusive\": true",
                "[{\"type\":\"node\",\"count\":3,\"exclusive\":true,\"with\":[{\"type\":\"slot\","
                "\"count\":1,"
                "\"label\":\"task\",\"with\":[{\"type\":\"core\",\"count\":1}]}]}]");
    expect_form("\"nodes\": 2, \"cores\": 4, \"gpus\": 1, \"memory\": 8, \"exclusive\": true, "
                "\"requires\": [\"fast\", \"big\"]",
                "[{\"type\":\"node\",\"count\":2,\"exclusive\":true,\"with\":[{\"type\":\"slot\","
                "\"count\":1,"
                "\"label\":\"task\",\"with\":[{\"type\":\"core\",\"count\":4},{\"type\":\"gpu\","
                "\"count\":1},"
                "{\"type\":\"memory\",\"count\":8,\"unit\":\"GB\"}]}]}]");
    expect_form("\"cores\": 4", "[{\"type\":\"node\",\"count\":1,\"with\":[{\"type\":\"slot\","
                                "\"count\":1,\"label\":\"task\","
                                "\"with\":[{\"type\":\"core\",\"count\":4}]}]}]");
    expect_form("\"tasks\": 6, \"cores\": 2, \"gpus\": 1",
                "[{\"type\":\"slot\",\"count\":6,\"label\":\"task\",\"with\":[{\"type\":\"core\","
                "\"count\":2},"
                "{\"type\":\"gpu\",\"count\":1}]}]");
    expect_form("\"tasks\": 4, \"nodes\": 2, \"cores\": 2, \"memory\": \"3G\"",
                "[{\"type\":\"node\",\"count\":2,\"with\":[{\"type\":\"slot\",\"count\":1,"
                "\"label\":\"task\","
                "\"with\":[{\"type\":\"core\",\"count\":4},{\"type\":\"memory\",\"count\":2}]}]}]");
    expect_form("\"memory\": \"512M\"",
                "\"with\":[{\"type\":\"core\",\"count\":1},{\"type\":\"memory\",\"count\":1}]");
}

static void times_are_written_as_to_a_server(void **state)
{
    (void)state;
    struct scenario_event e =
        read_one("{\"at\": 5, \"submit\": {\"id\": \"a\", \"nodes\": 1, \"duration\": \"1h30m\", "
                 "\"begin\": \"+60\", \"preemptible_after\": \"2m\"}}");
    assert_int_equal(e.submit.job.limit, 5400 * SECONDS_TICKS);
    assert_int_equal(e.submit.begin, 65 * SECONDS_TICKS);
    assert_int_equal(e.submit.job.preemptible_after, 120 * SECONDS_TICKS);
    scenario_event_clear(&e);
    expect_error("{\"at\": 0, \"submit\": {\"id\": \"a\", \"nodes\": 1, \"begin\": \"1h\"}}",
                 "f:1: submit: key \"begin\": expected seconds, or a time from now on such as "
                 "\"+1h\", got \"1h\"");
    expect_error("{\"at\": 0, \"submit\": {\"id\": \"a\", \"nodes\": 3, \"tasks\": 2}}",
                 "f:1: submit: key \"tasks\": expected at least as many tasks as nodes, got 2");
    expect_error("{\"at\": 0, \"submit\": {\"id\": \"a\", \"nodes\": 3, \"memory\": 1.5}}",
                 "f:1: submit: key \"memory\": expected GB of each node, or a size of all such as "
                 "\"4G\", got 1.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(submissions),  cmocka_unit_test(members),
        cmocka_unit_test(other_events), cmocka_unit_test(expectations),
        cmocka_unit_test(errors),       cmocka_unit_test(times_from_a_state),
        cmocka_unit_test(short_forms),  cmocka_unit_test(times_are_written_as_to_a_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
