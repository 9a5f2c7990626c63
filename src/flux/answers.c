/* Questions to the module, which decide nothing. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "berth/jobspec.h"
#include "berth/sched_query.h"
#include "config/seconds.h"
#include "flux/module.h"

/* Could a job run if all were idle and up? */
void module_feasible(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    struct jobspec_options options = {.knows_type = match_knows_type, .arg = m->machine};
    berth_error_t err = {""};
    match_result_t result;
    jobspec_t *spec = NULL;
    json_t *asked;
    int rc;

    (void)mh;
    if (flux_msg_unpack(msg, "{s:o}", "jobspec", &asked) < 0) {
        flux_respond_error(h, msg, EPROTO, NULL);
        return;
    }
    char *text = json_dumps(asked, JSON_COMPACT);
    if (text)
        spec = jobspec_parse(text, strlen(text), &options, &err);
    if (spec && match_run(m->machine, MATCH_SATISFIABILITY, spec, -1, m->now, &result, &err) == 0)
        rc = flux_respond(h, msg, NULL);
    else if (spec && errno == ENODEV)
        rc = flux_respond_error(h, msg, ENODEV, "Unsatisfiable request");
    else
        rc = flux_respond_error(h, msg, text ? EINVAL : ENOMEM, err.text);
    if (rc < 0)
        flux_log_error(h, "feasibility.check");
    jobspec_destroy(spec);
    free(text);
}

/* R of what an expression finds, without times; null if that is nothing. NULL with errno. */
static json_t *find(struct module *m, const char *criteria)
{
    const char *text;
    size_t length;
    berth_error_t err;

    if (match_find(m->machine, criteria, m->now, &err) < 0 ||
        match_write(m->machine, "rv1_nosched", &text, &length) < 0)
        return NULL;
    json_t *r = length > 0 ? json_loadb(text, length, 0, NULL) : json_null();
    json_object_del(json_object_get(r, "execution"), "starttime");
    json_object_del(json_object_get(r, "execution"), "expiration");
    if (!r)
        errno = EINVAL;
    return r;
}

void module_resource_status(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    json_t *all = find(m, "status=up or status=down"), *down = find(m, "status=down"),
           *allocated = find(m, "sched-now=allocated");
    int rc;

    (void)mh;
    if (all && down && allocated)
        rc = flux_respond_pack(h, msg, "{s:O s:O s:O}", "all", all, "down", down, "allocated",
                               allocated);
    else
        rc = flux_respond_error(h, msg, errno, NULL);
    if (rc < 0)
        flux_log_error(h, "sched.resource-status");
    json_decref(all);
    json_decref(down);
    json_decref(allocated);
}

static json_t *queue_stats(const struct module *m, const char *queue)
{
    struct sched_queue_stats s;

    if (sched_queue_stats(m->sched, queue, &s) < 0)
        return json_null();
    return json_pack("{s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I}", "waiting",
                     (json_int_t)s.now[SCHED_WAITING], "reserved",
                     (json_int_t)s.now[SCHED_RESERVED], "running", (json_int_t)s.now[SCHED_RUNNING],
                     "blocked", (json_int_t)s.now[SCHED_BLOCKED], "submitted",
                     (json_int_t)s.submitted, "started", (json_int_t)s.started, "finished",
                     (json_int_t)s.finished, "cancelled", (json_int_t)s.cancelled, "rejected",
                     (json_int_t)s.rejected, "reprioritized", (json_int_t)s.reprioritized);
}

void module_stats(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    const struct sched_config *config = &m->config->sched;
    json_t *queues = json_object();

    (void)mh;
    for (size_t i = 0; i < config->n_queues; i++)
        if (!config->queues[i].parent)
            json_object_set_new(queues, config->queues[i].name,
                                queue_stats(m, config->queues[i].name));
    if (flux_respond_pack(h, msg, "{s:O s:I s:I}", "queues", queues, "jobs", (json_int_t)m->jobs.n,
                          "passes", (json_int_t)m->passes) < 0)
        flux_log_error(h, "stats-get");
    json_decref(queues);
}

static json_t *holders_of(struct module *m, const struct sched_annotation *a)
{
    json_t *holders = json_array();
    struct sched_annotation other;
    size_t n = a->n_holders;
    sched_job_t *job = calloc(n + 1, sizeof(*job));

    if (job && n > 0)
        memcpy(job, a->holders, n * sizeof(*job));
    for (size_t i = 0; job && i < n; i++)
        if (sched_annotate(m->sched, job[i], &other) == 0)
            json_array_append_new(holders, json_integer((json_int_t)other.tag));
    free(job);
    return holders;
}

static const char *const states[] = {"waiting", "reserved", "running", "rejected", "blocked"};

/* What a user wants to know of a job: {"id"} -> {"state", "queue", ...}. */
void module_explain(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    struct sched_annotation a;
    char reason[SCHED_REASON_TEXT];
    const struct flux_job *job;
    flux_jobid_t id;
    int rc;

    (void)mh;
    if (flux_msg_unpack(msg, "{s:I}", "id", &id) < 0) {
        flux_respond_error(h, msg, EPROTO, NULL);
        return;
    }
    job = flux_jobs_find(&m->jobs, id);
    if (!job || sched_annotate(m->sched, job->handle, &a) < 0) {
        flux_respond_error(h, msg, ENOENT, "no such job waits or has resources");
        return;
    }
    json_t *answer =
        json_pack("{s:s s:s s:I s:s}", "state", states[a.state], "queue", a.queue, "priority",
                  (json_int_t)a.priority, "reason", sched_reason_text(&a.reason, reason));
    if (a.start >= 0)
        json_object_set_new(answer, "start", json_real((double)a.start / (double)m->second));
    if (a.start >= 0 && a.state != SCHED_RUNNING)
        json_object_set_new(answer, "promised", json_boolean(!a.not_before && !a.expected));
    json_object_set_new(answer, "holders", holders_of(m, &a));
    rc = flux_respond_pack(h, msg, "O", answer);
    if (rc < 0)
        flux_log_error(h, "explain");
    json_decref(answer);
}
