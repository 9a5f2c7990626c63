/* What the tasks of a session are submitted as: a task of its own, or a member of a gang. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube_session.h"

enum {
    ENDING = 10 /* when tasks that are ending, as they have been told to, have ended */
};

bool kube_is_ending(const struct kube_task *task)
{
    return strcmp(task->status, "Releasing") == 0;
}

static bool has_started(const struct session *s, const struct kube_job *job)
{
    for (size_t i = 0; i < s->w.n_tasks; i++)
        if (s->w.tasks[i].job == job && kube_runs(&s->w.tasks[i]) &&
            !kube_is_ending(&s->w.tasks[i]))
            return true;
    return false;
}

/* Whether nothing runs of a job, and yet it has its min, as that is 0, or so many have succeeded: then it is a gang of min 1
 * of which one has.
 */
bool kube_is_ready_idle(const struct session *s, const struct kube_job *job)
{
    return kube_go_by_gangs(s) && !has_started(s, job) && kube_needs(s, job) == 0;
}

/* Whether what runs of a job, and what waits of it, is a gang that has started, as its min is kept, or jobs go by their
 * gangs. Where tasks that it is missing start together, or none, what waits is a gang of its own.
 */
bool kube_is_up(const struct session *s, const struct kube_job *job)
{
    if (kube_is_ready_idle(s, job))
        return true;
    return has_started(s, job) && !kube_starts_whole(s, job) &&
           (kube_keeps_min(s, job) || kube_go_by_gangs(s));
}

/* Whether a job is a gang although one task alone is missing: the others have nobody stopped, or go last, unless some may
 * be promised what is ending.
 */
static bool is_gang_of_one(const struct session *s, const struct kube_job *job)
{
    bool any_ends = false;
    for (size_t i = 0; i < s->w.n_tasks; i++)
        any_ends |= kube_is_ending(&s->w.tasks[i]);
    return kube_misses(s, job) == 1 && kube_is_uniform(s, job) &&
           (kube_starves_below_min(s) || (kube_go_by_gangs(s) && !any_ends));
}

/* Whether a task is a member of a gang. Where jobs starve below their min alone, those that wait of a gang that has its
 * min have nobody stopped.
 */
bool kube_is_member(const struct session *s, const struct kube_task *task)
{
    const struct kube_job *job = task->job;
    if (kube_is_ending(task) || s->is_alone[task - s->w.tasks])
        return false;
    if (kube_is_up(s, job))
        return kube_runs(task) || !kube_starves_beyond_min(s) || kube_misses(s, job) > 0;
    return !kube_runs(task) && (kube_starts_whole(s, job) || is_gang_of_one(s, job));
}

/* A task's place among those of its job that are looked at or, where it is a gang that has started, run; the first of
 * these, and how many they are.
 */
static uint32_t place_in_job(const struct session *s, uint32_t task, uint32_t *first,
                             uint32_t *size)
{
    const struct kube_job *job = s->w.tasks[task].job;
    uint32_t place = 0;
    *size = 0;
    *first = task;
    for (size_t k = 0; k < s->w.n_tasks; k++) {
        const struct kube_task *other = &s->w.tasks[s->order[k]];
        if (other->job != job || !kube_is_member(s, other) ||
            !(kube_runs(other) || kube_is_looked_at(s, other)))
            continue;
        if (*size == 0)
            *first = s->order[k];
        if (s->order[k] == task)
            place = *size;
        ++*size;
    }
    return place;
}

/* A gang whose tasks are not alike, or are of several roles, has roles. False: no memory. */
static bool ask_for_roles(const struct session *s, uint32_t i, struct kube_ask *ask)
{
    struct kube_role roles[SCHED_ROLES_MAX];
    const struct kube_job *job = s->w.tasks[i].job;
    uint32_t n = kube_roles(s, job, roles);
    if (n < 2)
        return true;
    for (uint32_t r = 0; r < n; r++) {
        snprintf(ask->name[r], sizeof(ask->name[r]), "role%u", r);
        ask->role_jobspec[r] = kube_jobspec(s, &s->w.tasks[roles[r].first]);
        if (!ask->role_jobspec[r])
            return false;
        ask->role[r] = (struct sched_role){.name = ask->name[r],
                                           .jobspec = ask->role_jobspec[r],
                                           .jobspec_length = strlen(ask->role_jobspec[r]),
                                           .members = roles[r].members,
                                           .min = roles[r].min};
    }
    ask->member = kube_place_by_role(s, i, roles, n);
    ask->request.roles = ask->role;
    ask->request.n_roles = n;
    return true;
}

void kube_ask_clear(struct kube_ask *ask)
{
    for (uint32_t r = 0; r < SCHED_ROLES_MAX; r++)
        free(ask->role_jobspec[r]);
    free(ask->jobspec);
    free(ask->queue);
}

static bool is_never(json_t *task, const char *key, const char *word)
{
    json_t *value = json_object_get(task, key);
    return word ? strcmp(kube_text(task, key), word) == 0 : json_is_false(value);
}

/* Whether a job has others stopped until one of its tasks, which are not alike, can start. */
static bool goes_one_by_one(const struct session *s, const struct kube_job *job)
{
    return kube_starves_below_min(s) && kube_misses(s, job) == 1 && !kube_is_uniform(s, job) &&
           !kube_is_up(s, job);
}

const struct kube_task *kube_whose_turn(const struct session *s, const struct kube_job *job)
{
    for (size_t k = 0; k < s->w.n_tasks && goes_one_by_one(s, job); k++) {
        uint32_t i = s->order[k];
        const struct kube_task *task = &s->w.tasks[i];
        if (task->job == job && kube_is_looked_at(s, task) && !s->has_tried[i])
            return task;
    }
    return NULL;
}

/* Whether nobody is stopped for a task, as its job has its min or it says so. */
static bool is_polite(const struct session *s, const struct kube_task *task)
{
    bool starves = !kube_starves_below_min(s) || kube_misses(s, task->job) > 0;
    return is_never(task->is, "preemption_policy", "Never") ||
           (!starves && !kube_runs(task) && !kube_is_member(s, task)) ||
           (!kube_runs(task) && goes_one_by_one(s, task->job) &&
            kube_whose_turn(s, task->job) != task);
}

/* Whether a task is of a queue of which nothing is stopped for other queues. */
static bool is_not_reclaimed(const struct session *s, const struct kube_task *task)
{
    return task->job->queue && is_never(task->job->queue->is, "reclaimable", NULL) &&
           kube_has_action(s, "reclaim") && !kube_has_action(s, "preempt");
}

/* Whether a task has been given something, but doesn't run yet: who ends for others runs. */
static bool is_on_its_way(const struct kube_task *task)
{
    return kube_runs(task) && strcmp(task->status, "Running") != 0;
}

/* Whether a task runs, and its job has less than a min that is kept. */
static bool is_lacking(const struct session *s, const struct kube_task *task)
{
    return kube_runs(task) && kube_keeps_min(s, task->job) && kube_misses(s, task->job) > 0;
}

/* So many of a gang are to run, or of what waits of a job. */
static int64_t min_of_gang(const struct session *s, const struct kube_job *job)
{
    int64_t min = kube_is_up(s, job) ? kube_needs(s, job) : kube_misses(s, job);
    return min > 0 ? min : 1;
}

/* Where priorities are not asked who is stopped, who waits is above all that run, unless as a member of a gang that does. */
static int64_t priority_of(const struct session *s, const struct kube_task *task, bool up)
{
    const int64_t above = INT64_C(1) << 32;
    int64_t priority = kube_enabled(&s->w, "priority", "jobOrder") ? task->job->priority : 0;
    return kube_stops_equals(s) && !kube_runs(task) && !up ? priority + above : priority;
}

bool kube_is_stray(const struct kube_task *task)
{
    return kube_runs(task) && (!task->job || !task->job->queue);
}

/* It runs until it ends by itself: it is stopped for nobody. */
static bool ask_for_stray(const struct session *s, uint32_t i, struct kube_ask *ask)
{
    const struct kube_task *task = &s->w.tasks[i];
    int64_t ends = kube_is_ending(task) ? ENDING : SCHED_UNLIMITED;
    *ask = (struct kube_ask){.jobspec = kube_jobspec(s, task)};
    if (!ask->jobspec)
        return false;
    snprintf(ask->id, sizeof(ask->id), "task%u", i);
    ask->request = (struct sched_request){.duration = ends,
                                          .estimate = ends,
                                          .tag = i,
                                          .id = ask->id,
                                          .jobspec = ask->jobspec,
                                          .jobspec_length = strlen(ask->jobspec),
                                          .queue = kube_queue_of(s, task),
                                          .user = "-",
                                          .preemptible_after = SCHED_UNLIMITED};
    return true;
}

bool kube_ask_for(const struct session *s, uint32_t i, struct kube_ask *ask)
{
    if (kube_is_stray(&s->w.tasks[i]))
        return ask_for_stray(s, i, ask);
    const struct kube_task *task = &s->w.tasks[i];
    const char *queue = kube_queue_of(s, task);
    bool ends = kube_is_ending(task);
    bool keeps = ends || is_on_its_way(task) || is_never(task->is, "preemptable", NULL) ||
                 is_not_reclaimed(s, task) || kube_is_critical(s, task) || is_lacking(s, task);
    uint32_t size = 1, first = i;
    *ask = (struct kube_ask){.jobspec = queue ? kube_jobspec(s, task) : NULL};
    if (!ask->jobspec)
        return false;
    bool is_gang = kube_is_member(s, task);
    ask->member = is_gang ? place_in_job(s, i, &first, &size) : 0;
    if (is_gang)
        snprintf(ask->id, sizeof(ask->id), "job%zu", (size_t)(task->job - s->w.jobs));
    else
        snprintf(ask->id, sizeof(ask->id), "task%u", i);
    if (!ends && is_polite(s, task) && asprintf(&ask->queue, "%s%s", queue, KUBE_POLITE) < 0)
        ask->queue = NULL;
    ask->request = (struct sched_request){
        .duration = ends ? ENDING : SCHED_UNLIMITED,
        .estimate = ends ? ENDING : SCHED_UNLIMITED,
        .priority = priority_of(s, task, is_gang && kube_is_up(s, task->job)),
        .tag = first,
        .id = ask->id,
        .jobspec = ask->jobspec,
        .jobspec_length = strlen(ask->jobspec),
        .queue = ask->queue ? ask->queue : queue,
        .user = task->job->name,
        .deadline = kube_may_wait(task->job) > 0 ? KUBE_NOW + kube_may_wait(task->job) : 0,
        .preemptible_after = keeps || (is_gang && size == 1) ? SCHED_UNLIMITED : 0,
        .members = is_gang ? size + kube_is_ready_idle(s, task->job) : 0,
        .min = is_gang ? (uint32_t)min_of_gang(s, task->job) : 0};
    if (is_gang && !kube_is_up(s, task->job) && !ask_for_roles(s, i, ask)) {
        kube_ask_clear(ask);
        return false;
    }
    return true;
}
