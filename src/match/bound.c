/* The best score that a subtree could give, known without entering it. */
#include "match/walk.h"

/* Best possible score of a vertex of a type below v; false if there is none. */
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

/* Best possible score of a slot that is filled below v, alternatives aside. */
static bool best_shape(const struct walk *w, uint32_t v, const struct request *slot, bool low,
                       int64_t factor, int64_t *best)
{
    *best = 1;
    for (uint32_t i = slot->with; i != REQUEST_NONE; i = w->rq[i].next) {
        const struct request *q = &w->rq[i];
        const struct class_sum *sum = topo_sum(w->t, v, q->type);
        int64_t one, all;
        if (!best_vertex(w, v, q->type, low, factor, &one))
            return false;
        int64_t n = low ? (sum->size > 0 ? (q->min + sum->size - 1) / sum->size : 1) : q->max;
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
