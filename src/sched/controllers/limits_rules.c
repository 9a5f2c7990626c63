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

int limits_make_rules(struct limits *limits, struct rules *rules, const struct sched_limit *list,
                      size_t n)
{
    return make_rules(limits, rules, list, n, NULL, 0);
}

/* The exceptions of a queue, its parent's if it has none itself. */
static const struct sched_queue_config *excepting(const struct limits *limits, uint32_t queue)
{
    const struct setup_queue *q = &limits->setup->queue[queue];
    return q->config->has_parents_exceptions ? limits->setup->queue[q->parent].config : q->config;
}

static bool is_limited_in(const struct sched_limit *list, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].what, what) == 0)
            return true;
    return false;
}

/* Whether a queue limits itself, in its limits or an exception of its own, what a user under some of its
 * terms may have of something. Else its parent does.
 */
static bool queue_limits_itself(const struct limits *limits, uint32_t queue, size_t terms,
                                const char *what)
{
    const struct setup_queue *q = &limits->setup->queue[queue];
    const struct sched_queue_config *c = q->config;
    if (q->parent == queue || is_limited_in(c->limits.user, c->limits.n_user, what))
        return true;
    if (terms == 0 || c->has_parents_exceptions)
        return false;
    const struct sched_limits *other = &c->exceptions[terms - 1].limits;
    return is_limited_in(other->user, other->n_user, what);
}

/* Of a virtual queue: keep what it limits itself. */
static void keep_own(const struct limits *limits, uint32_t queue, size_t terms, struct rules *rules)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rules->n; i++)
        if (queue_limits_itself(limits, queue, terms, intern_text(&limits->what, rules->v[i].what)))
            rules->v[kept++] = rules->v[i];
    rules->n = kept;
}

static int make_terms(struct limits *limits, uint32_t queue, size_t i, struct terms *terms)
{
    static const struct sched_limits nothing;
    const struct sched_limits *own = &limits->setup->queue[queue].config->limits;
    const struct sched_limits *other =
        i > 0 ? &excepting(limits, queue)->exceptions[i - 1].limits : &nothing;
    terms->above = NULL;
    if (make_rules(limits, &terms->job, own->job, own->n_job, other->job, other->n_job) < 0 ||
        make_rules(limits, &terms->user, own->user, own->n_user, other->user, other->n_user) < 0)
        return -1;
    keep_own(limits, queue, i, &terms->user);
    return 0;
}

static int make_line(struct limits *limits, uint32_t queue)
{
    const struct sched_queue_config *c = limits->setup->queue[queue].config;
    struct line *line = &limits->line[queue];
    line->n_terms = excepting(limits, queue)->n_exceptions + 1;
    line->terms = arena_alloc(&limits->arena, line->n_terms * sizeof(*line->terms));
    if (!line->terms || make_rules(limits, &line->rules, c->limits.queue, c->limits.n_queue,
                                   c->share.capability, c->share.n_capability) < 0)
        return -1;
    for (size_t i = 0; i < line->n_terms; i++)
        if (make_terms(limits, queue, i, &line->terms[i]) < 0)
            return -1;
    return 0;
}

void limits_name(struct whats *whats, const struct rules *rules)
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
    line->of_user.v = arena_alloc(&limits->arena, limits->what.n * sizeof(*line->of_user.v));
    line->of_queue.v = arena_alloc(&limits->arena, limits->what.n * sizeof(*line->of_queue.v));
    if (!line->of_user.v || !line->of_queue.v)
        return -1;
    for (size_t i = 0; i < line->n_terms; i++)
        limits_name(&line->of_user, &line->terms[i].user);
    limits_name(&line->of_queue, &line->rules);
    return 0;
}

static int make_above(struct limits *limits, uint32_t queue, uint32_t terms, struct above *above)
{
    const struct line *parent = &limits->line[limits->setup->queue[queue].parent];
    const struct rules *rules = &parent->terms[above->terms].user;
    above->rules.v = arena_alloc(&limits->arena, (rules->n + 1) * sizeof(*above->rules.v));
    above->whats.v = arena_alloc(&limits->arena, (parent->of_user.n + 1) * sizeof(*above->whats.v));
    if (!above->rules.v || !above->whats.v)
        return -1;
    for (uint32_t i = 0; i < rules->n; i++)
        if (!queue_limits_itself(limits, queue, terms,
                                 intern_text(&limits->what, rules->v[i].what)))
            above->rules.v[above->rules.n++] = rules->v[i];
    for (uint32_t i = 0; i < parent->of_user.n; i++)
        if (!queue_limits_itself(limits, queue, terms,
                                 intern_text(&limits->what, parent->of_user.v[i])))
            above->whats.v[above->whats.n++] = parent->of_user.v[i];
    above->has_pending = !queue_limits_itself(limits, queue, terms, "pending");
    return 0;
}

const struct above *limits_above(struct limits *limits, uint32_t queue, uint32_t terms,
                                 uint32_t of_parent)
{
    struct terms *of = &limits->line[queue].terms[terms];
    for (const struct above *a = of->above; a; a = a->next)
        if (a->terms == of_parent)
            return a;
    struct above *above = arena_alloc(&limits->arena, sizeof(*above));
    if (!above)
        return NULL;
    *above = (struct above){.next = of->above, .terms = of_parent};
    if (make_above(limits, queue, terms, above) < 0)
        return NULL;
    of->above = above;
    return above;
}

bool limits_has_types(const struct whats *whats)
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
    if (limits_make_divisions(limits) < 0 || limits_make_accounts(limits) < 0)
        return -1;
    if (!intern_find(&limits->what, "node", strlen("node"), &limits->node))
        limits->node = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++)
        if (name_all(limits, i) < 0)
            return -1;
    for (uint32_t i = 0; i < n; i++) {
        struct line *line = &limits->line[i];
        const struct line *parent = &limits->line[limits->setup->queue[i].parent];
        line->is_measured = limits_has_types(&line->of_user) || limits_has_types(&line->of_queue) ||
                            limits_has_types(&parent->of_user) ||
                            limits_has_types(&parent->of_queue) || parent->n_divisions > 0 ||
                            limits->are_accounts_measured;
    }
    return 0;
}
