#include "report/explain_shares.h"

#include <stdio.h>
#include <string.h>

#include "berth/sched_query.h"
#include "config/seconds.h"
#include "report/explain.h"

#define TAKEN_TOLD 4 /* of the jobs that have borrowed, by name */

struct telling {
    struct explain_of of;
    const struct sched_share_report *report;
    struct strbuf *out;
};

static const struct sched_share_node *node_at(const struct telling *t, size_t i)
{
    return &t->report->nodes[i];
}

/* ", " or " and " before the i-th of n, from 0. */
static void put_between(struct strbuf *out, size_t i, size_t n)
{
    strbuf_puts(out, i == 0 ? "" : i + 1 < n ? ", " : " and ");
}

/* "17" or "17[3]" */
static void put_id(const struct telling *t, sched_job_t handle)
{
    struct sched_annotation a;
    if (sched_annotate(t->of.sched, handle, &a) == 0)
        explain_put_id(t->out, &a);
}

/* ---- What is compared ---- */

static void put_decimals(struct strbuf *out, double value, int decimals)
{
    char text[40];
    snprintf(text, sizeof(text), "%.*f", decimals, value);
    strbuf_puts(out, text);
}

/* With as many decimals as show two digits of it: of a small usage one would show none. */
static void put_usage(struct strbuf *out, double value)
{
    int decimals = 1;
    for (double digits = value * 10; digits > 0 && digits < 10 && decimals < 6; digits *= 10)
        decimals++;
    put_decimals(out, value, decimals);
}

static void put_share_amount(const struct telling *t, size_t resource, int64_t amount)
{
    const char *type = t->report->resources[resource];
    if (strcmp(type, "memory") == 0) {
        put_decimals(t->out, (double)amount * (double)t->of.memory_unit / (1 << 30), 1);
        strbuf_putc(t->out, 'G');
    } else {
        strbuf_put_int(t->out, amount);
    }
}

static void put_share_type(const struct telling *t, size_t resource)
{
    const char *type = t->report->resources[resource];
    strbuf_puts(t->out, strcmp(type, "gpu") == 0 ? "GPU" : type);
    if (strcmp(type, "memory") != 0)
        strbuf_putc(t->out, 's');
}

/* "40 of 24 cores", or "40 of the 24 cores", of what it deserves. */
static void put_received(const struct telling *t, const struct sched_share_node *n, bool the)
{
    size_t d = n->dominant;
    put_share_amount(t, d, n->received.of[d]);
    strbuf_puts(t->out, the ? " of the " : " of ");
    put_share_amount(t, d, n->deserved.of[d]);
    strbuf_putc(t->out, ' ');
    put_share_type(t, d);
}

/* Of which resource a node has the largest part of the machine's. */
static size_t largest_part(const struct telling *t, const struct sched_share_node *n)
{
    const struct sched_share_node *all = node_at(t, 0);
    double most = -1;
    size_t d = 0;
    for (size_t i = 0; i < t->report->n_resources; i++) {
        double part = all->capability.of[i] > 0
                          ? (double)n->received.of[i] / (double)all->capability.of[i]
                          : -1;
        if (part > most) {
            most = part;
            d = i;
        }
    }
    return d;
}

/* "40 of 80 cores", or "40 of the machine's 80 cores", of the resource of which that is the largest part. */
static void put_received_part(const struct telling *t, const struct sched_share_node *n, bool the)
{
    const struct sched_share_node *all = node_at(t, 0);
    size_t d = largest_part(t, n);
    put_share_amount(t, d, n->received.of[d]);
    strbuf_puts(t->out, the ? " of the machine's " : " of ");
    put_share_amount(t, d, all->capability.of[d]);
    strbuf_putc(t->out, ' ');
    put_share_type(t, d);
}

static void put_weight(const struct telling *t, const struct sched_share_node *n)
{
    if (n->weight == 1)
        return;
    strbuf_puts(t->out, " by weight ");
    strbuf_put_int(t->out, n->weight);
}

/* Of what there is of the resources that count: " cores", or " units of cores and nodes together". */
static void put_usage_unit(const struct telling *t)
{
    const struct sched_share_node *all = node_at(t, 0);
    size_t n = 0, put = 0;
    for (size_t i = 0; i < t->report->n_resources; i++)
        n += all->capability.of[i] > 0;
    strbuf_puts(t->out, n > 1 ? " units of " : n > 0 ? " " : "");
    for (size_t i = 0; i < t->report->n_resources; i++) {
        if (all->capability.of[i] == 0)
            continue;
        put_between(t->out, put++, n);
        put_share_type(t, i);
    }
    strbuf_puts(t->out, n > 1 ? " together" : "");
}

static void put_half_life(const struct telling *t)
{
    if (t->report->half_life == SCHED_UNLIMITED) {
        strbuf_puts(t->out, " on average, with an unlimited half-life");
        return;
    }
    strbuf_puts(t->out, " on average, with a half-life of ");
    explain_span(t->out, t->report->half_life);
}

/* "deadline in 2h", "no deadline", "deadline 10m ago" */
static void put_deadline(const struct telling *t, sched_job_t first)
{
    int64_t at = sched_deadline(t->of.sched, first), left = at - t->of.now;
    if (at == SCHED_UNLIMITED) {
        strbuf_puts(t->out, "no deadline");
        return;
    }
    strbuf_puts(t->out, left >= 0 ? "deadline in " : "deadline ");
    explain_span(t->out, left >= 0 ? left : -left);
    strbuf_puts(t->out, left >= 0 ? "" : " ago");
}

static double usage_of(const struct sched_share_node *n)
{
    return (double)n->usage + (double)n->usage_part / 4294967296.0;
}

/* `own`: of what stands for the job. */
static void put_compared(const struct telling *t, int by, const struct sched_share_node *n,
                         sched_job_t first, bool own)
{
    struct sched_annotation a;
    switch (by) {
    case SCHED_BY_SHARE:
        put_received(t, n, own);
        return;
    case SCHED_BY_DRF:
        put_received_part(t, n, own);
        put_weight(t, n);
        return;
    case SCHED_BY_USAGE:
        put_usage(t->out, usage_of(n));
        if (own)
            put_usage_unit(t);
        put_weight(t, n);
        if (own)
            put_half_life(t);
        return;
    case SCHED_BY_FEWEST_RUNNING:
        strbuf_put_uint(t->out, n->n_running);
        return;
    case SCHED_BY_DEADLINE:
        put_deadline(t, first);
        return;
    case SCHED_BY_PRIORITY:
        if (sched_annotate(t->of.sched, first, &a) == 0)
            strbuf_put_int(t->out, a.priority);
        return;
    default:
        strbuf_puts(t->out, "job ");
        put_id(t, first);
        return;
    }
}

/* ---- A sentence ---- */

/* What stands before and behind what is compared of those who stand for the job. */
static const char *const own_words[SCHED_COMPARATORS][2] = {
    [SCHED_BY_PRIORITY] = {" has a first job of priority ", ""},
    [SCHED_BY_SHARE] = {" has received ", " that it deserves"},
    [SCHED_BY_DRF] = {" has received ", ""},
    [SCHED_BY_USAGE] = {" has used ", ""},
    [SCHED_BY_FEWEST_RUNNING] = {" has as many running jobs as ", ""},
    [SCHED_BY_DEADLINE] = {" has a first job with ", ""},
    [SCHED_BY_GANG] = {" has a first job whose gang has its min, ", ""},
    [SCHED_BY_AGE] = {" has waited less long, as its first job is ", ""},
    [SCHED_BY_SUBMIT] = {" came later, as its first job is ", ""},
};

static void put_own_node(const struct telling *t, const struct sched_share_turn *turn)
{
    const struct sched_share_node *own = node_at(t, turn->own);
    char kind[16];
    snprintf(kind, sizeof(kind), "%s", sched_share_kind_name(own->kind));
    kind[0] = (char)(kind[0] - 'a' + 'A');
    strbuf_putc(t->out, ' ');
    strbuf_puts(t->out, kind);
    strbuf_putc(t->out, ' ');
    strbuf_puts(t->out, own->name);
    if (turn->by < 0) {
        strbuf_puts(t->out, " equals others in all that is compared, and is known for less long");
        return;
    }
    if (turn->by == SCHED_BY_FEWEST_RUNNING) {
        strbuf_puts(t->out, " has ");
        strbuf_put_uint(t->out, own->n_running);
        strbuf_puts(t->out, own->n_running == 1 ? " running job" : " running jobs");
        return;
    }
    strbuf_puts(t->out, own_words[turn->by][0]);
    put_compared(t, turn->by, own, turn->own_job, true);
    strbuf_puts(t->out, own_words[turn->by][1]);
}

/* "3 users of queue batch go first", or by name. */
static void put_who(const struct telling *t, const struct sched_share_turn *turn)
{
    const struct sched_share_node *first = node_at(t, turn->first[0]);
    const struct sched_share_node *above = node_at(t, first->above);
    bool alike = true, named = turn->n <= SCHED_TURN_FIRST;
    for (size_t i = 1; i < turn->n && i < SCHED_TURN_FIRST; i++)
        alike = alike && node_at(t, turn->first[i])->kind == first->kind;
    if (!named) {
        strbuf_put_uint(t->out, turn->n);
        strbuf_putc(t->out, ' ');
    }
    if (alike) {
        strbuf_puts(t->out, sched_share_kind_name(first->kind));
        strbuf_puts(t->out, turn->n > 1 ? "s" : "");
    } else if (!named) {
        strbuf_puts(t->out, "others");
    }
    for (size_t i = 0; i < turn->n && named; i++) {
        put_between(t->out, i, turn->n);
        strbuf_puts(t->out, alike && i == 0 ? " " : "");
        strbuf_puts(t->out, node_at(t, turn->first[i])->name);
    }
    if (above->kind != SCHED_SHARE_OF_MACHINE) {
        strbuf_puts(t->out, " of ");
        strbuf_puts(t->out, sched_share_kind_name(above->kind));
        strbuf_putc(t->out, ' ');
        strbuf_puts(t->out, above->name);
    }
    strbuf_puts(t->out, turn->n == 1 ? " goes first" : " go first");
}

static void put_turn(const struct telling *t, const struct sched_share_turn *turn)
{
    put_own_node(t, turn);
    strbuf_puts(t->out, ": ");
    put_who(t, turn);
    if (turn->by >= 0)
        strbuf_puts(t->out, " (");
    for (size_t i = 0; i < turn->n && i < SCHED_TURN_FIRST && turn->by >= 0; i++) {
        const struct sched_share_node *n = node_at(t, turn->first[i]);
        strbuf_puts(t->out, i == 0 ? "" : ", ");
        if (turn->n > 1) {
            strbuf_puts(t->out, n->name);
            strbuf_putc(t->out, ' ');
        }
        put_compared(t, turn->by, n, turn->first_job[i], false);
    }
    if (turn->n > SCHED_TURN_FIRST && turn->by >= 0)
        strbuf_puts(t->out, ", ...");
    strbuf_puts(t->out, turn->by >= 0 ? ")." : ".");
}

/* ---- Those of its own, and those who have borrowed ---- */

static void put_own_first(const struct telling *t, const struct sched_annotation *job, bool by_user,
                          uint64_t n)
{
    if (n == 0)
        return;
    strbuf_putc(t->out, ' ');
    strbuf_put_uint(t->out, n);
    strbuf_puts(t->out, n == 1 ? " other job of " : " other jobs of ");
    strbuf_puts(t->out, by_user ? "user" : "queue");
    strbuf_putc(t->out, ' ');
    strbuf_puts(t->out, by_user ? job->user : job->queue);
    strbuf_puts(t->out, n == 1 ? " goes before it." : " go before it.");
}

static void put_borrowers(const struct telling *t, const sched_job_t *jobs, size_t n)
{
    if (n == 0)
        return;
    strbuf_puts(t->out, n == 1 ? " Its share entitles it to what job "
                               : " Its share entitles it to what jobs ");
    for (size_t i = 0; i < n && i < TAKEN_TOLD; i++) {
        put_between(t->out, i, n);
        put_id(t, jobs[i]);
    }
    if (n > TAKEN_TOLD)
        strbuf_puts(t->out, " and others");
    strbuf_puts(t->out, n == 1 ? " has borrowed and gives back when it ends."
                               : " have borrowed and give back when they end.");
}

/* ---- JSON ---- */

/* So much of a resource, memory in bytes. */
static void put_amount_json(const struct telling *t, struct json_out *json, const char *key,
                            size_t resource, int64_t amount)
{
    bool is_memory = strcmp(t->report->resources[resource], "memory") == 0;
    if (is_memory && t->of.memory_unit > 0 &&
        __builtin_mul_overflow(amount, t->of.memory_unit, &amount))
        amount = INT64_MAX;
    json_put_int(json, key, amount);
}

/* What it has received of the resource that counts, and of how much. */
static void put_part_json(const struct telling *t, struct json_out *json,
                          const struct sched_share_node *n, size_t resource, const char *of,
                          int64_t amount)
{
    json_put_text(json, "resource", t->report->resources[resource]);
    put_amount_json(t, json, "received", resource, n->received.of[resource]);
    put_amount_json(t, json, of, resource, amount);
}

static void put_job_json(struct json_out *json, const char *key, const struct sched_annotation *a)
{
    json_key(json, key);
    strbuf_putc(json->text, '"');
    explain_put_id(json->text, a);
    strbuf_putc(json->text, '"');
}

/* The numbers that put_compared says in words. */
static void put_compared_json(const struct telling *t, struct json_out *json, const char *key,
                              int by, const struct sched_share_node *n, sched_job_t first)
{
    char number[40];
    struct sched_annotation a;
    json_open(json, key, '{');
    if (by == SCHED_BY_SHARE) {
        put_part_json(t, json, n, n->dominant, "deserved", n->deserved.of[n->dominant]);
    } else if (by == SCHED_BY_DRF) {
        size_t d = largest_part(t, n);
        put_part_json(t, json, n, d, "total", node_at(t, 0)->capability.of[d]);
    } else if (by == SCHED_BY_USAGE) {
        snprintf(number, sizeof(number), "%.17g", usage_of(n));
        json_put_raw(json, "usage", number);
    } else if (by == SCHED_BY_FEWEST_RUNNING) {
        json_put_uint(json, "running", n->n_running);
    } else if (by >= 0 && sched_annotate(t->of.sched, first, &a) == 0) {
        put_job_json(json, "job", &a);
        if (by == SCHED_BY_PRIORITY)
            json_put_int(json, "priority", a.priority);
        int64_t deadline = sched_deadline(t->of.sched, first);
        if (by == SCHED_BY_DEADLINE)
            json_put_seconds(json, "deadline",
                             deadline < SCHED_UNLIMITED ? t->of.wall + deadline : -1);
    }
    if (by == SCHED_BY_DRF || by == SCHED_BY_USAGE)
        json_put_int(json, "weight", n->weight);
    json_close(json, '}');
}

static void put_turn_json(const struct telling *t, struct json_out *json,
                          const struct sched_share_turn *turn)
{
    const struct sched_share_node *own = node_at(t, turn->own);
    json_open(json, NULL, '{');
    json_put_string(json, "kind", sched_share_kind_name(own->kind));
    json_put_text(json, "own", own->name);
    json_put_string(json, "by",
                    turn->by < 0 ? NULL : sched_comparator_name((enum sched_comparator)turn->by));
    json_put_uint(json, "count", turn->n);
    json_open(json, "first", '[');
    for (size_t i = 0; i < turn->n && i < SCHED_TURN_FIRST; i++)
        json_put_text(json, NULL, node_at(t, turn->first[i])->name);
    json_close(json, ']');
    put_compared_json(t, json, "own_has", turn->by, own, turn->own_job);
    json_open(json, "first_have", '[');
    for (size_t i = 0; i < turn->n && i < SCHED_TURN_FIRST; i++)
        put_compared_json(t, json, NULL, turn->by, node_at(t, turn->first[i]), turn->first_job[i]);
    json_close(json, ']');
    json_close(json, '}');
}

/* ---- Classes ---- */

/* " is meant to have 6 workers (60%), runs on 3 and is promised 1" */
static void put_class_now(struct strbuf *out, const struct sched_class_now *c)
{
    strbuf_puts(out, " is meant to have ");
    strbuf_put_int(out, c->target);
    strbuf_puts(out, c->target == 1 ? " worker (" : " workers (");
    strbuf_put_int(out, c->percent);
    strbuf_puts(out, c->promised > 0 ? "%), runs on " : "%) and runs on ");
    strbuf_put_int(out, c->running);
    if (c->promised == 0)
        return;
    strbuf_puts(out, " and is promised ");
    strbuf_put_int(out, c->promised);
}

/* " Class c has borrowed 2 workers, class d 1." */
static void put_borrowed(struct strbuf *out, const struct sched_class_turn *turn)
{
    size_t n = 0;
    for (size_t k = 0; k < turn->n; k++) {
        int64_t borrowed = turn->classes[k].borrowed;
        if (borrowed == 0)
            continue;
        strbuf_puts(out, n == 0 ? " Class " : ", class ");
        strbuf_puts(out, turn->classes[k].name);
        strbuf_puts(out, n == 0 ? " has borrowed " : " ");
        strbuf_put_int(out, borrowed);
        if (n++ == 0)
            strbuf_puts(out, borrowed == 1 ? " worker" : " workers");
    }
    strbuf_puts(out, n > 0 ? "." : "");
}

static void put_class_json(struct json_out *json, const struct sched_class_turn *turn)
{
    json_open(json, "class", '{');
    json_put_text(json, "name", turn->own->name);
    json_put_int(json, "percent", turn->own->percent);
    json_put_int(json, "target", turn->own->target);
    json_put_int(json, "running", turn->own->running);
    json_put_int(json, "promised", turn->own->promised);
    json_put_int(json, "borrowed", turn->own->borrowed);
    json_put_text(json, "next", turn->next->name);
    json_put_uint(json, "own_first", turn->n_own);
    json_close(json, '}');
}

/* What classes keep a job waiting. Returns 0, or -1 with ENOMEM. */
static int explain_classes(sched_t *sched, sched_job_t job, struct strbuf *text,
                           struct json_out *json)
{
    struct sched_class_turn turn;
    if (sched_class_turn(sched, job, &turn) < 0)
        return -1;
    if (!turn.own)
        return 0;
    strbuf_puts(text, " Its class ");
    strbuf_puts(text, turn.own->name);
    put_class_now(text, turn.own);
    strbuf_puts(text, ". The next worker is ");
    if (turn.next == turn.own) {
        strbuf_puts(text, "of this class.");
    } else {
        strbuf_puts(text, "of class ");
        strbuf_puts(text, turn.next->name);
        strbuf_puts(text, ", which");
        put_class_now(text, turn.next);
        strbuf_putc(text, '.');
    }
    if (turn.n_own > 0) {
        strbuf_putc(text, ' ');
        strbuf_put_uint(text, turn.n_own);
        strbuf_puts(text, turn.n_own == 1 ? " other job of class " : " other jobs of class ");
        strbuf_puts(text, turn.own->name);
        strbuf_puts(text, turn.n_own == 1 ? " goes before it." : " go before it.");
    }
    put_borrowed(text, &turn);
    put_class_json(json, &turn);
    return 0;
}

int explain_shares(struct explain_of of, sched_job_t job, const sched_job_t *holders, size_t n,
                   struct strbuf *text, struct json_out *json)
{
    struct sched_share_turns turns;
    struct sched_annotation a;
    sched_job_t borrowers[16];
    size_t borrowed = 0;
    if (explain_classes(of.sched, job, text, json) < 0 ||
        sched_share_turns(of.sched, of.now, job, &turns) < 0)
        return -1;
    struct telling t = {of, &turns.report, text};
    if (turns.report.n_nodes == 0)
        return 0;
    json_open(json, "turns", '[');
    for (size_t i = 0; i < turns.n_turns; i++) {
        put_turn(&t, &turns.turns[i]);
        put_turn_json(&t, json, &turns.turns[i]);
    }
    json_close(json, ']');
    json_put_uint(json, "own_first", turns.n_own);
    if (sched_annotate(of.sched, job, &a) == 0)
        put_own_first(&t, &a, turns.is_user, turns.n_own);
    for (size_t i = 0; i < n && borrowed < 16; i++)
        if (sched_share_may_take(of.sched, job, holders[i]))
            borrowers[borrowed++] = holders[i];
    put_borrowers(&t, borrowers, borrowed);
    json_open(json, "entitled_to", '[');
    for (size_t i = 0; i < borrowed; i++)
        if (sched_annotate(of.sched, borrowers[i], &a) == 0)
            put_job_json(json, NULL, &a);
    json_close(json, ']');
    return 0;
}
