/* What changes for capacities when what is taken of nodes does (capacity.h). */
#include <stdlib.h>
#include <string.h>

#include "place/graph/capacity.h"

static const struct plan_usage idle;

/* What a node has of what a capacity's pieces need: the same for all that are alike. */
static const struct capacity_has *capacity_has_in(const struct graph_place *n, struct capacity *h,
                                                  const struct node_row *row)
{
    if (!h->has_known || h->has_alike != row->alike)
        h->has = capacity_has_of(n, h, row->vertex);
    h->has_known = true;
    h->has_alike = row->alike;
    return &h->has;
}

static bool has_gap(const struct gap *gap, uint32_t n, const struct gap *x)
{
    for (uint32_t i = 0; i < n; i++)
        if (gap[i].from == x->from && gap[i].until == x->until && gap[i].pieces == x->pieces)
            return true;
    return false;
}

static void find_differences(struct capacity_change *x)
{
    x->n_differ = 0;
    for (uint32_t i = 0; i < x->n_was; i++)
        if (!has_gap(x->is, x->n_is, &x->was[i])) {
            x->differ[x->n_differ] = x->was[i];
            x->differ[x->n_differ++].pieces *= -1;
        }
    for (uint32_t i = 0; i < x->n_is; i++)
        if (!has_gap(x->was, x->n_was, &x->is[i]))
            x->differ[x->n_differ++] = x->is[i];
}

/* What changes for pieces that need so much; false: nothing. */
static bool compare_rooms(const struct capacity_has *has, const struct change *c,
                          struct capacity_change *x)
{
    x->n_old = capacity_rooms_of(has, c->old, c->n_old, x->old);
    x->n_new = capacity_rooms_of(has, c->new, c->n_new, x->new);
    if (x->n_old == x->n_new && memcmp(x->old, x->new, x->n_old * sizeof(*x->old)) == 0)
        return false;
    x->n_was = gaps_of(x->old, x->n_old, x->was);
    x->n_is = gaps_of(x->new, x->n_new, x->is);
    find_differences(x);
    return true;
}

bool capacity_compare(const struct graph_place *n, struct capacity *h, const struct change *c,
                      struct capacity_change *x)
{
    return compare_rooms(capacity_has_in(n, h, c->sample), c, x);
}

static bool is_all_or_nothing(const struct plan_usage *step, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (step[i].use != PLAN_FULL &&
            (step[i].use != PLAN_IDLE ||
             memcmp(step[i].taken, idle.taken, sizeof(idle.taken)) != 0))
            return false;
    return true;
}

static bool concerns_capacity(const struct capacity *h, const struct change *c)
{
    return h->users > 0 && h->filled && (c->sample->parts >> h->part & 1);
}

static int change_gaps(struct capacity *h, const struct capacity_change *x, int64_t count)
{
    for (uint32_t i = 0; i < x->n_differ; i++) {
        const struct gap *gap = &x->differ[i];
        if (gaps_add(&h->gaps, gap->from, gap->until, gap->pieces * count) < 0)
            return -1;
    }
    return 0;
}

/* By what they ask for: those of one kind follow each other, and those that ask for more of the same come after. */
static int compare_kinds(const void *a, const void *b)
{
    const struct capacity *x = *(struct capacity *const *)a, *y = *(struct capacity *const *)b;
    const struct piece *p = &x->piece, *q = &y->piece;

    if (x->is_node != y->is_node)
        return x->is_node ? -1 : 1;
    if (p->alone != q->alone)
        return p->alone ? -1 : 1;
    if (p->n != q->n)
        return p->n < q->n ? -1 : 1;
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->need[i].type != q->need[i].type)
            return p->need[i].type < q->need[i].type ? -1 : 1;
        if (p->need[i].least != q->need[i].least)
            return p->need[i].least < q->need[i].least ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

/* Have those that have users in order. Returns 0, or -1 with ENOMEM. */
static int order(struct capacities *all)
{
    if (all->is_ordered)
        return 0;
    struct capacity **order = reallocarray(all->order, all->n, sizeof(*order));
    if (!order)
        return -1;
    all->order = order;
    all->n_order = 0;
    for (uint32_t i = 0; i < all->n; i++)
        if (all->v[i].users > 0)
            order[all->n_order++] = &all->v[i];
    qsort(order, all->n_order, sizeof(*order), compare_kinds);
    all->is_ordered = true;
    return 0;
}

/* Whether a change is told with what increases: in a trial that is so only of what is left of it in the end. */
static bool tells_increases(const struct capacities *all, bool late)
{
    return late || !all->trial;
}

/* The same, with what there is more room for if that is told. */
static bool compare_to_tell(const struct capacities *all, const struct capacity_has *has,
                            const struct change *c, bool late, struct capacity_change *x)
{
    if (!compare_rooms(has, c, x))
        return false;
    if (tells_increases(all, late))
        capacity_find_increases(x);
    return true;
}

/* What of a change is to be told to a capacity: gaps, increases. Returns 0, or -1 with ENOMEM. */
static int tell_capacity_change(struct capacities *all, struct capacity *h,
                                const struct capacity_change *x, int64_t count, bool late)
{
    bool knows = late && (all->only == PLACE_NONE || h == &all->v[all->only]);

    if (!knows && change_gaps(h, x, count) < 0)
        return -1;
    if (tells_increases(all, late))
        capacity_note_increases(all, h, x, count);
    return 0;
}

/* Of a node that is always idle or taken whole, there is at any time room for as many pieces as an idle one has, or for none.
 * So what changes is the same for all kinds but for that number, and is worked out once, for one piece: most changes are of
 * such nodes, and kinds may be many.
 */
static int change_whole(struct graph_place *n, const struct change *c, bool late)
{
    static const struct capacity_has one = {.most = 1};
    struct capacities *all = n->capacities;
    struct capacity_change x;

    if (!compare_to_tell(all, &one, c, late, &x))
        return 0;
    for (uint32_t i = 0; i < all->n_order; i++) {
        struct capacity *h = all->order[i];
        if (!concerns_capacity(h, c))
            continue;
        int64_t pieces = capacity_room_of(capacity_has_in(n, h, c->sample), &idle);
        if (pieces > 0 && tell_capacity_change(all, h, &x, c->count * pieces, late) < 0)
            return -1;
    }
    return 0;
}

/* The least that is left of what a piece needs at any step with room for one. */
struct leftover {
    const struct capacity_has *has; /* NULL: none has been looked at */
    int64_t left[PIECE_NEEDS];
};

static void take_leftover(struct leftover *l, const struct plan_usage *step, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        if (capacity_room_of(l->has, &step[k]) == 0)
            continue;
        for (uint32_t i = 0; i < l->has->n; i++) {
            int number = l->has->need[i].number;
            int64_t left = l->has->need[i].units - (number >= 0 ? step[k].taken[number] : 0);
            l->left[i] = left < l->left[i] ? left : l->left[i];
        }
    }
}

static void find_leftover(struct leftover *l, const struct capacity_has *has,
                          const struct change *c)
{
    l->has = has;
    if (has->most != 1)
        return; /* it is asked of nodes alone */
    for (uint32_t i = 0; i < has->n; i++)
        l->left[i] = INT64_MAX;
    take_leftover(l, c->n_old > 0 ? c->old : &idle, c->n_old > 0 ? c->n_old : 1);
    take_leftover(l, c->n_new > 0 ? c->new : &idle, c->n_new > 0 ? c->n_new : 1);
}

/* Whether the same changes for a piece as for the last one that was looked at: each is a node, and this one needs as
 * much or more of the same, but no more than is left at every step with room for that one.
 */
static bool is_left_over(const struct leftover *l, const struct capacity_has *has)
{
    const struct capacity_has *last = l->has;

    if (!last || last->most != 1 || has->most != 1 || last->alone != has->alone ||
        last->n != has->n)
        return false;
    for (uint32_t i = 0; i < has->n; i++)
        if (last->need[i].number != has->need[i].number ||
            last->need[i].units != has->need[i].units || has->need[i].least < last->need[i].least ||
            has->need[i].least > l->left[i])
            return false;
    return true;
}

/* What changes is worked out once for kinds that follow each other and can't tell the difference. */
static int change_any(struct graph_place *n, const struct change *c, bool late)
{
    struct capacities *all = n->capacities;
    struct leftover leftover = {0};
    struct capacity_change x;
    bool differs = false;

    for (uint32_t i = 0; i < all->n_order; i++) {
        struct capacity *h = all->order[i];
        if (!concerns_capacity(h, c))
            continue;
        const struct capacity_has *has = capacity_has_in(n, h, c->sample);
        if (!is_left_over(&leftover, has)) {
            differs = compare_to_tell(all, has, c, late, &x);
            find_leftover(&leftover, has, c);
        }
        if (differs && tell_capacity_change(all, h, &x, c->count, late) < 0)
            return -1;
    }
    return 0;
}

static int change_all(struct graph_place *n, const struct change *c, bool late)
{
    if (order(n->capacities) < 0)
        return -1;
    return is_all_or_nothing(c->old, c->n_old) && is_all_or_nothing(c->new, c->n_new)
               ? change_whole(n, c, late)
               : change_any(n, c, late);
}

int capacity_change(struct graph_place *n, const struct change *c)
{
    struct capacities *all = n->capacities;
    struct capacity_change x;

    if (!all->trial || all->only == PLACE_NONE)
        return change_all(n, c, false);
    struct capacity *h = &all->v[all->only];
    return concerns_capacity(h, c) && capacity_compare(n, h, c, &x) ? change_gaps(h, &x, c->count)
                                                                    : 0;
}

int capacity_change_late(struct graph_place *n, const struct change *c)
{
    return change_all(n, c, true);
}
