/* A pass of the core, and what its decisions make of the jobs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "server/api/bulk.h"
#include "server/core/job_text.h"
#include "server/core/priv.h"

static int64_t shown_member(const struct job *job, uint32_t member)
{
    return job->members > 1 ? (int64_t)member : -1;
}

uint64_t server_next_key(server_t *s)
{
    const struct engine *engine = s->world.engine;
    uint64_t last = engine->ops->last_key(engine);
    if (last >= s->next_key)
        s->next_key = last + 1;
    return s->next_key;
}

static void start(server_t *s, struct job *job, uint32_t i, const struct sched_decision *d)
{
    struct member *m = &job->member[i];
    const char *text;
    m->at = d->at < s->now ? s->now : d->at;
    m->how = (int8_t)d->how;
    m->reserved = false;
    m->timed_out = m->preempted = m->requeue = false;
    m->attempts++;
    m->run = run_create(s, job, i, server_next_key(s));
    s->next_key += m->run != NULL; /* whatever becomes of it: its place in the table is taken */
    if (!m->run || start_later(s, job, i) < 0) {
        m->attempts--;
        member_not_started(s, job, i);
        return;
    }
    if (sched_resources(s->sched, m->handle, &text) == 0)
        member_text(&m->run->resources, text);
    member_state(s, job, i, STORE_STARTING);
}

static void reserve(server_t *s, struct job *job, uint32_t i, int64_t at)
{
    struct member *m = &job->member[i];
    if (!m->reserved || m->at != at) {
        struct strbuf data = {0};
        strbuf_puts(&data, "{\"start\":");
        wall_put(&data, server_wall_of(s, at));
        strbuf_putc(&data, '}');
        server_event(s, job->id, shown_member(job, i), "reserved", strbuf_steal(&data));
    }
    m->reserved = true;
    m->at = at;
    member_mark(s, job, i); /* the same time on other resources is another promise too */
}

static void wait(server_t *s, struct job *job, uint32_t i, int64_t at)
{
    struct member *m = &job->member[i];
    if (m->reserved)
        member_mark(s, job, i);
    m->reserved = false;
    m->at = at;
}

void member_reject(server_t *s, struct job *job, uint32_t i, const char *reason)
{
    struct strbuf data = {0};
    strbuf_puts(&data, "{\"reason\":");
    text_put(&data, reason);
    strbuf_putc(&data, '}');
    server_event(s, job->id, shown_member(job, i), "failed", strbuf_steal(&data));
    member_end(s, job, i, STORE_FAILED, reason);
}

/* It will start when those that it preempts have ended: a promise that it had is used up. */
static void preempts(server_t *s, const struct sched_annotation *a)
{
    struct job *job = job_lookup(s, (int64_t)a->tag);
    if (job && a->member < job->members && job->member[a->member].state == STORE_PENDING)
        wait(s, job, a->member, s->now);
}

static void preempt(server_t *s, struct job *job, uint32_t i, const struct sched_decision *d)
{
    struct member *m = &job->member[i];
    struct strbuf data = {0};
    struct sched_annotation a;
    m->requeue = d->requeue || (m->preempted && m->requeue); /* its user has asked for that */
    m->preempted = true;
    strbuf_puts(&data, "{\"for\":");
    if (sched_annotate(s->sched, d->other, &a) == 0) {
        job_put_id(&data, (int64_t)a.tag, a.members > 1 ? (int64_t)a.member : -1);
        preempts(s, &a);
    } else {
        strbuf_puts(&data, "null");
    }
    strbuf_puts(&data, m->requeue ? ",\"requeue\":true}" : ",\"requeue\":false}");
    server_event(s, job->id, shown_member(job, i), "preempted", strbuf_steal(&data));
    member_mark(s, job, i);
    if (m->run)
        run_stop_itself(s, m->run);
}

static void carry_out(server_t *s, const struct sched_decision *d)
{
    char reason[SCHED_REASON_TEXT];
    struct job *job = job_lookup(s, (int64_t)d->tag);
    if (!job && d->kind == SCHED_REJECT)
        bulk_rejected(s, (int64_t)d->tag, d->member, sched_reason_text(d->reason, reason));
    if (!job || d->member >= job->members)
        return;
    uint32_t i = d->member;
    switch (d->kind) {
    case SCHED_START:
        start(s, job, i, d);
        break;
    case SCHED_RESERVE:
        reserve(s, job, i, d->at);
        break;
    case SCHED_WAIT:
        wait(s, job, i, d->at);
        break;
    case SCHED_REJECT:
        member_reject(s, job, i, sched_reason_text(d->reason, reason));
        break;
    case SCHED_PREEMPT:
        preempt(s, job, i, d);
        break;
    }
}

int server_pass(server_t *s, berth_error_t *err)
{
    const struct sched_decision *decisions;
    size_t n = 0;
    if (!s->runs_known || s->now < s->hold_until || sched_next_time(s->sched) > s->now)
        return 0;
    int rc = sched_pass(s->sched, s->now, false, &decisions, &n);
    int errnum = errno;
    for (size_t i = 0; i < n; i++)
        carry_out(s, &decisions[i]);
    if (rc == 0)
        return 0;
    return errtext_set(err, errnum, "the scheduler can't decide: %s", strerror(errnum));
}
