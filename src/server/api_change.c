/* What becomes of jobs: changed, held, released, cancelled, requeued, sent a signal. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/errtext.h"
#include "config/keys.h"
#include "server/api.h"
#include "server/job_read.h"
#include "server/job_text.h"

static int64_t shown_member(const struct job *job, uint32_t member)
{
    return job->members > 1 ? (int64_t)member : -1;
}

static int failed(struct call *c, const berth_error_t *why)
{
    return api_wrong(c, why);
}

/* {"by": "ann"} */
static char *by(const struct call *c)
{
    struct strbuf data = {0};
    struct user *user = user_find(c->s, c->request->peer.uid);
    strbuf_puts(&data, "{\"by\":");
    text_put(&data, user ? user->name : NULL);
    strbuf_putc(&data, '}');
    return strbuf_steal(&data);
}

/* ---- Cancel ---- */

static int cancel_member(struct call *c, struct job *job, uint32_t i)
{
    server_t *s = c->s;
    struct member *m = &job->member[i];
    if (m->state == STORE_PENDING) {
        m->cancelled = true;
        if (m->handle >= 0)
            sched_cancel(s->sched, s->now, m->handle);
        server_event(s, job->id, shown_member(job, i), "cancelled", by(c));
        member_end(s, job, i, STORE_CANCELLED, "cancelled");
        s->happened = true;
        return 0;
    }
    if (m->cancelled)
        return 0;
    m->cancelled = true;
    member_mark(s, job, i);
    server_event(s, job->id, shown_member(job, i), "cancelling", by(c));
    if (m->run)
        run_stop(s, m->run);
    return 0;
}

void api_job_delete(struct call *c)
{
    struct job *job = api_job(c);
    if (job && api_members(c, job, cancel_member) == 0)
        api_done(c);
}

/* ---- Signal and requeue ---- */

struct signalled {
    struct call call;
    int signal;
    bool any;
};

static int signal_member(struct call *c, struct job *job, uint32_t i)
{
    struct signalled *to = (struct signalled *)c;
    struct run *run = job->member[i].run;
    if (job->member[i].state != STORE_RUNNING || !run)
        return 0;
    if (run_signals(c->s, 1) < 0)
        return api_refuse(c, 503, NULL, "out of memory");
    run_signal(c->s, run, to->signal, false);
    to->any = true;
    return 0;
}

static int read_signal(struct call *c, int *signal)
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
        return failed(c, &why);
    return 0;
}

int api_signal_check(struct call *c)
{
    int signal;
    return read_signal(c, &signal);
}

void api_job_signal(struct call *c)
{
    struct signalled to = {.call = *c};
    struct job *job = api_job(c);
    if (!job || read_signal(c, &to.signal) < 0)
        return;
    if (api_members(&to.call, job, signal_member) < 0)
        return;
    if (to.any)
        api_done(c);
    else
        api_refuse(c, 409, NULL, "job %s doesn't run", c->rest);
}

static int requeue_member(struct call *c, struct job *job, uint32_t i)
{
    struct member *m = &job->member[i];
    if ((m->state != STORE_RUNNING && m->state != STORE_STARTING) || m->cancelled || !m->run)
        return 0;
    m->preempted = m->requeue = true;
    member_mark(c->s, job, i);
    server_event(c->s, job->id, shown_member(job, i), "requeuing", by(c));
    run_stop(c->s, m->run);
    return 0;
}

void api_job_requeue(struct call *c)
{
    struct job *job = api_job(c);
    bool any = false;
    if (!job)
        return;
    for (uint32_t i = 0; i < job->members; i++)
        any = any || ((c->member < 0 || c->member == i) && job->member[i].run &&
                      member_is_live(&job->member[i]));
    if (!any)
        api_refuse(c, 409, NULL, "job %s doesn't run", c->rest);
    else if (api_members(c, job, requeue_member) == 0)
        api_done(c);
}

/* ---- Changes ---- */

struct change {
    int64_t priority;
    json_t *duration_value;
    const char *queue;
    json_t *hold;
    bool has_priority;
    int64_t duration;
};

static const struct key change_keys[] = {
    {.name = "priority",
     .type = KEY_WHOLE,
     .at = offsetof(struct change, priority),
     .min = -SCHED_PRIORITY_MAX,
     .max = SCHED_PRIORITY_MAX},
    {.name = "duration", .type = KEY_ANY, .at = offsetof(struct change, duration_value)},
    {.name = "queue", .type = KEY_TEXT, .at = offsetof(struct change, queue)},
    {.name = "hold", .type = KEY_ANY, .at = offsetof(struct change, hold)},
};

static int read_change(struct call *c, struct change *to)
{
    const struct key_table table = {"", change_keys, sizeof(change_keys) / sizeof(*change_keys)};
    const struct key_place place = {"request", 0};
    berth_error_t why = {""};
    if (!json_is_object(c->body))
        return api_refuse(c, 400, NULL, "expected an object");
    if (keys_read(c->body, &table, &place, to, &why) < 0)
        return failed(c, &why);
    to->has_priority = json_is_integer(json_object_get(c->body, "priority"));
    if (to->duration_value && !duration_read(to->duration_value, &to->duration)) {
        keys_wrong(&place, "", "duration", to->duration_value, "a time such as \"90m\"", &why);
        return failed(c, &why);
    }
    if (to->hold && !json_is_boolean(to->hold)) {
        keys_wrong(&place, "", "hold", to->hold, "true or false", &why);
        return failed(c, &why);
    }
    if (to->queue && !machine_queue(c->s, to->queue))
        return api_refuse(c, 400, "queue", "there is no queue \"%.100s\"", to->queue);
    return 0;
}

int api_change_check(struct call *c)
{
    struct change to = {0};
    return read_change(c, &to);
}

static bool is_pending(const struct job *job)
{
    for (uint32_t i = 0; i < job->members; i++)
        if (job->member[i].state == STORE_PENDING)
            return true;
    return false;
}

static bool runs_any(const struct job *job)
{
    for (uint32_t i = 0; i < job->members; i++)
        if (member_is_live(&job->member[i]) && job->member[i].state != STORE_PENDING)
            return true;
    return false;
}

/* Whether the change may be, before anything is changed. */
static int check_change(struct call *c, const struct job *job, const struct change *to)
{
    if (c->member >= 0)
        return api_refuse(c, 400, NULL, "members of an array are changed together: name job %lld",
                          (long long)job->id);
    if ((to->has_priority || to->queue || to->hold) && !is_pending(job))
        return api_refuse(c, 409, NULL, "job %lld runs already", (long long)job->id);
    if (to->queue && runs_any(job))
        return api_refuse(c, 409, "queue", "some of job %lld runs already", (long long)job->id);
    if (c->s->options.for_all && !c->admin && to->has_priority && to->priority > 0 &&
        to->priority > job->priority)
        return api_refuse(c, 403, "priority", "only administrators may raise a priority above 0");
    if (to->duration > job->duration && runs_any(job) && c->s->options.for_all && !c->admin)
        return api_refuse(c, 403, "duration",
                          "only administrators may give a running job more time");
    return 0;
}

static int set_queue(struct call *c, struct job *job, const char *queue)
{
    server_t *s = c->s;
    berth_error_t why = {""};
    const char *name = server_name(s, queue);
    if (!name)
        return api_refuse(c, 503, NULL, "out of memory");
    for (uint32_t i = 0; i < job->members; i++) {
        if (job->member[i].state != STORE_PENDING)
            continue;
        if (sched_set_queue(s->sched, s->now, job->member[i].handle, queue, &why) == 0)
            continue;
        int saved = errno;
        while (i-- > 0) /* back again */
            if (job->member[i].state == STORE_PENDING)
                sched_set_queue(s->sched, s->now, job->member[i].handle, job->queue, NULL);
        errno = saved;
        return failed(c, &why);
    }
    job->queue = name;
    return 0;
}

static int set_duration(struct call *c, struct job *job, int64_t duration)
{
    server_t *s = c->s;
    berth_error_t why = {""};
    for (uint32_t i = 0; i < job->members; i++) {
        struct member *m = &job->member[i];
        if (!member_is_live(m) || m->handle < 0)
            continue;
        if (sched_set_duration(s->sched, s->now, m->handle, duration, &why) == 0)
            continue;
        int saved = errno;
        while (i-- > 0)
            if (member_is_live(&job->member[i]) && job->member[i].handle >= 0)
                sched_set_duration(s->sched, s->now, job->member[i].handle, job->duration, NULL);
        errno = saved;
        return failed(c, &why);
    }
    job->duration = duration;
    job->limited = true;
    for (uint32_t i = 0; i < job->members; i++) {
        if (!job->member[i].run || !member_is_live(&job->member[i]))
            continue;
        member_mark(s, job, i);
        run_watch(s, job->member[i].run);
    }
    return 0;
}

static int hold_member(server_t *s, struct job *job, uint32_t i, bool hold)
{
    struct member *m = &job->member[i];
    if (m->state != STORE_PENDING || m->handle < 0)
        return 0;
    return hold ? sched_hold(s->sched, s->now, m->handle)
                : sched_release(s->sched, s->now, m->handle);
}

static int set_hold(struct call *c, struct job *job, bool hold)
{
    server_t *s = c->s;
    for (uint32_t i = 0; i < job->members; i++) {
        if (hold_member(s, job, i, hold) == 0)
            continue;
        while (job->held != hold && i-- > 0) /* back again */
            hold_member(s, job, i, !hold);
        s->happened = true;
        return api_refuse(c, 503, "hold", "out of memory");
    }
    for (uint32_t i = 0; hold && i < job->members; i++) {
        struct member *m = &job->member[i];
        if (m->state != STORE_PENDING || m->handle < 0)
            continue;
        if (m->reserved)
            member_mark(s, job, i);
        m->reserved = false;
        m->at = -1;
    }
    if (job->held != hold)
        s->n_held += hold ? job->live : (size_t)0 - job->live;
    job->held = hold;
    server_event(s, job->id, -1, hold ? "held" : "released", by(c));
    return 0;
}

static int set_priority(struct call *c, struct job *job, int64_t priority)
{
    server_t *s = c->s;
    for (uint32_t i = 0; i < job->members; i++)
        if (job->member[i].state == STORE_PENDING && job->member[i].handle >= 0 &&
            sched_prioritize(s->sched, s->now, job->member[i].handle, priority) < 0)
            return api_refuse(c, errno == ENOMEM ? 503 : 400, "priority", "%s", strerror(errno));
    job->priority = priority;
    return 0;
}

/* What was changed before something that could not be is changed back. */
static void change_back(struct call *c, struct job *job, const struct change *to,
                        const struct job *was)
{
    struct call quiet = *c;
    struct server_reply ignored = {0};
    quiet.reply = &ignored;
    quiet.out = &ignored.body;
    if (to->queue)
        set_queue(&quiet, job, was->queue);
    if (to->has_priority)
        set_priority(&quiet, job, was->priority);
    if (to->duration > 0 && job->duration != was->duration)
        set_duration(&quiet, job, was->duration);
    job->limited = was->limited;
    strbuf_clear(&ignored.body);
}

void api_job_patch(struct call *c)
{
    struct change to = {0};
    struct job *job = api_job(c);
    if (!job || read_change(c, &to) < 0 || check_change(c, job, &to) < 0)
        return;
    struct job was = *job;
    if (to.queue && set_queue(c, job, to.queue) < 0)
        return;
    if ((to.has_priority && set_priority(c, job, to.priority) < 0) ||
        (to.duration > 0 && set_duration(c, job, to.duration) < 0) ||
        (to.hold && set_hold(c, job, json_is_true(to.hold)) < 0)) {
        change_back(c, job, &to, &was);
        return;
    }
    if (to.queue || to.duration > 0 || to.has_priority) {
        char *data = json_dumps(c->body, JSON_COMPACT);
        server_event(c->s, job->id, -1, "changed", data);
    }
    job_mark(c->s, job);
    c->s->happened = true;
    api_done(c);
}
