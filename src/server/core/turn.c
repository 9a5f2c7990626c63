/* A turn: decide, make it durable, do it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/priv.h"

#define RETRY SERVER_SECOND /* after a commit that failed */

int start_later(server_t *s, struct job *job, uint32_t member)
{
    if (array_grow((void **)&s->ledger.starts, &s->ledger.cap_starts, s->ledger.n_starts + 1,
                   sizeof(*s->ledger.starts)) < 0)
        return -1;
    s->dirty.urgent = true;
    s->ledger.starts[s->ledger.n_starts++] = (struct member_ref){job, member};
    return 0;
}

static void start(server_t *s, struct run *run)
{
    berth_error_t why = {""};
    run->told = true;
    if (run_start(s, run, &why) == 0) {
        run_watch(s, run);
        return;
    }
    struct engine_event e = {.what = errno == EEXIST   ? ENGINE_USED
                                     : errno == ENOMEM ? ENGINE_REFUSED
                                                       : ENGINE_FAILED,
                             .key = run->key,
                             .at = s->clock.wall,
                             .text = why.text[0] ? why.text : strerror(errno),
                             .peak_memory = -1,
                             .cpu_time = -1};
    server_engine_event(s, &e);
}

void server_act(server_t *s)
{
    struct engine *engine = s->world.engine;
    if (!s->ledger.is_known)
        return;
    for (size_t i = 0; s->clock.now >= s->ledger.hold_until && i < s->ledger.n_starts; i++) {
        struct member *m = &s->ledger.starts[i].job->member[s->ledger.starts[i].member];
        if (m->state == STORE_STARTING && m->run && !m->run->told)
            start(s, m->run);
    }
    if (s->clock.now >= s->ledger.hold_until)
        s->ledger.n_starts = 0;
    for (size_t i = 0; i < s->ledger.n_signals; i++)
        engine->ops->signal(engine, s->ledger.signals[i].key, s->ledger.signals[i].signal,
                            s->ledger.signals[i].tree);
    s->ledger.n_signals = 0;
    if (s->runs.n_over == 0 && s->ledger.number > s->ledger.acknowledged &&
        engine->ops->acknowledge(engine, s->ledger.number) == 0)
        s->ledger.acknowledged = s->ledger.number;
    engine->ops->flush(engine);
}

/* Members that have ended leave the table once that is written; what is to be started is not among them. */
static void forget_starts(server_t *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->ledger.n_starts; i++)
        if (s->ledger.starts[i].job->member[s->ledger.starts[i].member].state == STORE_STARTING)
            s->ledger.starts[kept++] = s->ledger.starts[i];
    s->ledger.n_starts = kept;
}

/* Nothing starts that is not stored: until it can be, who was to start waits again. */
static void take_starts_back(server_t *s, const char *why)
{
    for (size_t i = 0; i < s->ledger.n_starts; i++) {
        struct member *m = &s->ledger.starts[i].job->member[s->ledger.starts[i].member];
        if (m->state == STORE_STARTING && m->run && !m->run->told)
            server_start_back(s, m->run, why);
    }
    forget_starts(s);
}

/* A commit has failed. What it had is kept and written with the next one, but for what nobody was told. */
static void not_written(server_t *s, berth_error_t *err)
{
    int saved = errno;
    char why[300];
    snprintf(why, sizeof(why), "cannot write the store: %s", err ? err->text : strerror(saved));
    if (!s->dirty.failing)
        server_notice(s, "%s", why);
    store_rollback(s->store);
    server_take_back(s);
    take_starts_back(s, why);
    server_work_failed(s, err);
    s->dirty.failing = true;
    errno = saved;
}

static int64_t steady_of(const server_t *s, int64_t ticks)
{
    return ticks == INT64_MAX ? INT64_MAX : ticks - s->clock.offset;
}

int server_turn(server_t *s, int64_t *due, berth_error_t *err)
{
    server_look(s);
    server_work(s);
    server_wait_again(s);
    server_time(s);
    /* After a failed commit nothing is decided before one succeeds. */
    bool decided = s->dirty.failing || server_pass(s, err) == 0;
    forget_starts(s);
    bool starts = s->ledger.n_starts > 0 && s->clock.now >= s->ledger.hold_until;
    if (!s->dirty.urgent && !starts && s->clock.now < s->dirty.lazy_at &&
        s->clock.now - s->clock.stored < SERVER_CLOCK_EVERY) {
        server_work_stored(s);
        *due = steady_of(s, decided ? server_due(s) : s->clock.now + RETRY);
        return 0;
    }
    if (server_write(s, err) < 0) {
        not_written(s, err);
        *due = steady_of(s, s->clock.now + RETRY);
        return -1;
    }
    s->dirty.failing = s->dirty.urgent = false;
    s->dirty.lazy_at = INT64_MAX;
    server_written(s);
    server_work_stored(s);
    server_act(s);
    *due = steady_of(s, decided ? server_due(s) : s->clock.now + RETRY);
    return 0;
}
