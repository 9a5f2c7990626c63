/* What goes first among those that have shares: comparators, also by the names and in the tiers of kube-batch. */
#include <string.h>

#include "berth/sched_config.h"
#include "config/read.h"

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

/* What a plugin is said to be beside its name: whether it orders jobs and queues, and switches of what queues say here. */
enum plugin_key { NAME, ARGUMENTS, JOB_ORDER, QUEUE_ORDER, PLUGIN_KEYS = 13 };
static const char *const plugin_names[PLUGIN_KEYS] = {"name",
                                                      "arguments",
                                                      "enableJobOrder",
                                                      "enableQueueOrder",
                                                      "enableTaskOrder",
                                                      "enableJobReady",
                                                      "enableJobPipelined",
                                                      "enablePreemptable",
                                                      "enableReclaimable",
                                                      "enablePredicate",
                                                      "enableNodeOrder",
                                                      "enableHierarchy",
                                                      "enableJobStarving"};
static const struct doc_keys plugin_keys = {"a plugin", plugin_names, PLUGIN_KEYS, 1};

/* Where that is said here which kube-batch tells a plugin by arguments. */
static const char *where_said(const char *plugin)
{
    if (strcmp(plugin, "nodeorder") == 0 || strcmp(plugin, "binpack") == 0)
        return "which nodes a job gets is said by the section match, as in {policy: lonode}";
    return "what plugins are told is said by keys of queues, such as weight, guarantee and "
           "sla-waiting-time";
}

/* A comparator, or a plugin as in {name: drf, enableJobOrder: true}. One that is not to order is left out. */
static int read_plugin(const struct reading *r, uint32_t i, struct sched_share_order *order)
{
    struct sched_share_order unused = {.n = 0};
    uint32_t value[PLUGIN_KEYS];
    bool on[PLUGIN_KEYS] = {[JOB_ORDER] = true, [QUEUE_ORDER] = true};

    if (r->doc.node[i].kind != DOC_MAPPING)
        return read_comparator(r, i, order);
    if (doc_fields(&r->doc, i, &plugin_keys, value) < 0)
        return -1;
    for (int k = JOB_ORDER; k < PLUGIN_KEYS; k++)
        if (value_switch(r, value[k], plugin_names[k], &on[k]) < 0)
            return -1;
    if (value[ARGUMENTS] != DOC_NONE && r->doc.node[value[ARGUMENTS]].count > 0)
        return doc_fault(
            &r->doc, value[ARGUMENTS], "key \"arguments\": expected none: %s",
            where_said(doc_is_text(&r->doc, value[NAME]) ? doc_text(&r->doc, value[NAME]) : ""));
    return read_comparator(r, value[NAME], on[JOB_ORDER] && on[QUEUE_ORDER] ? order : &unused);
}

static int read_order_list(const struct reading *r, uint32_t i, struct sched_share_order *order)
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
int read_order(const struct reading *r, uint32_t i, struct sched_share_order *order)
{
    const struct doc *d = &r->doc;

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_LIST)
        return doc_expected(d, i, "order", "a list as in [priority, share]");
    for (uint32_t x = i + 1; x < d->node[i].end; x = d->node[x].end) {
        bool list = d->node[x].kind == DOC_LIST;
        int rc = is_tier(d, x) ? read_order_list(r, x + 2, order)
                 : list        ? read_order_list(r, x, order)
                               : read_plugin(r, x, order);
        if (rc < 0)
            return -1;
    }
    return 0;
}
