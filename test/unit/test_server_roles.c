/* Gangs of several roles in a server: what is asked for, what members are told, and what is known after a crash. Two nodes
 * of four cores.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_scene.h"

/* One server with half a node, and two to four workers with a quarter each. */
#define CREW                                                                                       \
    "{\"command\":[\"work\"],\"roles\":["                                                          \
    "{\"role\":\"server\",\"cores\":2,\"command\":[\"serve\",\"-v\"]},"                            \
    "{\"role\":\"worker\",\"count\":4,\"min\":2,\"tasks\":2}]"

static void expect_of(struct sim_server *w, int64_t id, int member, const char *key,
                      const char *value)
{
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%d.%d", (int)id, member);
    json_t *job = ask(w, "GET", path, NULL, 200);
    char *text = json_dumps(json_object_get(job, key), JSON_ENCODE_ANY);
    assert_string_equal(text ? text : "none", value);
    free(text);
    json_decref(job);
    assert_true(server_check(w->server));
}

static void member_ends(struct sim_server *w, int64_t id, int64_t member, int status)
{
    sim_engine_ended(w->engine, sim_engine_find(w->engine, id, member), status, 0);
    sim_server_turn(w, NULL);
}

static int running(struct sim_server *w, int64_t id)
{
    json_t *job = show(w, id);
    int n = (int)json_integer_value(json_object_get(json_object_get(job, "summary"), "running"));
    json_decref(job);
    assert_true(server_check(w->server));
    return n;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text);
}

static void each_member_is_of_its_role(void **state)
{
    struct sim_server *w = *state;
    int64_t id = submit(w, CREW "}");
    start_all(w);
    assert_int_equal(running(w, id), 4); /* the server and three workers */
    expect_of(w, id, 0, "role", "\"server\"");
    expect_of(w, id, 4, "role", "\"worker\"");
    expect_of(w, id, 0, "cores", "2");
    expect_of(w, id, 4, "cores", "2");
    expect_of(w, id, 4, "state", "\"pending\"");
    expect_text(w, id, "roles",
                "[{\"role\": \"server\", \"count\": 1, \"min\": 1, \"nodes\": 1, \"cores\": 2, "
                "\"gpus\": 0}, {\"role\": \"worker\", \"count\": 4, \"min\": 2, \"nodes\": 1, "
                "\"cores\": 2, \"gpus\": 0}]");
    const struct sim_run *server = sim_engine_find(w->engine, id, 0),
                         *worker = sim_engine_find(w->engine, id, 2);
    assert_string_equal(server->argv, "serve -v");
    assert_string_equal(worker->argv, "work");
    assert_int_equal(server->n_tasks, 1);
    assert_int_equal(worker->n_tasks, 2);
    has(server->env, "BERTH_ROLE=server BERTH_ROLE_RANK=0 BERTH_ROLE_COUNT=1 "
                     "BERTH_ROLES=server:1,worker:3");
    has(worker->env, "BERTH_ROLE=worker BERTH_ROLE_RANK=1 BERTH_ROLE_COUNT=3 "
                     "BERTH_ROLES=server:1,worker:3");
    has(worker->env, "BERTH_MEMBER_RANK=2 BERTH_MEMBER_COUNT=4 ");
    has(worker->env, "WORLD_SIZE=7 LOCAL_WORLD_SIZE=2 ");
    has(worker->task_env, "RANK=4 "); /* of its last task: behind one and three others */
}

static void it_starts_whole_and_says_what_each_role_lacks(void **state)
{
    struct sim_server *w = *state;
    int64_t busy = submit(w, "{\"command\":[\"x\"],\"cores\":4}");
    int64_t id = submit(w, CREW "}");
    start_all(w);
    assert_int_equal(w->engine->n, 1);
    expect_text(w, id, "reason", "\"too few fit: worker 1 of 2\"");
    reopen(w, true);
    expect_text(w, id, "reason", "\"too few fit: worker 1 of 2\"");
    end(w, busy, 0);
    start_all(w);
    assert_int_equal(running(w, id), 4);
}

static void it_is_one_after_a_crash(void **state)
{
    struct sim_server *w = *state;
    int64_t id = submit(w, CREW ",\"failure\":\"go-on\"}");
    start_all(w);
    reopen(w, true);
    assert_int_equal(running(w, id), 4);
    expect_of(w, id, 4, "state", "\"pending\"");
    member_ends(w, id, 3, 0); /* in its place the last one starts */
    start_all(w);
    reopen(w, true);
    assert_int_equal(running(w, id), 4);
    assert_int_equal(sim_engine_find(w->engine, id, 4)->n_tasks, 2);
    member_ends(w, id, 0, 0);
    member_ends(w, id, 1, 0);
    reopen(w, true);
    member_ends(w, id, 2, 1); /* of the workers, two have succeeded and one runs */
    reopen(w, true);
    assert_int_equal(running(w, id), 1);
    member_ends(w, id, 4, 1);
    expect_text(w, id, "state", "\"done\"");
    assert_int_equal(w->engine->n, 5);
    assert_int_equal(w->engine->twice, 0);
}

/* Three of the four workers are more than the sum of all mins, and yet there is no server. */
static void each_role_has_to_have_succeeded(void **state)
{
    struct sim_server *w = *state;
    int64_t id = submit(w, CREW ",\"failure\":\"go-on\"}");
    start_all(w);
    for (int i = 1; i < 4; i++)
        member_ends(w, id, i, 0);
    start_all(w);
    member_ends(w, id, 0, 1);
    reopen(w, true);
    sim_server_wait(w, 10 * SIM_SECOND);
    expect_text(w, id, "state", "\"failed\"");
    expect_of(w, id, 4, "reason", "\"too few left: server 0 of 1\"");
}

/* Those who depend on it need the min of each role, also of what a server learns from its store. */
static void who_depends_on_it_needs_each_role(void **state)
{
    struct sim_server *w = *state;
    int64_t id = submit(w, CREW ",\"failure\":\"go-on\"}");
    start_all(w);
    int64_t well = submit(w, "{\"command\":[\"x\"],\"dependency\":\"afterok:1\"}");
    int64_t badly = submit(w, "{\"command\":[\"x\"],\"dependency\":\"afternotok:1\"}");
    for (int i = 1; i < 4; i++)
        member_ends(w, id, i, 0);
    start_all(w);
    member_ends(w, id, 4, 0);
    reopen(w, true);
    expect_state(w, well, "pending");
    expect_state(w, badly, "pending");
    member_ends(w, id, 0, 1);
    reopen(w, true);
    expect_state(w, well, "failed");
    expect_state(w, badly, "running");
    int64_t later = submit(w, "{\"command\":[\"x\"],\"dependency\":\"afternotok:1\"}");
    expect_state(w, later, "running");
    /* One of the workers may fail. */
    start_all(w);
    end(w, badly, 0);
    end(w, later, 0);
    id = submit(w, CREW ",\"failure\":\"go-on\"}");
    start_all(w);
    member_ends(w, id, 1, 1);
    for (int i = 0; i < 4; i += 2)
        member_ends(w, id, i, 0);
    member_ends(w, id, 3, 0);
    start_all(w);
    member_ends(w, id, 4, 0);
    reopen(w, true);
    char after[100];
    snprintf(after, sizeof(after), "{\"command\":[\"x\"],\"dependency\":\"afterok:%d\"}", (int)id);
    expect_state(w, submit(w, after), "running");
}

/* What there is to say of a gang that ends is said again after a crash. */
static void what_was_too_few_is_known_after_a_crash(void **state)
{
    struct sim_server *w = *state;
    int64_t id = submit(w, CREW ",\"failure\":\"go-on\"}");
    start_all(w);
    for (size_t i = 0; i < w->engine->n; i++)
        w->engine->runs[i].stubborn = true;
    member_ends(w, id, 0, 3);
    reopen(w, true);
    expect_of(w, id, 4, "state", "\"failed\"");
    expect_of(w, id, 4, "reason", "\"too few left: server 0 of 1\"");
    sim_server_wait(w, 10 * SIM_SECOND); /* SIGKILL */
    expect_of(w, id, 1, "reason", "\"too few left: server 0 of 1\"");
    expect_text(w, id, "state", "\"failed\"");
    assert_int_equal(w->engine->n, 4);
}

/* One that is down waits as a whole again, in the order of its roles. */
static void a_gang_that_is_down_starts_together_after_a_crash(void **state)
{
    struct sim_server *w = *state;
    int64_t id = submit(w, CREW ",\"requeue\":true}");
    start_all(w);
    for (int i = 0; i < 4; i++)
        sim_engine_lost(w->engine, &w->engine->runs[i]);
    int64_t other = submit(w, "{\"command\":[\"x\"],\"cores\":4,\"priority\":5}");
    assert_int_equal(sim_server_turn(w, NULL), 0);
    /* Member 0 waits for another one, which asks for all: of those cores are left that the server and a worker take. */
    expect_of(w, id, 0, "reason", "\"waits for its gang\"");
    expect_text(w, id, "reason", "\"too few fit: worker 1 of 2\"");
    reopen(w, true);
    expect_state(w, other, "running");
    expect_text(w, id, "reason", "\"too few fit: worker 1 of 2\"");
    assert_int_equal(running(w, id), 0);
    start_all(w);
    end(w, other, 0);
    start_all(w);
    assert_int_equal(running(w, id), 4);
    assert_int_equal(w->engine->n, 9);
}

/* A script runs in roles that have no command of their own, once. */
static void a_script_is_for_who_has_no_command(void **state)
{
    struct sim_server *w = *state;
    int64_t id = submit(w, "{\"script\":\"#!/bin/sh\\n\",\"batch\":1,\"roles\":["
                           "{\"role\":\"a\",\"tasks\":3},"
                           "{\"role\":\"b\",\"tasks\":2,\"command\":[\"b\"]}]}");
    start_all(w);
    assert_int_equal(running(w, id), 2);
    assert_int_equal(sim_engine_find(w->engine, id, 0)->n_tasks, 1);
    has(sim_engine_find(w->engine, id, 0)->env, "BERTH_BATCH=3");
    assert_int_equal(sim_engine_find(w->engine, id, 1)->n_tasks, 2);
    assert_string_equal(sim_engine_find(w->engine, id, 1)->argv, "b");
    assert_null(strstr(sim_engine_find(w->engine, id, 1)->env, "BERTH_BATCH"));
}

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *job, *message;
    } wrong[] = {
        {"{\"roles\":[{\"role\":\"a\",\"count\":2}]}",
         "roles[0]: key \"command\": expected a command, as the job has none"},
        {"{\"command\":[\"x\"],\"roles\":[{\"role\":\"a\"}]}",
         "key \"roles\": expected two members or more, of which one starts, got "
         "[{\"role\":\"a\"}]"},
        {"{\"command\":[\"x\"],\"roles\":[{\"role\":\"a\",\"count\":1000000},{\"role\":\"b\"}]}",
         "key \"roles\": expected at most 1000000 members in all, got "
         "[{\"role\":\"a\",\"count\":1000000},{\"role\":\"b..."},
        {"{\"command\":[\"x\"],\"cores\":2,\"roles\":[{\"role\":\"a\",\"count\":2}]}",
         "key \"cores\": expected nothing beside roles, which each say that, got 2"},
        {"{\"command\":[\"x\"],\"roles\":[{\"role\":\"a\",\"count\":2,\"command\":[]}]}",
         "roles[0]: key \"command\": expected a list of strings that starts with a program, got "
         "[]"},
        {"{\"command\":[\"x\"],\"roles\":[{\"role\":\"a\"},{\"role\":\"a\"}]}",
         "roles[1]: key \"role\": expected another name than those before, got \"a\""},
        {"{\"command\":[\"x\"],\"roles\":[{\"role\":\"a b\",\"count\":2}]}",
         "roles[0]: key \"role\": expected 1 to 32 letters, digits and \"_-.\", got \"a b\""},
        {"{\"command\":[\"x\"],\"roles\":[{\"role\":\"a\",\"count\":2,\"tasks\":2,"
         "\"nodes\":3}]}",
         "roles[0]: key \"tasks\": expected at least as many tasks as nodes"},
    };
    struct sim_server *w = *state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        expect_refused(w, wrong[i].job, wrong[i].message);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_member_is_of_its_role),
        TEST(it_starts_whole_and_says_what_each_role_lacks),
        TEST(it_is_one_after_a_crash),
        TEST(each_role_has_to_have_succeeded),
        TEST(who_depends_on_it_needs_each_role),
        TEST(what_was_too_few_is_known_after_a_crash),
        TEST(a_gang_that_is_down_starts_together_after_a_crash),
        TEST(a_script_is_for_who_has_no_command),
        TEST(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests_name("gangs of several roles in a server", tests, NULL, NULL);
}
