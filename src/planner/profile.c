/* The load profile: a B+ tree of points with bounds and lazy additions (profile.h).
 *
 * Invariants, which profile_check verifies:
 *  1. Entries of a node ascend; an inner node's key is the first time below it.
 *  2. The value of a leaf entry is its stored load plus the additions on the way from the root.
 *  3. An inner entry's max and min include its own addition, so they are bounds as its node sees them.
 *  4. All leaves are at one depth, no node is empty, and a root that is an inner node has two children.
 *
 * Loads are changed and asked for in profile_load.c, searched in profile_cursor.c.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "planner/profile_node.h"

enum {
    LEAF_START = 3, /* the first leaf's capacity: a calendar of one span, as most are */
    INNER_START = 4,
    POINTS_MAX = UINT32_MAX / 8,     /* leaves a quarter full have room for less than UINT32_MAX */
    NODE_MIN = PROFILE_NODE_MAX / 4, /* below this a node looks for a neighbour to join */
    NODE_JOIN = PROFILE_NODE_MAX * 3 / 4,
    NODE_HALF = 48 /* capacity of the halves of a split node */
};

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

/* Change the capacity of a node, to at least its count. NULL if memory runs out; the old node is then
 * intact.
 */
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

/* Put a point behind the others of a leaf that has room. */
static void leaf_append(node_t *leaf, int64_t at, int64_t load)
{
    node_key(leaf)[leaf->n] = at;
    leaf_load(leaf)[leaf->n] = load;
    leaf_holds(leaf)[leaf->n++] = 1;
}

int profile_init(struct profile *p, int64_t base)
{
    node_t *leaf = node_new(0, LEAF_START);
    if (!leaf)
        return -1;
    leaf_append(leaf, base, 0);
    *p = (struct profile){.root = leaf, .n = 1};
    return 0;
}

int profile_init_booked(struct profile *p, int64_t base, int64_t from, int64_t to, int64_t count)
{
    if (profile_init(p, base) < 0)
        return -1;
    if (from > base)
        leaf_append(p->root, from, 0);
    else
        leaf_holds(p->root)[0]++;
    leaf_load(p->root)[p->root->n - 1] = count;
    leaf_append(p->root, to, 0);
    p->n = p->root->n;
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
    uint32_t more = cap == LEAF_START ? 2 * LEAF_START : (cap * 3 / 2 + 3) & ~3u;
    return more < PROFILE_NODE_MAX ? more : PROFILE_NODE_MAX;
}

/* Make room in the leaf of the way for one entry, and in each inner node above for the halves of nodes
 * that are split. spare[level] is the right half of the full node of that level, and spare[height + 1] a
 * new root; NULL if no split is needed. Nothing visible changes. Returns -1 if memory runs out.
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
    if (p->n >= POINTS_MAX || way_room(p, &way, append, spare) < 0)
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

/* Join children i and i + 1 of v, one of which has few entries, or divide their entries evenly. If that
 * needs memory and there is none, they stay as they are; the tree is then correct, but less full than it
 * should be.
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

/* Whether a point has the load of the one before it in the leaf, so that the leaf's bounds are the same
 * without it.
 */
static bool repeats_load(const node_t *leaf, uint32_t i)
{
    return i > 0 && leaf_load(leaf)[i] == leaf_load(leaf)[i - 1];
}

void profile_drop(struct profile *p, int64_t at)
{
    struct way way;
    way_find(p, at, &way);
    node_t *leaf = way.node[0];
    assert(node_key(leaf)[way.i[0]] == at);
    if (--leaf_holds(leaf)[way.i[0]] > 0)
        return;
    bool alike = repeats_load(leaf, way.i[0]);
    node_erase(leaf, 0, way.i[0]);
    p->n--;
    if (alike && leaf->n >= NODE_MIN)
        return;
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
