/* Who may take, and who may lose: one test of what is deserved for both. */
#include <stddef.h>

#include "base/number.h"
#include "share/tree_inner.h"

void share_part_ways(const struct share_tree *t, uint32_t *a, uint32_t *b)
{
    while (t->nodes[*a].depth > t->nodes[*b].depth)
        *a = t->nodes[*a].parent;
    while (t->nodes[*b].depth > t->nodes[*a].depth)
        *b = t->nodes[*b].parent;
    while (t->nodes[*a].parent != t->nodes[*b].parent) {
        *a = t->nodes[*a].parent;
        *b = t->nodes[*b].parent;
    }
}

uint32_t share_common_depth(const struct share_tree *t, uint32_t a, uint32_t b)
{
    share_part_ways(t, &a, &b);
    return t->nodes[a].depth > 0 ? t->nodes[a].depth - 1 : 0;
}

/* Room of all nodes: a parent comes before its children. */
static void update_rooms(struct share_tree *t)
{
    for (uint32_t d = 0; d < t->dimensions; d++)
        share_vec(t, SHARE_ROOT, V_ROOM)[d] = SHARE_UNLIMITED;
    for (uint32_t i = 0; i < t->n; i++)
        for (uint32_t d = 0; d < t->dimensions; d++) {
            const struct share_node *n = &t->nodes[i];
            int64_t kept = 0;
            for (uint32_t j = 0; j < n->n_children; j++)
                if (t->nodes[n->children[j]].keeps_guarantee)
                    kept += share_vec(t, n->children[j], V_GUARANTEE)[d];
            int64_t room = share_vec(t, i, V_ROOM)[d];
            for (uint32_t j = 0; j < n->n_children; j++) {
                uint32_t child = n->children[j];
                int64_t others = kept;
                if (t->nodes[child].keeps_guarantee)
                    others -= share_vec(t, child, V_GUARANTEE)[d];
                int64_t left = others > 0 ? lesser(room, t->total[d]) - others : room;
                left = left < 0 ? 0 : left;
                share_vec(t, child, V_ROOM)[d] = lesser(share_vec(t, child, V_CAPABILITY)[d], left);
            }
        }
    t->rooms_stale = false;
}

void share_room(struct share_tree *t, uint32_t node, int64_t *room)
{
    if (t->rooms_stale)
        update_rooms(t);
    for (uint32_t d = 0; d < t->dimensions; d++)
        room[d] = share_vec(t, node, V_ROOM)[d];
}

bool share_allows(struct share_tree *t, uint32_t leaf, const int64_t *amount)
{
    if (t->rooms_stale)
        update_rooms(t);
    for (uint32_t i = leaf; i != SHARE_ROOT; i = t->nodes[i].parent) {
        const int64_t *room = share_vec(t, i, V_ROOM);
        const int64_t *received = share_vec(t, i, V_RECEIVED);
        for (uint32_t d = 0; d < t->dimensions; d++)
            if (amount[d] > 0 && received[d] > room[d] - amount[d])
                return false;
    }
    return true;
}

/* What a node has received and keeps. */
static int64_t kept(const struct share_tree *t, uint32_t node, uint32_t d, const int64_t *gone)
{
    int64_t received = share_vec(t, node, V_RECEIVED)[d];
    return gone ? received - gone[(size_t)node * t->dimensions + d] : received;
}

/* True if a node and those above it, up to the children of one, deserve this besides what they have. */
static bool deserves_up_to(const struct share_tree *t, uint32_t node, uint32_t end,
                           const int64_t *amount, const int64_t *gone)
{
    for (uint32_t i = node; i != end; i = t->nodes[i].parent) {
        const int64_t *deserved = share_vec(t, i, V_DESERVED);
        for (uint32_t d = 0; d < t->dimensions; d++)
            if (amount[d] > 0 && kept(t, i, d, gone) + amount[d] > deserved[d])
                return false;
    }
    return true;
}

bool share_is_entitled(struct share_tree *t, uint32_t leaf, const int64_t *amount)
{
    share_update_deserved(t, leaf);
    return deserves_up_to(t, leaf, SHARE_ROOT, amount, NULL);
}

/* True if a node and those above it have more of a dimension than they deserve. */
static bool over_up_to(const struct share_tree *t, uint32_t node, uint32_t end, uint32_t d,
                       const int64_t *gone)
{
    for (uint32_t i = node; i != end; i = t->nodes[i].parent)
        if (kept(t, i, d, gone) <= share_vec(t, i, V_DESERVED)[d])
            return false;
    return true;
}

/* True if a node and those above it keep what they are guaranteed. */
static bool keeps_guarantees(const struct share_tree *t, uint32_t node, uint32_t end,
                             const int64_t *given, const int64_t *gone)
{
    for (uint32_t i = node; i != end; i = t->nodes[i].parent) {
        const int64_t *guarantee = share_vec(t, i, V_GUARANTEE);
        for (uint32_t d = 0; d < t->dimensions; d++)
            if (given[d] > 0 && kept(t, i, d, gone) - given[d] < guarantee[d])
                return false;
    }
    return true;
}

bool share_may_give(struct share_tree *t, uint32_t taker, const int64_t *amount, uint32_t giver,
                    const int64_t *gone)
{
    if (taker == giver)
        return false;
    uint32_t a = taker, b = giver;
    share_part_ways(t, &a, &b);
    share_update_deserved(t, giver);
    for (uint32_t d = 0; d < t->dimensions; d++)
        if (amount[d] > 0 && over_up_to(t, giver, t->nodes[b].parent, d, gone))
            return true;
    return false;
}

bool share_may_reclaim(struct share_tree *t, uint32_t taker, const int64_t *amount, uint32_t giver,
                       const int64_t *given, const int64_t *gone)
{
    if (taker == giver)
        return false;
    uint32_t a = taker, b = giver;
    share_part_ways(t, &a, &b);
    uint32_t end = t->nodes[a].parent;
    share_update_deserved(t, taker);
    share_update_deserved(t, giver);
    int64_t taken[SHARE_DIMENSIONS_MAX];
    for (uint32_t d = 0; d < t->dimensions; d++)
        taken[d] = given[d] > 0 ? amount[d] : 0;
    if (!deserves_up_to(t, taker, end, taken, gone) ||
        !keeps_guarantees(t, giver, end, given, gone))
        return false;
    for (uint32_t d = 0; d < t->dimensions; d++)
        if (amount[d] > 0 && given[d] > 0 && over_up_to(t, giver, end, d, gone))
            return true;
    return false;
}

/* The part of what there is that a node would have with so much more (`sign` -1: less), where that is largest. */
struct part {
    share_wide numerator, denominator;
};

static struct part part_with(const struct share_tree *t, uint32_t node, const int64_t *more,
                             int64_t sign, const int64_t *gone)
{
    struct part part = {0, 1};
    for (uint32_t d = 0; d < t->dimensions; d++) {
        int64_t has = kept(t, node, d, gone) + sign * more[d];
        if (t->total[d] > 0 && has > 0 &&
            share_fraction_compare(has, t->total[d], part.numerator, part.denominator) > 0)
            part = (struct part){has, t->total[d]};
    }
    return part;
}

/* Less than 0 if the first part is less than the other one, over the weights of their nodes. */
static int compare_parts(const struct share_node *a, struct part x, const struct share_node *b,
                         struct part y)
{
    if (a->weight <= 0 || b->weight <= 0)
        return (a->weight <= 0) - (b->weight <= 0);
    return share_fraction_compare(x.numerator, x.denominator * a->weight, y.numerator,
                                  y.denominator * b->weight);
}

bool share_may_even_out(const struct share_tree *t, uint32_t taker, const int64_t *amount,
                        uint32_t giver, const int64_t *given, const int64_t *gone)
{
    if (taker == giver)
        return false;
    uint32_t a = taker, b = giver;
    share_part_ways(t, &a, &b);
    const struct share_node *x = &t->nodes[a], *y = &t->nodes[b];
    return compare_parts(x, part_with(t, a, amount, 0, gone), y, part_with(t, b, given, 0, gone)) <
               0 &&
           compare_parts(x, part_with(t, a, amount, 1, gone), y,
                         part_with(t, b, given, -1, gone)) <= 0 &&
           keeps_guarantees(t, giver, t->nodes[a].parent, given, gone);
}
