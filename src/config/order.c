/* What goes first among those that have shares: comparators, also by the names and in the tiers of kube-batch. Its plugins
 * that score nodes, in the machine's order, choose the match policy together, as their scores add up.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "berth/sched_config.h"
#include "config/read.h"
#include "match/walk/policy.h"

/* How much plugins weigh that much is in use of a node, less that little is; and that parts of it are evenly in use. */
struct node_weights {
    int64_t use, balance;
};

/* An order that is read, and what plugins in it weigh together. */
struct order {
    struct sched_share_order *by;
    struct node_weights *nodes; /* NULL: plugins weigh nothing here */
};

static int read_comparator(const struct reading *r, uint32_t i, struct sched_share_order *order)
{
    const struct doc *d = &r->doc;
    const char *why = NULL;
    int found = doc_is_text(d, i) ? sched_comparator_find(doc_text(d, i), &why) : -1;

    if (why)
        return doc_fault(d, i, "key \"order\": \"%.20s\" orders nothing here: %s", doc_text(d, i),
                         why);
    if (found < 0)
        return doc_expected(d, i, "order",
                            "priority, share, drf, usage, fewest-running, deadline, gang, age "
                            "or submit");
    if (found == SCHED_COMPARATORS)
        return 0;
    for (size_t k = 0; k < order->n; k++)
        if (order->by[k] == (enum sched_comparator)found)
            return doc_expected(d, i, "order", "each comparator once");
    order->by[order->n++] = (enum sched_comparator)found;
    return 0;
}

/* What a plugin is said to be beside its name: whether it orders jobs, queues and nodes, and switches of what queues say here. */
enum plugin_key { NAME, ARGUMENTS, JOB_ORDER, QUEUE_ORDER, NODE_ORDER, PLUGIN_KEYS = 13 };
static const char *const plugin_names[PLUGIN_KEYS] = {"name",
                                                      "arguments",
                                                      "enableJobOrder",
                                                      "enableQueueOrder",
                                                      "enableNodeOrder",
                                                      "enableTaskOrder",
                                                      "enableJobReady",
                                                      "enableJobPipelined",
                                                      "enablePreemptable",
                                                      "enableReclaimable",
                                                      "enablePredicate",
                                                      "enableHierarchy",
                                                      "enableJobStarving"};
static const struct doc_keys plugin_keys = {"a plugin", plugin_names, PLUGIN_KEYS, 1};

/* Where that is said here which kube-batch tells a plugin by arguments. */
static const char *where_said(const char *plugin)
{
    if (strcmp(plugin, "nodeorder") == 0 || strcmp(plugin, "binpack") == 0)
        return "which nodes a job gets is said by the section match, or by the order of the "
               "section shares";
    return "what plugins are told is said by keys of queues, such as weight, guarantee and "
           "sla-waiting-time";
}

enum weight_key { LEAST_REQUESTED, MOST_REQUESTED, BALANCED_RESOURCE, WEIGHT_KEYS };
static const char *const weight_names[] = {"leastrequested.weight", "mostrequested.weight",
                                           "balancedresource.weight"};
static const struct doc_keys weight_keys = {"the plugin nodeorder", weight_names, WEIGHT_KEYS, 0};
static const char *const bin_names[] = {"binpack.weight"};
static const struct doc_keys bin_keys = {"the plugin binpack", bin_names, 1, 0};

/* The match policy by such weights. NULL: they choose none, or ENOMEM. */
static const char *policy_by_weights(const struct reading *r, const struct node_weights *w)
{
    const char *by_use = w->use > 0 ? "pack" : "spread";
    char text[64];

    if (w->balance == 0)
        return w->use != 0 ? by_use : NULL;
    if (w->use == 0)
        return "balance";
    snprintf(text, sizeof(text), "%s=%" PRId64 " balance=%" PRId64, by_use,
             w->use > 0 ? w->use : -w->use, w->balance);
    return arena_text(r->arena, text);
}

static int choose_policy(const struct reading *r, uint32_t i, const struct node_weights *w,
                         const char **policy)
{
    if (imaxabs(w->use) > POLICY_WEIGHT_MAX || w->balance > POLICY_WEIGHT_MAX)
        return doc_fault(&r->doc, i, "key \"order\": the weights of plugins add up to more than %d",
                         POLICY_WEIGHT_MAX);
    errno = 0;
    *policy = policy_by_weights(r, w);
    return *policy || errno == 0 ? 0 : -1;
}

/* The numbers that a plugin is told by these keys, each as it is where it is not said. */
static int read_node_weights(const struct reading *r, uint32_t i, const struct doc_keys *keys,
                             const char *const *names, int n, int64_t *weight)
{
    uint32_t value[WEIGHT_KEYS];

    if (i == DOC_NONE || doc_is_null(&r->doc, i))
        return 0;
    if (doc_fields(&r->doc, i, keys, value) < 0)
        return -1;
    for (int k = 0; k < n; k++)
        if (value_number(r, value[k], names[k], 0, POLICY_WEIGHT_MAX, false, &weight[k]) < 0)
            return -1;
    return 0;
}

static bool is_empty(const struct doc *d, uint32_t i)
{
    return doc_is_null(d, i) || (!doc_is_text(d, i) && d->node[i].count == 0);
}

/* What a plugin is told, of which only nodeorder and binpack take something, in the machine's order, by default the weights
 * that they have in kube-batch and Volcano. If it is `on`, what it weighs is added to what others do. `name`: "" if it is no
 * text.
 */
static int read_node_order(const struct reading *r, const char *name, uint32_t arguments, bool on,
                           const struct order *order)
{
    int64_t weight[WEIGHT_KEYS] = {[LEAST_REQUESTED] = 1, [BALANCED_RESOURCE] = 1}, packs = 1;
    struct node_weights nodes = {0, 0};

    if (strcmp(name, "nodeorder") == 0 && order->nodes) {
        if (read_node_weights(r, arguments, &weight_keys, weight_names, WEIGHT_KEYS, weight) < 0)
            return -1;
        nodes.use = weight[MOST_REQUESTED] - weight[LEAST_REQUESTED];
        nodes.balance = weight[BALANCED_RESOURCE];
    } else if (strcmp(name, "binpack") == 0 && order->nodes) {
        if (read_node_weights(r, arguments, &bin_keys, bin_names, 1, &packs) < 0)
            return -1;
        nodes.use = packs;
    } else if (arguments != DOC_NONE && !is_empty(&r->doc, arguments)) {
        return doc_fault(&r->doc, arguments, "key \"arguments\": expected none: %s",
                         where_said(name));
    }
    if (on && order->nodes) {
        order->nodes->use += nodes.use;
        order->nodes->balance += nodes.balance;
    }
    return 0;
}

/* A comparator, or a plugin as in {name: drf, enableJobOrder: true}. One that is not to order is left out. */
static int read_plugin(const struct reading *r, uint32_t i, const struct order *order)
{
    const struct doc *d = &r->doc;
    struct sched_share_order unused = {.n = 0};
    uint32_t value[PLUGIN_KEYS] = {[NAME] = i, [ARGUMENTS] = DOC_NONE};
    bool on[PLUGIN_KEYS] = {[JOB_ORDER] = true, [QUEUE_ORDER] = true, [NODE_ORDER] = true};

    if (d->node[i].kind == DOC_MAPPING) {
        if (doc_fields(d, i, &plugin_keys, value) < 0)
            return -1;
        for (int k = JOB_ORDER; k < PLUGIN_KEYS; k++)
            if (value_switch(r, value[k], plugin_names[k], &on[k]) < 0)
                return -1;
    }
    if (read_node_order(r, doc_is_text(d, value[NAME]) ? doc_text(d, value[NAME]) : "",
                        value[ARGUMENTS], on[NODE_ORDER], order) < 0)
        return -1;
    return read_comparator(r, value[NAME], on[JOB_ORDER] && on[QUEUE_ORDER] ? order->by : &unused);
}

static int read_order_list(const struct reading *r, uint32_t i, const struct order *order)
{
    const struct doc *d = &r->doc;

    if (d->node[i].kind != DOC_LIST)
        return doc_expected(d, i, "order", "a list as in [priority, share]");
    for (uint32_t x = i + 1; x < d->node[i].end; x = d->node[x].end)
        if (read_plugin(r, x, order) < 0)
            return -1;
    return 0;
}

/* True if a mapping is a tier as in {plugins: [...]}. */
static bool is_tier(const struct doc *d, uint32_t i)
{
    return d->node[i].kind == DOC_MAPPING && d->node[i].count == 1 &&
           strcmp(doc_text(d, i + 1), "plugins") == 0;
}

/* Tiers are compared one after the other, as what is in each is: they come to one list. */
int read_order(const struct reading *r, uint32_t i, struct sched_share_order *by,
               const char **policy)
{
    const struct doc *d = &r->doc;
    struct node_weights nodes = {0, 0};
    const struct order order = {by, policy ? &nodes : NULL};

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_LIST)
        return doc_expected(d, i, "order", "a list as in [priority, share]");
    for (uint32_t x = i + 1; x < d->node[i].end; x = d->node[x].end) {
        bool list = d->node[x].kind == DOC_LIST;
        int rc = is_tier(d, x) ? read_order_list(r, x + 2, &order)
                 : list        ? read_order_list(r, x, &order)
                               : read_plugin(r, x, &order);
        if (rc < 0)
            return -1;
    }
    return policy ? choose_policy(r, i, &nodes, policy) : 0;
}
