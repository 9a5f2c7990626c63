/* Jobs that are matched by hand: match, update, cancel, info. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "flux/fluxion/resource.h"
#include "flux/r.h"

static struct hand_job *find_by_hand(const struct resource_module *rm, int64_t id)
{
    return (struct hand_job *)dict_find(&rm->by_hand, (const char *)&id, sizeof(id));
}

static int add_by_hand(struct resource_module *rm, const struct hand_job *job)
{
    struct hand_job *copy = malloc(sizeof(*copy));

    if (!copy || dict_reserve(&rm->by_hand) < 0) {
        free(copy);
        errno = ENOMEM;
        return -1;
    }
    *copy = *job;
    copy->entry.text = (const char *)&copy->id;
    copy->entry.length = sizeof(copy->id);
    dict_put(&rm->by_hand, &copy->entry);
    return 0;
}

static void forget_by_hand(struct resource_module *rm, struct hand_job *job)
{
    dict_take(&rm->by_hand, &job->entry);
    free(job);
}

/* Is the number that of a job, in a queue or by hand? */
static bool is_job_known(const struct resource_module *rm, int64_t id)
{
    return find_by_hand(rm, id) || flux_jobs_find(&rm->m.jobs, (uint64_t)id);
}

static void refuse_match(struct module *m, const flux_msg_t *msg, int error, const char *text)
{
    if (flux_respond_error(m->h, msg, error, text && *text ? text : NULL) < 0)
        flux_log_error(m->h, "answer");
}

/* One above the largest number of a job that is there. O(jobs). */
static int64_t next_id(const struct resource_module *rm)
{
    int64_t next = 0;

    for (size_t i = 0; i < rm->by_hand.buckets; i++)
        for (const struct dict_entry *e = rm->by_hand.bucket[i]; e; e = e->next) {
            const struct hand_job *job = (const struct hand_job *)e; /* its first member */
            next = job->id >= next ? job->id + 1 : next;
        }
    for (size_t i = 0; i < rm->m.jobs.n; i++) {
        int64_t id = (int64_t)rm->m.jobs.v[i]->id;
        next = id >= next && id < HAND_JOBS ? id + 1 : next;
    }
    return next;
}

static void next_jobid(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    (void)mh;
    if (flux_respond_pack(h, msg, "{s:I}", "jobid", (json_int_t)next_id(rm)) < 0)
        flux_log_error(h, "next_jobid");
}

/* One match. */
struct attempt {
    match_op_t op;
    int64_t id;
    match_result_t result;
    double overhead;
    const char *text; /* R, as written */
    size_t length;
};

static bool records(match_op_t op)
{
    return op != MATCH_SATISFIABILITY && op != MATCH_WITHOUT_ALLOCATING &&
           op != MATCH_WITHOUT_ALLOCATING_FUTURE;
}

/* Match, and write what was found; what can't be written is given back. Returns 0, or -1 with errno and a text. */
static int attempt(struct resource_module *rm, struct attempt *a, const char *spec_text,
                   berth_error_t *err)
{
    struct module *m = &rm->m;
    struct jobspec_options options = {.knows_type = match_knows_type, .arg = m->machine};
    jobspec_t *spec = jobspec_parse(spec_text, strlen(spec_text), &options, err);
    double from = steady_seconds();
    int64_t number = records(a->op) ? HAND_JOBS + a->id : -1;

    if (!spec)
        return errno == ENOMEM ? -1 : (errno = EINVAL, -1);
    module_event(m);
    int rc = match_run(m->machine, a->op, spec, number, m->now, &a->result, err);
    int error = errno;
    jobspec_destroy(spec);
    a->overhead = steady_seconds() - from;
    look_count(rc == 0 ? &rm->matched : &rm->failed, a->overhead, a->id, a->result.tries);
    if (rc == 0 && a->op != MATCH_SATISFIABILITY) {
        rc = match_write(m->machine, m->match_format, &a->text, &a->length);
        error = errno;
        if (rc < 0 && records(a->op))
            match_cancel(m->machine, number, NULL, NULL);
    }
    errno = error;
    return rc;
}

static const char *status_of_match(const struct resource_module *rm, const struct attempt *a)
{
    if (!records(a->op))
        return "MATCHED";
    return a->result.at > rm->m.now ? "RESERVED" : "ALLOCATED";
}

static int answer_match(struct resource_module *rm, const flux_msg_t *msg, const struct attempt *a)
{
    return flux_respond_pack(rm->m.h, msg, "{s:I s:s s:f s:s# s:I}", "jobid", (json_int_t)a->id,
                             "status", status_of_match(rm, a), "overhead", a->overhead, "R",
                             a->text ? a->text : "", (int)a->length, "at",
                             (json_int_t)a->result.at);
}

/* Returns 0, or -1 with errno and a text. */
static int match_one(struct resource_module *rm, const flux_msg_t *msg, const char *cmd, int64_t id,
                     const char *spec, berth_error_t *err)
{
    struct attempt a = {.id = id};
    int op = match_op_parse(cmd);

    if (op < 0)
        return errtext_set(err, EINVAL, "match: unknown command %.40s", cmd);
    a.op = (match_op_t)op;
    if (!records(a.op))
        a.id = -1;
    else if (id < 0 || id >= HAND_JOBS || is_job_known(rm, id))
        return errtext_set(err, EINVAL, "job %" PRId64 ": expected a number that is not in use",
                           id);
    if (attempt(rm, &a, spec, err) < 0)
        return -1;
    struct hand_job job = {.id = id,
                           .at = a.result.at,
                           .overhead = a.overhead,
                           .is_reserved = a.result.at > rm->m.now};
    if (records(a.op) && add_by_hand(rm, &job) < 0) {
        match_cancel(rm->m.machine, HAND_JOBS + id, NULL, NULL);
        return errtext_no_memory(err);
    }
    return answer_match(rm, msg, &a);
}

static void match_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    berth_error_t err = {""};
    const char *cmd, *spec;
    json_int_t id;

    (void)mh;
    if (flux_request_unpack(msg, NULL, "{s:s s:I s:s}", "cmd", &cmd, "jobid", &id, "jobspec",
                            &spec) < 0)
        refuse_match(&rm->m, msg, EPROTO, NULL);
    else if (match_one(rm, msg, cmd, id, spec, &err) < 0)
        refuse_match(&rm->m, msg, errno, errno == EBUSY || errno == ENODEV ? NULL : err.text);
    (void)h;
}

static void match_multi_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    berth_error_t err = {""};
    const char *cmd;
    json_t *jobs, *job;
    size_t i;
    int error = ENODATA;
    char text[64] = "";

    (void)h;
    (void)mh;
    if (flux_request_unpack(msg, NULL, "{s:s s:o}", "cmd", &cmd, "jobs", &jobs) < 0) {
        refuse_match(&rm->m, msg, EPROTO, NULL);
        return;
    }
    json_array_foreach (jobs, i, job) {
        json_int_t id = json_integer_value(json_object_get(job, "jobid"));
        const json_t *given = json_object_get(job, "jobspec");
        char *spec = json_is_string(given) ? strdup(json_string_value(given))
                                           : json_dumps(given, JSON_COMPACT);
        int rc = spec ? match_one(rm, msg, cmd, id, spec, &err) : (errno = EPROTO, -1);
        error = rc < 0 ? errno : ENODATA;
        free(spec);
        if (rc < 0) {
            snprintf(text, sizeof(text), "jobid=%" PRId64, (int64_t)id);
            break;
        }
    }
    refuse_match(&rm->m, msg, error, text);
}

/* The ranks, nodes and their children that R has, to compare with. */
static json_t *lite_of(const char *text)
{
    json_t *r = json_loads(text, 0, NULL),
           *lite = json_incref(json_object_get(json_object_get(r, "execution"), "R_lite"));
    json_decref(r);
    return lite;
}

/* A job that is known is told again if it holds the same. Returns 1 if it is, 0 if it is unknown, -1 with a text. */
static int update_again(struct resource_module *rm, const flux_msg_t *msg, int64_t id,
                        const char *text, berth_error_t *err)
{
    const struct hand_job *job = find_by_hand(rm, id);
    struct attempt a = {.op = MATCH_ALLOCATE, .id = id};
    char criteria[64];

    if (!job)
        return is_job_known(rm, id) ? errtext_set(err, EINVAL, "job %" PRId64 " is in a queue", id)
                                    : 0;
    snprintf(criteria, sizeof(criteria), "jobid-alloc=%" PRId64, HAND_JOBS + id);
    if (match_find(rm->m.machine, criteria, rm->m.now, err) < 0 ||
        match_write(rm->m.machine, "rv1_nosched", &a.text, &a.length) < 0)
        return -1;
    char *own = strndup(a.text, a.length);
    json_t *has = own ? lite_of(own) : NULL, *said = lite_of(text);
    free(own);
    bool same = has && said && json_equal(has, said);
    json_decref(has);
    json_decref(said);
    if (!same)
        return errtext_set(err, EINVAL, "job %" PRId64 " holds other resources", id);
    a.result.at = job->at;
    a.overhead = job->overhead;
    a.text = text;
    a.length = strlen(text);
    return answer_match(rm, msg, &a) < 0 ? -1 : 1;
}

/* Returns 0, or -1 with errno and a text. */
static int update(struct resource_module *rm, const flux_msg_t *msg, int64_t id, const char *text,
                  berth_error_t *err)
{
    struct module *m = &rm->m;
    struct attempt a = {.op = MATCH_ALLOCATE, .id = id};
    const char *format;
    int64_t until;
    double from = steady_seconds();
    int again = update_again(rm, msg, id, text, err);

    if (again != 0)
        return again < 0 ? -1 : 0;
    json_t *r = json_loads(text, 0, NULL);
    const json_t *part = r ? r_readable(r, &format) : NULL;
    char *resources = part ? json_dumps(part, JSON_COMPACT) : NULL;
    if (id < 0 || id >= HAND_JOBS || !resources || r_times(r, 1, &a.result.at, &until) < 0) {
        free(resources);
        json_decref(r);
        return errtext_set(err, EINVAL, "update: expected a number of a job, and R with times");
    }
    module_event(m);
    int64_t duration = until == INT64_MAX ? MATCH_END - a.result.at : until - a.result.at;
    int rc = match_update(m->machine, format, resources, strlen(resources), HAND_JOBS + id,
                          a.result.at, duration, false, err);
    int error = errno;
    free(resources);
    json_decref(r);
    a.overhead = steady_seconds() - from;
    struct hand_job job = {.id = id, .at = a.result.at, .overhead = a.overhead};
    errno = error;
    if (rc < 0 || match_write(m->machine, m->match_format, &a.text, &a.length) < 0)
        return -1;
    if (add_by_hand(rm, &job) < 0) {
        match_cancel(m->machine, HAND_JOBS + id, NULL, NULL);
        return errtext_no_memory(err);
    }
    a.result.at = a.result.at < m->now ? a.result.at : m->now;
    return answer_match(rm, msg, &a);
}

static void update_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    berth_error_t err = {""};
    const char *r;
    json_int_t id;

    (void)h;
    (void)mh;
    if (flux_request_unpack(msg, NULL, "{s:I s:s}", "jobid", &id, "R", &r) < 0)
        refuse_match(&rm->m, msg, EPROTO, NULL);
    else if (update(rm, msg, id, r, &err) < 0)
        refuse_match(&rm->m, msg, errno, err.text);
}

static void cancel_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    berth_error_t err = {""};
    struct hand_job *job = NULL;
    json_int_t id;

    (void)mh;
    if (flux_request_unpack(msg, NULL, "{s:I}", "jobid", &id) < 0) {
        refuse_match(&rm->m, msg, EPROTO, NULL);
        return;
    }
    job = find_by_hand(rm, id);
    if (!job || match_cancel(rm->m.machine, HAND_JOBS + id, NULL, &err) < 0) {
        refuse_match(&rm->m, msg, job ? errno : ENOENT, err.text);
        return;
    }
    forget_by_hand(rm, job);
    queues_wake(rm);
    if (flux_respond_pack(h, msg, "{}") < 0)
        flux_log_error(h, "cancel");
}

static void partial_cancel_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    berth_error_t err = {""};
    const char *text, *format;
    json_int_t id;
    bool full = false;
    int rc = -1;

    (void)mh;
    if (flux_request_unpack(msg, NULL, "{s:I s:s}", "jobid", &id, "R", &text) < 0) {
        refuse_match(&rm->m, msg, EPROTO, NULL);
        return;
    }
    struct hand_job *job = find_by_hand(rm, id);
    json_t *r = json_loads(text, 0, NULL);
    const json_t *part = r ? r_readable(r, &format) : NULL;
    char *what = part ? json_dumps(part, JSON_COMPACT) : NULL;
    errno = job ? EINVAL : ENOENT;
    if (job && what)
        rc = match_partial_cancel(rm->m.machine, HAND_JOBS + id, format, what, strlen(what), &full,
                                  NULL, &err);
    int error = errno;
    free(what);
    json_decref(r);
    if (rc < 0) {
        refuse_match(&rm->m, msg, error, err.text);
        return;
    }
    if (full)
        forget_by_hand(rm, job);
    queues_wake(rm);
    if (flux_respond_pack(h, msg, "{s:i}", "full-removal", full) < 0)
        flux_log_error(h, "partial-cancel");
}

static void info_cb(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct resource_module *rm = arg;
    struct sched_annotation a = {0};
    json_int_t id;
    int rc;

    (void)mh;
    if (flux_request_unpack(msg, NULL, "{s:I}", "jobid", &id) < 0) {
        refuse_match(&rm->m, msg, EPROTO, NULL);
        return;
    }
    const struct hand_job *job = find_by_hand(rm, id);
    const struct flux_job *queued = flux_jobs_find(&rm->m.jobs, (uint64_t)id);
    if (job)
        rc = flux_respond_pack(h, msg, "{s:I s:s s:I s:f}", "jobid", id, "status",
                               job->is_reserved ? "RESERVED" : "ALLOCATED", "at",
                               (json_int_t)job->at, "overhead", job->overhead);
    else if (queued && sched_annotate(rm->m.sched, queued->handle, &a) == 0 &&
             (a.state == SCHED_RUNNING || a.state == SCHED_RESERVED))
        rc = flux_respond_pack(h, msg, "{s:I s:s s:I s:f}", "jobid", id, "status",
                               a.state == SCHED_RUNNING ? "ALLOCATED" : "RESERVED", "at",
                               (json_int_t)a.start, "overhead", 0.);
    else
        rc = flux_respond_error(h, msg, ENOENT, NULL);
    if (rc < 0)
        flux_log_error(h, "info");
}

void hand_clear(struct resource_module *rm)
{
    for (size_t i = 0; i < rm->by_hand.buckets; i++)
        for (struct dict_entry *e = rm->by_hand.bucket[i], *next; e; e = next) {
            next = e->next;
            free(e); /* the entry is the job's first member */
        }
    dict_clear(&rm->by_hand);
}

#define TOPIC(name) "sched-fluxion-resource." name

const struct flux_msg_handler_spec hand_handlers[] = {
    {FLUX_MSGTYPE_REQUEST, TOPIC("next_jobid"), next_jobid, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("match"), match_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("match_multi"), match_multi_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("update"), update_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("cancel"), cancel_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("partial-cancel"), partial_cancel_cb, 0},
    {FLUX_MSGTYPE_REQUEST, TOPIC("info"), info_cb, 0},
    FLUX_MSGHANDLER_TABLE_END};
