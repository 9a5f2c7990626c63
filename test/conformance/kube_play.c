/* Plays a session. What had started before it is started by a scheduler without shares, each task where it is; then one
 * with the session's configuration takes that over, with tasks that may go only beyond a job's min as a gang, and those
 * that wait come in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "kube_session.h"

enum {
    NOW = 2,    /* of the session: what runs has run for a while */
    ENDING = 10 /* when tasks that are ending, as they have been told to, have ended */
};

static bool is_ending(const struct kube_task *task)
{
    return strcmp(task->status, "Releasing") == 0;
}

/* ---- Requests ---- */

static bool has_started(const struct session *s, const struct kube_job *job)
{
    for (size_t i = 0; i < s->w.n_tasks; i++)
        if (s->w.tasks[i].job == job && kube_runs(&s->w.tasks[i]) && !is_ending(&s->w.tasks[i]))
            return true;
    return false;
}

/* Whether nothing runs of a job, and yet it has its min, as that is 0, or so many have succeeded: then it is a gang of min 1
 * of which one has.
 */
static bool is_ready_idle(const struct session *s, const struct kube_job *job)
{
    return kube_go_by_gangs(s) && !has_started(s, job) && kube_needs(s, job) == 0;
}

/* Whether what runs of a job, and what waits of it, is a gang that has started, as its min is kept, or jobs go by their
 * gangs. Where tasks that it is missing start together, or none, what waits is a gang of its own.
 */
static bool is_up(const struct session *s, const struct kube_job *job)
{
    if (is_ready_idle(s, job))
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
        any_ends |= is_ending(&s->w.tasks[i]);
    return kube_misses(s, job) == 1 && kube_is_uniform(s, job) &&
           (kube_starves_below_min(s) || (kube_go_by_gangs(s) && !any_ends));
}

/* Whether a task is a member of a gang. Where jobs starve below their min alone, those that wait of a gang that has its
 * min have nobody stopped.
 */
static bool is_member(const struct session *s, const struct kube_task *task)
{
    const struct kube_job *job = task->job;
    if (is_ending(task))
        return false;
    if (is_up(s, job))
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
        if (other->job != job || !is_member(s, other) ||
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

/* What a task is submitted with; its texts are to be freed. */
struct ask {
    struct sched_request request;
    uint32_t member;
    char id[32];
    char *jobspec;
    char *queue;
    struct sched_role role[SCHED_ROLES_MAX];
    char name[SCHED_ROLES_MAX][16];
    char *role_jobspec[SCHED_ROLES_MAX];
};

/* A gang whose tasks are not alike, or are of several roles, has roles. False: no memory. */
static bool ask_for_roles(const struct session *s, uint32_t i, struct ask *ask)
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

static void ask_clear(struct ask *ask)
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

/* Whether nobody is stopped for a task, as its job has its min or it says so. */
static bool is_polite(const struct session *s, const struct kube_task *task)
{
    bool starves = !kube_starves_below_min(s) || kube_misses(s, task->job) > 0;
    return is_never(task->is, "preemption_policy", "Never") ||
           (!starves && !kube_runs(task) && !is_member(s, task));
}

/* Whether a task is of a queue of which nothing is stopped for other queues. */
static bool is_not_reclaimed(const struct session *s, const struct kube_task *task)
{
    return task->job->queue && is_never(task->job->queue->is, "reclaimable", NULL) &&
           kube_has_action(s, "reclaim") && !kube_has_action(s, "preempt");
}

/* Whether a task runs, and its job has less than a min that is kept. */
static bool is_lacking(const struct session *s, const struct kube_task *task)
{
    return kube_runs(task) && kube_keeps_min(s, task->job) && kube_misses(s, task->job) > 0;
}

/* So many of a gang are to run, or of what waits of a job. */
static int64_t min_of_gang(const struct session *s, const struct kube_job *job)
{
    int64_t min = is_up(s, job) ? kube_needs(s, job) : kube_misses(s, job);
    return min > 0 ? min : 1;
}

/* Where priorities are not asked who is stopped, who waits is above all that run, unless as a member of a gang that does. */
static int64_t priority_of(const struct session *s, const struct kube_task *task, bool up)
{
    const int64_t above = INT64_C(1) << 32;
    int64_t priority = kube_enabled(&s->w, "priority", "jobOrder") ? task->job->priority : 0;
    return kube_stops_equals(s) && !kube_runs(task) && !up ? priority + above : priority;
}

/* False: its queue is none, or there is no memory. */
static bool ask_for(const struct session *s, uint32_t i, struct ask *ask)
{
    const struct kube_task *task = &s->w.tasks[i];
    const char *queue = kube_queue_of(s, task);
    bool ends = is_ending(task);
    bool keeps = ends || is_never(task->is, "preemptable", NULL) || is_not_reclaimed(s, task) ||
                 kube_is_critical(s, task) || is_lacking(s, task);
    uint32_t size = 1, first = i;
    *ask = (struct ask){.jobspec = queue ? kube_jobspec(s, task) : NULL};
    if (!ask->jobspec)
        return false;
    bool is_gang = is_member(s, task);
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
        .priority = priority_of(s, task, is_gang && is_up(s, task->job)),
        .tag = first,
        .id = ask->id,
        .jobspec = ask->jobspec,
        .jobspec_length = strlen(ask->jobspec),
        .queue = ask->queue ? ask->queue : queue,
        .user = task->job->name,
        .deadline = kube_may_wait(task->job) > 0 ? NOW + kube_may_wait(task->job) : 0,
        .preemptible_after = keeps || (is_gang && size == 1) ? SCHED_UNLIMITED : 0,
        .members = is_gang ? size + is_ready_idle(s, task->job) : 0,
        .min = is_gang ? (uint32_t)min_of_gang(s, task->job) : 0};
    if (is_gang && !is_up(s, task->job) && !ask_for_roles(s, i, ask)) {
        ask_clear(ask);
        return false;
    }
    return true;
}

/* ---- Before the session ---- */

/* A scheduler for a machine of its own. NULL after saying why. */
static sched_t *scheduler(struct session *s, bool tasks_only, match_t **machine)
{
    berth_error_t err;
    sched_t *sched = NULL;
    *machine = kube_machine(s);
    struct kube_config *config = *machine ? kube_config(s, tasks_only) : NULL;
    if (config)
        sched = sched_create(*machine, kube_config_of(config), &err);
    if (config && !sched)
        kube_wrong("%s", err.text);
    kube_config_free(config);
    return sched;
}

/* Start a task where it is. */
static bool start_there(struct session *s, sched_t *before, uint32_t i, sched_job_t *handle)
{
    const struct sched_decision *d;
    size_t n;
    struct ask ask;
    if (!ask_for(s, i, &ask))
        return true;
    ask.request.members = ask.request.min = 0;
    ask.request.id = NULL;
    ask.request.tag = i;
    ask.request.queue = kube_queue_of(s, &s->w.tasks[i]);
    *handle = sched_submit(before, 0, &ask.request);
    ask_clear(&ask);
    if (*handle >= 0 && sched_pass(before, 0, false, &d, &n) == 0 &&
        sched_state(before, *handle) == SCHED_RUNNING)
        return true;
    kube_wrong("task %s can't have started where it is", s->w.tasks[i].name);
    return false;
}

/* Its new scheduler knows that a task runs, or waits as a member of a gang that does. */
static bool restore(struct session *s, sched_t *before, uint32_t i, sched_job_t handle)
{
    struct sched_record record = {.state = SCHED_WAITING, .fresh = true};
    berth_error_t err;
    struct ask ask;
    if (!ask_for(s, i, &ask))
        return true;
    bool good = handle < 0 || sched_record(before, handle, &record) == 0;
    record.request = ask.request;
    record.member = ask.member;
    record.gang_up = ask.request.min > 0;
    record.untold = true;
    record.succeeded = record.gang_up && is_ready_idle(s, s->w.tasks[i].job);
    record.stopping = is_ending(&s->w.tasks[i]);
    if (good)
        good = sched_restore(s->sched, NOW, &record, &err) >= 0;
    if (!good)
        kube_wrong("task %s: %s", s->w.tasks[i].name, err.text);
    ask_clear(&ask);
    return good;
}

static bool take_over(struct session *s, sched_t *before)
{
    for (size_t k = 0; k < s->w.n_tasks; k++) {
        uint32_t i = s->order[k];
        sched_job_t handle = -1;
        if (!s->w.tasks[i].job || !kube_runs(&s->w.tasks[i]))
            continue;
        if (!start_there(s, before, i, &handle) || (handle >= 0 && !restore(s, before, i, handle)))
            return false;
    }
    for (size_t k = 0; k < s->w.n_tasks; k++) {
        const struct kube_task *task = &s->w.tasks[s->order[k]];
        if (task->job && kube_is_looked_at(s, task) && is_member(s, task) && is_up(s, task->job) &&
            !restore(s, before, s->order[k], -1))
            return false;
    }
    struct sched_passed passed = {.at = NOW - 1, .events = 1};
    return sched_restore_passed(s->sched, NOW, &passed) == 0;
}

/* ---- The session ---- */

/* Queues that are not open start nothing, where a plugin holds them to that. */
static void stop_closed(struct session *s)
{
    bool held = kube_enabled(&s->w, "proportion", "allocatable") ||
                kube_enabled(&s->w, "proportion", "preemptive") ||
                kube_enabled(&s->w, "capacity", "preemptive") ||
                kube_enabled(&s->w, "capacity", "allocatable");
    for (size_t i = 0; i < s->levels.n && held; i++)
        if (s->levels.v[i].is_leaf && !s->levels.v[i].queue->open)
            sched_queue_set(s->sched, NOW, s->levels.v[i].path, true, false, NULL);
}

/* Those that wait: of a gang the first one for all. */
static bool submit(struct session *s, uint32_t i)
{
    struct ask ask;
    const struct kube_task *task = &s->w.tasks[i];
    if (is_member(s, task) && is_up(s, task->job))
        return true;
    if (!ask_for(s, i, &ask))
        return true;
    bool good = ask.member > 0 || sched_submit(s->sched, NOW, &ask.request) >= 0;
    ask_clear(&ask);
    return good;
}

static int node_of(const struct session *s, sched_job_t job)
{
    const char *text;
    unsigned node;
    return sched_resources(s->sched, job, &text) == 0 && sscanf(text, "node%u", &node) == 1
               ? (int)node
               : -1;
}

/* What has become of a task. Tasks that fit start, whatever the actions are: only `allocate` and `backfill` tell. */
static void look(struct session *s, uint32_t i, const struct sched_decision *d, size_t n)
{
    struct ask ask;
    const struct kube_task *task = &s->w.tasks[i];
    if (!task->job || !(kube_runs(task) || kube_is_looked_at(s, task)) || !ask_for(s, i, &ask))
        return;
    sched_job_t job = sched_find(s->sched, ask.id, ask.member);
    int state = job < 0 ? -1 : sched_state(s->sched, job);
    bool tells = kube_has_action(s, "allocate") || kube_has_action(s, "backfill");
    if (state == SCHED_RUNNING && (kube_runs(task) || tells))
        s->began_on[i] = node_of(s, job);
    if (state == SCHED_RESERVED &&
        (is_up(s, task->job) || ask.member < (ask.request.min > 0 ? ask.request.min : 1)))
        s->promised_on[i] = 0;
    for (size_t k = 0; k < n; k++)
        s->has_ended[i] |=
            d[k].kind == SCHED_PREEMPT && d[k].tag == ask.request.tag && d[k].member == ask.member;
    ask_clear(&ask);
}

static bool pass(struct session *s)
{
    const struct sched_decision *d;
    size_t n;
    if (sched_pass(s->sched, NOW, false, &d, &n) < 0)
        return false;
    for (uint32_t i = 0; i < s->w.n_tasks; i++)
        look(s, i, d, n);
    return sched_check(s->sched);
}

static bool act(struct session *s)
{
    stop_closed(s);
    for (size_t k = 0; k < s->w.n_tasks; k++)
        if (kube_is_looked_at(s, &s->w.tasks[s->order[k]]) && !submit(s, s->order[k]))
            return false;
    return pass(s);
}

bool kube_play(struct session *s)
{
    match_t *machine = NULL;
    sched_t *before = scheduler(s, true, &machine);
    s->sched = before ? scheduler(s, false, &s->machine) : NULL;
    bool good = s->sched && take_over(s, before);
    sched_destroy(before);
    match_destroy(machine);
    return good && act(s);
}
