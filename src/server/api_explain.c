/* GET /v1/jobs/ID/explain: what blocks a job, who holds that, when it will start, and what would start it now. */
#include <stdlib.h>
#include <string.h>

#include "config/seconds.h"
#include "server/api.h"
#include "server/job_text.h"
#include "server/trial.h"

#define HOLDERS_MAX 16

/* "2d 3h", "5m 10s": the two largest parts. */
static void put_span(struct strbuf *out, int64_t ticks)
{
    static const struct {
        int64_t seconds;
        char letter;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    int64_t left = (ticks + SERVER_SECOND - 1) / SERVER_SECOND;
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

/* The text for people, in a buffer. */
static void put_text(const server_t *s, struct strbuf *text, const char *reason, int64_t start,
                     const struct trial *found, size_t holders)
{
    strbuf_puts(text, "It waits");
    if (reason && *reason) {
        strbuf_puts(text, ": ");
        strbuf_puts(text, reason);
    }
    strbuf_puts(text, holders > 0 ? ", which others hold. " : ". ");
    if (start > s->now) {
        strbuf_puts(text, "It is to start in ");
        put_span(text, start - s->now);
        strbuf_puts(text, " at the latest that is known now.");
    } else if (start >= 0) {
        strbuf_puts(text, "It is about to start.");
    } else {
        strbuf_puts(text, "When it will start can't be told.");
    }
    if (found->duration > 0) {
        strbuf_puts(text, " With a time limit of ");
        put_span(text, found->duration);
        strbuf_puts(text, " it would start now.");
    }
    if (found->cores > 0) {
        strbuf_puts(text, " With ");
        strbuf_put_int(text, found->cores);
        strbuf_puts(text, found->cores > 1 ? " cores" : " core");
        strbuf_puts(text, " it would start now.");
    }
}

static void put_holder(struct call *c, sched_job_t handle)
{
    server_t *s = c->s;
    struct sched_annotation a;
    const char *resources;
    if (sched_annotate(s->sched, handle, &a) < 0)
        return;
    const struct job *job = job_lookup(s, (int64_t)a.tag);
    strbuf_puts(c->out, c->out->data[c->out->len - 1] == '[' ? "{\"id\":" : ",{\"id\":");
    job_put_id(c->out, (int64_t)a.tag, a.members > 1 ? (int64_t)a.member : -1);
    strbuf_puts(c->out, ",\"user\":");
    text_put(c->out, job ? job->user : NULL);
    strbuf_puts(c->out, ",\"until\":");
    wall_put(c->out, server_wall_of(s, a.until));
    strbuf_puts(c->out, ",\"resources\":");
    text_put(c->out, sched_resources(s->sched, handle, &resources) == 0 ? resources : NULL);
    strbuf_putc(c->out, '}');
}

static void put_found(struct strbuf *out, const struct trial *found)
{
    strbuf_puts(out, "],\"would_start_now\":{\"duration\":");
    if (found->duration > 0)
        seconds_put(out, found->duration);
    else
        strbuf_puts(out, "null");
    strbuf_puts(out, ",\"cores\":");
    if (found->cores > 0)
        strbuf_put_int(out, found->cores);
    else
        strbuf_puts(out, "null");
    strbuf_puts(out, ",\"nodes\":null},\"text\":");
}

static void explain_waiting(struct call *c, const struct member *m)
{
    server_t *s = c->s;
    struct sched_annotation a;
    struct trial found = {0};
    struct strbuf text = {0};
    sched_job_t holders[HOLDERS_MAX];
    if (sched_annotate(s->sched, m->handle, &a) < 0) {
        api_refuse(c, 503, NULL, "out of memory");
        return;
    }
    size_t n = a.n_holders < HOLDERS_MAX ? a.n_holders : HOLDERS_MAX;
    if (n > 0)
        memcpy(holders, a.holders, n * sizeof(*holders));
    int64_t start = a.start;
    bool for_resources = a.state == SCHED_WAITING || a.state == SCHED_RESERVED;
    char *reason = strdup(a.reason ? a.reason : "");
    if (for_resources)
        trial_run(s, m->handle, &found, NULL); /* what can't be found out is left out */
    put_text(s, &text, reason, start, &found, n);
    strbuf_puts(c->out, "{\"reason\":");
    text_put(c->out, reason);
    strbuf_puts(c->out, ",\"estimate\":");
    wall_put(c->out, server_wall_of(s, start));
    strbuf_puts(c->out, ",\"holders\":[");
    for (size_t i = 0; i < n; i++)
        put_holder(c, holders[i]);
    put_found(c->out, &found);
    text_put(c->out, strbuf_text(&text));
    strbuf_puts(c->out, "}\n");
    strbuf_clear(&text);
    free(reason);
}

void api_job_explain(struct call *c)
{
    struct job *job = api_job(c);
    if (!job)
        return;
    for (uint32_t i = 0; i < job->members; i++) {
        const struct member *m = &job->member[i];
        if (m->state != STORE_PENDING || m->handle < 0 || (c->member >= 0 && c->member != i))
            continue;
        explain_waiting(c, m);
        return;
    }
    strbuf_puts(c->out, "{\"reason\":null,\"estimate\":null,\"holders\":[]");
    strbuf_puts(c->out, ",\"would_start_now\":{\"duration\":null,\"cores\":null,\"nodes\":null}"
                        ",\"text\":\"It runs.\"}\n");
}
