/* How ready a gang is: a gang starts whole, then those of its members that don't run in the case wait again, and others
 * have what is not left for these. A member that asks for nothing finds room; one that waits for what is being released
 * would find room if jobs were gone that may be stopped for it; one that waits finds none.
 */
#include <stdio.h>
#include <string.h>

#include "berth/match.h"
#include "berth/sched_admin.h"
#include "berth/sched_config.h"
#include "berth/sched_query.h"
#include "kube.h"

enum { QUEUE, PREEMPTIBLE, OTHER, QUEUES };

static const struct sched_queue_config queues[QUEUES] = {
    [QUEUE] = {.name = "queue", .policy = "easy"},
    [PREEMPTIBLE] = {.name = "preemptible", .policy = "easy", .preemptible = SCHED_PREEMPT_REQUEUE},
    [OTHER] = {.name = "other", .policy = "easy"}};

static const char core[] =
    "{version: 9999, resources: [{type: node, count: 1, with: [{type: slot, count: 1, label: s, "
    "with: [{type: core, count: 1}]}]}], tasks: [{command: [a], slot: s, count: {per_slot: 1}}], "
    "attributes: {system: {duration: 0}}}";

struct ready {
    match_t *machine;
    sched_t *sched;
};

static bool is_status(json_t *task, const char *status)
{
    return strcmp(kube_text(task, "status"), status) == 0;
}

static bool is_best_effort(json_t *task)
{
    return json_is_true(json_object_get(task, "best_effort"));
}

static bool submit(struct ready *r, int queue, const char *id, uint32_t members, uint32_t min)
{
    struct sched_request request = {.duration = SCHED_UNLIMITED,
                                    .estimate = SCHED_UNLIMITED,
                                    .id = id,
                                    .jobspec = core,
                                    .jobspec_length = strlen(core),
                                    .queue = queues[queue].name,
                                    .members = members,
                                    .min = min,
                                    .failure = SCHED_FAIL_REPLACE};
    return sched_submit(r->sched, 0, &request) >= 0;
}

static bool pass(struct ready *r, int64_t now)
{
    const struct sched_decision *d;
    size_t n;
    return sched_pass(r->sched, now, false, &d, &n) == 0 && sched_check(r->sched);
}

/* A scheduler for so many cores. */
static bool make(struct ready *r, size_t cores)
{
    berth_error_t err;
    char text[300], ids[40];
    snprintf(text, sizeof(text),
             "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"0\", \"children\": "
             "{\"core\": \"%s\"}}], "
             "\"starttime\": 0, \"expiration\": 0, \"nodelist\": [\"node0\"]}}",
             kube_ids((int64_t)cores, ids, sizeof(ids)));
    resource_graph_t *graph = resource_graph_read("rv1exec", text, strlen(text), &err);
    r->machine = graph ? match_create(graph, &(match_options_t){.policy = "low"}, &err) : NULL;
    if (r->machine)
        r->sched = sched_create(
            r->machine, &(struct sched_config){.second = 1, .queues = queues, .n_queues = QUEUES},
            &err);
    if (!r->sched)
        kube_wrong("%s", err.text);
    return r->sched != NULL;
}

static bool has_begun(json_t *task)
{
    return kube_has_started(kube_text(task, "status")) || is_status(task, "Succeeded");
}

/* Others have what members that wait find no room for, or that have failed or are ending. A member that asks for nothing:
 * only where it `counts`.
 */
static bool fill(struct ready *r, json_t *tasks, bool counts)
{
    size_t i;
    json_t *task;
    char id[32];
    json_array_foreach (tasks, i, task) {
        snprintf(id, sizeof(id), "other%zu", i);
        bool stopped = is_status(task, "Pipelined");
        bool finds_room = is_status(task, "Pending") && counts && is_best_effort(task);
        bool keeps = !has_begun(task) && !stopped && !finds_room;
        if ((stopped || keeps) && !submit(r, stopped ? PREEMPTIBLE : OTHER, id, 0, 0))
            return false;
    }
    return pass(r, 1);
}

/* How ready the gang of a case is; one of min 0 has a member more, which runs. False after saying why. */
static bool look(json_t *c, bool counts, struct sched_gang_now *now)
{
    size_t i;
    json_t *task, *tasks = json_object_get(c, "tasks");
    struct ready r = {0};
    uint32_t min = (uint32_t)json_integer_value(json_object_get(c, "min_available"));
    uint32_t n = (uint32_t)json_array_size(tasks) + (min == 0);
    bool good = make(&r, n) && submit(&r, QUEUE, "gang", n, min > 0 ? min : 1) && pass(&r, 0);
    if (good)
        sched_queue_set(r.sched, 0, queues[QUEUE].name, true, false, NULL);
    json_array_foreach (tasks, i, task) {
        if (good && !has_begun(task))
            good = sched_requeue(r.sched, 0, sched_find(r.sched, "gang", (uint32_t)i)) == 0;
    }
    good = good && fill(&r, tasks, counts);
    if (good)
        sched_queue_set(r.sched, 2, queues[QUEUE].name, true, true, NULL);
    good = good && sched_gang_look(r.sched, sched_find(r.sched, "gang", 0), now) == 0;
    sched_destroy(r.sched);
    match_destroy(r.machine);
    if (!good)
        kube_wrong("the gang can't be as it is to be");
    return good;
}

static enum outcome compare(json_t *expect, const char *key, json_int_t is)
{
    json_t *want = json_object_get(expect, key);
    json_int_t value = json_is_boolean(want) ? json_is_true(want) : json_integer_value(want);
    return !want || value == is
               ? PASSED
               : kube_wrong("%s is %lld, expected %lld", key, (long long)is, (long long)value);
}

static bool is_known(const char *key)
{
    static const char *const known[] = {"pending_best_effort", "ready", "pipelined", "starving"};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(known[i], key) == 0)
            return true;
    return false;
}

/* A gang is starving that would not be conditionally ready but for members that ask for nothing. */
enum outcome kube_job_readiness(json_t *c)
{
    size_t i;
    json_t *task, *expect = json_object_get(c, "expect");
    struct sched_gang_now now, without;
    json_int_t best_effort = 0;
    const char *key;
    json_t *value;
    json_object_foreach (expect, key, value) {
        if (!is_known(key))
            return kube_wrong("unknown: what is expected of %s", key);
    }
    if (!look(c, true, &now) || !look(c, false, &without))
        return FAILED;
    json_array_foreach (json_object_get(c, "tasks"), i, task) {
        best_effort += is_status(task, "Pending") && is_best_effort(task);
    }
    enum outcome outcomes[] = {compare(expect, "pending_best_effort", best_effort),
                               compare(expect, "ready", now.readiness == SCHED_READY),
                               compare(expect, "pipelined", now.readiness != SCHED_NOT_READY),
                               compare(expect, "starving", without.readiness == SCHED_NOT_READY)};
    for (i = 0; i < sizeof(outcomes) / sizeof(*outcomes); i++)
        if (outcomes[i] != PASSED)
            return FAILED;
    return PASSED;
}
