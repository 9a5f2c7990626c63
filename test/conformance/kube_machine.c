/* The machine of a session as a resource graph, and its tasks as jobspecs. Each node has a pool of each
 * resource, of which a task takes what it asks for. Amounts are counted in the largest unit that divides those of
 * nodes and tasks; where queues deserve parts by weight, which are no whole ones, in a thousandth of that, if there is one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube_session.h"
#include "resource/graph.h"

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void divide(struct session *s, const int64_t *amounts)
{
    for (uint32_t d = 0; d < s->w.names.n; d++)
        if (amounts[d] > 0 && amounts[d] < SHARE_MOST)
            s->unit[d] = gcd(amounts[d], s->unit[d]);
}

enum {
    PARTS = 1024 * 1000
}; /* of a unit at most, in which those of thousands and of 1024 are whole */

static void find_units(struct session *s)
{
    bool by_weight = kube_plugin(&s->w, "proportion") && !kube_plugin(&s->w, "capacity");
    memset(s->unit, 0, sizeof(s->unit));
    for (size_t i = 0; i < s->w.n_nodes; i++)
        divide(s, s->w.nodes[i].there_is);
    for (size_t i = 0; i < s->w.n_tasks; i++)
        divide(s, s->w.tasks[i].request);
    for (uint32_t d = 0; d < s->w.names.n; d++)
        s->unit[d] = s->unit[d] == 0 ? 1
                     : by_weight     ? s->unit[d] / gcd(s->unit[d], PARTS)
                                     : s->unit[d];
}

/* What a node is to have room for: what it has, or what runs there, where that is more. */
static void size_of(const struct session *s, const struct kube_node *node, int64_t *size)
{
    int64_t used[SHARE_DIMENSIONS_MAX] = {0};
    for (size_t i = 0; i < s->w.n_tasks; i++) {
        const struct kube_task *task = &s->w.tasks[i];
        bool is_there = strcmp(task->node, node->name) == 0 &&
                        (kube_has_started(task->status) || strcmp(task->status, "Releasing") == 0);
        for (uint32_t d = 0; d < s->w.names.n && is_there; d++)
            used[d] += task->request[d];
    }
    for (uint32_t d = 0; d < s->w.names.n; d++)
        size[d] = used[d] > node->there_is[d] ? used[d] : node->there_is[d];
    if (!s->counts_pods &&
        !(kube_enabled(&s->w, "predicates", "predicate") && node->there_is[s->pods] > 0))
        size[s->pods] = (int64_t)s->w.n_tasks + 1;
}

static uint32_t add(struct graph *g, uint32_t parent, const struct vertex_spec *spec)
{
    uint32_t v = graph_add(g, spec);
    if (v != VERTEX_NONE && parent != VERTEX_NONE &&
        graph_connect(g, parent, v, GRAPH_CONTAINMENT) < 0)
        return VERTEX_NONE;
    return v;
}

/* Labels are properties "key=value"; a taint that keeps tasks out is the property "tainted". */
static bool add_properties(struct graph *g, uint32_t v, const struct kube_node *node)
{
    const char *key;
    json_t *value;
    size_t i;
    char text[512];
    bool good = true;
    json_object_foreach (json_object_get(node->is, "labels"), key, value) {
        snprintf(text, sizeof(text), "%s=%s", key, json_string_value(value));
        good &= graph_set_property(g, v, text, "") == 0;
    }
    json_array_foreach (json_object_get(node->is, "taints"), i, value) {
        if (strcmp(kube_text(value, "effect"), "PreferNoSchedule") != 0)
            good &= graph_set_property(g, v, "tainted", "") == 0;
    }
    return good;
}

static bool add_node(const struct session *s, struct graph *g, uint32_t root, uint32_t i)
{
    int64_t size[SHARE_DIMENSIONS_MAX];
    const struct kube_node *node = &s->w.nodes[i];
    size_of(s, node, size);
    uint32_t v = add(g, root,
                     &(struct vertex_spec){
                         .type = "node", .id = i, .uniq_id = -1, .size = 1, .rank = (int32_t)i});
    bool good = v != VERTEX_NONE && add_properties(g, v, node);
    for (uint32_t d = 0; d < s->w.names.n && good; d++) {
        char type[16];
        snprintf(type, sizeof(type), "r%u", d);
        if (size[d] == 0)
            continue;
        uint32_t pool = add(g, v,
                            &(struct vertex_spec){.type = type,
                                                  .id = 0,
                                                  .uniq_id = -1,
                                                  .size = size[d] / s->unit[d],
                                                  .rank = (int32_t)i});
        good = pool != VERTEX_NONE && graph_set_property(g, pool, "divisible", "") == 0;
    }
    return good;
}

match_t *kube_machine(struct session *s)
{
    berth_error_t err;
    char filters[12 * SHARE_DIMENSIONS_MAX], policy[64];
    struct graph *g = graph_create();
    bool good = g != NULL;
    find_units(s);
    for (uint32_t d = 0; d < s->w.names.n && good; d++) {
        char type[16];
        snprintf(type, sizeof(type), "r%u", d);
        good = graph_type(g, type) != UINT32_MAX;
    }
    uint32_t root = good
                        ? add(g, VERTEX_NONE,
                              &(struct vertex_spec){
                                  .type = "cluster", .id = 0, .uniq_id = -1, .size = 1, .rank = -1})
                        : VERTEX_NONE;
    good = root != VERTEX_NONE;
    if (good)
        graph_set_root(g, GRAPH_CONTAINMENT, root);
    for (uint32_t i = 0; i < s->w.n_nodes && good; i++)
        good = add_node(s, g, root, i);
    if (!good || graph_seal(g) < 0) {
        graph_destroy(g);
        return NULL;
    }
    match_options_t options = {.policy = "low", .end = MATCH_END_MAX};
    if (kube_match_policy(s, policy, sizeof(policy))) {
        options.policy = policy;
        options.filters = kube_filters(s, filters, sizeof(filters));
    }
    match_t *m = match_create(g, &options, &err);
    if (!m)
        kube_wrong("%s", err.text);
    return m;
}

/* ---- Tasks ---- */

static json_t *term(const char *key, json_t *value)
{
    char text[512];
    snprintf(text, sizeof(text), "%s=%s", key, json_string_value(value));
    return json_pack("{s[s]}", "properties", text);
}

static json_t *negation(json_t *of)
{
    return json_pack("{s[o]}", "not", of);
}

static bool is_of_key(const char *key, json_t *label, json_t *expression)
{
    const char *sign = kube_text(expression, "Operator");
    json_t *bound = json_array_get(json_object_get(expression, "Values"), 0);
    const char *most = json_is_string(bound) ? json_string_value(bound) : "";
    long long is = strtoll(json_string_value(label), NULL, 10), than = strtoll(most, NULL, 10);
    if (strcmp(key, kube_text(expression, "Key")) != 0)
        return false;
    return strcmp(sign, "Gt") == 0 ? is > than : strcmp(sign, "Lt") != 0 || is < than;
}

/* The labels of nodes that have the key and, with Gt or Lt, are beyond the value. */
static void add_labels(const struct session *s, json_t *expression, json_t *any)
{
    for (size_t i = 0; i < s->w.n_nodes; i++) {
        const char *key;
        json_t *label;
        json_object_foreach (json_object_get(s->w.nodes[i].is, "labels"), key, label) {
            if (is_of_key(key, label, expression))
                json_array_append_new(any, term(key, label));
        }
    }
}

/* Of a required node affinity: In, NotIn, Exists, DoesNotExist, Gt or Lt. Another sign holds nowhere. */
static json_t *expression_of(const struct session *s, json_t *expression)
{
    const char *sign = kube_text(expression, "Operator");
    bool not_in = strcmp(sign, "NotIn") == 0, no_key = strcmp(sign, "DoesNotExist") == 0;
    json_t *any = json_pack("[{s[s]}]", "properties", "nowhere"), *value;
    size_t i;
    if (not_in || strcmp(sign, "In") == 0) {
        json_array_foreach (json_object_get(expression, "Values"), i, value) {
            json_array_append_new(any, term(kube_text(expression, "Key"), value));
        }
    } else if (no_key || strcmp(sign, "Exists") == 0 || strcmp(sign, "Gt") == 0 ||
               strcmp(sign, "Lt") == 0) {
        add_labels(s, expression, any);
    }
    json_t *one_of = json_pack("{so}", "or", any);
    return not_in || no_key ? negation(one_of) : one_of;
}

static void add_affinity(const struct session *s, json_t *all, const struct kube_task *task)
{
    json_t *node = json_object_get(json_object_get(task->is, "affinity"), "NodeAffinity");
    json_t *required = json_object_get(node, "RequiredDuringSchedulingIgnoredDuringExecution");
    json_t *terms = json_object_get(required, "NodeSelectorTerms"), *each, *expression;
    json_t *any = json_array();
    size_t i, j;
    json_array_foreach (terms, i, each) {
        json_t *both = json_array();
        json_array_foreach (json_object_get(each, "MatchExpressions"), j, expression) {
            json_array_append_new(both, expression_of(s, expression));
        }
        json_array_append_new(any, json_pack("{so}", "and", both));
    }
    if (json_array_size(terms) > 0)
        json_array_append_new(all, json_pack("{so}", "or", any));
    else
        json_decref(any);
}

/* A task that has started is where it is; others go by the plugin `predicates`. */
static json_t *constraints_of(const struct session *s, const struct kube_task *task)
{
    const char *key;
    json_t *value, *all = json_array();
    if (task->node[0] != '\0') {
        for (size_t i = 0; i < s->w.n_nodes; i++) {
            char host[32];
            snprintf(host, sizeof(host), "node%zu", i);
            if (strcmp(s->w.nodes[i].name, task->node) == 0)
                json_array_append_new(all, json_pack("{s[s]}", "hostlist", host));
        }
    } else if (kube_enabled(&s->w, "predicates", "predicate")) {
        json_object_foreach (json_object_get(task->is, "node_selector"), key, value) {
            json_array_append_new(all, term(key, value));
        }
        json_array_append_new(all, negation(json_pack("{s[s]}", "properties", "tainted")));
        add_affinity(s, all, task);
    }
    return json_pack("{so}", "and", all);
}

char *kube_jobspec(const struct session *s, const struct kube_task *task)
{
    json_t *pools = json_array();
    for (uint32_t d = 0; d < s->w.names.n; d++) {
        char type[16];
        snprintf(type, sizeof(type), "r%u", d);
        int64_t count = task->request[d] / s->unit[d];
        if (count > 0)
            json_array_append_new(pools,
                                  json_pack("{ss sI}", "type", type, "count", (json_int_t)count));
    }
    json_t *slot =
        json_pack("{ss si ss so}", "type", "slot", "count", 1, "label", "s", "with", pools);
    json_t *node = json_pack("{ss si s[o]}", "type", "node", "count", 1, "with", slot);
    json_t *spec =
        json_pack("{si s[o] s[{s[s] ss s{si}}] s{s{si so}}}", "version", 9999, "resources", node,
                  "tasks", "command", "a", "slot", "s", "count", "per_slot", 1, "attributes",
                  "system", "duration", 0, "constraints", constraints_of(s, task));
    char *text = json_dumps(spec, JSON_COMPACT);
    json_decref(spec);
    return text;
}
