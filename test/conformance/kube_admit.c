/* Which jobs are let in: by a factor of what there is (Volcano's plugin `overcommit`), by quotas of name
 * spaces (`resourcequota`), by what their queue may have (`proportion`, `capacity`).
 */
#include <stdlib.h>
#include <string.h>

#include "kube.h"

__extension__ typedef __int128 wide;

/* What a job counts with in its queue: what it was let in with, and if it was not what it has of that. What it has
 * beyond may go.
 */
void kube_counted(const struct kube_world *w, const struct kube_job *job, int64_t *sum)
{
    bool is_in = strcmp(job->phase, "Inqueue") == 0 || strcmp(job->phase, "Running") == 0;
    kube_sum(w, job, true, sum);
    for (uint32_t d = 0; d < w->names.n; d++)
        if (is_in || sum[d] > job->least[d])
            sum[d] = job->least[d];
}

/* What is used, by jobs or others, and what is reserved besides for jobs that were let in. */
void kube_used(const struct kube_world *w, int64_t *used)
{
    int64_t has[SHARE_DIMENSIONS_MAX], counts[SHARE_DIMENSIONS_MAX];
    for (size_t i = 0; i < w->n_tasks; i++)
        for (uint32_t d = 0; d < w->names.n && kube_runs(&w->tasks[i]); d++)
            used[d] += w->tasks[i].request[d];
    for (size_t i = 0; i < w->n_jobs; i++) {
        kube_sum(w, &w->jobs[i], true, has);
        kube_counted(w, &w->jobs[i], counts);
        for (uint32_t d = 0; d < w->names.n; d++)
            used[d] += counts[d] > has[d] ? counts[d] - has[d] : 0;
    }
}

/* Volcano takes a factor below 1 for its default. */
static uint32_t factor_of(json_t *plugin)
{
    json_t *factor = json_object_get(json_object_get(plugin, "arguments"), "overcommit-factor");
    double value = json_is_string(factor) ? strtod(json_string_value(factor), NULL)
                                          : json_number_value(factor);
    return value < 1 || value > 1000000 ? 1200 : (uint32_t)(value * 1000 + 0.5);
}

void kube_overcommit(const struct kube_world *w, json_t *plugin, int64_t *limit)
{
    uint32_t thousandths = factor_of(plugin);
    for (uint32_t d = 0; d < w->names.n; d++) {
        wide most = (wide)w->total[d] * thousandths / 1000;
        limit[d] = most < SHARE_UNLIMITED ? (int64_t)most : SHARE_UNLIMITED;
    }
}

bool kube_admits(const struct kube_world *w, const int64_t *asked, const int64_t *taken,
                 const int64_t *limit)
{
    for (uint32_t d = 0; d < w->names.n; d++)
        if (asked[d] > 0 && (asked[d] > limit[d] || taken[d] > limit[d] - asked[d]))
            return false;
    return true;
}

/* `told`: what jobs were added with before the question, as the steps of a case say. */
static bool overcommit_admits(const struct kube_world *w, const struct kube_job *job,
                              const int64_t *told)
{
    json_t *plugin = kube_plugin(w, "overcommit");
    int64_t limit[SHARE_DIMENSIONS_MAX], taken[SHARE_DIMENSIONS_MAX] = {0};
    kube_overcommit(w, plugin, limit);
    kube_used(w, taken);
    for (uint32_t d = 0; d < w->names.n; d++)
        taken[d] += told[d];
    return kube_admits(w, job->least, taken, limit);
}

/* A job's name begins with its name space. */
bool kube_quotas_admit(const struct kube_world *w, json_t *quotas, const struct kube_job *job,
                       const int64_t *taken)
{
    size_t i;
    json_t *quota;
    size_t length = strcspn(job->name, "/");
    json_array_foreach (quotas, i, quota) {
        const char *space = kube_text(quota, "namespace");
        int64_t hard[SHARE_DIMENSIONS_MAX], used[SHARE_DIMENSIONS_MAX];
        kube_amounts(&w->names, json_object_get(quota, "hard"), SHARE_UNLIMITED, hard);
        kube_amounts(&w->names, json_object_get(quota, "used"), 0, used);
        for (uint32_t d = 0; d < w->names.n; d++)
            used[d] += taken[d];
        if (strlen(space) == length && strncmp(space, job->name, length) == 0 &&
            !kube_admits(w, job->least, used, hard))
            return false;
    }
    return true;
}

static void add_queue(const struct kube_world *w, const struct kube_queue *queue, int64_t *sum)
{
    int64_t counts[SHARE_DIMENSIONS_MAX];
    for (size_t i = 0; i < w->n_jobs; i++) {
        if (w->jobs[i].queue != queue)
            continue;
        kube_counted(w, &w->jobs[i], counts);
        for (uint32_t d = 0; d < w->names.n; d++)
            sum[d] += counts[d];
    }
}

static bool queue_admits(struct kube_world *w, const struct kube_job *job)
{
    int64_t room[SHARE_DIMENSIONS_MAX], taken[SHARE_DIMENSIONS_MAX] = {0};
    bool admits = true;
    if (!job->queue)
        return true;
    struct share_tree *t = share_new(w->names.n, w->total, NULL);
    for (size_t i = 0; t && i < w->n_queues; i++) {
        w->queues[i].node = share_add(t, SHARE_ROOT, &w->queues[i].settings);
        admits &= w->queues[i].node != SHARE_NO_NODE;
    }
    if (t && admits) {
        share_room(t, job->queue->node, room);
        add_queue(w, job->queue, taken);
        for (uint32_t d = 0; d < w->names.n; d++)
            room[d] = room[d] < w->total[d] ? room[d] : w->total[d];
        admits = job->queue->open && kube_admits(w, job->least, taken, room);
    }
    share_free(t);
    return t && admits;
}

struct candidate {
    struct kube_world *w;
    json_t *quotas;
    const struct kube_job *job;
    const int64_t *told;
};

static enum kube_vote vote(void *of, const char *plugin)
{
    struct candidate *c = of;
    int64_t none[SHARE_DIMENSIONS_MAX] = {0};
    bool admits;
    if (strcmp(plugin, "overcommit") == 0)
        admits = overcommit_admits(c->w, c->job, c->told);
    else if (strcmp(plugin, "resourcequota") == 0)
        admits = kube_quotas_admit(c->w, c->quotas, c->job, none);
    else if (strcmp(plugin, "proportion") == 0 || strcmp(plugin, "capacity") == 0)
        admits = queue_admits(c->w, c->job);
    else
        return KUBE_HAS_NO_SAY;
    return admits ? KUBE_IS_FOR : KUBE_IS_AGAINST;
}

enum outcome kube_enqueueable(json_t *c)
{
    struct kube_world w;
    enum outcome outcome = PASSED;
    if (!kube_read(&w, c))
        return FAILED;
    bool any = false, tells = strstr(kube_text(c, "steps"), "JobEnqueued") != NULL;
    json_t *expect = json_object_get(json_object_get(c, "expect"), "enqueueable");
    int64_t told[SHARE_DIMENSIONS_MAX] = {0};
    for (size_t i = 0; i < w.n_jobs; i++) {
        const struct kube_job *job = &w.jobs[i];
        for (uint32_t d = 0; d < w.names.n && tells; d++)
            told[d] += job->least[d];
        struct candidate candidate = {&w, json_object_get(c, "namespace_quotas"), job, told};
        bool admits = !job->asks || kube_votes_admit(&w, vote, &candidate);
        json_t *want = json_is_object(expect) ? json_object_get(expect, job->name) : expect;
        any |= json_is_boolean(want);
        if (json_is_boolean(want) && json_is_true(want) != admits)
            outcome = kube_wrong("job %s is %slet in", job->name, admits ? "" : "not ");
    }
    kube_clear(&w);
    return any ? outcome
               : kube_wrong("expect.enqueueable: expected true or false, or an object of these, "
                            "by job");
}
