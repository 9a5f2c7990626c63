/* What the server says of why a job waits, and what less of it would start now. Four nodes with four cores
 * and two GPUs each, of which the policy takes the first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_scene.h"

#define CONFIG                                                                                     \
    "resources: {nodes: 4, cores: 4, gpus: 2, memory: 8}\n"                                        \
    "match: {policy: low}\n"                                                                       \
    "default-queue: batch\n"                                                                       \
    "queues:\n"                                                                                    \
    "  batch: {policy: easy}\n"                                                                    \
    "  line: {policy: fcfs, priority: -1}\n"                                                       \
    "  spare: {policy: easy, priority: -10, preemptible: cancel}\n"                                \
    "  few: {policy: easy, limits: {user: {core: 6}, job: {duration: 7200}}}\n"                    \
    "server: {administrators: [ann], requests-per-second: unlimited}\n"

static int open_nodes(void **state)
{
    return open_world_of(state, CONFIG);
}

/* And it runs if it starts. */
static int64_t run(struct sim_server *w, const char *body)
{
    int64_t id = submit(w, body);
    start_all(w);
    return id;
}

static json_t *explain(struct sim_server *w, int64_t id)
{
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%lld/explain", (long long)id);
    return ask(w, "GET", path, NULL, 200);
}

/* What would start it now: -1 where nothing is said. */
static void expect_less(struct sim_server *w, int64_t id, int64_t duration, int64_t nodes,
                        int64_t cores, int64_t gpus, int64_t memory)
{
    static const char *const keys[] = {"duration", "nodes", "cores", "gpus", "memory"};
    int64_t expected[] = {duration, nodes, cores, gpus, memory};
    json_t *got = explain(w, id);
    for (int i = 0; i < 5; i++) {
        const json_t *value = json_object_get(json_object_get(got, "would_start_now"), keys[i]);
        int64_t is = json_is_number(value) ? (int64_t)json_number_value(value) : -1;
        if (is != expected[i] || !value)
            fail_msg("job %lld: %s: expected %lld: %s", (long long)id, keys[i],
                     (long long)expected[i], json_dumps(got, 0));
    }
    json_decref(got);
}

static void expect_said(struct sim_server *w, int64_t id, const char *text)
{
    json_t *got = explain(w, id);
    assert_string_equal(json_string_value(json_object_get(got, "text")), text);
    json_decref(got);
}

/* Two nodes are taken for two hours, of a third two cores, a GPU and half of its memory. */
static void take_some(struct sim_server *w)
{
    run(w, "{\"command\":[\"a\"],\"nodes\":2,\"duration\":\"2h\"}");
    run(w, "{\"command\":[\"b\"],\"nodes\":1,\"cores\":2,\"gpus\":1,\"memory\":\"4G\","
           "\"duration\":\"2h\"}");
}

static void less_of_each_kind_is_found(void **state)
{
    struct sim_server *w = *state;
    take_some(w);
    /* One node has nothing on it. Whole nodes: nothing is said of their cores. */
    int64_t nodes = run(w, "{\"command\":[\"x\"],\"nodes\":3,\"duration\":\"1h\"}");
    expect_less(w, nodes, -1, 1, -1, -1, -1);
    expect_said(w, nodes,
                "It waits for nodes that 2 other jobs hold. It has a reservation and will start in "
                "2h at the "
                "latest. It would start now with 1 node.");
    /* Six cores are free, on two nodes. */
    int64_t tasks = run(w, "{\"command\":[\"x\"],\"tasks\":8,\"duration\":\"1h\"}");
    expect_less(w, tasks, -1, -1, 6, -1, -1);
    /* Tasks of four cores: one fits, but two of three cores each don't, as one node has two cores. */
    tasks = run(w, "{\"command\":[\"x\"],\"tasks\":2,\"cores\":4,\"duration\":\"1h\"}");
    expect_less(w, tasks, -1, -1, 4, -1, -1);
    /* Tasks of three cores: one fits, or two of two each. */
    tasks = run(w, "{\"command\":[\"x\"],\"tasks\":2,\"cores\":3,\"nodes\":2,"
                   "\"duration\":\"1h\"}");
    expect_less(w, tasks, -1, 1, 4, -1, -1);
    /* Three GPUs are free: on one node two, on two nodes one each. */
    int64_t gpus = run(w, "{\"command\":[\"x\"],\"nodes\":2,\"tasks\":2,\"gpus\":2,"
                          "\"duration\":\"1h\"}");
    expect_less(w, gpus, -1, 1, -1, 2, -1);
    /* Half of a node's memory is free on one of them, all on the other. */
    int64_t memory = run(w, "{\"command\":[\"x\"],\"nodes\":2,\"tasks\":2,\"memory\":\"12G\","
                            "\"duration\":\"1h\"}");
    expect_less(w, memory, -1, 1, -1, -1, INT64_C(8) << 30);
    expect_less(w, nodes, -1, 1, -1, -1, -1); /* the same as before: asking changes nothing */
}

static void jobspecs_are_lowered_too(void **state)
{
    struct sim_server *w = *state;
    static const char head[] = "{\"duration\":3600,\"command\":[\"x\"],\"jobspec\":";
    char body[1000];
    take_some(w);
    run(w, "{\"command\":[\"x\"],\"nodes\":3,\"duration\":\"1h\"}");
    /* As text, in YAML. */
    snprintf(body, sizeof(body),
             "%s\"version: 9999\\nresources:\\n- type: slot\\n  count: 8\\n  label: t\\n  with: "
             "[{type: core, count: 1}]\\ntasks: [{command: [x], slot: t, count: {per_slot: "
             "1}}]\\nattributes: {}\"}",
             head);
    expect_less(w, run(w, body), -1, -1, 6, -1, -1);
    /* As an object: slots of a node each; of the cores in it there are enough. */
    snprintf(body, sizeof(body),
             "%s{\"version\":9999,\"resources\":[{\"type\":\"slot\",\"count\":3,\"label\":\"t\","
             "\"with\":[{\"type\":\"node\",\"count\":1,\"with\":[{\"type\":\"core\",\"count\":2}]}]"
             "}],\"tasks\":[{\"command\":[\"x\"],\"slot\":\"t\",\"count\":{\"per_slot\":1}}],"
             "\"attributes\":{}}}",
             head);
    expect_less(w, run(w, body), -1, 1, -1, -1, -1);
    /* A range has its least already. */
    snprintf(body, sizeof(body),
             "%s{\"version\":9999,\"resources\":[{\"type\":\"slot\",\"count\":{\"min\":7,"
             "\"max\":9,\"operator\":\"+\",\"operand\":1},\"label\":\"t\","
             "\"with\":[{\"type\":\"core\",\"count\":1}]}],"
             "\"tasks\":[{\"command\":[\"x\"],\"slot\":\"t\",\"count\":{\"per_slot\":1}}],"
             "\"attributes\":{}}}",
             head);
    expect_less(w, run(w, body), -1, -1, -1, -1, -1);
}

static void a_shorter_limit_fits_before_a_promise(void **state)
{
    struct sim_server *w = *state;
    run(w, "{\"command\":[\"a\"],\"nodes\":3,\"duration\":\"2h\"}");
    run(w, "{\"command\":[\"b\"],\"nodes\":4,\"duration\":\"1h\"}"); /* in two hours */
    int64_t id = run(w, "{\"command\":[\"c\"],\"nodes\":1,\"duration\":\"5h\"}");
    expect_less(w, id, 7200, -1, -1, -1, -1);
    sim_server_wait(w, 1800 * SIM_SECOND);
    expect_less(w, id, 5400, -1, -1, -1, -1);
    json_t *got = explain(w, id);
    const json_t *holders = json_object_get(got, "holders");
    assert_int_equal(json_array_size(holders), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(holders, 0), "id")), "1");
    assert_int_equal(json_integer_value(json_object_get(got, "more_holders")), 0);
    json_decref(got);
}

static void what_else_it_waits_for_is_said(void **state)
{
    struct sim_server *w = *state;
    run(w, "{\"command\":[\"a\"],\"nodes\":4,\"duration\":\"2h\"}");
    expect_said(w, run(w, "{\"command\":[\"b\"],\"hold\":true}"),
                "It is held: it waits for 'berth release 2'.");
    expect_said(w, run(w, "{\"command\":[\"b\"],\"dependency\":\"afterok:1\"}"),
                "It waits for job 1, on which it depends.");
    expect_said(w, run(w, "{\"command\":[\"b\"],\"dependency\":\"afterok:1:2\"}"),
                "It waits for job 1 and job 2, on which it depends.");
    expect_said(w, run(w, "{\"command\":[\"b\"],\"begin\":\"+3600\"}"),
                "It was submitted to start in 1h at the earliest.");
    run(w, "{\"command\":[\"b\"],\"queue\":\"line\",\"duration\":\"1h\"}");
    expect_said(w, run(w, "{\"command\":[\"b\"],\"queue\":\"line\",\"duration\":\"1h\"}"),
                "It waits for earlier jobs: queue line starts its jobs in order. It "
                "will not start within 2h, unless jobs end earlier than planned.");
    json_decref(ask(w, "PATCH", "/v1/queues/line", "{\"started\":false}", 200));
    sim_server_turn(w, NULL);
    expect_said(w, 7, "It waits for its queue: line is stopped. Its start time is unknown.");
}

static void over_a_limit_less_may_start(void **state)
{
    struct sim_server *w = *state;
    run(w, "{\"command\":[\"a\"],\"tasks\":4,\"queue\":\"few\",\"duration\":\"2h\"}");
    int64_t id = run(w, "{\"command\":[\"a\"],\"tasks\":4,\"queue\":\"few\",\"duration\":\"1h\"}");
    expect_less(w, id, -1, -1, 2, -1, -1); /* six of a user's cores, four of which are used */
    expect_said(
        w, id,
        "It waits for jobs to end: jobs of user owner in queue few may have at most 6 "
        "cores at once. It has a reservation and will start in 2h at the latest. It would start "
        "now with 2 cores.");
}

static void what_does_not_wait_is_said_too(void **state)
{
    struct sim_server *w = *state;
    int64_t a = run(w, "{\"command\":[\"a\"],\"duration\":\"2h\"}");
    sim_server_wait(w, 3600 * SIM_SECOND);
    json_t *got = explain(w, a);
    assert_string_equal(json_string_value(json_object_get(got, "state")), "running");
    assert_true(json_is_null(json_object_get(got, "reason")));
    assert_int_equal(json_array_size(json_object_get(got, "holders")), 0);
    assert_string_equal(
        json_string_value(json_object_get(got, "text")),
        "It has been running for 1h, and will be stopped in 1h if it has not ended by "
        "then.");
    json_decref(got);
    int64_t b = run(w, "{\"command\":[\"b\"],\"dependency\":\"afterok:1\"}");
    int64_t c = run(w, "{\"command\":[\"c\"],\"hold\":true}");
    end(w, a, 3);
    expect_said(w, a, "It has failed with exit status 3 after 1h.");
    expect_said(w, b, "It can never start: dependency 1: never met.");
    json_decref(ask(w, "DELETE", "/v1/jobs/3", NULL, 200));
    expect_said(w, c, "It was cancelled before it started.");
    end(w, run(w, "{\"command\":[\"d\"]}"), 0);
    got = explain(w, 4);
    assert_string_equal(json_string_value(json_object_get(got, "state")), "done");
    json_decref(got);
    got = ask(w, "GET", "/v1/jobs/99/explain", NULL, 404);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(got, "error"), "message")),
        "there is no job 99");
    json_decref(got);
}

static void an_array_is_explained_by_who_waits(void **state)
{
    struct sim_server *w = *state;
    run(w, "{\"command\":[\"a\"],\"array\":6,\"nodes\":1,\"duration\":\"2h\"}");
    json_t *got = explain(w, 1);
    assert_string_equal(json_string_value(json_object_get(got, "id")), "1[4]");
    const char *text = json_string_value(json_object_get(got, "text"));
    static const char begins[] = "Of its members: 2 pending, 4 running. The first waiting member "
                                 "is 1[4]. It waits for nodes";
    assert_memory_equal(text, begins, sizeof(begins) - 1);
    json_decref(got);
    got = ask(w, "GET", "/v1/jobs/1[0]/explain", NULL, 200);
    assert_string_equal(json_string_value(json_object_get(got, "state")), "running");
    json_decref(got);
}

static void set_node3(struct sim_server *w, const char *status)
{
    char text[80];
    snprintf(text, sizeof(text), "{\"resources\":\"node3\",\"status\":\"%s\"}", status);
    tell(w, "PATCH", "/v1/resources", text, 200);
    sim_server_turn(w, NULL);
}

/* The queue has one promise to give. It gave it to the second job, as there was no time for the first with
 * a node down. With the node up, the second would lose it to the first if it came again and asked for less,
 * and would have to be gone in an hour.
 */
static void a_promise_that_another_would_get_is_thought_of(void **state)
{
    struct sim_server *w = *state;
    set_node3(w, "down");
    run(w, "{\"command\":[\"a\"],\"nodes\":2,\"duration\":\"1h\"}");
    int64_t all = run(w, "{\"command\":[\"b\"],\"nodes\":4,\"duration\":\"1h\"}");
    int64_t second = run(w, "{\"command\":[\"c\"],\"nodes\":3,\"duration\":\"2h\"}");
    expect_said(w, second,
                "It waits for nodes that 1 other job holds. It has a reservation and will start in "
                "1h at the "
                "latest. It would start now with 1 node.");
    set_node3(
        w, "up"); /* which the first one could be promised nothing without: it has its turn now */
    expect_said(
        w, second,
        "It waits for nodes that 1 other job holds. It will not start within 2h, unless jobs "
        "end earlier than planned.");
    tell(w, "DELETE", "/v1/jobs/3", NULL, 200);
    second = run(w, "{\"command\":[\"c\"],\"nodes\":2,\"duration\":\"2h\"}");
    expect_said(w, all,
                "It waits for nodes that 1 other job holds. It has a reservation and will start in "
                "1h at the "
                "latest. It would start now with 2 nodes.");
    expect_state(w, second, "pending");
}

static int64_t preempted_events(struct sim_server *w, int64_t id)
{
    char path[64];
    int64_t n = 0;
    size_t i;
    const json_t *event;
    snprintf(path, sizeof(path), "/v1/jobs/%lld/events", (long long)id);
    json_t *got = ask(w, "GET", path, NULL, 200);
    json_array_foreach (json_object_get(got, "events"), i, event)
        n += strcmp(json_string_value(json_object_get(event, "kind")), "preempted") == 0;
    json_decref(got);
    return n;
}

/* Seconds from now. */
static void expect_seconds(struct sim_server *w, int64_t id, const char *key, int64_t expected)
{
    json_t *row = show(w, id);
    double at = json_number_value(json_object_get(row, key)) - (double)w->wall / 1e6;
    assert_int_equal((int64_t)(at + 0.5), expected);
    json_decref(row);
}

/* The victim has 30 seconds until it is killed, and both are told so. Who is held and released meanwhile
 * preempts it again, and it is not told again.
 */
static void preemption_is_told_to_both(void **state)
{
    struct sim_server *w = *state;
    int64_t victim =
        run(w, "{\"command\":[\"a\"],\"nodes\":4,\"queue\":\"spare\",\"duration\":\"10m\"}");
    sim_engine_find(w->engine, victim, -1)->stuck = true; /* nothing ends it */
    sim_server_wait(w, 10 * SIM_SECOND);
    int64_t first = submit(w, "{\"command\":[\"b\"],\"nodes\":2}");
    char text[200];
    expect_said(
        w, first,
        "It waits for a job that is being preempted for it: job 1. That is killed in 30s if it "
        "has not ended by then.");
    expect_text(w, first, "reason", "\"preempting\"");
    expect_seconds(w, first, "estimate", 30);
    expect_seconds(w, victim, "until", 30);
    snprintf(text, sizeof(text),
             "It is being preempted for job %lld, and is killed in 30s if it has not ended by "
             "then. Jobs of its "
             "queue may be stopped for others. 160 core-seconds of work are lost.",
             (long long)first);
    expect_said(w, victim, text);
    sim_server_wait(w, 10 * SIM_SECOND);
    expect_seconds(w, first, "estimate", 20);
    tell(w, "PATCH", "/v1/jobs/2", "{\"hold\":true}", 200);
    expect_said(
        w, victim,
        "It is being preempted, and is killed in 20s if it has not ended by then. Jobs of its "
        "queue may be stopped for others. 160 core-seconds of work are lost.");
    tell(w, "PATCH", "/v1/jobs/2", "{\"hold\":false}", 200);
    tell(w, "PATCH", "/v1/jobs/2", "{\"duration\":60}", 200);
    expect_said(w, victim,
                "It is being preempted for job 2, and is killed in 20s if it has not ended by "
                "then. Jobs of its "
                "queue may be stopped for others. 160 core-seconds of work are lost.");
    expect_text(w, first, "reason", "\"preempting\"");
    assert_int_equal(preempted_events(w, victim), 1);
    sim_server_wait(w, 25 * SIM_SECOND);
    expect_said(w, victim,
                "It is being preempted for job 2, and is being killed. Jobs of its "
                "queue may be stopped for others. 160 core-seconds of work are lost.");
    expect_seconds(w, first, "estimate", 0);
    end(w, victim, 9);
    start_all(w);
    expect_state(w, first, "running");
    expect_text(w, victim, "state", "\"cancelled\"");
    expect_text(w, victim, "reason",
                "\"preempted for 2: its queue is preemptible, 160 core-seconds lost\"");
    expect_said(w, victim,
                "It was preempted for job 2 after 45s. Jobs of its queue may be stopped for "
                "others. 160 core-seconds of "
                "work are lost.");
}

/* What the last preemption of a member says. */
static void expect_preempted(struct sim_server *w, const char *job, const char *expected)
{
    char path[64];
    size_t i;
    const json_t *event, *last = NULL;
    snprintf(path, sizeof(path), "/v1/jobs/%s/events", job);
    json_t *got = ask(w, "GET", path, NULL, 200);
    json_array_foreach (json_object_get(got, "events"), i, event) {
        if (strcmp(json_string_value(json_object_get(event, "kind")), "preempted") == 0)
            last = event;
    }
    char *text = last ? json_dumps(json_object_get(last, "data"), JSON_COMPACT) : NULL;
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
    json_decref(got);
}

#define RIVALS                                                                                     \
    "resources: {nodes: 4, cores: 2}\n"                                                            \
    "match: {policy: low}\n"                                                                       \
    "default-queue: q\n"                                                                           \
    "queues:\n"                                                                                    \
    "  q: {policy: easy, preempts: both, shares: {weight: 1}}\n"                                   \
    "  r: {policy: easy, preempts: both, shares: {weight: 1}}\n"                                   \
    "server: {administrators: [ann], requests-per-second: unlimited}\n"

static int open_rivals(void **state)
{
    return open_world_of(state, RIVALS);
}

/* Three members of a gang that needs two, on two cores each for ten seconds: the spare one goes first, for a job of higher
 * priority; for one that needs more, the rest goes as a whole. It waits again, and what it was stopped for is no reason
 * for that.
 */
static void who_is_stopped_of_a_gang_is_said(void **state)
{
    struct sim_server *w = *state;
    run(w, "{\"command\":[\"x\"],\"nodes\":1,\"priority\":5}");
    int64_t id = run(w, "{\"command\":[\"x\"],\"nodes\":1,\"gang\":3,\"min\":2}");
    sim_server_wait(w, 10 * SIM_SECOND);
    run(w, "{\"command\":[\"x\"],\"nodes\":1,\"priority\":10}");
    expect_preempted(
        w, "2.2",
        "{\"for\":\"3\",\"requeue\":true,\"why\":\"priority\",\"spare\":true,\"lost\":20}");
    expect_state(w, 3, "running");
    run(w, "{\"command\":[\"x\"],\"nodes\":2,\"priority\":10}");
    expect_preempted(
        w, "2.0",
        "{\"for\":\"4\",\"requeue\":true,\"why\":\"priority\",\"spare\":false,\"lost\":20}");
    expect_preempted(
        w, "2.1",
        "{\"for\":\"4\",\"requeue\":true,\"why\":\"priority\",\"spare\":false,\"lost\":20}");
    expect_state(w, 4, "running");
    expect_state(w, id, "pending");
    expect_text(w, id, "reason", "\"0 of 2 members fit\"");
}

/* A queue has all four nodes, and deserves two. */
static void who_has_borrowed_is_said(void **state)
{
    struct sim_server *w = *state;
    for (int i = 0; i < 4; i++)
        run(w, "{\"command\":[\"x\"],\"nodes\":1}");
    sim_server_wait(w, 10 * SIM_SECOND);
    int64_t id = run(w, "{\"command\":[\"x\"],\"nodes\":1,\"queue\":\"r\"}");
    expect_state(w, id, "running");
    expect_preempted(
        w, "4", "{\"for\":\"5\",\"requeue\":true,\"why\":\"share\",\"spare\":false,\"lost\":20}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_nodes, close_world)

/* The beginning of what people read. */
static void expect_begins(struct sim_server *w, int64_t id, const char *words)
{
    json_t *got = explain(w, id);
    const char *text = json_string_value(json_object_get(got, "text"));
    if (strncmp(text, words, strlen(words)) != 0)
        fail_msg("expected %s, got %s", words, text);
    json_decref(got);
}

static void expect_gang(struct sim_server *w, int64_t id, const char *expected)
{
    json_t *got = explain(w, id);
    char *text = json_dumps(json_object_get(got, "gang"), JSON_COMPACT);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
    json_decref(got);
}

/* Three of four members need a node each. One node is free, one would be without a job that may be stopped. */
static void how_ready_a_gang_is_is_said(void **state)
{
    struct sim_server *w = *state;
    run(w, "{\"command\":[\"x\"],\"nodes\":1}");
    int64_t second = run(w, "{\"command\":[\"x\"],\"nodes\":1}");
    int64_t spare = run(w, "{\"command\":[\"x\"],\"nodes\":1,\"queue\":\"spare\"}");
    int64_t id = submit(w, "{\"command\":[\"x\"],\"nodes\":1,\"gang\":4,\"min\":3}");
    start_all(w);
    expect_gang(w, id,
                "{\"readiness\":\"not ready\",\"min\":3,\"running\":0,\"succeeded\":0,"
                "\"allocated\":1,\"conditional\":1}");
    expect_begins(
        w, id,
        "Of its members: 4 pending. It is a gang, of which 3 start together; there is room for 1 "
        "of 3, and for 1 more if jobs were stopped that may be: it is not ready. It waits for room "
        "for as many members as start together.");
    sim_server_wait(w, 2 * SIM_SECOND);
    sim_engine_find(w->engine, spare, -1)->stubborn = true;
    end(w, second, 0);
    expect_text(w, id, "reason", "\"preempting\"");
    expect_gang(w, id,
                "{\"readiness\":\"conditionally ready\",\"min\":3,\"running\":0,\"succeeded\":0,"
                "\"allocated\":2,\"conditional\":1}");
    sim_engine_ended(w->engine, sim_engine_find(w->engine, spare, -1), 0, 15);
    sim_server_turn(w, NULL);
    start_all(w);
    expect_gang(w, id,
                "{\"readiness\":\"ready\",\"min\":3,\"running\":3,\"succeeded\":0,"
                "\"allocated\":0,\"conditional\":0}");
    expect_begins(w, id,
                  "Of its members: 1 pending, 3 running. It is a gang, of which 3 start together; "
                  "3 run: it is "
                  "ready. The first waiting member is 4[3]. It waits for nodes");
    tell(w, "POST", "/v1/jobs/hold", "{\"jobs\":[\"4\"]}", 200);
    expect_begins(
        w, id, "Of its members: 1 held, 3 running. It is a gang, of which 3 start together; 3 run");
    int64_t held = submit(w, "{\"command\":[\"x\"],\"gang\":2,\"min\":1,\"hold\":true}");
    expect_begins(w, held,
                  "Of its members: 2 held. It is a gang, of which 1 starts together: it is not "
                  "ready. It is held");
}

/* Of the jobs of a preemptible queue two are all that their gang needs, and one is not to be stopped yet: only what the third
 * gang has beyond its min may be taken.
 */
static void who_may_not_be_stopped_is_in_its_way(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"x\"],\"cores\":4,\"gang\":2,\"queue\":\"spare\"}");
    start_all(w);
    submit(w, "{\"command\":[\"x\"],\"cores\":3,\"queue\":\"spare\",\"preemptible_after\":3600}");
    start_all(w);
    submit(w, "{\"command\":[\"x\"],\"cores\":1,\"gang\":3,\"min\":2,\"queue\":\"spare\"}");
    start_all(w);
    int64_t id = submit(w, "{\"command\":[\"x\"],\"cores\":1,\"gang\":4}");
    expect_gang(w, id,
                "{\"readiness\":\"not ready\",\"min\":4,\"running\":0,\"succeeded\":0,"
                "\"allocated\":2,\"conditional\":1}");
}

/* A list says that it is promised a time. Asked about by itself, what it lacks now, as of any other job, and the time. */
static void a_promised_gang_says_what_it_lacks_and_when_it_starts(void **state)
{
    struct sim_server *w = *state;
    run(w, "{\"command\":[\"x\"],\"nodes\":2,\"duration\":\"2h\"}");
    int64_t id = submit(w, "{\"command\":[\"x\"],\"nodes\":1,\"gang\":4,\"duration\":\"1h\"}");
    start_all(w);
    expect_begins(w, id,
                  "Of its members: 4 pending. It is a gang, of which 4 start together; there is "
                  "room for 2 of 4: it is not ready. It waits for room for as many members as "
                  "start together. It has a reservation and will start in 2h at the latest.");
    json_t *got = explain(w, id);
    assert_string_equal(json_string_value(json_object_get(got, "reason")), "2 of 4 members fit");
    assert_true(json_is_false(json_object_get(got, "not_before")));
    assert_null(json_object_get(got, "expected"));
    assert_true(json_is_number(json_object_get(got, "estimate")));
    json_decref(got);
    expect_text(w, id, "reason", "\"2 of 4 members fit\"");
    got = ask(w, "GET", "/v1/jobs?state=pending", NULL, 200);
    json_t *row = json_array_get(json_object_get(got, "jobs"), 3);
    assert_string_equal(json_string_value(json_object_get(row, "reason")), "reserved");
    json_decref(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(preemption_is_told_to_both),
        TEST(less_of_each_kind_is_found),
        TEST(jobspecs_are_lowered_too),
        TEST(a_shorter_limit_fits_before_a_promise),
        TEST(what_else_it_waits_for_is_said),
        TEST(over_a_limit_less_may_start),
        TEST(what_does_not_wait_is_said_too),
        TEST(an_array_is_explained_by_who_waits),
        cmocka_unit_test_setup_teardown(who_is_stopped_of_a_gang_is_said, open_rivals, close_world),
        cmocka_unit_test_setup_teardown(who_has_borrowed_is_said, open_rivals, close_world),
        TEST(how_ready_a_gang_is_is_said),
        TEST(who_may_not_be_stopped_is_in_its_way),
        TEST(a_promised_gang_says_what_it_lacks_and_when_it_starts),
        TEST(a_promise_that_another_would_get_is_thought_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
