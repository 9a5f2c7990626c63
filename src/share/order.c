/* Who is next: a tournament down the tree. A node has a heap of its children in which some leaf is offered.
 * A heap is in order if the node has seen the tree's epoch; else it is put in order when the question comes
 * by. What changes the keys of one leaf and the nodes above it only, like a start, moves these in the heaps
 * that are in order; so does a child that deserves another amount, when the question comes by.
 */
#include "share/tree_inner.h"

int share_fraction_compare(share_wide an, share_wide ad, share_wide bn, share_wide bd)
{
    const share_wide small = (share_wide)1 << 63;
    for (;;) {
        if (an < small && ad < small && bn < small && bd < small) {
            share_wide left = an * bd, right = bn * ad;
            return (left > right) - (left < right);
        }
        /* By whole parts, then by what is over, upside down. */
        share_wide p = an / ad, q = bn / bd;
        if (p != q)
            return p < q ? -1 : 1;
        share_wide a = an - p * ad, b = bn - q * bd;
        if (a == 0 || b == 0)
            return (a > 0) - (b > 0);
        an = bd;
        bn = ad;
        ad = b;
        bd = a;
    }
}

static struct share_fraction larger(struct share_fraction a, int64_t numerator, int64_t denominator)
{
    share_wide left = (share_wide)a.numerator * denominator;
    share_wide right = (share_wide)numerator * a.denominator;
    return left < right ? (struct share_fraction){numerator, denominator} : a;
}

/* Of what it deserves. False if it deserves nothing at all. */
static bool dominant_share(const struct share_tree *t, uint32_t node, struct share_fraction *share)
{
    const int64_t *received = share_vec(t, node, V_RECEIVED);
    const int64_t *deserved = share_vec(t, node, V_DESERVED);
    bool deserves = false;
    *share = (struct share_fraction){0, 1};
    for (uint32_t d = 0; d < t->dimensions; d++) {
        deserves |= deserved[d] > 0;
        if (deserved[d] > 0)
            *share = larger(*share, received[d], deserved[d]);
        else if (received[d] > 0)
            *share = larger(*share, 1, 1);
    }
    if (!deserves)
        *share = (struct share_fraction){1, 1};
    return deserves;
}

struct share_fraction share_of(struct share_tree *t, uint32_t node)
{
    struct share_fraction share;
    share_update_deserved(t, node);
    dominant_share(t, node, &share);
    return share;
}

/* Of what there is, where there is any. */
static struct share_fraction dominant_part(const struct share_tree *t, uint32_t node)
{
    const int64_t *received = share_vec(t, node, V_RECEIVED);
    struct share_fraction part = {0, 1};
    for (uint32_t d = 0; d < t->dimensions; d++)
        if (t->total[d] > 0)
            part = larger(part, received[d], t->total[d]);
    return part;
}

/* Over the weight; without one comes last. */
static int compare_weighted(const struct share_node *a, share_wide an, share_wide ad,
                            const struct share_node *b, share_wide bn, share_wide bd)
{
    if ((a->weight > 0) != (b->weight > 0))
        return a->weight > 0 ? -1 : 1;
    if (a->weight > 0) {
        ad *= a->weight;
        bd *= b->weight;
    }
    return share_fraction_compare(an, ad, bn, bd);
}

static int compare_shares(const struct share_node *a, const struct share_node *b)
{
    if (a->deserves != b->deserves)
        return a->deserves ? -1 : 1;
    const struct share_fraction *x = a->deserves ? &a->share : &a->part;
    const struct share_fraction *y = a->deserves ? &b->share : &b->part;
    return share_fraction_compare(x->numerator, x->denominator, y->numerator, y->denominator);
}

#define LESS_FIRST(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_by(enum share_by by, const struct share_node *a, const struct share_node *b)
{
    switch (by) {
    case SHARE_BY_NODE_PRIORITY:
        return LESS_FIRST(b->priority, a->priority);
    case SHARE_BY_JOB_PRIORITY:
        return LESS_FIRST(b->first.priority, a->first.priority);
    case SHARE_BY_SHARE:
        return compare_shares(a, b);
    case SHARE_BY_DRF:
        return compare_weighted(a, a->part.numerator, a->part.denominator, b, b->part.numerator,
                                b->part.denominator);
    case SHARE_BY_USAGE:
        return compare_weighted(a, a->usage_now, 1, b, b->usage_now, 1);
    case SHARE_BY_FEWEST_RUNNING:
        return LESS_FIRST(a->jobs[SHARE_RUNNING], b->jobs[SHARE_RUNNING]);
    case SHARE_BY_GANG:
        return LESS_FIRST(a->first.has_min, b->first.has_min);
    case SHARE_BY_DEADLINE:
        return LESS_FIRST(a->first.deadline, b->first.deadline);
    case SHARE_BY_AGE:
        return LESS_FIRST(a->first.since, b->first.since);
    case SHARE_BY_SUBMIT:
        return LESS_FIRST(a->first.submit, b->first.submit);
    case SHARE_BY_RANK:
        return a->rank != b->rank ? LESS_FIRST(a->rank, b->rank) : LESS_FIRST(a->turn, b->turn);
    case SHARE_BY_END:
    case SHARE_BYS:
        break;
    }
    return 0;
}

/* Which of two children of a node goes first, and what decides. */
static int compare_children(const struct share_tree *t, const struct share_node *parent, uint32_t a,
                            uint32_t b, enum share_by *by)
{
    for (uint32_t i = 0; i < SHARE_BY_MAX && parent->by[i] != SHARE_BY_END; i++) {
        int c = compare_by(parent->by[i], &t->nodes[a], &t->nodes[b]);
        if (c != 0) {
            *by = parent->by[i];
            return c;
        }
    }
    *by = SHARE_BY_END;
    return LESS_FIRST(a, b);
}

static bool goes_before_child(const struct share_tree *t, const struct share_node *n, uint32_t a,
                              uint32_t b)
{
    enum share_by by;
    return compare_children(t, n, a, b, &by) < 0;
}

static void put_child(struct share_tree *t, struct share_node *n, uint32_t i, uint32_t child)
{
    n->heap[i] = child;
    t->nodes[child].place = i + 1;
}

static uint32_t rise_child(struct share_tree *t, struct share_node *n, uint32_t i)
{
    uint32_t child = n->heap[i];
    while (i > 0 && goes_before_child(t, n, child, n->heap[(i - 1) / 2])) {
        put_child(t, n, i, n->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put_child(t, n, i, child);
    return i;
}

static void sink_child(struct share_tree *t, struct share_node *n, uint32_t i)
{
    uint32_t child = n->heap[i];
    for (uint32_t next = 2 * i + 1; next < n->n_heap; next = 2 * i + 1) {
        if (next + 1 < n->n_heap && goes_before_child(t, n, n->heap[next + 1], n->heap[next]))
            next++;
        if (!goes_before_child(t, n, n->heap[next], child))
            break;
        put_child(t, n, i, n->heap[next]);
        i = next;
    }
    put_child(t, n, i, child);
}

static uint32_t choose_leaf(struct share_tree *t, uint32_t node);

/* Have what comparators ask of a child be right; what it deserves is. */
static void set_keys(struct share_tree *t, const struct share_node *parent, uint32_t child)
{
    struct share_node *n = &t->nodes[child];
    if (t->by_share)
        n->deserves = dominant_share(t, child, &n->share);
    n->part = dominant_part(t, child);
    if (t->by_usage)
        n->usage_now = share_usage_at(t, n, t->now);
    if (parent->by_job && n->n_children > 0)
        n->first = t->by_first ? n->waits : t->nodes[choose_leaf(t, child)].first;
}

/* Put a node's heap in order; what the node deserves is right. */
static void put_in_order(struct share_tree *t, uint32_t node)
{
    struct share_node *n = &t->nodes[node];
    if (t->by_share)
        share_update_parts(t, node);
    if (n->seen == t->epoch)
        return;
    for (uint32_t i = 0; i < n->n_heap; i++)
        set_keys(t, n, n->heap[i]);
    for (uint32_t i = n->n_heap / 2; i-- > 0;)
        sink_child(t, n, i);
    n->seen = t->epoch;
}

/* The leaf that is next below a node with one that is offered. */
static uint32_t choose_leaf(struct share_tree *t, uint32_t node)
{
    while (!share_is_leaf(t, node)) {
        put_in_order(t, node);
        node = t->nodes[node].heap[0];
    }
    return node;
}

void share_reorder(struct share_tree *t, uint32_t node)
{
    for (uint32_t i = node; i != SHARE_ROOT; i = t->nodes[i].parent) {
        struct share_node *parent = &t->nodes[t->nodes[i].parent];
        if (t->nodes[i].place == 0 || parent->seen != t->epoch)
            continue;
        set_keys(t, parent, i);
        sink_child(t, parent, rise_child(t, parent, t->nodes[i].place - 1));
    }
}

void share_reorder_child(struct share_tree *t, uint32_t child)
{
    struct share_node *n = &t->nodes[child], *parent = &t->nodes[n->parent];
    if (n->place == 0 || parent->seen != t->epoch)
        return;
    n->deserves = dominant_share(t, child, &n->share);
    sink_child(t, parent, rise_child(t, parent, n->place - 1));
}

/* A child is offered, or a leaf below it is. */
static void put_in(struct share_tree *t, uint32_t child)
{
    for (uint32_t i = child; i != SHARE_ROOT && t->nodes[i].place == 0 && !t->nodes[i].closed;
         i = t->nodes[i].parent) {
        struct share_node *parent = &t->nodes[t->nodes[i].parent];
        put_child(t, parent, parent->n_heap++, i);
    }
    share_reorder(t, child);
}

/* Take a child out of its parent's heap, and each above it that has nobody left. */
static void take_out(struct share_tree *t, uint32_t child)
{
    uint32_t i = child;
    do {
        struct share_node *n = &t->nodes[t->nodes[i].parent];
        uint32_t place = t->nodes[i].place - 1;
        uint32_t last = n->heap[--n->n_heap];
        t->nodes[i].place = 0;
        if (last != i) {
            put_child(t, n, place, last);
            if (n->seen == t->epoch)
                sink_child(t, n, rise_child(t, n, place));
        }
        i = t->nodes[i].parent;
    } while (i != SHARE_ROOT && t->nodes[i].n_heap == 0 && t->nodes[i].place > 0);
    share_reorder(t, i);
}

void share_offer(struct share_tree *t, uint32_t leaf, const struct share_first *first)
{
    t->nodes[leaf].first = *first;
    t->nodes[leaf].offered = true;
    put_in(t, leaf);
}

void share_withdraw(struct share_tree *t, uint32_t leaf)
{
    if (!share_is_offered(t, leaf))
        return;
    t->nodes[leaf].offered = false;
    if (t->nodes[leaf].place > 0)
        take_out(t, leaf);
}

void share_close(struct share_tree *t, uint32_t node)
{
    t->nodes[node].closed = true;
    if (t->nodes[node].place > 0)
        take_out(t, node);
}

void share_open(struct share_tree *t, uint32_t node)
{
    bool any = share_is_leaf(t, node) ? t->nodes[node].offered : t->nodes[node].n_heap > 0;
    t->nodes[node].closed = false;
    if (any)
        put_in(t, node);
}

bool share_is_closed(const struct share_tree *t, uint32_t node)
{
    return t->nodes[node].closed;
}

bool share_is_offered(const struct share_tree *t, uint32_t leaf)
{
    return leaf < t->n && share_is_leaf(t, leaf) && t->nodes[leaf].offered;
}

void share_rank(struct share_tree *t, uint32_t node, int64_t rank, uint64_t turn)
{
    struct share_node *n = &t->nodes[node];
    if (n->rank == rank && n->turn == turn)
        return;
    n->rank = rank;
    n->turn = turn;
    share_reorder(t, node);
}

bool share_has_offer(const struct share_tree *t, uint32_t node)
{
    return t->nodes[node].place > 0;
}

const int64_t *share_running(const struct share_tree *t, uint32_t node)
{
    return share_vec(t, node, V_RUNNING);
}

int64_t share_set_time(struct share_tree *t, int64_t now)
{
    int64_t before = t->now;
    t->now = now;
    if (t->by_usage && now != before)
        t->epoch++;
    return before;
}

uint32_t share_next(struct share_tree *t, int64_t now)
{
    share_pass_time(t, now);
    share_update_deserved(t, SHARE_ROOT);
    return t->nodes[SHARE_ROOT].n_heap > 0 ? choose_leaf(t, SHARE_ROOT) : SHARE_NO_NODE;
}

/* Have the heaps of a node and of all above it be in order. */
static void put_path_in_order(struct share_tree *t, uint32_t node)
{
    if (node == SHARE_ROOT)
        share_update_deserved(t, node);
    else
        put_path_in_order(t, t->nodes[node].parent);
    put_in_order(t, node);
}

int share_compare(struct share_tree *t, uint32_t a, uint32_t b, int64_t now, enum share_by *by,
                  uint32_t *where)
{
    *by = SHARE_BY_END;
    if (a == b)
        return 0;
    share_pass_time(t, now);
    share_part_ways(t, &a, &b);
    uint32_t parent = t->nodes[a].parent;
    put_path_in_order(t, parent);
    if (where)
        *where = parent;
    return compare_children(t, &t->nodes[parent], a, b, by);
}

/* True if a heap that counts as in order is, with keys that are right. */
static bool heap_is_right(struct share_tree *t, uint32_t node)
{
    struct share_node *n = &t->nodes[node];
    for (uint32_t i = 0; i < n->n_heap; i++) {
        uint32_t child = n->heap[i];
        if (t->nodes[child].parent != node || t->nodes[child].place != i + 1)
            return false;
        if (n->seen != t->epoch)
            continue;
        struct share_node old = t->nodes[child];
        set_keys(t, n, child);
        const struct share_node *now = &t->nodes[child];
        if (old.deserves != now->deserves || old.usage_now != now->usage_now ||
            old.share.numerator != now->share.numerator ||
            old.share.denominator != now->share.denominator ||
            old.part.numerator != now->part.numerator || old.first.submit != now->first.submit ||
            old.first.priority != now->first.priority)
            return false;
        if (i > 0 && goes_before_child(t, n, child, n->heap[(i - 1) / 2]))
            return false;
    }
    return true;
}

bool share_order_check(struct share_tree *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const struct share_node *n = &t->nodes[i];
        uint32_t offered = 0;
        for (uint32_t j = 0; j < n->n_children; j++) {
            const struct share_node *child = &t->nodes[n->children[j]];
            offered += child->place > 0;
            bool any = child->n_children > 0 ? child->n_heap > 0 : child->offered;
            if ((child->place > 0) != (any && !child->closed))
                return false;
        }
        if (offered != n->n_heap || !heap_is_right(t, i))
            return false;
    }
    return share_first_check(t);
}
