#include "flux/fluxion/resource.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "flux/users.h"

int mod_main(flux_t *h, int argc, char **argv);

static const struct flux_msg_handler_spec *const tables[] = {hand_handlers, look_handlers,
                                                             change_handlers, queue_handlers};
#define N_TABLES (sizeof(tables) / sizeof(*tables))

static int read_module_options(struct resource_module *rm, int argc, char **argv)
{
    struct resource_options *o = &rm->options;
    berth_error_t err = {""};
    json_t *all = NULL;

    flux_conf_unpack(flux_get_conf(rm->m.h), NULL, "o", &all);
    if (resource_options_read(o, "sched-fluxion-resource", all, argc, argv, &err) < 0) {
        int error = errno;
        flux_log(rm->m.h, LOG_ERR, "%s", err.text);
        errno = error;
        return -1;
    }
    rm->m.match = resource_options_match(o);
    rm->m.match_format = o->value[OPTION_MATCH_FORMAT];
    rm->m.source.file = o->value[OPTION_LOAD_FILE];
    rm->m.source.format = o->value[OPTION_LOAD_FORMAT];
    rm->m.source.plain = strcmp(o->value[OPTION_LOAD_FORMAT], "rv1exec_force") == 0;
    if (strcmp(o->value[OPTION_LOAD_FORMAT], "hwloc") == 0)
        rm->m.source.allow = o->value[OPTION_LOAD_ALLOWLIST];
    return 0;
}

/* Returns 0, or -1 with errno, told in the log. */
static int load_file(struct resource_module *rm)
{
    struct module *m = &rm->m;
    berth_error_t err = {""};
    resource_graph_t *graph = module_graph(&m->source, NULL, &err);

    if (!graph || !(m->machine = match_create(graph, &m->match, &err))) {
        int error = errno;
        if (error == EINVAL && strcmp(m->source.format, "grug") == 0)
            flux_log(m->h, LOG_ERR, "error in reading grug string: %s", err.text);
        else if (access(m->source.file, R_OK) < 0)
            flux_log(m->h, LOG_ERR, "opening %s: %s", m->source.file, strerror(error));
        else
            flux_log(m->h, LOG_ERR, "%s: %s", m->source.file, err.text);
        errno = error;
        return -1;
    }
    return 0;
}

static int load_resources(struct resource_module *rm)
{
    const json_t *r;
    const char *up;
    double from = steady_seconds();

    module_start_clock(&rm->m);
    if (rm->m.source.file) {
        if (load_file(rm) < 0)
            return -1;
    } else {
        if (module_acquire(&rm->m, &r, &up) < 0)
            return -1;
        rm->r = json_incref((json_t *)r);
        queues_changed(rm, up, NULL, NULL, -1.);
        if (module_follow(&rm->m) < 0)
            return -1;
    }
    rm->started = rm->reset = steady_seconds();
    rm->load_time = rm->started - from;
    return 0;
}

static void end_resource_module(struct resource_module *rm, flux_msg_handler_t **handlers[N_TABLES])
{
    queues_end(rm, ECANCELED);
    module_unwatch(&rm->m);
    flux_future_destroy(rm->m.acquire);
    for (size_t i = 0; i < N_TABLES; i++)
        flux_msg_handler_delvec(handlers[i]);
    hand_clear(rm);
    match_destroy(rm->m.machine);
    flux_users_destroy(rm->m.users);
    resource_options_clear(&rm->options);
    json_decref(rm->r);
    idset_clear(&rm->m.ranks);
    idset_clear(&rm->up);
    idset_clear(&rm->gone);
}

/* The load returns before the machine is there, as Fluxion's does: who asks waits until it is. */
int mod_main(flux_t *h, int argc, char **argv)
{
    struct resource_module rm = {.m = {.h = h,
                                       .notes = &fluxion_notes,
                                       .second = 1,
                                       .no_queue = "default",
                                       .expiration = INT64_MAX}};
    flux_msg_handler_t **handlers[N_TABLES] = {NULL};
    int rc = -1;

    rm.m.users = flux_users_create();
    bool is_set_up =
        rm.m.users && read_module_options(&rm, argc, argv) == 0 && module_watch(&rm.m) == 0;
    for (size_t i = 0; i < N_TABLES && is_set_up; i++)
        is_set_up = flux_msg_handler_addvec(h, tables[i], &rm, &handlers[i]) == 0;
    if (is_set_up && flux_module_set_running(h) == 0 && load_resources(&rm) == 0)
        rc = flux_reactor_run(flux_get_reactor(h), 0) < 0 ? -1 : 0;
    int error = errno;
    end_resource_module(&rm, handlers);
    errno = error;
    return rc;
}
