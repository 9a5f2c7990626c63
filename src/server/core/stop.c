/* Runs on their way to their end: warning, limit, grace. */
#include <errno.h>
#include <stdlib.h>

#include "server/core/priv.h"

#define RETAIN_AT_ONCE 200
#define RETAIN_SOON    (SERVER_SECOND / 5)
#define RETAIN_EVERY   (3600 * SERVER_SECOND)

int run_signals(server_t *s, size_t more)
{
    /* To warn, to end (and to go on for that), to kill. */
    return array_grow((void **)&s->ledger.signals, &s->ledger.cap_signals,
                      s->ledger.n_signals + 4 * (s->runs.n + 1) + more, sizeof(*s->ledger.signals));
}

void run_signal(server_t *s, struct run *run, int signal, bool tree)
{
    s->dirty.urgent = true;
    s->ledger.signals[s->ledger.n_signals].key = run->key;
    s->ledger.signals[s->ledger.n_signals].signal = signal;
    s->ledger.signals[s->ledger.n_signals++].tree = tree;
}

static void set_timer(server_t *s, struct run *run, int64_t at)
{
    if (heap_has(&s->runs.timers, run->slot))
        heap_take(&s->runs.timers, run->slot);
    if (at < INT64_MAX)
        heap_put(&s->runs.timers, run->slot, at, run->key);
}

static int64_t limit_of(const struct run *run)
{
    const struct member *m = &run->job->member[run->member];
    int64_t limit;
    if (!run->job->limited || m->at < 0 ||
        __builtin_add_overflow(m->at, run->job->duration, &limit))
        return INT64_MAX;
    return limit;
}

void run_watch(server_t *s, struct run *run)
{
    int64_t limit = limit_of(run);
    if (run->stage >= RUN_ENDING)
        return;
    if (run->stage == RUN_GOES && run->warn_signal && limit < INT64_MAX)
        set_timer(s, run, limit - run->warn_before);
    else
        set_timer(s, run, limit);
}

void run_stop(server_t *s, struct run *run)
{
    if (!run->told) { /* it will never be */
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
    run->stage = RUN_ENDING;
    run_signal(s, run, SIGTERM, false);
    run_signal(s, run, SIGCONT, false);
    set_timer(s, run, s->clock.now + s->config->server.grace);
}

void run_stop_itself(server_t *s, struct run *run)
{
    if (run->stage < RUN_ENDING) { /* else it ends for what it was asked to before */
        run->stop_wall = s->clock.wall;
        run->stop_at = s->clock.now;
    }
    run_stop(s, run);
}

static void run_due(server_t *s, struct run *run)
{
    struct member *m = &run->job->member[run->member];
    if (run->stage == RUN_ENDING) {
        run->stage = RUN_KILLED;
        run_signal(s, run, SIGKILL, true);
        set_timer(s, run, INT64_MAX);
        return;
    }
    if (run->stage == RUN_GOES && run->warn_signal && s->clock.now < limit_of(run)) {
        run->stage = RUN_WARNED;
        run_signal(s, run, run->warn_signal, false);
        set_timer(s, run, limit_of(run));
        return;
    }
    m->timed_out = true;
    member_mark(s, run->job, run->member);
    run_stop_itself(s, run);
}

static void retain(server_t *s)
{
    int64_t keep = s->config->server.retention;
    int64_t dropped = 0;
    s->retain_at = s->clock.now + RETAIN_EVERY;
    if (s->dirty.failing)
        return;
    bool more = users_trim(s);
    if (keep != SCHED_UNLIMITED &&
        store_retain(s->store, s->clock.wall - keep, RETAIN_AT_ONCE, &dropped, NULL) == 0)
        more = more || dropped > 0;
    if (dropped > 0)
        users_stored(s);
    if (more)
        s->retain_at = s->clock.now + RETAIN_SOON;
}

void server_time(server_t *s)
{
    while (s->runs.timers.n > 0 && s->runs.timers.v[0].key <= s->clock.now) {
        struct run *run = s->runs.v[s->runs.timers.v[0].item];
        heap_take(&s->runs.timers, s->runs.timers.v[0].item);
        run_due(s, run);
    }
    if (s->retain_at <= s->clock.now)
        retain(s);
}

int64_t server_due(const server_t *s)
{
    int64_t due = s->ledger.is_known ? sched_next_time(s->sched) : INT64_MAX;
    if (s->ledger.n_starts > 0)
        due = s->clock.now;
    due = due < s->ledger.hold_until ? s->ledger.hold_until : due;
    if (s->runs.timers.n > 0 && s->runs.timers.v[0].key < due)
        due = s->runs.timers.v[0].key;
    if (s->dirty.urgent)
        due = s->clock.now;
    if (s->runs.n_over + s->runs.n_unstarted > 0 && s->runs.over_at < due)
        due = s->runs.over_at;
    due = server_work_due(s) < due ? server_work_due(s) : due;
    due = s->dirty.lazy_at < due ? s->dirty.lazy_at : due;
    return s->retain_at < due ? s->retain_at : due;
}
