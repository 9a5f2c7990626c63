/* The sections `users` and `trace`. */
#include <stdlib.h>

#include "config/read.h"

int read_users(struct reading *r, uint32_t i)
{
    const struct doc *d = &r->doc;
    struct config_user *users;
    size_t n = 0;

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_MAPPING)
        return doc_expected(d, i, "users", "users with their groups as in {u1: [staff]}");
    users = reading_array(r, d->node[i].count, sizeof(*users));
    if (!users)
        return -1;
    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end, n++) {
        if (value_name(r, key, "users", &users[n].name) < 0)
            return -1;
        if (!doc_is_null(d, key + 1) &&
            value_names(r, key + 1, users[n].name, &users[n].groups, &users[n].n_groups) < 0)
            return -1;
    }
    r->config->users = users;
    r->config->n_users = n;
    return 0;
}

static int read_queue_name(struct reading *r, uint32_t i, const char *key, const char **ret)
{
    uint32_t queue = 0;

    if (value_queue(r, i, key, &queue) < 0)
        return -1;
    *ret = r->config->sched.queues[queue].name;
    return 0;
}

static int by_name_number(const void *a, const void *b)
{
    const struct config_name *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/* A mapping from numbers, which gets sorted by them. */
static int read_numbers(struct reading *r, uint32_t i, const char *key,
                        int (*read)(struct reading *, uint32_t, const char *, const char **),
                        const struct config_name **ret, size_t *n)
{
    const struct doc *d = &r->doc;
    struct config_name *names;
    size_t count = 0;

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_MAPPING)
        return doc_expected(d, i, key, "a mapping from the trace's numbers");
    names = reading_array(r, d->node[i].count, sizeof(*names));
    if (!names)
        return -1;
    for (uint32_t x = i + 1; x < d->node[i].end; x = d->node[x + 1].end, count++)
        if (value_number(r, x, key, -1, COUNT_MAX, false, &names[count].number) < 0 ||
            read(r, x + 1, key, &names[count].name) < 0)
            return -1;
    if (count > 0)
        qsort(names, count, sizeof(*names), by_name_number);
    *ret = names;
    *n = count;
    return 0;
}

enum trace_key { PROCESSOR, QUEUES, USERS, GROUPS, PARTITIONS, TRACE_KEYS };
static const char *const trace_names[] = {"processor", "queues", "users", "groups", "partitions"};
static const struct doc_keys trace_keys = {"the trace", trace_names, TRACE_KEYS, 0};

int read_trace(struct reading *r, uint32_t i)
{
    static const char *const processors[] = {"core", "node", NULL};
    struct config_trace *trace = &r->config->trace;
    uint32_t value[TRACE_KEYS];
    size_t processor = 0;

    trace->processor = processors[0];
    if (i == DOC_NONE)
        return 0;
    if (doc_fields(&r->doc, i, &trace_keys, value) < 0 ||
        value_word(r, value[PROCESSOR], "processor", processors, &processor) < 0 ||
        read_numbers(r, value[QUEUES], "queues", read_queue_name, &trace->queues,
                     &trace->n_queues) < 0 ||
        read_numbers(r, value[USERS], "users", value_name, &trace->users, &trace->n_users) < 0 ||
        read_numbers(r, value[GROUPS], "groups", value_name, &trace->groups, &trace->n_groups) < 0)
        return -1;
    trace->processor = processors[processor];
    return read_numbers(r, value[PARTITIONS], "partitions", value_constraint, &trace->partitions,
                        &trace->n_partitions);
}
