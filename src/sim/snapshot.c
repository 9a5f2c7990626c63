/* The state of a player as JSON, and back.
 *
 * "jobs" has all jobs so far, in order, and what the player knows of each; "core" has the waiting and running
 * jobs, in the core's order, and what the core knows of each. "changes" has the events that changed machine
 * and queues: loading a state goes through them first. "usage" has what shares have used (snapshot_usage.c), "uneven"
 * since when classes have been uneven. Times are ticks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "config/seconds.h"
#include "sim/play_priv.h"
#include "sim/scenario_event.h"
#include "sim/snapshot_passed.h"
#include "sim/snapshot_roles.h"
#include "sim/snapshot_stopped.h"
#include "sim/snapshot_uneven.h"
#include "sim/snapshot_usage.h"

#define VERSION       1
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char *const state_words[] = {
    [PLAY_WAITING] = "waiting",     [PLAY_RUNNING] = "running",
    [PLAY_DONE] = "done",           [PLAY_FAILED] = "failed",
    [PLAY_CANCELLED] = "cancelled", [PLAY_REJECTED] = "rejected",
    [PLAY_PREEMPTED] = "preempted", NULL};
static const char *const ends_words[] = {
    [SCENARIO_DONE] = "done", [SCENARIO_FAILED] = "failed", NULL};
static const char *const how_words[] = {[SCHED_IMMEDIATE] = "immediate",
                                        [SCHED_BACKFILLED] = "backfilled",
                                        [SCHED_PROMISED] = "reserved",
                                        NULL};
static const char *const core_words[] = {
    [SCHED_WAITING] = "waiting",   [SCHED_RESERVED] = "reserved", [SCHED_RUNNING] = "running",
    [SCHED_REJECTED] = "rejected", [SCHED_BLOCKED] = "blocked",   NULL};

struct saved_state {
    int64_t version, now, starts;
    struct saved_passed passed;
    json_t *changes, *jobs, *core, *usage, *uneven, *pilots;
    const char *hints; /* sched_hints */
};

/* The largest number: times, and sums of a few of them. */
#define NUMBER_MAX (4 * SECONDS_MAX * SECONDS_TICKS)

#define NUMBER(into, field, ...)                                                                   \
    KEY_OF(into, field, KEY_WHOLE, .min = -NUMBER_MAX, .max = NUMBER_MAX, __VA_ARGS__)

static const struct key state_keys[] = {
    KEY_OF(struct saved_state, version, KEY_WHOLE, .needed = true, .min = VERSION, .max = VERSION),
    KEY_OF(struct saved_state, now, KEY_WHOLE, .needed = true, .max = SECONDS_MAX * SECONDS_TICKS),
    SNAPSHOT_PASSED_KEYS(struct saved_state, passed),
    NUMBER(struct saved_state, starts, .needed = true),
    KEY_OF(struct saved_state, changes, KEY_ARRAY, .needed = true),
    KEY_OF(struct saved_state, jobs, KEY_ARRAY, .needed = true),
    KEY_OF(struct saved_state, core, KEY_ARRAY, .needed = true),
    KEY_OF(struct saved_state, usage, KEY_ARRAY, .needed = false),
    KEY_OF(struct saved_state, uneven, KEY_ARRAY, .needed = false),
    KEY_OF(struct saved_state, pilots, KEY_OBJECT, .needed = false),
    KEY_OF(struct saved_state, hints, KEY_TEXT, .needed = false),
};
static const struct key_table state_table = {"", state_keys, LENGTH(state_keys)};

struct saved_job {
    const char *id, *queue, *user, *resources, *reason;
    int64_t members, submit, start, end, order, runtime, stopping, stop, enough;
    int state, ends, how;
    bool held;
};

static const struct key job_keys[] = {
    KEY_OF(struct saved_job, id, KEY_TEXT, .needed = true),
    KEY_OF(struct saved_job, members, KEY_WHOLE, .min = 1, .max = MEMBERS_MAX),
    KEY_OF(struct saved_job, state, KEY_WORD, .needed = true, .words = state_words),
    KEY_OF(struct saved_job, queue, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_job, user, KEY_TEXT, .needed = false),
    NUMBER(struct saved_job, submit, .needed = true),
    NUMBER(struct saved_job, start, .needed = false),
    NUMBER(struct saved_job, end, .needed = false),
    NUMBER(struct saved_job, order, .needed = false),
    NUMBER(struct saved_job, runtime, .needed = false),
    KEY_OF(struct saved_job, stopping, KEY_WHOLE, .max = NUMBER_MAX),
    KEY_OF(struct saved_job, stop, KEY_WHOLE, .max = PLAY_STOP_REQUEUE),
    KEY_OF(struct saved_job, enough, KEY_WHOLE, .min = 0, .max = MEMBERS_MAX),
    KEY_OF(struct saved_job, ends, KEY_WORD, .needed = true, .words = ends_words),
    KEY_OF(struct saved_job, how, KEY_WORD, .words = how_words),
    KEY_OF(struct saved_job, resources, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_job, reason, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_job, held, KEY_BOOL, .needed = false),
};

struct saved_core {
    int64_t job;
    int state, how;
    const char *queue, *account, *user, *name, *dependency, *jobspec, *reason, *limit;
    json_t *groups, *resources, *roles;
    const char *indices, *waiting;
    int64_t duration, estimate, priority, begin, preemptible_after, deadline, submitted, since, at,
        until, promised, max_running, min, succeeded, replaced;
    int failure;
    const char *gang_over;
    struct saved_stopped stopped;
    bool hold, held, fresh, untold, displaced, expected, waits, seen, gang_up, claim;
};

static const struct key core_keys[] = {
    KEY_OF(struct saved_core, job, KEY_WHOLE, .needed = true, .max = INT32_MAX),
    KEY_OF(struct saved_core, state, KEY_WORD, .needed = true, .words = core_words),
    KEY_OF(struct saved_core, waiting, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_core, indices, KEY_TEXT, .needed = false),
    KEY_AS(struct saved_core, max_running, "max-running", KEY_WHOLE, .min = 0, .max = UINT32_MAX),
    KEY_OF(struct saved_core, min, KEY_WHOLE, .min = 0, .max = MEMBERS_MAX),
    KEY_OF(struct saved_core, roles, KEY_ARRAY, .needed = false),
    KEY_OF(struct saved_core, failure, KEY_WORD, .words = gang_failures),
    KEY_OF(struct saved_core, succeeded, KEY_WHOLE, .min = 0, .max = MEMBERS_MAX),
    KEY_OF(struct saved_core, replaced, KEY_WHOLE, .min = 0, .max = MEMBERS_MAX),
    KEY_AS(struct saved_core, gang_up, "gang-up", KEY_BOOL, .needed = false),
    KEY_AS(struct saved_core, gang_over, "gang-over", KEY_TEXT, .needed = false),
    KEY_OF(struct saved_core, queue, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_core, account, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_core, user, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_core, groups, KEY_TEXTS, .needed = false),
    KEY_OF(struct saved_core, name, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_core, dependency, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_core, reason, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_core, limit, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_core, jobspec, KEY_TEXT, .needed = true),
    NUMBER(struct saved_core, duration, .needed = true),
    NUMBER(struct saved_core, estimate, .needed = false),
    NUMBER(struct saved_core, priority, .needed = true),
    NUMBER(struct saved_core, begin, .needed = false),
    KEY_AS(struct saved_core, preemptible_after, "preemptible-after", KEY_WHOLE, .min = -NUMBER_MAX,
           .max = NUMBER_MAX),
    KEY_OF(struct saved_core, deadline, KEY_WHOLE, .min = 0, .max = INT64_MAX),
    KEY_OF(struct saved_core, hold, KEY_BOOL, .needed = false),
    KEY_OF(struct saved_core, held, KEY_BOOL, .needed = false),
    KEY_OF(struct saved_core, fresh, KEY_BOOL, .needed = false),
    KEY_OF(struct saved_core, untold, KEY_BOOL, .needed = false),
    SNAPSHOT_STOPPED_KEYS(struct saved_core, stopped),
    KEY_OF(struct saved_core, displaced, KEY_BOOL, .needed = false),
    KEY_OF(struct saved_core, expected, KEY_BOOL, .needed = false),
    KEY_OF(struct saved_core, waits, KEY_BOOL, .needed = false),
    KEY_OF(struct saved_core, seen, KEY_BOOL, .needed = false),
    KEY_OF(struct saved_core, claim, KEY_BOOL, .needed = false),
    KEY_OF(struct saved_core, promised, KEY_WHOLE, .needed = false, .max = INT64_MAX),
    NUMBER(struct saved_core, submitted, .needed = true),
    NUMBER(struct saved_core, since, .needed = false),
    NUMBER(struct saved_core, at, .needed = false),
    NUMBER(struct saved_core, until, .needed = false),
    KEY_OF(struct saved_core, how, KEY_WORD, .words = how_words),
    KEY_OF(struct saved_core, resources, KEY_ANY, .needed = false),
};

/* Add members unless they are empty. A failure shows in *rc. */
static void add_string(json_t *object, const char *key, const char *text, int *rc)
{
    if (text && *text && json_object_set_new(object, key, json_string(text)) < 0)
        *rc = -1;
}

static void add_integer(json_t *object, const char *key, int64_t number, int64_t usual, int *rc)
{
    if (number != usual && json_object_set_new(object, key, json_integer(number)) < 0)
        *rc = -1;
}

static void put_true(json_t *object, const char *key, bool value, int *rc)
{
    if (value && json_object_set_new(object, key, json_true()) < 0)
        *rc = -1;
}

static json_t *save_job(const struct play *p, size_t job)
{
    const struct play_job *j = &p->jobs[job];
    const struct play_submission *s = &p->submissions[j->submission];
    json_t *object = json_object();
    int rc = object ? 0 : -1;
    add_string(object, "id", intern_text(&p->ids, j->submission), &rc);
    add_integer(object, "members", s->n, 1, &rc);
    add_string(object, "state", state_words[j->state], &rc);
    add_string(object, "queue", intern_text(&p->names, s->queue), &rc);
    add_string(object, "user", intern_text(&p->names, s->user), &rc);
    add_integer(object, "submit", j->submit, -1, &rc);
    add_integer(object, "start", j->start, -1, &rc);
    add_integer(object, "end", j->end < INT64_MAX ? j->end : -1, -1, &rc); /* else nobody knows */
    add_integer(object, "order", (int64_t)j->order, 0, &rc);
    add_integer(object, "runtime", s->runtime, -1, &rc);
    add_integer(object, "stopping", s->stopping, 0, &rc);
    add_integer(object, "stop", j->stop, PLAY_STOP_NONE, &rc);
    add_integer(object, "enough", sched_enough(p->d.sched, intern_text(&p->ids, j->submission)), 0,
                &rc);
    add_string(object, "ends", ends_words[s->ends], &rc);
    add_string(object, "how", j->started ? how_words[j->how] : NULL, &rc);
    add_string(object, "resources", j->resources, &rc);
    add_string(object, "reason", j->reason, &rc);
    put_true(object, "held", j->held, &rc);
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *text_array(const char *const *texts, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < n; i++) {
        if (json_array_append_new(array, json_string(texts[i])) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* A limit and an estimate in a state: -1 if there is none. */
static int64_t time_out(int64_t ticks)
{
    return ticks < SCHED_UNLIMITED ? ticks : -1;
}

static int64_t time_in(int64_t ticks)
{
    return ticks < 0 ? SCHED_UNLIMITED : ticks;
}

static json_t *save_core(const struct play *p, sched_job_t handle)
{
    struct sched_record r;
    json_t *object = json_object();
    if (!object || sched_record(p->d.sched, handle, &r) < 0) {
        json_decref(object);
        return NULL;
    }
    uint32_t job = p->submissions[r.request.tag].first + r.member;
    int rc = 0;
    const struct sched_request *q = &r.request;
    add_integer(object, "job", job, -1, &rc);
    add_string(object, "state", core_words[r.state], &rc);
    add_string(object, "waiting", r.waiting, &rc);
    add_string(object, "indices", q->indices, &rc);
    add_integer(object, "max-running", q->max_running, 0, &rc);
    if (q->min > 0) {
        add_integer(object, "min", q->min, 0, &rc);
        add_string(object, "failure", gang_failures[q->failure], &rc);
        add_integer(object, "succeeded", r.succeeded, 0, &rc);
        add_integer(object, "replaced", r.replaced, 0, &rc);
        put_true(object, "gang-up", r.gang_up, &rc);
        if (snapshot_put_roles(&r, object) < 0)
            rc = -1;
        add_string(object, "gang-over", r.gang_over, &rc);
    }
    add_string(object, "queue", q->queue, &rc);
    add_string(object, "account", q->account, &rc);
    add_string(object, "user", q->user, &rc);
    if (q->n_groups > 0 &&
        json_object_set_new(object, "groups", text_array(q->groups, q->n_groups)) < 0)
        rc = -1;
    add_string(object, "name", q->name, &rc);
    add_string(object, "dependency", q->dependency, &rc);
    add_string(object, "reason", r.reason, &rc);
    add_string(object, "limit", r.limit, &rc);
    if (json_object_set_new(object, "jobspec", json_stringn(q->jobspec, q->jobspec_length)) < 0)
        rc = -1;
    add_integer(object, "duration", time_out(q->duration), INT64_MIN, &rc);
    add_integer(object, "estimate", time_out(q->estimate), time_out(q->duration), &rc);
    add_integer(object, "priority", q->priority, INT64_MIN, &rc);
    add_integer(object, "begin", q->begin, 0, &rc);
    add_integer(object, "preemptible-after", q->preemptible_after, 0, &rc);
    add_integer(object, "deadline", q->deadline, 0, &rc);
    put_true(object, "hold", q->hold, &rc);
    put_true(object, "held", r.held, &rc);
    put_true(object, "fresh", r.fresh, &rc);
    put_true(object, "untold", r.untold, &rc);
    rc |= snapshot_put_stopped(&r, object);
    put_true(object, "displaced", r.displaced, &rc);
    put_true(object, "expected", r.expected, &rc);
    put_true(object, "waits", r.waits, &rc);
    put_true(object, "seen", r.seen, &rc);
    put_true(object, "claim", r.claim, &rc);
    if (r.displaced)
        add_integer(object, "promised", r.promised, 0, &rc);
    add_integer(object, "submitted", r.submitted, INT64_MIN, &rc);
    add_integer(object, "since", r.since, r.submitted, &rc);
    if (r.state == SCHED_RUNNING || r.state == SCHED_RESERVED || r.claim) {
        add_integer(object, "at", r.at, INT64_MIN, &rc);
        add_integer(object, "until", time_out(r.until), INT64_MIN, &rc);
        add_string(object, "how", how_words[r.how], &rc);
    }
    if (r.resources &&
        json_object_set_new(object, "resources",
                            json_loadb(r.resources, r.resources_length, 0, NULL)) < 0)
        rc = -1;
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *play_save(struct play *p, berth_error_t *err)
{
    json_t *jobs = json_array(), *core = json_array();
    int rc = jobs && core ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < p->n_jobs; i++)
        rc = json_array_append_new(jobs, save_job(p, i));
    for (sched_job_t j = sched_first(p->d.sched); rc == 0 && j >= 0; j = sched_next(p->d.sched, j))
        rc = json_array_append_new(core, save_core(p, j));
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

/* Read the i-th object of an array. */
static int read_element(const json_t *array, const char *name, size_t i, const struct key *keys,
                        size_t n_keys, const struct key_place *place, void *into,
                        berth_error_t *err)
{
    char what[64];
    struct key_table table = {what, keys, n_keys};
    json_t *element = json_array_get(array, i);
    snprintf(what, sizeof(what), "%s[%zu]: ", name, i);
    if (json_is_object(element))
        return keys_read(element, &table, place, into, err);
    snprintf(what, sizeof(what), "%s[%zu]: expected an object", name, i);
    return keys_failed(place, EINVAL, what, err);
}

static int load_changes(struct play *p, json_t *changes, const struct key_place *place,
                        berth_error_t *err)
{
    size_t i;
    json_t *change;
    json_array_foreach(changes, i, change)
    {
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

static int load_text(char **to, const char *text)
{
    *to = text ? strdup(text) : NULL;
    return text && !*to ? -1 : 0;
}

/* Jobs of one submission are consecutive. */
static int load_job(struct play *p, size_t i, const struct saved_job *s,
                    const struct key_place *place, berth_error_t *err)
{
    uint32_t number = p->ids.n > 0 ? p->ids.n - 1 : 0;
    if (i == p->n_jobs) {
        struct scenario_job id;
        if (!scenario_job_parse(s->id, &id) || id.member >= 0 ||
            (play_add(p, s->id, (uint32_t)s->members, &number) < 0 && errno == EEXIST))
            return keys_failed(place, EINVAL, "jobs: an id is invalid or occurs twice", err);
        if (number >= p->ids.n)
            return errtext_no_memory(err);
    } else if (strcmp(s->id, intern_text(&p->ids, number)) != 0) {
        return keys_failed(place, EINVAL, "jobs: a member of an array is missing", err);
    }
    struct play_submission *sub = &p->submissions[number];
    struct play_job *j = &p->jobs[i];
    sub->runtime = s->runtime;
    sub->stopping = s->stopping;
    sub->enough = (uint32_t)(s->enough <= s->members ? s->enough : 0);
    sub->ends = (enum scenario_end)s->ends;
    j->state = (enum play_state)s->state;
    j->how = (enum sched_how)(s->how >= 0 ? s->how : 0);
    j->started = s->how >= 0;
    j->held = s->held;
    j->stop = (enum play_stop)s->stop;
    j->submit = s->submit;
    j->start = s->start;
    j->end = j->state == PLAY_RUNNING && s->end < 0 ? INT64_MAX : s->end;
    j->order = (uint64_t)s->order;
    if (play_intern(p, s->queue, &sub->queue) < 0 || play_intern(p, s->user, &sub->user) < 0 ||
        load_text(&j->resources, s->resources) < 0 || load_text(&j->reason, s->reason) < 0)
        return errtext_no_memory(err);
    return 0;
}

static int load_jobs(struct play *p, const json_t *jobs, const struct key_place *place,
                     berth_error_t *err)
{
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        struct saved_job s = {.members = 1, .start = -1, .end = -1, .runtime = -1, .how = -1};
        if (read_element(jobs, "jobs", i, job_keys, LENGTH(job_keys), place, &s, err) < 0 ||
            load_job(p, i, &s, place, err) < 0)
            return -1;
    }
    p->d.live = 0;
    for (size_t i = 0; i < p->n_jobs; i++)
        p->d.live += p->jobs[i].state <= PLAY_RUNNING;
    if (p->n_jobs != json_array_size(jobs))
        return keys_failed(place, EINVAL, "jobs: a member of an array is missing", err);
    return 0;
}

static struct sched_record record_of(const struct play *p, const struct saved_core *s)
{
    const struct play_job *j = &p->jobs[s->job];
    const struct play_submission *sub = &p->submissions[j->submission];
    return (struct sched_record){
        .request = {.duration = time_in(s->duration),
                    .estimate = time_in(s->estimate),
                    .priority = s->priority,
                    .tag = j->submission,
                    .jobspec = s->jobspec,
                    .jobspec_length = strlen(s->jobspec),
                    .id = intern_text(&p->ids, j->submission),
                    .queue = s->queue,
                    .account = s->account,
                    .user = s->user,
                    .name = s->name,
                    .dependency = s->dependency,
                    .begin = s->begin,
                    .hold = s->hold,
                    .preemptible_after = s->preemptible_after,
                    .deadline = s->deadline,
                    .members = sub->n > 1 ? sub->n : 0,
                    .indices = s->indices,
                    .max_running = (uint32_t)s->max_running,
                    .min = (uint32_t)s->min,
                    .failure = (enum sched_gang_failure)s->failure},
        .succeeded = (uint32_t)s->succeeded,
        .replaced = (uint32_t)s->replaced,
        .gang_up = s->gang_up,
        .gang_over = s->gang_over,
        .waiting = s->waiting,
        .member = (uint32_t)((size_t)s->job - sub->first),
        .state = (enum sched_state)s->state,
        .submitted = s->submitted,
        .since = s->since,
        .at = s->at,
        .until = time_in(s->until),
        .how = (enum sched_how)s->how,
        .held = s->held,
        .reason = s->reason,
        .limit = s->limit,
        .fresh = s->fresh,
        .untold = s->untold,
        .displaced = s->displaced,
        .expected = s->expected,
        .waits = s->waits,
        .seen = s->seen,
        .claim = s->claim,
        .promised = s->promised,
    };
}

/* Restore a job in the core. Returns 0; 1 with a text if it can't be restored, though others may; or -1. */
static int load_core(struct play *p, const struct saved_core *s, const struct key_place *place,
                     berth_error_t *err)
{
    berth_error_t why = {""};
    char text[2 * sizeof(why.text)];
    const char **groups = NULL;
    if (s->job < 0 || (size_t)s->job >= p->n_jobs || p->jobs[s->job].handle >= 0 ||
        (s->waiting && p->submissions[p->jobs[s->job].submission].handle >= 0) ||
        p->jobs[s->job].state != (s->state == SCHED_RUNNING ? PLAY_RUNNING : PLAY_WAITING))
        return keys_failed(place, EINVAL, "core: does not match jobs", err);
    struct play_job *j = &p->jobs[s->job];
    struct sched_record record = record_of(p, s);
    struct sched_role roles[SCHED_ROLES_MAX];
    if (snapshot_load_roles(s->roles, roles, &record) < 0)
        return keys_failed(place, EINVAL, "core: expected roles of a gang", err);
    struct sched_awaiting *awaited_by = snapshot_take_stopped(&s->stopped, &record);
    if (!awaited_by && errno == EINVAL)
        return keys_failed(place, EINVAL, "core: awaited-by: expected jobs", err);
    char *resources = s->resources ? json_dumps(s->resources, JSON_COMPACT) : NULL;
    if (!awaited_by || (s->resources && !resources) ||
        keys_texts(s->groups, &groups, &record.request.n_groups) < 0) {
        free(awaited_by);
        free(resources);
        return errtext_no_memory(err);
    }
    record.request.groups = groups;
    record.resources = resources;
    record.resources_length = resources ? strlen(resources) : 0;
    j->promised = s->state == SCHED_RESERVED && !record.preempts ? s->at : -1;
    j->expected = s->expected;
    sched_job_t handle = sched_restore(p->d.sched, p->d.now, &record, &why);
    if (handle < 0 && errno != ENOMEM && (s->state == SCHED_RESERVED || s->claim)) {
        record.claim = record.preempts = false;
        record.state = SCHED_WAITING; /* what it was promised does not exist any more */
        handle = sched_restore(p->d.sched, p->d.now, &record, &why);
    }
    int errnum = errno;
    free(awaited_by);
    free(resources);
    free(groups);
    if (handle >= 0 && s->waiting)
        p->submissions[j->submission].handle = handle;
    else
        j->handle = handle;
    if (handle < 0) {
        snprintf(text, sizeof(text), "job \"%s\": %s", play_name(p, (size_t)s->job, &p->name),
                 why.text);
        keys_failed(place, errnum, text, err);
        return errnum == ENOMEM ? -1 : 1;
    }
    if (j->state == PLAY_RUNNING && heap_put(&p->d.ends, (uint32_t)s->job, j->end, j->order) < 0)
        return errtext_no_memory(err);
    return 0;
}

/* Tell the core how jobs ended, for jobs that depend on them. */
static int load_ended(struct play *p, const struct key_place *place, berth_error_t *err)
{
    for (size_t i = 0; i < p->n_jobs; i++) {
        const struct play_job *j = &p->jobs[i];
        const struct play_submission *s = &p->submissions[j->submission];
        if (j->state <= PLAY_RUNNING)
            continue;
        if (sched_restore_ended(p->d.sched, intern_text(&p->ids, j->submission),
                                (uint32_t)(i - s->first), s->n, j->state == PLAY_DONE) < 0)
            return keys_failed(place, errno, strerror(errno), err);
        if (s->enough > 0)
            sched_restore_enough(p->d.sched, intern_text(&p->ids, j->submission), s->enough);
    }
    return 0;
}

static int load_all_core(struct play *p, const json_t *core, const struct key_place *place,
                         berth_error_t *err)
{
    berth_error_t why;
    size_t lost = 0;
    if (load_ended(p, place, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(core); i++) {
        struct saved_core s = {.job = -1};
        if (read_element(core, "core", i, core_keys, LENGTH(core_keys), place, &s, err) < 0)
            return -1;
        int rc = load_core(p, &s, place, lost == 0 ? err : &why);
        if (rc < 0)
            return -1;
        if (rc == 0)
            continue;
        if (lost++ == 0 && err)
            why = *err;
        if (p->options.unmet)
            p->options.unmet(p->options.unmet_arg, why.text);
    }
    if (lost > 0) {
        snprintf(why.text, sizeof(why.text), "%zu job%s can't be restored", lost,
                 lost > 1 ? "s" : "");
        return keys_failed(place, EINVAL, why.text, err);
    }
    for (size_t i = 0; i < p->n_jobs; i++) {
        if (p->jobs[i].state <= PLAY_RUNNING && play_handle(p, i) < 0)
            return keys_failed(place, EINVAL, "core: a waiting or running job is missing", err);
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
        play_load_pilots(p, s.pilots, &place, err) == 0 && load_jobs(p, s.jobs, &place, err) == 0 &&
        snapshot_load_usage(p, s.usage, &place, err) == 0 &&
        load_all_core(p, s.core, &place, err) == 0 &&
        snapshot_load_uneven(p, s.uneven, &place, err) == 0 &&
        play_load_runs(p, &place, err) == 0 && load_hints(p, s.hints, &place, err) == 0 &&
        snapshot_load_passed(p, &s.passed, &place, err) == 0) {
        p->d.starts = (uint64_t)s.starts;
        return p;
    }
    play_destroy(p);
    return NULL;
}
