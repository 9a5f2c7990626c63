/* Streams to the other two modules: what becomes of the machine, and a scheduler for as long as there is a qmanager. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"
#include "base/strbuf.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "flux/fluxion/resource.h"
#include "flux/settings.h"

/* ---- notify ---- */

/* What has changed, or an expiration of -1 where it has not. */
static void notify_change(struct resource_module *rm, const flux_msg_t *msg, const char *up,
                          const char *down, const char *gone, double expiration)
{
    if (flux_respond_pack(rm->m.h, msg, "{s:s* s:s* s:s* s:f}", "up", up, "down", down, "shrink",
                          gone, "expiration", expiration) < 0)
        flux_log_error(rm->m.h, "notify");
}

/* Add a text's ranks to one set and take them out of another. */
static int move_ranks(const char *text, struct idset *to, struct idset *from)
{
    struct idset ranks = {0};
    int rc = idset_decode(&ranks, text, strlen(text), NULL);

    if (rc == 0)
        rc = to && idset_unite(to, &ranks) < 0 ? -1 : from ? idset_subtract(from, &ranks) : 0;
    idset_clear(&ranks);
    return rc;
}

void queues_changed(struct resource_module *rm, const char *up, const char *down, const char *gone,
                    double expiration)
{
    if ((up && move_ranks(up, &rm->up, NULL) < 0) ||
        (down && move_ranks(down, NULL, &rm->up) < 0) ||
        (gone && move_ranks(gone, &rm->gone, &rm->up) < 0))
        flux_log_error(rm->m.h, "notify");
    for (size_t i = 0; i < rm->n_watching; i++)
        notify_change(rm, rm->watching[i], up, down, gone, expiration);
}

/* A set as text; NULL if it is empty. */
static const char *ranks_text(const struct idset *set, struct strbuf *text)
{
    if (set->count == 0)
        return NULL;
    idset_encode(set, false, text);
    return strbuf_text(text);
}

/* To one that has just come: what has become of the resources since they were acquired. */
static void tell_state(struct resource_module *rm, const flux_msg_t *msg)
{
    struct strbuf up = {0}, down = {0}, gone = {0};
    struct idset others = {0};
    const struct module *m = &rm->m;

    if (idset_copy(&others, &m->ranks) < 0 || idset_subtract(&others, &rm->up) < 0)
        flux_log_error(m->h, "notify");
    notify_change(rm, msg, ranks_text(&rm->up, &up), ranks_text(&others, &down),
                  ranks_text(&rm->gone, &gone),
                  m->expiration == INT64_MAX ? -1. : (double)m->expiration / (double)m->second);
    idset_clear(&others);
    strbuf_clear(&up);
    strbuf_clear(&down);
    strbuf_clear(&gone);
}

static void notify_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    int error = 0;

    (void)mh;
    if (!flux_msg_is_streaming(msg))
        error = EPROTO;
    else if (!rm->r)
        error = ENODATA; /* whoever needs the machine reads the file as well */
    else if (array_grow((void **)&rm->watching, &rm->cap_watching, rm->n_watching + 1,
                        sizeof(*rm->watching)) < 0)
        error = ENOMEM;
    if (error != 0) {
        if (flux_respond_error(h, msg, error, NULL) < 0)
            flux_log_error(h, "notify");
        return;
    }
    rm->watching[rm->n_watching++] = flux_msg_incref(msg);
    if (flux_respond_pack(h, msg, "{s:O}", "resources", rm->r) < 0)
        flux_log_error(h, "notify");
    tell_state(rm, msg);
}

/* ---- queues ---- */

void queues_log(struct resource_module *rm, const char *text)
{
    if (rm->queues && flux_respond_pack(rm->m.h, rm->queues, "{s:s}", "log", text) < 0)
        flux_log_error(rm->m.h, "queues");
}

void queues_wake(struct resource_module *rm)
{
    berth_error_t err = {""};

    if (!rm->m.sched)
        return;
    module_event(&rm->m);
    if (sched_configure(rm->m.sched, rm->m.now, &rm->m.config->sched, &err) < 0)
        flux_log(rm->m.h, LOG_ERR, "queues: %s", err.text);
}

/* Ask the broker to give a service's name back. */
static void unregister(flux_t *h, const char *name)
{
    flux_future_t *f = flux_service_unregister(h, name);

    if (!f || flux_future_get(f, NULL) < 0)
        flux_log_error(h, "service %s", name);
    flux_future_destroy(f);
}

/* The job manager takes it that this scheduler is gone; it sends its requests again to the next one. */
static void leave_job_manager(flux_t *h)
{
    flux_future_t *f =
        flux_rpc(h, "job-manager.disconnect", NULL, FLUX_NODEID_ANY, FLUX_RPC_NORESPONSE);

    if (!f)
        flux_log_error(h, "job-manager.disconnect");
    flux_future_destroy(f);
}

/* There is no qmanager any more: its jobs are forgotten, what is matched by hand stays. */
static void detach(struct resource_module *rm)
{
    struct module *m = &rm->m;

    if (m->util) {
        leave_job_manager(m->h);
        schedutil_destroy(m->util);
        m->util = NULL;
    }
    flux_future_destroy(m->confirming);
    m->confirming = NULL;
    flux_watcher_stop(m->timer);
    flux_jobs_clear(&m->jobs);
    sched_destroy(m->sched);
    m->sched = NULL;
    config_destroy(m->config);
    m->config = NULL;
    json_decref(rm->params);
    rm->params = NULL;
    m->is_passed = m->is_due = false;
    flux_msg_decref(rm->queues);
    rm->queues = NULL;
}

/* Make a scheduler of the queues; the service's name is then the qmanager's to take. Returns 0, or -1 with errno and a
 * text.
 */
static int make_queue_scheduler(struct resource_module *rm, json_t *params, berth_error_t *err)
{
    struct module *m = &rm->m;
    json_t *all, *conf = NULL;

    if (flux_conf_unpack(flux_get_conf(m->h), NULL, "o", &all) == 0)
        conf = qmanager_options_conf(params, all);
    if (!conf)
        return errtext_no_memory(err);
    m->config = settings_read(conf, m->second, err);
    json_decref(conf);
    if (!m->config)
        return -1;
    rm->params = json_incref(params);
    m->util = schedutil_create(m->h, SCHEDUTIL_HELLO_PARTIAL_OK, &module_ops, m);
    if (!m->util)
        return errtext_set(err, errno, "service sched: %s", strerror(errno));
    unregister(m->h, "sched"); /* which libschedutil has registered */
    module_event(m);
    m->sched = sched_create(m->machine, &m->config->sched, err);
    if (!m->sched)
        return -1;
    queues_log(rm, "handshaking with sched-fluxion-resource completed");
    return 0;
}

/* Requests find their way: the job manager may send them. Returns 0, or -1 with errno and a text. */
static int serve_requests(struct resource_module *rm, berth_error_t *err)
{
    struct module *m = &rm->m;
    int depth;

    module_event(m);
    if (schedutil_hello(m->util) < 0 || schedutil_ready(m->util, "unlimited", &depth) < 0 ||
        module_confirm(m) < 0)
        return errtext_set(err, errno, "job manager: %s", strerror(errno));
    queues_log(rm, "handshaking with job-manager completed");
    m->is_due = true;
    return 0;
}

static void tell_queues(struct resource_module *rm, const char *what)
{
    if (flux_respond_pack(rm->m.h, rm->queues, "{s:b}", what, 1) < 0)
        flux_log_error(rm->m.h, "queues");
}

/* The qmanager can't be served, for the reason in errno and the text. */
static void refuse_queues(struct resource_module *rm, const berth_error_t *err)
{
    if (flux_respond_error(rm->m.h, rm->queues, errno, err->text) < 0)
        flux_log_error(rm->m.h, "queues");
    detach(rm);
}

static void queues_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    berth_error_t err = {""};
    json_t *params;

    (void)mh;
    if (!flux_msg_is_streaming(msg) ||
        flux_request_unpack(msg, NULL, "{s:o}", "params", &params) < 0)
        errtext_set(&err, EPROTO, "unexpected message");
    else if (rm->queues)
        errtext_set(&err, EEXIST, "there is a qmanager");
    else if (!rm->r)
        errtext_set(&err, ENODATA, "the machine is that of a file");
    if (!*err.text) {
        rm->queues = flux_msg_incref(msg);
        if (make_queue_scheduler(rm, params, &err) == 0) {
            tell_queues(rm, "serve");
            return;
        }
        refuse_queues(rm, &err);
        return;
    }
    if (flux_respond_error(h, msg, errno, err.text) < 0)
        flux_log_error(h, "queues");
}

static void serve_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    berth_error_t err = {""};

    (void)h;
    (void)mh;
    if (!rm->queues || !flux_disconnect_match(msg, rm->queues))
        return;
    if (serve_requests(rm, &err) == 0)
        tell_queues(rm, "ready");
    else
        refuse_queues(rm, &err);
}

/* A request of the service that the qmanager has handed on: from here it is as if it had come itself. */
static void handed_on_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    const char *topic;
    flux_msg_t *copy = flux_msg_copy(msg, true);

    (void)mh;
    (void)arg;
    if (!copy || flux_msg_get_topic(msg, &topic) < 0 ||
        flux_msg_set_topic(copy, strchr(topic, '.') + 1) < 0 ||
        flux_requeue(h, copy, FLUX_RQ_TAIL) < 0)
        flux_log_error(h, "%s", topic);
    flux_msg_decref(copy);
}

/* A client is gone, and with it what it asked for. */
static void disconnect_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    size_t kept = 0;

    (void)mh;
    if (rm->queues && flux_disconnect_match(msg, rm->queues))
        detach(rm);
    for (size_t i = 0; i < rm->n_watching; i++) {
        if (flux_disconnect_match(msg, rm->watching[i]))
            flux_msg_decref(rm->watching[i]);
        else
            rm->watching[kept++] = rm->watching[i];
    }
    rm->n_watching = kept;
    if (rm->is_ending && kept == 0 && !rm->queues)
        flux_reactor_stop(flux_get_reactor(h));
}

static void too_late(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    (void)w;
    (void)revents;
    (void)arg;
    flux_reactor_stop(r);
}

#define PATIENCE 1.5 /* seconds */

void queues_end(struct resource_module *rm, int error)
{
    flux_reactor_t *r = flux_get_reactor(rm->m.h);
    flux_watcher_t *timer = flux_timer_watcher_create(r, PATIENCE, 0., too_late, NULL);

    for (size_t i = 0; i < rm->n_watching; i++)
        if (flux_respond_error(rm->m.h, rm->watching[i], error, NULL) < 0)
            flux_log_error(rm->m.h, "notify");
    if (rm->queues && flux_respond_error(rm->m.h, rm->queues, error, NULL) < 0)
        flux_log_error(rm->m.h, "queues");
    rm->is_ending = true;
    if (timer && (rm->n_watching > 0 || rm->queues)) {
        flux_watcher_start(timer);
        flux_reactor_run(r, 0);
    }
    flux_watcher_destroy(timer);
    if (rm->queues)
        detach(rm);
    for (size_t i = 0; i < rm->n_watching; i++)
        flux_msg_decref(rm->watching[i]);
    free(rm->watching);
    rm->watching = NULL;
    rm->n_watching = rm->cap_watching = 0;
}

/* ---- what the qmanager is asked ---- */

/* The queue that a virtual queue's jobs are in; of another, itself. */
static const char *real_queue(const struct resource_module *rm, const char *name)
{
    const struct sched_config *config = &rm->m.config->sched;

    for (size_t i = 0; i < config->n_queues; i++)
        if (strcmp(config->queues[i].name, name) == 0 && config->queues[i].parent)
            return config->queues[i].parent;
    return name;
}

/* Ids of a queue's jobs in one state. */
static json_t *ids_of(struct resource_module *rm, const char *queue, bool runs)
{
    json_t *ids = json_array();
    struct sched_annotation a;

    for (size_t i = 0; i < rm->m.jobs.n; i++) {
        const struct flux_job *job = rm->m.jobs.v[i];
        if (!job->request != runs || sched_annotate(rm->m.sched, job->handle, &a) < 0 ||
            strcmp(real_queue(rm, a.queue), queue) != 0)
            continue;
        json_array_append_new(ids, json_string(job_plain_f58(job->id).text));
    }
    return ids;
}

static json_t *queue_stats(struct resource_module *rm, const struct sched_queue_config *queue)
{
    struct sched_queue_stats s = {0};

    sched_queue_stats(rm->m.sched, queue->name, &s);
    json_t *counts = json_pack(
        "{s:I s:I s:I s:I s:I s:I s:I}", "pending",
        (json_int_t)(s.now[SCHED_WAITING] + s.now[SCHED_RESERVED] + s.now[SCHED_BLOCKED]),
        "running", (json_int_t)s.now[SCHED_RUNNING], "reserved", (json_int_t)s.now[SCHED_RESERVED],
        "rejected", (json_int_t)s.rejected, "complete", (json_int_t)s.finished, "cancelled",
        (json_int_t)s.cancelled, "reprioritized", (json_int_t)s.reprioritized);
    return json_pack("{s:s s:I s:I s:{} s:{} s:o s:{s:o s:[] s:[]} s:{s:o s:[] s:[]}}", "policy",
                     queue->policy, "queue_depth", (json_int_t)queue->queue_depth,
                     "max_queue_depth", (json_int_t)queue->max_queue_depth, "queue_parameters",
                     "policy_parameters", "action_counts", counts, "pending_queues", "pending",
                     ids_of(rm, queue->name, false), "pending_provisional", "blocked",
                     "scheduled_queues", "running", ids_of(rm, queue->name, true), "rejected",
                     "canceled");
}

static void queue_stats_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    const struct sched_config *config = rm->m.sched ? &rm->m.config->sched : NULL;
    json_t *queues = json_object();

    (void)mh;
    for (size_t i = 0; config && i < config->n_queues; i++)
        if (!config->queues[i].parent)
            json_object_set_new(queues, config->queues[i].name,
                                queue_stats(rm, &config->queues[i]));
    if (flux_respond_pack(h, msg, "{s:o}", "queues", queues) < 0)
        flux_log_error(h, "queue-stats");
}

#define TOPIC(name) "sched-fluxion-resource." name

const struct flux_msg_handler_spec queue_handlers[] = {
    {FLUX_MSGTYPE_REQUEST, TOPIC("notify"), notify_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("berth-queues"), queues_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("berth-serve"), serve_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("berth-queue-stats"), queue_stats_cb, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, TOPIC("sched.*"), handed_on_cb, FLUX_ROLE_ALL},
    {FLUX_MSGTYPE_REQUEST, TOPIC("disconnect"), disconnect_cb, 0},
    {FLUX_MSGTYPE_REQUEST, "sched.expiration", module_expiration, 0},
    {FLUX_MSGTYPE_REQUEST, "sched.resource-status", module_resource_status, FLUX_ROLE_USER},
    FLUX_MSGHANDLER_TABLE_END};
