/* The section about pilots that are asked for by themselves. */
#include "config/read.h"

enum pilots_key {
    MAX_NODES,
    TIME,
    BACKLOG,
    IDLE,
    BUDGET,
    PARTITION,
    OPTIONS,
    NODE,
    WAIT,
    PILOTS_KEYS
};
static const char *const pilots_names[] = {"max-nodes", "time",    "backlog", "idle", "budget",
                                           "partition", "options", "node",    "wait"};
static const struct doc_keys pilots_keys = {"the pilots", pilots_names, PILOTS_KEYS, 1};

enum node_key { CORES, GPUS, MEMORY, NODE_KEYS };
static const char *const node_names[] = {"cores", "gpus", "memory"};
static const struct doc_keys node_keys = {"a pilot's node", node_names, NODE_KEYS, 1};

static int read_node(struct reading *r, uint32_t i, int64_t node[PILOT_KINDS])
{
    uint32_t value[NODE_KEYS];

    if (i == DOC_NONE)
        return 0;
    if (doc_fields(&r->doc, i, &node_keys, value) < 0 ||
        value_number(r, value[CORES], "cores", 1, PILOT_NODE_MOST, false, &node[PILOT_CORES]) < 0 ||
        value_number(r, value[GPUS], "gpus", 0, PILOT_NODE_MOST, false, &node[PILOT_GPUS]) < 0)
        return -1;
    return value_size(r, value[MEMORY], "memory", &node[PILOT_MEMORY]);
}

/* Hours of nodes as ticks of nodes. */
static int read_budget(struct reading *r, uint32_t i, int64_t *budget)
{
    int64_t hours = SCHED_UNLIMITED;

    if (value_number(r, i, "budget", 1, PILOT_HOURS_MOST, true, &hours) < 0)
        return -1;
    *budget = hours == SCHED_UNLIMITED ? INT64_MAX : hours * 3600 * r->second;
    return 0;
}

int read_pilots(struct reading *r, uint32_t i)
{
    struct config_pilots *p = &r->config->pilots;
    uint32_t value[PILOTS_KEYS];

    pilot_rule_default(&p->rule, r->second);
    if (i == DOC_NONE)
        return 0;
    if (doc_fields(&r->doc, i, &pilots_keys, value) < 0 ||
        value_number(r, value[MAX_NODES], "max-nodes", 1, PILOT_NODES_MOST, false,
                     &p->rule.max_nodes) < 0 ||
        value_time(r, value[TIME], "time", TIME_POSITIVE, &p->rule.time) < 0 ||
        value_number(r, value[BACKLOG], "backlog", 1, PILOT_NODES_MOST, false, &p->rule.backlog) <
            0 ||
        value_time(r, value[IDLE], "idle", TIME_POSITIVE, &p->rule.idle) < 0 ||
        read_budget(r, value[BUDGET], &p->rule.budget) < 0 ||
        value_time(r, value[WAIT], "wait", TIME_ZERO_TOO, &p->wait) < 0 ||
        value_text(r, value[PARTITION], "partition", &p->partition) < 0 ||
        value_text(r, value[OPTIONS], "options", &p->options) < 0 ||
        read_node(r, value[NODE], p->rule.node) < 0)
        return -1;
    if (p->rule.time < PILOT_TIME_LEAST * r->second)
        return doc_expected(&r->doc, value[TIME], "time", "15 minutes or more");
    return 0;
}
