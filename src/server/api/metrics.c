/* What monitoring systems collect, in the text format of OpenMetrics 1.0
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/). Counters begin at 0 when the server is started.
 */
#include <stdlib.h>

#include "berth/sched_query.h"
#include "server/api/api.h"
#include "server/api/machine_sum.h"

static void put_family(struct strbuf *out, const char *name, const char *type, const char *unit,
                       const char *help)
{
    strbuf_puts(out, "# TYPE berth_");
    strbuf_puts(out, name);
    strbuf_putc(out, ' ');
    strbuf_puts(out, type);
    if (unit) {
        strbuf_puts(out, "\n# UNIT berth_");
        strbuf_puts(out, name);
        strbuf_putc(out, ' ');
        strbuf_puts(out, unit);
    }
    strbuf_puts(out, "\n# HELP berth_");
    strbuf_puts(out, name);
    strbuf_putc(out, ' ');
    strbuf_puts(out, help);
    strbuf_putc(out, '\n');
}

/* Begin a line: the name, and what the type adds to it. */
static void put_metric_name(struct strbuf *out, const char *name, const char *suffix)
{
    strbuf_puts(out, "berth_");
    strbuf_puts(out, name);
    strbuf_puts(out, suffix);
}

static void put_label(struct strbuf *out, char before, const char *label, const char *value)
{
    strbuf_putc(out, before);
    strbuf_puts(out, label);
    strbuf_puts(out, "=\"");
    for (; *value; value++) {
        if (*value == '\\' || *value == '"')
            strbuf_putc(out, '\\');
        if (*value == '\n')
            strbuf_puts(out, "\\n");
        else
            strbuf_putc(out, *value);
    }
    strbuf_putc(out, '"');
}

static void put_metric_value(struct strbuf *out, uint64_t value)
{
    strbuf_putc(out, ' ');
    strbuf_put_uint(out, value);
    strbuf_putc(out, '\n');
}

/* Microseconds as seconds. */
static void put_seconds(struct strbuf *out, int64_t us)
{
    strbuf_putc(out, ' ');
    strbuf_put_int(out, us / 1000000);
    strbuf_putc(out, '.');
    for (int64_t digit = 100000; digit > 0; digit /= 10)
        strbuf_putc(out, (char)('0' + us % (digit * 10) / digit));
    strbuf_putc(out, '\n');
}

static void put_gauge(struct strbuf *out, const char *name, const char *unit, const char *help,
                      int64_t value)
{
    put_family(out, name, "gauge", unit, help);
    put_metric_name(out, name, "");
    put_metric_value(out, value > 0 ? (uint64_t)value : 0);
}

static void put_server(const server_t *s, struct strbuf *out)
{
    put_family(out, "build", "info", NULL, "The version of the server.");
    put_metric_name(out, "build", "_info");
    put_label(out, '{', "version", BERTH_VERSION);
    strbuf_putc(out, '}');
    put_metric_value(out, 1);
    put_family(out, "start_time_seconds", "gauge", "seconds",
               "When the server was started, since 1970.");
    put_metric_name(out, "start_time_seconds", "");
    put_seconds(out, s->clock.started);
}

static void put_state(struct strbuf *out, const char *state, uint64_t n)
{
    put_metric_name(out, "members", "");
    put_label(out, '{', "state", state);
    strbuf_putc(out, '}');
    put_metric_value(out, n);
}

static void put_members_by_state(const server_t *s, struct strbuf *out)
{
    put_family(out, "members", "gauge", NULL, "Jobs that have not ended, each member of an array.");
    put_state(out, "pending", s->table.counts[STORE_PENDING] - s->table.n_held);
    put_state(out, "held", s->table.n_held);
    put_state(out, "running", s->table.counts[STORE_STARTING] + s->table.counts[STORE_RUNNING]);
}

static void put_machine(const server_t *s, struct strbuf *out)
{
    struct machine_sum all = machine_sum(s->machine), used = machine_sum_used(s);
    put_gauge(out, "nodes", NULL, "Nodes of the machine.", all.nodes);
    put_gauge(out, "cores", NULL, "Cores of the machine.", all.cores);
    put_gauge(out, "cores_used", NULL, "Cores that running jobs hold.", used.cores);
    put_gauge(out, "gpus", NULL, "GPUs of the machine.", all.gpus);
    put_gauge(out, "gpus_used", NULL, "GPUs that running jobs hold.", used.gpus);
    if (all.gpu_memory > 0) {
        put_gauge(out, "gpu_memory_bytes", "bytes", "Memory of the machine's GPUs.",
                  all.gpu_memory * s->size.gpu_memory_unit);
        put_gauge(out, "gpu_memory_used_bytes", "bytes",
                  "Memory of GPUs of which running jobs hold parts.",
                  used.gpu_memory * s->size.gpu_memory_unit);
    }
    put_gauge(out, "memory_bytes", "bytes", "Memory of the machine.",
              all.memory * s->size.memory_unit);
}

/* ---- Queues ---- */

static uint64_t pending(const struct sched_queue_stats *q)
{
    return q->now[SCHED_WAITING] + q->now[SCHED_RESERVED] + q->now[SCHED_BLOCKED];
}

static uint64_t reserved(const struct sched_queue_stats *q)
{
    return q->now[SCHED_RESERVED];
}

static uint64_t running(const struct sched_queue_stats *q)
{
    return q->now[SCHED_RUNNING];
}

static uint64_t enabled(const struct sched_queue_stats *q)
{
    return q->enabled;
}

static uint64_t started_up(const struct sched_queue_stats *q)
{
    return q->started_up;
}

static uint64_t submitted(const struct sched_queue_stats *q)
{
    return q->submitted;
}

static uint64_t started_of_queue(const struct sched_queue_stats *q)
{
    return q->started;
}

static uint64_t finished(const struct sched_queue_stats *q)
{
    return q->finished;
}

static uint64_t cancelled(const struct sched_queue_stats *q)
{
    return q->cancelled;
}

static uint64_t rejected(const struct sched_queue_stats *q)
{
    return q->rejected;
}

static uint64_t preempted(const struct sched_queue_stats *q)
{
    return q->preempted;
}

static const struct queue_family {
    const char *name;
    bool counts; /* a counter, else a gauge */
    const char *help;
    uint64_t (*value)(const struct sched_queue_stats *q);
} queue_families[] = {
    {"queue_pending", false, "Members of jobs of the queue that wait.", pending},
    {"queue_reserved", false, "Those that hold a reservation.", reserved},
    {"queue_running", false, "Members that run.", running},
    {"queue_enabled", false, "1 if the queue takes jobs.", enabled},
    {"queue_started", false, "1 if jobs of the queue start.", started_up},
    {"queue_submissions", true, "Members submitted, or restored from the store.", submitted},
    {"queue_starts", true, "Members started.", started_of_queue},
    {"queue_ends", true, "Members that have run and ended.", finished},
    {"queue_cancellations", true, "Members cancelled.", cancelled},
    {"queue_rejections", true, "Members that can never start.", rejected},
    {"queue_preemptions", true, "Members stopped for others.", preempted},
};

static int put_queues(const server_t *s, struct strbuf *out)
{
    const struct sched_config *sched = &s->config->sched;
    struct sched_queue_stats *stats = calloc(sched->n_queues + 1, sizeof(*stats));
    if (!stats)
        return -1;
    for (size_t q = 0; q < sched->n_queues; q++)
        sched_queue_stats(s->sched, sched->queues[q].name, &stats[q]);
    for (size_t f = 0; f < sizeof(queue_families) / sizeof(*queue_families); f++) {
        const struct queue_family *family = &queue_families[f];
        put_family(out, family->name, family->counts ? "counter" : "gauge", NULL, family->help);
        for (size_t q = 0; q < sched->n_queues; q++) {
            put_metric_name(out, family->name, family->counts ? "_total" : "");
            put_label(out, '{', "queue", sched->queues[q].name);
            strbuf_putc(out, '}');
            put_metric_value(out, family->value(&stats[q]));
        }
    }
    free(stats);
    return 0;
}

/* ---- What it costs ---- */

static void put_costs(const server_t *s, struct strbuf *out)
{
    put_family(out, "pass_seconds", "summary", "seconds", "Passes, and how long they took.");
    put_metric_name(out, "pass_seconds", "_count");
    put_metric_value(out, s->pass.ended);
    put_metric_name(out, "pass_seconds", "_sum");
    put_seconds(out, s->pass.spent);
    put_family(out, "commits", "counter", NULL, "Commits to the store.");
    put_metric_name(out, "commits", "_total");
    put_metric_value(out, s->unsaved.n_commits);
}

void api_metrics_get(struct call *c)
{
    put_server(c->s, c->out);
    put_members_by_state(c->s, c->out);
    put_machine(c->s, c->out);
    if (put_queues(c->s, c->out) < 0) {
        api_no_memory(c->reply);
        return;
    }
    put_costs(c->s, c->out);
    strbuf_puts(c->out, "# EOF\n");
    c->reply->type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
}
