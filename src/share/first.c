/* The first job that waits below a node, whether or not its leaf is offered. Each inner node has a heap of the
 * children below which one waits; so a change costs O(log f) on each level that it reaches.
 */
#include <stddef.h>
#include <string.h>

#include "share/tree_inner.h"

/* Less than 0: the first of two jobs comes first by that; 0 also where it is SHARE_BY_END. */
static int compare_first(enum share_by by, const struct share_first *x, const struct share_first *y)
{
    if (by == SHARE_BY_GANG)
        return (int)x->has_min - (int)y->has_min;
    if (by == SHARE_BY_JOB_PRIORITY)
        return (x->priority < y->priority) - (x->priority > y->priority);
    return by == SHARE_BY_DEADLINE ? (x->deadline > y->deadline) - (x->deadline < y->deadline) : 0;
}

/* Which of two children of a node has the first job: by what the node lists, of equals by number. */
static bool waits_before(const struct share_tree *t, const struct share_node *n, uint32_t a,
                         uint32_t b)
{
    const struct share_first *x = &t->nodes[a].waits, *y = &t->nodes[b].waits;
    for (int i = 0; i < FIRST_BY; i++) {
        int c = compare_first(n->first_by[i], x, y);
        if (c != 0)
            return c < 0;
    }
    return x->submit < y->submit;
}

static void put_waiter(struct share_tree *t, struct share_node *n, uint32_t i, uint32_t child)
{
    n->waiters[i] = child;
    t->nodes[child].waiter = i + 1;
}

static uint32_t rise_waiter(struct share_tree *t, struct share_node *n, uint32_t i)
{
    uint32_t child = n->waiters[i];
    for (; i > 0 && waits_before(t, n, child, n->waiters[(i - 1) / 2]); i = (i - 1) / 2)
        put_waiter(t, n, i, n->waiters[(i - 1) / 2]);
    put_waiter(t, n, i, child);
    return i;
}

static void sink_waiter(struct share_tree *t, struct share_node *n, uint32_t i)
{
    uint32_t child = n->waiters[i];
    for (uint32_t next = 2 * i + 1; next < n->n_waiters; next = 2 * i + 1) {
        if (next + 1 < n->n_waiters && waits_before(t, n, n->waiters[next + 1], n->waiters[next]))
            next++;
        if (!waits_before(t, n, n->waiters[next], child))
            break;
        put_waiter(t, n, i, n->waiters[next]);
        i = next;
    }
    put_waiter(t, n, i, child);
}

/* A child has another first job, or (NULL) none. */
static void change_first(struct share_tree *t, struct share_node *n, uint32_t child,
                         const struct share_first *first)
{
    uint32_t i = t->nodes[child].waiter;
    if (!first && i == 0)
        return;
    if (first) {
        t->nodes[child].waits = *first;
        if (i == 0)
            put_waiter(t, n, i = n->n_waiters++, child);
        else
            i--;
        sink_waiter(t, n, rise_waiter(t, n, i));
        return;
    }
    uint32_t last = n->waiters[--n->n_waiters];
    t->nodes[child].waiter = 0;
    if (last == child)
        return;
    put_waiter(t, n, i - 1, last);
    sink_waiter(t, n, rise_waiter(t, n, i - 1));
}

static uint32_t first_child(const struct share_node *n)
{
    return n->n_waiters > 0 ? n->waiters[0] : SHARE_NO_NODE;
}

/* A node has another first job, or (NULL) none: tell those above it. */
static void tell_those_above(struct share_tree *t, uint32_t node, const struct share_first *first)
{
    for (uint32_t i = node; i != SHARE_ROOT; i = t->nodes[i].parent) {
        struct share_node *parent = &t->nodes[t->nodes[i].parent];
        uint32_t was = first_child(parent);
        change_first(t, parent, i, first);
        uint32_t is = first_child(parent);
        if (was == is && is != i)
            break; /* those above stand for another job */
        first = is == SHARE_NO_NODE ? NULL : &t->nodes[is].waits;
    }
}

void share_wait(struct share_tree *t, uint32_t leaf, const struct share_first *first)
{
    t->by_first = true;
    tell_those_above(t, leaf, first);
    share_reorder(t, leaf);
}

/* Add what comes next, unless it is there. */
static void add_by(uint8_t first_by[FIRST_BY], enum share_by by)
{
    int i = 0;
    while (i < FIRST_BY && first_by[i] != SHARE_BY_END && first_by[i] != by)
        i++;
    if (i < FIRST_BY)
        first_by[i] = (uint8_t)by;
}

void share_first_by(struct share_tree *t, uint32_t node)
{
    struct share_node *n = &t->nodes[node];
    uint8_t first_by[FIRST_BY] = {SHARE_BY_END};
    for (uint32_t i = 0; i < SHARE_BY_MAX && n->by[i] != SHARE_BY_END; i++)
        if (n->by[i] == SHARE_BY_GANG || n->by[i] == SHARE_BY_JOB_PRIORITY ||
            n->by[i] == SHARE_BY_DEADLINE)
            add_by(first_by, n->by[i]);
    add_by(first_by, SHARE_BY_JOB_PRIORITY);
    add_by(first_by, SHARE_BY_DEADLINE);
    if (memcmp(first_by, n->first_by, sizeof(first_by)) == 0)
        return;
    memcpy(n->first_by, first_by, sizeof(first_by));
    for (uint32_t i = n->n_waiters / 2; i-- > 0;)
        sink_waiter(t, n, i);
    if (n->n_waiters > 0)
        tell_those_above(t, node, &t->nodes[n->waiters[0]].waits);
}

uint32_t share_first_below(const struct share_tree *t, uint32_t node)
{
    while (node != SHARE_NO_NODE && !share_is_leaf(t, node))
        node = first_child(&t->nodes[node]);
    return node != SHARE_NO_NODE && t->nodes[node].waiter > 0 ? node : SHARE_NO_NODE;
}

bool share_first_check(const struct share_tree *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const struct share_node *n = &t->nodes[i];
        uint32_t waiting = 0;
        for (uint32_t k = 0; k < n->n_children; k++) {
            const struct share_node *child = &t->nodes[n->children[k]];
            waiting += child->waiter > 0;
            if (child->n_children > 0 && (child->waiter > 0) != (child->n_waiters > 0))
                return false;
            if (child->n_children > 0 && child->waiter > 0 &&
                child->waits.submit != t->nodes[child->waiters[0]].waits.submit)
                return false;
        }
        if (waiting != n->n_waiters)
            return false;
        for (uint32_t k = 0; k < n->n_waiters; k++)
            if (t->nodes[n->waiters[k]].waiter != k + 1 ||
                (k > 0 && waits_before(t, n, n->waiters[k], n->waiters[(k - 1) / 2])))
                return false;
    }
    return true;
}
