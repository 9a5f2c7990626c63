/* What cases of kube-batch and Volcano look like, whatever their kind. */
#include <stdio.h>
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
    {"binds{}!", SHAPE_TEXT},
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
    {"backfill_tasks[]!", SHAPE_TEXT},
    {"backfilled{}!", SHAPE_AMOUNTS},
    {"accessible{}!", SHAPE_AMOUNTS},
};

/* The same of cases of other kinds. */
static const struct {
    const char *kind;
    struct shape shape;
} expected_of[] = {
    {"proportion_deserved", {"expect{}!", SHAPE_OBJECT}},
    {"capacity_queue_share", {"expect!", SHAPE_NUMBER}},
    {"enqueueable", {"expect", SHAPE_OBJECT}},
    {"plugin_order_and_enqueue", {"expect{}!", SHAPE_BOOLEAN}},
    {"job_readiness", {"expect!", SHAPE_OBJECT}},
    {"job_readiness", {"expect.pending_best_effort", SHAPE_COUNT}},
    {"job_readiness", {"expect.ready", SHAPE_BOOLEAN}},
    {"job_readiness", {"expect.pipelined", SHAPE_BOOLEAN}},
    {"job_readiness", {"expect.starving", SHAPE_BOOLEAN}},
    {"victim_count", {"expect.victims!", SHAPE_COUNT}},
    {"victim_tiers", {"expect.victims[]!", SHAPE_TEXT}},
};

/* Whether nothing is expected of a cycle that is not known; of a session that is said when it has been played. */
static bool knows_all(json_t *expect, char *why, size_t room)
{
    const char *key;
    json_t *value;
    json_object_foreach (expect, key, value) {
        size_t i = 0, n = sizeof(expected) / sizeof(*expected);
        while (i < n && (strcspn(expected[i].path, "[{") != strlen(key) ||
                         strncmp(expected[i].path, key, strlen(key)) != 0))
            i++;
        if (i == n) {
            snprintf(why, room, "unknown: what is expected of %s", key);
            return false;
        }
    }
    return true;
}

/* Of a session, or of each cycle. */
static bool check_expected(json_t *c, char *why, size_t room)
{
    size_t i, n = json_object_size(json_object_get(c, "expect"));
    json_t *cycle;
    bool good = shape_check(json_object_get(c, "expect"), expected,
                            sizeof(expected) / sizeof(*expected), why, room);
    json_array_foreach (json_object_get(c, "cycles"), i, cycle) {
        json_t *expect = json_object_get(cycle, "expect");
        n += json_object_size(expect);
        good = good &&
               shape_check(expect, expected, sizeof(expected) / sizeof(*expected), why, room) &&
               knows_all(expect, why, room);
    }
    if (good && n == 0)
        snprintf(why, room, "expect: expected something to compare");
    return good && n > 0;
}

static bool check_expected_of(json_t *c, const char *kind, char *why, size_t room)
{
    bool is_other = false, good = true;
    for (size_t i = 0; i < sizeof(expected_of) / sizeof(*expected_of); i++) {
        if (strcmp(expected_of[i].kind, kind) != 0)
            continue;
        is_other = true;
        good = good && shape_check(c, &expected_of[i].shape, 1, why, room);
    }
    return is_other ? good : check_expected(c, why, room);
}

bool kube_check_shape(json_t *c, const char *const *members, char *why, size_t room)
{
    const char *kind = kube_text(c, "kind");
    return shape_check(c, shapes, sizeof(shapes) / sizeof(*shapes), why, room) &&
           shape_has(c, members, why, room) && check_expected_of(c, kind, why, room) &&
           (strcmp(kind, "session") != 0 || kube_check_words(c, why, room));
}
