/* Rules: what the limits of each queue and its exceptions come to. */
#include <stdlib.h>
#include <string.h>

#include "berth/sched_config.h"
#include "sched/controllers/limits_priv.h"

static void set_rule(struct rules *rules, uint32_t what, int64_t most)
{
    for (uint32_t i = 0; i < rules->n; i++)
        if (rules->v[i].what == what) {
            rules->v[i].most = most;
            return;
        }
    rules->v[rules->n++] = (struct rule){what, most};
}

static int set_rules(struct limits *limits, struct rules *rules, const struct sched_limit *list,
                     size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t what;
        if (intern_put(&limits->what, list[i].what, strlen(list[i].what), &what) < 0)
            return -1;
        set_rule(rules, what, list[i].most);
    }
    return 0;
}

/* The rules of a list, and of a second one that is stronger. */
static int make_rules(struct limits *limits, struct rules *rules, const struct sched_limit *list,
                      size_t n, const struct sched_limit *stronger, size_t n_stronger)
{
    rules->n = 0;
    rules->v = arena_alloc(&limits->arena, (n + n_stronger + 1) * sizeof(*rules->v));
    if (!rules->v || set_rules(limits, rules, list, n) < 0 ||
        set_rules(limits, rules, stronger, n_stronger) < 0)
        return -1;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rules->n; i++)
        if (rules->v[i].most < SCHED_UNLIMITED)
            rules->v[kept++] = rules->v[i];
    rules->n = kept;
    return 0;
}

static int make_line(struct limits *limits, uint32_t queue)
{
    const struct sched_queue_config *c = limits->setup->queue[queue].config;
    struct line *line = &limits->line[queue];
    line->terms = arena_alloc(&limits->arena, (c->n_exceptions + 1) * sizeof(*line->terms));
    if (!line->terms ||
        make_rules(limits, &line->rules, c->limits.queue, c->limits.n_queue, NULL, 0))
        return -1;
    for (size_t i = 0; i <= c->n_exceptions; i++) {
        static const struct sched_limits nothing;
        const struct sched_limits *own = &c->limits;
        const struct sched_limits *other = i > 0 ? &c->exceptions[i - 1].limits : &nothing;
        struct terms *terms = &line->terms[i];
        if (make_rules(limits, &terms->job, own->job, own->n_job, other->job, other->n_job) < 0 ||
            make_rules(limits, &terms->user, own->user, own->n_user, other->user, other->n_user))
            return -1;
    }
    return 0;
}

static void name(struct whats *whats, const struct rules *rules)
{
    for (uint32_t i = 0; i < rules->n; i++) {
        uint32_t k = 0;
        if (rules->v[i].what != RUNNING && rules->v[i].what < RESOURCE)
            continue;
        while (k < whats->n && whats->v[k] != rules->v[i].what)
            k++;
        whats->v[k] = rules->v[i].what;
        whats->n += k == whats->n;
    }
}

/* What calendars there are to be. */
static int name_all(struct limits *limits, uint32_t queue)
{
    struct line *line = &limits->line[queue];
    size_t n = limits->setup->queue[queue].config->n_exceptions + 1;
    line->of_user.v = arena_alloc(&limits->arena, limits->what.n * sizeof(*line->of_user.v));
    line->of_queue.v = arena_alloc(&limits->arena, limits->what.n * sizeof(*line->of_queue.v));
    if (!line->of_user.v || !line->of_queue.v)
        return -1;
    for (size_t i = 0; i < n; i++)
        name(&line->of_user, &line->terms[i].user);
    name(&line->of_queue, &line->rules);
    return 0;
}

static bool has_types(const struct whats *whats)
{
    for (uint32_t i = 0; i < whats->n; i++)
        if (whats->v[i] >= RESOURCE)
            return true;
    return false;
}

int limits_make_lines(struct limits *limits)
{
    static const char *const known[] = {"running", "pending", "duration"};
    uint32_t n = limits->setup->n_queues;
    uint32_t what;
    for (size_t i = 0; i < RESOURCE; i++)
        if (intern_put(&limits->what, known[i], strlen(known[i]), &what) < 0)
            return -1;
    limits->line = calloc(n, sizeof(*limits->line));
    if (!limits->line)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (make_line(limits, i) < 0)
            return -1;
    for (uint32_t i = 0; i < n; i++)
        if (name_all(limits, i) < 0)
            return -1;
    for (uint32_t i = 0; i < n; i++) {
        struct line *line = &limits->line[i];
        const struct line *parent = &limits->line[limits->setup->queue[i].parent];
        line->is_measured =
            has_types(&line->of_user) || has_types(&line->of_queue) || has_types(&parent->of_queue);
    }
    return 0;
}
