/* The naive tree of shares. */
#include "naive_share.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

__extension__ typedef unsigned __int128 uwide;

uint32_t naive_children(const struct naive_share *m, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i < m->n; i++)
        n += m->node[i].parent == node;
    return n;
}

bool naive_is_below(const struct naive_share *m, uint32_t node, uint32_t above)
{
    while (node != above && node != SHARE_ROOT)
        node = m->node[node].parent;
    return node == above;
}

uint32_t naive_common(const struct naive_share *m, uint32_t a, uint32_t b)
{
    while (!naive_is_below(m, b, a))
        a = m->node[a].parent;
    return a;
}

int64_t naive_sum(const struct naive_share *m, uint32_t node, uint32_t states, uint32_t d)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < m->n_jobs; i++)
        if (states >> m->job[i].state & 1 && naive_is_below(m, m->job[i].leaf, node))
            sum += m->job[i].amount[d];
    return sum;
}

uint64_t naive_count(const struct naive_share *m, uint32_t node, enum share_state state)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < m->n_jobs; i++)
        n += m->job[i].state == state && naive_is_below(m, m->job[i].leaf, node);
    return n;
}

enum { DEMANDED = 1 << SHARE_WAITING | 1 << SHARE_PROMISED | 1 << SHARE_RUNNING };
enum { RECEIVED = 1 << SHARE_PROMISED | 1 << SHARE_RUNNING };

static int64_t asks(const struct naive_share *m, uint32_t node, uint32_t d)
{
    const struct share_settings *s = &m->node[node].settings;
    int64_t demand = naive_demand(m, node, d);
    return s->keeps_guarantee && demand < s->guarantee[d] ? s->guarantee[d] : demand;
}

int64_t naive_demand(const struct naive_share *m, uint32_t node, uint32_t d)
{
    int64_t sum = 0;
    for (uint32_t i = 1; i < m->n; i++)
        if (m->node[i].parent == node)
            sum += asks(m, i, d);
    if (naive_children(m, node) == 0)
        sum = naive_sum(m, node, DEMANDED, d);
    int64_t capability = m->node[node].settings.capability[d];
    return node != SHARE_ROOT && sum > capability ? capability : sum;
}

struct ends {
    int64_t low, high, weight;
    uint32_t node;
};

static struct ends ends_of(const struct naive_share *m, uint32_t node, uint32_t d)
{
    const struct share_settings *s = &m->node[node].settings;
    int64_t high = asks(m, node, d), low = s->guarantee[d];
    if (s->deserved[d] != SHARE_UNSET) {
        low = low > s->deserved[d] ? low : s->deserved[d];
        high = high < low ? high : low;
    }
    return (struct ends){low < high ? low : high, high, s->weight, node};
}

/* What all would be given at the level p/q, times q. */
static wide at_level(const struct ends *e, uint32_t n, int64_t p, int64_t q)
{
    wide sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        wide part = (wide)e[i].weight * p, low = (wide)e[i].low * q, high = (wide)e[i].high * q;
        sum += part < low ? low : part > high ? high : part;
    }
    return sum;
}

/* Find the last end at whose level there is not too much given: beyond it up to the true level, the same
 * children are between their ends.
 */
static void fill(const struct ends *e, uint32_t n, int64_t amount, int64_t *parts)
{
    int64_t p = 0, q = 1;
    for (uint32_t i = 0; i < 2 * n; i++) {
        int64_t p2 = i % 2 ? e[i / 2].low : e[i / 2].high, q2 = e[i / 2].weight;
        if (q2 > 0 && (wide)p2 * q >= (wide)p * q2 && at_level(e, n, p2, q2) <= (wide)amount * q2) {
            p = p2;
            q = q2;
        }
    }
    int64_t weights = 0;
    for (uint32_t i = 0; i < n; i++) {
        wide level = (wide)e[i].weight * p;
        bool open = level >= (wide)e[i].low * q && level < (wide)e[i].high * q && e[i].weight > 0;
        parts[i] = open ? -1 : level < (wide)e[i].high * q ? e[i].low : e[i].high;
        weights += open ? e[i].weight : 0;
        amount -= open ? 0 : parts[i];
    }
    wide before = 0;
    for (uint32_t i = 0; i < n; i++)
        if (parts[i] < 0) {
            parts[i] = (int64_t)((before + e[i].weight) * amount / weights) -
                       (int64_t)(before * amount / weights);
            before += e[i].weight;
        }
}

int64_t naive_deserved(const struct naive_share *m, uint32_t node, uint32_t d)
{
    if (node == SHARE_ROOT)
        return m->total[d];
    int64_t there_is = naive_deserved(m, m->node[node].parent, d);
    struct ends e[NAIVE_NODES];
    int64_t parts[NAIVE_NODES], lows = 0, highs = 0;
    uint32_t n = 0, own = 0;
    for (uint32_t i = 1; i < m->n; i++)
        if (m->node[i].parent == m->node[node].parent) {
            own = i == node ? n : own;
            e[n] = ends_of(m, i, d);
            lows += e[n].low;
            highs += e[n++].high;
        }
    int64_t amount = there_is < highs ? there_is : highs;
    wide before = 0;
    for (uint32_t i = 0; i < n && amount <= lows; i++) {
        parts[i] = lows == 0 ? 0
                             : (int64_t)((before + e[i].low) * amount / lows) -
                                   (int64_t)(before * amount / lows);
        before += e[i].low;
    }
    if (amount > lows)
        fill(e, n, amount, parts);
    const struct share_settings *s = &m->node[node].settings;
    int64_t part = parts[own];
    if (s->deserved[d] == SHARE_UNSET || part < e[own].high)
        return part;
    int64_t whole = s->deserved[d] > s->guarantee[d] ? s->deserved[d] : s->guarantee[d];
    whole = whole < s->capability[d] ? whole : s->capability[d];
    whole = whole < there_is ? whole : there_is;
    return part > whole ? part : whole;
}

/* What a node may have at most. */
static int64_t room(const struct naive_share *m, uint32_t node, uint32_t d)
{
    if (node == SHARE_ROOT)
        return SHARE_UNLIMITED;
    int64_t above = room(m, m->node[node].parent, d), kept = 0;
    for (uint32_t i = 1; i < m->n; i++)
        if (i != node && m->node[i].parent == m->node[node].parent &&
            m->node[i].settings.keeps_guarantee)
            kept += m->node[i].settings.guarantee[d];
    if (kept > 0)
        above = (above < m->total[d] ? above : m->total[d]) - kept;
    above = above < 0 ? 0 : above;
    int64_t capability = m->node[node].settings.capability[d];
    return above < capability ? above : capability;
}

bool naive_allows(const struct naive_share *m, uint32_t leaf, const int64_t *amount)
{
    for (uint32_t i = leaf; i != SHARE_ROOT; i = m->node[i].parent)
        for (uint32_t d = 0; d < m->dimensions; d++)
            if (amount[d] > 0 && (wide)naive_sum(m, i, RECEIVED, d) + amount[d] > room(m, i, d))
                return false;
    return true;
}

bool naive_is_entitled(const struct naive_share *m, uint32_t leaf, uint32_t end,
                       const int64_t *amount)
{
    for (uint32_t i = leaf; i != end; i = m->node[i].parent)
        for (uint32_t d = 0; d < m->dimensions; d++)
            if (amount[d] > 0 && naive_sum(m, i, RECEIVED, d) + amount[d] > naive_deserved(m, i, d))
                return false;
    return true;
}

bool naive_may_reclaim(const struct naive_share *m, uint32_t taker, const int64_t *amount,
                       uint32_t giver, const int64_t *given)
{
    if (taker == giver)
        return false;
    uint32_t end = naive_common(m, taker, giver);
    bool some = false;
    int64_t taken[SHARE_DIMENSIONS_MAX] = {0}; /* what is not given, the taker may borrow */
    for (uint32_t d = 0; d < m->dimensions; d++) {
        bool over = amount[d] > 0 && given[d] > 0;
        taken[d] = over ? amount[d] : 0;
        for (uint32_t i = giver; i != end; i = m->node[i].parent) {
            int64_t received = naive_sum(m, i, RECEIVED, d);
            over &= received > naive_deserved(m, i, d);
            if (given[d] > 0 && received - given[d] < m->node[i].settings.guarantee[d])
                return false;
        }
        some |= over;
    }
    return some && naive_is_entitled(m, taker, end, taken);
}

void naive_note(struct naive_share *m, uint32_t leaf, int64_t now)
{
    for (uint32_t i = leaf;; i = m->node[i].parent) {
        long double rate = 0;
        for (uint32_t d = 0; d < m->dimensions; d++)
            rate += (long double)naive_sum(m, i, 1 << SHARE_RUNNING, d) *
                    (long double)m->rule.weights[d];
        assert(m->n_changes < NAIVE_CHANGES);
        m->change[m->n_changes++] = (struct naive_change){i, now, rate, 0};
        if (i == SHARE_ROOT)
            return;
    }
}

long double naive_usage(const struct naive_share *m, uint32_t node, int64_t now, long double *error)
{
    long double sum = 0, rate = 0, most = 1, changes = 1;
    int64_t since = now;
    long double h = (long double)m->rule.half_life;
    for (uint32_t i = 0; i <= m->n_changes; i++) {
        const struct naive_change *c = &m->change[i];
        if (i < m->n_changes && c->node != node)
            continue;
        int64_t at = i < m->n_changes ? c->at : now;
        /* The integral of what ran from `since` to `at`, each instant by its age. */
        sum += rate * (exp2l((long double)(at - now) / h) - exp2l((long double)(since - now) / h));
        if (i == m->n_changes)
            break;
        sum += c->more * exp2l((long double)(at - now) / h);
        rate = c->rate;
        since = at;
        changes++;
        most = rate > most ? rate : most;
        most = fabsl(c->more) > most ? fabsl(c->more) : most;
    }
    /* Where long doubles are no longer than doubles, this integral is the coarser one. */
    volatile long double one = 1;
    *error = changes * (0x1p-32L + most * (one + 0x1p-62L > one ? 0x1p-58L : 0x1p-46L));
    return sum;
}

/* Compare a / b with c / d by products of twice the length. */
static int compare_fractions(wide a, wide b, wide c, wide d)
{
    uint64_t left[4] = {0}, right[4] = {0};
    for (int side = 0; side < 2; side++) {
        uwide x = (uwide)(side ? c : a), y = (uwide)(side ? b : d);
        uint64_t *out = side ? right : left;
        for (int i = 0; i < 2; i++) {
            uwide carry = 0;
            for (int j = 0; j < 2; j++) {
                carry += (uwide)(uint64_t)(x >> (64 * i)) * (uint64_t)(y >> (64 * j)) + out[i + j];
                out[i + j] = (uint64_t)carry;
                carry >>= 64;
            }
            out[i + 2] = (uint64_t)carry;
        }
    }
    for (int i = 3; i >= 0; i--)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

/* The largest fraction of what is received of what is deserved, or of what there is. */
static bool dominant(const struct naive_share *m, uint32_t node, bool of_total, wide *n, wide *q)
{
    bool any = false;
    *n = 0;
    *q = 1;
    for (uint32_t d = 0; d < m->dimensions; d++) {
        wide received = naive_sum(m, node, RECEIVED, d);
        wide of = of_total ? m->total[d] : naive_deserved(m, node, d);
        any |= of > 0;
        if (of == 0 && (of_total || received == 0))
            continue;
        if (of == 0)
            received = of = 1;
        if (compare_fractions(received, of, *n, *q) > 0) {
            *n = received;
            *q = of;
        }
    }
    return any;
}

static int by_weight(const struct naive_share *m, uint32_t a, uint32_t b, const wide *v)
{
    int64_t x = m->node[a].settings.weight, y = m->node[b].settings.weight;
    if ((x > 0) != (y > 0))
        return x > 0 ? -1 : 1;
    return compare_fractions(v[0], v[1] * (x > 0 ? x : 1), v[2], v[3] * (y > 0 ? y : 1));
}

static wide usage_of(const struct share_tree *t, uint32_t node, int64_t now)
{
    struct share_usage u = share_usage(t, node, now);
    return (wide)((uwide)u.high << 64 | u.low);
}

static int by_one(const struct naive_share *m, const struct share_tree *t, enum share_by by,
                  const uint32_t *node, const struct share_first **first, int64_t now)
{
    const uint32_t a = node[0], b = node[1];
    wide v[4];
    switch (by) {
    case SHARE_BY_NODE_PRIORITY:
        return m->node[b].settings.priority > m->node[a].settings.priority   ? 1
               : m->node[b].settings.priority < m->node[a].settings.priority ? -1
                                                                             : 0;
    case SHARE_BY_JOB_PRIORITY:
        return first[0]->priority < first[1]->priority   ? 1
               : first[0]->priority > first[1]->priority ? -1
                                                         : 0;
    case SHARE_BY_SHARE: {
        bool x = dominant(m, a, false, &v[0], &v[1]), y = dominant(m, b, false, &v[2], &v[3]);
        if (x != y)
            return x ? -1 : 1;
        if (!x) {
            dominant(m, a, true, &v[0], &v[1]);
            dominant(m, b, true, &v[2], &v[3]);
        }
        return compare_fractions(v[0], v[1], v[2], v[3]);
    }
    case SHARE_BY_DRF:
        dominant(m, a, true, &v[0], &v[1]);
        dominant(m, b, true, &v[2], &v[3]);
        return by_weight(m, a, b, v);
    case SHARE_BY_USAGE:
        v[0] = usage_of(t, a, now);
        v[2] = usage_of(t, b, now);
        v[1] = v[3] = 1;
        return by_weight(m, a, b, v);
    case SHARE_BY_FEWEST_RUNNING: {
        uint64_t x = naive_count(m, a, SHARE_RUNNING), y = naive_count(m, b, SHARE_RUNNING);
        return x < y ? -1 : x > y;
    }
    case SHARE_BY_GANG:
        return first[0]->has_min - first[1]->has_min;
    case SHARE_BY_DEADLINE:
        return first[0]->deadline < first[1]->deadline ? -1
                                                       : first[0]->deadline > first[1]->deadline;
    case SHARE_BY_AGE:
        return first[0]->since < first[1]->since ? -1 : first[0]->since > first[1]->since;
    case SHARE_BY_SUBMIT:
        return first[0]->submit < first[1]->submit ? -1 : first[0]->submit > first[1]->submit;
    default:
        return 0;
    }
}

/* By what a node lists of gang, priority and deadline, then by priority, deadline and number. */
static bool goes_first(const struct share_first *a, const struct share_first *b, const uint8_t *by)
{
    for (int i = 0; i < SHARE_BY_MAX && by[i] != SHARE_BY_END; i++) {
        if (by[i] == SHARE_BY_GANG && a->has_min != b->has_min)
            return b->has_min;
        if (by[i] == SHARE_BY_JOB_PRIORITY && a->priority != b->priority)
            return a->priority > b->priority;
        if (by[i] == SHARE_BY_DEADLINE && a->deadline != b->deadline)
            return a->deadline < b->deadline;
    }
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->deadline != b->deadline ? a->deadline < b->deadline : a->submit < b->submit;
}

/* The first job that waits below a node; NULL: none does. */
static const struct share_first *first_in(const struct naive_share *m, uint32_t node)
{
    const struct share_first *first = NULL;
    if (naive_children(m, node) == 0)
        return m->node[node].any_waits ? &m->node[node].waits : NULL;
    for (uint32_t i = 1; i < m->n; i++) {
        const struct share_first *waits = m->node[i].parent == node ? first_in(m, i) : NULL;
        if (waits && (!first || goes_first(waits, first, m->node[node].settings.by)))
            first = waits;
    }
    return first;
}

/* What a child stands for in which a leaf would be chosen. */
static const struct share_first *stands_for(const struct naive_share *m, uint32_t child,
                                            uint32_t leaf)
{
    return !m->by_first || child == leaf ? &m->node[leaf].first : first_in(m, child);
}

/* The leaf that is next at or below a node; SHARE_NO_NODE if none is offered there. */
static uint32_t best(const struct naive_share *m, const struct share_tree *t, uint32_t node,
                     int64_t now)
{
    if (m->node[node].closed)
        return SHARE_NO_NODE;
    if (naive_children(m, node) == 0)
        return m->node[node].offered ? node : SHARE_NO_NODE;
    uint32_t leaf = SHARE_NO_NODE, child = SHARE_NO_NODE;
    for (uint32_t i = 1; i < m->n; i++) {
        uint32_t other = m->node[i].parent == node ? best(m, t, i, now) : SHARE_NO_NODE;
        if (other == SHARE_NO_NODE)
            continue;
        int c = leaf == SHARE_NO_NODE ? -1 : 0;
        for (uint32_t k = 0; c == 0 && k < SHARE_BY_MAX; k++) {
            enum share_by by = m->node[node].settings.by[k];
            if (by == SHARE_BY_END)
                break;
            c = by_one(
                m, t, by, (const uint32_t[]){i, child},
                (const struct share_first *[]){stands_for(m, i, other), stands_for(m, child, leaf)},
                now);
        }
        if (c < 0) {
            leaf = other;
            child = i;
        }
    }
    return leaf;
}

uint32_t naive_next(const struct naive_share *m, const struct share_tree *t, int64_t now)
{
    return best(m, t, SHARE_ROOT, now);
}
