/* What a configuration says of shares, as the nodes of a tree: the machine, divisions, queues, and below queues by
 * account the accounts.
 */
#ifndef SCHED_SETUP_SHARES_H
#define SCHED_SETUP_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "berth/error.h"
#include "berth/sched_config.h"

struct setup;

#define SETUP_BY_WEIGHT INT64_C(-1)

struct setup_node {
    uint32_t parent;   /* SETUP_NONE: of the machine, and of what has no share: virtual queues */
    uint32_t accounts; /* of a queue whose accounts take turns: the node of account 0 */
    struct setup_classes *classes; /* of a queue whose classes do */

    /* What it is of, by number; SETUP_NONE: of none. */
    uint32_t queue, account;
    bool is_class;  /* of the queue */
    int64_t weight; /* >= 1 */
    int64_t guarantee[SCHED_SHARE_RESOURCES];
    int64_t deserved[SCHED_SHARE_RESOURCES];   /* or SETUP_BY_WEIGHT */
    int64_t capability[SCHED_SHARE_RESOURCES]; /* or SCHED_UNLIMITED */
    struct sched_share_order order; /* of what is below it; empty: by rank (setup_classes.h) */
};

/* Node 0 is the machine, then come the divisions, then the queues by number, then for each queue whose accounts
 * take turns all accounts by number, or all classes, by percentage.
 */
struct setup_shares {
    bool is; /* something is said of shares; else there is nothing else here */
    uint32_t n_resources;
    const char *resource[SCHED_SHARE_RESOURCES];
    int64_t half_life; /* ticks, or SCHED_UNLIMITED */
    struct setup_node *node;
    uint32_t n_nodes;
    uint32_t first_queue; /* the node of queue 0 */
};

/* Check what a setup's configuration says of shares and resolve it; its queues have their numbers. Returns 0, or
 * -1 with EINVAL or ENOMEM and a text.
 */
int setup_resolve_shares(struct setup *setup, berth_error_t *err);

/* A division by its name, or SETUP_NONE. */
uint32_t setup_division_find(const struct sched_shares *shares, const char *name);

/* The node of a queue, and of an account in a queue whose accounts take turns. */
uint32_t setup_node_of_queue(const struct setup *setup, uint32_t queue);
uint32_t setup_node_of_account(const struct setup *setup, uint32_t queue, uint32_t account);

/* What counts for how many among those whose jobs take turns in a queue. O(those with a weight). */
int64_t setup_weight(const struct sched_queue_config *queue, const char *name);

#endif
