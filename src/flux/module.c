#include "flux/module.h"

#include <errno.h>
#include <string.h>

#include "berth/sched_snapshot.h"
#include "config/seconds.h"
#include "flux/settings.h"
#include "flux/users.h"

int mod_main(flux_t *h, int argc, char **argv);

/* Read the configuration of Flux as it is now. Returns 0, or -1 with a text. */
static struct config *read_flux_config(const flux_conf_t *conf, berth_error_t *err)
{
    json_t *all;
    flux_error_t error;

    if (flux_conf_unpack(conf, &error, "o", &all) < 0) {
        snprintf(err->text, sizeof(err->text), "%s", error.text);
        return NULL;
    }
    return settings_read(all, SECONDS_TICKS, err);
}

/* Another configuration: jobs and promises are kept, or it is refused as a whole. */
static void reload_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct module *m = arg;
    const flux_conf_t *conf;
    flux_conf_t *mine;
    berth_error_t err = {""};
    struct config *config;

    (void)mh;
    if (flux_module_config_request_decode(msg, &mine) < 0) {
        flux_respond_error(h, msg, errno, NULL);
        return;
    }
    conf = mine;
    config = read_flux_config(conf, &err);
    if (config) {
        module_event(m);
        if (sched_configure(m->sched, m->now, &config->sched, &err) < 0) {
            config_destroy(config);
            config = NULL;
        }
    }
    if (!config) {
        flux_conf_decref(conf);
        if (flux_respond_error(h, msg, EINVAL, err.text) < 0)
            flux_log_error(h, "config-reload");
        return;
    }
    config_destroy(m->config);
    m->config = config;
    m->match_format = config->match_format;
    json_t *all;
    if (flux_conf_unpack(conf, NULL, "o", &all) == 0)
        record_config(m, all);
    flux_set_conf_new(h, mine);
    if (flux_respond(h, msg, NULL) < 0)
        flux_log_error(h, "config-reload");
}

/* Begin a recording, instead of one before. */
static int begin_recording(struct module *m, const char *directory)
{
    record_close(m->record);
    m->record = record_open(directory);
    if (!m->record)
        flux_log_error(m->h, "record=%s", directory);
    return m->record ? 0 : -1;
}

/* "unlimited", or "limited=" and a number from 1 on. */
static bool is_mode(const char *text)
{
    static const char limited[] = "limited=";
    const char *number = text + strlen(limited);

    if (strcmp(text, "unlimited") == 0)
        return true;
    return strncmp(text, limited, strlen(limited)) == 0 && *number != '\0' && *number != '0' &&
           strlen(number) <= 9 && strspn(number, "0123456789") == strlen(number);
}

/* Arguments: record=DIRECTORY, and mode=limited=N or mode=unlimited, how many requests the job manager sends at once (RFC 27),
 * which libschedutil reads. Returns 0, or -1 with errno, told in the log.
 */
static int read_arguments(struct module *m, int argc, char **argv)
{
    static const char record[] = "record=", mode[] = "mode=";

    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], record, strlen(record)) == 0) {
            if (begin_recording(m, argv[i] + strlen(record)) < 0)
                return -1;
        } else if (strncmp(argv[i], mode, strlen(mode)) == 0 && is_mode(argv[i] + strlen(mode))) {
            m->mode = argv[i] + strlen(mode);
        } else {
            flux_log(m->h, LOG_ERR,
                     "argument %s: expected record=DIRECTORY, mode=unlimited or mode=limited=N",
                     argv[i]);
            errno = EINVAL;
            return -1;
        }
    }
    return 0;
}

static int register_service(flux_t *h, const char *name)
{
    flux_future_t *f = flux_service_register(h, name);
    int rc = f ? flux_future_get(f, NULL) : -1;

    if (rc < 0)
        flux_log_error(h, "service %s", name);
    flux_future_destroy(f);
    return rc;
}

/* Those that libschedutil does not handle. Topics that each module has are replaced by their exact names. */
static int add_handlers(struct module *m)
{
    const char *name = flux_aux_get(m->h, "flux::name");
    char stats[128], reload[128], explain[128], queues[128], shares[128], what_if[128];
    const struct flux_msg_handler_spec table[] = {
        {FLUX_MSGTYPE_REQUEST, "sched.expiration", module_expiration, 0},
        {FLUX_MSGTYPE_REQUEST, "sched.resource-status", module_resource_status, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "feasibility.check", module_feasible, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, stats, module_stats, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, explain, module_explain, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, queues, module_queues, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, shares, module_shares, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, what_if, module_what_if, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, reload, reload_cb, 0},
        FLUX_MSGHANDLER_TABLE_END};

    snprintf(stats, sizeof(stats), "%s.stats-get", name);
    snprintf(reload, sizeof(reload), "%s.config-reload", name);
    snprintf(explain, sizeof(explain), "%s.explain", name);
    snprintf(queues, sizeof(queues), "%s.queues", name);
    snprintf(shares, sizeof(shares), "%s.shares", name);
    snprintf(what_if, sizeof(what_if), "%s.what-if", name);
    return flux_msg_handler_addvec(m->h, table, m, &m->handlers);
}

/* The machine, and a scheduler of it. Returns 0, or -1 with errno, told in the log. */
static int make_scheduler(struct module *m)
{
    berth_error_t err = {""};
    const json_t *r;
    const char *up;

    m->match = m->config->match;
    m->match.end = MATCH_END_MAX; /* room for jobs without an end, whatever the time is */
    m->match_format = m->config->match_format;
    if (module_acquire(m, &r, &up) < 0)
        return -1;
    m->sched = sched_create(m->machine, &m->config->sched, &err);
    if (!m->sched) {
        int error = errno;
        flux_log(m->h, LOG_ERR, "resources: %s", err.text);
        errno = error;
        return -1;
    }
    record_machine(m, r, up);
    return module_follow(m);
}

/* Jobs that have resources, and what shares have used before. */
static int hello(struct module *m)
{
    bool has_used = module_load_usage(m);
    struct sched_passed passed = {.at = -1, .events = 1};

    if (schedutil_hello(m->util) < 0)
        return -1;
    return has_used ? sched_restore_passed(m->sched, m->now, &passed) : 0;
}

/* What is ours to ask for before anything is known of the machine. Returns 0, or -1 with errno, told in the log: then the
 * module is not loaded.
 */
static int prepare_module(struct module *m)
{
    berth_error_t err = {""};
    const flux_conf_t *conf = flux_get_conf(m->h);

    m->users = flux_users_create();
    m->config = m->users ? read_flux_config(conf, &err) : NULL;
    if (!m->config) {
        int error = m->users ? errno : ENOMEM;
        flux_log(m->h, LOG_ERR, "%s", *err.text ? err.text : strerror(error));
        errno = error;
        return -1;
    }
    m->util = schedutil_create(m->h, SCHEDUTIL_HELLO_PARTIAL_OK, &module_ops, m);
    if (!m->util) {
        flux_log_error(m->h, "service sched");
        return -1;
    }
    return register_service(m->h, "feasibility");
}

/* The resources of an instance of several brokers are known when all of these are there, which wait for the module to run:
 * it is told to run before it asks for them. From then on a failure must not end it with an error, which would end the
 * instance: -1 is told in the log, and the instance goes on without a scheduler.
 */
static int begin_scheduling(struct module *m)
{
    int depth;

    if (flux_module_set_running(m->h) < 0) {
        flux_log_error(m->h, "module state");
        return -1;
    }
    module_start_clock(m);
    if (make_scheduler(m) < 0 || add_handlers(m) < 0 || module_watch(m) < 0)
        return -1;
    if (hello(m) < 0 || schedutil_ready(m->util, m->mode, &depth) < 0 || module_confirm(m) < 0) {
        flux_log_error(m->h, "job manager");
        return -1;
    }
    flux_log(m->h, LOG_DEBUG, "ready: queue-depth=%s", m->mode);
    return module_watch_usage(m);
}

/* Requests without an answer are put by the job manager to whoever comes next. */
static void end_scheduling(struct module *m)
{
    for (size_t i = 0; i < m->jobs.n; i++)
        if (m->jobs.v[i]->request &&
            flux_respond_error(m->h, m->jobs.v[i]->request, ENOSYS, "unloading") < 0)
            flux_log_error(m->h, "unloading");
    module_save_usage(m);
    module_unwatch(m);
    flux_jobs_clear(&m->jobs);
    flux_future_destroy(m->confirming);
    flux_future_destroy(m->acquire);
    flux_msg_handler_delvec(m->handlers);
    schedutil_destroy(m->util);
    sched_destroy(m->sched);
    match_destroy(m->machine);
    config_destroy(m->config);
    flux_users_destroy(m->users);
    record_close(m->record);
    idset_clear(&m->ranks);
}

int mod_main(flux_t *h, int argc, char **argv)
{
    struct module m = {.h = h,
                       .notes = &module_notes,
                       .mode = "unlimited",
                       .second = SECONDS_TICKS,
                       .source = {.or_plain = true},
                       .expiration = INT64_MAX};
    int rc = -1;

    if (read_arguments(&m, argc, argv) == 0 && prepare_module(&m) == 0) {
        rc = 0;
        if (begin_scheduling(&m) == 0 && flux_reactor_run(flux_get_reactor(h), 0) < 0)
            flux_log_error(h, "reactor");
    }
    int error = errno;
    end_scheduling(&m);
    errno = error;
    return rc;
}
