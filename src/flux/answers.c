/* Questions to the module, which decide nothing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "berth/jobspec.h"
#include "berth/sched_query.h"
#include "config/seconds.h"
#include "flux/module.h"
#include "flux/slots.h"

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
    json_t *whole = slots_written_out(asked);
    char *text = whole ? json_dumps(whole, JSON_COMPACT) : NULL;
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
    json_decref(whole);
}

json_t *module_find(struct module *m, const char *criteria)
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
    json_t *all = module_find(m, "status=up or status=down"), *down = module_find(m, "status=down"),
           *allocated = module_find(m, "sched-now=allocated");
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
