/* Timers of runs: warning, time limit, grace period. Dropping old history. */

#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/users.h"

#define RETAIN_AT_ONCE 200
#define RETAIN_SOON    (SERVER_SECOND / 5)
#define RETAIN_EVERY   (3600 * SERVER_SECOND)

int run_reserve_signals(server_t *s, size_t more)
{
    /* A warning, SIGTERM with SIGCONT, SIGKILL. */
    return array_grow((void **)&s->engine.signals, &s->engine.cap_signals,
                      s->engine.n_signals + 4 * (s->runs.n + 1) + more, sizeof(*s->engine.signals));
}

void run_signal(server_t *s, struct run *run, int signal, bool tree)
{
    s->unsaved.urgent = true;
    s->engine.signals[s->engine.n_signals].key = run->key;
    s->engine.signals[s->engine.n_signals].signal = signal;
    s->engine.signals[s->engine.n_signals++].tree = tree;
}

static void set_timer(server_t *s, struct run *run, int64_t at)
{
    if (heap_has(&s->runs.timers, run->slot))
        heap_take(&s->runs.timers, run->slot);
    if (at < INT64_MAX)
        heap_put(&s->runs.timers, run->slot, at, run->key);
}

static int64_t limit_of_run(const struct run *run)
{
    const struct member *m = member_record(run->job, run->member);
    int64_t length = member_limit(run->job, m), limit;
    if (length == SCHED_UNLIMITED || m->at < 0 || __builtin_add_overflow(m->at, length, &limit))
        return INT64_MAX;
    return limit;
}

/* When a run is warned of its limit: not before it begins, even if the limit is that short. */
static int64_t warned_at(const struct run *run, int64_t limit)
{
    int64_t length = member_limit(run->job, member_record(run->job, run->member));
    return limit - (run->warn_before < length ? run->warn_before : length / 2);
}

void run_arm_timer(server_t *s, struct run *run)
{
    int64_t limit = limit_of_run(run);
    if (run->stage >= RUN_ENDING)
        return;
    if (run->stage == RUN_NORMAL && run->warn_signal && limit < INT64_MAX)
        set_timer(s, run, warned_at(run, limit));
    else
        set_timer(s, run, limit);
}

/* What a run is stopped with: the signal that its job names for a warning if it makes way for another one, so that it
 * saves its work.
 */
static int signal_to_stop(const struct run *run)
{
    bool saves = run->stage == RUN_NORMAL && run->warn_signal &&
                 member_record(run->job, run->member)->preempted;
    return saves ? run->warn_signal : SIGTERM;
}

void run_stop(server_t *s, struct run *run)
{
    if (!run->in_engine) { /* and never will be */
        struct engine_event e = {.what = ENGINE_FAILED,
                                 .key = run->key,
                                 .at = s->clock.wall,
                                 .text = "stopped before it started",
                                 .peak_memory = -1,
                                 .cpu_time = -1};
        server_engine_event(s, &e);
        return;
    }
    if (run->stage >= RUN_ENDING)
        return;
    int signal = signal_to_stop(run);
    run->stage = RUN_ENDING;
    run_signal(s, run, signal, false);
    run_signal(s, run, SIGCONT, false);
    set_timer(s, run, s->clock.now + s->config->server.grace);
}

int64_t run_killed_at(const server_t *s, const struct run *run)
{
    const struct heap *timers = &s->runs.timers;
    if (run->stage < RUN_ENDING)
        return -1;
    bool waits = run->stage == RUN_ENDING && heap_has(timers, run->slot);
    int64_t at = waits ? timers->v[timers->place[run->slot] - 1].key : s->clock.now;
    return at > s->clock.now ? at : s->clock.now;
}

void run_stop_by_server(server_t *s, struct run *run)
{
    if (run->stage < RUN_ENDING) { /* else it ends for an earlier reason */
        run->stop_wall = s->clock.wall;
        run->stop_at = s->clock.now;
    }
    run_stop(s, run);
}

static void run_timer_fired(server_t *s, struct run *run)
{
    struct member *m = member_record(run->job, run->member);
    if (run->stage == RUN_ENDING) {
        run->stage = RUN_KILLED;
        run_signal(s, run, SIGKILL, true);
        set_timer(s, run, INT64_MAX);
        return;
    }
    if (run->stage == RUN_NORMAL && run->warn_signal && s->clock.now < limit_of_run(run)) {
        run->stage = RUN_WARNED;
        run_signal(s, run, run->warn_signal, false);
        set_timer(s, run, limit_of_run(run));
        return;
    }
    m->timed_out = true;
    member_changed(s, run->job, run->member);
    run_stop_by_server(s, run);
}

static void drop_history(server_t *s)
{
    int64_t keep = s->config->server.retention;
    int64_t dropped = 0;
    s->retain_at = s->clock.now + RETAIN_EVERY;
    if (s->unsaved.failing)
        return;
    bool more = users_trim(s);
    if (keep != SCHED_UNLIMITED &&
        store_retain(s->store, s->clock.wall - keep, RETAIN_AT_ONCE, &dropped, NULL) == 0)
        more = more || dropped > 0;
    if (dropped > 0)
        users_forget_stored(s);
    if (more)
        s->retain_at = s->clock.now + RETAIN_SOON;
}

void server_run_timers(server_t *s)
{
    while (s->runs.timers.n > 0 && s->runs.timers.v[0].key <= s->clock.now) {
        struct run *run = s->runs.v[s->runs.timers.v[0].item];
        heap_take(&s->runs.timers, s->runs.timers.v[0].item);
        run_timer_fired(s, run);
    }
    if (s->retain_at <= s->clock.now)
        drop_history(s);
}

int64_t server_next_turn(const server_t *s)
{
    int64_t due = s->engine.is_known ? sched_next_time(s->sched) : INT64_MAX;
    if (s->engine.n_starts > 0)
        due = s->clock.now;
    due = due < s->engine.hold_until ? s->engine.hold_until : due;
    if (s->runs.timers.n > 0 && s->runs.timers.v[0].key < due)
        due = s->runs.timers.v[0].key;
    if (s->unsaved.urgent)
        due = s->clock.now;
    if (s->runs.n_deferred + s->runs.n_unstarted > 0 && s->runs.retry_at < due)
        due = s->runs.retry_at;
    due = work_due(s) < due ? work_due(s) : due;
    if (s->pilots.leaving && s->clock.now + SERVER_SECOND / 10 < due)
        due = s->clock.now + SERVER_SECOND / 10;
    due = s->unsaved.commit_at < due ? s->unsaved.commit_at : due;
    return s->retain_at < due ? s->retain_at : due;
}
