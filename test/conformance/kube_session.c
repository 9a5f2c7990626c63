/* A session: its actions, once, on what there is at the beginning (kube_play.c). */
#include "kube_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool kube_has_action(const struct session *s, const char *name)
{
    size_t i;
    json_t *action;
    json_array_foreach (json_object_get(json_object_get(s->c, "config"), "actions"), i, action) {
        if (strcmp(json_string_value(action), name) == 0)
            return true;
    }
    return false;
}

/* Whether one of the plugins that have such a function, by names, has it on. */
static bool any_has(const struct session *s, const char *function, const char *const *plugins)
{
    bool any = false;
    for (size_t i = 0; plugins[i]; i++)
        any |= kube_enabled(&s->w, plugins[i], function);
    return any;
}

static const char *const of_preempt[] = {"priority", "gang", "drf", "conformance", NULL};
static const char *const of_reclaim[] = {"proportion", "capacity",    "gang",
                                         "drf",        "conformance", NULL};
static const char *const of_starving[] = {"priority", "gang", NULL};

bool kube_may_stop(const struct session *s, const char *action)
{
    bool preempts = strcmp(action, "preempt") == 0;
    bool starves =
        strcmp(kube_text(s->c, "system"), "volcano") != 0 || any_has(s, "jobStarving", of_starving);
    return kube_has_action(s, action) && starves &&
           any_has(s, preempts ? "preemptable" : "reclaimable", preempts ? of_preempt : of_reclaim);
}

/* ---- What is left out ---- */

static const char *left_out_plugin(const struct session *s)
{
    static const char *const known[] = {
        "priority",    "drf", "proportion", "capacity",   "predicates",    "nodeorder", "binpack",
        "conformance", "sla", "gang",       "overcommit", "resourcequota", NULL};
    size_t i, j, k;
    json_t *tier, *plugin;
    json_array_foreach (s->w.tiers, i, tier) {
        json_array_foreach (tier, j, plugin) {
            const char *name = kube_text(plugin, "name");
            for (k = 0; known[k] && strcmp(known[k], name) != 0; k++)
                continue;
            if (!known[k] && !strstr(kube_text(s->c, "note"), name))
                return name;
        }
    }
    return NULL;
}

/* Whether an action is none that there is here; `why` says which. */
static bool has_other_action(const struct session *s, char *why, size_t room)
{
    static const char *const known[] = {"enqueue", "allocate", "backfill", "preempt", "reclaim"};
    size_t i, k, n = sizeof(known) / sizeof(*known);
    json_t *action;
    json_array_foreach (json_object_get(json_object_get(s->c, "config"), "actions"), i, action) {
        for (k = 0; k < n && strcmp(known[k], json_string_value(action)) != 0; k++)
            continue;
        snprintf(why, room, "the action %s", json_string_value(action));
        if (k == n)
            return true;
    }
    return false;
}

static enum outcome left_out(json_t *c, const char *why)
{
    printf("left out: %s: %s\n", kube_text(c, "id"), why);
    return LEFT_OUT;
}

static bool is_same(const struct kube_task *a, const struct kube_task *b, const char *key)
{
    json_t *x = json_object_get(a->is, key), *y = json_object_get(b->is, key);
    return x == y || json_equal(x, y);
}

bool kube_are_alike(const struct kube_world *w, const struct kube_task *a,
                    const struct kube_task *b)
{
    return is_same(a, b, "node_selector") && is_same(a, b, "affinity") &&
           memcmp(a->request, b->request, w->names.n * sizeof(*a->request)) == 0;
}

bool kube_is_uniform(const struct session *s, const struct kube_job *job)
{
    const struct kube_task *first = NULL;
    for (size_t i = 0; i < s->w.n_tasks; i++) {
        const struct kube_task *task = &s->w.tasks[i];
        if (task->job != job || strcmp(task->status, "Pending") != 0)
            continue;
        first = first ? first : task;
        if (!kube_are_alike(&s->w, first, task))
            return false;
    }
    return true;
}

static bool is_above(const struct session *s, uint32_t above, uint32_t level)
{
    while (level != UINT32_MAX && level != above)
        level = s->levels.v[level].above;
    return level == above;
}

/* Whether of queues in two parts of the hierarchy only the nearest levels are asked what they deserve, not all below the
 * one where they part.
 */
static bool skips_ancestors(const struct session *s)
{
    json_t *asked = json_object_get(json_object_get(kube_plugin(&s->w, "capacity"), "arguments"),
                                    "ancestorReclaimLevel");
    for (uint32_t a = 0; a < s->levels.n && asked; a++)
        for (uint32_t b = 0; b < s->levels.n; b++) {
            json_int_t levels = 0;
            if (!s->levels.v[a].is_leaf || !s->levels.v[b].is_leaf)
                continue;
            for (uint32_t i = s->levels.v[a].above; i != UINT32_MAX && !is_above(s, i, b);
                 i = s->levels.v[i].above)
                levels++;
            if (levels > json_integer_value(asked))
                return true;
        }
    return false;
}

/* Whether a queue is guaranteed more than it may have, which no configuration says here. */
static bool is_contradictory(const struct session *s)
{
    for (size_t i = 0; i < s->w.n_queues; i++)
        for (uint32_t d = 0; d < s->w.names.n; d++)
            if (s->w.queues[i].settings.guarantee[d] > s->w.queues[i].settings.capability[d])
                return true;
    return false;
}

static const char *why_left_out(const struct session *s)
{
    const char *plugin = left_out_plugin(s);
    if (json_object_get(s->c, "hypernodes") || json_object_get(s->c, "shard"))
        return "networks and shards";
    if (strcmp(kube_text(s->c, "system"), "kube-batch") == 0 && s->w.n_jobs == 1 &&
        kube_has_action(s, "preempt"))
        return "tasks that end for others of their own job";
    if (kube_takes_by_both(s))
        return "tasks that end for jobs of their own queue that have less, and a higher priority";
    if (kube_limits_several(s))
        return "queues deserve what they do, whatever those above them do, and are limited "
               "together";
    if (is_contradictory(s))
        return "a queue is guaranteed more than it may have";
    return plugin ? plugin : kube_why_unscored(s);
}

/* Known once it is known who is let in. */
static bool has_unequal(const struct session *s)
{
    struct kube_role roles[SCHED_ROLES_MAX];
    for (size_t i = 0; i < s->w.n_jobs; i++) {
        const struct kube_job *job = &s->w.jobs[i];
        bool never = kube_enabled(&s->w, "gang", "jobReady") && kube_lacks_role(s, job);
        if (!never && kube_starts_whole(s, job) && !kube_is_uniform(s, job) &&
            kube_roles(s, job, roles) == 0)
            return true;
    }
    return false;
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

/* Whether a job is let in only after all other actions. */
static bool is_let_in_last(const struct session *s, const struct kube_job *job)
{
    json_t *actions = json_object_get(json_object_get(s->c, "config"), "actions");
    json_t *last = json_array_get(actions, json_array_size(actions) - 1);
    return strcmp(job->phase, "Pending") == 0 && json_is_string(last) &&
           strcmp(json_string_value(last), "enqueue") == 0;
}

bool kube_is_looked_at(const struct session *s, const struct kube_task *task)
{
    if (strcmp(task->status, "Pending") != 0 || !task->job || is_let_in_last(s, task->job))
        return false;
    return s->is_let_in[task->job - s->w.jobs] &&
           !(kube_enabled(&s->w, "gang", "jobReady") && kube_lacks_role(s, task->job)) &&
           (kube_has_action(s, "preempt") || kube_has_action(s, "reclaim") ||
            kube_has_action(s, is_empty(s, task) ? "backfill" : "allocate"));
}

/* The min less the tasks that have succeeded or, with `running`, run. */
static int64_t min_less(const struct session *s, const struct kube_job *job, bool running)
{
    int64_t min = job->min_available;
    for (size_t i = 0; i < s->w.n_tasks; i++) {
        const struct kube_task *task = &s->w.tasks[i];
        if (task->job == job)
            min -= strcmp(task->status, "Succeeded") == 0 ||
                   (running && kube_has_started(task->status));
    }
    return min > 0 ? min : 0;
}

int64_t kube_needs(const struct session *s, const struct kube_job *job)
{
    return min_less(s, job, false);
}

int64_t kube_misses(const struct session *s, const struct kube_job *job)
{
    return min_less(s, job, true);
}

bool kube_keeps_min(const struct session *s, const struct kube_job *job)
{
    bool keeps = (kube_has_action(s, "preempt") && kube_enabled(&s->w, "gang", "preemptable")) ||
                 (kube_has_action(s, "reclaim") && kube_enabled(&s->w, "gang", "reclaimable"));
    bool one_counts = strcmp(kube_text(s->c, "system"), "kube-batch") != 0;
    return keeps && kube_needs(s, job) >= (one_counts ? 1 : 2);
}

bool kube_go_by_gangs(const struct session *s)
{
    return kube_enabled(&s->w, "gang", "jobOrder") && !kube_may_stop(s, "preempt") &&
           !kube_may_stop(s, "reclaim");
}

bool kube_starts_whole(const struct session *s, const struct kube_job *job)
{
    bool only_stops = !kube_has_action(s, "allocate") && !kube_has_action(s, "backfill");
    return kube_misses(s, job) > 1 &&
           (kube_enabled(&s->w, "gang", "jobReady") ||
            (only_stops && kube_enabled(&s->w, "gang", "jobPipelined"))); /* none ends for a part */
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
    size_t n = s->w.n_tasks + 1; /* kube_add_what_is_deserved */
    s->is_let_in = calloc(s->w.n_jobs + 1, sizeof(*s->is_let_in));
    s->has_ended = calloc(n, sizeof(*s->has_ended));
    s->began_on = calloc(n, sizeof(*s->began_on));
    s->promised_on = calloc(n, sizeof(*s->promised_on));
    s->is_alone = calloc(n, sizeof(*s->is_alone));
    s->has_tried = calloc(n, sizeof(*s->has_tried));
    s->order = calloc(n, sizeof(*s->order));
    if (!s->is_let_in || !s->has_ended || !s->began_on || !s->promised_on || !s->is_alone ||
        !s->order || !put_in_order(s) || !kube_make_levels(s))
        return false;
    for (size_t i = 0; i < n; i++)
        s->began_on[i] = s->promised_on[i] = -1;
    for (size_t i = 0; i < s->w.n_jobs; i++)
        s->is_let_in[i] = true;
    if (kube_has_action(s, "enqueue") && !kube_let_in(s))
        return false;
    kube_add_what_is_deserved(s);
    return true;
}

static void clear(struct session *s)
{
    sched_destroy(s->sched);
    match_destroy(s->machine);
    free(s->is_let_in);
    free(s->has_ended);
    free(s->began_on);
    free(s->promised_on);
    free(s->is_alone);
    free(s->has_tried);
    free(s->order);
    kube_clear_levels(s);
    kube_clear(&s->w);
}

/* What has become of jobs and tasks is so in the case, as another session begins with it. */
static void note_all(const struct session *s)
{
    for (size_t i = 0; i < s->w.n_tasks; i++) {
        const struct kube_task *task = &s->w.tasks[i];
        if (s->has_ended[i]) {
            json_object_set_new(task->is, "status", json_string("Releasing"));
        } else if (s->began_on[i] >= 0 && !kube_runs(task)) {
            json_object_set_new(task->is, "node", json_string(s->w.nodes[s->began_on[i]].name));
            json_object_set_new(task->is, "status", json_string("Binding"));
        }
    }
    for (size_t i = 0; i < s->w.n_jobs; i++)
        if (s->is_let_in[i] && strcmp(s->w.jobs[i].phase, "Pending") == 0)
            json_object_set_new(s->w.jobs[i].is, "phase", json_string("Inqueue"));
}

static enum outcome play_session(json_t *c, bool goes_on)
{
    struct session s = {.c = c};
    if (!kube_read_predicate(c) || !kube_read(&s.w, c))
        return FAILED;
    s.counts_pods = strcmp(kube_text(c, "system"), "kube-batch") != 0;
    while (strcmp(s.w.names.name[s.pods], "pods") != 0)
        s.pods++;
    char action[100];
    const char *why = has_other_action(&s, action, sizeof(action)) ? action : why_left_out(&s);
    if (why) {
        kube_clear(&s.w);
        return left_out(c, why);
    }
    enum outcome outcome = FAILED;
    kube_order_nodes(&s);
    bool made = make(&s);
    why = made && has_unequal(&s) ? "gangs of tasks that differ too much"
          : made && skips_ancestors(&s)
              ? "queues deserve what they do, whatever those above them do"
              : NULL;
    if (why)
        outcome = left_out(c, why);
    else if (made && kube_play(&s))
        outcome = kube_compare(&s, json_object_get(c, "expect"));
    if (goes_on && outcome != FAILED && outcome != LEFT_OUT)
        note_all(&s);
    clear(&s);
    return outcome;
}

enum outcome kube_session(json_t *c)
{
    kube_name_unknown(c);
    return play_session(c, false);
}

enum outcome kube_session_on(json_t *c)
{
    return play_session(c, true);
}
