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
    struct kube_ask ask;
    if (!kube_ask_for(s, i, &ask))
        return true;
    ask.request.members = ask.request.min = 0;
    ask.request.id = NULL;
    ask.request.tag = i;
    ask.request.queue = kube_queue_of(s, &s->w.tasks[i]);
    *handle = sched_submit(before, 0, &ask.request);
    kube_ask_clear(&ask);
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
    struct kube_ask ask;
    if (!kube_ask_for(s, i, &ask))
        return true;
    bool good = handle < 0 || sched_record(before, handle, &record) == 0;
    record.request = ask.request;
    record.member = ask.member;
    record.gang_up = ask.request.min > 0;
    record.untold = true;
    record.succeeded = record.gang_up && kube_is_ready_idle(s, s->w.tasks[i].job);
    record.stopping = kube_is_ending(&s->w.tasks[i]);
    if (good)
        good = sched_restore(s->sched, KUBE_NOW, &record, &err) >= 0;
    if (!good)
        kube_wrong("task %s: %s", s->w.tasks[i].name, err.text);
    kube_ask_clear(&ask);
    return good;
}

static bool take_over(struct session *s, sched_t *before)
{
    for (size_t k = 0; k < s->w.n_tasks; k++) {
        uint32_t i = s->order[k];
        sched_job_t handle = -1;
        if (!kube_runs(&s->w.tasks[i]))
            continue;
        if (!start_there(s, before, i, &handle) || (handle >= 0 && !restore(s, before, i, handle)))
            return false;
    }
    for (size_t k = 0; k < s->w.n_tasks; k++) {
        const struct kube_task *task = &s->w.tasks[s->order[k]];
        if (task->job && kube_is_looked_at(s, task) && kube_is_member(s, task) &&
            kube_is_up(s, task->job) && !restore(s, before, s->order[k], -1))
            return false;
    }
    struct sched_passed passed = {.at = KUBE_NOW - 1, .events = 1};
    return sched_restore_passed(s->sched, KUBE_NOW, &passed) == 0;
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
            sched_queue_set(s->sched, KUBE_NOW, s->levels.v[i].path, true, false, NULL);
}

/* Those that wait: of a gang the first one for all. */
static bool submit(struct session *s, uint32_t i)
{
    struct kube_ask ask;
    const struct kube_task *task = &s->w.tasks[i];
    if (kube_is_member(s, task) && kube_is_up(s, task->job))
        return true;
    if (!kube_ask_for(s, i, &ask))
        return true;
    bool good = ask.member > 0 || sched_submit(s->sched, KUBE_NOW, &ask.request) >= 0;
    kube_ask_clear(&ask);
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

/* Whether a pass has decided this about a task. */
static bool is_told(const struct kube_ask *ask, int kind, const struct sched_decision *d, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if ((int)d[k].kind == kind && d[k].tag == ask->request.tag && d[k].member == ask->member)
            return true;
    return false;
}

/* What has become of a task. Tasks that fit start, whatever the actions are: only `allocate` and `backfill` tell. */
static void look(struct session *s, uint32_t i, const struct sched_decision *d, size_t n)
{
    struct kube_ask ask;
    const struct kube_task *task = &s->w.tasks[i];
    if (!task->job || !(kube_runs(task) || kube_is_looked_at(s, task)) || !kube_ask_for(s, i, &ask))
        return;
    sched_job_t job = sched_find(s->sched, ask.id, ask.member);
    int state = job < 0 ? -1 : sched_state(s->sched, job);
    bool tells = kube_has_action(s, "allocate") || kube_has_action(s, "backfill");
    if (state == SCHED_RUNNING && (kube_runs(task) || tells))
        s->began_on[i] = node_of(s, job);
    if (state == SCHED_RESERVED && (ask.request.min == 0 || kube_is_up(s, task->job)))
        s->promised_on[i] = 0;
    s->has_ended[i] |= is_told(&ask, SCHED_PREEMPT, d, n);
    kube_ask_clear(&ask);
}

/* What has become of it after all that was ending has ended. True if it starts or is stopped only now. */
static bool look_again(struct session *s, uint32_t i, const struct sched_decision *d, size_t n)
{
    struct kube_ask ask;
    const struct kube_task *task = &s->w.tasks[i];
    bool waits = task->job && kube_is_looked_at(s, task) && s->began_on[i] < 0;
    if (!waits && !(kube_starves_beyond_min(s) && task->job && kube_runs(task)))
        return false;
    if (!kube_ask_for(s, i, &ask))
        return false;
    bool starts = waits && is_told(&ask, SCHED_START, d, n);
    bool stops = !waits && !s->has_ended[i] && is_told(&ask, SCHED_PREEMPT, d, n);
    if (starts)
        s->promised_on[i] = 0;
    s->has_ended[i] |= stops;
    kube_ask_clear(&ask);
    return starts || stops;
}

static bool pass(struct session *s)
{
    const struct sched_decision *d;
    size_t n;
    if (sched_pass(s->sched, KUBE_NOW, false, &d, &n) < 0)
        return false;
    for (uint32_t i = 0; i < s->w.n_tasks; i++)
        look(s, i, d, n);
    return sched_check(s->sched);
}

/* Have end what is ending, or was told to stop. */
static void finish(struct session *s)
{
    for (uint32_t i = 0; i < s->w.n_tasks; i++) {
        struct kube_ask ask;
        const struct kube_task *task = &s->w.tasks[i];
        if (!(kube_is_ending(task) || s->has_ended[i]) || !kube_ask_for(s, i, &ask))
            continue;
        sched_job_t job = sched_find(s->sched, ask.id, ask.member);
        if (job >= 0 && sched_state(s->sched, job) == SCHED_RUNNING)
            sched_finish(s->sched, KUBE_NOW, job, false);
        kube_ask_clear(&ask);
    }
}

/* Whether a task waits as a member of a gang that has started in the session. */
static bool is_left_of_gang(const struct session *s, uint32_t i)
{
    const struct kube_task *task = &s->w.tasks[i];
    bool waits = task->job && kube_is_looked_at(s, task) && kube_is_member(s, task) &&
                 s->began_on[i] < 0 && s->promised_on[i] < 0;
    bool started = false;
    for (uint32_t k = 0; k < s->w.n_tasks && waits; k++)
        started |= s->w.tasks[k].job == task->job && !kube_runs(&s->w.tasks[k]) &&
                   (s->began_on[k] >= 0 || s->promised_on[k] >= 0);
    return started;
}

/* What a gang still waits for beyond its min has others stopped for it, as tasks on their own. True if any does. */
static bool go_alone(struct session *s)
{
    bool any = false;
    for (size_t k = 0; k < s->w.n_tasks; k++) {
        struct kube_ask ask;
        uint32_t i = s->order[k];
        if (!is_left_of_gang(s, i) || !kube_ask_for(s, i, &ask))
            continue;
        sched_job_t job = sched_find(s->sched, ask.id, ask.member);
        if (job >= 0 && sched_state(s->sched, job) != SCHED_RUNNING)
            sched_cancel(s->sched, KUBE_NOW, job);
        kube_ask_clear(&ask);
        s->is_alone[i] = any = true;
        submit(s, i);
    }
    return any;
}

/* A session gives out what is ending at once, also to what a gang has beyond its min. Here that grows once the others have
 * started: so all that is ending ends, and who starts then is promised it, until nobody is stopped any more.
 */
static bool settle(struct session *s)
{
    for (bool more = true; more;) {
        const struct sched_decision *d;
        size_t n;
        more = false;
        finish(s);
        if (sched_pass(s->sched, KUBE_NOW, false, &d, &n) < 0)
            return false;
        for (uint32_t i = 0; i < s->w.n_tasks; i++)
            more |= look_again(s, i, d, n);
        more |= kube_starves_beyond_min(s) && go_alone(s);
    }
    return sched_check(s->sched);
}

/* Have a task in the queue in which it is to be, unless it was rejected, as it never fits. */
static void move(struct session *s, const struct kube_task *task)
{
    struct kube_ask ask;
    if (!kube_ask_for(s, (uint32_t)(task - s->w.tasks), &ask))
        return;
    sched_job_t job = sched_find(s->sched, ask.id, ask.member);
    if (job >= 0)
        sched_set_queue(s->sched, KUBE_NOW, job, ask.request.queue, NULL);
    kube_ask_clear(&ask);
}

/* Whether a task of a job that waited has been given something, or promised. */
static bool has_any(const struct session *s, const struct kube_job *job)
{
    bool has = false;
    for (uint32_t i = 0; i < s->w.n_tasks; i++) {
        struct kube_ask ask;
        const struct kube_task *task = &s->w.tasks[i];
        if (task->job != job || !kube_is_looked_at(s, task) || !kube_ask_for(s, i, &ask))
            continue;
        sched_job_t found = sched_find(s->sched, ask.id, ask.member);
        int state = found < 0 ? -1 : sched_state(s->sched, found);
        has |= state == SCHED_RUNNING || state == SCHED_RESERVED;
        kube_ask_clear(&ask);
    }
    return has;
}

/* Of jobs whose tasks go one by one, for the one whose turn it was nobody could be stopped: it is the next one's. True if
 * there is any.
 */
static bool try_next(struct session *s)
{
    bool any = false;
    for (size_t j = 0; j < s->w.n_jobs; j++) {
        const struct kube_job *job = &s->w.jobs[j];
        const struct kube_task *task = kube_whose_turn(s, job);
        if (!task || has_any(s, job))
            continue;
        s->has_tried[task - s->w.tasks] = true;
        move(s, task);
        task = kube_whose_turn(s, job);
        if (task)
            move(s, task);
        any |= task != NULL;
    }
    return any;
}

static bool act(struct session *s)
{
    stop_closed(s);
    for (size_t k = 0; k < s->w.n_tasks; k++)
        if (kube_is_looked_at(s, &s->w.tasks[s->order[k]]) && !submit(s, s->order[k]))
            return false;
    bool good = pass(s);
    while (good && try_next(s))
        good = pass(s);
    return good && settle(s);
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
