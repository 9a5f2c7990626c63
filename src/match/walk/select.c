/* Selecting what is taken among the candidates. */
#include <errno.h>
#include <stdlib.h>

#include "match/walk/walk.h"

static struct mark *marked(const struct walk *w, uint32_t v)
{
    uint32_t i = w->mark_of[v];

    return i > 0 && i < w->n_marks && w->mark[i].vertex == v ? &w->mark[i] : NULL;
}

static struct mark *new_mark(struct walk *w, uint32_t v)
{
    if (w->n_marks >= w->marks_capacity) {
        uint32_t capacity = w->marks_capacity + w->marks_capacity / 2 + 128;
        struct mark *mark = reallocarray(w->mark, capacity, sizeof(*mark));
        if (!mark) {
            w->out_of_memory = true;
            return NULL;
        }
        w->mark = mark;
        w->marks_capacity = capacity;
    }
    w->mark[w->n_marks] = (struct mark){.vertex = v};
    w->mark_of[v] = w->n_marks;
    return &w->mark[w->n_marks++];
}

static uint32_t parent_of(const struct walk *w, uint32_t v)
{
    return v == w->t->root ? VERTEX_NONE : w->t->parent[v];
}

int walk_start_marks(struct walk *w)
{
    if (w->marks_capacity == 0 && !new_mark(w, w->t->root)) {
        errno = ENOMEM;
        return -1;
    }
    w->n_marks = 1;
    return 0;
}

struct mark *walk_mark(struct walk *w, uint32_t v, uint32_t source, int64_t needs, bool exclusive,
                       const char *label)
{
    struct mark *m = marked(w, v);

    if (m) {
        m->needs = w->t->g->v[v].divisible ? m->needs + needs : needs;
        m->exclusive |= exclusive;
        return m;
    }
    if (source != VERTEX_NONE && !marked(w, source) &&
        !walk_mark(w, source, parent_of(w, source), w->t->g->v[source].size, false, NULL))
        return NULL;
    m = new_mark(w, v);
    if (!m)
        return NULL;
    m->needs = needs;
    m->exclusive = exclusive;
    m->label = label;
    if (source != VERTEX_NONE) {
        struct mark *above = marked(w, source);
        m->next = above->first;
        above->first = w->mark_of[v];
    }
    return m;
}

static void take_best(struct walk *w, struct sink *sinks, uint32_t level);

/* Select below a vertex that is taken. */
static void take_below(struct walk *w, uint32_t v, uint32_t level, bool exclusive, int64_t factor)
{
    struct role s;

    if (walk_compare(w, v, level, false, &s) == ROLE_NONE || s.request == REQUEST_NONE)
        return;
    uint32_t inner = w->rq[s.request].with;
    int64_t below = walk_factor(w, v, factor);
    if (inner == REQUEST_NONE)
        return;
    struct sink *sinks = sinks_make(w, inner, w->policy->within, true);
    if (!sinks)
        return;
    exclusive |= w->rq[s.request].exclusive;
    if (s.kind == ROLE_SLOT) {
        slots_find(w, v, s.slot, below, sink_of(w, sinks, inner, s.slot));
        explore_beside(w, v, inner, exclusive, below, sinks);
    } else {
        explore(w, v, inner, exclusive, below, sinks);
    }
    take_best(w, sinks, inner);
}

static void take_slot(struct walk *w, const struct candidate *c, int64_t factor)
{
    for (uint32_t i = 0; i < c->n_parts; i++) {
        const struct slot_part *p = &c->part[i];
        if (!walk_mark(w, p->vertex, c->host, p->needs, true, w->rq[p->request].label))
            return;
        take_below(w, p->vertex, w->rq[c->request].shape, true, factor);
    }
}

/* The factor for what is below a host, from the nodes on the way to it. */
static int64_t factor_at(const struct walk *w, uint32_t v)
{
    int64_t factor = 0;

    if (!w->policy->node_centric)
        return 0;
    for (uint32_t x = v; x != VERTEX_NONE; x = x == w->t->root ? VERTEX_NONE : w->t->parent[x])
        if (w->t->g->v[x].type == TYPE_NODE)
            return walk_factor(w, x, factor);
    return factor;
}

/* Take from each sink the best candidates until there are enough. */
static void take_best(struct walk *w, struct sink *sinks, uint32_t level)
{
    uint32_t n = 0;

    for (uint32_t i = level; i != REQUEST_NONE && !w->out_of_memory; i = w->rq[i].next, n++) {
        struct sink *s = &sinks[n];
        if (w->rq[i].bin != i)
            continue;
        uint32_t qualified = s->units > UINT32_MAX ? UINT32_MAX : (uint32_t)s->units;
        uint64_t want = jobspec_calc_count(w->rq[i].count, qualified), got = 0;
        sink_sort(s);
        if (s->order == ORDER_RUNS)
            slot_runs_fill(w, s, want);
        for (uint32_t k = 0; k < s->n && got < want && !w->out_of_memory; k++) {
            const struct candidate *c = &s->v[k];
            int64_t needs = c->count;
            if (c->vertex == VERTEX_NONE) {
                got++;
                take_slot(w, c, factor_at(w, c->host));
                continue;
            }
            if (w->t->g->v[c->vertex].divisible && needs > (int64_t)(want - got))
                needs = (int64_t)(want - got);
            got += c->count;
            if (!walk_mark(w, c->vertex, c->host, needs, c->exclusive, w->rq[i].label))
                return;
            take_below(w, c->vertex, level, c->exclusive, factor_at(w, c->host));
        }
    }
}

static void take_top(struct walk *w, struct sink *sinks, uint32_t n)
{
    if (n > 1 && w->policy->graph == ORDER_RUNS)
        sinks_join_runs(w, sinks, n);
    take_best(w, sinks, w->top);
}

/* Find candidates: the root itself, vertices below it, or slots among its children. */
static bool find_at_root(struct walk *w, struct sink *sinks, struct role *s)
{
    uint32_t root = w->t->root;
    int64_t below = walk_factor(w, root, 0);

    if (!walk_enter(w, root, w->top, true, false, s))
        return false;
    if (s->kind == ROLE_PRISTINE) {
        explore_pristine(w, root, w->top, s->exclusive, below, sinks);
        return true;
    }
    if (s->request == REQUEST_NONE) {
        slots_find(w, root, s->slot, below, sink_of(w, sinks, w->top, s->slot));
        explore_beside(w, root, w->top, s->exclusive, below, sinks);
        return true;
    }
    if (!walk_satisfies(w, root, s, below))
        return false;
    struct candidate c = {
        .score = 1, .count = (uint32_t)s->avail, .vertex = root, .exclusive = s->exclusive};
    sink_add(w, sink_of(w, sinks, w->top, s->request), &c);
    return true;
}

/* Select for the variant at w->top. Returns false if it was not found; the marks are then meaningless. */
static bool select_variant(struct walk *w)
{
    struct sink *sinks = sinks_make(w, w->top, w->policy->graph, true);
    struct role s;
    uint32_t n = 0;

    w->order = 0;
    w->order_end = UINT64_MAX;
    if (!sinks)
        return false;
    for (uint32_t i = w->top; i != REQUEST_NONE; i = w->rq[i].next)
        sinks[n++].bounded = !w->policy->first && w->policy->graph != ORDER_RUNS;
    w->found = 0;
    w->m->obstacles.n = 0;
    if (!find_at_root(w, sinks, &s) || w->out_of_memory || !sinks_suffice(w, sinks, w->top)) {
        w->found = sinks[0].units;
        return false;
    }
    int64_t needs = s.request == REQUEST_NONE
                        ? 1
                        : jobspec_calc_count(w->rq[s.request].count, (uint32_t)s.avail);
    if (!walk_mark(w, w->t->root, VERTEX_NONE, needs, s.exclusive,
                   s.request == REQUEST_NONE ? NULL : w->rq[s.request].label))
        return false;
    if (s.request != REQUEST_NONE)
        take_below(w, w->t->root, w->top, s.exclusive, 0);
    else
        take_top(w, sinks, n);
    return !w->out_of_memory;
}

int walk_select(struct walk *w)
{
    struct arena_mark mark = arena_mark(&w->m->arena);
    bool found = false;

    if (walk_start_marks(w) < 0)
        return -1;
    for (uint32_t i = 0; i < w->requests->n_variants && !found && !w->out_of_memory; i++) {
        w->top = w->requests->variant[i];
        found = select_variant(w);
        arena_release(&w->m->arena, mark);
    }
    if (found)
        return 0;
    errno = w->too_much ? EOVERFLOW : w->out_of_memory ? ENOMEM : EBUSY;
    return -1;
}
