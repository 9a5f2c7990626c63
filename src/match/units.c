#include "match/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "match/walk/walk.h"

/* A vertex that is up, with its score under the policy. */
struct unit {
    int64_t score;
    uint32_t number;
};

struct listing {
    struct walk w;
    uint16_t type;
    bool *seen; /* by vertex */
    struct match_units *units;
    struct unit *up;
    uint32_t capacity;
    bool failed, odd_size;
};

static int lowest_unit_first(const void *a, const void *b)
{
    const struct unit *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static int highest_unit_first(const void *a, const void *b)
{
    const struct unit *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static bool reserve_unit(struct listing *l)
{
    struct match_units *units = l->units;

    if (units->n < l->capacity)
        return true;
    uint32_t capacity = l->capacity + l->capacity / 2 + 64;
    uint32_t *vertex = reallocarray(units->vertex, capacity, sizeof(*vertex));
    if (vertex)
        units->vertex = vertex;
    struct unit *up = vertex ? reallocarray(l->up, capacity, sizeof(*up)) : NULL;
    if (!up) {
        l->failed = true;
        return false;
    }
    l->up = up;
    l->capacity = capacity;
    return true;
}

/* List v if it is of the type, and what is below it. */
static void list_below(struct listing *l, uint32_t v, bool down, int64_t factor)
{
    const struct vertex *x = &l->w.t->g->v[v];
    struct match_units *units = l->units;
    int64_t below = walk_factor(&l->w, v, factor);
    const uint32_t *children;
    uint32_t n = topo_children(l->w.t, v, &children);

    l->seen[v] = true;
    down |= x->down;
    if (x->type == l->type) {
        if (!reserve_unit(l))
            return;
        l->odd_size |= x->size != 1;
        if (!down)
            l->up[units->n_up++] = (struct unit){walk_score(&l->w, v, factor), units->n};
        units->vertex[units->n++] = v;
    }
    for (uint32_t i = 0; i < n && !l->failed; i++)
        if (!l->seen[children[i]])
            list_below(l, children[i], down, below);
}

static int put_in_order(struct listing *l)
{
    struct match_units *units = l->units;
    const struct policy *policy = l->w.policy;

    units->fixed = !policy->first && policy->graph != ORDER_RUNS;
    units->order = malloc(((size_t)units->n_up + 1) * sizeof(*units->order));
    if (!units->order)
        return -1;
    if (units->fixed && units->n_up > 1)
        qsort(l->up, units->n_up, sizeof(*l->up),
              policy->graph == ORDER_ASCENDING ? lowest_unit_first : highest_unit_first);
    for (uint32_t i = 0; i < units->n_up; i++)
        units->order[i] = l->up[i].number;
    return 0;
}

static int list_all(struct listing *l, const char *type, berth_error_t *err)
{
    const struct match *m = l->w.m;
    uint32_t id;

    if (m->policy.node_exclusive)
        return errtext_set(err, EINVAL, "the match policy gives whole nodes, not each %s by itself",
                           type);
    if (!intern_find(&m->g->types, type, strlen(type), &id))
        return put_in_order(l);
    l->type = (uint16_t)id;
    l->seen = calloc((size_t)m->g->n + 1, sizeof(*l->seen));
    if (l->seen)
        list_below(l, m->topo.root, false, 0);
    if (!l->seen || l->failed || put_in_order(l) < 0)
        return errtext_no_memory(err);
    if (l->odd_size)
        return errtext_set(err, EINVAL, "a vertex of type %s is a pool, expected each of size 1",
                           type);
    return 0;
}

int match_units_list(const match_t *m, const char *type, struct match_units *units,
                     berth_error_t *err)
{
    /* The walk is only asked for scores, which changes nothing. */
    struct listing l = {.w = {.m = (struct match *)m, .t = &m->topo, .policy = &m->policy},
                        .units = units};

    *units = (struct match_units){0};
    int rc = list_all(&l, type, err);
    free(l.seen);
    free(l.up);
    if (rc < 0)
        match_units_clear(units);
    return rc;
}

void match_units_clear(struct match_units *units)
{
    int saved = errno;

    free(units->vertex);
    free(units->order);
    *units = (struct match_units){0};
    errno = saved;
}

uint32_t match_units_given(const match_t *m, const char *type, uint32_t *vertex, uint32_t max)
{
    uint32_t id, n = 0;

    if (!intern_find(&m->g->types, type, strlen(type), &id))
        return 0;
    for (size_t i = 0; i < m->last.n && n < max; i++)
        if (m->g->v[m->last.item[i].vertex].type == id && (m->last.item[i].flags & EMIT_EXCLUSIVE))
            vertex[n++] = m->last.item[i].vertex;
    return n;
}
