/* The jobs of a state, and what all its parts are written and read with. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_snapshot.h"
#include "sim/snapshot_parts.h"

static const char *const state_words[] = {
    [PLAY_WAITING] = "waiting",     [PLAY_RUNNING] = "running",
    [PLAY_DONE] = "done",           [PLAY_FAILED] = "failed",
    [PLAY_CANCELLED] = "cancelled", [PLAY_REJECTED] = "rejected",
    [PLAY_PREEMPTED] = "preempted", NULL};
static const char *const ends_words[] = {
    [SCENARIO_DONE] = "done", [SCENARIO_FAILED] = "failed", NULL};

const char *const snapshot_how[] = {[SCHED_IMMEDIATE] = "immediate",
                                    [SCHED_BACKFILLED] = "backfilled",
                                    [SCHED_PROMISED] = "reserved",
                                    NULL};

struct saved_job {
    const char *id, *array, *queue, *user, *resources, *reason;
    int64_t members, member, submit, start, end, order, runtime, stopping, stop, enough;
    int state, ends, how;
    bool held;
};

static const struct key job_keys[] = {
    KEY_OF(struct saved_job, id, KEY_TEXT, .needed = true),
    KEY_OF(struct saved_job, array, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_job, members, KEY_WHOLE, .min = 1, .max = MEMBERS_MAX),
    KEY_OF(struct saved_job, member, KEY_WHOLE, .min = 0, .max = MEMBERS_MAX - 1),
    KEY_OF(struct saved_job, state, KEY_WORD, .needed = true, .words = state_words),
    KEY_OF(struct saved_job, queue, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_job, user, KEY_TEXT, .needed = false),
    SNAPSHOT_NUMBER(struct saved_job, submit, .needed = true),
    SNAPSHOT_NUMBER(struct saved_job, start, .needed = false),
    SNAPSHOT_NUMBER(struct saved_job, end, .needed = false),
    SNAPSHOT_NUMBER(struct saved_job, order, .needed = false),
    SNAPSHOT_NUMBER(struct saved_job, runtime, .needed = false),
    KEY_OF(struct saved_job, stopping, KEY_WHOLE, .max = SNAPSHOT_NUMBER_MAX),
    KEY_OF(struct saved_job, stop, KEY_WHOLE, .max = PLAY_STOP_CANCEL),
    KEY_OF(struct saved_job, enough, KEY_WHOLE, .min = 0, .max = MEMBERS_MAX),
    KEY_OF(struct saved_job, ends, KEY_WORD, .needed = true, .words = ends_words),
    KEY_OF(struct saved_job, how, KEY_WORD, .words = snapshot_how),
    KEY_OF(struct saved_job, resources, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_job, reason, KEY_TEXT, .needed = false),
    KEY_OF(struct saved_job, held, KEY_BOOL, .needed = false),
};

void snapshot_put_string(json_t *object, const char *key, const char *text, int *rc)
{
    if (text && *text && json_object_set_new(object, key, json_string(text)) < 0)
        *rc = -1;
}

void snapshot_put_integer(json_t *object, const char *key, int64_t number, int64_t usual, int *rc)
{
    if (number != usual && json_object_set_new(object, key, json_integer(number)) < 0)
        *rc = -1;
}

void snapshot_put_true(json_t *object, const char *key, bool value, int *rc)
{
    if (value && json_object_set_new(object, key, json_true()) < 0)
        *rc = -1;
}

int snapshot_read_element(const json_t *array, const char *name, size_t i, const struct key *keys,
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

json_t *snapshot_save_job(const struct play *p, size_t job)
{
    const struct play_job *j = &p->jobs[job];
    const struct play_submission *s = &p->submissions[j->submission];
    json_t *object = json_object();
    int rc = object ? 0 : -1;
    snapshot_put_string(object, "id", intern_text(&p->ids, j->submission), &rc);
    snapshot_put_string(object, "array",
                        s->array > 0 ? intern_text(&p->arrays, s->array - 1) : NULL, &rc);
    snapshot_put_integer(object, "members", s->n, 1, &rc);
    snapshot_put_integer(object, "member", j->member, (int64_t)(job - s->first), &rc);
    snapshot_put_string(object, "state", state_words[j->state], &rc);
    snapshot_put_string(object, "queue", intern_text(&p->names, s->queue), &rc);
    snapshot_put_string(object, "user", intern_text(&p->names, s->user), &rc);
    snapshot_put_integer(object, "submit", j->submit, -1, &rc);
    snapshot_put_integer(object, "start", j->start, -1, &rc);
    snapshot_put_integer(object, "end", j->end < INT64_MAX ? j->end : -1, -1,
                         &rc); /* else nobody knows */
    snapshot_put_integer(object, "order", (int64_t)j->order, 0, &rc);
    snapshot_put_integer(object, "runtime", s->runtime, -1, &rc);
    snapshot_put_integer(object, "stopping", s->stopping, 0, &rc);
    snapshot_put_integer(object, "stop", j->stop, PLAY_STOP_NONE, &rc);
    snapshot_put_integer(object, "enough",
                         sched_enough(p->d.sched, intern_text(&p->ids, j->submission)), 0, &rc);
    snapshot_put_string(object, "ends", ends_words[s->ends], &rc);
    snapshot_put_string(object, "how", j->started ? snapshot_how[j->how] : NULL, &rc);
    snapshot_put_string(object, "resources", j->resources, &rc);
    snapshot_put_string(object, "reason", j->reason, &rc);
    snapshot_put_true(object, "held", j->held, &rc);
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

static int load_text(char **to, const char *text)
{
    *to = text ? strdup(text) : NULL;
    return text && !*to ? -1 : 0;
}

/* A name for jobs, which is that of no member. */
static bool is_name(const char *text)
{
    struct scenario_job job;
    return scenario_job_parse(text, &job) && job.member < 0;
}

/* Begin the jobs of a submission. Returns 0, or -1 with EEXIST: a name is wrong or taken; or ENOMEM. */
static int add_saved(struct play *p, const struct saved_job *s, uint32_t *number)
{
    if (!is_name(s->id) || (s->array && !is_name(s->array))) {
        errno = EEXIST;
        return -1;
    }
    if (play_add(p, s->id, (uint32_t)s->members, number) < 0)
        return -1;
    return s->array ? play_join_array(p, *number, s->array) : 0;
}

/* Which member a job is, above the one before. Returns 0, or -1 with EINVAL or ENOMEM. */
static int load_member(struct play *p, size_t i, const struct saved_job *s)
{
    struct play_job *j = &p->jobs[i];
    const struct play_submission *sub = &p->submissions[j->submission];
    if (s->member >= 0)
        j->member = (uint32_t)s->member;
    if (i > sub->first && j->member <= j[-1].member) {
        errno = EINVAL;
        return -1;
    }
    return i + 1 == sub->first + sub->n ? play_note_indices(p, j->submission) : 0;
}

/* Jobs of one submission are consecutive. */
static int load_job(struct play *p, size_t i, const struct saved_job *s,
                    const struct key_place *place, berth_error_t *err)
{
    uint32_t number = p->ids.n > 0 ? p->ids.n - 1 : 0;
    if (i == p->n_jobs) {
        if (add_saved(p, s, &number) < 0)
            return errno == EEXIST
                       ? keys_failed(place, EINVAL, "jobs: an id is invalid or occurs twice", err)
                       : errtext_no_memory(err);
    } else if (strcmp(s->id, intern_text(&p->ids, number)) != 0) {
        return keys_failed(place, EINVAL, "jobs: a member of an array is missing", err);
    }
    struct play_submission *sub = &p->submissions[number];
    struct play_job *j = &p->jobs[i];
    if (load_member(p, i, s) < 0)
        return errno == EINVAL ? keys_failed(place, EINVAL, "jobs: members do not ascend", err)
                               : errtext_no_memory(err);
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

int snapshot_load_jobs(struct play *p, const json_t *jobs, const struct key_place *place,
                       berth_error_t *err)
{
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        struct saved_job s = {
            .members = 1, .member = -1, .start = -1, .end = -1, .runtime = -1, .how = -1};
        if (snapshot_read_element(jobs, "jobs", i, job_keys, sizeof(job_keys) / sizeof(job_keys[0]),
                                  place, &s, err) < 0 ||
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
