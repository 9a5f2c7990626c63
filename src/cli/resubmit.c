/* berth resubmit: submit jobs again, as they were submitted. */
#include <errno.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/client/last.h"
#include "cli/client/request.h"
#include "cli/option_table.h"
#include "cli/verb.h"
#include "config/ids.h"

static const struct option_row rows[] = {
    {OPTION_LONG('f'), "failed", NULL, "only jobs and members that failed or took too long", NULL},
    {'c', "cores-per-task", "N", "with so many cores for each task", NULL},
    {'g', "gpus-per-task", "[TYPE:]N", "with so many GPUs, whole ones without --gpu-memory", NULL},
    {REQUEST_GPU_MEMORY, "gpu-memory", "SIZE", "with such a part of each GPU", NULL},
    {REQUEST_MEM, "mem", "SIZE", "with so much memory: 512M or 4G", NULL},
    {'t', "time-limit", "TIME", "for so long: 90, 30m, 1h30m or unlimited", "unlimited"},
    {'q', "queue", "NAME", "in another queue", "@queue"},
    {REQUEST_NAME, "name", "NAME", "with another name", NULL},
    {0}};

const struct option_table resubmit_options = {
    .verb = "resubmit",
    .usage = "usage: berth resubmit [OPTION]... [JOB]...\n"
             "Submit jobs again, by default the last you submitted, and print the new ids.\n"
             "They have the command, options, script, environment and directory that they had\n"
             "then, but wait for no other job, no time and no release. A JOB is an id, one or\n"
             "more members of an array, or a range of ids.\n",
    .rows = rows,
    .notes = "Exit status: 0 submitted, 1 some were not, 2 wrong command line.\n"
             "Example: berth resubmit --failed --mem 8G 17\n"
             "Manual: man berth-resubmit\n",
    .complete = "@job last"};

struct again {
    struct connection connection;
    json_t *changes; /* keys of a request */
    bool failed_only;
    int status;
};

static bool is_mine(const json_t *job)
{
    const struct passwd *me = getpwuid(geteuid());
    return !me || strcmp(answer_text(job, "user"), me->pw_name) == 0;
}

/* The members that failed, "3,7-9", or "" */
static void put_failed(const json_t *job, struct strbuf *out)
{
    static const char *const states[] = {"failed", "timeout"};
    for (int i = 0; i < 2; i++) {
        const char *ranges = answer_text(json_object_get(job, "ranges"), states[i]);
        strbuf_puts(out, out->len && *ranges ? "," : "");
        strbuf_puts(out, ranges);
    }
}

/* Have a request ask for these members alone, as many at once as before. */
static int ask_members(json_t *request, struct strbuf *members)
{
    const char *before = answer_text(request, "array");
    const char *most = strchr(before, '%');
    char index[24];
    if (!strpbrk(strbuf_text(members), ",-")) { /* a number alone is how many */
        snprintf(index, sizeof(index), "-%s", strbuf_text(members));
        strbuf_puts(members, index);
    }
    strbuf_puts(members, most ? most : "");
    return members->failed
               ? -1
               : json_object_set_new(request, "array", json_string(strbuf_text(members)));
}

static bool has_failed(const json_t *job)
{
    const char *state = answer_text(job, "state");
    return strcmp(state, "failed") == 0 || strcmp(state, "timeout") == 0;
}

/* A gang is submitted whole. Returns 0, or -1 with errno and a text. */
static int choose_gang(const struct again *a, const json_t *job, int64_t member, berth_error_t *err)
{
    if (member >= 0)
        return errtext_set(err, EINVAL, "it is a member of a gang, expected the whole gang, %lld",
                           (long long)json_integer_value(json_object_get(job, "id")));
    return a->failed_only && !has_failed(job) ? errtext_set(err, ENOENT, "it has not failed") : 0;
}

/* Narrow the request down to the wanted members. 0, or -1 with errno and a text: ENOENT if none is wanted. */
static int choose_members(const struct again *a, const json_t *job, int64_t member, json_t *request,
                          berth_error_t *err)
{
    struct strbuf members = {0};
    bool array = json_integer_value(json_object_get(job, "members")) > 1;
    int rc = 0;
    if (json_integer_value(json_object_get(request, "gang")) > 0 ||
        json_array_size(json_object_get(request, "roles")) > 0)
        return choose_gang(a, job, member, err);
    if (a->failed_only && (!array || member >= 0) && !has_failed(job))
        return errtext_set(err, ENOENT, "it has not failed");
    if (member >= 0)
        strbuf_put_int(&members, member);
    else if (a->failed_only && array)
        put_failed(job, &members);
    if (a->failed_only && array && members.len == 0 && !members.failed)
        rc = errtext_set(err, ENOENT, "none of its members has failed");
    else if (members.len > 0 && ask_members(request, &members) < 0)
        rc = errtext_no_memory(err);
    strbuf_clear(&members);
    return rc;
}

/* The environment is told as a list of "NAME=VALUE", and asked for as an object. */
static json_t *environment_of(const json_t *job)
{
    json_t *environment = json_object(), *entry;
    size_t i;
    json_array_foreach (json_object_get(job, "environment"), i, entry) {
        const char *text = json_string_value(entry);
        const char *value = text ? strchr(text, '=') : NULL;
        if (value)
            json_object_setn_new(environment, text, (size_t)(value - text), json_string(value + 1));
    }
    return environment;
}

/* A limit was also called a duration, and an estimate is of the old one. Other GPUs may be of any type, and are whole. */
static void change_request(json_t *request, json_t *changes)
{
    if (json_object_get(changes, "limit")) {
        json_object_del(request, "duration");
        json_object_del(request, "estimate");
    }
    if (json_object_get(changes, "gpus")) {
        json_object_del(request, "gpu_type");
        json_object_del(request, "gpu_memory");
    }
    json_object_update(request, changes);
}

/* What to submit; NULL with errno and a text. */
static json_t *make_request(const struct again *a, const json_t *job, int64_t member,
                            berth_error_t *err)
{
    static const char *const left[] = {"dependency", "begin", "deadline", "hold"};
    json_t *request = json_deep_copy(json_object_get(job, "request"));
    json_t *script = json_object_get(job, "script");
    if (!request || !is_mine(job)) {
        errtext_set(err, EPERM, "it is another user's");
        goto fail;
    }
    if (!json_object_get(request, "command") && !json_is_string(script) &&
        !json_object_get(request, "jobspec")) {
        errtext_set(err, ENOENT, "how it was submitted is not known: it is of an older version");
        goto fail;
    }
    for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
        json_object_del(request, left[i]);
    change_request(request, a->changes);
    if ((json_is_string(script) && json_object_set(request, "script", script) < 0) ||
        json_object_set_new(request, "environment", environment_of(job)) < 0) {
        errtext_no_memory(err);
        goto fail;
    }
    if (choose_members(a, job, member, request, err) == 0)
        return request;
fail:;
    int saved = errno;
    json_decref(request);
    errno = saved;
    return NULL;
}

static int submit_again(struct again *a, int64_t id, int64_t member, berth_error_t *err)
{
    struct strbuf path = {0};
    json_t *job = NULL, *answer = NULL;
    route_job(&path, id, member, "?environment=1");
    int rc = connection_ask(&a->connection, "GET", strbuf_text(&path), NULL, &job, err);
    json_t *request = rc == 0 ? make_request(a, job, member, err) : NULL;
    if (request)
        rc = connection_ask(&a->connection, "POST", "/v1/jobs", request, &answer, err);
    if (request && rc == 0)
        printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(json_object_get(answer, "id")));
    rc = request ? rc : -1;
    int saved = errno;
    strbuf_clear(&path);
    json_decref(request);
    json_decref(answer);
    json_decref(job);
    errno = saved;
    return rc;
}

static int take_job(void *context, int64_t id, int64_t member, bool ranged)
{
    struct again *a = context;
    char name[JOB_ID_SIZE];
    berth_error_t err;
    if (submit_again(a, id, member, &err) == 0 || (ranged && errno == ENOENT))
        return 0;
    fprintf(stderr, "berth resubmit: %s: %s\n", job_id_text(id, member, name), err.text);
    a->status = CLI_FAILED;
    return 0;
}

static void submit_all(struct again *a, char **words, size_t n)
{
    struct ids ids;
    berth_error_t err;
    char **ours = last_words(&a->connection, words, n, &err);
    if (!ours) {
        a->status = connection_failed(&a->connection, &err);
        return;
    }
    if (ids_read(&ids, ours, n, &err) < 0) {
        a->status = cli_usage("resubmit", "%s", err.text);
    } else {
        if (!a->connection.client && connection_open(&a->connection, "resubmit", &err) < 0)
            a->status = connection_failed(&a->connection, &err);
        else
            ids_each(&ids, take_job, a);
        ids_clear(&ids);
    }
    last_words_free(ours);
}

static int take_resubmit_option(struct again *a, int c)
{
    berth_error_t err;
    if (c == '?')
        return CLI_USAGE;
    if (c == 'h')
        return option_help(&resubmit_options);
    if (c == OPTION_LONG('f'))
        a->failed_only = true;
    else if (request_take(c, a->changes, &err) < 0)
        return cli_usage("resubmit", "%s", err.text);
    return CLI_OK;
}

int cli_resubmit(int argc, char **argv)
{
    struct again a = {
        .connection = {.verb = "resubmit"}, .changes = json_object(), .status = CLI_OK};
    char word[] = "last", *last[] = {word};
    int c;

    while ((c = option_next(&resubmit_options, argc, argv)) != -1) {
        int status = take_resubmit_option(&a, c);
        if (c == 'h' || status != CLI_OK) {
            json_decref(a.changes);
            return status;
        }
    }
    bool named = optind < argc;
    submit_all(&a, named ? argv + optind : last, named ? (size_t)(argc - optind) : 1);
    connection_close(&a.connection);
    json_decref(a.changes);
    return a.status;
}
