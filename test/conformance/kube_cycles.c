/* Several sessions, each of which begins with what the one before it has come to. */
#include "kube_session.h"

static json_t *copy(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return value ? json_deep_copy(value) : json_array();
}

static void append(json_t *to, json_t *cycle, const char *key)
{
    json_t *more = copy(cycle, key);
    json_array_extend(to, more);
    json_decref(more);
}

/* What was begun, let in or ended in one session is so in the next one. */
enum outcome kube_multi_cycle(json_t *c)
{
    static const char *const needs[] = {"config.tiers", "queues", "nodes", NULL};
    json_t *state = json_deep_copy(c), *cycle;
    char why[300];
    enum outcome outcome = PASSED;
    size_t i;
    json_object_set_new(state, "kind", json_string("session"));
    json_object_set_new(state, "jobs", copy(c, "jobs"));
    json_object_set_new(state, "tasks", copy(c, "tasks"));
    json_array_foreach (json_object_get(c, "cycles"), i, cycle) {
        json_object_set_new(json_object_get(state, "config"), "actions", copy(cycle, "actions"));
        append(json_object_get(state, "jobs"), cycle, "add_jobs");
        append(json_object_get(state, "tasks"), cycle, "add_tasks");
        json_object_set(state, "expect", json_object_get(cycle, "expect"));
        enum outcome one = kube_check_shape(state, needs, why, sizeof(why)) ? kube_session_on(state)
                                                                            : kube_wrong("%s", why);
        outcome = one == PASSED ? outcome : one;
        if (one == FAILED || one == LEFT_OUT)
            break;
    }
    json_decref(state);
    return outcome;
}
