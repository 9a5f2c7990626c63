/* The quick way through the leaves of a host, such as the cores of a node: most are free or taken for the whole window,
 * which their calendars say at once. What this leaves undecided is looked at as any child is (explore_child).
 */
#include "match/walk/walk.h"

bool leaves_begin(const struct walk *w, uint32_t host, uint32_t level, bool exclusive,
                  int64_t factor, struct sink *sink, struct leaves *l)
{
    const struct request *q = &w->rq[level];
    const struct state *s =
        w->t->is_tree && w->t->g->v[host].type == TYPE_NODE ? w->m->state[host] : NULL;

    *l = (struct leaves){.sink = sink, .factor = factor, .type = q->type};
    l->filled = state_load(s, w->at, w->end) >= STATE_FULL;
    l->held = w->guard && state_below(s)->n_filled_allocated > 0;
    l->exclusive = exclusive || q->exclusive;
    return q->next == REQUEST_NONE && q->with == REQUEST_NONE && !q->is_slot && !q->has_below &&
           q->type != TYPE_NODE && q->type != TYPE_STORAGE_NODE && !(exclusive && q->shared) &&
           !q->property;
}

/* True if nothing but its calendar may keep a vertex from being given. */
static bool is_plain(const struct walk *w, uint32_t v, const struct vertex *x,
                     const struct state *s)
{
    if (x->divisible || x->size <= 0 || (x->down && !w->any_status) || !topo_is_leaf(w->t, v))
        return false;
    if (w->overrun && w->overrun[v])
        return false;
    return !s || ((!w->guard || s->n_allocated == 0) && !(s->blocks_below & w->blocks));
}

/* True if a job has the vertex to itself at some time of the window, and until when does not matter. */
static bool is_taken_in_window(const struct walk *w, struct state *s)
{
    if (!s || w->wants_retry)
        return false;
    if (state_is_known_taken(s, w->at, w->end))
        return true;
    if (state_load(s, w->at, w->end) < STATE_EXCLUSIVE)
        return false;
    full_cache_take(s, w->at, w->end);
    return true;
}

bool leaves_take(struct walk *w, const struct leaves *l, uint32_t v, uint32_t host)
{
    const struct vertex *x = &w->t->g->v[v];
    struct state *s = w->m->state[v];

    if ((l->filled && !w->wants_retry) || is_taken_in_window(w, s)) {
        w->visits++;
        return true;
    }
    if (l->filled || l->held || state_load(s, w->at, w->end) > 0 || x->type != l->type ||
        !is_plain(w, v, x, s))
        return false;
    w->visits++;
    struct candidate c = {.score = walk_score(w, v, l->factor),
                          .order = w->order++,
                          .count = x->size > UINT32_MAX ? UINT32_MAX : (uint32_t)x->size,
                          .vertex = v,
                          .host = host,
                          .exclusive = l->exclusive};
    sink_add(w, l->sink, &c);
    return true;
}
