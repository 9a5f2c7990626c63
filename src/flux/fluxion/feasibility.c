/* sched-fluxion-feasibility: whether a job could ever run, of a graph of its own. */
#include <errno.h>
#include <string.h>

#include "flux/fluxion/options.h"
#include "flux/module.h"

int mod_main(flux_t *h, int argc, char **argv);

struct feasibility {
    struct module m;
    struct resource_options options;
    flux_future_t *notify;
};

/* Ranks that are gone count no more. Returns 0, or -1 with errno: the stream has ended. */
static int remove_gone_ranks(struct feasibility *fm)
{
    berth_error_t err = {""};
    const char *gone = NULL;

    if (flux_rpc_get_unpack(fm->notify, "{s?s}", "shrink", &gone) < 0)
        return -1;
    if (gone && match_remove_ranks(fm->m.machine, gone, &err) < 0)
        flux_log(fm->m.h, LOG_ERR, "removal of %s: %s", gone, err.text);
    flux_future_reset(fm->notify);
    return 0;
}

static void notify_then(flux_future_t *f, void *arg)
{
    struct feasibility *fm = arg;

    if (remove_gone_ranks(fm) == 0)
        return;
    flux_log(fm->m.h, LOG_ERR, "exiting due to sched-fluxion-resource.notify failure: %s",
             future_strerror(f, errno));
    flux_reactor_stop(flux_get_reactor(fm->m.h));
}

/* Returns 0, or -1 with errno, told in the log. */
static int load_feasibility(struct feasibility *fm)
{
    struct module *m = &fm->m;
    berth_error_t err = {""};
    json_t *r = NULL;

    if (!m->source.file) {
        fm->notify = flux_rpc(m->h, "sched-fluxion-resource.notify", NULL, FLUX_NODEID_ANY,
                              FLUX_RPC_STREAMING);
        if (!fm->notify || flux_rpc_get_unpack(fm->notify, "{s:o}", "resources", &r) < 0) {
            int error = errno;
            flux_log(m->h, LOG_ERR, "err: sched-fluxion-resource.notify: %s", strerror(error));
            errno = error;
            return -1;
        }
    }
    resource_graph_t *graph = module_graph(&m->source, r, &err);
    if (!graph || !(m->machine = match_create(graph, &m->match, &err))) {
        int error = errno;
        flux_log(m->h, LOG_ERR, "err: resources: %s", err.text);
        errno = error;
        return -1;
    }
    if (!fm->notify)
        return 0;
    flux_future_reset(fm->notify);
    if (remove_gone_ranks(fm) < 0) { /* what is gone already */
        flux_log_error(m->h, "sched-fluxion-resource.notify");
        return -1;
    }
    return flux_future_then(fm->notify, -1., notify_then, fm);
}

static int read_feasibility_options(struct feasibility *fm, int argc, char **argv)
{
    struct resource_options *o = &fm->options;
    berth_error_t err = {""};
    json_t *all = NULL;

    flux_conf_unpack(flux_get_conf(fm->m.h), NULL, "o", &all);
    if (resource_options_read(o, "sched-fluxion-feasibility", all, argc, argv, &err) < 0) {
        int error = errno;
        flux_log(fm->m.h, LOG_ERR, "%s", err.text);
        errno = error;
        return -1;
    }
    fm->m.match = resource_options_match(o);
    fm->m.match.policy = "first";
    fm->m.source.file = o->value[OPTION_LOAD_FILE];
    fm->m.source.format = o->value[OPTION_LOAD_FORMAT];
    fm->m.source.plain = strcmp(o->value[OPTION_LOAD_FORMAT], "rv1exec_force") == 0;
    if (strcmp(o->value[OPTION_LOAD_FORMAT], "hwloc") == 0)
        fm->m.source.allow = o->value[OPTION_LOAD_ALLOWLIST];
    return 0;
}

static int register_service(flux_t *h)
{
    flux_future_t *f = flux_service_register(h, "feasibility");
    int rc = f ? flux_future_get(f, NULL) : -1;

    if (rc < 0)
        flux_log_error(h, "service feasibility");
    flux_future_destroy(f);
    return rc;
}

static const struct flux_msg_handler_spec table[] = {
    {FLUX_MSGTYPE_REQUEST, "feasibility.check", module_feasible, FLUX_ROLE_USER},
    FLUX_MSGHANDLER_TABLE_END};

int mod_main(flux_t *h, int argc, char **argv)
{
    struct feasibility fm = {.m = {.h = h, .second = 1}};
    int rc = -1;

    if (read_feasibility_options(&fm, argc, argv) == 0 && register_service(h) == 0 &&
        flux_msg_handler_addvec(h, table, &fm.m, &fm.m.handlers) == 0 &&
        flux_module_set_running(h) == 0 && load_feasibility(&fm) == 0)
        rc = flux_reactor_run(flux_get_reactor(h), 0) < 0 ? -1 : 0;
    int error = errno;
    flux_msg_handler_delvec(fm.m.handlers);
    flux_future_destroy(fm.notify);
    match_destroy(fm.m.machine);
    resource_options_clear(&fm.options);
    errno = error;
    return rc;
}
