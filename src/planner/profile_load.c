/* Loads of a profile: adding over intervals, moving bookings, and asking (profile.h). */
#include "planner/profile_node.h"

/* A leaf with as many entries can lose two and needs no neighbour. */
#define SLIDE_MIN (PROFILE_NODE_MAX / 4 + 2)

/* A leaf of so many points is looked through sooner than it is searched. */
#define LEAF_SHORT 12

/* The part of an interval [from, to) that matters to a subtree. An end is open if the whole subtree is
 * known to be on this side of it. So below the node at which the ways to both ends part, each level has
 * only one partial child.
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

/* The fast path: mostly a call changes only one leaf. Then the leaf is changed in place, the way to it is
 * found once, and the bounds above mostly stay right. The functions below check for that, and do it.
 */

/* Whether two points can come into the leaf or go from it without any other node being touched. */
static bool leaf_roomy(const struct profile *p, const node_t *leaf)
{
    return leaf->n + 2 <= leaf->cap && (p->height == 0 || leaf->n >= SLIDE_MIN);
}

/* Hold the point at `at`, which must not be before the leaf's first. Returns its index. */
static uint32_t leaf_hold(struct profile *p, node_t *leaf, int64_t at)
{
    uint32_t i = node_find(leaf, at);
    if (node_key(leaf)[i] == at) {
        leaf_holds(leaf)[i]++;
        return i;
    }
    int64_t load = leaf_load(leaf)[i++];
    if (i < leaf->n)
        node_move(leaf, i + 1, leaf, i, leaf->n - i, 0, 0);
    leaf->n++;
    p->n++;
    node_key(leaf)[i] = at;
    leaf_load(leaf)[i] = load;
    leaf_holds(leaf)[i] = 1;
    return i;
}

static void leaf_drop(struct profile *p, node_t *leaf, uint32_t i)
{
    if (--leaf_holds(leaf)[i] > 0)
        return;
    node_erase(leaf, 0, i);
    p->n--;
}

/* Add delta to the points i to j - 1 of the way's leaf. Returns true if their loads were and are strictly
 * within the leaf's bounds. The bounds then stay right, even if a point is removed that has the load of
 * the point before it.
 */
static bool leaf_add(const struct profile *p, const struct way *way, uint32_t i, uint32_t j,
                     int64_t delta)
{
    int64_t *load = leaf_load(way->node[0]);
    if (p->height == 0) {
        for (; i < j; i++)
            load[i] = plus(load[i], delta);
        return true;
    }
    const node_t *parent = way->node[1];
    uint32_t k = way->i[1];
    int64_t low = minus(inner_min(parent)[k], inner_add(parent)[k]);
    int64_t wide = minus(inner_max(parent)[k], inner_min(parent)[k]);
    bool within = i > 0; /* else that point is the leaf's key and has none before it */
    for (; i < j; i++) {
        int64_t was = minus(load[i], low);
        int64_t now = plus(was, delta);
        load[i] = plus(load[i], delta);
        within = within && now > 0 && now < wide && was > 0 && was < wide;
    }
    return within;
}

static void way_refresh(const struct profile *p, const struct way *way)
{
    for (uint32_t level = 1; level <= p->height; level++)
        inner_refresh(way->node[level], level, way->i[level]);
}

/* Whether a point at this time belongs to the leaf, which begins before it. */
static bool leaf_reaches(const struct profile *p, const node_t *leaf, int64_t at)
{
    return p->height == 0 || at <= node_key(leaf)[leaf->n - 1];
}

int profile_book(struct profile *p, int64_t from, int64_t to, int64_t count)
{
    struct way way;
    way_find(p, from, &way);
    node_t *leaf = way.node[0];
    if (leaf_roomy(p, leaf) && leaf_reaches(p, leaf, to)) {
        uint32_t i = leaf_hold(p, leaf, from);
        if (!leaf_add(p, &way, i, leaf_hold(p, leaf, to), count))
            way_refresh(p, &way);
        return 0;
    }
    if (profile_hold(p, from) < 0)
        return -1;
    if (profile_hold(p, to) < 0) {
        profile_drop(p, from);
        return -1;
    }
    profile_add(p, from, to, count);
    return 0;
}

void profile_unbook(struct profile *p, int64_t from, int64_t to, int64_t count)
{
    struct way way;
    way_find(p, from, &way);
    node_t *leaf = way.node[0];
    if (leaf_roomy(p, leaf) && leaf_reaches(p, leaf, to)) {
        uint32_t i = way.i[0];
        uint32_t j = node_find(leaf, to);
        bool within = leaf_add(p, &way, i, j, -count);
        leaf_drop(p, leaf, j);
        leaf_drop(p, leaf, i);
        if (!within)
            way_refresh(p, &way);
        return;
    }
    profile_add(p, from, to, -count);
    profile_drop(p, from);
    profile_drop(p, to);
}

/* Move one end of a booking to an earlier time: the hold moves from the point at `to` to one at `from`,
 * and the loads between change by delta.
 */
struct slide {
    struct way way; /* to the leaf with the point at `to` */
    int64_t from;
    int64_t to;
    int64_t delta;
};

/* Find the leaf; false if it does not reach back to `from` or is not roomy. Of the way only what is found is
 * written: it has room for a far higher tree.
 */
static bool slide_find(struct profile *p, struct slide *s, int64_t from, int64_t to, int64_t delta)
{
    s->from = from;
    s->to = to;
    s->delta = delta;
    way_find(p, to, &s->way);
    const node_t *leaf = s->way.node[0];
    return node_key(leaf)[0] <= from && leaf_roomy(p, leaf);
}

static void slide_apply(struct profile *p, const struct slide *s)
{
    node_t *leaf = s->way.node[0];
    uint32_t i = leaf_hold(p, leaf, s->from);
    uint32_t j = node_find(leaf, s->to);
    bool within = leaf_add(p, &s->way, i, j, s->delta);
    leaf_drop(p, leaf, j);
    if (!within)
        way_refresh(p, &s->way);
}

int profile_advance(struct profile *p, int64_t old, int64_t duration, int64_t start, int64_t count)
{
    struct slide head, tail;
    if (slide_find(p, &head, start, old, count) &&
        slide_find(p, &tail, start + duration, old + duration, -count)) {
        slide_apply(p, &head);
        slide_apply(p, &tail);
        return 0;
    }
    if (profile_book(p, start, start + duration, count) < 0)
        return -1;
    profile_unbook(p, old, old + duration, count);
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

/* The largest load among the points of v that apply at some time of r; sum is the additions above v. */
static int64_t node_max(const node_t *v, uint32_t level, struct reach r, int64_t sum)
{
    uint32_t i = r.from_open ? 0 : node_find(v, r.from);
    uint32_t end = r.to_open ? v->n : node_find(v, r.to - 1) + 1;
    int64_t best = INT64_MIN;
    if (level == 0) {
        const int64_t *load = leaf_load(v);
        for (; i < end; i++)
            best = greater(best, plus(load[i], sum));
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
        best = greater(best, node_max(child[end], level - 1, reach_open_from(r), above));
    }
    for (; i < end; i++)
        best = greater(best, plus(inner_max(v)[i], sum));
    return best;
}

/* The same where a leaf is all there is, and is short: one way through it, from its end. */
static int64_t leaf_max(const node_t *v, int64_t from, int64_t to)
{
    const int64_t *key = node_key(v), *load = leaf_load(v);
    int64_t best = INT64_MIN;
    uint32_t i = v->n;

    do {
        i--;
        best = key[i] < to ? greater(best, load[i]) : best;
    } while (i > 0 && key[i] > from);
    return best;
}

int64_t profile_max(const struct profile *p, int64_t from, int64_t to)
{
    if (p->height == 0 && p->n <= LEAF_SHORT)
        return leaf_max(p->root, from, to);
    return node_max(p->root, p->height, (struct reach){.from = from, .to = to}, 0);
}
