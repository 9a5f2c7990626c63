/* Scheduling passes, and applying their decisions.
 *
 * A turn makes a slice of a pass and the next turn continues it, so a long pass delays no request. The
 * decisions of a slice are applied and made durable with its turn. After a change between two slices the
 * core restarts the pass, at the time of the change; what was started or reserved stays so, and the pass
 * usually catches up soon. Where changes come faster than slices get through their consequences, slices are
 * doubled.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "config/seconds.h"
#include "server/core/bulk.h"
#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/priv.h"

#define PASS_SLICE (SERVER_SECOND / 200) /* time per turn */
#define PASS_LOOK  (PASS_SLICE / 20)     /* approximate time between looks at the clock */

/* Per turn: when the first preempts jobs that have not started yet, the second uses their resources. */
#define PASSES 2

/* A slice is doubled for every PASS_VAIN restarts of the pass without progress; after PASS_WHOLE doublings
 * it is unlimited.
 */
#define PASS_VAIN  4
#define PASS_WHOLE 12

uint64_t server_next_key(server_t *s)
{
    const struct engine *engine = s->platform.engine;
    uint64_t last = engine->ops->last_key(engine);
    if (last >= s->runs.next_key)
        s->runs.next_key = last + 1;
    return s->runs.next_key;
}

/* A start or a new reservation is progress that survives a restart of the pass. A stream of new jobs, each
 * decided at once, is no progress for the others: so at most as many decisions count as jobs waited when
 * the pass first began.
 */
static void note_progress(server_t *s)
{
    if (s->pass.credit == 0)
        return;
    s->pass.credit--;
    s->pass.has_decided = true;
}

void run_measure(server_t *s, struct run *run)
{
    sched_job_t handle = member_record(run->job, run->member)->handle;
    run->holds = (struct amounts){sched_amount(s->sched, handle, "node"),
                                  sched_amount(s->sched, handle, "core"),
                                  sched_amount(s->sched, handle, "gpu")};
}

static void start_member(server_t *s, struct job *job, uint32_t i, const struct sched_decision *d)
{
    struct member *m = member_make(s, job, i);
    const char *text;
    note_progress(s);
    if (!m) {
        member_fall_behind(s, job, d->job);
        return;
    }
    if (d->job == job->entry) /* it was the last one there */
        job->entry = job->promised = -1;
    m->handle = d->job;
    m->at = d->at < s->pass.at ? s->pass.at : d->at;
    m->how = (int8_t)d->how;
    m->reserved = m->claims = m->preempts = false;
    m->timed_out = m->preempted = m->requeue = m->dismissed = false;
    m->attempts++;
    m->run = run_create(s, job, i, server_next_key(s));
    s->runs.next_key += m->run != NULL; /* it is in the table under this key, whatever follows */
    if (!m->run || start_enqueue(s, job, i) < 0) {
        m->attempts--;
        member_undo_start(s, job, i);
        return;
    }
    if (sched_resources(s->sched, m->handle, &text) == 0)
        text_assign(&m->run->resources, text);
    run_measure(s, m->run);
    member_set_state(s, job, i, STORE_STARTING);
}

static void reserve_member(server_t *s, struct job *job, uint32_t i, int64_t at, bool expected)
{
    struct member *m = member_make(s, job, i);
    if (!m) /* it is promised all the same, but nobody is told */
        return;
    if (!m->reserved || m->at != at || m->expected != expected) {
        struct strbuf data = {0};
        struct json_out out = {.text = &data};
        json_open(&out, NULL, '{');
        json_put_seconds(&out, "start", server_wall_time(s, at));
        if (expected)
            json_put_bool(&out, "expected", true);
        json_close(&out, '}');
        member_event(s, job, i, "reserved", strbuf_steal(&data));
    }
    if (!m->reserved)
        note_progress(s);
    m->reserved = true;
    m->claims = m->preempts = false;
    m->expected = expected;
    m->at = at;
    if (member_is_in_entry(job, i))
        entry_promised(s, job, i);
    member_changed(s, job, i); /* other resources at the same time are a change too */
}

static void postpone_member(server_t *s, struct job *job, uint32_t i, int64_t at)
{
    struct member *m = member_record(job, i);
    if (!m)
        return;
    if (m->reserved)
        member_changed(s, job, i);
    m->reserved = false;
    m->at = at;
}

/* It has a claim, of which the reason tells how far that is, or no more. An array's entry has its claim in the record of
 * its first member, as its reservation. Where memory is short, the claim is not kept.
 */
static void claim_member(server_t *s, struct job *job, uint32_t i, const struct sched_decision *d)
{
    bool claims = d->reason && d->reason->kind == SCHED_REASON_CLAIM;
    i = claims ? d->member : i;
    struct member *m = claims ? member_make(s, job, i) : member_record(job, i);
    if (!m || (!claims && !m->claims && !m->preempts))
        return;
    m->claims = claims;
    m->preempts = false;
    if (member_is_in_entry(job, i))
        entry_promised(s, job, claims ? (int64_t)i : -1);
    member_changed(s, job, i);
}

void member_reject(server_t *s, struct job *job, uint32_t i, const char *reason)
{
    if (!member_make(s, job, i)) {
        member_fall_behind(s, job, -1);
        return;
    }
    member_event(s, job, i, "failed", event_text("reason", reason));
    member_end(s, job, i, STORE_FAILED, reason);
}

/* The core has rejected all that wait in a job's entry. Where memory is short, the job is behind, and that is done
 * later.
 */
static void entry_reject(server_t *s, struct job *job, const char *reason)
{
    struct mass *mass = job->is_behind ? NULL : mass_prepare(s, job, STORE_FAILED, reason);
    sched_job_t entry = job->entry;
    entry_promised(s, job, -1);
    job->entry = job->promised = -1;
    for (uint32_t i = 0; (i = member_next_own(job, i)) < job->members; i++)
        if (member_record(job, i)->handle == entry && member_record(job, i)->state == STORE_PENDING)
            member_reject(s, job, i, reason);
    if (mass)
        mass_end(s, job, mass, "failed", "reason", reason);
    else
        member_fall_behind(s, job, -1);
}

/* A member has left its job's entry in the core. */
static void member_has_handle(server_t *s, struct job *job, uint32_t i, sched_job_t handle)
{
    if (member_make(s, job, i))
        member_parted(s, job, i, handle);
    else
        member_fall_behind(s, job, -1);
    if (job->promised == (int64_t)i)
        entry_promised(s, job, -1);
}

/* It starts when its victims have ended. Where memory is short, it preempts again after a restart. */
static void preempting_member(server_t *s, struct job *job, uint32_t i)
{
    postpone_member(s, job, i, s->clock.now);
    struct member *m = member_make(s, job, i);
    if (!m)
        return;
    m->preempts = true;
    m->claims = false;
    if (member_is_in_entry(job, i))
        entry_promised(s, job, i);
    member_changed(s, job, i);
}

/* The preemptor starts when its victims have ended; its reservation is used up. */
static void preemptor_waits(server_t *s, const struct sched_annotation *a, sched_job_t handle)
{
    struct job *job = job_lookup(s, (int64_t)a->tag);
    if (job && job->members > 1 && handle != job->entry && member_exists(job, a->member))
        member_has_handle(s, job, a->member, handle);
    if (job && member_exists(job, a->member) && member_look(job, a->member)->state == STORE_PENDING)
        preempting_member(s, job, a->member);
}

static void preempt_member(server_t *s, struct job *job, uint32_t i, const struct sched_decision *d)
{
    struct member *m = member_record(job, i);
    struct sched_reason why = {.kind = SCHED_REASON_PREEMPTED, .may = d->why, .spare = d->is_spare};
    char other[24];
    struct sched_annotation a;
    if (!m) /* memory was too short for its start, which is being undone */
        return;
    m->requeue = d->requeue || (m->preempted && m->requeue); /* its user has requested that */
    m->preempted = true;
    if (sched_annotate(s->sched, d->other, &a) == 0) {
        snprintf(other, sizeof(other), "%" PRId64, (int64_t)a.tag);
        why.job[why.n_jobs++] =
            (struct sched_reason_job){other, a.members > 1 ? (int64_t)a.member : -1};
        preemptor_waits(s, &a, d->other);
    }
    why.has = d->work / SERVER_SECOND;
    preempted_note(s, job, i, &why);
    if (m->run)
        run_stop_by_server(s, m->run);
}

/* Another job waits for its end, too. */
static void await_member(server_t *s, struct job *job, uint32_t i, sched_job_t other)
{
    struct sched_annotation a;
    if (!member_record(job, i)) /* memory was too short for its start, which is being undone */
        return;
    if (sched_annotate(s->sched, other, &a) < 0)
        return;
    awaited_note(s, job, i, (int64_t)a.tag, a.members > 1 ? (int64_t)a.member : -1);
    preemptor_waits(s, &a, other);
}

/* It has no limit, and a block begins: it ends as one whose limit is over. Or its gang has failed. */
static void stop_member(server_t *s, struct job *job, uint32_t i, const struct sched_reason *why)
{
    struct member *m = member_record(job, i);
    char reason[SCHED_REASON_TEXT];
    if (!m) /* memory was too short for its start, which is being undone */
        return;
    if (why->kind == SCHED_REASON_GANG_FAILED || why->kind == SCHED_REASON_GANG_LEFT) {
        sched_reason_text(why, reason);
        m->dismissed = true;
    } else {
        snprintf(reason, sizeof(reason), "block %.100s", why->block);
        m->timed_out = true;
    }
    text_assign(&m->reason, reason);
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
    if (!job || !member_exists(job, d->member))
        return;
    uint32_t i = d->member;
    if (job->entry >= 0 && d->job != job->entry && member_is_in_entry(job, i))
        member_has_handle(s, job, i, d->job);
    switch (d->kind) {
    case SCHED_START:
        start_member(s, job, i, d);
        break;
    case SCHED_RESERVE:
        reserve_member(s, job, i, d->at, d->expected);
        break;
    case SCHED_WAIT:
        if (d->job == job->entry && job->promised >= 0)
            i = (uint32_t)job->promised;
        postpone_member(s, job, i, d->at);
        claim_member(s, job, i, d);
        break;
    case SCHED_REJECT:
        if (d->job == job->entry)
            entry_reject(s, job, sched_reason_text(d->reason, reason));
        else
            member_reject(s, job, i, sched_reason_text(d->reason, reason));
        break;
    case SCHED_PREEMPT:
        preempt_member(s, job, i, d);
        break;
    case SCHED_STOP:
        stop_member(s, job, i, d->reason);
        break;
    case SCHED_AWAIT:
        await_member(s, job, i, d->other);
        break;
    }
}

/* ---- Slices ---- */

/* The budget of a turn for passes. */
struct slice {
    /* steady times of the last look at the clock and of the end (INT64_MAX: none) */
    int64_t looked, until;
    uint64_t left;    /* steps; UINT64_MAX: limited by the clock */
    uint64_t at_once; /* steps until the next look at the clock */
};

static int64_t steady_now(const server_t *s)
{
    return s->platform.steady(s->platform.context);
}

static struct slice slice_begin(const server_t *s)
{
    size_t n = s->pass.n_vain / PASS_VAIN; /* so that every pass ends, however fast changes come */
    uint64_t steps = (uint64_t)s->options.pass_steps << n;
    if (n >= PASS_WHOLE)
        return (struct slice){0, INT64_MAX, UINT64_MAX, UINT64_MAX};
    if (steps > 0)
        return (struct slice){0, INT64_MAX, steps, steps};
    int64_t now = steady_now(s);
    return (struct slice){now, now + (PASS_SLICE << n), UINT64_MAX, 1};
}

/* Whether some of the budget is left. A step takes from less than a microsecond to some milliseconds, so
 * the number of steps until the next look at the clock adapts.
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

/* The time that the pass decides for: a pass that continues keeps its own unless something has changed. */
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

/* The pass is complete. The next one begins with half of its doublings. */
static void pass_ended(server_t *s)
{
    s->pass.is_on = s->pass.has_decided = false;
    s->pass.n_vain /= 2;
    s->pass.ended++;
}

/* Members of gangs of several roles that the core has taken out of their entries, as each waits for itself once the gang has
 * started. Decisions about a gang follow each other, so that mostly each one is looked at once.
 */
static void follow_parts(server_t *s, const struct sched_decision *decisions, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct job *job = job_lookup(s, (int64_t)decisions[i].tag);
        bool is_last = i + 1 == n || decisions[i + 1].tag != decisions[i].tag;
        if (is_last && job && job->roles && entry_find_parts(s, job) < 0)
            member_fall_behind(s, job, -1);
    }
}

/* What runs on is to be stored with the end that is expected by now: what is promised goes by that. */
static void follow_extended(server_t *s)
{
    const sched_job_t *jobs;
    size_t n = sched_extended(s->sched, &jobs);
    for (size_t i = 0; i < n; i++) {
        struct sched_annotation a;
        struct job *job =
            sched_annotate(s->sched, jobs[i], &a) == 0 ? job_lookup(s, (int64_t)a.tag) : NULL;
        if (job && member_exists(job, a.member) && member_record(job, a.member))
            member_changed(s, job, a.member);
    }
}

/* Continue or begin a pass. 0: it is complete; 1: there is more to do; -1 with errno. */
static int pass_some(server_t *s, uint64_t steps)
{
    const struct sched_decision *decisions;
    size_t n = 0;
    s->pass.at = pass_time(s);
    int64_t begun = steady_now(s);
    int rc = sched_pass_some(s->sched, s->pass.at, steps, &decisions, &n);
    int saved = errno;
    s->pass.spent += steady_now(s) - begun;
    follow_extended(s);
    for (size_t i = 0; i < n; i++)
        apply_decision(s, &decisions[i]);
    follow_parts(s, decisions, n);
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
