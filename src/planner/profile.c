/* The load profile: a B+ tree of points with bounds and lazy additions (profile.h).
 *
 * Invariants, which profile_check verifies:
 *  1. Entries of a node ascend; an inner node's key is the first time below it.
 *  2. The value of a leaf entry is its stored load plus the additions of the entries on the way from the root.
 *  3. An inner entry's max and min include its own addition, so they are bounds as its node sees them.
 *  4. All leaves are at one depth, no node is empty, and a root that is an inner node has two children.
 *
 * Sums wrap as unsigned numbers: what is stored may leave the range of a load, what a sum over the whole way gives
 * never does. So values of one node compare by their differences, which are those of loads, and values of
 * different nodes only once all additions above them are in.
 */
#include "planner/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAF_START = 12, /* the first leaf's capacity: a calendar of five spans */
    INNER_START = 4,
    NODE_MIN = PROFILE_NODE_MAX / 4, /* below this a node looks for a neighbour to join */
    NODE_JOIN = PROFILE_NODE_MAX * 3 / 4,
    NODE_HALF = 48 /* capacity of the halves of a split node */
};

/* A leaf holds times, loads and hold counts; an inner node holds keys, bounds, additions and children. The
 * arrays lie one after another, each `cap` long, so that a search touches times alone.
 */
struct profile_node {
    uint32_t n;
    uint32_t cap;
    int64_t word[];
};

typedef struct profile_node node_t;

static int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t minus(int64_t a, int64_t b)
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

static size_t node_bytes(uint32_t level, uint32_t cap)
{
    return sizeof(node_t) + cap * (level ? 4 * sizeof(int64_t) + sizeof(node_t *)
                                         : 2 * sizeof(int64_t) + sizeof(uint32_t));
}

static node_t *node_new(uint32_t level, uint32_t cap)
{
    node_t *v = malloc(node_bytes(level, cap));
    if (v) {
        v->n = 0;
        v->cap = cap;
    }
    return v;
}

static void node_free(node_t *v, uint32_t level)
{
    if (v && level)
        for (uint32_t i = 0; i < v->n; i++)
            node_free(inner_child(v)[i], level - 1);
    free(v);
}

/* Copy n entries from src[i..] to dst[k..], which may be the same node; counts are left to the caller. Values
 * move by delta: the difference of the additions above the two.
 */
static void node_move(node_t *dst, uint32_t k, const node_t *src, uint32_t i, uint32_t n,
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

/* The same node with another capacity, at least its count; NULL if there is no memory, the old one intact. */
static node_t *node_resize(node_t *v, uint32_t level, uint32_t cap)
{
    node_t *w = node_new(level, cap);
    if (w) {
        node_move(w, 0, v, 0, v->n, level, 0);
        w->n = v->n;
        free(v);
    }
    return w;
}

/* Index of the last entry with key <= at; 0 if there is none. */
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

/* Number of entries with key < at. */
static inline uint32_t node_below(const node_t *v, int64_t at)
{
    uint32_t i = node_find(v, at);
    return i + (node_key(v)[i] < at);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Four chains of comparisons, of differences from a value of the node (see above), so that none waits for another. */
static void node_bounds(const node_t *v, uint32_t level, int64_t *max, int64_t *min)
{
    const int64_t *high = level ? inner_max(v) : leaf_load(v);
    const int64_t *low = level ? inner_min(v) : leaf_load(v);
    const int64_t base = high[0];
    int64_t a[4] = {0};
    int64_t b[4] = {0};
    uint32_t i = 0;
    for (; i + 4 <= v->n; i += 4) {
        for (uint32_t k = 0; k < 4; k++) {
            a[k] = larger(a[k], minus(high[i + k], base));
            b[k] = smaller(b[k], minus(low[i + k], base));
        }
    }
    for (; i < v->n; i++) {
        a[0] = larger(a[0], minus(high[i], base));
        b[0] = smaller(b[0], minus(low[i], base));
    }
    *max = plus(base, larger(larger(a[0], a[1]), larger(a[2], a[3])));
    *min = plus(base, smaller(smaller(b[0], b[1]), smaller(b[2], b[3])));
}

/* Make entry i of v, a node of the given level, tell the truth about its child again. */
static void inner_refresh(node_t *v, uint32_t level, uint32_t i)
{
    const node_t *child = inner_child(v)[i];
    int64_t max;
    int64_t min;
    node_bounds(child, level - 1, &max, &min);
    node_key(v)[i] = node_key(child)[0];
    inner_max(v)[i] = plus(max, inner_add(v)[i]);
    inner_min(v)[i] = plus(min, inner_add(v)[i]);
}

int profile_init(struct profile *p, int64_t base)
{
    node_t *leaf = node_new(0, LEAF_START);
    if (!leaf)
        return -1;
    leaf->n = 1;
    node_key(leaf)[0] = base;
    leaf_load(leaf)[0] = 0;
    leaf_holds(leaf)[0] = 1;
    *p = (struct profile){.root = leaf, .n = 1};
    return 0;
}

void profile_clear(struct profile *p)
{
    node_free(p->root, p->height);
    *p = (struct profile){0};
}

static node_t *node_copy(const node_t *v, uint32_t level)
{
    node_t *w = node_new(level, v->cap);
    if (!w)
        return NULL;
    node_move(w, 0, v, 0, v->n, level, 0);
    for (uint32_t i = 0; level && i < v->n; i++) {
        node_t *child = node_copy(inner_child(v)[i], level - 1);
        if (!child) {
            node_free(w, level);
            return NULL;
        }
        inner_child(w)[i] = child;
        w->n = i + 1;
    }
    w->n = v->n;
    return w;
}

int profile_copy(struct profile *to, const struct profile *from)
{
    node_t *root = node_copy(from->root, from->height);
    if (!root)
        return -1;
    *to = *from;
    to->root = root;
    return 0;
}

/* The way from the root to a leaf entry; [0] is the leaf, [height] the root. */
struct way {
    node_t *node[PROFILE_HEIGHT_MAX + 1];
    node_t **link[PROFILE_HEIGHT_MAX + 1]; /* what points to the node */
    uint32_t i[PROFILE_HEIGHT_MAX + 1];
};

static void way_find(struct profile *p, int64_t at, struct way *way)
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

/* Where a full node of the way is cut: in the middle, or, where points are appended, at its end, so that a
 * calendar filled in order of time has full nodes.
 */
static bool way_appends(const struct profile *p, const struct way *way)
{
    for (uint32_t level = 0; level <= p->height; level++)
        if (way->i[level] + 1 != way->node[level]->n)
            return false;
    return true;
}

static uint32_t grown(uint32_t cap)
{
    uint32_t more = (cap * 3 / 2 + 3) & ~3u;
    return more < PROFILE_NODE_MAX ? more : PROFILE_NODE_MAX;
}

/* Give the leaf of the way room for one entry, and each inner node above for the halves of those split below.
 * spare[level] is the right half for the full node of that level, spare[height + 1] a new root; NULL where no
 * split is needed. Nothing that can be seen changes. Returns -1 if there is no memory.
 */
static int way_room(struct profile *p, struct way *way, bool append, node_t **spare)
{
    uint32_t level = 0;
    memset(spare, 0, (p->height + 2) * sizeof(*spare));
    for (; level <= p->height; level++) {
        node_t *v = way->node[level];
        if (v->n < v->cap)
            return 0;
        if (v->cap < PROFILE_NODE_MAX) {
            node_t *w = node_resize(v, level, grown(v->cap));
            if (!w)
                goto nomem;
            way->node[level] = w;
            *way->link[level] = w;
            return 0;
        }
        uint32_t start = level ? INNER_START : LEAF_START;
        if (!(spare[level] = node_new(level, append ? start : NODE_HALF)))
            goto nomem;
    }
    if (level <= PROFILE_HEIGHT_MAX && (spare[level] = node_new(level, INNER_START)))
        return 0;
nomem:
    for (uint32_t i = 0; i <= p->height; i++)
        free(spare[i]);
    return -1;
}

/* Open a gap for an entry at index i of the way's node of this level, splitting it if it has a right half
 * waiting. Returns the node with the gap and its index in *at. The way keeps naming the left half.
 */
static node_t *way_open(struct way *way, uint32_t level, uint32_t i, node_t *right, bool append,
                        uint32_t *at)
{
    node_t *v = way->node[level];
    if (right) {
        uint32_t keep = append ? v->n : v->n / 2;
        node_move(right, 0, v, keep, v->n - keep, level, 0);
        right->n = v->n - keep;
        v->n = keep;
        if (append || i > keep) {
            v = right;
            i -= keep;
        }
    }
    node_move(v, i + 1, v, i, v->n - i, level, 0);
    v->n++;
    *at = i;
    return v;
}

/* A split leaves the left half with twice the room it needs: give it back if that is possible. */
static void way_trim(struct way *way, uint32_t level, node_t **link)
{
    node_t *v = way->node[level];
    if (v->n >= NODE_HALF)
        return;
    node_t *w = node_resize(v, level, NODE_HALF);
    if (w) {
        way->node[level] = w;
        *link = w;
    }
}

/* Hang the right halves in, from the leaf's up. */
static void way_split(struct profile *p, struct way *way, bool append, node_t **spare)
{
    for (uint32_t level = 0; level <= p->height && spare[level]; level++) {
        node_t *parent;
        uint32_t i;
        int64_t add = 0;
        if (level == p->height) { /* the root was split: the tree grows */
            parent = spare[level + 1];
            parent->n = 2;
            inner_child(parent)[0] = p->root;
            inner_add(parent)[0] = 0;
            way->node[level + 1] = parent;
            way->i[level + 1] = 0;
            p->root = parent;
            i = 1;
        } else {
            uint32_t left = way->i[level + 1];
            add = inner_add(way->node[level + 1])[left];
            parent = way_open(way, level + 1, left + 1, spare[level + 1], append, &i);
        }
        inner_child(parent)[i] = spare[level];
        inner_add(parent)[i] = add;
        inner_refresh(parent, level + 1, i);
        if (i > 0) {
            if (!append)
                way_trim(way, level, &inner_child(parent)[i - 1]);
            inner_refresh(parent, level + 1, i - 1);
        } else { /* the halves' parent was cut between them: the left one is the last of its left half */
            node_t *before = way->node[level + 1];
            if (!append)
                way_trim(way, level, &inner_child(before)[before->n - 1]);
            inner_refresh(before, level + 1, before->n - 1);
        }
        if (level == p->height) {
            p->height++;
            return;
        }
    }
}

int profile_hold(struct profile *p, int64_t at)
{
    struct way way;
    node_t *spare[PROFILE_HEIGHT_MAX + 2];
    way_find(p, at, &way);
    node_t *leaf = way.node[0];
    uint32_t i = way.i[0];
    assert(node_key(leaf)[i] <= at);
    if (node_key(leaf)[i] == at) {
        leaf_holds(leaf)[i]++;
        return 0;
    }
    bool append = way_appends(p, &way);
    if (way_room(p, &way, append, spare) < 0)
        return -1;
    int64_t load = leaf_load(way.node[0])[i];
    leaf = way_open(&way, 0, i + 1, spare[0], append, &i);
    node_key(leaf)[i] = at;
    leaf_load(leaf)[i] = load;
    leaf_holds(leaf)[i] = 1;
    if (spare[0])
        way_split(p, &way, append, spare);
    p->n++;
    return 0;
}

static void node_erase(node_t *v, uint32_t level, uint32_t i)
{
    node_move(v, i, v, i + 1, v->n - i - 1, level, 0);
    v->n--;
}

/* Children i and i + 1 of v, of which one has few entries, become one node, or share evenly. If that needs
 * memory and there is none they stay as they are, which is right, only roomier than it should be.
 */
static void inner_balance(node_t *v, uint32_t level, uint32_t i)
{
    node_t **child = inner_child(v);
    node_t *left = child[i];
    node_t *right = child[i + 1];
    uint32_t total = left->n + right->n;
    uint32_t keep = total <= NODE_JOIN ? total : total / 2;
    uint32_t below = level - 1;
    int64_t delta = minus(inner_add(v)[i + 1], inner_add(v)[i]);
    if (keep > left->cap) {
        if (!(left = node_resize(left, below, NODE_JOIN)))
            return;
        child[i] = left;
    }
    if (total - keep > right->cap) {
        if (!(right = node_resize(right, below, NODE_JOIN)))
            return;
        child[i + 1] = right;
    }
    if (keep > left->n) {
        uint32_t n = keep - left->n;
        node_move(left, left->n, right, 0, n, below, delta);
        node_move(right, 0, right, n, right->n - n, below, 0);
    } else {
        uint32_t n = left->n - keep;
        node_move(right, n, right, 0, right->n, below, 0);
        node_move(right, 0, left, keep, n, below, minus(0, delta));
    }
    left->n = keep;
    right->n = total - keep;
    inner_refresh(v, level, i);
    if (right->n == 0) {
        free(right);
        node_erase(v, level, i + 1);
    } else {
        inner_refresh(v, level, i + 1);
    }
}

/* A root with a single child gives way to it. */
static void profile_lower(struct profile *p)
{
    while (p->height && p->root->n == 1) {
        node_t *root = p->root;
        node_t *child = inner_child(root)[0];
        node_move(child, 0, child, 0, child->n, p->height - 1, inner_add(root)[0]);
        p->root = child;
        p->height--;
        free(root);
    }
}

void profile_drop(struct profile *p, int64_t at)
{
    struct way way;
    way_find(p, at, &way);
    node_t *leaf = way.node[0];
    assert(node_key(leaf)[way.i[0]] == at);
    if (--leaf_holds(leaf)[way.i[0]] > 0)
        return;
    node_erase(leaf, 0, way.i[0]);
    p->n--;
    for (uint32_t level = 1; level <= p->height; level++) {
        node_t *v = way.node[level];
        uint32_t i = way.i[level];
        const node_t *child = inner_child(v)[i];
        if (child->n == 0) {
            free(inner_child(v)[i]);
            node_erase(v, level, i);
            continue;
        }
        inner_refresh(v, level, i);
        if (child->n < NODE_MIN && v->n > 1)
            inner_balance(v, level, i > 0 ? i - 1 : i);
    }
    profile_lower(p);
}

/* The part of an interval [from, to) that a subtree is asked about. An end is open where the subtree is known
 * to lie on this side of it, so that below the node that parts the two ends each level has one partial child.
 */
struct reach {
    int64_t from;
    int64_t to;
    bool from_open;
    bool to_open;
};

static struct reach reach_open_from(struct reach r)
{
    r.from_open = true;
    return r;
}

static struct reach reach_open_to(struct reach r)
{
    r.to_open = true;
    return r;
}

/* Add to the points of v in r. */
static void node_add(node_t *v, uint32_t level, struct reach r, int64_t delta)
{
    uint32_t i = r.from_open ? 0 : node_below(v, r.from);
    uint32_t j = r.to_open ? v->n : node_below(v, r.to);
    if (level == 0) {
        int64_t *load = leaf_load(v);
        for (; i < j; i++)
            load[i] = plus(load[i], delta);
        return;
    }
    /* Children i to j - 1 begin inside; the one before i may reach in, the last may reach out. */
    const int64_t *key = node_key(v);
    bool first_partial = i > 0 && !(i < v->n && key[i] == r.from);
    bool last_partial = !r.to_open && !(j < v->n && key[j] == r.to);
    if (first_partial) {
        bool both = j == i && last_partial;
        node_add(inner_child(v)[i - 1], level - 1, both ? r : reach_open_to(r), delta);
        inner_refresh(v, level, i - 1);
    }
    if (last_partial && j > i) {
        j--;
        node_add(inner_child(v)[j], level - 1, reach_open_from(r), delta);
        inner_refresh(v, level, j);
    }
    for (; i < j; i++) {
        inner_max(v)[i] = plus(inner_max(v)[i], delta);
        inner_min(v)[i] = plus(inner_min(v)[i], delta);
        inner_add(v)[i] = plus(inner_add(v)[i], delta);
    }
}

void profile_add(struct profile *p, int64_t from, int64_t to, int64_t delta)
{
    if (delta != 0 && from < to)
        node_add(p->root, p->height, (struct reach){.from = from, .to = to}, delta);
}

/* One end of what is moved to an earlier time: a hold goes from the point at `to` to one at `from`, and what lies
 * between changes by delta. Mostly the two stand in one leaf, which is then changed in place.
 */
struct slide {
    struct way way; /* to the leaf with the point at `to` */
    int64_t from;
    int64_t to;
    int64_t delta;
};

/* Find the leaf; false if it does not reach back to `from`, or if it might not have room for two slides, or might be
 * left with too few entries.
 */
static bool slide_find(struct profile *p, struct slide *s)
{
    way_find(p, s->to, &s->way);
    const node_t *leaf = s->way.node[0];
    return node_key(leaf)[0] <= s->from && leaf->n + 2 <= leaf->cap &&
           (p->height == 0 || leaf->n >= NODE_MIN + 2);
}

/* Whether the loads of entries i to j - 1 of the leaf, which have just changed, were and are well within its
 * bounds, so that these are still right.
 */
static bool slide_inside(const struct slide *s, uint32_t i, uint32_t j)
{
    const node_t *parent = s->way.node[1];
    uint32_t k = s->way.i[1];
    int64_t high = minus(inner_max(parent)[k], inner_add(parent)[k]);
    int64_t low = minus(inner_min(parent)[k], inner_add(parent)[k]);
    const int64_t *load = leaf_load(s->way.node[0]);
    int64_t wide = minus(high, low);
    for (; i < j; i++) {
        int64_t now = minus(load[i], low);
        int64_t was = minus(now, s->delta);
        if (now <= 0 || now >= wide || was <= 0 || was >= wide)
            return false;
    }
    return true;
}

static void slide_apply(struct profile *p, const struct slide *s)
{
    node_t *leaf = s->way.node[0];
    uint32_t i = node_find(leaf, s->from);
    if (node_key(leaf)[i] == s->from) {
        leaf_holds(leaf)[i]++;
    } else {
        int64_t load = leaf_load(leaf)[i++];
        node_move(leaf, i + 1, leaf, i, leaf->n - i, 0, 0);
        leaf->n++;
        p->n++;
        node_key(leaf)[i] = s->from;
        leaf_load(leaf)[i] = load;
        leaf_holds(leaf)[i] = 1;
    }
    int64_t *load = leaf_load(leaf);
    uint32_t first = i;
    for (; node_key(leaf)[i] < s->to; i++)
        load[i] = plus(load[i], s->delta);
    bool inside = p->height > 0 && slide_inside(s, first, i);
    if (--leaf_holds(leaf)[i] == 0) {
        node_erase(leaf, 0, i);
        p->n--;
    }
    for (uint32_t level = 1; level <= p->height && !inside; level++)
        inner_refresh(s->way.node[level], level, s->way.i[level]);
}

int profile_advance(struct profile *p, int64_t old, int64_t duration, int64_t start, int64_t count)
{
    struct slide head = {.from = start, .to = old, .delta = count};
    struct slide tail = {.from = start + duration, .to = old + duration, .delta = -count};
    if (slide_find(p, &head) && slide_find(p, &tail)) {
        slide_apply(p, &head);
        slide_apply(p, &tail);
        return 0;
    }
    if (profile_hold(p, head.from) < 0)
        return -1;
    if (profile_hold(p, tail.from) < 0) {
        profile_drop(p, head.from);
        return -1;
    }
    profile_add(p, head.from, head.to, head.delta);
    profile_add(p, tail.from, tail.to, tail.delta);
    profile_drop(p, head.to);
    profile_drop(p, tail.to);
    return 0;
}

int64_t profile_at(const struct profile *p, int64_t at)
{
    const node_t *v = p->root;
    int64_t sum = 0;
    for (uint32_t level = p->height; level > 0; level--) {
        uint32_t i = node_find(v, at);
        sum = plus(sum, inner_add(v)[i]);
        v = inner_child(v)[i];
    }
    return plus(leaf_load(v)[node_find(v, at)], sum);
}

/* Largest load of the points of v that hold at some time of r; sum is what is added above v. */
static int64_t node_max(const node_t *v, uint32_t level, struct reach r, int64_t sum)
{
    uint32_t i = r.from_open ? 0 : node_find(v, r.from);
    uint32_t end = r.to_open ? v->n : node_find(v, r.to - 1) + 1;
    int64_t best = INT64_MIN;
    if (level == 0) {
        const int64_t *load = leaf_load(v);
        for (; i < end; i++)
            best = larger(best, plus(load[i], sum));
        return best;
    }
    const int64_t *add = inner_add(v);
    node_t **child = inner_child(v);
    if (i + 1 == end && !(r.from_open && r.to_open))
        return node_max(child[i], level - 1, r, plus(sum, add[i]));
    if (!r.from_open) {
        best = node_max(child[i], level - 1, reach_open_to(r), plus(sum, add[i]));
        i++;
    }
    if (!r.to_open) {
        end--;
        int64_t above = plus(sum, add[end]);
        best = larger(best, node_max(child[end], level - 1, reach_open_from(r), above));
    }
    for (; i < end; i++)
        best = larger(best, plus(inner_max(v)[i], sum));
    return best;
}

int64_t profile_max(const struct profile *p, int64_t from, int64_t to)
{
    return node_max(p->root, p->height, (struct reach){.from = from, .to = to}, 0);
}

void profile_seek(struct profile_cursor *c, const struct profile *p, int64_t at)
{
    const node_t *v = p->root;
    int64_t sum = 0;
    c->profile = p;
    for (uint32_t level = p->height; level > 0; level--) {
        uint32_t i = node_find(v, at);
        c->path[level - 1].node = v;
        c->path[level - 1].i = i;
        c->path[level - 1].sum = sum;
        sum = plus(sum, inner_add(v)[i]);
        v = inner_child(v)[i];
    }
    c->leaf = v;
    c->i = node_find(v, at);
    c->sum = sum;
}

int64_t profile_cursor_time(const struct profile_cursor *c)
{
    return node_key(c->leaf)[c->i];
}

int64_t profile_cursor_load(const struct profile_cursor *c)
{
    return plus(leaf_load(c->leaf)[c->i], c->sum);
}

uint32_t profile_cursor_holds(const struct profile_cursor *c)
{
    return leaf_holds(c->leaf)[c->i];
}

/* What a cursor looks for: any point, one at or below a limit, one above it. */
enum want { WANT_ANY, WANT_UNDER, WANT_OVER };

static inline bool wanted(int64_t value, int64_t limit, enum want want)
{
    return want == WANT_ANY || (want == WANT_UNDER ? value <= limit : value > limit);
}

/* Move to the first point of the subtree at entry i of the path's node of this level; it has what is wanted. */
static void cursor_enter(struct profile_cursor *c, uint32_t level, uint32_t i, int64_t limit,
                         enum want want)
{
    for (;;) {
        const node_t *v = c->path[level].node;
        int64_t sum = plus(c->path[level].sum, inner_add(v)[i]);
        const node_t *child = inner_child(v)[i];
        c->path[level].i = i;
        if (level == 0) {
            c->leaf = child;
            c->i = 0;
            c->sum = sum;
            return;
        }
        level--;
        c->path[level].node = child;
        c->path[level].sum = sum;
        const int64_t *bound = want == WANT_OVER ? inner_max(child) : inner_min(child);
        for (i = 0; i + 1 < child->n && !wanted(plus(bound[i], sum), limit, want); i++)
            ;
    }
}

/* Leave the leaf for the next one that has what is wanted and begins before stop; false if there is none. */
static bool cursor_leave(struct profile_cursor *c, int64_t limit, int64_t stop, enum want want)
{
    for (uint32_t level = 0; level < c->profile->height; level++) {
        const node_t *v = c->path[level].node;
        int64_t sum = c->path[level].sum;
        const int64_t *bound = want == WANT_OVER ? inner_max(v) : inner_min(v);
        for (uint32_t i = c->path[level].i + 1; i < v->n; i++) {
            if (want != WANT_ANY && node_key(v)[i] >= stop)
                return false;
            if (wanted(plus(bound[i], sum), limit, want)) {
                cursor_enter(c, level, i, limit, want);
                return true;
            }
        }
    }
    return false;
}

static inline bool cursor_scan(struct profile_cursor *c, int64_t limit, int64_t stop,
                               enum want want)
{
    do {
        const node_t *leaf = c->leaf;
        const int64_t *load = leaf_load(leaf);
        const int64_t sum = c->sum;
        const uint32_t n = leaf->n;
        for (uint32_t i = c->i; i < n; i++) {
            if (wanted(plus(load[i], sum), limit, want)) {
                c->i = i;
                return node_key(leaf)[i] < stop;
            }
        }
        if (node_key(leaf)[n - 1] >= stop)
            return false;
    } while (cursor_leave(c, limit, stop, want));
    return false;
}

bool profile_next(struct profile_cursor *c)
{
    if (c->i + 1 < c->leaf->n) {
        c->i++;
        return true;
    }
    return cursor_leave(c, 0, INT64_MAX, WANT_ANY);
}

bool profile_next_under(struct profile_cursor *c, int64_t limit, int64_t stop)
{
    return cursor_scan(c, limit, stop, WANT_UNDER);
}

bool profile_next_over(struct profile_cursor *c, int64_t limit, int64_t stop)
{
    return cursor_scan(c, limit, stop, WANT_OVER);
}

bool profile_fit(struct profile_cursor *c, int64_t from, int64_t duration, int64_t limit,
                 int64_t stop, int64_t *at)
{
    while (cursor_scan(c, limit, stop, WANT_UNDER)) {
        int64_t start = profile_cursor_time(c);
        start = start < from ? from : start;
        bool past = (uint64_t)duration > (uint64_t)stop - (uint64_t)start;
        if (!cursor_scan(c, limit, past ? stop : start + duration, WANT_OVER)) {
            *at = start;
            return true;
        }
    }
    return false;
}

/* Invariant: every window that begins at or after `end` - duration + 1, and before stop, contains an instant
 * before stop, at or after `end`, with too high a load.
 */
bool profile_fits(const struct profile *p, int64_t from, int64_t duration, int64_t limit,
                  int64_t stop)
{
    struct profile_cursor c;
    if (from >= stop)
        return false;
    profile_seek(&c, p, stop - 1);
    if (profile_cursor_load(&c) <= limit)
        return true;
    int64_t end = profile_cursor_time(&c);
    while (end > from && (uint64_t)end - (uint64_t)from >= (uint64_t)duration) {
        profile_seek(&c, p, end - duration);
        if (!cursor_scan(&c, limit, end, WANT_OVER))
            return true;
        end = profile_cursor_time(&c);
    }
    return false;
}

static bool leaf_ok(const node_t *v, int64_t *last, bool *first)
{
    for (uint32_t i = 0; i < v->n; i++) {
        if ((!*first && node_key(v)[i] <= *last) || leaf_holds(v)[i] == 0)
            return false;
        *last = node_key(v)[i];
        *first = false;
    }
    return true;
}

static bool node_ok(const node_t *v, uint32_t level, int64_t *last, bool *first, size_t *n)
{
    if (v->n == 0 || v->n > v->cap || v->cap > PROFILE_NODE_MAX)
        return false;
    if (level == 0) {
        *n += v->n;
        return leaf_ok(v, last, first);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        const node_t *child = inner_child(v)[i];
        int64_t max;
        int64_t min;
        if (!node_ok(child, level - 1, last, first, n))
            return false;
        node_bounds(child, level - 1, &max, &min);
        if (node_key(v)[i] != node_key(child)[0] || inner_max(v)[i] != plus(max, inner_add(v)[i]) ||
            inner_min(v)[i] != plus(min, inner_add(v)[i]))
            return false;
    }
    return true;
}

bool profile_check(const struct profile *p)
{
    int64_t last = 0;
    bool first = true;
    size_t n = 0;
    return node_ok(p->root, p->height, &last, &first, &n) && n == p->n &&
           (p->height == 0 || p->root->n > 1);
}

void profile_view_init(struct profile_view *view)
{
    node_t *leaf = (node_t *)view->storage;
    leaf->n = 0;
    leaf->cap = PROFILE_VIEW_MAX;
    view->profile = (struct profile){.root = leaf};
}

void profile_view_push(struct profile_view *view, int64_t at, int64_t load, uint32_t holds)
{
    node_t *leaf = view->profile.root;
    assert(leaf->n < PROFILE_VIEW_MAX);
    node_key(leaf)[leaf->n] = at;
    leaf_load(leaf)[leaf->n] = load;
    leaf_holds(leaf)[leaf->n] = holds;
    leaf->n++;
    view->profile.n++;
}
