/* The first job that waits below a node, whether or not its leaf is offered. Each inner node has a heap of the
 * children below which one waits; so a change costs O(log f) on each level that it reaches.
 */
#include <stddef.h>

#include "share/tree_inner.h"

bool share_first_before(const struct share_first *a, const struct share_first *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->deadline != b->deadline ? a->deadline < b->deadline : a->submit < b->submit;
}

static bool before(const struct share_tree *t, uint32_t a, uint32_t b)
{
    return share_first_before(&t->nodes[a].waits, &t->nodes[b].waits);
}

static void put(struct share_tree *t, struct share_node *n, uint32_t i, uint32_t child)
{
    n->waiters[i] = child;
    t->nodes[child].waiter = i + 1;
}

static uint32_t rise(struct share_tree *t, struct share_node *n, uint32_t i)
{
    uint32_t child = n->waiters[i];
    for (; i > 0 && before(t, child, n->waiters[(i - 1) / 2]); i = (i - 1) / 2)
        put(t, n, i, n->waiters[(i - 1) / 2]);
    put(t, n, i, child);
    return i;
}

static void sink(struct share_tree *t, struct share_node *n, uint32_t i)
{
    uint32_t child = n->waiters[i];
    for (uint32_t next = 2 * i + 1; next < n->n_waiters; next = 2 * i + 1) {
        if (next + 1 < n->n_waiters && before(t, n->waiters[next + 1], n->waiters[next]))
            next++;
        if (!before(t, n->waiters[next], child))
            break;
        put(t, n, i, n->waiters[next]);
        i = next;
    }
    put(t, n, i, child);
}

/* A child has another first job, or (NULL) none. */
static void change(struct share_tree *t, struct share_node *n, uint32_t child,
                   const struct share_first *first)
{
    uint32_t i = t->nodes[child].waiter;
    if (!first && i == 0)
        return;
    if (first) {
        t->nodes[child].waits = *first;
        if (i == 0)
            put(t, n, i = n->n_waiters++, child);
        else
            i--;
        sink(t, n, rise(t, n, i));
        return;
    }
    uint32_t last = n->waiters[--n->n_waiters];
    t->nodes[child].waiter = 0;
    if (last == child)
        return;
    put(t, n, i - 1, last);
    sink(t, n, rise(t, n, i - 1));
}

void share_wait(struct share_tree *t, uint32_t leaf, const struct share_first *first)
{
    t->by_first = true;
    for (uint32_t i = leaf; i != SHARE_ROOT; i = t->nodes[i].parent) {
        struct share_node *parent = &t->nodes[t->nodes[i].parent];
        uint32_t was = parent->n_waiters > 0 ? parent->waiters[0] : SHARE_NO_NODE;
        change(t, parent, i, first);
        uint32_t is = parent->n_waiters > 0 ? parent->waiters[0] : SHARE_NO_NODE;
        if (was == is && is != i)
            break; /* those above stand for another job */
        first = is == SHARE_NO_NODE ? NULL : &t->nodes[is].waits;
    }
    share_reorder(t, leaf);
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
                (k > 0 && before(t, n->waiters[k], n->waiters[(k - 1) / 2])))
                return false;
    }
    return true;
}
