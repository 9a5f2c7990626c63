/* Who ends, as sessions: when what a node is lent for is over, and where plugins disagree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube_session.h"

static json_t *copy(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return value ? json_deep_copy(value) : json_array();
}

static json_t *tasks_of(json_t *session)
{
    return json_object_get(session, "tasks");
}

static json_t *plugin(const char *name, const char *function)
{
    return json_pack("{ss s{sb}}", "name", name, "enabled", function, 1);
}

/* By it the highest priority comes first, and has others stopped as long as a task of it waits. */
static json_t *priority(void)
{
    return json_pack("{ss s{sb sb sb}}", "name", "priority", "enabled", "jobOrder", 1,
                     "jobStarving", 1, "preemptable", 1);
}

/* ---- Who ends when what nodes are lent for is over ---- */

/* Whether a time of day, at noon, is within "H:MM-H:MM"; one that begins when it ends is the whole day. */
static bool is_on(const char *zone)
{
    int from_h, from_m, to_h, to_m;
    if (sscanf(zone, "%d:%d-%d:%d", &from_h, &from_m, &to_h, &to_m) != 4)
        return false;
    int noon = 12 * 60, from = from_h * 60 + from_m, to = to_h * 60 + to_m;
    return from < to ? from <= noon && noon < to : from == to || from <= noon || noon < to;
}

/* Of a node that is lent: whether it is wanted back. */
static bool is_wanted(json_t *c, const char *name)
{
    char key[200];
    size_t i;
    json_t *node;
    json_t *tdm = json_array_get(
        json_array_get(json_object_get(json_object_get(c, "config"), "tiers"), 0), 0);
    json_array_foreach (json_object_get(c, "nodes"), i, node) {
        const char *zone = kube_text(json_object_get(node, "labels"), "volcano.sh/revocable-zone");
        if (strcmp(kube_text(node, "name"), name) != 0 || zone[0] == '\0')
            continue;
        snprintf(key, sizeof(key), "tdm.revocable-zone.%s", zone);
        const char *times = kube_text(json_object_get(tdm, "arguments"), key);
        return times[0] != '\0' && !is_on(times);
    }
    return false;
}

/* "3", or "30%" of so many, rounded up. */
static json_int_t part_of(const char *text, json_int_t all)
{
    json_int_t n = strtoll(text, NULL, 10);
    return strchr(text, '%') ? (n * all + 99) / 100 : n;
}

/* So many of a job's tasks are to stay: that is its min. */
static void set_min(json_t *c, json_t *job)
{
    size_t i;
    json_t *task, *notes = json_object_get(job, "annotations");
    const char *most = kube_text(notes, "volcano.sh/jdb-max-unavailable");
    const char *least = kube_text(notes, "volcano.sh/jdb-min-available");
    json_int_t n = 0;
    json_array_foreach (json_object_get(c, "tasks"), i, task) {
        n += strcmp(kube_text(task, "job"), kube_text(job, "name")) == 0;
    }
    json_int_t min = most[0] ? n - part_of(most, n) : least[0] ? part_of(least, n) : -1;
    if (min >= 0 || most[0])
        json_object_set_new(job, "min_available", json_integer(min > 0 ? min : 0));
}

/* A task has a node to itself, which is labelled with its name, and full. */
static json_t *node_of(json_t *task)
{
    const char *name = kube_text(task, "name");
    json_t *has = json_deep_copy(json_object_get(task, "request"));
    json_object_set_new(has, "pods", json_integer(2));
    return json_pack("{ss s{ss} so}", "name", name, "labels", "name", name, "allocatable", has);
}

/* A task that wants what another one has, on its node, and is a job of its own that is above all of the queue. */
static void add_claimant(json_t *session, json_t *task, const char *queue)
{
    char name[200];
    snprintf(name, sizeof(name), "%s-for", kube_text(task, "name"));
    json_array_append_new(json_object_get(session, "jobs"),
                          json_pack("{ss ss si ss si}", "name", name, "queue", queue,
                                    "min_available", 0, "phase", "Inqueue", "priority", 1000));
    json_array_append_new(tasks_of(session),
                          json_pack("{ss ss ss sn sO s{ss}}", "name", name, "job", name, "status",
                                    "Pending", "node", "request", json_object_get(task, "request"),
                                    "node_selector", "name", kube_text(task, "name")));
}

static const char *queue_of(json_t *c, json_t *task)
{
    size_t i;
    json_t *job;
    json_array_foreach (json_object_get(c, "jobs"), i, job) {
        if (strcmp(kube_text(job, "name"), kube_text(task, "job")) == 0)
            return kube_text(job, "queue");
    }
    return "";
}

/* A session with these tiers in which nothing is but queues, jobs and tasks of a case, on nodes that they fill. */
static json_t *full_session(json_t *c, const char *action, json_t *tiers)
{
    size_t i;
    json_t *task, *nodes = json_array(), *tasks = copy(c, "tasks");
    json_array_foreach (tasks, i, task) {
        json_object_set(task, "node", json_object_get(task, "name"));
        json_array_append_new(nodes, node_of(task));
    }
    return json_pack("{ss ss ss s{s[s] so} so so so so}", "id", kube_text(c, "id"), "kind",
                     "session", "system", "volcano", "config", "actions", action, "tiers", tiers,
                     "nodes", nodes, "queues", copy(c, "queues"), "jobs", copy(c, "jobs"), "tasks",
                     tasks);
}

/* What a node is lent for is over: jobs of its owner, of higher priority, want all of it. A job's budget is its min. */
enum outcome kube_victim_count(json_t *c)
{
    size_t i;
    json_t *job, *task;
    json_t *tiers =
        json_pack("[[o,o,o,o]]", priority(), plugin("gang", "preemptable"),
                  plugin("conformance", "preemptable"), plugin("predicates", "predicate"));
    json_t *session = full_session(c, "preempt", tiers);
    json_array_foreach (json_object_get(session, "jobs"), i, job) {
        set_min(c, job);
    }
    json_array_foreach (json_object_get(c, "tasks"), i, task) {
        if (is_wanted(c, kube_text(task, "node")))
            add_claimant(session, task, queue_of(c, task));
    }
    json_t *expect = json_object_get(json_object_get(c, "expect"), "victims");
    json_object_set_new(session, "expect", json_pack("{sO}", "evict_count", expect));
    enum outcome outcome = kube_session(session);
    json_decref(session);
    return outcome;
}

/* ---- Who ends where plugins disagree ---- */

static bool has(json_t *list, const char *name)
{
    size_t i;
    json_t *value;
    json_array_foreach (list, i, value) {
        if (strcmp(json_string_value(value), name) == 0)
            return true;
    }
    return false;
}

static bool is_of_shares(json_t *c)
{
    size_t i, j;
    json_t *tier, *each;
    json_array_foreach (json_object_get(c, "tiers"), i, tier) {
        json_array_foreach (tier, j, each) {
            const char *name = kube_text(each, "plugin");
            if (strcmp(name, "proportion") == 0 || strcmp(name, "capacity") == 0)
                return true;
        }
    }
    return false;
}

/* What speaks against a candidate is made so: a gang that needs it, a queue that deserves it, a priority that is not
 * lower; of plugins that are nothing to Berth, that it is never stopped.
 */
struct against {
    bool any, gang, queue, priority, ever;
};

static struct against against(json_t *c, const char *candidate)
{
    struct against is = {0};
    size_t i, j;
    json_t *tier, *each;
    json_array_foreach (json_object_get(c, "tiers"), i, tier) {
        json_array_foreach (tier, j, each) {
            const char *name = kube_text(each, "plugin");
            bool votes = json_integer_value(json_object_get(each, "vote")) != 0;
            bool says = votes && !has(json_object_get(each, "victims"), candidate);
            bool shares = strcmp(name, "proportion") == 0 || strcmp(name, "capacity") == 0;
            is.any |= votes;
            is.gang |= says && strcmp(name, "gang") == 0;
            is.priority |= says && strcmp(name, "priority") == 0;
            is.queue |= says && shares;
            is.ever |=
                says && strcmp(name, "gang") != 0 && strcmp(name, "priority") != 0 && !shares;
        }
    }
    is.ever |= is.priority && is_of_shares(c); /* between queues priorities are not compared */
    return is;
}

static void add_task(json_t *world, const char *name, const char *job, bool ever)
{
    json_array_append_new(tasks_of(world), json_pack("{ss ss ss ss s{si} sb}", "name", name, "job",
                                                     job, "status", "Running", "node", name,
                                                     "request", "cpu", 1000, "preemptable", ever));
}

/* A candidate has a node to itself, and where there are shares a queue; a gang's other member has another node. */
static void add_candidate(json_t *world, const char *name, bool shares, const struct against *is)
{
    char job[100], queue[100], peer[100];
    snprintf(job, sizeof(job), "job-%s", name);
    snprintf(queue, sizeof(queue), "%s%s", shares ? "queue-" : "queue", shares ? name : "");
    snprintf(peer, sizeof(peer), "%s-peer", name);
    if (shares)
        json_array_append_new(
            json_object_get(world, "queues"),
            json_pack("{ss s{si}}", "name", queue, "deserved", "cpu", is->queue ? 2000 : 0));
    json_array_append_new(json_object_get(world, "jobs"),
                          json_pack("{ss ss si ss si}", "name", job, "queue", queue,
                                    "min_available", is->gang ? 2 : 0, "phase", "Running",
                                    "priority", is->priority ? 1000 : 0));
    add_task(world, name, job, !is->ever);
    if (is->gang)
        add_task(world, peer, job, true);
}

/* Each candidate's node is wanted by a task of its own: who ends for that. */
enum outcome kube_victim_tiers(json_t *c)
{
    size_t i;
    json_t *candidate;
    bool shares = is_of_shares(c), any = false;
    json_t *world = json_pack("{ss s[{ss s{si}}] s[] s[]}", "id", kube_text(c, "id"), "queues",
                              "name", "queue", "deserved", "cpu", 1000000, "jobs", "tasks");
    json_array_foreach (json_object_get(c, "candidates"), i, candidate) {
        struct against is = against(c, json_string_value(candidate));
        any |= is.any;
        add_candidate(world, json_string_value(candidate), shares, &is);
    }
    const char *kind = shares ? "reclaimable" : "preemptable";
    json_t *tiers =
        json_pack("[[o,o,o],[o,o]]", priority(), plugin("gang", kind), plugin("conformance", kind),
                  plugin("capacity", kind), plugin("predicates", "predicate"));
    json_t *session = full_session(world, any ? shares ? "reclaim" : "preempt" : "allocate", tiers);
    json_array_foreach (tasks_of(world), i, candidate) {
        if (has(json_object_get(c, "candidates"), kube_text(candidate, "name")))
            add_claimant(session, candidate, "queue");
    }
    json_object_set_new(
        session, "expect",
        json_pack("{sO}", "evicts", json_object_get(json_object_get(c, "expect"), "victims")));
    enum outcome outcome = kube_session(session);
    json_decref(session);
    json_decref(world);
    return outcome;
}
