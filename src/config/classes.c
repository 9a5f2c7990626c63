/* Classes of a queue: the key `classes` of its shares. What the percentages and patterns mean is checked
 * where the configuration is resolved.
 */
#include <string.h>

#include "berth/classes.h"
#include "berth/sched_config.h"
#include "config/read.h"

enum { REBALANCE_AFTER = 240 }; /* seconds */

static int read_percents(struct reading *r, uint32_t i, struct sched_classes *c)
{
    const struct doc *d = &r->doc;
    struct sched_class *classes;

    if (d->node[i].kind != DOC_MAPPING || d->node[i].count < 1 || d->node[i].count > CLASSES_MAX)
        return doc_expected(d, i, "percent", "1 to 256 classes as in {big: 60, small: 40}");
    classes = reading_array(r, d->node[i].count, sizeof(*classes));
    if (!classes)
        return -1;
    c->classes = classes;
    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end) {
        struct sched_class *one = &classes[c->n++];
        if (value_name(r, key, "percent", &one->name) < 0 ||
            value_number(r, key + 1, one->name, 0, CLASSES_PERCENT_MAX, false, &one->percent) < 0)
            return -1;
    }
    return 0;
}

/* The name of a class that has been read. */
static int read_class(struct reading *r, uint32_t i, const char *key, const struct sched_classes *c,
                      const char **ret)
{
    if (i == DOC_NONE)
        return 0;
    for (size_t k = 0; k < c->n && doc_is_text(&r->doc, i); k++)
        if (strcmp(c->classes[k].name, doc_text(&r->doc, i)) == 0) {
            *ret = c->classes[k].name;
            return 0;
        }
    return doc_expected(&r->doc, i, key, "the name of a class of the key percent");
}

enum pattern_key { MATCH, CLASS, PATTERN_KEYS };
static const char *const pattern_names[] = {"match", "class"};
static const struct doc_keys pattern_keys = {"a pattern", pattern_names, PATTERN_KEYS,
                                             PATTERN_KEYS};

static int read_patterns(struct reading *r, uint32_t i, struct sched_classes *c)
{
    const struct doc *d = &r->doc;
    struct sched_class_pattern *patterns;
    uint32_t value[PATTERN_KEYS];

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_LIST || d->node[i].count > CLASSES_REQUESTORS)
        return doc_expected(d, i, "patterns",
                            "at most 256 patterns as in [{match: ^ci, class: big}]");
    patterns = reading_array(r, d->node[i].count, sizeof(*patterns));
    if (!patterns)
        return -1;
    c->patterns = patterns;
    for (uint32_t x = i + 1; x < d->node[i].end; x = d->node[x].end) {
        struct sched_class_pattern *one = &patterns[c->n_patterns++];
        if (doc_fields(d, x, &pattern_keys, value) < 0 ||
            value_text(r, value[MATCH], "match", &one->pattern) < 0 ||
            read_class(r, value[CLASS], "class", c, &one->name) < 0)
            return -1;
    }
    return 0;
}

static int read_worker(struct reading *r, uint32_t i, struct sched_classes *c)
{
    const struct doc *d = &r->doc;
    bool is_name = i != DOC_NONE && doc_is_text(d, i);
    struct sched_limit *worker;

    if (i == DOC_NONE)
        return 0;
    if (!is_name && (d->node[i].kind != DOC_MAPPING || d->node[i].count < 1 ||
                     d->node[i].count > SCHED_SHARE_RESOURCES))
        return doc_expected(d, i, "worker", "a resource, or amounts as in {core: 4, memory: 16}");
    worker = reading_array(r, is_name ? 1 : d->node[i].count, sizeof(*worker));
    if (!worker)
        return -1;
    c->worker = worker;
    if (is_name) {
        worker[c->n_worker++].most = 1;
        return value_name(r, i, "worker", &worker->what);
    }
    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end) {
        struct sched_limit *of = &worker[c->n_worker++];
        if (value_name(r, key, "worker", &of->what) < 0 ||
            value_number(r, key + 1, of->what, 1, COUNT_MAX, false, &of->most) < 0)
            return -1;
    }
    return 0;
}

enum rebalance_key { THRESHOLD, AFTER, REBALANCE_KEYS };
static const char *const rebalance_names[] = {"threshold", "after"};
static const struct doc_keys rebalance_keys = {"rebalance", rebalance_names, REBALANCE_KEYS, 1};

static int read_rebalance(struct reading *r, uint32_t i, struct sched_classes *c)
{
    uint32_t value[REBALANCE_KEYS];

    if (i == DOC_NONE)
        return 0;
    c->rebalance_duration = REBALANCE_AFTER * r->second;
    if (doc_fields(&r->doc, i, &rebalance_keys, value) < 0 ||
        value_number(r, value[THRESHOLD], "threshold", 0, 200, false, &c->rebalance_threshold) < 0)
        return -1;
    return value_time(r, value[AFTER], "after", TIME_POSITIVE, &c->rebalance_duration);
}

enum classes_key { PERCENT, PATTERNS, DEFAULT, WORKER, REBALANCE, LONGEST_FIRST, CLASSES_KEYS };
static const char *const classes_names[] = {"percent", "patterns",  "default",
                                            "worker",  "rebalance", "longest-first"};
static const struct doc_keys classes_keys = {"classes", classes_names, CLASSES_KEYS, 1};

int read_classes(struct reading *r, uint32_t i, struct sched_classes *c)
{
    uint32_t value[CLASSES_KEYS];

    if (doc_fields(&r->doc, i, &classes_keys, value) < 0 ||
        read_percents(r, value[PERCENT], c) < 0 || read_patterns(r, value[PATTERNS], c) < 0 ||
        read_class(r, value[DEFAULT], "default", c, &c->default_class) < 0 ||
        read_worker(r, value[WORKER], c) < 0 ||
        value_switch(r, value[LONGEST_FIRST], "longest-first", &c->longest_first) < 0)
        return -1;
    return read_rebalance(r, value[REBALANCE], c);
}
