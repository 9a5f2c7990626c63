/* The route of shares: who deserves how much, and has how much. */
#include "berth/sched_shares.h"

#include <string.h>

#include "config/seconds.h"
#include "server/api/api.h"

/* Memory is told in bytes. */
static int64_t unit_of(const server_t *s, const char *resource)
{
    return strcmp(resource, "memory") == 0 && s->size.memory_unit > 0 ? s->size.memory_unit : 1;
}

static int64_t in_units(int64_t amount, int64_t unit)
{
    int64_t told;
    return __builtin_mul_overflow(amount, unit, &told) ? (amount < 0 ? INT64_MIN : INT64_MAX)
                                                       : told;
}

/* An object by resource, without those that have no bound. */
static void put_amounts(const struct call *c, struct json_out *out, const char *key,
                        const struct sched_share_report *report,
                        const struct sched_share_amounts *amounts)
{
    json_open(out, key, '{');
    for (size_t i = 0; i < report->n_resources; i++) {
        const char *resource = report->resources[i];
        if (amounts->of[i] == SCHED_UNLIMITED)
            continue;
        json_key_bytes(out, resource, strlen(resource));
        strbuf_put_int(out->text, in_units(amounts->of[i], unit_of(c->s, resource)));
        out->has_value = true;
    }
    json_close(out, '}');
}

static void put_real(struct json_out *out, const char *key, double value)
{
    char text[40];
    snprintf(text, sizeof(text), "%.17g", value);
    json_put_raw(out, key, text);
}

static void put_node(const struct call *c, struct json_out *out,
                     const struct sched_share_report *report, const struct sched_share_node *n)
{
    const char *dominant = report->resources[n->dominant];
    bool is_root = n->kind == SCHED_SHARE_OF_MACHINE;
    json_line(out);
    json_open(out, NULL, '{');
    json_put_text(out, "name", is_root ? NULL : n->name);
    json_put_string(out, "kind", sched_share_kind_name(n->kind));
    if (is_root)
        json_put_null(out, "above");
    else
        json_put_uint(out, "above", n->above);
    json_put_uint(out, "depth", n->depth);
    json_put_int(out, "weight", n->weight);
    put_amounts(c, out, "guarantee", report, &n->guarantee);
    put_amounts(c, out, "capability", report, &n->capability);
    put_amounts(c, out, "deserved", report, &n->deserved);
    put_amounts(c, out, "received", report, &n->received);
    put_amounts(c, out, "demand", report, &n->demand);
    put_real(out, "usage", (double)n->usage + (double)n->usage_part / 4294967296.0);
    json_put_text(out, "dominant", dominant);
    put_real(out, "share", (double)n->share_of / (double)n->share_out_of);
    json_put_int(out, "error", in_units(n->error, unit_of(c->s, dominant)));
    json_put_uint(out, "running", n->n_running);
    json_put_uint(out, "promised", n->n_promised);
    json_put_uint(out, "waiting", n->n_open);
    json_close(out, '}');
}

void api_put_queue_share(const struct call *c, struct json_out *out,
                         const struct sched_share_report *report, const char *queue)
{
    const struct sched_share_node *n = report->nodes, *end = n ? n + report->n_nodes : n;
    while (n < end && (n->kind != SCHED_SHARE_OF_QUEUE || strcmp(n->name, queue) != 0))
        n++;
    if (n == end) {
        json_put_null(out, "share");
        return;
    }
    const struct sched_share_node *above = &report->nodes[n->above];
    json_open(out, "share", '{');
    json_put_text(out, "under", above->kind == SCHED_SHARE_OF_DIVISION ? above->name : NULL);
    json_put_int(out, "weight", n->weight);
    put_amounts(c, out, "guarantee", report, &n->guarantee);
    put_amounts(c, out, "capability", report, &n->capability);
    put_amounts(c, out, "deserved", report, &n->deserved);
    put_amounts(c, out, "received", report, &n->received);
    json_close(out, '}');
}

void api_shares_get(struct call *c)
{
    struct json_out out = {.text = c->out};
    struct sched_share_report report;
    if (sched_shares_now(c->s->sched, c->s->clock.now, &report) < 0) {
        api_no_memory(c->reply);
        return;
    }
    json_open(&out, NULL, '{');
    json_put_seconds(&out, "half_life",
                     report.n_nodes > 0 && report.half_life < SCHED_UNLIMITED ? report.half_life
                                                                              : -1);
    json_open(&out, "shares", '[');
    for (size_t i = 0; i < report.n_nodes; i++)
        put_node(c, &out, &report, &report.nodes[i]);
    strbuf_puts(c->out, "\n]}\n");
}
