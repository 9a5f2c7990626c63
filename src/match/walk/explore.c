/* Exploring: looking for candidates below a vertex. */
#include "match/plan.h"
#include "match/walk/no_room.h"
#include "match/walk/walk.h"

/* So many leaves ahead their states are fetched: there are too many of them for caches. */
enum { LEAVES_AHEAD = 6 };

/* Whether a search keeps what it finds out about a vertex, as it holds for later times: there is one request
 * to look for, and one way to the vertex. Where obstacles are counted (retry.c), those further down say more.
 */
static bool keeps(const struct walk *w, uint32_t v, uint32_t level)
{
    const struct request *q = &w->rq[level];

    return w->search && q->next == REQUEST_NONE && w->requests->n_variants == 1 && w->t->is_tree &&
           (level != w->top || q->is_slot || q->min <= 1 || w->t->g->v[v].type == q->type);
}

/* True if the search knows that there is nothing in a vertex yet. */
static bool is_kept_none(struct walk *w, const struct full_window *full, uint32_t v, uint32_t level)
{
    if (full->search != w->search || full->level != level || w->at >= full->none_before)
        return false;
    walk_note_obstacle(w, v, full->none_before);
    w->visits++;
    return true;
}

/* A look at a vertex of which is kept until when there is nothing in it. */
struct look {
    uint64_t units;
    int64_t retry;
};

static struct look look_begin(struct walk *w, const struct sink *sink)
{
    struct look look = {sink->units, w->retry};

    w->retry = INT64_MAX;
    return look;
}

static void look_end(struct walk *w, uint32_t v, uint32_t level, const struct sink *sink,
                     struct look look)
{
    if (sink->units == look.units && !sink_has_enough(sink) && !w->out_of_memory)
        full_cache_none(w, v, level, w->retry);
    if (look.retry < w->retry)
        w->retry = look.retry;
}

/* True if counts say that a node has nothing for the job for the whole window (plan.h). Until when is kept,
 * for this search and for others, in `kept` if that is there, of the state of its host, so that the vertex itself is not
 * touched.
 */
static bool is_ruled_out(struct walk *w, uint32_t v, uint16_t type, uint32_t level,
                         struct state *host, struct full_window *kept)
{
    struct plan_lack lack;

    if (!w->ask || type != TYPE_NODE)
        return false;
    int64_t from = w->ask->node_from(w->ask->context, v, w->at, &lack);
    if (from <= w->at)
        return false;
    if (kept)
        full_window_lack(host, kept, &lack);
    else
        full_cache_lack(w->m, v, &lack);
    if (w->wants_retry)
        walk_note_obstacle(w, v, from);
    if (keeps(w, v, level) && kept)
        full_window_none(w, kept, level, from);
    else if (keeps(w, v, level))
        full_cache_none(w, v, level, from);
    w->visits++;
    return true;
}

static void find_child(struct walk *w, uint32_t v, uint32_t host, uint32_t level, bool exclusive,
                       int64_t factor, struct sink *sinks)
{
    struct role s;
    uint64_t order = w->order;

    if (!walk_enter(w, v, level, false, exclusive, &s))
        return;
    int64_t below = walk_factor(w, v, factor);
    if (s.kind == ROLE_SLOT && s.request == REQUEST_NONE) {
        slots_find(w, v, s.slot, below, sink_of(w, sinks, level, s.slot));
        explore_beside(w, v, level, s.exclusive, below, sinks);
        return;
    }
    if (!walk_satisfies(w, v, &s, below))
        return;
    struct candidate c = {.score = walk_score(w, v, factor),
                          .order = order,
                          .count = s.avail > UINT32_MAX ? UINT32_MAX : (uint32_t)s.avail,
                          .vertex = v,
                          .host = host,
                          .exclusive = s.exclusive};
    if (w->order == order)
        w->order++;
    sink_add(w, sink_of(w, sinks, level, s.request), &c);
}

void explore_child(struct walk *w, uint32_t v, uint32_t host, uint32_t level, bool exclusive,
                   int64_t factor, struct sink *sinks)
{
    if (!keeps(w, v, level)) {
        find_child(w, v, host, level, exclusive, factor, sinks);
        return;
    }
    const struct state *s = w->m->state[v];
    if (s && s->place && is_kept_none(w, &w->m->state[host]->below->full[s->place - 1], v, level))
        return;
    if (is_ruled_out(w, v, w->t->g->v[v].type, level, NULL, NULL))
        return;
    struct look look = look_begin(w, sinks);
    find_child(w, v, host, level, exclusive, factor, sinks);
    look_end(w, v, level, sinks, look);
}

/* The sink of the request that vertices of a type match, where nothing above has matched. */
static struct sink *sink_for_type(const struct walk *w, struct sink *sinks, uint32_t level,
                                  uint16_t type)
{
    uint32_t n = 0;

    for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next, n++)
        if (w->rq[i].type == type)
            return &sinks[n];
    return NULL;
}

void explore_beside(struct walk *w, uint32_t host, uint32_t level, bool exclusive, int64_t factor,
                    struct sink *sinks)
{
    const struct class *c = topo_class(w->t, host);
    const uint32_t *children;

    if (w->rq[level].next == REQUEST_NONE)
        return;
    topo_children(w->t, host, &children);
    for (uint32_t i = 0; i < c->n_runs; i++) {
        const struct class_run *run = &w->t->run[c->run + i];
        if (!sink_for_type(w, sinks, level, run->type))
            continue;
        for (uint32_t k = run->first; k < run->end && !w->out_of_memory; k++)
            if (walk_is_beside(w, children[k], level))
                explore_child(w, children[k], host, level, exclusive, factor, sinks);
    }
}

/* Children in the policy's order, request by request, until there are enough. */
static void explore_ordered(struct walk *w, uint32_t v, uint32_t level, bool exclusive,
                            int64_t factor, struct sink *sinks)
{
    uint32_t n = 0;

    for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next, n++) {
        struct children children;
        if (w->rq[i].bin != i)
            continue;
        if (w->rq[i].is_slot) {
            const uint32_t *all;
            uint32_t count = topo_children(w->t, v, &all);
            for (uint32_t k = 0; k < count; k++)
                if (!walk_is_beside(w, all[k], level))
                    explore_child(w, all[k], v, level, exclusive, factor, sinks);
            continue;
        }
        struct arena_mark mark = arena_mark(&w->m->arena);
        if (!children_ordered(w, v, w->rq[i].type, sinks[n].order, &children))
            return;
        struct leaves leaves;
        bool quick = leaves_begin(w, v, level, exclusive, factor, &sinks[n], &leaves);
        for (uint32_t k = 0; k < children.n && !sink_has_enough(&sinks[n]) && !w->out_of_memory;
             k++) {
            uint32_t child = children_at(&children, k);
            if (quick && k + LEAVES_AHEAD < children.n)
                __builtin_prefetch(w->m->state[children_at(&children, k + LEAVES_AHEAD)]);
            if (!quick || !leaves_take(w, &leaves, child, v))
                explore_child(w, child, v, level, exclusive, factor, sinks);
        }
        if (!sinks[n].keep)
            arena_release(&w->m->arena, mark);
    }
}

/* True if it is known that a child has nothing for a level at some time of the window. */
static bool is_known_full(struct walk *w, const struct full_window *full, uint32_t child,
                          uint32_t level)
{
    if (is_kept_none(w, full, child, level))
        return true;
    if (full->at >= w->end || full->end <= w->at)
        return false;
    const struct request *q = &w->rq[level];
    if (full->number != FULL_FOR_ALL && (q->next != REQUEST_NONE || w->m->flexible))
        return false;
    if (full->number >= 0
            ? q->below[full->number] <= full->left || q->pools_below
            : full->number == FULL_FOR_ONE && (!q->exclusive || w->t->g->v[child].type != q->type ||
                                               w->t->g->v[child].divisible))
        return false;
    if (w->wants_retry)
        walk_note_obstacle(w, child, full->end);
    w->visits++;
    return true;
}

/* What is known to be full among a vertex's children, by index; NULL if nothing is. */
static struct full_window *full_of(const struct walk *w, uint32_t v)
{
    const struct state *s = w->m->state[v];

    return state_below(s)->full;
}

/* First fit: how many shares of a request have been found. What is found below one child either completes
 * a share or doesn't.
 */
struct share_count {
    uint64_t before, gathered, shares;
};

static bool is_sated(const struct walk *w, const struct share_count *t, uint32_t request,
                     uint64_t shares)
{
    const struct request *q = &w->rq[request];

    return q->bin != request || q->max == 0 || t->shares >= shares;
}

static void count_shares(const struct walk *w, struct share_count *t, uint32_t request,
                         uint64_t units)
{
    if (units <= t->before)
        return;
    t->gathered += units - t->before;
    t->before = units;
    if (t->gathered >= w->rq[request].max) {
        t->shares++;
        t->gathered = 0;
    }
}

static uint32_t level_size(const struct walk *w, uint32_t level)
{
    uint32_t n = 0;

    for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next)
        n++;
    return n;
}

void explore_first(struct walk *w, uint32_t v, uint32_t level, uint64_t shares, struct sink *sinks,
                   void (*look)(struct walk *w, uint32_t child, uint32_t host, void *arg),
                   void *arg)
{
    uint32_t requests = level_size(w, level), child;
    struct turns turns;
    const struct full_window *full = full_of(w, v);
    struct share_count *counts = arena_alloc(&w->m->arena, (requests + 1) * sizeof(*counts));

    if (!counts) {
        w->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < requests; i++)
        counts[i] = (struct share_count){.before = sinks[i].units};
    if (!turns_begin(w, v, level, &turns))
        return;
    while (!w->out_of_memory && turns_next(&turns, &child)) {
        uint32_t r = 0;
        const struct state *s = full ? w->m->state[child] : NULL;
        if (s && s->place && is_known_full(w, &full[s->place - 1], child, level))
            continue;
        uint16_t type = w->t->g->v[child].type;
        bool enough = true, sated = false;
        for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next, r++)
            sated |= w->rq[i].type == type && is_sated(w, &counts[r], i, shares);
        if (sated)
            continue;
        look(w, child, v, arg);
        r = 0;
        for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next, r++) {
            count_shares(w, &counts[r], i, sinks[r].units);
            enough &= is_sated(w, &counts[r], i, shares);
        }
        if (enough)
            break;
    }
}

struct looking {
    uint32_t level;
    bool exclusive;
    int64_t factor;
    struct sink *sinks;
};

static void look_at_child(struct walk *w, uint32_t child, uint32_t host, void *arg)
{
    struct looking *l = arg;

    explore_child(w, child, host, l->level, l->exclusive, l->factor, l->sinks);
}

void explore(struct walk *w, uint32_t v, uint32_t level, bool exclusive, int64_t factor,
             struct sink *sinks)
{
    struct looking l = {level, exclusive, factor, sinks};

    if (w->policy->first)
        explore_first(w, v, level, 1, sinks, look_at_child, &l);
    else
        explore_ordered(w, v, level, exclusive, factor, sinks);
}

static void find_pristine(struct walk *w, uint32_t v, uint32_t host, struct looking *l)
{
    struct role s;
    uint64_t order = w->order; /* before anything that is discovered below */

    if (!walk_enter(w, v, l->level, true, l->exclusive, &s))
        return;
    int64_t below = walk_factor(w, v, l->factor);
    if (s.kind == ROLE_PRISTINE) {
        explore_pristine(w, v, l->level, s.exclusive, below, l->sinks);
        return;
    }
    if (s.kind == ROLE_SLOT && s.request == REQUEST_NONE) {
        struct sink *sink = sink_of(w, l->sinks, l->level, s.slot);
        if (sink->order != ORDER_RUNS || !slot_runs_find(w, v, &s, below, sink))
            slots_find(w, v, s.slot, below, sink);
        explore_beside(w, v, l->level, s.exclusive, below, l->sinks);
        return;
    }
    if (!walk_satisfies(w, v, &s, below))
        return;
    struct candidate c = {.score = walk_score(w, v, l->factor),
                          .order = order,
                          .count = s.avail > UINT32_MAX ? UINT32_MAX : (uint32_t)s.avail,
                          .vertex = v,
                          .host = host,
                          .exclusive = s.exclusive};
    if (w->order == order)
        w->order++;
    sink_add(w, sink_of(w, l->sinks, l->level, s.request), &c);
}

/* Look for candidates in v, or for v as one. */
static void look_pristine(struct walk *w, uint32_t v, uint32_t host, void *arg)
{
    struct looking *l = arg;

    if (!keeps(w, v, l->level)) {
        find_pristine(w, v, host, l);
        return;
    }
    struct look look = look_begin(w, l->sinks);
    find_pristine(w, v, host, l);
    look_end(w, v, l->level, l->sinks, look);
}

/* The same, unless counts say that there is nothing in v. */
static void look_unless_ruled_out(struct walk *w, uint32_t v, uint32_t host, void *arg)
{
    const struct looking *l = arg;
    struct full_window *full = full_of(w, host);
    const struct state *s = w->m->state[v];
    bool has_place = full && s && s->place;

    if (!is_ruled_out(w, v, w->t->g->v[v].type, l->level, has_place ? w->m->state[host] : NULL,
                      has_place ? &full[s->place - 1] : NULL))
        look_pristine(w, v, host, arg);
}

/* How many at the beginning of a run of children, in this direction, are full as requests like this one have found. */
static uint32_t full_before(struct walk *w, uint32_t host, uint32_t first, uint32_t level,
                            bool backward)
{
    struct alike *a = &w->m->alike;
    if (!a->is || w->wants_retry)
        return 0;
    if (a->host == host && a->first == first && a->level == level && a->backward == backward &&
        a->at == w->at && a->end == w->end)
        return a->full;
    *a = (struct alike){.is = true,
                        .backward = backward,
                        .host = host,
                        .first = first,
                        .level = level,
                        .at = w->at,
                        .end = w->end};
    return 0;
}

/* So many more are, if they are the next of the run that was asked about last. */
static void note_full(struct walk *w, uint32_t host, uint32_t first, uint32_t i, uint32_t n)
{
    struct alike *a = &w->m->alike;
    if (a->is && !w->wants_retry && a->host == host && a->first == first && a->full == i)
        a->full = i + n;
}

/* How many children of a run, from the i-th on in a direction, are passed over at once, as all of them are known to have
 * nothing for a level: a block, or none. Where it is asked when to try again, each of them has its say.
 */
static uint32_t full_at_once(struct walk *w, const struct state *above, const uint32_t *children,
                             const struct class_run *run, uint32_t i, bool backward, uint32_t level)
{
    const struct request *q = &w->rq[level];
    uint32_t next = backward ? run->end - i : run->first + i;
    if (w->wants_retry || next % FULL_BLOCK != 0 ||
        (backward ? next - run->first : run->end - next) < FULL_BLOCK)
        return 0;
    const struct full_block *b =
        full_block_of(w->m, above, children, backward ? next - FULL_BLOCK : next);
    if (b->at >= w->end || b->end <= w->at)
        return 0;
    if ((b->any_for_one || b->number >= 0) && (q->next != REQUEST_NONE || w->m->flexible))
        return 0;
    if (b->any_for_one && (!q->exclusive || run->type != q->type || b->any_divisible))
        return 0;
    if (b->number >= 0 && (q->below[b->number] <= b->left || q->pools_below))
        return 0;
    w->visits += FULL_BLOCK;
    return FULL_BLOCK;
}

/* Look at children of a requested type, the best first, until the sink wants no more. */
static void explore_matching(struct walk *w, uint32_t host, const uint32_t *children,
                             const struct class_run *run, struct sink *sink, struct looking *l)
{
    struct full_window *full = full_of(w, host);
    struct state *above = w->m->state[host];
    bool sorted = run->ascending && w->policy->score == SCORE_ID;
    bool backward = sorted && sink->order == ORDER_DESCENDING;
    const uint64_t *part = walk_part_for(w, run->type);
    uint64_t base = w->order;
    uint32_t n = run->end - run->first, at_once;
    bool remembers = run->type == TYPE_NODE && no_room_counts(w, l->level);

    for (uint32_t i = full_before(w, host, run->first, l->level, backward);
         i < n && !w->out_of_memory; i++) {
        if (full && (at_once = full_at_once(w, above, children, run, i, backward, l->level)) > 0) {
            note_full(w, host, run->first, i, at_once);
            i += at_once - 1;
            continue;
        }
        uint32_t place = backward ? n - 1 - i : i;
        uint32_t v = children[run->first + place];
        if (!match_part_has(part, v) ||
            (full && is_known_full(w, &full[run->first + place], v, l->level))) {
            note_full(w, host, run->first, i, 1);
            continue;
        }
        if (!sink_wants(sink, walk_score(w, v, l->factor), base + place)) {
            if (sorted)
                break;
            continue;
        }
        if (is_ruled_out(w, v, run->type, l->level, above, full ? &full[run->first + place] : NULL))
            continue;
        if (remembers && no_room_is_known(w, v))
            continue;
        uint64_t order = w->order, units = sink->units;
        w->order = base + place;
        look_pristine(w, v, host, l);
        if (remembers && sink->units == units && !sink_has_enough(sink) && !w->out_of_memory)
            no_room_note(w, v);
        if (w->order < order)
            w->order = order;
    }
    if (w->order < base + n)
        w->order = base + n;
}

/* Whether what is below a vertex may be better than what a level has, or more where it has not enough. */
static bool may_improve(const struct walk *w, uint32_t v, const struct looking *l)
{
    uint32_t n = 0;
    int64_t below = walk_factor(w, v, l->factor), best;

    for (uint32_t i = l->level; i != REQUEST_NONE; i = w->rq[i].next, n++) {
        const struct sink *sink = &l->sinks[n];
        if (w->rq[i].bin == i &&
            (!w->t->is_tree || (sink->full ? subtree_best(w, v, sink, below, &best) &&
                                                 sink_wants(sink, best, w->order)
                                           : subtree_has(w, v, sink))))
            return true;
    }
    return false;
}

/* True if the best possible score below each child is better than below the child before it. */
static bool is_better_last(const struct walk *w, const uint32_t *children, uint32_t n,
                           const struct looking *l)
{
    const struct sink *s = l->sinks;
    int64_t first, last, before;

    if (n < 2 || !w->t->is_tree || w->rq[l->level].next != REQUEST_NONE ||
        (w->order_end - w->order) / 2 / n < UINT32_MAX ||
        !subtree_best(w, children[0], s, walk_factor(w, children[0], l->factor), &first) ||
        !subtree_best(w, children[n - 1], s, walk_factor(w, children[n - 1], l->factor), &last) ||
        !(s->order == ORDER_ASCENDING ? last < first : last > first))
        return false;
    before = first;
    for (uint32_t i = 1; i < n; i++, before = last)
        if (!subtree_best(w, children[i], s, walk_factor(w, children[i], l->factor), &last) ||
            !(s->order == ORDER_ASCENDING ? last < before : last > before))
            return false;
    return true;
}

/* Look at children that may have matches further down, in their order. Where one has nothing better than what is found by now,
 * nor has any behind it of the same class, if the node above adds the same to both.
 */
static void explore_in_turn(struct walk *w, uint32_t host, const uint32_t *children,
                            const struct class_run *run, struct looking *l)
{
    struct full_window *full = full_of(w, host);
    const uint64_t *part = walk_part_for(w, run->type);
    bool by_class = !w->policy->node_centric || run->type != TYPE_NODE;
    uint32_t refused = CLASS_NONE;

    for (uint32_t i = run->first; i < run->end && !w->out_of_memory; i++) {
        uint32_t v = children[i];
        if (!match_part_has(part, v) || (full && is_known_full(w, &full[i], v, l->level)) ||
            w->t->class_of[v] == refused)
            continue;
        if (!may_improve(w, v, l)) {
            refused = by_class ? w->t->class_of[v] : CLASS_NONE;
            continue;
        }
        if (is_ruled_out(w, v, run->type, l->level, w->m->state[host], full ? &full[i] : NULL))
            continue;
        look_pristine(w, v, host, l);
        refused = CLASS_NONE;
    }
}

/* Look at them. If the last children are the best, begin with them; each child then gets its own range in the order of
 * discovery, as if the first child had come first.
 */
static void explore_passing(struct walk *w, uint32_t host, const uint32_t *children,
                            const struct class_run *run, struct looking *l)
{
    struct full_window *full = full_of(w, host);
    const uint64_t *part = walk_part_for(w, run->type);
    uint32_t n = run->end - run->first;

    if (!is_better_last(w, children + run->first, n, l)) {
        explore_in_turn(w, host, children, run, l);
        return;
    }
    if (full)
        full += run->first;
    children += run->first;
    uint64_t base = w->order, end = w->order_end, width = (end - base) / 2 / n;
    for (uint32_t i = n; i-- > 0 && !w->out_of_memory;) {
        w->order = base + i * width;
        w->order_end = w->order + width;
        if (!match_part_has(part, children[i]) ||
            (full && is_known_full(w, &full[i], children[i], l->level)))
            continue;
        if (!may_improve(w, children[i], l))
            break;
        if (!is_ruled_out(w, children[i], run->type, l->level, w->m->state[host],
                          full ? &full[i] : NULL))
            look_pristine(w, children[i], host, l);
    }
    w->order = base + n * width;
    w->order_end = end;
}

void explore_pristine(struct walk *w, uint32_t v, uint32_t level, bool exclusive, int64_t factor,
                      struct sink *sinks)
{
    struct looking l = {level, exclusive, factor, sinks};
    const struct class *c = topo_class(w->t, v);
    const uint32_t *children;

    if (w->policy->first) {
        explore_first(w, v, level, 1, sinks, look_unless_ruled_out, &l);
        return;
    }
    topo_children(w->t, v, &children);
    for (uint32_t i = 0; i < c->n_runs; i++) {
        const struct class_run *run = &w->t->run[c->run + i];
        struct sink *sink = sink_for_type(w, sinks, level, run->type);
        if (sink) {
            explore_matching(w, v, children, run, sink, &l);
            continue;
        }
        explore_passing(w, v, children, run, &l);
    }
}
