/* The roles of a gang that has not started: tasks that ask for the same, and are of one role in the case. */
#include <string.h>

#include "kube_session.h"

static bool is_of(const struct session *s, const struct kube_role *role,
                  const struct kube_task *task)
{
    const struct kube_task *first = &s->w.tasks[role->first];
    return kube_are_alike(&s->w, first, task) &&
           strcmp(kube_text(first->is, "role"), kube_text(task->is, "role")) == 0;
}

static int64_t have_begun(const struct session *s, const struct kube_job *job,
                          const struct kube_role *role)
{
    int64_t n = 0;
    for (size_t i = 0; i < s->w.n_tasks; i++) {
        const struct kube_task *task = &s->w.tasks[i];
        bool has = kube_has_started(task->status) || strcmp(task->status, "Succeeded") == 0;
        n += task->job == job && has && is_of(s, role, task);
    }
    return n;
}

/* How many of a role are to start; where the case doesn't say it all are if all of the job are. -1: that is not known. */
static int64_t min_of(const struct session *s, const struct kube_job *job,
                      const struct kube_role *role, size_t tasks)
{
    json_t *mins = json_object_get(job->is, "min_task_available");
    json_t *min = json_object_get(mins, kube_text(s->w.tasks[role->first].is, "role"));
    if (min) {
        int64_t left = json_integer_value(min) - have_begun(s, job, role);
        return left > 0 ? left : 0;
    }
    return (size_t)kube_misses(s, job) == tasks ? (int64_t)role->members : -1;
}

bool kube_lacks_role(const struct session *s, const struct kube_job *job)
{
    const char *role;
    json_t *mins = json_object_get(job->is, "min_task_available"), *min;
    int64_t all = 0;
    bool lacks = false;
    json_object_foreach(mins, role, min)
    {
        int64_t n = 0;
        for (size_t i = 0; i < s->w.n_tasks; i++) {
            const struct kube_task *task = &s->w.tasks[i];
            bool counts = kube_has_started(task->status) ||
                          strcmp(task->status, "Succeeded") == 0 ||
                          strcmp(task->status, "Pending") == 0;
            n += task->job == job && counts && strcmp(kube_text(task->is, "role"), role) == 0;
        }
        lacks |= n < json_integer_value(min);
        all += json_integer_value(min);
    }
    return lacks && all <= job->min_available;
}

uint32_t kube_roles(const struct session *s, const struct kube_job *job, struct kube_role *roles)
{
    uint32_t n = 0;
    size_t tasks = 0;
    int64_t sum = 0;
    for (size_t k = 0; k < s->w.n_tasks; k++) {
        const struct kube_task *task = &s->w.tasks[s->order[k]];
        uint32_t r = 0;
        if (task->job != job || !kube_is_looked_at(s, task))
            continue;
        tasks++;
        while (r < n && !is_of(s, &roles[r], task))
            r++;
        if (r == SCHED_ROLES_MAX)
            return 0;
        if (r == n)
            roles[n++] = (struct kube_role){.first = s->order[k]};
        roles[r].members++;
    }
    for (uint32_t r = 0; r < n; r++) {
        int64_t min = min_of(s, job, &roles[r], tasks);
        if (min < 0 || min > roles[r].members)
            return 0;
        roles[r].min = (uint32_t)min;
        sum += min;
    }
    return sum == kube_misses(s, job) ? n : 0;
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
