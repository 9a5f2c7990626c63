/* Nodes, and what they are told. */
#include "share/tree_inner.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int refuse_with_errno(int error)
{
    errno = error;
    return -1;
}

static bool in_range(const int64_t *amount, uint32_t dimensions, int64_t least)
{
    for (uint32_t d = 0; d < dimensions; d++)
        if (amount[d] < least || amount[d] > SHARE_MOST)
            return false;
    return true;
}

static bool rule_is_good(const struct share_usage_rule *rule, uint32_t dimensions)
{
    if (rule->half_life < 1 || rule->half_life > SHARE_HALF_LIFE_MAX)
        return false;
    for (uint32_t d = 0; d < dimensions; d++)
        if (rule->weights[d] < 0 || rule->weights[d] > 1 << 20)
            return false;
    return true;
}

static bool settings_are_good(const struct share_tree *t, const struct share_settings *s)
{
    if (s->weight < 0 || s->weight > SHARE_WEIGHT_MAX ||
        !in_range(s->guarantee, t->dimensions, 0) ||
        !in_range(s->deserved, t->dimensions, SHARE_UNSET))
        return false;
    for (uint32_t d = 0; d < t->dimensions; d++)
        if (s->capability[d] < 0 ||
            (s->capability[d] > SHARE_MOST && s->capability[d] != SHARE_UNLIMITED) ||
            s->capability[d] < s->guarantee[d])
            return false;
    for (uint32_t i = 0; i < SHARE_BY_MAX; i++)
        if (s->by[i] >= SHARE_BYS)
            return false;
    return true;
}

/* Memory for one more node. */
static int grow_nodes(struct share_tree *t)
{
    if (t->n < t->cap)
        return 0;
    uint32_t cap = t->cap ? t->cap * 2 : 16;
    struct share_node *nodes = reallocarray(t->nodes, cap, sizeof(*nodes));
    if (!nodes)
        return refuse_with_errno(ENOMEM);
    t->nodes = nodes;
    int64_t *amounts =
        reallocarray(t->amounts, (size_t)cap * VECTORS * t->dimensions, sizeof(*amounts));
    if (!amounts)
        return refuse_with_errno(ENOMEM);
    t->amounts = amounts;
    struct share_end *ends = reallocarray(t->ends, (size_t)cap * t->dimensions, sizeof(*ends));
    if (!ends)
        return refuse_with_errno(ENOMEM);
    t->ends = ends;
    t->cap = cap;
    return 0;
}

/* Memory for one more child in the heaps of a filling. */
static int grow_filling(const struct share_tree *t, struct share_node *parent, uint32_t cap)
{
    if (!parent->filling) {
        parent->filling = calloc(t->dimensions, sizeof(*parent->filling));
        if (!parent->filling)
            return refuse_with_errno(ENOMEM);
        for (uint32_t d = 0; d < t->dimensions; d++)
            parent->filling[d].denominator = 1;
    }
    uint32_t heaps = t->dimensions * EDGES;
    uint32_t *edges = reallocarray(NULL, (size_t)cap * heaps, sizeof(*edges));
    if (!edges)
        return refuse_with_errno(ENOMEM);
    for (uint32_t i = 0; i < heaps && parent->n_children > 0; i++)
        memcpy(edges + (size_t)i * cap, parent->edges + (size_t)i * parent->cap_children,
               parent->n_children * sizeof(*edges));
    free(parent->edges);
    parent->edges = edges;
    return 0;
}

/* Memory for one more child, in the lists and for the filling. */
static int grow_children(struct share_tree *t, struct share_node *parent)
{
    if (parent->n_children < parent->cap_children)
        return 0;
    uint32_t cap = parent->cap_children ? parent->cap_children * 2 : 4;
    uint32_t **lists[] = {&parent->children, &parent->heap, &parent->waiters};
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        uint32_t *list = reallocarray(*lists[i], cap, sizeof(*list));
        if (!list)
            return refuse_with_errno(ENOMEM);
        *lists[i] = list;
    }
    if (cap > t->cap_open) {
        uint32_t *open = reallocarray(t->open, cap, sizeof(*open));
        if (!open)
            return refuse_with_errno(ENOMEM);
        t->open = open;
        t->cap_open = cap;
    }
    if (grow_filling(t, parent, cap) < 0)
        return -1;
    parent->cap_children = cap;
    return 0;
}

/* Put settings into a node. */
static void apply(struct share_tree *t, uint32_t node, const struct share_settings *s)
{
    struct share_node *n = &t->nodes[node];
    n->weight = s->weight;
    n->priority = s->priority;
    n->keeps_guarantee = s->keeps_guarantee;
    n->by_job = false;
    memset(n->by, SHARE_BY_END, sizeof(n->by));
    for (uint32_t i = 0; i < SHARE_BY_MAX && s->by[i] != SHARE_BY_END; i++) {
        n->by[i] = s->by[i];
        n->by_job |= s->by[i] == SHARE_BY_JOB_PRIORITY || s->by[i] >= SHARE_BY_GANG;
        t->by_usage |= s->by[i] == SHARE_BY_USAGE;
        t->by_share |= s->by[i] == SHARE_BY_SHARE;
    }
    t->by_job |= n->by_job;
    share_first_by(t, node);
    size_t size = t->dimensions * sizeof(int64_t);
    memcpy(share_vec(t, node, V_GUARANTEE), s->guarantee, size);
    memcpy(share_vec(t, node, V_CAPABILITY), s->capability, size);
    memcpy(share_vec(t, node, V_CONFIGURED), s->deserved, size);
    t->rooms_stale = true;
    t->epoch++;
}

void share_default_settings(struct share_settings *s)
{
    *s = (struct share_settings){.weight = 1};
    for (uint32_t d = 0; d < SHARE_DIMENSIONS_MAX; d++) {
        s->capability[d] = SHARE_UNLIMITED;
        s->deserved[d] = SHARE_UNSET;
    }
}

/* Take the next number for a node without jobs or children. There is memory. */
static uint32_t put_node(struct share_tree *t, uint32_t parent)
{
    uint32_t node = t->n++;
    t->nodes[node] =
        (struct share_node){.parent = parent, .changed = SHARE_NO_NODE, .usage_at = t->now};
    memset(share_vec(t, node, 0), 0, VECTORS * t->dimensions * sizeof(int64_t));
    memset(t->ends + (uint64_t)node * t->dimensions, 0, t->dimensions * sizeof(*t->ends));
    return node;
}

struct share_tree *share_new(uint32_t dimensions, const int64_t *total,
                             const struct share_usage_rule *rule)
{
    if (dimensions < 1 || dimensions > SHARE_DIMENSIONS_MAX || !in_range(total, dimensions, 0) ||
        (rule && !rule_is_good(rule, dimensions))) {
        errno = EINVAL;
        return NULL;
    }
    struct share_tree *t = calloc(1, sizeof(*t));
    if (!t) {
        errno = ENOMEM;
        return NULL;
    }
    t->dimensions = dimensions;
    t->now = INT64_MIN;
    if (grow_nodes(t) < 0) {
        share_free(t);
        errno = ENOMEM;
        return NULL;
    }
    memcpy(t->total, total, dimensions * sizeof(*total));
    if (rule) {
        t->half_life = rule->half_life;
        memcpy(t->usage_weights, rule->weights, dimensions * sizeof(*rule->weights));
    }
    struct share_settings s;
    share_default_settings(&s);
    apply(t, put_node(t, SHARE_NO_NODE), &s);
    return t;
}

void share_free(struct share_tree *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->n; i++) {
        free(t->nodes[i].children);
        free(t->nodes[i].heap);
        free(t->nodes[i].waiters);
        free(t->nodes[i].filling);
        free(t->nodes[i].edges);
    }
    free(t->nodes);
    free(t->amounts);
    free(t->ends);
    free(t->open);
    free(t);
}

uint32_t share_nodes(const struct share_tree *t)
{
    return t->n;
}

uint32_t share_parent(const struct share_tree *t, uint32_t node)
{
    return t->nodes[node].parent;
}

uint32_t share_dimensions(const struct share_tree *t)
{
    return t->dimensions;
}

static bool is_in_use(const struct share_tree *t, uint32_t leaf)
{
    const struct share_node *n = &t->nodes[leaf];
    return n->offered || n->waiter > 0 ||
           n->jobs[SHARE_WAITING] + n->jobs[SHARE_PROMISED] + n->jobs[SHARE_RUNNING] > 0;
}

/* True if the guarantees of all nodes add up, one of them having changed. */
static bool guarantees_add_up(const struct share_tree *t, const int64_t *old, const int64_t *new)
{
    for (uint32_t d = 0; d < t->dimensions; d++)
        if (t->guarantees[d] - (old ? old[d] : 0) + new[d] > SHARE_MOST)
            return false;
    return true;
}

/* True if what the children of a node deserve is what it was, although one of them asks for another amount: it asks for
 * more than its part, before and now, so it is given what its weight gives it, or its guarantee; or it is given what is
 * configured, as it asks for that.
 */
static bool parts_stay(const struct share_tree *t, uint32_t child, uint32_t d, int64_t before,
                       int64_t now)
{
    int64_t guarantee = share_vec(t, child, V_GUARANTEE)[d];
    int64_t configured = share_vec(t, child, V_CONFIGURED)[d];
    int64_t less = before < now ? before : now;
    if (before == now)
        return true;
    if (configured != SHARE_UNSET)
        return less >= guarantee && less >= configured;
    return less >= guarantee && less > share_vec(t, child, V_DESERVED)[d];
}

/* A child asks its parent for another amount, or anew. */
static void ask_again(struct share_tree *t, uint32_t child)
{
    struct share_node *n = &t->nodes[child], *parent = &t->nodes[n->parent];
    for (uint32_t d = 0; d < t->dimensions; d++) {
        int64_t configured = share_vec(t, child, V_CONFIGURED)[d];
        int64_t guarantee = share_vec(t, child, V_GUARANTEE)[d];
        int64_t least = configured > guarantee ? configured : guarantee;
        if (configured != SHARE_UNSET && least > parent->filling[d].configured)
            parent->filling[d].configured = least;
    }
    if (n->is_changed)
        return;
    n->is_changed = true;
    n->next_changed = parent->changed;
    parent->changed = child;
}

/* Demand and what is wanted of a node and those above it, after the demand of its jobs, or its settings,
 * have changed. O(d).
 */
static void update_demand(struct share_tree *t, uint32_t node)
{
    uint32_t i = node;
    bool changed = true, stale = false;
    for (; i != SHARE_ROOT && changed; i = t->nodes[i].parent) {
        uint32_t parent = t->nodes[i].parent;
        const int64_t *capability = share_vec(t, i, V_CAPABILITY);
        const int64_t *waiting = share_vec(t, i, V_WAITING);
        const int64_t *received = share_vec(t, i, V_RECEIVED);
        const int64_t *wanted = share_vec(t, i, V_WANTED);
        int64_t *asks = share_vec(t, i, V_ASKS);
        int64_t *demand = share_vec(t, i, V_DEMAND);
        int64_t *above = share_vec(t, parent, V_WANTED);
        bool leaf = share_is_leaf(t, i), stay = true;
        changed = false;
        for (uint32_t d = 0; d < t->dimensions; d++) {
            int64_t sum = leaf ? waiting[d] + received[d] : wanted[d];
            demand[d] = sum < capability[d] ? sum : capability[d];
            int64_t now = share_wants(t, i, d);
            changed |= now != asks[d];
            stay = stay && parts_stay(t, i, d, asks[d], now);
            above[d] += now - asks[d];
            asks[d] = now;
        }
        if (changed)
            ask_again(t, i);
        stale |= !stay;
    }
    if (i == SHARE_ROOT)
        memcpy(share_vec(t, SHARE_ROOT, V_DEMAND), share_vec(t, SHARE_ROOT, V_WANTED),
               t->dimensions * sizeof(int64_t));
    if (stale && t->by_share && t->by_job && !t->by_first)
        t->epoch++; /* inner nodes may stand for other leaves */
}

uint32_t share_add(struct share_tree *t, uint32_t parent, const struct share_settings *s)
{
    if (parent >= t->n || (share_is_leaf(t, parent) && is_in_use(t, parent)) ||
        t->nodes[parent].depth >= SHARE_DEPTH_MAX || !settings_are_good(t, s) ||
        t->n >= SHARE_NODES_MAX) {
        errno = EINVAL;
        return SHARE_NO_NODE;
    }
    if (!guarantees_add_up(t, NULL, s->guarantee)) {
        errno = EOVERFLOW;
        return SHARE_NO_NODE;
    }
    if (grow_nodes(t) < 0 || grow_children(t, &t->nodes[parent]) < 0)
        return SHARE_NO_NODE;
    uint32_t node = put_node(t, parent);
    struct share_node *p = &t->nodes[parent];
    t->nodes[node].depth = p->depth + 1;
    p->children[p->n_children++] = node;
    for (uint32_t d = 0; d < t->dimensions; d++)
        t->guarantees[d] += s->guarantee[d];
    apply(t, node, s);
    ask_again(t, node);
    update_demand(t, node);
    t->changes++;
    return node;
}

int share_set(struct share_tree *t, uint32_t node, const struct share_settings *s)
{
    if (node >= t->n || !settings_are_good(t, s))
        return refuse_with_errno(EINVAL);
    struct share_settings plain;
    if (node == SHARE_ROOT) {
        share_default_settings(&plain);
        memcpy(plain.by, s->by, sizeof(plain.by));
        apply(t, node, &plain);
        return 0;
    }
    int64_t *old = share_vec(t, node, V_GUARANTEE);
    if (!guarantees_add_up(t, old, s->guarantee))
        return refuse_with_errno(EOVERFLOW);
    t->changes++;
    for (uint32_t d = 0; d < t->dimensions; d++)
        t->guarantees[d] += s->guarantee[d] - old[d];
    share_level_leave(t, node);
    apply(t, node, s);
    ask_again(t, node);
    update_demand(t, node);
    return 0;
}

int share_set_total(struct share_tree *t, const int64_t *total)
{
    if (!in_range(total, t->dimensions, 0))
        return refuse_with_errno(EINVAL);
    memcpy(t->total, total, t->dimensions * sizeof(*total));
    t->rooms_stale = true;
    t->epoch++;
    t->changes++;
    return 0;
}

/* Count jobs at a leaf and all nodes above it in a state, or no longer (sign -1). */
static void count_jobs_above(struct share_tree *t, uint32_t leaf, enum share_state state,
                             uint64_t jobs, const int64_t *amount, int sign, int64_t now)
{
    if (state == SHARE_ABSENT)
        return;
    for (uint32_t i = leaf; i != SHARE_NO_NODE; i = t->nodes[i].parent) {
        struct share_node *n = &t->nodes[i];
        assert(sign > 0 || n->jobs[state] >= jobs);
        n->jobs[state] += sign > 0 ? jobs : -jobs;
        if (state == SHARE_RUNNING)
            share_usage_settle(t, n, now);
        int64_t *sum = share_vec(t, i, state == SHARE_WAITING ? V_WAITING : V_RECEIVED);
        int64_t *running = share_vec(t, i, V_RUNNING);
        for (uint32_t d = 0; d < t->dimensions; d++) {
            sum[d] += sign * amount[d];
            assert(sum[d] >= 0);
            if (state == SHARE_RUNNING) {
                running[d] += sign * amount[d];
                n->rate += (share_wide)sign * amount[d] * t->usage_weights[d];
            }
        }
    }
}

int share_job(struct share_tree *t, uint32_t leaf, enum share_state from, enum share_state to,
              uint64_t n, const int64_t *amount, int64_t now)
{
    if (leaf >= t->n || leaf == SHARE_ROOT || !share_is_leaf(t, leaf) ||
        !in_range(amount, t->dimensions, 0) || from > SHARE_RUNNING || to > SHARE_RUNNING)
        return refuse_with_errno(EINVAL);
    bool comes = from == SHARE_ABSENT && to != SHARE_ABSENT;
    bool goes = from != SHARE_ABSENT && to == SHARE_ABSENT;
    for (uint32_t d = 0; d < t->dimensions; d++)
        if (comes && t->all[d] > SHARE_MOST - amount[d])
            return refuse_with_errno(EOVERFLOW);
    t->changes++;
    share_pass_time(t, now);
    count_jobs_above(t, leaf, from, n, amount, -1, t->now);
    count_jobs_above(t, leaf, to, n, amount, 1, t->now);
    for (uint32_t d = 0; (comes || goes) && d < t->dimensions; d++)
        t->all[d] += comes ? amount[d] : -amount[d];
    if (comes || goes)
        update_demand(t, leaf);
    share_reorder(t, leaf);
    return 0;
}

uint64_t share_changes(const struct share_tree *t)
{
    return t->changes;
}

void share_look(struct share_tree *t, uint32_t node, struct share_view *view)
{
    share_update_deserved(t, node);
    const struct share_node *n = &t->nodes[node];
    *view = (struct share_view){.parent = n->parent, .children = n->n_children};
    struct share_settings *s = &view->settings;
    *s = (struct share_settings){
        .weight = n->weight, .priority = n->priority, .keeps_guarantee = n->keeps_guarantee};
    memcpy(s->by, n->by, sizeof(s->by));
    memcpy(view->jobs, n->jobs, sizeof(view->jobs));
    size_t size = t->dimensions * sizeof(int64_t);
    memcpy(s->guarantee, share_vec(t, node, V_GUARANTEE), size);
    memcpy(s->capability, share_vec(t, node, V_CAPABILITY), size);
    memcpy(s->deserved, share_vec(t, node, V_CONFIGURED), size);
    memcpy(view->waiting, share_vec(t, node, V_WAITING), size);
    memcpy(view->received, share_vec(t, node, V_RECEIVED), size);
    memcpy(view->running, share_vec(t, node, V_RUNNING), size);
    memcpy(view->demand, share_vec(t, node, V_DEMAND), size);
    memcpy(view->deserved, share_vec(t, node, V_DESERVED), size);
}
