/* What a session has come to, and what is expected of it. */
#include <string.h>

#include "kube_session.h"

static bool has_begun(const struct session *s, size_t i)
{
    return s->began_on[i] >= 0 && !kube_runs(&s->w.tasks[i]);
}

/* Whether one task would do as well as the other. */
static bool are_equal(const struct session *s, const struct kube_task *a, const struct kube_task *b)
{
    return a->job == b->job && a->priority == b->priority && kube_are_alike(&s->w, a, b) &&
           json_is_false(json_object_get(a->is, "preemptable")) ==
               json_is_false(json_object_get(b->is, "preemptable")) &&
           kube_is_critical(s, a) == kube_is_critical(s, b);
}

/* Of the tasks that are equal to one: how many began more than was expected. */
static int surplus(const struct session *s, json_t *binds, const struct kube_task *task)
{
    int n = 0;
    for (size_t i = 0; i < s->w.n_tasks; i++)
        if (are_equal(s, &s->w.tasks[i], task))
            n += (int)has_begun(s, i) - (json_object_get(binds, s->w.tasks[i].name) != NULL);
    return n;
}

/* Whether scores tell two nodes apart. */
static bool is_apart(const struct session *s, const struct kube_task *task, const char *a,
                     const char *b)
{
    const struct kube_node *x = NULL, *y = NULL;
    for (size_t i = 0; i < s->w.n_nodes; i++) {
        x = strcmp(s->w.nodes[i].name, a) == 0 ? &s->w.nodes[i] : x;
        y = strcmp(s->w.nodes[i].name, b) == 0 ? &s->w.nodes[i] : y;
    }
    return !x || !y || kube_tells_apart(s, task, x, y);
}

static enum outcome compare_binds(const struct session *s, json_t *binds)
{
    enum outcome outcome = PASSED;
    for (size_t i = 0; i < s->w.n_tasks; i++) {
        const struct kube_task *task = &s->w.tasks[i];
        const char *want = kube_text(binds, task->name);
        const char *got = has_begun(s, i) ? s->w.nodes[s->began_on[i]].name : "";
        if (strcmp(want, got) == 0)
            continue;
        if (surplus(s, binds, task) != 0)
            return kube_wrong("task %s is on \"%s\", expected \"%s\"", task->name, got, want);
        if (want[0] != '\0' && got[0] != '\0' && is_apart(s, task, want, got))
            return kube_wrong("task %s is on \"%s\", expected \"%s\", by score", task->name, got,
                              want);
        outcome = PASSED_EQUAL;
    }
    return outcome;
}

static enum outcome compare_allocated(const struct session *s, json_t *expect)
{
    const char *name;
    json_t *amounts;
    enum outcome outcome = PASSED;
    json_object_foreach (expect, name, amounts) {
        int64_t want[SHARE_DIMENSIONS_MAX], got[SHARE_DIMENSIONS_MAX] = {0};
        kube_amounts(&s->w.names, amounts, 0, want);
        for (size_t i = 0; i < s->w.n_tasks; i++) {
            const struct kube_task *task = &s->w.tasks[i];
            bool counts = task->job && strcmp(task->job->name, name) == 0 &&
                          (s->began_on[i] >= 0 || s->promised_on[i] >= 0);
            for (uint32_t d = 0; d < s->w.names.n && counts; d++)
                got[d] += task->request[d];
        }
        for (uint32_t d = 0; d < s->w.names.n; d++)
            if (want[d] != got[d] && (d != s->pods || s->counts_pods))
                outcome = kube_wrong("job %s has %lld of %s, expected %lld", name,
                                     (long long)got[d], s->w.names.name[d], (long long)want[d]);
    }
    return outcome;
}

static enum outcome compare_phases(const struct session *s, json_t *expect)
{
    enum outcome outcome = PASSED;
    for (size_t i = 0; i < s->w.n_jobs; i++) {
        const struct kube_job *job = &s->w.jobs[i];
        const char *want = kube_text(expect, job->name);
        bool waits = strcmp(want, "Pending") == 0;
        if (want[0] != '\0' && waits == s->is_let_in[i])
            outcome = kube_wrong("job %s is %slet in", job->name, waits ? "" : "not ");
    }
    return outcome;
}

/* As many tasks of jobs have been promised something as they were to wait for. */
static enum outcome compare_pipelined(const struct session *s, json_t *expect)
{
    for (size_t j = 0; j < s->w.n_jobs; j++) {
        size_t n = 0, want = json_array_size(json_object_get(expect, s->w.jobs[j].name));
        for (size_t i = 0; i < s->w.n_tasks; i++)
            n += s->w.tasks[i].job == &s->w.jobs[j] && s->promised_on[i] >= 0;
        if (n != want)
            return kube_wrong("job %s is promised %zu, expected %zu", s->w.jobs[j].name, n, want);
    }
    return PASSED;
}

/* Whether a task's name is in a list. */
static bool is_in(json_t *list, const char *name)
{
    size_t i;
    json_t *value;
    json_array_foreach (list, i, value) {
        if (strcmp(json_string_value(value), name) == 0)
            return true;
    }
    return false;
}

/* Those that were expected have ended, or equal ones. */
static enum outcome compare_evicts(const struct session *s, json_t *expect)
{
    json_t *evicts = json_object_get(expect, "evicts"), *n = json_object_get(expect, "evict_count");
    const char *job = kube_text(expect, "evicts_from_job");
    json_int_t ended = 0;
    enum outcome outcome = PASSED;
    for (size_t i = 0; i < s->w.n_tasks; i++) {
        const struct kube_task *task = &s->w.tasks[i];
        int more = 0;
        ended += s->has_ended[i];
        if (s->has_ended[i] && job[0] != '\0' && strcmp(task->job->name, job) != 0)
            outcome = kube_wrong("task %s ends", task->name);
        if (!evicts || s->has_ended[i] == is_in(evicts, task->name))
            continue;
        for (size_t k = 0; k < s->w.n_tasks; k++)
            if (are_equal(s, &s->w.tasks[k], task))
                more += (int)s->has_ended[k] - is_in(evicts, s->w.tasks[k].name);
        if (more != 0)
            return kube_wrong("task %s ends%s", task->name, more < 0 ? " not" : "");
        outcome = outcome == FAILED ? FAILED : PASSED_EQUAL;
    }
    if (n && json_integer_value(n) != ended)
        return kube_wrong("%lld tasks end, expected %lld", (long long)ended,
                          (long long)json_integer_value(n));
    return outcome;
}

static enum outcome worse(enum outcome a, enum outcome b)
{
    return a == FAILED || b == FAILED ? FAILED : a == PASSED_EQUAL ? a : b;
}

enum outcome kube_compare(const struct session *s, json_t *expect)
{
    static const char *const known[] = {"binds",           "bind_count", "evicts",
                                        "evict_count",     "job_phase",  "job_allocated",
                                        "evicts_from_job", "pipelined"};
    json_t *binds = json_object_get(expect, "binds"), *value;
    json_t *count = json_object_get(expect, "bind_count");
    enum outcome outcome = binds ? compare_binds(s, binds) : PASSED;
    const char *key;
    json_int_t began = 0;
    for (size_t i = 0; i < s->w.n_tasks; i++)
        began += has_begun(s, i);
    if (count && json_integer_value(count) != began)
        outcome = kube_wrong("%lld tasks start, expected %lld", (long long)began,
                             (long long)json_integer_value(count));
    outcome = worse(outcome, compare_allocated(s, json_object_get(expect, "job_allocated")));
    outcome = worse(outcome, compare_phases(s, json_object_get(expect, "job_phase")));
    if (json_object_get(expect, "pipelined"))
        outcome = worse(outcome, compare_pipelined(s, json_object_get(expect, "pipelined")));
    json_object_foreach (expect, key, value) {
        size_t i = 0;
        while (i < sizeof(known) / sizeof(*known) && strcmp(known[i], key) != 0)
            i++;
        if (i == sizeof(known) / sizeof(*known))
            outcome = kube_wrong("unknown: what is expected of %s", key);
    }
    return worse(outcome, compare_evicts(s, expect));
}
