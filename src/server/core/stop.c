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
    return array_grow((void **)&s->signals, &s->cap_signals,
                      s->n_signals + 4 * (s->n_runs + 1) + more, sizeof(*s->signals));
}

void run_signal(server_t *s, struct run *run, int signal, bool tree)
{
    s->urgent = true;
    s->signals[s->n_signals].key = run->key;
    s->signals[s->n_signals].signal = signal;
    s->signals[s->n_signals++].tree = tree;
}

static void set_timer(server_t *s, struct run *run, int64_t at)
{
    if (heap_has(&s->timers, run->slot))
        heap_take(&s->timers, run->slot);
    if (at < INT64_MAX)
        heap_put(&s->timers, run->slot, at, run->key);
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
                                 .at = s->wall,
                                 .text = "stopped before it was started",
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
    set_timer(s, run, s->now + s->config->server.grace);
}

void run_stop_itself(server_t *s, struct run *run)
{
    if (run->stage < RUN_ENDING) { /* else it ends for what it was asked to before */
        run->stop_wall = s->wall;
        run->stop_at = s->now;
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
    if (run->stage == RUN_GOES && run->warn_signal && s->now < limit_of(run)) {
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
    s->retain_at = s->now + RETAIN_EVERY;
    if (s->failing)
        return;
    bool more = users_trim(s);
    if (keep != SCHED_UNLIMITED &&
        store_retain(s->store, s->wall - keep, RETAIN_AT_ONCE, &dropped, NULL) == 0)
        more = more || dropped > 0;
    if (dropped > 0)
        users_stored(s);
    if (more)
        s->retain_at = s->now + RETAIN_SOON;
}

void server_time(server_t *s)
{
    while (s->timers.n > 0 && s->timers.v[0].key <= s->now) {
        struct run *run = s->runs[s->timers.v[0].item];
        heap_take(&s->timers, s->timers.v[0].item);
        run_due(s, run);
    }
    if (s->retain_at <= s->now)
        retain(s);
}

int64_t server_due(const server_t *s)
{
    int64_t due = s->runs_known ? sched_next_time(s->sched) : INT64_MAX;
    if (s->n_to_start > 0)
        due = s->now;
    due = due < s->hold_until ? s->hold_until : due;
    if (s->timers.n > 0 && s->timers.v[0].key < due)
        due = s->timers.v[0].key;
    if (s->urgent)
        due = s->now;
    if (s->n_over + s->n_unstarted > 0 && s->over_at < due)
        due = s->over_at;
    due = server_work_due(s) < due ? server_work_due(s) : due;
    due = s->lazy_at < due ? s->lazy_at : due;
    return s->retain_at < due ? s->retain_at : due;
}
