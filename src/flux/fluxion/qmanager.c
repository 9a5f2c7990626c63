/* sched-fluxion-qmanager: reads the options of queues, and asks sched-fluxion-resource for a scheduler, which lasts as long
 * as this module. The service `sched` has this module's name in lists, as Fluxion's has; its requests go on to the scheduler,
 * and come back with the answers.
 */
#include <errno.h>
#include <flux/core.h>

#include "flux/fluxion/options.h"

int mod_main(flux_t *h, int argc, char **argv);

struct qmanager {
    flux_t *h;
    json_t *params;
    flux_future_t *queues;
    flux_msg_handler_t **handlers;
};

static void unknown_policy(void *context, const char *policy)
{
    struct qmanager *q = context;
    flux_log(q->h, LOG_DEBUG, "Unknown queuing policy (%s)! Using default.", policy);
}

static void params_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    const struct qmanager *q = arg;

    (void)mh;
    if (flux_respond_pack(h, msg, "{s:O}", "params", q->params) < 0)
        flux_log_error(h, "params");
}

static void stats_then(flux_future_t *f, void *arg)
{
    struct qmanager *q = arg;
    const flux_msg_t *msg = flux_future_aux_get(f, "request");
    json_t *stats;
    int rc;

    if (flux_rpc_get_unpack(f, "o", &stats) < 0)
        rc = flux_respond_error(q->h, msg, errno, NULL);
    else
        rc = flux_respond_pack(q->h, msg, "O", stats);
    if (rc < 0)
        flux_log_error(q->h, "stats-get");
    flux_future_destroy(f);
}

static void release(void *msg)
{
    flux_msg_decref(msg);
}

static void stats_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    flux_future_t *f =
        flux_rpc(h, "sched-fluxion-resource.berth-queue-stats", NULL, FLUX_NODEID_ANY, 0);

    (void)mh;
    if (f && flux_future_aux_set(f, "request", (void *)flux_msg_incref(msg), release) == 0 &&
        flux_future_then(f, -1., stats_then, arg) == 0)
        return;
    flux_future_destroy(f);
    if (flux_respond_error(h, msg, errno, NULL) < 0)
        flux_log_error(h, "stats-get");
}

/* A request of the service goes on, with its sender's route in it. */
static void forward_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    char topic[128];
    const char *of_service;
    flux_msg_t *copy = flux_msg_copy(msg, true);

    (void)mh;
    (void)arg;
    if (!copy || flux_msg_get_topic(msg, &of_service) < 0 ||
        (size_t)snprintf(topic, sizeof(topic), "sched-fluxion-resource.%s", of_service) >=
            sizeof(topic) ||
        flux_msg_set_topic(copy, topic) < 0 || flux_send(h, copy, 0) < 0)
        flux_log_error(h, "forward");
    flux_msg_decref(copy);
}

/* An answer, which is not to a question of this module's own, goes back to whoever asked the service. */
static void back_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)mh;
    (void)arg;
    if (flux_msg_route_count(msg) > 0 && flux_send(h, msg, 0) < 0)
        flux_log_error(h, "answer");
}

static const struct flux_msg_handler_spec table[] = {
    {FLUX_MSGTYPE_REQUEST, QMANAGER_TABLE ".params", params_cb, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, QMANAGER_TABLE ".stats-get", stats_cb, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, "sched.*", forward_cb, FLUX_ROLE_ALL},
    {FLUX_MSGTYPE_RESPONSE, NULL, back_cb, FLUX_ROLE_ALL},
    FLUX_MSGHANDLER_TABLE_END};

/* Take the service, and say so. Returns 0, or -1 with errno. */
static int take_service(flux_t *h)
{
    flux_future_t *taken = flux_service_register(h, "sched"), *told = NULL;
    int rc = taken ? flux_future_get(taken, NULL) : -1;

    if (rc == 0)
        told = flux_rpc(h, "sched-fluxion-resource.berth-serve", NULL, FLUX_NODEID_ANY,
                        FLUX_RPC_NORESPONSE);
    rc = told ? 0 : -1;
    flux_future_destroy(told);
    flux_future_destroy(taken);
    return rc;
}

/* Lines for the log come, the word that there is a scheduler, or the end. Returns 1 once it is ready, 0 if not yet, -1
 * with errno.
 */
static int receive_word(struct qmanager *q)
{
    const char *line = NULL;
    int ready = 0, serve = 0;

    if (flux_rpc_get_unpack(q->queues, "{s?s s?b s?b}", "log", &line, "serve", &serve, "ready",
                            &ready) < 0)
        return -1;
    if (line)
        flux_log(q->h, LOG_DEBUG, "%s", line);
    flux_future_reset(q->queues);
    if (serve && take_service(q->h) < 0)
        return -1;
    return ready;
}

static void queues_then(flux_future_t *f, void *arg)
{
    struct qmanager *q = arg;

    if (receive_word(q) >= 0)
        return;
    flux_log(q->h, LOG_ERR, "exiting due to sched-fluxion-resource.notify failure: %s",
             future_strerror(f, errno));
    flux_reactor_stop(flux_get_reactor(q->h));
}

static int read_qmanager_options(struct qmanager *q, int argc, char **argv)
{
    berth_error_t err = {""};
    json_t *all = NULL;

    flux_conf_unpack(flux_get_conf(q->h), NULL, "o", &all);
    q->params = qmanager_options_read(all, argc, argv, unknown_policy, q, &err);
    if (!q->params) {
        int error = errno;
        flux_log(q->h, LOG_ERR, "%s", err.text);
        errno = error;
        return -1;
    }
    return 0;
}

/* Without the other module, or where it has another qmanager, this one can't be loaded. */
static int attach_queues(struct qmanager *q)
{
    int rc = 0;

    q->queues = flux_rpc_pack(q->h, "sched-fluxion-resource.berth-queues", FLUX_NODEID_ANY,
                              FLUX_RPC_STREAMING, "{s:O}", "params", q->params);
    while (q->queues && rc == 0)
        rc = receive_word(q);
    if (rc > 0)
        return flux_future_then(q->queues, -1., queues_then, q);
    int error = errno;
    flux_log(q->h, LOG_ERR, "sched-fluxion-resource: %s", future_strerror(q->queues, error));
    errno = error;
    return -1;
}

int mod_main(flux_t *h, int argc, char **argv)
{
    struct qmanager q = {.h = h};
    int rc = -1;

    if (read_qmanager_options(&q, argc, argv) == 0 &&
        flux_msg_handler_addvec(h, table, &q, &q.handlers) == 0 && attach_queues(&q) == 0)
        rc = flux_reactor_run(flux_get_reactor(h), 0) < 0 ? -1 : 0;
    int error = errno;
    flux_msg_handler_delvec(q.handlers);
    flux_future_destroy(q.queues);
    json_decref(q.params);
    errno = error;
    return rc;
}
