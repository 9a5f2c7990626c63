/* Gangs beside the other rules of a server: growth, holds, limits, dependencies, cancels and requeues. Eight cores. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_scene.h"

static int open_limits(void **state)
{
    return open_world_of(state,
                         "resources: {nodes: 2, cores: 4}\n"
                         "default-queue: batch\n"
                         "queues:\n"
                         "  batch: {policy: easy}\n"
                         "  few: {policy: easy, limits: {user: {running: 3}}}\n"
                         "  small: {policy: easy, limits: {user: {core: 4}}}\n"
                         "server: {administrators: [ann], requests-per-second: unlimited}\n");
}

/* The first letters of the states of all members. */
static void expect_members(struct sim_server *w, int64_t id, const char *expected)
{
    char got[20] = "", path[64];
    for (size_t i = 0; i < strlen(expected); i++) {
        snprintf(path, sizeof(path), "/v1/jobs/%d.%d", (int)id, (int)i);
        json_t *member = ask(w, "GET", path, NULL, 200);
        got[i] = json_string_value(json_object_get(member, "state"))[0];
        json_decref(member);
    }
    if (strcmp(got, expected) != 0)
        fail_msg("job %d: expected %s, got %s", (int)id, expected, got);
}

static void member_ends(struct sim_server *w, int64_t id, int64_t member, int status)
{
    sim_engine_ended(w->engine, sim_engine_find(w->engine, id, member), status, 0);
    sim_server_turn(w, NULL);
}

static int64_t run(struct sim_server *w, const char *body)
{
    int64_t id = submit(w, body);
    start_all(w);
    return id;
}

/* Two of four fit beside another job, and start; the others do when that has ended, over a crash, too. */
static void a_gang_grows(void **state)
{
    struct sim_server *w = *state;
    int64_t other = run(w, "{\"command\":[\"x\"],\"cores\":4}");
    int64_t id = run(w, "{\"command\":[\"x\"],\"cores\":2,\"gang\":4,\"min\":2}");
    expect_members(w, id, "rrpp");
    reopen(w, true);
    expect_members(w, id, "rrpp");
    end(w, other, 0);
    start_all(w);
    expect_members(w, id, "rrrr");
    reopen(w, true);
    for (int i = 0; i < 4; i++)
        member_ends(w, id, i, 0);
    expect_state(w, id, "done");
    assert_int_equal(w->engine->n, 5);
}

/* What is held of a gang doesn't start with the others, which do if they are enough. */
static void a_gang_is_held(void **state)
{
    struct sim_server *w = *state;
    int64_t id = run(w, "{\"command\":[\"x\"],\"gang\":3,\"min\":2,\"hold\":true}");
    expect_members(w, id, "hhh");
    reopen(w, true);
    tell(w, "PATCH", "/v1/jobs/1.0", "{\"hold\":false}", 200);
    start_all(w);
    expect_members(w, id, "phh"); /* one is too few */
    tell(w, "PATCH", "/v1/jobs/1", "{\"hold\":false}", 200);
    start_all(w);
    expect_members(w, id, "rrr");
    /* Who waits to grow is held, and so there is no growth. */
    int64_t other = run(w, "{\"command\":[\"x\"],\"tasks\":4}");
    expect_state(w, other, "running");
    int64_t more = run(w, "{\"command\":[\"x\"],\"gang\":2,\"min\":1}");
    expect_members(w, more, "rp");
    tell(w, "PATCH", "/v1/jobs/3", "{\"hold\":true}", 200);
    end(w, other, 0);
    expect_members(w, more, "rh");
    tell(w, "PATCH", "/v1/jobs/3", "{\"hold\":false}", 200);
    start_all(w);
    expect_members(w, more, "rr");
}

/* Those that wait together ask for the whole only while nothing else keeps them: when they are held, two that are released
 * start, over a crash too.
 */
static void the_held_ask_for_nobody(void **state)
{
    struct sim_server *w = *state;
    int64_t id = run(w, "{\"command\":[\"x\"],\"gang\":3,\"min\":2,\"hold\":true}");
    tell(w, "PATCH", "/v1/jobs/1.0", "{\"hold\":false}", 200);
    reopen(w, true);
    tell(w, "PATCH", "/v1/jobs/1.2", "{\"hold\":false}", 200);
    start_all(w);
    expect_members(w, id, "rhr");
    reopen(w, true);
    expect_members(w, id, "rhr");
    tell(w, "PATCH", "/v1/jobs/1", "{\"hold\":false}", 200);
    start_all(w);
    expect_members(w, id, "rrr");
}

/* A limit counts the members of a gang. It grows up to that; what needs more from the start can never start. */
static void a_gang_is_within_limits(void **state)
{
    struct sim_server *w = *state;
    int64_t id = run(w, "{\"command\":[\"x\"],\"gang\":5,\"min\":2,\"queue\":\"few\"}");
    expect_members(w, id, "rrrpp");
    reopen(w, true);
    int64_t next = run(w, "{\"command\":[\"x\"],\"gang\":2,\"queue\":\"few\"}");
    expect_members(w, next, "pp");
    for (int i = 0; i < 5; i++) {
        member_ends(w, id, i, 0);
        start_all(w);
    }
    expect_state(w, id, "done");
    expect_members(w, next, "rr");
    expect_refused(w, "{\"command\":[\"x\"],\"gang\":4,\"queue\":\"few\"}",
                   "jobs of user owner in queue few may run, at most 3 at once");
    expect_refused(w, "{\"command\":[\"x\"],\"gang\":3,\"cores\":2,\"queue\":\"small\"}",
                   "jobs of user owner in queue small may have at most 4 cores at once");
}

/* A gang waits for others, and others for a gang: that it succeeds is enough, whatever became of a spare member. */
static void gangs_and_others_depend_on_each_other(void **state)
{
    struct sim_server *w = *state;
    int64_t first = run(w, "{\"command\":[\"x\"]}");
    int64_t id = run(w, "{\"command\":[\"x\"],\"gang\":3,\"min\":2,\"failure\":\"go-on\","
                        "\"dependency\":\"afterok:1\"}");
    int64_t started = run(w, "{\"command\":[\"x\"],\"dependency\":\"after:2\"}");
    int64_t after = run(w, "{\"command\":[\"x\"],\"dependency\":\"afterok:2\"}");
    int64_t badly = run(w, "{\"command\":[\"x\"],\"dependency\":\"afternotok:2\"}");
    expect_members(w, id, "ppp");
    reopen(w, true);
    end(w, first, 0);
    start_all(w);
    expect_members(w, id, "rrr");
    expect_state(w, started, "running");
    member_ends(w, id, 1, 7);
    reopen(w, true);
    member_ends(w, id, 0, 0);
    expect_state(w, after, "pending");
    member_ends(w, id, 2, 0);
    start_all(w);
    expect_state(w, id, "done");
    expect_state(w, after, "running");
    expect_state(w, badly, "failed");
}

/* A member that is cancelled while it waits is one less; if too few are left, nobody is to start. */
static void members_of_a_gang_are_cancelled(void **state)
{
    struct sim_server *w = *state;
    run(w, "{\"command\":[\"x\"],\"nodes\":2}");
    int64_t id = run(w, "{\"command\":[\"x\"],\"gang\":3,\"min\":2}");
    tell(w, "DELETE", "/v1/jobs/2.0", NULL, 200);
    expect_members(w, id, "cpp");
    reopen(w, true);
    tell(w, "DELETE", "/v1/jobs/2.2", NULL, 200);
    expect_members(w, id, "cfc");
    int64_t all = run(w, "{\"command\":[\"x\"],\"gang\":2}");
    tell(w, "DELETE", "/v1/jobs/3", NULL, 200);
    expect_state(w, all, "cancelled");
    assert_int_equal(w->engine->n, 1);
    end(w, 1, 0);
    /* One that runs fails by it, and by its choice the others do too; or all are cancelled at once. */
    int64_t whole = run(w, "{\"command\":[\"x\"],\"gang\":3}");
    tell(w, "DELETE", "/v1/jobs/4.1", NULL, 200);
    sim_server_turn(w, NULL);
    expect_members(w, whole, "fcf");
    int64_t more = run(w, "{\"command\":[\"x\"],\"gang\":3}");
    tell(w, "DELETE", "/v1/jobs/5", NULL, 200);
    sim_server_turn(w, NULL);
    expect_members(w, more, "ccc");
}

/* Started again as a whole, it starts together; a member alone waits while the others go on. */
static void gangs_are_requeued(void **state)
{
    struct sim_server *w = *state;
    int64_t id = run(w, "{\"command\":[\"x\"],\"gang\":4,\"min\":3,\"cores\":2}");
    expect_members(w, id, "rrrr");
    tell(w, "POST", "/v1/jobs/1.3/requeue", NULL, 200);
    start_all(w);
    expect_members(w, id, "rrrr");
    assert_int_equal(sim_engine_find(w->engine, id, 3)->attempt, 2);
    assert_int_equal(sim_engine_find(w->engine, id, 0)->attempt, 1);
    int64_t before = run(w, "{\"command\":[\"x\"],\"cores\":4,\"priority\":5}"); /* waits */
    tell(w, "POST", "/v1/jobs/1/requeue", NULL, 200);
    sim_server_turn(w, NULL);
    start_all(w);
    expect_state(w, before, "running");
    expect_members(w, id, "pppp"); /* there is room for two */
    reopen(w, true);
    expect_members(w, id, "pppp");
    end(w, before, 0);
    start_all(w);
    expect_members(w, id, "rrrr");
    assert_int_equal(w->engine->twice, 0);
}

/* What is lost has failed, or comes again if it asked for that, as its gang would have it. */
static void a_lost_member_goes_by_what_its_gang_says(void **state)
{
    struct sim_server *w = *state;
    int64_t id =
        run(w, "{\"command\":[\"x\"],\"gang\":3,\"min\":2,\"failure\":\"go-on\",\"cores\":2}");
    sim_engine_lost(w->engine, sim_engine_find(w->engine, id, 0));
    sim_server_turn(w, NULL);
    reopen(w, true);
    expect_members(w, id, "frr");
    sim_engine_lost(w->engine, sim_engine_find(w->engine, id, 2)); /* too few are left */
    sim_server_turn(w, NULL);
    start_all(w);
    expect_members(w, id, "fff");
    id = run(w, "{\"command\":[\"x\"],\"gang\":3,\"min\":2,\"requeue\":true,\"cores\":2}");
    sim_engine_lost(w->engine, sim_engine_find(w->engine, id, 1));
    sim_server_turn(w, NULL);
    reopen(w, true);
    start_all(w);
    expect_members(w, id, "rrr");
    assert_int_equal(sim_engine_find(w->engine, id, 1)->attempt, 2);
    assert_int_equal(sim_engine_find(w->engine, id, 0)->attempt, 1);
    assert_int_equal(w->engine->twice, 0);
}

/* One that cannot be started, as its prologue failed, say, takes with it those that started beside it. */
static void a_gang_starts_whole_or_not_at_all(void **state)
{
    struct sim_server *w = *state;
    int64_t id = submit(w, "{\"command\":[\"x\"],\"gang\":3,\"cores\":2}");
    sim_server_turn(w, NULL);
    assert_int_equal(w->engine->n, 3);
    sim_engine_started(w->engine, sim_engine_find(w->engine, id, 0));
    sim_engine_refused(w->engine, sim_engine_find(w->engine, id, 1));
    sim_engine_started(w->engine, sim_engine_find(w->engine, id, 2));
    for (int i = 0; i < 3; i++)
        sim_server_turn(w, NULL);
    expect_members(w, id, "ppp");
    assert_int_equal(w->engine->n, 3);
    for (int i = 0; i < 60 && w->engine->n < 6; i++)
        sim_server_wait(w, SIM_SECOND);
    start_all(w);
    expect_members(w, id, "rrr");
    assert_int_equal(sim_engine_find(w->engine, id, 0)->attempt, 2);
    assert_int_equal(sim_engine_find(w->engine, id, 1)->attempt, 1);
    assert_int_equal(w->engine->n, 6);
    assert_int_equal(w->engine->twice, 0);
}

static void expect_in(struct sim_server *w, const char *path, const char *part)
{
    json_t *got = ask(w, "GET", path, NULL, 200);
    char *text = json_dumps(got, JSON_COMPACT);
    assert_non_null(text);
    if (!strstr(text, part))
        fail_msg("%s: '%s' is not in %s", path, part, text);
    free(text);
    json_decref(got);
}

/* The first member has another priority than the others, and waits for them: they ask for all. What is said of the gang
 * is what they say. One pair of cores is idle until the exclusive job starts.
 */
static void the_whole_says_what_it_lacks(void **state)
{
    struct sim_server *w = *state;
    run(w, "{\"command\":[\"x\"],\"cores\":4,\"limit\":3600}");
    run(w, "{\"command\":[\"x\"],\"cores\":2,\"limit\":3600}");
    run(w, "{\"command\":[\"x\"],\"nodes\":2,\"exclusive\":true,\"limit\":60,\"priority\":9}");
    run(w, "{\"command\":[\"x\"],\"gang\":4,\"cores\":2,\"limit\":60}");
    expect_in(w, "/v1/jobs/4", "\"reason\":\"1 of 4 members fit\"");
    tell(w, "PATCH", "/v1/jobs/4.0", "{\"priority\":3}", 200);
    for (int crashed = 0; crashed < 2; crashed++) {
        sim_server_turn(w, NULL);
        expect_in(w, "/v1/jobs/4.0", "\"reason\":\"waits for its gang\"");
        expect_in(w, "/v1/jobs/4", "\"reason\":\"1 of 4 members fit\"");
        expect_in(w, "/v1/jobs?arrays=1&state=pending", "\"reason\":\"1 of 4 members fit\"");
        expect_in(w, "/v1/jobs?arrays=1&state=pending", "\"not_before\":true");
        expect_in(w, "/v1/jobs/4/explain",
                  "there is room for 1 of 4: it is not ready. It waits for room");
        reopen(w, true);
    }
}

/* ---- Who leaves as a gang has failed ---- */

static int open_preempting(void **state)
{
    return open_world_of(state, "resources: {nodes: 1, cores: 4}\n"
                                "default-queue: batch\n"
                                "queues: {batch: {policy: easy, preempts: lower}}\n"
                                "server: {grace: 60, requests-per-second: unlimited}\n");
}

/* A member is being stopped as another one has failed: what it leaves is enough beside the core that is free, so nobody is
 * stopped for the job that waits for it, over a crash, too. Who needs more has another one stopped as well.
 */
static void who_leaves_with_a_gang_is_waited_for(void **state)
{
    struct sim_server *w = *state;
    int64_t id = run(w, "{\"command\":[\"x\"],\"gang\":2,\"min\":2}");
    int64_t low[2];
    for (int i = 0; i < 2; i++)
        low[i] = run(w, "{\"command\":[\"x\"],\"priority\":-5}");
    sim_server_wait(w, 2 * SIM_SECOND);
    sim_engine_find(w->engine, id, 0)->stubborn = true;
    member_ends(w, id, 1, 1);
    expect_members(w, id, "rf");
    int64_t two = submit(w, "{\"command\":[\"x\"],\"cores\":2}");
    sim_server_turn(w, NULL);
    for (int crashes = 0; crashes < 2; crashes++) {
        expect_state(w, two, "pending");
        for (int i = 0; i < 2; i++)
            assert_int_equal(sim_engine_find(w->engine, low[i], -1)->last_signal, 0);
        reopen(w, true);
    }
    expect_in(w, "/v1/jobs/1.0/explain", "It is being stopped for job 4");
    sim_engine_find(w->engine, low[1], -1)->stubborn = true;
    int64_t one = submit(w, "{\"command\":[\"x\"],\"priority\":-4}");
    sim_server_turn(w, NULL);
    assert_int_equal(sim_engine_find(w->engine, low[0], -1)->last_signal, 0);
    assert_int_equal(sim_engine_find(w->engine, low[1], -1)->last_signal, SIGTERM);
    member_ends(w, id, 0, 1);
    start_all(w);
    expect_state(w, two, "running");
    expect_state(w, one, "pending");
    expect_members(w, id, "ff");
    end(w, low[1], 1);
    start_all(w);
    expect_state(w, one, "running");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_limits, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_gang_grows),
        TEST(a_gang_is_held),
        TEST(the_held_ask_for_nobody),
        TEST(a_gang_is_within_limits),
        TEST(gangs_and_others_depend_on_each_other),
        TEST(members_of_a_gang_are_cancelled),
        TEST(gangs_are_requeued),
        TEST(a_lost_member_goes_by_what_its_gang_says),
        TEST(a_gang_starts_whole_or_not_at_all),
        TEST(the_whole_says_what_it_lacks),
        cmocka_unit_test_setup_teardown(who_leaves_with_a_gang_is_waited_for, open_preempting,
                                        close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
