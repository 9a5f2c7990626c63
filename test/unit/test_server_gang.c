/* What a server knows of gangs after a crash, and of jobs that starve. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_scene.h"

/* So many nodes of two cores. */
#define SHRINKING(nodes)                                                                           \
    "resources: {nodes: " nodes ", cores: 2}\n"                                                    \
    "queues: {batch: {policy: easy}}\n"                                                            \
    "match: {policy: low}\n"                                                                       \
    "server: {grace: 5, requests-per-second: unlimited}\n"

/* A value of a member, as JSON. */
static void expect_of(struct sim_server *w, int64_t id, int member, const char *key,
                      const char *value)
{
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%d.%d", (int)id, member);
    json_t *job = ask(w, "GET", path, NULL, 200);
    char *text = json_dumps(json_object_get(job, key), JSON_ENCODE_ANY);
    assert_non_null(text);
    assert_string_equal(text, value);
    free(text);
    json_decref(job);
}

static void member_ends(struct sim_server *w, int64_t id, int64_t member, int status)
{
    sim_engine_ended(w->engine, sim_engine_find(w->engine, id, member), status, 0);
}

/* How many runs the engine was told to end. */
static int told_to_end(const struct sim_server *w)
{
    int n = 0;
    for (size_t i = 0; i < w->engine->n; i++)
        n += w->engine->runs[i].last_signal == SIGTERM;
    return n;
}

static void a_gang_that_ran_is_one_after_a_crash(void **state)
{
    struct sim_server *w = *state;
    int64_t id =
        submit(w, "{\"command\":[\"x\"],\"gang\":4,\"min\":3,\"failure\":\"go-on\",\"cores\":2}");
    start_all(w);
    assert_int_equal(w->engine->n, 4);
    for (int i = 0; i < 4; i++)
        w->engine->runs[i].stubborn = true;
    reopen(w, true);
    expect_state(w, id, "running");
    /* One ends while the server is away: it counts once, and three are enough. */
    sim_server_close(w);
    member_ends(w, id, 0, 1);
    assert_int_equal(sim_server_open(w, NULL), 0);
    sim_server_turn(w, NULL);
    expect_of(w, id, 0, "state", "\"failed\"");
    assert_int_equal(told_to_end(w), 0);
    reopen(w, true);
    assert_int_equal(told_to_end(w), 0);
    /* With the next one, too few are left, also after a crash. */
    member_ends(w, id, 3, 1);
    sim_server_turn(w, NULL);
    assert_int_equal(told_to_end(w), 2);
    reopen(w, true);
    member_ends(w, id, 1, 0);
    member_ends(w, id, 2, 1);
    sim_server_turn(w, NULL);
    expect_of(w, id, 2, "reason", "\"2 of 3 members are left\"");
    expect_state(w, id, "failed");
    assert_int_equal(w->engine->n, 4);
    assert_int_equal(w->engine->twice, 0);
}

static void a_gang_that_has_failed_has_so_after_a_crash(void **state)
{
    struct sim_server *w = *state;
    int64_t id = submit(w, "{\"command\":[\"x\"],\"gang\":5,\"min\":4,\"cores\":2}");
    start_all(w);
    assert_int_equal(w->engine->n, 4); /* there is room for four */
    for (int i = 0; i < 4; i++)
        w->engine->runs[i].stubborn = true;
    member_ends(w, id, 2, 7);
    sim_server_turn(w, NULL);
    reopen(w, true);
    expect_of(w, id, 4, "state", "\"failed\"");
    expect_of(w, id, 4, "reason", "\"member 2 failed\"");
    expect_of(w, id, 0, "state", "\"running\"");
    sim_server_wait(w, 10 * SIM_SECOND); /* SIGKILL */
    expect_of(w, id, 0, "reason", "\"member 2 failed\"");
    expect_state(w, id, "failed");
    assert_int_equal(w->engine->n, 4);
}

static void replacements_are_counted_over_a_crash(void **state)
{
    struct sim_server *w = *state;
    int64_t id = submit(w, "{\"command\":[\"x\"],\"gang\":2,\"failure\":\"replace\"}");
    start_all(w);
    for (int again = 0; again < 2; again++) {
        member_ends(w, id, 1, 1);
        sim_server_turn(w, NULL);
        reopen(w, true);
        start_all(w);
        expect_of(w, id, 1, "state", "\"running\"");
        assert_int_equal(sim_engine_find(w->engine, id, 1)->attempt, again + 2);
    }
    member_ends(w, id, 1, 1); /* as often as there are members */
    sim_server_turn(w, NULL);
    expect_of(w, id, 1, "state", "\"failed\"");
    sim_server_wait(w, 10 * SIM_SECOND);
    expect_state(w, id, "failed");
    assert_int_equal(w->engine->n, 4);
}

/* One promise for all, of which nothing starts early. */
static void what_a_gang_was_promised_is_kept(void **state)
{
    struct sim_server *w = *state;
    int64_t half = submit(w, "{\"command\":[\"x\"],\"cores\":4,\"duration\":100}");
    int64_t id = submit(w, "{\"command\":[\"x\"],\"gang\":4,\"cores\":2,\"duration\":50}");
    start_all(w);
    expect_text(w, id, "not_before", "false");
    json_t *job = show(w, id);
    double at = json_number_value(json_object_get(job, "estimate"));
    json_decref(job);
    sim_server_wait(w, 10 * SIM_SECOND);
    reopen(w, true);
    expect_text(w, id, "not_before", "false");
    job = show(w, id);
    assert_true(json_number_value(json_object_get(job, "estimate")) == at);
    json_decref(job);
    int64_t later =
        submit(w, "{\"command\":[\"x\"],\"duration\":200}"); /* it would be in the way */
    expect_state(w, later, "pending");
    assert_int_equal(w->engine->n, 1);
    end(w, half, 0);
    start_all(w);
    assert_int_equal(w->engine->n, 5);
    expect_state(w, id, "running");
}

/* Of one that is down, and whose members wait in slots of their own, all start together again. */
static void a_gang_that_is_down_starts_together_after_a_crash(void **state)
{
    struct sim_server *w = *state;
    int64_t id = submit(w, "{\"command\":[\"x\"],\"gang\":2,\"cores\":4,\"requeue\":true}");
    start_all(w);
    for (int i = 0; i < 2; i++)
        sim_engine_lost(w->engine, &w->engine->runs[i]);
    int64_t other = submit(w, "{\"command\":[\"x\"],\"priority\":5}"); /* takes room before them */
    reopen(w, true);
    expect_state(w, other, "running");
    expect_state(w, id, "pending");
    reopen(w, true);
    expect_state(w, id, "pending");
    assert_int_equal(w->engine->n, 3);
    start_all(w);
    end(w, other, 0);
    expect_state(w, id, "running");
    assert_int_equal(w->engine->n, 5);
}

/* ---- Starving ---- */

static int open_starving(void **state)
{
    return open_world_of(state, "resources: {nodes: 2, cores: 2}\n"
                                "match: {policy: low}\n"
                                "default-duration: unknown\n"
                                "starvation-threshold: 100\n"
                                "queues: {batch: {policy: easy}}\n"
                                "server: {requests-per-second: unlimited}\n");
}

static bool claims(struct sim_server *w, int64_t id)
{
    json_t *job = show(w, id);
    const char *reason = json_string_value(json_object_get(job, "reason"));
    bool is = reason && strncmp(reason, "claims ", 7) == 0;
    json_decref(job);
    return is;
}

static void how_long_it_starves_is_known_after_a_crash(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"x\"],\"nodes\":2}"); /* for nobody knows how long */
    start_all(w);
    int64_t id = submit(w, "{\"command\":[\"x\"],\"nodes\":2,\"hold\":true}");
    sim_server_wait(w, 90 * SIM_SECOND);
    tell(w, "PATCH", "/v1/jobs/2", "{\"hold\":false}", 200);
    reopen(w, true);
    sim_server_wait(w, 90 * SIM_SECOND);
    assert_false(claims(w, id)); /* it waits since it was released */
    sim_server_wait(w, 20 * SIM_SECOND);
    assert_true(claims(w, id));
}

/* Two jobs that run on a node, by its name. */
static void find_two(struct sim_server *w, const char *node, int64_t two[2])
{
    int n = 0;
    for (int64_t id = 1; id <= 4; id++) {
        json_t *job = show(w, id);
        if (strncmp(json_string_value(json_object_get(job, "resources")), node, 5) == 0 && n < 2)
            two[n++] = id;
        json_decref(job);
    }
    assert_int_equal(n, 2);
}

/* What people are told of a claim. */
static void expect_explained(struct sim_server *w, int64_t id, int other)
{
    char path[64], expected[200];
    snprintf(path, sizeof(path), "/v1/jobs/%d/explain", (int)id);
    snprintf(expected, sizeof(expected),
             "It has waited for so long that 2 cores are withheld for it from now on, of which 1 "
             "is free. "
             "For the rest it waits for job %d. Its start time is unknown.",
             other);
    json_t *got = ask(w, "GET", path, NULL, 200);
    assert_string_equal(json_string_value(json_object_get(got, "text")), expected);
    json_decref(got);
}

/* The claim is of the second node, where one core is free. When one of the first is, too, it would be chosen there. */
static void a_claim_is_the_same_after_a_crash(void **state)
{
    struct sim_server *w = *state;
    int64_t first[2], second[2];
    char reason[60];
    for (int i = 0; i < 4; i++)
        submit(w, TRUE1);
    start_all(w);
    find_two(w, "node0", first);
    find_two(w, "node1", second);
    end(w, second[0], 0);
    int64_t id = submit(w, "{\"command\":[\"x\"],\"nodes\":1,\"cores\":2}");
    sim_server_wait(w, 110 * SIM_SECOND);
    snprintf(reason, sizeof(reason), "\"claims 1 of 2 cores, waits for %d\"", (int)second[1]);
    expect_text(w, id, "reason", reason);
    expect_explained(w, id, (int)second[1]);
    end(w, first[0], 0);
    reopen(w, true);
    expect_text(w, id, "reason", reason);
    int64_t other = submit(w, TRUE1); /* on the first node there is room */
    expect_state(w, other, "running");
    end(w, second[1], 0);
    expect_state(w, id, "running");
    expect_text(w, id, "resources", "\"node1/core[0-1]\"");
    expect_state(w, first[1], "running");
}

/* An array's claim is its first waiting member's: where that leaves the others, it is the next one's, also after a crash. */
static void an_array_claims_the_same_after_a_crash(void **state)
{
    struct sim_server *w = *state;
    int64_t first[2], second[2];
    char reason[60];
    for (int i = 0; i < 4; i++)
        submit(w, TRUE1);
    start_all(w);
    find_two(w, "node0", first);
    find_two(w, "node1", second);
    end(w, second[0], 0);
    int64_t id = submit(w, "{\"command\":[\"x\"],\"nodes\":1,\"cores\":2,\"array\":4}");
    sim_server_wait(w, 110 * SIM_SECOND);
    snprintf(reason, sizeof(reason), "\"claims 1 of 2 cores, waits for %d\"", (int)second[1]);
    expect_text(w, id, "reason", reason);
    end(w, first[0], 0);
    reopen(w, true);
    expect_text(w, id, "reason", reason);
    tell(w, "PATCH", "/v1/jobs/5.0", "{\"hold\":true}", 200);
    reopen(w, true);
    expect_of(w, id, 1, "reason", reason);
    expect_of(w, id, 0, "state", "\"held\"");
    int64_t other = submit(w, TRUE1);
    expect_state(w, other, "running");
    end(w, second[1], 0);
    expect_of(w, id, 1, "resources", "\"node1/core[0-1]\"");
    expect_of(w, id, 2, "state", "\"pending\"");
    reopen(w, true);
    expect_of(w, id, 1, "state", "\"running\"");
    expect_of(w, id, 2, "state", "\"pending\"");
}

/* ---- A machine that is smaller after a restart ---- */

/* Three nodes, of which the last one is not there any more when the server comes back: a member runs on it still. */
static int open_shrinking(void **state)
{
    return open_world_of(state, SHRINKING("3"));
}

/* Start a gang of three nodes, as told, and lose the last one. */
static int64_t shrink_under(struct sim_server *w, const char *more)
{
    char body[200];
    snprintf(body, sizeof(body), "{\"command\":[\"x\"],\"gang\":3,\"nodes\":1%s}", more);
    int64_t id = submit(w, body);
    start_all(w);
    assert_int_equal(w->engine->n, 3);
    for (int i = 0; i < 3; i++)
        w->engine->runs[i].stubborn = true;
    expect_of(w, id, 2, "resources", "\"node2\"");
    sim_server_crash(w);
    sim_server_configure(w, SHRINKING("2"));
    assert_int_equal(sim_server_open(w, NULL), 0);
    sim_server_turn(w, NULL);
    for (int i = 0; i < 3; i++)
        expect_of(w, id, i, "state", "\"running\"");
    assert_int_equal(told_to_end(w), 0);
    return id;
}

static void all_fail_with_a_member_off_the_machine(void **state)
{
    struct sim_server *w = *state;
    int64_t id = shrink_under(w, "");
    member_ends(w, id, 2, 1);
    sim_server_turn(w, NULL);
    assert_int_equal(told_to_end(w), 2);
    member_ends(w, id, 0, 1);
    member_ends(w, id, 1, 1);
    sim_server_turn(w, NULL);
    expect_of(w, id, 0, "reason", "\"member 2 failed\"");
    expect_state(w, id, "failed");
}

static void a_member_off_the_machine_fails_with_all(void **state)
{
    struct sim_server *w = *state;
    int64_t id = shrink_under(w, "");
    member_ends(w, id, 0, 1);
    sim_server_turn(w, NULL);
    assert_int_equal(told_to_end(w), 2);
    member_ends(w, id, 1, 1);
    member_ends(w, id, 2, 1);
    sim_server_turn(w, NULL);
    expect_of(w, id, 2, "reason", "\"member 0 failed\"");
    expect_state(w, id, "failed");
}

/* It counts as one that runs, or has succeeded. */
static void others_go_on_with_a_member_off_the_machine(void **state)
{
    struct sim_server *w = *state;
    int64_t id = shrink_under(w, ",\"min\":2,\"failure\":\"go-on\"");
    member_ends(w, id, 0, 1);
    sim_server_turn(w, NULL);
    assert_int_equal(told_to_end(w), 0);
    member_ends(w, id, 2, 0);
    sim_server_turn(w, NULL);
    assert_int_equal(told_to_end(w), 0);
    member_ends(w, id, 1, 0);
    sim_server_turn(w, NULL);
    expect_of(w, id, 1, "state", "\"done\"");
    expect_of(w, id, 2, "state", "\"done\"");
}

static void others_stop_without_a_member_off_the_machine(void **state)
{
    struct sim_server *w = *state;
    int64_t id = shrink_under(w, ",\"min\":3,\"failure\":\"go-on\"");
    member_ends(w, id, 2, 1);
    sim_server_turn(w, NULL);
    assert_int_equal(told_to_end(w), 2);
    member_ends(w, id, 0, 1);
    sim_server_turn(w, NULL);
    expect_of(w, id, 0, "reason", "\"2 of 3 members are left\"");
}

/* When the node is there again, it is its own. */
static void a_member_off_the_machine_has_its_node_again(void **state)
{
    struct sim_server *w = *state;
    shrink_under(w, "");
    reopen(w, true);
    sim_server_configure(w, SHRINKING("3"));
    reopen(w, true);
    int64_t other = submit(w, "{\"command\":[\"x\"]}");
    start_all(w);
    expect_state(w, other, "pending");
    assert_int_equal(w->engine->n, 3);
}

/* It waits until there is a node for it, and takes nobody's until then: the others have both. */
static void a_member_off_the_machine_is_replaced(void **state)
{
    struct sim_server *w = *state;
    int64_t id = shrink_under(w, ",\"failure\":\"replace\"");
    reopen(w, true); /* it is off the machine still */
    member_ends(w, id, 2, 1);
    sim_server_turn(w, NULL);
    assert_int_equal(told_to_end(w), 0);
    expect_of(w, id, 2, "state", "\"pending\"");
    member_ends(w, id, 0, 0);
    start_all(w);
    expect_of(w, id, 2, "state", "\"running\"");
    expect_of(w, id, 2, "resources", "\"node0\"");
    expect_of(w, id, 1, "state", "\"running\"");
}

#define TEST(name)     cmocka_unit_test_setup_teardown(name, open_world, close_world)
#define STARVING(name) cmocka_unit_test_setup_teardown(name, open_starving, close_world)
#define SHRUNK(name)   cmocka_unit_test_setup_teardown(name, open_shrinking, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_gang_that_ran_is_one_after_a_crash),
        TEST(a_gang_that_has_failed_has_so_after_a_crash),
        TEST(replacements_are_counted_over_a_crash),
        TEST(what_a_gang_was_promised_is_kept),
        TEST(a_gang_that_is_down_starts_together_after_a_crash),
        STARVING(how_long_it_starves_is_known_after_a_crash),
        STARVING(a_claim_is_the_same_after_a_crash),
        STARVING(an_array_claims_the_same_after_a_crash),
        SHRUNK(all_fail_with_a_member_off_the_machine),
        SHRUNK(a_member_off_the_machine_fails_with_all),
        SHRUNK(others_go_on_with_a_member_off_the_machine),
        SHRUNK(others_stop_without_a_member_off_the_machine),
        SHRUNK(a_member_off_the_machine_has_its_node_again),
        SHRUNK(a_member_off_the_machine_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
