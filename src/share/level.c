/* The level of a water filling, kept from one question to the next.
 *
 * Of a node's children, in a dimension, each is at its low end, at its high end or between them: open. Where the level
 * reaches an end of a child, at end / weight, the child passes from one to the other. Heaps have the next such levels in
 * both directions; so the level moves to where it has to be past those it passes only, at O(log f) for each.
 */
#include "share/tree_inner.h"

static struct share_end *end_of_child(const struct share_tree *t, uint32_t child, uint32_t d)
{
    return &t->ends[(uint64_t)child * t->dimensions + d];
}

uint32_t *share_edge(const struct share_node *n, uint32_t d, enum share_edge edge)
{
    return n->edges + ((uint64_t)d * EDGES + edge) * n->cap_children;
}

/* The end of a child that an edge of its group is about. */
static int64_t value(const struct share_tree *t, uint32_t child, uint32_t d, enum share_edge edge)
{
    const struct share_end *e = end_of_child(t, child, d);
    return edge == E_LIFT || edge == E_DROP ? e->low : e->high;
}

/* Whether the level comes by a child's end before another's, on its way up or down. */
static bool comes_by_before(const struct share_tree *t, uint32_t a, uint32_t b, uint32_t d,
                            enum share_edge edge)
{
    share_wide x = (share_wide)value(t, a, d, edge) * t->nodes[b].weight;
    share_wide y = (share_wide)value(t, b, d, edge) * t->nodes[a].weight;
    return edge == E_LIFT || edge == E_CLOSE ? x < y : x > y;
}

static uint32_t *place_of_end(const struct share_tree *t, uint32_t child, uint32_t d,
                              enum share_edge edge)
{
    return &end_of_child(t, child, d)->place[edge == E_DROP];
}

static void put_child_end(const struct share_tree *t, uint32_t *heap, uint32_t i, uint32_t child,
                          uint32_t d, enum share_edge edge)
{
    heap[i] = child;
    *place_of_end(t, child, d, edge) = i;
}

static uint32_t rise_end(const struct share_tree *t, uint32_t *heap, uint32_t i, uint32_t d,
                         enum share_edge edge)
{
    uint32_t child = heap[i];
    for (; i > 0 && comes_by_before(t, child, heap[(i - 1) / 2], d, edge); i = (i - 1) / 2)
        put_child_end(t, heap, i, heap[(i - 1) / 2], d, edge);
    put_child_end(t, heap, i, child, d, edge);
    return i;
}

static void sink_end(const struct share_tree *t, uint32_t *heap, uint32_t n, uint32_t i, uint32_t d,
                     enum share_edge edge)
{
    uint32_t child = heap[i];
    for (uint32_t next = 2 * i + 1; next < n; next = 2 * i + 1) {
        if (next + 1 < n && comes_by_before(t, heap[next + 1], heap[next], d, edge))
            next++;
        if (!comes_by_before(t, heap[next], child, d, edge))
            break;
        put_child_end(t, heap, i, heap[next], d, edge);
        i = next;
    }
    put_child_end(t, heap, i, child, d, edge);
}

/* The heaps that a group's children are in; EDGES: none more. */
static const enum share_edge edges_of[][2] = {[G_NONE] = {EDGES, EDGES},
                                              [G_FIXED] = {EDGES, EDGES},
                                              [G_LOW] = {E_LIFT, EDGES},
                                              [G_OPEN] = {E_DROP, E_CLOSE},
                                              [G_HIGH] = {E_REOPEN, EDGES}};

static void put_in(const struct share_tree *t, struct share_node *n, uint32_t child, uint32_t d,
                   enum share_edge edge)
{
    uint32_t *heap = share_edge(n, d, edge), last = n->filling[d].n[edge]++;
    put_child_end(t, heap, last, child, d, edge);
    rise_end(t, heap, last, d, edge);
}

static void take_out(const struct share_tree *t, struct share_node *n, uint32_t child, uint32_t d,
                     enum share_edge edge)
{
    uint32_t *heap = share_edge(n, d, edge), i = *place_of_end(t, child, d, edge);
    uint32_t last = --n->filling[d].n[edge];
    if (i == last)
        return;
    put_child_end(t, heap, i, heap[last], d, edge);
    sink_end(t, heap, last, rise_end(t, heap, i, d, edge), d, edge);
}

static void enter_group(const struct share_tree *t, struct share_node *n, uint32_t child,
                        uint32_t d, enum share_group group)
{
    struct share_filling *f = &n->filling[d];
    struct share_end *e = end_of_child(t, child, d);
    e->group = (uint8_t)group;
    if (group == G_OPEN) {
        f->weights += t->nodes[child].weight;
        f->moved = true;
    } else
        f->given += group == G_HIGH ? e->high : e->low;
    for (int i = 0; i < 2 && edges_of[group][i] != EDGES; i++)
        put_in(t, n, child, d, edges_of[group][i]);
}

static void leave_group(const struct share_tree *t, struct share_node *n, uint32_t child,
                        uint32_t d)
{
    struct share_filling *f = &n->filling[d];
    struct share_end *e = end_of_child(t, child, d);
    enum share_group group = (enum share_group)e->group;
    if (group == G_OPEN) {
        f->weights -= t->nodes[child].weight;
        f->moved = true;
    } else if (group != G_NONE)
        f->given -= group == G_HIGH ? e->high : e->low;
    for (int i = 0; i < 2 && edges_of[group][i] != EDGES; i++)
        take_out(t, n, child, d, edges_of[group][i]);
    e->group = G_NONE;
}

/* A child of a group has other ends, between which it stays there. */
static void stay(const struct share_tree *t, struct share_node *n, uint32_t child, uint32_t d,
                 int64_t low, int64_t high)
{
    struct share_filling *f = &n->filling[d];
    struct share_end *e = end_of_child(t, child, d);
    enum share_group group = (enum share_group)e->group;
    bool other[2] = {group == G_HIGH ? e->high != high : e->low != low, e->high != high};
    if (group != G_OPEN)
        f->given += group == G_HIGH ? high - e->high : low - e->low;
    e->low = low;
    e->high = high;
    for (int i = 0; i < 2 && edges_of[group][i] != EDGES; i++)
        if (other[i]) {
            enum share_edge edge = edges_of[group][i];
            uint32_t *heap = share_edge(n, d, edge), place = *place_of_end(t, child, d, edge);
            sink_end(t, heap, f->n[edge], rise_end(t, heap, place, d, edge), d, edge);
        }
}

void share_level_leave(struct share_tree *t, uint32_t child)
{
    struct share_node *n = &t->nodes[t->nodes[child].parent];
    for (uint32_t d = 0; d < t->dimensions; d++) {
        struct share_end *e = end_of_child(t, child, d);
        leave_group(t, n, child, d);
        n->filling[d].lows -= e->low;
        n->filling[d].highs -= e->high;
        e->low = e->high = 0;
    }
}

/* The group of a child that has these ends, by the level. */
static enum share_group group_of(const struct share_filling *f, int64_t low, int64_t high,
                                 int32_t weight)
{
    if (weight == 0 || low == high)
        return G_FIXED;
    share_wide part = (share_wide)weight * f->numerator;
    if (part <= (share_wide)low * f->denominator)
        return G_LOW;
    return part >= (share_wide)high * f->denominator ? G_HIGH : G_OPEN;
}

void share_level_enter(struct share_tree *t, uint32_t child, uint32_t d, int64_t low, int64_t high)
{
    struct share_node *n = &t->nodes[t->nodes[child].parent];
    struct share_filling *f = &n->filling[d];
    struct share_end *e = end_of_child(t, child, d);
    if (e->group != G_NONE && e->low == low && e->high == high)
        return;
    enum share_group group = group_of(f, low, high, t->nodes[child].weight);
    f->lows += low - e->low;
    f->highs += high - e->high;
    if (e->group == group) {
        stay(t, n, child, d, low, high);
        return;
    }
    leave_group(t, n, child, d);
    e->low = low;
    e->high = high;
    enter_group(t, n, child, d, group);
}

/* The next child whose end the level comes by: of the first in two heaps. */
static uint32_t next_of(const struct share_tree *t, const struct share_node *n, uint32_t d,
                        enum share_edge *edge, enum share_edge other)
{
    const struct share_filling *f = &n->filling[d];
    uint32_t a = f->n[*edge] > 0 ? share_edge(n, d, *edge)[0] : SHARE_NO_NODE;
    uint32_t b = f->n[other] > 0 ? share_edge(n, d, other)[0] : SHARE_NO_NODE;
    if (b == SHARE_NO_NODE)
        return a;
    if (a != SHARE_NO_NODE) {
        share_wide x = (share_wide)value(t, a, d, *edge) * t->nodes[b].weight;
        share_wide y = (share_wide)value(t, b, d, other) * t->nodes[a].weight;
        if (*edge == E_CLOSE ? x <= y : x >= y)
            return a;
    }
    *edge = other;
    return b;
}

static enum share_group beyond(enum share_edge edge)
{
    return edge == E_CLOSE ? G_HIGH : edge == E_DROP ? G_LOW : G_OPEN;
}

void share_level_move(struct share_tree *t, uint32_t node, uint32_t d, int64_t amount)
{
    struct share_node *n = &t->nodes[node];
    struct share_filling *f = &n->filling[d];
    share_wide rest = amount - f->given;
    bool up = rest * f->denominator >= (share_wide)f->weights * f->numerator;
    for (;;) {
        enum share_edge edge = up ? E_CLOSE : E_DROP;
        uint32_t next = next_of(t, n, d, &edge, up ? E_LIFT : E_REOPEN);
        if (next == SHARE_NO_NODE)
            break;
        int64_t end = value(t, next, d, edge), weight = t->nodes[next].weight;
        share_wide there = (share_wide)f->weights * end; /* what is given at its end */
        if (up ? rest * weight <= there : rest * weight >= there)
            break;
        leave_group(t, n, next, d);
        enter_group(t, n, next, d, beyond(edge));
        if (beyond(edge) != G_OPEN)
            share_give(t, next, d, end);
        f->numerator = end;
        f->denominator = weight;
        rest = amount - f->given;
    }
    if (f->weights > 0) {
        f->numerator = (int64_t)rest;
        f->denominator = f->weights;
    }
    f->moved |= rest != f->rest;
    f->rest = (int64_t)rest;
}

/* True if a heap is in order and has as many children as are in its groups. */
static bool edge_is_right(const struct share_tree *t, const struct share_node *n, uint32_t d,
                          enum share_edge edge)
{
    static const enum share_group of[EDGES] = {G_LOW, G_OPEN, G_OPEN, G_HIGH};
    const uint32_t *heap = share_edge(n, d, edge);
    uint32_t members = 0;
    for (uint32_t i = 0; i < n->n_children; i++)
        members += end_of_child(t, n->children[i], d)->group == of[edge];
    for (uint32_t i = 0; i < n->filling[d].n[edge]; i++)
        if (end_of_child(t, heap[i], d)->group != of[edge] ||
            *place_of_end(t, heap[i], d, edge) != i ||
            (i > 0 && comes_by_before(t, heap[i], heap[(i - 1) / 2], d, edge)))
            return false;
    return members == n->filling[d].n[edge];
}

bool share_level_check(const struct share_tree *t, uint32_t node)
{
    const struct share_node *n = &t->nodes[node];
    for (uint32_t d = 0; d < t->dimensions; d++) {
        const struct share_filling *f = &n->filling[d];
        int64_t lows = 0, highs = 0, given = 0, weights = 0;
        for (uint32_t i = 0; i < n->n_children; i++) {
            const struct share_end *e = end_of_child(t, n->children[i], d);
            enum share_group group = group_of(f, e->low, e->high, t->nodes[n->children[i]].weight);
            lows += e->low;
            highs += e->high;
            given += e->group == G_OPEN ? 0 : e->group == G_HIGH ? e->high : e->low;
            weights += e->group == G_OPEN ? t->nodes[n->children[i]].weight : 0;
            /* At an end exactly it may count as open. */
            share_wide part = (share_wide)t->nodes[n->children[i]].weight * f->numerator;
            bool at_end = part == (share_wide)e->low * f->denominator ||
                          part == (share_wide)e->high * f->denominator;
            if (e->group != group && !(e->group == G_OPEN && at_end))
                return false;
        }
        for (enum share_edge edge = 0; edge < EDGES; edge++)
            if (!edge_is_right(t, n, d, edge))
                return false;
        if (lows != f->lows || highs != f->highs || given != f->given || weights != f->weights)
            return false;
    }
    return true;
}
