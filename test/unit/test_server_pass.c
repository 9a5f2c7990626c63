/* A pass is made in slices: others are served between two of them, what each decides is durable with its
 * turn, and together they decide what a whole pass would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_scene.h"

enum { STEPS = 10, JOBS = 200, TURNS = 60 };

#define CONFIG                                                                                     \
    "resources: {nodes: 2, cores: 4}\n"                                                            \
    "match: {policy: low}\n"                                                                       \
    "queues: {batch: {policy: conservative}}\n"                                                    \
    "server: {requests-per-second: unlimited}\n"

static void open_again(struct sim_server *w, size_t steps)
{
    w->options.pass_steps = steps;
    assert_int_equal(sim_server_open(w, NULL), 0);
}

static int open_sliced(void **state)
{
    if (open_world_of(state, CONFIG) < 0)
        return -1;
    struct sim_server *w = *state;
    sim_server_close(w);
    w->options.for_all = true;
    w->options.uid = 0;
    open_again(w, STEPS);
    return 0;
}

/* As root, whatever turns it takes. */
static void tell_root(struct sim_server *w, const char *method, const char *path, const char *body)
{
    int status;
    json_decref(sim_server_ask(w, 0, method, path, NULL, body, &status));
    assert_true(status < 300);
}

/* Jobs of all sizes in a queue that is stopped. */
static void fill(struct sim_server *w)
{
    struct strbuf body = {0};
    tell_root(w, "PATCH", "/v1/queues/batch", "{\"started\":false}");
    for (int i = 0; i < JOBS; i++) {
        strbuf_puts(&body,
                    i ? ",{\"command\":[\"x\"],\"cores\":" : "[{\"command\":[\"x\"],\"cores\":");
        strbuf_put_int(&body, 1 + i * 7 % 4);
        strbuf_puts(&body, ",\"duration\":");
        strbuf_put_int(&body, 600 + i * 31 % 97);
        strbuf_putc(&body, '}');
    }
    strbuf_putc(&body, ']');
    tell_root(w, "POST", "/v1/jobs", strbuf_text(&body));
    strbuf_clear(&body);
}

/* Start the queue, and have the first slice of its pass. */
static void start(struct sim_server *w)
{
    struct asked a = {0}, *all[] = {&a};
    ask_begin(w, 0, "PATCH", "/v1/queues/batch", "{\"started\":true}", &a);
    assert_int_equal(ask_turn(w, all, 1), 0);
    assert_true(a.is_there);
    assert_int_equal(a.reply.status, 200);
    ask_forget(&a);
}

/* What is decided of the first JOBS jobs, by number: a text, or NULL where nothing is. Returns how many are
 * decided.
 */
static int decided(struct sim_server *w, char *of[JOBS + 1])
{
    struct strbuf text;
    size_t i;
    json_t *row;
    int n = 0;
    memset(of, 0, (JOBS + 1) * sizeof(*of));
    assert_int_equal(sim_server_ask_text(w, 0, "GET", "/v1/jobs", NULL, NULL, &text), 200);
    json_t *got = json_loadb(text.data, text.len, 0, NULL);
    json_array_foreach (json_object_get(got, "jobs"), i, row) {
        int64_t id = json_integer_value(json_object_get(row, "id"));
        const char *state = json_string_value(json_object_get(row, "state"));
        const char *reason = json_string_value(json_object_get(row, "reason"));
        bool waits = strcmp(state, "pending") == 0;
        if (id > JOBS || (waits && (!reason || strcmp(reason, "reserved") != 0)))
            continue;
        char *at = json_dumps(json_object_get(row, "estimate"), JSON_ENCODE_ANY);
        if (asprintf(&of[id], "%s %s", waits ? "reserved" : "started", waits ? at : "") < 0)
            abort();
        free(at);
        n++;
    }
    json_decref(got);
    strbuf_clear(&text);
    return n;
}

static void clear(char *of[JOBS + 1])
{
    for (int i = 0; i <= JOBS; i++)
        free(of[i]);
}

/* All that is in `before` is in `after`, as it was. */
static void expect_kept(char *before[JOBS + 1], char *after[JOBS + 1])
{
    for (int i = 1; i <= JOBS; i++)
        if (before[i])
            assert_string_equal(before[i], after[i] ? after[i] : "nothing");
}

/* What a server decides that makes its passes whole. */
static void decide_whole(char *of[JOBS + 1])
{
    void *state;
    assert_int_equal(open_sliced(&state), 0);
    struct sim_server *w = state;
    fill(w);
    sim_server_close(w);
    open_again(w, 0);
    start(w);
    assert_true(w->due > w->steady);
    assert_int_equal(decided(w, of), JOBS);
    close_world(&state);
}

/* A turn decides no more than its slice has steps. Whoever else submits in between is answered with the
 * next turn, and all is decided as in one pass.
 */
static void others_are_served_between_slices(void **state)
{
    struct sim_server *w = *state;
    char *whole[JOBS + 1], *sliced[JOBS + 1];
    int turns = 1, before = 0;
    decide_whole(whole);
    fill(w);
    start(w);
    for (; w->due <= w->steady; turns++) {
        struct asked other = {0}, *all[] = {&other};
        int n = decided(w, sliced);
        expect_kept(sliced, whole);
        clear(sliced);
        assert_true(n - before <= STEPS);
        before = n;
        ask_begin(w, SIM_BOB, "POST", "/v1/jobs", "{\"command\":[\"x\"],\"hold\":true}", &other);
        assert_int_equal(ask_turn(w, all, 1), 0);
        assert_true(other.is_there);
        assert_int_equal(other.reply.status, 201);
        ask_forget(&other);
    }
    assert_true(turns >= JOBS / STEPS);
    assert_true(turns <= 4 * JOBS / STEPS);
    assert_int_equal(decided(w, sliced), JOBS);
    expect_kept(whole, sliced);
    clear(whole);
    clear(sliced);
}

/* Power goes between two slices: what was decided stands, and the rest is as it would have been. */
static void a_crash_between_slices_loses_nothing(void **state)
{
    struct sim_server *w = *state;
    char *whole[JOBS + 1], *sliced[JOBS + 1], *after[JOBS + 1];
    decide_whole(whole);
    fill(w);
    start(w);
    for (int i = 0; w->due <= w->steady; i++) {
        assert_int_equal(ask_turn(w, NULL, 0), 0);
        if (i &
            (i - 1)) /* after more and more of them, as a restart has all reservations looked at */
            continue;
        decided(w, sliced);
        sim_server_crash(w);
        open_again(w, STEPS);
        decided(w, after);
        expect_kept(sliced, after);
        clear(sliced);
        clear(after);
    }
    assert_int_equal(decided(w, sliced), JOBS);
    expect_kept(whole, sliced);
    clear(whole);
    clear(sliced);
}

/* Who only looks does not have the pass begin anew. */
static void looking_disturbs_no_pass(void **state)
{
    struct sim_server *w = *state;
    int turns[2] = {0, 0};
    for (int looks = 0; looks < 2; looks++) {
        fill(w);
        start(w);
        for (; w->due <= w->steady; turns[looks]++) {
            w->steady += looks;
            if (looks) {
                json_decref(sim_server_ask(w, SIM_BOB, "GET", "/v1/jobs", NULL, NULL, NULL));
                json_decref(
                    sim_server_ask(w, SIM_BOB, "GET", "/v1/jobs/400/explain", NULL, NULL, NULL));
                json_decref(sim_server_ask(w, SIM_BOB, "GET", "/v1/queues", NULL, NULL, NULL));
            }
            assert_int_equal(ask_turn(w, NULL, 0), 0);
        }
        tell_root(w, "POST", "/v1/jobs/cancel", "{\"jobs\":{}}");
        start_all(w);
        sim_server_wait(w, 3600 * SIM_SECOND);
    }
    assert_int_equal(turns[0], turns[1]);
}

/* With each turn a job ends, so that all reservations are looked at again, which takes many slices. The
 * pass comes to its end all the same.
 */
static void changes_keep_no_pass_from_its_end(void **state)
{
    struct sim_server *w = *state;
    int turns = 0;
    fill(w);
    tell_root(w, "PATCH", "/v1/queues/batch", "{\"started\":true}");
    sim_server_close(w);
    open_again(w, 1);
    sim_server_turn(w, NULL);
    do {
        struct asked a = {0}, *all[] = {&a};
        char path[40];
        w->steady++;
        w->wall++;
        snprintf(path, sizeof(path), "/v1/jobs/%d", JOBS - turns);
        ask_begin(w, 0, "DELETE", path, NULL, &a);
        assert_int_equal(ask_turn(w, all, 1), 0);
        assert_true(a.is_there);
        assert_int_equal(a.reply.status, 200);
        ask_forget(&a);
        turns++;
    } while (w->due <= w->steady && turns < TURNS);
    assert_true(turns > 10);
    assert_true(turns < TURNS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_sliced, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(others_are_served_between_slices), TEST(a_crash_between_slices_loses_nothing),
        TEST(looking_disturbs_no_pass), TEST(changes_keep_no_pass_from_its_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
