/* Reasons as text. Nowhere but here and in reason_read.c is it said what that looks like (test/system/reasons.sh). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sched/reason_words.h"

/* Append as much as there is room for. */
__attribute__((format(printf, 2, 3))) static void put(char *text, const char *format, ...)
{
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, SCHED_REASON_TEXT - n, format, args);
    va_end(args);
}

/* Seconds with up to six decimals. */
static void put_seconds(char *text, int64_t ticks, int64_t second)
{
    int64_t micro = (int64_t)((__int128)(ticks % second) * 1000000 / second);
    size_t digits = 6;
    put(text, "%" PRId64, ticks / second);
    for (; micro > 0 && micro % 10 == 0; digits--)
        micro /= 10;
    if (micro > 0)
        put(text, ".%0*" PRId64, (int)digits, micro);
}

static void put_job_id(char *text, const char *before, const struct sched_reason_job *job)
{
    put(text, "%s%s", before, job->id);
    if (job->member >= 0)
        put(text, "[%" PRId64 "]", job->member);
}

static void put_dependency(char *text, const struct sched_reason *r)
{
    const char *before = dependency;
    for (size_t i = 0; i < r->n_jobs; i++, before = ",")
        put_job_id(text, before, &r->job[i]);
    if (r->singleton || r->others)
        put(text, "%s%s", before, r->singleton ? singleton : others);
}

static void put_claim(char *text, const struct sched_reason *r)
{
    const char *before = waits;
    put(text, "%s%" PRId64 "%s%" PRId64 " %s%s", claims, r->has, of, r->of, r->type,
        r->of == 1 ? "" : "s");
    for (size_t i = 0; i < r->n_jobs; i++, before = ",")
        put_job_id(text, before, &r->job[i]);
    if (r->others)
        put(text, "%s%s", before, others);
}

/* "preempted for 17[3]: its queue is preemptible, its gang goes on, 160 core-seconds lost" */
static void put_preempted(char *text, const struct sched_reason *r)
{
    if (r->n_jobs > 0)
        put_job_id(text, preempted, &r->job[0]);
    else
        put(text, "%s%s", preempted, others);
    put(text, ": %s%s, %" PRId64 "%s", rules[r->may], r->spare ? goes_on : "", r->has,
        r->has == 1 ? core_second : core_seconds);
}

static void put_limit_reached(char *text, const struct sched_reason *r)
{
    const struct sched_reason_limit *l = &r->limit;
    put(text, "%s%s ", limit, owners[l->whose]);
    if (l->whose == SCHED_OF_ACCOUNT)
        put(text, "%.60s ", l->account);
    put(text, "%s ", l->what);
    if (strcmp(l->what, duration) == 0)
        put_seconds(text, l->most, r->second);
    else
        put(text, "%" PRId64, l->most);
}

static void put_queue(char *text, const struct sched_reason *r)
{
    if (r->kind == SCHED_REASON_UNKNOWN_QUEUE)
        put(text, "queue (%.40s) doesn't exist", r->queue);
    else if (r->kind == SCHED_REASON_CLOSED)
        put(text, "queue %.40s takes no jobs", r->queue);
    else
        put(text, "user %.30s is not admitted to queue %.30s", r->user, r->queue);
}

static void put_estimate(char *text, const struct sched_reason *r)
{
    put(text, "%s", plain[r->kind]);
    if (!r->queue)
        return;
    put(text, ": %s ", strcmp(r->limit.what, duration) == 0 ? "limit job duration" : r->limit.what);
    put_seconds(text, r->limit.most, r->second);
    put(text, " of queue %.40s", r->queue);
}

static void put_roles(char *text, const struct sched_reason *r)
{
    const char *before = r->kind == SCHED_REASON_GANG ? too_few_fit : too_few_left;
    for (size_t i = 0; i < r->n_roles; i++, before = ", ")
        put(text, "%s%s %" PRId64 "%s%" PRId64, before, r->role[i].name, r->role[i].have, of,
            r->role[i].need);
    if (r->others)
        put(text, "%s%s", before, others);
}

static void put_gang_state(char *text, const struct sched_reason *r)
{
    if (r->n_roles > 0)
        put_roles(text, r);
    else if (r->kind == SCHED_REASON_GANG_FAILED)
        put(text, "%s%" PRId64 "%s", one_member, r->gang.have, failed);
    else
        put(text, "%" PRId64 "%s%" PRId64 "%s", r->gang.have, of, r->gang.need,
            r->kind == SCHED_REASON_GANG ? members_fit : members_left);
}

const char *sched_reason_text(const struct sched_reason *r, char text[SCHED_REASON_TEXT])
{
    text[0] = '\0';
    if (!r)
        return text;
    switch (r->kind) {
    case SCHED_REASON_DEPENDENCY:
        put_dependency(text, r);
        break;
    case SCHED_REASON_BEGIN:
        put(text, "%s", begin);
        put_seconds(text, r->at, r->second);
        break;
    case SCHED_REASON_LIMIT:
        put_limit_reached(text, r);
        break;
    case SCHED_REASON_RANK:
        put(text, "%s", rank);
        if (r->has < r->of)
            put(text, "%s%" PRId64 "%s%" PRId64, expected, r->has, to, r->of);
        break;
    case SCHED_REASON_CLAIM:
        put_claim(text, r);
        break;
    case SCHED_REASON_PREEMPTED:
        put_preempted(text, r);
        break;
    case SCHED_REASON_RESOURCES:
        put(text, "%s%s", resources, r->type);
        break;
    case SCHED_REASON_NEVER_MET:
        put_job_id(text, dependency, &r->job[0]);
        put(text, "%s", never_met);
        break;
    case SCHED_REASON_UNKNOWN_QUEUE:
    case SCHED_REASON_CLOSED:
    case SCHED_REASON_NOT_ADMITTED:
        put_queue(text, r);
        break;
    case SCHED_REASON_ESTIMATE:
        put_estimate(text, r);
        break;
    case SCHED_REASON_BLOCK:
    case SCHED_REASON_BLOCK_RECURS:
        put(text, "%s%.60s%s", block, r->block, r->kind == SCHED_REASON_BLOCK ? recurs : unlimited);
        break;
    case SCHED_REASON_SET_ASIDE:
        put(text, "%s%.60s%s", block, r->block, until);
        put_seconds(text, r->at, r->second);
        break;
    case SCHED_REASON_GANG:
    case SCHED_REASON_GANG_FAILED:
    case SCHED_REASON_GANG_LEFT:
        put_gang_state(text, r);
        break;
    case SCHED_REASON_CLASS:
        put(text, "%s%.70s%s", class, r->words, shut);
        break;
    case SCHED_REASON_UNSATISFIABLE:
    case SCHED_REASON_JOBSPEC:
        put(text, "%s%s", r->kind == SCHED_REASON_JOBSPEC ? jobspec : unsatisfiable, r->words);
        break;
    case SCHED_REASON_REQUEST:
        put(text, "%s", r->words);
        break;
    default:
        put(text, "%s", plain[r->kind]);
    }
    return text;
}
