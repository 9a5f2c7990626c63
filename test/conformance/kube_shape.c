/* What cases of kube-batch and Volcano look like, whatever their kind. */
#include <string.h>

#include "case_shape.h"
#include "kube.h"

static const struct shape shapes[] = {
    {"id", SHAPE_TEXT},
    {"name", SHAPE_TEXT},
    {"group", SHAPE_TEXT},
    {"note", SHAPE_TEXT},
    {"steps", SHAPE_TEXT},
    {"system", SHAPE_TEXT},
    {"plugin", SHAPE_TEXT},
    {"min_available", SHAPE_COUNT},
    {"arguments", SHAPE_OBJECT},
    {"deserved", SHAPE_AMOUNTS},
    {"allocated", SHAPE_AMOUNTS},
    {"request", SHAPE_AMOUNTS},
    {"candidates[]!", SHAPE_TEXT},
    {"tiers[][].plugin!", SHAPE_TEXT},
    {"tiers[][].vote", SHAPE_NUMBER},
    {"tiers[][].victims[]!", SHAPE_TEXT},

    {"config.mode", SHAPE_TEXT},
    {"config.starvation_threshold_s", SHAPE_COUNT},
    {"config.actions[]!", SHAPE_TEXT},
    {"config.tiers[][].name!", SHAPE_TEXT},
    {"config.tiers[][].enabled", SHAPE_OBJECT},
    {"config.tiers[][].arguments", SHAPE_OBJECT},

    {"queues[].name!", SHAPE_TEXT},
    {"queues[].weight", SHAPE_COUNT},
    {"queues[].priority", SHAPE_NUMBER},
    {"queues[].state", SHAPE_TEXT},
    {"queues[].parent", SHAPE_TEXT},
    {"queues[].hierarchy", SHAPE_TEXT},
    {"queues[].hierarchy_weights", SHAPE_TEXT},
    {"queues[].guarantee", SHAPE_AMOUNTS},
    {"queues[].capability", SHAPE_AMOUNTS},
    {"queues[].deserved", SHAPE_AMOUNTS},
    {"namespace_quotas[].namespace!", SHAPE_TEXT},
    {"namespace_quotas[].hard", SHAPE_AMOUNTS},
    {"namespace_quotas[].used", SHAPE_AMOUNTS},

    {"nodes[].name!", SHAPE_TEXT},
    {"nodes[].allocatable", SHAPE_AMOUNTS},
    {"nodes[].labels{}!", SHAPE_TEXT},
    {"nodes[].taints[].effect", SHAPE_TEXT},

    {"jobs[].name!", SHAPE_TEXT},
    {"jobs[].queue", SHAPE_TEXT},
    {"jobs[].phase", SHAPE_TEXT},
    {"jobs[].priority", SHAPE_NUMBER},
    {"jobs[].min_available", SHAPE_COUNT},
    {"jobs[].min_resources", SHAPE_AMOUNTS},
    {"jobs[].min_task_available{}!", SHAPE_COUNT},
    {"jobs[].annotations{}!", SHAPE_TEXT},
    {"jobs[].waiting_time_s", SHAPE_COUNT},
    {"jobs[].created_s", SHAPE_NUMBER},
    {"jobs[].tasks[].name!", SHAPE_TEXT},
    {"jobs[].tasks[].node", SHAPE_TEXT},
    {"jobs[].tasks[].request", SHAPE_AMOUNTS},

    {"tasks[].name!", SHAPE_TEXT},
    {"tasks[].job", SHAPE_TEXT},
    {"tasks[].status!", SHAPE_TEXT},
    {"tasks[].node", SHAPE_TEXT},
    {"tasks[].role", SHAPE_TEXT},
    {"tasks[].priority", SHAPE_NUMBER},
    {"tasks[].request", SHAPE_AMOUNTS},
    {"tasks[].node_selector{}!", SHAPE_TEXT},
    {"tasks[].affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution."
     "NodeSelectorTerms[].MatchExpressions[].Key!",
     SHAPE_TEXT},
    {"tasks[].affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution."
     "NodeSelectorTerms[].MatchExpressions[].Values[]!",
     SHAPE_TEXT},

    {"cycles[].actions[]!", SHAPE_TEXT},
    {"cycles[].at_s", SHAPE_COUNT},
    {"cycles[].finish[]!", SHAPE_TEXT},
    {"cycles[].terminated[]!", SHAPE_TEXT},
    {"cycles[].add_jobs", SHAPE_LIST},
    {"cycles[].add_tasks", SHAPE_LIST},
};

/* What is expected: of a session, or of each cycle. */
static const struct shape expected[] = {
    {"binds{}", SHAPE_ANY},
    {"bind_count", SHAPE_COUNT},
    {"evicts[]!", SHAPE_TEXT},
    {"evict_count", SHAPE_COUNT},
    {"evicts_from_job", SHAPE_TEXT},
    {"job_phase{}!", SHAPE_TEXT},
    {"job_allocated{}!", SHAPE_AMOUNTS},
    {"pipelined{}!", SHAPE_LIST},
    {"readiness{}!", SHAPE_TEXT},
    {"allocated", SHAPE_LIST},
    {"conditionally_allocated", SHAPE_LIST},
    {"starving[]!", SHAPE_TEXT},
    {"reserved{}{}!", SHAPE_AMOUNTS},
};

static bool check_expected(json_t *c, char *why, size_t room)
{
    size_t i;
    json_t *cycle;
    bool good = true;
    json_array_foreach(json_object_get(c, "cycles"), i, cycle)
    {
        good = good && shape_check(json_object_get(cycle, "expect"), expected,
                                   sizeof(expected) / sizeof(*expected), why, room);
    }
    json_t *expect = json_object_get(c, "expect");
    if (good && strcmp(kube_text(c, "kind"), "session") == 0)
        good = shape_check(expect, expected, sizeof(expected) / sizeof(*expected), why, room);
    return good;
}

bool kube_check_shape(json_t *c, const char *const *members, char *why, size_t room)
{
    return shape_check(c, shapes, sizeof(shapes) / sizeof(*shapes), why, room) &&
           shape_has(c, members, why, room) && check_expected(c, why, room);
}
