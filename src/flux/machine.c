/* The machine: what the module `resource` gives, and what becomes of it (RFC 28). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "berth/sched_admin.h"
#include "config/machine_open.h"
#include "flux/module.h"
#include "flux/r.h"

/* The ranks of a text that the machine has, as resources by name (match/text/names.h). NULL: there are none, or an error
 * that is told in the log. The caller frees it.
 */
static char *ranks_named(struct module *m, const char *text)
{
    struct idset ranks = {0};
    struct strbuf name = {0};
    berth_error_t err;
    char *result = NULL;

    if (!text || !*text)
        return NULL;
    if (idset_decode(&ranks, text, strlen(text), &err) < 0 ||
        idset_intersect(&ranks, &m->ranks) < 0) {
        flux_log_error(m->h, "resource.acquire: ranks %s", text);
    } else if (ranks.count > 0) {
        strbuf_puts(&name, "rank:[");
        idset_encode(&ranks, false, &name);
        strbuf_putc(&name, ']');
        result = strbuf_steal(&name);
    }
    strbuf_clear(&name);
    idset_clear(&ranks);
    return result;
}

static void set_ranks_status(struct module *m, const char *text, enum resource_status status)
{
    char *name = ranks_named(m, text);
    berth_error_t err = {""};
    int rc;

    if (!name)
        return;
    if (m->sched) {
        module_event(m);
        record_text(m, status == RESOURCE_UP ? "up" : "down", name);
        rc = sched_set_status(m->sched, m->now, name, status, &err);
    } else {
        rc = match_set_rank_status(m->machine, text, status == RESOURCE_UP, &err);
    }
    if (rc < 0)
        flux_log(m->h, LOG_ERR, "status of %s: %s", name, err.text);
    free(name);
}

/* Ranks that are gone for good. What runs there goes on, and is freed by its job. */
static void remove_ranks(struct module *m, const char *text)
{
    char *name = ranks_named(m, text);
    struct idset gone = {0};
    berth_error_t err = {""};
    int rc;

    if (!name)
        return;
    if (m->sched) {
        module_event(m);
        record_text(m, "remove", name);
        rc = sched_remove(m->sched, m->now, name, &err);
    } else {
        rc = match_remove_ranks(m->machine, text, &err);
    }
    if (rc < 0)
        flux_log(m->h, LOG_ERR, "removal of %s: %s", name, err.text);
    else if (idset_decode(&gone, text, strlen(text), NULL) < 0 ||
             idset_subtract(&m->ranks, &gone) < 0)
        flux_log_error(m->h, "removal of %s", name);
    idset_clear(&gone);
    free(name);
}

static int64_t expiration_tick(const struct module *m, double expiration)
{
    return expiration > 0 ? (int64_t)(expiration * (double)m->second) : INT64_MAX;
}

static void update_cb(flux_future_t *f, void *arg)
{
    struct module *m = arg;
    const char *up = NULL, *down = NULL, *gone = NULL;
    double expiration = -1.;

    if (flux_rpc_get_unpack(f, "{s?s s?s s?s s?F}", "up", &up, "down", &down, "shrink", &gone,
                            "expiration", &expiration) < 0) {
        /* RFC 28: the module `resource` goes, and nothing can be scheduled without it. */
        flux_log(m->h, errno == ECANCELED ? LOG_DEBUG : LOG_ERR, "resource.acquire: %s",
                 future_strerror(f, errno));
        flux_reactor_stop(flux_get_reactor(m->h));
        return;
    }
    remove_ranks(m, gone);
    set_ranks_status(m, up, RESOURCE_UP);
    set_ranks_status(m, down, RESOURCE_DOWN);
    if (expiration >= 0) {
        m->expiration = expiration_tick(m, expiration);
        module_new_end(m);
    }
    if (m->notes->changed)
        m->notes->changed(m, up, down, gone, expiration);
    flux_future_reset(f);
}

char *module_machine_text(const struct module_source *source, const json_t *r, const char **format)
{
    json_t *own = r_in_own_ranks(r);

    *format = "rv1exec";
    const json_t *part =
        !own || source->plain || !r_graph_has_cores(own) ? own : r_readable(own, format);
    char *text = part ? json_dumps(part, JSON_COMPACT) : NULL;
    json_decref(own);
    if (!text)
        errno = ENOMEM;
    return text;
}

resource_graph_t *module_graph(const struct module_source *source, const json_t *r,
                               berth_error_t *err)
{
    const char *format;
    resource_graph_t *graph = NULL;

    if (source->file)
        return config_graph_read(source->format, source->file, source->allow, err);
    if (!source->plain && r_check_scheduling(r, err) < 0)
        return NULL;
    char *text = module_machine_text(source, r, &format);
    if (text)
        graph = resource_graph_read(format, text, strlen(text), err);
    else
        errtext_no_memory(err);
    int error = errno;
    free(text);
    errno = error;
    return graph;
}

/* A matcher of R; what is not up is down. Returns 0, or -1 with a text and no matcher. */
static int try_machine(struct module *m, const json_t *r, const char *up, berth_error_t *err)
{
    bool is_checked = m->source.or_plain && !m->source.plain && r_graph_has_cores(r);
    resource_graph_t *graph = NULL;

    if (!is_checked || r_check_graph_ranks(r, err) == 0)
        graph = module_graph(&m->source, r, err);
    m->machine = graph ? match_create(graph, &m->match, err) : NULL;
    if (!m->machine)
        return -1;
    if (match_set_rank_status(m->machine, "all", false, err) == 0 &&
        (!*up || match_set_rank_status(m->machine, up, true, err) == 0))
        return 0;
    int error = errno;
    match_destroy(m->machine);
    m->machine = NULL;
    errno = error;
    return -1;
}

/* An instance without a scheduler is worse than one that knows only of ranks and cores. */
static int make_machine(struct module *m, const json_t *r, const char *up, berth_error_t *err)
{
    const json_t *scheduling = json_object_get(r, "scheduling");

    if (r_ranks(r, &m->ranks, err) < 0)
        return -1;
    if (try_machine(m, r, up, err) == 0)
        return 0;
    if (!m->source.or_plain || !scheduling || json_is_null(scheduling) || errno == ENOMEM)
        return -1;
    flux_log(m->h, LOG_ERR, "resources: %s: only what R_lite says is used", err->text);
    m->source.plain = true;
    return try_machine(m, r, up, err);
}

int module_acquire(struct module *m, const json_t **r, const char **up)
{
    berth_error_t err = {""};
    double expiration = 0;

    m->acquire = flux_rpc(m->h, "resource.acquire", NULL, FLUX_NODEID_ANY, FLUX_RPC_STREAMING);
    if (!m->acquire || flux_rpc_get_unpack(m->acquire, "{s:o s:s}", "resources", r, "up", up) < 0) {
        flux_log(m->h, LOG_ERR, "resource.acquire: %s", future_strerror(m->acquire, errno));
        return -1;
    }
    json_unpack((json_t *)*r, "{s:{s?F}}", "execution", "expiration", &expiration);
    m->expiration = expiration_tick(m, expiration);
    if (make_machine(m, *r, *up, &err) < 0) {
        int error = errno;
        flux_log(m->h, LOG_ERR, "resources: %s", err.text);
        errno = error;
        return -1;
    }
    return 0;
}

int module_follow(struct module *m)
{
    flux_future_reset(m->acquire);
    return flux_future_then(m->acquire, -1., update_cb, m);
}
