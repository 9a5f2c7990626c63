/* The queues of a session as queues and divisions with shares, and its tiers as orders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube_session.h"

struct kube_config {
    struct sched_config config;
    struct sched_queue_config *queues;
    struct sched_division *divisions;
    struct sched_limit *amounts; /* of all */
    size_t n_amounts;
    char (*polite)[256];
    size_t n_polite;
    char type[SHARE_DIMENSIONS_MAX][16];
    const char *types[SHARE_DIMENSIONS_MAX];
    struct share_tree *tree;
};

/* The queue of tasks that are ending, or of no queue: it deserves nothing. */
static const char ending[] = "-";

bool kube_enabled(const struct kube_world *w, const char *plugin, const char *function)
{
    return json_is_true(
        json_object_get(json_object_get(kube_plugin(w, plugin), "enabled"), function));
}

static void add_by(struct sched_share_order *order, enum sched_comparator by)
{
    for (size_t i = 0; i < order->n; i++)
        if (order->by[i] == by)
            return;
    order->by[order->n++] = by;
}

/* What the plugins of all tiers compare, in their order; at last who comes first. */
static struct sched_share_order order_of(const struct session *s, const char *function)
{
    bool queues = strcmp(function, "queueOrder") == 0;
    struct sched_share_order order = {.n = 0};
    size_t i, j;
    json_t *tier, *plugin;
    json_array_foreach (s->w.tiers, i, tier) {
        json_array_foreach (tier, j, plugin) {
            const char *name = kube_text(plugin, "name");
            int by = sched_comparator_find(name, NULL);
            bool counts = strcmp(name, "drf") != 0 || !queues || s->kind == TREE_PATHS;
            if (by >= 0 && by < SCHED_COMPARATORS && counts && kube_enabled(&s->w, name, function))
                add_by(&order, (enum sched_comparator)by);
        }
    }
    add_by(&order, SCHED_BY_SUBMIT);
    return order;
}

/* Add what is neither `none` nor beyond what an amount can be. */
static size_t add_amounts(const struct session *s, struct kube_config *k, const int64_t *amounts,
                          int64_t none, const struct sched_limit **list)
{
    size_t n = 0;
    *list = &k->amounts[k->n_amounts];
    for (uint32_t d = 0; d < s->w.names.n; d++) {
        if (amounts[d] == none || amounts[d] >= SHARE_MOST || (d == s->pods && !s->counts_pods))
            continue;
        k->amounts[k->n_amounts++] =
            (struct sched_limit){.what = k->type[d], .most = amounts[d] / s->unit[d]};
        n++;
    }
    return n;
}

/* What a level may have at most: its room, if a plugin holds it to that; and what it deserves, as proportion
 * has it.
 */
static void most_of(const struct session *s, struct kube_config *k, const struct kube_level *level,
                    int64_t *most)
{
    struct share_view view;
    bool deserved = kube_enabled(&s->w, "proportion", "allocatable");
    bool room = deserved || kube_enabled(&s->w, "capacity", "allocatable");
    share_look(k->tree, level->node, &view);
    share_room(k->tree, level->node, most);
    for (uint32_t d = 0; d < s->w.names.n; d++) {
        if (deserved && level->is_leaf && view.deserved[d] < most[d])
            most[d] = view.deserved[d];
        if (!room)
            most[d] = SHARE_UNLIMITED;
    }
}

/* Whether queues deserve no more than a capability, and a plugin that measures them by that lets them have more. */
static bool only_measures(const struct session *s)
{
    bool is_capped = false;
    for (size_t i = 0; i < s->w.n_queues; i++)
        for (uint32_t d = 0; d < s->w.names.n; d++)
            is_capped |= s->w.queues[i].settings.capability[d] != SHARE_UNLIMITED;
    return is_capped && kube_enabled(&s->w, "proportion", "queueOrder") &&
           !kube_enabled(&s->w, "proportion", "allocatable") &&
           !kube_enabled(&s->w, "capacity", "allocatable");
}

/* What a level deserves by name: what the case says, or what it comes to within its capability, to which nothing holds it.
 */
static void deserved_of(const struct session *s, struct kube_config *k,
                        const struct kube_level *level, int64_t *deserved)
{
    struct share_view view;
    share_look(k->tree, level->node, &view);
    for (uint32_t d = 0; d < s->w.names.n; d++) {
        deserved[d] = level->settings.deserved[d];
        if (deserved[d] == SHARE_UNSET && level->is_leaf && only_measures(s))
            deserved[d] = view.deserved[d];
    }
}

static struct sched_share share_of_level(const struct session *s, struct kube_config *k,
                                         const struct kube_level *level)
{
    int64_t most[SHARE_DIMENSIONS_MAX], deserved[SHARE_DIMENSIONS_MAX];
    struct sched_share share = {.weight = level->weight > 0 ? level->weight : 1};
    if (level->above != UINT32_MAX)
        share.under = s->levels.v[level->above].path;
    most_of(s, k, level, most);
    share.n_guarantee = add_amounts(s, k, level->settings.guarantee, 0, &share.guarantee);
    deserved_of(s, k, level, deserved);
    share.n_deserved = add_amounts(s, k, deserved, SHARE_UNSET, &share.deserved);
    share.n_capability = add_amounts(s, k, most, SHARE_UNLIMITED, &share.capability);
    return share;
}

static bool tell_tree(struct session *s, struct share_tree *t)
{
    static const enum share_state states[] = {SHARE_WAITING, SHARE_RUNNING};
    for (size_t i = 0; i < s->w.n_jobs; i++) {
        const struct kube_job *job = &s->w.jobs[i];
        for (int started = 0; started <= 1 && job->node != SHARE_NO_NODE; started++) {
            int64_t sum[SHARE_DIMENSIONS_MAX];
            kube_sum(&s->w, job, started, sum);
            if (share_job(t, job->node, SHARE_ABSENT, states[started], 1, sum, 0) < 0)
                return false;
        }
    }
    return true;
}

static void add_ending(struct session *s, struct kube_config *k, bool tasks_only)
{
    struct sched_queue_config *q = &k->queues[k->config.n_queues++];
    int64_t nothing[SHARE_DIMENSIONS_MAX] = {0};
    *q = (struct sched_queue_config){.name = ending, .policy = "conservative"};
    if (!tasks_only)
        q->share.n_deserved = add_amounts(s, k, nothing, SHARE_UNSET, &q->share.deserved);
}

/* Its tasks for which nobody is stopped. */
static void add_polite(struct kube_config *k, const struct sched_queue_config *of)
{
    struct sched_queue_config *q = &k->queues[k->config.n_queues++];
    char *name = k->polite[k->n_polite];
    snprintf(name, sizeof(k->polite[0]), "%s%s", of->name, KUBE_POLITE);
    k->n_polite++;
    *q = (struct sched_queue_config){
        .name = name, .parent = of->name, .priority = of->priority, .keeps_gangs = true};
}

static void add_levels(struct session *s, struct kube_config *k, bool tasks_only)
{
    struct sched_share_order queues = order_of(s, "queueOrder"), jobs = order_of(s, "jobOrder");
    struct sched_shares *shares = &k->config.shares;
    for (size_t i = 0; i < s->levels.n; i++) {
        const struct kube_level *level = &s->levels.v[i];
        if (level->is_leaf) {
            struct sched_queue_config *q = &k->queues[k->config.n_queues++];
            *q = (struct sched_queue_config){.name = level->path, .policy = "conservative"};
            if (tasks_only)
                continue;
            unsigned whom =
                kube_takes_from_richer(s) ? SCHED_PREEMPTS_RICHER : SCHED_PREEMPTS_LOWER;
            q->preempts = (kube_may_stop(s, "preempt") ? whom : 0u) |
                          (kube_may_stop(s, "reclaim") ? SCHED_PREEMPTS_BORROWERS : 0u);
            q->keeps_gangs = true;
            q->share = share_of_level(s, k, level);
            q->by = SCHED_SHARE_USER;
            q->order = jobs;
            q->sla_waiting_time = kube_may_all_wait(s);
            q->priority = level->settings.priority;
            add_polite(k, q);
        } else if (!tasks_only) {
            k->divisions[shares->n_divisions++] = (struct sched_division){
                .name = level->path, .share = share_of_level(s, k, level), .order = queues};
        }
    }
    if (!tasks_only)
        shares->order = queues;
}

struct kube_config *kube_config(struct session *s, bool tasks_only)
{
    struct kube_config *k = calloc(1, sizeof(*k));
    if (!k)
        return NULL;
    k->queues = calloc(2 * s->levels.n + 1, sizeof(*k->queues));
    k->polite = calloc(s->levels.n + 1, sizeof(*k->polite));
    k->divisions = calloc(s->levels.n + 1, sizeof(*k->divisions));
    k->amounts = calloc((s->levels.n + 1) * 3 * SHARE_DIMENSIONS_MAX, sizeof(*k->amounts));
    k->tree = kube_tree(s, true);
    if (!k->queues || !k->polite || !k->divisions || !k->amounts || !k->tree ||
        !tell_tree(s, k->tree)) {
        kube_config_free(k);
        return NULL;
    }
    k->config = (struct sched_config){.second = 1, .queues = k->queues};
    k->config.shares.divisions = k->divisions;
    for (uint32_t d = 0; d < s->w.names.n; d++) {
        snprintf(k->type[d], sizeof(k->type[d]), "r%u", d);
        if (d != s->pods || s->counts_pods)
            k->types[k->config.shares.n_resources++] = k->type[d];
    }
    k->config.shares.resources = k->types;
    add_levels(s, k, tasks_only);
    add_ending(s, k, tasks_only);
    return k;
}

const struct sched_config *kube_config_of(const struct kube_config *k)
{
    return &k->config;
}

void kube_config_free(struct kube_config *k)
{
    if (!k)
        return;
    share_free(k->tree);
    free(k->queues);
    free(k->polite);
    free(k->divisions);
    free(k->amounts);
    free(k);
}

const char *kube_queue_of(const struct session *s, const struct kube_task *task)
{
    if (strcmp(task->status, "Releasing") == 0 || kube_is_stray(task))
        return ending;
    for (size_t i = 0; i < s->levels.n && task->job; i++)
        if (s->levels.v[i].is_leaf && s->levels.v[i].queue == task->job->queue && task->job->queue)
            return s->levels.v[i].path;
    return NULL;
}
