#include "cli/shim/fields.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "berth/sched_reason.h"
#include "cli/client/connection.h"
#include "cli/client/when.h"

static void put_whole(const json_t *job, const char *key, struct strbuf *out)
{
    double n = answer_number(job, key);
    strbuf_put_int(out, n > 0 ? (int64_t)n : 0);
}

/* ---- Which it is ---- */

/* Those that wait, with how many may run at once. */
static void put_several(const json_t *job, struct strbuf *out)
{
    double at_once = answer_number(job, "at_once");
    strbuf_puts(out, answer_text(job, SHIM_MEMBERS));
    if (at_once > 0) {
        strbuf_putc(out, '%');
        strbuf_put_int(out, (int64_t)at_once);
    }
}

void shim_put_members(const json_t *job, struct strbuf *out)
{
    const json_t *member = json_object_get(job, "member");
    if (*answer_text(job, SHIM_MEMBERS))
        put_several(job, out);
    else if (json_is_integer(member))
        strbuf_put_int(out, json_integer_value(member));
    else
        strbuf_puts(out, "N/A");
}

void shim_put_id(const json_t *job, struct strbuf *out)
{
    put_whole(job, "id", out);
    if (*answer_text(job, SHIM_MEMBERS)) {
        strbuf_puts(out, "_[");
        put_several(job, out);
        strbuf_putc(out, ']');
    } else if (json_is_integer(json_object_get(job, "member"))) {
        strbuf_putc(out, '_');
        shim_put_members(job, out);
    }
    strbuf_puts(out, answer_text(job, SHIM_STEP));
}

/* ---- How it is ---- */

struct state {
    const char *ours, *theirs, *letters;
};

static const struct state *slurm_state_of(const json_t *job)
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

int shim_state_number(const json_t *job)
{
    static const char *const order[] = {"PD", "R", "CD", "CA", "F", "TO"};
    size_t i = 0;
    while (i + 1 < sizeof(order) / sizeof(*order) &&
           strcmp(order[i], slurm_state_of(job)->letters) != 0)
        i++;
    return (int)i;
}

void shim_put_state(const json_t *job, struct strbuf *out)
{
    strbuf_puts(out, slurm_state_of(job)->theirs);
}

void shim_put_letters(const json_t *job, struct strbuf *out)
{
    strbuf_puts(out, slurm_state_of(job)->letters);
}

void shim_put_exit(const json_t *job, struct strbuf *out)
{
    put_whole(job, "exit", out);
    strbuf_putc(out, ':');
    put_whole(job, "signal", out);
}

static const char *word_of(const struct sched_reason *reason)
{
    switch (reason->kind) {
    case SCHED_REASON_HELD:
        return "JobHeldUser";
    case SCHED_REASON_DEPENDENCY:
        return "Dependency";
    case SCHED_REASON_NEVER_MET:
        return "DependencyNeverSatisfied";
    case SCHED_REASON_BEGIN:
        return "BeginTime";
    case SCHED_REASON_LIMIT:
        return reason->limit.whose == SCHED_OF_ARRAY ? "JobArrayTaskLimit"
                                                     : "QOSMaxJobsPerUserLimit";
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
        strbuf_puts(out, word_of(&reason));
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

double shim_end(const json_t *job)
{
    double end = answer_number(job, "end"), start = answer_number(job, "start");
    double limit = answer_number(job, "limit");
    return end <= 0 && start > 0 && limit > 0 ? start + limit : end;
}
