#include "sim/decisions.h"

#include "base/json_out.h"
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

static struct json_out begin_line(struct decisions *d, int64_t at, const char *job,
                                  const char *decision)
{
    struct json_out out = {.text = &d->line, .spaced = true};
    strbuf_reset(&d->line);
    json_open(&out, NULL, '{');
    json_put_seconds(&out, "at", at);
    json_put_string(&out, "job", job);
    json_put_string(&out, "decision", decision);
    return out;
}

static void write_line(struct decisions *d)
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
    struct json_out out = begin_line(d, at, job, "start");
    json_put_string(&out, "how", decisions_how(how));
    json_put_seconds(&out, "until", until < INT64_MAX ? until : -1); /* null: nobody knows */
    json_put_string(&out, "resources", resources);
    write_line(d);
}

void decisions_wait(struct decisions *d, int64_t at, const char *job, const char *reason,
                    int64_t start)
{
    struct json_out out = begin_line(d, at, job, "wait");
    json_put_string(&out, "reason", reason);
    if (start >= 0)
        json_put_seconds(&out, "start", start);
    write_line(d);
}

void decisions_reserve(struct decisions *d, int64_t at, const char *job, int64_t start,
                       bool expected, const char *reason)
{
    struct json_out out = begin_line(d, at, job, "reserve");
    json_put_seconds(&out, "start", start);
    if (expected)
        json_put_bool(&out, "expected", true);
    if (reason)
        json_put_string(&out, "reason", reason);
    write_line(d);
}

void decisions_reject(struct decisions *d, int64_t at, const char *job, const char *reason)
{
    struct json_out out = begin_line(d, at, job, "reject");
    json_put_string(&out, "reason", reason);
    write_line(d);
}

void decisions_refuse(struct decisions *d, int64_t at, const char *job, const char *reason)
{
    struct json_out out = begin_line(d, at, job, "refuse");
    json_put_string(&out, "reason", reason);
    write_line(d);
}

void decisions_preempt(struct decisions *d, int64_t at, const char *job, const char *winner,
                       bool requeue)
{
    struct json_out out = begin_line(d, at, job, "preempt");
    json_put_string(&out, "for", winner);
    json_put_string(&out, "then", requeue ? "requeue" : "cancel");
    write_line(d);
}

void decisions_await(struct decisions *d, int64_t at, const char *job, const char *stopped)
{
    struct json_out out = begin_line(d, at, job, "await");
    json_put_string(&out, "of", stopped);
    write_line(d);
}

void decisions_replace(struct decisions *d, int64_t at, const char *job)
{
    begin_line(d, at, job, "replace");
    write_line(d);
}

void decisions_stop(struct decisions *d, int64_t at, const char *job, const char *reason)
{
    struct json_out out = begin_line(d, at, job, "stop");
    json_put_string(&out, "reason", reason);
    write_line(d);
}

void decisions_end(struct decisions *d, int64_t at, const char *job, const char *status,
                   const char *reason)
{
    struct json_out out = begin_line(d, at, job, "end");
    json_put_string(&out, "status", status);
    if (reason)
        json_put_string(&out, "reason", reason);
    write_line(d);
}

static struct json_out begin_pilot(struct decisions *d, int64_t at, int64_t pilot,
                                   const char *decision)
{
    struct json_out out = {.text = &d->line, .spaced = true};
    strbuf_reset(&d->line);
    json_open(&out, NULL, '{');
    json_put_seconds(&out, "at", at);
    json_put_int(&out, "pilot", pilot);
    json_put_string(&out, "decision", decision);
    return out;
}

void decisions_pilot_asked(struct decisions *d, int64_t at, int64_t pilot, int64_t nodes,
                           int64_t time)
{
    struct json_out out = begin_pilot(d, at, pilot, "ask");
    json_put_int(&out, "nodes", nodes);
    json_put_seconds(&out, "time", time);
    write_line(d);
}

void decisions_pilot_comes(struct decisions *d, int64_t at, int64_t pilot, const char *resources,
                           int64_t until)
{
    struct json_out out = begin_pilot(d, at, pilot, "come");
    json_put_seconds(&out, "until", until);
    json_put_string(&out, "resources", resources);
    write_line(d);
}

void decisions_pilot_goes(struct decisions *d, int64_t at, int64_t pilot, const char *reason)
{
    struct json_out out = begin_pilot(d, at, pilot, "go");
    json_put_string(&out, "reason", reason);
    write_line(d);
}
