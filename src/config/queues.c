/* The section `queues`. */
#include <stdio.h>

#include "base/errtext.h"
#include "berth/sched_config.h"
#include "config/read.h"

enum queue_key {
    PARENT,
    POLICY, /* from here to SHARES, keys that only the parent of a virtual queue has */
    QUEUE_DEPTH,
    MAX_QUEUE_DEPTH,
    RESERVATION_DEPTH,
    MAX_RESERVATION_DEPTH,
    REQUIRES,
    PREEMPTIBLE,
    SHARES,
    PRIORITY,
    USERS,
    GROUPS,
    DEFAULT_DURATION,
    DEFAULT_LIMIT,
    STARVATION_THRESHOLD,
    CLAIMS,
    CLAIMS_ADMIT,
    PREEMPTS,
    KEEPS_GANGS,
    SLA_WAITING_TIME,
    LIMITS,
    QUEUE_KEYS
};
static const char *const queue_names[] = {"parent",
                                          "policy",
                                          "queue-depth",
                                          "max-queue-depth",
                                          "reservation-depth",
                                          "max-reservation-depth",
                                          "requires",
                                          "preemptible",
                                          "shares",
                                          "priority",
                                          "users",
                                          "groups",
                                          "default-duration",
                                          "default-limit",
                                          "starvation-threshold",
                                          "claims",
                                          "claims-admit",
                                          "preempts",
                                          "keeps-gangs",
                                          "sla-waiting-time",
                                          "limits"};
/* By what they mean: SCHED_PREEMPTS_..., added up. */
const char *const config_preempts[] = {"preemptible", "lower",  "borrowers", "both",
                                       "nobody",      "richer", NULL};
static const unsigned meant_by_preempts[] = {0,
                                             SCHED_PREEMPTS_LOWER,
                                             SCHED_PREEMPTS_BORROWERS,
                                             SCHED_PREEMPTS_LOWER | SCHED_PREEMPTS_BORROWERS,
                                             SCHED_PREEMPTS_NOBODY,
                                             SCHED_PREEMPTS_RICHER};
const char *const config_claims_admit[] = {"preemptible", "unknown", NULL};

static const struct doc_keys queue_keys = {"a queue", queue_names, QUEUE_KEYS, 0};

/* A depth that is not given, or "unlimited", is 0. */
static int read_depth(struct reading *r, const uint32_t *value, enum queue_key key, int64_t *ret)
{
    if (value_number(r, value[key], queue_names[key], 1, COUNT_MAX, true, ret) < 0)
        return -1;
    if (*ret == SCHED_UNLIMITED)
        *ret = 0;
    return 0;
}

/* Lower a depth to a bound; 0 is unlimited for both. */
static int64_t cap(int64_t depth, int64_t max)
{
    return max > 0 && (depth == 0 || depth > max) ? max : depth;
}

bool policy_takes_depth(const struct sched_policy *policy)
{
    return policy->is_tunable && policy->depth != SCHED_UNLIMITED;
}

bool policy_takes_bound(const struct sched_policy *policy)
{
    return policy->is_tunable;
}

/* Report a key that does not belong to the queue's policy. */
static int misplaced(const struct reading *r, uint32_t i, enum queue_key key,
                     bool (*takes)(const struct sched_policy *))
{
    const char *names[SCHED_POLICIES_MAX + 1];
    size_t n = 0;
    char list[ERRTEXT_LIST_MAX], where[sizeof(list) + 20];

    for (size_t p = 0; sched_policy(p); p++)
        if (takes(sched_policy(p)))
            names[n++] = sched_policy(p)->name;
    names[n] = NULL;
    snprintf(where, sizeof(where), "only with policy %s",
             errtext_list(list, sizeof(list), names, " or "));
    return value_misplaced(r, i, queue_names[key], where);
}

static int read_policy(struct reading *r, const uint32_t *value, struct sched_queue_config *queue)
{
    const struct sched_policy *policy = sched_policy_usual();
    size_t which = 0;

    if (value_word(r, value[POLICY], "policy", sched_policies(), &which) < 0)
        return -1;
    if (value[POLICY] != DOC_NONE)
        policy = sched_policy(which);
    queue->policy = policy->name;
    if (value[RESERVATION_DEPTH] != DOC_NONE && !policy_takes_depth(policy))
        return misplaced(r, value[RESERVATION_DEPTH], RESERVATION_DEPTH, policy_takes_depth);
    if (value[MAX_RESERVATION_DEPTH] != DOC_NONE && !policy_takes_bound(policy))
        return misplaced(r, value[MAX_RESERVATION_DEPTH], MAX_RESERVATION_DEPTH,
                         policy_takes_bound);
    if (read_depth(r, value, QUEUE_DEPTH, &queue->queue_depth) < 0 ||
        read_depth(r, value, MAX_QUEUE_DEPTH, &queue->max_queue_depth) < 0 ||
        read_depth(r, value, MAX_RESERVATION_DEPTH, &queue->max_reservation_depth) < 0)
        return -1;
    queue->queue_depth = cap(queue->queue_depth, queue->max_queue_depth);
    if (!policy_takes_depth(policy))
        return 0;
    queue->reservation_depth = policy->depth;
    if (value_number(r, value[RESERVATION_DEPTH], "reservation-depth", 1, COUNT_MAX, false,
                     &queue->reservation_depth) < 0)
        return -1;
    queue->reservation_depth = cap(queue->reservation_depth, queue->max_reservation_depth);
    return 0;
}

static int read_preemptible(struct reading *r, uint32_t i, struct sched_queue_config *queue)
{
    static const char *const words[] = {"no", "yes", "cancel", "requeue", NULL};
    static const enum sched_preemptible meant[] = {SCHED_NOT_PREEMPTIBLE, SCHED_PREEMPT_CANCEL,
                                                   SCHED_PREEMPT_CANCEL, SCHED_PREEMPT_REQUEUE};
    size_t word = 0;

    if (i != DOC_NONE && doc_is(&r->doc, i, "true"))
        word = 1;
    else if (i != DOC_NONE && doc_is(&r->doc, i, "false"))
        word = 0;
    else if (value_word(r, i, "preemptible", words, &word) < 0)
        return -1;
    queue->preemptible = meant[word];
    return 0;
}

size_t config_preempts_word(unsigned preempts)
{
    size_t word = 0;
    while (word + 1 < sizeof(meant_by_preempts) / sizeof(*meant_by_preempts) &&
           meant_by_preempts[word] != preempts)
        word++;
    return word;
}

static int read_preempts(struct reading *r, const uint32_t *value, struct sched_queue_config *queue)
{
    size_t whom = config_preempts_word(queue->preempts);
    size_t admits = queue->claims_admit_unknown;

    if (value_word(r, value[PREEMPTS], "preempts", config_preempts, &whom) < 0 ||
        value_word(r, value[CLAIMS_ADMIT], "claims-admit", config_claims_admit, &admits) < 0 ||
        value_switch(r, value[KEEPS_GANGS], "keeps-gangs", &queue->keeps_gangs) < 0)
        return -1;
    queue->preempts = meant_by_preempts[whom];
    queue->claims_admit_unknown = admits > 0;
    return 0;
}

/* The keys of all queues, virtual or not; values that are already set are the defaults. */
static int read_common(struct reading *r, const uint32_t *value, struct sched_queue_config *queue)
{
    if (value[USERS] != DOC_NONE || value[GROUPS] != DOC_NONE)
        queue->n_users = queue->n_groups = 0;
    if (value_number(r, value[PRIORITY], "priority", -SCHED_QUEUE_PRIORITY_MAX,
                     SCHED_QUEUE_PRIORITY_MAX, false, &queue->priority) < 0 ||
        value_names(r, value[USERS], "users", &queue->users, &queue->n_users) < 0 ||
        value_names(r, value[GROUPS], "groups", &queue->groups, &queue->n_groups) < 0 ||
        value_time(r, value[DEFAULT_DURATION], "default-duration", TIME_OR_UNKNOWN,
                   &queue->default_duration) < 0 ||
        value_time(r, value[DEFAULT_LIMIT], "default-limit", TIME_OR_UNLIMITED,
                   &queue->default_limit) < 0 ||
        value_time(r, value[STARVATION_THRESHOLD], "starvation-threshold", TIME_OR_NONE,
                   &queue->starvation_threshold) < 0 ||
        value_number(r, value[CLAIMS], "claims", 1, COUNT_MAX, false, &queue->claims) < 0 ||
        read_preempts(r, value, queue) < 0 ||
        value_time(r, value[SLA_WAITING_TIME], "sla-waiting-time", TIME_OR_NONE,
                   &queue->sla_waiting_time) < 0)
        return -1;
    if (queue->n_users == 0)
        queue->users = NULL;
    if (queue->n_groups == 0)
        queue->groups = NULL;
    return read_limits(r, value[LIMITS], queue);
}

/* An empty constraint or list means none. */
static int read_requires(struct reading *r, uint32_t i, struct sched_queue_config *queue)
{
    if (i != DOC_NONE && r->doc.node[i].kind != DOC_SCALAR && r->doc.node[i].count == 0)
        return 0;
    return value_constraint(r, i, "requires", &queue->requires);
}

static int read_own(struct reading *r, const uint32_t *value, struct sched_queue_config *queue)
{
    queue->default_duration = r->config->sched.default_duration;
    queue->default_limit = r->config->sched.default_limit;
    queue->starvation_threshold = r->config->sched.starvation_threshold;
    queue->claims = r->config->sched.claims;
    queue->sla_waiting_time = r->config->sched.sla_waiting_time;
    if (read_policy(r, value, queue) < 0 || read_requires(r, value[REQUIRES], queue) < 0 ||
        read_preemptible(r, value[PREEMPTIBLE], queue) < 0 ||
        read_queue_shares(r, value[SHARES], queue) < 0)
        return -1;
    return read_common(r, value, queue);
}

/* A virtual queue inherits from its parent, which has been read, whatever it may give and does not, except
 * what its jobs count for in the parent anyway: limits of the queue as a whole, and of a user.
 */
static int read_virtual(struct reading *r, const uint32_t *value,
                        const struct sched_queue_config *parent, struct sched_queue_config *queue)
{
    for (uint32_t k = POLICY; k <= SHARES; k++)
        if (value[k] != DOC_NONE)
            return doc_fault(&r->doc, value[k],
                             "key \"%s\": expected in its parent, queue \"%.60s\", only",
                             queue_names[k], parent->name);
    queue->parent = parent->name;
    queue->priority = parent->priority;
    queue->users = parent->users;
    queue->n_users = parent->n_users;
    queue->groups = parent->groups;
    queue->n_groups = parent->n_groups;
    queue->default_duration = parent->default_duration;
    queue->default_limit = parent->default_limit;
    queue->starvation_threshold = parent->starvation_threshold;
    queue->claims = parent->claims;
    queue->preempts = parent->preempts;
    queue->claims_admit_unknown = parent->claims_admit_unknown;
    queue->keeps_gangs = parent->keeps_gangs;
    queue->sla_waiting_time = parent->sla_waiting_time;
    queue->limits.job = parent->limits.job;
    queue->limits.n_job = parent->limits.n_job;
    queue->has_parents_exceptions = true;
    return read_common(r, value, queue);
}

/* Read the fields of a queue; a queue without a value has none. */
static int fields(const struct reading *r, uint32_t i, uint32_t *value)
{
    for (uint32_t k = 0; k < QUEUE_KEYS; k++)
        value[k] = DOC_NONE;
    return doc_is_null(&r->doc, i) ? 0 : doc_fields(&r->doc, i, &queue_keys, value);
}

/* Read the virtual queues, or the others. */
static int read_some(struct reading *r, uint32_t i, struct sched_queue_config *queues, bool virtual)
{
    const struct doc *d = &r->doc;
    uint32_t value[QUEUE_KEYS], parent, n = 0;

    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end, n++) {
        if (fields(r, key + 1, value) < 0)
            return -1;
        if ((value[PARENT] != DOC_NONE) != virtual)
            continue;
        if (!virtual) {
            if (read_own(r, value, &queues[n]) < 0)
                return -1;
            continue;
        }
        /* Only a queue that has been read and is not virtual has a policy. */
        if (!doc_is_text(d, value[PARENT]) ||
            !intern_find(&r->queues, doc_text(d, value[PARENT]), d->node[value[PARENT]].length,
                         &parent) ||
            !queues[parent].policy)
            return doc_expected(d, value[PARENT], "parent",
                                "the name of a queue that has no parent itself");
        if (read_virtual(r, value, &queues[parent], &queues[n]) < 0)
            return -1;
    }
    return 0;
}

static int name_queues(struct reading *r, uint32_t i, struct sched_queue_config *queues)
{
    const struct doc *d = &r->doc;
    uint32_t n;

    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end) {
        const char *name;
        if (value_name(r, key, "queues", &name) < 0)
            return -1;
        if (intern_put(&r->queues, name, d->node[key].length, &n) < 0)
            return errtext_no_memory(d->err);
        queues[n].name = name;
    }
    return 0;
}

/* Without the section, there is one queue. */
static int make_default(struct reading *r)
{
    uint32_t value[QUEUE_KEYS], n;
    struct sched_queue_config *queue;

    for (uint32_t k = 0; k < QUEUE_KEYS; k++)
        value[k] = DOC_NONE;
    queue = reading_array(r, 1, sizeof(*queue));
    if (!queue)
        return -1;
    queue->name = "default";
    r->config->sched.queues = queue;
    r->config->sched.n_queues = 1;
    if (intern_put(&r->queues, "default", 7, &n) < 0)
        return errtext_no_memory(r->doc.err);
    return read_own(r, value, queue);
}

int read_queues(struct reading *r, uint32_t i)
{
    const struct doc *d = &r->doc;
    struct sched_queue_config *queues;

    if (i == DOC_NONE)
        return make_default(r);
    if (d->node[i].kind != DOC_MAPPING || d->node[i].count == 0 ||
        d->node[i].count > CONFIG_QUEUES_MAX)
        return doc_fault(d, i, "key \"queues\": expected 1 to %d queues as NAME: {...}",
                         CONFIG_QUEUES_MAX);
    queues = reading_array(r, d->node[i].count, sizeof(*queues));
    if (!queues)
        return -1;
    r->config->sched.queues = queues;
    r->config->sched.n_queues = d->node[i].count;
    if (name_queues(r, i, queues) < 0 || read_some(r, i, queues, false) < 0)
        return -1;
    return read_some(r, i, queues, true);
}
