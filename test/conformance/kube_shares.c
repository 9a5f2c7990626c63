/* What queues deserve, and how much of that they have. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kube.h"

/* A tree of the queues of a world, with its tasks. NULL, after saying why, where there can be none. */
static struct share_tree *tree_of(struct kube_world *w)
{
    struct share_tree *t = share_new(w->names.n, w->total, NULL);
    if (!t) {
        kube_wrong("the tree refuses what there is");
        return NULL;
    }
    for (size_t i = 0; i < w->n_queues; i++) {
        struct kube_queue *q = &w->queues[i];
        struct share_settings settings = q->settings;
        for (uint32_t d = 0; d < w->names.n;
             d++) /* what is guaranteed comes last, and is deserved */
            if (settings.capability[d] < settings.guarantee[d])
                settings.capability[d] = settings.guarantee[d];
        q->node = share_add(t, SHARE_ROOT, &settings);
        if (q->node == SHARE_NO_NODE) {
            kube_wrong("the tree refuses the settings of queue %s", q->name);
            share_free(t);
            return NULL;
        }
    }
    for (size_t i = 0; i < w->n_tasks; i++) {
        const struct kube_task *task = &w->tasks[i];
        enum share_state state = kube_has_started(task->status)         ? SHARE_RUNNING
                                 : strcmp(task->status, "Pending") == 0 ? SHARE_WAITING
                                                                        : SHARE_ABSENT;
        if (task->job && task->job->queue &&
            share_job(t, task->job->queue->node, SHARE_ABSENT, state, 1, task->request, 0) < 0) {
            kube_wrong("the tree refuses task %s", task->name);
            share_free(t);
            return NULL;
        }
    }
    return t;
}

/* Compare what a queue deserves with what is expected of it, which is rounded nowhere: up to a unit. */
static enum outcome compare_deserved(const struct kube_world *w, struct share_tree *t,
                                     const struct kube_queue *q, json_t *expect)
{
    struct share_view view;
    struct kube_names named = {0};
    int64_t want[SHARE_DIMENSIONS_MAX];
    enum outcome outcome = PASSED;
    share_look(t, q->node, &view);
    kube_amounts(&w->names, expect, SHARE_UNSET, want);
    if (!kube_add_names(&named, expect))
        return kube_wrong("too many resources are expected of %s", q->name);
    for (uint32_t d = 0; d < w->names.n; d++)
        if (want[d] != SHARE_UNSET && llabs(want[d] - view.deserved[d]) > 1)
            outcome = kube_wrong("queue %s deserves %lld of %s, expected %lld", q->name,
                                 (long long)view.deserved[d], w->names.name[d], (long long)want[d]);
    for (uint32_t i = 0; i < named.n; i++) {
        bool known = false;
        for (uint32_t d = 0; d < w->names.n; d++)
            known |= strcmp(w->names.name[d], named.name[i]) == 0;
        if (!known && json_number_value(json_object_get(expect, named.name[i])) > 0)
            outcome = kube_wrong("%s, expected of queue %s, is nowhere", named.name[i], q->name);
    }
    return outcome;
}

/* Berth fills each dimension on its own, as Volcano does; kube-batch fills all at once. */
static json_t *expected_deserved(json_t *c)
{
    json_t *expect = json_object_get(c, "expect");
    json_t *volcano = json_object_get(expect, "volcano");
    json_t *kube_batch = json_object_get(expect, "kube-batch");
    return volcano ? volcano : kube_batch ? kube_batch : expect;
}

enum outcome kube_proportion_deserved(json_t *c)
{
    struct kube_world w;
    if (!kube_read(&w, c))
        return FAILED;
    enum outcome outcome = PASSED;
    struct share_tree *t = tree_of(&w);
    const char *name;
    json_t *expect;
    if (!t)
        outcome = FAILED;
    json_object_foreach (t ? expected_deserved(c) : NULL, name, expect) {
        const struct kube_queue *q = NULL;
        for (size_t i = 0; i < w.n_queues; i++)
            if (strcmp(w.queues[i].name, name) == 0)
                q = &w.queues[i];
        if (!q)
            outcome = kube_wrong("there is no queue %s", name);
        else if (compare_deserved(&w, t, q, expect) != PASSED)
            outcome = FAILED;
    }
    share_free(t);
    kube_clear(&w);
    return outcome;
}

/* One queue of a machine that has more than enough of everything. A queue is measured in what its `deserved`
 * names, as in Volcano; what it asks for counts with what it has.
 */
enum outcome kube_queue_share(json_t *c)
{
    struct kube_names names = {0};
    struct share_settings s;
    int64_t total[SHARE_DIMENSIONS_MAX], allocated[SHARE_DIMENSIONS_MAX],
        request[SHARE_DIMENSIONS_MAX];
    share_default_settings(&s);
    s.weight = 0;
    if (!kube_add_names(&names, json_object_get(c, "deserved")) ||
        (names.n == 0 && !kube_add_names(&names, json_object_get(c, "allocated"))))
        return kube_wrong("more resources than a tree has dimensions");
    if (names.n == 0) /* it deserves nothing, and has nothing */
        names.name[names.n++] = "milli_cpu";
    kube_amounts(&names, json_object_get(c, "deserved"), 0, s.deserved);
    kube_amounts(&names, json_object_get(c, "allocated"), 0, allocated);
    kube_amounts(&names, json_object_get(c, "request"), 0, request);
    for (uint32_t d = 0; d < names.n; d++) {
        total[d] = SHARE_MOST;
        request[d] = request[d] > allocated[d] ? request[d] - allocated[d] : 0;
    }
    struct share_tree *t = share_new(names.n, total, NULL);
    uint32_t queue = t ? share_add(t, SHARE_ROOT, &s) : SHARE_NO_NODE;
    enum outcome outcome = PASSED;
    if (queue == SHARE_NO_NODE ||
        share_job(t, queue, SHARE_ABSENT, SHARE_RUNNING, 1, allocated, 0) < 0 ||
        share_job(t, queue, SHARE_ABSENT, SHARE_WAITING, 1, request, 0) < 0) {
        outcome = kube_wrong("the tree refuses the queue");
    } else {
        struct share_fraction share = share_of(t, queue);
        double got = (double)share.numerator / (double)share.denominator;
        double want = json_number_value(json_object_get(c, "expect"));
        if (fabs(got - want) > 1e-9 * (1 + want))
            outcome = kube_wrong("a share of %g, expected %g", got, want);
    }
    share_free(t);
    return outcome;
}
