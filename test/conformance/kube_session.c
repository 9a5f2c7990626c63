/* A session: its actions, once, on what there is at the beginning. What runs is started first, by a
 * configuration without shares; then the one of the session takes over, and tasks that wait come in.
 */
#include "kube_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"

enum { ENDING = 10 }; /* when tasks that are ending have ended */

bool kube_has_action(const struct session *s, const char *name)
{
    size_t i;
    json_t *action;
    json_array_foreach(json_object_get(json_object_get(s->c, "config"), "actions"), i, action)
    {
        if (strcmp(json_string_value(action), name) == 0)
            return true;
    }
    return false;
}

/* ---- What is left out ---- */

static const char *left_out_plugin(const struct session *s)
{
    static const char *const known[] = {
        "priority",    "drf", "proportion", "capacity",   "predicates",    "nodeorder", "binpack",
        "conformance", "sla", "gang",       "overcommit", "resourcequota", NULL};
    size_t i, j, k;
    json_t *tier, *plugin;
    json_array_foreach(s->w.tiers, i, tier)
    {
        json_array_foreach(tier, j, plugin)
        {
            const char *name = kube_text(plugin, "name");
            for (k = 0; known[k] && strcmp(known[k], name) != 0; k++)
                continue;
            if (!known[k] && !strstr(kube_text(s->c, "note"), name))
                return name;
        }
    }
    return NULL;
}

static enum outcome left_out(json_t *c, const char *why)
{
    printf("left out: %s: %s\n", kube_text(c, "id"), why);
    return LEFT_OUT;
}

static const char *why_left_out(const struct session *s)
{
    const char *plugin = left_out_plugin(s);
    if (json_object_get(s->c, "hypernodes") || json_object_get(s->c, "shard"))
        return "networks and shards";
    for (size_t i = 0; i < s->w.n_jobs; i++)
        if (s->w.jobs[i].min_available > 1 && kube_enabled(&s->w, "gang", "jobReady"))
            return "gangs";
    return plugin;
}

/* ---- Submit ---- */

static bool is_empty(const struct session *s, const struct kube_task *task)
{
    for (uint32_t d = 0; d < s->w.names.n; d++)
        if (d != s->pods && task->request[d] > 0)
            return false;
    return true;
}

bool kube_runs(const struct kube_task *task)
{
    return task->node[0] != '\0' &&
           (kube_has_started(task->status) || strcmp(task->status, "Releasing") == 0);
}

/* Whether the actions of a session look at a task that waits. */
static bool is_looked_at(const struct session *s, const struct kube_task *task)
{
    if (strcmp(task->status, "Pending") != 0 || !task->job)
        return false;
    return s->is_let_in[task->job - s->w.jobs] &&
           kube_has_action(s, is_empty(s, task) ? "backfill" : "allocate");
}

static bool submit(struct session *s, uint32_t i)
{
    const struct kube_task *task = &s->w.tasks[i];
    const char *queue = kube_queue_of(s, task);
    bool ends = strcmp(task->status, "Releasing") == 0;
    char *text = queue ? kube_jobspec(s, task) : NULL;
    if (!text)
        return queue == NULL;
    struct sched_request request = {
        .duration = ends ? ENDING : SCHED_UNLIMITED,
        .estimate = ends ? ENDING : SCHED_UNLIMITED,
        .priority = kube_enabled(&s->w, "priority", "jobOrder") ? task->job->priority : 0,
        .tag = i,
        .jobspec = text,
        .jobspec_length = strlen(text),
        .queue = queue,
        .user = task->job->name};
    s->handle[i] = sched_submit(s->sched, 0, &request);
    free(text);
    return s->handle[i] >= 0;
}

static int node_of(struct session *s, sched_job_t job)
{
    const char *text;
    unsigned node;
    return sched_resources(s->sched, job, &text) == 0 && sscanf(text, "node%u", &node) == 1
               ? (int)node
               : -1;
}

static bool pass(struct session *s)
{
    const struct sched_decision *d;
    size_t n;
    if (sched_pass(s->sched, 0, false, &d, &n) < 0)
        return false;
    for (size_t i = 0; i < s->w.n_tasks; i++) {
        int state = s->handle[i] < 0 ? -1 : sched_state(s->sched, s->handle[i]);
        if (state == SCHED_RUNNING)
            s->began_on[i] = node_of(s, s->handle[i]);
        if (state == SCHED_RESERVED)
            s->promised_on[i] = node_of(s, s->handle[i]);
    }
    return sched_check(s->sched);
}

/* What has started before the session. */
static bool restore(struct session *s)
{
    for (uint32_t i = 0; i < s->w.n_tasks; i++)
        if (kube_runs(&s->w.tasks[i]) && s->w.tasks[i].job && !submit(s, i))
            return false;
    if (!pass(s))
        return false;
    for (uint32_t i = 0; i < s->w.n_tasks; i++)
        if (s->handle[i] >= 0 && s->began_on[i] < 0) {
            kube_wrong("task %s can't have started where it is", s->w.tasks[i].name);
            return false;
        }
    return true;
}

/* Queues that are not open start nothing, where a plugin holds them to that. */
static void stop_closed(struct session *s)
{
    bool held = kube_enabled(&s->w, "proportion", "allocatable") ||
                kube_enabled(&s->w, "capacity", "allocatable");
    for (size_t i = 0; i < s->levels.n && held; i++)
        if (s->levels.v[i].is_leaf && !s->levels.v[i].queue->open)
            sched_queue_set(s->sched, 0, s->levels.v[i].path, true, false, NULL);
}

static bool allocate(struct session *s)
{
    berth_error_t err;
    struct kube_config *config = kube_config(s, false);
    bool good = config && sched_configure(s->sched, 0, kube_config_of(config), &err) == 0;
    if (config && !good)
        kube_wrong("%s", err.text);
    kube_config_free(config);
    if (!good)
        return false;
    stop_closed(s);
    for (size_t k = 0; k < s->w.n_tasks; k++)
        if (is_looked_at(s, &s->w.tasks[s->order[k]]) && !submit(s, s->order[k]))
            return false;
    return pass(s);
}

/* ---- Play ---- */

struct place_in_order {
    const char *queue, *job, *task;
    int64_t job_priority, task_priority; /* 0 where they don't count */
    uint32_t i;
};

static int compare_places(const void *a, const void *b)
{
    const struct place_in_order *x = a, *y = b;
    int c = strcmp(x->queue, y->queue);
    c = c != 0 ? c : (x->job_priority < y->job_priority) - (x->job_priority > y->job_priority);
    c = c != 0 ? c : strcmp(x->job, y->job);
    c = c != 0 ? c : (x->task_priority < y->task_priority) - (x->task_priority > y->task_priority);
    return c != 0 ? c : strcmp(x->task, y->task);
}

static bool put_in_order(struct session *s)
{
    struct place_in_order *v = calloc(s->w.n_tasks + 1, sizeof(*v));
    bool jobs = kube_enabled(&s->w, "priority", "jobOrder");
    bool tasks = kube_enabled(&s->w, "priority", "taskOrder");
    for (uint32_t i = 0; i < s->w.n_tasks && v; i++) {
        const struct kube_task *task = &s->w.tasks[i];
        v[i] = (struct place_in_order){
            .queue = task->job && task->job->queue ? task->job->queue->name : "",
            .job = task->job ? task->job->name : "",
            .task = task->name,
            .job_priority = jobs && task->job ? task->job->priority : 0,
            .task_priority = tasks ? task->priority : 0,
            .i = i};
    }
    if (!v)
        return false;
    qsort(v, s->w.n_tasks, sizeof(*v), compare_places);
    for (size_t k = 0; k < s->w.n_tasks; k++)
        s->order[k] = v[k].i;
    free(v);
    return true;
}

static bool make(struct session *s)
{
    berth_error_t err;
    size_t n = s->w.n_tasks + 1;
    s->is_let_in = calloc(s->w.n_jobs + 1, sizeof(*s->is_let_in));
    s->handle = calloc(n, sizeof(*s->handle));
    s->began_on = calloc(n, sizeof(*s->began_on));
    s->promised_on = calloc(n, sizeof(*s->promised_on));
    s->order = calloc(n, sizeof(*s->order));
    if (!s->is_let_in || !s->handle || !s->began_on || !s->promised_on || !s->order ||
        !put_in_order(s) || !kube_make_levels(s))
        return false;
    for (size_t i = 0; i < n; i++)
        s->handle[i] = s->began_on[i] = s->promised_on[i] = -1;
    s->machine = kube_machine(s);
    struct kube_config *config = s->machine ? kube_config(s, true) : NULL;
    if (config)
        s->sched = sched_create(s->machine, kube_config_of(config), &err);
    if (config && !s->sched)
        kube_wrong("%s", err.text);
    kube_config_free(config);
    return s->sched != NULL;
}

static bool play(struct session *s)
{
    if (!make(s) || !restore(s))
        return false;
    for (size_t i = 0; i < s->w.n_jobs; i++)
        s->is_let_in[i] = true;
    return (!kube_has_action(s, "enqueue") || kube_let_in(s)) && allocate(s);
}

static void clear(struct session *s)
{
    sched_destroy(s->sched);
    match_destroy(s->machine);
    free(s->is_let_in);
    free(s->handle);
    free(s->began_on);
    free(s->promised_on);
    free(s->order);
    kube_clear_levels(s);
    kube_clear(&s->w);
}

enum outcome kube_session(json_t *c)
{
    struct session s = {.c = c};
    if (!kube_read(&s.w, c))
        return kube_wrong("more resources than a tree has dimensions");
    s.counts_pods = strcmp(kube_text(c, "system"), "kube-batch") != 0;
    while (strcmp(s.w.names.name[s.pods], "pods") != 0)
        s.pods++;
    const char *why = why_left_out(&s);
    if (why) {
        kube_clear(&s.w);
        return left_out(c, why);
    }
    enum outcome outcome = FAILED;
    json_t *expect = json_object_get(c, "expect");
    bool ends = json_array_size(json_object_get(expect, "evicts")) > 0 ||
                json_integer_value(json_object_get(expect, "evict_count")) > 0;
    if (play(&s))
        outcome = ends || kube_may_end_others(&s) ? left_out(c, "tasks that end for others")
                                                  : kube_compare(&s, json_object_get(c, "expect"));
    clear(&s);
    return outcome;
}
