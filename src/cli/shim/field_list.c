/* What is told of a job, by the letters of squeue and the names of sacct. */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/hostlist.h"
#include "cli/client/connection.h"
#include "cli/client/when.h"
#include "cli/shim/fields.h"

static void put_text_field(const json_t *job, const char *key, struct strbuf *out)
{
    strbuf_puts(out, answer_text(job, key));
}

static void put_whole(const json_t *job, const char *key, struct strbuf *out)
{
    double n = answer_number(job, key);
    strbuf_put_int(out, n > 0 ? (int64_t)n : 0);
}

/* ---- Which it is ---- */

static void put_id_field(const json_t *job, struct strbuf *out)
{
    put_whole(job, "id", out);
}

/* Members of an array that wait have one together. */
static void put_raw(const json_t *job, struct strbuf *out)
{
    if (*answer_text(job, SHIM_MEMBERS))
        put_id_field(job, out);
    else
        shim_put_id(job, out);
}

static void put_name_field(const json_t *job, struct strbuf *out)
{
    put_text_field(job, "name", out);
}

static void put_user(const json_t *job, struct strbuf *out)
{
    put_text_field(job, "user", out);
}

static void put_uid(const json_t *job, struct strbuf *out)
{
    const struct passwd *user = getpwnam(answer_text(job, "user"));
    if (user)
        strbuf_put_uint(out, user->pw_uid);
    else
        put_user(job, out);
}

static void put_queue(const json_t *job, struct strbuf *out)
{
    put_text_field(job, "queue", out);
}

static void put_account(const json_t *job, struct strbuf *out)
{
    /* Tools look for one that is named in Slurm's lists of accounts. */
    put_text_field(job, "account", out);
}

static void put_nothing(const json_t *job, struct strbuf *out)
{
    (void)job;
    (void)out;
}

static void put_normal(const json_t *job, struct strbuf *out)
{
    (void)job;
    strbuf_puts(out, "normal");
}

/* ---- How it is ---- */

static bool job_waits(const json_t *job)
{
    return strcmp(answer_text(job, "state"), "pending") == 0 ||
           strcmp(answer_text(job, "state"), "held") == 0;
}

static void put_nodes_or_reason(const json_t *job, struct strbuf *out)
{
    if (!job_waits(job)) {
        shim_put_nodes(job, out);
        return;
    }
    strbuf_putc(out, '(');
    shim_put_reason(job, out);
    strbuf_putc(out, ')');
}

static void put_node_names(const json_t *job, struct strbuf *out)
{
    size_t begin = out->len;
    shim_put_nodes(job, out);
    strbuf_puts(out, out->len == begin ? "None assigned" : "");
}

/* The first node. */
static void put_first_node(const json_t *job, struct strbuf *out)
{
    struct strbuf text = {0};
    struct hostlist nodes = {0};
    char name[HOSTLIST_NAME_SIZE];
    shim_put_nodes(job, &text);
    if (hostlist_decode(&nodes, strbuf_text(&text), text.len, NULL) < 0 ||
        hostlist_nth(&nodes, 0, name) < 0)
        strcpy(name, "n/a");
    strbuf_puts(out, name);
    hostlist_clear(&nodes);
    strbuf_clear(&text);
}

/* Of one that was cancelled sacct has no signal. */
static void put_exit(const json_t *job, struct strbuf *out)
{
    if (strcmp(answer_text(job, "state"), "cancelled") == 0)
        strbuf_puts(out, "0:0");
    else
        shim_put_exit(job, out);
}

/* Of the steps, of which nothing is kept. */
static void put_exit_of_steps(const json_t *job, struct strbuf *out)
{
    (void)job;
    strbuf_puts(out, "0:0");
}

static void put_restarts(const json_t *job, struct strbuf *out)
{
    double starts = answer_number(job, "attempts");
    strbuf_put_int(out, starts > 1 ? (int64_t)starts - 1 : 0);
}

static void put_reason_waiting(const json_t *job, struct strbuf *out)
{
    if (job_waits(job))
        shim_put_reason(job, out);
    else
        strbuf_puts(out, "None");
}

/* ---- How much ---- */

static void put_n_nodes(const json_t *job, struct strbuf *out)
{
    put_whole(job, "nodes", out);
}

static void put_cores(const json_t *job, struct strbuf *out)
{
    put_whole(job, "cores", out);
}

static void put_priority(const json_t *job, struct strbuf *out)
{
    strbuf_put_int(out, (int64_t)answer_number(job, "priority"));
}

static void put_gpus(const json_t *job, struct strbuf *out)
{
    double n = answer_number(job, "gpus");
    strbuf_puts(out, n > 0 ? "gres:gpu:" : "N/A");
    if (n > 0)
        put_whole(job, "gpus", out);
}

/* "512M", "2G", "1.50G": a whole number of K or M, in the unit that is wanted, or for "" in the one that suits it.
 */
static void put_slurm_memory(double bytes, char whole, const char *wanted, struct strbuf *out)
{
    static const char units[] = "KMGTP";
    const char *unit = strchr(units, whole);
    double n = (double)(int64_t)(bytes / (whole == 'K' ? 1024 : 1048576));
    char text[40];
    if (strcmp(wanted, SHIM_AS_IT_IS) == 0)
        wanted = unit;
    if (bytes <= 0 || !unit) {
        strbuf_puts(out, "0");
        return;
    }
    for (; *wanted == 'K' && unit > units; unit--)
        n *= 1024;
    for (; unit[1] && (*wanted ? *unit != *wanted : n >= 1024); unit++)
        n /= 1024;
    snprintf(text, sizeof(text), "%.*f%c", n == (double)(int64_t)n ? 0 : 2, n, *unit);
    strbuf_puts(out, text);
}

/* Memory that is asked for, in megabytes at least. */
static void put_asked_memory(const json_t *job, double bytes, struct strbuf *out)
{
    put_slurm_memory(bytes, 'M', answer_text(job, SHIM_UNIT), out);
}

static void put_tres(const json_t *job, struct strbuf *out)
{
    double memory = answer_number(job, "memory"), gpus = answer_number(job, "gpus");
    if (job_waits(job)) /* it has none yet */
        return;
    strbuf_puts(out, "cpu=");
    put_cores(job, out);
    strbuf_puts(out, memory > 0 ? ",mem=" : "");
    if (memory > 0)
        put_asked_memory(job, memory, out);
    strbuf_puts(out, ",node=");
    put_n_nodes(job, out);
    strbuf_puts(out, gpus > 0 ? ",gres/gpu=" : "");
    if (gpus > 0)
        put_whole(job, "gpus", out);
}

/* "matlab:2,ansys:1" */
static void put_licenses_field(const json_t *job, struct strbuf *out)
{
    json_t *licenses = json_object_get(job, "licenses");
    const char *name, *gap = "";
    json_t *count;
    json_object_foreach (licenses, name, count) {
        strbuf_puts(out, gap);
        strbuf_puts(out, name);
        strbuf_putc(out, ':');
        strbuf_put_int(out, json_integer_value(count));
        gap = ",";
    }
    strbuf_puts(out, *gap ? "" : "(null)");
}

static void put_memory(const json_t *job, struct strbuf *out)
{
    put_asked_memory(job, answer_number(job, "memory"), out);
}

static void put_memory_of_node(const json_t *job, struct strbuf *out)
{
    double nodes = answer_number(job, "nodes");
    put_asked_memory(job, answer_number(job, "memory") / (nodes > 1 ? nodes : 1), out);
}

static void put_peak(const json_t *job, struct strbuf *out)
{
    double bytes = answer_number(job, "peak_memory");
    const char *unit = answer_text(job, SHIM_UNIT);
    if (bytes > 0)
        put_slurm_memory(bytes, 'K', *unit ? unit : SHIM_AS_IT_IS, out);
}

/* ---- When ---- */

static void put_used(const json_t *job, struct strbuf *out)
{
    char text[WHEN_SIZE];
    strbuf_puts(out, when_span(shim_elapsed(job), text));
}

static void put_elapsed(const json_t *job, struct strbuf *out)
{
    shim_put_span(shim_elapsed(job), out);
}

static void put_elapsed_raw(const json_t *job, struct strbuf *out)
{
    strbuf_put_int(out, (int64_t)shim_elapsed(job));
}

static void put_limit_field(const json_t *job, struct strbuf *out)
{
    char text[WHEN_SIZE];
    double limit = answer_number(job, "limit");
    strbuf_puts(out, limit > 0 ? when_span(limit, text) : "UNLIMITED");
}

static void put_limit_span(const json_t *job, struct strbuf *out)
{
    double limit = answer_number(job, "limit");
    if (limit > 0)
        shim_put_span(limit, out);
    else
        strbuf_puts(out, "UNLIMITED");
}

static void put_limit_raw(const json_t *job, struct strbuf *out)
{
    double limit = answer_number(job, "limit");
    if (limit > 0)
        strbuf_put_int(out, (int64_t)(limit / 60));
    else
        strbuf_puts(out, "UNLIMITED");
}

static void put_left(const json_t *job, struct strbuf *out)
{
    char text[WHEN_SIZE];
    double limit = answer_number(job, "limit");
    strbuf_puts(out, limit > 0 ? when_span(limit - shim_elapsed(job), text) : "UNLIMITED");
}

static void put_start(const json_t *job, struct strbuf *out)
{
    double start = answer_number(job, "start"), estimate = answer_number(job, "estimate");
    shim_put_time(start > 0 ? start : estimate, "N/A", out);
}

static void put_started(const json_t *job, struct strbuf *out)
{
    shim_put_time(answer_number(job, "start"), "Unknown", out);
}

static void put_end(const json_t *job, struct strbuf *out)
{
    shim_put_time(answer_number(job, "end"), "Unknown", out);
}

static void put_end_expected(const json_t *job, struct strbuf *out)
{
    shim_put_time(shim_end(job), answer_number(job, "start") > 0 ? "NONE" : "N/A", out);
}

static void put_submit(const json_t *job, struct strbuf *out)
{
    shim_put_time(answer_number(job, "submit"), "Unknown", out);
}

/* Seconds until it started. */
static void put_waited(const json_t *job, struct strbuf *out)
{
    double start = answer_number(job, "start"), end = answer_number(job, "end");
    double until = start > 0 ? start : end > 0 ? end : (double)time(NULL);
    double waited = until - answer_number(job, "submit");
    strbuf_put_int(out, waited > 0 ? (int64_t)waited : 0);
}

/* "02:03.456" of less than an hour */
static void put_cpu_time(const json_t *job, struct strbuf *out)
{
    double seconds = answer_number(job, "cpu_time");
    int64_t ms = seconds > 0 ? (int64_t)(seconds * 1000) : 0;
    char text[40];
    if (ms == 0 || ms >= 3600000) {
        shim_put_span(seconds, out);
        return;
    }
    snprintf(text, sizeof(text), "%02d:%02d.%03d", (int)(ms / 60000), (int)(ms / 1000 % 60),
             (int)(ms % 1000));
    strbuf_puts(out, text);
}

static void put_core_time(const json_t *job, struct strbuf *out)
{
    shim_put_span(shim_elapsed(job) * answer_number(job, "cores"), out);
}

static void put_core_time_raw(const json_t *job, struct strbuf *out)
{
    strbuf_put_int(out, (int64_t)(shim_elapsed(job) * answer_number(job, "cores")));
}

/* ---- What ---- */

static void put_command_field(const json_t *job, struct strbuf *out)
{
    const json_t *word;
    size_t i;
    json_array_foreach (json_object_get(job, "command"), i, word) {
        strbuf_puts(out, i ? " " : "");
        strbuf_puts(out, json_string_value(word) ? json_string_value(word) : "");
    }
}

static void put_directory(const json_t *job, struct strbuf *out)
{
    put_text_field(job, "directory", out);
}

static void put_output(const json_t *job, struct strbuf *out)
{
    put_text_field(job, "output", out);
}

static void put_error_field(const json_t *job, struct strbuf *out)
{
    put_text_field(job, *answer_text(job, "error") ? "error" : "output", out);
}

static void put_cluster(const json_t *job, struct strbuf *out)
{
    (void)job;
    strbuf_puts(out, "berth");
}

static void put_dependency(const json_t *job, struct strbuf *out)
{
    put_text_field(job, "dependency", out);
    strbuf_puts(out, *answer_text(job, "dependency") ? "" : "(null)");
}

static const struct shim_field fields[] = {
    {'i', "JOBID", "JobID", -12, shim_put_id, "jobarrayid"},
    {'A', "JOBID", NULL, 0, put_raw, "jobid"},
    {0, NULL, "JobIDRaw", -12, put_raw, NULL},
    {'F', "ARRAY_JOB_ID", NULL, 0, put_id_field, "arrayjobid"},
    {'K', "ARRAY_TASK_ID", NULL, 0, shim_put_members, "arraytaskid"},
    {'j', "NAME", "JobName", 10, put_name_field, "name"},
    {'u', "USER", "User", 9, put_user, "username"},
    {'P', "PARTITION", "Partition", 10, put_queue, "partition"},
    {'a', "ACCOUNT", "Account", 10, put_account, "account"},
    {'q', "QOS", "QOS", 10, put_normal, "qos"},
    {'k', "COMMENT", NULL, 0, put_nothing, "comment"},
    {'T', "STATE", "State", 10, shim_put_state, "state"},
    {'t', "ST", NULL, 0, shim_put_letters, "statecompact"},
    {0, NULL, "ExitCode", 8, put_exit, NULL},
    {0, NULL, "DerivedExitCode", 15, put_exit_of_steps, NULL},
    {'r', "REASON", NULL, 0, shim_put_reason, "reason"},
    {0, NULL, "Reason", 22, put_reason_waiting, NULL},
    {'R', "NODELIST(REASON)", NULL, 0, put_nodes_or_reason, "reasonlist"},
    {'N', "NODELIST", NULL, 0, shim_put_nodes, "nodelist"},
    {0, NULL, "NodeList", 15, put_node_names, NULL},
    {'B', "EXEC_HOST", NULL, 0, put_first_node, "batchhost"},
    {'D', "NODES", "NNodes", 8, put_n_nodes, "numnodes"},
    {0, NULL, "AllocNodes", 10, put_n_nodes, NULL},
    {0, NULL, "ReqNodes", 8, put_n_nodes, NULL},
    {'C', "CPUS", "AllocCPUS", 10, put_cores, "numcpus"},
    {0, NULL, "NCPUS", 10, put_cores, NULL},
    {0, NULL, "ReqCPUS", 8, put_cores, NULL},
    {'Q', "PRIORITY", "Priority", 10, put_priority, "prioritylong"},
    {'p', "PRIORITY", NULL, 0, put_priority, "priority"},
    {'b', "TRES_PER_NODE", NULL, 0, put_gpus, "tres-per-node"},
    {'m', "MIN_MEMORY", NULL, 0, put_memory_of_node, "minmemory"},
    {0, NULL, "ReqMem", 10, put_memory, NULL},
    {0, NULL, "MaxRSS", 10, put_peak, NULL},
    {'M', "TIME", NULL, 0, put_used, "timeused"},
    {0, NULL, "Elapsed", 10, put_elapsed, NULL},
    {0, NULL, "ElapsedRaw", 10, put_elapsed_raw, NULL},
    {'l', "TIME_LIMIT", NULL, 0, put_limit_field, "timelimit"},
    {0, NULL, "Timelimit", 10, put_limit_span, NULL},
    {0, NULL, "TimelimitRaw", 10, put_limit_raw, NULL},
    {'L', "TIME_LEFT", NULL, 0, put_left, "timeleft"},
    {'S', "START_TIME", NULL, 0, put_start, "starttime"},
    {0, NULL, "Start", 19, put_started, NULL},
    {'e', "END_TIME", NULL, 0, put_end_expected, "endtime"},
    {0, NULL, "End", 19, put_end, NULL},
    {'V', "SUBMIT_TIME", "Submit", 19, put_submit, "submittime"},
    {0, NULL, "TotalCPU", 10, put_cpu_time, NULL},
    {0, NULL, "CPUTime", 10, put_core_time, NULL},
    {0, NULL, "CPUTimeRAW", 10, put_core_time_raw, NULL},
    {'o', "COMMAND", "SubmitLine", 20, put_command_field, "command"},
    {'Z', "WORK_DIR", "WorkDir", 20, put_directory, "workdir"},
    {0, "TRES_PER_NODE", NULL, 0, put_gpus, "gres"},
    {0, "TRES_ALLOC", NULL, 0, put_tres, "tres-alloc"},
    {0, NULL, "AllocTRES", 10, put_tres, NULL},
    {0, "UID", NULL, 0, put_uid, "userid"},
    {0, "PENDING_TIME", NULL, 0, put_waited, "pendingtime"},
    {0, "RESTART_COUNT", NULL, 0, put_restarts, "restartcnt"},
    {0, "EXIT_CODE", NULL, 0, put_exit, "exit_code"},
    {0, "LICENSES", NULL, 0, put_licenses_field, "licenses"},
    {0, "STDOUT", NULL, 0, put_output, "stdout"},
    {0, "STDERR", NULL, 0, put_error_field, "stderr"},
    {0, "CLUSTER", NULL, 0, put_cluster, "cluster"},
    {'E', "DEPENDENCY", NULL, 0, put_dependency, "dependency"},
};

const struct shim_field *shim_field_letter(char letter)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (letter && fields[i].letter == letter)
            return &fields[i];
    return NULL;
}

static bool is_named(const char *own, const char *name, size_t length, bool whole)
{
    return own && strncasecmp(own, name, length) == 0 && (!whole || own[length] == '\0');
}

static bool find_name(const char *name, size_t length, bool whole, struct shim_field *field)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (is_named(fields[i].name, name, length, whole)) {
            *field = fields[i];
            return true;
        }
    for (const struct shim_unknown *other = shim_unknown_fields; other->name; other++)
        if (is_named(other->name, name, length, whole)) {
            *field =
                (struct shim_field){.name = other->name, .width = other->width, .put = put_nothing};
            return true;
        }
    return false;
}

static void put_not_known(const json_t *job, struct strbuf *out)
{
    (void)job;
    strbuf_puts(out, "N/A");
}

bool shim_field_long(const char *name, size_t length, struct shim_field *field)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (is_named(fields[i].long_name, name, length, true)) {
            *field = fields[i];
            return true;
        }
    for (const struct shim_unknown_long *other = shim_unknown_long_fields; other->name; other++)
        if (is_named(other->name, name, length, true)) {
            *field = (struct shim_field){.head = other->head, .put = put_not_known};
            return true;
        }
    return false;
}

bool shim_field_name(const char *name, size_t length, struct shim_field *field)
{
    return length > 0 &&
           (find_name(name, length, true, field) || find_name(name, length, false, field));
}
