/* The server by its requests, in a simulated world: jobs on their way. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "server_scene.h"

static void a_job_runs_and_is_remembered(void **state)
{
    struct sim_server *w = *state;
    int64_t id =
        submit(w, "{\"command\":[\"prog\",\"a b\"],\"cores\":2,\"gpus\":1,"
                  "\"environment\":{\"X\":\"1\"},\"directory\":\"/d\",\"output\":\"o.%j\"}");
    assert_int_equal(id, 1);
    const struct sim_run *run = sim_engine_find(w->engine, 1, -1);
    assert_non_null(run);
    assert_string_equal(run->argv, "prog a b");
    assert_string_equal(run->output, "/d/o.1");
    assert_non_null(strstr(run->env, "X=1 "));
    assert_non_null(strstr(run->env, "BERTH_JOB_NAME=prog"));
    assert_non_null(strstr(run->env, "HOME=/home/x"));
    assert_string_equal(run->cpus, "0-1,64-65");
    assert_non_null(strstr(run->task_env, "CUDA_VISIBLE_DEVICES=0"));
    start_all(w);
    expect_state(w, id, "running");
    end(w, id, 0);
    expect_state(w, id, "done");
    expect_text(w, id, "exit", "0");
    expect_text(w, id, "peak_memory", "4096");
    end(w, submit(w, TRUE1), 3);
    expect_state(w, 2, "failed");
    expect_text(w, 2, "exit", "3");
    reopen(w, true);
    expect_state(w, 1, "done");
    expect_state(w, 2, "failed");
}

static void jobs_wait_and_keep_what_they_were_promised(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"a\"],\"nodes\":2,\"duration\":\"1h\"}");
    start_all(w);
    submit(w, "{\"command\":[\"b\"],\"nodes\":2,\"duration\":\"1h\"}");
    expect_state(w, 2, "pending");
    json_t *before = show(w, 2);
    double estimate = json_number_value(json_object_get(before, "estimate"));
    assert_true(estimate >= 1700003600.0 && estimate < 1700003601.0);
    reopen(w, true);
    json_t *after = show(w, 2);
    assert_true(
        json_equal(json_object_get(before, "estimate"), json_object_get(after, "estimate")));
    json_decref(before);
    json_decref(after);
    expect_state(w, 1, "running");
    expect_text(w, 2, "held_by", "[\"1\"]");
    end(w, 1, 0);
    expect_state(w, 2, "running");
    assert_int_equal(w->engine->n, 2);
}

static void limits_end_jobs(void **state)
{
    struct sim_server *w = *state;
    submit(w,
           "{\"command\":[\"a\"],\"duration\":100,\"signal\":{\"signal\":\"USR1\",\"before\":10}}");
    start_all(w);
    struct sim_run *run = sim_engine_find(w->engine, 1, -1);
    run->stubborn = true;
    sim_server_wait(w, 89 * SIM_SECOND);
    assert_int_equal(run->last_signal, 0);
    sim_server_wait(w, 2 * SIM_SECOND);
    assert_int_equal(run->last_signal, SIGUSR1);
    sim_server_wait(w, 10 * SIM_SECOND);
    assert_int_equal(run->last_signal, SIGTERM);
    expect_state(w, 1, "running");
    sim_server_wait(w, 6 * SIM_SECOND);
    expect_state(w, 1, "timeout");
    expect_text(w, 1, "signal", "9");
}

static int open_giving_way(void **state)
{
    return open_world_of(state, "resources: {nodes: 1, cores: 2}\n"
                                "default-queue: batch\n"
                                "queues:\n"
                                "  batch: {policy: easy}\n"
                                "  spare: {policy: easy, preemptible: requeue}\n"
                                "server: {grace: 5, administrators: [ann]}\n");
}

/* A job that makes way for another one is told so by the signal that it names, also if the server is down meanwhile, and
 * has the grace time then; one that names none by SIGTERM. Whoever is cancelled gets SIGTERM.
 */
static void jobs_save_their_work_before_they_make_way(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"a\"],\"queue\":\"spare\",\"duration\":1000,"
              "\"signal\":{\"signal\":\"USR1\",\"before\":10}}");
    submit(w, "{\"command\":[\"b\"],\"queue\":\"spare\",\"duration\":1000}");
    start_all(w);
    sim_engine_find(w->engine, 1, -1)->stubborn = sim_engine_find(w->engine, 2, -1)->stubborn =
        true;
    sim_server_wait(w, 2 * SIM_SECOND);
    submit(w, "{\"command\":[\"c\"],\"cores\":2,\"duration\":100}");
    sim_server_turn(w, NULL);
    assert_int_equal(sim_engine_find(w->engine, 1, -1)->last_signal, SIGUSR1);
    assert_int_equal(sim_engine_find(w->engine, 2, -1)->last_signal, SIGTERM);
    reopen(w, true);
    assert_int_equal(sim_engine_find(w->engine, 1, -1)->last_signal, SIGUSR1);
    sim_server_wait(w, 6 * SIM_SECOND);
    expect_state(w, 1, "pending");
    expect_state(w, 3, "running");
    end(w, 3, 0);
    expect_state(w, 1, "running");
    start_all(w);
    sim_engine_find(w->engine, 1, -1)->stubborn = true;
    tell(w, "DELETE", "/v1/jobs/1", NULL, 200);
    assert_int_equal(sim_engine_find(w->engine, 1, -1)->last_signal, SIGTERM);
}

/* A job was cancelled and takes a while to end: another one waits for what it leaves, and nobody is stopped for that, over
 * crashes, too.
 */
static void who_was_cancelled_is_waited_for(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"a\"],\"duration\":1000}");
    submit(w, "{\"command\":[\"b\"],\"queue\":\"spare\",\"duration\":1000}");
    start_all(w);
    sim_engine_find(w->engine, 1, -1)->stubborn = true;
    sim_server_wait(w, 2 * SIM_SECOND);
    tell(w, "DELETE", "/v1/jobs/1", NULL, 200);
    reopen(w, true);
    submit(w, "{\"command\":[\"c\"],\"duration\":100}");
    sim_server_turn(w, NULL);
    for (int crashes = 0; crashes < 2; crashes++) {
        expect_state(w, 1, "running");
        expect_state(w, 3, "pending");
        assert_int_equal(sim_engine_find(w->engine, 2, -1)->last_signal, 0);
        reopen(w, true);
    }
    end(w, 1, 1);
    start_all(w);
    expect_state(w, 1, "cancelled");
    expect_state(w, 2, "running");
    expect_state(w, 3, "running");
}

static void jobs_are_cancelled_held_and_changed(void **state)
{
    struct sim_server *w = *state;
    submit(w, ALL);
    start_all(w);
    submit(w, "{\"command\":[\"x\"],\"nodes\":2,\"hold\":true}");
    submit(w, ALL);
    expect_state(w, 2, "held");
    tell(w, "PATCH", "/v1/jobs/2", "{\"hold\":false,\"priority\":5,\"duration\":\"10m\"}", 200);
    expect_state(w, 2, "pending");
    expect_text(w, 2, "priority", "5");
    expect_text(w, 2, "duration", "600");
    tell(w, "PATCH", "/v1/jobs/2", "{\"queue\":\"long\"}", 400); /* at most 6 cores */
    tell(w, "PATCH", "/v1/jobs/1", "{\"priority\":1}", 409);
    tell(w, "PATCH", "/v1/jobs/2", "{\"prio\":1}", 400);
    tell(w, "DELETE", "/v1/jobs/3", NULL, 200);
    expect_state(w, 3, "cancelled");
    tell(w, "DELETE", "/v1/jobs/3", NULL, 409);
    tell(w, "DELETE", "/v1/jobs/1", NULL, 200);
    expect_state(w, 1, "cancelled");
    expect_state(w, 2, "running");
    tell(w, "POST", "/v1/jobs/2/signal", "{\"signal\":\"USR1\"}", 200); /* it is about to start */
    assert_int_equal(sim_engine_find(w->engine, 2, -1)->last_signal, SIGUSR1);
    reopen(w, false);
    expect_state(w, 2, "running");
    expect_text(w, 2, "priority", "5");
    tell(w, "POST", "/v1/jobs/1/signal", "{\"signal\":\"USR2\"}", 409);
    start_all(w);
    tell(w, "POST", "/v1/jobs/2/signal", "{\"signal\":\"USR2\"}", 200);
    assert_int_equal(sim_engine_find(w->engine, 2, -1)->last_signal, SIGUSR2);
    tell(w, "POST", "/v1/jobs/2/requeue", NULL, 200);
    expect_text(w, 2, "attempts", "2");
    expect_state(w, 2, "running");
}

static void arrays_have_members(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"x\"],\"array\":10,\"cores\":2,\"output\":\"/o/%j.%a\"}");
    submit(w, "{\"command\":[\"y\"],\"dependency\":\"afterok:1\"}");
    start_all(w);
    assert_int_equal(w->engine->n, 4);
    assert_string_equal(sim_engine_find(w->engine, 1, 3)->output, "/o/1.3");
    json_t *got = ask(w, "GET", "/v1/jobs?limit=3", NULL, 200);
    assert_string_equal(json_string_value(json_object_get(got, "next")), "1.2");
    const json_t *row = json_array_get(json_object_get(got, "jobs"), 2);
    assert_string_equal(json_string_value(json_object_get(row, "output")), "/o/1.2");
    json_decref(got);
    got = ask(w, "GET", "/v1/jobs?after=1.2", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(got, "jobs")), 8);
    json_decref(got);
    tell(w, "DELETE", "/v1/jobs/1.9", NULL, 200);
    for (int i = 0; i < 9; i++) {
        struct sim_run *run = sim_engine_find(w->engine, 1, i);
        assert_non_null(run);
        if (run->state == SIM_ASKED)
            start_all(w);
        sim_engine_ended(w->engine, sim_engine_find(w->engine, 1, i), 0, 0);
        sim_server_turn(w, NULL);
        if (i == 4)
            reopen(w, true);
    }
    expect_state(w, 2, "failed"); /* a member was cancelled */
    got = ask(w, "GET", "/v1/jobs/1.9", NULL, 200);
    assert_string_equal(json_string_value(json_object_get(got, "state")), "cancelled");
    json_decref(got);
    got = ask(w, "GET", "/v1/jobs?history=1", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(got, "jobs")), 11);
    json_decref(got);
    got = ask(w, "GET", "/v1/jobs?ids=1,2,7", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(got, "jobs")), 11);
    json_decref(got);
}

static void dependencies_outlive_a_restart(void **state)
{
    struct sim_server *w = *state;
    submit(w, TRUE1);
    start_all(w);
    end(w, 1, 0);
    submit(w, TRUE1);
    start_all(w);
    end(w, 2, 1);
    submit(w, "{\"command\":[\"x\"],\"dependency\":\"afterok:1\",\"hold\":true}");
    reopen(w, true);
    tell(w, "PATCH", "/v1/jobs/3", "{\"hold\":false}", 200);
    expect_state(w, 3, "running");
    submit(w, "{\"command\":[\"x\"],\"dependency\":\"afternotok:2\"}");
    expect_state(w, 4, "running");
    tell(w, "POST", "/v1/jobs", "{\"command\":[\"x\"],\"dependency\":\"afterok:99\"}", 400);
}

static int open_slow(void **state)
{
    return open_world_of(state, "resources: {nodes: 1, cores: 4}\n"
                                "queues: {batch: {policy: conservative}}\n"
                                "default-queue: batch\n"
                                "passes: {min-interval: 60}\n");
}

static int64_t estimate_of(struct sim_server *w, int64_t id)
{
    json_t *job = show(w, id);
    int64_t at = json_integer_value(json_object_get(job, "estimate"));
    json_decref(job);
    return at;
}

/* A promise that a change has taken back is not in the store either, even if no pass has followed yet. */
static void a_promise_goes_with_its_duration(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"x\"],\"cores\":4,\"duration\":3600}");
    sim_server_wait(w, 61 * SIM_SECOND);
    start_all(w);
    expect_state(w, 1, "running");
    submit(w, "{\"command\":[\"x\"],\"cores\":4,\"duration\":3600}");
    int64_t before = estimate_of(w, 2);
    tell(w, "PATCH", "/v1/jobs/2", "{\"duration\":7200}", 200);
    reopen(w, true);
    submit(w, "{\"command\":[\"x\"],\"cores\":4,\"duration\":60}");
    sim_server_wait(w, 61 * SIM_SECOND);
    assert_true(before > 0);
    assert_int_equal(estimate_of(w, 2), before);
    assert_int_equal(estimate_of(w, 3), before + 7200);
}

static void what_a_job_waited_for_may_be_forgotten(void **state)
{
    struct sim_server *w = *state;
    end(w, submit(w, TRUE1), 0);
    submit(w, "{\"command\":[\"true\"],\"dependency\":\"afterok:1\",\"hold\":true}");
    sim_server_wait(w, INT64_C(400) * 86400 * SIM_SECOND);
    tell(w, "GET", "/v1/jobs/1", NULL, 404);
    reopen(w, true);
    expect_state(w, 2, "held");
    tell(w, "PATCH", "/v1/jobs/2", "{\"hold\":false}", 200);
    expect_state(w, 2, "running");
}

static size_t starts_of(const struct sim_server *w, int64_t job)
{
    size_t n = 0;
    for (size_t i = 0; i < w->engine->n; i++)
        n += w->engine->runs[i].job == job;
    return n;
}

static void who_waits_again_does_so_as_the_others(void **state)
{
    struct sim_server *w = *state;
    int64_t id = submit(w, "{\"command\":[\"x\"],\"cores\":4,\"array\":3}");
    start_all(w);
    assert_int_equal(starts_of(w, id), 2);
    tell(w, "PATCH", "/v1/jobs/1", "{\"hold\":true}", 200);
    tell(w, "POST", "/v1/jobs/1.0/requeue", NULL, 200);
    start_all(w);
    assert_int_equal(starts_of(w, id), 2); /* it is held too */
    tell(w, "PATCH", "/v1/jobs/1", "{\"priority\":-1}", 200);
    tell(w, "PATCH", "/v1/jobs/1", "{\"hold\":false}", 200);
    assert_int_equal(starts_of(w, id), 3);
    int64_t other = submit(w, "{\"command\":[\"x\"],\"cores\":4}");
    tell(w, "POST", "/v1/jobs/1.1/requeue", NULL, 200);
    assert_int_equal(starts_of(w, other), 1); /* its priority is the higher one */
}

static void events_go_on_where_they_were(void **state)
{
    struct sim_server *w = *state;
    submit(w, TRUE1);
    start_all(w);
    end(w, 1, 0);
    json_t *got = ask(w, "GET", "/v1/jobs/1/events", NULL, 200);
    const json_t *events = json_object_get(got, "events");
    assert_int_equal(json_array_size(events), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(events, 1), "kind")),
                        "started");
    json_decref(got);
    got = ask(w, "GET", "/v1/events?since=2", NULL, 200);
    assert_int_equal(strncmp(json_string_value(got), "id: 3\nevent: done\ndata: {", 25), 0);
    json_decref(got);
    got = ask(w, "GET", "/v1/events?since=3&follow=1", NULL, 200);
    assert_null(got);
}

static void a_wait_is_explained(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"a\"],\"cores\":4,\"nodes\":1,\"duration\":\"2h\"}");
    submit(w, "{\"command\":[\"b\"],\"cores\":2,\"nodes\":1,\"duration\":\"1h\"}");
    submit(w, "{\"command\":[\"c\"],\"nodes\":2,\"duration\":\"1h\"}");
    start_all(w);
    /* 2 cores are free for two hours, until the third has its promise. */
    submit(w, "{\"command\":[\"d\"],\"cores\":2,\"duration\":\"5h\"}");
    submit(w, "{\"command\":[\"e\"],\"cores\":4,\"duration\":\"1h\"}");
    expect_state(w, 4, "pending");
    expect_state(w, 5, "pending");
    json_t *got = ask(w, "GET", "/v1/jobs/4/explain", NULL, 200);
    const json_t *now = json_object_get(got, "would_start_now");
    double duration = json_number_value(json_object_get(now, "duration"));
    assert_true(duration > 7190 && duration <= 7200);
    assert_true(json_is_null(json_object_get(now, "cores")));
    json_decref(got);
    got = ask(w, "GET", "/v1/jobs/5/explain", NULL, 200);
    now = json_object_get(got, "would_start_now");
    assert_true(json_is_null(json_object_get(now, "duration")));
    assert_int_equal(json_integer_value(json_object_get(now, "cores")), 2);
    assert_non_null(strstr(json_string_value(json_object_get(got, "text")),
                           "It would start now with 2 cores."));
    json_decref(got);
    got = ask(w, "GET", "/v1/jobs/3/explain", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(got, "holders")), 2);
    json_decref(got);
    expect_state(w, 4, "pending"); /* a trial changes nothing */
    tell(w, "GET", "/v1/jobs/1/explain", NULL, 200);
}

static void users_see_and_change_their_own(void **state)
{
    struct sim_server *w = *state;
    assert_int_equal(asked_by(w, SIM_BOB, "GET", "/v1/jobs", NULL), 403);
    sim_server_close(w);
    w->options.for_all = true;
    w->options.uid = 0;
    assert_int_equal(sim_server_open(w, NULL), 0);
    assert_int_equal(asked_by(w, SIM_BOB, "POST", "/v1/jobs", TRUE1), 201);
    assert_int_equal(asked_by(w, 4242, "POST", "/v1/jobs", TRUE1), 403);
    assert_int_equal(asked_by(w, SIM_OWNER, "DELETE", "/v1/jobs/1", NULL), 403);
    assert_int_equal(asked_by(w, SIM_OWNER, "GET", "/v1/jobs/1/events", NULL), 403);
    assert_int_equal(
        asked_by(w, SIM_OWNER, "POST", "/v1/jobs", "{\"command\":[\"x\"],\"priority\":1}"), 403);
    assert_int_equal(asked_by(w, SIM_OWNER, "POST", "/v1/server/stop", NULL), 403);
    assert_int_equal(asked_by(w, SIM_ANN, "POST", "/v1/server/reload", NULL), 200);
    json_t *got = sim_server_ask(w, SIM_OWNER, "GET", "/v1/jobs/1", NULL, NULL, NULL);
    assert_string_equal(json_string_value(json_object_get(got, "user")), "bob");
    assert_null(json_object_get(got, "command"));
    assert_null(json_object_get(got, "request"));
    assert_true(json_is_null(json_object_get(got, "name")));
    json_decref(got);
    assert_int_equal(asked_by(w, SIM_ANN, "DELETE", "/v1/jobs/1", NULL), 200);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_runs_and_is_remembered),
        TEST(jobs_wait_and_keep_what_they_were_promised),
        TEST(limits_end_jobs),
        cmocka_unit_test_setup_teardown(jobs_save_their_work_before_they_make_way, open_giving_way,
                                        close_world),
        cmocka_unit_test_setup_teardown(who_was_cancelled_is_waited_for, open_giving_way,
                                        close_world),
        TEST(jobs_are_cancelled_held_and_changed),
        TEST(arrays_have_members),
        TEST(dependencies_outlive_a_restart),
        cmocka_unit_test_setup_teardown(a_promise_goes_with_its_duration, open_slow, close_world),
        TEST(what_a_job_waited_for_may_be_forgotten),
        TEST(who_waits_again_does_so_as_the_others),
        TEST(events_go_on_where_they_were),
        TEST(a_wait_is_explained),
        TEST(users_see_and_change_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
