/* The state of a player as JSON, and back.
 *
 * "jobs" has all jobs so far, in order, and what the player knows of each (snapshot_jobs.c); "core" has the waiting
 * and running jobs, in the core's order, and what the core knows of each (snapshot_core.c). "changes" has the events that
 * changed machine and queues: loading a state goes through them first. "usage" has what shares have used
 * (snapshot_usage.c), "uneven" since when classes have been uneven. Times are ticks.
 */
#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "config/seconds.h"
#include "sim/play_priv.h"
#include "sim/scenario_event.h"
#include "sim/snapshot_parts.h"
#include "sim/snapshot_passed.h"
#include "sim/snapshot_uneven.h"
#include "sim/snapshot_usage.h"

#define VERSION 1

struct saved_state {
    int64_t version, now, starts;
    struct saved_passed passed;
    json_t *changes, *jobs, *core, *usage, *uneven, *pilots;
    const char *hints; /* sched_hints */
};

static const struct key state_keys[] = {
    KEY_OF(struct saved_state, version, KEY_WHOLE, .needed = true, .min = VERSION, .max = VERSION),
    KEY_OF(struct saved_state, now, KEY_WHOLE, .needed = true, .max = SECONDS_MAX * SECONDS_TICKS),
    SNAPSHOT_PASSED_KEYS(struct saved_state, passed),
    SNAPSHOT_NUMBER(struct saved_state, starts, .needed = true),
    KEY_OF(struct saved_state, changes, KEY_ARRAY, .needed = true),
    KEY_OF(struct saved_state, jobs, KEY_ARRAY, .needed = true),
    KEY_OF(struct saved_state, core, KEY_ARRAY, .needed = true),
    KEY_OF(struct saved_state, usage, KEY_ARRAY, .needed = false),
    KEY_OF(struct saved_state, uneven, KEY_ARRAY, .needed = false),
    KEY_OF(struct saved_state, pilots, KEY_OBJECT, .needed = false),
    KEY_OF(struct saved_state, hints, KEY_TEXT, .needed = false),
};
static const struct key_table state_table = {"", state_keys,
                                             sizeof(state_keys) / sizeof(state_keys[0])};

json_t *play_save(struct play *p, berth_error_t *err)
{
    json_t *jobs = json_array(), *core = json_array();
    int rc = jobs && core ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < p->n_jobs; i++)
        rc = json_array_append_new(jobs, snapshot_save_job(p, i));
    for (sched_job_t j = sched_first(p->d.sched); rc == 0 && j >= 0; j = sched_next(p->d.sched, j))
        rc = json_array_append_new(core, snapshot_save_core(p, j));
    json_t *state = rc == 0 ? json_pack("{s:i, s:I, s:I, s:O, s:O, s:O}", "version", VERSION, "now",
                                        (json_int_t)p->d.now, "starts", (json_int_t)p->d.starts,
                                        "changes", p->changes, "jobs", jobs, "core", core)
                            : NULL;
    json_decref(jobs);
    json_decref(core);
    const char *hints;
    size_t length;
    if (state && sched_hints(p->d.sched, &hints, &length) == 0 && length > 0 &&
        json_object_set_new(state, "hints", json_stringn(hints, length)) < 0) {
        json_decref(state);
        state = NULL;
    }
    if (state && p->pilots &&
        json_object_set_new(state, "pilots", sim_pilots_save(p->pilots)) < 0) {
        json_decref(state);
        state = NULL;
    }
    if (state && (snapshot_put_passed(p, state) < 0 || snapshot_put_usage(p, state) < 0 ||
                  snapshot_put_uneven(p, state) < 0)) {
        json_decref(state);
        state = NULL;
    }
    if (!state)
        errtext_set(err, ENOMEM, "out of memory for the state");
    return state;
}

static int load_changes(struct play *p, json_t *changes, const struct key_place *place,
                        berth_error_t *err)
{
    size_t i;
    json_t *change;
    json_array_foreach (changes, i, change) {
        struct scenario_event e = {.status = -1, .json = change};
        if (!json_is_object(change))
            return keys_failed(place, EINVAL, "changes: expected objects", err);
        if (scenario_event_read(&e, change, place, err) < 0)
            return -1;
        if (e.kind < SCENARIO_QUEUE_START || e.kind >= SCENARIO_CONFIG)
            return keys_failed(place, EINVAL, "changes: expected an event that changes something",
                               err);
        if (play_event(p, &e, err) < 0)
            return -1;
    }
    return 0;
}

static int load_hints(struct play *p, const char *hints, const struct key_place *place,
                      berth_error_t *err)
{
    berth_error_t why;
    if (!hints || sched_restore_hints(p->d.sched, hints, strlen(hints), &why) == 0)
        return 0;
    return keys_failed(place, errno, why.text, err);
}

struct play *play_load(const struct play_options *options, json_t *state, const char *name,
                       berth_error_t *err)
{
    struct key_place place = {name, 0};
    struct saved_state s = {0};
    if (!json_is_object(state)) {
        keys_failed(&place, EINVAL, "expected an object", err);
        return NULL;
    }
    if (keys_read(state, &state_table, &place, &s, err) < 0)
        return NULL;
    struct play *p = play_create(options, err);
    if (!p)
        return NULL;
    p->source = name;
    p->d.now = s.now;
    if (load_changes(p, s.changes, &place, err) == 0 &&
        play_load_pilots(p, s.pilots, &place, err) == 0 &&
        snapshot_load_jobs(p, s.jobs, &place, err) == 0 &&
        snapshot_load_usage(p, s.usage, &place, err) == 0 &&
        snapshot_load_core(p, s.core, &place, err) == 0 &&
        snapshot_load_uneven(p, s.uneven, &place, err) == 0 &&
        play_load_runs(p, &place, err) == 0 && load_hints(p, s.hints, &place, err) == 0 &&
        snapshot_load_passed(p, &s.passed, &place, err) == 0) {
        p->d.starts = (uint64_t)s.starts;
        return p;
    }
    play_destroy(p);
    return NULL;
}
