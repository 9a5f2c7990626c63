/* What sinfo tells of nodes of a partition that are alike, by the letters of its --format. */
#ifndef CLI_SHIM_SINFO_CELLS_H
#define CLI_SHIM_SINFO_CELLS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/hostlist.h"
#include "base/strbuf.h"

/* In the order in which they are listed, the last first. */
enum node_state { NODE_DOWN, NODE_IDLE, NODE_FULL, NODE_MIXED, NODE_DRAINED, NODE_DRAINING };

/* Of a node of GET /v1/nodes. */
enum node_state node_state(const json_t *node);

/* Whether a state of `--states` is this one: "idle", "alloc", "mixed", "drain" for both of these, ... . */
bool node_state_is(enum node_state state, const char *word, size_t length);

/* Whether there is such a state. */
bool node_state_is_known(const char *word, size_t length);

struct node_group {
    const json_t *queue; /* of GET /v1/queues */
    bool is_default;     /* the queue */
    const json_t *node;  /* one of them; NULL: there is none */
    struct hostlist names;
    double nodes[3], cores[3]; /* allocated, idle, neither */
};

/* Count a node to a group, but for its name. */
void node_group_add(struct node_group *group, const json_t *node);

const char *sinfo_head(char letter);
void sinfo_put(const struct node_group *group, char letter, struct strbuf *out);

/* Whether a letter is of the partition; of all nodes of a line together. Others are of each node. */
bool sinfo_is_of_partition(char letter);
bool sinfo_is_of_all(char letter);

#endif
