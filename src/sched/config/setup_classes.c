#include "sched/config/setup_classes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "sched/config/order.h"
#include "sched/config/setup.h"

static int set_percents(classes_t *settings, const struct sched_classes *is, berth_error_t *err)
{
    struct classes_percent list[CLASSES_MAX];
    if (is->n < 1 || is->n > CLASSES_MAX)
        return errtext_set(err, EINVAL, "classes: expected 1 to %d, found %zu", CLASSES_MAX, is->n);
    for (size_t i = 0; i < is->n; i++)
        list[i] = (struct classes_percent){is->classes[i].name, is->classes[i].percent};
    return classes_set_percents(settings, list, is->n, err);
}

static int set_patterns(classes_t *settings, const struct sched_classes *is, berth_error_t *err)
{
    struct classes_requestor list[CLASSES_REQUESTORS];
    if (is->n_patterns > CLASSES_REQUESTORS)
        return errtext_set(err, EINVAL, "patterns: expected at most %d, found %zu",
                           CLASSES_REQUESTORS, is->n_patterns);
    for (size_t i = 0; i < is->n_patterns; i++)
        list[i] = (struct classes_requestor){is->patterns[i].pattern, is->patterns[i].name};
    return classes_set_requestors(settings, list, is->n_patterns, is->default_class, err);
}

static int set_worker(const struct setup_shares *shares, const struct sched_classes *is,
                      struct setup_classes *classes, berth_error_t *err)
{
    static const struct sched_limit core = {"core", 1};
    size_t n = is->n_worker > 0 ? is->n_worker : 1;
    for (size_t i = 0; i < n; i++) {
        const struct sched_limit *of = is->n_worker > 0 ? &is->worker[i] : &core;
        uint32_t k = 0;
        while (k < shares->n_resources && strcmp(shares->resource[k], of->what) != 0)
            k++;
        if (k == shares->n_resources)
            return errtext_set(err, EINVAL, "worker: %s is not among the resources of shares",
                               of->what);
        if (of->most < 1 || of->most > CLASS_UNITS_MAX)
            return errtext_set(err, EINVAL, "worker: %s: must be above 0, is %lld", of->what,
                               (long long)of->most);
        classes->worker[k] = of->most;
    }
    return 0;
}

static int resolve_classes(const struct setup *setup, const struct sched_classes *is,
                           struct setup_classes *classes, berth_error_t *err)
{
    classes->rule = (struct class_rule){is->rebalance_threshold, is->rebalance_duration};
    classes->n = (uint32_t)is->n;
    classes->longest_first = is->longest_first;
    classes->settings = classes_create();
    if (!classes->settings)
        return errtext_no_memory(err);
    if (is->rebalance_threshold < 0 || is->rebalance_threshold > CLASSES_THRESHOLD_MAX ||
        is->rebalance_duration < 0)
        return errtext_set(err, EINVAL, "rebalance: expected 0 to %d percent, and a time",
                           CLASSES_THRESHOLD_MAX);
    if (set_percents(classes->settings, is, err) < 0 ||
        set_patterns(classes->settings, is, err) < 0)
        return -1;
    return set_worker(&setup->shares, is, classes, err);
}

/* A policy's own order leaves them no room. */
static void note_ranks(struct setup *setup, uint32_t queue)
{
    if (setup->queue[queue].order == order_priority)
        setup->ranks_of_priority = CLASSES_LEVELS;
}

int setup_resolve_classes(struct setup *setup, uint32_t queue, berth_error_t *err)
{
    const struct sched_queue_config *c = setup->queue[queue].config;
    struct setup_node *node = &setup->shares.node[setup_node_of_queue(setup, queue)];
    berth_error_t why = {0};
    if (c->classes.longest_first && setup->queue[queue].order != order_priority)
        return errtext_set(err, EINVAL,
                           "queue '%s': longest-first: policy %s has an order of its own", c->name,
                           c->policy);
    if (c->order.n > 0 || c->n_weights > 0)
        return errtext_set(err, EINVAL, "queue '%s': classes have no order and no weights",
                           c->name);
    node->classes = calloc(1, sizeof(*node->classes));
    if (!node->classes)
        return errtext_no_memory(err);
    node->order = (struct sched_share_order){0};
    if (resolve_classes(setup, &c->classes, node->classes, &why) == 0) {
        note_ranks(setup, queue);
        return 0;
    }
    return errtext_set(err, errno, "queue '%s': %s", c->name, why.text);
}

void setup_add_classes(struct setup *setup, uint32_t queue, uint32_t first)
{
    uint32_t above = setup_node_of_queue(setup, queue);
    struct setup_classes *classes = setup->shares.node[above].classes;
    const struct classes_percent *percent;
    classes->first = first;
    classes_get_percents(classes->settings, &percent);
    for (uint32_t i = 0; i < classes->n; i++) {
        struct setup_node *node = &setup->shares.node[first + i];
        node->parent = above;
        node->queue = queue;
        node->is_class = true;
        node->weight = percent[i].percent;
        for (uint32_t k = 0; k < SCHED_SHARE_RESOURCES; k++) {
            node->deserved[k] = SETUP_BY_WEIGHT;
            node->capability[k] = SCHED_UNLIMITED;
        }
    }
}

struct setup_classes *setup_classes_of(const struct setup *setup, uint32_t queue)
{
    return setup->shares.is ? setup->shares.node[setup_node_of_queue(setup, queue)].classes : NULL;
}

void setup_clear_classes(struct setup *setup)
{
    for (uint32_t i = 0; setup->shares.node && i < setup->shares.n_nodes; i++)
        if (setup->shares.node[i].classes) {
            classes_destroy(setup->shares.node[i].classes->settings);
            free(setup->shares.node[i].classes);
        }
}
