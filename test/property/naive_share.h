/* A tree of shares, naively: a list of nodes, a list of jobs and a list of all that has run. Every answer is
 * worked out from these anew, by other ways than the tree's where there are other ways.
 */
#ifndef PROPERTY_NAIVE_SHARE_H
#define PROPERTY_NAIVE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "share/tree.h"

enum { NAIVE_NODES = 64, NAIVE_JOBS = 128, NAIVE_CHANGES = 4096 };

__extension__ typedef __int128 wide;

struct naive_job {
    uint32_t leaf;
    enum share_state state;
    int64_t amount[SHARE_DIMENSIONS_MAX];
};

struct naive_node {
    uint32_t parent;
    struct share_settings settings;
    bool offered, closed;
    struct share_first first;
    bool any_waits; /* a leaf: `waits` is its first job that waits */
    struct share_first waits;
};

/* From a time on, a node runs at a rate; or its usage is set, or changed by something. */
struct naive_change {
    uint32_t node;
    int64_t at;
    long double rate;
    long double more;
};

struct naive_share {
    uint32_t dimensions;
    int64_t total[SHARE_DIMENSIONS_MAX];
    struct share_usage_rule rule;
    bool by_first; /* inner nodes stand for the first job that waits below them */
    uint32_t n, n_jobs, n_changes;
    struct naive_node node[NAIVE_NODES];
    struct naive_job job[NAIVE_JOBS];
    struct naive_change change[NAIVE_CHANGES];
};

uint32_t naive_children(const struct naive_share *m, uint32_t node);
bool naive_is_below(const struct naive_share *m, uint32_t node, uint32_t above); /* or is it */

/* Of the jobs at a node and below it that are in these states (bits by enum share_state). */
int64_t naive_sum(const struct naive_share *m, uint32_t node, uint32_t states, uint32_t d);
uint64_t naive_count(const struct naive_share *m, uint32_t node, enum share_state state);

int64_t naive_demand(const struct naive_share *m, uint32_t node, uint32_t d);
int64_t naive_deserved(const struct naive_share *m, uint32_t node, uint32_t d);

bool naive_allows(const struct naive_share *m, uint32_t leaf, const int64_t *amount);
bool naive_is_entitled(const struct naive_share *m, uint32_t leaf, uint32_t end,
                       const int64_t *amount);
bool naive_may_reclaim(const struct naive_share *m, uint32_t taker, const int64_t *amount,
                       uint32_t giver, const int64_t *given);

/* The node below which two nodes part. */
uint32_t naive_common(const struct naive_share *m, uint32_t a, uint32_t b);

/* Usage by an integral over all that has been noted; and the leaf that is next, by the tree's usage. */
void naive_note(struct naive_share *m, uint32_t leaf, int64_t now);
long double naive_usage(const struct naive_share *m, uint32_t node, int64_t now,
                        long double *error);
uint32_t naive_next(const struct naive_share *m, const struct share_tree *t, int64_t now);

#endif
