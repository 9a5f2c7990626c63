/* A configuration as YAML. */
#include <string.h>

#include "base/strbuf.h"
#include "berth/sched_config.h"
#include "config/config.h"
#include "config/read.h"

struct showing {
    struct strbuf text;
    int64_t second;
};

/* Whether YAML reads a text as itself without quotes, in lists too. */
static bool is_bare(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "0123456789_-./+";
    static const char *const nulls[] = {"null", "Null", "NULL"};

    if (!*text || !strchr(letters, *text))
        return false;
    for (size_t i = 0; i < sizeof(nulls) / sizeof(*nulls); i++)
        if (strcmp(text, nulls[i]) == 0)
            return false;
    for (const char *c = text; *c; c++)
        if (!strchr(letters, *c) && !strchr(others, *c))
            return false;
    return true;
}

static void put_value_text(struct showing *s, const char *text)
{
    if (is_bare(text))
        strbuf_puts(&s->text, text);
    else
        quote(&s->text, text, strlen(text));
}

/* Write the indentation of a level, and a key. */
static void put_key_at_level(struct showing *s, unsigned level, const char *key)
{
    strbuf_fill(&s->text, ' ', (size_t)2 * level);
    put_value_text(s, key);
    strbuf_puts(&s->text, ":");
}

static void line(struct showing *s, unsigned level, const char *key, const char *value)
{
    put_key_at_level(s, level, key);
    strbuf_putc(&s->text, ' ');
    put_value_text(s, value);
    strbuf_putc(&s->text, '\n');
}

static void put_number_or_unlimited(struct showing *s, int64_t number)
{
    if (number == SCHED_UNLIMITED)
        strbuf_puts(&s->text, "unlimited");
    else
        strbuf_put_int(&s->text, number);
}

static void line_number(struct showing *s, unsigned level, const char *key, int64_t number)
{
    put_key_at_level(s, level, key);
    strbuf_putc(&s->text, ' ');
    put_number_or_unlimited(s, number);
    strbuf_putc(&s->text, '\n');
}

/* Depths: 0 is unlimited. */
static void line_depth(struct showing *s, const char *key, int64_t depth)
{
    line_number(s, 2, key, depth == 0 ? SCHED_UNLIMITED : depth);
}

/* Seconds, rounded down so that reading them gives the same ticks. */
static void put_ticks(struct showing *s, int64_t ticks)
{
    if (ticks == SCHED_UNLIMITED) {
        put_number_or_unlimited(s, ticks);
        return;
    }
    int64_t micro = ticks % s->second * 1000000 / s->second;
    strbuf_put_int(&s->text, ticks / s->second);
    if (micro == 0)
        return;
    strbuf_putc(&s->text, '.');
    for (int64_t unit = 100000; micro > 0; unit /= 10) {
        strbuf_putc(&s->text, (char)('0' + micro / unit));
        micro %= unit;
    }
}

static void line_time(struct showing *s, unsigned level, const char *key, int64_t ticks)
{
    put_key_at_level(s, level, key);
    strbuf_putc(&s->text, ' ');
    put_ticks(s, ticks);
    strbuf_putc(&s->text, '\n');
}

/* A time, or the word for SCHED_UNLIMITED. */
static void line_time_or(struct showing *s, unsigned level, const char *key, int64_t ticks,
                         const char *word)
{
    if (ticks == SCHED_UNLIMITED)
        line(s, level, key, word);
    else
        line_time(s, level, key, ticks);
}

static void put_name_list(struct showing *s, const char *key, const char *const *names, size_t n)
{
    strbuf_puts(&s->text, key);
    strbuf_puts(&s->text, ": [");
    for (size_t i = 0; i < n; i++) {
        strbuf_puts(&s->text, i ? ", " : "");
        put_value_text(s, names[i]);
    }
    strbuf_putc(&s->text, ']');
}

static void line_names(struct showing *s, unsigned level, const char *key, const char *const *names,
                       size_t n)
{
    strbuf_fill(&s->text, ' ', (size_t)2 * level);
    put_name_list(s, key, names, n);
    strbuf_putc(&s->text, '\n');
}

static void show_licenses(struct showing *s, const struct config *c)
{
    strbuf_puts(&s->text, c->n_licenses ? "licenses:\n" : "licenses: {}\n");
    for (size_t i = 0; i < c->n_licenses; i++)
        line_number(s, 1, c->licenses[i].name, c->licenses[i].count);
}

static void show_slurm(struct showing *s, const struct config_slurm *slurm)
{
    if (!slurm->partition && !slurm->options) {
        line(s, 0, "engine", "slurm");
        return;
    }
    strbuf_puts(&s->text, "engine:\n  slurm:\n");
    if (slurm->partition)
        line(s, 2, "partition", slurm->partition);
    if (slurm->options)
        line(s, 2, "options", slurm->options);
}

static void show_machine(struct showing *s, const struct config *c)
{
    const struct config_resources *r = &c->resources;

    if (r->source == CONFIG_SLURM) {
        show_slurm(s, &c->slurm);
    } else if (r->source == CONFIG_LOCAL) {
        line(s, 0, "resources", "local");
    } else if (r->source == CONFIG_FILE) {
        strbuf_puts(&s->text, "resources:\n");
        line(s, 1, "file", r->file);
        line(s, 1, "format", r->format);
    } else {
        strbuf_puts(&s->text, "resources:\n");
        line_number(s, 1, "nodes", r->nodes);
        line_number(s, 1, "cores", r->cores);
        line_number(s, 1, "gpus", r->gpus);
        line_number(s, 1, "memory", r->memory);
        if (r->gpu_memory > 0)
            line_number(s, 1, "gpu-memory", r->gpu_memory);
    }
    show_licenses(s, c);
    strbuf_puts(&s->text, "match:\n");
    line(s, 1, "policy", c->match.policy);
    line(s, 1, "traverser", c->match.traverser);
    line(s, 1, "filters", c->match.filters);
    line(s, 1, "subsystems", c->match.matcher);
    line(s, 1, "format", c->match_format);
}

static void show_users(struct showing *s, const struct config *c)
{
    strbuf_puts(&s->text, c->n_users ? "users:\n" : "users: {}\n");
    for (size_t i = 0; i < c->n_users; i++) {
        strbuf_puts(&s->text, "  ");
        put_value_text(s, c->users[i].name);
        put_name_list(s, "", c->users[i].groups, c->users[i].n_groups);
        strbuf_putc(&s->text, '\n');
    }
}

static void put_limit_map(struct showing *s, const char *key, const struct sched_limit *limits,
                          size_t n)
{
    strbuf_puts(&s->text, key);
    strbuf_puts(&s->text, ": {");
    for (size_t i = 0; i < n; i++) {
        strbuf_puts(&s->text, i ? ", " : "");
        put_value_text(s, limits[i].what);
        strbuf_puts(&s->text, ": ");
        if (strcmp(limits[i].what, "duration") == 0)
            put_ticks(s, limits[i].most);
        else
            put_number_or_unlimited(s, limits[i].most);
    }
    strbuf_putc(&s->text, '}');
}

static void show_limits(struct showing *s, const struct sched_queue_config *q)
{
    strbuf_puts(&s->text, "    limits:\n      ");
    put_limit_map(s, "job", q->limits.job, q->limits.n_job);
    strbuf_puts(&s->text, "\n      ");
    put_limit_map(s, "user", q->limits.user, q->limits.n_user);
    strbuf_puts(&s->text, "\n      ");
    put_limit_map(s, "queue", q->limits.queue, q->limits.n_queue);
    if (q->has_parents_exceptions) {
        strbuf_putc(&s->text, '\n');
        return;
    }
    strbuf_puts(&s->text, q->n_exceptions ? "\n      except:\n" : "\n      except: []\n");
    for (size_t i = 0; i < q->n_exceptions; i++) {
        const struct sched_exception *e = &q->exceptions[i];
        strbuf_puts(&s->text, "        - {");
        put_name_list(s, "users", e->users, e->n_users);
        strbuf_puts(&s->text, ", ");
        put_name_list(s, "groups", e->groups, e->n_groups);
        strbuf_puts(&s->text, ", ");
        put_limit_map(s, "job", e->limits.job, e->limits.n_job);
        strbuf_puts(&s->text, ", ");
        put_limit_map(s, "user", e->limits.user, e->limits.n_user);
        strbuf_puts(&s->text, "}\n");
    }
}

/* The keys that a virtual queue can't have. */
static void show_own(struct showing *s, const struct sched_queue_config *q)
{
    static const char *const preemptible[] = {[SCHED_NOT_PREEMPTIBLE] = "no",
                                              [SCHED_PREEMPT_CANCEL] = "cancel",
                                              [SCHED_PREEMPT_REQUEUE] = "requeue"};

    const struct sched_policy *policy = sched_policy_find(q->policy);

    line(s, 2, "policy", q->policy);
    line_depth(s, "queue-depth", q->queue_depth);
    line_depth(s, "max-queue-depth", q->max_queue_depth);
    if (policy_takes_depth(policy))
        line_number(s, 2, "reservation-depth", q->reservation_depth);
    if (policy_takes_bound(policy))
        line_depth(s, "max-reservation-depth", q->max_reservation_depth);
    strbuf_puts(&s->text, "    requires: ");
    strbuf_puts(&s->text, q->requires ? q->requires : "{}");
    strbuf_putc(&s->text, '\n');
    line(s, 2, "preemptible", preemptible[q->preemptible]);
}

static void show_order(struct showing *s, unsigned level, const struct sched_share_order *order)
{
    if (order->n == 0)
        return;
    strbuf_fill(&s->text, ' ', (size_t)2 * level);
    strbuf_puts(&s->text, "order: [");
    for (size_t i = 0; i < order->n; i++) {
        strbuf_puts(&s->text, i ? ", " : "");
        strbuf_puts(&s->text, sched_comparator_name(order->by[i]));
    }
    strbuf_puts(&s->text, "]\n");
}

static void line_amounts(struct showing *s, unsigned level, const char *key,
                         const struct sched_limit *amounts, size_t n)
{
    if (n == 0)
        return;
    strbuf_fill(&s->text, ' ', (size_t)2 * level);
    put_limit_map(s, key, amounts, n);
    strbuf_putc(&s->text, '\n');
}

/* Only what is said: a queue of which nothing is has no share. */
static void show_share(struct showing *s, unsigned level, const struct sched_share *share)
{
    if (share->under)
        line(s, level, "under", share->under);
    if (share->weight > 0)
        line_number(s, level, "weight", share->weight);
    line_amounts(s, level, "guarantee", share->guarantee, share->n_guarantee);
    line_amounts(s, level, "deserved", share->deserved, share->n_deserved);
    line_amounts(s, level, "capability", share->capability, share->n_capability);
}

static void show_weights(struct showing *s, unsigned level, const struct sched_weight *weights,
                         size_t n)
{
    if (n == 0)
        return;
    strbuf_fill(&s->text, ' ', (size_t)2 * level);
    for (size_t i = 0; i < n; i++) {
        strbuf_puts(&s->text, i ? ", " : "weights: {");
        put_value_text(s, weights[i].name);
        strbuf_puts(&s->text, ": ");
        put_number_or_unlimited(s, weights[i].weight);
    }
    strbuf_puts(&s->text, "}\n");
}

static void show_classes(struct showing *s, const struct sched_classes *c)
{
    strbuf_puts(&s->text, "      classes:\n        percent: {");
    for (size_t i = 0; i < c->n; i++) {
        strbuf_puts(&s->text, i ? ", " : "");
        put_value_text(s, c->classes[i].name);
        strbuf_puts(&s->text, ": ");
        put_number_or_unlimited(s, c->classes[i].percent);
    }
    strbuf_puts(&s->text, "}\n");
    for (size_t i = 0; i < c->n_patterns; i++) {
        strbuf_puts(&s->text, i ? "" : "        patterns:\n");
        strbuf_puts(&s->text, "          - {match: ");
        put_value_text(s, c->patterns[i].pattern);
        strbuf_puts(&s->text, ", class: ");
        put_value_text(s, c->patterns[i].name);
        strbuf_puts(&s->text, "}\n");
    }
    if (c->default_class)
        line(s, 4, "default", c->default_class);
    line_amounts(s, 4, "worker", c->worker, c->n_worker);
    if (c->longest_first)
        line(s, 4, "longest-first", "yes");
    if (c->rebalance_threshold == 0 && c->rebalance_duration == 0)
        return;
    strbuf_puts(&s->text, "        rebalance:\n");
    line_number(s, 5, "threshold", c->rebalance_threshold);
    line_time_or(s, 5, "after", c->rebalance_duration, "unlimited");
}

static void show_queue_shares(struct showing *s, const struct sched_queue_config *q)
{
    static const char *const by[] = {
        [SCHED_SHARE_USER] = "user",
        [SCHED_SHARE_ACCOUNT] = "account",
        [SCHED_SHARE_CLASS] = "class",
    };
    const struct sched_share *share = &q->share;
    if (q->by == SCHED_SHARE_NONE && q->order.n == 0 && !share->under && share->weight == 0 &&
        share->n_guarantee + share->n_deserved + share->n_capability == 0)
        return;
    strbuf_puts(&s->text, "    shares:\n");
    show_share(s, 3, share);
    if (q->by != SCHED_SHARE_NONE)
        line(s, 3, "by", by[q->by]);
    show_order(s, 3, &q->order);
    show_weights(s, 3, q->weights, q->n_weights);
    if (q->by == SCHED_SHARE_CLASS)
        show_classes(s, &q->classes);
}

static void show_shares(struct showing *s, const struct sched_shares *shares)
{
    bool is_said =
        shares->n_resources + shares->order.n + shares->n_divisions > 0 || shares->half_life != 0;
    strbuf_puts(&s->text, is_said ? "shares:\n" : "");
    if (shares->n_resources > 0)
        line_names(s, 1, "resources", shares->resources, shares->n_resources);
    if (shares->half_life != 0)
        line_time_or(s, 1, "half-life", shares->half_life, "unlimited");
    show_order(s, 1, &shares->order);
    strbuf_puts(&s->text, shares->n_divisions ? "  divisions:\n" : "");
    for (size_t i = 0; i < shares->n_divisions; i++) {
        const struct sched_division *division = &shares->divisions[i];
        put_key_at_level(s, 2, division->name);
        strbuf_putc(&s->text, '\n');
        show_share(s, 3, &division->share);
        show_order(s, 3, &division->order);
    }
}

static void show_accounts(struct showing *s, const struct sched_config *sched)
{
    strbuf_puts(&s->text, sched->n_accounts ? "accounts:\n" : "");
    for (size_t i = 0; i < sched->n_accounts; i++) {
        const struct sched_account *a = &sched->accounts[i];
        put_key_at_level(s, 1, a->name);
        strbuf_putc(&s->text, '\n');
        if (a->under)
            line(s, 2, "under", a->under);
        line_number(s, 2, "weight", a->weight);
        line_names(s, 2, "users", a->users, a->n_users);
        show_weights(s, 2, a->weights, a->n_weights);
        if (a->n_default_for > 0)
            line_names(s, 2, "default-for", a->default_for, a->n_default_for);
        line_amounts(s, 2, "limits", a->limits, a->n_limits);
    }
}

static void show_queue(struct showing *s, const struct sched_queue_config *q)
{
    put_key_at_level(s, 1, q->name);
    strbuf_putc(&s->text, '\n');
    if (q->parent) {
        line(s, 2, "parent", q->parent);
    } else {
        show_own(s, q);
        show_queue_shares(s, q);
    }
    line_number(s, 2, "priority", q->priority);
    line_names(s, 2, "users", q->users, q->n_users);
    line_names(s, 2, "groups", q->groups, q->n_groups);
    line_time_or(s, 2, "default-duration", q->default_duration, "unknown");
    line_time_or(s, 2, "default-limit", q->default_limit, "unlimited");
    line_time_or(s, 2, "starvation-threshold", q->starvation_threshold, "none");
    line_number(s, 2, "claims", q->claims);
    line(s, 2, "claims-admit", config_claims_admit[q->claims_admit_unknown]);
    line(s, 2, "preempts", config_preempts[config_preempts_word(q->preempts)]);
    line(s, 2, "keeps-gangs", q->keeps_gangs ? "yes" : "no");
    line_time_or(s, 2, "sla-waiting-time", q->sla_waiting_time, "none");
    show_limits(s, q);
}

static void show_block(struct showing *s, const struct sched_block *b)
{
    strbuf_puts(&s->text, "  - ");
    line(s, 0, "name", b->name);
    line(s, 2, "resources", b->resources);
    line_time(s, 2, "start", b->start);
    line_time(s, 2, "duration", b->duration);
    line_time(s, 2, "every", b->every);
    strbuf_puts(&s->text, "    for: {");
    put_name_list(s, "users", b->users, b->n_users);
    strbuf_puts(&s->text, ", ");
    put_name_list(s, "queues", b->queues, b->n_queues);
    strbuf_puts(&s->text, ", ");
    put_name_list(s, "jobs", b->jobs, b->n_jobs);
    strbuf_puts(&s->text, "}\n");
}

/* A mapping from the numbers of a trace, to names or to JSON. */
static void show_numbers(struct showing *s, const char *key, const struct config_name *names,
                         size_t n, bool json)
{
    strbuf_puts(&s->text, "  ");
    strbuf_puts(&s->text, key);
    strbuf_puts(&s->text, n ? ":\n" : ": {}\n");
    for (size_t i = 0; i < n; i++) {
        strbuf_puts(&s->text, "    ");
        strbuf_put_int(&s->text, names[i].number);
        strbuf_puts(&s->text, ": ");
        if (json)
            strbuf_puts(&s->text, names[i].name);
        else
            put_value_text(s, names[i].name);
        strbuf_putc(&s->text, '\n');
    }
}

static void show_trace(struct showing *s, const struct config_trace *t)
{
    strbuf_puts(&s->text, "trace:\n");
    line(s, 1, "processor", t->processor);
    show_numbers(s, "queues", t->queues, t->n_queues, false);
    show_numbers(s, "users", t->users, t->n_users, false);
    show_numbers(s, "groups", t->groups, t->n_groups, false);
    show_numbers(s, "partitions", t->partitions, t->n_partitions, true);
}

static void show_server(struct showing *s, const struct config_server *server)
{
    strbuf_puts(&s->text, "server:\n");
    line_names(s, 1, "administrators", server->administrators, server->n_administrators);
    line_time(s, 1, "retention", server->retention);
    line_time(s, 1, "grace", server->grace);
    line_number(s, 1, "max-jobs-per-user", server->max_jobs_per_user);
    line_number(s, 1, "max-stored-per-user", server->max_stored_per_user);
    line_number(s, 1, "requests-per-second", server->requests_per_second);
    line_number(s, 1, "tasks-per-core", server->tasks_per_core);
    if (server->processes_per_core != 0)
        line_number(s, 1, "processes-per-core", server->processes_per_core);
    if (server->imagined)
        line(s, 1, "imagined", "yes");
    if (server->prologue)
        line(s, 1, "prologue", server->prologue);
    if (server->epilogue)
        line(s, 1, "epilogue", server->epilogue);
    if (server->prologue || server->epilogue)
        line_time(s, 1, "hook-limit", server->hook_limit);
}

static void show_actions(struct showing *s, const struct sched_config *sched)
{
    strbuf_puts(&s->text, sched->n_actions ? "actions: [" : "actions: together\n");
    for (size_t i = 0; i < sched->n_actions; i++) {
        strbuf_puts(&s->text, i > 0 ? ", " : "");
        strbuf_puts(&s->text, config_actions[sched->actions[i]]);
    }
    strbuf_puts(&s->text, sched->n_actions ? "]\n" : "");
}

/* Only where there are such. */
static void show_pilots(struct showing *s, const struct config_pilots *p)
{
    const struct pilot_rule *rule = &p->rule;
    if (rule->max_nodes == 0)
        return;
    strbuf_puts(&s->text, "pilots:\n");
    line_number(s, 1, "max-nodes", rule->max_nodes);
    line_time(s, 1, "time", rule->time);
    line_number(s, 1, "backlog", rule->backlog);
    line_time(s, 1, "idle", rule->idle);
    line_number(s, 1, "budget",
                rule->budget == INT64_MAX ? SCHED_UNLIMITED : rule->budget / (3600 * s->second));
    if (p->wait > 0)
        line_time(s, 1, "wait", p->wait);
    if (p->partition)
        line(s, 1, "partition", p->partition);
    if (p->options)
        line(s, 1, "options", p->options);
    if (rule->node[PILOT_CORES] > 0) {
        strbuf_puts(&s->text, "  node:\n");
        line_number(s, 2, "cores", rule->node[PILOT_CORES]);
        line_number(s, 2, "gpus", rule->node[PILOT_GPUS]);
        if (rule->node[PILOT_MEMORY] > 0)
            line_number(s, 2, "memory", rule->node[PILOT_MEMORY]);
    }
}

char *config_show(const struct config *c, int64_t second)
{
    struct showing s = {.second = second};
    const struct sched_config *sched = &c->sched;

    show_machine(&s, c);
    if (sched->default_queue)
        line(&s, 0, "default-queue", sched->default_queue);
    line_time_or(&s, 0, "default-duration", sched->default_duration, "unknown");
    line_time_or(&s, 0, "default-limit", sched->default_limit, "unlimited");
    line_time_or(&s, 0, "starvation-threshold", sched->starvation_threshold, "none");
    line_number(&s, 0, "claims", sched->claims);
    line_time_or(&s, 0, "sla-waiting-time", sched->sla_waiting_time, "none");
    show_actions(&s, sched);
    strbuf_puts(&s.text, "passes:\n");
    line_time(&s, 1, "min-interval", sched->min_interval);
    line_number(&s, 1, "max-events", sched->max_events);
    strbuf_puts(&s.text, "bounds:\n");
    line_number(&s, 1, "ended-jobs", sched->ended_jobs);
    line_number(&s, 1, "promise-tries", c->match.tries);
    line_number(&s, 1, "what-if-holders", sched->what_if_holders);
    line_number(&s, 1, "what-if-tries", sched->what_if_tries);
    show_users(&s, c);
    show_shares(&s, &sched->shares);
    show_accounts(&s, &c->sched);
    strbuf_puts(&s.text, "queues:\n");
    for (size_t i = 0; i < sched->n_queues; i++)
        show_queue(&s, &sched->queues[i]);
    strbuf_puts(&s.text, sched->n_blocks ? "blocks:\n" : "blocks: []\n");
    for (size_t i = 0; i < sched->n_blocks; i++)
        show_block(&s, &sched->blocks[i]);
    show_trace(&s, &c->trace);
    show_server(&s, &c->server);
    show_pilots(&s, &c->pilots);
    return strbuf_steal(&s.text);
}
