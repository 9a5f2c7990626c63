/* A server's engine with nodes that are lent: real agents, a real gate and real keepers, on this host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/cluster/node.h"
#include "engine/local/procs.h"
#include "engine_scene.h"

struct world {
    struct scene *s;
    char pilots[128], pilot[PATH_MAX], temporary[128];
    pid_t agents[4];
    size_t n_agents;
};

static void open_many(struct world *w)
{
    berth_error_t err = {""};
    const struct engine_many_options options = {.directory = w->pilots,
                                                .gate = getenv("BERTH_GATE")};
    w->s->e = engine_many_open(w->s->e, &options, &err);
    if (!w->s->e)
        fail_msg("%s", err.text);
}

static pid_t start_agent(struct world *w, const char *name)
{
    pid_t pid = fork();
    if (pid == 0) {
        setenv("SLURMD_NODENAME", name, 1);
        setenv("SLURM_CPUS_ON_NODE", "3", 1);
        setenv("SLURM_JOB_ID", "17", 1);
        setenv("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b", 1);
        setenv("TMPDIR", w->temporary, 1);
        execl(getenv("BERTH_AGENT"), "berth-agent", w->pilot, (char *)NULL);
        _exit(127);
    }
    w->agents[w->n_agents++] = pid;
    return pid;
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    berth_error_t err = {""};
    w->s = scene_make();
    snprintf(w->pilots, sizeof(w->pilots), "%s/pilots", w->s->folder);
    snprintf(w->temporary, sizeof(w->temporary), "%s", w->s->folder);
    open_many(w);
    if (w->s->e->ops->invite(w->s->e, 3, w->pilot, &err))
        fail_msg("%s", err.text);
    *state = w;
    return 0;
}

static const struct engine_node *find(struct world *w, const char *id)
{
    const struct engine_node *nodes;
    uint64_t change;
    size_t n = w->s->e->ops->nodes(w->s->e, &nodes, &change);
    for (size_t i = 0; i < n; i++)
        if (strcmp(nodes[i].id, id) == 0)
            return &nodes[i];
    return NULL;
}

enum wish { UP, DOWN, LEFT };

static bool is(const struct engine_node *node, enum wish wish)
{
    return node && (wish == UP ? node->up : wish == DOWN ? !node->up : node->left);
}

static const struct engine_node *wait_until(struct world *w, const char *id, enum wish wish)
{
    time_t until = time(NULL) + SCENE_TIMEOUT / 1000;
    while (!is(find(w, id), wish)) {
        if (time(NULL) > until)
            fail_msg("node %s: it does not become what is waited for", id);
        scene_take(w->s, 200);
        w->s->e->ops->flush(w->s->e);
    }
    return find(w, id);
}

/* The state of the nodes, which changes when a connection ends and when there is another: both may have happened before
 * anybody looks.
 */
static uint64_t state_of_nodes(struct world *w)
{
    const struct engine_node *nodes;
    uint64_t change;
    w->s->e->ops->nodes(w->s->e, &nodes, &change);
    return change;
}

static void wait_for_another_connection(struct world *w, const char *id, uint64_t before)
{
    time_t until = time(NULL) + SCENE_TIMEOUT / 1000;
    while (state_of_nodes(w) == before && time(NULL) <= until)
        scene_take(w->s, 200);
    assert_true(state_of_nodes(w) != before);
    wait_until(w, id, UP);
}

static int teardown(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < w->n_agents; i++)
        kill(w->agents[i], SIGTERM);
    for (size_t i = 0; i < w->n_agents; i++) {
        int status;
        while (waitpid(w->agents[i], &status, WNOHANG) == 0) {
            scene_take(w->s, 50);
            scene_acknowledge(w->s);
            w->s->e->ops->forget(w->s->e, "3/n1");
            w->s->e->ops->forget(w->s->e, "3/n2");
        }
    }
    w->s->e->ops->dismiss(w->s->e, 3);
    scene_end(w->s);
    free(w);
    return 0;
}

static uint64_t shell_on(struct world *w, const char *node, const char *command)
{
    const char *const argv[] = {"sh", "-c", command, NULL};
    struct engine_run run = scene_run(w->s, argv);
    run.node = node;
    return scene_start(w->s, &run);
}

static void test_joins(void **state)
{
    struct world *w = *state;
    start_agent(w, "n1");
    const struct node *n = wait_until(w, "3/n1", UP)->brings;
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
    start_agent(w, "n1");
    start_agent(w, "n2");
    wait_until(w, "3/n1", UP);
    wait_until(w, "3/n2", UP);
    uint64_t a = shell_on(w, "3/n1", "echo \"n1 [$SLURM_JOB_ID]\" >a; exit 4");
    uint64_t b = shell_on(w, "3/n2", "kill -9 $$");
    uint64_t c = shell_on(w, NULL, "exit 6");
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
    start_agent(w, "n1");
    start_agent(w, "n2");
    wait_until(w, "3/n1", UP);
    wait_until(w, "3/n2", UP);
    for (int i = 0; i < RUNS; i++)
        keys[i] = shell_on(w, nodes[i % 3], "exit 1");
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
    start_agent(w, "n1");
    wait_until(w, "3/n1", UP);
    uint64_t a =
        shell_on(w, "3/n1", "trap 'exit 5' USR1; echo here >fifo; while :; do sleep 0.1; done");
    assert_string_equal(scene_line(fifo), "here");
    scene_wait(w->s, a, ENGINE_STARTED);
    scene_acknowledge(w->s);
    w->s->n_heard = 0;
    scene_forget(w->s);
    open_many(w);
    assert_int_equal(w->s->e->ops->expect(w->s->e, 3, "n1", &(struct engine_expected){a, true}, 1),
                     0);
    assert_true(scene_knows(w->s, a));
    assert_int_equal(w->s->e->ops->signal(w->s->e, a, SIGUSR1, false), 0);
    wait_until(w, "3/n1", UP);
    assert_int_equal(scene_wait(w->s, a, ENGINE_ENDED)->exit_status, 5);
    close(fifo);
}

/* What was expected there and is not known there is not started again: it is lost, or was never begun. */
static void test_expected_in_vain(void **state)
{
    struct world *w = *state;
    const struct engine_expected runs[] = {{4711, true}, {4712, false}};
    assert_int_equal(w->s->e->ops->expect(w->s->e, 3, "n1", runs, 2), 0);
    start_agent(w, "n1");
    wait_until(w, "3/n1", UP);
    scene_wait(w->s, 4711, ENGINE_LOST);
    scene_wait(w->s, 4712, ENGINE_REFUSED);
}

/* Kill a child of a process, by its name. */
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
        if (named && procs_look((pid_t)atoi(entry->d_name), &p) == 0 && p.parent == parent)
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
    start_agent(w, "n1");
    wait_until(w, "3/n1", UP);
    uint64_t a = shell_on(w, "3/n1", "echo here >fifo; read x <more; exit 3");
    int more = scene_fifo(w->s, "more");
    assert_string_equal(scene_line(fifo), "here");
    uint64_t before = state_of_nodes(w);
    kill_child(getpid(), "berth-gate");
    wait_for_another_connection(w, "3/n1", before);
    before = state_of_nodes(w);
    kill_child(w->agents[0], "berth-agent");
    assert_int_equal(write(more, "x\n", 2), 2);
    wait_for_another_connection(w, "3/n1", before);
    assert_int_equal(scene_wait(w->s, a, ENGINE_ENDED)->exit_status, 3);
    close(fifo);
    close(more);
}

/* Told to leave, it ends its runs, says so, and comes to its end; nothing of it is left. */
static void test_leaves(void **state)
{
    struct world *w = *state;
    int fifo = scene_fifo(w->s, "fifo"), status;
    pid_t agent = start_agent(w, "n1");
    wait_until(w, "3/n1", UP);
    uint64_t a = shell_on(w, "3/n1", "echo here >fifo; exec sleep 1000");
    assert_string_equal(scene_line(fifo), "here");
    scene_wait(w->s, a, ENGINE_STARTED);
    assert_int_equal(w->s->e->ops->forget(w->s->e, "3/n1"), -1);
    kill(agent, SIGTERM);
    wait_until(w, "3/n1", LEFT);
    scene_wait(w->s, a, ENGINE_LOST);
    scene_acknowledge(w->s);
    while (w->s->e->ops->forget(w->s->e, "3/n1"))
        scene_take(w->s, 50);
    assert_null(find(w, "3/n1"));
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
    const struct engine_expected told = {100, false};
    assert_int_equal(w->s->e->ops->expect(w->s->e, 3, "n1", &told, 1), 0);
    uint64_t waits = shell_on(w, "3/n1", "exit 0");
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
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
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
