/* The limits of a queue, and their exceptions; those of an account. */
#include <errno.h>
#include <string.h>

#include "berth/sched_config.h"
#include "config/read.h"

enum { LIMITS_MAX = 256 }; /* for a job, a user, a queue or an account */

/* Who is limited, and what can be. */
enum limited { OF_JOB, OF_USER, OF_QUEUE, OF_ACCOUNT };
static const struct {
    const char *of;
    const char *expected;
    bool jobs, duration; /* whether "running" and "pending", and "duration" are allowed */
} limited[] = {
    [OF_JOB] = {"job", "duration or a type of resources in the limits of a job", false, true},
    [OF_USER] = {"user", "running, pending or a type of resources in the limits of a user", true,
                 false},
    [OF_QUEUE] = {"queue", "running, pending or a type of resources in the limits of a queue", true,
                  false},
    [OF_ACCOUNT] = {"limits", "running, pending or a type of resources in the limits of an account",
                    true, false},
};

static int read_one_limit(struct reading *r, uint32_t key, enum limited of,
                          struct sched_limit *limit)
{
    bool duration = doc_is(&r->doc, key, "duration");
    bool jobs = doc_is(&r->doc, key, "running") || doc_is(&r->doc, key, "pending");

    if ((duration && !limited[of].duration) || (jobs && !limited[of].jobs))
        return value_misplaced(r, key, doc_text(&r->doc, key), limited[of].expected);
    if (value_name(r, key, limited[of].of, &limit->what) < 0)
        return -1;
    if (duration)
        return value_time(r, key + 1, limit->what, TIME_UNLIMITED_TOO, &limit->most);
    return value_number(r, key + 1, limit->what, 0, COUNT_MAX, true, &limit->most);
}

/* Replace the limit of the same name, or append a new one. */
static void put_named_limit(struct sched_limit *limits, size_t *n, const struct sched_limit *limit)
{
    size_t i = 0;

    while (i < *n && strcmp(limits[i].what, limit->what) != 0)
        i++;
    limits[i] = *limit;
    *n += i == *n;
}

/* What *ret already has stays unless it is given. */
static int read_of(struct reading *r, uint32_t i, enum limited of, const struct sched_limit **ret,
                   size_t *n)
{
    const struct doc *d = &r->doc;
    struct sched_limit *limits, limit;

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_MAPPING)
        return doc_expected(d, i, limited[of].of, "limits as in {node: 4, core: 64}");
    if (*n + d->node[i].count > LIMITS_MAX)
        return doc_fault(d, i, "key \"%s\": expected at most %d limits", limited[of].of,
                         LIMITS_MAX);
    limits = reading_array(r, *n + d->node[i].count, sizeof(*limits));
    if (!limits)
        return -1;
    if (*n > 0)
        memcpy(limits, *ret, *n * sizeof(*limits));
    *ret = limits;
    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end) {
        if (read_one_limit(r, key, of, &limit) < 0)
            return -1;
        put_named_limit(limits, n, &limit);
    }
    return 0;
}

int read_account_limits(struct reading *r, uint32_t i, struct sched_account *account)
{
    return read_of(r, i, OF_ACCOUNT, &account->limits, &account->n_limits);
}

enum except_key { USERS, GROUPS, EXCEPT_JOB, EXCEPT_USER, EXCEPT_KEYS };
static const char *const except_names[] = {"users", "groups", "job", "user"};
static const struct doc_keys except_keys = {"an exception", except_names, EXCEPT_KEYS, 0};

static int read_exception(struct reading *r, uint32_t i, struct sched_exception *e)
{
    uint32_t value[EXCEPT_KEYS];

    if (doc_fields(&r->doc, i, &except_keys, value) < 0 ||
        value_names(r, value[USERS], "users", &e->users, &e->n_users) < 0 ||
        value_names(r, value[GROUPS], "groups", &e->groups, &e->n_groups) < 0)
        return -1;
    if (e->n_users + e->n_groups == 0)
        return doc_fault(&r->doc, i, "key \"except\": expected users or groups that it is for");
    if (read_of(r, value[EXCEPT_JOB], OF_JOB, &e->limits.job, &e->limits.n_job) < 0)
        return -1;
    return read_of(r, value[EXCEPT_USER], OF_USER, &e->limits.user, &e->limits.n_user);
}

static int read_exceptions(struct reading *r, uint32_t i, struct sched_queue_config *queue)
{
    const struct doc *d = &r->doc;
    struct sched_exception *exceptions;

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_LIST)
        return doc_expected(d, i, "except",
                            "a list of exceptions as in {users: [u1], job: {node: 16}}");
    exceptions = reading_array(r, d->node[i].count, sizeof(*exceptions));
    if (!exceptions)
        return -1;
    queue->exceptions = exceptions;
    queue->n_exceptions = 0;
    queue->has_parents_exceptions = false;
    for (uint32_t x = i + 1; x < d->node[i].end; x = d->node[x].end)
        if (read_exception(r, x, &exceptions[queue->n_exceptions++]) < 0)
            return -1;
    return 0;
}

enum limits_key { JOB, USER, QUEUE, EXCEPT, LIMITS_KEYS };
static const char *const limits_names[] = {"job", "user", "queue", "except"};
static const struct doc_keys limits_keys = {"the limits", limits_names, LIMITS_KEYS, 0};

int read_limits(struct reading *r, uint32_t i, struct sched_queue_config *queue)
{
    struct sched_limits *limits = &queue->limits;
    uint32_t value[LIMITS_KEYS];

    if (i == DOC_NONE)
        return 0;
    if (doc_fields(&r->doc, i, &limits_keys, value) < 0 ||
        read_of(r, value[JOB], OF_JOB, &limits->job, &limits->n_job) < 0 ||
        read_of(r, value[USER], OF_USER, &limits->user, &limits->n_user) < 0 ||
        read_of(r, value[QUEUE], OF_QUEUE, &limits->queue, &limits->n_queue) < 0)
        return -1;
    return read_exceptions(r, value[EXCEPT], queue);
}
