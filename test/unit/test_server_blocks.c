/* Blocks that administrators add while the server runs. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "server_scene.h"

#define MACHINE "resources: {nodes: 2, cores: 4, gpus: 2, memory: 8}\n"
#define QUEUES  "default-queue: batch\nqueues: {batch: {policy: easy}, long: {policy: easy}}\n"

/* POST a block that begins in so many seconds. */
static void add(struct sim_server *w, const char *name, const char *resources, double start,
                const char *rest, int expected)
{
    char body[400];
    snprintf(body, sizeof(body), "{\"name\":\"%s\",\"resources\":\"%s\",\"start\":%.6f,%s}", name,
             resources, (double)w->wall / 1e6 + start, rest);
    tell(w, "POST", "/v1/blocks", body, expected);
}

static json_t *listed(struct sim_server *w, const char *name)
{
    json_t *got = ask(w, "GET", "/v1/blocks", NULL, 200), *found = NULL, *block;
    size_t i;
    json_array_foreach (json_object_get(got, "blocks"), i, block)
        if (strcmp(json_string_value(json_object_get(block, "name")), name) == 0)
            found = json_incref(block);
    json_decref(got);
    return found;
}

static void expect_listed(struct sim_server *w, const char *name, const char *state)
{
    json_t *block = listed(w, name);
    assert_non_null(block);
    assert_string_equal(json_string_value(json_object_get(block, "state")), state);
    json_decref(block);
}

/* There is an hour until the block: a job of an hour starts, one of a second more waits for its end. */
static void jobs_are_planned_around_a_block(void **state)
{
    struct sim_server *w = *state;
    add(w, "disks", "all", 3600, "\"duration\":\"10m\"", 200);
    int64_t fits = submit(w, "{\"command\":[\"x\"],\"duration\":3600}");
    int64_t longer = submit(w, "{\"command\":[\"x\"],\"duration\":3601}");
    start_all(w);
    expect_state(w, fits, "running");
    expect_state(w, longer, "pending");
    expect_listed(w, "disks", "planned");
    tell(w, "DELETE", "/v1/blocks/disks", NULL, 200);
    start_all(w);
    expect_state(w, longer, "running");
    assert_null(listed(w, "disks"));
}

static void a_block_is_kept(void **state)
{
    struct sim_server *w = *state;
    add(w, "disks", "node[0-1]", 3600,
        "\"duration\":600,\"every\":\"1w\",\"for\":{\"users\":[\"bob\"]}", 200);
    reopen(w, true);
    int64_t longer = submit(w, "{\"command\":[\"x\"],\"duration\":3601}");
    expect_state(w, longer, "pending");
    json_t *block = listed(w, "disks");
    assert_int_equal(json_integer_value(json_object_get(block, "every")), 7 * 86400);
    assert_true(json_is_false(json_object_get(block, "configured")));
    assert_int_equal(json_array_size(json_object_get(json_object_get(block, "for"), "users")), 1);
    json_decref(block);
    tell(w, "DELETE", "/v1/blocks/disks", NULL, 200);
    reopen(w, true);
    assert_null(listed(w, "disks"));
    start_all(w);
    expect_state(w, longer, "running");
}

/* The wall clock is set back by a day: a block begins when the clock says so, as long as the server goes on,
 * and later.
 */
static void a_start_is_a_time_of_the_wall_clock(void **state)
{
    struct sim_server *w = *state;
    w->wall -= 86400 * SIM_SECOND;
    add(w, "disks", "all", 3600, "\"duration\":600", 200);
    int64_t longer = submit(w, "{\"command\":[\"x\"],\"duration\":3601}");
    expect_state(w, longer, "pending");
    reopen(w, true);
    expect_state(w, longer, "pending");
    int64_t fits = submit(w, "{\"command\":[\"x\"],\"duration\":3590}");
    start_all(w);
    expect_state(w, fits, "running");
}

/* The two clocks are not read in the same microsecond: what is told of a time doesn't depend on that. */
static void one_time_is_told_alike(void **state)
{
    struct sim_server *w = *state;
    int64_t deadline = w->wall / SIM_SECOND + 1800, begin = deadline + 1800;
    char text[200];
    snprintf(text, sizeof(text),
             "{\"name\":\"disks\",\"resources\":\"all\",\"start\":%lld,\"duration\":600}",
             (long long)begin);
    tell(w, "POST", "/v1/blocks", text, 200);
    w->wall -= 3;
    snprintf(text, sizeof(text),
             "{\"command\":[\"x\"],\"estimate\":1200,\"deadline\":%lld,\"hold\":true}",
             (long long)deadline);
    json_t *answer = ask(w, "POST", "/v1/jobs", text, 201);
    const json_t *stopped = json_object_get(answer, "stopped");
    assert_true(json_number_value(json_object_get(stopped, "at")) == (double)begin);
    int64_t id = json_integer_value(json_object_get(answer, "id"));
    json_decref(answer);
    w->wall += 5;
    snprintf(text, sizeof(text), "/v1/jobs/%lld", (long long)id);
    answer = ask(w, "GET", text, NULL, 200);
    assert_true(json_number_value(json_object_get(answer, "deadline")) == (double)deadline);
    json_decref(answer);
}

/* The same of a date in the configuration. */
static void a_configured_start_is_one_too(void **state)
{
    struct sim_server *w = *state;
    char text[400], date[40];
    w->wall -= 86400 * SIM_SECOND;
    time_t start = (time_t)(w->wall / SIM_SECOND) + 3600;
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime(&start));
    snprintf(text, sizeof(text),
             MACHINE QUEUES "blocks: [{name: own, resources: \"node[0-1]\", start: %s, "
                            "duration: 1h}]\n",
             date);
    sim_server_configure(w, text);
    tell(w, "POST", "/v1/server/reload", NULL, 200);
    int64_t longer = submit(w, "{\"command\":[\"x\"],\"duration\":3602}");
    int64_t fits = submit(w, "{\"command\":[\"x\"],\"duration\":3590}");
    start_all(w);
    expect_state(w, longer, "pending");
    expect_state(w, fits, "running");
    json_t *block = listed(w, "own");
    assert_int_equal(json_integer_value(json_object_get(block, "start")), start);
    json_decref(block);
    reopen(w, true);
    expect_state(w, longer, "pending");
}

static void only_administrators_may(void **state)
{
    struct sim_server *w = *state;
    const char *block = "{\"name\":\"b\",\"resources\":\"all\",\"duration\":60}";
    w->options.for_all = true;
    reopen(w, false);
    assert_int_equal(asked_by(w, SIM_BOB, "POST", "/v1/blocks", block), 403);
    assert_int_equal(asked_by(w, SIM_ANN, "POST", "/v1/blocks", block), 200);
    assert_int_equal(asked_by(w, SIM_BOB, "GET", "/v1/blocks", NULL), 200);
    assert_int_equal(asked_by(w, SIM_BOB, "DELETE", "/v1/blocks/b", NULL), 403);
    assert_int_equal(asked_by(w, SIM_ANN, "DELETE", "/v1/blocks/b", NULL), 200);
}

static void wrong_blocks_are_refused(void **state)
{
    struct sim_server *w = *state;
    add(w, "b", "all", 0, "\"end\":1", 400);                          /* before its start */
    add(w, "b", "all", -100, "\"duration\":60", 400);                 /* over */
    add(w, "b", "all", 0, "\"every\":60", 400);                       /* lasts for how long? */
    add(w, "b", "all", 0, "\"duration\":60,\"end\":4000000000", 400); /* which of both? */
    add(w, "b", "all", 0, "\"duration\":60,\"every\":60", 400);
    add(w, "b", "all", 0, "\"duration\":\"soon\"", 400);
    add(w, "b c", "all", 0, "\"duration\":60", 400);
    add(w, "b", "node7", 0, "\"duration\":60", 404);
    add(w, "b", "all", 0, "\"duration\":60,\"for\":{\"queues\":[\"none\"]}", 400);
    add(w, "b", "all", 0, "\"duration\":60,\"for\":{\"hosts\":[\"none\"]}", 400);
    add(w, "b", "all", 0, "\"duration\":60,\"until\":7", 400);
    assert_null(listed(w, "b"));
    int64_t id = submit(w, TRUE1);
    start_all(w);
    expect_state(w, id, "running");
    add(w, "b", "all", 0, "\"duration\":60", 200);
    add(w, "b", "node0", 0, "\"duration\":60", 409);
    expect_listed(w, "b", "active");
    tell(w, "DELETE", "/v1/blocks/c", NULL, 404);
}

/* Those that are over make room: there may be 64 at a time. */
static void blocks_that_are_over_go(void **state)
{
    struct sim_server *w = *state;
    char name[20];
    for (int i = 0; i < 64; i++) {
        snprintf(name, sizeof(name), "b%d", i);
        add(w, name, "node0", 0, "\"duration\":60", 200);
    }
    add(w, "more", "node0", 0, "\"duration\":60", 400);
    sim_server_wait(w, 61 * SIM_SECOND);
    assert_null(listed(w, "b0"));
    add(w, "b0", "node0", 0, "\"duration\":60", 200);
}

static void the_configuration_has_its_own(void **state)
{
    struct sim_server *w = *state;
    sim_server_configure(w,
                         MACHINE QUEUES "blocks: [{name: own, resources: node0, start: 3000000000, "
                                        "duration: 1h}]\n");
    tell(w, "POST", "/v1/server/reload", NULL, 200);
    expect_listed(w, "own", "planned");
    tell(w, "DELETE", "/v1/blocks/own", NULL, 409);
    add(w, "own", "node1", 60, "\"duration\":60", 409);
    add(w, "disks", "node1", 600, "\"duration\":60", 200);
    sim_server_configure(w, MACHINE QUEUES "blocks: [{name: disks, resources: node0, start: 0, "
                                           "duration: 1h}]\n");
    tell(w, "POST", "/v1/server/reload", NULL, 409);
    expect_listed(w, "own", "planned");
    /* Who starts with it has the configured one, and the other is kept until the name is free again. */
    reopen(w, false);
    json_t *got = ask(w, "GET", "/v1/blocks", NULL, 200);
    json_t *added = json_array_get(json_object_get(got, "blocks"), 1);
    assert_string_equal(json_string_value(json_object_get(added, "problem")),
                        "the configuration has a block of this name");
    json_decref(got);
    sim_server_configure(w, MACHINE QUEUES);
    tell(w, "POST", "/v1/server/reload", NULL, 200);
    expect_listed(w, "disks", "planned");
    int64_t longer = submit(w, "{\"command\":[\"x\"],\"nodes\":2,\"duration\":601}");
    expect_state(w, longer, "pending");
}

/* ---- Who is stopped for a block ---- */

static int open_preempting(void **state)
{
    return open_world_of(
        state, "resources: {nodes: 3, cores: 1}\nmatch: {policy: low}\n"
               "default-queue: batch\n"
               "queues: {spare: {policy: easy, preemptible: requeue}, batch: {policy: easy}}\n"
               "server: {grace: 60, requests-per-second: unlimited}\n");
}

/* It leaves a node that is in no block, and another job waits for that: nobody is stopped for it, over crashes, too, and also
 * when the block is gone, so that nothing but the record says that it is being stopped.
 */
static void who_leaves_for_a_block_is_waited_for(void **state)
{
    struct sim_server *w = *state;
    add(w, "repair", "node0", 60, "\"duration\":600", 200);
    int64_t leaves =
        submit(w, "{\"command\":[\"x\"],\"nodes\":2,\"limit\":\"unlimited\",\"estimate\":50}");
    start_all(w);
    int64_t spare = submit(w, "{\"command\":[\"x\"],\"queue\":\"spare\",\"nodes\":1}");
    start_all(w);
    sim_engine_find(w->engine, leaves, -1)->stubborn = true;
    sim_server_wait(w, 61 * SIM_SECOND);
    assert_int_equal(sim_engine_find(w->engine, leaves, -1)->last_signal, SIGTERM);
    tell(w, "DELETE", "/v1/blocks/repair", NULL, 200);
    reopen(w, true);
    int64_t waits = submit(w, "{\"command\":[\"x\"],\"nodes\":1}");
    sim_server_turn(w, NULL);
    for (int crashes = 0; crashes < 2; crashes++) {
        expect_state(w, waits, "pending");
        assert_int_equal(sim_engine_find(w->engine, spare, -1)->last_signal, 0);
        json_t *told = ask(w, "GET", "/v1/jobs/1/explain", NULL, 200);
        assert_non_null(strstr(json_string_value(json_object_get(told, "text")),
                               "It is being stopped for job 3"));
        json_decref(told);
        reopen(w, true);
    }
    end(w, leaves, 1);
    start_all(w);
    expect_state(w, waits, "running");
    expect_state(w, spare, "running");
    expect_state(w, leaves, "timeout"); /* as one whose limit is over */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(jobs_are_planned_around_a_block),
        TEST(a_block_is_kept),
        TEST(a_start_is_a_time_of_the_wall_clock),
        TEST(one_time_is_told_alike),
        TEST(a_configured_start_is_one_too),
        TEST(only_administrators_may),
        TEST(wrong_blocks_are_refused),
        TEST(blocks_that_are_over_go),
        TEST(the_configuration_has_its_own),
        cmocka_unit_test_setup_teardown(who_leaves_for_a_block_is_waited_for, open_preempting,
                                        close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
