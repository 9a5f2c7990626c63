#include "report/explain.h"

#include <string.h>

#include "base/json_out.h"
#include "config/seconds.h"
#include "report/reason_words.h"

/* Us from now: so late begins what only a block that lasts for ever ends, as of nodes that are lent. */
#define FAR (INT64_C(3650) * 86400 * SECONDS_TICKS)

void explain_put_id(struct strbuf *out, const struct sched_annotation *a)
{
    strbuf_put(out, a->id, strcspn(a->id, "[")); /* of some members it has the index already */
    if (a->members <= 1)
        return;
    strbuf_putc(out, '[');
    strbuf_put_uint(out, a->member);
    strbuf_putc(out, ']');
}

void explain_span(struct strbuf *out, int64_t us)
{
    static const struct {
        int64_t seconds;
        char letter;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    int64_t left = (us + SECONDS_TICKS - 1) / SECONDS_TICKS;
    int parts = 0;
    for (size_t i = 0; i < 4 && parts < 2; i++) {
        int64_t n = left / units[i].seconds;
        if (n == 0 && !(i == 3 && parts == 0))
            continue;
        strbuf_puts(out, parts++ ? " " : "");
        strbuf_put_int(out, n);
        strbuf_putc(out, units[i].letter);
        left -= n * units[i].seconds;
    }
}

static void put_counted(struct strbuf *out, int64_t n, const char *one, const char *many)
{
    strbuf_put_int(out, n);
    strbuf_putc(out, ' ');
    strbuf_puts(out, n == 1 ? one : many);
}

/* Write memory as --mem reads it. */
static void put_memory_size(struct strbuf *out, int64_t bytes)
{
    static const char letters[] = "KMGT";
    size_t i = 0;
    int64_t n = bytes / 1024;
    for (; n >= 1024 && n % 1024 == 0 && i + 2 < sizeof(letters); i++)
        n /= 1024;
    strbuf_put_int(out, n);
    strbuf_putc(out, letters[i]);
}

void explain_never(struct strbuf *out, const struct sched_reason *reason, const char *user,
                   const char *queue)
{
    char text[SCHED_REASON_TEXT];
    strbuf_puts(out, "It can never start: ");
    if (reason->kind == SCHED_REASON_LIMIT)
        reason_put_limit(out, &reason->limit, user, queue);
    else if (reason->kind == SCHED_REASON_UNSATISFIABLE || reason->kind == SCHED_REASON_REQUEST)
        strbuf_puts(out, reason->words);
    else
        strbuf_puts(out, sched_reason_text(reason, text));
    strbuf_putc(out, '.');
}

void explain_put_job(struct strbuf *out, const struct sched_reason_job *job)
{
    strbuf_puts(out, "job ");
    strbuf_puts(out, job->id);
    if (job->member >= 0) {
        strbuf_putc(out, '[');
        strbuf_put_int(out, job->member);
        strbuf_putc(out, ']');
    }
}

/* ": node0 is drained (kernel upgrade), node1 is down." */
static void put_not_up(struct strbuf *out, const struct waiting *w)
{
    for (size_t i = 0; i < w->n_not_up && i < NOT_UP_TOLD; i++) {
        const struct not_up *n = &w->not_up[i];
        strbuf_puts(out, i == 0 ? ": " : ", ");
        strbuf_puts(out, n->resources);
        strbuf_puts(out, " is ");
        strbuf_puts(out, n->status);
        if (n->reason) {
            strbuf_puts(out, " (");
            strbuf_puts(out, n->reason);
            strbuf_putc(out, ')');
        }
    }
    strbuf_puts(out, w->n_not_up > NOT_UP_TOLD ? ", and others are not up." : ".");
}

static void put_wait_resources(struct strbuf *out, const struct waiting *w, const char *type)
{
    strbuf_puts(out, "It waits for ");
    reason_put_type(out, type, false);
    if (w->holders == 0 && w->n_not_up > 0) {
        put_not_up(out, w);
        return;
    }
    if (w->holders == 0) {
        strbuf_puts(out, w->may_come
                             ? ": they are set aside or reserved for others, or have not come yet."
                             : ": enough are up, but they are set aside or reserved for others.");
        return;
    }
    strbuf_puts(out, " that ");
    put_counted(out, (int64_t)w->holders, "other job holds.", "other jobs hold.");
}

void explain_killed(struct strbuf *out, int64_t left, const char *they, const char *have)
{
    if (left <= 0) {
        strbuf_puts(out, " being killed.");
        return;
    }
    strbuf_puts(out, " killed in ");
    explain_span(out, left);
    strbuf_puts(out, " if ");
    strbuf_puts(out, they);
    strbuf_puts(out, have);
    strbuf_puts(out, " not ended by then.");
}

static void put_wait_victims(struct strbuf *out, const struct waiting *w)
{
    bool one = w->n_victims == 1;
    strbuf_puts(out, one ? "It waits for a job that is being preempted for it"
                         : "It waits for jobs that are being preempted for it");
    for (size_t i = 0; i < w->n_victims && i < VICTIMS_TOLD; i++) {
        strbuf_puts(out, i == 0 ? ": " : ", ");
        strbuf_puts(out, "job ");
        strbuf_puts(out, w->victims[i].id);
    }
    if (w->n_victims > VICTIMS_TOLD)
        strbuf_puts(out, " and others");
    strbuf_puts(out, one ? ". That is" : ". These are");
    explain_killed(out, w->killed, one ? "it" : "they", one ? " has" : " have");
}

/* "It has waited for so long that 2 nodes are withheld for it, of which it has 1. It waits for job 3 and others." */
static void put_claim(struct strbuf *out, const struct sched_reason *r)
{
    strbuf_puts(out, "It has waited for so long that ");
    strbuf_put_int(out, r->of);
    strbuf_putc(out, ' ');
    reason_put_type(out, r->type, r->of == 1);
    strbuf_puts(out, r->of == 1 ? " is" : " are");
    strbuf_puts(out, " withheld for it from now on, of which ");
    strbuf_put_int(out, r->has);
    strbuf_puts(out, r->has == 1 ? " is free." : " are free.");
    if (r->n_jobs == 0)
        return;
    strbuf_puts(out, " For the rest it waits for ");
    reason_put_jobs(out, r);
    strbuf_putc(out, '.');
}

/* Waiting for its queue, or for other jobs in it. */
static void put_wait_queue(struct strbuf *out, const struct waiting *w)
{
    bool stopped = w->reason->kind == SCHED_REASON_STOPPED;
    strbuf_puts(out, stopped ? "It waits for its queue: " : "It waits for earlier jobs: queue ");
    strbuf_puts(out, w->queue);
    strbuf_puts(out, stopped                                 ? " is stopped."
                     : w->reason->kind == SCHED_REASON_DEPTH ? " considers only its first jobs."
                                                             : " starts its jobs in order.");
}

static void put_reason(struct strbuf *out, const struct waiting *w)
{
    switch (w->reason->kind) {
    case SCHED_REASON_HELD:
        strbuf_puts(out, "It is held: it waits for 'berth release ");
        strbuf_puts(out, w->job);
        strbuf_puts(out, "'.");
        return;
    case SCHED_REASON_DEPENDENCY:
        strbuf_puts(out, "It waits for ");
        reason_put_jobs(out, w->reason);
        strbuf_puts(out, ", on which it depends.");
        return;
    case SCHED_REASON_BEGIN:
        if (w->begin <= 0)
            break;
        strbuf_puts(out, "It was submitted to start in ");
        explain_span(out, w->begin);
        strbuf_puts(out, " at the earliest.");
        return;
    case SCHED_REASON_LIMIT:
        strbuf_puts(out, "It waits for jobs to end: ");
        reason_put_limit(out, &w->reason->limit, w->user, w->queue);
        strbuf_putc(out, '.');
        return;
    case SCHED_REASON_STOPPED:
    case SCHED_REASON_DEPTH:
    case SCHED_REASON_PRIORITY:
        put_wait_queue(out, w);
        return;
    case SCHED_REASON_PREEMPTING:
        put_wait_victims(out, w);
        return;
    case SCHED_REASON_SET_ASIDE:
        if (w->begin >= FAR) {
            strbuf_puts(out, "It waits for other nodes: those of block ");
            strbuf_puts(out, w->reason->block);
            strbuf_puts(out, " are taken back before it would end.");
            return;
        }
        strbuf_puts(out, "It waits for block ");
        strbuf_puts(out, w->reason->block);
        strbuf_puts(out, " to be over, which is in ");
        explain_span(out, w->begin > 0 ? w->begin : 0);
        strbuf_putc(out, '.');
        return;
    case SCHED_REASON_GANG:
        strbuf_puts(out, "It waits for room for as many members as start together.");
        return;
    case SCHED_REASON_GANG_WAITS:
        strbuf_puts(out, "It waits for the other members of its gang.");
        return;
    case SCHED_REASON_CLAIM:
        put_claim(out, w->reason);
        return;
    case SCHED_REASON_CLASS:
        strbuf_puts(out, "It waits until its class ");
        strbuf_puts(out, w->reason->words);
        strbuf_puts(out, " gets a part of the workers of queue ");
        strbuf_puts(out, w->queue);
        strbuf_puts(out, ": it has 0 percent, and starts nothing.");
        return;
    case SCHED_REASON_RESOURCES:
        put_wait_resources(out, w, w->reason->type);
        return;
    default:
        break;
    }
    strbuf_puts(out, "It waits.");
}

static void put_start_time(struct strbuf *out, const struct waiting *w)
{
    bool for_jobs = w->state != SCHED_BLOCKED || w->reason->kind == SCHED_REASON_LIMIT;
    if (!for_jobs || w->reason->kind == SCHED_REASON_PREEMPTING)
        return;
    if (w->start >= FAR) {
        if (w->reason->kind == SCHED_REASON_SET_ASIDE)
            return; /* it has been said */
        strbuf_puts(out, " What is there is taken back before it would end.");
        return;
    }
    if (w->would_start->as_it_is || (w->start == 0 && w->state == SCHED_RESERVED)) {
        strbuf_puts(out, " It is about to start.");
    } else if (w->start < 0) {
        strbuf_puts(out, " Its start time is unknown.");
    } else if (w->start == 0) {
        return; /* there is room for it, but others go first */
    } else if (w->state == SCHED_RESERVED) {
        strbuf_puts(out, w->expected ? " It is expected to start in "
                                     : " It has a reservation and will start in ");
        explain_span(out, w->start);
        strbuf_puts(out, w->expected ? ", later if others take longer than expected."
                                     : " at the latest.");
    } else {
        strbuf_puts(out, " It will not start within ");
        explain_span(out, w->start);
        strbuf_puts(out, ", unless jobs end earlier than planned.");
    }
}

/* Write the separator before the n-th of several, from 0. */
static void put_or(struct strbuf *out, int n, int all)
{
    if (n > 0)
        strbuf_puts(out, n + 1 < all ? ", " : " or ");
    strbuf_puts(out, "with ");
}

static void put_alternatives(struct strbuf *out, const struct would_start *f)
{
    int all = (f->duration > 0) + (f->nodes > 0) + (f->cores > 0) + (f->gpus > 0) + (f->memory > 0);
    int n = 0;
    if (all == 0)
        return;
    strbuf_puts(out, " It would start now ");
    if (f->duration > 0) {
        put_or(out, n++, all);
        strbuf_puts(out, "a time limit of ");
        explain_span(out, f->duration);
    }
    if (f->nodes > 0) {
        put_or(out, n++, all);
        put_counted(out, f->nodes, "node", "nodes");
    }
    if (f->cores > 0) {
        put_or(out, n++, all);
        put_counted(out, f->cores, "core", "cores");
    }
    if (f->gpus > 0) {
        put_or(out, n++, all);
        put_counted(out, f->gpus, "GPU", "GPUs");
    }
    if (f->memory > 0) {
        put_or(out, n++, all);
        put_memory_size(out, f->memory);
        strbuf_puts(out, " of memory");
    }
    strbuf_putc(out, '.');
}

void explain_waiting(struct strbuf *out, const struct waiting *w)
{
    if (w->state == SCHED_REJECTED) {
        explain_never(out, w->reason, w->user, w->queue);
        return;
    }
    put_reason(out, w);
    put_start_time(out, w);
    put_alternatives(out, w->would_start);
}
