/* Actions on jobs: cancel, signal, requeue; and the routes of one job. */
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "config/keys.h"
#include "config/quantity.h"
#include "server/api/api.h"
#include "server/api/call_work.h"
#include "server/api/job_read.h"
#include "server/core/cancel.h"
#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/users.h"

#define CANCEL_STEPS 5 /* its end is stored, with an event */

char *api_event_by(const struct call *c)
{
    struct user *user = user_find(c->s, c->request->peer.uid);
    return event_text("by", user ? user->name : NULL);
}

void api_event_body(const struct call *c, const char *kind, const char *key, const char *name)
{
    const struct user *user = user_find(c->s, c->request->peer.uid);
    json_t *data = json_is_object(c->body) ? json_copy(c->body) : json_object();
    if (data && key)
        json_object_set_new(data, key, json_string(name));
    if (data && user)
        json_object_set_new(data, "by", json_string(user->name));
    server_event(c->s, c->id, c->id > 0 ? c->member : -1, kind,
                 data ? json_dumps(data, JSON_COMPACT) : NULL);
    json_decref(data);
}

/* ---- Cancel ---- */

/* By the caller. */
static struct cancel by_caller(const struct call *c)
{
    const struct user *user = user_find(c->s, c->request->peer.uid);
    return (struct cancel){"cancelled", "by", user ? user->name : NULL};
}

static int cancel_member(struct call *c, struct progress *p, struct job *job, uint32_t i)
{
    struct cancel how = by_caller(c);
    (void)p;
    return member_cancel(c->s, job, i, &how) < 0 ? api_refuse(c, 503, NULL, "out of memory") : 0;
}

/* Returns 0, or -1 and the call is refused. */
static int cancel_entry(struct call *c, struct job *job)
{
    struct cancel how = by_caller(c);
    return entry_cancel(c->s, job, &how) < 0 ? api_refuse(c, 503, NULL, "out of memory") : 0;
}

/* Whether what waits in the entry is to be cancelled as a whole. */
static bool cancels_entry(const struct call *c, const struct progress *p, const struct job *job)
{
    if (!job || c->member >= 0 || job->members == 1 || job->entry < 0 || job->is_behind)
        return false;
    return !p->states || (job->held ? p->states->held : p->states->pending);
}

int api_cancel(struct call *c, struct progress *p, size_t *steps)
{
    struct job *job = p->begun ? NULL : api_job(c);
    if (!p->begun && !job)
        return 1;
    if (cancels_entry(c, p, job) && cancel_entry(c, job) < 0)
        return 1;
    int rc = api_members(c, p, steps, CANCEL_STEPS, cancel_member);
    if (rc > 0)
        api_done(c);
    return rc != 0;
}

/* ---- Signal and requeue ---- */

static int signal_member(struct call *c, struct progress *p, struct job *job, uint32_t i)
{
    const struct member *m = member_look(job, i);
    struct run *run = m->run;
    bool takes = m->state == STORE_RUNNING || m->state == STORE_STARTING;
    if (!takes || !run || !run->in_engine) /* the engine has a signal wait for the start */
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
    member_event(c->s, job, i, "requeuing", api_event_by(c));
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

static void single_clear(struct server_work *work)
{
    progress_clear(&((struct single *)work)->progress);
}

static void start_single(struct call *c, api_action *action)
{
    struct single *w = (struct single *)call_work_make(c, sizeof(*w));
    if (!w)
        return;
    w->work.work.go = single_step;
    w->work.clear = single_clear;
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
