/* Requests to the server: what they may ask for, and how much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_scene.h"

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
                   "key \"overcommit\": expected a jobspec: other jobs have cores for each task");
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
                   "\"1-00:00:00\", up to 20 years, or \"unlimited\", got \"soon\"");
    expect_refused(w, "{\"command\":[\"x\"],\"queue\":\"q\"}",
                   "key \"queue\": there is no queue \"q\"");
    expect_refused(w, "{\"command\":[\"x\"],\"dependency\":\"afterok:9\"}",
                   "dependency 9: no such job");
    expect_refused(w, "[{\"command\":[\"x\"]},{\"command\":[]}]",
                   "jobs[1]: key \"command\": expected a list of strings that starts with a "
                   "program, got []");
    expect_refused(
        w, "nonsense",
        "the body is not valid JSON: line 1, column 8: '[' or '{' expected near 'nonsense'");
    tell(w, "GET", "/v1/nothing", NULL, 404);
    tell(w, "GET", "/v1/jobs/1", NULL, 404);
    tell(w, "POST", "/v1/queues", NULL, 405);
    json_t *got = ask(w, "GET", "/v1/jobs", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(got, "jobs")), 0);
    json_decref(got);
    assert_int_equal(submit(w, TRUE1), 1);
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
            w, text, "key \"name\": expected at most 255 bytes without '/' or control characters");
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tasks_share_cores_and_devices),
        TEST(tasks_are_bounded_by_cores),
        cmocka_unit_test_setup_teardown(tasks_may_be_more_where_that_is_configured, open_wide,
                                        close_world),
        TEST(a_job_has_its_share_of_processes),
        TEST(wrong_requests_are_refused_by_name),
        TEST(a_body_that_finds_no_memory_is_no_wrong_one),
        TEST(a_listing_by_ids_has_its_limit),
        TEST(texts_have_their_bounds),
        TEST(a_job_is_as_large_as_can_be_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
