/* What goes first among those that have shares: comparators, also by the names and in the tiers of kube-batch. Of its plugins
 * that score nodes, the first one in the machine's order chooses the match policy.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "berth/sched_config.h"
#include "config/read.h"
#include "match/walk/policy.h"

/* An order that is read, and the policy that a plugin in it chooses. */
struct order {
    struct sched_share_order *by;
    const char **policy; /* NULL: plugins choose none here */
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
static const char *where_said(const char *plugin, const struct order *order)
{
    if (strcmp(plugin, "binpack") == 0 && order->policy)
        return "all types that the key filters of the section match counts weigh the same";
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

/* The match policy by nodeorder's weights, of which most and least take from each other. NULL: the weights choose none, or
 * ENOMEM.
 */
static const char *policy_by_weights(const struct reading *r, const int64_t *weight)
{
    int64_t use = weight[MOST_REQUESTED] - weight[LEAST_REQUESTED];
    const char *by_use = use > 0 ? "pack" : "spread";
    char text[64];

    if (weight[BALANCED_RESOURCE] == 0)
        return use != 0 ? by_use : NULL;
    if (use == 0)
        return "balance";
    snprintf(text, sizeof(text), "%s=%" PRId64 " balance=%" PRId64, by_use, use > 0 ? use : -use,
             weight[BALANCED_RESOURCE]);
    return arena_text(r->arena, text);
}

/* The weights of nodeorder, by default those that it has in kube-batch. *policy: what they choose, or NULL. */
static int read_weights_of_nodes(const struct reading *r, uint32_t i, const char **policy)
{
    uint32_t value[WEIGHT_KEYS];
    int64_t weight[WEIGHT_KEYS] = {[LEAST_REQUESTED] = 1, [BALANCED_RESOURCE] = 1};

    if (i != DOC_NONE && !doc_is_null(&r->doc, i)) {
        if (doc_fields(&r->doc, i, &weight_keys, value) < 0)
            return -1;
        for (int k = 0; k < WEIGHT_KEYS; k++)
            if (value_number(r, value[k], weight_names[k], 0, POLICY_WEIGHT_MAX, false,
                             &weight[k]) < 0)
                return -1;
    }
    errno = 0;
    *policy = policy_by_weights(r, weight);
    return *policy || errno == 0 ? 0 : -1;
}

static bool is_empty(const struct doc *d, uint32_t i)
{
    return doc_is_null(d, i) || (!doc_is_text(d, i) && d->node[i].count == 0);
}

/* What a plugin is told, of which only nodeorder takes something, in the machine's order; and the policy that it
 * chooses, if it is `on`: the first one that chooses decides. `name`: "" if it is no text.
 */
static int read_node_order(const struct reading *r, const char *name, uint32_t arguments, bool on,
                           const struct order *order)
{
    const char *policy = strcmp(name, "binpack") == 0 ? "pack" : NULL;

    if (strcmp(name, "nodeorder") == 0 && order->policy) {
        if (read_weights_of_nodes(r, arguments, &policy) < 0)
            return -1;
    } else if (arguments != DOC_NONE && !is_empty(&r->doc, arguments)) {
        return doc_fault(&r->doc, arguments, "key \"arguments\": expected none: %s",
                         where_said(name, order));
    }
    if (on && order->policy && !*order->policy)
        *order->policy = policy;
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
    const struct order order = {by, policy};

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
    return 0;
}
