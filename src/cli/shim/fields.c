#include "cli/shim/fields.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "berth/sched_reason.h"
#include "cli/client/connection.h"
#include "cli/client/when.h"

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

void shim_put_id(const json_t *job, struct strbuf *out)
{
    const json_t *member = json_object_get(job, "member");
    const char *several = answer_text(job, SHIM_MEMBERS);
    put_job(job, out);
    if (*several) {
        strbuf_puts(out, "_[");
        strbuf_puts(out, several);
        strbuf_putc(out, ']');
    } else if (json_is_integer(member)) {
        strbuf_putc(out, '_');
        strbuf_put_int(out, json_integer_value(member));
    }
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

struct state {
    const char *ours, *theirs, *letters;
};

static const struct state *state_of(const json_t *job)
{
    static const struct state states[] = {
        {"pending", "PENDING", "PD"}, {"held", "PENDING", "PD"}, {"running", "RUNNING", "R"},
        {"done", "COMPLETED", "CD"},  {"failed", "FAILED", "F"}, {"cancelled", "CANCELLED", "CA"},
        {"timeout", "TIMEOUT", "TO"},
    };
    const char *word = answer_text(job, "state");
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
        if (strcmp(states[i].ours, word) == 0)
            return &states[i];
    return &states[0];
}

void shim_put_state(const json_t *job, struct strbuf *out)
{
    strbuf_puts(out, state_of(job)->theirs);
}

static void put_letters(const json_t *job, struct strbuf *out)
{
    strbuf_puts(out, state_of(job)->letters);
}

void shim_put_exit(const json_t *job, struct strbuf *out)
{
    put_whole(job, "exit", out);
    strbuf_putc(out, ':');
    put_whole(job, "signal", out);
}

static const char *word_of_kind(enum sched_reason_kind kind)
{
    switch (kind) {
    case SCHED_REASON_HELD:
        return "JobHeldUser";
    case SCHED_REASON_DEPENDENCY:
        return "Dependency";
    case SCHED_REASON_NEVER_MET:
        return "DependencyNeverSatisfied";
    case SCHED_REASON_BEGIN:
        return "BeginTime";
    case SCHED_REASON_LIMIT:
        return "QOSMaxJobsPerUserLimit";
    case SCHED_REASON_STOPPED:
        return "PartitionInactive";
    case SCHED_REASON_DEPTH:
    case SCHED_REASON_PRIORITY:
        return "Priority";
    case SCHED_REASON_SET_ASIDE:
        return "Reservation";
    default:
        return "Resources";
    }
}

/* Slurm's word for what it waits for. */
void shim_put_reason(const json_t *job, struct strbuf *out)
{
    const char *state = answer_text(job, "state");
    char text[SCHED_REASON_TEXT];
    struct sched_reason reason;
    if (strcmp(state, "held") == 0) {
        strbuf_puts(out, "JobHeldUser");
    } else if (strcmp(state, "pending") == 0) {
        snprintf(text, sizeof(text), "%s", answer_text(job, "reason"));
        sched_reason_read(&reason, text, 1000000);
        strbuf_puts(out, word_of_kind(reason.kind));
    } else {
        strbuf_puts(out, strcmp(state, "failed") == 0 ? "NonZeroExitCode" : "None");
    }
}

/* "node0/core[0-1]": the nodes of what it holds. */
void shim_put_nodes(const json_t *job, struct strbuf *out)
{
    const char *text = answer_text(job, "resources");
    size_t begin = out->len, depth = 0;
    const char *item = text, *end = NULL;
    for (const char *at = text;; at++) {
        depth += *at == '[';
        depth -= *at == ']' && depth > 0;
        if (*at == '/' && !end)
            end = at;
        if (*at && (*at != ',' || depth > 0))
            continue;
        size_t n = (size_t)((end ? end : at) - item);
        /* cores of one node stand behind each other */
        if (n && !(out->len - begin >= n && memcmp(out->data + out->len - n, item, n) == 0)) {
            strbuf_puts(out, out->len > begin ? "," : "");
            strbuf_put(out, item, n);
        }
        if (!*at)
            return;
        item = at + 1;
        end = NULL;
    }
}

static void put_nodes_or_reason(const json_t *job, struct strbuf *out)
{
    if (strcmp(state_of(job)->letters, "PD") != 0) {
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

static void put_megabytes(const json_t *job, const char *key, struct strbuf *out)
{
    double bytes = answer_number(job, key);
    if (bytes <= 0)
        return;
    strbuf_put_int(out, (int64_t)(bytes / 1048576));
    strbuf_putc(out, 'M');
}

static void put_memory(const json_t *job, struct strbuf *out)
{
    put_megabytes(job, "memory", out);
    if (answer_number(job, "memory") <= 0)
        strbuf_putc(out, '0');
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

void shim_put_time(double at, const char *otherwise, struct strbuf *out)
{
    time_t seconds = (time_t)at;
    struct tm day;
    char text[32];
    if (at > 0 && localtime_r(&seconds, &day) &&
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &day) > 0)
        strbuf_puts(out, text);
    else
        strbuf_puts(out, otherwise);
}

/* "HH:MM:SS", "D-HH:MM:SS" */
void shim_put_span(double seconds, struct strbuf *out)
{
    int64_t s = seconds > 0 ? (int64_t)seconds : 0;
    const int64_t parts[] = {s / 3600 % 24, s / 60 % 60, s % 60};
    if (s >= 86400) {
        strbuf_put_int(out, s / 86400);
        strbuf_putc(out, '-');
    }
    for (size_t i = 0; i < 3; i++) {
        strbuf_puts(out, i ? ":" : "");
        strbuf_puts(out, parts[i] < 10 ? "0" : "");
        strbuf_put_int(out, parts[i]);
    }
}

double shim_elapsed(const json_t *job)
{
    double start = answer_number(job, "start"), end = answer_number(job, "end");
    if (start <= 0)
        return 0;
    double until = end > 0 ? end : (double)time(NULL);
    return until > start ? until - start : 0;
}

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

static void put_submit(const json_t *job, struct strbuf *out)
{
    shim_put_time(answer_number(job, "submit"), "Unknown", out);
}

static void put_cpu_time(const json_t *job, struct strbuf *out)
{
    shim_put_span(answer_number(job, "cpu_time"), out);
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
}

static const struct shim_field fields[] = {
    {'i', "JOBID", "JobID", 12, shim_put_id},
    {'A', "JOBID", "JobIDRaw", 12, shim_put_id},
    {'F', "ARRAY_JOB_ID", NULL, 0, put_job},
    {'K', "ARRAY_TASK_ID", NULL, 0, put_member},
    {'j', "NAME", "JobName", 10, put_name},
    {'u', "USER", "User", 9, put_user},
    {'P', "PARTITION", "Partition", 10, put_queue},
    {'a', "ACCOUNT", "Account", 10, put_account},
    {'q', "QOS", "QOS", 10, put_normal},
    {'k', "COMMENT", "Comment", 14, put_nothing},
    {'T', "STATE", "State", 10, shim_put_state},
    {'t', "ST", NULL, 0, put_letters},
    {0, NULL, "ExitCode", 8, shim_put_exit},
    {0, NULL, "DerivedExitCode", 15, shim_put_exit},
    {'r', "REASON", "Reason", 22, shim_put_reason},
    {'R', "NODELIST(REASON)", NULL, 0, put_nodes_or_reason},
    {'N', "NODELIST", NULL, 0, shim_put_nodes},
    {0, NULL, "NodeList", 15, put_node_names},
    {'B', "EXEC_HOST", NULL, 0, shim_put_nodes},
    {'D', "NODES", "NNodes", 8, put_n_nodes},
    {0, NULL, "AllocNodes", 10, put_n_nodes},
    {'C', "CPUS", "AllocCPUS", 10, put_cores},
    {0, NULL, "NCPUS", 10, put_cores},
    {0, NULL, "ReqCPUS", 8, put_cores},
    {'Q', "PRIORITY", "Priority", 10, put_priority},
    {'p', "PRIORITY", NULL, 0, put_priority},
    {'b', "TRES_PER_NODE", NULL, 0, put_gpus},
    {'m', "MIN_MEMORY", "ReqMem", 10, put_memory},
    {0, NULL, "MaxRSS", 10, put_peak},
    {'M', "TIME", NULL, 0, put_used},
    {0, NULL, "Elapsed", 10, put_elapsed},
    {0, NULL, "ElapsedRaw", 10, put_elapsed_raw},
    {'l', "TIME_LIMIT", "Timelimit", 10, put_limit},
    {0, NULL, "TimelimitRaw", 12, put_limit_raw},
    {'L', "TIME_LEFT", NULL, 0, put_left},
    {'S', "START_TIME", NULL, 0, put_start},
    {0, NULL, "Start", 19, put_started},
    {'e', "END_TIME", "End", 19, put_end},
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

const struct shim_field *shim_field_name(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (fields[i].name && strlen(fields[i].name) == length &&
            strncasecmp(fields[i].name, name, length) == 0)
            return &fields[i];
    return NULL;
}
