/* The server by its requests, in a simulated world. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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

static void tasks_share_cores_and_devices(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"x\"],\"tasks\":2,\"cores\":2,\"gpus\":1,\"nodes\":1}");
    const struct sim_run *run = sim_engine_find(w->engine, 1, -1);
    assert_string_equal(run->cpus, "0-3,64-67");
    assert_non_null(strstr(run->task_env, "BERTH_TASK_INDEX=1"));
    assert_non_null(strstr(run->task_env, "BERTH_CPUS=2-3,66-67"));
    assert_non_null(strstr(run->task_env, "CUDA_VISIBLE_DEVICES=1"));
    submit(w, TRUE1);
    assert_non_null(strstr(sim_engine_find(w->engine, 2, -1)->task_env, "CUDA_VISIBLE_DEVICES= "));
}

/* A jobspec of so many slots, each with so much of a type, and tasks as they are counted. */
static char *jobspec(int slots, int n, const char *type, const char *count)
{
    static char text[512];
    snprintf(
        text, sizeof(text),
        "{\"jobspec\":{\"version\":9999,\"resources\":[{\"type\":\"slot\",\"count\":%d,\"label\":"
        "\"a\",\"with\":[{\"type\":\"%s\",\"count\":%d}]}],\"tasks\":[{\"command\":[\"x\"],"
        "\"slot\":\"a\",\"count\":%s}],\"attributes\":{}}}",
        slots, type, n, count);
    return text;
}

static size_t tasks_of(struct sim_server *w, int64_t id)
{
    return sim_engine_find(w->engine, id, -1)->n_tasks;
}

/* As many as it has cores, unless more are allowed and asked for. */
static void tasks_are_bounded_by_cores(void **state)
{
    struct sim_server *w = *state;
    expect_refused(w, jobspec(1, 1, "core", "{\"total\":70000}"),
                   "key \"jobspec\": expected at most 1 task for its cores, got 70000");
    expect_refused(w, jobspec(2, 2, "core", "{\"total\":5}"),
                   "key \"jobspec\": expected at most 4 tasks for its cores, got 5");
    expect_refused(w, jobspec(2, 1, "core", "{\"per_slot\":2}"),
                   "key \"jobspec\": expected at most 2 tasks for its cores, got 4");
    expect_refused(w, jobspec(1, 2, "core", "{\"per_resource\":{\"type\":\"core\",\"count\":3}}"),
                   "key \"jobspec\": expected at most 2 tasks for its cores, got 6");
    expect_refused(w, jobspec(1, 1, "core", "{\"per_slot\":4294967295}"),
                   "key \"jobspec\": expected at most 1 task for its cores, got 4294967295");
    assert_int_equal(tasks_of(w, submit(w, jobspec(2, 2, "core", "{\"total\":4}"))), 4);
    end(w, 1, 0);
    assert_int_equal(tasks_of(w, submit(w, jobspec(1, 1, "node", "{\"total\":4}"))), 4);
    end(w, 2, 0);
    assert_int_equal(tasks_of(w, submit(w, jobspec(2, 1, "gpu", "{\"per_slot\":1}"))), 2);
    end(w, 3, 0);
    expect_refused(w, jobspec(1, 1, "node", "{\"total\":5}"),
                   "key \"jobspec\": expected at most 4 tasks for its cores, got 5");
    expect_refused(w, "{\"command\":[\"x\"],\"overcommit\":true}",
                   "key \"overcommit\": expected a jobspec: others have cores for each task");
}

static int open_wide(void **state)
{
    return open_world_of(state, "resources: {nodes: 2, cores: 4}\n"
                                "queues: {batch: {policy: easy}}\n"
                                "default-queue: batch\n"
                                "server: {tasks-per-core: 3, processes-per-core: 100}\n");
}

static void tasks_may_be_more_where_that_is_configured(void **state)
{
    struct sim_server *w = *state;
    char body[600];
    expect_refused(w, jobspec(2, 1, "core", "{\"total\":6}"),
                   "key \"jobspec\": expected at most 2 tasks for its cores, got 6 (more with "
                   "\"overcommit\")");
    snprintf(body, sizeof(body), "{\"overcommit\":true,%s",
             jobspec(2, 1, "core", "{\"total\":6}") + 1);
    assert_int_equal(tasks_of(w, submit(w, body)), 6);
    assert_int_equal(sim_engine_find(w->engine, 1, -1)->processes, 200);
    snprintf(body, sizeof(body), "{\"overcommit\":true,%s",
             jobspec(2, 1, "core", "{\"total\":7}") + 1);
    expect_refused(w, body, "key \"jobspec\": expected at most 6 tasks for its cores, got 7");
    submit(w, TRUE1);
    assert_int_equal(sim_engine_find(w->engine, 2, -1)->processes, 100);
}

/* Half of what the system may have is for jobs, by their cores: this machine has eight. */
static void a_job_has_its_share_of_processes(void **state)
{
    struct sim_server *w = *state;
    submit(w, TRUE1);
    assert_int_equal(sim_engine_find(w->engine, 1, -1)->processes,
                     0); /* nobody knows how many there may be */
    sim_server_close(w);
    w->world.processes = 32768;
    assert_int_equal(sim_server_open(w, NULL), 0);
    sim_server_turn(w, NULL);
    submit(w, "{\"command\":[\"x\"],\"cores\":3}");
    assert_int_equal(sim_engine_find(w->engine, 2, -1)->processes, 3 * 2048);
}

/* What JSON is read into, until so many pieces of it are there. */
static int pieces;

static void *few_pieces(size_t size)
{
    return pieces-- > 0 ? malloc(size) : NULL;
}

/* It is no fault of the body that there is no memory for it, whichever piece is missing. */
static void a_body_that_finds_no_memory_is_no_wrong_one(void **state)
{
    struct sim_server *w = *state;
    static const char body[] = "{\"command\":[\"true\"],\"cores\":1,\"environment\":{\"A\":\"b\"}}";
    struct server_request request = {.method = "POST",
                                     .path = "/v1/jobs",
                                     .body = body,
                                     .length = sizeof(body) - 1,
                                     .peer = {.uid = SIM_OWNER, .gid = 100, .pid = 1}};
    struct server_reply reply;
    int refused = 0;
    do {
        pieces = refused;
        json_set_alloc_funcs(few_pieces, free);
        server_request(w->server, &request, &reply);
        json_set_alloc_funcs(malloc, free);
        if (reply.status != 201 && reply.status != 503)
            fail_msg("with %d pieces: %d %s", refused, reply.status, strbuf_text(&reply.body));
        refused += reply.status == 503;
        strbuf_clear(&reply.body);
    } while (reply.status == 503);
    assert_true(refused > 5);
    sim_server_turn(w, NULL);
}

static void wrong_requests_are_refused_by_name(void **state)
{
    struct sim_server *w = *state;
    expect_refused(w, "{}", "key \"command\": expected a command or a script");
    expect_refused(w, "{\"command\":\"x\"}", "key \"command\": expected a list, got \"x\"");
    expect_refused(w, "{\"command\":[\"x\"],\"cores\":0}",
                   "key \"cores\": expected a whole number from 1 to 1000000, got 0");
    expect_refused(w, "{\"command\":[\"x\"],\"duration\":\"soon\"}",
                   "key \"duration\": expected seconds, or a time such as \"90s\", \"1h30m\" or "
                   "\"1-00:00:00\", up to 20 years, got \"soon\"");
    expect_refused(w, "{\"command\":[\"x\"],\"queue\":\"q\"}",
                   "key \"queue\": there is no queue \"q\"");
    expect_refused(w, "{\"command\":[\"x\"],\"dependency\":\"afterok:9\"}",
                   "dependency 9: no such job");
    expect_refused(w, "[{\"command\":[\"x\"]},{\"command\":[]}]",
                   "jobs[1]: key \"command\": expected a list of strings, the first of them a "
                   "program, got []");
    expect_refused(w, "nonsense",
                   "the body is no JSON: line 1, column 8: '[' or '{' expected near 'nonsense'");
    tell(w, "GET", "/v1/nothing", NULL, 404);
    tell(w, "GET", "/v1/jobs/1", NULL, 404);
    tell(w, "POST", "/v1/queues", NULL, 405);
    json_t *got = ask(w, "GET", "/v1/jobs", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(got, "jobs")), 0);
    json_decref(got);
    assert_int_equal(submit(w, TRUE1), 1);
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
    reopen(w, false);
    expect_state(w, 2, "running");
    expect_text(w, 2, "priority", "5");
    tell(w, "POST", "/v1/jobs/2/signal", "{\"signal\":\"USR2\"}", 409);
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

static void a_full_disk_loses_nothing(void **state)
{
    struct sim_server *w = *state;
    submit(w, TRUE1);
    start_all(w);
    sim_disk_limit(w->disk, sim_disk_size(w->disk));
    /* More than the log has room for. */
    static char large[2000000];
    json_t *body = json_array();
    for (char c = 'x'; c <= 'z'; c++) {
        memset(large, c, sizeof(large) - 1);
        json_array_append_new(body, json_pack("{s:s}", "script", large));
    }
    char *text = json_dumps(body, 0);
    json_t *got = ask(w, "POST", "/v1/jobs", text, 507);
    json_decref(got);
    json_decref(body);
    free(text);
    got = ask(w, "GET", "/v1/jobs", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(got, "jobs")), 1);
    json_decref(got);
    end(w, 1, 0);
    sim_server_wait(w, 3 * SIM_SECOND);
    sim_disk_limit(w->disk, -1);
    sim_server_wait(w, 3 * SIM_SECOND);
    expect_state(w, 1, "done");
    int64_t id = submit(w, TRUE1);
    expect_state(w, id, "running");
    assert_int_equal(w->engine->n, 2);
    reopen(w, true);
    expect_state(w, 1, "done");
    expect_state(w, id, "running");
}

static void what_was_cut_off_is_finished(void **state)
{
    struct sim_server *w = *state;
    submit(w, TRUE1);
    submit(w, "{\"command\":[\"x\"],\"requeue\":true}");
    start_all(w);
    sim_engine_lost(w->engine, sim_engine_find(w->engine, 1, -1));
    sim_engine_lost(w->engine, sim_engine_find(w->engine, 2, -1));
    reopen(w, true);
    expect_state(w, 1, "failed");
    expect_text(w, 1, "reason", "\"lost: nobody knows how it ended\"");
    expect_state(w, 2, "running");
    assert_int_equal(w->engine->n, 3);
    assert_int_equal(w->engine->twice, 0);
}

static void a_run_that_the_engine_has_forgotten_is_lost(void **state)
{
    struct sim_server *w = *state;
    submit(w, TRUE1);
    submit(w, "{\"command\":[\"x\"],\"requeue\":true}");
    start_all(w);
    sim_server_wait(w, SIM_SECOND);
    for (size_t i = 0; i < 2; i++) { /* as if somebody had removed its files */
        w->engine->runs[i].state = SIM_OVER;
        w->engine->runs[i].end_number = 0;
    }
    reopen(w, true);
    expect_state(w, 1, "failed");
    expect_state(w, 2, "running");
    expect_text(w, 2, "attempts", "2");
    assert_int_equal(w->engine->n, 3);
}

static void what_was_asked_for_is_started_once(void **state)
{
    struct sim_server *w = *state;
    submit(w, TRUE1);
    submit(w, TRUE1);
    sim_engine_unask(w->engine); /* the second one never got there */
    reopen(w, true);
    assert_int_equal(w->engine->n, 2);
    assert_int_equal(w->engine->twice, 0);
    start_all(w);
    end(w, 1, 0);
    end(w, 2, 0);
    expect_state(w, 1, "done");
    expect_state(w, 2, "done");
}

/* Its start was recorded, and whether the engine had begun with it went with the power. */
static void a_start_that_a_power_failure_hides_is_not_repeated(void **state)
{
    struct sim_server *w = *state;
    submit(w, TRUE1);
    submit(w, "{\"command\":[\"true\"],\"requeue\":true}");
    sim_engine_forget(w->engine);
    w->boot++;
    w->steady = SIM_SECOND;
    reopen(w, true);
    assert_int_equal(w->engine->twice, 0);
    expect_state(w, 1, "failed");
    expect_state(w, 2, "running");
    assert_int_equal(sim_engine_find(w->engine, 2, -1)->attempt, 2);
    submit(w, TRUE1); /* one of this boot, on the other hand, was never begun with */
    sim_engine_unask(w->engine);
    reopen(w, true);
    assert_int_equal(sim_engine_find(w->engine, 3, -1)->attempt, 1);
    expect_state(w, 3, "running");
}

/* What is heard late of an end that came first: a limit that passed meanwhile had nothing to do with it. */
static void an_end_before_the_limit_is_no_timeout(void **state)
{
    struct sim_server *w = *state;
    int64_t ended;
    for (int jump = 0; jump < 2; jump++) {
        int64_t id = submit(w, "{\"command\":[\"true\"],\"duration\":60}");
        start_all(w);
        struct sim_run *run = sim_engine_find(w->engine, id, -1);
        run->stubborn = true;
        sim_server_wait(w, 50 * SIM_SECOND);
        ended = w->wall;
        sim_server_wait(w, 11 * SIM_SECOND);
        assert_int_equal(run->last_signal, SIGTERM);
        if (jump) /* a clock that was set back says nothing about what came first */
            w->wall -= 100 * SIM_SECOND;
        w->engine->wall = jump ? w->wall : ended;
        sim_engine_ended(w->engine, run, 0, 0);
        sim_server_turn(w, NULL);
        expect_state(w, id, jump ? "timeout" : "done");
    }
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

static void a_listing_by_ids_has_its_limit(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"true\"],\"array\":5}");
    end(w, submit(w, TRUE1), 0);
    json_t *got = ask(w, "GET", "/v1/jobs?ids=1,2,1&limit=3", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(got, "jobs")), 3);
    json_decref(got);
    got = ask(w, "GET", "/v1/jobs?ids=1,7,2,1", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(got, "jobs")), 11);
    json_decref(got);
}

/* Texts that a small request makes large are refused before they are. */
static void texts_have_their_bounds(void **state)
{
    struct sim_server *w = *state;
    char name[200], *body;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_true(asprintf(&body, "{\"command\":[\"x\"],\"name\":\"%s\",\"output\":\"%s\"}", name,
                         "%n%n%n%n%n%n%n%n%n%n%n%n%n%n%n%n%n%n%n%n%n") > 0);
    expect_refused(w, body, "key \"output\": expected at most 4095 bytes");
    free(body);
    /* What would control a terminal: below U+0020, U+007F to U+009F. */
    static const char *const names[] = {"a\\u001b[31m", "\\n",     "\\u007f",
                                        "\\u0080",      "\\u009f", "a/b"};
    char text[100];
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(text, sizeof(text), "{\"command\":[\"x\"],\"name\":\"%s\"}", names[i]);
        expect_refused(
            w, text, "key \"name\": expected at most 255 bytes without '/' and control characters");
        snprintf(text, sizeof(text),
                 "{\"resources\":\"node0\",\"status\":\"drained\",\"reason\":\"%s\"}", names[i]);
        tell(w, "PATCH", "/v1/resources", text, strchr(names[i], '/') ? 200 : 400);
    }
    expect_text(w, submit(w, "{\"command\":[\"x\"],\"name\":\"\\u00a0\\u540d\"}"), "name",
                "\"\xc2\xa0\xe5\x90\x8d\"");
    expect_text(w, submit(w, "{\"command\":[\"/bin/e\\u001b\\u009bx\"]}"), "name", "\"e??x\"");
    size_t n = (size_t)12 << 20;
    body = malloc(n + 1);
    memset(body, '[', n);
    for (size_t i = 1; i < n; i += 3)
        memcpy(body + i, "],[", n - i < 3 ? n - i : 3);
    body[n] = '\0';
    tell(w, "POST", "/v1/jobs/cancel", body, 413);
    free(body);
}

/* A job with a word, a variable and a script of so many bytes; words: how many of the first two. */
static char *job_of(const char *kind, size_t bytes, size_t words)
{
    char name[40], *text = malloc(bytes + 1);
    memset(text, 'x', bytes);
    text[bytes] = '\0';
    bool is_script = strcmp(kind, "script") == 0;
    json_t *environment = json_object();
    json_t *job =
        is_script ? json_pack("{s:s}", "script", text) : json_pack("{s:[s]}", "command", "x");
    for (size_t i = 0; i < words && !is_script; i++) {
        snprintf(name, sizeof(name), "V%02zu", i);
        if (strcmp(kind, "environment") == 0)
            json_object_set_new(environment, name, json_string(text + 4)); /* "V00=" */
        else
            json_array_append_new(json_object_get(job, "command"), json_string(text));
    }
    json_object_set_new(job, "environment", environment);
    char *body = json_dumps(job, 0);
    json_decref(job);
    free(text);
    return body;
}

static void a_job_is_as_large_as_can_be_started(void **state)
{
    struct sim_server *w = *state;
    static const struct {
        const char *kind;
        size_t bytes, words;
        const char *message; /* NULL: it is taken */
    } jobs[] = {
        {"command", 131071, 1, NULL},
        {"command", 131072, 1, "key \"command\": expected at most 128 KiB a word"},
        {"environment", 131071, 1, NULL},
        {"environment", 131072, 1, "key \"environment\": expected at most 128 KiB a variable"},
        /* 1920 KiB are 15 * 128 KiB, the pointers and the command's name included. */
        {"command", 131050, 15, NULL},
        {"command", 131070, 15,
         "key \"command\": expected at most 1920 KiB with its arguments and the environment"},
        {"environment", 131050, 15, NULL},
        {"environment", 131070, 15,
         "key \"environment\": expected at most 1920 KiB with the command"},
        {"script", (size_t)2 << 20, 0, NULL},
        {"script", ((size_t)2 << 20) + 1, 0, "key \"script\": expected at most 2 MiB"},
    };
    for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
        char *body = job_of(jobs[i].kind, jobs[i].bytes, jobs[i].words);
        if (jobs[i].message)
            expect_refused(w, body, jobs[i].message);
        else
            submit(w, body);
        free(body);
    }
}

static void queues_and_resources_are_closed_for_good(void **state)
{
    struct sim_server *w = *state;
    tell(w, "PATCH", "/v1/queues/long", "{\"started\":false}", 200);
    tell(w, "PATCH", "/v1/queues/none", "{\"started\":false}", 404);
    tell(w, "PATCH", "/v1/resources",
         "{\"resources\":\"node0\",\"status\":\"drained\",\"reason\":\"fan\"}", 200);
    tell(w, "PATCH", "/v1/resources", "{\"resources\":\"node7\",\"status\":\"up\"}", 404);
    reopen(w, true);
    int64_t id = submit(w, "{\"command\":[\"x\"],\"queue\":\"long\"}");
    expect_state(w, id, "pending");
    id = submit(w, ALL);
    expect_state(w, id, "pending");
    json_t *got = ask(w, "GET", "/v1/queues", NULL, 200);
    const json_t *queue = json_array_get(json_object_get(got, "queues"), 1);
    assert_true(json_is_false(json_object_get(queue, "started")));
    json_decref(got);
    got = ask(w, "GET", "/v1/resources", NULL, 200);
    assert_int_equal(json_integer_value(json_object_get(got, "cores")), 8);
    json_decref(got);
    tell(w, "PATCH", "/v1/resources", "{\"resources\":\"node0\",\"status\":\"up\"}", 200);
    expect_state(w, id, "running");
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

static void a_full_disk_keeps_no_configuration_out(void **state)
{
    struct sim_server *w = *state;
    sim_server_configure(w, "resources: {nodes: 2, cores: 4, gpus: 2, memory: 8}\n"
                            "queues: {batch: {}, extra: {}}\ndefault-queue: batch\n");
    sim_disk_limit(w->disk, sim_disk_size(w->disk) / 2);
    tell(w, "POST", "/v1/server/reload", NULL, 200);
    sim_disk_limit(w->disk, -1);
    submit(w, "{\"command\":[\"x\"],\"queue\":\"extra\"}");
}

static void configurations_are_reloaded_as_a_whole(void **state)
{
    struct sim_server *w = *state;
    sim_server_configure(w, "resources: {nodes: 2, cores: 4, gpus: 2, memory: 8}\n"
                            "queues: {batch: {}, extra: {}}\ndefault-queue: batch\n");
    tell(w, "POST", "/v1/server/reload", NULL, 200);
    submit(w, "{\"command\":[\"x\"],\"queue\":\"extra\"}");
    sim_server_configure(w, "resources: {nodes: 2, cores: 4, gpus: 2, memory: 8}\n"
                            "queues: {batch: {}}\n");
    tell(w, "POST", "/v1/server/reload", NULL, 400); /* extra has a job */
    sim_server_configure(w, "nonsense");
    tell(w, "POST", "/v1/server/reload", NULL, 400);
    submit(w, "{\"command\":[\"x\"],\"queue\":\"extra\"}");
    tell(w, "POST", "/v1/server/stop", NULL, 200);
    assert_true(server_is_stopping(w->server));
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

static void time_goes_on_over_boots(void **state)
{
    struct sim_server *w = *state;
    submit(w, ALL);
    start_all(w);
    submit(w, "{\"command\":[\"x\"],\"begin\":\"+1h\",\"nodes\":2}");
    end(w, 1, 0);
    expect_state(w, 2, "pending");
    w->wall -= 86400 * SIM_SECOND; /* somebody sets the clock back: nothing happens */
    sim_server_wait(w, 1800 * SIM_SECOND);
    expect_state(w, 2, "pending");
    submit(w, "{\"command\":[\"x\"],\"hold\":true}"); /* it is known now */
    sim_server_close(w);
    w->boot++;
    w->steady = 5 * SIM_SECOND;
    w->wall += 1790 * SIM_SECOND;
    assert_int_equal(sim_server_open(w, NULL), 0);
    sim_server_wait(w, SIM_SECOND);
    expect_state(w, 2, "pending");
    sim_server_wait(w, 20 * SIM_SECOND);
    expect_state(w, 2, "running");
}

/* After a boot the clock is stored at once: a wall clock that is set after it, and before anything else happens, says nothing. */
static void a_clock_that_is_set_after_a_boot_moves_nothing(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"x\"],\"begin\":\"+1h\"}");
    sim_server_close(w);
    w->boot++;
    w->steady = 5 * SIM_SECOND;
    w->wall += 60 * SIM_SECOND;
    reopen(w, true);
    w->wall += INT64_C(10) * 86400 * SIM_SECOND;
    reopen(w, true);
    sim_server_wait(w, 3500 * SIM_SECOND);
    expect_state(w, 1, "pending");
    sim_server_wait(w, 60 * SIM_SECOND);
    expect_state(w, 1, "running");
}

/* A server that begins while the keeper is stopped answers and takes jobs, and acts when it hears what runs. */
static void an_engine_that_is_silent_is_waited_for(void **state)
{
    struct sim_server *w = *state;
    int64_t runs = submit(w, TRUE1), stops = submit(w, TRUE1), ends = submit(w, TRUE1);
    start_all(w);
    int64_t asked = submit(w, TRUE1); /* the engine has it, and has said nothing of it */
    size_t n = w->engine->n;
    w->engine->silent = true;
    reopen(w, true);
    int64_t waits = submit(w, TRUE1);
    tell(w, "DELETE", stops == 2 ? "/v1/jobs/2" : "", NULL, 200);
    sim_server_wait(w, 60 * SIM_SECOND);
    assert_true(server_check(w->server));
    expect_state(w, runs, "running");
    expect_state(w, asked, "running");
    expect_state(w, waits, "pending");
    assert_int_equal(w->engine->n, n);
    assert_int_equal(sim_engine_find(w->engine, stops, -1)->last_signal, 0);
    sim_engine_ended(w->engine, sim_engine_find(w->engine, ends, -1), 3, 0);
    w->engine->silent = false;
    sim_server_turn(w, NULL);
    assert_true(server_check(w->server));
    expect_state(w, ends, "failed");
    expect_state(w, stops, "cancelled");
    start_all(w);
    expect_state(w, waits, "running");
    expect_state(w, runs, "running");
    assert_int_equal(w->engine->n, n + 1);
    assert_int_equal(w->engine->twice, 0);
}

/* What it then was never asked for is started. */
static void what_a_silent_engine_was_not_asked_for_is_started(void **state)
{
    struct sim_server *w = *state;
    int64_t runs = submit(w, TRUE1);
    start_all(w);
    int64_t asked = submit(w, TRUE1);
    w->engine->silent = true;
    reopen(w, true);
    sim_engine_unask(w->engine);
    w->engine->silent = false;
    sim_server_turn(w, NULL);
    expect_state(w, runs, "running");
    assert_int_equal(sim_engine_find(w->engine, asked, -1)->state, SIM_ASKED);
    expect_state(w, asked, "running");
}

/* Of what it has forgotten it can't say whether it has run: that is lost. */
static void what_a_silent_engine_has_forgotten_is_lost(void **state)
{
    struct sim_server *w = *state;
    int64_t runs = submit(w, TRUE1);
    start_all(w);
    submit(w, "{\"command\":[\"x\"],\"hold\":true}"); /* its start is durable */
    int64_t asked = submit(w, TRUE1);
    size_t n = w->engine->n;
    w->engine->silent = true;
    reopen(w, true);
    sim_engine_forget(w->engine);
    w->engine->silent = false;
    sim_server_turn(w, NULL);
    expect_state(w, runs, "failed");
    expect_text(w, runs, "reason", "\"lost: nobody knows how it ended\"");
    expect_state(w, asked, "failed");
    assert_int_equal(w->engine->n, n);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_runs_and_is_remembered),
        TEST(tasks_share_cores_and_devices),
        TEST(tasks_are_bounded_by_cores),
        cmocka_unit_test_setup_teardown(tasks_may_be_more_where_that_is_configured, open_wide,
                                        close_world),
        TEST(a_job_has_its_share_of_processes),
        TEST(wrong_requests_are_refused_by_name),
        TEST(a_body_that_finds_no_memory_is_no_wrong_one),
        TEST(jobs_wait_and_keep_what_they_were_promised),
        TEST(limits_end_jobs),
        TEST(jobs_are_cancelled_held_and_changed),
        TEST(arrays_have_members),
        TEST(dependencies_outlive_a_restart),
        cmocka_unit_test_setup_teardown(a_promise_goes_with_its_duration, open_slow, close_world),
        TEST(a_full_disk_loses_nothing),
        TEST(what_was_cut_off_is_finished),
        TEST(a_run_that_the_engine_has_forgotten_is_lost),
        TEST(what_was_asked_for_is_started_once),
        TEST(a_start_that_a_power_failure_hides_is_not_repeated),
        TEST(an_end_before_the_limit_is_no_timeout),
        TEST(what_a_job_waited_for_may_be_forgotten),
        TEST(a_listing_by_ids_has_its_limit),
        TEST(texts_have_their_bounds),
        TEST(a_job_is_as_large_as_can_be_started),
        TEST(queues_and_resources_are_closed_for_good),
        TEST(who_waits_again_does_so_as_the_others),
        TEST(a_full_disk_keeps_no_configuration_out),
        TEST(configurations_are_reloaded_as_a_whole),
        TEST(events_go_on_where_they_were),
        TEST(a_wait_is_explained),
        TEST(users_see_and_change_their_own),
        TEST(time_goes_on_over_boots),
        TEST(a_clock_that_is_set_after_a_boot_moves_nothing),
        TEST(an_engine_that_is_silent_is_waited_for),
        TEST(what_a_silent_engine_was_not_asked_for_is_started),
        TEST(what_a_silent_engine_has_forgotten_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
