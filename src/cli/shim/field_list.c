/* What is told of a job, by the letters of squeue and the names of sacct. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/hostlist.h"
#include "cli/client/connection.h"
#include "cli/client/when.h"
#include "cli/shim/fields.h"

static void put_text(const json_t *job, const char *key, struct strbuf *out)
{
    strbuf_puts(out, answer_text(job, key));
}

static void put_whole(const json_t *job, const char *key, struct strbuf *out)
{
    double n = answer_number(job, key);
    strbuf_put_int(out, n > 0 ? (int64_t)n : 0);
}

/* ---- Which it is ---- */

static void put_job(const json_t *job, struct strbuf *out)
{
    put_whole(job, "id", out);
}

/* Members of an array that wait have one together. */
static void put_raw(const json_t *job, struct strbuf *out)
{
    if (*answer_text(job, SHIM_MEMBERS))
        put_job(job, out);
    else
        shim_put_id(job, out);
}

static void put_member(const json_t *job, struct strbuf *out)
{
    const json_t *member = json_object_get(job, "member");
    const char *several = answer_text(job, SHIM_MEMBERS);
    if (*several)
        strbuf_puts(out, several);
    else if (json_is_integer(member))
        strbuf_put_int(out, json_integer_value(member));
    else
        strbuf_puts(out, "N/A");
}

static void put_name(const json_t *job, struct strbuf *out)
{
    put_text(job, "name", out);
}

static void put_user(const json_t *job, struct strbuf *out)
{
    put_text(job, "user", out);
}

static void put_queue(const json_t *job, struct strbuf *out)
{
    put_text(job, "queue", out);
}

static void put_account(const json_t *job, struct strbuf *out)
{
    put_text(job, "account",
             out); /* tools look for one that is named in Slurm's lists of accounts */
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

static bool waits(const json_t *job)
{
    return strcmp(answer_text(job, "state"), "pending") == 0 ||
           strcmp(answer_text(job, "state"), "held") == 0;
}

static void put_nodes_or_reason(const json_t *job, struct strbuf *out)
{
    if (!waits(job)) {
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

static void put_reason_waiting(const json_t *job, struct strbuf *out)
{
    if (waits(job))
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

/* "512M", "2G", "1.50G" */
static void put_size(double bytes, struct strbuf *out)
{
    static const char units[] = "MGTP";
    double n = (double)(int64_t)(bytes / 1048576);
    size_t unit = 0;
    char text[40];
    for (; n >= 1024 && unit + 2 < sizeof(units); unit++)
        n /= 1024;
    if (bytes <= 0)
        strcpy(text, "0");
    else
        snprintf(text, sizeof(text), "%.*f%c", n == (double)(int64_t)n ? 0 : 2, n, units[unit]);
    strbuf_puts(out, text);
}

static void put_memory(const json_t *job, struct strbuf *out)
{
    put_size(answer_number(job, "memory"), out);
}

static void put_memory_of_node(const json_t *job, struct strbuf *out)
{
    double nodes = answer_number(job, "nodes");
    put_size(answer_number(job, "memory") / (nodes > 1 ? nodes : 1), out);
}

static void put_peak(const json_t *job, struct strbuf *out)
{
    double bytes = answer_number(job, "peak_memory");
    if (bytes <= 0)
        return;
    strbuf_put_int(out, (int64_t)(bytes / 1024));
    strbuf_putc(out, 'K');
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

static void put_limit(const json_t *job, struct strbuf *out)
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

/* Of one that runs, when its limit ends it. */
static void put_end_expected(const json_t *job, struct strbuf *out)
{
    double end = answer_number(job, "end"), start = answer_number(job, "start");
    double limit = answer_number(job, "limit");
    if (end <= 0 && start > 0 && limit > 0)
        end = start + limit;
    shim_put_time(end, start > 0 ? "NONE" : "N/A", out);
}

static void put_submit(const json_t *job, struct strbuf *out)
{
    shim_put_time(answer_number(job, "submit"), "Unknown", out);
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

static void put_command(const json_t *job, struct strbuf *out)
{
    const json_t *word;
    size_t i;
    json_array_foreach(json_object_get(job, "command"), i, word)
    {
        strbuf_puts(out, i ? " " : "");
        strbuf_puts(out, json_string_value(word) ? json_string_value(word) : "");
    }
}

static void put_directory(const json_t *job, struct strbuf *out)
{
    put_text(job, "directory", out);
}

static void put_dependency(const json_t *job, struct strbuf *out)
{
    put_text(job, "dependency", out);
    strbuf_puts(out, *answer_text(job, "dependency") ? "" : "(null)");
}

static const struct shim_field fields[] = {
    {'i', "JOBID", "JobID", -12, shim_put_id},
    {'A', "JOBID", NULL, 0, put_raw},
    {0, NULL, "JobIDRaw", -12, put_raw},
    {'F', "ARRAY_JOB_ID", NULL, 0, put_job},
    {'K', "ARRAY_TASK_ID", NULL, 0, put_member},
    {'j', "NAME", "JobName", 10, put_name},
    {'u', "USER", "User", 9, put_user},
    {'P', "PARTITION", "Partition", 10, put_queue},
    {'a', "ACCOUNT", "Account", 10, put_account},
    {'q', "QOS", "QOS", 10, put_normal},
    {'k', "COMMENT", NULL, 0, put_nothing},
    {'T', "STATE", "State", 10, shim_put_state},
    {'t', "ST", NULL, 0, shim_put_letters},
    {0, NULL, "ExitCode", 8, put_exit},
    {0, NULL, "DerivedExitCode", 15, put_exit_of_steps},
    {'r', "REASON", NULL, 0, shim_put_reason},
    {0, NULL, "Reason", 22, put_reason_waiting},
    {'R', "NODELIST(REASON)", NULL, 0, put_nodes_or_reason},
    {'N', "NODELIST", NULL, 0, shim_put_nodes},
    {0, NULL, "NodeList", 15, put_node_names},
    {'B', "EXEC_HOST", NULL, 0, put_first_node},
    {'D', "NODES", "NNodes", 8, put_n_nodes},
    {0, NULL, "AllocNodes", 10, put_n_nodes},
    {0, NULL, "ReqNodes", 8, put_n_nodes},
    {'C', "CPUS", "AllocCPUS", 10, put_cores},
    {0, NULL, "NCPUS", 10, put_cores},
    {0, NULL, "ReqCPUS", 8, put_cores},
    {'Q', "PRIORITY", "Priority", 10, put_priority},
    {'p', "PRIORITY", NULL, 0, put_priority},
    {'b', "TRES_PER_NODE", NULL, 0, put_gpus},
    {'m', "MIN_MEMORY", NULL, 0, put_memory_of_node},
    {0, NULL, "ReqMem", 10, put_memory},
    {0, NULL, "MaxRSS", 10, put_peak},
    {'M', "TIME", NULL, 0, put_used},
    {0, NULL, "Elapsed", 10, put_elapsed},
    {0, NULL, "ElapsedRaw", 10, put_elapsed_raw},
    {'l', "TIME_LIMIT", NULL, 0, put_limit},
    {0, NULL, "Timelimit", 10, put_limit_span},
    {0, NULL, "TimelimitRaw", 10, put_limit_raw},
    {'L', "TIME_LEFT", NULL, 0, put_left},
    {'S', "START_TIME", NULL, 0, put_start},
    {0, NULL, "Start", 19, put_started},
    {'e', "END_TIME", NULL, 0, put_end_expected},
    {0, NULL, "End", 19, put_end},
    {'V', "SUBMIT_TIME", "Submit", 19, put_submit},
    {0, NULL, "TotalCPU", 10, put_cpu_time},
    {0, NULL, "CPUTime", 10, put_core_time},
    {0, NULL, "CPUTimeRAW", 10, put_core_time_raw},
    {'o', "COMMAND", "SubmitLine", 20, put_command},
    {'Z', "WORK_DIR", "WorkDir", 20, put_directory},
    {'E', "DEPENDENCY", NULL, 0, put_dependency},
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

bool shim_field_name(const char *name, size_t length, struct shim_field *field)
{
    return length > 0 &&
           (find_name(name, length, true, field) || find_name(name, length, false, field));
}
