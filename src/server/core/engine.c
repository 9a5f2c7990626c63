/* Events of the engine: runs start and end. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "server/core/gang.h"
#include "server/core/job_text.h"
#include "server/core/machine.h"
#include "server/core/members.h"
#include "server/core/notify.h"
#include "server/core/priv.h"
#include "server/core/retry.h"

#define EVENTS_MAX  256                 /* taken in one call */
#define START_RETRY (2 * SERVER_SECOND) /* no starts for this long after a refused one */
/* a start is stored at the latest after this time */
#define START_UNSTORED_MAX (SERVER_SECOND / 20)

static void run_started(server_t *s, struct run *run, const struct engine_event *e)
{
    struct member *m = member_record(run->job, run->member);
    struct strbuf data = {0};
    struct json_out out = {.text = &data};
    bool urgent = s->unsaved.urgent;
    run->in_engine = true;
    if (m->state != STORE_STARTING)
        return;
    run->start_wall = e->at;
    run->job->declined.n = 0;
    if (!m->dismissed && !m->timed_out && !m->preempted) /* it says why it is being stopped */
        text_assign(&m->reason, NULL);
    member_set_state(s, run->job, run->member, STORE_RUNNING);
    if (m->attempts == 1 && run->job->live == member_count(run->job) &&
        run->job->counts[STORE_RUNNING] == 1)
        notify_begun(s, run->job);
    json_open(&out, NULL, '{');
    json_put_text(&out, "resources", run->resources);
    json_put_uint(&out, "attempt", m->attempts);
    json_put_int(&out, "pid", e->pid);
    json_close(&out, '}');
    member_event(s, run->job, run->member, "started", strbuf_steal(&data));
    /* The engine repeats the event until it is acknowledged, so it can wait for a more urgent commit. */
    s->unsaved.urgent = urgent;
    if (s->unsaved.commit_at > s->clock.now + START_UNSTORED_MAX)
        s->unsaved.commit_at = s->clock.now + START_UNSTORED_MAX;
}

static void event_requeued(server_t *s, const struct run *run, const char *reason)
{
    member_event(s, run->job, run->member, "requeued", event_text("reason", reason));
}

/* Put a running member back in the core's queue, with the priority and the hold that it (NULL: its job) has by
 * now. Returns 0, or -1 with errno and the member running.
 */
static int wait_in_core(server_t *s, const struct job *job, const struct member *m,
                        sched_job_t handle)
{
    static const struct member as_its_job;
    int64_t now = s->clock.now;
    m = m ? m : &as_its_job;
    if (sched_prioritize(s->sched, now, handle, member_priority(job, m)) < 0 ||
        sched_requeue(s->sched, now, handle) < 0)
        return -1;
    if (member_held(job, m))
        sched_hold(s->sched, now, handle);
    return 0;
}

/* The same for the server's state, once the core has done it. */
static void member_requeue(server_t *s, struct job *job, uint32_t i)
{
    struct member *m = member_record(job, i);
    struct sched_reason why;
    char text[SCHED_REASON_TEXT];
    if (m->run)
        run_destroy(s, m->run);
    m->run = NULL;
    m->at = -1;
    if (preempted_why(m->reason, &why, text) ||
        gang_stops_for(m->reason)) /* why it was stopped is no reason to wait */
        text_assign(&m->reason, NULL);
    m->preempted = m->requeue = m->timed_out = m->dismissed = false;
    member_set_state(s, job, i, STORE_PENDING);
}

/* Begins the reason of a member that the engine or the store refused. */
static const char not_started[] = "not started: ";

const char *not_started_cause(const char *text)
{
    size_t n = sizeof(not_started) - 1;
    return strncmp(text, not_started, n) == 0 ? text + n : NULL;
}

static int64_t later_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The start was refused for no fault of the job: requeue it, with the reason, and those of its gang that started with it.
 * All starts wait then or, where only it was declined, it alone; for that memory may be short.
 */
static void requeue_refused(server_t *s, struct run *run, const char *why, bool declined)
{
    struct member *m = member_record(run->job, run->member);
    char reason[300];
    snprintf(reason, sizeof(reason), "%s%s", not_started, why ? why : "the engine refused it");
    /* no event for each retry, nor for each of a gang that none of was started */
    if (!m->reason || (strcmp(m->reason, reason) != 0 && !gang_stops_for(m->reason)))
        event_requeued(s, run, reason);
    text_assign(&m->reason, reason);
    m->attempts--;
    int64_t again = s->clock.now + (declined ? declined_wait(s, run->job) : START_RETRY);
    bool whole = gang_start_again(s, run->job, run->member);
    if (whole) /* it waits for the others' ends */
        again = later_of(again, s->clock.now + s->config->server.grace + SERVER_SECOND);
    bool waits =
        (declined || whole) && sched_set_begin(s->sched, s->clock.now, m->handle, again) == 0;
    member_requeue(s, run->job, run->member);
    if (!(declined && waits) && s->engine.hold_until < s->clock.now + START_RETRY)
        s->engine.hold_until = s->clock.now + START_RETRY;
}

void run_undo_start(server_t *s, struct run *run, const char *why)
{
    struct member *m = member_record(run->job, run->member);
    if (m->handle >= 0 && wait_in_core(s, run->job, m, m->handle) == 0)
        requeue_refused(s, run, why, false);
}

/* What failed to start has a status if there is no such command. */
static void put_run_end(struct strbuf *data, const struct run *run, const char *reason, bool failed)
{
    bool known = !run->exit_signal && (failed ? run->exit_status > 0 : !reason);
    struct json_out out = {.text = data};
    json_open(&out, NULL, '{');
    json_put_known(&out, "exit", known ? run->exit_status : -1);
    json_put_known(&out, "signal", run->exit_signal ? run->exit_signal : -1);
    json_put_text(&out, "reason", reason);
    json_close(&out, '}');
}

/* Without a limit it was for a block (pass.c). */
static const char *time_reason(const struct member *m, const struct job *job)
{
    return member_limit(job, m) == SCHED_UNLIMITED && m->reason ? m->reason : "time limit";
}

/* Nothing of it has run, and it may be asked for again. */
static bool was_refused(const struct engine_event *e)
{
    return e->what == ENGINE_REFUSED || e->what == ENGINE_DECLINED;
}

static const char *end_reason(const struct member *m, const struct job *job,
                              const struct engine_event *e)
{
    if (m->cancelled)
        return "cancelled";
    if (e->what == ENGINE_FAILED || was_refused(e))
        return e->text ? e->text : "it could not be started";
    if (e->what == ENGINE_LOST)
        return e->text ? e->text : "lost: its end was not observed";
    if (m->timed_out)
        return time_reason(m, job);
    if (m->dismissed && m->reason)
        return m->reason;
    if (!m->preempted)
        return e->text;
    struct sched_reason why;
    char text[SCHED_REASON_TEXT];
    bool told = preempted_why(m->reason, &why, text) || gang_stops_for(m->reason);
    return told ? m->reason : "preempted";
}

static enum store_state end_state(const struct member *m, const struct engine_event *e)
{
    if (m->cancelled)
        return STORE_CANCELLED;
    if (m->timed_out && e->what != ENGINE_FAILED && !was_refused(e))
        return STORE_TIMEOUT;
    if (m->preempted)
        return STORE_CANCELLED;
    if (m->dismissed)
        return STORE_FAILED;
    if (e->what != ENGINE_ENDED || e->exit_status != 0 || e->exit_signal != 0)
        return STORE_FAILED;
    return STORE_DONE;
}

/* Whether the run ended of its own accord before the server stopped it, and the end was only reported
 * later. Where the wall clock was set meanwhile, that is unknown, and the answer is no.
 */
static bool ended_before_stop(const server_t *s, const struct run *run,
                              const struct engine_event *e)
{
    if (e->what != ENGINE_ENDED || run->stop_wall < 0 || e->at >= run->stop_wall)
        return false;
    int64_t jump = (s->clock.wall - run->stop_wall) - (s->clock.now - run->stop_at);
    return jump > -SERVER_SECOND && jump < SERVER_SECOND;
}

/* Whether the member of an ended run waits for another start. */
static bool should_requeue(const struct member *m, const struct job *job,
                           const struct engine_event *e)
{
    if (m->cancelled || (m->preempted && !m->requeue && was_refused(e)))
        return false;
    return was_refused(e) || (m->preempted && m->requeue) ||
           (e->what == ENGINE_LOST && job->requeue);
}

/* Memory is too short to requeue the member: try again in a second. Meanwhile the end stays unacknowledged,
 * so that the engine reports it again after a crash.
 */
static void defer_end(server_t *s, struct run *run, const struct engine_event *e)
{
    run->deferred_end = *e;
    run->deferred_end.text = NULL; /* belongs to the engine */
    run->in_engine = true;         /* so that it is not started */
    run->stage = RUN_KILLED;
    if (heap_has(&s->runs.timers, run->slot))
        heap_take(&s->runs.timers, run->slot);
    s->runs.n_deferred++;
    s->runs.retry_at = s->clock.now + SERVER_SECOND;
}

/* A member that has failed waits again, for a while. Without memory for that it starts sooner. */
static void member_retry(server_t *s, struct run *run, const struct engine_event *e)
{
    struct job *job = run->job;
    struct member *m = member_record(job, run->member);
    const char *why = end_reason(m, job, e);
    char reason[400], ended[40];
    int64_t wait = retry_wait(job, m);
    m->retries++;
    if (e->exit_signal)
        snprintf(ended, sizeof(ended), "signal %d", e->exit_signal);
    else
        snprintf(ended, sizeof(ended), "exit status %d", e->exit_status);
    snprintf(reason, sizeof(reason), "%s: retry %d of %d", why ? why : ended, m->retries,
             job->retry->most);
    sched_set_begin(s->sched, s->clock.now, m->handle, s->clock.now + wait);
    event_requeued(s, run, reason);
    member_requeue(s, job, run->member);
}

/* Requeue the member of an ended run if it should be. Returns whether it is, or will be. */
static bool try_requeue(server_t *s, struct run *run, const struct engine_event *e)
{
    const struct member *m = member_record(run->job, run->member);
    bool again = should_requeue(m, run->job, e);
    if ((!again && !retry_is_due(run->job, m, e)) || m->handle < 0)
        return false;
    if (wait_in_core(s, run->job, m, m->handle) < 0) {
        if (errno != ENOMEM)
            return false;
        defer_end(s, run, e);
    } else if (was_refused(e)) {
        requeue_refused(s, run, e->text, e->what == ENGINE_DECLINED);
    } else if (!again) {
        member_retry(s, run, e);
    } else {
        event_requeued(s, run, end_reason(m, run->job, e));
        member_requeue(s, run->job, run->member);
    }
    return true;
}

/* The member of a gang that has failed waits again, in place of itself. Returns whether it does. Where memory is
 * short, it fails.
 */
static bool try_replace(server_t *s, struct run *run, const struct engine_event *e)
{
    const struct member *m = member_record(run->job, run->member);
    if (run->job->gang.min == 0 || m->handle < 0 || m->dismissed ||
        end_state(m, e) != STORE_FAILED || !sched_replaces(s->sched, m->handle) ||
        wait_in_core(s, run->job, m, m->handle) < 0)
        return false;
    struct strbuf data = {0};
    run->exit_status = e->exit_status;
    run->exit_signal = e->exit_signal;
    put_run_end(&data, run, end_reason(m, run->job, e), e->what == ENGINE_FAILED);
    member_event(s, run->job, run->member, "replaced", strbuf_steal(&data));
    run->job->gang.replaced++;
    member_record(run->job, run->member)->replaced++;
    member_requeue(s, run->job, run->member);
    return true;
}

/* Handle the end of a run, however it ended. */
static void run_ended(server_t *s, struct run *run, const struct engine_event *e)
{
    struct job *job = run->job;
    struct member *m = member_record(job, run->member);
    s->runs.n_deferred -= run->deferred_end.what != ENGINE_STARTED;
    run->deferred_end.what = ENGINE_STARTED;
    if (ended_before_stop(s, run, e))
        m->timed_out = m->preempted = m->requeue = m->dismissed = false;
    if (try_requeue(s, run, e) || try_replace(s, run, e))
        return;
    const char *reason = end_reason(m, job, e);
    enum store_state state = end_state(m, e);
    static const char *const kinds[] = {[STORE_DONE] = "done",
                                        [STORE_FAILED] = "failed",
                                        [STORE_CANCELLED] = "cancelled",
                                        [STORE_TIMEOUT] = "timeout"};
    struct strbuf data = {0};
    run->end_wall = e->at;
    if (e->what == ENGINE_ENDED && run->start_wall < 0)
        run->start_wall = e->at; /* its start was not reported */
    run->exit_status = e->exit_status;
    run->exit_signal = e->exit_signal;
    run->peak_memory = e->peak_memory;
    run->cpu_time = e->cpu_time;
    put_run_end(&data, run, reason, e->what == ENGINE_FAILED);
    member_event(s, job, run->member, kinds[state], strbuf_steal(&data));
    if (m->handle >= 0)
        sched_finish(s->sched, s->clock.now, m->handle, state == STORE_DONE);
    if (state == STORE_DONE && run->start_wall >= 0 && e->at >= run->start_wall) {
        job->ran.n++;
        job->ran.us += e->at - run->start_wall;
    }
    if (state != STORE_DONE)
        gang_note_end(s, job, run->member);
    member_end(s, job, run->member, state, reason);
    fails_look(s, job);
}

void member_undo_start(server_t *s, struct job *job, uint32_t i)
{
    struct member *m = member_record(job, i);
    if (wait_in_core(s, job, m, m->handle) == 0) {
        member_requeue(s, job, i);
        return;
    }
    if (m->run)
        run_destroy(s, m->run);
    m->run = NULL;
    m->at = m->handle = -1;
    m->unstarted = true;
    s->runs.n_unstarted++;
    s->runs.retry_at = s->clock.now + SERVER_SECOND;
    member_changed(s, job, i);
}

void member_recover_handle(server_t *s, struct job *job, uint32_t i)
{
    char id[24];
    struct member *m = member_record(job, i);
    if (!m || !m->unstarted)
        return;
    snprintf(id, sizeof(id), "%" PRId64, job->id);
    m->handle = sched_find(s->sched, id, i);
    m->unstarted = false;
    s->runs.n_unstarted--;
}

void member_fall_behind(server_t *s, struct job *job, sched_job_t handle)
{
    if (handle >= 0) /* else, or if that fails, it is tried again */
        wait_in_core(s, job, NULL, handle);
    if (handle == job->entry)
        job->entry = -1;
    s->runs.n_unstarted += !job->is_behind;
    job->is_behind = true;
    s->runs.retry_at = s->clock.now + SERVER_SECOND;
}

/* Members without a record that have left the entry in the core: have them wait, with a record, or fail. */
static void catch_up(server_t *s, struct job *job)
{
    char id[24];
    snprintf(id, sizeof(id), "%" PRId64, job->id);
    job->is_behind = false;
    s->runs.n_unstarted--;
    for (uint32_t i = 0; (i = member_next(job, i)) < job->members; i++) {
        sched_job_t handle = member_record(job, i) ? -1 : sched_find(s->sched, id, i);
        if (member_record(job, i) || mass_member(job, i) || (handle >= 0 && handle == job->entry))
            continue;
        int state = handle >= 0 ? sched_state(s->sched, handle) : SCHED_REJECTED;
        struct member *m = NULL;
        if (state != SCHED_RUNNING || wait_in_core(s, job, NULL, handle) == 0)
            m = member_make(s, job, i);
        if (m)
            member_parted(s, job, i, handle);
        if (!m)
            member_fall_behind(s, job, -1);
        else if (state == SCHED_REJECTED)
            member_reject(s, job, i, "it can never start");
    }
}

static void retry_unstarted(server_t *s, struct job *job)
{
    if (job->is_behind)
        catch_up(s, job);
    for (uint32_t i = 0; (i = member_next_own(job, i)) < job->members; i++) {
        if (!member_record(job, i)->unstarted)
            continue;
        member_recover_handle(s, job, i);
        member_undo_start(s, job, i);
    }
}

void server_retry_ends(server_t *s)
{
    if (s->runs.n_deferred + s->runs.n_unstarted == 0 || s->clock.now < s->runs.retry_at)
        return;
    for (size_t i = 0; i < s->runs.n && s->runs.n_deferred > 0; i++) {
        struct run *run = s->runs.v[i];
        if (!run || run->deferred_end.what == ENGINE_STARTED)
            continue;
        struct engine_event e = run->deferred_end;
        run_ended(s, run, &e);
    }
    for (size_t i = 0; i < s->table.n && s->runs.n_unstarted > 0; i++)
        if (s->table.jobs[i].job)
            retry_unstarted(s, s->table.jobs[i].job);
}

/* The key of a start was used before. If it is new, another server used it and the engine learned of that
 * late: start again under another key. If it is from before a restart, it may be that of this very run,
 * which has started and is lost.
 */
static struct engine_event translate_used_key(const server_t *s, const struct engine_event *e)
{
    struct engine_event as = *e;
    as.what = e->key >= s->engine.first_key ? ENGINE_REFUSED : ENGINE_LOST;
    as.text = as.what == ENGINE_REFUSED ? "its key was already used" : NULL;
    return as;
}

void server_engine_event(server_t *s, const struct engine_event *e)
{
    struct run *run = run_lookup(s, e->key);
    if ((e->what == ENGINE_STARTED || e->what == ENGINE_ENDED) && !e->elsewhere &&
        e->key > s->engine.heard_key)
        s->engine.heard_key = e->key;
    if (e->what != ENGINE_STARTED)
        orphan_ended(s, e->key);
    if (!run || !member_is_live(member_record(run->job, run->member)))
        return; /* reported before */
    if (e->what == ENGINE_STARTED) {
        run_started(s, run, e);
    } else if (e->what == ENGINE_USED) {
        struct engine_event as = translate_used_key(s, e);
        run_ended(s, run, &as);
    } else {
        run_ended(s, run, e);
    }
}

int server_engine(server_t *s, berth_error_t *err)
{
    const struct engine_event *events;
    struct engine *engine = s->platform.engine;
    size_t n;
    server_update_clock(s);
    if (!s->engine.is_known) {
        engine->ops->flush(engine);
        if (runs_reconcile(s, err) < 0)
            return -1;
    }
    while ((n = engine->ops->events(engine, &events, EVENTS_MAX)) > 0) {
        for (size_t i = 0; i < n; i++) {
            server_engine_event(s, &events[i]);
            s->engine.number = events[i].number;
        }
    }
    pilots_follow(s);
    return 0;
}
