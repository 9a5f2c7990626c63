/* What Slurm says of pilots, as `berth pilot watch` passes it on, and what a person says of nodes. */
#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "base/hostlist.h"
#include "server/core/entry.h"
#include "server/core/machine.h"
#include "server/core/pilots_auto.h"

static int set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value); /* -1 without a value */
}

/* Its nodes are taken back at another time than they said themselves. */
static int change_end(server_t *s, int64_t pilot, int64_t end)
{
    size_t i;
    json_t *node;
    json_array_foreach (pilots_nodes(s), i, node) {
        if (json_integer_value(json_object_get(node, "pilot")) == pilot &&
            set(node, "end", json_integer(end)) < 0)
            return -1;
    }
    pilots_block_ends(s);
    return 0;
}

/* A node whose job is over: what it has not told by now is lost. One that is still connected tells what it has yet. */
static void lose(server_t *s, const json_t *node)
{
    struct engine *engine = s->platform.engine;
    const char *id = entry_text(node, "id");
    if (!pilots_node_up(s, id))
        engine->ops->lose(engine, id);
}

/* Those of a pilot's nodes that are named: lost, or marked. */
static int follow_names(server_t *s, int64_t pilot, const char *names, bool lost)
{
    struct hostlist list = {0};
    size_t i;
    json_t *node;
    int rc = hostlist_decode(&list, names, strlen(names), NULL);
    json_array_foreach (pilots_nodes(s), i, node) {
        const char *vertex = entry_text(node, "vertex");
        if (rc < 0 || json_integer_value(json_object_get(node, "pilot")) != pilot ||
            hostlist_find(&list, vertex, strlen(vertex)) < 0)
            continue;
        if (lost)
            lose(s, node);
        else
            rc = set(node, "given_up", json_true());
    }
    hostlist_clear(&list);
    return rc;
}

int pilot_told(server_t *s, json_t *pilot, const struct pilot_told *told)
{
    int64_t number = json_integer_value(json_object_get(pilot, "pilot"));
    if ((told->job && set(pilot, "job", json_string(told->job)) < 0) ||
        (told->slurm && set(pilot, "slurm", json_string(told->slurm)) < 0) ||
        (told->reason && set(pilot, "reason", json_string(told->reason)) < 0) ||
        (told->start >= 0 && set(pilot, "start", json_integer(told->start)) < 0) ||
        (told->end >= 0 && change_end(s, number, told->end) < 0) ||
        (told->given_up && follow_names(s, number, told->given_up, false) < 0) ||
        (told->lost && follow_names(s, number, told->lost, true) < 0))
        return -1;
    settings_note_change(s);
    if (told->over && pilot_drain(s, pilot) < 0)
        return -1;
    if (told->over)
        pilot_end(s, number);
    pilots_follow(s);
    return 0;
}

bool server_has_pilots(const server_t *s)
{
    struct auto_rule rule;
    return json_array_size(pilots_list(s)) > 0 || auto_rule_get(s, &rule);
}

int pilots_lose(server_t *s, const char *vertex, berth_error_t *err)
{
    const struct engine_node *nodes;
    uint64_t change;
    const json_t *node = pilots_node_named(s, vertex);
    const char *id = entry_text(node, "id");
    struct engine *engine = s->platform.engine;
    if (!node)
        return errtext_set(err, EINVAL,
                           "resources: expected a node that is lent or Slurm's, got '%s'", vertex);
    size_t n = engine->ops->nodes(engine, &nodes, &change);
    for (size_t i = 0; i < n; i++)
        if (strcmp(nodes[i].id, id) == 0 && nodes[i].up && !nodes[i].left)
            return errtext_set(err, EINVAL, "node %s is there: what runs on it can be cancelled",
                               vertex);
    engine->ops->lose(engine, id);
    pilots_follow(s);
    return 0;
}
