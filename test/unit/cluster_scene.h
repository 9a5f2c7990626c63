/* A server's engine with nodes that are lent: real agents, a real gate and real keepers, on this host. */
#ifndef CLUSTER_SCENE_H
#define CLUSTER_SCENE_H

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

#include "engine_scene.h"

struct world {
    struct scene *s;
    char pilots[128], pilot[PATH_MAX], temporary[128];
    pid_t agents[4];
    size_t n_agents;
};

/* What is waited for. */
enum wish { UP, DOWN, LEFT };

int cluster_setup(void **state);
int cluster_teardown(void **state);

/* Put the engine of nodes around the one of the scene, as a server does when it starts. */
void cluster_open(struct world *w);

/* An agent of pilot 3. */
pid_t cluster_agent(struct world *w, const char *name);

/* A node, or NULL; and wait until one is as wished. */
const struct engine_node *cluster_find(struct world *w, const char *id);
const struct engine_node *cluster_wait(struct world *w, const char *id, enum wish wish);

/* The state of the nodes, which changes when a connection ends and when there is another; and wait until it is another
 * and the node is up: both may have happened before anybody looks.
 */
uint64_t cluster_state(struct world *w);
void cluster_wait_again(struct world *w, const char *id, uint64_t before);

/* Start a shell's command on a node; the key. */
uint64_t cluster_shell(struct world *w, const char *node, const char *command);

#endif
