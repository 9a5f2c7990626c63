/* Whether a tree is right about itself. */
#include "share/tree_inner.h"

/* Sums over the children of an inner node. */
static bool sums_are_right(const struct share_tree *t, uint32_t node)
{
    const struct share_node *n = &t->nodes[node];
    static const enum share_vector summed[] = {V_WAITING, V_RECEIVED, V_RUNNING};
    for (uint32_t d = 0; d < t->dimensions; d++) {
        for (uint32_t k = 0; k < sizeof(summed) / sizeof(summed[0]); k++) {
            int64_t sum = 0;
            for (uint32_t i = 0; i < n->n_children; i++)
                sum += share_vec(t, n->children[i], summed[k])[d];
            if (sum != share_vec(t, node, summed[k])[d])
                return false;
        }
        int64_t asked = 0;
        for (uint32_t i = 0; i < n->n_children; i++)
            asked += share_wants(t, n->children[i], d);
        if (asked != share_vec(t, node, V_WANTED)[d])
            return false;
    }
    for (uint32_t state = SHARE_WAITING; state <= SHARE_RUNNING; state++) {
        uint64_t jobs = 0;
        for (uint32_t i = 0; i < n->n_children; i++)
            jobs += t->nodes[n->children[i]].jobs[state];
        if (jobs != n->jobs[state])
            return false;
    }
    return true;
}

static bool node_is_right(const struct share_tree *t, uint32_t node)
{
    const struct share_node *n = &t->nodes[node];
    for (uint32_t i = 0; i < n->n_children; i++) {
        uint32_t child = n->children[i];
        if (child <= node || child >= t->n || t->nodes[child].parent != node ||
            t->nodes[child].depth != n->depth + 1 || (i > 0 && child <= n->children[i - 1]))
            return false;
    }
    share_wide rate = 0;
    for (uint32_t d = 0; d < t->dimensions; d++) {
        int64_t waiting = share_vec(t, node, V_WAITING)[d];
        int64_t received = share_vec(t, node, V_RECEIVED)[d];
        int64_t running = share_vec(t, node, V_RUNNING)[d];
        int64_t capability = share_vec(t, node, V_CAPABILITY)[d];
        int64_t sum = n->n_children > 0 ? share_vec(t, node, V_WANTED)[d] : waiting + received;
        int64_t demand = sum < capability ? sum : capability;
        if (waiting < 0 || running < 0 || received < running ||
            share_vec(t, node, V_DEMAND)[d] != demand ||
            (node != SHARE_ROOT && share_vec(t, node, V_ASKS)[d] != share_wants(t, node, d)))
            return false;
        rate += (share_wide)running * t->usage_weights[d];
    }
    return n->rate == rate && n->usage >= 0 && (n->n_children == 0 || sums_are_right(t, node));
}

/* What a child is sure of, as long as there is as much: its guarantee or what is configured, if asked for. */
static int64_t sure_of(const struct share_tree *t, uint32_t child, uint32_t d)
{
    int64_t guarantee = share_vec(t, child, V_GUARANTEE)[d];
    int64_t configured = share_vec(t, child, V_CONFIGURED)[d];
    int64_t asks = share_vec(t, child, V_ASKS)[d];
    int64_t sure = configured > guarantee ? configured : guarantee;
    return sure < asks ? sure : asks;
}

static bool guarantees_are_met(const struct share_tree *t, uint32_t node, uint32_t d)
{
    const struct share_node *n = &t->nodes[node];
    int64_t sum = 0;
    bool met = true;
    for (uint32_t i = 0; i < n->n_children; i++) {
        int64_t sure = sure_of(t, n->children[i], d);
        sum += sure;
        met &= share_vec(t, n->children[i], V_DESERVED)[d] >= sure;
    }
    return met || sum > share_vec(t, node, V_DESERVED)[d];
}

/* True if the parts are between their ends and add up to all that there is to be given. */
static bool parts_add_up(const struct share_tree *t, uint32_t node)
{
    const struct share_node *n = &t->nodes[node];
    for (uint32_t d = 0; d < t->dimensions; d++) {
        int64_t there_is = share_vec(t, node, V_DESERVED)[d];
        int64_t given = 0, asked = 0;
        for (uint32_t i = 0; i < n->n_children; i++) {
            uint32_t child = n->children[i];
            int64_t asks = share_vec(t, child, V_ASKS)[d];
            int64_t part = share_vec(t, child, V_DESERVED)[d];
            if (part < 0 || part > share_vec(t, child, V_CAPABILITY)[d] || part > there_is)
                return false;
            bool by_weight = share_vec(t, child, V_CONFIGURED)[d] == SHARE_UNSET;
            if (by_weight && part > asks)
                return false;
            given += part < asks ? part : asks;
            asked += by_weight && t->nodes[child].weight > 0 ? asks : part < asks ? part : asks;
        }
        if (!guarantees_are_met(t, node, d) || given > there_is ||
            given < (asked < there_is ? asked : there_is))
            return false;
    }
    return true;
}

bool share_check(struct share_tree *t)
{
    share_update_deserved(t, SHARE_ROOT);
    for (uint32_t i = 0; i < t->n; i++)
        if (!node_is_right(t, i) || !share_parts_check(t, i) || !parts_add_up(t, i))
            return false;
    for (uint32_t d = 0; d < t->dimensions; d++) {
        int64_t guarantees = 0;
        for (uint32_t i = 0; i < t->n; i++)
            guarantees += share_vec(t, i, V_GUARANTEE)[d];
        if (guarantees != t->guarantees[d] ||
            t->all[d] !=
                share_vec(t, SHARE_ROOT, V_WAITING)[d] + share_vec(t, SHARE_ROOT, V_RECEIVED)[d])
            return false;
    }
    return share_order_check(t);
}
