/* What the store keeps of each user's jobs, by requests, in a simulated world. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/core/state.h"
#include "server/store/priv.h"
#include "server_scene.h"

enum { MOST = 100000, SCRIPT = 10000 };

static const char config[] = "resources: {nodes: 2, cores: 4}\n"
                             "queues: {batch: {policy: easy}}\n"
                             "server: {administrators: [ann], max-stored-per-user: 100000, "
                             "requests-per-second: unlimited}\n";

static int open_room(void **state)
{
    struct sim_server *w;
    if (open_world_of(state, config) < 0)
        return -1;
    w = *state;
    sim_server_close(w);
    w->options.for_all = true;
    w->options.uid = 0;
    return sim_server_open(w, NULL);
}

static int64_t used(struct sim_server *w, uint32_t uid)
{
    int64_t bytes;
    assert_int_equal(store_used(w->server->store, uid, &bytes, NULL), 0);
    return bytes;
}

/* What the last submission was answered, if it was refused. */
static char said[600];

static int submit_as(struct sim_server *w, unsigned uid, const char *body)
{
    int status;
    json_t *got = sim_server_ask(w, uid, "POST", "/v1/jobs", NULL, body, &status);
    const char *text = json_string_value(json_object_get(json_object_get(got, "error"), "message"));
    snprintf(said, sizeof(said), "%s", text ? text : "");
    json_decref(got);
    return status;
}

/* A job that waits, with a script that no other has. */
static int submit_script(struct sim_server *w, unsigned uid, int number, size_t length)
{
    char *body = malloc(length + 200);
    int n = sprintf(body, "{\"hold\":true,\"directory\":\"/\",\"script\":\"#!%08d", number);
    memset(body + n, 'x', length);
    strcpy(body + (size_t)n + length, "\"}");
    int status = submit_as(w, uid, body);
    free(body);
    return status;
}

static int ask_for(struct sim_server *w, unsigned uid, const char *method, int64_t id,
                   const char *body)
{
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%lld", (long long)id);
    return asked_by(w, uid, method, path, body);
}

static int cancel(struct sim_server *w, unsigned uid, int64_t id)
{
    return ask_for(w, uid, "DELETE", id, NULL);
}

/* A user's oldest history goes for what that user submits; nobody else's does. */
static void history_goes_for_what_is_new(void **state)
{
    struct sim_server *w = *state;
    assert_int_equal(submit_script(w, SIM_OWNER, 0, SCRIPT), 201);
    assert_int_equal(cancel(w, SIM_OWNER, 1), 200);
    for (int id = 2; id <= 60; id++) {
        assert_int_equal(submit_script(w, SIM_BOB, id, SCRIPT), 201);
        assert_int_equal(cancel(w, SIM_BOB, id), 200);
        assert_in_range(used(w, SIM_BOB), 0, MOST + 1000);
        if (id % 20 == 0)
            reopen(w, id == 40);
    }
    assert_in_range(used(w, SIM_BOB), MOST / 2, MOST + 1000);
    assert_int_equal(ask_for(w, SIM_BOB, "GET", 2, NULL), 404);
    assert_int_equal(ask_for(w, SIM_BOB, "GET", 50, NULL), 404);
    assert_int_equal(ask_for(w, SIM_BOB, "GET", 60, NULL), 200);
    assert_int_equal(ask_for(w, SIM_OWNER, "GET", 1, NULL), 200);
    assert_in_range(used(w, SIM_OWNER), SCRIPT, SCRIPT + 2000);
}

/* What waits stays, and then nothing more is taken of this user, but of others. */
static void what_waits_stays(void **state)
{
    struct sim_server *w = *state;
    int status = 201, n = 0;
    assert_int_equal(submit_script(w, SIM_BOB, 0, SCRIPT), 201);
    assert_int_equal(cancel(w, SIM_BOB, 1), 200);
    while (status == 201 && n < 20)
        status = submit_script(w, SIM_BOB, ++n, SCRIPT);
    assert_in_range(n, 8, 10);
    assert_int_equal(status, 507);
    assert_string_equal(said, "the store is full for user bob: at most 100000 bytes, "
                              "and no history is left to drop");
    assert_int_equal(ask_for(w, SIM_BOB, "GET", 1, NULL), 404);
    assert_int_equal(ask_for(w, SIM_BOB, "GET", 2, NULL), 200);
    assert_int_equal(submit_script(w, SIM_OWNER, 0, SCRIPT), 201);
    assert_int_equal(submit_script(w, SIM_ANN, 0, 3 * MOST), 201); /* an administrator */
    reopen(w, true);
    assert_int_equal(submit_script(w, SIM_BOB, n, SCRIPT), 507);
    /* Equal texts of one user are stored once, and so they count. */
    assert_int_equal(submit_script(w, SIM_BOB, 1, 10), 201);
    assert_int_equal(cancel(w, SIM_BOB, 2), 200);
    assert_int_equal(submit_script(w, SIM_BOB, n, SCRIPT), 201);
}

/* Members count for what they will leave; neither an array nor a list of jobs gets round that. */
static void members_count(void **state)
{
    struct sim_server *w = *state;
    struct strbuf body = {0};
    int status;
    int64_t bytes;
    assert_int_equal(
        asked_by(w, SIM_BOB, "POST", "/v1/jobs", "{\"command\":[\"x\"],\"array\":1000}"), 507);
    strbuf_putc(&body, '[');
    for (int i = 0; i < 400; i++)
        strbuf_puts(&body, i ? ",{\"command\":[\"x\"]}" : "{\"command\":[\"x\"]}");
    strbuf_putc(&body, ']');
    json_t *got = sim_server_ask(w, SIM_BOB, "POST", "/v1/jobs", NULL, strbuf_text(&body), &status);
    assert_int_equal(status, 507);
    const char *text = json_string_value(json_object_get(json_object_get(got, "error"), "message"));
    assert_non_null(strstr(text, "]: the store is full for user bob: at most 100000 bytes"));
    assert_ptr_equal(strstr(text, "jobs["), text);
    assert_null(strstr(text + 1, "jobs["));
    json_decref(got);
    got = sim_server_ask(w, SIM_BOB, "POST", "/v1/jobs", NULL,
                         "[{\"command\":[\"x\"],\"priority\":1}]", &status);
    text = json_string_value(json_object_get(json_object_get(got, "error"), "message"));
    assert_string_equal(text,
                        "jobs[0]: key \"priority\": only administrators may raise it above 0");
    json_decref(got);
    strbuf_clear(&body);
    status = 201;
    sim_server_turn(w, NULL); /* what came of the list is taken back by then */
    assert_int_equal(used(w, SIM_BOB), 0);
    /* Arrays that are cancelled at once: what they leave is in the share. */
    for (int64_t id = 1; id <= 20 && status == 201; id++) {
        status = asked_by(w, SIM_BOB, "POST", "/v1/jobs",
                          "{\"command\":[\"x\"],\"hold\":true,\"array\":100}");
        if (status == 201)
            assert_int_equal(cancel(w, SIM_BOB, id), 200);
        assert_in_range(bytes = used(w, SIM_BOB), 1, MOST);
    }
    assert_int_equal(status, 201);
}

/* Changes leave events; who has no room left for them may still cancel. */
static void changes_leave_no_more_than_there_is_room_for(void **state)
{
    struct sim_server *w = *state;
    int status = 200, n;
    assert_int_equal(submit_script(w, SIM_BOB, 0, SCRIPT), 201);
    for (n = 0; n < 2000 && status == 200; n++)
        status = ask_for(w, SIM_BOB, "PATCH", 1, n % 2 ? "{\"priority\":-1}" : "{\"priority\":-2}");
    assert_int_equal(status, 507);
    assert_in_range(used(w, SIM_BOB), MOST / 2, MOST);
    assert_int_equal(asked_by(w, SIM_BOB, "POST", "/v1/jobs/hold", "{\"jobs\":[1]}"), 507);
    assert_int_equal(ask_for(w, SIM_ANN, "PATCH", 1, "{\"hold\":true}"), 200);
    assert_int_equal(cancel(w, SIM_BOB, 1), 200);
    assert_int_equal(submit_script(w, SIM_BOB, 1, SCRIPT), 201);
}

/* A smaller share after a reload is kept to as well, without anybody submitting. */
static void a_smaller_share_is_kept_to(void **state)
{
    struct sim_server *w = *state;
    for (int id = 1; id <= 8; id++) {
        assert_int_equal(submit_script(w, SIM_BOB, id, SCRIPT), 201);
        assert_int_equal(cancel(w, SIM_BOB, id), 200);
    }
    assert_in_range(used(w, SIM_BOB), 8 * SCRIPT, MOST);
    sim_server_configure(w, "resources: {nodes: 2, cores: 4}\n"
                            "queues: {batch: {policy: easy}}\n"
                            "server: {max-stored-per-user: 40K}\n");
    assert_int_equal(asked_by(w, 0, "POST", "/v1/server/reload", NULL), 200);
    sim_server_wait(w, 2 * 3600 * SIM_SECOND);
    assert_in_range(used(w, SIM_BOB), 2 * SCRIPT, 40960);
    assert_int_equal(ask_for(w, SIM_BOB, "GET", 8, NULL), 200);
}

/* The configuration allows a user one more job than he has: he may submit that, and no other. */
static void submits_one_more(struct sim_server *w, const char *yaml, const char *refused)
{
    static const char held[] = "{\"command\":[\"x\"],\"hold\":true}";
    sim_server_configure(w, yaml);
    assert_int_equal(asked_by(w, 0, "POST", "/v1/server/reload", NULL), 200);
    assert_int_equal(submit_as(w, SIM_BOB, held), 201);
    assert_int_equal(submit_as(w, SIM_BOB, held), 429);
    assert_string_equal(said, refused);
}

static void so_many_jobs_of_a_user(void **state)
{
    submits_one_more(*state,
                     "resources: {nodes: 2, cores: 4}\n"
                     "queues: {batch: {policy: easy}}\n"
                     "server: {max-jobs-per-user: 1}\n",
                     "at most 1 job per user may be pending or running");
    submits_one_more(*state,
                     "resources: {nodes: 2, cores: 4}\n"
                     "queues: {batch: {policy: easy}}\n"
                     "server: {max-jobs-per-user: 2}\n",
                     "at most 2 jobs per user may be pending or running");
}

static int64_t rows(struct sim_server *w)
{
    sqlite3_stmt *q;
    static const char sql[] = "SELECT (SELECT count(*) FROM event) + (SELECT count(*) FROM ended)"
                              " + (SELECT count(*) FROM job)";
    assert_int_equal(sqlite3_prepare_v2(w->server->store->db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return n;
}

/* The members of an array leave a row each, as they were named. */
static int cancel_one_by_one(struct sim_server *w, int64_t id)
{
    char body[80];
    snprintf(body, sizeof(body), "{\"jobs\":[\"%lld[0-1998]\",\"%lld[1999]\"]}", (long long)id,
             (long long)id);
    return asked_by(w, SIM_BOB, "POST", "/v1/jobs/cancel", body);
}

/* A request drops so many rows of its user's history and no more, as others wait; the rest goes between
 * requests, or with the next.
 */
static void a_request_drops_a_part(void **state)
{
    struct sim_server *w = *state;
    sim_server_configure(w, "resources: {nodes: 2, cores: 4}\n"
                            "queues: {batch: {policy: easy}}\n"
                            "server: {max-stored-per-user: 10M, requests-per-second: unlimited}\n");
    assert_int_equal(asked_by(w, 0, "POST", "/v1/server/reload", NULL), 200);
    for (int64_t id = 1; id <= 10; id++) {
        assert_int_equal(asked_by(w, SIM_BOB, "POST", "/v1/jobs",
                                  "{\"command\":[\"x\"],\"hold\":true,\"array\":2000}"),
                         201);
        assert_int_equal(cancel_one_by_one(w, id), 200);
    }
    int64_t left = rows(w);
    int status = 429, tries;
    assert_true(left > 40000);
    for (tries = 0; status == 429 && tries < 10; tries++) {
        int64_t before = left;
        /* For each member that waits 500 bytes are set aside. */
        status = submit_as(w, SIM_BOB, "{\"command\":[\"x\"],\"hold\":true,\"array\":19800}");
        left = rows(w);
        assert_in_range(before - left, 100, 8000);
        if (status == 429)
            assert_string_equal(
                said, "the store is full for user bob until history is dropped: try again");
    }
    assert_int_equal(status, 201);
    assert_in_range(tries, 4, 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_room, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(history_goes_for_what_is_new),
        TEST(what_waits_stays),
        TEST(members_count),
        TEST(changes_leave_no_more_than_there_is_room_for),
        TEST(a_smaller_share_is_kept_to),
        TEST(so_many_jobs_of_a_user),
        TEST(a_request_drops_a_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
