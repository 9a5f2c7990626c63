#include "sched/waiting/shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sched/queues.h"
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
};

int shares_comparator(enum share_by by)
{
    for (int i = 0; i < SCHED_COMPARATORS && by != SHARE_BY_END; i++)
        if (compares[i] == by)
            return i;
    return -1;
}

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
    for (size_t i = 0; i < is->order.n; i++)
        settings.by[i] = compares[is->order.by[i]];
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
static int add_node(struct shares *shares, uint32_t node)
{
    const struct setup_shares *is = &shares->setup->shares;
    uint32_t parent = is->node[node].parent;
    if (shares->node[node] != SHARE_NO_NODE || parent == SETUP_NONE)
        return 0;
    if (add_node(shares, parent) < 0)
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

static int make(struct shares *shares, const struct place *place)
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
        if (add_node(shares, i) < 0)
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
    if (make(shares, place) == 0)
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
    share_free(shares->tree);
    intern_clear(&shares->names);
    free(shares->node);
    free(shares->leaf);
    free(shares->moved);
    free(shares->leaf_of);
    free(shares->setup_of);
    usage_clear(shares);
    free(shares->job);
    free(shares->told);
    free(shares->turn);
    free(shares);
    errno = saved;
}

void shares_measure(sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    int64_t total[SHARE_DIMENSIONS_MAX];
    totals(s->place, shares->setup, total);
    share_set_total(shares->tree, total);
}

/* ---- Leaves ---- */

static struct whose whose_of(const struct setup *setup, const struct details *d)
{
    uint32_t queue = setup->queue[d->queue].parent;
    enum sched_share_by by = setup->queue[queue].config->by;
    bool accounts = by == SCHED_SHARE_ACCOUNT;
    return (struct whose){queue,
                          accounts ? setup_account_find(&setup->accounts, d->account) : SETUP_NONE,
                          by == SCHED_SHARE_NONE ? NULL : d->user};
}

/* What stands for a user among those who are beside it. */
static int64_t weight_of(const struct setup *setup, const struct whose *whose)
{
    if (whose->account == SETUP_NONE)
        return setup_weight(setup->queue[whose->queue].config, whose->user);
    const struct setup_member *m = setup_member_find(&setup->accounts, whose->account, whose->user);
    return m ? m->weight : 1;
}

/* A node of its own, and a line, for a user. Returns 0, or -1 with ENOMEM. */
static int add_user(sched_t *s, struct leaf *leaf, const struct whose *whose)
{
    struct shares *shares = s->queues->shares;
    const struct setup *setup = shares->setup;
    struct lane *lane = &s->lanes[leaf->lane];
    struct share_settings settings;
    share_default_settings(&settings);
    settings.weight = (int32_t)weight_of(setup, whose);
    if (whose->account != SETUP_NONE)
        leaf->node = shares->node[setup_node_of_account(setup, whose->queue, whose->account)];
    if (node_reserve(shares, share_nodes(shares->tree)) < 0 || lane_add_line(lane) < 0)
        return -1;
    leaf->line = lane->n_more;
    leaf->node = share_add(shares->tree, leaf->node, &settings);
    return leaf->node == SHARE_NO_NODE ? -1 : 0;
}

/* Where in its leaf's name a user is, behind the queue and the account. */
#define OF_USER (2 * sizeof(uint32_t))

static int put_name(struct shares *shares, const struct whose *whose, uint32_t *number)
{
    struct strbuf key = {0};
    strbuf_put(&key, (const char *)&whose->queue, sizeof(whose->queue));
    strbuf_put(&key, (const char *)&whose->account, sizeof(whose->account));
    strbuf_puts(&key, whose->user ? whose->user : "");
    int rc = key.failed ? -1 : intern_put(&shares->names, key.data, key.len, number);
    strbuf_clear(&key);
    return rc;
}

bool leaf_whose(const struct shares *shares, uint32_t node, struct whose *whose)
{
    uint32_t leaf = shares->leaf_of[node];
    if (node < shares->n_fixed || leaf == JOB_NONE)
        return false;
    const char *name = intern_text(&shares->names, leaf);
    memcpy(&whose->queue, name, sizeof(whose->queue));
    memcpy(&whose->account, name + sizeof(whose->queue), sizeof(whose->account));
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
        put_name(shares, whose, &number) < 0)
        return -1;
    if (number < n)
        return (int64_t)number;
    struct leaf leaf = {.node = shares->node[setup_node_of_queue(shares->setup, whose->queue)],
                        .lane = s->queues->lane_of[whose->queue],
                        .first = JOB_NONE};
    if (whose->user && add_user(s, &leaf, whose) < 0) {
        intern_shrink(&shares->names, n);
        return -1;
    }
    shares->leaf[number] = leaf;
    shares->leaf_of[leaf.node] = number;
    if (whose->user)
        usage_touch(shares, leaf.node);
    return number;
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
    else if (put_name(shares, whose, &number) == 0)
        leaf = number < there ? (int64_t)number : -1;
    if (!make)
        intern_shrink(&shares->names, there);
    return leaf < 0 ? -1 : (int64_t)shares->leaf[leaf].node;
}

int shares_reserve(sched_t *s, uint32_t slot)
{
    struct shares *shares = s->queues->shares;
    size_t had = shares->cap_jobs;
    if (array_grow((void **)&shares->job, &shares->cap_jobs, (size_t)slot + 1,
                   sizeof(*shares->job)) < 0)
        return -1;
    memset(shares->job + had, 0, (shares->cap_jobs - had) * sizeof(*shares->job));
    return 0;
}

int shares_know(sched_t *s, uint32_t slot)
{
    struct whose whose = whose_of(s->queues->setup, s->jobs[slot].details);
    int64_t leaf = shares_reserve(s, slot) < 0 ? -1 : find_leaf(s, &whose);
    if (leaf < 0) {
        errno = ENOMEM;
        return -1;
    }
    s->queues->shares->job[slot].leaf = (uint32_t)leaf;
    return 0;
}

/* ---- What jobs have ---- */

/* Tell the tree. What would be more than it can add up is not counted. */
static void tell(sched_t *s, uint32_t slot, enum share_state to, const int64_t *amount)
{
    struct shares *shares = s->queues->shares;
    struct share_of_job *job = &shares->job[slot];
    uint32_t node = shares->leaf[job->leaf].node;
    size_t size = shares->setup->shares.n_resources * sizeof(*amount);
    bool same = !amount || memcmp(amount, job->amount, size) == 0;
    if (job->state == to && (same || to == SHARE_ABSENT))
        return;
    if (job->state == SHARE_RUNNING || to == SHARE_RUNNING)
        usage_touch(shares, node);
    if (!same && job->state != SHARE_ABSENT) {
        share_job(shares->tree, node, job->state, SHARE_ABSENT, job->amount, s->now);
        job->state = SHARE_ABSENT;
    }
    if (!same)
        memcpy(job->amount, amount, size);
    if (job->state == to)
        return;
    if (share_job(shares->tree, node, job->state, to, job->amount, s->now) == 0)
        job->state = (uint8_t)to;
}

void shares_opened(sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    int64_t amount[SHARE_DIMENSIONS_MAX];
    int64_t members = (int64_t)members_of(s, slot);
    turns_changed(s, shares->job[slot].leaf);
    if (shares->job[slot].state > SHARE_WAITING)
        return; /* it is to give back what it holds */
    for (uint32_t i = 0; i < shares->setup->shares.n_resources; i++) {
        int64_t one = s->place->ops->wants(s->place, s->jobs[slot].ask.class,
                                           shares->setup->shares.resource[i]);
        amount[i] = one > SHARE_MOST / members ? SHARE_MOST : one * members;
    }
    tell(s, slot, SHARE_WAITING, amount);
}

void shares_closed(sched_t *s, uint32_t slot)
{
    turns_changed(s, s->queues->shares->job[slot].leaf);
    if (s->queues->shares->job[slot].state == SHARE_WAITING)
        tell(s, slot, SHARE_ABSENT, NULL);
}

void shares_hold(sched_t *s, uint32_t slot, int64_t booking, bool runs)
{
    const struct shares *shares = s->queues->shares;
    int64_t amount[SHARE_DIMENSIONS_MAX];
    for (uint32_t i = 0; i < shares->setup->shares.n_resources; i++)
        amount[i] = s->place->ops->amount(s->place, booking, shares->setup->shares.resource[i]);
    tell(s, slot, runs ? SHARE_RUNNING : SHARE_PROMISED, amount);
}

void shares_started(sched_t *s, uint32_t slot)
{
    if (s->queues->shares->job[slot].state == SHARE_PROMISED)
        tell(s, slot, SHARE_RUNNING, NULL);
}

void shares_released(sched_t *s, uint32_t slot)
{
    tell(s, slot, SHARE_ABSENT, NULL);
    if (s->jobs[slot].state == SCHED_WAITING)
        shares_opened(s, slot);
}

void shares_part(sched_t *s, uint32_t slot, uint32_t part, bool starts)
{
    struct share_of_job *job = s->queues->shares->job;
    job[part] = job[slot];
    if (starts) {
        job[slot].state = SHARE_ABSENT;
        return;
    }
    job[part].state = SHARE_ABSENT;
    if (job[slot].state == SHARE_WAITING)
        shares_opened(s, slot); /* as fewer */
}

bool shares_by_priority(const sched_t *s, uint32_t slot)
{
    const struct setup *setup = s->queues->setup;
    uint32_t queue = setup->queue[s->jobs[slot].details->queue].parent;
    const struct sched_share_order *order =
        &setup->shares.node[setup->shares.first_queue + queue].order;
    for (size_t i = 0; i < order->n; i++)
        if (order->by[i] == SCHED_BY_PRIORITY)
            return true;
    return false;
}

/* Each job is told of as what it is. */
static bool check_job(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    const struct share_of_job *job = &shares->job[slot];
    const struct leaf *leaf = &shares->leaf[job->leaf];
    uint8_t state = s->jobs[slot].state;
    uint8_t is = state == SCHED_WAITING    ? SHARE_WAITING
                 : state == SCHED_RESERVED ? SHARE_PROMISED
                 : state == SCHED_RUNNING  ? SHARE_RUNNING
                                           : SHARE_ABSENT;
    return job->state == is && leaf->lane == s->jobs[slot].lane;
}

bool shares_check(const sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following)
        if (s->jobs[slot].state != SCHED_REJECTED && !check_job(s, slot))
            return false;
    return turns_check(s) && share_check(shares->tree);
}
