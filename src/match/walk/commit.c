/* Turning marks into holds: what a job gets, vertex by vertex, children first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "match/walk/walk.h"

struct commit {
    struct walk *w;
    struct job *job; /* NULL: only emit */
    uint32_t n_prune;
    bool failed;
    const char *label; /* the last one, and its number */
    uint32_t label_number;
};

/* How a vertex is reached. */
struct reach {
    uint32_t v, parent;
    int64_t needs;
    bool exclusive;
    bool whole; /* it is given whole, because something above is */
    bool exclusive_parent;
    bool shown_only; /* emitted as exclusive, but booked as shared */
    bool covered;    /* the job has something above it to itself, and books that */
    uint16_t depth;
    const char *label;
};

/* Units by number of pruning type, and whether any were counted at all. */
struct counts {
    int64_t *units;
    bool any;
};

static struct mark *mark_at(const struct walk *w, uint32_t v)
{
    uint32_t i = w->mark_of[v];

    return i > 0 && i < w->n_marks && w->mark[i].vertex == v ? &w->mark[i] : NULL;
}

/* The marked children of a marked vertex, in the order of its children. */
static uint32_t marked_children(struct commit *c, uint32_t v, uint32_t **children)
{
    struct walk *w = c->w;
    const struct mark *m = mark_at(w, v);
    uint32_t n = 0, i = 0;
    const uint32_t *all;

    for (uint32_t k = m ? m->first : 0; k > 0; k = w->mark[k].next)
        n++;
    *children = arena_alloc(&w->m->arena, (n + 1) * sizeof(**children));
    if (!*children) {
        c->failed = true;
        return 0;
    }
    if (n == 0)
        return 0;
    if (!w->t->ascending) {
        uint32_t total = topo_children(w->t, v, &all);
        for (uint32_t k = 0; k < total && i < n; k++)
            if (mark_at(w, all[k]))
                (*children)[i++] = all[k];
        return i;
    }
    bool sorted = true; /* marks are in the reverse order */
    for (uint32_t k = m->first; k > 0; k = w->mark[k].next) {
        (*children)[n - 1 - i] = w->mark[k].vertex;
        sorted &= i == 0 || (*children)[n - 1 - i] < (*children)[n - i];
        i++;
    }
    if (!sorted)
        qsort(*children, n, sizeof(**children), compare_u32);
    return n;
}

static void count_above(struct commit *c, const struct reach *r, bool exclusive,
                        const struct counts *own, struct counts *above)
{
    const struct vertex *x = &c->w->t->g->v[r->v];
    int32_t number = c->w->m->prune.number[x->type];

    if (number != PRUNE_NONE) {
        above->units[number] += x->divisible ? (exclusive ? r->needs : 0)
                                : exclusive  ? x->size
                                             : x->size - r->needs;
        above->any = true;
    }
    for (uint32_t i = 0; i < c->n_prune && own->any; i++)
        above->units[i] += own->units[i];
    above->any |= own->any;
}

/* The number of a label of the job: mostly that of the hold before it. */
static int label_number(struct commit *c, const char *label, uint32_t *number)
{
    if (label != c->label && job_label(c->job, label, &c->label_number) < 0)
        return -1;
    c->label = label;
    *number = c->label_number;
    return 0;
}

/* Set what is booked of the vertex, and in its filter. */
static int hold_vertex(struct commit *c, const struct reach *r, bool exclusive,
                       const struct counts *own)
{
    const struct match *m = c->w->m;
    const struct vertex *x = &m->g->v[r->v];
    const struct prune_list *list = prune_of(&m->prune, c->w->t, r->v);
    uint32_t flags = (r->covered ? HOLD_COVERED : 0), label = 0;
    bool counted = own->any && (!r->covered || m->policy.first);
    int64_t *counts = NULL;

    if (!c->job)
        return 0;
    if (r->whole && !mark_at(c->w, r->v))
        flags |= HOLD_SPARE;
    if (exclusive)
        flags |= r->shown_only ? HOLD_SHOWN : x->divisible ? HOLD_UNITS : HOLD_EXCLUSIVE;
    if (r->label && label_number(c, r->label, &label) < 0)
        return -1;
    flags |= label * HOLD_LABEL;
    if (counted && !(counts = arena_alloc(&c->w->m->arena, (list->n + 1) * sizeof(*counts))))
        return -1;
    for (uint32_t i = 0; counted && i < list->n; i++)
        counts[i] = own->units[list->number[i]];
    if (job_hold(c->job, r->v, flags, r->needs, counts, counted ? list->n : 0) < 0)
        return -1;
    return c->w->t->is_tree ? 0 : job_source(c->job, r->parent);
}

static int emit(struct commit *c, const struct reach *r, bool exclusive)
{
    struct emitted item = {.vertex = r->v,
                           .depth = r->depth,
                           .flags = (uint16_t)((exclusive ? EMIT_EXCLUSIVE : 0) |
                                               (r->exclusive_parent ? EMIT_EXCLUSIVE_PARENT : 0)),
                           .parent = r->parent,
                           .needs = r->needs,
                           .label = r->label};

    return c->w->is_silent ? 0 : match_emit(c->w->m, &item);
}

/* The job gets something of the vertex. */
static inline void take_vertex(struct commit *c, const struct reach *r, bool exclusive,
                               const struct counts *own, struct counts *above)
{
    count_above(c, r, exclusive, own, above);
    if (hold_vertex(c, r, exclusive, own) < 0 || emit(c, r, exclusive) < 0)
        c->failed = true;
}

/* As give_vertex, of vertices without children that are given whole because what is above them is, and are booked with
 * that: of those up to the first that has children. Returns their number.
 */
static uint32_t take_leaves(struct commit *c, const uint32_t *children, uint32_t n,
                            struct counts *above)
{
    const struct topo *t = c->w->t;
    const int32_t *numbers = c->w->m->prune.number;
    uint32_t k = 0;

    for (; k < n && topo_is_leaf(t, children[k]) && !c->failed; k++) {
        const struct vertex *x = &t->g->v[children[k]];
        const struct mark *m = mark_at(c->w, children[k]);
        uint32_t flags = HOLD_COVERED | (x->divisible ? HOLD_UNITS : HOLD_EXCLUSIVE), label = 0;
        if (numbers[x->type] != PRUNE_NONE) {
            above->units[numbers[x->type]] += x->size;
            above->any = true;
        }
        if (!m)
            flags |= HOLD_SPARE;
        else if (m->label && label_number(c, m->label, &label) < 0)
            c->failed = true;
        if (job_hold_bare(c->job, children[k], flags | label * HOLD_LABEL, x->size) < 0)
            c->failed = true;
    }
    return k;
}

static int64_t give_vertex(struct commit *c, const struct reach *r, struct counts *above);

static int64_t give_children(struct commit *c, const struct reach *r, bool whole, bool exclusive,
                             struct counts *own)
{
    const struct topo *t = c->w->t;
    const uint32_t *children;
    uint32_t n = topo_children(t, r->v, &children), *some;
    int64_t given = 0;

    if (!whole) {
        n = marked_children(c, r->v, &some);
        children = some;
    }
    bool covers = whole && exclusive && !r->shown_only && c->job && c->w->is_silent && t->is_tree;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        if (covers && topo_is_leaf(t, children[i])) {
            uint32_t leaves = take_leaves(c, &children[i], n - i, own);
            given += leaves;
            i += leaves - 1;
            continue;
        }
        const struct mark *m = mark_at(c->w, children[i]);
        struct reach child = {.v = children[i],
                              .parent = r->v,
                              .needs = whole ? t->g->v[children[i]].size : m->needs,
                              .exclusive = whole || m->exclusive,
                              .whole = whole,
                              .exclusive_parent = exclusive,
                              .shown_only = !whole && m->shown_only,
                              .covered = exclusive && !r->shown_only,
                              .depth = (uint16_t)(r->depth + 1),
                              .label = m ? m->label : NULL};
        given += give_vertex(c, &child, own);
    }
    return given;
}

/* As give_vertex, of a vertex that has children. */
static int64_t give_inner(struct commit *c, const struct reach *r, bool whole, bool exclusive,
                          struct counts *above)
{
    struct match *m = c->w->m;
    struct arena_mark mark = arena_mark(&m->arena);
    struct counts own = {.units = arena_alloc(&m->arena, (c->n_prune + 1) * sizeof(int64_t))};
    int64_t given = exclusive;

    if (!own.units) {
        c->failed = true;
        return 0;
    }
    memset(own.units, 0, (c->n_prune + 1) * sizeof(int64_t));
    given += give_children(c, r, whole, exclusive, &own);
    if (given > 0 && !c->failed)
        take_vertex(c, r, exclusive, &own, above);
    arena_release(&m->arena, mark);
    return given;
}

/* Give what is marked of a vertex and below it, or all. Returns how many vertices the job has to itself. */
static int64_t give_vertex(struct commit *c, const struct reach *r, struct counts *above)
{
    static const struct counts none;
    bool whole = r->whole || c->w->m->exclusive[c->w->m->g->v[r->v].type];
    bool exclusive = r->exclusive || whole;
    const uint32_t *children;

    if (topo_children(c->w->t, r->v, &children) > 0)
        return give_inner(c, r, whole, exclusive, above);
    if (exclusive) /* most have no children */
        take_vertex(c, r, exclusive, &none, above);
    return exclusive;
}

int64_t match_commit(struct walk *w, struct job *job)
{
    struct commit c = {.w = w, .job = job, .n_prune = w->m->prune.n};
    struct counts above = {arena_alloc(&w->m->arena, (c.n_prune + 1) * sizeof(int64_t)), false};
    const struct mark *root = mark_at(w, w->t->root);

    if (!above.units) {
        errno = ENOMEM;
        return -1;
    }
    if (!root)
        return 0;
    memset(above.units, 0, (c.n_prune + 1) * sizeof(int64_t));
    struct reach r = {.v = root->vertex,
                      .shown_only = root->shown_only,
                      .parent = VERTEX_NONE,
                      .needs = root->needs,
                      .exclusive = root->exclusive,
                      .depth = 1,
                      .label = root->label};
    int64_t given = give_vertex(&c, &r, &above);
    if (c.failed) {
        errno = ENOMEM;
        return -1;
    }
    return given;
}
