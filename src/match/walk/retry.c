/* From when on a match that failed may succeed: what was in the way, and how long it stays there. */
#include <stdlib.h>

#include "match/walk/walk.h"

/* Of a request for so many vertices, how many more there may be at most once a vertex is free. */
static int64_t most_freed(const struct walk *w, uint32_t v, uint16_t type)
{
    const struct class_sum *sum = topo_sum(w->t, v, type);
    int64_t units =
        (w->t->g->v[v].type == type ? w->t->g->v[v].size : 0) + (sum ? (int64_t)sum->units : 0);

    return units > 0 ? units : 1;
}

/* One request for vertices, and all of its candidates were looked at. */
static bool is_one_request(const struct walk *w)
{
    const struct request *q = &w->rq[w->requests->variant[0]];

    return !w->m->flexible && !w->requests->moldable && !q->is_slot && q->next == REQUEST_NONE &&
           w->t->is_tree;
}

void walk_note_obstacle(struct walk *w, uint32_t v, int64_t until)
{
    struct obstacles *b = &w->m->obstacles;

    if (until < w->retry)
        w->retry = until;
    if (until == INT64_MAX || !is_one_request(w))
        return;
    if (b->n == b->capacity) {
        uint32_t capacity = b->capacity + b->capacity / 2 + 64;
        struct obstacle *more = reallocarray(b->v, capacity, sizeof(*more));
        if (!more) {
            w->uncounted = true;
            return;
        }
        b->v = more;
        b->capacity = capacity;
    }
    b->v[b->n++] = (struct obstacle){until, most_freed(w, v, w->rq[w->top].type)};
}

static int by_time(const void *a, const void *b)
{
    const struct obstacle *x = a, *y = b;

    return x->until < y->until ? -1 : x->until > y->until;
}

int64_t walk_retry_time(struct walk *w)
{
    struct obstacles *b = &w->m->obstacles;
    int64_t missing = (int64_t)w->rq[w->top].min - (int64_t)w->found;

    if (w->uncounted || !is_one_request(w) || missing <= 1)
        return w->retry;
    if (b->n > 1)
        qsort(b->v, b->n, sizeof(*b->v), by_time);
    for (uint32_t i = 0; i < b->n; i++) {
        missing -= b->v[i].weight < missing ? b->v[i].weight : missing;
        if (missing == 0)
            return b->v[i].until;
    }
    return INT64_MAX;
}
