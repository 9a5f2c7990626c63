/* Scenarios of the design from which gangs, backfill and starvation come: several cycles, of which each begins with ends.
 *
 * What may be backfilled is in a preemptible queue of its own. In the mode with preemption it is stopped as soon as its
 * place lets a gang start. In the other one nobody is: a gang claims what it waits for from the beginning, and lets such jobs
 * in until it waits for nobody else. That is the same as long as no gang starves. Nobody's end is known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/match.h"
#include "berth/sched_admin.h"
#include "berth/sched_config.h"
#include "berth/sched_query.h"
#include "kube.h"

enum { ZERO = 1000, CPU = 1000 }; /* time 0 of a case; of a cpu */

struct seed {
    json_t *c;
    match_t *machine;
    sched_t *sched;
    const struct sched_decision *d;
    size_t n;
};

static int64_t number(json_t *object, const char *key)
{
    return kube_integer(object, key, 0);
}

static json_t *job_of(const struct seed *s, const char *task, uint32_t *member)
{
    size_t i, k;
    json_t *job, *t;
    json_array_foreach (json_object_get(s->c, "jobs"), i, job) {
        json_array_foreach (json_object_get(job, "tasks"), k, t) {
            *member = (uint32_t)k;
            if (strcmp(kube_text(t, "name"), task) == 0)
                return job;
        }
    }
    return NULL;
}

static sched_job_t handle_of(const struct seed *s, const char *task)
{
    uint32_t member;
    json_t *job = job_of(s, task, &member);
    return job ? sched_find(s->sched, kube_text(job, "name"), member) : -1;
}

static bool stops_for_others(const struct seed *s)
{
    return strcmp(kube_text(json_object_get(s->c, "config"), "mode"), "preemption") == 0;
}

/* ---- Begin ---- */

static bool make(struct seed *s)
{
    berth_error_t err;
    json_t *lite = json_array(), *names = json_array(), *node;
    size_t i;
    json_array_foreach (json_object_get(s->c, "nodes"), i, node) {
        char rank[24], cores[32];
        snprintf(rank, sizeof(rank), "%zu", i);
        kube_ids(number(json_object_get(node, "allocatable"), "cpu") / CPU, cores, sizeof(cores));
        json_array_append_new(lite,
                              json_pack("{ss s{ss}}", "rank", rank, "children", "core", cores));
        json_array_append_new(names, json_string(kube_text(node, "name")));
    }
    json_t *r =
        json_pack("{si s{so sI sI so}}", "version", 1, "execution", "R_lite", lite, "starttime",
                  (json_int_t)0, "expiration", (json_int_t)0, "nodelist", names);
    char *text = json_dumps(r, JSON_COMPACT);
    json_decref(r);
    resource_graph_t *graph = resource_graph_read("rv1exec", text, strlen(text), &err);
    free(text);
    s->machine = graph ? match_create(graph, &(match_options_t){.policy = "low"}, &err) : NULL;
    json_t *config = json_object_get(s->c, "config");
    bool stops = stops_for_others(s);
    struct sched_queue_config queue[] = {
        {.name = "q",
         .policy = "easy",
         .preempts = stops ? 0 : SCHED_PREEMPTS_NOBODY,
         .starvation_threshold = stops ? number(config, "starvation_threshold_s") : 1},
        {.name = "backfill", .policy = "easy", .preemptible = SCHED_PREEMPT_REQUEUE}};
    if (s->machine)
        s->sched = sched_create(
            s->machine, &(struct sched_config){.second = 1, .queues = queue, .n_queues = 2}, &err);
    if (!s->sched)
        kube_wrong("%s", err.text);
    return s->sched != NULL;
}

static bool submit(struct seed *s, json_t *job, int64_t now)
{
    json_t *tasks = json_object_get(job, "tasks"), *first = json_array_get(tasks, 0);
    const char *node = kube_text(first, "node");
    char text[500], where[100] = "";
    if (node[0] != '\0')
        snprintf(where, sizeof(where), ", constraints: {hostlist: [\"%s\"]}", node);
    snprintf(text, sizeof(text),
             "{version: 9999, resources: [{type: node, count: 1, with: [{type: slot, count: 1, "
             "label: s, with: [{type: core, count: %d}]}]}], tasks: [{command: [a], slot: s, "
             "count: {per_slot: 1}}], attributes: {system: {duration: 0%s}}}",
             (int)(number(json_object_get(first, "request"), "cpu") / CPU), where);
    size_t n = json_array_size(tasks);
    struct sched_request request = {
        .duration = SCHED_UNLIMITED,
        .estimate = SCHED_UNLIMITED,
        .priority = number(job, "priority"),
        .id = kube_text(job, "name"),
        .jobspec = text,
        .jobspec_length = strlen(text),
        .queue = json_is_true(json_object_get(job, "backfill_eligible")) ? "backfill" : "q",
        .members = n > 1 ? (uint32_t)n : 0,
        .min = n > 1 ? (uint32_t)number(job, "min_available") : 0};
    return sched_submit(s->sched, now, &request) >= 0;
}

/* Those that come in (since, until], each at its time. */
static bool submit_all(struct seed *s, int64_t since, int64_t until)
{
    size_t i;
    json_t *job;
    while (since < until) {
        int64_t next = until;
        json_array_foreach (json_object_get(s->c, "jobs"), i, job) {
            int64_t at = number(job, "created_s");
            next = at > since && at < next ? at : next;
        }
        json_array_foreach (json_object_get(s->c, "jobs"), i, job) {
            if (number(job, "created_s") == next && !submit(s, job, ZERO + next))
                return false;
        }
        since = next;
    }
    return true;
}

/* ---- Cycles ---- */

static bool end_all(struct seed *s, json_t *names, int64_t now, bool again)
{
    size_t i;
    json_t *name;
    json_array_foreach (names, i, name) {
        sched_job_t job = handle_of(s, json_string_value(name));
        int rc = again ? sched_requeue(s->sched, now, job) : sched_finish(s->sched, now, job, true);
        if (rc < 0) {
            kube_wrong("task %s does not run", json_string_value(name));
            return false;
        }
    }
    return true;
}

static bool is_decided(const struct seed *s, const char *task, enum sched_decision_kind kind)
{
    sched_job_t job = handle_of(s, task);
    for (size_t i = 0; i < s->n; i++)
        if (s->d[i].kind == kind && s->d[i].job == job)
            return true;
    return false;
}

/* Of all tasks exactly those that are named were decided so. */
static enum outcome compare_decided(const struct seed *s, json_t *want, json_t *nodes,
                                    enum sched_decision_kind kind)
{
    size_t i, k;
    json_t *job, *task;
    enum outcome outcome = PASSED;
    json_array_foreach (json_object_get(s->c, "jobs"), i, job) {
        json_array_foreach (json_object_get(job, "tasks"), k, task) {
            const char *name = kube_text(task, "name"), *text = "";
            bool is = is_decided(s, name, kind), wanted = json_object_get(nodes, name) != NULL;
            for (size_t j = 0; j < json_array_size(want); j++)
                wanted |= strcmp(json_string_value(json_array_get(want, j)), name) == 0;
            if (is != wanted)
                return kube_wrong("task %s: %sdecided", name, is ? "" : "not ");
            const char *node = kube_text(nodes, name);
            if (is && node[0] != '\0' &&
                (sched_resources(s->sched, handle_of(s, name), &text) < 0 ||
                 strncmp(text, node, strlen(node)) != 0))
                outcome = PASSED_EQUAL;
        }
    }
    return outcome;
}

static bool is_ready_as(const struct seed *s, json_t *expect)
{
    static const char *const words[] = {"NotReady", "ConditionallyReady", "Ready"};
    json_t *allocated = json_object_get(expect, "allocated"), *want;
    json_t *conditional = json_object_get(expect, "conditionally_allocated");
    const char *name;
    json_object_foreach (json_object_get(expect, "readiness"), name, want) {
        struct sched_gang_now now;
        if (sched_gang_look(s->sched, sched_find(s->sched, name, 0), &now) < 0 ||
            strcmp(words[now.readiness], json_string_value(want)) != 0)
            return false;
        if (allocated && (json_array_size(allocated) != now.allocated ||
                          json_array_size(conditional) != now.conditional))
            return false;
    }
    return true;
}

/* Who starves claims something, if it is one task: that is why it waits. */
static bool claims_as(const struct seed *s, json_t *expect)
{
    size_t i;
    json_t *name, *nodes, *of;
    const char *job, *node;
    json_array_foreach (json_object_get(expect, "starving"), i, name) {
        struct sched_annotation a;
        sched_job_t handle = sched_find(s->sched, json_string_value(name), 0);
        if (sched_annotate(s->sched, handle, &a) < 0 ||
            (a.members < 2 && a.reason.kind != SCHED_REASON_CLAIM))
            return false;
    }
    json_object_foreach (json_object_get(expect, "reserved"), job, nodes) {
        struct sched_annotation a;
        if (sched_annotate(s->sched, sched_find(s->sched, job, 0), &a) < 0 ||
            a.reason.kind != SCHED_REASON_CLAIM)
            return false;
        json_object_foreach (nodes, node, of) {
            if (a.reason.has * CPU != number(of, "cpu"))
                return false;
        }
    }
    return true;
}

/* What tasks hold of a node that run where others might, or with `all`, that run at all. */
static int64_t held_on(const struct seed *s, json_t *node, bool all)
{
    const char *name = kube_text(node, "name");
    size_t i, k, length = strlen(name);
    json_t *job, *task;
    int64_t sum = 0;
    json_array_foreach (json_object_get(s->c, "jobs"), i, job) {
        json_array_foreach (json_object_get(job, "tasks"), k, task) {
            const char *text = "";
            sched_job_t handle = handle_of(s, kube_text(task, "name"));
            bool counts = handle >= 0 && sched_state(s->sched, handle) == SCHED_RUNNING &&
                          (all || sched_is_filling(s->sched, handle)) &&
                          sched_resources(s->sched, handle, &text) == 0;
            if (counts && strncmp(text, name, length) == 0 && strchr("/:", text[length]))
                sum += number(json_object_get(task, "request"), "cpu");
        }
    }
    return sum;
}

/* Whether nodes have so much that is backfilled, or (`accessible`) that is, or is idle. */
static bool has_on_nodes(const struct seed *s, json_t *expect, bool accessible)
{
    size_t i;
    json_t *node;
    json_array_foreach (json_object_get(s->c, "nodes"), i, node) {
        json_t *want = json_object_get(expect, kube_text(node, "name"));
        int64_t there_is = number(json_object_get(node, "allocatable"), "cpu");
        int64_t idle = accessible ? there_is - held_on(s, node, true) : 0;
        if (want && number(want, "cpu") != idle + held_on(s, node, false))
            return false;
    }
    return true;
}

/* Whether just these tasks run where others might. */
static bool are_filling(const struct seed *s, json_t *expect)
{
    size_t i, k, n = 0, found = 0;
    json_t *job, *task, *name;
    json_array_foreach (expect, i, name) {
        sched_job_t handle = handle_of(s, json_string_value(name));
        found += handle >= 0 && sched_is_filling(s->sched, handle);
    }
    json_array_foreach (json_object_get(s->c, "jobs"), i, job) {
        json_array_foreach (json_object_get(job, "tasks"), k, task) {
            sched_job_t handle = handle_of(s, kube_text(task, "name"));
            n += handle >= 0 && sched_is_filling(s->sched, handle);
        }
    }
    return !expect || (found == json_array_size(expect) && found == n);
}

static bool fills_as(const struct seed *s, json_t *expect)
{
    return are_filling(s, json_object_get(expect, "backfill_tasks")) &&
           has_on_nodes(s, json_object_get(expect, "backfilled"), false) &&
           has_on_nodes(s, json_object_get(expect, "accessible"), true);
}

static enum outcome worse(enum outcome a, enum outcome b)
{
    return a == FAILED || b == FAILED ? FAILED : a == PASSED_EQUAL ? a : b;
}

static enum outcome cycle(struct seed *s, json_t *cycle)
{
    json_t *expect = json_object_get(cycle, "expect"), *binds = json_object_get(expect, "binds");
    int64_t now = ZERO + number(cycle, "at_s");
    if (!end_all(s, json_object_get(cycle, "finish"), now, false) ||
        !end_all(s, json_object_get(cycle, "terminated"), now, true))
        return FAILED;
    bool is_ready = is_ready_as(s, expect); /* before it is acted upon */
    if (sched_pass(s->sched, now, false, &s->d, &s->n) < 0 || !sched_check(s->sched))
        return kube_wrong("a pass fails");
    enum outcome outcome = PASSED;
    if (binds)
        outcome = worse(outcome, compare_decided(s, NULL, binds, SCHED_START));
    if (json_object_get(expect, "evicts"))
        outcome = worse(outcome,
                        compare_decided(s, json_object_get(expect, "evicts"), NULL, SCHED_PREEMPT));
    if (!is_ready)
        outcome = kube_wrong("at %lld: readiness", (long long)(now - ZERO));
    if (!fills_as(s, expect))
        outcome = kube_wrong("at %lld: what is backfilled", (long long)(now - ZERO));
    if (!claims_as(s, expect))
        outcome = kube_wrong("at %lld: claims", (long long)(now - ZERO));
    return outcome;
}

static enum outcome play(struct seed *s)
{
    const struct sched_decision *d;
    enum outcome outcome = PASSED;
    int64_t since = -1;
    size_t i, n;
    json_t *each;
    if (!make(s) || !submit_all(s, -ZERO, -1) || sched_pass(s->sched, ZERO - 1, false, &d, &n) < 0)
        return FAILED;
    json_array_foreach (json_object_get(s->c, "cycles"), i, each) {
        int64_t at = number(each, "at_s");
        if (!submit_all(s, since, at))
            return kube_wrong("a job is refused");
        since = at;
        outcome = worse(outcome, cycle(s, each));
    }
    return outcome;
}

/* Whether some job may wait for longer than the threshold. */
static bool starves(const struct seed *s)
{
    json_t *cycles = json_object_get(s->c, "cycles"), *config = json_object_get(s->c, "config");
    int64_t last = number(json_array_get(cycles, json_array_size(cycles) - 1), "at_s"),
            first = last;
    size_t i;
    json_t *job;
    json_array_foreach (json_object_get(s->c, "jobs"), i, job) {
        int64_t at = number(job, "created_s");
        first = at < first ? at : first;
    }
    return last - first >= number(config, "starvation_threshold_s");
}

enum outcome kube_seed_scenario(json_t *c)
{
    struct seed s = {.c = c};
    if (!stops_for_others(&s) && starves(&s)) {
        printf("left out: %s: gangs that starve, and have nobody stopped\n", kube_text(c, "id"));
        return LEFT_OUT;
    }
    enum outcome outcome = play(&s);
    sched_destroy(s.sched);
    match_destroy(s.machine);
    return outcome;
}
