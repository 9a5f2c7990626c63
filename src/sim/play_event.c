/* Events of a scenario, carried out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "config/machine_open.h"
#include "config/seconds.h"
#include "sim/play_priv.h"

int play_refuse(const struct play *p, const struct scenario_event *e, int errnum, const char *why,
                berth_error_t *err)
{
    char text[2 * sizeof(err->text)];
    struct key_place place = {p->source, e->line};
    if (errnum == ENOMEM)
        return errtext_no_memory(err);
    snprintf(text, sizeof(text), "%s: %s", scenario_kind_name(e->kind), why);
    return keys_failed(&place, errnum, text, err);
}

/* The job that an event names: jobs from *first on, *n of them. */
static int find_jobs(const struct play *p, const struct scenario_event *e, size_t *first, size_t *n,
                     berth_error_t *err)
{
    struct play_range jobs;
    char why[SCENARIO_ID_MAX + 65];
    const struct scenario_job *job = &e->job;
    if (!play_find(p, job->id, job->length, &jobs)) {
        snprintf(why, sizeof(why), "there is no job \"%.*s\"", (int)job->length, job->id);
        return play_refuse(p, e, ENOENT, why, err);
    }
    *first = jobs.first;
    *n = jobs.n;
    if (job->member < 0)
        return 0;
    size_t member = jobs.has_members
                        ? play_member(p, p->jobs[jobs.first].submission, (uint64_t)job->member)
                        : SIZE_MAX;
    if (member == SIZE_MAX) {
        snprintf(why, sizeof(why), "job \"%.*s\" has no member %lld", (int)job->length, job->id,
                 (long long)job->member);
        return play_refuse(p, e, ENOENT, why, err);
    }
    *first = member;
    *n = 1;
    return 0;
}

/* Do something to a waiting or running job. Returns 0, or -1 with EINVAL if its state does not allow that. */
typedef int (*job_f)(struct play *p, size_t job, const struct scenario_event *e,
                     berth_error_t *err);

/* Whether it was done to all that wait under the same handle. */
static bool is_acted(const struct play *p, size_t job)
{
    return p->acted >= 0 && play_handle(p, job) == p->acted;
}

static int cancel_one(struct play *p, size_t job, const struct scenario_event *e,
                      berth_error_t *err)
{
    (void)err;
    return e->number > 0 && p->jobs[job].state == PLAY_RUNNING
               ? play_begin_cancel(p, job, e->number)
               : play_end_job(p, job, PLAY_CANCELLED, NULL);
}

static int end_one(struct play *p, size_t job, const struct scenario_event *e, berth_error_t *err)
{
    (void)err;
    if (p->jobs[job].state != PLAY_RUNNING) {
        errno = EINVAL;
        return -1;
    }
    int ends = e->status >= 0 ? e->status : (int)p->submissions[p->jobs[job].submission].ends;
    return ends == SCENARIO_DONE ? play_end_job(p, job, PLAY_DONE, NULL)
                                 : play_fail_job(p, job, NULL);
}

static int prioritize_one(struct play *p, size_t job, const struct scenario_event *e,
                          berth_error_t *err)
{
    (void)err;
    return is_acted(p, job)
               ? 0
               : sched_prioritize(p->d.sched, p->d.now, play_handle(p, job), e->number);
}

static int hold_one(struct play *p, size_t job, const struct scenario_event *e, berth_error_t *err)
{
    (void)e;
    (void)err;
    if (!is_acted(p, job) && sched_hold(p->d.sched, p->d.now, play_handle(p, job)) < 0)
        return -1;
    p->jobs[job].held = true;
    return 0;
}

static int release_one(struct play *p, size_t job, const struct scenario_event *e,
                       berth_error_t *err)
{
    (void)e;
    (void)err;
    if (!is_acted(p, job) && sched_release(p->d.sched, p->d.now, play_handle(p, job)) < 0)
        return -1;
    p->jobs[job].held = false;
    return 0;
}

/* A running job without a run time ends when it is expected to. */
static int prolong_one(struct play *p, size_t job, const struct scenario_event *e,
                       berth_error_t *err)
{
    struct play_job *j = &p->jobs[job];
    struct sched_annotation a;
    p->submissions[j->submission].is_known = false;
    if (!is_acted(p, job) && sched_set_duration(p->d.sched, p->d.now, play_handle(p, job),
                                                e->number, e->estimate, err) < 0)
        return -1;
    if (j->state != PLAY_RUNNING || p->submissions[j->submission].runtime >= 0)
        return 0;
    if (sched_annotate(p->d.sched, j->handle, &a) < 0)
        return -1;
    j->end = a.until;
    heap_move(&p->d.ends, (uint32_t)job, j->end, j->order);
    return 0;
}

/* A queue does not take a job, or what it asks for now: it stays as it waits. */
static int refuse_one(struct play *p, size_t job, berth_error_t *err)
{
    const char *name = play_name_all(p, job);
    if (!name)
        return -1;
    if (p->options.decisions)
        decisions_refuse(p->options.decisions, p->d.now, name, err->text);
    err->text[0] = '\0';
    return 0;
}

static int move_one(struct play *p, size_t job, const struct scenario_event *e, berth_error_t *err)
{
    struct play_submission *s = &p->submissions[p->jobs[job].submission];
    bool waits = play_waits(p, job);
    if (is_acted(p, job))
        return 0;
    if (sched_set_queue(p->d.sched, p->d.now, play_handle(p, job), e->text, err) < 0)
        return errno == EINVAL && waits ? refuse_one(p, job, err) : -1;
    return play_intern(p, e->text, &s->queue);
}

static int update_one(struct play *p, size_t job, const struct scenario_event *e,
                      berth_error_t *err)
{
    size_t length;
    if (is_acted(p, job))
        return 0;
    char *text = play_jobspec(p, &e->submit.job, &length, err);
    if (!text)
        return -1;
    int rc = sched_set_jobspec(p->d.sched, p->d.now, play_handle(p, job), text, length, err);
    int saved = errno;
    free(text);
    p->submissions[p->jobs[job].submission].is_known = false;
    errno = saved;
    return rc < 0 && errno == EINVAL && play_waits(p, job) ? refuse_one(p, job, err) : rc;
}

static int bound_one(struct play *p, size_t job, const struct scenario_event *e, berth_error_t *err)
{
    return sched_set_max_running(p->d.sched, p->d.now, play_handle(p, job), (uint32_t)e->number,
                                 err);
}

/* Do something to a job; one that waits with others of its array is done it to with them, but if it is named alone. */
static int act_on(struct play *p, size_t job, bool alone, const struct scenario_event *e, job_f act,
                  berth_error_t *why)
{
    bool together = play_is_together(p, job);
    sched_job_t handle = together ? play_handle(p, job) : -1;
    if (together && alone) {
        if (play_split(p, job) < 0)
            return -1;
        handle = -1;
    }
    if (act(p, job, e, why) < 0)
        return -1;
    if (handle >= 0)
        p->acted = handle;
    return 0;
}

/* Do something to all jobs that an event names and whose state allows it; there must be at least one. */
static int do_jobs(struct play *p, const struct scenario_event *e, job_f act, berth_error_t *err)
{
    size_t first = 0, n = 0, done = 0, refused = 0;
    berth_error_t why = {""};
    if (find_jobs(p, e, &first, &n, err) < 0)
        return -1;
    p->acted = -1;
    for (size_t job = first; job < first + n; job++) {
        if (p->jobs[job].state > PLAY_RUNNING)
            continue;
        refused = job;
        if (act_on(p, job, n == 1, e, act, &why) == 0)
            done++;
        else if (errno == ENOMEM || *why.text)
            return play_refuse(p, e, errno, why.text, err);
    }
    p->acted = -1;
    if (done > 0)
        return 0;
    refused = refused ? refused : first;
    snprintf(why.text, sizeof(why.text), "job \"%.80s\" is %s", play_name(p, refused, &p->name),
             scenario_state_name(play_look(p, refused)));
    return play_refuse(p, e, EINVAL, why.text, err);
}

/* Resources fail: they go down, and the jobs that run there end. */
static int fail_resources(struct play *p, const struct scenario_event *e, berth_error_t *err)
{
    const sched_job_t *holders;
    sched_job_t *handles = NULL;
    size_t n;
    berth_error_t why = {""};
    char reason[sizeof(why.text)];
    if (sched_holders(p->d.sched, e->text, &holders, &n, &why) < 0)
        return play_refuse(p, e, errno, why.text, err);
    if (n > 0) {
        handles = reallocarray(NULL, n, sizeof(*handles));
        if (!handles)
            return errtext_no_memory(err);
        memcpy(handles, holders, n * sizeof(*handles));
    }
    int rc = sched_set_status(p->d.sched, p->d.now, e->text, RESOURCE_DOWN, &why);
    if (rc < 0)
        play_refuse(p, e, errno, why.text, err);
    snprintf(reason, sizeof(reason), "%.200s is down", e->text);
    for (size_t i = 0; i < n && rc == 0; i++) {
        size_t job = play_job_of(p, handles[i]);
        if (job != SIZE_MAX)
            rc = play_fail_job(p, job, reason);
        if (rc < 0)
            play_refuse(p, e, errno, strerror(errno), err);
    }
    free(handles);
    return rc;
}

/* The text of a graph that is attached. */
static char *graph_text(const struct play *p, const struct scenario_event *e, size_t *length,
                        berth_error_t *why)
{
    char *text;
    if (e->text)
        return play_read_file(p, e->text, GRAPH_TEXT_MAX, length, why);
    if (e->kind == SCENARIO_ADD_NODES)
        text = play_more_nodes(p->options.machine, e->number, why);
    else if (!(text = json_dumps(e->object, JSON_COMPACT)))
        errtext_no_memory(why);
    *length = text ? strlen(text) : 0;
    return text;
}

/* Attach a graph. The notes of changes get the graph itself even if it comes from a file, since the file may
 * change later.
 */
static int attach_event_graph(struct play *p, const struct scenario_event *e, berth_error_t *why)
{
    size_t length;
    char *text = graph_text(p, e, &length, why);
    if (!text)
        return -1;
    int rc = sched_attach(p->d.sched, p->d.now, text, length, why);
    if (rc == 0 && e->text) {
        json_t *graph = json_loadb(text, length, 0, NULL);
        if (!graph || json_object_set_new(e->json, "attach", graph) < 0)
            rc = errtext_no_memory(why);
    }
    free(text);
    return rc;
}

static int add_block(struct play *p, const struct scenario_block *b, berth_error_t *why)
{
    const char **users = NULL, **queues = NULL, **jobs = NULL;
    struct sched_block block = {.name = b->name,
                                .resources = b->resources,
                                .start = b->start,
                                .duration = b->duration,
                                .every = b->every};
    int rc = -1;
    if (keys_texts(b->users, &users, &block.n_users) == 0 &&
        keys_texts(b->queues, &queues, &block.n_queues) == 0 &&
        keys_texts(b->jobs, &jobs, &block.n_jobs) == 0) {
        block.users = users;
        block.queues = queues;
        block.jobs = jobs;
        rc = sched_block(p->d.sched, p->d.now, &block, why);
    }
    free(users);
    free(queues);
    free(jobs);
    return rc;
}

/* Resources are no more: jobs hold the rest of what they held. */
static int take_away(struct play *p, const struct scenario_event *e, berth_error_t *why)
{
    if (sched_remove(p->d.sched, p->d.now, e->text, why) < 0)
        return -1;
    for (size_t job = 0; job < p->n_jobs; job++)
        if (p->jobs[job].state == PLAY_RUNNING && play_note_resources(p, job) < 0)
            return -1;
    return 0;
}

/* Use another configuration; the machine and how it is matched stay as they were at first. */
static int reload(struct play *p, const struct scenario_event *e, berth_error_t *why)
{
    size_t length;
    char *text = play_read_file(p, e->text, CONFIG_TEXT_MAX, &length, why);
    if (!text)
        return -1;
    struct config *config = config_read(e->text, text, length, SECONDS_TICKS, why);
    free(text);
    if (!config)
        return -1;
    if (sched_configure(p->d.sched, p->d.now, &config->sched, why) < 0) {
        config_destroy(config);
        return -1;
    }
    config_destroy(p->reloaded);
    p->config = p->reloaded = config;
    return 0;
}

/* Events that are not about jobs. */
static int apply_other_event(struct play *p, const struct scenario_event *e, berth_error_t *why)
{
    sched_t *s = p->d.sched;
    switch (e->kind) {
    case SCENARIO_QUEUE_START:
        return sched_queue_set(s, p->d.now, e->text, true, true, why);
    case SCENARIO_QUEUE_PAUSE:
        return sched_queue_set(s, p->d.now, e->text, true, false, why);
    case SCENARIO_QUEUE_DRAIN:
        return sched_queue_set(s, p->d.now, e->text, false, true, why);
    case SCENARIO_QUEUE_STOP:
        return sched_queue_set(s, p->d.now, e->text, false, false, why);
    case SCENARIO_UP:
        return sched_set_status(s, p->d.now, e->text, RESOURCE_UP, why);
    case SCENARIO_DOWN:
        return sched_set_status(s, p->d.now, e->text, RESOURCE_DOWN, why);
    case SCENARIO_DRAIN:
        return sched_set_status(s, p->d.now, e->text, RESOURCE_DRAINED, why);
    case SCENARIO_ATTACH:
    case SCENARIO_ADD_NODES:
        return attach_event_graph(p, e, why);
    case SCENARIO_REMOVE:
        return take_away(p, e, why);
    case SCENARIO_PROPERTY:
        return sched_set_property(s, p->d.now, e->text, e->key, e->value, why);
    case SCENARIO_BLOCK:
        return add_block(p, &e->block, why);
    case SCENARIO_UNBLOCK:
        return sched_unblock(s, p->d.now, e->text, why);
    case SCENARIO_CONFIG:
        return reload(p, e, why);
    default:
        return 0;
    }
}

/* Apply an event to machine, queues or blocks, and note it, since a loaded state goes through these events
 * again.
 */
static int do_change(struct play *p, const struct scenario_event *e, berth_error_t *err)
{
    berth_error_t why = {""};
    if (e->kind == SCENARIO_FAIL) {
        if (fail_resources(p, e, err) < 0)
            return -1;
    } else if (apply_other_event(p, e, &why) < 0) {
        return play_refuse(p, e, errno, *why.text ? why.text : strerror(errno), err);
    }
    if (e->kind != SCENARIO_CONFIG && json_array_append(p->changes, e->json) < 0)
        return errtext_no_memory(err);
    return 0;
}

int play_event(struct play *p, const struct scenario_event *e, berth_error_t *err)
{
    static const job_f acts[SCENARIO_KINDS] = {
        [SCENARIO_CANCEL] = cancel_one,       [SCENARIO_END] = end_one,
        [SCENARIO_PRIORITY] = prioritize_one, [SCENARIO_HOLD] = hold_one,
        [SCENARIO_RELEASE] = release_one,     [SCENARIO_DURATION] = prolong_one,
        [SCENARIO_QUEUE] = move_one,          [SCENARIO_UPDATE] = update_one,
        [SCENARIO_AT_ONCE] = bound_one,
    };
    if (e->kind == SCENARIO_SUBMIT)
        return play_submit(p, e, err);
    if (acts[e->kind])
        return do_jobs(p, e, acts[e->kind], err);
    return do_change(p, e, err);
}
