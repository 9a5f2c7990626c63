/* Shares: the section `shares`, and what a queue says of its own. */
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_config.h"
#include "config/read.h"

enum { AMOUNTS_MAX = 64, DIVISIONS_MAX = 4096 };

static int read_amount(struct reading *r, uint32_t key, const char *of, struct sched_limit *amount)
{
    if (value_name(r, key, of, &amount->what) < 0)
        return -1;
    return value_number(r, key + 1, amount->what, 0, COUNT_MAX, false, &amount->most);
}

static int read_amounts(struct reading *r, uint32_t i, const char *key,
                        const struct sched_limit **ret, size_t *n)
{
    const struct doc *d = &r->doc;
    struct sched_limit *amounts;

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_MAPPING || d->node[i].count > AMOUNTS_MAX)
        return doc_expected(d, i, key, "amounts of resources as in {core: 64, gpu: 4}");
    amounts = reading_array(r, d->node[i].count, sizeof(*amounts));
    if (!amounts)
        return -1;
    *ret = amounts;
    for (uint32_t at = i + 1; at < d->node[i].end; at = d->node[at + 1].end)
        if (read_amount(r, at, key, &amounts[(*n)++]) < 0)
            return -1;
    return 0;
}

/* The name of a division that has been read, or of any if that is all that is known. */
static int read_under(struct reading *r, uint32_t i, const char **ret)
{
    uint32_t number;

    if (i == DOC_NONE)
        return 0;
    if (!doc_is_text(&r->doc, i) ||
        !intern_find(&r->divisions, doc_text(&r->doc, i), r->doc.node[i].length, &number))
        return doc_expected(&r->doc, i, "under", "the name of a division of the section shares");
    *ret = r->config->sched.shares.divisions[number].name;
    return 0;
}

/* What a queue or a division is to have, by the values of these keys. */
enum share_key { UNDER, WEIGHT, GUARANTEE, DESERVED, CAPABILITY, SHARE_KEYS };

static int read_share(struct reading *r, const uint32_t *value, struct sched_share *share)
{
    if (read_under(r, value[UNDER], &share->under) < 0 ||
        value_number(r, value[WEIGHT], "weight", 1, SCHED_SHARE_WEIGHT_MAX, false, &share->weight) <
            0 ||
        read_amounts(r, value[GUARANTEE], "guarantee", &share->guarantee, &share->n_guarantee) <
            0 ||
        read_amounts(r, value[CAPABILITY], "capability", &share->capability, &share->n_capability) <
            0)
        return -1;
    return read_amounts(r, value[DESERVED], "deserved", &share->deserved, &share->n_deserved);
}

/* The keys of a queue's shares; up to CAPABILITY as enum share_key. */
enum queue_key { BY = SHARE_KEYS, QUEUE_ORDER, WEIGHTS, CLASSES, QUEUE_KEYS };
static const char *const queue_names[] = {"under", "weight", "guarantee", "deserved", "capability",
                                          "by",    "order",  "weights",   "classes"};
static const struct doc_keys queue_keys = {"the shares of a queue", queue_names, QUEUE_KEYS, 0};

int read_weights(struct reading *r, uint32_t i, const struct sched_weight **ret, size_t *n)
{
    const struct doc *d = &r->doc;
    struct sched_weight *weights;

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_MAPPING)
        return doc_expected(d, i, "weights", "weights as in {u1: 2, u2: 1}");
    weights = reading_array(r, d->node[i].count, sizeof(*weights));
    if (!weights)
        return -1;
    *ret = weights;
    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end) {
        struct sched_weight *w = &weights[(*n)++];
        if (value_name(r, key, "weights", &w->name) < 0 ||
            value_number(r, key + 1, w->name, 1, SCHED_SHARE_WEIGHT_MAX, false, &w->weight) < 0)
            return -1;
    }
    return 0;
}

/* Classes are there where they take turns, and have an order of their own. */
static int check_classes(struct reading *r, const uint32_t *value, enum sched_share_by by)
{
    bool is = by == SCHED_SHARE_CLASS;
    if (is && value[CLASSES] == DOC_NONE)
        return value_misplaced(r, value[BY], "by", "class only beside the key classes");
    if (!is && value[CLASSES] != DOC_NONE)
        return value_misplaced(r, value[CLASSES], "classes", "only with by: class");
    for (uint32_t k = QUEUE_ORDER; is && k <= WEIGHTS; k++)
        if (value[k] != DOC_NONE)
            return value_misplaced(r, value[k], queue_names[k], "none with by: class");
    return 0;
}

/* Where nobody takes turns there are jobs to be compared, and nothing else. */
static int check_order_of_jobs(struct reading *r, uint32_t i,
                               const struct sched_queue_config *queue)
{
    if (queue->by != SCHED_SHARE_NONE)
        return 0;
    for (size_t k = 0; k < queue->order.n; k++)
        if (queue->order.by[k] != SCHED_BY_PRIORITY && queue->order.by[k] != SCHED_BY_DEADLINE &&
            queue->order.by[k] != SCHED_BY_GANG && queue->order.by[k] != SCHED_BY_AGE &&
            queue->order.by[k] != SCHED_BY_SUBMIT)
            return doc_expected(
                &r->doc, i, "order",
                "priority, deadline, gang, age and submit, or the key by beside it");
    return 0;
}

int read_queue_shares(struct reading *r, uint32_t i, struct sched_queue_config *queue)
{
    static const char *const words[] = {"user", "account", "class", NULL};
    static const enum sched_share_by meant[] = {SCHED_SHARE_USER, SCHED_SHARE_ACCOUNT,
                                                SCHED_SHARE_CLASS};
    uint32_t value[QUEUE_KEYS];
    size_t word = 0;

    if (i == DOC_NONE)
        return 0;
    if (doc_fields(&r->doc, i, &queue_keys, value) < 0 || read_share(r, value, &queue->share) < 0 ||
        value_word(r, value[BY], "by", words, &word) < 0)
        return -1;
    if (value[BY] != DOC_NONE)
        queue->by = meant[word];
    if (queue->by == SCHED_SHARE_ACCOUNT && r->config->sched.n_accounts == 0)
        return value_misplaced(r, value[BY], "by", "account only where the key accounts has some");
    if (queue->by == SCHED_SHARE_ACCOUNT && value[WEIGHTS] != DOC_NONE)
        return value_misplaced(r, value[WEIGHTS], "weights",
                               "with by: account only in the accounts");
    if (value[WEIGHTS] != DOC_NONE && value[BY] == DOC_NONE)
        return value_misplaced(r, value[WEIGHTS], "weights", "only beside the key by");
    if (check_classes(r, value, queue->by) < 0)
        return -1;
    if (queue->by == SCHED_SHARE_CLASS)
        return read_classes(r, value[CLASSES], &queue->classes);
    if (read_order(r, value[QUEUE_ORDER], &queue->order, NULL) < 0 ||
        check_order_of_jobs(r, value[QUEUE_ORDER], queue) < 0)
        return -1;
    return read_weights(r, value[WEIGHTS], &queue->weights, &queue->n_weights);
}

/* Up to CAPABILITY as enum share_key. */
enum division_key { DIVISION_ORDER = SHARE_KEYS, DIVISION_KEYS };
static const char *const division_names[] = {"under",    "weight",     "guarantee",
                                             "deserved", "capability", "order"};
static const struct doc_keys division_keys = {"a division", division_names, DIVISION_KEYS, 0};

static int name_divisions(struct reading *r, uint32_t i, struct sched_division *divisions)
{
    const struct doc *d = &r->doc;
    uint32_t n;

    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end) {
        const char *name;
        if (value_name(r, key, "divisions", &name) < 0)
            return -1;
        if (intern_put(&r->divisions, name, d->node[key].length, &n) < 0)
            return errtext_no_memory(d->err);
        divisions[n].name = name;
    }
    return 0;
}

/* How many divisions one is part of; SCHED_DIVISION_LEVELS: too many, or it is part of itself. */
static int divisions_above(const struct reading *r, const struct sched_division *division)
{
    int levels = 0;
    uint32_t number;

    for (; division->share.under && levels < SCHED_DIVISION_LEVELS; levels++) {
        intern_find(&r->divisions, division->share.under, strlen(division->share.under), &number);
        division = &r->config->sched.shares.divisions[number];
    }
    return levels;
}

static int read_divisions(struct reading *r, uint32_t i)
{
    struct sched_shares *shares = &r->config->sched.shares;
    const struct doc *d = &r->doc;
    struct sched_division *divisions;
    uint32_t value[DIVISION_KEYS], n = 0;

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_MAPPING || d->node[i].count > DIVISIONS_MAX)
        return doc_expected(d, i, "divisions", "divisions as NAME: {...}");
    divisions = reading_array(r, d->node[i].count, sizeof(*divisions));
    if (!divisions)
        return -1;
    shares->divisions = divisions;
    shares->n_divisions = d->node[i].count;
    if (name_divisions(r, i, divisions) < 0)
        return -1;
    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end, n++) {
        if (doc_is_null(d, key + 1))
            continue;
        if (doc_fields(d, key + 1, &division_keys, value) < 0 ||
            read_share(r, value, &divisions[n].share) < 0 ||
            read_order(r, value[DIVISION_ORDER], &divisions[n].order, NULL) < 0)
            return -1;
        if (divisions_above(r, &divisions[n]) >= SCHED_DIVISION_LEVELS)
            return doc_fault(d, value[UNDER],
                             "key \"under\": expected at most %d divisions above, and not itself",
                             SCHED_DIVISION_LEVELS - 1);
    }
    return 0;
}

enum shares_key { RESOURCES, HALF_LIFE, ORDER, DIVISIONS, SHARES_KEYS };
static const char *const shares_names[] = {"resources", "half-life", "order", "divisions"};
static const struct doc_keys shares_keys = {"the shares", shares_names, SHARES_KEYS, 0};

int read_shares(struct reading *r, uint32_t i)
{
    struct sched_shares *shares = &r->config->sched.shares;
    const char *policy = NULL;
    uint32_t value[SHARES_KEYS];

    if (i == DOC_NONE)
        return 0;
    if (doc_fields(&r->doc, i, &shares_keys, value) < 0 ||
        value_names(r, value[RESOURCES], "resources", &shares->resources, &shares->n_resources) <
            0 ||
        value_time(r, value[HALF_LIFE], "half-life", TIME_OR_UNLIMITED, &shares->half_life) < 0 ||
        read_order(r, value[ORDER], &shares->order, &policy) < 0)
        return -1;
    if (policy && !r->has_policy)
        r->config->match.policy = policy;
    if (shares->n_resources > SCHED_SHARE_RESOURCES)
        return doc_fault(&r->doc, value[RESOURCES], "key \"resources\": expected at most %d types",
                         SCHED_SHARE_RESOURCES);
    return read_divisions(r, value[DIVISIONS]);
}
