/* Jobs that have resources when the module is loaded. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_snapshot.h"
#include "config/seconds.h"
#include "flux/module.h"
#include "flux/r.h"
#include "flux/slots.h"
#include "flux/users.h"

/* What is known of such a job; texts belong to the futures. */
struct kept {
    flux_jobid_t id;
    json_int_t priority, userid;
    double t_submit;
    const char *free_ranks;
    flux_future_t *jobspec, *events;
    json_t *spec, *r;
};

static flux_future_t *look_up(flux_t *h, flux_jobid_t id, const char *what)
{
    char key[64];
    return flux_job_kvs_key(key, sizeof(key), id, what) < 0 ? NULL
                                                            : flux_kvs_lookup(h, NULL, 0, key);
}

/* Set what a path such as "attributes.system.queue" means. */
static void update_path(json_t *spec, const char *path, json_t *value)
{
    char name[64];
    json_t *at = spec;

    for (const char *dot; (dot = strchr(path, '.')) && at; path = dot + 1) {
        if ((size_t)(dot - path) >= sizeof(name))
            return;
        memcpy(name, path, (size_t)(dot - path));
        name[dot - path] = '\0';
        at = json_object_get(at, name);
    }
    json_object_set(at, path, value);
}

/* A jobspec is kept as it was submitted; what has been changed since is among the job's events. */
static void apply_updates(json_t *spec, const char *events)
{
    for (const char *end; events && *events; events = end + 1) {
        end = strchr(events, '\n');
        size_t length = end ? (size_t)(end - events) : strlen(events);
        json_t *event = json_loadb(events, length, 0, NULL), *value;
        const char *name = json_string_value(json_object_get(event, "name")), *path;
        if (name && strcmp(name, "jobspec-update") == 0)
            json_object_foreach (json_object_get(event, "context"), path, value) {
                update_path(spec, path, value);
            }
        json_decref(event);
        if (!end)
            break;
    }
}

/* Returns 0, or -1 with a text. */
static int read_kept(flux_t *h, const flux_msg_t *msg, const char *r, struct kept *k,
                     berth_error_t *err)
{
    const char *spec, *events;

    if (flux_msg_unpack(msg, "{s:I s:I s:I s:F s?s}", "id", &k->id, "priority", &k->priority,
                        "userid", &k->userid, "t_submit", &k->t_submit, "free", &k->free_ranks) < 0)
        return errtext_set(err, EPROTO, "unexpected message");
    k->jobspec = look_up(h, k->id, "jobspec");
    k->events = look_up(h, k->id, "eventlog");
    if (!k->jobspec || !k->events || flux_kvs_lookup_get(k->jobspec, &spec) < 0 ||
        flux_kvs_lookup_get(k->events, &events) < 0)
        return errtext_set(err, errno, "its jobspec: %s", strerror(errno));
    k->spec = json_loads(spec, 0, NULL);
    k->r = json_loads(r, 0, NULL);
    if (!k->spec || !k->r)
        return errtext_set(err, EINVAL, "its jobspec or R is no JSON");
    apply_updates(k->spec, events);
    return 0;
}

/* What a graph says of ranks that have been given back counts no more. */
static char *resources_of(const struct module *m, const struct kept *k, const char **format)
{
    const json_t *part = k->r;

    *format = "rv1exec";
    if (!m->source.plain)
        part = r_readable(k->r, format);

    if (k->free_ranks && part != k->r) {
        json_t *graph = json_copy((json_t *)part);
        json_object_set_new(graph, "free_ranks", json_string(k->free_ranks));
        char *text = json_dumps(graph, JSON_COMPACT);
        json_decref(graph);
        return text;
    }
    return json_dumps(part, JSON_COMPACT);
}

static const char *queue_asked(const struct kept *k)
{
    const char *queue = NULL;

    json_unpack(k->spec, "{s:{s:{s?s}}}", "attributes", "system", "queue", &queue);
    return queue ? queue : "default";
}

/* Returns its handle, or -1 with a text. */
static sched_job_t restore_running_job(struct module *m, const struct kept *k, bool *until_end,
                                       berth_error_t *err)
{
    struct sched_record record = {.state = SCHED_RUNNING};
    struct sched_request *request = &record.request;
    json_t *whole = slots_written_out(k->spec);
    char *spec = whole ? json_dumps(whole, JSON_COMPACT) : NULL,
         *resources = resources_of(m, k, &record.format);
    const struct job_name id = job_f58(k->id);
    double duration = 0;
    sched_job_t job = -1;

    json_unpack(k->spec, "{s:{s:{s?F s?s s?s}}}", "attributes", "system", "duration", &duration,
                "queue", &request->queue, "bank", &request->account);
    *until_end = duration <= 0;
    if (!request->queue)
        request->queue = m->no_queue ? m->no_queue : m->config->sched.default_queue;
    if (m->config->sched.n_accounts == 0)
        request->account = NULL;
    request->priority = k->priority;
    request->tag = k->id;
    request->id = id.text;
    request->user = flux_users_name(m->users, (uint32_t)k->userid);
    request->jobspec = spec;
    record.resources = resources;
    record.submitted = llround(k->t_submit * (double)m->second);
    if (!spec || !resources || !request->user) {
        errtext_no_memory(err);
    } else if (r_times(k->r, m->second, &record.at, &record.until) < 0) {
        errtext_set(err, EINVAL, "its R has no times");
    } else {
        request->jobspec_length = strlen(spec);
        record.resources_length = strlen(resources);
        request->duration = record.until < INT64_MAX ? record.until - record.at : SCHED_UNLIMITED;
        if (request->duration == SCHED_UNLIMITED)
            request->estimate = m->config->sched.default_duration;
        job = sched_restore(m->sched, m->now, &record, err);
    }
    free(spec);
    free(resources);
    json_decref(whole);
    return job;
}

int module_hello(flux_t *h, const flux_msg_t *msg, const char *r, void *arg)
{
    struct module *m = arg;
    struct kept k = {0};
    berth_error_t err = {""};
    bool until_end;
    int rc = -1;

    module_event(m);
    if (read_kept(h, msg, r, &k, &err) == 0) {
        sched_job_t handle = restore_running_job(m, &k, &until_end, &err);
        struct flux_job *job = handle < 0 ? NULL : flux_jobs_add(&m->jobs, k.id, handle, NULL);
        if (job) {
            job->user = (uint32_t)k.userid;
            job->until_end = until_end;
            job->unconfirmed = true;
            if (m->notes->restored)
                m->notes->restored(m, k.id, queue_asked(&k));
            rc = 0;
        } else if (handle >= 0) {
            sched_cancel(m->sched, m->now, handle);
        }
    }
    if (rc < 0) /* the job manager ends the job then */
        flux_log(h, LOG_ERR, "hello: %s: %s", job_f58(k.id).text, err.text);
    json_decref(k.spec);
    json_decref(k.r);
    flux_future_destroy(k.jobspec);
    flux_future_destroy(k.events);
    return rc;
}

/* What a second answer says of a job that was booked as the first one said: ranks may have been given back meanwhile. */
static void confirm(struct module *m, flux_jobid_t id, const char *free_ranks)
{
    struct flux_job *job = flux_jobs_find(&m->jobs, id);

    if (!job || !job->unconfirmed)
        return;
    job->unconfirmed = false;
    if (free_ranks)
        module_free_ranks(m, job, free_ranks);
}

/* Jobs that nobody confirmed have ended. */
static void end_unconfirmed(struct module *m)
{
    for (size_t i = m->jobs.n; i-- > 0;) {
        struct flux_job *job = m->jobs.v[i];
        if (!job->unconfirmed)
            continue;
        flux_log(m->h, LOG_DEBUG, "hello: %s has ended meanwhile", job_f58(job->id).text);
        module_finish(m, job);
    }
}

static void confirm_cb(flux_future_t *f, void *arg)
{
    struct module *m = arg;
    flux_jobid_t id;
    const char *free_ranks = NULL;

    if (flux_rpc_get_unpack(f, "{s:I s?s}", "id", &id, "free", &free_ranks) == 0) {
        confirm(m, id, free_ranks);
        flux_future_reset(f);
        return;
    }
    if (errno == ENODATA)
        end_unconfirmed(m);
    else
        flux_log(m->h, LOG_ERR, "hello: %s", future_strerror(f, errno));
    flux_future_destroy(f);
    m->confirming = NULL;
}

int module_confirm(struct module *m)
{
    m->confirming = flux_rpc_pack(m->h, "job-manager.sched-hello", FLUX_NODEID_ANY,
                                  FLUX_RPC_STREAMING, "{s:b}", "partial-ok", 1);
    return m->confirming ? flux_future_then(m->confirming, -1., confirm_cb, m) : -1;
}
