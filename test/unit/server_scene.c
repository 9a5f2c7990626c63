#include "server_scene.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CONFIG                                                                                     \
    "resources: {nodes: 2, cores: 4, gpus: 2, memory: 8}\n"                                        \
    "match: {policy: low}\n"                                                                       \
    "default-queue: batch\n"                                                                       \
    "queues:\n"                                                                                    \
    "  batch: {policy: easy}\n"                                                                    \
    "  long: {policy: conservative, limits: {job: {core: 6}}}\n"                                   \
    "server: {grace: 5, administrators: [ann], requests-per-second: unlimited}\n"

int open_world(void **state)
{
    return open_world_of(state, CONFIG);
}

int open_world_of(void **state, const char *config)
{
    berth_error_t err = {""};
    struct sim_server *w = sim_server_create(config, 1);
    *state = w;
    if (sim_server_open(w, &err) == 0)
        return 0;
    fprintf(stderr, "%s\n", err.text);
    return -1;
}

int close_world(void **state)
{
    assert_true(server_check(((struct sim_server *)*state)->server));
    sim_server_destroy(*state);
    return 0;
}

void reopen(struct sim_server *w, bool crash)
{
    berth_error_t err = {""};
    if (crash)
        sim_server_crash(w);
    else
        sim_server_close(w);
    if (sim_server_open(w, &err) < 0)
        fail_msg("%s", err.text);
    sim_server_turn(w, NULL);
}

json_t *ask(struct sim_server *w, const char *method, const char *path, const char *body,
            int expected)
{
    int status;
    const char *query = strchr(path, '?');
    char *clean = strndup(path, query ? (size_t)(query - path) : strlen(path));
    json_t *got =
        sim_server_ask(w, SIM_OWNER, method, clean, query ? query + 1 : NULL, body, &status);
    if (status != expected) {
        char *text = json_dumps(got, JSON_ENCODE_ANY);
        fail_msg("%s %s: %d: %s", method, path, status, text);
    }
    free(clean);
    return got;
}

int64_t submit(struct sim_server *w, const char *body)
{
    json_t *got = ask(w, "POST", "/v1/jobs", body, 201);
    int64_t id = json_integer_value(json_object_get(got, "id"));
    json_decref(got);
    return id;
}

void expect_refused(struct sim_server *w, const char *body, const char *message)
{
    json_t *got = ask(w, "POST", "/v1/jobs", body, 400);
    const char *text = json_string_value(json_object_get(json_object_get(got, "error"), "message"));
    assert_string_equal(text, message);
    json_decref(got);
}

json_t *show(struct sim_server *w, int64_t id)
{
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%lld", (long long)id);
    return ask(w, "GET", path, NULL, 200);
}

void expect_text(struct sim_server *w, int64_t id, const char *key, const char *value)
{
    json_t *job = show(w, id);
    const json_t *found = json_object_get(job, key);
    char *text = json_dumps(found, JSON_ENCODE_ANY);
    assert_non_null(found);
    assert_string_equal(text, value);
    free(text);
    json_decref(job);
}

void expect_state(struct sim_server *w, int64_t id, const char *state)
{
    char quoted[40];
    snprintf(quoted, sizeof(quoted), "\"%s\"", state);
    expect_text(w, id, "state", quoted);
}

/* The engine starts all that it was asked to. */
void start_all(struct sim_server *w)
{
    for (size_t i = 0; i < w->engine->n; i++)
        if (w->engine->runs[i].state == SIM_ASKED)
            sim_engine_started(w->engine, &w->engine->runs[i]);
    sim_server_turn(w, NULL);
}

int asked_by(struct sim_server *w, unsigned uid, const char *method, const char *path,
             const char *body)
{
    int status;
    json_decref(sim_server_ask(w, uid, method, path, NULL, body, &status));
    return status;
}

void ask_begin(struct sim_server *w, unsigned uid, const char *method, const char *path,
               const char *body, struct asked *a)
{
    struct server_request request = {.method = method,
                                     .path = path,
                                     .body = body,
                                     .length = body ? strlen(body) : 0,
                                     .peer = {.uid = uid, .gid = 100, .pid = 1}};
    server_request(w->server, &request, &a->reply);
    a->is_there = !a->reply.wait;
}

int ask_turn(struct sim_server *w, struct asked **asked, size_t n)
{
    berth_error_t why = {""};
    int rc = server_turn(w->server, &w->due, &why);
    for (size_t i = 0; i < n; i++) {
        struct asked *a = asked[i];
        if (a->is_there)
            continue;
        if (a->reply.work) {
            a->is_there = server_work_done(a->reply.work, &a->reply);
            continue;
        }
        a->is_there = true;
        if (rc < 0)
            server_failed(w->server, &why, &a->reply);
    }
    assert_true(server_check(w->server));
    return rc;
}

void ask_forget(struct asked *a)
{
    if (!a->is_there)
        server_work_abandon(a->reply.work);
    strbuf_clear(&a->reply.body);
    *a = (struct asked){0};
}
