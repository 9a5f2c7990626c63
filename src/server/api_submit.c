/* POST /v1/jobs: one job, or a list of which all or none are taken. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "server/api.h"
#include "server/job_read.h"
#include "server/job_text.h"

#define USER_BYTES_MAX (INT64_C(1) << 30) /* of jobs that wait or run */

/* Take up what the core made of the request: queue and duration. */
static int take_up(server_t *s, struct job *job, sched_job_t first, berth_error_t *err)
{
    struct sched_record r;
    for (uint32_t i = 0; i < job->members; i++) {
        job->member[i].handle = job->members > 1 ? sched_member(s->sched, first, i) : first;
        if (job->member[i].handle < 0)
            return errtext_set(err, errno, "%s", strerror(errno));
    }
    if (sched_record(s->sched, first, &r) < 0)
        return errtext_set(err, errno, "%s", strerror(errno));
    if (sched_state(s->sched, first) == SCHED_REJECTED)
        return errtext_set(err, EINVAL, "%s", r.reason && *r.reason ? r.reason : "refused");
    job->duration = r.request.duration;
    job->queue = server_name(s, r.request.queue);
    return job->queue ? 0 : errtext_set(err, ENOMEM, "out of memory");
}

static void forget(server_t *s, struct job *job)
{
    for (uint32_t i = job->members; i-- > 0;)
        if (job->member[i].handle >= 0)
            sched_cancel(s->sched, s->now, job->member[i].handle);
}

/* Hand a job to the core, and enter it. On failure it is gone from both, but not destroyed. */
static int submit(struct job_context *c, struct job *job, berth_error_t *err)
{
    server_t *s = c->s;
    struct job_request q;
    struct job_parts parts;
    job_parts(job->request, &parts);
    if (job_request_read(job, c->user, &parts, &q) < 0)
        return errtext_set(err, ENOMEM, "out of memory");
    sched_job_t first = -1;
    int rc = q.dependency ? server_tell_ended(s, q.dependency) : 0;
    if (rc == 0)
        first = sched_submit(s->sched, s->now, &q.request);
    job_request_clear(&q);
    if (first < 0)
        return errtext_set(err, errno, "%s", strerror(errno));
    rc = take_up(s, job, first, err);
    if (rc == 0 && (job_room(s, 0) < 0 || job_enter(s, job) < 0))
        rc = errtext_set(err, ENOMEM, "out of memory");
    if (rc == 0) {
        job_mark(s, job);
        s->happened = true;
        return 0;
    }
    int saved = errno;
    forget(s, job);
    errno = saved;
    return -1;
}

/* Whether one more job may be, and is alike to what the caller may ask for. */
static int may_submit(struct call *c, const struct user *user, const struct job *job,
                      const char *what, berth_error_t *err)
{
    int64_t most = c->s->config->server.max_jobs_per_user;
    if (!c->admin && user->live + job->members > most)
        return errtext_set(err, EAGAIN, "%sat most %" PRId64 " jobs of a user may wait or run",
                           what, most);
    if (!c->admin && user->bytes + (int64_t)job->bytes > USER_BYTES_MAX)
        return errtext_set(err, EAGAIN,
                           "%sthe commands, environments and scripts of a user's jobs may take at "
                           "most 1 GiB",
                           what);
    if (c->s->options.for_all && !c->admin && job->priority > 0)
        return errtext_set(err, EPERM,
                           "%skey \"priority\": only administrators may raise it above 0", what);
    return 0;
}

static int add(struct call *c, struct job_context *context, json_t *object, berth_error_t *err)
{
    server_t *s = c->s;
    struct job *job = job_read(context, object, s->next_job, err);
    if (!job)
        return -1;
    if (may_submit(c, context->user, job, context->what, err) == 0 &&
        submit(context, job, err) == 0) {
        s->next_job++;
        server_event(s, job->id, -1, "submitted", NULL);
        return 0;
    }
    int saved = errno;
    if (*context->what && strncmp(err->text, "request: ", 9) != 0) {
        berth_error_t why = *err;
        errtext_set(err, saved, "%s%.230s", context->what, why.text);
    }
    job_discard(s, job);
    errno = saved;
    return -1;
}

/* Take back what came before the one that was refused. */
static void take_back(server_t *s, int64_t first)
{
    while (s->next_job > first) {
        struct job *job = job_lookup(s, --s->next_job);
        s->n_dirty_jobs--; /* they were marked in this order, and nothing since */
        free(s->events[--s->n_events].data);
        forget(s, job);
        job_leave(s, job);
    }
}

static int add_all(struct call *c, struct job_context *context)
{
    char what[40];
    berth_error_t why = {""};
    int64_t first = c->s->next_job;
    size_t i;
    json_t *object;
    context->what = what;
    if (!strbuf_room(c->out, json_array_size(c->body) * (STRBUF_NUMBER_MAX + 1) + 20))
        return api_refuse(c, 503, NULL, "out of memory"); /* and not when they are there */
    json_array_foreach(c->body, i, object)
    {
        snprintf(what, sizeof(what), "jobs[%zu]: ", i);
        if (add(c, context, object, &why) == 0)
            continue;
        int saved = errno;
        take_back(c->s, first);
        errno = saved;
        return api_wrong(c, &why);
    }
    strbuf_puts(c->out, "{\"ids\":[");
    for (int64_t id = first; id < c->s->next_job; id++) {
        strbuf_puts(c->out, id > first ? "," : "");
        strbuf_put_int(c->out, id);
    }
    strbuf_puts(c->out, "]}\n");
    return 0;
}

static int add_one(struct call *c, struct job_context *context)
{
    berth_error_t why = {""};
    context->what = "";
    if (add(c, context, c->body, &why) < 0)
        return api_wrong(c, &why);
    strbuf_puts(c->out, "{\"id\":");
    strbuf_put_int(c->out, c->s->next_job - 1);
    strbuf_puts(c->out, "}\n");
    return 0;
}

void api_jobs_post(struct call *c)
{
    struct job_context context = {.s = c->s, .user = user_find(c->s, c->request->peer.uid)};
    int rc;
    if (!context.user && errno == ENOMEM) {
        api_refuse(c, 503, NULL, "out of memory");
        return;
    }
    if (!context.user) {
        api_refuse(c, 403, NULL, "user %lu is not known here", (unsigned long)c->request->peer.uid);
        return;
    }
    if (json_array_size(c->body) > API_JOBS_MAX)
        rc = api_refuse(c, 413, NULL, "more than %d jobs at once", API_JOBS_MAX);
    else
        rc = json_is_array(c->body) ? add_all(c, &context) : add_one(c, &context);
    shared_leave(context.environment);
    shared_leave(context.script);
    if (rc < 0)
        return;
    c->reply->status = 201;
    c->reply->wait = true;
}
