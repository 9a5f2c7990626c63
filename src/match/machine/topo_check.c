/* Checking that classes agree with the graph, by comparing subtrees vertex by vertex. */
#include <stdlib.h>

#include "match/machine/topo.h"

#define SAMPLES 48 /* classes that are compared with each other */

/* True if two subtrees have the same structure and ids, except for the id of the topmost vertex. */
static bool are_same_subtrees(const struct topo *t, uint32_t a, uint32_t b)
{
    const struct vertex *x = &t->g->v[a], *y = &t->g->v[b];
    const uint32_t *p, *q;
    uint32_t n = topo_children(t, a, &p);

    if (x->type != y->type || x->size != y->size || x->divisible != y->divisible ||
        topo_children(t, b, &q) != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (t->g->v[p[i]].id != t->g->v[q[i]].id || !are_same_subtrees(t, p[i], q[i]))
            return false;
    return true;
}

/* Children and parents must be those of the graph's edges. */
static bool check_edges(const struct topo *t, uint32_t v)
{
    const uint32_t *children, *all;
    uint32_t n = topo_children(t, v, &children), total = graph_children(t->g, v, &all), found = 0;
    bool reached = t->class_of[v] != CLASS_NONE;

    for (uint32_t i = 0; i < total; i++) {
        if (graph_child_subsystem(t->g, v, i) != t->subsystem)
            continue;
        if (found == n || children[found++] != all[i] ||
            (t->class_of[all[i]] == CLASS_NONE && reached))
            return false;
        if (t->is_tree && reached && t->parent[all[i]] != v)
            return false;
        if (t->ascending && found > 1 && children[found - 1] < children[found - 2])
            return false;
    }
    return found == n && (!reached || v == t->root || t->parent[v] != VERTEX_NONE);
}

/* Runs must cover the consecutive children of a type. */
static bool check_runs(const struct topo *t, const struct class *c)
{
    const uint32_t *children;
    uint32_t n = topo_children(t, c->sample, &children), at = 0;

    for (uint32_t i = 0; i < c->n_runs; i++) {
        const struct class_run *run = &t->run[c->run + i];
        bool ascending = true;
        if (run->first != at || run->end <= at || run->end > n ||
            (i > 0 && run[-1].type == run->type))
            return false;
        for (; at < run->end; at++) {
            if (t->g->v[children[at]].type != run->type)
                return false;
            ascending &=
                at == run->first || t->g->v[children[at]].id > t->g->v[children[at - 1]].id;
        }
        if (ascending != run->ascending)
            return false;
    }
    return at == n;
}

/* Count what there is of a type below a vertex, one by one. */
static void count_below(const struct topo *t, uint32_t v, bool in_node, struct class_sum *sum)
{
    const uint32_t *children;
    uint32_t n = topo_children(t, v, &children);

    for (uint32_t i = 0; i < n; i++) {
        const struct vertex *x = &t->g->v[children[i]];
        if (t->owner && t->owner[children[i]] != v)
            continue;
        count_below(t, children[i], in_node || x->type == TYPE_NODE, sum);
        if (x->type != sum->type)
            continue;
        if (sum->count == 0)
            *sum = (struct class_sum){sum->type, 0, 0, 0, x->size, x->id, x->id};
        sum->count++;
        sum->in_node += in_node;
        sum->units += (uint64_t)x->size;
        sum->size = sum->size == x->size ? x->size : 0;
        sum->min_id = x->id < sum->min_id ? x->id : sum->min_id;
        sum->max_id = x->id > sum->max_id ? x->id : sum->max_id;
    }
}

static bool check_sums(const struct topo *t, const struct class *c)
{
    bool uniform = true;

    for (uint16_t type = 0; type < t->g->types.n; type++) {
        struct class_sum sum = {.type = type};
        const struct class_sum *s = topo_sum(t, c->sample, type);
        count_below(t, c->sample, false, &sum);
        if (!s != (sum.count == 0))
            return false;
        if (s && (s->count != sum.count || s->in_node != sum.in_node || s->units != sum.units ||
                  s->size != sum.size || s->min_id != sum.min_id || s->max_id != sum.max_id))
            return false;
        uniform &= !s || s->size > 0;
    }
    return uniform == c->uniform;
}

bool topo_check(const struct topo *t)
{
    if (t->root >= t->g->n || t->class_of[t->root] == CLASS_NONE)
        return false;
    for (uint32_t v = 0; v < t->g->n; v++) {
        uint32_t c = t->class_of[v];
        if (!check_edges(t, v))
            return false;
        if (c != CLASS_NONE && (c >= t->n_classes || !are_same_subtrees(t, v, t->class[c].sample)))
            return false;
    }
    for (uint32_t c = 0; c < t->n_classes; c++) {
        if (t->class_of[t->class[c].sample] != c || !check_runs(t, &t->class[c]) ||
            !check_sums(t, &t->class[c]))
            return false;
        for (uint32_t d = c + 1; d < t->n_classes && d < c + SAMPLES && t->is_tree; d++)
            if (are_same_subtrees(t, t->class[c].sample, t->class[d].sample))
                return false;
    }
    return true;
}
