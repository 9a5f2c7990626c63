#include "server/core/pilots.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "engine/cluster/node.h"
#include "pilot/graph.h"
#include "server/core/entry.h"
#include "server/core/machine.h"
#include "server/core/pilots_auto.h"
#include "server/core/priv.h"

json_t *pilots_list(const server_t *s)
{
    return json_object_get(json_object_get(s->settings, "pilots"), "list");
}

json_t *pilots_nodes(const server_t *s)
{
    return json_object_get(json_object_get(s->settings, "pilots"), "nodes");
}

json_t *pilots_all(server_t *s)
{
    json_t *all = json_object_get(s->settings, "pilots");
    if (!all) {
        all = json_pack("{s:i, s:[], s:[]}", "made", 0, "list", "nodes");
        if (!all || json_object_set_new(s->settings, "pilots", all) < 0)
            all = NULL;
    }
    if (!all)
        errno = ENOMEM;
    return all;
}

/* ---- Nodes ---- */

/* The node of which a key has this text, or NULL. */
static json_t *pilots_find_node(const server_t *s, const char *key, const char *text)
{
    size_t i;
    json_t *node;
    json_array_foreach (pilots_nodes(s), i, node)
        if (strcmp(entry_text(node, key), text) == 0)
            return node;
    return NULL;
}

json_t *pilots_find_near(const server_t *s, const char *id, size_t i)
{
    json_t *node = json_array_get(pilots_nodes(s), i);
    return node && strcmp(entry_text(node, "id"), id) == 0 ? node : pilots_find_node(s, "id", id);
}

const json_t *pilots_node_named(const server_t *s, const char *vertex)
{
    return pilots_find_node(s, "vertex", vertex);
}

void pilots_set_status(server_t *s, json_t *node, enum resource_status status)
{
    berth_error_t why;
    json_t *now = json_object_get(node, "status");
    if (now && json_integer_value(now) == (json_int_t)status)
        return;
    json_object_set_new(node, "status", json_integer((json_int_t)status));
    if (sched_set_status(s->sched, s->clock.now, entry_text(node, "vertex"), status, &why) < 0)
        server_notice(s, "node %s: %s", entry_text(node, "vertex"), why.text);
}

/* Nodes get ranks that they keep over a restart, as what jobs hold of them is stored with these. Returns 0, or -1 with
 * ENOMEM.
 */
static int rank_nodes(server_t *s, json_t *const *nodes, size_t n)
{
    size_t i;
    const json_t *node;
    int64_t highest = pilot_highest_rank(s->machine);
    json_array_foreach (pilots_nodes(s), i, node) {
        int64_t rank = json_object_get(node, "rank") ? entry_number(node, "rank") : -1;
        highest = rank > highest ? rank : highest;
    }
    for (size_t k = 0; k < n; k++) {
        if (json_object_get(nodes[k], "rank"))
            continue;
        if (json_object_set_new(nodes[k], "rank", json_integer((json_int_t)++highest)) < 0)
            return -1;
        settings_note_change(s);
    }
    return 0;
}

/* After a restart: a rank that the configured machine has by now is nobody else's. */
static void check_ranks(server_t *s)
{
    size_t i;
    json_t *node;
    int64_t highest = pilot_highest_rank(s->machine);
    json_array_foreach (pilots_nodes(s), i, node) {
        if (entry_number(node, "rank") <= highest)
            json_object_del(node, "rank");
    }
}

/* The same of several at once, as each change of the machine takes O(vertices). */
static void set_statuses(server_t *s, json_t *const *nodes, size_t n, enum resource_status status)
{
    struct strbuf names = {0};
    berth_error_t why;
    for (size_t i = 0; i < n; i++) {
        const json_t *now = json_object_get(nodes[i], "status");
        if (now && json_integer_value(now) == (json_int_t)status)
            continue;
        strbuf_puts(&names, names.len > 0 ? "," : "");
        strbuf_puts(&names, entry_text(nodes[i], "vertex"));
    }
    bool together =
        names.len > 0 && !names.failed &&
        sched_set_status(s->sched, s->clock.now, strbuf_text(&names), status, &why) == 0;
    for (size_t i = 0; i < n; i++)
        if (together)
            json_object_set_new(nodes[i], "status", json_integer((json_int_t)status));
        else
            pilots_set_status(s, nodes[i], status);
    strbuf_clear(&names);
}

/* Put a graph, which is freed, into the machine, and the nodes that are in it are down. */
static int attach_graph(server_t *s, char *text, json_t *const *nodes, size_t n, berth_error_t *err)
{
    if (!text)
        return errtext_no_memory(err);
    int rc = sched_attach(s->sched, s->clock.now, text, strlen(text), err);
    free(text);
    if (rc < 0 || machine_measure(s, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        json_object_del(nodes[i], "status"); /* as it was before */
    set_statuses(s, nodes, n, RESOURCE_DOWN);
    return 0;
}

/* Put n nodes into the machine; they are down. 0, or -1 with a text and none of them is. O(vertices + n). */
static int attach_nodes(server_t *s, json_t *const *nodes, size_t n, berth_error_t *err)
{
    char *text = rank_nodes(s, nodes, n) == 0 ? pilot_graph(s, nodes, n) : NULL;
    return attach_graph(s, text, nodes, n, err);
}

/* The same; if they can't be put there together, each by itself. Those that can't be are NULL then. */
static void attach_all(server_t *s, json_t **nodes, size_t n, const char *notice)
{
    berth_error_t why = {""};
    if (n == 0 || attach_nodes(s, nodes, n, &why) == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        if (n > 1 && attach_nodes(s, &nodes[i], 1, &why) == 0)
            continue;
        server_notice(s, notice, entry_text(nodes[i], "vertex"), why.text);
        nodes[i] = NULL;
    }
}

int ruled_attach(server_t *s, json_t *const *nodes, size_t n, berth_error_t *err)
{
    char *text = rank_nodes(s, nodes, n) == 0 ? ruled_graph(s, nodes, n) : NULL;
    return attach_graph(s, text, nodes, n, err);
}

void pilots_attach(server_t *s)
{
    size_t i, n = 0;
    json_t *node, **nodes = calloc(json_array_size(pilots_nodes(s)) + 1, sizeof(json_t *));
    ruled_forget_others(s);
    check_ranks(s);
    ruled_attach_all(s);
    json_array_foreach (pilots_nodes(s), i, node) {
        if (nodes && !node_is_ruled(node))
            nodes[n++] = node;
    }
    attach_all(s, nodes, n, "cannot put node %s back: %s");
    free(nodes);
    spares_follow(s);
}

json_t *pilots_list_of(char *const *texts, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < n; i++)
        if (json_array_append_new(list, json_string(texts[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* Its name or, where something has that, its name and the pilot's number. */
static json_t *describe_pilot_node(const struct engine_node *from, bool taken)
{
    char vertex[NODE_NAME_MOST + 32];
    const struct node *n = from->brings;
    snprintf(vertex, sizeof(vertex), "%s", n->name);
    if (taken)
        snprintf(vertex, sizeof(vertex), "%s.%" PRIu64, n->name, from->pilot);
    return json_pack("{s:s, s:I, s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:o}", "id", from->id, "pilot",
                     (json_int_t)from->pilot, "name", n->name, "vertex", vertex, "job", n->job,
                     "address", n->address, "end", (json_int_t)n->end, "memory",
                     (json_int_t)n->memory, "cores", pilots_list_of(n->cores, n->n_cores), "gpus",
                     pilots_list_of(n->gpus, n->n_gpus));
}

/* A node is in the machine for the first time. */
static void note_joined(server_t *s, const struct engine_node *from, json_t *node)
{
    json_t *pilot = pilot_find(s, (int64_t)from->pilot);
    auto_joined(s, pilot, node);
    json_object_set_new(pilot, "came", json_integer(entry_number(pilot, "came") + 1));
    if (!*entry_text(pilot, "job") && *from->brings->job) {
        json_object_set_new(pilot, "job", json_string(from->brings->job));
        settings_note_change(s);
    }
    server_event(s, 0, -1, "node joined", NULL);
}

/* Let nodes join that have come for the first time, in one change of the machine. O(vertices + n). */
static void let_nodes_join(server_t *s, const struct engine_node *const *from, size_t n)
{
    json_t *list = pilots_all(s) ? pilots_nodes(s) : NULL;
    json_t **nodes = calloc(n, sizeof(json_t *));
    bool *taken = calloc(n, sizeof(*taken));
    size_t before = json_array_size(list), m = 0;
    if (list && nodes && taken && pilot_names_taken(s, from, n, taken) == 0)
        for (; m < n; m++) {
            nodes[m] = describe_pilot_node(from[m], taken[m]);
            if (!nodes[m] || json_array_append_new(list, nodes[m]) < 0)
                break;
        }
    attach_all(s, nodes, m, "node %s cannot join: %s");
    for (size_t i = 0; i < m; i++)
        if (nodes[i])
            note_joined(s, from[i], nodes[i]);
    for (size_t i = m; i > 0; i--)
        if (!nodes[i - 1])
            json_array_remove(list, before + i - 1);
    if (json_array_size(list) > before)
        settings_note_change(s);
    spares_follow(s);
    free(nodes);
    free(taken);
}

bool pilots_node_held(server_t *s, const json_t *node)
{
    const sched_job_t *jobs;
    size_t n = 0;
    return sched_holders(s->sched, entry_text(node, "vertex"), &jobs, &n, NULL) < 0 || n > 0;
}

bool pilot_has_nodes(const server_t *s, int64_t pilot)
{
    size_t i;
    const json_t *node;
    json_array_foreach (pilots_nodes(s), i, node)
        if (entry_number(node, "pilot") == pilot)
            return true;
    return false;
}

static void drop_pilot(server_t *s, int64_t pilot)
{
    struct engine *engine = s->platform.engine;
    size_t i;
    json_t *entry;
    engine->ops->dismiss(engine, (uint64_t)pilot);
    json_array_foreach (pilots_list(s), i, entry)
        if (entry_number(entry, "pilot") == pilot) {
            auto_gone(s, entry);
            json_array_remove(pilots_list(s), i);
            break;
        }
    spares_follow(s);
    settings_note_change(s);
}

/* Take a node that has left out of the machine, once nothing of it is held and told. The last one takes its
 * pilot along.
 */
static bool take_node_out(server_t *s, json_t *node)
{
    struct engine *engine = s->platform.engine;
    berth_error_t why;
    size_t i;
    const json_t *entry;
    int64_t pilot = entry_number(node, "pilot");
    if (pilots_node_held(s, node) || engine->ops->forget(engine, entry_text(node, "id")))
        return false;
    json_incref(node);
    json_array_foreach (pilots_nodes(s), i, entry)
        if (entry == node) {
            json_array_remove(pilots_nodes(s), i);
            break;
        }
    pilots_block_ends(s);
    if (sched_remove(s->sched, s->clock.now, entry_text(node, "vertex"), &why) < 0)
        server_notice(s, "node %s: %s", entry_text(node, "vertex"), why.text);
    machine_measure(s, NULL);
    json_decref(node);
    if (!pilot_has_nodes(s, pilot))
        drop_pilot(s, pilot);
    server_event(s, 0, -1, "node left", NULL);
    settings_note_change(s);
    return true;
}

/* What an administrator has said of it holds still. */
enum resource_status pilots_status_said(const server_t *s, const json_t *node)
{
    size_t i;
    const json_t *said;
    json_array_foreach (json_object_get(s->settings, "resources"), i, said) {
        if (strcmp(entry_text(said, "resources"), entry_text(node, "vertex")) != 0)
            continue;
        if (strcmp(entry_text(said, "status"), "drained") == 0)
            return RESOURCE_DRAINED;
        if (strcmp(entry_text(said, "status"), "down") == 0)
            return RESOURCE_DOWN;
    }
    return RESOURCE_UP;
}

static enum resource_status status_of(const server_t *s, const json_t *node)
{
    const json_t *pilot = pilot_find(s, entry_number(node, "pilot"));
    if (!pilot || json_is_true(json_object_get(pilot, "ending")))
        return RESOURCE_DRAINED;
    return pilots_status_said(s, node);
}

/* A node that has left goes, once nothing of it is held. */
static void follow_left_node(server_t *s, const struct engine_node *from, size_t i)
{
    struct engine *engine = s->platform.engine;
    json_t *node = pilots_find_near(s, from->id, i);
    if (!node)
        engine->ops->forget(engine, from->id);
    else if (!take_node_out(s, node))
        s->pilots.leaving = true;
}

/* What there is to do with nodes that are lent, of a list of all: their statuses, of which each is set for all together, and
 * the end of those that have left.
 */
static void follow_nodes(server_t *s, const struct engine_node *from, size_t n)
{
    static const enum resource_status all[] = {RESOURCE_DOWN, RESOURCE_DRAINED, RESOURCE_UP};
    json_t **nodes = calloc(2 * n + 1, sizeof(json_t *)), **some = nodes + n;
    for (size_t i = 0; nodes && i < n; i++)
        nodes[i] = from[i].ruled ? NULL : pilots_find_near(s, from[i].id, i);
    for (size_t k = 0; nodes && k < sizeof(all) / sizeof(*all); k++) {
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
            if (nodes[i] &&
                (from[i].up && !from[i].left ? status_of(s, nodes[i]) : RESOURCE_DOWN) == all[k])
                some[m++] = nodes[i];
        set_statuses(s, some, m, all[k]);
    }
    for (size_t i = n; nodes && i > 0; i--)
        if (!from[i - 1].ruled && from[i - 1].left)
            follow_left_node(s, &from[i - 1], i - 1);
    free(nodes);
}

/* The engine's list is valid only until its next call. */
static struct engine_node *copy_nodes(server_t *s, size_t *n, uint64_t *change)
{
    const struct engine_node *nodes;
    struct engine *engine = s->platform.engine;
    *n = engine->ops->nodes(engine, &nodes, change);
    struct engine_node *copy = *n > 0 ? malloc(*n * sizeof(*copy)) : NULL;
    if (copy)
        memcpy(copy, nodes, *n * sizeof(*copy));
    return copy;
}

/* They are down until their ends are set aside. */
static void join_new(server_t *s, const struct engine_node *nodes, size_t n)
{
    size_t m = 0;
    const struct engine_node **new = calloc(n + 1, sizeof(*new));
    for (size_t i = 0; new &&i < n; i++)
        if (nodes[i].brings && !nodes[i].ruled && !nodes[i].left &&
            !pilots_find_near(s, nodes[i].id, i) && pilot_find(s, (int64_t)nodes[i].pilot))
            new[m++] = &nodes[i];
    if (m > 0 && pilots_blocks_left(s) < 1)
        server_notice(s, "node %s cannot join: there are %d blocks, and its end needs one",
                      new[0]->id, BLOCKS_MAX);
    else if (m > 0)
        let_nodes_join(s, new, m);
    if (m > 0)
        pilots_block_ends(s);
    free(new);
}

void pilots_follow(server_t *s)
{
    uint64_t change;
    size_t n;
    if (!s->platform.engine->ops->nodes || !s->engine.is_known)
        return;
    struct engine_node *nodes = copy_nodes(s, &n, &change);
    if (nodes && (change != s->pilots.change || s->pilots.leaving)) {
        s->pilots.leaving = false;
        s->pilots.change = change;
        join_new(s, nodes, n);
        ruled_join_new(s, nodes, n);
        for (size_t i = 0; i < n; i++)
            if (nodes[i].ruled)
                ruled_follow(s, &nodes[i], i);
        follow_nodes(s, nodes, n);
        ruled_follow_absent(s, nodes, n);
    }
    free(nodes);
}

bool pilots_node_up(const server_t *s, const char *id)
{
    const struct engine_node *nodes;
    uint64_t change;
    struct engine *engine = s->platform.engine;
    size_t n = engine->ops->nodes ? engine->ops->nodes(engine, &nodes, &change) : 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(nodes[i].id, id) == 0)
            return nodes[i].up;
    return false;
}

/* ---- Pilots ---- */

json_t *pilot_find(const server_t *s, int64_t pilot)
{
    size_t i;
    json_t *entry;
    json_array_foreach (pilots_list(s), i, entry)
        if (entry_number(entry, "pilot") == pilot)
            return entry;
    return NULL;
}

json_t *pilot_add(server_t *s, const char *kind, int64_t nodes, const char *options,
                  const char *tag, char *folder, berth_error_t *err)
{
    struct engine *engine = s->platform.engine;
    json_t *all = pilots_all(s);
    if (!engine->ops->invite) {
        errtext_set(err, EINVAL, "this server has no pilots: berth-gate is not installed with it");
        return NULL;
    }
    if (json_array_size(pilots_list(s)) >= PILOTS_MOST) {
        errtext_set(err, EINVAL, "there are %d pilots already: remove one first", PILOTS_MOST);
        return NULL;
    }
    int64_t number = entry_number(all, "made") + 1;
    json_t *pilot =
        json_pack("{s:I, s:s, s:I, s:s, s:s, s:s, s:b, s:I}", "pilot", (json_int_t)number, "kind",
                  kind, "nodes", (json_int_t)nodes, "options", options, "tag", tag, "job", "",
                  "ending", false, "since", (json_int_t)s->clock.wall);
    if (!all || !pilot || json_object_set_new(all, "made", json_integer(number)) < 0 ||
        json_array_append_new(pilots_list(s), pilot) < 0) {
        errtext_no_memory(err);
        return NULL;
    }
    if (engine->ops->invite(engine, (uint64_t)number, folder, err) < 0) {
        json_array_remove(pilots_list(s), json_array_size(pilots_list(s)) - 1);
        return NULL;
    }
    settings_note_change(s);
    return pilot;
}

void pilot_end(server_t *s, int64_t pilot)
{
    if (!pilot_has_nodes(s, pilot))
        drop_pilot(s, pilot);
}

int pilot_drain(server_t *s, json_t *pilot)
{
    size_t i;
    json_t *node;
    if (json_object_set_new(pilot, "ending", json_true()) < 0) {
        errno = ENOMEM;
        return -1;
    }
    json_array_foreach (pilots_nodes(s), i, node)
        if (entry_number(node, "pilot") == entry_number(pilot, "pilot") &&
            pilots_node_up(s, entry_text(node, "id")))
            pilots_set_status(s, node, RESOURCE_DRAINED);
    spares_follow(s);
    settings_note_change(s);
    return 0;
}

void pilot_remove(server_t *s, json_t *pilot, bool lost)
{
    struct engine *engine = s->platform.engine;
    size_t i;
    json_t *node;
    int64_t number = entry_number(pilot, "pilot");
    if (!pilot_has_nodes(s, number)) {
        drop_pilot(s, number);
        return;
    }
    pilot_drain(s, pilot);
    json_array_foreach (pilots_nodes(s), i, node)
        if (lost && entry_number(node, "pilot") == number)
            engine->ops->lose(engine, entry_text(node, "id"));
    pilots_follow(s);
}
