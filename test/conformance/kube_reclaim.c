/* Whether tasks of a session might have to end for others, which the scheduler does not do yet: by the rule of
 * share/take.h among queues, by priority within one. Where nobody may take anything, a session ends as it is.
 */
#include <string.h>

#include "kube_session.h"

static bool waits(const struct session *s, size_t i)
{
    return s->handle[i] >= 0 && s->began_on[i] < 0 && s->promised_on[i] < 0;
}

static bool may_end(const struct kube_task *task)
{
    return kube_runs(task) && kube_has_started(task->status) && task->job &&
           !json_is_false(json_object_get(task->is, "preemptable"));
}

static bool tell(struct session *s, struct share_tree *t)
{
    for (size_t i = 0; i < s->w.n_tasks; i++) {
        const struct kube_task *task = &s->w.tasks[i];
        enum share_state state = s->began_on[i] >= 0 && strcmp(task->status, "Releasing") != 0
                                     ? SHARE_RUNNING
                                 : waits(s, i) ? SHARE_WAITING
                                               : SHARE_ABSENT;
        if (task->job && task->job->node != SHARE_NO_NODE &&
            share_job(t, task->job->node, SHARE_ABSENT, state, task->request, 0) < 0)
            return false;
    }
    return true;
}

static uint32_t level_of(const struct session *s, const struct kube_task *task)
{
    uint32_t i = 0;
    while (!s->levels.v[i].is_leaf || s->levels.v[i].queue != task->job->queue)
        i++;
    return i;
}

static bool is_above(const struct session *s, uint32_t level, uint32_t of)
{
    while (of != UINT32_MAX && of != level)
        of = s->levels.v[of].above;
    return of == level;
}

/* Whether a case looks at fewer levels above the giver than there are below the node where the two part. */
static bool looks_at_few(const struct session *s, const struct kube_task *taker,
                         const struct kube_task *giver)
{
    json_t *most = json_object_get(json_object_get(kube_plugin(&s->w, "capacity"), "arguments"),
                                   "ancestorReclaimLevel");
    json_int_t n = 0;
    uint32_t level = s->levels.v[level_of(s, giver)].above;
    for (; level != UINT32_MAX && !is_above(s, level, level_of(s, taker)); n++)
        level = s->levels.v[level].above;
    return most && json_integer_value(most) < n;
}

static bool may_take(const struct session *s, struct share_tree *t, const struct kube_task *taker,
                     const struct kube_task *giver)
{
    if (taker->job->queue == giver->job->queue)
        return kube_has_action(s, "preempt") && taker->job->priority > giver->job->priority;
    return kube_has_action(s, "reclaim") &&
           (looks_at_few(s, taker, giver) || share_may_reclaim(t, taker->job->node, taker->request,
                                                               giver->job->node, giver->request));
}

bool kube_may_end_others(struct session *s)
{
    struct share_tree *t = kube_tree(s, false);
    bool may = !t || !tell(s, t);
    for (size_t i = 0; i < s->w.n_tasks && !may; i++)
        for (size_t k = 0; k < s->w.n_tasks && !may && waits(s, i); k++)
            may = may_end(&s->w.tasks[k]) && may_take(s, t, &s->w.tasks[i], &s->w.tasks[k]);
    share_free(t);
    return may;
}
