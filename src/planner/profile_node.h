/* The nodes of a load profile's tree, for the files that walk and change it.
 *
 * Sums wrap around like unsigned numbers: a stored value may be outside the range of loads, but the sum
 * over the whole way never is. So values of one node are compared by their differences, which are
 * differences of loads, and values of different nodes only after all additions above them are included.
 */
#ifndef PLANNER_PROFILE_NODE_H
#define PLANNER_PROFILE_NODE_H

#include <string.h>

#include "base/number.h"
#include "planner/profile.h"

/* A leaf has times, loads and hold counts; an inner node has keys, bounds, additions and children. These
 * are arrays one after the other, each `cap` long, so that a search touches only times.
 */
typedef struct profile_node node_t;

static inline int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Times of a leaf, keys of an inner node. */
static inline int64_t *node_key(const node_t *v)
{
    return (int64_t *)v->word;
}

static inline int64_t *leaf_load(const node_t *v)
{
    return (int64_t *)v->word + v->cap;
}

static inline uint32_t *leaf_holds(const node_t *v)
{
    return (uint32_t *)((int64_t *)v->word + 2 * (size_t)v->cap);
}

static inline int64_t *inner_max(const node_t *v)
{
    return (int64_t *)v->word + v->cap;
}

static inline int64_t *inner_min(const node_t *v)
{
    return (int64_t *)v->word + 2 * (size_t)v->cap;
}

static inline int64_t *inner_add(const node_t *v)
{
    return (int64_t *)v->word + 3 * (size_t)v->cap;
}

static inline node_t **inner_child(const node_t *v)
{
    return (node_t **)((int64_t *)v->word + 4 * (size_t)v->cap);
}

/* Copy n entries from src[i..] to dst[k..], which may be the same node; the caller sets the counts.
 * Values change by delta, the difference of the additions above the two nodes.
 */
static inline void node_move(node_t *dst, uint32_t k, const node_t *src, uint32_t i, uint32_t n,
                             uint32_t level, int64_t delta)
{
    memmove(node_key(dst) + k, node_key(src) + i, n * sizeof(int64_t));
    if (level == 0) {
        memmove(leaf_load(dst) + k, leaf_load(src) + i, n * sizeof(int64_t));
        memmove(leaf_holds(dst) + k, leaf_holds(src) + i, n * sizeof(uint32_t));
    } else {
        memmove(inner_max(dst) + k, inner_max(src) + i, n * sizeof(int64_t));
        memmove(inner_min(dst) + k, inner_min(src) + i, n * sizeof(int64_t));
        memmove(inner_add(dst) + k, inner_add(src) + i, n * sizeof(int64_t));
        memmove(inner_child(dst) + k, inner_child(src) + i, n * sizeof(node_t *));
    }
    if (delta == 0)
        return;
    for (uint32_t e = k; e < k + n; e++) {
        if (level == 0) {
            leaf_load(dst)[e] = plus(leaf_load(dst)[e], delta);
        } else {
            inner_max(dst)[e] = plus(inner_max(dst)[e], delta);
            inner_min(dst)[e] = plus(inner_min(dst)[e], delta);
            inner_add(dst)[e] = plus(inner_add(dst)[e], delta);
        }
    }
}

static inline void node_erase(node_t *v, uint32_t level, uint32_t i)
{
    node_move(v, i, v, i + 1, v->n - i - 1, level, 0);
    v->n--;
}

/* The index of the last entry with key <= at; 0 if there is none. */
static inline uint32_t node_find(const node_t *v, int64_t at)
{
    const int64_t *key = node_key(v);
    uint32_t low = 0;
    for (uint32_t n = v->n; n > 1;) {
        uint32_t half = n / 2;
        low = key[low + half] <= at ? low + half : low;
        n -= half;
    }
    return low;
}

/* The number of entries with key < at. */
static inline uint32_t node_below(const node_t *v, int64_t at)
{
    uint32_t i = node_find(v, at);
    return i + (node_key(v)[i] < at);
}

/* The largest of `high` and the least of `low`, n values each. There are four independent chains of
 * comparisons, so that none waits for another; they compare differences from a value of the node (see above).
 */
static inline void bounds_of(const int64_t *high, const int64_t *low, uint32_t n, int64_t *max,
                             int64_t *min)
{
    const int64_t base = high[0];
    int64_t a[4] = {0};
    int64_t b[4] = {0};
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (uint32_t k = 0; k < 4; k++) {
            a[k] = greater(a[k], minus(high[i + k], base));
            b[k] = lesser(b[k], minus(low[i + k], base));
        }
    }
    for (; i < n; i++) {
        a[0] = greater(a[0], minus(high[i], base));
        b[0] = lesser(b[0], minus(low[i], base));
    }
    *max = plus(base, greater(greater(a[0], a[1]), greater(a[2], a[3])));
    *min = plus(base, lesser(lesser(b[0], b[1]), lesser(b[2], b[3])));
}

/* The bounds of a node's values. A leaf has one value for both, which is read once. */
static inline void node_bounds(const node_t *v, uint32_t level, int64_t *max, int64_t *min)
{
    if (level == 0)
        bounds_of(leaf_load(v), leaf_load(v), v->n, max, min);
    else
        bounds_of(inner_max(v), inner_min(v), v->n, max, min);
}

/* Update entry i of v, a node of the given level, after its child has changed. */
static inline void inner_refresh(node_t *v, uint32_t level, uint32_t i)
{
    const node_t *child = inner_child(v)[i];
    int64_t max;
    int64_t min;
    node_bounds(child, level - 1, &max, &min);
    node_key(v)[i] = node_key(child)[0];
    inner_max(v)[i] = plus(max, inner_add(v)[i]);
    inner_min(v)[i] = plus(min, inner_add(v)[i]);
}

/* The way from the root to a leaf entry; [0] is the leaf, [height] the root. */
struct way {
    node_t *node[PROFILE_HEIGHT_MAX + 1];
    node_t **link[PROFILE_HEIGHT_MAX + 1]; /* what points to the node */
    uint32_t i[PROFILE_HEIGHT_MAX + 1];
};

static inline void way_find(struct profile *p, int64_t at, struct way *way)
{
    node_t **link = &p->root;
    for (uint32_t level = p->height; level > 0; level--) {
        node_t *v = *link;
        way->node[level] = v;
        way->link[level] = link;
        way->i[level] = node_find(v, at);
        link = &inner_child(v)[way->i[level]];
    }
    way->node[0] = *link;
    way->link[0] = link;
    way->i[0] = node_find(*link, at);
}

#endif
