/* The best possible score in a subtree, without entering it. */
#include "match/walk/walk.h"

/* The best possible score of a vertex of a type below v; false if there is no such vertex. */
static bool best_vertex(const struct walk *w, uint32_t v, uint16_t type, bool low, int64_t factor,
                        int64_t *best)
{
    const struct class_sum *sum = topo_sum(w->t, v, type);

    if (!sum)
        return false;
    if (w->policy->score == SCORE_PERFORMANCE) {
        *best = w->m->any_class ? (low ? 1 : 10000) : 10000;
        return true;
    }
    *best = 2 + (low ? sum->min_id : sum->max_id) + factor;
    if (!w->policy->node_centric || sum->in_node == 0)
        return true;
    const struct class_sum *nodes = topo_sum(w->t, v, TYPE_NODE);
    if (!nodes || (low && sum->in_node < sum->count))
        return true;
    int64_t id = low ? nodes->min_id : nodes->max_id, more;
    if (__builtin_mul_overflow(id + 2, 10000, &more) || __builtin_add_overflow(*best, more, best) ||
        (!low && __builtin_add_overflow(*best, 10000, best)))
        *best = low ? INT64_MIN : INT64_MAX;
    return true;
}

const struct class_run *walk_row_of(const struct walk *w, uint32_t v, uint16_t type)
{
    const struct class *c = topo_class(w->t, v);
    const struct class_run *only = NULL;

    for (uint32_t i = 0; i < c->n_runs; i++) {
        const struct class_run *run = &w->t->run[c->run + i];
        if (run->type == type && (only || !run->alike))
            return NULL;
        if (run->type == type)
            only = run;
    }
    return only;
}

/* The best possible sum of the scores of n children of v, which all have different ids, where the best of them has this score;
 * false if it is not known.
 */
static bool best_row(const struct walk *w, uint32_t v, uint16_t type, int64_t n, bool low,
                     int64_t one, int64_t *best)
{
    const struct class_run *run =
        w->policy->score == SCORE_ID && w->t->is_tree ? walk_row_of(w, v, type) : NULL;
    int64_t steps;

    if (!run)
        return false;
    int64_t most = run->end - run->first;
    if (n > most)
        n = most;
    return !__builtin_mul_overflow(one, n, best) && !__builtin_mul_overflow(n, n - 1, &steps) &&
           !__builtin_add_overflow(*best, low ? steps / 2 : -(steps / 2), best);
}

/* True if a slot of this shape is filled only from v's own children. */
static bool is_host(const struct walk *w, uint32_t v, const struct request *slot)
{
    for (uint32_t i = slot->with; i != REQUEST_NONE; i = w->rq[i].next)
        if (w->rq[i].is_slot || !topo_has_child(w->t, v, w->rq[i].type))
            return false;
    return true;
}

/* The best possible score of a slot that is filled below v, without alternatives. */
static bool best_shape(const struct walk *w, uint32_t v, const struct request *slot, bool low,
                       int64_t factor, int64_t *best)
{
    bool host = is_host(w, v, slot);

    *best = 1;
    for (uint32_t i = slot->with; i != REQUEST_NONE; i = w->rq[i].next) {
        const struct request *q = &w->rq[i];
        const struct class_sum *sum = topo_sum(w->t, v, q->type);
        int64_t one, all;
        if (!best_vertex(w, v, q->type, low, factor, &one))
            return false;
        int64_t n = low ? (sum->size > 0 ? (q->min + sum->size - 1) / sum->size : 1) : q->max;
        if (host && n > 1 && one >= 0 && best_row(w, v, q->type, n, low, one, &all)) {
            if (__builtin_add_overflow(*best, all, best))
                *best = low ? INT64_MIN : INT64_MAX;
            continue;
        }
        if ((low && one < 0) || __builtin_mul_overflow(one, n, &all) ||
            __builtin_add_overflow(*best, all, best)) {
            *best = low ? INT64_MIN : INT64_MAX;
            return true;
        }
    }
    return true;
}

static bool best_slot(const struct walk *w, uint32_t v, const struct request *bin, bool low,
                      int64_t factor, int64_t *best)
{
    bool any = false;
    int64_t one;

    for (uint32_t i = bin->first; i != REQUEST_NONE; i = w->rq[i].other) {
        if (!best_shape(w, v, &w->rq[i], low, factor, &one))
            continue;
        if (!any || (low ? one < *best : one > *best))
            *best = one;
        any = true;
    }
    return any;
}

bool subtree_best(const struct walk *w, uint32_t v, const struct sink *s, int64_t factor,
                  int64_t *best)
{
    const struct request *q = &w->rq[s->request];
    bool low = s->order == ORDER_ASCENDING;

    return q->is_slot ? best_slot(w, v, q, low, factor, best)
                      : best_vertex(w, v, q->type, low, factor, best);
}

bool subtree_has(const struct walk *w, uint32_t v, const struct sink *s)
{
    const struct request *q = &w->rq[s->request];

    if (!q->is_slot)
        return topo_sum(w->t, v, q->type) != NULL;
    for (uint32_t shape = q->first; shape != REQUEST_NONE; shape = w->rq[shape].other) {
        uint32_t i = w->rq[shape].with;
        while (i != REQUEST_NONE && topo_sum(w->t, v, w->rq[i].type))
            i = w->rq[i].next;
        if (i == REQUEST_NONE)
            return true;
    }
    return false;
}
