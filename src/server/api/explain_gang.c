#include "server/api/explain_gang.h"

static const char *const words[] = {[SCHED_NOT_READY] = "not ready",
                                    [SCHED_CONDITIONALLY_READY] = "conditionally ready",
                                    [SCHED_READY] = "ready"};

bool explain_gang_is_up(const struct sched_gang_now *now)
{
    return now->running + now->succeeded >= now->min;
}

static void put_number(struct strbuf *out, const char *before, int64_t n, const char *after)
{
    strbuf_puts(out, before);
    strbuf_put_int(out, n);
    strbuf_puts(out, after);
}

static void put_room(struct strbuf *out, const struct sched_gang_now *now)
{
    uint32_t had = now->running + now->succeeded;
    put_number(out, "; there is room for ", now->allocated, " of ");
    put_number(out, "", (int64_t)now->min - had, "");
    if (now->conditional > 0)
        put_number(out, ", and for ", now->conditional, " more if jobs were stopped that may be");
}

void explain_gang(struct strbuf *out, const struct sched_gang_now *now, bool looks)
{
    put_number(out, "It is a gang, of which ", now->min, now->min == 1 ? " starts" : " start");
    strbuf_puts(out, " together");
    if (now->succeeded > 0)
        put_number(out, "; ", now->succeeded,
                   now->succeeded == 1 ? " has succeeded" : " have succeeded");
    if (now->running > 0)
        put_number(out, "; ", now->running, now->running == 1 ? " runs" : " run");
    else if (looks)
        put_room(out, now);
    strbuf_puts(out, ": it is ");
    strbuf_puts(out, words[now->readiness]);
    strbuf_puts(out, ". ");
}

void explain_gang_put(struct json_out *out, const struct sched_gang_now *now)
{
    json_open(out, "gang", '{');
    json_put_text(out, "readiness", words[now->readiness]);
    json_put_uint(out, "min", now->min);
    json_put_uint(out, "running", now->running);
    json_put_uint(out, "succeeded", now->succeeded);
    json_put_uint(out, "allocated", now->allocated);
    json_put_uint(out, "conditional", now->conditional);
    json_close(out, '}');
}
