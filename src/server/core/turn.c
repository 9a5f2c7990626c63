/* A turn: decide, commit, act. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "server/core/machine.h"
#include "server/core/members.h"
#include "server/core/priv.h"

#define RETRY SERVER_SECOND /* after a failed commit */

int start_enqueue(server_t *s, struct job *job, uint32_t member)
{
    if (array_grow((void **)&s->engine.starts, &s->engine.cap_starts, s->engine.n_starts + 1,
                   sizeof(*s->engine.starts)) < 0)
        return -1;
    s->unsaved.urgent = true;
    s->engine.starts[s->engine.n_starts++] = (struct member_ref){job, member};
    return 0;
}

static void start_run(server_t *s, struct run *run)
{
    berth_error_t why = {""};
    run->in_engine = true;
    if (run_start(s, run, &why) == 0) {
        run_arm_timer(s, run);
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

/* Start, signal and acknowledge. */
static void server_act(server_t *s)
{
    struct engine *engine = s->platform.engine;
    if (!s->engine.is_known)
        return;
    for (size_t i = 0; s->clock.now >= s->engine.hold_until && i < s->engine.n_starts; i++) {
        struct member *m = ref_record(&s->engine.starts[i]);
        if (m->state == STORE_STARTING && m->run && !m->run->in_engine)
            start_run(s, m->run);
    }
    if (s->clock.now >= s->engine.hold_until)
        s->engine.n_starts = 0;
    for (size_t i = 0; i < s->engine.n_signals; i++)
        engine->ops->signal(engine, s->engine.signals[i].key, s->engine.signals[i].signal,
                            s->engine.signals[i].tree);
    s->engine.n_signals = 0;
    if (s->runs.n_deferred == 0 && s->engine.number > s->engine.acknowledged &&
        engine->ops->acknowledge(engine, s->engine.number) == 0)
        s->engine.acknowledged = s->engine.number;
    engine->ops->flush(engine);
}

/* Remove members that no longer wait for their start: ended members are freed once that is stored. */
static void drop_started(server_t *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->engine.n_starts; i++)
        if (ref_record(&s->engine.starts[i])->state == STORE_STARTING)
            s->engine.starts[kept++] = s->engine.starts[i];
    s->engine.n_starts = kept;
}

/* Nothing starts before it is stored: what was to start waits again. */
static void undo_starts(server_t *s, const char *why)
{
    for (size_t i = 0; i < s->engine.n_starts; i++) {
        struct member *m = ref_record(&s->engine.starts[i]);
        if (m->state == STORE_STARTING && m->run && !m->run->in_engine)
            run_undo_start(s, m->run, why);
    }
    drop_started(s);
}

/* A commit has failed. Its changes stay unsaved, except those that nobody was told of, which are undone. */
static void commit_failed(server_t *s, berth_error_t *err)
{
    int saved = errno;
    char why[360];
    snprintf(why, sizeof(why), "cannot write the store: %s", err ? err->text : strerror(saved));
    if (!s->unsaved.failing)
        server_notice(s, "%s", why);
    store_rollback(s->store);
    server_undo_submissions(s);
    undo_starts(s, why);
    work_failed(s, err);
    s->unsaved.failing = true;
    errno = saved;
}

static int64_t to_steady(const server_t *s, int64_t ticks)
{
    return ticks == INT64_MAX ? INT64_MAX : ticks - s->clock.offset;
}

int server_turn(server_t *s, int64_t *due, berth_error_t *err)
{
    server_update_clock(s);
    work_run_slice(s);
    server_retry_ends(s);
    server_run_timers(s);
    if (s->pilots.leaving)
        pilots_follow(s);
    /* After a failed commit nothing is decided until one succeeds. */
    bool decided = s->unsaved.failing || (machine_follow_clock(s) == 0 && server_pass(s, err) == 0);
    drop_started(s);
    bool starts = s->engine.n_starts > 0 && s->clock.now >= s->engine.hold_until;
    if (!s->unsaved.urgent && !starts && s->clock.now < s->unsaved.commit_at &&
        s->clock.now - s->clock.stored < SERVER_CLOCK_EVERY) {
        work_stored(s);
        *due = to_steady(s, decided ? server_next_turn(s) : s->clock.now + RETRY);
        return 0;
    }
    if (server_write(s, err) < 0) {
        commit_failed(s, err);
        *due = to_steady(s, s->clock.now + RETRY);
        return -1;
    }
    s->unsaved.failing = s->unsaved.urgent = false;
    s->unsaved.commit_at = INT64_MAX;
    server_mark_saved(s);
    work_stored(s);
    server_act(s);
    *due = to_steady(s, decided ? server_next_turn(s) : s->clock.now + RETRY);
    return 0;
}
