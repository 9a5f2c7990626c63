/* Queues and shares as JSON. */
#include "report/queue_rows.h"

#include <stdio.h>
#include <string.h>

#include "base/json_out.h"
#include "berth/sched_query.h"
#include "berth/sched_shares.h"
#include "config/seconds.h"

/* What is told, and in bytes, of which memory has so many a unit. */
struct telling {
    const struct sched_share_report *report;
    int64_t memory_unit;
};

static int64_t unit_of_resource(const struct telling *t, const char *resource)
{
    return strcmp(resource, "memory") == 0 && t->memory_unit > 0 ? t->memory_unit : 1;
}

static int64_t in_units(int64_t amount, int64_t unit)
{
    int64_t told;
    return __builtin_mul_overflow(amount, unit, &told) ? (amount < 0 ? INT64_MIN : INT64_MAX)
                                                       : told;
}

/* An object by resource, without those that have no bound. */
static void put_amounts(const struct telling *t, struct json_out *out, const char *key,
                        const struct sched_share_amounts *amounts)
{
    const struct sched_share_report *report = t->report;
    json_open(out, key, '{');
    for (size_t i = 0; i < report->n_resources; i++) {
        const char *resource = report->resources[i];
        if (amounts->of[i] == SCHED_UNLIMITED)
            continue;
        json_key_bytes(out, resource, strlen(resource));
        strbuf_put_int(out->text, in_units(amounts->of[i], unit_of_resource(t, resource)));
        out->has_value = true;
    }
    json_close(out, '}');
}

/* Limits by name; durations in seconds, and what is not limited is left out. */
static void put_limit_values(struct json_out *out, const char *key,
                             const struct sched_limit *limits, size_t n)
{
    json_open(out, key, '{');
    for (size_t i = 0; i < n; i++) {
        if (limits[i].most >= SCHED_UNLIMITED)
            continue;
        json_key_bytes(out, limits[i].what, strlen(limits[i].what));
        if (strcmp(limits[i].what, "duration") == 0)
            seconds_put(out->text, limits[i].most);
        else
            strbuf_put_int(out->text, limits[i].most);
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

static void put_share_node(const struct telling *t, struct json_out *out,
                           const struct sched_share_node *n)
{
    const char *dominant = t->report->resources[n->dominant];
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
    put_amounts(t, out, "guarantee", &n->guarantee);
    put_amounts(t, out, "capability", &n->capability);
    put_limit_values(out, "limits", n->limits, n->n_limits);
    put_amounts(t, out, "deserved", &n->deserved);
    put_amounts(t, out, "received", &n->received);
    put_amounts(t, out, "in_use", &n->running);
    put_amounts(t, out, "demand", &n->demand);
    put_real(out, "usage", (double)n->usage + (double)n->usage_part / 4294967296.0);
    json_put_text(out, "dominant", dominant);
    put_real(out, "share", (double)n->share_of / (double)n->share_out_of);
    json_put_int(out, "error", in_units(n->error, unit_of_resource(t, dominant)));
    json_put_uint(out, "running", n->n_running);
    json_put_uint(out, "promised", n->n_promised);
    json_put_uint(out, "waiting", n->n_open);
    json_close(out, '}');
}

static void put_queue_share(const struct telling *t, struct json_out *out, const char *queue)
{
    const struct sched_share_node *n = t->report->nodes, *end = n ? n + t->report->n_nodes : n;
    while (n < end && (n->kind != SCHED_SHARE_OF_QUEUE || strcmp(n->name, queue) != 0))
        n++;
    if (n == end) {
        json_put_null(out, "share");
        return;
    }
    const struct sched_share_node *above = &t->report->nodes[n->above];
    json_open(out, "share", '{');
    json_put_text(out, "under", above->kind == SCHED_SHARE_OF_DIVISION ? above->name : NULL);
    json_put_int(out, "weight", n->weight);
    put_amounts(t, out, "guarantee", &n->guarantee);
    put_amounts(t, out, "capability", &n->capability);
    put_amounts(t, out, "deserved", &n->deserved);
    put_amounts(t, out, "received", &n->received);
    put_amounts(t, out, "in_use", &n->running);
    json_close(out, '}');
}

int share_rows_put(struct strbuf *text, sched_t *sched, int64_t now, int64_t memory_unit)
{
    struct json_out out = {.text = text};
    struct sched_share_report report;
    if (sched_shares_now(sched, now, &report) < 0)
        return -1;
    const struct telling t = {&report, memory_unit};
    json_open(&out, NULL, '{');
    json_put_seconds(&out, "half_life",
                     report.n_nodes > 0 && report.half_life < SCHED_UNLIMITED ? report.half_life
                                                                              : -1);
    json_open(&out, "shares", '[');
    for (size_t i = 0; i < report.n_nodes; i++)
        put_share_node(&t, &out, &report.nodes[i]);
    strbuf_puts(text, "\n]}\n");
    return 0;
}

/* Ticks that a queue has as a default; -1: it has none. */
static int64_t known_time(int64_t ticks)
{
    return ticks < SCHED_UNLIMITED ? ticks : -1;
}

static void put_queue_row(const struct telling *t, struct json_out *out, const sched_t *sched,
                          const struct sched_queue_config *q)
{
    struct sched_queue_stats stats = {0};
    sched_queue_stats(sched, q->name, &stats);
    json_line(out);
    json_open(out, NULL, '{');
    json_put_text(out, "name", q->name);
    json_put_text(out, "parent", q->parent);
    json_put_text(out, "policy", q->policy);
    json_put_int(out, "priority", q->priority);
    json_put_seconds(out, "default_duration", known_time(q->default_duration));
    json_put_seconds(out, "default_limit", known_time(q->default_limit));
    json_put_bool(out, "enabled", stats.enabled);
    json_put_bool(out, "started", stats.started_up);
    json_put_uint(out, "pending",
                  stats.now[SCHED_WAITING] + stats.now[SCHED_RESERVED] + stats.now[SCHED_BLOCKED]);
    json_put_uint(out, "reserved", stats.now[SCHED_RESERVED]);
    json_put_uint(out, "running", stats.now[SCHED_RUNNING]);
    json_open(out, "limits", '{');
    put_limit_values(out, "job", q->limits.job, q->limits.n_job);
    put_limit_values(out, "user", q->limits.user, q->limits.n_user);
    put_limit_values(out, "queue", q->limits.queue, q->limits.n_queue);
    json_close(out, '}');
    put_queue_share(t, out, q->name);
    json_close(out, '}');
}

int queue_rows_put(struct strbuf *text, sched_t *sched, int64_t now,
                   const struct sched_config *config, int64_t memory_unit)
{
    struct json_out out = {.text = text};
    struct sched_share_report report;
    if (sched_shares_now(sched, now, &report) < 0)
        return -1;
    const struct telling t = {&report, memory_unit};
    json_open(&out, NULL, '{');
    json_put_text(&out, "default", config->default_queue);
    json_open(&out, "queues", '[');
    for (size_t i = 0; i < config->n_queues; i++)
        put_queue_row(&t, &out, sched, &config->queues[i]);
    strbuf_puts(text, "\n]}\n");
    return 0;
}
