/* Copying a configuration: once without a place, which counts, and once more into memory of that size. */
#include "sched/config/setup_copy.h"

#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_config.h"
#include "sched/config/setup.h"

struct pack {
    char *base; /* NULL: only count */
    size_t used;
};

/* Room for n things; NULL if there is no place yet, or n is 0. Counts can't overflow: what is copied is in
 * memory.
 */
static void *room(struct pack *p, size_t n, size_t size)
{
    size_t at = (p->used + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    if (n == 0)
        return NULL;
    p->used = at + n * size;
    return p->base ? p->base + at : NULL;
}

static const char *copy_text(struct pack *p, const char *text)
{
    if (!text)
        return NULL;
    size_t size = strlen(text) + 1;
    size_t at = p->used;
    p->used += size;
    return p->base ? memcpy(p->base + at, text, size) : NULL;
}

static const char *const *copy_texts(struct pack *p, const char *const *texts, size_t n)
{
    const char **copy = room(p, n, sizeof(*copy));
    for (size_t i = 0; i < n; i++) {
        const char *text = copy_text(p, texts[i]);
        if (copy)
            copy[i] = text;
    }
    return copy;
}

static const struct sched_limit *copy_list(struct pack *p, const struct sched_limit *list, size_t n)
{
    struct sched_limit *copy = room(p, n, sizeof(*copy));
    for (size_t i = 0; i < n; i++) {
        struct sched_limit limit = list[i];
        limit.what = copy_text(p, limit.what);
        if (copy)
            copy[i] = limit;
    }
    return copy;
}

static void copy_limits(struct pack *p, struct sched_limits *limits)
{
    limits->job = copy_list(p, limits->job, limits->n_job);
    limits->user = copy_list(p, limits->user, limits->n_user);
    limits->queue = copy_list(p, limits->queue, limits->n_queue);
}

static const struct sched_exception *
copy_exceptions(struct pack *p, const struct sched_exception *exceptions, size_t n)
{
    struct sched_exception *copy = room(p, n, sizeof(*copy));
    for (size_t i = 0; i < n; i++) {
        struct sched_exception e = exceptions[i];
        e.users = copy_texts(p, e.users, e.n_users);
        e.groups = copy_texts(p, e.groups, e.n_groups);
        copy_limits(p, &e.limits);
        if (copy)
            copy[i] = e;
    }
    return copy;
}

static void copy_share(struct pack *p, struct sched_share *share)
{
    share->under = copy_text(p, share->under);
    share->guarantee = copy_list(p, share->guarantee, share->n_guarantee);
    share->deserved = copy_list(p, share->deserved, share->n_deserved);
    share->capability = copy_list(p, share->capability, share->n_capability);
}

static const struct sched_weight *copy_weights(struct pack *p, const struct sched_weight *weights,
                                               size_t n)
{
    struct sched_weight *copy = room(p, n, sizeof(*copy));
    for (size_t i = 0; i < n; i++) {
        struct sched_weight weight = weights[i];
        weight.name = copy_text(p, weight.name);
        if (copy)
            copy[i] = weight;
    }
    return copy;
}

static void copy_shares(struct pack *p, struct sched_shares *shares)
{
    struct sched_division *divisions = room(p, shares->n_divisions, sizeof(*divisions));
    shares->resources = copy_texts(p, shares->resources, shares->n_resources);
    for (size_t i = 0; i < shares->n_divisions; i++) {
        struct sched_division division = shares->divisions[i];
        division.name = copy_text(p, division.name);
        copy_share(p, &division.share);
        if (divisions)
            divisions[i] = division;
    }
    shares->divisions = divisions;
}

static const struct sched_account *copy_accounts(struct pack *p,
                                                 const struct sched_account *accounts, size_t n)
{
    struct sched_account *copy = room(p, n, sizeof(*copy));
    for (size_t i = 0; i < n; i++) {
        struct sched_account a = accounts[i];
        a.name = copy_text(p, a.name);
        a.under = copy_text(p, a.under);
        a.users = copy_texts(p, a.users, a.n_users);
        a.weights = copy_weights(p, a.weights, a.n_weights);
        a.default_for = copy_texts(p, a.default_for, a.n_default_for);
        a.limits = copy_list(p, a.limits, a.n_limits);
        if (copy)
            copy[i] = a;
    }
    return copy;
}

static void copy_classes(struct pack *p, struct sched_classes *c)
{
    struct sched_class *classes = room(p, c->n, sizeof(*classes));
    struct sched_class_pattern *patterns = room(p, c->n_patterns, sizeof(*patterns));
    for (size_t i = 0; i < c->n; i++) {
        struct sched_class one = c->classes[i];
        one.name = copy_text(p, one.name);
        if (classes)
            classes[i] = one;
    }
    for (size_t i = 0; i < c->n_patterns; i++) {
        struct sched_class_pattern one = {copy_text(p, c->patterns[i].pattern),
                                          copy_text(p, c->patterns[i].name)};
        if (patterns)
            patterns[i] = one;
    }
    c->classes = classes;
    c->patterns = patterns;
    c->default_class = copy_text(p, c->default_class);
    c->worker = copy_list(p, c->worker, c->n_worker);
}

static const struct sched_queue_config *
copy_queues(struct pack *p, const struct sched_queue_config *queues, size_t n)
{
    struct sched_queue_config *copy = room(p, n, sizeof(*copy));
    for (size_t i = 0; i < n; i++) {
        struct sched_queue_config q = queues[i];
        q.name = copy_text(p, q.name);
        q.parent = copy_text(p, q.parent);
        q.policy = copy_text(p, q.policy);
        q.requires = copy_text(p, q.requires);
        q.users = copy_texts(p, q.users, q.n_users);
        q.groups = copy_texts(p, q.groups, q.n_groups);
        copy_limits(p, &q.limits);
        q.exceptions = copy_exceptions(p, q.exceptions, q.n_exceptions);
        copy_share(p, &q.share);
        q.weights = copy_weights(p, q.weights, q.n_weights);
        copy_classes(p, &q.classes);
        if (copy)
            copy[i] = q;
    }
    return copy;
}

static void copy_block(struct pack *p, struct sched_block *block)
{
    block->name = copy_text(p, block->name);
    block->resources = copy_text(p, block->resources);
    block->users = copy_texts(p, block->users, block->n_users);
    block->queues = copy_texts(p, block->queues, block->n_queues);
    block->jobs = copy_texts(p, block->jobs, block->n_jobs);
}

static struct sched_config *pack_config(struct pack *p, const struct sched_config *config)
{
    struct sched_config *copy = room(p, 1, sizeof(*copy));
    struct sched_config c = *config;
    c.queues = copy_queues(p, c.queues, c.n_queues);
    c.default_queue = copy_text(p, c.default_queue);
    struct sched_block *blocks = room(p, c.n_blocks, sizeof(*blocks));
    for (size_t i = 0; i < c.n_blocks; i++) {
        struct sched_block block = c.blocks[i];
        copy_block(p, &block);
        if (blocks)
            blocks[i] = block;
    }
    c.blocks = blocks;
    copy_shares(p, &c.shares);
    c.accounts = copy_accounts(p, c.accounts, c.n_accounts);
    if (copy)
        *copy = c;
    return copy;
}

static struct sched_block *pack_block(struct pack *p, const struct sched_block *block)
{
    struct sched_block *copy = room(p, 1, sizeof(*copy));
    struct sched_block b = *block;
    copy_block(p, &b);
    if (copy)
        *copy = b;
    return copy;
}

struct sched_config *setup_copy_config(const struct sched_config *config)
{
    struct pack p = {0};
    pack_config(&p, config);
    p = (struct pack){.base = malloc(p.used)};
    if (!p.base)
        errno = ENOMEM;
    return p.base ? pack_config(&p, config) : NULL;
}

struct sched_block *setup_copy_block(const struct sched_block *block)
{
    struct pack p = {0};
    pack_block(&p, block);
    p = (struct pack){.base = malloc(p.used)};
    if (!p.base)
        errno = ENOMEM;
    return p.base ? pack_block(&p, block) : NULL;
}
