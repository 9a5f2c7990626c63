/* POST /v1/jobs: one job, or a list (bulk.c). */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/errtext.h"
#include "base/json_out.h"
#include "berth/sched_query.h"
#include "config/seconds.h"
#include "server/api/api.h"
#include "server/api/bulk.h"
#include "server/api/job_read.h"
#include "server/core/machine.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/users.h"
#include "server/core/work.h"

#define USER_BYTES_MAX (INT64_C(1) << 30) /* of requests of pending and running jobs, in memory */

/* Admit a job to the core and insert it into the table. On failure it is in neither, but not freed. */
static int submit_job(struct job_context *c, struct job *job, size_t *steps, berth_error_t *err)
{
    server_t *s = c->s;
    if (admit_job(s, job, false, err) < 0)
        return -1;
    work_spend(steps, 1);
    if (unsaved_reserve(s, 0) < 0 || job_insert(s, job) < 0) {
        job_withdraw(s, job);
        return errtext_no_memory(err);
    }
    job_changed(s, job);
    return 0;
}

int api_may_submit(struct call *c, struct user *user, const struct job *job, berth_error_t *err)
{
    int64_t most = c->s->config->server.max_jobs_per_user;
    if (c->admin)
        return 0;
    if (user->live + member_count(job) > most)
        return errtext_set(err, EAGAIN,
                           "at most %" PRId64 " job%s per user may be pending or running", most,
                           most == 1 ? "" : "s");
    if (user->bytes + (int64_t)job->bytes > USER_BYTES_MAX)
        return errtext_set(
            err, EAGAIN,
            "the requests of a user's pending and running jobs may take at most 1 GiB");
    if (c->s->options.for_all && job->priority > 0)
        return errtext_set(err, EPERM,
                           "key \"priority\": only administrators may raise it above 0");
    return user_make_room(c->s, user, job->weight, member_count(job), &c->slices, err);
}

/* When it would start, as of now, and why not at once. */
static void put_test(struct call *c, const struct job *job)
{
    server_t *s = c->s;
    struct json_out out = {.text = c->out};
    struct sched_annotation a;
    char reason[SCHED_REASON_TEXT];
    sched_job_t handle = member_handle(job, member_next(job, 0));
    bool known = sched_annotate_new(s->sched, handle, &a) == 0;
    bool now = known && a.start >= 0 && a.start <= s->clock.now;
    json_open(&out, NULL, '{');
    json_put_bool(&out, "now", now);
    json_put_seconds(&out, "start", known ? server_wall_time(s, a.start) : -1);
    json_put_bool(&out, "not_before", known && a.not_before);
    json_put_bool(&out, "expected", known && a.expected);
    json_put_text(&out, "reason",
                  known && !now && a.reason.kind != SCHED_REASON_NONE
                      ? sched_reason_text(&a.reason, reason)
                      : NULL);
    strbuf_puts(c->out, "}\n");
}

/* Admit it as any other, look, and withdraw it. */
static int test_job(struct call *c, struct user *user, struct job *job, berth_error_t *err)
{
    if (api_may_submit(c, user, job, err) < 0 || admit_job(c->s, job, false, err) < 0)
        return -1;
    put_test(c, job);
    job_withdraw(c->s, job);
    return 0;
}

static int read_and_submit(struct call *c, struct job_context *context, size_t *steps,
                           berth_error_t *err)
{
    server_t *s = c->s;
    struct job *job = job_read(context, c->body, s->table.next, err);
    if (!job)
        return -1;
    if (job->is_test) {
        int rc = test_job(c, context->user, job, err), failed = errno;
        job_discard(s, job);
        errno = failed;
        return rc;
    }
    if (api_may_submit(c, context->user, job, err) == 0 &&
        submit_job(context, job, steps, err) == 0) {
        s->table.next++;
        server_event(s, job->id, -1, "submitted", NULL);
        return 0;
    }
    int saved = errno;
    job_discard(s, job);
    errno = saved;
    return -1;
}

/* A job without a limit is stopped when a block begins: who submits it is told of the next one. */
static void put_next_block(const server_t *s, int64_t id, struct json_out *out)
{
    const struct job *job = job_lookup(s, id);
    const char *block;
    int64_t at =
        job ? sched_stop_time(s->sched, member_handle(job, member_next(job, 0)), &block) : -1;
    if (at < 0)
        return;
    json_open(out, "stopped", '{');
    json_put_string(out, "block", block);
    json_put_seconds(out, "at", blocks_wall_time(s, at));
    json_close(out, '}');
}

static void submit_one(struct call *c, struct user *user)
{
    berth_error_t why = {""};
    struct job_context context = {.s = c->s, .user = user, .what = "", .may_test = true};
    size_t given = work_allowance(c->s, user->uid), steps = given;
    int rc = read_and_submit(c, &context, &steps, &why);
    if (rc < 0)
        api_wrong(c, &why);
    work_allowance_used(c->s, given - steps);
    shared_text_release(context.environment);
    shared_text_release(context.script);
    if (rc < 0 || c->out->len > 0) /* a test is answered */
        return;
    struct json_out out = {.text = c->out};
    json_open(&out, NULL, '{');
    json_put_int(&out, "id", c->s->table.next - 1);
    put_next_block(c->s, c->s->table.next - 1, &out);
    strbuf_puts(c->out, "}\n");
    c->reply->status = 201;
    c->reply->wait = true;
}

/* The caller as a user of this machine, or NULL and the call is refused. */
static struct user *api_user(struct call *c)
{
    struct user *user = user_find(c->s, c->request->peer.uid);
    if (!user && errno == ENOMEM)
        api_refuse(c, 503, NULL, "out of memory");
    else if (!user)
        api_refuse(c, 403, NULL, "user %lu does not exist on this machine",
                   (unsigned long)c->request->peer.uid);
    return user;
}

void api_jobs_post(struct call *c)
{
    const struct server_request *r = c->request;
    size_t at = 0;
    struct user *user = api_user(c);
    while (at < r->length && strchr(" \t\r\n", r->body[at]) && r->body[at])
        at++;
    if (user && at < r->length && r->body[at] == '[')
        bulk_start(c, user);
    else if (user && api_read_body(c) == 0)
        submit_one(c, user);
}
