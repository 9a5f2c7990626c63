#include "match/book/fill_tree.h"

#include "match/inner.h"

int fill_order(const struct match *m, const struct fill *x, int64_t x_score, const struct fill *y,
               int64_t y_score)
{
    int more = m->policy.fill == FILL_FULLEST ? -1 : 1;
    int64_t a = m->g->v[x->vertex].id, b = m->g->v[y->vertex].id;

    if (x_score != y_score)
        return x_score > y_score ? more : -more;
    if (x->promised != y->promised)
        return x->promised > y->promised ? more : -more;
    if (a != b)
        return a < b ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

/* The number by which the tree is a heap: all are different, as each step can be undone. */
static uint32_t mixed(uint32_t i)
{
    i ^= i >> 16;
    i *= UINT32_C(0x7feb352d);
    i ^= i >> 15;
    i *= UINT32_C(0x846ca68b);
    return i ^ i >> 16;
}

/* What points at a fill: its parent, or the root of its group. */
static uint32_t *link_to(struct fills *f, uint32_t i)
{
    uint32_t up = f->v[i].up;

    return up == FILL_NONE      ? &f->root[f->v[i].group]
           : f->v[up].left == i ? &f->v[up].left
                                : &f->v[up].right;
}

/* Put a fill's child in its place, and it below that. */
static void rotate(struct fills *f, uint32_t i, bool left)
{
    struct fill *top = &f->v[i];
    uint32_t k = left ? top->left : top->right;
    struct fill *child = &f->v[k];
    uint32_t between = left ? child->right : child->left;

    *link_to(f, i) = k;
    child->up = top->up;
    top->up = k;
    *(left ? &child->right : &child->left) = i;
    *(left ? &top->left : &top->right) = between;
    if (between != FILL_NONE)
        f->v[between].up = i;
}

void fill_tree_put(struct match *m, uint32_t i)
{
    struct fills *f = &m->fills;
    struct fill *put = &f->v[i];
    uint32_t *at = &f->root[put->group];

    put->up = put->left = put->right = FILL_NONE;
    while (*at != FILL_NONE) {
        put->up = *at;
        struct fill *other = &f->v[*at];
        at = fill_order(m, put, put->full, other, other->full) < 0 ? &other->left : &other->right;
    }
    *at = i;
    while (put->up != FILL_NONE && mixed(i) < mixed(put->up))
        rotate(f, put->up, f->v[put->up].left == i);
}

void fill_tree_take(struct match *m, uint32_t i)
{
    struct fills *f = &m->fills;
    struct fill *take = &f->v[i];

    while (take->left != FILL_NONE && take->right != FILL_NONE)
        rotate(f, i, mixed(take->left) < mixed(take->right));
    uint32_t rest = take->left != FILL_NONE ? take->left : take->right;
    *link_to(f, i) = rest;
    if (rest != FILL_NONE)
        f->v[rest].up = take->up;
}

uint32_t fill_tree_first(const struct match *m, uint32_t group)
{
    uint32_t i = m->fills.root[group];

    while (i != FILL_NONE && m->fills.v[i].left != FILL_NONE)
        i = m->fills.v[i].left;
    return i;
}

uint32_t fill_tree_next(const struct match *m, uint32_t i)
{
    const struct fill *v = m->fills.v;

    if (v[i].right != FILL_NONE) {
        for (i = v[i].right; v[i].left != FILL_NONE; i = v[i].left)
            ;
        return i;
    }
    while (v[i].up != FILL_NONE && v[v[i].up].right == i)
        i = v[i].up;
    return v[i].up;
}

uint32_t fill_tree_at_most(const struct match *m, uint32_t group, int64_t full)
{
    uint32_t found = FILL_NONE;

    for (uint32_t i = m->fills.root[group]; i != FILL_NONE;) {
        bool is = m->fills.v[i].full <= full;
        found = is ? i : found;
        i = is ? m->fills.v[i].left : m->fills.v[i].right;
    }
    return found;
}
