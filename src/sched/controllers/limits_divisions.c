/* What divisions may have at most: a limit, in time, of all queues below each. And accounts: of all jobs of each. */
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

static int make_division(struct limits *limits, uint32_t node, struct held *d)
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
    line->division = arena_alloc(&limits->arena, SCHED_DIVISION_LEVELS * sizeof(*line->division));
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

/* ---- Accounts ---- */

static int make_account(struct limits *limits, const struct sched_account *of, struct held *account)
{
    account->whats.v = arena_alloc(&limits->arena, (of->n_limits + 1) * sizeof(*account->whats.v));
    if (!account->whats.v ||
        limits_make_rules(limits, &account->rules, of->limits, of->n_limits) < 0)
        return -1;
    limits_name(&account->whats, &account->rules);
    limits->are_accounts_measured |= limits_has_types(&account->whats);
    return 0;
}

int limits_make_accounts(struct limits *limits)
{
    const struct sched_config *config = limits->setup->config;
    size_t limited = 0;
    for (size_t i = 0; i < config->n_accounts; i++)
        limited += config->accounts[i].n_limits > 0;
    if (limited == 0)
        return 0;
    limits->account = calloc(config->n_accounts, sizeof(*limits->account));
    if (!limits->account)
        return -1;
    for (size_t i = 0; i < config->n_accounts; i++)
        if (make_account(limits, &config->accounts[i], &limits->account[i]) < 0)
            return -1;
    return 0;
}
