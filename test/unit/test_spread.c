/* Runs that are on several nodes: real agents, a real gate and real keepers, on this host. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster_scene.h"
#include "engine/local/passive.h"

static const char *const at_0[] = {"T=0", NULL}, *const at_1[] = {"T=1", NULL},
                         *const at_2[] = {"T=2", NULL};
static const struct engine_task three[] = {{.env = at_0}, {.env = at_1}, {.env = at_2}};
static const struct engine_place places[] = {{.node = "3/n1", .n_tasks = 1},
                                             {.node = "3/n2", .n_tasks = 2}};

/* A task on n1, two on n2. */
static struct engine_run wide_run(struct world *w, const char *const *argv)
{
    struct engine_run run = scene_run(w->s, argv);
    run.tasks = three;
    run.n_tasks = 3;
    run.places = places;
    run.n_places = 2;
    return run;
}

static uint64_t wide(struct world *w, const char *command)
{
    const char *const argv[] = {"sh", "-c", command, NULL};
    struct engine_run run = wide_run(w, argv);
    return scene_start(w->s, &run);
}

static void two_nodes(struct world *w)
{
    cluster_agent(w, "n1");
    cluster_agent(w, "n2");
    cluster_wait(w, "3/n1", UP);
    cluster_wait(w, "3/n2", UP);
}

static size_t count(const struct world *w, uint64_t key)
{
    size_t n = 0;
    for (size_t i = 0; i < w->s->n_heard; i++)
        n += w->s->heard[i].key == key;
    return n;
}

/* Take events for a while: nothing of this run comes. */
static void nothing_comes(struct world *w, uint64_t key)
{
    size_t before = count(w, key);
    for (int i = 0; i < 5; i++)
        scene_take(w->s, 50);
    assert_int_equal(count(w, key), before);
}

/* One start and one end for all, with the highest status; each task on its node; one file of output, that is emptied
 * once.
 */
static void test_one_story(void **state)
{
    struct world *w = *state;
    two_nodes(w);
    FILE *old = fopen(w->s->output, "w");
    fputs("old\n", old);
    fclose(old);
    uint64_t a = wide(w, "sleep 0.2; echo task $T; exit $((3 + T))");
    scene_wait(w->s, a, ENGINE_STARTED);
    const struct engine_event *end = scene_wait(w->s, a, ENGINE_ENDED);
    assert_int_equal(end->exit_status, 5);
    assert_int_equal(end->exit_signal, 0);
    assert_int_equal(count(w, a), 2);
    const char *out = scene_text(w->s, strrchr(w->s->output, '/') + 1);
    assert_int_equal(strlen(out), 3 * strlen("task 0\n"));
    assert_non_null(strstr(out, "task 0\n"));
    assert_non_null(strstr(out, "task 1\n"));
    assert_non_null(strstr(out, "task 2\n"));
    scene_acknowledge(w->s);
    scene_take(w->s, 100);
    assert_false(scene_knows(w->s, a));
}

/* A command that does not exist fails on the first node, and nothing begins on the other. */
static void test_no_command(void **state)
{
    struct world *w = *state;
    const char *const argv[] = {"/no/such/command", NULL};
    two_nodes(w);
    struct engine_run run = wide_run(w, argv);
    uint64_t a = scene_start(w->s, &run);
    const struct engine_event *end = scene_wait(w->s, a, ENGINE_FAILED);
    assert_int_equal(end->exit_status, 127);
    assert_non_null(strstr(end->text, "n1: "));
    assert_int_equal(count(w, a), 1);
}

/* A signal comes to every task; a task that is killed does not end the others, as on one machine. */
static void test_signals(void **state)
{
    struct world *w = *state;
    int fifo = scene_fifo(w->s, "fifo");
    two_nodes(w);
    uint64_t a = wide(w, "trap 'exit 9' USR1; echo $T >fifo; while :; do sleep 0.05; done");
    scene_wait(w->s, a, ENGINE_STARTED);
    for (int i = 0; i < 3; i++)
        assert_int_equal(strlen(scene_line(fifo)), 1);
    w->s->e->ops->signal(w->s->e, a, SIGUSR1, false);
    w->s->e->ops->flush(w->s->e);
    assert_int_equal(scene_wait(w->s, a, ENGINE_ENDED)->exit_status, 9);
    close(fifo);
}

/* Killed before it has begun anywhere: it ends, and has run nowhere. */
static void test_killed_at_once(void **state)
{
    struct world *w = *state;
    const char *const argv[] = {"sh", "-c", "sleep 0.2; echo $T >>ran", NULL};
    two_nodes(w);
    struct engine_run run = wide_run(w, argv);
    berth_error_t err;
    run.key = ++w->s->key;
    assert_int_equal(w->s->e->ops->start(w->s->e, &run, &err), 0);
    w->s->e->ops->signal(w->s->e, run.key, SIGKILL, true);
    w->s->e->ops->flush(w->s->e);
    assert_int_equal(scene_wait(w->s, run.key, ENGINE_ENDED)->exit_signal, SIGKILL);
    assert_string_equal(scene_text(w->s, "ran"), "(no file)");
}

/* One of its nodes leaves: what runs on the other is killed, and the whole is lost. */
static void test_node_leaves(void **state)
{
    struct world *w = *state;
    int fifo = scene_fifo(w->s, "fifo");
    two_nodes(w);
    uint64_t a = wide(w, "echo $T >fifo; exec sleep 1000");
    scene_wait(w->s, a, ENGINE_STARTED);
    for (int i = 0; i < 3; i++)
        scene_line(fifo);
    kill(w->agents[1], SIGTERM);
    const struct engine_event *end = scene_wait(w->s, a, ENGINE_LOST);
    assert_non_null(strstr(end->text, "n2: "));
    assert_int_equal(count(w, a), 2);
    close(fifo);
}

static void replace_server(struct world *w, uint64_t key, bool started)
{
    w->s->n_heard = 0;
    scene_forget(w->s);
    cluster_open(w);
    const struct engine_expected on_n1 = {key, started, 0, 2}, on_n2 = {key, started, 1, 2};
    assert_int_equal(w->s->e->ops->expect(w->s->e, 3, "n1", &on_n1, 1), 0);
    assert_int_equal(w->s->e->ops->expect(w->s->e, 3, "n2", &on_n2, 1), 0);
}

/* The part on n1 has ended when the server goes; the next one hears of one end, which is all of it. Meanwhile other
 * runs of n1 are acknowledged.
 */
static void test_server_goes_and_comes(void **state)
{
    struct world *w = *state;
    int fifo = scene_fifo(w->s, "fifo"), more = scene_fifo(w->s, "more");
    two_nodes(w);
    uint64_t a = wide(w, "[ $T = 0 ] && exit 7; echo $T >fifo; read x <more; exit 2");
    scene_wait(w->s, a, ENGINE_STARTED);
    scene_line(fifo);
    scene_line(fifo);
    for (int i = 0; i < 3; i++) {
        uint64_t other = cluster_shell(w, "3/n1", "exit 0");
        scene_wait(w->s, other, ENGINE_ENDED);
        scene_acknowledge(w->s);
    }
    nothing_comes(w, a);
    replace_server(w, a, true);
    assert_true(scene_knows(w->s, a));
    cluster_wait(w, "3/n1", UP);
    cluster_wait(w, "3/n2", UP);
    nothing_comes(w, a);
    assert_int_equal(write(more, "x\nx\n", 4), 4);
    const struct engine_event *end = scene_wait(w->s, a, ENGINE_ENDED);
    assert_int_equal(end->exit_status, 7);
    assert_int_equal(count(w, a), 1);
    scene_acknowledge(w->s);
    close(fifo);
    close(more);
}

/* The server goes when it has asked for a run and has heard nothing. The next one asks again, under the same key: what
 * had begun goes on, what had not begins, and all of it runs once.
 */
static void test_asked_again(void **state)
{
    struct world *w = *state;
    const char *const argv[] = {"sh", "-c", "echo $T >>ran; sleep 0.3", NULL};
    berth_error_t err = {""};
    cluster_agent(w, "n1");
    cluster_wait(w, "3/n1", UP);
    struct engine_run run = wide_run(w, argv);
    struct engine_run only_first = run;
    run.key = only_first.key = ++w->s->key;
    /* as of a server that is killed when it has asked one node */
    only_first.places = NULL;
    only_first.n_places = 0;
    only_first.n_tasks = 1;
    only_first.node = "3/n1";
    assert_int_equal(w->s->e->ops->start(w->s->e, &only_first, &err), 0);
    w->s->e->ops->flush(w->s->e);
    scene_wait(w->s, run.key, ENGINE_STARTED);
    replace_server(w, run.key, false);
    assert_int_equal(w->s->e->ops->start(w->s->e, &run, &err), 0);
    cluster_agent(w, "n2");
    scene_wait(w->s, run.key, ENGINE_STARTED);
    assert_int_equal(scene_wait(w->s, run.key, ENGINE_ENDED)->exit_status, 0);
    assert_int_equal(strlen(scene_text(w->s, "ran")), 3 * strlen("0\n"));
}

/* A node that has left can't be asked, and then none is. */
static void test_cannot_start(void **state)
{
    struct world *w = *state;
    const char *const argv[] = {"true", NULL};
    berth_error_t err = {""};
    cluster_agent(w, "n1");
    cluster_wait(w, "3/n1", UP);
    struct engine_run run = wide_run(w, argv);
    run.key = ++w->s->key;
    assert_int_equal(w->s->e->ops->start(w->s->e, &run, &err), -1);
    assert_string_equal(err.text, "node 3/n2 has left");
    assert_false(scene_knows(w->s, run.key));
    run.n_tasks = 2;
    assert_int_equal(w->s->e->ops->start(w->s->e, &run, &err), -1);
    assert_string_equal(err.text, "places: expected 2 tasks in all, got 3");
}

/* This machine can be one of the nodes. */
static void test_with_this_machine(void **state)
{
    struct world *w = *state;
    const struct engine_place here[] = {{.n_tasks = 2}, {.node = "3/n1", .n_tasks = 1}};
    const char *const argv[] = {"sh", "-c", "exit $T", NULL};
    cluster_agent(w, "n1");
    cluster_wait(w, "3/n1", UP);
    struct engine_run run = wide_run(w, argv);
    run.places = here;
    uint64_t a = scene_start(w->s, &run);
    assert_int_equal(scene_wait(w->s, a, ENGINE_ENDED)->exit_status, 2);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, cluster_setup, cluster_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_one_story),      TEST(test_no_command),   TEST(test_signals),
        TEST(test_killed_at_once), TEST(test_node_leaves),  TEST(test_server_goes_and_comes),
        TEST(test_asked_again),    TEST(test_cannot_start), TEST(test_with_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
