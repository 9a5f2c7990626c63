/* Actions on jobs: cancel, signal, requeue, change, hold, release. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "config/keys.h"
#include "config/quantity.h"
#include "server/api/api.h"
#include "server/api/call_work.h"
#include "server/api/job_read.h"
#include "server/core/job_text.h"

#define CANCEL_STEPS 5 /* its end is stored, with an event */

/* {"by": "ann"} */
static char *event_by(const struct call *c)
{
    struct user *user = user_find(c->s, c->request->peer.uid);
    return event_text("by", user ? user->name : NULL);
}

/* ---- Cancel ---- */

static int cancel_member(struct call *c, struct progress *p, struct job *job, uint32_t i)
{
    server_t *s = c->s;
    (void)p;
    if (member_look(job, i)->state == STORE_PENDING) {
        member_recover_handle(s, job, i);
        if (!member_make(s, job, i) || member_split(s, job, i) < 0)
            return api_refuse(c, 503, NULL, "out of memory");
        struct member *m = member_record(job, i);
        m->cancelled = true;
        if (m->handle >= 0)
            sched_cancel(s->sched, s->clock.now, m->handle);
        member_event(s, job, i, "cancelled", event_by(c));
        member_end(s, job, i, STORE_CANCELLED, "cancelled");
        return 0;
    }
    struct member *m = member_record(job, i);
    if (m->cancelled)
        return 0;
    m->cancelled = true;
    member_changed(s, job, i);
    member_event(s, job, i, "cancelling", event_by(c));
    if (m->run)
        run_stop(s, m->run);
    return 0;
}

int api_cancel(struct call *c, struct progress *p, size_t *steps)
{
    int rc = api_members(c, p, steps, CANCEL_STEPS, cancel_member);
    if (rc > 0)
        api_done(c);
    return rc != 0;
}

/* ---- Signal and requeue ---- */

static int signal_member(struct call *c, struct progress *p, struct job *job, uint32_t i)
{
    struct run *run = member_look(job, i)->run;
    if (member_look(job, i)->state != STORE_RUNNING || !run)
        return 0;
    if (run_reserve_signals(c->s, 1) < 0)
        return api_refuse(c, 503, NULL, "out of memory");
    run_signal(c->s, run, p->signal, false);
    p->any = true;
    return 0;
}

static int read_signal_body(struct call *c, int *signal)
{
    struct {
        json_t *signal;
    } in = {NULL};
    static const struct key keys[] = {{.name = "signal", .type = KEY_ANY, .at = 0, .needed = true}};
    const struct key_table table = {"", keys, 1};
    const struct key_place place = {"request", 0};
    berth_error_t why = {""};
    if (!json_is_object(c->body))
        return api_refuse(c, 400, NULL, "expected an object");
    if (keys_read(c->body, &table, &place, &in, &why) < 0 ||
        (!signal_read(in.signal, signal) &&
         keys_wrong(&place, "", "signal", in.signal, "a signal such as \"USR1\"", &why) < 0))
        return api_wrong(c, &why);
    return 0;
}

int api_signal_check(struct call *c)
{
    int signal;
    return read_signal_body(c, &signal);
}

int api_signal(struct call *c, struct progress *p, size_t *steps)
{
    if (!p->begun && (!api_job(c) || read_signal_body(c, &p->signal) < 0))
        return 1;
    int rc = api_members(c, p, steps, 1, signal_member);
    if (rc > 0 && p->any)
        api_done(c);
    else if (rc > 0)
        api_refuse(c, 409, NULL, "job %s is not running", c->rest);
    return rc != 0;
}

static int requeue_member(struct call *c, struct progress *p, struct job *job, uint32_t i)
{
    struct member *m = member_record(job, i);
    p->any = p->any || (m && m->run);
    if (!m || (m->state != STORE_RUNNING && m->state != STORE_STARTING) || m->cancelled || !m->run)
        return 0;
    m->preempted = m->requeue = true;
    member_changed(c->s, job, i);
    member_event(c->s, job, i, "requeuing", event_by(c));
    run_stop(c->s, m->run);
    return 0;
}

int api_requeue(struct call *c, struct progress *p, size_t *steps)
{
    int rc = api_members(c, p, steps, 1, requeue_member);
    if (rc > 0 && p->any)
        api_done(c);
    else if (rc > 0)
        api_refuse(c, 409, NULL, "job %s is not running", c->rest);
    return rc != 0;
}

/* ---- Changes ---- */

static const struct key change_keys[] = {
    KEY_OF(struct api_change, priority, KEY_WHOLE, .min = -SCHED_PRIORITY_MAX,
           .max = SCHED_PRIORITY_MAX),
    KEY_AS(struct api_change, limit, "duration", KEY_DURATION, .max = JOB_DURATION_MAX,
           .word = "unlimited"),
    KEY_AS(struct api_change, limit, "limit", KEY_DURATION, .max = JOB_DURATION_MAX,
           .word = "unlimited"),
    KEY_AS(struct api_change, estimate, "estimate", KEY_DURATION, .max = JOB_DURATION_MAX,
           .word = "unknown"),
    KEY_OF(struct api_change, queue, KEY_TEXT),
    KEY_OF(struct api_change, hold, KEY_ANY),
};

static int read_change(struct call *c, struct api_change *to)
{
    const struct key_table table = {"", change_keys, sizeof(change_keys) / sizeof(*change_keys)};
    const struct key_place place = {"request", 0};
    berth_error_t why = {""};
    if (!json_is_object(c->body))
        return api_refuse(c, 400, NULL, "expected an object");
    if (keys_read(c->body, &table, &place, to, &why) < 0)
        return api_wrong(c, &why);
    to->has_priority = json_is_integer(json_object_get(c->body, "priority"));
    if (to->hold && !json_is_boolean(to->hold)) {
        keys_wrong(&place, "", "hold", to->hold, "true or false", &why);
        return api_wrong(c, &why);
    }
    if (to->queue && !machine_queue(c->s, to->queue))
        return api_refuse(c, 400, "queue", "there is no queue \"%.100s\"", to->queue);
    return 0;
}

int api_change_check(struct call *c)
{
    struct api_change to = {0};
    return read_change(c, &to);
}

/* Check that the change is allowed, before anything is changed. */
static int check_change(struct call *c, const struct job *job, const struct api_change *to)
{
    if (c->member >= 0)
        return api_refuse(c, 400, NULL,
                          "the members of an array are changed together: name job %lld",
                          (long long)job->id);
    if ((to->has_priority || to->queue || to->hold) && job->counts[STORE_PENDING] == 0)
        return api_refuse(c, 409, NULL, "job %lld is already running", (long long)job->id);
    if (to->queue && job_running(job) > 0)
        return api_refuse(c, 409, "queue", "job %lld has members that are already running",
                          (long long)job->id);
    if (c->s->options.for_all && !c->admin && to->has_priority && to->priority > 0 &&
        to->priority > job->priority)
        return api_refuse(c, 403, "priority", "only administrators may raise a priority above 0");
    if (to->limit > job->limit && job_running(job) > 0 && c->s->options.for_all && !c->admin)
        return api_refuse(c, 403, "duration",
                          "only administrators may give a running job more time");
    return 0;
}

static bool changes_time(const struct api_change *to)
{
    return to->limit > 0 || to->estimate > 0;
}

/* A limit alone is the estimate too, as it is of a job that is submitted with it. */
static void set_times(struct job *job, const struct api_change *to)
{
    if (to->limit > 0)
        job->limit = to->limit;
    if (to->estimate > 0)
        job->estimate = to->estimate;
    else if (to->limit > 0 && to->limit < SCHED_UNLIMITED)
        job->estimate = to->limit;
}

/* Apply the job's changed properties to a handle of it. Returns 0, or -1 with a text and its key. */
static int change_in_core(server_t *s, const struct job *job, sched_job_t handle, bool waits,
                          const struct api_change *to, const char **key, berth_error_t *why)
{
    *key = NULL;
    if (handle < 0)
        return 0;
    if (waits && to->queue && sched_set_queue(s->sched, s->clock.now, handle, job->queue, why) < 0)
        return -1;
    if (changes_time(to) &&
        sched_set_duration(s->sched, s->clock.now, handle, job->limit, job->estimate, why) < 0)
        return -1;
    *key = "priority";
    if (waits && to->has_priority &&
        sched_prioritize(s->sched, s->clock.now, handle, job->priority) < 0)
        return errtext_set(why, errno, "%s", strerror(errno));
    *key = "hold";
    if (waits && to->hold &&
        (job->held ? sched_hold(s->sched, s->clock.now, handle)
                   : sched_release(s->sched, s->clock.now, handle)) < 0)
        return errtext_set(why, errno, "out of memory");
    return 0;
}

/* The same for all members that wait in an array's entry. */
static int change_entry(server_t *s, struct job *job, const struct api_change *to, const char **key,
                        berth_error_t *why)
{
    int rc = change_in_core(s, job, job->entry, true, to, key, why);
    int saved = errno;
    entry_follow(s, job); /* the reservation that the core dropped must leave the store */
    errno = saved;
    return rc;
}

/* The same for a member, unless it waits in the entry. */
static int change_member(server_t *s, struct job *job, uint32_t i, const struct api_change *to,
                         const char **key, berth_error_t *why)
{
    struct member *m = member_record(job, i);
    *key = NULL;
    if (!m || !member_is_live(m) || member_is_in_entry(job, i))
        return 0;
    if (m->unstarted)
        return errtext_set(why, ENOMEM, "out of memory");
    bool waits = m->state == STORE_PENDING;
    if (change_in_core(s, job, m->handle, waits, to, key, why) < 0)
        return -1;
    if (changes_time(to) && m->run) {
        member_changed(s, job, i);
        run_arm_timer(s, m->run);
    }
    if (waits && m->reserved && sched_state(s->sched, m->handle) != SCHED_RESERVED) {
        member_changed(s, job, i); /* as above */
        m->reserved = false;
        m->at = -1;
    }
    return 0;
}

static void set_held(server_t *s, struct job *job, bool held)
{
    if (job->held != held)
        s->table.n_held +=
            held ? job->counts[STORE_PENDING] : (size_t)0 - job->counts[STORE_PENDING];
    job->held = held;
}

/* Check the change, and change the job. Returns 0, or -1 and the call is refused. */
static int change_begin(struct call *c, struct progress *p)
{
    struct api_change *to = &p->to;
    struct job *job = api_job(c);
    if (!job || read_change(c, to) < 0 || check_change(c, job, to) < 0)
        return -1;
    const char *queue = to->queue ? server_intern_name(c->s, to->queue) : NULL;
    if ((to->queue && !queue) || entry_find_parts(c->s, job) < 0)
        return api_refuse(c, 503, NULL, "out of memory");
    p->begun = true;
    p->was.queue = job->queue;
    p->was.priority = job->priority;
    p->was.limit = job->limit;
    p->was.estimate = job->estimate;
    p->was.held = job->held;
    to->queue = queue;
    if (queue)
        job->queue = queue;
    if (to->has_priority)
        job->priority = to->priority;
    set_times(job, to);
    if (to->hold)
        set_held(c->s, job, json_is_true(to->hold));
    job_changed(c->s, job); /* now, as the job may end before all its members are changed */
    return 0;
}

/* Undo the change of the job, except where it was changed again since. Its members follow. */
static void change_back(server_t *s, struct job *job, struct progress *p)
{
    const struct api_change *to = &p->to;
    p->goes_back = true;
    if (to->queue && job->queue == to->queue)
        job->queue = p->was.queue;
    if (to->has_priority && job->priority == to->priority)
        job->priority = p->was.priority;
    struct job changed = {.limit = p->was.limit, .estimate = p->was.estimate};
    set_times(&changed, to);
    if (job->limit == changed.limit && job->estimate == changed.estimate) {
        job->limit = p->was.limit;
        job->estimate = p->was.estimate;
    }
    if (to->hold && job->held == json_is_true(to->hold))
        set_held(s, job, p->was.held);
    job_changed(s, job);
}

static void change_end(struct call *c, const struct api_change *to)
{
    if (to->hold)
        server_event(c->s, c->id, -1, json_is_true(to->hold) ? "held" : "released", event_by(c));
    if (to->queue || changes_time(to) || to->has_priority)
        server_event(c->s, c->id, -1, "changed", json_dumps(c->body, JSON_COMPACT));
}

/* Go on to the next of those that are changed one by one: an array's entry first, and then the members that
 * have handles of their own. False: there are no more.
 */
static bool next_change(const struct job *job, struct progress *p)
{
    return !p->entry || (p->next = member_next_own(job, p->next)) < job->members;
}

static int change_next(server_t *s, struct job *job, const struct progress *p, const char **key,
                       berth_error_t *why)
{
    return p->entry ? change_member(s, job, p->next, &p->to, key, why)
                    : change_entry(s, job, &p->to, key, why);
}

/* Change one member after the other; if one can't be changed, undo all before it. */
int api_change(struct call *c, struct progress *p, size_t *steps)
{
    berth_error_t why = {""};
    const char *key;
    if (!p->begun && change_begin(c, p) < 0)
        return 1;
    struct job *job = job_lookup(c->s, c->id);
    for (; job && !p->goes_back && next_change(job, p); p->next += p->entry, p->entry = true) {
        if (*steps == 0)
            return 0;
        work_spend(steps, 1);
        if (change_next(c->s, job, p, &key, &why) == 0)
            continue;
        if (key || errno == ENOMEM)
            api_refuse(c, errno == ENOMEM ? 503 : 400, key, "%s", why.text);
        else
            api_wrong(c, &why);
        change_back(c->s, job, p);
        break;
    }
    for (; job && p->goes_back && p->next > 0; p->next--) {
        if (*steps == 0)
            return 0;
        if (p->next < job->members && member_record(job, p->next)) {
            work_spend(steps, 1);
            change_member(c->s, job, p->next, &p->to, &key, &why);
        }
    }
    if (job && p->goes_back) {
        change_member(c->s, job, 0, &p->to, &key, &why);
        change_entry(c->s, job, &p->to, &key, &why);
    }
    if (p->goes_back)
        return 1;
    change_end(c, &p->to);
    api_done(c);
    return 1;
}

/* ---- Routes of one job ---- */

struct single {
    struct call_work work;
    api_action *action;
    struct progress progress;
};

static int single_step(struct server_work *work, size_t *steps)
{
    struct single *w = (struct single *)work;
    return w->action(&w->work.call, &w->progress, steps);
}

static void start_single(struct call *c, api_action *action)
{
    struct single *w = (struct single *)call_work_make(c, sizeof(*w));
    if (!w)
        return;
    w->work.work.go = single_step;
    w->action = action;
    call_work_start(c, &w->work);
}

void api_job_delete(struct call *c)
{
    start_single(c, api_cancel);
}

void api_job_signal(struct call *c)
{
    start_single(c, api_signal);
}

void api_job_requeue(struct call *c)
{
    start_single(c, api_requeue);
}

void api_job_patch(struct call *c)
{
    start_single(c, api_change);
}
