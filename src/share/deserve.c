/* What nodes deserve: weighted water filling.
 *
 * In each dimension on its own, a child is given clamp(weight * level, low, high): low is what is guaranteed
 * of what it asks for, high what it asks for, and the level is the one at which all parts add up to what
 * their parent deserves, or to all that is asked for where that is less. With guarantees that add up to more
 * than there is, each is given in proportion to its guarantee.
 *
 * The level is a fraction: what is left for the children on neither end over the sum of their weights. It is kept, and
 * moves with what children ask for and what there is (level.c); so what is worked out again is what those deserve that
 * ask for another amount, whose end the level passes, or that are between their ends.
 *
 * Exact to the unit: of the children on neither end, in their order, the i-th is given what the first i
 * deserve, rounded down, less what the first i - 1 do. So the parts add up, and as both ends are whole
 * numbers no part leaves them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "share/tree_inner.h"

/* What a child is given of what there is in a dimension, or more where more is configured and not asked for: what is
 * configured is deserved even while it is not asked for, and others may have it meanwhile.
 */
void share_give(struct share_tree *t, uint32_t child, uint32_t d, int64_t part)
{
    int64_t configured = share_vec(t, child, V_CONFIGURED)[d];
    int64_t *deserved = share_vec(t, child, V_DESERVED);
    if (configured != SHARE_UNSET && part == t->ends[(uint64_t)child * t->dimensions + d].high) {
        int64_t guarantee = share_vec(t, child, V_GUARANTEE)[d];
        int64_t capability = share_vec(t, child, V_CAPABILITY)[d];
        int64_t there_is = share_vec(t, t->nodes[child].parent, V_DESERVED)[d];
        configured = configured < guarantee ? guarantee : configured;
        configured = configured < capability ? configured : capability;
        configured = configured < there_is ? configured : there_is;
        part = part < configured ? configured : part;
    }
    if (deserved[d] == part)
        return;
    deserved[d] = part;
    if (t->by_share)
        share_reorder_child(t, child);
}

/* The ends of what a child may be given. */
static void ends(const struct share_tree *t, uint32_t child, uint32_t d, int64_t *low,
                 int64_t *high)
{
    int64_t guarantee = share_vec(t, child, V_GUARANTEE)[d];
    int64_t configured = share_vec(t, child, V_CONFIGURED)[d];
    int64_t asks = share_vec(t, child, V_ASKS)[d];
    *low = guarantee;
    if (configured != SHARE_UNSET && configured > guarantee)
        *low = configured;
    *low = *low < asks ? *low : asks;
    *high = configured == SHARE_UNSET ? asks : *low;
}

/* Give a child that is on an end what that is. */
static void give_end(struct share_tree *t, uint32_t child, uint32_t d)
{
    const struct share_end *e = &t->ends[(uint64_t)child * t->dimensions + d];
    if (e->group != G_OPEN)
        share_give(t, child, d, e->group == G_HIGH ? e->high : e->low);
}

/* Parts in proportion to the low ends, which are more than there is. */
static void scale_down(struct share_tree *t, const struct share_node *n, uint32_t d, int64_t amount)
{
    share_wide before = 0;
    int64_t given = 0, lows = n->filling[d].lows;
    for (uint32_t i = 0; i < n->n_children; i++) {
        before += t->ends[(uint64_t)n->children[i] * t->dimensions + d].low;
        int64_t upto = (int64_t)(before * amount / lows);
        share_give(t, n->children[i], d, upto - given);
        given = upto;
    }
}

/* Divide what is left among the children that are between their ends, in their order. */
static void spread(struct share_tree *t, struct share_node *n, uint32_t d)
{
    const struct share_filling *f = &n->filling[d];
    const uint32_t *among = n->children;
    uint32_t open = f->n[E_CLOSE], count = n->n_children;
    if (open < count / 16) { /* few of many: they alone are looked at */
        memcpy(t->open, share_edge(n, d, E_CLOSE), open * sizeof(*t->open));
        qsort(t->open, open, sizeof(*t->open), compare_u32);
        among = t->open;
        count = open;
    }
    if (open > n->n_heap / 8)
        n->seen = 0; /* to put its heap in order costs less than to move each */
    share_wide before = 0;
    int64_t given = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (t->ends[(uint64_t)among[i] * t->dimensions + d].group != G_OPEN)
            continue;
        before += t->nodes[among[i]].weight;
        int64_t upto = (int64_t)(before * f->rest / f->weights);
        share_give(t, among[i], d, upto - given);
        given = upto;
    }
}

/* Whether what there is for a node bounds, or has bounded, what is configured for some child to deserve. */
static bool bounds_configured(const struct share_filling *f, int64_t there_is, int64_t from)
{
    return there_is != from && f->configured > (there_is < from ? there_is : from);
}

/* Divide what a node deserves in a dimension among its children, of which some may ask for another amount. */
static void divide(struct share_tree *t, uint32_t node, uint32_t d)
{
    struct share_node *n = &t->nodes[node];
    struct share_filling *f = &n->filling[d];
    int64_t there_is = share_vec(t, node, V_DESERVED)[d];
    for (uint32_t i = n->changed; i != SHARE_NO_NODE; i = t->nodes[i].next_changed) {
        int64_t low, high;
        ends(t, i, d, &low, &high);
        share_level_enter(t, i, d, low, high);
        give_end(t, i, d);
    }
    int64_t amount = there_is < f->highs ? there_is : f->highs;
    share_level_move(t, node, d, amount < f->lows ? f->lows : amount);
    bool all = f->scaled || bounds_configured(f, there_is, share_vec(t, node, V_PARTS_FROM)[d]);
    f->scaled = amount < f->lows;
    if (f->scaled) {
        scale_down(t, n, d, amount);
        return;
    }
    for (uint32_t i = 0; all && i < n->n_children; i++)
        give_end(t, n->children[i], d);
    if (f->weights > 0 && (f->moved || all))
        spread(t, n, d);
    f->moved = false;
}

void share_update_parts(struct share_tree *t, uint32_t node)
{
    struct share_node *n = &t->nodes[node];
    const int64_t *deserved = share_vec(t, node, V_DESERVED);
    int64_t *from = share_vec(t, node, V_PARTS_FROM);
    for (uint32_t d = 0; d < t->dimensions && n->n_children > 0; d++)
        if (n->changed != SHARE_NO_NODE || from[d] != deserved[d]) {
            divide(t, node, d);
            from[d] = deserved[d];
        }
    while (n->changed != SHARE_NO_NODE) {
        struct share_node *child = &t->nodes[n->changed];
        n->changed = child->next_changed;
        child->is_changed = false;
    }
}

void share_update_deserved(struct share_tree *t, uint32_t node)
{
    uint32_t parent = t->nodes[node].parent;
    if (parent == SHARE_NO_NODE) {
        memcpy(share_vec(t, node, V_DESERVED), t->total, t->dimensions * sizeof(int64_t));
        return;
    }
    share_update_deserved(t, parent);
    share_update_parts(t, parent);
}

/* True if open children are given what is left, in their order, and others what their end is. */
static bool parts_are_right(const struct share_tree *t, const struct share_node *n, uint32_t d)
{
    const struct share_filling *f = &n->filling[d];
    share_wide before = 0;
    int64_t given = 0;
    for (uint32_t i = 0; i < n->n_children; i++) {
        const struct share_end *e = &t->ends[(uint64_t)n->children[i] * t->dimensions + d];
        int64_t low, high, part = e->group == G_HIGH ? e->high : e->low;
        ends(t, n->children[i], d, &low, &high);
        if (e->group == G_OPEN) {
            before += t->nodes[n->children[i]].weight;
            int64_t upto = (int64_t)(before * f->rest / f->weights);
            part = upto - given;
            given = upto;
        }
        bool configured = share_vec(t, n->children[i], V_CONFIGURED)[d] != SHARE_UNSET;
        int64_t deserved = share_vec(t, n->children[i], V_DESERVED)[d];
        if (e->low != low || e->high != high || (configured ? deserved < part : deserved != part))
            return false;
    }
    return true;
}

bool share_parts_check(struct share_tree *t, uint32_t node)
{
    const struct share_node *n = &t->nodes[node];
    share_update_parts(t, node);
    for (uint32_t d = 0; d < t->dimensions && n->n_children > 0; d++) {
        const struct share_filling *f = &n->filling[d];
        int64_t there_is = share_vec(t, node, V_DESERVED)[d];
        int64_t amount = there_is < f->highs ? there_is : f->highs;
        if (f->scaled != (amount < f->lows) || (!f->scaled && !parts_are_right(t, n, d)) ||
            (!f->scaled && f->weights > 0 && f->rest + f->given != amount) ||
            (!f->scaled && f->weights == 0 && f->given > amount))
            return false;
    }
    return n->n_children == 0 || share_level_check(t, node);
}
