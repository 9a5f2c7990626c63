#include "server/api/explain.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/seconds.h"
#include "server/core/members.h"
#include "server/core/priv.h"

/* The same for a job whose reason is only a text. */
static void put_never_started(struct strbuf *out, const struct job_shown *j)
{
    struct sched_reason reason;
    char *text = strdup(j->reason);
    if (text) {
        sched_reason_read(&reason, text, SERVER_SECOND);
        explain_never(out, &reason, j->user, j->queue);
    }
    out->failed |= !text;
    free(text);
}

static void put_member_name(struct strbuf *out, int64_t id, int64_t member)
{
    strbuf_puts(out, "job ");
    strbuf_put_int(out, id);
    if (member < 0)
        return;
    strbuf_putc(out, '[');
    strbuf_put_int(out, member);
    strbuf_putc(out, ']');
}

void explain_paused(struct strbuf *out, const char *hold)
{
    const char *tried = not_started_cause(hold);
    strbuf_puts(out, tried ? "It could not be started: " : "Nothing is being started: ");
    strbuf_puts(out, tried ? tried : hold);
    strbuf_puts(out, tried ? ". It is retried until it starts." : ".");
}

/* ---- What doesn't wait ---- */

static void put_after(struct strbuf *out, const struct job_shown *j)
{
    if (j->start < 0 || j->end < j->start)
        return;
    strbuf_puts(out, " after ");
    if (j->end - j->start < SECONDS_TICKS)
        strbuf_puts(out, "less than a second");
    else
        explain_span(out, j->end - j->start);
}

/* A job without a limit was stopped all the same. */
static void put_stopped(struct strbuf *out, const char *reason)
{
    strbuf_puts(out, "It was stopped for ");
    strbuf_puts(out, reason);
}

/* By which rule it was stopped for another one, and what is lost by that. */
static void put_stopped_by(struct strbuf *out, const struct sched_reason *why)
{
    static const char *const rules[] = {
        [SCHED_MAY_PREEMPTIBLE] = " Jobs of its queue may be stopped for others",
        [SCHED_MAY_PRIORITY] = " In its queue, jobs are stopped for those of higher priority",
        [SCHED_MAY_SHARE] = " Others deserve a part of what its queue has",
        [SCHED_MAY_RICHER] = " Others of its queue have less than its user",
        [SCHED_MAY_CLASS] = " It has workers that its class has borrowed"};
    strbuf_puts(out, rules[why->may]);
    strbuf_puts(out, why->spare ? "; its gang goes on without it. " : ". ");
    strbuf_put_int(out, why->has);
    strbuf_puts(out, why->has == 1 ? " core-second of work is lost."
                                   : " core-seconds of work are lost.");
}

static void put_preemptor(struct strbuf *out, const struct sched_reason *why)
{
    strbuf_puts(out, "It was preempted for ");
    if (why->n_jobs > 0)
        explain_put_job(out, &why->job[0]);
    else
        strbuf_puts(out, "others");
}

void explain_preempted_before(struct strbuf *out, const struct sched_reason *why)
{
    strbuf_putc(out, ' ');
    put_preemptor(out, why);
    strbuf_puts(out, ", and waits again.");
    put_stopped_by(out, why);
}

static void put_preempted(struct strbuf *out, const struct job_shown *j,
                          const struct sched_reason *why)
{
    put_preemptor(out, why);
    put_after(out, j);
    strbuf_putc(out, '.');
    put_stopped_by(out, why);
}

static void put_ended(struct strbuf *out, const struct job_shown *j)
{
    char text[SCHED_REASON_TEXT];
    struct sched_reason why;
    if (strcmp(j->state, "cancelled") == 0 && preempted_why(j->reason, &why, text)) {
        put_preempted(out, j, &why);
        return;
    }
    if (strcmp(j->state, "cancelled") == 0)
        strbuf_puts(out, j->start < 0 ? "It was cancelled before it started" : "It was cancelled");
    else if (strcmp(j->state, "timeout") == 0 && j->limit == SCHED_UNLIMITED && j->reason)
        put_stopped(out, j->reason);
    else if (strcmp(j->state, "timeout") == 0)
        strbuf_puts(out, "It was stopped at its time limit");
    else
        strbuf_puts(out, strcmp(j->state, "done") == 0 ? "It has ended" : "It has failed");
    bool by_itself = strcmp(j->state, "done") == 0 || strcmp(j->state, "failed") == 0;
    if (by_itself && j->exit_status > 0) {
        strbuf_puts(out, " with exit status ");
        strbuf_put_int(out, j->exit_status);
    } else if (by_itself && j->exit_signal > 0) {
        strbuf_puts(out, " by signal ");
        strbuf_put_int(out, j->exit_signal);
    }
    put_after(out, j);
    if (j->reason && *j->reason && strcmp(j->state, "failed") == 0) {
        strbuf_puts(out, ": ");
        strbuf_puts(out, j->reason);
    }
    strbuf_putc(out, '.');
}

void explain_stopping(struct strbuf *out, const struct stopping *stopping)
{
    strbuf_puts(out, stopping->is_preempted ? "It is being preempted" : "It is being stopped");
    if (stopping->id > 0) {
        strbuf_puts(out, " for ");
        put_member_name(out, stopping->id, stopping->member);
    }
    strbuf_puts(out, ", and is");
    explain_killed(out, stopping->killed, "it", " has");
    if (stopping->why.kind == SCHED_REASON_PREEMPTED)
        put_stopped_by(out, &stopping->why);
}

void explain_block(struct strbuf *out, const char *block, int64_t left)
{
    strbuf_puts(out, " It has no time limit: it is stopped when block ");
    strbuf_puts(out, block);
    if (left > 0) {
        strbuf_puts(out, " begins, in ");
        explain_span(out, left);
    } else {
        strbuf_puts(out, " begins");
    }
    strbuf_puts(out, ", unless it has ended by then.");
}

static bool has_never_started(const struct job_shown *j)
{
    return strcmp(j->state, "failed") == 0 && j->start < 0 && j->attempts == 0 && j->reason;
}

void explain_whole(struct strbuf *out, const struct job_shown *j)
{
    bool never = has_never_started(j);
    if (j->reason && *j->reason && !never) {
        strbuf_puts(out, ": ");
        strbuf_puts(out, j->reason);
    }
    strbuf_puts(out, never ? ". " : ".");
    if (never)
        put_never_started(out, j);
}

void explain_others(struct strbuf *out, const struct job_shown *j, int64_t wall)
{
    bool limited = j->limit < SCHED_UNLIMITED;
    if (strcmp(j->state, "running") != 0) {
        if (has_never_started(j))
            put_never_started(out, j);
        else
            put_ended(out, j);
        return;
    }
    if (j->start < 0) {
        strbuf_puts(out, "It is being started.");
        return;
    }
    strbuf_puts(out, "It has been running for ");
    explain_span(out, wall > j->start ? wall - j->start : 0);
    if (j->until < 0) {
        strbuf_puts(out, "; nobody knows until when.");
        return;
    }
    if (j->until <= wall) {
        strbuf_puts(out, limited ? "; its time limit has passed and it is being stopped."
                                 : ", longer than expected.");
        return;
    }
    strbuf_puts(out, limited ? ", and will be stopped in " : ", and is expected to end in ");
    explain_span(out, j->until - wall);
    strbuf_puts(out, limited ? " if it has not ended by then." : ".");
}
