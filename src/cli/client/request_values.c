/* How an option's text becomes a key of the job. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/errtext.h"
#include "berth/sched_config.h"
#include "cli/client/request_priv.h"
#include "cli/client/role_option.h"
#include "cli/client/script.h"
#include "cli/client/when.h"
#include "cli/verb.h"
#include "config/constraint_query.h"
#include "config/ends.h"
#include "config/gang_keys.h"
#include "config/members.h"
#include "config/quantity.h"
#include "config/signals.h"

#define COUNT_MAX 1000000000
#define LITTLE    (1 << 20) /* bytes: who asks for less has hardly meant it */

struct reader {
    int key; /* of the option */
    int (*read)(struct reading *g, const struct reader *how);
    const char *to;     /* a key of POST /v1/jobs */
    const char *word;   /* what the text may be besides */
    long long min, max; /* of a whole number */
};

static int expected_option_value(struct reading *g, const struct reader *how, const char *what)
{
    return errtext_set(g->err, EINVAL, "%s--%s is '%s', expected %s", g->where,
                       option_name(&submit_options, how->key), optarg, what);
}

static int read_name_option(struct reading *g, const struct reader *how)
{
    return *optarg ? request_put(g, how->to, json_string(optarg))
                   : expected_option_value(g, how, "a text that is not empty");
}

static int read_whole(struct reading *g, const struct reader *how)
{
    char *end, what[80];
    errno = 0;
    long long n = strtoll(optarg, &end, 10);

    if (end == optarg || *end || errno || n < how->min || n > how->max) {
        snprintf(what, sizeof(what), "a whole number from %lld to %lld", how->min, how->max);
        return expected_option_value(g, how, what);
    }
    return request_put(g, how->to, json_integer(n));
}

/* "2", or "2-4": as many as there are. */
static int read_nodes(struct reading *g, const struct reader *how)
{
    char *end, *last;
    errno = 0;
    long long least = strtoll(optarg, &end, 10), most = 0;
    bool is_range = *end == '-' && end[1] >= '0' && end[1] <= '9';

    if (is_range)
        most = strtoll(end + 1, &last, 10);
    if (end == optarg || (is_range ? *last : *end) || errno || least < how->min ||
        least > how->max || (is_range && (most < least || most > how->max)))
        return expected_option_value(g, how, "a number of nodes from 1 on, or a range such as 2-4");
    json_object_del(g->job, "nodes_max");
    if (most > least && request_put(g, "nodes_max", json_integer(most)) < 0)
        return -1;
    return request_put(g, how->to, json_integer(least));
}

/* Seconds, as a whole number if possible. */
static json_t *seconds(int64_t us)
{
    return us % 1000000 == 0 ? json_integer(us / 1000000) : json_real((double)us / 1e6);
}

static int read_duration(struct reading *g, const struct reader *how)
{
    int64_t us;
    return quantity_duration(optarg, &us) < 0
               ? expected_option_value(g, how, "a duration such as 90, 30m, 1h30m or 1:30:00")
               : request_put(g, how->to, seconds(us));
}

/* The same, or a word, as the server knows it. */
static int read_time(struct reading *g, const struct reader *how)
{
    char what[80];
    int64_t us;
    if (strcmp(optarg, how->word) == 0)
        return request_put(g, how->to, json_string(how->word));
    snprintf(what, sizeof(what), "a duration such as 90, 30m, 1h30m or 1:30:00, or %s", how->word);
    return quantity_duration(optarg, &us) < 0 || us == 0 ? expected_option_value(g, how, what)
                                                         : request_put(g, how->to, seconds(us));
}

static int read_memory(struct reading *g, const struct reader *how)
{
    int64_t bytes;
    if (quantity_size(optarg, &bytes) < 0 || bytes == 0)
        return expected_option_value(g, how, "a size such as 512M or 4G");
    if (bytes < LITTLE && optarg[strspn(optarg, "0123456789")] == '\0')
        fprintf(stderr, "berth: --%s %s is %" PRId64 " bytes; %sM is in megabytes\n",
                option_name(&submit_options, how->key), optarg, bytes, optarg);
    return request_put(g, how->to, json_integer(bytes));
}

static int read_when(struct reading *g, const struct reader *how)
{
    double at;
    return when_read(optarg, time(NULL), &at) < 0
               ? expected_option_value(g, how, "a time such as +1h, 08:30 or 2026-12-31T08:30")
               : request_put(g, how->to, json_real(at));
}

/* "10", "0-8:2,17", "1-100%5". The server reads it again. */
static int read_array(struct reading *g, const struct reader *how)
{
    struct members members;
    berth_error_t why = {""};

    if (members_read(&members, optarg, strlen(optarg), &why) < 0)
        return errtext_set(g->err, errno, "%s--array is '%s': %s", g->where, optarg, why.text);
    members_clear(&members);
    return request_put(g, how->to, json_string(optarg));
}

/* What becomes of a gang of which a member fails. */
static int read_failure(struct reading *g, const struct reader *how)
{
    for (const char *const *word = gang_failures; *word; word++)
        if (strcmp(optarg, *word) == 0)
            return request_put(g, how->to, json_string(optarg));
    return expected_option_value(g, how, "all, go-on or replace");
}

/* One more role of a gang. */
static int read_role(struct reading *g, const struct reader *how)
{
    json_t *roles = json_object_get(g->job, how->to);
    berth_error_t why = {""};
    if (!roles && request_put(g, how->to, roles = json_array()) < 0)
        return -1;
    json_t *role = role_option_read(optarg, &why);
    if (!role)
        return errtext_set(g->err, errno, "%s--role is '%.100s': %s", g->where, optarg, why.text);
    return json_array_append_new(roles, role) == 0 ? 0 : errtext_no_memory(g->err);
}

/* "USR1@60": the signal and the seconds before the limit, which the server knows otherwise. */
static int read_signal(struct reading *g, const struct reader *how)
{
    char name[32];
    int64_t us;
    int number;
    size_t n = strcspn(optarg, "@");
    bool told = optarg[n] != '\0';

    if (n >= sizeof(name) || !signals_read(optarg, n, &number) ||
        (told && quantity_duration(optarg + n + 1, &us) < 0))
        return expected_option_value(g, how, "a signal and how long before the limit, USR1@60");
    memcpy(name, optarg, n);
    name[n] = '\0';
    return request_put(
        g, how->to, json_pack("{s:s, s:o*}", "signal", name, "before", told ? seconds(us) : NULL));
}

/* "2", "a100", "a100:2": how many, and of which type. */
static int read_gpus(struct reading *g, const struct reader *how)
{
    const char *number = strrchr(optarg, ':');
    size_t type = number ? (size_t)(number - optarg) : strlen(optarg);
    char *end;

    errno = 0;
    number = number ? number + 1 : strspn(optarg, "0123456789-") == type ? optarg : "1";
    long long n = strtoll(number, &end, 10);
    if (end == number || *end || errno || n < 0 || n > COUNT_MAX || type == 0)
        return expected_option_value(g, how,
                                     "a number of GPUs, or their type and number such as a100:2");
    if (number != optarg && request_put(g, "gpu_type", json_stringn(optarg, type)) < 0)
        return -1;
    return request_put(g, how->to, json_integer(n));
}

/* "matlab:2,ansys": of each how many, 1 if it is not said. */
static int read_licenses(struct reading *g, const struct reader *how)
{
    json_t *all = json_object();
    bool good = all && *optarg;

    for (const char *at = optarg; good && *at;) {
        size_t length = strcspn(at, ","), name = strcspn(at, ",:=");
        char *end = NULL;
        errno = 0;
        long long n = name < length ? strtoll(at + name + 1, &end, 10) : 1;
        good = name > 0 && (name == length || (end == at + length && end > at + name + 1)) &&
               !errno && n >= 1 && n <= COUNT_MAX &&
               json_object_setn_new(all, at, name, json_integer(n)) == 0;
        at += length;
        good = good && !(*at == ',' && !at[1]);
        at += *at == ',';
    }
    if (good)
        return request_put(g, how->to, all);
    json_decref(all);
    return expected_option_value(g, how, "names with numbers such as matlab:2,ansys");
}

static int read_requires(struct reading *g, const struct reader *how)
{
    if (*optarg == '{') {
        json_t *constraint = json_loads(optarg, 0, NULL);
        return constraint ? request_put(g, how->to, constraint)
                          : expected_option_value(g, how, "a constraint (RFC 31) in JSON");
    }
    berth_error_t why = {""};
    json_t *constraint = constraint_query(optarg, &why);
    if (constraint)
        return request_put(g, how->to, constraint);
    if (errno == ENOMEM)
        return errtext_no_memory(g->err);
    return errtext_set(g->err, EINVAL, "%s--requires is '%.60s', %s", g->where, optarg, why.text);
}

static int read_jobspec(struct reading *g, const struct reader *how)
{
    struct script file;

    g->r->used_input = g->r->used_input || strcmp(optarg, "-") == 0;
    if (script_read(&file, optarg, g->err) < 0)
        return -1;
    int rc = request_put(g, how->to, json_stringn(file.text, file.length));
    script_clear(&file);
    return rc;
}

/* The server reads it again. */
static int read_retry_on(struct reading *g, const struct reader *how)
{
    struct ends ends;
    berth_error_t why = {""};
    if (ends_read(&ends, optarg, strlen(optarg), &why) < 0)
        return errtext_set(g->err, EINVAL, "%s--retry-on is '%s': %s", g->where, optarg, why.text);
    return request_put(g, how->to, json_string(optarg));
}

/* "project=climate". */
static int read_label(struct reading *g, const struct reader *how)
{
    const char *sign = strchr(optarg, '=');
    json_t *labels = json_object_get(g->job, "labels");
    if (!sign || sign == optarg)
        return expected_option_value(g, how, "a label such as project=climate");
    if (!labels && request_put(g, "labels", labels = json_object()) < 0)
        return -1;
    return json_object_setn_new(labels, optarg, (size_t)(sign - optarg), json_string(sign + 1)) == 0
               ? 0
               : expected_option_value(g, how, "a label in UTF-8");
}

static int read_text(struct reading *g, const struct reader *how)
{
    return request_put(g, how->to, json_string(optarg));
}

static int read_output(struct reading *g, const struct reader *how)
{
    g->r->has_output = true;
    return read_text(g, how);
}

static int read_yes(struct reading *g, const struct reader *how)
{
    return request_put(g, how->to, json_true());
}

static int read_rule(struct reading *g, const struct reader *how)
{
    if (*optarg == '=' || !*optarg || strcmp(optarg, "-") == 0)
        return expected_option_value(g, how, "NAME=VALUE, NAME or -PATTERN");
    return json_array_append_new(g->env, json_string(optarg)) == 0
               ? 0
               : expected_option_value(g, how, "a rule in UTF-8");
}

/* What is no key of the job. */
static int read_own(struct reading *g, const struct reader *how)
{
    const char **const to = how->key == OPTION_BULK    ? &g->r->bulk
                            : how->key == OPTION_EACH  ? &g->r->each
                            : how->key == OPTION_CC    ? &g->r->cc
                            : how->key == OPTION_FILE  ? &g->r->file
                            : how->key == OPTION_WRAP  ? &g->wrap
                            : how->key == OPTION_CHDIR ? &g->chdir
                                                       : NULL;
    if (to)
        *to = optarg;
    else
        *(how->key == OPTION_PTY    ? &g->r->pty
          : how->key == OPTION_JSON ? &g->r->json
                                    : &g->r->wants_help) = true;
    return 0;
}

static const struct reader readers[] = {
    {'n', read_whole, "tasks", NULL, 1, COUNT_MAX},
    {'c', read_whole, "cores", NULL, 1, COUNT_MAX},
    {'g', read_gpus, "gpus", NULL, 0, 0},
    {'N', read_nodes, "nodes", NULL, 1, COUNT_MAX},
    {'x', read_yes, "exclusive", NULL, 0, 0},
    {OPTION_MEM, read_memory, "memory", NULL, 0, 0},
    {OPTION_GPU_MEMORY, read_memory, "gpu_memory", NULL, 0, 0},
    {'L', read_licenses, "licenses", NULL, 0, 0},
    {OPTION_REQUIRES, read_requires, "requires", NULL, 0, 0},
    {'t', read_time, "limit", "unlimited", 0, 0},
    {OPTION_ESTIMATE, read_time, "estimate", "unknown", 0, 0},
    {'q', read_name_option, "queue", NULL, 0, 0},
    {'A', read_text, "account", NULL, 0, 0},
    {OPTION_ARRAY, read_array, "array", NULL, 0, 0},
    {OPTION_GANG, read_whole, "gang", NULL, 2, MEMBERS_MAX},
    {OPTION_MIN, read_whole, "min", NULL, 1, MEMBERS_MAX},
    {OPTION_FAILURE, read_failure, "failure", NULL, 0, 0},
    {OPTION_ROLE, read_role, "roles", NULL, 0, 0},
    {OPTION_DEPENDENCY, read_text, "dependency", NULL, 0, 0},
    {OPTION_BEGIN, read_when, "begin", NULL, 0, 0},
    {OPTION_DEADLINE, read_when, "deadline", NULL, 0, 0},
    {OPTION_HOLD, read_yes, "hold", NULL, 0, 0},
    {OPTION_PRIORITY, read_whole, "priority", NULL, -SCHED_PRIORITY_MAX, SCHED_PRIORITY_MAX},
    {OPTION_NAME, read_name_option, "name", NULL, 0, 0},
    {'o', read_output, "output", NULL, 0, 0},
    {'e', read_text, "error", NULL, 0, 0},
    {'i', read_text, "input", NULL, 0, 0},
    {OPTION_APPEND, read_yes, "append", NULL, 0, 0},
    {OPTION_ENV, read_rule, NULL, NULL, 0, 0},
    {OPTION_CHDIR, read_own, NULL, NULL, 0, 0},
    {OPTION_REQUEUE, read_yes, "requeue", NULL, 0, 0},
    {OPTION_RETRIES, read_whole, "retries", NULL, 0, RETRIES_MAX},
    {OPTION_RETRY_ON, read_retry_on, "retry_on", NULL, 0, 0},
    {OPTION_RETRY_DELAY, read_duration, "retry_delay", NULL, 0, 0},
    {OPTION_MAX_FAILS, read_whole, "max_fails", NULL, 0, COUNT_MAX},
    {OPTION_LABEL, read_label, NULL, NULL, 0, 0},
    {OPTION_NOTIFY, read_text, "notify", NULL, 0, 0},
    {OPTION_NOTIFY_ON, read_text, "notify_on", NULL, 0, 0},
    {OPTION_TEST_ONLY, read_yes, "test_only", NULL, 0, 0},
    {OPTION_SIGNAL, read_signal, "signal", NULL, 0, 0},
    {OPTION_PREEMPTIBLE, read_duration, "preemptible_after", NULL, 0, 0},
    {OPTION_JOBSPEC, read_jobspec, "jobspec", NULL, 0, 0},
    {OPTION_OVERCOMMIT, read_yes, "overcommit", NULL, 0, 0},
    {OPTION_BULK, read_own, NULL, NULL, 0, 0},
    {OPTION_EACH, read_own, NULL, NULL, 0, 0},
    {OPTION_CC, read_own, NULL, NULL, 0, 0},
    {OPTION_FILE, read_own, NULL, NULL, 0, 0},
    {OPTION_WRAP, read_own, NULL, NULL, 0, 0},
    {OPTION_SLURM, read_yes, "slurm", NULL, 0, 0},
    {OPTION_PTY, read_own, NULL, NULL, 0, 0},
    {OPTION_JSON, read_own, NULL, NULL, 0, 0},
    {'h', read_own, NULL, NULL, 0, 0}};

int request_value(struct reading *g, int key)
{
    for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++)
        if (readers[i].key == key)
            return readers[i].read(g, &readers[i]);
    return errtext_set(g->err, EINVAL, "nothing reads option %d", key);
}
