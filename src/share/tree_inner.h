/* Inside a tree of shares. */
#ifndef SHARE_TREE_INNER_H
#define SHARE_TREE_INNER_H

#include "share/tree.h"

__extension__ typedef __int128 share_wide;

/* The vectors of a node, one after another in the tree's amounts. */
enum share_vector {
    V_GUARANTEE,
    V_CAPABILITY,
    V_CONFIGURED, /* deserved as configured */
    V_ROOM, /* its capability, and what guarantees of others leave; never more than its parent's */
    V_WAITING,
    V_RECEIVED,
    V_RUNNING,
    V_DEMAND,
    V_ASKS,   /* its demand, and its guarantee where it keeps that */
    V_WANTED, /* inner: the sum of what the children ask for */
    V_DESERVED,
    V_PARTS_FROM, /* inner: what it deserved when that was divided among its children */
    VECTORS
};

/* Keys of a job that say which one waits first: its gang, its priority and its deadline. */
enum { FIRST_BY = 3 };

struct share_node {
    uint32_t parent;
    uint32_t depth;
    uint32_t *children; /* ascending */
    uint32_t *heap;     /* the offered children, first the next if `seen` is the tree's epoch */
    uint32_t
        *waiters; /* the children below which a job waits, the one with the first of these first */
    uint32_t n_children, cap_children;
    struct share_filling *filling; /* of an inner node, for each dimension */
    uint32_t *edges;               /* [dimension][enum share_edge][cap_children] */
    uint32_t changed,
        next_changed; /* the children that ask for another amount: the first, the next */
    bool is_changed;  /* is one of these */
    uint32_t n_heap, n_waiters;
    uint32_t waiter; /* in the parent's waiters, plus 1; 0: no job waits */
    uint32_t place;  /* in the parent's heap, plus 1; 0: not offered */
    int32_t weight;
    int32_t priority;
    int64_t rank; /* share_rank */
    uint64_t turn;
    bool keeps_guarantee;
    bool by_job;                /* a comparator asks for the first job */
    uint8_t first_by[FIRST_BY]; /* enum share_by: what says which first job comes first */
    bool offered;               /* a leaf */
    bool closed;                /* it is not in the parent's heap, whoever is offered below */
    uint8_t by[SHARE_BY_MAX];
    uint64_t jobs[SHARE_RUNNING + 1];
    uint64_t seen; /* the epoch in which the heap was put in order */

    /* Usage as of a time, in units of 2^-32; since then `rate` runs. */
    share_wide usage;
    share_wide rate;
    int64_t usage_at;

    /* What comparators ask for, right in the parent's epoch. */
    struct share_first first;
    struct share_first waits;    /* that waits */
    struct share_fraction share; /* of what is deserved */
    struct share_fraction part;  /* of what there is */
    share_wide usage_now;
    bool deserves; /* anything of what it asks for */
};

/* Where the level of a filling is, seen from a child: it gets the same whatever the level, or the level is below, between
 * or above its ends.
 */
enum share_group { G_NONE, G_FIXED, G_LOW, G_OPEN, G_HIGH };

/* Heaps of a node's children by the level at which each passes from one group to another. */
enum share_edge {
    E_LIFT,   /* from low to open, the lowest level first */
    E_DROP,   /* from open to low, the highest first */
    E_CLOSE,  /* from open to high, the lowest first */
    E_REOPEN, /* from high to open, the highest first */
    EDGES
};

/* What a child may be given of a dimension, and where it is in the heaps of its group. */
struct share_end {
    int64_t low, high;
    uint32_t place[2];
    uint8_t group; /* enum share_group */
};

/* The water filling of a node in a dimension. */
struct share_filling {
    int64_t numerator, denominator; /* the level */
    int64_t lows, highs;            /* of all children */
    int64_t given;                  /* to those that are not open */
    int64_t rest, weights;          /* left for the open ones, and theirs */
    int64_t configured; /* the most that is, or was, configured for a child to deserve */
    uint32_t n[EDGES];
    bool moved;  /* the open ones are given other parts */
    bool scaled; /* low ends are more than there is, and are scaled down */
};

struct share_tree {
    uint32_t dimensions;
    uint32_t n, cap;
    struct share_node *nodes;
    int64_t *amounts; /* [node][enum share_vector][dimension] */
    int64_t total[SHARE_DIMENSIONS_MAX];
    int64_t all[SHARE_DIMENSIONS_MAX];        /* the sum of all jobs' amounts */
    int64_t guarantees[SHARE_DIMENSIONS_MAX]; /* the sum of all guarantees */
    bool rooms_stale;
    bool by_usage; /* some node's children go by it */
    bool by_share;
    bool by_first;    /* inner nodes stand for the first job that waits below */
    bool by_job;      /* some node's children go by their first job */
    uint64_t epoch;   /* changes with whatever may change more than the nodes above one leaf */
    uint64_t changes; /* share_changes */
    int64_t now;
    int64_t half_life; /* 0: nothing is used */
    int64_t usage_weights[SHARE_DIMENSIONS_MAX];
    struct share_end *ends; /* [node][dimension]: in its parent's filling */
    uint32_t *open;         /* room for as many as a node has children */
    uint32_t cap_open;
};

static inline int64_t *share_vec(const struct share_tree *t, uint32_t node, enum share_vector v)
{
    return t->amounts + ((uint64_t)node * VECTORS + v) * t->dimensions;
}

static inline bool share_is_leaf(const struct share_tree *t, uint32_t node)
{
    return t->nodes[node].n_children == 0;
}

/* What a node asks its parent for: its demand, and its guarantee where it keeps that. */
static inline int64_t share_wants(const struct share_tree *t, uint32_t node, uint32_t d)
{
    int64_t demand = share_vec(t, node, V_DEMAND)[d];
    int64_t guarantee = share_vec(t, node, V_GUARANTEE)[d];
    return t->nodes[node].keeps_guarantee && guarantee > demand ? guarantee : demand;
}

/* Time goes on, never back. With it, usage changes. */
static inline void share_pass_time(struct share_tree *t, int64_t now)
{
    if (now <= t->now)
        return;
    t->now = now;
    if (t->by_usage)
        t->epoch++;
}

/* deserve.c: have what the nodes above a node and it itself deserve, or its children too, be up to date. */
void share_update_deserved(struct share_tree *t, uint32_t node);
void share_update_parts(struct share_tree *t, uint32_t node);
void share_give(struct share_tree *t, uint32_t child, uint32_t d, int64_t part);
bool share_parts_check(struct share_tree *t, uint32_t node);

/* level.c: a child is part of no filling any more, or may be given an amount between two ends. What is given to children
 * that are not open after that is up to the caller. Move the level to where an amount is given, if it can be, and share_give
 * children what it passes: their end. All O(log f), for each child that is passed. The heap of an edge.
 */
void share_level_leave(struct share_tree *t, uint32_t child);
void share_level_enter(struct share_tree *t, uint32_t child, uint32_t d, int64_t low, int64_t high);
void share_level_move(struct share_tree *t, uint32_t node, uint32_t d, int64_t amount);
bool share_level_check(const struct share_tree *t, uint32_t node);
uint32_t *share_edge(const struct share_node *n, uint32_t d, enum share_edge edge);

/* usage.c: 2^(-dt / half_life) in units of 2^-64, for dt from 1 on. */
uint64_t share_fading(uint64_t dt, int64_t half_life);
share_wide share_usage_at(const struct share_tree *t, const struct share_node *n, int64_t now);
void share_usage_settle(const struct share_tree *t, struct share_node *n, int64_t now);

/* take.c: the children of the node where two leaves part, in place of these. */
void share_part_ways(const struct share_tree *t, uint32_t *a, uint32_t *b);

/* first.c: what a node compares has changed, and so may have which job waits first. And first jobs that wait are in order. */
void share_first_by(struct share_tree *t, uint32_t node);
bool share_first_check(const struct share_tree *t);

/* order.c: what compares a node, and those above it, has changed. */
void share_reorder(struct share_tree *t, uint32_t node);

/* What a child deserves has changed: move it in its parent's heap, if that is in order. */
void share_reorder_child(struct share_tree *t, uint32_t child);

/* Compare an / ad with bn / bd, exactly: less than, equal to or greater than 0. Denominators are above 0. */
int share_fraction_compare(share_wide an, share_wide ad, share_wide bn, share_wide bd);
bool share_order_check(struct share_tree *t);

#endif
