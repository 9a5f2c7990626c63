/* A server's engine with nodes that are lent. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster_scene.h"
#include "engine/cluster/node.h"
#include "engine/local/procs.h"

static void test_joins(void **state)
{
    struct world *w = *state;
    cluster_agent(w, "n1");
    const struct node *n = cluster_wait(w, "3/n1", UP)->brings;
    assert_string_equal(n->name, "n1");
    assert_string_equal(n->job, "17");
    assert_int_equal(n->n_cores, 3);
    assert_int_equal(n->n_gpus, 2);
    assert_string_equal(n->gpus[1], "GPU-b");
    assert_true(n->memory > 0);
}

/* Runs on nodes and here, each with the environment that it was given and nothing of its agent's. */
static void test_runs(void **state)
{
    struct world *w = *state;
    cluster_agent(w, "n1");
    cluster_agent(w, "n2");
    cluster_wait(w, "3/n1", UP);
    cluster_wait(w, "3/n2", UP);
    uint64_t a = cluster_shell(w, "3/n1", "echo \"n1 [$SLURM_JOB_ID]\" >a; exit 4");
    uint64_t b = cluster_shell(w, "3/n2", "kill -9 $$");
    uint64_t c = cluster_shell(w, NULL, "exit 6");
    assert_int_equal(scene_wait(w->s, a, ENGINE_ENDED)->exit_status, 4);
    assert_int_equal(scene_wait(w->s, b, ENGINE_ENDED)->exit_signal, SIGKILL);
    assert_int_equal(scene_wait(w->s, c, ENGINE_ENDED)->exit_status, 6);
    assert_string_equal(scene_text(w->s, "a"), "n1 []\n");
    scene_acknowledge(w->s);
    assert_false(scene_knows(w->s, a));
}

/* Many at once, acknowledged in pieces: each is told once. */
static void test_many_runs(void **state)
{
    enum { RUNS = 300 };
    struct world *w = *state;
    uint64_t keys[RUNS];
    const char *const nodes[] = {"3/n1", "3/n2", NULL};
    cluster_agent(w, "n1");
    cluster_agent(w, "n2");
    cluster_wait(w, "3/n1", UP);
    cluster_wait(w, "3/n2", UP);
    for (int i = 0; i < RUNS; i++)
        keys[i] = cluster_shell(w, nodes[i % 3], "exit 1");
    for (int i = 0; i < RUNS; i++) {
        scene_wait(w->s, keys[i], ENGINE_ENDED);
        if (i % 7 == 0)
            scene_acknowledge(w->s);
    }
    for (size_t i = 0; i < w->s->n_heard; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(w->s->heard[i].key == w->s->heard[j].key &&
                         w->s->heard[i].what == w->s->heard[j].what);
}

/* A run goes on while nobody is connected, and a signal comes when somebody is again. */
static void test_server_goes_and_comes(void **state)
{
    struct world *w = *state;
    int fifo = scene_fifo(w->s, "fifo");
    cluster_agent(w, "n1");
    cluster_wait(w, "3/n1", UP);
    uint64_t a = cluster_shell(w, "3/n1",
                               "trap 'exit 5' USR1; echo here >fifo; while :; do sleep 0.1; done");
    assert_string_equal(scene_line(fifo), "here");
    scene_wait(w->s, a, ENGINE_STARTED);
    scene_acknowledge(w->s);
    w->s->n_heard = 0;
    scene_forget(w->s);
    cluster_open(w);
    assert_int_equal(w->s->e->ops->expect(w->s->e, 3, "n1",
                                          &(struct engine_expected){.key = a, .started = true}, 1),
                     0);
    assert_true(scene_knows(w->s, a));
    assert_int_equal(w->s->e->ops->signal(w->s->e, a, SIGUSR1, false), 0);
    cluster_wait(w, "3/n1", UP);
    assert_int_equal(scene_wait(w->s, a, ENGINE_ENDED)->exit_status, 5);
    close(fifo);
}

/* What was expected there and is not known there is not started again: it is lost, or was never begun. */
static void test_expected_in_vain(void **state)
{
    struct world *w = *state;
    const struct engine_expected runs[] = {{.key = 4711, .started = true}, {.key = 4712}};
    assert_int_equal(w->s->e->ops->expect(w->s->e, 3, "n1", runs, 2), 0);
    cluster_agent(w, "n1");
    cluster_wait(w, "3/n1", UP);
    scene_wait(w->s, 4711, ENGINE_LOST);
    scene_wait(w->s, 4712, ENGINE_REFUSED);
}

/* Kill a child of a process, by its name. Earlier tests leave zombies with the same name and parent, which may have a higher
 * process id once ids have wrapped around.
 */
static void kill_child(pid_t parent, const char *name)
{
    char path[64], comm[32];
    struct dirent *entry;
    struct proc p;
    DIR *dir = opendir("/proc");
    pid_t found = 0;
    while ((entry = readdir(dir))) {
        snprintf(path, sizeof(path), "/proc/%.20s/comm", entry->d_name);
        FILE *f = fopen(path, "r");
        bool named = f && fgets(comm, sizeof(comm), f) && strncmp(comm, name, strlen(name)) == 0;
        if (f)
            fclose(f);
        if (named && procs_look((pid_t)atoi(entry->d_name), &p) == 0 && p.parent == parent &&
            p.state != 'Z')
            found = p.pid;
    }
    closedir(dir);
    assert_true(found > 0);
    kill(found, SIGKILL);
}

/* The gate is killed, and the agent: the run has one end, and it is its own. */
static void test_killed_between(void **state)
{
    struct world *w = *state;
    int fifo = scene_fifo(w->s, "fifo");
    cluster_agent(w, "n1");
    cluster_wait(w, "3/n1", UP);
    uint64_t a = cluster_shell(w, "3/n1", "echo here >fifo; read x <more; exit 3");
    int more = scene_fifo(w->s, "more");
    assert_string_equal(scene_line(fifo), "here");
    uint64_t before = cluster_state(w);
    kill_child(getpid(), "berth-gate");
    cluster_wait_again(w, "3/n1", before);
    before = cluster_state(w);
    kill_child(w->agents[0], "berth-agent");
    assert_int_equal(write(more, "x\n", 2), 2);
    cluster_wait_again(w, "3/n1", before);
    assert_int_equal(scene_wait(w->s, a, ENGINE_ENDED)->exit_status, 3);
    close(fifo);
    close(more);
}

/* Told to leave, it ends its runs, says so, and comes to its end; nothing of it is left. */
static void test_leaves(void **state)
{
    struct world *w = *state;
    int fifo = scene_fifo(w->s, "fifo"), status;
    pid_t agent = cluster_agent(w, "n1");
    cluster_wait(w, "3/n1", UP);
    uint64_t a = cluster_shell(w, "3/n1", "echo here >fifo; exec sleep 1000");
    assert_string_equal(scene_line(fifo), "here");
    scene_wait(w->s, a, ENGINE_STARTED);
    assert_int_equal(w->s->e->ops->forget(w->s->e, "3/n1"), -1);
    kill(agent, SIGTERM);
    cluster_wait(w, "3/n1", LEFT);
    scene_wait(w->s, a, ENGINE_LOST);
    scene_acknowledge(w->s);
    while (w->s->e->ops->forget(w->s->e, "3/n1"))
        scene_take(w->s, 50);
    assert_null(cluster_find(w, "3/n1"));
    assert_int_equal(waitpid(agent, &status, 0), agent);
    assert_int_equal(status, 0);
    w->n_agents = 0;
    close(fifo);
}

/* Said from outside to be gone: what was sent is lost, what was not is not. */
static void test_lost(void **state)
{
    struct world *w = *state;
    berth_error_t err;
    const struct engine_expected told = {.key = 100};
    assert_int_equal(w->s->e->ops->expect(w->s->e, 3, "n1", &told, 1), 0);
    uint64_t waits = cluster_shell(w, "3/n1", "exit 0");
    w->s->e->ops->lose(w->s->e, "3/n1");
    scene_wait(w->s, told.key, ENGINE_LOST);
    scene_wait(w->s, waits, ENGINE_REFUSED);
    const char *const argv[] = {"true", NULL};
    struct engine_run run = scene_run(w->s, argv);
    run.node = "3/n1";
    run.key = 200;
    assert_int_equal(w->s->e->ops->start(w->s->e, &run, &err), -1);
    scene_acknowledge(w->s);
    assert_int_equal(w->s->e->ops->forget(w->s->e, "3/n1"), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, cluster_setup, cluster_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_joins),
        TEST(test_runs),
        TEST(test_many_runs),
        TEST(test_server_goes_and_comes),
        TEST(test_expected_in_vain),
        TEST(test_killed_between),
        TEST(test_leaves),
        TEST(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
