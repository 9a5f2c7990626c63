/* The traversal of the naive matcher. */
#include "naive_inner.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Candidates: what was found of a type. */
struct group {
    int64_t score;
    uint32_t count;
    bool root;
    struct edge {
        uint32_t v, count;
        bool exclusive;
    } * edge;
    size_t n;
};

struct evals {
    bool there;
    struct group *v;
    size_t n;
    uint32_t qualified, best_k;
    size_t best_i;
};

struct dfu {
    struct evals *of; /* by type */
    bool constrained;
    int64_t score;
    uint32_t avail;
};

/* The request. */
static const struct jobspec_resource *res(const struct naive *n, uint32_t i)
{
    return &n->spec->resources[i];
}

static uint32_t with(const struct naive *n, uint32_t i)
{
    return res(n, i)->end > i + 1 ? i + 1 : NONE;
}

/* What resources and all below them want at least, by type; and types that are wanted exclusively. */
static void prime(struct naive *n, uint32_t list, int64_t *sums)
{
    for (uint32_t i = list; i != NONE; i = res(n, i)->next) {
        int64_t *below = n->wants + (size_t)i * n->types, least = res(n, i)->count.min;
        if (res(n, i)->exclusive == JOBSPEC_EXCLUSIVE_TRUE)
            n->whole[n->rtype[i]] = true;
        if (n->pruning[n->rtype[i]])
            sums[n->rtype[i]] += least;
        prime(n, with(n, i), below);
        for (uint32_t t = 0; t < n->types; t++)
            sums[t] += n->pruning[t] ? least * below[t] : 0;
    }
}

enum kind { NO_MATCH, PRISTINE, RESOURCE, SLOT };

static bool has_kid_of(const struct naive *n, uint32_t u, uint16_t type)
{
    const uint32_t *children;
    uint32_t k = graph_children(n->g, u, &children);

    for (uint32_t i = 0; i < k; i++)
        if (n->g->v[children[i]].type == type)
            return true;
    return false;
}

static enum kind test(const struct naive *n, uint32_t u, uint32_t list, bool pristine,
                      uint32_t *next, uint32_t *nslots)
{
    uint32_t resource = NONE, slot = NONE;
    int matches = 0;

    *next = list;
    for (uint32_t i = list; i != NONE; i = res(n, i)->next) {
        if (n->rtype[i] != n->g->v[u].type && n->rtype[i] != TYPE_SLOT)
            continue;
        if (matches++ > 0)
            return NO_MATCH;
        if (n->rtype[i] == TYPE_SLOT) {
            slot = i;
            continue;
        }
        resource = i;
        for (uint32_t k = with(n, i); k != NONE; k = res(n, k)->next)
            if (n->rtype[k] == TYPE_SLOT)
                slot = k;
    }
    bool shape = slot != NONE;
    for (uint32_t k = shape ? with(n, slot) : NONE; k != NONE; k = res(n, k)->next)
        shape &= has_kid_of(n, u, n->rtype[k]);
    if (shape) {
        *nslots = jobspec_count_max(&res(n, slot)->count);
        *next = with(n, slot);
        return SLOT;
    }
    if (resource == NONE)
        return pristine ? PRISTINE : NO_MATCH;
    *next = with(n, resource);
    return RESOURCE;
}

/* Not worth entering? */
static bool pruned(const struct naive *n, uint32_t u, uint32_t list, bool exclusive)
{
    const struct vertex *x = &n->g->v[u];
    const struct spot *s = &n->spot[u];

    if (x->down && !n->any_status)
        return true;
    if ((x->type == TYPE_NODE || x->type == TYPE_STORAGE_NODE) && !naive_satisfies_constraint(n, u))
        return true;
    if (naive_avail(n, u, n->at, n->end) <= 0)
        return true;
    for (uint32_t i = list; i != NONE; i = res(n, i)->next) {
        bool asked = res(n, i)->exclusive == JOBSPEC_EXCLUSIVE_TRUE;
        if (n->rtype[i] != x->type && n->rtype[i] != TYPE_SLOT)
            continue;
        if (n->rtype[i] != TYPE_SLOT) {
            if (res(n, i)->property && !naive_is_of_kind(n, u, res(n, i)->property))
                return true;
            if (exclusive && res(n, i)->exclusive == JOBSPEC_EXCLUSIVE_FALSE)
                return true;
            for (size_t k = 0; k < s->n && n->guard && (exclusive || asked); k++)
                if (s->v[k].exclusive && !s->v[k].reserved)
                    return true;
            if ((exclusive || asked) && naive_load(s, n->at, n->end, 0) > 0)
                return true;
        }
        for (uint32_t t = 0; t < n->types; t++) {
            int64_t want = n->wants[(size_t)i * n->types + t];
            if (naive_tracks(n, u, t) &&
                n->total[(size_t)u * n->types + t] - naive_load(s, n->at, n->end, 2 + t) < want)
                return true;
        }
    }
    return false;
}

/* Lists of candidates. */
static void dfu_init(struct naive *n, struct dfu *d)
{
    *d = (struct dfu){.of = naive_draw(n, n->types * sizeof(*d->of)), .score = -1};
}

static void push_group(struct naive *n, struct evals *e, const struct group *g)
{
    struct group *v = naive_draw(n, (e->n + 1) * sizeof(*v));

    if (e->n > 0)
        memcpy(v, e->v, e->n * sizeof(*v));
    v[e->n++] = *g;
    e->v = v;
}

static void dfu_add(struct naive *n, struct dfu *d, uint16_t type, const struct group *g)
{
    struct evals *e = &d->of[type];

    e->there = true;
    e->qualified += g->score > 0 ? g->count : 0;
    push_group(n, e, g);
}

static void dfu_merge(struct naive *n, struct dfu *to, const struct dfu *from)
{
    for (uint16_t t = 0; t < n->types; t++) {
        to->of[t].there |= from->of[t].there;
        to->of[t].qualified += from->of[t].qualified;
        for (size_t i = 0; i < from->of[t].n; i++)
            push_group(n, &to->of[t], &from->of[t].v[i]);
    }
}

/* The lowest score of the run of consecutive scores that a score is in. */
static int64_t run_of(const struct dfu *d, const bool *types, uint32_t n_types, int64_t score)
{
    for (bool lower = true; lower;) {
        lower = false;
        for (uint32_t t = 0; t < n_types; t++)
            for (size_t i = 0; types[t] && i < d->of[t].n; i++)
                lower |= d->of[t].v[i].score == score - 1;
        score -= lower;
    }
    return score;
}

static bool comes_before(const struct group *a, const struct group *b, enum order order,
                         const struct dfu *d, const bool *types, uint32_t n)
{
    if (order == ASCENDING)
        return a->score < b->score;
    if (order == DESCENDING)
        return a->score > b->score;
    return run_of(d, types, n, a->score) > run_of(d, types, n, b->score);
}

/* Sort, and choose the first that have k units. */
static void choose(struct naive *n, struct dfu *d, uint16_t type, uint32_t k, enum order order,
                   const bool *types)
{
    struct evals *e = &d->of[type];
    uint64_t units = 0;

    if (k == 0 || k > e->qualified)
        return;
    for (size_t i = 1; i < e->n; i++)
        for (size_t j = i; j > 0 && comes_before(&e->v[j], &e->v[j - 1], order, d, types, n->types);
             j--) {
            struct group g = e->v[j];
            e->v[j] = e->v[j - 1];
            e->v[j - 1] = g;
        }
    for (e->best_i = 0; units < k; e->best_i++)
        units += e->v[e->best_i].count;
    e->best_k = k;
    d->constrained = true;
}

/* Every resource of a list has enough? Then its best are chosen. */
static bool choose_all(struct naive *n, struct dfu *d, uint32_t list, enum order order)
{
    bool *types = naive_draw(n, n->types), good = true;

    for (uint32_t i = list; i != NONE && good; i = res(n, i)->next) {
        uint32_t k = jobspec_calc_count(&res(n, i)->count, d->of[n->rtype[i]].qualified);
        d->of[n->rtype[i]].there = true;
        types[n->rtype[i]] = true;
        good = k > 0;
        choose(n, d, n->rtype[i], k, order, types);
    }
    return good;
}

static int64_t factor_of(const struct naive *n, uint32_t v)
{
    const struct vertex *x = &n->g->v[v];

    if (!n->rules->node_centric || x->type != TYPE_NODE)
        return 0;
    return (x->id + 2) * 10000 + llabs(graph_uniq_id(n->g, v) % 10000 - 1);
}

static int64_t score_of(const struct naive *n, uint32_t v)
{
    const struct vertex *x = &n->g->v[v];
    const char *text = propset_value(&n->g->props, x->props, "perf_class");
    char *end;

    if (n->rules->fill != IGNORED)
        return 1;
    if (!n->rules->performance)
        return 1 + n->factor + x->id + 1;
    long value = text ? strtol(text, &end, 10) : 9999;
    return 1 + (text && (end == text || value < 0 || value > 9999) ? 9999 : value);
}

/* Mark what was chosen below u, and what leads to it: the host of a slot, or for the whole request, at the
 * root, all that it left out.
 */
static void enforce(struct naive *n, struct dfu *d, uint32_t u, bool whole)
{
    for (uint16_t t = 0; t < n->types; t++)
        for (size_t i = 0; d->of[t].best_k > 0 && i < d->of[t].best_i; i++) {
            const struct group *g = &d->of[t].v[i];
            for (size_t k = 0; !g->root && k < g->n; k++) {
                struct spot *s = &n->spot[g->edge[k].v];
                s->marked = n->sequence;
                s->needs = g->edge[k].count;
                s->exclusive = g->edge[k].exclusive;
                for (uint32_t x = naive_parent(n, g->edge[k].v); x != u; x = naive_parent(n, x)) {
                    const struct evals *e = &d->of[n->g->v[x].type];
                    if (n->spot[x].marked == n->sequence)
                        break;
                    if (whole && (!e->there || e->best_k > 0))
                        continue;
                    n->spot[x].marked = n->sequence;
                    n->spot[x].needs = n->g->v[x].size;
                    n->spot[x].exclusive = false;
                }
            }
        }
}

static bool dfv(struct naive *n, uint32_t u, uint32_t list, bool pristine, bool *exclusive,
                struct dfu *up);

/* Look at a child; true if it is a candidate, then in d. */
static bool look(struct naive *n, uint32_t child, uint32_t list, bool pristine, bool exclusive,
                 struct dfu *d)
{
    bool x = exclusive;

    if (!dfv(n, child, list, pristine, &x, d))
        return false;
    struct group g = {
        .score = d->score, .count = d->avail, .edge = naive_draw(n, sizeof(*g.edge)), .n = 1};
    *g.edge = (struct edge){child, d->avail, x};
    dfu_add(n, d, n->g->v[child].type, &g);
    return true;
}

static uint64_t total_of(const struct evals *e)
{
    uint64_t total = 0;

    for (size_t i = 0; i < e->n; i++)
        total += e->v[i].count;
    return total;
}

struct tally {
    uint64_t before, gathered, shares;
};

static bool has_shares(const struct naive *n, const struct tally *t, uint32_t i, uint32_t shares)
{
    return jobspec_count_max(&res(n, i)->count) == 0 || t[i].shares >= shares;
}

static void take_stock(const struct naive *n, struct tally *t, uint32_t i, const struct dfu *d)
{
    uint64_t total = total_of(&d->of[n->rtype[i]]), share = jobspec_count_max(&res(n, i)->count);

    if (total <= t[i].before)
        return;
    t[i].gathered += total - t[i].before;
    t[i].before = total;
    if (share > 0 && t[i].gathered >= share) {
        t[i].shares++;
        t[i].gathered = 0;
    }
}

/* How full v is of a type, of what allocations or reservations hold, or of what a resource wants, in millionths; below 0 if it
 * has none.
 */
enum { ALLOCATED, RESERVED, WANTED };
static int64_t full_of_type(const struct naive *n, uint32_t v, uint32_t t, int of, uint32_t list)
{
    const struct spot *s = &n->spot[v];
    int64_t total = n->total[(size_t)v * n->types + t], amount = 0;

    if (!naive_tracks(n, v, t) || total == 0)
        return -1;
    for (size_t k = 0; k < s->n && of != WANTED; k++)
        if (s->v[k].counts && s->v[k].reserved == (of == RESERVED))
            amount += s->v[k].counts[t];
    if (of == WANTED && list != NONE)
        amount = n->wants[(size_t)list * n->types + t] + (n->rtype[list] == t);
    return amount * 1000000 / total;
}

static int64_t fullness(const struct naive *n, uint32_t v, int of, uint32_t list)
{
    int64_t sum = 0;

    for (uint32_t t = 0; t < n->types; t++)
        if (full_of_type(n, v, t, of, list) > 0)
            sum += full_of_type(n, v, t, of, list);
    return sum;
}

/* By the distances between every two types: their squares' sum is that of n^2 deviations. */
static int64_t unevenness(const struct naive *n, uint32_t v, uint32_t list)
{
    int64_t part[64], squares = 0, root = 0;
    int k = 0;

    for (uint32_t t = 0; t < n->types; t++) {
        int64_t held = full_of_type(n, v, t, ALLOCATED, list);
        if (held < 0)
            continue;
        assert(k < 64);
        part[k] = held + full_of_type(n, v, t, WANTED, list);
        part[k] = part[k] > 1000000 ? 1000000 : part[k];
        for (int i = 0; i < k; i++)
            squares += (part[k] - part[i]) * (part[k] - part[i]);
        k++;
    }
    for (int64_t bit = INT64_C(1) << 31; bit > 0; bit /= 2)
        if ((root + bit) <= squares / (root + bit))
            root += bit;
    return root;
}

static int counted_types(const struct naive *n, uint32_t v)
{
    int types = 0;

    for (uint32_t t = 0; t < n->types; t++)
        types += naive_tracks(n, v, t);
    return types;
}

/* As src/match/book/fill.h says. */
static bool fills_first(const struct naive *n, uint32_t a, uint32_t b, uint32_t list)
{
    bool pack = n->rules->fill == FULLEST;
    int p = counted_types(n, a), q = counted_types(n, b);

    if (p == 0 || q == 0)
        return p > 0;
    int64_t x = fullness(n, a, ALLOCATED, list) + fullness(n, a, WANTED, list);
    int64_t y = fullness(n, b, ALLOCATED, list) + fullness(n, b, WANTED, list);
    bool room = x <= p * INT64_C(1000000), other_has = y <= q * INT64_C(1000000);
    if (room != other_has)
        return room;
    int64_t even = pack ? -n->rules->by_balance : n->rules->by_balance;
    x = n->rules->by_use * x + even * unevenness(n, a, list);
    y = n->rules->by_use * y + even * unevenness(n, b, list);
    if (x == y) {
        x = fullness(n, a, RESERVED, list);
        y = fullness(n, b, RESERVED, list);
    }
    if (x != y)
        return pack ? x > y : x < y;
    return n->g->v[a].id != n->g->v[b].id ? n->g->v[a].id < n->g->v[b].id : a < b;
}

static bool goes_first(const struct naive *n, uint32_t a, uint32_t b, uint32_t list)
{
    if (n->rules->fill != IGNORED)
        return fills_first(n, a, b, list);
    if (n->spot[a].weight != n->spot[b].weight)
        return n->spot[a].weight > n->spot[b].weight;
    return graph_uniq_id(n->g, a) > graph_uniq_id(n->g, b);
}

/* The heaviest first, until there are shares enough of every resource. */
static bool explore_first(struct naive *n, uint32_t u, uint32_t list, bool pristine, bool exclusive,
                          uint32_t shares, struct dfu *d)
{
    const uint32_t *children;
    uint32_t k = graph_children(n->g, u, &children);
    uint32_t *sorted = naive_draw(n, k * sizeof(*sorted));
    struct tally *t = naive_draw(n, n->spec->nresources * sizeof(*t));
    bool *sated = naive_draw(n, n->types), any = false;

    for (uint32_t i = 0; i < k; i++) {
        uint32_t j = i;
        for (; j > 0 && goes_first(n, children[i], sorted[j - 1], list); j--)
            sorted[j] = sorted[j - 1];
        sorted[j] = children[i];
    }
    for (uint32_t i = 0; i < k; i++) {
        bool enough = true;
        if (sated[n->g->v[sorted[i]].type] || !look(n, sorted[i], list, pristine, exclusive, d))
            continue;
        any = true;
        for (uint32_t r = list; r != NONE; r = res(n, r)->next) {
            take_stock(n, t, r, d);
            sated[n->rtype[r]] |= has_shares(n, t, r, shares);
            enough &= has_shares(n, t, r, shares);
        }
        if (enough)
            break;
    }
    return any;
}

static bool explore(struct naive *n, uint32_t u, uint32_t list, bool pristine, bool exclusive,
                    uint32_t shares, struct dfu *d)
{
    const uint32_t *children;
    uint32_t k = graph_children(n->g, u, &children);
    bool any = false;

    if (n->rules->first)
        return explore_first(n, u, list, pristine, exclusive, shares, d);
    for (uint32_t i = 0; i < k; i++)
        any |= look(n, children[i], list, pristine, exclusive, d);
    return any;
}

/* How many slots can be filled with whole vertices. */
static uint32_t count_slots(const struct naive *n, uint32_t shape, const struct dfu *d)
{
    uint32_t slots = UINT32_MAX;

    for (uint32_t i = shape; i != NONE; i = res(n, i)->next) {
        const struct evals *e = &d->of[n->rtype[i]];
        uint32_t share = jobspec_calc_count(&res(n, i)->count, e->qualified), fit = 0;
        uint64_t got = 0;
        for (size_t k = 0; k < e->n && share > 0; k++) {
            got += e->v[k].edge[0].count;
            if (got >= share) {
                fit++;
                got = 0;
            }
        }
        slots = fit < slots ? fit : slots;
    }
    return slots;
}

static void fill_slots(struct naive *n, uint32_t u, uint32_t shape, uint32_t nslots, struct dfu *d)
{
    struct dfu in;
    size_t *next = naive_draw(n, n->types * sizeof(*next));

    dfu_init(n, &in);
    if (!explore(n, u, shape, false, true, nslots, &in))
        return;
    for (uint16_t t = 0; t < n->types; t++)
        choose(n, &in, t, in.of[t].qualified, n->rules->slots, NULL);
    uint32_t slots = count_slots(n, shape, &in);
    for (uint32_t s = 0; s < slots; s++) {
        struct group g = {.score = 1, .count = 1};
        for (uint32_t i = shape; i != NONE; i = res(n, i)->next) {
            struct evals *e = &in.of[n->rtype[i]];
            uint32_t share = jobspec_calc_count(&res(n, i)->count, e->qualified);
            for (uint64_t got = 0; got < share; next[n->rtype[i]]++) {
                const struct group *x = &e->v[next[n->rtype[i]]];
                struct edge *edge = naive_draw(n, (g.n + 1) * sizeof(*edge));
                if (g.n > 0)
                    memcpy(edge, g.edge, g.n * sizeof(*edge));
                edge[g.n++] = (struct edge){x->edge[0].v, x->edge[0].count, true};
                g.edge = edge;
                g.score += x->score;
                got += x->edge[0].count;
            }
        }
        dfu_add(n, d, TYPE_SLOT, &g);
    }
}

static bool dfv(struct naive *n, uint32_t u, uint32_t list, bool pristine, bool *exclusive,
                struct dfu *up)
{
    uint16_t type = n->g->v[u].type;
    uint32_t next, nslots = 0;
    bool x = *exclusive, met = true;
    struct dfu d;

    for (uint32_t i = list; i != NONE; i = res(n, i)->next)
        x |= n->rtype[i] == type && res(n, i)->exclusive == JOBSPEC_EXCLUSIVE_TRUE;
    enum kind kind = test(n, u, list, pristine, &next, &nslots);
    if (kind == NO_MATCH || pruned(n, u, list, x) || (factor_of(n, u) && n->g->v[u].id < -1))
        return false;
    n->factor += factor_of(n, u);
    dfu_init(n, &d);
    if (kind == SLOT)
        fill_slots(n, u, next, nslots, &d);
    else
        explore(n, u, next, kind == PRISTINE, x, 1, &d);
    *exclusive = x;
    n->factor -= factor_of(n, u);
    for (uint32_t i = list; i != NONE; i = res(n, i)->next)
        if (n->rtype[i] == type)
            met &= choose_all(n, &d, with(n, i), n->rules->within);
    if (!met)
        return false;
    int64_t score = score_of(n, u);
    if (score > 0 && d.constrained)
        enforce(n, &d, u, false);
    else if (score > 0)
        dfu_merge(n, up, &d);
    up->avail = (uint32_t)naive_avail(n, u, n->at, n->end);
    up->score = score;
    for (uint32_t i = list; i != NONE; i = res(n, i)->next)
        if (n->rtype[i] == type && res(n, i)->label && *res(n, i)->label) {
            n->spot[u].labelled = n->sequence;
            n->spot[u].label = res(n, i)->label;
        }
    return true;
}

/* Find and mark. Returns 0, or an errno. */
static int select_at(struct naive *n, int64_t at, int64_t duration, bool guard)
{
    uint32_t root = n->g->root[GRAPH_CONTAINMENT], needs = 1;
    bool x = false;
    struct dfu d;

    n->at = at;
    n->end = at + duration;
    n->guard = guard;
    n->sequence++;
    n->factor = 0;
    dfu_init(n, &d);
    for (uint32_t i = 0; i != NONE; i = res(n, i)->next)
        x |= n->rtype[i] == n->g->v[root].type && res(n, i)->exclusive == JOBSPEC_EXCLUSIVE_TRUE;
    if (!dfv(n, root, 0, true, &x, &d))
        return EBUSY;
    dfu_add(n, &d, n->g->v[root].type,
            &(struct group){.score = d.score, .count = d.avail, .root = true});
    if (!choose_all(n, &d, 0, n->rules->graph))
        return ENODEV;
    for (uint32_t i = 0; i != NONE; i = res(n, i)->next)
        if (n->rtype[i] == n->g->v[root].type) {
            needs = jobspec_calc_count(&res(n, i)->count, d.avail);
            if (needs == 0)
                return ENODEV;
        }
    for (uint16_t t = 0; t < n->types; t++)
        if (d.of[t].there && d.of[t].qualified == 0)
            return ENODEV;
    enforce(n, &d, root, true);
    n->spot[root].marked = n->sequence;
    n->spot[root].needs = needs;
    n->spot[root].exclusive = x;
    return 0;
}

/* Enough nodes at all? */
static bool is_feasible(struct naive *n, match_op_t op, int64_t duration)
{
    bool satisfiability = op == MATCH_ALLOCATE_W_SATISFIABILITY;
    int64_t at = op == MATCH_ALLOCATE || op == MATCH_WITHOUT_ALLOCATING ? n->now : MATCH_END - 1;
    int64_t want = n->pruning[TYPE_NODE] ? n->all[TYPE_NODE] : 0, found = 0;

    if (want > n->nodes_up)
        return false;
    if (!n->spec->constraints)
        return true;
    for (uint32_t v = 0; v < n->g->n; v++)
        found += !n->g->v[v].gone && n->g->v[v].type == TYPE_NODE &&
                 naive_satisfies_constraint(n, v) && (satisfiability || !n->g->v[v].down) &&
                 naive_avail(n, v, at, at + duration) == 1;
    return found >= want;
}

static bool counts_free(const struct naive *n, int64_t at, int64_t end)
{
    uint32_t root = n->g->root[GRAPH_CONTAINMENT];

    for (uint32_t t = 0; t < n->types; t++)
        if (naive_tracks(n, root, t) &&
            n->total[(size_t)root * n->types + t] - naive_load(&n->spot[root], at, end, 2 + t) <
                n->all[t])
            return false;
    return true;
}

static int select_far(struct naive *n, int64_t duration)
{
    n->any_status = true;
    int error = select_at(n, INT64_MAX - duration - 1, duration, false);
    return error ? ENODEV : 0;
}

static int schedule(struct naive *n, match_op_t op, int64_t duration)
{
    n->any_status = false;
    if (op == MATCH_SATISFIABILITY)
        return select_far(n, duration);
    if (!is_feasible(n, op, duration))
        return op == MATCH_ALLOCATE_W_SATISFIABILITY ? ENODEV : EBUSY;
    if (select_at(n, n->now, duration, true) == 0)
        return 0;
    if (op == MATCH_ALLOCATE || op == MATCH_WITHOUT_ALLOCATING)
        return EBUSY;
    if (op != MATCH_ALLOCATE_W_SATISFIABILITY)
        for (int64_t t = naive_next_point(n, n->now); t >= 0; t = naive_next_point(n, t))
            if (counts_free(n, t, t + duration) && select_at(n, t, duration, false) == 0)
                return 0;
    return select_far(n, duration) ? ENODEV : EBUSY;
}

int naive_run(struct naive *n, match_op_t op, const jobspec_t *spec, int64_t jobid, int64_t now,
              int64_t *at)
{
    double d = spec->duration;
    int64_t duration = d == 0 ? MATCH_END : (int64_t)d + (d > (double)(int64_t)d);

    naive_drain(n);
    n->found.n = 0;
    free(n->queue);
    n->queue = spec->queue ? strdup(spec->queue) : NULL;
    n->found.queue = n->queue;
    n->spec = spec;
    n->now = now;
    n->rtype = naive_draw(n, spec->nresources * sizeof(*n->rtype));
    n->wants = naive_draw(n, spec->nresources * n->types * sizeof(*n->wants));
    n->all = naive_draw(n, n->types * sizeof(*n->all));
    n->whole = naive_draw(n, n->types);
    n->whole[TYPE_NODE] = n->rules->node_exclusive;
    for (uint32_t i = 0; i < spec->nresources; i++) {
        uint32_t type;
        if (!intern_find(&n->g->types, res(n, i)->type, strlen(res(n, i)->type), &type))
            return EINVAL;
        n->rtype[i] = (uint16_t)type;
    }
    prime(n, 0, n->all);
    n->allocates = op <= MATCH_ALLOCATE_W_SATISFIABILITY;
    int error = schedule(n, op, duration);
    if (error || op == MATCH_SATISFIABILITY)
        return error;
    error = naive_finish(n, jobid, duration);
    *at = n->at;
    if (error)
        n->found.n = 0;
    return error;
}
