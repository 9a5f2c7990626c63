/* GET /v1/jobs/ID and /events: everything about a job, and its events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_query.h"
#include "config/seconds.h"
#include "server/api/api.h"
#include "server/api/array_sum.h"
#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/priv.h"

/* Read the job of the path from the store; false and the call is refused. */
static bool stored_job(struct call *c, struct store_job *job)
{
    berth_error_t why = {""};
    if (store_read_job(c->s->store, c->id, job, &why) == 0)
        return true;
    if (errno == ENOENT)
        api_no_job(c);
    else
        api_wrong(c, &why);
    return false;
}

/* Write what was submitted, from the stored request; of one that an older version stored, that is not known. */
static int put_stored_request(struct call *c, struct json_out *out, const char *request)
{
    json_t *stored = json_loads(request, 0, NULL);
    json_t *asked = json_object_get(stored, "asked");
    json_t *jobspec = json_object_get(stored, "jobspec_text");
    bool failed = !stored || (asked && jobspec && json_object_set(asked, "jobspec", jobspec) < 0);
    char *text = failed || !asked ? NULL : json_dumps(asked, JSON_COMPACT);
    failed = failed || (asked && !text);
    json_put_raw(out, "request", text ? text : "{}");
    free(text);
    json_decref(stored);
    if (failed)
        api_no_memory(c->reply);
    return failed ? -1 : 0;
}

/* Write what the row lacks: the request and, if wanted, the environment. */
static int put_request(struct call *c, struct json_out *out, const struct job *job,
                       bool environment)
{
    struct store_job stored;
    if (job && job->is_new) {
        if (put_stored_request(c, out, job->request) < 0)
            return -1;
        if (job->script)
            json_put_text(out, "script", job->script->text);
        if (environment)
            json_put_raw(out, "environment", job->environment ? job->environment->text : "[]");
        return 0;
    }
    if (!stored_job(c, &stored))
        return -1;
    if (put_stored_request(c, out, stored.request) < 0)
        return -1;
    json_put_text(out, "script", stored.script);
    if (environment)
        json_put_raw(out, "environment", stored.environment ? stored.environment : "[]");
    return 0;
}

/* Add what the core knows of a job that waits. Returns a copy of its reason, which the caller frees; NULL:
 * there is none, or no memory.
 */
static char *show_annotated(struct call *c, const struct job *job, uint32_t i,
                            const struct sched_annotation *a, struct job_shown *shown)
{
    char reason[SCHED_REASON_TEXT];
    if (a->reason.kind != SCHED_REASON_PREEMPTING) /* it knows best when these are killed */
        shown->estimate = server_start_time(c->s, a->start);
    shown->not_before = (a->not_before || member_is_behind(c->s, job, i)) && shown->estimate >= 0;
    if (a->reason.kind != SCHED_REASON_NONE && !server_pause_reason(c->s, job, member_look(job, i)))
        shown->reason = sched_reason_text(&a->reason, reason);
    char *kept = shown->reason ? strdup(shown->reason) : NULL;
    shown->reason = kept;
    return kept;
}

static void put_live(struct call *c, struct json_out *out, const struct job *job,
                     const struct array_sum *sum)
{
    struct job_shown shown;
    struct sched_annotation a;
    sched_job_t holders[64];
    char *reason = NULL;
    bool whole = c->member < 0 && job->members > 1, mine = api_owns(c, job->uid);
    uint32_t i = c->member >= 0 ? (uint32_t)c->member : array_sum_first(c->s, sum, job);
    const struct member *m = member_look(job, i);
    sched_job_t handle = m->state == STORE_PENDING ? member_handle(job, i) : -1;
    if (whole)
        array_show(c->s, job, sum, &shown);
    else
        job_show(c->s, job, i, &shown);
    if (mine && handle >= 0 && sched_annotate(c->s->sched, handle, &a) == 0) {
        shown.n_holders = a.n_holders < 64 ? a.n_holders : 64;
        if (shown.n_holders > 0)
            memcpy(holders, a.holders, shown.n_holders * sizeof(*holders));
        shown.holders = holders;
        reason = show_annotated(c, job, i, &a, &shown);
    }
    job_put(c->s, out, &shown, mine);
    free(reason);
}

static bool show_live(struct call *c, struct json_out *out, struct job *job, bool environment)
{
    struct array_sum sum = {0};
    array_sum_job(&sum, job);
    put_live(c, out, job, &sum);
    if (job->members > 1)
        array_sum_put(out, &sum);
    array_sum_clear(&sum);
    return !api_owns(c, job->uid) || put_request(c, out, job, environment) == 0;
}

struct store_cursor *api_stored(struct call *c, struct store_job *job, struct store_member *member)
{
    berth_error_t why = {""};
    struct store_query query = {.uid = -1,
                                .job = c->id,
                                .since_wall = -1,
                                .after_job = c->member > 0 ? c->id : -1,
                                .after_member = c->member > 0 ? c->member - 1 : -1,
                                .limit = 1};
    if (!stored_job(c, job))
        return NULL;
    bool there = c->member < (int64_t)job->members;
    struct store_cursor *cursor = there ? store_find(c->s->store, &query, &why) : NULL;
    if (cursor && store_next(cursor, job, member, &why) > 0 &&
        (c->member < 0 || member->member == c->member))
        return cursor;
    store_cursor_close(cursor);
    api_no_job(c);
    return NULL;
}

/* A member, or a job that is none of an array. */
static int put_member_stored(struct call *c, struct json_out *out)
{
    struct store_job job;
    struct store_member member;
    struct job_shown shown;
    struct store_cursor *cursor = api_stored(c, &job, &member);
    if (!cursor)
        return -1;
    job_show_stored(&job, &member, &shown);
    job_put(c->s, out, &shown, api_owns(c, job.uid));
    store_cursor_close(cursor);
    return 0;
}

static int put_whole_stored(struct call *c, struct json_out *out, const struct array_sum *sum)
{
    struct store_job job;
    struct job_shown shown;
    if (!stored_job(c, &job))
        return -1;
    array_show_stored(&job, sum, &shown);
    job_put(c->s, out, &shown, api_owns(c, job.uid));
    return 0;
}

static bool show_stored(struct call *c, struct json_out *out, bool environment)
{
    struct store_job job;
    struct array_sum sum = {0};
    berth_error_t why = {""};
    if (!stored_job(c, &job))
        return false;
    bool mine = api_owns(c, job.uid), array = job.members > 1;
    int rc = array ? array_sum_stored(&sum, c->s->store, c->id, &why) : 0;
    if (rc < 0)
        api_wrong(c, &why);
    if (rc == 0)
        rc = array && c->member < 0 ? put_whole_stored(c, out, &sum) : put_member_stored(c, out);
    if (rc == 0 && array)
        array_sum_put(out, &sum);
    array_sum_clear(&sum);
    return rc == 0 && (!mine || put_request(c, out, NULL, environment) == 0);
}

void api_job_get(struct call *c)
{
    struct api_query q[] = {{"environment", NULL}, {NULL, NULL}};
    struct job *job = job_lookup(c->s, c->id);
    bool environment;
    if (api_query(c, q) < 0)
        return;
    environment = q[0].value && strcmp(q[0].value, "0") != 0;
    api_query_clear(q);
    if (job && c->member >= 0 && (!member_exists(job, c->member) || job->members == 1)) {
        api_no_job(c);
        return;
    }
    bool in_memory =
        job && (c->member < 0 || member_is_live(member_look(job, (uint32_t)c->member)));
    struct json_out out = {.text = c->out};
    if (in_memory ? show_live(c, &out, job, environment) : show_stored(c, &out, environment))
        strbuf_puts(c->out, "}\n");
}

static void put_event_json(struct json_out *out, const struct store_event *e)
{
    json_open(out, NULL, '{');
    json_put_int(out, "number", e->number);
    json_put_seconds(out, "time", e->wall);
    json_put_int(out, "job", e->job);
    json_put_known(out, "member", e->member);
    json_put_text(out, "kind", e->kind);
    json_put_raw(out, "data", e->data ? e->data : "{}");
    json_close(out, '}');
}

void api_put_event(struct strbuf *out, const struct store_event *e)
{
    strbuf_puts(out, "id: ");
    strbuf_put_int(out, e->number);
    strbuf_puts(out, "\nevent: ");
    strbuf_puts(out, e->kind);
    strbuf_puts(out, "\ndata: ");
    put_event_json(&(struct json_out){.text = out}, e);
    strbuf_puts(out, "\n\n");
}

struct visit {
    const struct call *c;
    struct json_out out;
};

static int put_visited(void *context, const struct store_event *e)
{
    struct visit *v = context;
    if (v->c->member >= 0 && e->member >= 0 && e->member != v->c->member)
        return 0;
    json_line(&v->out);
    put_event_json(&v->out, e);
    return 0;
}

void api_job_events(struct call *c)
{
    struct store_job job;
    berth_error_t why = {""};
    const struct job *live = job_lookup(c->s, c->id);
    if (!live && !stored_job(c, &job))
        return;
    if (!api_owns(c, live ? live->uid : job.uid)) {
        api_refuse(c, 403, NULL, "job %s is another user's", c->rest);
        return;
    }
    struct visit v = {c, {.text = c->out}};
    json_open(&v.out, NULL, '{');
    json_open(&v.out, "events", '[');
    if (store_events(c->s->store, 0, c->id, API_EVENTS_MAX, &v, put_visited, &why) < 0)
        api_wrong(c, &why);
    else
        strbuf_puts(c->out, "\n]}\n");
}
