/* What the core knows of the jobs of a state that wait or run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/idset.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "sim/snapshot_parts.h"
#include "sim/snapshot_roles.h"
#include "sim/snapshot_stopped.h"

static const char *const core_words[] = {
    [SCHED_WAITING] = "waiting",   [SCHED_RESERVED] = "reserved", [SCHED_RUNNING] = "running",
    [SCHED_REJECTED] = "rejected", [SCHED_BLOCKED] = "blocked",   NULL};

struct saved_core {
    int64_t job;
    int state, how;
    const char *queue, *account, *user, *name, *dependency, *jobspec, *reason, *limit;
    json_t *groups, *resources, *roles;
    const char *waiting;
    int64_t duration, estimate, priority, begin, preemptible_after, deadline, submitted, since, at,
        until, promised, max_running, gangs_at_once, min, succeeded, replaced;
    int failure;
    const char *gang_over;
    struct saved_stopped stopped;
    bool hold, held, fresh, untold, displaced, expected, waits, seen, gang_up, claim;
};

static const struct key core_keys[] = {
    KEY_OF(struct saved_core, job, KEY_WHOLE, .needed = true, .max = INT32_MAX),
    KEY_OF(struct saved_core, state, KEY_WORD, .needed = true, .words = core_words),
    KEY_OF(struct saved_core, waiting, KEY_TEXT, .needed = false),
    KEY_AS(struct saved_core, max_running, "max-running", KEY_WHOLE, .min = 0, .max = UINT32_MAX),
    KEY_AS(struct saved_core, gangs_at_once, "gangs-at-once", KEY_WHOLE, .min = 0,
           .max = UINT32_MAX),
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
    SNAPSHOT_NUMBER(struct saved_core, duration, .needed = true),
    SNAPSHOT_NUMBER(struct saved_core, estimate, .needed = false),
    SNAPSHOT_NUMBER(struct saved_core, priority, .needed = true),
    SNAPSHOT_NUMBER(struct saved_core, begin, .needed = false),
    KEY_AS(struct saved_core, preemptible_after, "preemptible-after", KEY_WHOLE,
           .min = -SNAPSHOT_NUMBER_MAX, .max = SNAPSHOT_NUMBER_MAX),
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
    SNAPSHOT_NUMBER(struct saved_core, submitted, .needed = true),
    SNAPSHOT_NUMBER(struct saved_core, since, .needed = false),
    SNAPSHOT_NUMBER(struct saved_core, at, .needed = false),
    SNAPSHOT_NUMBER(struct saved_core, until, .needed = false),
    KEY_OF(struct saved_core, how, KEY_WORD, .words = snapshot_how),
    KEY_OF(struct saved_core, resources, KEY_ANY, .needed = false),
};

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

/* What is known of a member's gang, if it is of one. */
static void save_gang(const struct sched_record *r, json_t *object, int *rc)
{
    const struct sched_request *q = &r->request;
    if (q->min == 0)
        return;
    snapshot_put_integer(object, "min", q->min, 0, rc);
    snapshot_put_string(object, "failure", gang_failures[q->failure], rc);
    snapshot_put_integer(object, "gangs-at-once", q->gangs_at_once, 0, rc);
    snapshot_put_integer(object, "succeeded", r->succeeded, 0, rc);
    snapshot_put_integer(object, "replaced", r->replaced, 0, rc);
    snapshot_put_true(object, "gang-up", r->gang_up, rc);
    if (snapshot_put_roles(r, object) < 0)
        *rc = -1;
    snapshot_put_string(object, "gang-over", r->gang_over, rc);
}

json_t *snapshot_save_core(const struct play *p, sched_job_t handle)
{
    struct sched_record r;
    json_t *object = json_object();
    if (!object || sched_record(p->d.sched, handle, &r) < 0) {
        json_decref(object);
        return NULL;
    }
    size_t job = play_member(p, (uint32_t)r.request.tag, r.member);
    int rc = 0;
    const struct sched_request *q = &r.request;
    snapshot_put_integer(object, "job", (int64_t)job, -1, &rc);
    snapshot_put_string(object, "state", core_words[r.state], &rc);
    snapshot_put_string(object, "waiting", r.waiting, &rc);
    snapshot_put_integer(object, "max-running", q->max_running, 0, &rc);
    save_gang(&r, object, &rc);
    snapshot_put_string(object, "queue", q->queue, &rc);
    snapshot_put_string(object, "account", q->account, &rc);
    snapshot_put_string(object, "user", q->user, &rc);
    if (q->n_groups > 0 &&
        json_object_set_new(object, "groups", text_array(q->groups, q->n_groups)) < 0)
        rc = -1;
    snapshot_put_string(object, "name", q->name, &rc);
    snapshot_put_string(object, "dependency", q->dependency, &rc);
    snapshot_put_string(object, "reason", r.reason, &rc);
    snapshot_put_string(object, "limit", r.limit, &rc);
    if (json_object_set_new(object, "jobspec", json_stringn(q->jobspec, q->jobspec_length)) < 0)
        rc = -1;
    snapshot_put_integer(object, "duration", time_out(q->duration), INT64_MIN, &rc);
    snapshot_put_integer(object, "estimate", time_out(q->estimate), time_out(q->duration), &rc);
    snapshot_put_integer(object, "priority", q->priority, INT64_MIN, &rc);
    snapshot_put_integer(object, "begin", q->begin, 0, &rc);
    snapshot_put_integer(object, "preemptible-after", q->preemptible_after, 0, &rc);
    snapshot_put_integer(object, "deadline", q->deadline, 0, &rc);
    snapshot_put_true(object, "hold", q->hold, &rc);
    snapshot_put_true(object, "held", r.held, &rc);
    snapshot_put_true(object, "fresh", r.fresh, &rc);
    snapshot_put_true(object, "untold", r.untold, &rc);
    rc |= snapshot_put_stopped(&r, object);
    snapshot_put_true(object, "displaced", r.displaced, &rc);
    snapshot_put_true(object, "expected", r.expected, &rc);
    snapshot_put_true(object, "waits", r.waits, &rc);
    snapshot_put_true(object, "seen", r.seen, &rc);
    snapshot_put_true(object, "claim", r.claim, &rc);
    if (r.displaced)
        snapshot_put_integer(object, "promised", r.promised, 0, &rc);
    snapshot_put_integer(object, "submitted", r.submitted, INT64_MIN, &rc);
    snapshot_put_integer(object, "since", r.since, r.submitted, &rc);
    if (r.state == SCHED_RUNNING || r.state == SCHED_RESERVED || r.claim) {
        snapshot_put_integer(object, "at", r.at, INT64_MIN, &rc);
        snapshot_put_integer(object, "until", time_out(r.until), INT64_MIN, &rc);
        snapshot_put_string(object, "how", snapshot_how[r.how], &rc);
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

/* One above the largest index of a submission's members. */
static uint32_t array_size(const struct play *p, const struct play_submission *s)
{
    return p->jobs[s->first + s->n - 1].member + 1;
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
                    .members = play_has_members(sub) ? array_size(p, sub) : 0,
                    .indices = sub->indices,
                    .max_running = (uint32_t)s->max_running,
                    .min = (uint32_t)s->min,
                    .failure = (enum sched_gang_failure)s->failure,
                    .gangs = sub->array > 0 ? intern_text(&p->arrays, sub->array - 1) : NULL,
                    .gangs_at_once = (uint32_t)s->gangs_at_once},
        .succeeded = (uint32_t)s->succeeded,
        .replaced = (uint32_t)s->replaced,
        .gang_up = s->gang_up,
        .gang_over = s->gang_over,
        .waiting = s->waiting,
        .member = j->member,
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

/* Tell the core how members of an array ended that has gaps among its indices. Returns 0, or -1 with errno. */
static int load_ended_among_gaps(struct play *p, uint32_t number)
{
    const struct play_submission *s = &p->submissions[number];
    struct strbuf ok_text = {0}, failed_text = {0};
    struct idset ok = {0}, failed = {0};
    int rc = 0;
    for (uint32_t i = 0; i < s->n && rc == 0; i++) {
        const struct play_job *j = &p->jobs[s->first + i];
        if (j->state > PLAY_RUNNING)
            rc = idset_add(j->state == PLAY_DONE ? &ok : &failed, j->member);
    }
    idset_encode_steps(&ok, &ok_text);
    idset_encode_steps(&failed, &failed_text);
    const struct sched_ended ended = {.id = intern_text(&p->ids, number),
                                      .members = array_size(p, s),
                                      .indices = s->indices,
                                      .ok = strbuf_text(&ok_text),
                                      .failed = strbuf_text(&failed_text)};
    if (rc == 0 && ok.n + failed.n > 0)
        rc = ok_text.failed || failed_text.failed ? (errno = ENOMEM, -1)
                                                  : sched_restore_ended_members(p->d.sched, &ended);
    strbuf_clear(&ok_text);
    strbuf_clear(&failed_text);
    idset_clear(&ok);
    idset_clear(&failed);
    return rc;
}

/* The same of jobs that have ended, of one submission. */
static int load_ended_in_row(struct play *p, uint32_t number)
{
    const struct play_submission *s = &p->submissions[number];
    const char *id = intern_text(&p->ids, number);
    for (uint32_t i = 0; i < s->n; i++) {
        enum play_state state = p->jobs[s->first + i].state;
        if (state <= PLAY_RUNNING)
            continue;
        if (sched_restore_ended(p->d.sched, id, i, s->n, state == PLAY_DONE) < 0)
            return -1;
        if (s->enough > 0)
            sched_restore_enough(p->d.sched, id, s->enough);
    }
    return 0;
}

/* Tell the core how jobs ended, for jobs that depend on them. */
static int load_ended(struct play *p, const struct key_place *place, berth_error_t *err)
{
    for (uint32_t i = 0; i < p->ids.n; i++) {
        int rc = p->submissions[i].indices ? load_ended_among_gaps(p, i) : load_ended_in_row(p, i);
        if (rc < 0)
            return keys_failed(place, errno, strerror(errno), err);
    }
    return 0;
}

int snapshot_load_core(struct play *p, const json_t *core, const struct key_place *place,
                       berth_error_t *err)
{
    berth_error_t why;
    size_t lost = 0;
    if (load_ended(p, place, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(core); i++) {
        struct saved_core s = {.job = -1};
        if (snapshot_read_element(core, "core", i, core_keys,
                                  sizeof(core_keys) / sizeof(core_keys[0]), place, &s, err) < 0)
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
