/* GET /v1/jobs/ID and /events: everything about a job, and its events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_query.h"
#include "config/seconds.h"
#include "server/api/api.h"
#include "server/core/job_text.h"

#define EVENTS_MAX 10000 /* per reply */

/* Read the job of the path from the store; false and the call is refused. */
static bool stored_job(struct call *c, struct store_job *job)
{
    berth_error_t why = {""};
    if (store_read_job(c->s->store, c->id, job, &why) == 0)
        return true;
    if (errno == ENOENT)
        api_refuse(c, 404, NULL, "there is no job %s", c->rest);
    else
        api_wrong(c, &why);
    return false;
}

static void put_summary(struct json_out *out, const size_t *counts, size_t held)
{
    static const char *const words[] = {"pending", NULL,        "running", "done",
                                        "failed",  "cancelled", "timeout"};
    json_open(out, "summary", '{');
    json_put_uint(out, "held", held);
    for (size_t i = 0; i <= STORE_TIMEOUT; i++) {
        if (!words[i])
            continue;
        size_t n = counts[i];
        if (i == STORE_PENDING)
            n -= held;
        if (i == STORE_RUNNING)
            n += counts[STORE_STARTING];
        json_put_uint(out, words[i], n);
    }
    json_close(out, '}');
}

/* The members of an array: their indices. */
static void put_indices(struct json_out *out, const struct idset *indices, uint32_t members)
{
    json_key(out, "indices");
    strbuf_putc(out->text, '"');
    if (indices->n > 0) {
        idset_encode(indices, false, out->text);
    } else {
        strbuf_puts(out->text, "0-");
        strbuf_put_uint(out->text, members - 1);
    }
    strbuf_putc(out->text, '"');
}

/* Write what the row lacks: the stored request and, if wanted, the environment. */
static int put_request(struct call *c, struct json_out *out, const struct job *job,
                       bool environment)
{
    struct store_job stored;
    if (job && job->is_new) {
        json_put_raw(out, "request", job->request);
        if (environment)
            json_put_raw(out, "environment", job->environment ? job->environment->text : "[]");
        return 0;
    }
    if (!stored_job(c, &stored))
        return -1;
    json_put_raw(out, "request", stored.request);
    json_put_text(out, "script", stored.script);
    if (environment)
        json_put_raw(out, "environment", stored.environment ? stored.environment : "[]");
    return 0;
}

/* The member that represents a job: the first that runs, else the first that waits. */
static uint32_t first_of(const struct job *job)
{
    for (uint32_t i = 0; job_running(job) > 0 && (i = member_next_own(job, i)) < job->members; i++)
        if (member_is_live(member_record(job, i)) && member_record(job, i)->state != STORE_PENDING)
            return i;
    for (uint32_t i = 0; (i = member_next(job, i)) < job->members; i++)
        if (member_is_live(member_look(job, i)))
            return i;
    return member_next(job, 0);
}

static bool show_live(struct call *c, struct json_out *out, struct job *job, bool environment)
{
    struct job_shown shown;
    struct sched_annotation a;
    char reason[SCHED_REASON_TEXT];
    size_t counts[STORE_TIMEOUT + 1];
    uint32_t i = c->member >= 0 ? (uint32_t)c->member : first_of(job);
    const struct member *m = member_look(job, i);
    sched_job_t handle = m->state == STORE_PENDING ? member_handle(job, i) : -1;
    bool mine = api_owns(c, job->uid);
    job_show(c->s, job, i, &shown);
    if (mine && handle >= 0 && sched_annotate(c->s->sched, handle, &a) == 0) {
        if (a.reason.kind != SCHED_REASON_PREEMPTING) /* it knows best when these are killed */
            shown.estimate = server_wall_time(c->s, a.start);
        shown.not_before = a.not_before;
        if (a.reason.kind != SCHED_REASON_NONE && !server_pause_reason(c->s, m))
            shown.reason = sched_reason_text(&a.reason, reason);
        shown.holders = a.holders;
        shown.n_holders = a.n_holders;
        sched_job_t copy[64];
        shown.n_holders = a.n_holders < 64 ? a.n_holders : 64;
        if (shown.n_holders > 0)
            memcpy(copy, a.holders, shown.n_holders * sizeof(*copy));
        shown.holders = copy;
        char *kept = shown.reason ? strdup(shown.reason) : NULL;
        shown.reason = kept;
        job_put(c->s, out, &shown, mine);
        free(kept);
    } else {
        job_put(c->s, out, &shown, mine);
    }
    for (int k = 0; k <= STORE_TIMEOUT; k++)
        counts[k] = job->counts[k];
    if (job->members > 1) {
        put_summary(out, counts, job->held ? counts[STORE_PENDING] : 0);
        put_indices(out, &job->indices, job->members);
    }
    return !mine || put_request(c, out, job, environment) == 0;
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
    if (cursor && store_next(cursor, job, member, &why) > 0)
        return cursor;
    store_cursor_close(cursor);
    api_refuse(c, 404, NULL, "there is no job %s", c->rest);
    return NULL;
}

static bool show_stored(struct call *c, struct json_out *out, bool environment)
{
    struct store_job job;
    struct store_member member;
    struct job_shown shown;
    size_t counts[STORE_TIMEOUT + 1] = {0};
    if (!stored_job(c, &job))
        return false;
    uint32_t members = job.members;
    struct idset indices = {0};
    if (job.indices && idset_decode(&indices, job.indices, strlen(job.indices), NULL) < 0) {
        api_refuse(c, 503, NULL, "out of memory");
        return false;
    }
    bool mine = api_owns(c, job.uid);
    for (uint32_t i = 0; members > 1 && i < members; i++)
        if (store_read_member(c->s->store, c->id, i, &member, NULL) == 0)
            counts[member.state]++;
    struct store_cursor *cursor = api_stored(c, &job, &member);
    if (!cursor) {
        idset_clear(&indices);
        return false;
    }
    job_show_stored(&job, &member, &shown);
    job_put(c->s, out, &shown, mine);
    if (members > 1) {
        put_summary(out, counts, 0);
        put_indices(out, &indices, members);
    }
    idset_clear(&indices);
    store_cursor_close(cursor);
    return !mine || put_request(c, out, NULL, environment) == 0;
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
        api_refuse(c, 404, NULL, "there is no job %s", c->rest);
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
    if (store_events(c->s->store, 0, c->id, EVENTS_MAX, &v, put_visited, &why) < 0)
        api_wrong(c, &why);
    else
        strbuf_puts(c->out, "\n]}\n");
}
