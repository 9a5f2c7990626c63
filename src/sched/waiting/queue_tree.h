/* How a queue is stored, for the files that change it (queue.c) and that search it (queue_search.c).
 *
 * A B+ tree of entries with, at each child of an inner node, what is least by class of units. Class k is
 * that of more than 2^(k-1) and at most 2^k units. least[k] is the least value of the entries of classes up
 * to k, narrow[k] no more than the least units of those of class k. A bound of u units, of class k, lets in
 * whatever has a class below k, and of class k perhaps something, if narrow[k] is not over u: entering a
 * subtree for nothing is possible, missing an entry is not.
 */
#ifndef SCHED_QUEUE_TREE_H
#define SCHED_QUEUE_TREE_H

#include "sched/waiting/queue.h"

enum {
    QUEUE_FAN = 32, /* entries of a leaf, children of an inner node */
    QUEUE_CLASSES_MAX = 64
};

struct queue_node {
    uint32_t n;
    struct queue_node *next; /* in a list of spare nodes */
};

struct queue_leaf {
    struct queue_node node;
    struct queue_entry entry[]; /* QUEUE_FAN of them, but in a root (queue.room) */
};

struct queue_inner {
    struct queue_node node;
    struct queue_key key[QUEUE_FAN]; /* first key below the child */
    struct queue_node *child[QUEUE_FAN];
    size_t count[QUEUE_FAN];
    int64_t column
        []; /* of each child: [class * QUEUE_FAN + child] for least, the same for narrow behind it */
};

struct queue {
    struct queue_node *root;
    uint32_t height; /* levels of inner nodes */
    uint32_t room;   /* of a root that is a leaf: entries that it has memory for, 1 to QUEUE_FAN */
    uint32_t classes;
    size_t size;
    uint64_t changes;
    struct queue_node *spare_leaf;
    struct queue_node *spare_inner;
    uint32_t spare_inners;
};

static inline struct queue_leaf *queue_as_leaf(const struct queue_node *v)
{
    return (struct queue_leaf *)v;
}

static inline struct queue_inner *queue_as_inner(const struct queue_node *v)
{
    return (struct queue_inner *)v;
}

/* The smallest k with units <= 2^k. */
static inline uint32_t queue_class_of(int64_t units)
{
    return units <= 1 ? 0 : 64 - (uint32_t)__builtin_clzll((uint64_t)units - 1);
}

static inline int64_t *queue_least_of(const struct queue_inner *v, uint32_t class, uint32_t i)
{
    return (int64_t *)&v->column[class * QUEUE_FAN + i];
}

static inline int64_t *queue_narrow_of(const struct queue *q, const struct queue_inner *v,
                                       uint32_t class, uint32_t i)
{
    return (int64_t *)&v->column[(q->classes + class) * QUEUE_FAN + i];
}

/* Index of the first entry of a leaf whose key is not before this one. */
static inline uint32_t queue_leaf_find(const struct queue_leaf *leaf, struct queue_key key)
{
    uint32_t low = 0;
    uint32_t high = leaf->node.n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (queue_before(leaf->entry[middle].key, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Index of the child that holds this key or would. */
static inline uint32_t queue_inner_find(const struct queue_inner *v, struct queue_key key)
{
    uint32_t low = 0;
    uint32_t high = v->node.n;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (queue_before(key, v->key[middle]))
            high = middle;
        else
            low = middle;
    }
    return low;
}

#endif
