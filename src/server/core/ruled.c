/* Nodes that another scheduler rules: their shape, status, and what others hold of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "engine/cluster/node.h"
#include "pilot/graph.h"
#include "server/core/entry.h"
#include "server/core/machine.h"
#include "server/core/pilots.h"
#include "server/core/priv.h"

bool node_is_ruled(const json_t *node)
{
    return json_object_get(node, "properties") != NULL;
}

static json_t *describe_ruled_node(const struct engine_node *from)
{
    const struct node *n = from->brings;
    return json_pack("{s:s, s:I, s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:s}", "id", from->id, "pilot",
                     (json_int_t)0, "name", n->name, "vertex", n->name, "address", n->address,
                     "end", (json_int_t)0, "memory", (json_int_t)n->memory, "cores",
                     pilots_list_of(n->cores, n->n_cores), "gpus",
                     pilots_list_of(n->gpus, n->n_gpus), "properties", from->ruled->properties);
}

/* A node that was not there before. */
static json_t *join_machine(server_t *s, const struct engine_node *from)
{
    berth_error_t why = {""};
    json_t *node = pilots_all(s) ? describe_ruled_node(from) : NULL;
    if (!node || json_array_append_new(pilots_nodes(s), node) < 0)
        return NULL;
    if (pilot_name_taken(s, entry_text(node, "vertex")))
        errtext_set(&why, EEXIST, "the name is taken");
    else if (ruled_attach(s, &node, 1, &why) == 0) {
        settings_note_change(s);
        return node;
    }
    server_notice(s, "node %s cannot join: %s", from->id, why.text);
    json_array_remove(pilots_nodes(s), json_array_size(pilots_nodes(s)) - 1);
    return NULL;
}

/* The nodes that have no place yet, of a list of them all: together, since each change of the machine takes O(vertices). */
void ruled_join_new(server_t *s, const struct engine_node *nodes, size_t n)
{
    berth_error_t why = {""};
    json_t **all = calloc(n + 1, sizeof(json_t *)), *list = pilots_all(s) ? pilots_nodes(s) : NULL;
    size_t m = 0, before = json_array_size(list);
    for (size_t i = 0; all && list && i < n; i++) {
        const struct engine_node *from = &nodes[i];
        if (!from->ruled || !from->brings || from->left || pilots_find_near(s, from->id, i) ||
            pilot_name_taken(s, from->brings->name))
            continue;
        json_t *node = describe_ruled_node(from);
        if (!node || json_array_append_new(list, node) < 0)
            break;
        all[m++] = node;
    }
    if (m > 0 && ruled_attach(s, all, m, &why) < 0) {
        server_notice(s, "%zu nodes cannot join together: %s", m, why.text);
        while (json_array_size(list) > before) /* each by itself, then */
            json_array_remove(list, json_array_size(list) - 1);
    } else if (m > 0) {
        settings_note_change(s);
    }
    free(all);
}

void ruled_attach_all(server_t *s)
{
    json_t *list = pilots_nodes(s), *node;
    json_t **all = calloc(json_array_size(list) + 1, sizeof(json_t *));
    berth_error_t why = {"out of memory"};
    size_t i, n = 0;
    json_array_foreach (list, i, node)
        if (all && node_is_ruled(node))
            all[n++] = node;
    if (!all || (n > 0 && ruled_attach(s, all, n, &why) < 0))
        server_notice(s, "cannot put Slurm's nodes back: %s", why.text);
    free(all);
}

static void drop_ruled_node(server_t *s, const json_t *node)
{
    size_t i;
    const json_t *entry;
    json_array_foreach (pilots_nodes(s), i, entry)
        if (entry == node) {
            json_array_remove(pilots_nodes(s), i);
            break;
        }
    settings_note_change(s);
}

/* Take it out of the machine, once nothing of it is held. Returns whether it is out. */
static bool leave_machine(server_t *s, const json_t *node)
{
    berth_error_t why;
    if (pilots_node_held(s, node))
        return false;
    if (sched_remove(s->sched, s->clock.now, entry_text(node, "vertex"), &why) < 0)
        server_notice(s, "node %s: %s", entry_text(node, "vertex"), why.text);
    machine_measure(s, NULL);
    drop_ruled_node(s, node);
    return true;
}

/* Whether it is what it was: its status and what others hold are not of its shape. */
static bool is_same_shape(const json_t *node, const struct engine_node *from)
{
    const struct node *n = from->brings;
    return json_array_size(json_object_get(node, "cores")) == n->n_cores &&
           json_array_size(json_object_get(node, "gpus")) == n->n_gpus &&
           json_integer_value(json_object_get(node, "memory")) == (json_int_t)n->memory &&
           strcmp(entry_text(node, "properties"), from->ruled->properties) == 0;
}

/* Of the n cores, GPUs or parts of memory of a node, of so many units together, others hold some: as many are down, of those
 * of which no job of ours holds anything. Which ones they are is nobody's business here: Slurm chooses among them.
 */
static void mark_taken(server_t *s, json_t *node, const char *type, size_t n, int64_t units,
                       int64_t taken)
{
    char key[32], path[NODE_NAME_MOST + 40];
    berth_error_t why;
    snprintf(key, sizeof(key), "%s_taken", type);
    json_t *marks = json_object_get(node, key);
    if (!marks && taken == 0)
        return;
    if (!marks) {
        marks = json_array();
        for (size_t i = 0; i < n; i++)
            json_array_append_new(marks, json_false());
        if (json_object_set_new(node, key, marks) < 0 || json_array_size(marks) != n) {
            json_object_del(node, key);
            return;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const sched_job_t *jobs;
        size_t held = 0;
        bool was = json_is_true(json_array_get(marks, i)), is = false;
        snprintf(path, sizeof(path), "%s/%s%zu", entry_text(node, "vertex"), type, i);
        if (taken > 0)
            is = sched_holders(s->sched, path, &jobs, &held, NULL) == 0 && held == 0;
        taken -= is ? pilot_part(units, (int64_t)n, (int64_t)i) : 0;
        if (is == was)
            continue;
        json_array_set_new(marks, i, json_boolean(is));
        if (sched_set_status(s->sched, s->clock.now, path, is ? RESOURCE_DOWN : RESOURCE_UP, &why) <
            0)
            server_notice(s, "%s: %s", path, why.text);
    }
}

static void mark_all_taken(server_t *s, json_t *node, const struct engine_ruled *ruled)
{
    int64_t unit = s->size.memory_unit, memory;
    size_t cores = json_array_size(json_object_get(node, "cores")),
           gpus = json_array_size(json_object_get(node, "gpus"));
    memory = unit > 0 ? json_integer_value(json_object_get(node, "memory")) / unit : 0;
    mark_taken(s, node, "core", cores, (int64_t)cores, ruled->cores_taken);
    mark_taken(s, node, "gpu", gpus, (int64_t)gpus, ruled->gpus_taken);
    if (memory > 0)
        mark_taken(s, node, "memory", (size_t)pilot_memory_parts(memory), memory,
                   (ruled->memory_taken + unit - 1) / unit);
}

void ruled_follow(server_t *s, const struct engine_node *from, size_t at)
{
    json_t *node = pilots_find_near(s, from->id, at);
    bool goes = from->left || (node && from->brings && !is_same_shape(node, from));
    if (node && goes && leave_machine(s, node))
        node = NULL;
    if (from->left && !node) {
        s->platform.engine->ops->forget(s->platform.engine, from->id);
        return;
    }
    if (!node && from->brings)
        node = join_machine(s, from);
    if (!node)
        return;
    s->pilots.leaving = s->pilots.leaving || goes;
    enum resource_status status = pilots_status_said(s, node);
    if (!from->up || from->left)
        status = RESOURCE_DOWN;
    else if (status == RESOURCE_UP && (from->ruled->drained || goes))
        status = RESOURCE_DRAINED;
    mark_all_taken(s, node, from->ruled);
    json_object_set_new(node, "reason", json_string(from->ruled->reason));
    pilots_set_status(s, node, status);
}

static bool is_told(const char *id, const struct engine_node *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (nodes[i].ruled && strcmp(nodes[i].id, id) == 0)
            return true;
    return false;
}

void ruled_follow_absent(server_t *s, const struct engine_node *nodes, size_t n)
{
    json_t *list = pilots_nodes(s);
    size_t told = 0, known = 0, i;
    json_t *node;
    for (size_t k = 0; k < n; k++)
        told += nodes[k].ruled != NULL;
    json_array_foreach (list, i, node)
        known += node_is_ruled(node);
    if (told == 0 || told == known)
        return;
    for (i = json_array_size(list); i-- > 0;) {
        node = json_array_get(list, i);
        if (!node_is_ruled(node) || is_told(entry_text(node, "id"), nodes, n) ||
            leave_machine(s, node))
            continue;
        pilots_set_status(s, node, RESOURCE_DOWN);
        s->pilots.leaving = true;
    }
}

const char *ruled_reason(const server_t *s, const char *vertex, bool *drained)
{
    const json_t *node = pilots_node_named(s, vertex);
    const char *reason = entry_text(node, "reason");
    *drained = node_is_ruled(node) &&
               json_integer_value(json_object_get(node, "status")) == RESOURCE_DRAINED;
    return node_is_ruled(node) && *reason ? reason : NULL;
}

void ruled_forget_others(server_t *s)
{
    json_t *nodes = pilots_nodes(s);
    for (size_t i = json_array_size(nodes); i-- > 0;) {
        json_t *node = json_array_get(nodes, i);
        json_object_del(node, "core_taken"); /* all are free in a new machine */
        json_object_del(node, "gpu_taken");
        json_object_del(node, "memory_taken");
        if (node_is_ruled(node) && s->config->resources.source != CONFIG_SLURM)
            json_array_remove(nodes, i);
    }
}
