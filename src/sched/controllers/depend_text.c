/* Dependencies as text: read, and said again. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "sched/controllers/depend_priv.h"

static const char *const types[] = {"after", "afterany", "afterok", "afternotok", "singleton"};

#define TYPES (sizeof(types) / sizeof(*types))

static int scan_type(struct depend_scan *scan, berth_error_t *err)
{
    const char *word = scan->text + scan->at;
    size_t length = strcspn(word, ":,");
    size_t type = 0;
    while (type < TYPES &&
           (strlen(types[type]) != length || memcmp(types[type], word, length) != 0))
        type++;
    if (type == TYPES)
        return errtext_set(err, EINVAL,
                           "dependency: offset %zu: expected after, afterany, afterok, afternotok "
                           "or singleton, found '%.*s'",
                           scan->at, (int)(length < 24 ? length : 24), word);
    scan->type = (enum depend_type)type;
    scan->at += length;
    bool ids = scan->type != DEPEND_SINGLETON;
    if (ids != (word[length] == ':'))
        return errtext_set(err, EINVAL, "dependency: offset %zu: expected %s after '%s'", scan->at,
                           ids ? "':' and job ids" : "',' or the end", types[type]);
    return 0;
}

/* Go on behind what ended a term: ',' before another type, ':' before another id. */
static void step(struct depend_scan *scan)
{
    scan->within = scan->text[scan->at] == ':';
    scan->at += scan->text[scan->at] == ':';
}

int depend_scan(struct depend_scan *scan, struct depend_term *term, berth_error_t *err)
{
    bool first = !scan->within;
    if (first) {
        if (scan->text[scan->at] == '\0')
            return 0;
        scan->at += scan->text[scan->at] == ',' && scan->at > 0;
        if (scan_type(scan, err) < 0)
            return -1;
        step(scan);
        if (scan->type == DEPEND_SINGLETON) {
            *term = (struct depend_term){.type = scan->type, .first = true};
            return 1;
        }
    }
    const char *id = scan->text + scan->at;
    size_t length = strcspn(id, ":,");
    if (length == 0)
        return errtext_set(err, EINVAL, "dependency: offset %zu: expected a job id", scan->at);
    *term = (struct depend_term){scan->type, id, length, first};
    scan->at += length;
    step(scan);
    return 1;
}

bool depend_is_singleton(const char *expression)
{
    struct depend_scan scan = {.text = expression};
    struct depend_term term;
    while (expression && depend_scan(&scan, &term, NULL) > 0)
        if (term.type == DEPEND_SINGLETON)
            return true;
    return false;
}

bool depend_split(const char *id, size_t length, size_t *base, uint32_t *member)
{
    if (length < 4 || id[length - 1] != ']')
        return false;
    size_t at = length - 1;
    while (at > 0 && id[at - 1] >= '0' && id[at - 1] <= '9')
        at--;
    size_t digits = length - 1 - at;
    if (at < 2 || id[at - 1] != '[' || digits == 0 || digits > 10 || (digits > 1 && id[at] == '0'))
        return false;
    uint64_t number = 0;
    for (size_t i = at; i < length - 1; i++)
        number = 10 * number + (uint64_t)(id[i] - '0');
    if (number >= DEPEND_ALL)
        return false;
    *base = at - 1;
    *member = (uint32_t)number;
    return true;
}

/* ---- And back ---- */

const char *depend_id(const struct depend *depend, uint32_t slot)
{
    const struct job *job = &depend->job[slot];
    if (!job->entry->array || !job->member)
        return job->entry->id.text;
    snprintf(depend->name, depend->name_size, "%s[%" PRIu32 "]", job->entry->id.text,
             (uint32_t)job->member->key.member);
    return depend->name;
}

const char *depend_base_id(const struct depend *depend, uint32_t slot)
{
    return depend->job[slot].entry->id.text;
}

static struct sched_reason_job job_of_edge(const struct edge *edge)
{
    return (struct sched_reason_job){edge->entry->id.text,
                                     edge->member == DEPEND_ALL ? -1 : (int64_t)edge->member};
}

/* Name the first edges of some verdicts, as many as there is room for; returns how many. */
static uint32_t name_edges(const struct needs *needs, bool never, struct sched_reason *reason)
{
    size_t most = never ? 1 : SCHED_REASON_JOBS;
    for (uint32_t i = 0; i < needs->n && reason->n_jobs < most; i++)
        if (never ? needs->edge[i].verdict == VERDICT_NEVER : needs->edge[i].verdict != VERDICT_MET)
            reason->job[reason->n_jobs++] = job_of_edge(&needs->edge[i]);
    return (uint32_t)reason->n_jobs;
}

void depend_reason(const struct depend *depend, uint32_t slot, struct sched_reason *reason)
{
    const struct needs *needs = depend->job[slot].needs;
    *reason = (struct sched_reason){.kind = SCHED_REASON_NONE};
    if (!needs || needs->unmet == 0)
        return;
    reason->kind = needs->never ? SCHED_REASON_NEVER_MET : SCHED_REASON_DEPENDENCY;
    uint32_t named = name_edges(needs, needs->never, reason);
    if (needs->never || named == needs->unmet)
        return;
    reason->singleton = needs->singleton && named < SCHED_REASON_JOBS;
    reason->others = !reason->singleton;
}

void depend_expression(const struct depend *depend, uint32_t slot, struct strbuf *out)
{
    const struct needs *needs = depend->job[slot].needs;
    int type = -1; /* the last one written */
    for (uint32_t i = 0; needs && i < needs->n; i++) {
        const struct edge *edge = &needs->edge[i];
        if (edge->verdict == VERDICT_MET)
            continue;
        if (edge->type != type) {
            strbuf_puts(out, type < 0 ? "" : ",");
            strbuf_puts(out, types[edge->type]);
        }
        type = edge->type;
        strbuf_putc(out, ':');
        strbuf_puts(out, edge->entry->id.text);
        if (edge->member != DEPEND_ALL) {
            strbuf_putc(out, '[');
            strbuf_put_uint(out, edge->member);
            strbuf_putc(out, ']');
        }
    }
    if (needs && needs->singleton) {
        strbuf_puts(out, type < 0 ? "" : ",");
        strbuf_puts(out, types[DEPEND_SINGLETON]);
    }
}
