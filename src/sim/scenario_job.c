/* The short form of a job as a jobspec (RFC 14).
 *
 * Of nodes alone the job gets whole ones: slot[nodes] > node[1]. With cores, gpus or memory it gets these in each of
 * the nodes: node[nodes] > slot[1] > core[cores], ...
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/scenario.h"

static json_t *resource(const char *type, int64_t count)
{
    return json_pack("{s:s, s:I}", "type", type, "count", (json_int_t)count);
}

static json_t *slot(int64_t count, json_t *with)
{
    return json_pack("{s:s, s:I, s:s, s:o}", "type", "slot", "count", (json_int_t)count, "label",
                     "task", "with", with);
}

/* What each node gives. */
static json_t *parts(const struct scenario_submit *s)
{
    json_t *list = json_array();
    int rc = list ? 0 : -1;
    if (rc == 0 && s->cores > 0)
        rc = json_array_append_new(list, resource("core", s->cores));
    if (rc == 0 && s->gpus > 0)
        rc = json_array_append_new(list, resource("gpu", s->gpus));
    if (rc == 0 && s->memory > 0) {
        json_t *memory = resource("memory", s->memory);
        rc = json_object_set_new(memory, "unit", json_string("GB"));
        if (json_array_append_new(list, memory) < 0)
            rc = -1;
    }
    if (rc == 0)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *resources(const struct scenario_submit *s)
{
    int64_t nodes = s->nodes > 0 ? s->nodes : 1;
    if (s->cores == 0 && s->gpus == 0 && s->memory == 0)
        return json_pack("[o]", slot(nodes, json_pack("[{s:s, s:i, s:b}]", "type", "node", "count",
                                                      1, "exclusive", 1)));
    json_t *node = resource("node", nodes);
    if (s->exclusive && json_object_set_new(node, "exclusive", json_true()) < 0) {
        json_decref(node);
        return NULL;
    }
    json_t *with = json_pack("[o]", slot(1, parts(s)));
    if (json_object_set_new(node, "with", with) < 0) {
        json_decref(node);
        return NULL;
    }
    return json_pack("[o]", node);
}

/* "system" with the constraints, a list of properties being one. */
static json_t *system_attributes(const struct scenario_submit *s)
{
    if (!s->requires)
        return json_object();
    if (json_is_array(s->requires))
        return json_pack("{s:{s:O}}", "constraints", "properties", s->requires);
    return json_pack("{s:O}", "constraints", s->requires);
}

char *scenario_jobspec(const struct scenario_submit *s)
{
    json_t *spec = json_pack("{s:i, s:o, s:[{s:[s], s:s, s:{s:i}}], s:{s:o}}", "version", 9999,
                             "resources", resources(s), "tasks", "command", "job", "slot", "task",
                             "count", "per_slot", 1, "attributes", "system", system_attributes(s));
    char *text = spec ? json_dumps(spec, JSON_COMPACT) : NULL;
    json_decref(spec);
    if (!text)
        errno = ENOMEM;
    return text;
}
