#include "sched/config/setup_shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "sched/config/setup.h"
#include "sched/config/setup_classes.h"

#define WEEK (7 * 86400) /* seconds */
#define SETUP_NODES_MAX                                                                            \
    (UINT32_C(1) << 19) /* half of what the tree has, so that users have the rest */

static const char *const usual_resources[] = {"core", "gpu", "memory"};
static const struct sched_share_order usual_above = {{SCHED_BY_SHARE, SCHED_BY_SUBMIT}, 2};
static const struct sched_share_order usual_below = {
    {SCHED_BY_PRIORITY, SCHED_BY_SHARE, SCHED_BY_SUBMIT}, 3};

/* Whose share is looked at, for messages. */
struct whose {
    const char *of; /* "queue" or "division" */
    const char *name;
};

static bool is_said(const struct sched_share *share)
{
    return share->under || share->weight != 0 ||
           share->n_guarantee + share->n_deserved + share->n_capability > 0;
}

static bool are_shares(const struct sched_config *config)
{
    const struct sched_shares *shares = &config->shares;
    if (shares->order.n > 0 || shares->n_divisions > 0)
        return true;
    for (size_t i = 0; i < config->n_queues; i++)
        if (config->queues[i].by != SCHED_SHARE_NONE || is_said(&config->queues[i].share))
            return true;
    return false;
}

static int check_order(const struct whose *whose, const struct sched_share_order *order,
                       berth_error_t *err)
{
    unsigned seen = 0;
    for (size_t i = 0; i < order->n; i++) {
        int by = (int)order->by[i];
        if (order->n > SCHED_COMPARATORS || by < 0 || by >= SCHED_COMPARATORS || seen >> by & 1)
            return errtext_set(err, EINVAL, "%s '%s': order: unknown or twice: %d", whose->of,
                               whose->name, by);
        seen |= 1u << by;
    }
    return 0;
}

static int check_weight(const struct whose *whose, const char *key, int64_t weight,
                        berth_error_t *err)
{
    if (weight >= 1 && weight <= SCHED_SHARE_WEIGHT_MAX)
        return 0;
    return errtext_set(err, EINVAL, "%s '%s': %s: must be from 1 to %lld, is %lld", whose->of,
                       whose->name, key, (long long)SCHED_SHARE_WEIGHT_MAX, (long long)weight);
}

/* The number of a resource; SCHED_SHARE_RESOURCES: it is none that counts. */
static uint32_t resource_of(const struct setup_shares *shares, const char *what)
{
    for (uint32_t i = 0; i < shares->n_resources; i++)
        if (strcmp(shares->resource[i], what) == 0)
            return i;
    return SCHED_SHARE_RESOURCES;
}

static int resolve_amounts(const struct setup_shares *shares, const struct whose *whose,
                           const char *key, const struct sched_limit *list, size_t n, int64_t *into,
                           berth_error_t *err)
{
    for (size_t i = 0; i < n; i++) {
        const char *what = list[i].what;
        uint32_t resource = what ? resource_of(shares, what) : SCHED_SHARE_RESOURCES;
        if (resource == SCHED_SHARE_RESOURCES)
            return errtext_set(err, EINVAL, "%s '%s': %s: %s is not among the resources of shares",
                               whose->of, whose->name, key, what ? what : "");
        if (list[i].most < 0 || list[i].most >= SCHED_UNLIMITED)
            return errtext_set(err, EINVAL, "%s '%s': %s: %s: must be a number, is %lld", whose->of,
                               whose->name, key, what, (long long)list[i].most);
        into[resource] = list[i].most;
    }
    return 0;
}

uint32_t setup_division_find(const struct sched_shares *shares, const char *name)
{
    for (size_t i = 0; i < shares->n_divisions; i++)
        if (strcmp(shares->divisions[i].name, name) == 0)
            return (uint32_t)i;
    return SETUP_NONE;
}

static int resolve_share(const struct setup *setup, const struct whose *whose,
                         const struct sched_share *share, struct setup_node *node,
                         berth_error_t *err)
{
    const struct setup_shares *shares = &setup->shares;
    uint32_t division =
        share->under ? setup_division_find(&setup->config->shares, share->under) : SETUP_NONE;
    if (share->under && division == SETUP_NONE)
        return errtext_set(err, EINVAL, "%s '%s': under: no division '%s'", whose->of, whose->name,
                           share->under);
    node->parent = share->under ? 1 + division : 0;
    node->weight = share->weight == 0 ? 1 : share->weight;
    for (uint32_t i = 0; i < SCHED_SHARE_RESOURCES; i++) {
        node->deserved[i] = SETUP_BY_WEIGHT;
        node->capability[i] = SCHED_UNLIMITED;
    }
    if (check_weight(whose, "weight", node->weight, err) < 0 ||
        resolve_amounts(shares, whose, "guarantee", share->guarantee, share->n_guarantee,
                        node->guarantee, err) < 0 ||
        resolve_amounts(shares, whose, "capability", share->capability, share->n_capability,
                        node->capability, err) < 0)
        return -1;
    for (uint32_t i = 0; i < shares->n_resources; i++)
        if (node->guarantee[i] > node->capability[i])
            return errtext_set(err, EINVAL, "%s '%s': guarantee: %s: more than its capability",
                               whose->of, whose->name, shares->resource[i]);
    return resolve_amounts(shares, whose, "deserved", share->deserved, share->n_deserved,
                           node->deserved, err);
}

static int resolve_divisions(struct setup *setup, berth_error_t *err)
{
    const struct sched_shares *shares = &setup->config->shares;
    for (size_t i = 0; i < shares->n_divisions; i++) {
        const struct sched_division *d = &shares->divisions[i];
        struct whose whose = {"division", d->name};
        struct setup_node *node = &setup->shares.node[1 + i];
        if (!d->name || d->name[0] == '\0')
            return errtext_set(err, EINVAL, "division %zu has no name", i + 1);
        if (setup_division_find(shares, d->name) != i)
            return errtext_set(err, EINVAL, "division '%s': the name comes twice", d->name);
        if (check_order(&whose, &d->order, err) < 0 ||
            resolve_share(setup, &whose, &d->share, node, err) < 0)
            return -1;
        node->order = d->order.n > 0 ? d->order : usual_above;
    }
    for (size_t i = 0; i < shares->n_divisions; i++) {
        uint32_t node = (uint32_t)i + 1;
        size_t steps = 0;
        for (; steps <= shares->n_divisions && node != 0; steps++)
            node = setup->shares.node[node].parent;
        if (node != 0)
            return errtext_set(err, EINVAL, "division '%s': under: it is part of itself",
                               shares->divisions[i].name);
        if (steps > SCHED_DIVISION_LEVELS)
            return errtext_set(err, EINVAL,
                               "division '%s': under: at most %d divisions may stand one under the "
                               "other",
                               shares->divisions[i].name, SCHED_DIVISION_LEVELS);
    }
    return 0;
}

/* What a queue is capable of is a limit of it: there is no other one. */
static int check_capability(const struct sched_queue_config *c, berth_error_t *err)
{
    for (size_t i = 0; i < c->share.n_capability; i++)
        for (size_t k = 0; k < c->limits.n_queue; k++)
            if (strcmp(c->share.capability[i].what, c->limits.queue[k].what) == 0)
                return errtext_set(err, EINVAL, "queue '%s': capability: %s has a limit already",
                                   c->name, c->limits.queue[k].what);
    return 0;
}

static int resolve_queue(struct setup *setup, uint32_t queue, berth_error_t *err)
{
    const struct sched_queue_config *c = setup->queue[queue].config;
    struct whose whose = {"queue", c->name};
    struct setup_node *node = &setup->shares.node[setup->shares.first_queue + queue];
    node->parent = SETUP_NONE;
    node->queue = queue;
    if (c->parent) {
        if (is_said(&c->share) || c->by != SCHED_SHARE_NONE)
            return errtext_set(err, EINVAL, "queue '%s': its share is its parent's", c->name);
        return 0;
    }
    int by = (int)c->by;
    if (by < SCHED_SHARE_NONE || by > SCHED_SHARE_CLASS)
        return errtext_set(err, EINVAL, "queue '%s': shares: no such way: %d", c->name, by);
    if (check_order(&whose, &c->order, err) < 0)
        return -1;
    for (size_t i = 0; i < c->n_weights; i++)
        if (!c->weights[i].name || check_weight(&whose, "weights", c->weights[i].weight, err) < 0)
            return -1;
    if (resolve_share(setup, &whose, &c->share, node, err) < 0)
        return -1;
    node->order = c->order.n > 0 ? c->order : usual_below;
    if (by == SCHED_SHARE_CLASS && setup_resolve_classes(setup, queue, err) < 0)
        return -1;
    if (c->by == SCHED_SHARE_ACCOUNT && setup->accounts.n == 0)
        return errtext_set(err, EINVAL, "queue '%s': by: no accounts are configured", c->name);
    if (c->by == SCHED_SHARE_ACCOUNT && c->n_weights > 0)
        return errtext_set(err, EINVAL, "queue '%s': weights: those of accounts are the accounts'",
                           c->name);
    return check_capability(c, err);
}

/* The nodes of accounts below a queue whose accounts take turns, from `first` on. They go by its order. */
static void add_accounts(struct setup *setup, uint32_t queue, uint32_t first)
{
    struct setup_shares *shares = &setup->shares;
    struct setup_node *above = &shares->node[shares->first_queue + queue];
    above->accounts = first;
    for (uint32_t i = 0; i < setup->accounts.n; i++) {
        struct setup_node *node = &shares->node[first + i];
        uint32_t parent = setup->accounts.v[i].parent;
        int64_t weight = setup->config->accounts[i].weight;
        node->parent = parent == SETUP_NONE ? shares->first_queue + queue : first + parent;
        node->weight = weight > 0 ? weight : 1;
        node->queue = queue;
        node->account = i;
        node->order = above->order;
        for (uint32_t k = 0; k < SCHED_SHARE_RESOURCES; k++) {
            node->deserved[k] = SETUP_BY_WEIGHT;
            node->capability[k] = SCHED_UNLIMITED;
        }
    }
}

/* Room for all nodes. Returns 0, or -1 with a text. */
static int make_nodes(struct setup *setup, berth_error_t *err)
{
    struct setup_shares *shares = &setup->shares;
    uint64_t n = (uint64_t)shares->first_queue + setup->n_queues;
    for (uint32_t q = 0; q < setup->n_queues; q++)
        if (setup->queue[q].config->by == SCHED_SHARE_ACCOUNT)
            n += setup->accounts.n;
        else if (setup->queue[q].config->by == SCHED_SHARE_CLASS)
            n += setup->queue[q].config->classes.n;
    if (n > SETUP_NODES_MAX)
        return errtext_set(err, EINVAL,
                           "shares: too many divisions, queues and accounts in queues");
    shares->n_nodes = (uint32_t)n;
    shares->node = calloc(n, sizeof(*shares->node));
    if (!shares->node)
        return errtext_no_memory(err);
    for (uint32_t i = 0; i < n; i++)
        shares->node[i].queue = shares->node[i].account = SETUP_NONE;
    return 0;
}

int setup_resolve_shares(struct setup *setup, berth_error_t *err)
{
    const struct sched_shares *config = &setup->config->shares;
    struct setup_shares *shares = &setup->shares;
    const struct whose machine = {"shares of", "the machine"};
    shares->is = are_shares(setup->config);
    if (config->n_resources > SCHED_SHARE_RESOURCES || config->half_life < 0)
        return errtext_set(err, EINVAL, "shares: too many resources, or a negative half-life");
    for (size_t i = 0; i < config->n_resources; i++)
        if (!config->resources[i] || config->resources[i][0] == '\0')
            return errtext_set(err, EINVAL, "shares: resources: an empty name");
    if (!shares->is)
        return 0;
    size_t usual = sizeof(usual_resources) / sizeof(*usual_resources);
    shares->n_resources = (uint32_t)(config->n_resources > 0 ? config->n_resources : usual);
    for (uint32_t i = 0; i < shares->n_resources; i++)
        shares->resource[i] = config->n_resources > 0 ? config->resources[i] : usual_resources[i];
    shares->half_life = config->half_life > 0 ? config->half_life : WEEK * setup->second;
    shares->first_queue = 1 + (uint32_t)config->n_divisions;
    if (make_nodes(setup, err) < 0)
        return -1;
    shares->node[0].parent = SETUP_NONE;
    shares->node[0].order = config->order.n > 0 ? config->order : usual_above;
    if (check_order(&machine, &config->order, err) < 0 || resolve_divisions(setup, err) < 0)
        return -1;
    uint32_t next = shares->first_queue + setup->n_queues;
    for (uint32_t q = 0; q < setup->n_queues; q++) {
        if (resolve_queue(setup, q, err) < 0)
            return -1;
        if (setup->queue[q].config->by == SCHED_SHARE_ACCOUNT) {
            add_accounts(setup, q, next);
            next += setup->accounts.n;
        } else if (setup->queue[q].config->by == SCHED_SHARE_CLASS) {
            setup_add_classes(setup, q, next);
            next += (uint32_t)setup->queue[q].config->classes.n;
        }
    }
    return 0;
}

uint32_t setup_node_of_queue(const struct setup *setup, uint32_t queue)
{
    return setup->shares.first_queue + queue;
}

uint32_t setup_node_of_account(const struct setup *setup, uint32_t queue, uint32_t account)
{
    return setup->shares.node[setup_node_of_queue(setup, queue)].accounts + account;
}

int64_t setup_weight(const struct sched_queue_config *queue, const char *name)
{
    for (size_t i = 0; i < queue->n_weights; i++)
        if (strcmp(queue->weights[i].name, name) == 0)
            return queue->weights[i].weight;
    return 1;
}
