/* The rule by which pilots are asked for, and what has come of it so far. */
#include <errno.h>

#include "server/core/entry.h"
#include "server/core/machine.h"
#include "server/core/pilots_auto.h"

const json_t *auto_state(const server_t *s)
{
    return json_object_get(json_object_get(s->settings, "pilots"), "auto");
}

/* The same, made if need be. NULL with ENOMEM. */
static json_t *make_state(server_t *s)
{
    json_t *all = pilots_all(s), *state = json_object_get(all, "auto");
    if (all && !state && json_object_set_new(all, "auto", json_object()) == 0)
        state = json_object_get(all, "auto");
    if (!state)
        errno = ENOMEM;
    return state;
}

/* What a node has, as the last one was that came. */
static void take_seen_node(const json_t *state, int64_t node[PILOT_KINDS])
{
    const json_t *seen = json_object_get(state, "node");
    if (!seen)
        return;
    node[PILOT_CORES] = entry_number(seen, "cores");
    node[PILOT_GPUS] = entry_number(seen, "gpus");
    node[PILOT_MEMORY] = entry_number(seen, "memory");
}

bool auto_rule_get(const server_t *s, struct auto_rule *to)
{
    const json_t *state = auto_state(s), *set = json_object_get(state, "rule");
    const struct config_pilots *configured = &s->config->pilots;
    *to = (struct auto_rule){.rule = configured->rule,
                             .partition = configured->partition,
                             .options = configured->options,
                             .is_configured = !set};
    if (set) {
        struct pilot_rule *rule = &to->rule;
        rule->max_nodes = entry_number(set, "max_nodes");
        rule->time = entry_number(set, "time");
        rule->backlog = entry_number(set, "backlog");
        rule->idle = entry_number(set, "idle");
        rule->budget = json_object_get(set, "budget") ? entry_number(set, "budget") : INT64_MAX;
        to->partition = json_string_value(json_object_get(set, "partition"));
        to->options = json_string_value(json_object_get(set, "options"));
    }
    take_seen_node(state, to->rule.node);
    return to->rule.max_nodes > 0;
}

int auto_rule_set(server_t *s, const struct auto_rule *from)
{
    json_t *state = make_state(s), *rule = from ? NULL : json_false();
    const struct pilot_rule *r = from ? &from->rule : NULL;
    if (from)
        rule = json_pack("{s:I, s:I, s:I, s:I, s:o*, s:s*, s:s*}", "max_nodes",
                         (json_int_t)r->max_nodes, "time", (json_int_t)r->time, "backlog",
                         (json_int_t)r->backlog, "idle", (json_int_t)r->idle, "budget",
                         r->budget < INT64_MAX ? json_integer(r->budget) : NULL, "partition",
                         from->partition, "options", from->options);
    if (!state || !rule || json_object_set_new(state, "rule", rule) < 0) {
        errno = ENOMEM;
        return -1;
    }
    json_object_del(state, "failures"); /* another try */
    json_object_del(state, "refused");
    json_object_del(state, "spent");
    s->pilots.n_kept = 0;
    settings_note_change(s);
    spares_follow(s);
    return 0;
}

int auto_failed(server_t *s, const char *why)
{
    json_t *state = make_state(s);
    if (!state ||
        json_object_set_new(state, "failures", json_integer(entry_number(state, "failures") + 1)) <
            0 ||
        json_object_set_new(state, "failed_at", json_integer(s->clock.wall)) < 0 ||
        json_object_set_new(state, "refused", json_string(why)) < 0) {
        errno = ENOMEM;
        return -1;
    }
    settings_note_change(s);
    return 0;
}

void auto_joined(server_t *s, json_t *pilot, const json_t *node)
{
    json_t *state;
    int64_t seen[PILOT_KINDS] = {0};
    if (!json_is_true(json_object_get(pilot, "auto")) || !(state = make_state(s)))
        return;
    if (!json_object_get(pilot, "up"))
        json_object_set_new(pilot, "up", json_integer(s->clock.wall));
    json_object_del(state, "failures");
    json_object_del(state, "refused");
    take_seen_node(state, seen);
    int64_t cores = (int64_t)json_array_size(json_object_get(node, "cores")),
            gpus = (int64_t)json_array_size(json_object_get(node, "gpus")),
            memory = entry_number(node, "memory");
    if (seen[PILOT_CORES] == cores && seen[PILOT_GPUS] == gpus && seen[PILOT_MEMORY] == memory)
        return;
    json_object_set_new(state, "node",
                        json_pack("{s:I, s:I, s:I}", "cores", (json_int_t)cores, "gpus",
                                  (json_int_t)gpus, "memory", (json_int_t)memory));
    settings_note_change(s);
    spares_follow(s);
}

void auto_gone(server_t *s, const json_t *pilot)
{
    json_t *state;
    char why[80];
    int64_t up = entry_number(pilot, "up"), nodes = entry_number(pilot, "nodes");
    if (!json_is_true(json_object_get(pilot, "auto")) || !(state = make_state(s)))
        return;
    if (up > 0 && s->clock.wall > up)
        json_object_set_new(
            state, "spent",
            json_integer(entry_number(state, "spent") + nodes * (s->clock.wall - up)));
    else if (up == 0 && !json_is_true(json_object_get(pilot, "released"))) {
        snprintf(why, sizeof(why), "pilot %lld ended before a node of it came",
                 (long long)entry_number(pilot, "pilot"));
        auto_failed(s, why);
    }
    settings_note_change(s);
}
