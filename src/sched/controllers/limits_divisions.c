/* What divisions may have at most: a limit, in time, of all queues below each. */
#include <stdlib.h>

#include "berth/sched_config.h"
#include "sched/controllers/limits_priv.h"

/* The number that a resource of shares has among what is limited. Returns 0, or -1 with ENOMEM. */
static int put_what(struct limits *limits, uint32_t resource, uint32_t *what)
{
    const char *name = limits->setup->shares.resource[resource];
    return intern_put(&limits->what, name, strlen(name), what);
}

/* Whether a division above holds what is below to as little: then this one need not. So no two rules of one
 * queue's divisions are alike, and a limit is known by what it says.
 */
static bool is_held_above(const struct setup_shares *shares, uint32_t node, uint32_t resource)
{
    int64_t most = shares->node[node].capability[resource];
    for (node = shares->node[node].parent; node != 0; node = shares->node[node].parent)
        if (shares->node[node].capability[resource] <= most)
            return true;
    return false;
}

static int make_division(struct limits *limits, uint32_t node, struct held_division *d)
{
    const struct setup_shares *shares = &limits->setup->shares;
    d->rules.v = arena_alloc(&limits->arena, shares->n_resources * sizeof(*d->rules.v));
    d->whats.v = arena_alloc(&limits->arena, shares->n_resources * sizeof(*d->whats.v));
    if (!d->rules.v || !d->whats.v)
        return -1;
    for (uint32_t i = 0; i < shares->n_resources; i++) {
        int64_t most = shares->node[node].capability[i];
        uint32_t what;
        if (most == SCHED_UNLIMITED || is_held_above(shares, node, i))
            continue;
        if (put_what(limits, i, &what) < 0)
            return -1;
        d->rules.v[d->rules.n++] = (struct rule){what, most};
        d->whats.v[d->whats.n++] = what;
    }
    return 0;
}

/* The divisions above a queue that hold it to something. Returns 0, or -1 with ENOMEM. */
static int make_line(struct limits *limits, uint32_t queue)
{
    const struct setup_shares *shares = &limits->setup->shares;
    struct line *line = &limits->line[queue];
    uint32_t node = shares->node[shares->first_queue + queue].parent;
    if (node == SETUP_NONE || node == 0)
        return 0;
    line->division = arena_alloc(&limits->arena, SETUP_DIVISIONS_DEEP * sizeof(*line->division));
    if (!line->division)
        return -1;
    for (; node != 0; node = shares->node[node].parent)
        if (limits->division[node - 1].rules.n > 0)
            line->division[line->n_divisions++] = node - 1;
    return 0;
}

int limits_make_divisions(struct limits *limits)
{
    const struct setup_shares *shares = &limits->setup->shares;
    uint32_t n = shares->is ? shares->first_queue - 1 : 0;
    if (n == 0)
        return 0;
    limits->division = calloc(n, sizeof(*limits->division));
    if (!limits->division)
        return -1;
    limits->n_divisions = n;
    for (uint32_t i = 0; i < n; i++)
        if (make_division(limits, i + 1, &limits->division[i]) < 0)
            return -1;
    for (uint32_t i = 0; i < limits->setup->n_queues; i++)
        if (make_line(limits, i) < 0)
            return -1;
    return 0;
}
