/* Many jobs in one request: changed, listed by ids and filters; and how each was started. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "server_scene.h"

/* Policy easy: what fits beside the promise of one that is first starts before it. */
static void how_a_job_was_started_is_remembered(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"a\"],\"nodes\":1,\"duration\":100}");
    submit(w, "{\"command\":[\"b\"],\"nodes\":2,\"duration\":100}");
    submit(w, "{\"command\":[\"c\"],\"cores\":1,\"duration\":50}");
    start_all(w);
    expect_text(w, 2, "how", "null");
    expect_text(w, 3, "how", "\"backfilled\"");
    reopen(w, true);
    expect_text(w, 3, "how", "\"backfilled\"");
    end(w, 3, 0);
    end(w, 1, 0);
    start_all(w);
    end(w, 2, 0);
    tell(w, "POST", "/v1/jobs", "{\"command\":[\"d\"],\"hold\":true}", 201);
    tell(w, "DELETE", "/v1/jobs/4", NULL, 200);
    reopen(w, false);
    expect_text(w, 1, "how", "\"immediate\"");
    expect_text(w, 2, "how", "\"reserved\"");
    expect_text(w, 3, "how", "\"backfilled\"");
    expect_text(w, 4, "how", "null");
}

static void expect_answer(struct sim_server *w, unsigned uid, const char *path, const char *body,
                          int status, const char *expected)
{
    int got_status;
    json_t *got = sim_server_ask(w, uid, "POST", path, NULL, body, &got_status);
    char *text = json_dumps(got, JSON_COMPACT);
    assert_string_equal(text, expected);
    assert_int_equal(got_status, status);
    free(text);
    json_decref(got);
}

/* Ids of a listing and their states: "1:running 3.0:held". */
static void expect_list(struct sim_server *w, const char *path, const char *expected)
{
    char text[500] = "";
    size_t i, n = 0;
    json_t *got = ask(w, "GET", path, NULL, 200), *row;
    json_array_foreach (json_object_get(got, "jobs"), i, row) {
        const json_t *member = json_object_get(row, "member");
        n += (size_t)snprintf(text + n, sizeof(text) - n, i ? " %d" : "%d",
                              (int)json_integer_value(json_object_get(row, "id")));
        if (json_is_integer(member))
            n += (size_t)snprintf(text + n, sizeof(text) - n, ".%d",
                                  (int)json_integer_value(member));
        n += (size_t)snprintf(text + n, sizeof(text) - n, ":%s",
                              json_string_value(json_object_get(row, "state")));
    }
    assert_string_equal(text, expected);
    json_decref(got);
}

/* 1 runs on all; 2, 4 and 6 wait, 3 is held; members of 5 wait; 7 is done. */
static void submit_many(struct sim_server *w)
{
    submit(w, ALL);
    start_all(w);
    submit(w, "{\"command\":[\"x\"],\"name\":\"y\"}");
    submit(w, "{\"command\":[\"x\"],\"hold\":true}");
    submit(w, "{\"command\":[\"x\"],\"queue\":\"long\"}");
    submit(w, "{\"command\":[\"x\"],\"array\":3}");
    submit(w, "{\"command\":[\"x\"],\"name\":\"y\"}");
    submit(w, ALL);
    tell(w, "DELETE", "/v1/jobs/7", NULL, 200);
}

static void many_are_changed_at_once(void **state)
{
    struct sim_server *w = *state;
    submit_many(w);
    expect_answer(w, SIM_OWNER, "/v1/jobs/cancel", "{\"jobs\":[2,\"5[1]\",\"5.0\",7,99,\"3-4\"]}",
                  200,
                  "{\"done\":5,\"passed_over\":0,\"refused\":["
                  "{\"id\":7,\"member\":null,\"status\":409,"
                  "\"error\":{\"message\":\"job 7 has ended\",\"key\":null}},"
                  "{\"id\":99,\"member\":null,\"status\":404,"
                  "\"error\":{\"message\":\"there is no job 99\",\"key\":null}}]}");
    expect_list(w, "/v1/jobs?history=1",
                "1:running 2:cancelled 3:cancelled 4:cancelled 5.0:cancelled 5.1:cancelled "
                "5.2:pending 6:pending 7:cancelled");
    reopen(w, true);
    expect_list(w, "/v1/jobs", "1:running 5.2:pending 6:pending");
    /* Of a range, what is there. */
    expect_answer(w, SIM_OWNER, "/v1/jobs/hold", "{\"jobs\":[\"1-1000000000000\"]}", 200,
                  "{\"done\":2,\"passed_over\":1,\"refused\":[]}");
    expect_list(w, "/v1/jobs", "1:running 5.2:held 6:held");
    expect_answer(w, SIM_OWNER, "/v1/jobs/release",
                  "{\"jobs\":{\"name\":\"y\",\"state\":\"held\"}}", 200,
                  "{\"done\":1,\"passed_over\":0,\"refused\":[]}");
    expect_answer(w, SIM_OWNER, "/v1/jobs/update",
                  "{\"jobs\":[5,6],\"duration\":60,\"priority\":3}", 200,
                  "{\"done\":2,\"passed_over\":0,\"refused\":[]}");
    expect_text(w, 6, "priority", "3");
    expect_answer(w, SIM_OWNER, "/v1/jobs/signal", "{\"jobs\":{},\"signal\":\"USR1\"}", 200,
                  "{\"done\":1,\"passed_over\":2,\"refused\":[]}");
    assert_int_equal(sim_engine_find(w->engine, 1, -1)->last_signal, SIGUSR1);
    expect_answer(w, SIM_OWNER, "/v1/jobs/requeue",
                  "{\"jobs\":{\"ids\":[\"1-6\"],\"state\":\"running\"}}", 200,
                  "{\"done\":1,\"passed_over\":2,\"refused\":[]}");
    expect_answer(w, SIM_OWNER, "/v1/jobs/cancel",
                  "{\"jobs\":{\"state\":\"pending\",\"queue\":\"long\"}}", 200,
                  "{\"done\":0,\"passed_over\":0,\"refused\":[]}");
    expect_answer(w, SIM_OWNER, "/v1/jobs/cancel", "{\"jobs\":{}}", 200,
                  "{\"done\":3,\"passed_over\":0,\"refused\":[]}");
}

/* Of an array only members of a state; a job of one member is none. */
static void members_are_meant_by_their_state(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"x\"],\"array\":4,\"cores\":4}");
    start_all(w);
    submit(w, TRUE1);
    expect_list(w, "/v1/jobs", "1.0:running 1.1:running 1.2:pending 1.3:pending 2:pending");
    expect_answer(w, SIM_OWNER, "/v1/jobs/cancel", "{\"jobs\":{\"ids\":[1],\"state\":\"pending\"}}",
                  200, "{\"done\":1,\"passed_over\":0,\"refused\":[]}");
    expect_list(w, "/v1/jobs?history=1",
                "1.0:running 1.1:running 1.2:cancelled 1.3:cancelled 2:pending");
    expect_answer(
        w, SIM_OWNER, "/v1/jobs/cancel", "{\"jobs\":[\"1[1-2000000000]\",\"2.0\"]}", 200,
        "{\"done\":1,\"passed_over\":3,\"refused\":[{\"id\":2,\"member\":0,\"status\":404,"
        "\"error\":{\"message\":\"there is no job 2[0]\",\"key\":null}}]}");
}

static void wrong_words_change_nothing(void **state)
{
    struct sim_server *w = *state;
    submit_many(w);
#define WRONG(status, path, body, message, key)                                                    \
    expect_answer(w, SIM_OWNER, path, body, status,                                                \
                  "{\"error\":{\"message\":\"" message "\",\"key\":" key "}}")
    WRONG(400, "/v1/jobs/cancel", "{}", "key \\\"jobs\\\": expected an array of ids, or an object",
          "\"jobs\"");
    WRONG(400, "/v1/jobs/cancel", "{\"jobs\":[2,\"x\"]}",
          "'x' is not a job, expected 17, 17[2] or a range 3-7", "null");
    WRONG(400, "/v1/jobs/cancel", "{\"jobs\":[2,true]}",
          "'' is not a job, expected 17, 17[2] or a range 3-7", "null");
    WRONG(400, "/v1/jobs/cancel", "{\"jobs\":[2],\"signal\":9}",
          "expected \\\"jobs\\\" and nothing else", "null");
    WRONG(400, "/v1/jobs/cancel", "{\"jobs\":{\"state\":\"done\"}}",
          "state: expected pending, held or running", "\"state\"");
    WRONG(400, "/v1/jobs/cancel", "{\"jobs\":{\"quue\":\"x\"}}",
          "jobs: unknown key \\\"quue\\\", expected ids, user, queue, name or state", "\"quue\"");
    WRONG(400, "/v1/jobs/signal", "{\"jobs\":{},\"signal\":\"X\"}",
          "key \\\"signal\\\": expected a signal such as \\\"USR1\\\", got \\\"X\\\"",
          "\"signal\"");
    WRONG(400, "/v1/jobs/update", "{\"jobs\":{},\"queue\":\"X\"}", "there is no queue \\\"X\\\"",
          "\"queue\"");
#undef WRONG
    expect_list(
        w, "/v1/jobs",
        "1:running 2:pending 3:held 4:pending 5.0:pending 5.1:pending 5.2:pending 6:pending");
    /* The same jobs without an end. */
    struct strbuf body = {0};
    strbuf_puts(&body, "{\"jobs\":[\"1-7\"");
    for (int i = 0; i < 20000; i++)
        strbuf_puts(&body, ",\"1-7\"");
    strbuf_puts(&body, "]}");
    tell(w, "POST", "/v1/jobs/cancel", strbuf_text(&body), 413);
    strbuf_clear(&body);
}

static void others_jobs_are_for_administrators(void **state)
{
    struct sim_server *w = *state;
    sim_server_close(w);
    w->options.for_all = true;
    w->options.uid = 0;
    assert_int_equal(sim_server_open(w, NULL), 0);
    assert_int_equal(asked_by(w, SIM_BOB, "POST", "/v1/jobs", ALL), 201);
    assert_int_equal(asked_by(w, SIM_BOB, "POST", "/v1/jobs", ALL), 201);
    assert_int_equal(asked_by(w, SIM_OWNER, "POST", "/v1/jobs", ALL), 201);
    expect_answer(
        w, SIM_OWNER, "/v1/jobs/cancel", "{\"jobs\":[\"2-3\"]}", 200,
        "{\"done\":1,\"passed_over\":0,\"refused\":[{\"id\":2,\"member\":null,\"status\":403,"
        "\"error\":{\"message\":\"job 2 is another user's\",\"key\":null}}]}");
    expect_answer(
        w, SIM_OWNER, "/v1/jobs/cancel", "{\"jobs\":{\"user\":\"bob\"}}", 403,
        "{\"error\":{\"message\":\"only administrators may change other users' jobs\",\"key\":"
        "\"user\"}}");
    expect_answer(w, SIM_OWNER, "/v1/jobs/cancel", "{\"jobs\":{}}", 200,
                  "{\"done\":0,\"passed_over\":0,\"refused\":[]}");
    expect_answer(w, SIM_ANN, "/v1/jobs/cancel", "{\"jobs\":{}}", 200,
                  "{\"done\":0,\"passed_over\":0,\"refused\":[]}");
    expect_answer(w, SIM_ANN, "/v1/jobs/cancel", "{\"jobs\":{\"user\":\"*\"}}", 200,
                  "{\"done\":2,\"passed_over\":0,\"refused\":[]}");
}

/* Ids, states and the rest at once; and page by page. */
static void ids_and_filters_combine(void **state)
{
    struct sim_server *w = *state;
    submit_many(w);
    expect_list(w, "/v1/jobs?ids=7,5,3,2",
                "7:cancelled 5.0:pending 5.1:pending 5.2:pending 3:held 2:pending");
    expect_list(w, "/v1/jobs?ids=7,5,3,2&state=pending",
                "5.0:pending 5.1:pending 5.2:pending 2:pending");
    expect_list(w, "/v1/jobs?ids=7,5,3,2&state=held,cancelled", "7:cancelled 3:held");
    expect_list(w, "/v1/jobs?ids=7,4,2&name=y", "2:pending");
    expect_list(w, "/v1/jobs?ids=7,4,2&queue=long", "4:pending");
    expect_list(w, "/v1/jobs?ids=7,4,2&user=nobody", "");
    expect_list(w, "/v1/jobs?ids=7,5,2&after=5.1&limit=2", "5.2:pending 2:pending");
    expect_list(w, "/v1/jobs?ids=7,5,2&after=7&limit=1", "5.0:pending");
    tell(w, "GET", "/v1/jobs?ids=7,5&after=3", NULL, 400);
}

/* The value of a key in the first row of a list. */
static void expect_first(struct sim_server *w, const char *path, const char *key,
                         const char *expected)
{
    json_t *got = ask(w, "GET", path, NULL, 200);
    const json_t *row = json_array_get(json_object_get(got, "jobs"), 0);
    char *text = json_dumps(json_object_get(row, key), JSON_ENCODE_ANY | JSON_COMPACT);
    assert_string_equal(text, expected);
    free(text);
    json_decref(got);
}

/* One row for each array: which of its members are in which state, in both orders, page by page, and the same
 * when it is over.
 */
static void an_array_is_one_row(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"x\"],\"array\":\"0-10:2\",\"cores\":4}");
    submit(w, "{\"command\":[\"x\"],\"hold\":true}");
    submit(w, "{\"command\":[\"x\"],\"hold\":true,\"array\":1000000}");
    start_all(w);
    sim_engine_ended(w->engine, sim_engine_find(w->engine, 1, 2), 3, 0);
    start_all(w);
    expect_list(w, "/v1/jobs?arrays=1", "1:running 2:held 3:held");
    expect_first(w, "/v1/jobs?arrays=1", "summary",
                 "{\"held\":0,\"pending\":3,\"running\":2,\"done\":0,\"failed\":1,"
                 "\"cancelled\":0,\"timeout\":0}");
    expect_first(w, "/v1/jobs?arrays=1", "ranges",
                 "{\"pending\":\"6-10:2\",\"running\":\"0,4\",\"failed\":\"2\"}");
    expect_first(w, "/v1/jobs?arrays=1", "indices", "\"0-10:2\"");
    expect_first(w, "/v1/jobs?arrays=1", "member", "null");
    expect_first(w, "/v1/jobs?arrays=1&ids=3", "ranges", "{\"held\":\"0-999999\"}");
    expect_list(w, "/v1/jobs?arrays=1&state=pending", "1:running");
    expect_list(w, "/v1/jobs?arrays=1&state=failed&order=newest", "1:running");
    expect_list(w, "/v1/jobs?arrays=1&state=done", "");
    expect_list(w, "/v1/jobs?arrays=1&limit=1&after=1", "2:held");
    expect_list(w, "/v1/jobs?arrays=1&limit=1&after=2", "3:held");
    expect_list(w, "/v1/jobs?arrays=1&after=3", "");
    expect_list(w, "/v1/jobs?arrays=1&order=newest&limit=2", "3:held 2:held");
    expect_list(w, "/v1/jobs?arrays=1&order=newest&after=3", "2:held 1:running");
    expect_list(w, "/v1/jobs?arrays=1&order=newest&after=1", "");
    expect_list(w, "/v1/jobs?arrays=1&ids=3,1&after=3", "1:running");
    /* 2 ends before 1 does. */
    tell(w, "DELETE", "/v1/jobs/2", NULL, 200);
    sim_server_wait(w, SIM_SECOND);
    tell(w, "DELETE", "/v1/jobs/1[6]", NULL, 200);
    for (int i = 0; i <= 10; i += i == 4 ? 4 : i == 0 ? 4 : 2) {
        sim_engine_ended(w->engine, sim_engine_find(w->engine, 1, i), i == 10 ? 7 : 0, 0);
        start_all(w);
    }
    reopen(w, true);
    expect_list(w, "/v1/jobs?arrays=1&history=1", "1:failed 2:cancelled 3:held");
    expect_list(w, "/v1/jobs?arrays=1&history=1&limit=1&after=1", "2:cancelled");
    expect_list(w, "/v1/jobs?arrays=1&order=newest&history=1", "3:held 1:failed 2:cancelled");
    expect_list(w, "/v1/jobs?arrays=1&order=newest&history=1&after=1", "2:cancelled");
    expect_list(w, "/v1/jobs?arrays=1&order=newest&history=1&after=2", "");
    expect_list(w, "/v1/jobs?arrays=1&order=newest&history=1&after=3&limit=1", "1:failed");
    expect_list(w, "/v1/jobs?arrays=1&state=cancelled", "1:failed 2:cancelled");
    expect_list(w, "/v1/jobs?arrays=1&state=timeout", "");
    expect_list(w, "/v1/jobs?arrays=1&ids=2,1,9", "2:cancelled 1:failed");
    expect_first(w, "/v1/jobs?arrays=1&ids=1", "ranges",
                 "{\"done\":\"0-8:4\",\"failed\":\"2,10\",\"cancelled\":\"6\"}");
    expect_first(w, "/v1/jobs?arrays=1&ids=1", "exit", "7");
}

/* Of the time between an end and its place in the store, which is long while nothing can be written: it is in lists of all jobs,
 * once, by whatever order, member for member and array for array.
 */
static void an_end_is_listed_before_it_is_stored(void **state)
{
    struct sim_server *w = *state;
    submit(w, TRUE1);
    submit(w, "{\"command\":[\"x\"],\"array\":2}");
    submit(w, "{\"command\":[\"y\"],\"array\":3}");
    submit(w, TRUE1);
    start_all(w);
    end(w, 4, 0);
    sim_engine_ended(w->engine, sim_engine_find(w->engine, 3, 0), 0, 0);
    sim_server_turn(w, NULL);
    sim_disk_fail(w->disk, 1);
    sim_engine_ended(w->engine, sim_engine_find(w->engine, 1, -1), 1, 0);
    sim_engine_ended(w->engine, sim_engine_find(w->engine, 2, 0), 0, 0);
    sim_engine_ended(w->engine, sim_engine_find(w->engine, 2, 1), 0, 0);
    sim_engine_ended(w->engine, sim_engine_find(w->engine, 3, 2), 0, 0);
    sim_server_turn(w, NULL);
    sim_disk_fail(w->disk, 0);
    assert_true(w->failed > 0); /* it tries again after a second */
    static const char *const ways[][2] = {
        {"/v1/jobs?history=1", "1:failed 2.0:done 2.1:done 3.0:done 3.1:running 3.2:done 4:done"},
        {"/v1/jobs?history=1&order=newest",
         "3.2:done 3.1:running 2.1:done 2.0:done 1:failed 3.0:done 4:done"},
        {"/v1/jobs?history=1&arrays=1", "1:failed 2:done 3:running 4:done"},
        {"/v1/jobs?history=1&arrays=1&order=newest", "3:running 2:done 1:failed 4:done"},
        {"/v1/jobs?state=failed", "1:failed"},
        {"/v1/jobs?history=1&since=1000000000000", "3.1:running"},
        {"/v1/jobs", "3.1:running"},
        {"/v1/jobs?arrays=1", "3:running"}};
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        expect_list(w, ways[i][0], ways[i][1]);
    sim_server_wait(w, 5 * SIM_SECOND);
    expect_list(w, ways[0][0], ways[0][1]);
    expect_list(w, ways[2][0], ways[2][1]);
    expect_list(w, "/v1/jobs", "3.1:running");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(how_a_job_was_started_is_remembered),
        TEST(many_are_changed_at_once),
        TEST(members_are_meant_by_their_state),
        TEST(wrong_words_change_nothing),
        TEST(others_jobs_are_for_administrators),
        TEST(ids_and_filters_combine),
        TEST(an_array_is_one_row),
        TEST(an_end_is_listed_before_it_is_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
