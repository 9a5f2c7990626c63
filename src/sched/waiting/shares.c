#include "sched/waiting/shares.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sched/controllers/reach.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/may_fit.h"
#include "sched/waiting/turns.h"
#include "sched/waiting/usage_kept.h"

/* ---- The tree ---- */

static const uint8_t compares[SCHED_COMPARATORS] = {
    [SCHED_BY_PRIORITY] = SHARE_BY_JOB_PRIORITY,
    [SCHED_BY_SHARE] = SHARE_BY_SHARE,
    [SCHED_BY_DRF] = SHARE_BY_DRF,
    [SCHED_BY_USAGE] = SHARE_BY_USAGE,
    [SCHED_BY_AGE] = SHARE_BY_AGE,
    [SCHED_BY_FEWEST_RUNNING] = SHARE_BY_FEWEST_RUNNING,
    [SCHED_BY_SUBMIT] = SHARE_BY_SUBMIT,
    [SCHED_BY_DEADLINE] = SHARE_BY_DEADLINE,
    [SCHED_BY_GANG] = SHARE_BY_GANG,
};

int shares_comparator(enum share_by by)
{
    for (int i = 0; i < SCHED_COMPARATORS && by != SHARE_BY_END; i++)
        if (compares[i] == by)
            return i;
    return -1;
}

static_assert((int)SCHED_COMPARATORS < (int)SHARE_BY_MAX,
              "a list of all comparators has room for one more");

/* What stands for a node of the setup in the tree. Its list of comparators ends with submit, whatever was configured. */
static struct share_settings settings_of(const struct setup_shares *shares, uint32_t node)
{
    const struct setup_node *is = &shares->node[node];
    struct share_settings settings;
    share_default_settings(&settings);
    settings.weight = node == 0 ? 1 : (int32_t)is->weight;
    for (uint32_t i = 0; i < shares->n_resources && node != 0; i++) {
        settings.guarantee[i] = is->guarantee[i];
        settings.capability[i] = is->capability[i];
        settings.deserved[i] = is->deserved[i] == SETUP_BY_WEIGHT ? SHARE_UNSET : is->deserved[i];
    }
    size_t n = is->order.n;
    bool submits = false;
    for (size_t i = 0; i < n; i++) {
        settings.by[i] = compares[is->order.by[i]];
        submits |= is->order.by[i] == SCHED_BY_SUBMIT;
    }
    if (n == 0)
        settings.by[n++] = SHARE_BY_RANK;
    if (!submits) /* else the order in which leaves came to be would decide */
        settings.by[n] = SHARE_BY_SUBMIT;
    return settings;
}

/* Have memory for what is known of a node. Returns 0, or -1 with ENOMEM. */
static int node_reserve(struct shares *shares, uint32_t node)
{
    return array_grow((void **)&shares->leaf_of, &shares->cap_nodes, (size_t)node + 1,
                      sizeof(*shares->leaf_of)) < 0
               ? -1
               : usage_reserve(shares, node);
}

/* Add a node of the setup below its parent, which is added before. Returns 0, or -1 with ENOMEM. */
static int add_setup_node(struct shares *shares, uint32_t node)
{
    const struct setup_shares *is = &shares->setup->shares;
    uint32_t parent = is->node[node].parent;
    if (shares->node[node] != SHARE_NO_NODE || parent == SETUP_NONE)
        return 0;
    if (add_setup_node(shares, parent) < 0)
        return -1;
    struct share_settings settings = settings_of(is, node);
    if (node_reserve(shares, share_nodes(shares->tree)) < 0)
        return -1;
    shares->node[node] = share_add(shares->tree, shares->node[parent], &settings);
    if (shares->node[node] == SHARE_NO_NODE)
        return -1;
    shares->leaf_of[shares->node[node]] = JOB_NONE;
    shares->setup_of[shares->node[node]] = node;
    return 0;
}

static void totals(const struct place *place, const struct setup *setup, int64_t *total)
{
    for (uint32_t i = 0; i < setup->shares.n_resources; i++)
        total[i] = place->ops->total(place, setup->shares.resource[i]);
}

static int make_tree(struct shares *shares, const struct place *place)
{
    const struct setup_shares *is = &shares->setup->shares;
    uint32_t n = is->n_nodes;
    int64_t total[SHARE_DIMENSIONS_MAX];
    struct share_usage_rule rule = {.half_life = SHARE_HALF_LIFE_MAX};
    totals(place, shares->setup, total);
    if (is->half_life < rule.half_life)
        rule.half_life = is->half_life;
    for (uint32_t i = 0; i < is->n_resources; i++)
        rule.weights[i] = 1;
    shares->tree = share_new(is->n_resources, total, &rule);
    shares->node = reallocarray(NULL, n, sizeof(*shares->node));
    shares->setup_of = calloc(n, sizeof(*shares->setup_of));
    if (!shares->tree || !shares->node || !shares->setup_of || node_reserve(shares, 0) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        shares->node[i] = SHARE_NO_NODE;
    shares->node[0] = SHARE_ROOT;
    shares->leaf_of[0] = JOB_NONE;
    struct share_settings root = settings_of(is, 0);
    if (share_set(shares->tree, SHARE_ROOT, &root) < 0)
        return -1;
    for (uint32_t i = 1; i < n; i++)
        if (add_setup_node(shares, i) < 0)
            return -1;
    shares->n_fixed = share_nodes(shares->tree);
    return 0;
}

struct shares *shares_create(const struct place *place, const struct setup *setup)
{
    struct shares *shares = calloc(1, sizeof(*shares));
    if (!shares)
        return NULL;
    shares->setup = setup;
    shares->turns = class_turns_create(setup);
    if (shares->turns && make_tree(shares, place) == 0)
        return shares;
    shares_destroy(shares);
    errno = ENOMEM;
    return NULL;
}

void shares_destroy(struct shares *shares)
{
    if (!shares)
        return;
    int saved = errno;
    class_turns_destroy(shares->turns, shares->setup->n_queues);
    reach_destroy(shares->reach);
    share_free(shares->tree);
    intern_clear(&shares->names);
    free(shares->node);
    free(shares->leaf);
    free(shares->moved);
    free(shares->leaf_of);
    free(shares->setup_of);
    usage_clear(shares);
    free(shares->job);
    free(shares->moved_jobs);
    free(shares->told);
    free(shares->turn);
    free(shares->equal);
    free(shares->classes);
    free(shares);
    errno = saved;
}

void shares_measure(sched_t *s)
{
    struct shares *shares = s->queues->shares;
    int64_t total[SHARE_DIMENSIONS_MAX];
    totals(s->place, shares->setup, total);
    share_set_total(shares->tree, total);
    class_turns_measure(shares);
}

/* ---- Leaves ---- */

/* Returns 0, or -1 with ENOMEM. */
static int find_whose(const struct shares *shares, const struct details *d, struct whose *whose)
{
    const struct setup *setup = shares->setup;
    uint32_t queue = setup->queue[d->queue].parent;
    enum sched_share_by by = setup->queue[queue].config->by;
    *whose = (struct whose){queue, SETUP_NONE, SETUP_NONE, NULL};
    if (by == SCHED_SHARE_CLASS) {
        int64_t class = class_turns_find(shares->turns[queue], d->user);
        whose->class = (uint32_t) class;
        return class < 0 ? -1 : 0;
    }
    if (by == SCHED_SHARE_ACCOUNT)
        whose->account = setup_account_find(&setup->accounts, d->account);
    if (by != SCHED_SHARE_NONE)
        whose->user = d->user;
    return 0;
}

/* What stands for a user among those who are beside it. */
static int64_t weight_of(const struct setup *setup, const struct whose *whose)
{
    if (whose->account == SETUP_NONE)
        return setup_weight(setup->queue[whose->queue].config, whose->user);
    const struct setup_member *m = setup_member_find(&setup->accounts, whose->account, whose->user);
    return m ? m->weight : 1;
}

/* A node of its own, and a line, for a user, or in a class. Returns 0, or -1 with ENOMEM. */
static int add_line(sched_t *s, struct leaf *leaf, const struct whose *whose)
{
    struct shares *shares = s->queues->shares;
    const struct setup *setup = shares->setup;
    struct lane *lane = &s->lanes[leaf->lane];
    struct share_settings settings;
    share_default_settings(&settings);
    if (whose->user)
        settings.weight = (int32_t)weight_of(setup, whose);
    if (whose->class != SETUP_NONE)
        leaf->node = shares->node[setup_classes_of(setup, whose->queue)->first + whose->class];
    else if (whose->account != SETUP_NONE)
        leaf->node = shares->node[setup_node_of_account(setup, whose->queue, whose->account)];
    if (node_reserve(shares, share_nodes(shares->tree)) < 0 || lane_add_line(lane) < 0)
        return -1;
    leaf->line = lane->n_more;
    leaf->node = share_add(shares->tree, leaf->node, &settings);
    return leaf->node == SHARE_NO_NODE ? -1 : 0;
}

/* Where in its leaf's name a user is, behind the queue and the account. */
#define OF_USER (2 * sizeof(uint32_t))

static int intern_whose(struct shares *shares, const struct whose *whose, uint32_t *number)
{
    struct strbuf key = {0};
    strbuf_put(&key, (const char *)&whose->queue, sizeof(whose->queue));
    uint32_t part = whose->class != SETUP_NONE ? whose->class : whose->account;
    strbuf_put(&key, (const char *)&part, sizeof(part));
    strbuf_puts(&key, whose->user ? whose->user : "");
    int rc = key.failed ? -1 : intern_put(&shares->names, key.data, key.len, number);
    strbuf_clear(&key);
    return rc;
}

bool leaf_whose(const struct shares *shares, uint32_t node, struct whose *whose)
{
    uint32_t leaf = shares->leaf_of[node];
    if (node < shares->n_fixed || leaf == JOB_NONE || shares->leaf[leaf].class != SETUP_NONE)
        return false;
    const char *name = intern_text(&shares->names, leaf);
    memcpy(&whose->queue, name, sizeof(whose->queue));
    memcpy(&whose->account, name + sizeof(whose->queue), sizeof(whose->account));
    whose->class = SETUP_NONE;
    whose->user = name + OF_USER;
    return true;
}

/* The number of a leaf; -1 with ENOMEM. */
static int64_t find_leaf(sched_t *s, const struct whose *whose)
{
    struct shares *shares = s->queues->shares;
    uint32_t n = shares->names.n, number;
    if (array_grow((void **)&shares->leaf, &shares->cap_leaves, (size_t)n + 1,
                   sizeof(*shares->leaf)) < 0 ||
        array_grow((void **)&shares->moved, &shares->cap_moved, (size_t)n + 1,
                   sizeof(*shares->moved)) < 0 ||
        intern_whose(shares, whose, &number) < 0)
        return -1;
    if (number < n)
        return (int64_t)number;
    struct leaf leaf = {.node = shares->node[setup_node_of_queue(shares->setup, whose->queue)],
                        .lane = s->queues->lane_of[whose->queue],
                        .class = whose->class,
                        .first = JOB_NONE};
    bool has_line = whose->user || whose->class != SETUP_NONE;
    if (has_line && add_line(s, &leaf, whose) < 0) {
        intern_shrink(&shares->names, n);
        return -1;
    }
    shares->leaf[number] = leaf;
    shares->leaf_of[leaf.node] = number;
    if (whose->user)
        usage_touch(shares, leaf.node);
    return number;
}

struct class_turns *leaf_turns(const sched_t *s, const struct leaf *leaf)
{
    return s->queues->shares->turns[s->lanes[leaf->lane].queue];
}

const char *leaf_user(const struct shares *shares, uint32_t number)
{
    return intern_text(&shares->names, number) + OF_USER;
}

int64_t leaf_node(sched_t *s, const struct whose *whose, bool make)
{
    struct shares *shares = s->queues->shares;
    uint32_t there = shares->names.n, number;
    int64_t leaf = -1;
    if (make)
        leaf = find_leaf(s, whose);
    else if (intern_whose(shares, whose, &number) == 0)
        leaf = number < there ? (int64_t)number : -1;
    if (!make)
        intern_shrink(&shares->names, there);
    return leaf < 0 ? -1 : (int64_t)shares->leaf[leaf].node;
}

int shares_know(sched_t *s, uint32_t slot)
{
    struct whose whose;
    int64_t leaf = shares_reserve(s, slot) < 0 ||
                           find_whose(s->queues->shares, s->jobs[slot].details, &whose) < 0
                       ? -1
                       : find_leaf(s, &whose);
    if (leaf < 0) {
        errno = ENOMEM;
        return -1;
    }
    s->queues->shares->job[slot].leaf = (uint32_t)leaf;
    return 0;
}

bool shares_by_priority(const sched_t *s, uint32_t slot)
{
    const struct setup *setup = s->queues->setup;
    uint32_t queue = setup->queue[s->jobs[slot].details->queue].parent;
    const struct sched_share_order *order =
        &setup->shares.node[setup->shares.first_queue + queue].order;
    size_t i = 0;
    while (i < order->n && order->by[i] != SCHED_BY_PRIORITY && order->by[i] != SCHED_BY_DEADLINE &&
           order->by[i] != SCHED_BY_GANG)
        i++;
    return i < order->n && order->by[i] == SCHED_BY_PRIORITY;
}

bool shares_check(const sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following)
        if (s->jobs[slot].state != SCHED_REJECTED &&
            (!share_of_job_check(s, slot) || !class_order_check(s, slot)))
            return false;
    return turns_check(s) && may_fit_check(s) && class_turns_check(s) &&
           share_check(shares->tree) && reach_check(s);
}
