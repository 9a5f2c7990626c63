/* The roles of a gang that has not started: tasks that ask for the same, and are of one role in the case. */
#include <string.h>

#include "kube_session.h"

static bool has_role(const struct kube_task *task, const char *role)
{
    return strcmp(kube_text(task->is, "role"), role) == 0;
}

static bool has_begun(const struct kube_task *task)
{
    return kube_has_started(task->status) || strcmp(task->status, "Succeeded") == 0;
}

/* Whether the mins of a job's roles count: together they are no more than its own. */
static bool mins_count(const struct kube_job *job)
{
    const char *role;
    json_t *min;
    int64_t all = 0;
    json_object_foreach (json_object_get(job->is, "min_task_available"), role, min) {
        all += json_integer_value(min);
    }
    return all <= job->min_available;
}

static bool is_of(const struct session *s, const struct kube_role *role,
                  const struct kube_task *task)
{
    const struct kube_task *first = &s->w.tasks[role->first];
    return kube_are_alike(&s->w, first, task) &&
           (!mins_count(task->job) || has_role(first, kube_text(task->is, "role")));
}

bool kube_lacks_role(const struct session *s, const struct kube_job *job)
{
    const char *role;
    json_t *min;
    bool lacks = false;
    json_object_foreach (json_object_get(job->is, "min_task_available"), role, min) {
        int64_t n = 0;
        for (size_t i = 0; i < s->w.n_tasks; i++) {
            const struct kube_task *task = &s->w.tasks[i];
            n += task->job == job && has_role(task, role) &&
                 (has_begun(task) || strcmp(task->status, "Pending") == 0);
        }
        lacks |= n < json_integer_value(min);
    }
    return lacks && mins_count(job);
}

static uint32_t role_of(const struct session *s, const struct kube_role *roles, uint32_t n,
                        const struct kube_task *task)
{
    uint32_t r = 0;
    while (r < n && !is_of(s, &roles[r], task))
        r++;
    return r;
}

/* So many tasks that come first, of a role or (NULL) of any, are to start. Returns how many there are too few. */
static int64_t take_first(const struct session *s, const struct kube_job *job, const char *name,
                          struct kube_role *roles, uint32_t n, int64_t count)
{
    uint32_t seen[SCHED_ROLES_MAX] = {0}, taken[SCHED_ROLES_MAX];
    for (uint32_t r = 0; r < n; r++)
        taken[r] = roles[r].min;
    for (size_t k = 0; k < s->w.n_tasks && count > 0; k++) {
        const struct kube_task *task = &s->w.tasks[s->order[k]];
        if (task->job != job || !kube_is_looked_at(s, task) || (name && !has_role(task, name)))
            continue;
        uint32_t r = role_of(s, roles, n, task);
        if (seen[r]++ >= taken[r]) {
            roles[r].min++;
            count--;
        }
    }
    return count;
}

/* What is to start: of each role as many as its own min is still missing, and then of any. False: there are too few. */
static bool set_mins(const struct session *s, const struct kube_job *job, struct kube_role *roles,
                     uint32_t n)
{
    const char *name;
    json_t *min;
    int64_t missing = kube_misses(s, job), lacks = 0;
    json_object_foreach (json_object_get(job->is, "min_task_available"), name, min) {
        int64_t left = mins_count(job) ? json_integer_value(min) : 0;
        for (size_t i = 0; i < s->w.n_tasks; i++)
            left -= s->w.tasks[i].job == job && has_begun(&s->w.tasks[i]) &&
                    has_role(&s->w.tasks[i], name);
        if (left > 0) {
            lacks += take_first(s, job, name, roles, n, left);
            missing -= left;
        }
    }
    return lacks == 0 && missing >= 0 && take_first(s, job, NULL, roles, n, missing) == 0;
}

uint32_t kube_roles(const struct session *s, const struct kube_job *job, struct kube_role *roles)
{
    uint32_t n = 0;
    for (size_t k = 0; k < s->w.n_tasks; k++) {
        const struct kube_task *task = &s->w.tasks[s->order[k]];
        if (task->job != job || !kube_is_looked_at(s, task))
            continue;
        uint32_t r = role_of(s, roles, n, task);
        if (r == SCHED_ROLES_MAX)
            return 0;
        if (r == n)
            roles[n++] = (struct kube_role){.first = s->order[k]};
        roles[r].members++;
    }
    return set_mins(s, job, roles, n) ? n : 0;
}

uint32_t kube_place_by_role(const struct session *s, uint32_t task, const struct kube_role *roles,
                            uint32_t n)
{
    const struct kube_task *is = &s->w.tasks[task];
    uint32_t place = 0, r = 0;
    for (; r < n && !is_of(s, &roles[r], is); r++)
        place += roles[r].members;
    for (size_t k = 0; k < s->w.n_tasks && s->order[k] != task; k++) {
        const struct kube_task *other = &s->w.tasks[s->order[k]];
        place += r < n && other->job == is->job && kube_is_looked_at(s, other) &&
                 is_of(s, &roles[r], other);
    }
    return place;
}
