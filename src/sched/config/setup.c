/* The setup: a configuration whose names are numbers and whose defaults are filled in. */
#include "sched/config/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_config.h"
#include "sched/config/setup_check.h"
#include "sched/config/setup_classes.h"
#include "sched/config/setup_copy.h"

#define HOUR 3600 /* seconds */

/* What there is where nothing is said. */
static const struct sched_queue_config the_only_queue = {.name = "default"};

void setup_destroy(struct setup *setup)
{
    int saved = errno;
    if (setup) {
        intern_clear(&setup->names);
        setup_clear_accounts(&setup->accounts);
        setup_clear_classes(setup);
        free(setup->shares.node);
        free(setup->queue);
        free(setup->config);
        free(setup);
    }
    errno = saved;
}

uint32_t setup_find(const struct setup *setup, const char *name)
{
    uint32_t queue;
    return setup->is_named && name && intern_find(&setup->names, name, strlen(name), &queue)
               ? queue
               : SETUP_NONE;
}

static int64_t least(int64_t value, int64_t bound)
{
    return bound > 0 && bound < value ? bound : value;
}

static uint64_t or_usual(int64_t value, int64_t usual)
{
    return (uint64_t)(value > 0 ? value : usual);
}

static int check_globals(const struct sched_config *config, berth_error_t *err)
{
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"default-duration", config->default_duration},
        {"default-limit", config->default_limit},
        {"starvation-threshold", config->starvation_threshold},
        {"claims", config->claims},
        {"sla-waiting-time", config->sla_waiting_time},
        {"min-interval", config->min_interval},
        {"max-events", config->max_events},
        {"ended-jobs", config->ended_jobs},
        {"what-if-holders", config->what_if_holders},
        {"what-if-tries", config->what_if_tries},
    };
    unsigned actions = 0;
    for (size_t i = 0; i < config->n_actions; i++) {
        if (config->n_actions > SCHED_ACTIONS || config->actions[i] >= SCHED_ACTIONS ||
            actions >> config->actions[i] & 1)
            return errtext_set(err, EINVAL, "actions: expected each once at most");
        actions |= 1u << config->actions[i];
    }
    if (config->second < 1 || config->second > INT64_MAX / HOUR)
        return errtext_set(err, EINVAL, "second: expected 1 to %lld ticks, found %lld",
                           (long long)(INT64_MAX / HOUR), (long long)config->second);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (numbers[i].value < 0)
            return errtext_set(err, EINVAL, "%s: must not be negative, is %lld", numbers[i].key,
                               (long long)numbers[i].value);
    if (config->n_queues >= SETUP_NONE)
        return errtext_set(err, EINVAL, "queues: too many");
    if (config->n_blocks > BLOCKS_MAX)
        return errtext_set(err, EINVAL, "blocks: at most %d, not %zu", BLOCKS_MAX,
                           config->n_blocks);
    return 0;
}

/* Give each queue its number. */
static int name_queues(struct setup *setup, berth_error_t *err)
{
    for (uint32_t i = 0; i < setup->n_queues; i++) {
        const char *name = setup->config->queues[i].name;
        uint32_t number;
        if (!name || name[0] == '\0')
            return errtext_set(err, EINVAL, "queue %u has no name", (unsigned)i + 1);
        if (intern_put(&setup->names, name, strlen(name), &number) < 0)
            return errtext_no_memory(err);
        if (number != i)
            return errtext_set(err, EINVAL, "queue '%s': the name comes twice", name);
    }
    return 0;
}

static int find_parent(const struct setup *setup, uint32_t queue, uint32_t *parent,
                       berth_error_t *err)
{
    const struct sched_queue_config *c = &setup->config->queues[queue];
    *parent = queue;
    if (!c->parent)
        return 0;
    *parent = setup_find(setup, c->parent);
    if (*parent == SETUP_NONE)
        return errtext_set(err, EINVAL, "queue '%s': parent: no queue '%s'", c->name, c->parent);
    if (*parent == queue)
        return errtext_set(err, EINVAL, "queue '%s': parent: it can't be its own", c->name);
    if (setup->config->queues[*parent].parent)
        return errtext_set(err, EINVAL, "queue '%s': parent: '%s' has a parent itself", c->name,
                           c->parent);
    return 0;
}

/* K. Only a policy whose own depth is a number can be told another. */
static int64_t depth_of(const struct sched_queue_config *c, const struct sched_policy *policy)
{
    if (!policy->is_tunable)
        return policy->depth;
    bool told = c->reservation_depth > 0 && policy->depth < SCHED_UNLIMITED;
    return least(told ? c->reservation_depth : policy->depth, c->max_reservation_depth);
}

static int64_t duration_of(const struct setup *setup, const struct sched_queue_config *own,
                           const struct sched_queue_config *parent)
{
    if (own->default_duration > 0)
        return own->default_duration;
    if (parent->default_duration > 0)
        return parent->default_duration;
    if (setup->config->default_duration > 0)
        return setup->config->default_duration;
    return HOUR * setup->second;
}

static int64_t default_limit_of(const struct setup *setup, const struct sched_queue_config *own,
                                const struct sched_queue_config *parent)
{
    if (own->default_limit > 0)
        return own->default_limit;
    if (parent->default_limit > 0)
        return parent->default_limit;
    return setup->config->default_limit > 0 ? setup->config->default_limit : SCHED_UNLIMITED;
}

/* The first that is given of a queue's own, its parent's and that of all queues. */
static int64_t inherited(int64_t own, int64_t parent, int64_t all, int64_t usual)
{
    return own > 0 ? own : parent > 0 ? parent : all > 0 ? all : usual;
}

static int resolve_queue(struct setup *setup, uint32_t queue, berth_error_t *err)
{
    const struct sched_queue_config *own = &setup->config->queues[queue];
    uint32_t parent;
    if (setup_check_queue(own, err) < 0 || find_parent(setup, queue, &parent, err) < 0)
        return -1;
    const struct sched_queue_config *c = &setup->config->queues[parent];
    if (parent != queue && setup_check_queue(c, err) < 0) /* it may not have come yet */
        return -1;
    const struct sched_policy *policy =
        c->policy ? sched_policy_find(c->policy) : sched_policy_usual();
    setup->queue[queue] = (struct setup_queue){
        .name = own->name,
        .parent = parent,
        .depth = depth_of(c, policy),
        .order = order_of(policy, order_priority),
        .queue_depth =
            least(c->queue_depth > 0 ? c->queue_depth : SCHED_UNLIMITED, c->max_queue_depth),
        .priority = own->priority,
        .default_duration = duration_of(setup, own, c),
        .default_limit = default_limit_of(setup, own, c),
        .starvation_threshold = inherited(own->starvation_threshold, c->starvation_threshold,
                                          setup->config->starvation_threshold, SCHED_UNLIMITED),
        .claims = inherited(own->claims, c->claims, setup->config->claims, 1),
        .sla_waiting_time = inherited(own->sla_waiting_time, c->sla_waiting_time,
                                      setup->config->sla_waiting_time, SCHED_UNLIMITED),
        .deadlines = deadlines_in(&c->order),
        .gangs = gangs_in(&c->order),
        .requires = c->requires,
        .preemptible = c->preemptible,
        .preempts = own->preempts & ~(unsigned)SCHED_PREEMPTS_NOBODY,
        .preempts_nobody = own->preempts == SCHED_PREEMPTS_NOBODY,
        .claims_admit_unknown = own->claims_admit_unknown,
        .keeps_gangs = own->keeps_gangs,
        .config = own,
    };
    setup->has_deadlines |= setup->queue[queue].deadlines != DEADLINES_NONE;
    setup->has_gangs |= setup->queue[queue].gangs != GANGS_NONE;
    setup->starves |= setup->queue[queue].starvation_threshold < SCHED_UNLIMITED;
    setup->admits_unknown |= own->claims_admit_unknown;
    return 0;
}

static int find_default(struct setup *setup, berth_error_t *err)
{
    const char *name = setup->config->default_queue;
    setup->default_queue = name ? setup_find(setup, name) : setup->n_queues == 1 ? 0 : SETUP_NONE;
    if (name && setup->default_queue == SETUP_NONE)
        return errtext_set(err, EINVAL, "default queue: no queue '%s'", name);
    return 0;
}

static int check_blocks(const struct setup *setup, berth_error_t *err)
{
    for (size_t i = 0; i < setup->n_blocks; i++) {
        if (setup_check_block(setup, &setup->block[i], err) < 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (strcmp(setup->block[k].name, setup->block[i].name) == 0)
                return errtext_set(err, EINVAL, "block '%s': the name comes twice",
                                   setup->block[i].name);
    }
    return 0;
}

/* For whose jobs those may be stopped that are not preemptible. */
static void note_preempts(struct setup *setup)
{
    for (uint32_t i = 0; i < setup->n_queues; i++) {
        setup->queue[setup->queue[i].parent].any_preempts |= setup->queue[i].preempts;
        setup->preempts |= setup->queue[i].preempts != 0;
        const struct sched_classes *classes = &setup->queue[i].config->classes;
        setup->stops_any |= setup->queue[i].preempts != 0 ||
                            setup->queue[i].preemptible != SCHED_NOT_PREEMPTIBLE ||
                            (classes->rebalance_threshold > 0 && classes->rebalance_duration > 0);
    }
}

static int resolve_setup(struct setup *setup, berth_error_t *err)
{
    if (name_queues(setup, err) < 0)
        return -1;
    for (uint32_t i = 0; i < setup->n_queues; i++)
        if (resolve_queue(setup, i, err) < 0)
            return -1;
    note_preempts(setup);
    if (setup_resolve_accounts(setup, err) < 0 || setup_resolve_shares(setup, err) < 0 ||
        find_default(setup, err) < 0)
        return -1;
    return check_blocks(setup, err);
}

/* What passes do in which round. */
static void setup_actions(struct setup *setup, const struct sched_config *given)
{
    setup->n_rounds = given->n_actions > 0 ? (uint8_t)given->n_actions : 1;
    setup->round[0] = (1u << SCHED_ACTIONS) - 1;
    for (size_t i = 0; i < given->n_actions; i++)
        setup->round[i] = 1u << given->actions[i];
    for (uint8_t i = 0; i < setup->n_rounds; i++)
        setup->actions |= setup->round[i];
}

struct setup *setup_create(const struct sched_config *config, berth_error_t *err)
{
    struct sched_config given = *config;
    if (given.n_queues == 0) {
        given.queues = &the_only_queue;
        given.n_queues = 1;
    }
    if (check_globals(&given, err) < 0)
        return NULL;
    struct setup *setup = calloc(1, sizeof(*setup));
    if (setup) {
        setup->config = setup_copy_config(&given);
        setup->queue = calloc(given.n_queues, sizeof(*setup->queue));
    }
    if (!setup || !setup->config || !setup->queue) {
        setup_destroy(setup);
        errtext_no_memory(err);
        return NULL;
    }
    setup->is_named = true;
    setup->ranks_of_priority = 1;
    setup->second = given.second;
    setup->n_queues = (uint32_t)given.n_queues;
    setup->min_interval = given.min_interval;
    setup->max_events = given.max_events > 0 ? given.max_events : SCHED_UNLIMITED;
    setup->ended_jobs = or_usual(given.ended_jobs, SCHED_ENDED_JOBS);
    setup->what_if_holders = or_usual(given.what_if_holders, SCHED_WHAT_IF_HOLDERS);
    setup->what_if_tries = or_usual(given.what_if_tries, SCHED_WHAT_IF_TRIES);
    setup_actions(setup, &given);
    setup->block = setup->config->blocks;
    setup->n_blocks = given.n_blocks;
    if (resolve_setup(setup, err) < 0) {
        setup_destroy(setup);
        return NULL;
    }
    setup->ranks_of_priority *= setup->has_gangs ? 2 : 1;
    for (uint32_t q = 1; q < setup->n_queues; q++)
        setup->has_levels |= setup->queue[q].priority != setup->queue[0].priority;
    return setup;
}

struct setup *setup_unnamed(const struct sched_params *params, berth_error_t *err)
{
    const struct sched_policy *policy = sched_policy_find(params->policy);
    bool told = policy->is_tunable && params->reservation_depth > 0;
    struct sched_config config = {.second = params->second > 0 ? params->second : 1};
    struct setup *setup = setup_create(&config, err);
    if (!setup)
        return NULL;
    setup->is_named = false;
    setup->queue[0].order = order_of(policy, order_numbered(params->order));
    setup->queue[0].depth = told ? params->reservation_depth : policy->depth;
    if (params->queue_depth > 0)
        setup->queue[0].queue_depth = params->queue_depth;
    return setup;
}

bool text_is_listed(const char *const *texts, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

bool setup_admits(const struct setup *setup, uint32_t queue, const char *user,
                  const char *const *groups, size_t n_groups)
{
    const struct sched_queue_config *c = setup->queue[queue].config;
    if (c->n_users == 0 && c->n_groups == 0)
        return true;
    if (user && text_is_listed(c->users, c->n_users, user))
        return true;
    for (size_t i = 0; i < n_groups; i++)
        if (text_is_listed(c->groups, c->n_groups, groups[i]))
            return true;
    return false;
}

int setup_check_block(const struct setup *setup, const struct sched_block *block,
                      berth_error_t *err)
{
    const char *name = block->name;
    if (!name || name[0] == '\0')
        return errtext_set(err, EINVAL, "a block has no name");
    if (!block->resources || block->resources[0] == '\0')
        return errtext_set(err, EINVAL, "block '%s': resources: there are none", name);
    if (block->start < 0)
        return errtext_set(err, EINVAL, "block '%s': start: must not be negative, is %lld", name,
                           (long long)block->start);
    if (block->duration < 1)
        return errtext_set(err, EINVAL, "block '%s': duration: must be above 0, is %lld", name,
                           (long long)block->duration);
    if (block->duration > INT64_MAX - block->start)
        return errtext_set(err, EINVAL, "block '%s': duration: it ends past the end of time", name);
    if (block->every != 0 && block->every <= block->duration)
        return errtext_set(err, EINVAL, "block '%s': every: must be above the duration, or 0",
                           name);
    if (setup_check_texts(block->users, block->n_users, "block", name, "users", err) < 0 ||
        setup_check_texts(block->queues, block->n_queues, "block", name, "queues", err) < 0 ||
        setup_check_texts(block->jobs, block->n_jobs, "block", name, "jobs", err) < 0)
        return -1;
    for (size_t i = 0; i < block->n_queues; i++)
        if (setup_find(setup, block->queues[i]) == SETUP_NONE)
            return errtext_set(err, EINVAL, "block '%s': queues: no queue '%s'", name,
                               block->queues[i]);
    return 0;
}

bool setup_permits(const struct setup *setup, const struct sched_block *block, uint32_t queue,
                   const char *user, const char *id)
{
    const struct setup_queue *q = &setup->queue[queue];
    return (user && text_is_listed(block->users, block->n_users, user)) ||
           (id && text_is_listed(block->jobs, block->n_jobs, id)) ||
           text_is_listed(block->queues, block->n_queues, q->name) ||
           text_is_listed(block->queues, block->n_queues, setup->queue[q->parent].name);
}
