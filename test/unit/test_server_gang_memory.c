/* Memory runs out in the turn of a server in which a gang starts: the first allocation of that turn fails, then the second,
 * and so on, alone or with all behind it. Each of its members runs in the end, and once; so it is where the server dies
 * right after that turn.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture/failing_alloc.h"
#include "server_scene.h"

enum { TRIES = 5000 };

static int64_t armed = -1; /* the allocation of the next call that fails; -1: none */

static void arm(void)
{
    until_failure = armed;
    armed = -1;
}

static void disarm(void)
{
    until_failure = -1;
}

/* How many members of a job have been asked for, of those that the engine has not ended. */
static int members_run(const struct sim_server *w, int64_t id)
{
    int n = 0;
    for (size_t i = 0; i < w->engine->n; i++)
        n += w->engine->runs[i].job == id && w->engine->runs[i].state != SIM_OVER;
    return n;
}

/* A gang waits for a job that has one of the nodes. */
static int64_t gang_waits(struct sim_server *w, const char *gang, int64_t *before)
{
    *before = submit(w, "{\"command\":[\"x\"],\"nodes\":2,\"duration\":1000}");
    start_all(w);
    int64_t id = submit(w, gang);
    sim_server_wait(w, SIM_SECOND);
    assert_int_equal(members_run(w, id), 0);
    return id;
}

/* The turn in which it starts has the nth allocation failing. Returns whether that many were made. */
static bool start_without(struct sim_server *w, int64_t before, int64_t n)
{
    sim_engine_ended(w->engine, sim_engine_find(w->engine, before, -1), 0, 0);
    allocation_failed = false;
    armed = n;
    sim_server_turn(w, NULL);
    armed = until_failure = -1;
    return allocation_failed;
}

/* One world. Returns whether an allocation has failed. */
static bool play(const char *gang, int64_t n, bool dies)
{
    void *state;
    int64_t before;
    assert_int_equal(open_world(&state), 0);
    struct sim_server *w = state;
    int64_t id = gang_waits(w, gang, &before);
    bool failed = start_without(w, before, n);
    if (dies)
        reopen(w, true);
    for (int i = 0; i < 30 && members_run(w, id) < 4; i++) {
        start_all(w);
        sim_server_wait(w, SIM_SECOND);
    }
    start_all(w);
    if (members_run(w, id) != 4 || w->engine->n != 5 || w->engine->twice > 0)
        fail_msg("allocation %d%s%s: %d of 4 members run, %zu runs", (int)n,
                 failures_last ? " and all behind it" : "", dies ? ", and a crash" : "",
                 members_run(w, id), w->engine->n);
    expect_state(w, id, "running");
    for (int i = 0; i < 4; i++)
        sim_engine_ended(w->engine, sim_engine_find(w->engine, id, i), 0, 0);
    sim_server_turn(w, NULL);
    expect_state(w, id, "done");
    close_world(&state);
    return failed;
}

/* Each so-many-th allocation fails, alone or with all behind it, and every fourth of these with a crash. */
static void play_all(const char *gang, int64_t every)
{
    sim_server_begins = arm;
    sim_server_ends = sim_engine_begins = disarm;
    for (int how = 0; how < 4; how++) {
        int64_t n = 0;
        failures_last = how % 2;
        while (play(gang, n, how / 2) && n < TRIES)
            n += how / 2 ? 4 * every : every; /* it takes longer with a crash */
        assert_in_range(n, 20, TRIES - 1);    /* that many fail, and then none does */
    }
    failures_last = false;
    sim_server_begins = sim_server_ends = sim_engine_begins = NULL;
}

static void a_gang_starts_without_memory(void **state)
{
    (void)state;
    play_all("{\"command\":[\"x\"],\"gang\":4,\"cores\":2,\"duration\":50}", 1);
}

static void roles_start_without_memory(void **state)
{
    (void)state;
    play_all("{\"command\":[\"x\"],\"duration\":50,\"roles\":["
             "{\"role\":\"server\",\"cores\":4},"
             "{\"role\":\"worker\",\"count\":3,\"cores\":1}]}",
             3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_starts_without_memory),
        cmocka_unit_test(roles_start_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
