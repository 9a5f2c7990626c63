/* Comparing one vertex with one level of the request. */
#include <stdlib.h>
#include <string.h>

#include "match/machine/kind.h"
#include "match/walk/walk.h"

/* True if v's children include every type of a slot's shape. */
static bool has_shape(const struct walk *w, uint32_t v, const struct request *slot)
{
    if (slot->with == REQUEST_NONE)
        return false;
    for (uint32_t i = slot->with; i != REQUEST_NONE; i = w->rq[i].next)
        if (w->rq[i].is_slot || !topo_has_child(w->t, v, w->rq[i].type))
            return false;
    return true;
}

/* True if v's children can fill a slot, or an alternative to it. */
static bool hosts(const struct walk *w, uint32_t v, uint32_t bin)
{
    for (uint32_t i = w->rq[bin].first; i != REQUEST_NONE; i = w->rq[i].other)
        if (has_shape(w, v, &w->rq[i]))
            return true;
    return false;
}

/* The slot among a matched request's children. */
static uint32_t slot_below(const struct walk *w, const struct request *q)
{
    uint32_t slot = REQUEST_NONE;

    for (uint32_t i = q->with; i != REQUEST_NONE; i = w->rq[i].next)
        if (w->rq[i].type == TYPE_SLOT)
            slot = w->rq[i].bin;
    return slot;
}

bool walk_is_beside(const struct walk *w, uint32_t v, uint32_t level)
{
    const struct vertex *x = &w->t->g->v[v];

    if (x->divisible && topo_is_leaf(w->t, v))
        return true;
    for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next)
        if (w->rq[i].type == x->type && w->rq[i].shared && w->rq[i].with != REQUEST_NONE)
            return true;
    return false;
}

enum role_kind walk_compare(struct walk *w, uint32_t v, uint32_t level, bool pristine,
                            struct role *s)
{
    uint16_t type = w->t->g->v[v].type;
    bool matched = false;

    *s = (struct role){.kind = ROLE_NONE, .request = REQUEST_NONE, .slot = REQUEST_NONE};
    for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next) {
        const struct request *q = &w->rq[i];
        if (q->type != type && (q->type != TYPE_SLOT || walk_is_beside(w, v, level)))
            continue;
        bool alternative = s->request == REQUEST_NONE && q->is_slot && q->bin == s->slot;
        if (matched && !alternative) /* a vertex may match only one request of a level */
            return ROLE_NONE;
        matched = true;
        if (q->type == type) {
            s->request = i;
            s->slot = slot_below(w, q);
        } else {
            s->slot = q->bin;
        }
    }
    if (s->slot != REQUEST_NONE && hosts(w, v, s->slot))
        s->kind = ROLE_SLOT;
    else if (s->request != REQUEST_NONE) /* alternatives aren't looked for further down */
        s->kind = w->m->flexible && s->slot != REQUEST_NONE ? ROLE_NONE : ROLE_RESOURCE;
    else
        s->kind = pristine ? ROLE_PRISTINE : ROLE_NONE;
    return s->kind;
}

/* The first time from the window's on, as long as it, in which a vertex has at most this load, and no job all that is in its
 * node. False if there is none.
 */
static bool fits_from(const struct walk *w, uint32_t v, int64_t limit, int64_t *at)
{
    const struct state *own = w->m->state[v], *node = match_filled(w->m, v);
    int64_t length = w->end - w->at, before;
    struct profile_view own_view, node_view;
    const struct profile *load = own ? state_users(own, &own_view) : NULL;
    const struct profile *filled = node ? state_users(node, &node_view) : NULL;
    struct profile_cursor c;

    *at = w->at;
    do {
        before = *at;
        if (load && load->n > 1) {
            profile_seek(&c, load, *at);
            if (!profile_fit(&c, *at, length, limit, INT64_MAX, at))
                return false;
        }
        if (filled && filled->n > 1) {
            profile_seek(&c, filled, *at);
            if (!profile_fit(&c, *at, length, STATE_FULL - 1, INT64_MAX, at))
                return false;
        }
    } while (node && *at > before);
    return true;
}

/* As busy_until, of the load. */
static void used_until(struct walk *w, uint32_t v, int64_t limit)
{
    int64_t at;

    if (w->wants_retry && fits_from(w, v, limit, &at))
        walk_note_obstacle(w, v, at);
}

static void busy_until(struct walk *w, uint32_t v, const struct profile *p, int64_t limit)
{
    struct profile_cursor c;
    int64_t at;

    if (!w->wants_retry)
        return;
    profile_seek(&c, p, w->at);
    if (profile_fit(&c, w->at, w->end - w->at, limit, INT64_MAX, &at))
        walk_note_obstacle(w, v, at);
}

struct has_property {
    const struct graph *g;
    uint32_t props;
};

static bool has_property(const void *arg, const char *property)
{
    const struct has_property *h = arg;

    return propset_value(&h->g->props, h->props, property) != NULL;
}

static bool constraint_match(struct walk *w, uint32_t v)
{
    const struct graph *g = w->t->g;
    const struct vertex *x = &g->v[v];
    struct strbuf *name = &w->m->text;
    struct has_property arg = {g, x->props};

    strbuf_reset(name);
    graph_name(g, v, name);
    const char *text = strbuf_text(name);
    if (name->failed) {
        w->out_of_memory = true;
        return false;
    }
    struct jobspec_target target = {text, x->rank, has_property, &arg};
    return jobspec_constraint_match(w->spec->constraints, &target);
}

bool constraint_holds(struct walk *w, uint32_t v)
{
    uint32_t props = w->t->g->v[v].props;

    if (w->within && !(w->within[v / 64] >> (v % 64) & 1))
        return false;
    if (!w->spec->constraints)
        return true;
    if (!w->by_props)
        return constraint_match(w, v);
    if (!w->by_props[props])
        w->by_props[props] = constraint_match(w, v) ? 2 : 1;
    return w->by_props[props] == 2;
}

/* The start of the window is checked first, as that mostly decides. */
bool walk_is_over(const struct state *s, uint32_t i, int64_t at, int64_t end, int64_t limit)
{
    const struct profile *counts = state_below(s)->counts;

    if (!counts || counts[i].n <= 1)
        return limit < 0;
    return profile_at(&counts[i], at) > limit || profile_max(&counts[i], at, end) > limit;
}

/* True if the pruning filters of a vertex count enough of what a request wants below it. */
static bool counts_suffice(struct walk *w, uint32_t v, const struct request *q)
{
    const struct prune_list *list = prune_of(&w->m->prune, w->t, v);
    const struct state *s = w->m->state[v];

    if (!q->has_below)
        return true;
    for (uint32_t i = 0; i < list->n; i++) {
        int64_t want = q->below[list->number[i]];
        if (want == 0)
            continue;
        int64_t total = prune_total(&w->m->prune, w->t, v, list->number[i]);
        if (want > total)
            return false;
        if (walk_is_over(s, i, w->at, w->end, total - want)) {
            busy_until(w, v, &state_below(s)->counts[i], total - want);
            return false;
        }
    }
    return true;
}

enum { OVERRUN_TOUCHED = 1, OVERRUN_EXCLUSIVE = 2 };

/* Note what is held by allocations that should have ended, or that start later. The calendars don't show
 * it now, and what is covered by a vertex above it is not booked by itself.
 */
static void note_overruns(struct walk *w)
{
    const struct jobs *jobs = &w->m->jobs;

    w->overrun = calloc(w->m->g->n, sizeof(*w->overrun));
    if (!w->overrun) {
        w->out_of_memory = true;
        return;
    }
    for (uint32_t k = 0; k < jobs->slots; k++) {
        const struct job *job = jobs->slot[k];
        for (uint32_t i = 0;
             job && !job->reserved && (job->end <= w->at || job->at > w->at) && i < job->n; i++) {
            const struct hold *h = &job->hold[i];
            uint8_t what =
                (uint8_t)(OVERRUN_TOUCHED | (h->flags & HOLD_EXCLUSIVE ? OVERRUN_EXCLUSIVE : 0));
            for (uint32_t n = 0; n < hold_vertices(h); n++)
                w->overrun[h->vertex + n] |= what;
        }
    }
}

static bool is_allocated(const struct walk *w, uint32_t v, const struct state *s)
{
    const struct state *node = match_filled(w->m, v);

    return (s && s->n_allocated > 0) || state_below(node)->n_filled_allocated > 0;
}

static bool is_held_now(const struct walk *w, uint32_t v, const struct state *s)
{
    return is_allocated(w, v, s) || (w->overrun && w->overrun[v] & OVERRUN_EXCLUSIVE);
}

/* True if a level asks for something shared beside its slots: a host may have that whose own slots are taken. */
static bool is_shared_beside(const struct walk *w, uint32_t level)
{
    for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next)
        if (w->rq[i].shared && w->rq[i].with != REQUEST_NONE)
            return true;
    return false;
}

/* True if v can only match a slot of the level, and the slot asks for more than is free below v. On a
 * busy machine this is the quickest check.
 */
static bool is_full(struct walk *w, uint32_t v, uint32_t level, const struct role *s)
{
    return s->slot != REQUEST_NONE && s->request == REQUEST_NONE && !w->m->flexible &&
           !counts_suffice(w, v, &w->rq[s->slot]) && !is_shared_beside(w, level);
}

/* True if the requests of the level that v matches let it through; of alternatives the last one decides. */
static bool requests_let_through(struct walk *w, uint32_t v, uint32_t level, bool exclusive,
                                 int64_t load)
{
    const struct vertex *x = &w->t->g->v[v];
    const struct state *s = w->m->state[v];
    bool through = true;

    for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next) {
        const struct request *q = &w->rq[i];
        if (q->type != x->type && (q->type != TYPE_SLOT || walk_is_beside(w, v, level)))
            continue;
        if (q->type != TYPE_SLOT && exclusive && q->shared)
            return false;
        if (q->type != TYPE_SLOT && (exclusive || q->exclusive) && !x->divisible) {
            if (w->guard && is_held_now(w, v, s))
                return false;
            if (load > 0) {
                used_until(w, v, 0);
                full_cache_note(w->m, v, q, w->at, w->end);
                return false;
            }
        }
        if (q->is_slot && is_shared_beside(w, level))
            continue;
        through = counts_suffice(w, v, q);
        if (!through && state_below(s)->counts)
            full_cache_note(w->m, v, q, w->at, w->end);
        if (!through && !(w->m->flexible && q->is_slot))
            return false;
    }
    return through;
}

/* The index of a type among those that a vertex counts, or -1. */
static int filter_index(const struct walk *w, uint32_t v, uint16_t type)
{
    const struct prune_list *list = prune_of(&w->m->prune, w->t, v);
    int32_t number = w->m->prune.number[type];

    for (uint32_t i = 0; i < list->n && number != PRUNE_NONE; i++)
        if (list->number[i] == number)
            return (int)i;
    return -1;
}

/* True if, by the counts, something below a vertex may match a request that is not for a slot. It can't
 * if all vertices of its type are taken, or if too little is left of what is wanted below each.
 */
static bool may_answer(struct walk *w, uint32_t v, const struct state *s, const struct request *q)
{
    int i = filter_index(w, v, q->type);

    if (i >= 0) {
        int64_t limit =
            prune_total(&w->m->prune, w->t, v, prune_of(&w->m->prune, w->t, v)->number[i]) - 1;
        if (walk_is_over(s, (uint32_t)i, w->at, w->end, limit)) {
            if (limit >= 0)
                busy_until(w, v, &state_below(s)->counts[i], limit);
            return false;
        }
    }
    return q->pools_below || counts_suffice(w, v, q);
}

/* True if something below a vertex that matches no request itself may match one. */
static bool may_pass(struct walk *w, uint32_t v, const struct state *s, uint32_t level)
{
    if (!state_below(s)->counts || w->m->flexible)
        return true;
    for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next)
        if (w->rq[i].is_slot || may_answer(w, v, s, &w->rq[i]))
            return true;
    return false;
}

/* True if a block keeps the vertex, or something that would be given with it, out of the window. For the
 * time to retry, what is taken of the vertex counts too, if it lasts longer.
 */
static bool is_blocked(struct walk *w, uint32_t v, const struct state *state, const struct role *s)
{
    const struct vertex *x = &w->t->g->v[v];
    bool whole = s->exclusive || (w->whole && w->whole[x->type]);
    uint64_t in_the_way = (whole ? state->blocks_below : state->blocks) & w->blocks;
    int64_t at;

    if (!in_the_way)
        return false;
    if (!w->wants_retry)
        return true;
    int64_t until = match_blocks_until(&w->m->blocks, in_the_way, w->at, w->clear);
    if (until < INT64_MAX && fits_from(w, v, STATE_EXCLUSIVE - 1, &at) && at > until)
        until = at;
    walk_note_obstacle(w, v, until);
    return true;
}

bool walk_enter(struct walk *w, uint32_t v, uint32_t level, bool pristine, bool exclusive,
                struct role *s)
{
    const struct vertex *x = &w->t->g->v[v];
    const struct state *state = w->m->state[v];

    w->visits++;
    if (walk_compare(w, v, level, pristine, s) == ROLE_NONE)
        return false;
    s->exclusive = exclusive || (s->request != REQUEST_NONE && w->rq[s->request].exclusive);
    if (x->down && !w->any_status)
        return false;
    if (s->request != REQUEST_NONE && w->rq[s->request].property &&
        !kind_is(w->t, v, w->rq[s->request].property))
        return false;
    if (walk_is_constrained(w) && (x->type == TYPE_NODE || x->type == TYPE_STORAGE_NODE) &&
        !constraint_holds(w, v))
        return false;
    if (state && (state->blocks_below & w->blocks) && is_blocked(w, v, state, s))
        return false;
    if (state && is_full(w, v, level, s)) {
        full_cache_note(w->m, v, &w->rq[s->slot], w->at, w->end);
        return false;
    }
    int64_t load = match_load(w->m, v, w->at, w->end);
    if (load >= STATE_EXCLUSIVE) {
        used_until(w, v, STATE_EXCLUSIVE - 1);
        full_cache_note(w->m, v, &w->rq[level], w->at, w->end);
        return false;
    }
    if (s->kind == ROLE_PRISTINE && state && !may_pass(w, v, state, level))
        return false;
    if (w->guard && !w->overrun && is_allocated(w, v, state))
        note_overruns(w);
    s->avail = x->size;
    const struct profile *units = &state_below(state)->units;
    if (x->divisible && units->n > 1) {
        int64_t taken = profile_max(units, w->at, w->end);
        s->avail -= taken;
        if (taken > 0) /* there is not more before something is given back */
            busy_until(w, v, units, taken - 1);
    }
    if (s->avail <= 0 || !requests_let_through(w, v, level, s->exclusive, load))
        return false;
    s->idle =
        load == 0 &&
        (!w->guard || ((!w->overrun || !w->overrun[v]) && !is_allocated(w, v, state))) &&
        (!state || ((!w->guard || state->n_jobs == 0) && (state->n_down == 0 || w->any_status) &&
                    !(state->blocks_below & w->blocks)));
    return x->type != TYPE_NODE || !w->policy->node_centric || x->id >= -1;
}

static int64_t performance(const struct walk *w, uint32_t v)
{
    const char *text = propset_value(&w->t->g->props, w->t->g->v[v].props, "perf_class");
    char *end;

    if (!text)
        return 9999;
    long value = strtol(text, &end, 10);
    return end == text || value < 0 || value > 9999 ? 9999 : value;
}

int64_t walk_score(const struct walk *w, uint32_t v, int64_t factor)
{
    if (w->policy->score == SCORE_NONE)
        return 1;
    if (w->policy->score == SCORE_PERFORMANCE)
        return 1 + (w->m->any_class ? performance(w, v) : 9999);
    return 1 + factor + w->t->g->v[v].id + 1;
}

#define NODE_FACTOR 10000

int64_t walk_factor(const struct walk *w, uint32_t v, int64_t factor)
{
    const struct vertex *x = &w->t->g->v[v];

    if (!w->policy->node_centric || x->type != TYPE_NODE)
        return factor;
    int64_t tie = graph_uniq_id(w->t->g, v) % NODE_FACTOR - 1;
    int64_t sum;
    if (__builtin_mul_overflow(x->id + 2, NODE_FACTOR, &sum) ||
        __builtin_add_overflow(sum, (tie < 0 ? -tie : tie) + factor, &sum))
        return factor;
    return sum;
}
