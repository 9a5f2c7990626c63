#include "pilot/lay.h"

#include "base/array.h"

/* ---- Nodes ---- */

static struct bin *add_bin(struct laying *l, const int64_t free[PILOT_KINDS], int64_t life)
{
    if (array_grow((void **)&l->bin, &l->cap, l->n + 1, sizeof(*l->bin)) < 0)
        return NULL;
    struct bin *b = &l->bin[l->n++];
    *b = (struct bin){.pilot = NONE, .ask = NONE, .life = life};
    for (int k = 0; k < PILOT_KINDS; k++) {
        b->wide[k] = free[k];
        b->area[k] = (__int128)free[k] * l->ahead;
    }
    return b;
}

/* First those that are up, then those that come. */
int lay_begin(struct laying *l)
{
    const struct pilot_case *in = l->in;
    for (size_t i = 0; i < in->n_nodes; i++) {
        const struct pilot_node *node = &in->node[i];
        if (node->pilot != PILOT_OWN && in->pilot[node->pilot].state != PILOT_UP)
            continue;
        struct bin *b = add_bin(
            l, node->free, node->end == INT64_MAX ? INT64_MAX : greater(node->end - in->now, 0));
        if (!b)
            return -1;
        b->pilot = node->pilot;
    }
    for (size_t i = 0; i < in->n_pilots; i++)
        for (int64_t k = 0; in->pilot[i].state == PILOT_WAITS && k < in->pilot[i].nodes; k++) {
            struct bin *b = add_bin(l, in->rule->node, in->pilot[i].time);
            if (!b)
                return -1;
            b->pilot = i;
        }
    return 0;
}

static bool lasts_for(const struct laying *l, const struct bin *b, const struct pilot_want *w)
{
    return b->life == INT64_MAX || w->limit <= b->life - l->margin;
}

/* How many of so many a node has room for. */
static int64_t room_for(const struct laying *l, const struct bin *b, const struct pilot_want *w,
                        int64_t n)
{
    int64_t takes = lesser(w->takes, l->ahead);
    if (!lasts_for(l, b, w))
        return 0;
    for (int k = 0; k < PILOT_KINDS; k++) {
        if (w->amount[k] == 0)
            continue;
        __int128 fit = b->area[k] / ((__int128)w->amount[k] * takes);
        if (w->amount[k] > b->wide[k])
            return 0;
        if (w->takes >= l->ahead)
            n = lesser(n, b->wide[k] / w->amount[k]);
        n = fit < n ? (int64_t)fit : n;
    }
    return n;
}

static void put_into_bin(struct laying *l, struct bin *b, const struct pilot_want *w, int64_t n)
{
    int64_t takes = lesser(w->takes, l->ahead);
    for (int k = 0; k < PILOT_KINDS; k++) {
        b->area[k] -= (__int128)w->amount[k] * takes * n;
        b->wide[k] -= w->takes >= l->ahead ? w->amount[k] * n : 0;
    }
    if (b->pilot != NONE)
        l->plan->used[b->pilot] = true;
    if (b->ask != NONE) {
        l->plan->ask[b->ask].members += n;
        l->longest[b->ask] = greater(l->longest[b->ask], w->limit);
    }
}

/* ---- New pilots ---- */

/* A new one of so many nodes, none of which is there yet. -1 with ENOMEM. */
static int add_ask(struct laying *l, int64_t nodes)
{
    struct pilot_plan *plan = l->plan;
    size_t n = plan->n_asks;
    if (array_grow((void **)&plan->ask, &l->cap_asks, n + 1, sizeof(*plan->ask)) < 0 ||
        array_grow((void **)&l->longest, &l->cap_longest, n + 1, sizeof(*l->longest)) < 0)
        return -1;
    plan->ask[n] = (struct pilot_ask){.nodes = nodes, .time = l->in->rule->time};
    l->longest[n] = 0;
    plan->n_asks++;
    return 0;
}

/* Nodes of new pilots: all of one of their own where they are needed together. 1; 0: a bound forbids it; -1. */
static int add_nodes(struct laying *l, int64_t nodes, enum pilot_bound *bound)
{
    const struct pilot_rule *rule = l->in->rule;
    bool joins = nodes == 1 && l->open != NONE && l->plan->ask[l->open].nodes < l->each;
    *bound = nodes > l->room ? PILOT_BY_NODES : PILOT_BY_BUDGET;
    if (nodes > l->room || (l->left < INT64_MAX && l->left / rule->time < nodes))
        return 0;
    if (!joins && add_ask(l, joins ? 0 : nodes) < 0)
        return -1;
    size_t ask = joins ? l->open : l->plan->n_asks - 1;
    l->plan->ask[ask].nodes += joins;
    l->open = nodes == 1 ? ask : l->open;
    l->room -= nodes;
    l->left -= l->left < INT64_MAX ? nodes * rule->time : 0;
    for (int64_t i = 0; i < nodes; i++) {
        struct bin *b = add_bin(l, rule->node, rule->time);
        if (!b)
            return -1;
        b->ask = ask;
    }
    return 1;
}

/* ---- Jobs ---- */

/* What is there for one of the first members that is not on a node that is up. */
static void judge_bin(struct laying *l, struct pilot_verdict *v, const struct bin *b, int64_t n)
{
    enum pilot_fate fate = b->ask != NONE                                ? PILOT_LACKING
                           : b->pilot == NONE                            ? PILOT_SOON
                           : l->in->pilot[b->pilot].state == PILOT_WAITS ? PILOT_QUEUED
                                                                         : PILOT_SOON;
    if (fate > v->fate && v->fate == PILOT_SOON)
        *v = (struct pilot_verdict){.fate = fate};
    if (fate == v->fate)
        v->members += n;
    if (fate == PILOT_QUEUED && v->pilot == 0)
        v->pilot = l->in->pilot[b->pilot].number;
}

/* The first of those that no bound lets ask. */
static void judge_bound(struct laying *l, struct pilot_verdict *v, enum pilot_bound bound,
                        int64_t n)
{
    l->over = true;
    if (v->fate == PILOT_SOON)
        *v = (struct pilot_verdict){.fate = PILOT_BOUND, .bound = bound, .members = n};
}

/* Members of one node each, of which any number may start. */
static int lay_single(struct laying *l, const struct pilot_want *w, int64_t n,
                      struct pilot_verdict *v)
{
    enum pilot_bound bound;
    for (size_t i = 0; n > 0; i++) {
        if (i == l->n) {
            int rc = add_nodes(l, 1, &bound);
            if (rc < 0)
                return -1;
            if (rc == 0) {
                judge_bound(l, v, bound, n);
                return 0;
            }
        }
        int64_t fit = room_for(l, &l->bin[i], w, n);
        if (fit == 0)
            continue;
        put_into_bin(l, &l->bin[i], w, fit);
        judge_bin(l, v, &l->bin[i], fit);
        n -= fit;
    }
    return 0;
}

/* So many pieces at the same time, each on a node of its own if `apart`. Returns whether there is room from a bin on. */
static bool lay_pieces(struct laying *l, const struct pilot_want *w, size_t from, int64_t pieces,
                       bool apart, struct pilot_verdict *v)
{
    struct pilot_want held = *w; /* while they run nobody follows them */
    int64_t found = 0;
    held.takes = greater(w->takes, l->ahead);
    for (size_t i = from; i < l->n && found < pieces; i++)
        found += room_for(l, &l->bin[i], &held, apart ? 1 : pieces - found);
    if (found < pieces)
        return false;
    for (size_t i = from; pieces > 0; i++) {
        int64_t fit = room_for(l, &l->bin[i], &held, apart ? 1 : pieces);
        if (fit == 0)
            continue;
        held.takes = w->takes;
        put_into_bin(l, &l->bin[i], &held, fit);
        held.takes = greater(w->takes, l->ahead);
        judge_bin(l, v, &l->bin[i], 0);
        pieces -= fit;
    }
    return true;
}

/* Members that need several nodes at a time, as one of several nodes or a gang does. */
static int lay_together(struct laying *l, const struct pilot_want *w, int64_t members,
                        struct pilot_verdict *v)
{
    enum pilot_bound bound;
    bool apart = w->nodes > 1;
    int64_t pieces = members * w->nodes, each = INT64_MAX;
    for (int k = 0; k < PILOT_KINDS; k++)
        each = w->amount[k] > 0 ? lesser(each, l->in->rule->node[k] / w->amount[k]) : each;
    if (!lay_pieces(l, w, 0, pieces, apart, v)) {
        size_t from = l->n;
        int rc = add_nodes(l, apart || each < 1 ? pieces : (pieces + each - 1) / each, &bound);
        if (rc < 0)
            return -1;
        if (rc == 0) {
            judge_bound(l, v, bound, members);
            return 0;
        }
        lay_pieces(l, w, from, pieces, apart, v);
    }
    v->members += members;
    return 1;
}

static bool could_never(const struct laying *l, const struct pilot_want *w, struct pilot_verdict *v)
{
    const struct pilot_rule *rule = l->in->rule;
    int64_t together = greater(w->together, 1), each = INT64_MAX;
    v->members = w->members;
    v->fate = PILOT_NEVER;
    v->why = PILOT_ELSEWHERE;
    if (w->elsewhere)
        return true;
    for (int k = 0; rule->node[PILOT_CORES] > 0 && k < PILOT_KINDS; k++) {
        v->why = PILOT_TOO_MANY_CORES + (unsigned)k;
        if (w->amount[k] > rule->node[k])
            return true;
        each = w->amount[k] > 0 ? lesser(each, rule->node[k] / w->amount[k]) : each;
    }
    v->why = PILOT_TOO_MANY_NODES;
    if (w->nodes > rule->max_nodes || (w->nodes > 1 && together > rule->max_nodes / w->nodes) ||
        (w->nodes == 1 && (together - 1) / each >= rule->max_nodes))
        return true;
    v->why = PILOT_NO_TIME;
    if (w->limit == 0)
        return true;
    v->why = PILOT_TOO_LONG;
    if (w->limit > rule->time - l->margin)
        return true;
    *v = (struct pilot_verdict){.fate = PILOT_SOON};
    return false;
}

int lay_want(struct laying *l, const struct pilot_want *w, struct pilot_verdict *v)
{
    int64_t n = w->members, together = greater(w->together, 1);
    int rc = 1;
    if (could_never(l, w, v))
        return 0;
    if (together > 1) {
        rc = lay_together(l, w, lesser(together, n), v);
        n -= lesser(together, n);
    }
    while (rc > 0 && n > 0 && w->nodes > 1) {
        rc = lay_together(l, w, 1, v);
        n--;
    }
    return rc > 0 && n > 0 ? lay_single(l, w, n, v) : rc < 0 ? -1 : 0;
}

/* What a node has is learnt from one. */
int lay_to_learn(struct laying *l)
{
    struct pilot_plan *plan = l->plan;
    int64_t number = 0, members = 0;
    enum pilot_bound bound = PILOT_BY_NODES;
    for (size_t i = 0; i < l->in->n_pilots; i++)
        if (l->in->pilot[i].state == PILOT_WAITS)
            number = l->in->pilot[i].number;
    for (size_t i = 0; i < l->in->n_wants; i++) {
        struct pilot_verdict *v = &plan->verdict[i];
        if (could_never(l, &l->in->want[i], v))
            continue;
        members += l->in->want[i].members;
        v->fate = number ? PILOT_QUEUED : PILOT_LACKING;
        v->pilot = number;
        v->members = l->in->want[i].members;
    }
    for (size_t i = 0; i < l->in->n_pilots; i++)
        plan->used[i] = members > 0;
    int rc = members > 0 && number == 0 ? add_nodes(l, 1, &bound) : 1;
    for (size_t i = 0; rc == 0 && i < l->in->n_wants; i++)
        if (plan->verdict[i].fate == PILOT_LACKING) {
            plan->verdict[i].fate = PILOT_BOUND;
            plan->verdict[i].bound = bound;
        }
    if (rc > 0 && plan->n_asks > 0)
        plan->ask[0].members = members;
    l->over = true; /* for all of the rule's time */
    return rc < 0 ? -1 : 0;
}
