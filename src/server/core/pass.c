/* Passes of the core, and what their decisions make of the jobs.
 *
 * A turn makes a slice of a pass, and the next turn goes on with it, so that a long pass keeps no request
 * waiting. What a slice decides is carried out and made durable with its turn. After a change between two
 * slices the core begins the pass again, at the time of the change. Jobs that were started or promised a
 * time stay so, and mostly the pass is soon back where it was. Where changes come faster than a slice gets
 * through what they bring, slices are doubled.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "server/core/bulk.h"
#include "server/core/job_text.h"
#include "server/core/priv.h"

#define PASS_SLICE (SERVER_SECOND / 200) /* of a turn */
#define PASS_LOOK  (PASS_SLICE / 20)     /* the time between two looks at the clock, about */

/* Of a turn: what the first one preempts before it was started makes room for the second. */
#define PASSES 2

/* The slice is doubled for each time that the pass was begun again PASS_VAIN times with nothing decided in
 * between; after PASS_WHOLE doublings it has no end.
 */
#define PASS_VAIN  4
#define PASS_WHOLE 12

static int64_t shown_member(const struct job *job, uint32_t member)
{
    return job->members > 1 ? (int64_t)member : -1;
}

uint64_t server_next_key(server_t *s)
{
    const struct engine *engine = s->platform.engine;
    uint64_t last = engine->ops->last_key(engine);
    if (last >= s->runs.next_key)
        s->runs.next_key = last + 1;
    return s->runs.next_key;
}

/* A start or a first promise is progress that the pass keeps when it is begun again. A stream of new jobs,
 * each decided at once, is none for the others: so no more decisions count than jobs waited when the pass
 * was first begun.
 */
static void note_progress(server_t *s)
{
    if (s->pass.credit == 0)
        return;
    s->pass.credit--;
    s->pass.has_decided = true;
}

static void start_member(server_t *s, struct job *job, uint32_t i, const struct sched_decision *d)
{
    struct member *m = &job->member[i];
    const char *text;
    m->at = d->at < s->pass.at ? s->pass.at : d->at;
    note_progress(s);
    m->how = (int8_t)d->how;
    m->reserved = false;
    m->timed_out = m->preempted = m->requeue = false;
    m->attempts++;
    m->run = run_create(s, job, i, server_next_key(s));
    s->runs.next_key +=
        m->run != NULL; /* whatever becomes of it: its place in the table is taken */
    if (!m->run || start_enqueue(s, job, i) < 0) {
        m->attempts--;
        member_undo_start(s, job, i);
        return;
    }
    if (sched_resources(s->sched, m->handle, &text) == 0)
        text_assign(&m->run->resources, text);
    member_set_state(s, job, i, STORE_STARTING);
}

static void reserve_member(server_t *s, struct job *job, uint32_t i, int64_t at)
{
    struct member *m = &job->member[i];
    if (!m->reserved || m->at != at) {
        struct strbuf data = {0};
        strbuf_puts(&data, "{\"start\":");
        wall_put(&data, server_wall_time(s, at));
        strbuf_putc(&data, '}');
        server_event(s, job->id, shown_member(job, i), "reserved", strbuf_steal(&data));
    }
    if (!m->reserved)
        note_progress(s);
    m->reserved = true;
    m->at = at;
    member_changed(s, job, i); /* the same time on other resources is another promise too */
}

static void postpone_member(server_t *s, struct job *job, uint32_t i, int64_t at)
{
    struct member *m = &job->member[i];
    if (m->reserved)
        member_changed(s, job, i);
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
static void preemptor_waits(server_t *s, const struct sched_annotation *a)
{
    struct job *job = job_lookup(s, (int64_t)a->tag);
    if (job && a->member < job->members && job->member[a->member].state == STORE_PENDING)
        postpone_member(s, job, a->member, s->clock.now);
}

static void preempt_member(server_t *s, struct job *job, uint32_t i, const struct sched_decision *d)
{
    struct member *m = &job->member[i];
    struct strbuf data = {0};
    struct sched_annotation a;
    m->requeue = d->requeue || (m->preempted && m->requeue); /* its user has asked for that */
    m->preempted = true;
    strbuf_puts(&data, "{\"for\":");
    if (sched_annotate(s->sched, d->other, &a) == 0) {
        job_put_id(&data, (int64_t)a.tag, a.members > 1 ? (int64_t)a.member : -1);
        preemptor_waits(s, &a);
    } else {
        strbuf_puts(&data, "null");
    }
    strbuf_puts(&data, m->requeue ? ",\"requeue\":true}" : ",\"requeue\":false}");
    server_event(s, job->id, shown_member(job, i), "preempted", strbuf_steal(&data));
    member_changed(s, job, i);
    if (m->run)
        run_stop_by_server(s, m->run);
}

static void apply_decision(server_t *s, const struct sched_decision *d)
{
    char reason[SCHED_REASON_TEXT];
    struct job *job = job_lookup(s, (int64_t)d->tag);
    if (!job && d->kind == SCHED_REJECT)
        bulk_member_rejected(s, (int64_t)d->tag, d->member, sched_reason_text(d->reason, reason));
    if (!job || d->member >= job->members)
        return;
    uint32_t i = d->member;
    switch (d->kind) {
    case SCHED_START:
        start_member(s, job, i, d);
        break;
    case SCHED_RESERVE:
        reserve_member(s, job, i, d->at);
        break;
    case SCHED_WAIT:
        postpone_member(s, job, i, d->at);
        break;
    case SCHED_REJECT:
        member_reject(s, job, i, sched_reason_text(d->reason, reason));
        break;
    case SCHED_PREEMPT:
        preempt_member(s, job, i, d);
        break;
    }
}

/* ---- Slices ---- */

/* What a turn may spend on passes. */
struct slice {
    int64_t looked, until; /* steady times: the last look at the clock, the end (INT64_MAX: none) */
    uint64_t left;         /* steps; UINT64_MAX: the clock bounds it */
    uint64_t at_once;      /* steps up to the next look at the clock */
};

static int64_t steady_now(const server_t *s)
{
    return s->platform.steady(s->platform.context);
}

static struct slice slice_begin(const server_t *s)
{
    size_t n = s->pass.n_vain / PASS_VAIN; /* no stream of changes keeps a pass from its end */
    uint64_t steps = (uint64_t)s->options.pass_steps << n;
    if (n >= PASS_WHOLE)
        return (struct slice){0, INT64_MAX, UINT64_MAX, UINT64_MAX};
    if (steps > 0)
        return (struct slice){0, INT64_MAX, steps, steps};
    int64_t now = steady_now(s);
    return (struct slice){now, now + (PASS_SLICE << n), UINT64_MAX, 1};
}

/* Whether some of it is left. A step takes from less than a microsecond to some milliseconds, so how many
 * are made before the next look at the clock depends on how long the last ones took.
 */
static bool slice_goes_on(const server_t *s, struct slice *slice)
{
    if (slice->until == INT64_MAX) {
        slice->left -= slice->left == UINT64_MAX ? 0 : slice->at_once;
        return slice->left > 0;
    }
    int64_t now = steady_now(s);
    if (now - slice->looked < PASS_LOOK)
        slice->at_once *= 2;
    else if (slice->at_once > 1)
        slice->at_once /= 2;
    slice->looked = now;
    return now < slice->until;
}

/* The time for which the core decides: a pass that was cut off keeps its own, unless something has happened
 * since.
 */
static int64_t pass_time(server_t *s)
{
    if (!s->pass.is_on) {
        s->pass.credit = s->table.counts[STORE_PENDING];
        return s->clock.now;
    }
    if (sched_next_time(s->sched) == s->pass.at)
        return s->pass.at;
    s->pass.n_vain = s->pass.has_decided ? 0 : s->pass.n_vain + 1;
    s->pass.has_decided = false;
    return s->clock.now;
}

/* The pass is at its end. The next one begins with half of the doublings that this one needed. */
static void pass_ended(server_t *s)
{
    s->pass.is_on = s->pass.has_decided = false;
    s->pass.n_vain /= 2;
}

/* Go on with the pass, or begin one: 0 if it is at its end, 1 if there is more to do, or -1 with errno. */
static int pass_some(server_t *s, uint64_t steps)
{
    const struct sched_decision *decisions;
    size_t n = 0;
    s->pass.at = pass_time(s);
    int rc = sched_pass_some(s->sched, s->pass.at, steps, &decisions, &n);
    int saved = errno;
    for (size_t i = 0; i < n; i++)
        apply_decision(s, &decisions[i]);
    s->pass.is_on = rc == 1;
    if (rc == 0)
        pass_ended(s);
    errno = saved;
    return rc;
}

static bool pass_is_due(const server_t *s)
{
    return s->engine.is_known && s->clock.now >= s->engine.hold_until &&
           sched_next_time(s->sched) <= s->clock.now;
}

int server_pass(server_t *s, berth_error_t *err)
{
    struct slice slice = slice_begin(s);
    int ended = 0;
    while (ended < PASSES && pass_is_due(s)) {
        int rc = pass_some(s, slice.at_once);
        if (rc < 0)
            return errtext_set(err, errno, "the scheduling pass failed: %s", strerror(errno));
        ended += rc == 0;
        if (!slice_goes_on(s, &slice))
            break;
    }
    return 0;
}
