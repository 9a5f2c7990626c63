/* Large requests are done in slices: what a turn does is bounded, others are served between two of them,
 * and what is submitted is there wholly or not at all, whatever happens in between.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server_scene.h"

enum { SLICE = 100, MEMBERS = 1000, JOBS = 60 };

static long pending(struct sim_server *w)
{
    json_t *got = ask(w, "GET", "/v1/server", NULL, 200);
    const json_t *jobs = json_object_get(got, "jobs");
    long n = (long)(json_integer_value(json_object_get(jobs, "pending")) +
                    json_integer_value(json_object_get(jobs, "held")));
    json_decref(got);
    return n;
}

static int open_sliced(void **state)
{
    if (open_world(state) < 0)
        return -1;
    struct sim_server *w = *state;
    sim_server_close(w);
    w->options.slice = SLICE;
    w->options.for_all = true;
    w->options.uid = 0;
    return sim_server_open(w, NULL);
}

static void large_array(struct sim_server *w, unsigned uid)
{
    struct asked a = {0}, *all[] = {&a};
    char body[80];
    snprintf(body, sizeof(body), "{\"command\":[\"x\"],\"array\":%d,\"hold\":true}", MEMBERS);
    ask_begin(w, uid, "POST", "/v1/jobs", body, &a);
    ask_turn(w, all, 1);
    assert_true(a.is_there);
    assert_int_equal(a.reply.status, 201);
    ask_forget(&a);
}

/* Members that are named are cancelled one by one, as an array as a whole is not: all of one, in two parts. */
#define ALL_OF(id) "\"" id "[0-998]\",\"" id "[999]\""

/* Each turn of a cancel ends no more members than a slice has steps, and another user's job is taken in one
 * turn.
 */
static void a_turn_is_bounded_and_others_are_served(void **state)
{
    struct sim_server *w = *state;
    struct asked cancel = {0};
    long before;
    int turns = 0;
    large_array(w, SIM_BOB);
    sim_server_turn(w, NULL);
    assert_int_equal(before = pending(w), MEMBERS);
    ask_begin(w, SIM_BOB, "POST", "/v1/jobs/cancel", "{\"jobs\":[" ALL_OF("1") "]}", &cancel);
    assert_true(before - pending(w) <= SLICE);
    before = pending(w);
    while (!cancel.is_there) {
        struct asked other = {0}, *both[] = {&cancel, &other};
        ask_begin(w, SIM_OWNER, "POST", "/v1/jobs", "{\"command\":[\"x\"],\"hold\":true}", &other);
        assert_int_equal(ask_turn(w, both, 2), 0);
        assert_true(other.is_there);
        assert_int_equal(other.reply.status, 201);
        ask_forget(&other);
        assert_true(before + 1 - pending(w) <= SLICE);
        before = pending(w);
        turns++;
    }
    assert_true(turns >= MEMBERS / SLICE - 1);
    assert_int_equal(cancel.reply.status, 200);
    assert_string_equal(strbuf_text(&cancel.reply.body),
                        "{\"done\":1000,\"passed_over\":0,\"refused\":[]}\n");
    assert_int_equal(pending(w), turns);
    ask_forget(&cancel);
}

/* Users take turns: the one who came later, with less to do, is done first; root's is done at half of all. */
static void users_take_turns(void **state)
{
    struct sim_server *w = *state;
    struct asked bob = {0}, owner = {0}, *both[] = {&bob, &owner};
    for (int i = 0; i < 4; i++)
        large_array(w, SIM_BOB);
    large_array(w, SIM_OWNER);
    sim_server_turn(w, NULL);
    ask_begin(w, SIM_BOB, "POST", "/v1/jobs/cancel",
              "{\"jobs\":[" ALL_OF("1") "," ALL_OF("2") "," ALL_OF("3") "," ALL_OF("4") "]}", &bob);
    ask_begin(w, SIM_OWNER, "POST", "/v1/jobs/release", "{\"jobs\":{}}", &owner);
    int turns = 0;
    for (; !owner.is_there; turns++)
        ask_turn(w, both, 2);
    assert_false(bob.is_there);
    assert_true(turns <= 3 * MEMBERS / SLICE);
    assert_int_equal(owner.reply.status, 200);
    ask_forget(&owner);
    /* Whoever does not wait for it has it done all the same. */
    server_work_abandon(bob.reply.work);
    strbuf_clear(&bob.reply.body);
    sim_server_turn(w, NULL);
    assert_int_equal(pending(w) <= MEMBERS, true);
}

/* The members of an array that the core has not yet are changed, and end, as the others. */
static void members_that_have_yet_to_come_are_changed(void **state)
{
    struct sim_server *w = *state;
    struct asked a = {0}, *all[] = {&a};
    large_array(w, SIM_OWNER);
    ask_begin(w, SIM_OWNER, "DELETE", "/v1/jobs/1[900]", NULL, &a);
    ask_turn(w, all, 1);
    assert_true(a.is_there);
    assert_int_equal(a.reply.status, 200);
    ask_forget(&a);
    ask_begin(w, 0, "PATCH", "/v1/jobs/1", "{\"priority\":-2,\"hold\":false,\"queue\":\"long\"}",
              &a);
    while (!a.is_there)
        assert_int_equal(ask_turn(w, all, 1), 0);
    assert_int_equal(a.reply.status, 200);
    ask_forget(&a);
    sim_server_turn(w, NULL);
    assert_int_equal(w->engine->n, 8);
    expect_text(w, 1, "queue", "\"long\"");
    assert_int_equal(pending(w), MEMBERS - 9);
    reopen(w, true);
    assert_int_equal(pending(w), MEMBERS - 9);
}

/* An array that can never start: what waits of it ends at once, but for one that its user has cancelled. */
static void a_rejected_array_ends_at_once(void **state)
{
    struct sim_server *w = *state;
    char body[100];
    snprintf(body, sizeof(body), "{\"command\":[\"x\"],\"array\":%d,\"dependency\":\"afterok:1\"}",
             MEMBERS);
    submit(w, "{\"command\":[\"x\"]}");
    start_all(w);
    submit(w, body);
    json_decref(ask(w, "DELETE", "/v1/jobs/2[500]", NULL, 200));
    sim_engine_ended(w->engine, sim_engine_find(w->engine, 1, -1), 1, 0);
    server_engine(w->server, NULL);
    sim_server_turn(w, NULL);
    assert_int_equal(pending(w), 0);
    expect_text(w, 2, "ranges", "{\"failed\": \"0-499,501-999\", \"cancelled\": \"500\"}");
    reopen(w, true);
    expect_text(w, 2, "ranges", "{\"failed\": \"0-499,501-999\", \"cancelled\": \"500\"}");
    json_t *got = ask(w, "GET", "/v1/jobs/2[998]", NULL, 200);
    assert_string_equal(json_string_value(json_object_get(got, "reason")),
                        "dependency 1: never met");
    json_decref(got);
}

/* A job that ends while it is being changed has been changed, as it was said. */
static void a_job_may_end_while_it_is_changed(void **state)
{
    struct sim_server *w = *state;
    struct asked change = {0}, cancel = {0}, *all[] = {&change, &cancel};
    large_array(w, SIM_BOB);
    sim_server_turn(w, NULL);
    ask_begin(w, 0, "POST", "/v1/jobs/cancel", "{\"jobs\":[" ALL_OF("1") "]}", &cancel);
    while (pending(w) > SLICE)
        ask_turn(w, all + 1, 1);
    ask_begin(w, SIM_BOB, "PATCH", "/v1/jobs/1", "{\"duration\":1800}", &change);
    while (!change.is_there)
        ask_turn(w, all, 2);
    assert_true(cancel.is_there);
    assert_int_equal(cancel.reply.status, 200);
    assert_int_equal(change.reply.status, 200);
    ask_forget(&change);
    ask_forget(&cancel);
    sim_server_turn(w, NULL);
    int status;
    json_t *got = sim_server_ask(w, SIM_BOB, "GET", "/v1/jobs/1.0", NULL, NULL, &status);
    assert_int_equal(status, 200);
    assert_int_equal(json_integer_value(json_object_get(got, "duration")), 1800);
    json_decref(got);
}

static void put_list(struct strbuf *body, int n, const char *last)
{
    strbuf_puts(body, " [\n");
    for (int i = 0; i < n; i++)
        strbuf_puts(body, "{\"command\":[\"x ],\\\"\"],\"array\":3,\"hold\":true},\n");
    strbuf_puts(body, last);
    strbuf_puts(body, "] ");
}

static size_t rows(struct sim_server *w)
{
    json_t *got = ask(w, "GET", "/v1/jobs?history=1", NULL, 200);
    size_t n = json_array_size(json_object_get(got, "jobs"));
    json_decref(got);
    return n;
}

/* A list of which the last is wrong leaves nothing, in the store neither, and its numbers are not in the
 * way.
 */
static void a_list_with_a_wrong_job_leaves_nothing(void **state)
{
    struct sim_server *w = *state;
    static const struct {
        const char *last, *message;
    } wrong[] = {{"{}", "jobs[60]: key \\\"command\\\": expected a command or a script"},
                 {"{\"command\":[\"x\"],\"cores\":9000}", "jobs[60]: "},
                 {"{\"command\":", "the body is not valid JSON: line 62, column "}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct strbuf body = {0};
        struct asked a = {0}, *all[] = {&a};
        put_list(&body, JOBS, wrong[i].last);
        ask_begin(w, SIM_OWNER, "POST", "/v1/jobs", strbuf_text(&body), &a);
        int turns = 0;
        for (; !a.is_there; turns++) {
            assert_int_equal(rows(w), 0);
            ask_turn(w, all, 1);
        }
        assert_true(turns > 1 || i == 2);
        assert_int_equal(a.reply.status, 400);
        assert_non_null(strstr(strbuf_text(&a.reply.body), wrong[i].message));
        ask_forget(&a);
        sim_server_turn(w, NULL);
        assert_int_equal(rows(w), 0);
        strbuf_clear(&body);
    }
    assert_int_equal(submit(w, TRUE1), 1);
    tell(w, "POST", "/v1/jobs", "{\"command\":[\"x\"],\"array\":1000,\"cores\":9000}", 400);
    assert_int_equal(submit(w, TRUE1), 2);
}

/* Take a list, and after so many turns let the power go, or the disk be full. Returns the turns that it
 * took; the answer says nothing else than what is there.
 */
static int list_cut(struct sim_server *w, int cut, bool power)
{
    struct strbuf body = {0};
    struct asked a = {0}, *all[] = {&a};
    size_t before = rows(w);
    int turns = 0;
    put_list(&body, JOBS - 1, "{\"command\":[\"x\"],\"array\":3,\"hold\":true}");
    ask_begin(w, SIM_OWNER, "POST", "/v1/jobs", strbuf_text(&body), &a);
    for (; !a.is_there && turns < cut; turns++)
        ask_turn(w, all, 1);
    bool taken = a.is_there && a.reply.status == 201;
    if (!power && !a.is_there) {
        sim_disk_limit(w->disk, 0);
        while (!a.is_there && ask_turn(w, all, 1) == 0)
            ;
        taken = a.is_there && a.reply.status == 201;
        sim_disk_limit(w->disk, -1);
        sim_server_wait(w, 5 * SIM_SECOND);
    }
    ask_forget(&a);
    if (power)
        reopen(w, true);
    size_t after = rows(w);
    assert_true(after == before + (size_t)3 * JOBS || (after == before && !taken));
    strbuf_clear(&body);
    return turns;
}

static void a_list_is_there_wholly_or_not_at_all(void **state)
{
    struct sim_server *w = *state;
    for (int power = 0; power < 2; power++)
        for (int cut = 0; list_cut(w, cut, power) == cut; cut++)
            ;
    assert_int_equal(submit(w, TRUE1) > JOBS, true);
    reopen(w, true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_sliced, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_turn_is_bounded_and_others_are_served),
        TEST(users_take_turns),
        TEST(members_that_have_yet_to_come_are_changed),
        TEST(a_rejected_array_ends_at_once),
        TEST(a_job_may_end_while_it_is_changed),
        TEST(a_list_with_a_wrong_job_leaves_nothing),
        TEST(a_list_is_there_wholly_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
