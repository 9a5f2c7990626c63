/* What the server makes of power failures, full disks, clocks that are set, and engines that forget or are
 * silent.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_query.h"
#include "server/core/state.h"
#include "server_scene.h"

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
    expect_text(w, 1, "reason", "\"lost: its end was not observed\"");
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

/* After a boot the clock is stored at once: a wall clock that is set after it, and before anything else
 * happens, says nothing.
 */
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

/* A server that begins while the keeper is stopped answers and takes jobs, and acts when it hears what
 * runs.
 */
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
    expect_text(w, runs, "reason", "\"lost: its end was not observed\"");
    expect_state(w, asked, "failed");
    assert_int_equal(w->engine->n, n);
}

/* ---- What waits ---- */

/* A job that was expected to take 60 s runs on. Its end is put off by as much as it has overrun, a second at least: to 61,
 * 62, 64, 68, 76, 92, 124. So long the next one waits, also after a restart at 100, which would make it 140.
 */
static void what_runs_on_keeps_its_expected_end(void **state)
{
    struct sim_server *w = *state;
    int64_t begun = w->wall;
    submit(w, "{\"command\":[\"x\"],\"nodes\":2,\"estimate\":60}");
    start_all(w);
    int64_t id = submit(w, ALL);
    for (int i = 0; i < 2; i++) {
        sim_server_wait(w, i == 0 ? 100 * SIM_SECOND : 0);
        json_t *job = show(w, id);
        double start = json_number_value(json_object_get(job, "estimate"));
        json_decref(job);
        assert_int_equal((int64_t)start, begun / SIM_SECOND + 124);
        if (i == 0)
            reopen(w, true);
    }
}

/* What waits of an array that is full has no part in what its queue asks for, whether there is room or not. */
static void a_full_array_stays_full(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"x\"],\"nodes\":1,\"cores\":4,\"array\":\"0-2%2\"}");
    start_all(w);
    submit(w, ALL); /* promised a time, so that nobody behind it is looked at */
    for (int i = 0; i < 2; i++) {
        json_t *job = ask(w, "GET", "/v1/jobs/1.2", NULL, 200);
        assert_string_equal(json_string_value(json_object_get(job, "reason")),
                            "limit array running 2");
        json_decref(job);
        if (i == 0)
            reopen(w, true);
    }
}

/* Members that have come back each by itself are not put together by a restart. */
static void members_that_wait_apart_go_on_so(void **state)
{
    struct sim_server *w = *state;
    w->engine->full = true;
    submit(w, "{\"command\":[\"x\"],\"array\":\"0-4%3\"}");
    sim_server_turn(w, NULL);
    w->engine->silent = true; /* nothing more is started */
    for (int i = 0; i < 2; i++) {
        sched_job_t of[5];
        for (uint32_t k = 0; k < 5; k++)
            of[k] = sched_find(w->server->sched, "1", k);
        assert_true(of[0] != of[1] && of[1] != of[2] && of[2] != of[0]);
        assert_true(of[3] == of[4] && of[3] != of[0]);
        if (i == 0)
            reopen(w, true);
    }
}

/* ---- Classes ---- */

static int open_classes(void **state)
{
    if (open_world_of(state, "resources: {nodes: 1, cores: 4}\n"
                             "queues:\n"
                             "  batch:\n"
                             "    shares:\n"
                             "      by: class\n"
                             "      classes:\n"
                             "        percent: {a: 50, b: 50}\n"
                             "        patterns: [{match: ann, class: a}]\n"
                             "        default: b\n"
                             "        rebalance: {threshold: 10, after: 100}\n") < 0)
        return -1;
    struct sim_server *w = *state;
    w->options.for_all = true;
    w->options.uid = 0;
    reopen(w, false);
    return 0;
}

/* Classes have been uneven for 60 s when the server stops. It stops a job of the one for the other 40 s later. */
static void rebalance_after_restart(void **state, bool crash)
{
    struct sim_server *w = *state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            asked_by(w, SIM_ANN, "POST", "/v1/jobs", "{\"command\":[\"x\"],\"duration\":3600}"),
            201);
    start_all(w);
    assert_int_equal(
        asked_by(w, SIM_BOB, "POST", "/v1/jobs", "{\"command\":[\"y\"],\"duration\":3600}"), 201);
    sim_server_wait(w, 60 * SIM_SECOND);
    reopen(w, crash);
    start_all(w);
    sim_server_wait(w, 30 * SIM_SECOND);
    assert_int_equal(sim_engine_find(w->engine, 4, -1)->last_signal, 0);
    sim_server_wait(w, 12 * SIM_SECOND);
    assert_int_equal(sim_engine_find(w->engine, 4, -1)->last_signal, SIGTERM);
    end(w, 4, 0);
    sim_server_wait(w, SIM_SECOND);
    assert_non_null(sim_engine_find(w->engine, 5, -1));
}

static void classes_stay_uneven_over_a_restart(void **state)
{
    rebalance_after_restart(state, false);
}

static void classes_stay_uneven_over_a_crash(void **state)
{
    rebalance_after_restart(state, true);
}

#define TEST(name)    cmocka_unit_test_setup_teardown(name, open_world, close_world)
#define CLASSES(name) cmocka_unit_test_setup_teardown(name, open_classes, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_full_disk_loses_nothing),
        TEST(what_was_cut_off_is_finished),
        TEST(a_run_that_the_engine_has_forgotten_is_lost),
        TEST(what_was_asked_for_is_started_once),
        TEST(a_start_that_a_power_failure_hides_is_not_repeated),
        TEST(an_end_before_the_limit_is_no_timeout),
        TEST(time_goes_on_over_boots),
        TEST(a_clock_that_is_set_after_a_boot_moves_nothing),
        TEST(an_engine_that_is_silent_is_waited_for),
        TEST(what_a_silent_engine_was_not_asked_for_is_started),
        TEST(what_a_silent_engine_has_forgotten_is_lost),
        TEST(what_runs_on_keeps_its_expected_end),
        TEST(a_full_array_stays_full),
        TEST(members_that_wait_apart_go_on_so),
        CLASSES(classes_stay_uneven_over_a_restart),
        CLASSES(classes_stay_uneven_over_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
