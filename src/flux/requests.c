/* What the job manager asks of a scheduler (RFC 27). */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "config/seconds.h"
#include "flux/module.h"
#include "flux/r.h"
#include "flux/slots.h"
#include "flux/users.h"

/* Of a job that is only tried: no other has this number, and what jobs have without an urgency of their own. */
#define TRIED_ID         UINT64_MAX
#define DEFAULT_PRIORITY 16

int64_t module_end_of(const struct module *m, int64_t at, int64_t limit)
{
    int64_t end = limit < SCHED_UNLIMITED - at ? at + limit : INT64_MAX;
    return end < m->expiration ? end : m->expiration;
}

/* The limit of a job without a duration, were it to start now. */
static int64_t time_left(const struct module *m)
{
    if (m->expiration == INT64_MAX)
        return SCHED_UNLIMITED;
    return m->expiration > m->now ? m->expiration - m->now : 1;
}

/* Its place in the order of Flux among those of its priority: by the time of submission, then by its id. */
static uint64_t order_of(double submitted, uint64_t id)
{
    return ((uint64_t)llround(submitted * 1e6) << 12 | (id & 0xfff)) + 1;
}

static void deny(struct module *m, const flux_msg_t *msg, const char *why)
{
    char note[320];
    snprintf(note, sizeof(note), "alloc denied: %s", why);
    if (schedutil_alloc_respond_deny(m->util, msg, note) < 0)
        flux_log_error(m->h, "alloc: deny");
}

/* What sched.alloc says. */
struct alloc {
    flux_jobid_t id;
    json_int_t priority, userid;
    double t_submit, duration;
    const char *bank, *queue;
    json_t *jobspec;
    bool is_gang;
};

static void read_jobspec(struct alloc *a)
{
    json_t *system;

    if (json_unpack(a->jobspec, "{s:{s:o}}", "attributes", "system", &system) < 0)
        return;
    json_unpack(system, "{s?F s?s s?s}", "duration", &a->duration, "bank", &a->bank, "queue",
                &a->queue);
    json_t *gang = json_object_get(system, "gang");
    a->is_gang = gang && !json_is_null(gang);
}

static int read_alloc(const flux_msg_t *msg, struct alloc *a)
{
    *a = (struct alloc){0};
    if (flux_msg_unpack(msg, "{s:I s:I s:I s:F s:o}", "id", &a->id, "priority", &a->priority,
                        "userid", &a->userid, "t_submit", &a->t_submit, "jobspec", &a->jobspec) < 0)
        return -1;
    read_jobspec(a);
    return 0;
}

/* The nearest priority that jobs may have as queues are configured: Flux has one of its own for a job that is to go first. */
static int64_t priority_within(const struct module *m, int64_t priority)
{
    int64_t least, most;
    sched_priorities(m->sched, &least, &most);
    priority = priority < least ? least : priority;
    return priority > most ? most : priority;
}

/* Returns the new job's handle, or -1 with errno. What is only tried is not recorded. */
static sched_job_t submit_alloc(struct module *m, const struct alloc *a, bool is_tried)
{
    json_t *jobspec = slots_written_out(a->jobspec);
    char *text = jobspec ? json_dumps(jobspec, JSON_COMPACT) : NULL;
    const struct job_name id = job_f58(a->id);
    const char *user = flux_users_name(m->users, (uint32_t)a->userid);
    const struct config_user *known = config_user(m->config, user);
    int64_t submitted = llround(a->t_submit * (double)m->second);
    sched_job_t handle = -1;

    struct sched_request request = {.priority = priority_within(m, a->priority),
                                    .tag = a->id,
                                    .id = id.text,
                                    .jobspec = text,
                                    .user = user,
                                    .account = m->config->sched.n_accounts > 0 ? a->bank : NULL,
                                    .order = order_of(a->t_submit, a->id),
                                    .submitted = submitted < m->now ? submitted : m->now};
    if (a->duration <= 0 && m->expiration < INT64_MAX)
        request.duration = time_left(m);
    if (m->no_queue && !a->queue)
        request.queue = m->no_queue;
    if (known) {
        request.groups = known->groups;
        request.n_groups = known->n_groups;
    }
    errno = ENOMEM;
    if (text && user) {
        request.jobspec_length = strlen(text);
        if (!is_tried)
            record_submit(m, &request, jobspec);
        handle = sched_submit(m->sched, m->now, &request);
    }
    int error = errno;
    free(text);
    json_decref(jobspec);
    errno = error;
    return handle;
}

static void alloc_cb(flux_t *h, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    struct alloc a;

    if (read_alloc(msg, &a) < 0) {
        flux_log_error(h, "alloc: unexpected message");
        return;
    }
    module_event(m);
    struct flux_job *old = flux_jobs_find(&m->jobs, a.id);
    if (old && old->request) { /* the job manager has forgotten that it sent one */
        sched_cancel(m->sched, m->now, old->handle);
        flux_jobs_remove(&m->jobs, old);
    }
    if (a.is_gang) {
        deny(m, msg, "a job of Flux starts as a whole, expected no gang in its jobspec");
        return;
    }
    sched_job_t handle = submit_alloc(m, &a, false);
    struct flux_job *job = handle < 0 ? NULL : flux_jobs_add(&m->jobs, a.id, handle, msg);
    if (!job) {
        const char *why = strerror(errno);
        if (handle >= 0)
            sched_withdraw(m->sched, m->now, handle);
        deny(m, msg, why);
        return;
    }
    job->user = (uint32_t)a.userid;
    job->until_end = a.duration <= 0;
}

sched_job_t module_try(struct module *m, json_t *jobspec, uint32_t user)
{
    struct alloc a = {.id = TRIED_ID,
                      .priority = DEFAULT_PRIORITY,
                      .userid = user,
                      .t_submit = (double)m->now / (double)m->second,
                      .jobspec = jobspec};

    read_jobspec(&a);
    return submit_alloc(m, &a, true);
}

/* What can't be given back now is with the last of them. */
void module_free_ranks(struct module *m, const struct flux_job *job, const char *ranks)
{
    berth_error_t err = {""};

    module_event(m);
    if (sched_free_ranks(m->sched, m->now, job->handle, ranks, &err) < 0)
        flux_log(m->h, LOG_DEBUG, "free: %s: %s", job_f58(job->id).text, err.text);
}

void module_finish(struct module *m, struct flux_job *job)
{
    module_event(m);
    record_job(m, "end", job->id);
    if (sched_finish(m->sched, m->now, job->handle, true) < 0)
        flux_log_error(m->h, "free: %s", job_f58(job->id).text);
    flux_jobs_remove(&m->jobs, job);
}

/* Some ranks of a job's are free. */
static void free_some(struct module *m, const struct flux_job *job, const flux_msg_t *msg)
{
    struct idset ranks = {0};
    struct strbuf text = {0};
    berth_error_t err = {"unexpected message"};
    json_t *r;

    if (flux_msg_unpack(msg, "{s:o}", "R", &r) == 0 && r_ranks(r, &ranks, &err) == 0 &&
        idset_intersect(&ranks, &m->ranks) == 0 && ranks.count > 0) {
        idset_encode(&ranks, false, &text);
        module_free_ranks(m, job, strbuf_text(&text));
    }
    strbuf_clear(&text);
    idset_clear(&ranks);
}

/* All of a job's resources are free, or some ranks of them. */
static void free_cb(flux_t *h, const flux_msg_t *msg, const char *unused, void *arg)
{
    struct module *m = arg;
    flux_jobid_t id;
    int final = 0;
    struct flux_job *job;

    (void)unused;
    if (flux_msg_unpack(msg, "{s:I s?b}", "id", &id, "final", &final) < 0) {
        flux_log_error(h, "free: unexpected message");
        return;
    }
    job = flux_jobs_find(&m->jobs, id);
    if (!job)
        return;
    if (!final) {
        free_some(m, job, msg);
        return;
    }
    module_finish(m, job);
}

/* Flux cancels requests of jobs that it knows no more as well, and those of jobs that have started. */
static void cancel_cb(flux_t *h, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    flux_jobid_t id;
    struct flux_job *job;

    if (flux_msg_unpack(msg, "{s:I}", "id", &id) < 0) {
        flux_log_error(h, "cancel: unexpected message");
        return;
    }
    job = flux_jobs_find(&m->jobs, id);
    if (!job || !job->request)
        return;
    module_event(m);
    record_job(m, "cancel", id);
    if (sched_cancel(m->sched, m->now, job->handle) < 0)
        flux_log_error(h, "cancel: %s", job_f58(id).text);
    if (schedutil_alloc_respond_cancel(m->util, job->request) < 0)
        flux_log_error(h, "cancel: %s", job_f58(id).text);
    flux_jobs_remove(&m->jobs, job);
}

static void prioritize_cb(flux_t *h, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    json_t *jobs, *entry;
    size_t i;

    if (flux_msg_unpack(msg, "{s:o}", "jobs", &jobs) < 0) {
        flux_log_error(h, "prioritize: unexpected message");
        return;
    }
    json_array_foreach (jobs, i, entry) {
        json_int_t id = json_integer_value(json_array_get(entry, 0)),
                   priority = json_integer_value(json_array_get(entry, 1));
        const struct flux_job *job = flux_jobs_find(&m->jobs, (uint64_t)id);
        if (!job || !job->request)
            continue;
        module_event(m);
        record_number(m, "priority", (uint64_t)id, priority);
        if (sched_prioritize(m->sched, m->now, job->handle, priority_within(m, priority)) < 0)
            flux_log_error(h, "prioritize: %s", job_f58((flux_jobid_t)id).text);
    }
}

/* Another limit of a job. Returns 0, or -1 with a text. */
static int set_limit(struct module *m, const struct flux_job *job, int64_t limit,
                     berth_error_t *err)
{
    module_event(m);
    record_limit(m, job->id, limit);
    return sched_set_duration(m->sched, m->now, job->handle, limit, 0, err);
}

void module_expiration(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    flux_jobid_t id;
    double expiration;
    berth_error_t err = {"it holds no resources"};
    struct flux_job *job;
    int rc = -1;

    (void)mh;
    if (flux_msg_unpack(msg, "{s:I s:F}", "id", &id, "expiration", &expiration) < 0) {
        flux_respond_error(h, msg, EPROTO, NULL);
        return;
    }
    job = flux_jobs_find(&m->jobs, id);
    if (job && !job->request) {
        int64_t start = sched_start_time(m->sched, job->handle);
        int64_t end = llround(expiration * (double)m->second);
        rc = set_limit(m, job, expiration > 0 ? end - start : SCHED_UNLIMITED, &err);
        if (rc == 0)
            job->until_end = false;
    }
    if ((rc < 0 ? flux_respond_error(h, msg, EINVAL, err.text) : flux_respond(h, msg, NULL)) < 0)
        flux_log_error(h, "expiration");
}

void module_new_end(struct module *m)
{
    berth_error_t err = {""};

    for (size_t i = 0; i < m->jobs.n; i++) {
        const struct flux_job *job = m->jobs.v[i];
        if (!job->until_end)
            continue;
        module_event(m);
        int64_t from = job->request ? m->now : sched_start_time(m->sched, job->handle);
        int64_t limit = m->expiration == INT64_MAX ? SCHED_UNLIMITED : m->expiration - from;
        if (set_limit(m, job, limit > 0 ? limit : 1, &err) < 0)
            flux_log(m->h, LOG_ERR, "expiration of %s: %s", job_f58(job->id).text, err.text);
    }
}

const struct schedutil_ops module_ops = {.hello = module_hello,
                                         .alloc = alloc_cb,
                                         .free = free_cb,
                                         .cancel = cancel_cb,
                                         .prioritize = prioritize_cb};
