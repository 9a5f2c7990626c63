#include "report/explained.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/seconds.h"

/* Ticks from now on; -1: unknown. */
static int64_t ticks_left(struct explain_of of, int64_t at)
{
    return at < 0 ? -1 : at > of.now ? at - of.now : 0;
}

/* Whether those matter that hold resources: it waits for such. */
static bool waits_for_room(enum sched_reason_kind kind)
{
    return kind == SCHED_REASON_RESOURCES || kind == SCHED_REASON_GANG ||
           kind == SCHED_REASON_CLAIM || kind == SCHED_REASON_PREEMPTING;
}

int explained_ask(struct explain_of of, sched_job_t job, struct explained *e)
{
    struct sched_annotation a;
    *e = (struct explained){0};
    if (sched_annotate(of.sched, job, &a) < 0)
        return -1;
    size_t n = waits_for_room(a.reason.kind) ? a.n_holders : 0;
    e->holders = n < EXPLAINED_HOLDERS ? n : EXPLAINED_HOLDERS;
    if (e->holders > 0)
        memcpy(e->holder, a.holders, e->holders * sizeof(*e->holder));
    e->reason = sched_reason_copy(&a.reason);
    if (!e->reason)
        return -1;
    e->not_before = a.not_before;
    e->waiting = (struct waiting){.reason = e->reason,
                                  .state = a.state,
                                  .start = ticks_left(of, a.start),
                                  .expected = a.expected,
                                  .begin = ticks_left(of, a.reason.at),
                                  .holders = n,
                                  .would_start = &e->would_start};
    if (a.state == SCHED_REJECTED ||
        would_start_find(of.sched, of.now, job, of.memory_unit, &e->would_start, NULL) == 0)
        return 0;
    if (errno != ENOMEM) /* an answer without would_start */
        return 0;
    explained_clear(e);
    errno = ENOMEM;
    return -1;
}

void explained_clear(struct explained *e)
{
    free(e->reason);
    e->reason = NULL;
}

void explained_turns(const struct explained *e, struct explain_of of, sched_job_t job,
                     struct strbuf *text, struct strbuf *members)
{
    struct json_out json = {.text = members, .has_value = true};
    enum sched_reason_kind kind = e->reason->kind;
    bool waits = e->waiting.state == SCHED_WAITING &&
                 (kind == SCHED_REASON_RESOURCES || kind == SCHED_REASON_PRIORITY);
    if (waits && explain_shares(of, job, e->holder, e->holders, text, &json) < 0)
        text->failed = true;
}

/* ---- JSON ---- */

static void put_holder(struct json_out *out, struct explain_of of, sched_job_t job)
{
    struct sched_annotation a;
    const char *resources;
    if (sched_annotate(of.sched, job, &a) < 0)
        return;
    json_open(out, NULL, '{');
    json_key(out, "id");
    strbuf_putc(out->text, '"');
    explain_put_id(out->text, &a);
    strbuf_putc(out->text, '"');
    json_put_text(out, "user", a.user);
    json_put_seconds(out, "until",
                     a.until < 0 || a.until >= SCHED_UNLIMITED ? -1 : of.wall + a.until);
    json_put_text(out, "resources",
                  sched_resources(of.sched, job, &resources) == 0 ? resources : NULL);
    json_close(out, '}');
}

/* What lowering may do; 0: nothing. */
static void put_found(struct json_out *out, const char *key, int64_t found)
{
    if (found > 0)
        json_put_int(out, key, found);
    else
        json_put_null(out, key);
}

static void put_would_start(struct json_out *out, const struct would_start *found)
{
    json_open(out, "would_start_now", '{');
    json_put_seconds(out, "duration", found->duration > 0 ? found->duration : -1);
    put_found(out, "cores", found->cores);
    put_found(out, "nodes", found->nodes);
    put_found(out, "gpus", found->gpus);
    put_found(out, "memory", found->memory);
    json_close(out, '}');
}

void explained_put(struct json_out *out, struct explain_of of, const struct explained *e,
                   const char *reason, const char *text)
{
    static const struct would_start nothing;
    char words[SCHED_REASON_TEXT];
    int64_t start = e ? e->waiting.start : -1;
    if (e && !reason)
        reason = sched_reason_text(e->reason, words);
    json_put_text(out, "reason", reason && *reason ? reason : NULL);
    json_put_seconds(out, "estimate", start < 0 ? -1 : of.wall + of.now + start);
    json_put_bool(out, "not_before", start >= 0 && e->not_before);
    if (e && e->waiting.expected)
        json_put_bool(out, "expected", true);
    json_open(out, "holders", '[');
    for (size_t i = 0; e && i < e->holders; i++)
        put_holder(out, of, e->holder[i]);
    json_close(out, ']');
    json_put_uint(out, "more_holders", e ? e->waiting.holders - e->holders : 0);
    put_would_start(out, e ? &e->would_start : &nothing);
    json_put_text(out, "text", text);
}
