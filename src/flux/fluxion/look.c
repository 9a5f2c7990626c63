/* Questions that change nothing: find, status, stats, params, ns-info. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "berth/sched_query.h"
#include "flux/fluxion/resource.h"
#include "flux/r.h"

/* ---- find ---- */

/* The matcher's number of a job: that of its booking if a queue has it. -1: there is none such. */
static int64_t matcher_number(const struct resource_module *rm, int64_t id)
{
    const struct flux_job *job = flux_jobs_find(&rm->m.jobs, (uint64_t)id);

    if (job)
        return sched_booking(rm->m.sched, job->handle);
    return id >= 0 && id < HAND_JOBS ? HAND_JOBS + id : INT64_MAX;
}

/* Fluxion's expressions name jobs by their ids, in any of Flux's notations; the matcher's by its own numbers. Returns 0, or
 * -1 with EINVAL and Fluxion's text: what should be an id is none.
 */
static int translate(const struct resource_module *rm, const char *from, struct strbuf *to,
                     berth_error_t *err)
{
    static const char *const keys[] = {
        "jobid-alloc=", "jobid-span=", "jobid-tag=", "jobid-reserved="};

    while (*from) {
        size_t key = 0;
        for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
            if (strncmp(from, keys[i], strlen(keys[i])) == 0)
                key = strlen(keys[i]);
        if (key == 0) {
            strbuf_putc(to, *from++);
            continue;
        }
        strbuf_put(to, from, key);
        from += key;
        size_t length = strcspn(from, " \t()");
        char text[64];
        flux_jobid_t id;
        snprintf(text, sizeof(text), "%.*s", (int)(length < 63 ? length : 63), from);
        if (flux_job_id_parse(text, &id) < 0)
            return errtext_set(err, EINVAL, "%s", strerror(EINVAL));
        snprintf(text, sizeof(text), "%" PRId64, matcher_number(rm, (int64_t)id));
        strbuf_puts(to, text);
        from += length;
    }
    return 0;
}

/* What an expression finds, in a format: an object or text, null if that is nothing. NULL with errno and a text. */
static json_t *find_resources(struct resource_module *rm, const char *criteria, const char *format,
                              berth_error_t *err)
{
    struct strbuf own = {0};
    const char *text;
    size_t length;
    json_t *r = NULL;

    module_event(&rm->m);
    int rc = translate(rm, criteria, &own, err);
    if (rc == 0 && own.failed)
        rc = errtext_no_memory(err);
    if (rc == 0)
        rc = match_find(rm->m.machine, strbuf_text(&own), rm->m.now, err);
    if (rc == 0)
        rc = match_write(rm->m.machine, format, &text, &length);
    int error = errno;
    strbuf_clear(&own);
    errno = error;
    if (rc < 0 && error != ENOENT)
        return NULL;
    if (rc < 0 || length == 0)
        return json_null();
    r = json_loadb(text, length, JSON_DECODE_ANY, NULL);
    return r ? r : json_stringn(text, length);
}

static void find_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    berth_error_t err = {""};
    const char *criteria, *format = "rv1_nosched";
    json_t *r = NULL;
    int rc;

    (void)mh;
    errno = EPROTO;
    if (flux_request_unpack(msg, NULL, "{s:s s?s}", "criteria", &criteria, "format", &format) == 0)
        r = find_resources(rm, criteria, format, &err);
    if (r)
        rc = flux_respond_pack(h, msg, "{s:o}", "R", r);
    else
        rc = flux_respond_error(h, msg, errno, *err.text ? err.text : NULL);
    if (rc < 0)
        flux_log_error(h, "find");
}

/* ---- status ---- */

static void status_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;

    module_event(&rm->m);
    module_resource_status(h, mh, msg, &rm->m);
}

/* ---- stats ---- */

void look_count(struct match_costs *c, double seconds, int64_t job, uint64_t tries)
{
    c->n++;
    c->since_reset++;
    double difference = seconds - c->mean;
    c->mean += difference / (double)c->since_reset;
    c->squares += difference * (seconds - c->mean);
    if (c->since_reset == 1 || seconds < c->min)
        c->min = seconds;
    if (c->since_reset > 1 && seconds <= c->max)
        return;
    c->max = seconds;
    c->max_job = job;
    c->max_tries = tries;
}

static json_t *costs(const struct match_costs *c)
{
    double n = (double)c->since_reset;
    return json_pack("{s:I s:I s:I s:I s:{s:f s:f s:f s:f}}", "njobs", (json_int_t)c->n,
                     "njobs-reset", (json_int_t)c->since_reset, "max-match-jobid",
                     (json_int_t)c->max_job, "max-match-iters", (json_int_t)c->max_tries, "stats",
                     "min", c->min, "max", c->max, "avg", c->mean, "variance",
                     n > 1 ? c->squares / n : 0.);
}

/* How many vertices each rank has: {"[0-3]": 17}, of ranks with as many. NULL with ENOMEM. */
static json_t *by_rank(struct resource_module *rm)
{
    berth_error_t err;
    json_t *jgf = find_resources(rm, "status=up or status=down", "jgf", &err), *node, *n,
           *counts = json_object(), *sets = json_object();
    const char *key;
    size_t i;
    char text[32];

    json_array_foreach (json_object_get(json_object_get(jgf, "graph"), "nodes"), i, node) {
        const json_t *rank = json_object_get(json_object_get(node, "metadata"), "rank");
        if (!json_is_integer(rank) || json_integer_value(rank) < 0)
            continue;
        snprintf(text, sizeof(text), "%" PRId64, (int64_t)json_integer_value(rank));
        json_object_set_new(counts, text,
                            json_integer(json_integer_value(json_object_get(counts, text)) + 1));
    }
    json_object_foreach (counts, key, n) {
        snprintf(text, sizeof(text), "%" PRId64, (int64_t)json_integer_value(n));
        const char *known = json_string_value(json_object_get(sets, text));
        json_object_set_new(sets, text,
                            known ? json_sprintf("%s,%s", known, key) : json_string(key));
    }
    json_decref(counts);
    json_t *result = json_object();
    json_object_foreach (sets, key, n) {
        struct idset ranks = {0};
        struct strbuf name = {0};
        const char *list = json_string_value(n);
        if (list && idset_decode(&ranks, list, strlen(list), NULL) == 0) {
            strbuf_putc(&name, '[');
            idset_encode(&ranks, false, &name);
            strbuf_putc(&name, ']');
            json_object_set_new(result, strbuf_text(&name), json_integer(strtoll(key, NULL, 10)));
        }
        idset_clear(&ranks);
        strbuf_clear(&name);
    }
    json_decref(sets);
    json_decref(jgf);
    return result;
}

static void stats_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    const resource_graph_t *graph = match_graph(rm->m.machine);
    double now = steady_seconds();

    (void)mh;
    if (flux_respond_pack(h, msg, "{s:I s:I s:o s:f s:f s:f s:{s:o s:o}}", "V",
                          (json_int_t)resource_graph_vertices(graph), "E",
                          (json_int_t)resource_graph_edges(graph), "by_rank", by_rank(rm),
                          "load-time", rm->load_time, "graph-uptime", now - rm->started,
                          "time-since-reset", now - rm->reset, "match", "succeeded",
                          costs(&rm->matched), "failed", costs(&rm->failed)) < 0)
        flux_log_error(h, "stats-get");
}

static void reset(struct match_costs *c)
{
    *c = (struct match_costs){.n = c->n};
}

static void stats_clear_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;

    (void)mh;
    reset(&rm->matched);
    reset(&rm->failed);
    rm->reset = steady_seconds();
    if (flux_respond(h, msg, NULL) < 0)
        flux_log_error(h, "stats-clear");
}

/* ---- params, ns-info ---- */

static void params_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    json_t *params = resource_options_json(&rm->options);
    int rc = params ? flux_respond_pack(h, msg, "{s:o}", "params", params)
                    : flux_respond_error(h, msg, errno, NULL);

    (void)mh;
    if (rc < 0)
        flux_log_error(h, "params");
}

/* What a rank, or a core of a rank, of the enclosing instance is called here. */
static void ns_info_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    const char *type;
    json_int_t rank, id;
    int64_t own = -1;
    int rc;

    (void)mh;
    if (flux_request_unpack(msg, NULL, "{s:I s:s s:I}", "rank", &rank, "type-name", &type, "id",
                            &id) < 0) {
        flux_respond_error(h, msg, EPROTO, NULL);
        return;
    }
    own = r_own_id(rm->r, rank, type, id);
    rc = own >= 0 ? flux_respond_pack(h, msg, "{s:I}", "id", (json_int_t)own)
                  : flux_respond_error(h, msg, ENOENT, NULL);
    if (rc < 0)
        flux_log_error(h, "ns-info");
}

#define TOPIC(name) "sched-fluxion-resource." name

const struct flux_msg_handler_spec look_handlers[] = {
    {FLUX_MSGTYPE_REQUEST, TOPIC("find"), find_cb, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, TOPIC("status"), status_cb, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, TOPIC("stats-get"), stats_cb, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, TOPIC("stats-clear"), stats_clear_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("params"), params_cb, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, TOPIC("ns-info"), ns_info_cb, 0},
    FLUX_MSGHANDLER_TABLE_END};
