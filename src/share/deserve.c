/* What nodes deserve: weighted water filling.
 *
 * In each dimension on its own, a child is given clamp(weight * level, low, high): low is what is guaranteed
 * of what it asks for, high what it asks for, and the level is the one at which all parts add up to what
 * their parent deserves, or to all that is asked for where that is less. With guarantees that add up to more
 * than there is, each is given in proportion to its guarantee.
 *
 * The level is a fraction: what is left for the children on neither end over the sum of their weights. It is
 * found in rounds. In each, children that the level of the round puts below their low end are given that, or
 * those that it puts above their high end are given that, whichever sum is larger: that sum says on which
 * side of the level the true one lies, so these are at that end in the end too (Bitran and Hax 1981; the
 * flexible boxes of CSS are filled so). A round is O(children); each gives its end to one child at least,
 * mostly to many: of thousands, a handful of rounds is left.
 *
 * Exact to the unit: of the children on neither end, in their order, the i-th is given what the first i
 * deserve, rounded down, less what the first i - 1 do. So the parts add up, and as both ends are whole
 * numbers no part leaves them.
 */
#include <string.h>

#include "share/tree_inner.h"

/* Parts in proportion to the low ends, which are more than there is. */
static void scale_down(struct share_part *v, uint32_t n, int64_t amount, int64_t lows)
{
    share_wide before = 0;
    int64_t given = 0;
    for (uint32_t i = 0; i < n; i++) {
        before += v[i].low;
        int64_t upto = lows > 0 ? (int64_t)(before * amount / lows) : 0;
        v[i].part = upto - given;
        given = upto;
    }
}

/* Those that are between their ends, in order, of which there are n. Their parts add up to amount. */
static void spread(struct share_part *v, const uint32_t *open, uint32_t n, int64_t amount,
                   int64_t weights)
{
    share_wide before = 0;
    int64_t given = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct share_part *p = &v[open[i]];
        before += p->weight;
        int64_t upto = (int64_t)(before * amount / weights);
        p->part = upto - given;
        given = upto;
    }
}

/* Fill up from the low ends to the high ones, with an amount that is at least the sum of the low ends. */
static void fill_up(struct share_part *v, uint32_t n, int64_t amount, uint32_t *open)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++) {
        v[i].part = v[i].low;
        if (v[i].weight > 0 && v[i].low < v[i].high)
            open[left++] = i;
        else
            amount -= v[i].low;
    }
    while (left > 0) {
        int64_t weights = 0;
        for (uint32_t i = 0; i < left; i++)
            weights += v[open[i]].weight;
        share_wide under = 0, over = 0; /* in parts of a unit, so many as the weights add up to */
        for (uint32_t i = 0; i < left; i++) {
            const struct share_part *p = &v[open[i]];
            share_wide part = (share_wide)p->weight * amount;
            share_wide low = (share_wide)p->low * weights, high = (share_wide)p->high * weights;
            if (part < low)
                under += low - part;
            else if (part > high)
                over += part - high;
        }
        if (under == 0 && over == 0) {
            spread(v, open, left, amount, weights);
            return;
        }
        uint32_t kept = 0;
        int64_t given = 0;
        for (uint32_t i = 0; i < left; i++) {
            struct share_part *p = &v[open[i]];
            share_wide part = (share_wide)p->weight * amount;
            if (under >= over && part <= (share_wide)p->low * weights)
                p->part = p->low;
            else if (over >= under && part >= (share_wide)p->high * weights)
                p->part = p->high;
            else {
                open[kept++] = open[i];
                continue;
            }
            given += p->part;
        }
        left = kept;
        amount -= given;
    }
}

/* Divide what a node deserves in a dimension among its children. */
static void divide(struct share_tree *t, uint32_t node, uint32_t d)
{
    const struct share_node *n = &t->nodes[node];
    int64_t there_is = share_vec(t, node, V_DESERVED)[d];
    int64_t lows = 0, highs = 0;
    for (uint32_t i = 0; i < n->n_children; i++) {
        uint32_t child = n->children[i];
        struct share_part *p = &t->fill[i];
        int64_t guarantee = share_vec(t, child, V_GUARANTEE)[d];
        int64_t configured = share_vec(t, child, V_CONFIGURED)[d];
        int64_t asks = share_vec(t, child, V_ASKS)[d];
        *p = (struct share_part){.low = guarantee < asks ? guarantee : asks,
                                 .high = asks,
                                 .weight = t->nodes[child].weight};
        if (configured != SHARE_UNSET) {
            p->low = p->low < configured ? configured : p->low;
            p->low = p->low < asks ? p->low : asks;
            p->high = p->low;
        }
        lows += p->low;
        highs += p->high;
    }
    int64_t amount = there_is < highs ? there_is : highs;
    if (amount <= lows)
        scale_down(t->fill, n->n_children, amount, lows);
    else
        fill_up(t->fill, n->n_children, amount, t->open);
    for (uint32_t i = 0; i < n->n_children; i++) {
        uint32_t child = n->children[i];
        int64_t part = t->fill[i].part;
        int64_t configured = share_vec(t, child, V_CONFIGURED)[d];
        /* What is configured is deserved even while it is not asked for: others may have it meanwhile. */
        if (configured != SHARE_UNSET && part == t->fill[i].high) {
            int64_t guarantee = share_vec(t, child, V_GUARANTEE)[d];
            int64_t capability = share_vec(t, child, V_CAPABILITY)[d];
            configured = configured < guarantee ? guarantee : configured;
            configured = configured < capability ? configured : capability;
            configured = configured < there_is ? configured : there_is;
            part = part < configured ? configured : part;
        }
        share_vec(t, child, V_DESERVED)[d] = part;
    }
}

void share_update_parts(struct share_tree *t, uint32_t node)
{
    struct share_node *n = &t->nodes[node];
    const int64_t *deserved = share_vec(t, node, V_DESERVED);
    int64_t *from = share_vec(t, node, V_PARTS_FROM);
    for (uint32_t d = 0; d < t->dimensions; d++)
        if (n->parts_stale || from[d] != deserved[d]) {
            divide(t, node, d);
            from[d] = deserved[d];
        }
    n->parts_stale = false;
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
