/* Which jobs of a session are let in: the action `enqueue`, by the rules of kube_admit.c and the rooms of a
 * tree in which each job has what it was let in with.
 */
#include <stdlib.h>
#include <string.h>

#include "kube_session.h"

/* A plugin of a test, as the case's note says: "plugin NAME votes Reject for job JOB". */
static bool is_rejected(const struct session *s, const struct kube_job *job)
{
    const char *at = strstr(kube_text(s->c, "note"), "votes Reject for job ");
    const char *slash = strchr(job->name, '/');
    const char *name = slash ? slash + 1 : job->name;
    if (!at)
        return false;
    at += strlen("votes Reject for job ");
    return strlen(name) == strcspn(at, " .,;") && strncmp(at, name, strlen(name)) == 0;
}

static bool tell_all(struct session *s, struct share_tree *t)
{
    int64_t sum[SHARE_DIMENSIONS_MAX];
    for (size_t i = 0; i < s->w.n_jobs; i++) {
        const struct kube_job *job = &s->w.jobs[i];
        kube_counted(&s->w, job, sum);
        if (job->node != SHARE_NO_NODE &&
            share_job(t, job->node, SHARE_ABSENT, SHARE_PROMISED, 1, sum, 0) < 0)
            return false;
    }
    return true;
}

/* A queue has no more than there is, whatever its capability. */
static bool machine_admits(const struct session *s, struct share_tree *t,
                           const struct kube_job *job)
{
    struct share_view view;
    uint32_t top = job->node;
    while (share_parent(t, top) != SHARE_ROOT)
        top = share_parent(t, top);
    share_look(t, top, &view);
    return kube_admits(&s->w, job->least, view.received, s->w.total);
}

static bool queue_admits(struct session *s, struct share_tree *t, const struct kube_job *job)
{
    return job->queue->open &&
           (!job->asks || (share_allows(t, job->node, job->least) && machine_admits(s, t, job)));
}

/* Add what was let in now, of one name space or (length 0) all. */
static void add_let_in(const struct session *s, const char *space, size_t length, int64_t *sum)
{
    for (size_t i = 0; i < s->w.n_jobs; i++) {
        const struct kube_job *job = &s->w.jobs[i];
        bool counts = s->is_let_in[i] && strcmp(job->phase, "Pending") == 0 &&
                      strncmp(job->name, space, length) == 0;
        for (uint32_t d = 0; d < s->w.names.n && counts; d++)
            sum[d] += job->least[d];
    }
}

static bool overcommit_admits(struct session *s, const struct kube_job *job)
{
    json_t *plugin = kube_plugin(&s->w, "overcommit");
    int64_t limit[SHARE_DIMENSIONS_MAX], taken[SHARE_DIMENSIONS_MAX] = {0};
    if (!job->asks)
        return true;
    kube_overcommit(&s->w, plugin, limit);
    kube_used(&s->w, taken);
    add_let_in(s, "", 0, taken);
    return kube_admits(&s->w, job->least, taken, limit);
}

/* What jobs of a name space were let in with now counts for its quotas. */
static bool quotas_admit(struct session *s, const struct kube_job *job)
{
    int64_t taken[SHARE_DIMENSIONS_MAX] = {0};
    size_t length = strcspn(job->name, "/");
    if (!job->asks)
        return true;
    add_let_in(s, job->name, length + 1, taken);
    return kube_quotas_admit(&s->w, json_object_get(s->c, "namespace_quotas"), job, taken);
}

struct candidate {
    struct session *s;
    struct share_tree *t;
    const struct kube_job *job;
};

/* Plugins whose names are none that are known here are a test's own. */
static enum kube_vote vote(void *of, const char *plugin)
{
    static const char *const silent[] = {"gang", "drf", "sla", "priority", "predicates", NULL};
    struct candidate *c = of;
    bool admits = true;
    for (size_t i = 0; silent[i]; i++)
        if (strcmp(plugin, silent[i]) == 0)
            return KUBE_HAS_NO_SAY;
    if (strcmp(plugin, "proportion") == 0 || strcmp(plugin, "capacity") == 0)
        admits = queue_admits(c->s, c->t, c->job);
    else if (strcmp(plugin, "overcommit") == 0)
        admits = overcommit_admits(c->s, c->job);
    else if (strcmp(plugin, "resourcequota") == 0)
        admits = quotas_admit(c->s, c->job);
    else
        return is_rejected(c->s, c->job) ? KUBE_IS_AGAINST : KUBE_HAS_NO_SAY;
    return admits ? KUBE_IS_FOR : KUBE_IS_AGAINST;
}

static void let_in(struct session *s, struct share_tree *t, size_t i)
{
    const struct kube_job *job = &s->w.jobs[i];
    struct candidate candidate = {s, t, job};
    s->is_let_in[i] = kube_votes_admit(&s->w, vote, &candidate);
    if (s->is_let_in[i] && job->asks)
        share_job(t, job->node, SHARE_ABSENT, SHARE_PROMISED, 1, job->least, 0);
}

struct entry {
    const char *queue, *name;
    int64_t priority; /* 0 where it doesn't count */
    size_t i;
};

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int queues = strcmp(x->queue, y->queue);
    if (queues != 0)
        return queues;
    return x->priority != y->priority ? (x->priority < y->priority ? 1 : -1)
                                      : strcmp(x->name, y->name);
}

/* In the order of queues' names, priority and names, as where nothing else tells jobs apart. */
bool kube_let_in(struct session *s)
{
    bool by_priority = kube_enabled(&s->w, "priority", "jobOrder");
    struct entry *entry = calloc(s->w.n_jobs + 1, sizeof(*entry));
    struct share_tree *t = kube_tree(s, true);
    bool good = entry && t && tell_all(s, t);
    for (size_t i = 0; i < s->w.n_jobs && good; i++) {
        const struct kube_job *job = &s->w.jobs[i];
        s->is_let_in[i] = strcmp(job->phase, "Pending") != 0;
        entry[i] = (struct entry){job->queue ? job->queue->name : "", job->name,
                                  by_priority ? job->priority : 0, i};
    }
    if (good)
        qsort(entry, s->w.n_jobs, sizeof(*entry), compare);
    for (size_t k = 0; k < s->w.n_jobs && good; k++)
        if (!s->is_let_in[entry[k].i] && s->w.jobs[entry[k].i].node != SHARE_NO_NODE)
            let_in(s, t, entry[k].i);
    share_free(t);
    free(entry);
    return good;
}
