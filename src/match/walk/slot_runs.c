/* Runs of slots: where a host's children are alike and each fills a slot, the scores of the slots follow one
 * another. A whole run is then one candidate until it is known how many of its slots are wanted.
 */
#include <string.h>

#include "match/walk/walk.h"

/* The only request of a slot's shape, if each slot takes the same of it; or NULL. */
static const struct request *only_request_of(const struct walk *w, const struct request *slot)
{
    const struct request *q = &w->rq[slot->with];

    return q->next == REQUEST_NONE && !q->is_slot && q->min == q->max ? q : NULL;
}

/* A child that fills a slot. */
static bool qualifies(struct walk *w, uint32_t v, uint32_t level, int64_t factor)
{
    struct role s;

    return walk_enter(w, v, level, false, true, &s) &&
           walk_satisfies(w, v, &s, walk_factor(w, v, factor));
}

/* True if all but the number of the vertex is as in another one of its class that was never used. */
static bool is_untouched(const struct walk *w, uint32_t v)
{
    return !w->m->state[v];
}

/* Children in a row that fill slots, from the last to the first. */
static void find_rows(struct walk *w, const uint32_t *children, const struct class_run *run,
                      uint32_t level, int64_t factor, struct candidate *c, struct sink *sink)
{
    enum { UNKNOWN, NO, YES } untouched = UNKNOWN;

    for (uint32_t i = run->end; i-- > run->first;) {
        bool plain = is_untouched(w, children[i]);
        bool fits = plain && untouched != UNKNOWN ? untouched == YES
                                                  : qualifies(w, children[i], level, factor);
        if (plain)
            untouched = fits ? YES : NO;
        if (fits && c->count == 0)
            c->last_child = i;
        c->count += fits;
        if (c->count == 0 || (fits && i > run->first))
            continue;
        c->score = 1 + walk_score(w, children[fits ? i : i + 1], factor);
        c->order = w->order;
        w->order += c->count;
        sink_add(w, sink, c);
        c->count = 0;
    }
}

bool slot_runs_find(struct walk *w, uint32_t host, const struct role *s, int64_t factor,
                    struct sink *sink)
{
    const struct request *slot = &w->rq[s->slot], *q = only_request_of(w, slot);
    const struct class_run *run = q ? walk_row_of(w, host, q->type) : NULL;
    const uint32_t *children;

    if (!run || s->slot != w->top || slot->next != REQUEST_NONE || w->overrun || !w->t->is_tree ||
        w->m->has_orphans || walk_is_constrained(w) || w->requests->by_property ||
        w->policy->score != SCORE_ID || w->policy->node_centric || w->policy->first)
        return false;
    topo_children(w->t, host, &children);
    const struct vertex *x = &w->t->g->v[children[run->first]];
    if (x->divisible || x->size < q->min || x->size > UINT32_MAX)
        return false;
    struct candidate c = {
        .vertex = VERTEX_NONE, .host = host, .request = s->slot, .exclusive = true, .is_run = true};
    if (s->idle && qualifies(w, children[run->first], slot->with, factor)) {
        c.score = 1 + walk_score(w, children[run->first], factor);
        c.count = run->end - run->first;
        c.last_child = run->end - 1;
        c.order = w->order;
        w->order += c.count;
        sink_add(w, sink, &c);
    } else if (!s->idle) {
        find_rows(w, children, run, slot->with, factor, &c, sink);
    }
    return true;
}

/* Add the first `want` slots of a run, from its last child down, to a sink. */
static void fill_run(struct walk *w, const struct candidate *run, uint64_t want, struct sink *sink)
{
    const uint32_t *children;
    uint32_t request = w->rq[run->request].with;

    topo_children(w->t, run->host, &children);
    for (uint32_t i = 0; i < run->count && i < want && !w->out_of_memory; i++) {
        uint32_t v = children[run->last_child - i];
        struct slot_part *part = arena_alloc(&w->m->arena, sizeof(*part));
        struct candidate c = *run;
        if (!part) {
            w->out_of_memory = true;
            return;
        }
        *part = (struct slot_part){v, request, w->t->g->v[v].size};
        c.is_run = false;
        c.score = run->score + run->count - 1 - i;
        c.order = run->order + i;
        c.count = 1;
        c.part = part;
        c.n_parts = 1;
        sink_add(w, sink, &c);
    }
}

void slot_runs_fill(struct walk *w, struct sink *sink, uint64_t want)
{
    struct sink filled = {.request = sink->request, .order = sink->order, .keep = true};
    uint64_t got = 0;

    for (uint32_t i = 0; i < sink->n && got < want && !w->out_of_memory; i++) {
        const struct candidate *c = &sink->v[i];
        if (c->is_run)
            fill_run(w, c, want - got, &filled);
        else
            sink_add(w, &filled, c);
        got += c->count;
    }
    sink->v = filled.v;
    sink->n = filled.n;
    sink->capacity = filled.capacity;
}
