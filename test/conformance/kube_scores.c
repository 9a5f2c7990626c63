/* Which nodes come first for tasks, by the plugins `nodeorder` and `binpack`: those in which much is in use, or little, or evenly;
 * and those that tasks prefer. The former is a match policy. The latter is the order of the machine's nodes, of which the first
 * one is taken: all tasks that prefer any are to prefer the same.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube_session.h"

static double weight_of(const struct session *s, const char *plugin, const char *argument,
                        double usual)
{
    json_t *weight =
        json_object_get(json_object_get(kube_plugin(&s->w, plugin), "arguments"), argument);
    const char *text = json_string_value(weight);
    return json_is_number(weight) ? json_number_value(weight) : text ? strtod(text, NULL) : usual;
}

static double order_weight(const struct session *s, const char *what, double usual)
{
    char argument[64];
    snprintf(argument, sizeof(argument), "%s.weight", what);
    return kube_enabled(&s->w, "nodeorder", "nodeOrder")
               ? weight_of(s, "nodeorder", argument, usual)
               : 0;
}

/* ---- What is in use ---- */

static bool is_packed(const struct session *s)
{
    return kube_enabled(&s->w, "binpack", "nodeOrder") &&
           weight_of(s, "binpack", "binpack.weight", 1) > 0;
}

/* How much it weighs that little is in use, by nodeorder. */
static double least_weight(const struct session *s)
{
    return order_weight(s, "leastrequested", 1) - order_weight(s, "mostrequested", 0);
}

/* How much it weighs that the parts in use are even, as a standard deviation: that of two is half of what is between them,
 * which kube-batch counts.
 */
static double balance_weight(const struct session *s)
{
    bool is_volcano = strcmp(kube_text(s->c, "system"), "volcano") == 0;
    return (is_volcano ? 1 : 2) * order_weight(s, "balancedresource", 1);
}

const char *kube_match_policy(const struct session *s, char *text, size_t size)
{
    double packed = is_packed(s) ? weight_of(s, "binpack", "binpack.weight", 1) : 0;
    double use = packed - least_weight(s), balance = balance_weight(s);
    const char *by_use = use > 0 ? "pack" : "spread";
    if (use == 0 && balance == 0)
        return NULL;
    if (balance == 0)
        snprintf(text, size, "%s", by_use);
    else if (use == 0)
        snprintf(text, size, "balance");
    else
        snprintf(text, size, "%s=%.0f balance=%.0f", by_use, fabs(use), balance);
    return text;
}

static bool is_scored(const struct session *s)
{
    char text[64];
    return kube_match_policy(s, text, sizeof(text)) != NULL;
}

/* Whether a resource is one of those that the plugin counts beside cpu and memory: "a, b". */
static bool is_listed(const struct session *s, const char *name)
{
    const char *list =
        kube_text(json_object_get(kube_plugin(&s->w, "binpack"), "arguments"), "binpack.resources");
    for (list += strspn(list, ", "); *list != '\0'; list += strspn(list, ", ")) {
        size_t length = strcspn(list, ", ");
        if (strlen(name) == length && strncmp(name, list, length) == 0)
            return true;
        list += length;
    }
    return false;
}

/* How much a resource counts in what is in use. */
static double counts_for(const struct session *s, const char *name)
{
    char argument[200];
    bool plain = strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0;
    if (!is_packed(s))
        return plain;
    snprintf(argument, sizeof(argument), "binpack.%s%s", plain ? "" : "resources.", name);
    return plain || is_listed(s, name) ? weight_of(s, "binpack", argument, 1) : 0;
}

static bool waits(const struct kube_task *task)
{
    return strcmp(task->status, "Pending") == 0;
}

static bool is_asked_for(const struct session *s, uint32_t d)
{
    for (size_t i = 0; i < s->w.n_tasks; i++)
        if (waits(&s->w.tasks[i]) && s->w.tasks[i].request[d] > 0)
            return true;
    return false;
}

const char *kube_filters(const struct session *s, char *text, size_t size)
{
    size_t length = 0;
    for (uint32_t d = 0; d < s->w.names.n; d++)
        if (counts_for(s, s->w.names.name[d]) > 0 && (!is_packed(s) || is_asked_for(s, d)))
            length += (size_t)snprintf(text + length, size - length, "%sALL:r%u",
                                       length > 0 ? "," : "", d);
    return length > 0 ? text : NULL;
}

/* Whether of the resources that count one counts more than another. */
static bool count_unequally(const struct session *s)
{
    double first = 0;
    for (uint32_t d = 0; d < s->w.names.n && is_packed(s); d++) {
        double weight = counts_for(s, s->w.names.name[d]);
        if (weight <= 0 || !is_asked_for(s, d))
            continue;
        if (first > 0 && weight != first)
            return true;
        first = weight;
    }
    return false;
}

/* ---- What tasks prefer ---- */

static bool is_beyond(const char *label, const char *than, bool more)
{
    long long a = strtoll(label, NULL, 10), b = strtoll(than, NULL, 10);
    return more ? a > b : a < b;
}

static bool holds(json_t *labels, json_t *expression)
{
    const char *sign = kube_text(expression, "Operator");
    const char *label = json_string_value(json_object_get(labels, kube_text(expression, "Key")));
    json_t *values = json_object_get(expression, "Values"), *value;
    const char *first = json_string_value(json_array_get(values, 0));
    bool is_in = false;
    size_t i;
    json_array_foreach (values, i, value) {
        is_in |= label && json_is_string(value) && strcmp(json_string_value(value), label) == 0;
    }
    if (strcmp(sign, "In") == 0)
        return is_in;
    if (strcmp(sign, "NotIn") == 0)
        return !is_in;
    if (strcmp(sign, "Exists") == 0 || strcmp(sign, "DoesNotExist") == 0)
        return (label != NULL) == (sign[0] == 'E');
    bool more = strcmp(sign, "Gt") == 0;
    return (more || strcmp(sign, "Lt") == 0) && label && first && is_beyond(label, first, more);
}

/* The weights of what a task prefers that a node has. */
static int64_t preferred(const struct kube_task *task, const struct kube_node *node)
{
    json_t *affinity = json_object_get(json_object_get(task->is, "affinity"), "NodeAffinity");
    json_t *terms = json_object_get(affinity, "PreferredDuringSchedulingIgnoredDuringExecution");
    json_t *term, *expression, *labels = json_object_get(node->is, "labels");
    int64_t sum = 0;
    size_t i, k;
    json_array_foreach (terms, i, term) {
        json_t *all = json_object_get(json_object_get(term, "Preference"), "MatchExpressions");
        bool hold = json_array_size(all) > 0;
        json_array_foreach (all, k, expression) {
            hold &= holds(labels, expression);
        }
        sum += hold ? kube_integer(term, "Weight", 0) : 0;
    }
    return sum;
}

/* How many things speak against a node, but don't keep tasks out. */
static int64_t disliked(const struct kube_node *node)
{
    size_t i;
    json_t *taint;
    int64_t n = 0;
    json_array_foreach (json_object_get(node->is, "taints"), i, taint) {
        n += strcmp(kube_text(taint, "effect"), "PreferNoSchedule") == 0;
    }
    return n;
}

/* How much a task prefers a node: of both so many of the most that any node has, each by its weight, which is by default as in
 * Kubernetes of their time.
 */
static double liking(const struct session *s, const struct kube_task *task,
                     const struct kube_node *node)
{
    bool is_volcano = strcmp(kube_text(s->c, "system"), "volcano") == 0;
    int64_t scale = is_volcano ? 100 : 10, most = 0, worst = 0;
    for (size_t i = 0; i < s->w.n_nodes; i++) {
        int64_t likes = preferred(task, &s->w.nodes[i]), dislikes = disliked(&s->w.nodes[i]);
        most = likes > most ? likes : most;
        worst = dislikes > worst ? dislikes : worst;
    }
    double affinity = most > 0 ? (double)(scale * preferred(task, node) / most) : 0;
    double taints = worst > 0 ? (double)(scale - scale * disliked(node) / worst) : (double)scale;
    return order_weight(s, "nodeaffinity", is_volcano ? 2 : 1) * affinity +
           order_weight(s, "tainttoleration", is_volcano ? 3 : 0) * taints;
}

/* Whether a task prefers some node to another one. */
static bool prefers_any(const struct session *s, const struct kube_task *task)
{
    for (size_t i = 1; i < s->w.n_nodes; i++)
        if (liking(s, task, &s->w.nodes[i]) != liking(s, task, &s->w.nodes[0]))
            return true;
    return false;
}

/* The first task that waits and prefers some node; NULL: none does. */
static const struct kube_task *who_prefers(const struct session *s)
{
    for (size_t i = 0; i < s->w.n_tasks; i++)
        if (waits(&s->w.tasks[i]) && prefers_any(s, &s->w.tasks[i]))
            return &s->w.tasks[i];
    return NULL;
}

static bool prefer_differently(const struct session *s)
{
    const struct kube_task *first = who_prefers(s);
    for (size_t i = 0; i < s->w.n_tasks && first; i++)
        for (size_t k = 0; k < s->w.n_nodes; k++)
            if (waits(&s->w.tasks[i]) && prefers_any(s, &s->w.tasks[i]) &&
                liking(s, &s->w.tasks[i], &s->w.nodes[k]) != liking(s, first, &s->w.nodes[k]))
                return true;
    return false;
}

void kube_order_nodes(struct session *s)
{
    const struct kube_task *task = who_prefers(s);
    for (size_t i = 1; i < s->w.n_nodes && task; i++)
        for (size_t k = i; k > 0; k--) {
            struct kube_node *before = &s->w.nodes[k - 1], node = s->w.nodes[k];
            if (liking(s, task, before) >= liking(s, task, &node))
                break;
            s->w.nodes[k] = *before;
            *before = node;
        }
}

bool kube_tells_apart(const struct session *s, const struct kube_task *task,
                      const struct kube_node *a, const struct kube_node *b)
{
    return is_scored(s) || liking(s, task, a) != liking(s, task, b);
}

/* Whether binpack counts what nodeorder does: cpu and memory, of which tasks ask for both. */
static bool packs_the_plain(const struct session *s)
{
    for (uint32_t d = 0; d < s->w.names.n; d++) {
        const char *name = s->w.names.name[d];
        bool plain = strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0;
        if (plain != (counts_for(s, name) > 0 && is_asked_for(s, d)))
            return false;
    }
    return true;
}

/* Volcano counts GPUs in how evenly nodes are in use, and nowhere else in nodeorder. */
static bool has_gpus(const struct session *s)
{
    for (uint32_t d = 0; d < s->w.names.n; d++)
        for (size_t i = 0; i < s->w.n_nodes && strcmp(s->w.names.name[d], "nvidia.com/gpu") == 0;
             i++)
            if (s->w.nodes[i].there_is[d] > 0)
                return true;
    return false;
}

const char *kube_why_unscored(const struct session *s)
{
    if (s->w.n_nodes < 2)
        return NULL;
    if (is_packed(s) && (least_weight(s) != 0 || balance_weight(s) > 0) && !packs_the_plain(s))
        return "nodes come first by two plugins, by what is in use";
    if (count_unequally(s))
        return "what is in use of one resource counts more than of another";
    if (balance_weight(s) > 0 && has_gpus(s))
        return "GPUs count in how evenly nodes are in use";
    if (is_scored(s) && who_prefers(s))
        return "nodes come first by what is in use, and by what tasks prefer";
    return prefer_differently(s) ? "tasks prefer different nodes" : NULL;
}
