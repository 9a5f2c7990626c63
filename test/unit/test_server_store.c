/* The promise of the store: what was acknowledged is kept, and whatever becomes of the store or of the
 * engine's records, no run is taken for another, asked for twice, or waited for in vain.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture/failing_alloc.h"
#include "server/store/store.h"
#include "server_scene.h"

#define STORE    "/b/berth.db"
#define REQUEUE  "{\"command\":[\"x\"],\"requeue\":true}"
#define FULL     "\"not started: journal: No space left on device\""
#define UNSTORED "\"not started: cannot write the store: Input/output error\""

/* A copy of the store of a server that is closed; and put back in the place of what is there. */
struct copy {
    void *data;
    int64_t length;
};

static struct copy copy_store(const struct sim_server *w)
{
    struct copy c;
    const void *data = sim_disk_get(w->disk, STORE, &c.length);
    assert_true(data && c.length > 0);
    c.data = malloc((size_t)c.length);
    memcpy(c.data, data, (size_t)c.length);
    return c;
}

static void open_again(struct sim_server *w)
{
    berth_error_t err = {""};
    w->wall += 60 * SIM_SECOND; /* nobody moves files in no time */
    w->steady += 60 * SIM_SECOND;
    if (sim_server_open(w, &err) < 0)
        fail_msg("%s", err.text);
    sim_server_turn(w, NULL);
}

static void put_back(struct sim_server *w, struct copy *c)
{
    sim_server_close(w);
    assert_int_equal(sim_disk_put(w->disk, STORE, c->data, c->length), 0);
    free(c->data);
    open_again(w);
}

/* The store is moved away, and the server begins with an empty one. */
static void move_away(struct sim_server *w)
{
    sim_server_close(w);
    assert_int_equal(sim_disk_put(w->disk, STORE, "", 0), 0);
    open_again(w);
}

static void run_to_the_end(struct sim_server *w, const char *body)
{
    int64_t id = submit(w, body);
    start_all(w);
    end(w, id, 0);
    expect_state(w, id, "done");
}

/* It runs, and not only on paper. */
static struct sim_run *expect_run(struct sim_server *w, int64_t id, size_t runs)
{
    start_all(w);
    assert_int_equal(w->engine->n, runs);
    assert_int_equal(w->engine->twice, 0);
    struct sim_run *run = sim_engine_find(w->engine, id, -1);
    assert_true(run && run->state == SIM_RUNS);
    expect_state(w, id, "running");
    return run;
}

static void a_store_that_is_moved_away_swallows_no_job(void **state)
{
    struct sim_server *w = *state;
    for (int i = 0; i < 3; i++)
        run_to_the_end(w, TRUE1);
    move_away(w);
    int64_t id = submit(w, TRUE1);
    assert_int_equal(id, 1);
    expect_run(w, id, 4);
}

static void a_copy_put_back_swallows_no_job(void **state)
{
    struct sim_server *w = *state;
    run_to_the_end(w, TRUE1);
    sim_server_close(w);
    struct copy c = copy_store(w);
    open_again(w);
    for (int i = 0; i < 5; i++)
        run_to_the_end(w, TRUE1);
    put_back(w, &c);
    int64_t id = submit(w, TRUE1);
    assert_int_equal(id, 2);
    expect_run(w, id, 7);
}

/* What the copy has as running has ended since, or as about to start has been started: never twice, unless
 * asked for.
 */
static void what_a_copy_has_as_running_is_lost(void **state)
{
    struct sim_server *w = *state;
    submit(w, TRUE1);
    submit(w, REQUEUE);
    start_all(w);
    submit(w, TRUE1);
    submit(w, REQUEUE);
    sim_server_close(w);
    struct copy c = copy_store(w);
    open_again(w);
    start_all(w);
    for (int64_t id = 1; id <= 4; id++)
        end(w, id, 0);
    put_back(w, &c);
    for (int64_t id = 1; id <= 3; id += 2) {
        expect_state(w, id, "failed");
        expect_text(w, id, "reason", "\"lost: its end was not observed\"");
        expect_text(w, id, "attempts", "1");
    }
    start_all(w);
    for (int64_t id = 2; id <= 4; id += 2) {
        expect_state(w, id, "running");
        assert_int_equal(sim_engine_find(w->engine, id, -1)->attempt, 2);
    }
    assert_int_equal(w->engine->n, 6);
}

/* Runs of which the copy knows nothing hold nobody knows which cores: they are ended, and nothing starts
 * before they have.
 */
static void what_a_copy_does_not_know_is_ended_first(void **state)
{
    struct sim_server *w = *state;
    sim_server_close(w);
    struct copy c = copy_store(w);
    open_again(w);
    submit(w, ALL);
    start_all(w);
    struct sim_run *run = sim_engine_find(w->engine, 1, -1);
    run->stuck = true;
    put_back(w, &c);
    int64_t id = submit(w, TRUE1);
    sim_server_wait(w, 600 * SIM_SECOND);
    assert_int_equal(run->last_signal, SIGKILL);
    expect_state(w, id, "pending");
    expect_text(w, id, "reason", "\"runs that belong to no job are being killed\"");
    assert_int_equal(w->engine->n, 1);
    json_t *got = ask(w, "GET", "/v1/jobs/1/explain", NULL, 200);
    assert_string_equal(json_string_value(json_object_get(got, "text")),
                        "Nothing is being started: runs that belong to no job are being killed.");
    json_decref(got);
    got = ask(w, "GET", "/v1/server", NULL, 200);
    assert_non_null(
        strstr(json_string_value(json_array_get(json_object_get(got, "notices"), 0)),
               "killing runs that belong to no job of this store: 1; nothing starts until"));
    json_decref(got);
    reopen(w, true); /* also over a restart */
    assert_int_equal(w->engine->n, 1);
    sim_engine_ended(w->engine, sim_engine_find(w->engine, 1, -1), 0, SIGKILL);
    sim_server_turn(w, NULL);
    expect_run(w, id, 2);
}

/* A start that was asked for and not sent, and a stray: it waits as well. */
static void a_start_that_was_cut_off_waits_for_orphans(void **state)
{
    struct sim_server *w = *state;
    submit(w, TRUE1);
    sim_engine_unask(w->engine);
    sim_server_close(w);
    struct copy c = copy_store(w);
    open_again(w);
    assert_int_equal(w->engine->n, 1);
    submit(w, ALL);
    end(w, 1, 0);
    start_all(w);
    sim_engine_find(w->engine, 2, -1)->stuck = true;
    w->engine->runs[0].forgotten = true; /* as if the first had never been sent by anybody */
    w->engine->runs[0].key = 1;
    put_back(w, &c);
    sim_server_wait(w, 60 * SIM_SECOND);
    assert_int_equal(w->engine->n, 2);
    sim_engine_ended(w->engine, sim_engine_find(w->engine, 2, -1), 0, SIGKILL);
    sim_server_turn(w, NULL);
    expect_run(w, 1, 3);
}

/* Store and engine's records are both gone, and then the old store is put back: runs of the time between
 * are not its own.
 */
static void a_run_of_another_store_is_not_taken_for_its_own(void **state)
{
    struct sim_server *w = *state;
    submit(w, TRUE1);
    start_all(w);
    sim_server_close(w);
    struct copy c = copy_store(w);
    sim_engine_forget(w->engine);
    sim_server_open(w, NULL);
    move_away(w);
    int64_t id = submit(w, TRUE1);
    struct sim_run *other = expect_run(w, id, 2);
    assert_int_not_equal(other->key, w->engine->runs[0].key);
    put_back(w, &c);
    expect_state(w, 1, "failed");
    expect_text(w, 1, "reason", "\"lost: its end was not observed\"");
    assert_int_equal(sim_engine_find(w->engine, 1, -1)->last_signal, SIGKILL);
}

/* The engine's records are older than the store, in one boot: what was about to start may have. */
static void records_older_than_the_store_are_not_trusted(void **state)
{
    struct sim_server *w = *state;
    run_to_the_end(w, TRUE1);
    submit(w, TRUE1);
    submit(w, REQUEUE);
    sim_engine_forget(w->engine);
    reopen(w, true);
    assert_int_equal(w->engine->twice, 0);
    expect_state(w, 2, "failed");
    expect_text(w, 2, "reason", "\"lost: its end was not observed\"");
    expect_run(w, 3, 4);
    assert_int_equal(sim_engine_find(w->engine, 3, -1)->attempt, 2);
}

/* An engine that hears late of keys that others have used: a start under one of them is tried again under
 * another.
 */
static void a_key_that_is_refused_is_told_and_tried_again(void **state)
{
    struct sim_server *w = *state;
    run_to_the_end(w, TRUE1);
    w->engine->runs[0].key += 1; /* the next one; and the engine's last key is not told */
    w->engine->runs[0].forgotten = true;
    int64_t id = submit(w, TRUE1);
    assert_int_equal(w->engine->twice, 1);
    expect_state(w, id, "pending");
    expect_text(w, id, "reason", "\"not started: its key was already used\"");
    w->engine->twice = 0;
    sim_server_wait(w, 5 * SIM_SECOND);
    expect_run(w, id, 2);
    assert_int_equal(sim_engine_find(w->engine, id, -1)->attempt, 1);
}

/* ---- Runs that can't be ---- */

/* Give the run of a member another key in the store, whose server is closed. Returns the one that it had. */
static uint64_t set_key(struct sim_server *w, int64_t id, uint64_t key)
{
    struct store_member m;
    store_t *s = store_open(STORE, w->vfs, NULL);
    assert_non_null(s);
    assert_int_equal(store_read_member(s, id, 0, &m, NULL), 0);
    uint64_t had = m.key;
    m.key = key;
    assert_int_equal(store_set_member(s, &m, NULL), 0);
    assert_int_equal(store_commit(s, NULL), 0);
    store_close(s);
    return had;
}

/* What runs without a key, or under another's, would never be heard to end; and nobody knows which of two
 * has it.
 */
static void runs_whose_keys_can_not_be_are_refused(void **state)
{
    struct sim_server *w = *state;
    berth_error_t err = {""};
    submit(w, TRUE1);
    submit(w, TRUE1);
    start_all(w);
    uint64_t first = sim_engine_find(w->engine, 1, -1)->key;
    sim_server_close(w);
    const uint64_t wrong[] = {0, first, UINT64_MAX, ENGINE_KEY_MAX + 1};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        uint64_t had = set_key(w, 2, wrong[i]);
        assert_int_equal(sim_server_open(w, &err), -1);
        assert_string_equal(err.text,
                            "/b/berth.db: the file is damaged: job 2: invalid key of a run");
        set_key(w, 2, had);
    }
    open_again(w);
    end(w, 1, 0);
    end(w, 2, 0);
    expect_state(w, 1, "done");
    expect_state(w, 2, "done");
}

/* ---- A disk that is full under the engine's records ---- */

static size_t count_events(struct sim_server *w, int64_t id, const char *kind)
{
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%lld/events", (long long)id);
    json_t *event, *got = ask(w, "GET", path, NULL, 200);
    size_t i, n = 0;
    json_array_foreach (json_object_get(got, "events"), i, event)
        n += strcmp(json_string_value(json_object_get(event, "kind")), kind) == 0;
    json_decref(got);
    return n;
}

static void no_job_fails_because_the_engine_can_start_none(void **state)
{
    struct sim_server *w = *state;
    w->engine->full = true;
    submit(w, TRUE1);
    submit(w, REQUEUE);
    submit(w, "{\"command\":[\"x\"],\"dependency\":\"afterok:1\"}");
    submit(w, "{\"command\":[\"x\"],\"duration\":10}");
    sim_server_wait(w, 600 * SIM_SECOND);
    for (int64_t id = 1; id <= 4; id++)
        expect_state(w, id, "pending");
    expect_text(w, 1, "reason", FULL);
    expect_text(w, 1, "attempts", "0");
    expect_text(w, 3, "reason", "\"dependency 1\"");
    json_t *got = ask(w, "GET", "/v1/jobs/1/explain", NULL, 200);
    assert_string_equal(json_string_value(json_object_get(got, "text")),
                        "It could not be started: journal: No space left on device. It is retried "
                        "until it starts.");
    json_decref(got);
    assert_true(w->engine->n < 3 * 600); /* tries */
    assert_true(w->engine->n > 3 * 60);
    assert_int_equal(count_events(w, 1, "requeued"), 1);
    tell(w, "DELETE", "/v1/jobs/4", NULL, 200);
    expect_state(w, 4, "cancelled");
    reopen(w, true);
    expect_state(w, 1, "pending");
    expect_text(w, 1, "reason", FULL);
    w->engine->full = false;
    sim_server_wait(w, 10 * SIM_SECOND);
    start_all(w);
    expect_state(w, 1, "running");
    expect_text(w, 1, "reason", "null");
    expect_text(w, 1, "attempts", "1");
    expect_state(w, 2, "running");
    end(w, 1, 0);
    expect_state(w, 1, "done");
    expect_state(w, 3, "running");
    assert_int_equal(sim_engine_find(w->engine, 1, -1)->attempt, 1);
}

/* Who was cancelled, or preempted for good, while it could not be started does not wait again. */
static void a_cancelled_job_is_not_tried_again(void **state)
{
    struct sim_server *w = *state;
    int64_t id = submit(w, TRUE1);
    struct sim_run *run = sim_engine_find(w->engine, id, -1);
    run->stubborn = true;
    tell(w, "DELETE", "/v1/jobs/1", NULL, 200);
    sim_engine_refused(w->engine, run);
    sim_server_turn(w, NULL);
    expect_state(w, id, "cancelled");
    sim_server_wait(w, 60 * SIM_SECOND);
    assert_int_equal(w->engine->n, 1);
}

/* ---- A store that takes nothing ---- */

/* However long that lasts, what can't be started for it waits, and is not said to run. */
static void what_can_not_be_stored_is_not_said_to_run(void **state)
{
    struct sim_server *w = *state;
    submit(w, ALL);
    start_all(w);
    submit(w, ALL);
    submit(w, ALL);
    submit(w, ALL);
    sim_disk_fail(w->disk, 1);
    end(w, 1, 0);
    for (int i = 0; i < 60; i++) {
        expect_state(w, 2, "pending");
        expect_text(w, 2, "reason", UNSTORED);
        expect_text(w, 2, "attempts", "0");
        expect_state(w, 3, "pending");
        expect_text(w, 4, "reason", "\"the store cannot be written\"");
        sim_server_wait(w, 10 * SIM_SECOND);
    }
    json_t *got = ask(w, "GET", "/v1/jobs/2/explain", NULL, 200);
    assert_string_equal(
        json_string_value(json_object_get(got, "text")),
        "It could not be started: cannot write the store: Input/output error. It is "
        "retried until it starts.");
    json_decref(got);
    assert_int_equal(w->engine->n, 1);
    sim_disk_fail(w->disk, 0);
    sim_server_wait(w, 5 * SIM_SECOND);
    expect_run(w, 2, 2);
    expect_text(w, 2, "reason", "null");
    expect_text(w, 2, "attempts", "1");
    assert_int_equal(count_events(w, 2, "requeued"), 1);
    end(w, 2, 0);
    expect_run(w, 3, 3);
}

/* ---- What is acknowledged is kept ---- */

static int open_preemptible(void **state)
{
    return open_world_of(state, "resources: {nodes: 1, cores: 4}\n"
                                "queues:\n"
                                "  batch: {policy: easy}\n"
                                "  spare: {policy: easy, preemptible: cancel}\n"
                                "default-queue: batch\n");
}

/* Who is to come again by a user's wish does so, though its end is waited for by another one now, which
 * would have had it cancelled; also where it has ended before that other one came.
 */
static void a_requeue_goes_before_a_preemption(void **state)
{
    struct sim_server *w = *state;
    for (int64_t late = 0; late < 2; late++) {
        int64_t id = submit(w, "{\"command\":[\"x\"],\"queue\":\"spare\",\"cores\":4}");
        start_all(w);
        sim_server_wait(w, 2 * SIM_SECOND);
        struct sim_run *run = sim_engine_find(w->engine, id, -1);
        run->stubborn = true;
        char path[40];
        snprintf(path, sizeof(path), "/v1/jobs/%lld/requeue", (long long)id);
        tell(w, "POST", path, NULL, 200);
        w->engine->silent = late;
        if (late)
            sim_engine_ended(w->engine, run, 0, SIGTERM);
        sim_server_wait(w, SIM_SECOND);
        int64_t other = submit(w, "{\"command\":[\"x\"],\"cores\":4}");
        assert_int_equal(count_events(w, id, "preempted"), 1);
        w->engine->silent = false;
        if (!late)
            sim_engine_ended(w->engine, sim_engine_find(w->engine, id, -1), 0, SIGTERM);
        sim_server_turn(w, NULL);
        expect_state(w, id, "pending");
        start_all(w);
        end(w, other, 0);
        start_all(w);
        expect_text(w, id, "attempts", "2");
        end(w, id, 0);
        expect_state(w, id, "done");
    }
}

static int open_slow(void **state)
{
    return open_world_of(state, "resources: {nodes: 2, cores: 4}\n"
                                "match: {policy: low}\n"
                                "queues: {batch: {policy: conservative}}\n"
                                "default-queue: batch\n"
                                "passes: {min-interval: 60}\n");
}

/* A running job is given more time, which is in the way of one promise and not of another, and no pass has
 * followed when power goes: the one is moved, and of the other nothing is told.
 */
static void only_promises_that_are_in_the_way_are_moved(void **state)
{
    struct sim_server *w = *state;
    submit(w, "{\"command\":[\"x\"],\"cores\":4,\"duration\":3600}");
    submit(w, "{\"command\":[\"x\"],\"cores\":4,\"duration\":7200}");
    sim_server_wait(w, 61 * SIM_SECOND);
    start_all(w);
    submit(w, "{\"command\":[\"x\"],\"cores\":4,\"duration\":7200}");
    submit(w, "{\"command\":[\"x\"],\"cores\":4,\"duration\":60}");
    sim_server_wait(w, 61 * SIM_SECOND);
    assert_int_equal(count_events(w, 3, "reserved"), 1);
    assert_int_equal(count_events(w, 4, "reserved"), 1);
    tell(w, "PATCH", "/v1/jobs/1", "{\"duration\":5400}", 200);
    assert_int_equal(count_events(w, 3, "reserved"), 1);
    reopen(w, true);
    sim_server_wait(w, 61 * SIM_SECOND);
    assert_int_equal(count_events(w, 3, "reserved"), 2);
    assert_int_equal(count_events(w, 4, "reserved"), 1);
}

static void memory_is_back(void)
{
    until_failure = -1;
}

/* A run that is to come again ends, and one allocation fails, or all from one on: it comes again, also after
 * a crash.
 */
static void who_is_to_come_again_does_also_where_memory_runs_out(void **state)
{
    struct sim_server *w = *state;
    bool failed = true;
    char attempts[24];
    submit(w, "{\"command\":[\"x\"]}");
    start_all(w);
    sim_engine_begins = memory_is_back;
    for (int64_t n = 0; failed; n++) {
        struct sim_run *run = sim_engine_find(w->engine, 1, -1);
        run->stubborn = true;
        tell(w, "POST", "/v1/jobs/1/requeue", NULL, 200);
        sim_engine_ended(w->engine, run, 0, SIGTERM);
        allocation_failed = false;
        failures_last = n / 2 % 2;
        until_failure = n / 4;
        sim_server_turn(w, NULL);
        memory_is_back();
        failed = allocation_failed;
        assert_true(server_check(w->server));
        if (n % 2)
            reopen(w, true);
        sim_server_wait(w, 4 * SIM_SECOND);
        start_all(w);
        snprintf(attempts, sizeof(attempts), "%lld", (long long)n + 2);
        expect_state(w, 1, "running");
        expect_text(w, 1, "attempts", attempts);
    }
    sim_engine_begins = NULL;
}

/* Of two that are to start the first can't for want of memory, and is cancelled; the other waits as long.
 * When that time is over it is started at once, though something else is heard of then that is in no hurry.
 */
static void a_start_is_not_put_off_by_what_is_in_no_hurry(void **state)
{
    struct sim_server *w = *state;
    bool failed = true;
    for (int64_t n = 0; failed; n++) {
        int64_t id = submit(w, "{\"command\":[\"x\"]}");
        struct sim_run *run = sim_engine_find(w->engine, id, -1);
        uint64_t key = run->key;
        char first[40];
        sim_engine_begins = memory_is_back;
        allocation_failed = false;
        failures_last = false;
        until_failure = n;
        asked_by(w, SIM_OWNER, "POST", "/v1/jobs", "[" TRUE1 "," TRUE1 "]");
        memory_is_back();
        sim_engine_begins = NULL;
        failed = allocation_failed;
        snprintf(first, sizeof(first), "/v1/jobs/%lld", (long long)id + 1);
        asked_by(w, SIM_OWNER, "DELETE", first, NULL);
        sim_server_wait(w, 2 * SIM_SECOND - 1);
        for (size_t i = 0; i < w->engine->n; i++)
            if (w->engine->runs[i].key == key)
                sim_engine_started(w->engine, &w->engine->runs[i]);
        w->steady++;
        w->wall++;
        sim_server_turn(w, NULL);
        assert_true(w->due > w->steady);
        sim_server_wait(w, 10 * SIM_SECOND);
        start_all(w);
        for (size_t i = 0; i < w->engine->n; i++)
            if (w->engine->runs[i].state == SIM_RUNS)
                sim_engine_ended(w->engine, &w->engine->runs[i], 0, 0);
        sim_server_turn(w, NULL);
    }
}

/* Where memory runs out in the midst of it, a change of a queue or of resources is refused, or it holds
 * after a crash.
 */
static void changes_are_durable_also_where_memory_runs_out(void **state)
{
    struct sim_server *w = *state;
    static const struct {
        const char *path, *body, *back;
    } changes[] = {{"/v1/queues/long", "{\"started\":false}", "{\"started\":true}"},
                   {"/v1/resources", "{\"resources\":\"node0\",\"status\":\"drained\"}",
                    "{\"resources\":\"node0\",\"status\":\"up\"}"}};
    for (size_t i = 0; i < 2; i++) {
        bool failed = true;
        size_t acknowledged = 0;
        for (int64_t n = 0; failed; n++) {
            allocation_failed = false;
            until_failure = n;
            int status = asked_by(w, SIM_OWNER, "PATCH", changes[i].path, changes[i].body);
            until_failure = -1;
            failed = allocation_failed;
            reopen(w, true);
            json_t *got = ask(w, "GET", i ? "/v1/resources" : "/v1/queues", NULL, 200);
            char *text = json_dumps(got, JSON_COMPACT);
            bool is_so = strstr(text, i ? "drained" : "\"started\":false") != NULL;
            if (status == 200 && !is_so)
                fail_msg("%s: acknowledged and lost, after %lld allocations", changes[i].path,
                         (long long)n);
            acknowledged += status == 200;
            free(text);
            json_decref(got);
            tell(w, "PATCH", changes[i].path, changes[i].back, 200);
            reopen(w, true);
        }
        assert_true(acknowledged > 0);
    }
}

/* More than the log has room for, on a disk that has none. */
static void submit_in_vain(struct sim_server *w)
{
    static char large[2000000];
    json_t *body = json_array();
    for (char c = 'x'; c <= 'z'; c++) {
        memset(large, c, sizeof(large) - 1);
        json_array_append_new(body, json_pack("{s:s}", "script", large));
    }
    char *text = json_dumps(body, 0);
    sim_disk_limit(w->disk, sim_disk_size(w->disk));
    tell(w, "POST", "/v1/jobs", text, 507);
    sim_disk_limit(w->disk, -1);
    json_decref(body);
    free(text);
}

static void nobody_depends_on_what_was_taken_back(void **state)
{
    struct sim_server *w = *state;
    run_to_the_end(w, TRUE1);
    submit_in_vain(w);
    sim_server_wait(w, 3 * SIM_SECOND);
    tell(w, "GET", "/v1/jobs/2", NULL, 404);
    static const char *const types[] = {"afterany", "afternotok", "afterok", "after"};
    char body[100];
    for (size_t i = 0; i < 4; i++) {
        snprintf(body, sizeof(body), "{\"command\":[\"x\"],\"dependency\":\"%s:1:2\"}", types[i]);
        expect_refused(w, body, "dependency 2: no such job");
    }
    /* A list of which the last is wrong. */
    tell(w, "POST", "/v1/jobs", "[" TRUE1 "," TRUE1 "," TRUE1 ",{}]", 400);
    expect_refused(w, "{\"command\":[\"x\"],\"dependency\":\"afterany:5\"}",
                   "dependency 5: no such job");
    /* In a list, and on what has ended or waits, it goes on. */
    int64_t last = submit(w, TRUE1);
    char list[200];
    snprintf(list, sizeof(list),
             "[{\"command\":[\"x\"],\"hold\":true},"
             "{\"command\":[\"x\"],\"dependency\":\"afterok:1,afterany:%lld\"}]",
             (long long)last + 1);
    tell(w, "POST", "/v1/jobs", list, 201);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_store_that_is_moved_away_swallows_no_job),
        TEST(a_copy_put_back_swallows_no_job),
        TEST(what_a_copy_has_as_running_is_lost),
        TEST(what_a_copy_does_not_know_is_ended_first),
        TEST(a_start_that_was_cut_off_waits_for_orphans),
        TEST(a_run_of_another_store_is_not_taken_for_its_own),
        TEST(records_older_than_the_store_are_not_trusted),
        TEST(a_key_that_is_refused_is_told_and_tried_again),
        TEST(runs_whose_keys_can_not_be_are_refused),
        TEST(no_job_fails_because_the_engine_can_start_none),
        TEST(a_cancelled_job_is_not_tried_again),
        TEST(what_can_not_be_stored_is_not_said_to_run),
        cmocka_unit_test_setup_teardown(a_requeue_goes_before_a_preemption, open_preemptible,
                                        close_world),
        cmocka_unit_test_setup_teardown(only_promises_that_are_in_the_way_are_moved, open_slow,
                                        close_world),
        TEST(who_is_to_come_again_does_also_where_memory_runs_out),
        TEST(a_start_is_not_put_off_by_what_is_in_no_hurry),
        TEST(changes_are_durable_also_where_memory_runs_out),
        TEST(nobody_depends_on_what_was_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
