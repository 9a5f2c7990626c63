/* What nodes of the tree of shares have used, kept over a restart and another configuration, and corrected.
 *
 * Nodes that the setup has come first in the tree, then users in the order in which they came. So who makes a tree
 * anew tells of its users in that order, before jobs, and divides as the other did.
 */
#ifndef SCHED_USAGE_KEPT_H
#define SCHED_USAGE_KEPT_H

#include "sched/waiting/shares.h"

/* Have memory for a node's usage to be noted as changed: 0, or -1 with ENOMEM. */
int usage_reserve(struct shares *shares, uint32_t node);
void usage_clear(struct shares *shares);

/* What a node has used, and so what all above it have, has changed. O(depth), O(1) if that is known. */
void usage_touch(struct shares *shares, uint32_t node);

/* All jobs are restored: what was told of usage holds. */
void usage_restored(sched_t *s);

/* The shares of another configuration get the users of the old ones, before jobs: 0, or -1 with ENOMEM; and, once jobs
 * have moved, what nodes have used that both have.
 */
int usage_inherit_users(sched_t *s, const struct shares *old);
void usage_inherit(sched_t *s, const struct shares *old, int64_t now);

#endif
