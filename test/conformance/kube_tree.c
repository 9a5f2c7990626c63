/* The hierarchy of queues: by their parents, by their paths, or none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube_session.h"

static struct kube_level *find(struct kube_levels *levels, const char *path, size_t length)
{
    for (size_t i = 0; i < levels->n; i++)
        if (strlen(levels->v[i].path) == length && strncmp(levels->v[i].path, path, length) == 0)
            return &levels->v[i];
    return NULL;
}

static struct kube_level *add(struct kube_levels *levels, const char *path, size_t length,
                              uint32_t above)
{
    struct kube_level *more = realloc(levels->v, (levels->n + 1) * sizeof(*more));
    if (!more)
        return NULL;
    levels->v = more;
    struct kube_level *level = &more[levels->n++];
    *level = (struct kube_level){.path = strndup(path, length), .above = above, .weight = 1};
    share_default_settings(&level->settings);
    level->settings.keeps_guarantee = true;
    if (above != UINT32_MAX)
        more[above].is_leaf = false;
    return level->path ? level : NULL;
}

static const struct kube_queue *find_queue(const struct session *s, const char *name)
{
    for (size_t i = 0; i < s->w.n_queues; i++)
        if (strcmp(s->w.queues[i].name, name) == 0)
            return &s->w.queues[i];
    return NULL;
}

/* How many queues are right below one. */
static size_t count_below(const struct session *s, const struct kube_queue *q)
{
    size_t n = 0;
    for (size_t i = 0; i < s->w.n_queues; i++)
        n += strcmp(s->w.queues[i].parent, q->name) == 0;
    return n;
}

/* Whether only a queue itself is asked what it deserves, none of those above it: then it stands alone in the tree. */
static bool stand_alone(const struct session *s)
{
    json_t *levels = json_object_get(json_object_get(kube_plugin(&s->w, "capacity"), "arguments"),
                                     "ancestorReclaimLevel");
    return kube_enabled(&s->w, "capacity", "hierarchy") && levels &&
           json_integer_value(levels) == 0;
}

bool kube_limits_several(const struct session *s)
{
    for (size_t i = 0; i < s->w.n_queues && stand_alone(s); i++) {
        const struct kube_queue *q = &s->w.queues[i];
        size_t below = count_below(s, q);
        for (uint32_t d = 0; d < s->w.names.n && below > 0; d++)
            if (q->settings.guarantee[d] > 0 ||
                (below > 1 && q->settings.capability[d] != SHARE_UNLIMITED))
                return true;
    }
    return false;
}

/* A queue that stands alone may have what each of those above it may. */
static void inherit_capability(const struct session *s, struct kube_level *level)
{
    const struct kube_queue *above = find_queue(s, level->queue->parent);
    for (size_t i = 0; above && i < s->w.n_queues; i++, above = find_queue(s, above->parent))
        for (uint32_t d = 0; d < s->w.names.n; d++)
            if (above->settings.capability[d] < level->settings.capability[d])
                level->settings.capability[d] = above->settings.capability[d];
}

/* The level of a queue, after those above it. More levels than queues: it is above itself. */
static struct kube_level *add_queue(struct session *s, const struct kube_queue *q, size_t depth)
{
    struct kube_level *level = find(&s->levels, q->name, strlen(q->name));
    bool alone = stand_alone(s);
    const struct kube_queue *parent =
        s->kind == TREE_PARENTS && !alone ? find_queue(s, q->parent) : NULL;
    uint32_t above = UINT32_MAX;
    if (level || depth > s->w.n_queues)
        return level;
    if (parent) {
        const struct kube_level *of = add_queue(s, parent, depth + 1);
        if (!of)
            return NULL;
        above = (uint32_t)(of - s->levels.v);
    }
    level = add(&s->levels, q->name, strlen(q->name), above);
    if (!level)
        return NULL;
    level->queue = q;
    level->is_leaf = true;
    level->settings = q->settings;
    level->weight = q->settings.weight;
    if (alone)
        inherit_capability(s, level);
    return level;
}

/* Add what a path names, "root/a/b" with the weights "100/50/25", but the root; and the queue below it. */
static bool add_path(struct session *s, const struct kube_queue *q)
{
    const char *path = kube_text(q->is, "hierarchy");
    const char *weights = kube_text(q->is, "hierarchy_weights");
    uint32_t above = UINT32_MAX;
    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        size_t length = (size_t)(at + 1 - path) + strcspn(at + 1, "/");
        struct kube_level *level = find(&s->levels, path, length);
        weights += strcspn(weights, "/");
        weights += *weights == '/';
        if (!level)
            level = add(&s->levels, path, length, above);
        if (!level)
            return false;
        int64_t weight = strtoll(weights, NULL, 10);
        level->weight = weight > 0 ? weight : 1;
        level->settings.weight = (int32_t)level->weight;
        above = (uint32_t)(level - s->levels.v);
    }
    struct kube_level *level = add(&s->levels, q->name, strlen(q->name), above);
    if (level) {
        level->queue = q;
        level->is_leaf = true;
    }
    return level != NULL;
}

/* Capacity goes by what is configured: who deserves nothing by name deserves nothing at all. */
static void settle(const struct session *s, struct kube_level *level)
{
    bool is_named = false;
    if (!kube_plugin(&s->w, "capacity") || kube_plugin(&s->w, "proportion"))
        return;
    for (uint32_t d = 0; d < s->w.names.n; d++)
        is_named |= level->settings.deserved[d] != SHARE_UNSET;
    for (uint32_t d = 0; d < s->w.names.n && !is_named && level->is_leaf; d++)
        level->settings.deserved[d] = 0;
}

static bool has_named(const struct session *s, const struct kube_task *task,
                      const struct kube_queue *of)
{
    bool any = false;
    for (uint32_t d = 0; d < s->w.names.n; d++)
        any |= of->settings.deserved[d] != SHARE_UNSET && task->request[d] > 0;
    return any;
}

/* Capacity asks a task that has some of what its queue deserves by name for that alone: so what such tasks have, or ask for,
 * of anything else is deserved too.
 */
static void name_what_goes_along(const struct session *s, struct kube_level *level)
{
    bool counts = level->is_leaf && kube_has_action(s, "reclaim") &&
                  kube_plugin(&s->w, "capacity") && !kube_plugin(&s->w, "proportion");
    int64_t along[SHARE_DIMENSIONS_MAX] = {0};
    for (size_t i = 0; i < s->w.n_tasks && counts; i++) {
        const struct kube_task *task = &s->w.tasks[i];
        bool is_here = task->job && task->job->queue == level->queue &&
                       (kube_runs(task) || strcmp(task->status, "Pending") == 0);
        for (uint32_t d = 0; d < s->w.names.n && is_here; d++)
            if (has_named(s, task, level->queue))
                along[d] += task->request[d];
    }
    for (uint32_t d = 0; d < s->w.names.n; d++)
        if (along[d] > 0 && d != s->pods && level->settings.deserved[d] == SHARE_UNSET)
            level->settings.deserved[d] = along[d];
}

bool kube_make_levels(struct session *s)
{
    s->kind = kube_enabled(&s->w, "drf", "hierarchy")        ? TREE_PATHS
              : kube_enabled(&s->w, "capacity", "hierarchy") ? TREE_PARENTS
                                                             : TREE_FLAT;
    for (size_t i = 0; i < s->w.n_queues; i++) {
        const struct kube_queue *q = &s->w.queues[i];
        if (stand_alone(s) && count_below(s, q) > 0)
            continue;
        if (s->kind == TREE_PATHS ? !add_path(s, q) : !add_queue(s, q, 0)) {
            kube_wrong("queue %s is above itself, or there is no memory", q->name);
            return false;
        }
    }
    for (size_t i = 0; i < s->levels.n; i++) {
        settle(s, &s->levels.v[i]);
        name_what_goes_along(s, &s->levels.v[i]);
    }
    return true;
}

/* What a level is to have: what it deserves by name, or else what those below it are to have. */
static int64_t is_to_have(const struct session *s, uint32_t level, uint32_t d)
{
    int64_t sum = 0, named = s->levels.v[level].settings.deserved[d];
    for (uint32_t i = level + 1; i < s->levels.n && named == SHARE_UNSET && sum < SHARE_MOST; i++)
        if (s->levels.v[i].above == level)
            sum += is_to_have(s, i, d);
    return named == SHARE_UNSET ? sum : named;
}

void kube_add_what_is_deserved(struct session *s)
{
    struct kube_node *node = &s->w.nodes[s->w.n_nodes];
    struct kube_task *task = &s->w.tasks[s->w.n_tasks];
    bool any = false;
    if (!kube_plugin(&s->w, "capacity") || kube_plugin(&s->w, "proportion") ||
        kube_plugin(&s->w, "overcommit"))
        return;
    *node = (struct kube_node){.name = "missing"};
    *task = (struct kube_task){.name = "missing", .status = "Running", .node = node->name};
    for (uint32_t d = 0; d < s->w.names.n; d++) {
        int64_t all = 0;
        for (uint32_t i = 0; i < s->levels.n && all < SHARE_MOST; i++)
            all += s->levels.v[i].above == UINT32_MAX ? is_to_have(s, i, d) : 0;
        node->there_is[d] = all > s->w.total[d] ? all - s->w.total[d] : 0;
        task->request[d] = node->there_is[d];
        any |= node->there_is[d] > 0;
    }
    s->order[s->w.n_tasks] = (uint32_t)s->w.n_tasks;
    s->w.n_tasks += any;
    s->w.n_nodes += any;
}

void kube_clear_levels(struct session *s)
{
    for (size_t i = 0; i < s->levels.n; i++)
        free(s->levels.v[i].path);
    free(s->levels.v);
}

static bool add_leaf(struct session *s, struct share_tree *t, struct kube_job *job, bool own)
{
    struct share_settings plain;
    share_default_settings(&plain);
    job->node = SHARE_NO_NODE;
    for (size_t i = 0; i < s->levels.n; i++)
        if (s->levels.v[i].is_leaf && s->levels.v[i].queue == job->queue && job->queue) {
            uint32_t queue = s->levels.v[i].node;
            job->node = own ? share_add(t, queue, &plain) : queue;
            return job->node != SHARE_NO_NODE;
        }
    return true;
}

struct share_tree *kube_tree(struct session *s, bool jobs)
{
    struct share_tree *t = share_new(s->w.names.n, s->w.total, NULL);
    bool good = t != NULL;
    for (size_t i = 0; i < s->levels.n && good; i++) {
        struct kube_level *level = &s->levels.v[i];
        uint32_t above = level->above == UINT32_MAX ? SHARE_ROOT : s->levels.v[level->above].node;
        level->node = share_add(t, above, &level->settings);
        good = level->node != SHARE_NO_NODE;
        if (!good)
            kube_wrong("the tree refuses %s", level->path);
    }
    for (size_t i = 0; i < s->w.n_jobs && good; i++)
        good = add_leaf(s, t, &s->w.jobs[i], jobs);
    if (good)
        return t;
    share_free(t);
    return NULL;
}

void kube_sum(const struct kube_world *w, const struct kube_job *job, bool started, int64_t *sum)
{
    memset(sum, 0, SHARE_DIMENSIONS_MAX * sizeof(*sum));
    for (size_t i = 0; i < w->n_tasks; i++) {
        const struct kube_task *task = &w->tasks[i];
        bool counts =
            started ? kube_has_started(task->status) : strcmp(task->status, "Pending") == 0;
        for (uint32_t d = 0; d < w->names.n && counts && task->job == job; d++)
            sum[d] += task->request[d];
    }
}
