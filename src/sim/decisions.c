#include "sim/decisions.h"

#include "config/seconds.h"

void decisions_clear(struct decisions *d)
{
    strbuf_clear(&d->line);
}

const char *decisions_how(enum sched_how how)
{
    switch (how) {
    case SCHED_IMMEDIATE:
        return "immediate";
    case SCHED_BACKFILLED:
        return "backfilled";
    case SCHED_PROMISED:
        return "reserved";
    }
    return "";
}

static void put_text(struct decisions *d, const char *key, const char *text)
{
    strbuf_puts(&d->line, ", \"");
    strbuf_puts(&d->line, key);
    strbuf_puts(&d->line, "\": ");
    strbuf_put_json(&d->line, text, strlen(text));
}

static void put_time(struct decisions *d, const char *key, int64_t ticks)
{
    strbuf_puts(&d->line, ", \"");
    strbuf_puts(&d->line, key);
    strbuf_puts(&d->line, "\": ");
    seconds_put(&d->line, ticks);
}

static void begin(struct decisions *d, int64_t at, const char *job, const char *decision)
{
    strbuf_reset(&d->line);
    strbuf_puts(&d->line, "{\"at\": ");
    seconds_put(&d->line, at);
    put_text(d, "job", job);
    put_text(d, "decision", decision);
}

static void finish(struct decisions *d)
{
    strbuf_puts(&d->line, "}\n");
    if (d->line.failed)
        d->failed = true;
    else if (d->write)
        d->write(d->arg, d->line.data, d->line.len);
}

void decisions_start(struct decisions *d, int64_t at, const char *job, enum sched_how how,
                     int64_t until, const char *resources)
{
    begin(d, at, job, "start");
    put_text(d, "how", decisions_how(how));
    put_time(d, "until", until);
    put_text(d, "resources", resources);
    finish(d);
}

void decisions_wait(struct decisions *d, int64_t at, const char *job, const char *reason,
                    int64_t start)
{
    begin(d, at, job, "wait");
    put_text(d, "reason", reason);
    if (start >= 0)
        put_time(d, "start", start);
    finish(d);
}

void decisions_reserve(struct decisions *d, int64_t at, const char *job, int64_t start,
                       const char *reason)
{
    begin(d, at, job, "reserve");
    put_time(d, "start", start);
    if (reason)
        put_text(d, "reason", reason);
    finish(d);
}

void decisions_reject(struct decisions *d, int64_t at, const char *job, const char *reason)
{
    begin(d, at, job, "reject");
    put_text(d, "reason", reason);
    finish(d);
}

void decisions_preempt(struct decisions *d, int64_t at, const char *job, const char *winner,
                       bool requeue)
{
    begin(d, at, job, "preempt");
    put_text(d, "for", winner);
    put_text(d, "then", requeue ? "requeue" : "cancel");
    finish(d);
}

void decisions_end(struct decisions *d, int64_t at, const char *job, const char *status,
                   const char *reason)
{
    begin(d, at, job, "end");
    put_text(d, "status", status);
    if (reason)
        put_text(d, "reason", reason);
    finish(d);
}
