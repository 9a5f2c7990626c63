/* Children in the order in which a policy prefers them. */
#include <stdlib.h>

#include "match/walk/walk.h"

struct ranked {
    int64_t score;
    uint32_t place, v;
};

static int lowest_child_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

static int highest_child_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* All of the type, sorted by score. */
static bool sort_children(struct walk *w, uint32_t v, uint16_t type, enum policy_order order,
                          struct children *children)
{
    const uint32_t *all;
    uint32_t n = topo_children(w->t, v, &all), found = 0;
    struct ranked *ranked = arena_alloc(&w->m->arena, (n + 1) * sizeof(*ranked));
    uint32_t *list = arena_alloc(&w->m->arena, (n + 1) * sizeof(*list));
    bool sorted = true;

    if (!ranked || !list) {
        w->out_of_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (w->t->g->v[all[i]].type != type)
            continue;
        ranked[found] = (struct ranked){walk_score(w, all[i], 0), i, all[i]};
        if (found > 0)
            sorted &= order == ORDER_ASCENDING ? ranked[found].score >= ranked[found - 1].score
                                               : ranked[found].score <= ranked[found - 1].score;
        found++;
    }
    if (!sorted)
        qsort(ranked, found, sizeof(*ranked),
              order == ORDER_ASCENDING ? lowest_child_first : highest_child_first);
    for (uint32_t i = 0; i < found; i++)
        list[i] = ranked[i].v;
    *children = (struct children){list, found, false};
    return true;
}

bool children_ordered(struct walk *w, uint32_t v, uint16_t type, enum policy_order order,
                      struct children *children)
{
    const struct class *c = topo_class(w->t, v);
    const struct class_run *only = NULL;
    const uint32_t *all;

    topo_children(w->t, v, &all);
    for (uint32_t i = 0; i < c->n_runs; i++) {
        const struct class_run *run = &w->t->run[c->run + i];
        if (run->type != type)
            continue;
        if (only)
            return sort_children(w, v, type, order, children);
        only = run;
    }
    if (!only) {
        *children = (struct children){0};
        return true;
    }
    bool all_equal = w->policy->score == SCORE_PERFORMANCE && !w->m->any_class;
    if (!all_equal && (w->policy->score != SCORE_ID || !only->ascending))
        return sort_children(w, v, type, order, children);
    *children = (struct children){all + only->first, only->end - only->first,
                                  !all_equal && order != ORDER_ASCENDING};
    return true;
}

bool turns_begin(struct walk *w, uint32_t v, uint32_t level, struct turns *t)
{
    const struct state *s = w->m->state[v];

    *t = (struct turns){.weights = state_below(s)->weight,
                        .by_fill = w->policy->fill != FILL_IGNORED && !topo_is_leaf(w->t, v)};
    t->n = topo_children(w->t, v, &t->children);
    if (!t->by_fill || fill_walk_begin(&t->fill, w->m, v, &w->rq[level]) == 0)
        return true;
    w->out_of_memory = true;
    return false;
}

bool turns_next(struct turns *t, uint32_t *child)
{
    if (t->by_fill)
        return fill_walk_next(&t->fill, child);
    if (t->taken == t->n)
        return false;
    *child = t->weights ? t->weights[t->taken].child : t->children[t->n - 1 - t->taken];
    t->taken++;
    return true;
}
