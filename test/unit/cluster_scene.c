#include "cluster_scene.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void cluster_open(struct world *w)
{
    berth_error_t err = {""};
    const struct engine_many_options options = {.directory = w->pilots,
                                                .gate = getenv("BERTH_GATE")};
    w->s->e = engine_many_open(w->s->e, &options, &err);
    if (!w->s->e)
        fail_msg("%s", err.text);
}

pid_t cluster_agent(struct world *w, const char *name)
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

int cluster_setup(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    berth_error_t err = {""};
    w->s = scene_make();
    snprintf(w->pilots, sizeof(w->pilots), "%s/pilots", w->s->folder);
    snprintf(w->temporary, sizeof(w->temporary), "%s", w->s->folder);
    cluster_open(w);
    if (w->s->e->ops->invite(w->s->e, 3, w->pilot, &err))
        fail_msg("%s", err.text);
    *state = w;
    return 0;
}

const struct engine_node *cluster_find(struct world *w, const char *id)
{
    const struct engine_node *nodes;
    uint64_t change;
    size_t n = w->s->e->ops->nodes(w->s->e, &nodes, &change);
    for (size_t i = 0; i < n; i++)
        if (strcmp(nodes[i].id, id) == 0)
            return &nodes[i];
    return NULL;
}

static bool is(const struct engine_node *node, enum wish wish)
{
    return node && (wish == UP ? node->up : wish == DOWN ? !node->up : node->left);
}

const struct engine_node *cluster_wait(struct world *w, const char *id, enum wish wish)
{
    time_t until = time(NULL) + SCENE_TIMEOUT / 1000;
    while (!is(cluster_find(w, id), wish)) {
        if (time(NULL) > until)
            fail_msg("node %s: it does not become what is waited for", id);
        scene_take(w->s, 200);
        w->s->e->ops->flush(w->s->e);
    }
    return cluster_find(w, id);
}

/* The state of the nodes, which changes when a connection ends and when there is another: both may have happened before
 * anybody looks.
 */
uint64_t cluster_state(struct world *w)
{
    const struct engine_node *nodes;
    uint64_t change;
    w->s->e->ops->nodes(w->s->e, &nodes, &change);
    return change;
}

void cluster_wait_again(struct world *w, const char *id, uint64_t before)
{
    time_t until = time(NULL) + SCENE_TIMEOUT / 1000;
    while (cluster_state(w) == before && time(NULL) <= until)
        scene_take(w->s, 200);
    assert_true(cluster_state(w) != before);
    cluster_wait(w, id, UP);
}

int cluster_teardown(void **state)
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

uint64_t cluster_shell(struct world *w, const char *node, const char *command)
{
    const char *const argv[] = {"sh", "-c", command, NULL};
    struct engine_run run = scene_run(w->s, argv);
    run.node = node;
    return scene_start(w->s, &run);
}
