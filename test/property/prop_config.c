/* Configurations, made at random: what config_show writes of one, config_read reads to the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "berth/sched_config.h"
#include "config/config.h"
#include "random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { STEPS = 10000 };

/* Where a configuration is made. */
struct maker {
    struct random r;
    struct arena arena;
    int64_t second;
};

static int64_t any(struct maker *m, int64_t low, int64_t high)
{
    return random_between(&m->r, low, high);
}

static void *make(struct maker *m, size_t n, size_t size)
{
    void *array = arena_alloc(&m->arena, (n + 1) * size);
    assert_non_null(array);
    memset(array, 0, (n + 1) * size);
    return array;
}

/* Pieces of names, and of texts those and more: whatever YAML or JSON could take for something else. */
static const char *const pieces[] = {
    "a",
    "node",
    "null",
    "~",
    "-",
    "yes",
    "1",
    "0x1f",
    "é",
    "\"",
    "'",
    "\\",
    "#",
    ":",
    "{",
    "]",
    "*",
    "&",
    "!",
    "%",
    "@",
    "?",
    "|",
    ">",
    "/",
    ".",
    "_",
    "+",
    "\xc2\x85",
    "\xe2\x80\xa8",
    "\xf0\x9f\x98\x80",
    "=",
    "<<",
    "[",
    "}",
    "`",
    "T",
    "\xef\xbb\xbf",
    "\xc3\xbc",
    "\xef\xbf\xbe",
    ",",
    " ",
    "\n",
    "\t",
    ": ",
    " #",
    "\x7f",
    "\x01",
    "\r",
    "  ",
};
enum { NAME_PIECES = 40 };

static const char *make_text(struct maker *m, bool name)
{
    char *text = make(m, 64, 1);
    for (int64_t n = any(m, 1, 4); n > 0; n--)
        strcat(text, pieces[any(m, 0, name ? NAME_PIECES - 1 : (int64_t)COUNT(pieces) - 1)]);
    return text;
}

/* Names of which none comes twice. */
static const char *const *make_names(struct maker *m, size_t *n)
{
    *n = any(m, 0, 1) ? 0 : (size_t)any(m, 1, 4);
    const char **names = make(m, *n, sizeof(*names));
    for (size_t i = 0; i < *n; i++) {
        char *name = make(m, 80, 1);
        sprintf(name, "%s%d", make_text(m, true), (int)i);
        names[i] = name;
    }
    return names;
}

/* A time that can be written with six decimals, or that is one tick of those that can't. */
static int64_t make_time(struct maker *m, int64_t min)
{
    int64_t step = m->second > 1000000 ? m->second / 1000000 : 1;
    int64_t most = INT64_C(3153600000) * (m->second / step);
    int64_t shift = any(m, 0, 50);
    int64_t time = any(m, 0, 1) ? any(m, 0, most >> shift) : any(m, 0, 100) * (m->second / step);
    time = time < most ? time : most;
    return (time < min ? min : time) * step;
}

static int64_t make_count(struct maker *m, int64_t min)
{
    int64_t count = any(m, min, INT64_C(1000000000000000) >> any(m, 0, 49));
    return count < min ? min : count;
}

static const struct sched_limit *make_limits(struct maker *m, const char *extra, const char *other,
                                             size_t *n)
{
    const char *const whats[] = {"node", "core", extra, other ? other : "gpu", "~", "null"};
    *n = (size_t)any(m, 0, COUNT(whats));
    struct sched_limit *limits = make(m, *n, sizeof(*limits));
    for (size_t i = 0; i < *n; i++) {
        limits[i].what = whats[i];
        limits[i].most = strcmp(whats[i], "duration") == 0 ? make_time(m, 0) : make_count(m, 0);
        if (any(m, 0, 4) == 0)
            limits[i].most = SCHED_UNLIMITED;
    }
    return limits;
}

static const char *make_constraint(struct maker *m)
{
    static const char *const constraints[] = {
        "{\"properties\": [\"gpu\", \"^old\"]}",
        "{\"hostlist\": [\"node[0-3]\", \"x\"]}",
        "{\"and\": [{\"ranks\": [\"0-3\"]}, {}]}",
        "{\"not\": []}",
        "{\"or\": [{\"properties\": [\"caf\xc3\xa9 a#b: c,d\"]}]}",
    };
    return constraints[any(m, 0, COUNT(constraints) - 1)];
}

static void make_resources(struct maker *m, struct config_resources *r)
{
    static const char *const formats[] = {"grug",    "jgf",           "jgf_shorthand",
                                          "rv1exec", "rv1exec_force", "hwloc"};
    r->source = (enum config_source)any(m, CONFIG_FILE, CONFIG_SLURM);
    if (r->source == CONFIG_FILE) {
        r->file = make_text(m, false);
        r->format = formats[any(m, 0, COUNT(formats) - 1)];
    } else if (r->source == CONFIG_NODES) {
        r->nodes = any(m, 1, 1000);
        r->cores = any(m, 1, 1000);
        r->gpus = any(m, 0, 9);
        r->gpu_memory = r->gpus > 0 && any(m, 0, 1) > 0 ? any(m, 1, 99) : 0;
        r->memory = any(m, 0, 1000000000);
    }
}

static void make_slurm(struct maker *m, struct config *c)
{
    bool any_of_it = c->resources.source == CONFIG_SLURM;
    c->slurm.partition = any_of_it && any(m, 0, 1) ? "batch" : NULL;
    c->slurm.options = any_of_it && any(m, 0, 1) ? "-A physics --qos=low" : NULL;
}

static void make_match(struct maker *m, struct config *c)
{
    static const char *const policies[] = {"first", "low", "policy=high stop_on_1_matches=true"};
    static const char *const filters[] = {"ALL:core,ALL:node", "ALL:core", "rack:node,ALL:gpu"};
    static const char *const subsystems[] = {"CA", "C+PA", "ALL"};
    static const char *const formats[] = {"simple", "rv1", "jgf_shorthand"};
    c->match.policy = policies[any(m, 0, 2)];
    c->match.traverser = any(m, 0, 1) ? "simple" : "flexible";
    c->match.filters = filters[any(m, 0, 2)];
    c->match.matcher = subsystems[any(m, 0, 2)];
    c->match_format = formats[any(m, 0, 2)];
}

static int64_t make_depth(struct maker *m)
{
    return any(m, 0, 2) ? make_count(m, 1) : 0;
}

/* A depth is no more than its bound, where there is one. */
static int64_t bounded(int64_t depth, int64_t max)
{
    return max > 0 && (depth == 0 || depth > max) ? max : depth;
}

static void make_own(struct maker *m, struct sched_queue_config *q)
{
    q->policy = sched_policies()[any(m, 0, 4)];
    q->max_queue_depth = make_depth(m);
    q->queue_depth = bounded(make_depth(m), q->max_queue_depth);
    if (strcmp(q->policy, "hybrid") == 0 || strcmp(q->policy, "conservative") == 0)
        q->max_reservation_depth = make_depth(m);
    if (strcmp(q->policy, "hybrid") == 0)
        q->reservation_depth = bounded(make_count(m, 1), q->max_reservation_depth);
    if (any(m, 0, 1))
    q->requires = make_constraint(m);
    q->preemptible = (enum sched_preemptible)any(m, SCHED_NOT_PREEMPTIBLE, SCHED_PREEMPT_REQUEUE);
}

/* A virtual queue has all the limits of its parent's, with numbers of its own, and may have more. */
static const struct sched_limit *make_more(struct maker *m, const struct sched_limit *parent,
                                           size_t n_parent, size_t *n)
{
    struct sched_limit *limits = make(m, n_parent + 1, sizeof(*limits));
    for (*n = 0; *n < n_parent; ++*n) {
        bool time = strcmp(parent[*n].what, "duration") == 0;
        limits[*n].what = parent[*n].what;
        limits[*n].most = time ? make_time(m, 0) : make_count(m, 0);
    }
    if (any(m, 0, 1))
        limits[(*n)++] = (struct sched_limit){"socket", make_count(m, 0)};
    return limits;
}

static const struct sched_limit *make_amounts(struct maker *m, size_t *n)
{
    struct sched_limit *amounts = make(m, 2, sizeof(*amounts));
    *n = (size_t)any(m, 0, 2);
    for (size_t i = 0; i < *n; i++)
        amounts[i] = (struct sched_limit){i ? "gpu" : "core", make_count(m, 0)};
    return amounts;
}

/* Of the machine, or of one of so many divisions. */
static struct sched_share make_share(struct maker *m, const struct sched_shares *shares, size_t n)
{
    struct sched_share share = {.weight = any(m, 0, SCHED_SHARE_WEIGHT_MAX)};
    if (n > 0 && any(m, 0, 1))
        share.under = shares->divisions[any(m, 0, (int64_t)n - 1)].name;
    share.guarantee = make_amounts(m, &share.n_guarantee);
    share.deserved = make_amounts(m, &share.n_deserved);
    return share;
}

static struct sched_share_order make_order(struct maker *m)
{
    struct sched_share_order order = {.n = (size_t)any(m, 0, SCHED_COMPARATORS)};
    int from = (int)any(m, 0, SCHED_COMPARATORS - 1);
    for (size_t i = 0; i < order.n; i++)
        order.by[i] = (enum sched_comparator)((from + (int)i) % SCHED_COMPARATORS);
    return order;
}

static void make_shares(struct maker *m, struct sched_shares *shares)
{
    const char *const *names = make_names(m, &shares->n_divisions);
    struct sched_division *divisions = make(m, shares->n_divisions, sizeof(*divisions));
    shares->divisions = divisions;
    for (size_t i = 0; i < shares->n_divisions; i++) {
        divisions[i].name = names[i];
        divisions[i].share = make_share(m, shares, i);
        divisions[i].order = make_order(m);
    }
    shares->resources = make_names(m, &shares->n_resources);
    shares->half_life = any(m, 0, 1) ? 0 : any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    shares->order = make_order(m);
}

static const struct sched_weight *make_weights(struct maker *m, const char *const *names, size_t n)
{
    struct sched_weight *weights = make(m, n, sizeof(*weights));
    for (size_t i = 0; i < n; i++)
        weights[i] = (struct sched_weight){names[i], any(m, 1, SCHED_SHARE_WEIGHT_MAX)};
    return weights;
}

static struct sched_classes make_classes(struct maker *m)
{
    struct sched_classes c = {0};
    const char *const *names = make_names(m, &c.n);
    if (c.n == 0)
        return c;
    struct sched_class *classes = make(m, c.n, sizeof(*classes));
    for (size_t i = 0; i < c.n; i++)
        classes[i] = (struct sched_class){names[i], any(m, 0, 1000000000)};
    c.classes = classes;
    const char *const *patterns = make_names(m, &c.n_patterns);
    struct sched_class_pattern *p = make(m, c.n_patterns, sizeof(*p));
    for (size_t i = 0; i < c.n_patterns; i++)
        p[i] = (struct sched_class_pattern){patterns[i], names[any(m, 0, (int64_t)c.n - 1)]};
    c.patterns = p;
    c.default_class = any(m, 0, 1) ? names[any(m, 0, (int64_t)c.n - 1)] : NULL;
    const char *const *of = make_names(m, &c.n_worker);
    struct sched_limit *worker = make(m, c.n_worker, sizeof(*worker));
    for (size_t i = 0; i < c.n_worker; i++)
        worker[i] = (struct sched_limit){of[i], any(m, 1, 1000000)};
    c.worker = worker;
    if (any(m, 0, 1)) {
        c.rebalance_threshold = any(m, 0, 200);
        c.rebalance_duration = make_time(m, 1);
    }
    return c;
}

static void make_queue_shares(struct maker *m, const struct sched_shares *shares, bool accounts,
                              struct sched_queue_config *q)
{
    if (q->parent || any(m, 0, 1))
        return;
    q->share = make_share(m, shares, shares->n_divisions);
    q->share.capability = make_amounts(m, &q->share.n_capability);
    if (any(m, 0, 1))
        return;
    q->classes = make_classes(m);
    if (q->classes.n > 0) {
        q->by = SCHED_SHARE_CLASS;
        return;
    }
    q->by = accounts && any(m, 0, 1) ? SCHED_SHARE_ACCOUNT : SCHED_SHARE_USER;
    q->order = make_order(m);
    if (q->by == SCHED_SHARE_ACCOUNT)
        return;
    const char *const *names = make_names(m, &q->n_weights);
    q->weights = make_weights(m, names, q->n_weights);
}

/* Each is part of one before it, or of none. */
static void make_accounts(struct maker *m, struct sched_config *s)
{
    const char *const *names = make_names(m, &s->n_accounts);
    struct sched_account *accounts = make(m, s->n_accounts, sizeof(*accounts));
    s->accounts = accounts;
    for (size_t i = 0; i < s->n_accounts; i++) {
        struct sched_account *a = &accounts[i];
        a->name = names[i];
        a->under = i > 0 && any(m, 0, 1) ? names[any(m, 0, (int64_t)i - 1)] : NULL;
        a->weight = any(m, 1, SCHED_SHARE_WEIGHT_MAX);
        a->users = make_names(m, &a->n_users);
        a->n_weights = (size_t)any(m, 0, (int64_t)a->n_users);
        a->weights = make_weights(m, a->users, a->n_weights);
        a->n_default_for = (size_t)any(m, 0, (int64_t)a->n_users);
        a->default_for = a->users;
    }
}

static void make_queue(struct maker *m, struct sched_queue_config *q,
                       const struct sched_queue_config *parent)
{
    q->parent = parent ? parent->name : NULL;
    if (!parent)
        make_own(m, q);
    q->priority = any(m, -1000, 1000);
    q->users = make_names(m, &q->n_users);
    q->groups = make_names(m, &q->n_groups);
    q->default_duration = any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    q->default_limit = any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    q->starvation_threshold = any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    q->sla_waiting_time = any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    q->claims = any(m, 1, 9);
    q->claims_admit_unknown = any(m, 0, 1);
    q->preempts = (unsigned)any(m, 0, SCHED_PREEMPTS_NOBODY);
    q->keeps_gangs = any(m, 0, 1);
    if (parent) {
        q->limits.job = make_more(m, parent->limits.job, parent->limits.n_job, &q->limits.n_job);
        q->limits.user =
            make_more(m, parent->limits.user, parent->limits.n_user, &q->limits.n_user);
    } else {
        q->limits.job = make_limits(m, "duration", NULL, &q->limits.n_job);
        q->limits.user = make_limits(m, "running", "pending", &q->limits.n_user);
    }
    q->limits.queue = make_limits(m, "running", "pending", &q->limits.n_queue);
    q->n_exceptions = (size_t)any(m, 0, 2);
    struct sched_exception *e = make(m, q->n_exceptions, sizeof(*e));
    q->exceptions = e;
    for (size_t i = 0; i < q->n_exceptions; i++) {
        do {
            e[i].users = make_names(m, &e[i].n_users);
            e[i].groups = make_names(m, &e[i].n_groups);
        } while (e[i].n_users + e[i].n_groups == 0);
        e[i].limits.job = make_limits(m, "duration", NULL, &e[i].limits.n_job);
        e[i].limits.user = make_limits(m, "running", "pending", &e[i].limits.n_user);
    }
}

static void make_queues(struct maker *m, struct sched_config *s)
{
    size_t n = 0;
    const char *const *names;
    do
        names = make_names(m, &n);
    while (n == 0);
    struct sched_queue_config *queues = make(m, n, sizeof(*queues));
    size_t first = (size_t)any(m, 0, (int64_t)n - 1);
    for (size_t i = 0; i < n; i++)
        queues[i].name = names[i];
    make_queue(m, &queues[first], NULL);
    for (size_t i = 0; i < n; i++)
        if (i != first)
            make_queue(m, &queues[i], any(m, 0, 1) ? &queues[first] : NULL);
    for (size_t i = 0; i < n; i++)
        make_queue_shares(m, &s->shares, s->n_accounts > 0, &queues[i]);
    s->queues = queues;
    s->n_queues = n;
    if (n == 1 || any(m, 0, 1))
        s->default_queue = names[any(m, 0, (int64_t)n - 1)];
}

static void make_blocks(struct maker *m, struct sched_config *s)
{
    static const char *const resources[] = {"node[0-3],node7", "/cluster0/rack1", "a", "~",
                                            "1-2:x"};
    size_t n = 0;
    const char *const *names = make_names(m, &n);
    struct sched_block *blocks = make(m, n, sizeof(*blocks));
    for (size_t i = 0; i < n; i++) {
        struct sched_block *b = &blocks[i];
        b->name = names[i];
        b->resources = resources[any(m, 0, COUNT(resources) - 1)];
        b->start = make_time(m, 0);
        b->duration = make_time(m, 1);
        b->every = make_time(m, 0);
        if (b->every <= b->duration)
            b->every = 0;
        b->users = make_names(m, &b->n_users);
        b->jobs = make_names(m, &b->n_jobs);
        b->n_queues = (size_t)any(m, 0, 1);
        b->queues = &s->queues[0].name;
    }
    s->blocks = blocks;
    s->n_blocks = n;
}

enum numbers { TO_QUEUE, TO_NAME, TO_CONSTRAINT };

static const struct config_name *make_numbers(struct maker *m, const struct sched_config *s,
                                              enum numbers to, size_t *n)
{
    *n = (size_t)any(m, 0, 3);
    struct config_name *names = make(m, *n, sizeof(*names));
    int64_t number = -2;
    for (size_t i = 0; i < *n; i++) {
        number += any(m, 1, 1000);
        names[i].number = number;
        names[i].name = to == TO_QUEUE  ? s->queues[any(m, 0, (int64_t)s->n_queues - 1)].name
                        : to == TO_NAME ? make_text(m, true)
                                        : make_constraint(m);
    }
    return names;
}

static void make_config(struct maker *m, struct config *c)
{
    *c = (struct config){0};
    make_resources(m, &c->resources);
    make_slurm(m, c);
    make_match(m, c);
    c->sched.second = m->second;
    c->sched.default_duration = any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    c->sched.default_limit = any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    c->sched.starvation_threshold = any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    c->sched.sla_waiting_time = any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    c->sched.claims = any(m, 1, 9);
    c->sched.n_actions = (size_t)any(m, 0, SCHED_ACTIONS);
    for (size_t i = 0, first = (size_t)any(m, 0, 3); i < c->sched.n_actions; i++)
        c->sched.actions[i] = (enum sched_action)((first + i) % SCHED_ACTIONS);
    c->sched.min_interval = make_time(m, 0);
    c->sched.max_events = make_count(m, 0);
    c->sched.ended_jobs = make_count(m, 1);
    c->match.tries = make_count(m, 1);
    c->sched.what_if_holders = make_count(m, 1);
    c->sched.what_if_tries = make_count(m, 1);
    make_shares(m, &c->sched.shares);
    make_accounts(m, &c->sched);
    make_queues(m, &c->sched);
    make_blocks(m, &c->sched);
    const char *const *names = make_names(m, &c->n_users);
    struct config_user *users = make(m, c->n_users, sizeof(*users));
    for (size_t i = 0; i < c->n_users; i++) {
        users[i].name = names[i];
        users[i].groups = make_names(m, &users[i].n_groups);
    }
    c->users = users;
    c->trace.processor = any(m, 0, 1) ? "core" : "node";
    c->trace.queues = make_numbers(m, &c->sched, TO_QUEUE, &c->trace.n_queues);
    c->trace.users = make_numbers(m, &c->sched, TO_NAME, &c->trace.n_users);
    c->trace.groups = make_numbers(m, &c->sched, TO_NAME, &c->trace.n_groups);
    c->trace.partitions = make_numbers(m, &c->sched, TO_CONSTRAINT, &c->trace.n_partitions);
    c->server.administrators = make_names(m, &c->server.n_administrators);
    c->server.retention = any(m, 0, 3) ? make_time(m, 0) : SCHED_UNLIMITED;
    c->server.grace = make_time(m, 0);
    c->server.max_jobs_per_user = any(m, 0, 3) ? make_count(m, 1) : SCHED_UNLIMITED;
    c->server.max_stored_per_user =
        any(m, 0, 3) ? 1 + make_count(m, 0) % (INT64_C(8) << 40) : SCHED_UNLIMITED;
    c->server.requests_per_second = any(m, 0, 3) ? make_count(m, 1) : SCHED_UNLIMITED;
    c->server.tasks_per_core = any(m, 1, 1000);
    c->server.processes_per_core = !any(m, 0, 3)  ? 0
                                   : any(m, 0, 3) ? make_count(m, 1)
                                                  : SCHED_UNLIMITED;
}

/* ---- Whether two are the same ---- */

static void same_text(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a && b)
        assert_string_equal(a, b);
}

static void same_names(const char *const *a, size_t n_a, const char *const *b, size_t n_b)
{
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++)
        assert_string_equal(a[i], b[i]);
}

static void same_list(const struct sched_limit *a, size_t n_a, const struct sched_limit *b,
                      size_t n_b)
{
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++) {
        assert_string_equal(a[i].what, b[i].what);
        assert_int_equal(a[i].most, b[i].most);
    }
}

static void same_limits(const struct sched_limits *a, const struct sched_limits *b)
{
    same_list(a->job, a->n_job, b->job, b->n_job);
    same_list(a->user, a->n_user, b->user, b->n_user);
    same_list(a->queue, a->n_queue, b->queue, b->n_queue);
}

static void same_order(const struct sched_share_order *a, const struct sched_share_order *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++)
        assert_int_equal(a->by[i], b->by[i]);
}

static void same_share(const struct sched_share *a, const struct sched_share *b)
{
    same_text(a->under, b->under);
    assert_int_equal(a->weight, b->weight);
    same_list(a->guarantee, a->n_guarantee, b->guarantee, b->n_guarantee);
    same_list(a->deserved, a->n_deserved, b->deserved, b->n_deserved);
    same_list(a->capability, a->n_capability, b->capability, b->n_capability);
}

static void same_shares(const struct sched_shares *a, const struct sched_shares *b)
{
    same_names(a->resources, a->n_resources, b->resources, b->n_resources);
    assert_int_equal(a->half_life, b->half_life);
    same_order(&a->order, &b->order);
    assert_int_equal(a->n_divisions, b->n_divisions);
    for (size_t i = 0; i < a->n_divisions; i++) {
        same_text(a->divisions[i].name, b->divisions[i].name);
        same_share(&a->divisions[i].share, &b->divisions[i].share);
        same_order(&a->divisions[i].order, &b->divisions[i].order);
    }
}

static void same_weights(const struct sched_weight *a, size_t n, const struct sched_weight *b,
                         size_t others)
{
    assert_int_equal(n, others);
    for (size_t i = 0; i < n; i++) {
        same_text(a[i].name, b[i].name);
        assert_int_equal(a[i].weight, b[i].weight);
    }
}

static void same_account(const struct sched_account *a, const struct sched_account *b)
{
    same_text(a->name, b->name);
    same_text(a->under, b->under);
    assert_int_equal(a->weight, b->weight);
    same_names(a->users, a->n_users, b->users, b->n_users);
    same_weights(a->weights, a->n_weights, b->weights, b->n_weights);
    same_names(a->default_for, a->n_default_for, b->default_for, b->n_default_for);
}

static void same_classes(const struct sched_classes *a, const struct sched_classes *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        same_text(a->classes[i].name, b->classes[i].name);
        assert_int_equal(a->classes[i].percent, b->classes[i].percent);
    }
    assert_int_equal(a->n_patterns, b->n_patterns);
    for (size_t i = 0; i < a->n_patterns; i++) {
        same_text(a->patterns[i].pattern, b->patterns[i].pattern);
        same_text(a->patterns[i].name, b->patterns[i].name);
    }
    same_text(a->default_class, b->default_class);
    assert_int_equal(a->n_worker, b->n_worker);
    for (size_t i = 0; i < a->n_worker; i++) {
        same_text(a->worker[i].what, b->worker[i].what);
        assert_int_equal(a->worker[i].most, b->worker[i].most);
    }
    assert_int_equal(a->rebalance_threshold, b->rebalance_threshold);
    assert_int_equal(a->rebalance_duration, b->rebalance_duration);
}

static void same_queue(const struct sched_queue_config *a, const struct sched_queue_config *b)
{
    same_text(a->name, b->name);
    same_text(a->parent, b->parent);
    same_text(a->policy, b->policy);
    same_text(a->requires, b->requires);
    assert_int_equal(a->queue_depth, b->queue_depth);
    assert_int_equal(a->max_queue_depth, b->max_queue_depth);
    assert_int_equal(a->reservation_depth, b->reservation_depth);
    assert_int_equal(a->max_reservation_depth, b->max_reservation_depth);
    assert_int_equal(a->priority, b->priority);
    assert_int_equal(a->default_duration, b->default_duration);
    assert_int_equal(a->default_limit, b->default_limit);
    assert_int_equal(a->starvation_threshold, b->starvation_threshold);
    assert_int_equal(a->sla_waiting_time, b->sla_waiting_time);
    assert_int_equal(a->claims, b->claims);
    assert_int_equal(a->claims_admit_unknown, b->claims_admit_unknown);
    assert_int_equal(a->preempts, b->preempts);
    assert_int_equal(a->keeps_gangs, b->keeps_gangs);
    assert_int_equal(a->preemptible, b->preemptible);
    same_names(a->users, a->n_users, b->users, b->n_users);
    same_names(a->groups, a->n_groups, b->groups, b->n_groups);
    same_limits(&a->limits, &b->limits);
    same_share(&a->share, &b->share);
    assert_int_equal(a->by, b->by);
    same_order(&a->order, &b->order);
    same_weights(a->weights, a->n_weights, b->weights, b->n_weights);
    same_classes(&a->classes, &b->classes);
    assert_int_equal(a->n_exceptions, b->n_exceptions);
    for (size_t i = 0; i < a->n_exceptions; i++) {
        const struct sched_exception *x = &a->exceptions[i], *y = &b->exceptions[i];
        same_names(x->users, x->n_users, y->users, y->n_users);
        same_names(x->groups, x->n_groups, y->groups, y->n_groups);
        same_limits(&x->limits, &y->limits);
    }
}

static void same_block(const struct sched_block *a, const struct sched_block *b)
{
    same_text(a->name, b->name);
    same_text(a->resources, b->resources);
    assert_int_equal(a->start, b->start);
    assert_int_equal(a->duration, b->duration);
    assert_int_equal(a->every, b->every);
    same_names(a->users, a->n_users, b->users, b->n_users);
    same_names(a->queues, a->n_queues, b->queues, b->n_queues);
    same_names(a->jobs, a->n_jobs, b->jobs, b->n_jobs);
}

static void same_numbers(const struct config_name *a, size_t n_a, const struct config_name *b,
                         size_t n_b)
{
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++) {
        assert_int_equal(a[i].number, b[i].number);
        assert_string_equal(a[i].name, b[i].name);
    }
}

static void same_machine(const struct config *a, const struct config *b)
{
    assert_int_equal(a->resources.source, b->resources.source);
    same_text(a->resources.file, b->resources.file);
    same_text(a->resources.format, b->resources.format);
    assert_int_equal(a->resources.nodes, b->resources.nodes);
    assert_int_equal(a->resources.cores, b->resources.cores);
    assert_int_equal(a->resources.gpus, b->resources.gpus);
    assert_int_equal(a->resources.gpu_memory, b->resources.gpu_memory);
    assert_int_equal(a->resources.memory, b->resources.memory);
    same_text(a->slurm.partition, b->slurm.partition);
    same_text(a->slurm.options, b->slurm.options);
    same_text(a->match.policy, b->match.policy);
    same_text(a->match.traverser, b->match.traverser);
    same_text(a->match.filters, b->match.filters);
    same_text(a->match.matcher, b->match.matcher);
    same_text(a->match_format, b->match_format);
}

static void same_config(const struct config *a, const struct config *b)
{
    const struct config_trace *s = &a->trace, *t = &b->trace;
    same_machine(a, b);
    same_shares(&a->sched.shares, &b->sched.shares);
    assert_int_equal(a->sched.n_accounts, b->sched.n_accounts);
    for (size_t i = 0; i < a->sched.n_accounts; i++)
        same_account(&a->sched.accounts[i], &b->sched.accounts[i]);
    assert_int_equal(a->sched.second, b->sched.second);
    same_text(a->sched.default_queue, b->sched.default_queue);
    assert_int_equal(a->sched.default_duration, b->sched.default_duration);
    assert_int_equal(a->sched.default_limit, b->sched.default_limit);
    assert_int_equal(a->sched.starvation_threshold, b->sched.starvation_threshold);
    assert_int_equal(a->sched.sla_waiting_time, b->sched.sla_waiting_time);
    assert_int_equal(a->sched.claims, b->sched.claims);
    assert_int_equal(a->sched.n_actions, b->sched.n_actions);
    for (size_t i = 0; i < a->sched.n_actions; i++)
        assert_int_equal(a->sched.actions[i], b->sched.actions[i]);
    assert_int_equal(a->sched.min_interval, b->sched.min_interval);
    assert_int_equal(a->sched.max_events, b->sched.max_events);
    assert_int_equal(a->sched.ended_jobs, b->sched.ended_jobs);
    assert_int_equal(a->match.tries, b->match.tries);
    assert_int_equal(a->sched.what_if_holders, b->sched.what_if_holders);
    assert_int_equal(a->sched.what_if_tries, b->sched.what_if_tries);
    assert_int_equal(a->sched.n_queues, b->sched.n_queues);
    for (size_t i = 0; i < a->sched.n_queues; i++)
        same_queue(&a->sched.queues[i], &b->sched.queues[i]);
    assert_int_equal(a->sched.n_blocks, b->sched.n_blocks);
    for (size_t i = 0; i < a->sched.n_blocks; i++)
        same_block(&a->sched.blocks[i], &b->sched.blocks[i]);
    assert_int_equal(a->n_users, b->n_users);
    for (size_t i = 0; i < a->n_users; i++) {
        same_text(a->users[i].name, b->users[i].name);
        same_names(a->users[i].groups, a->users[i].n_groups, b->users[i].groups,
                   b->users[i].n_groups);
    }
    same_text(s->processor, t->processor);
    same_numbers(s->queues, s->n_queues, t->queues, t->n_queues);
    same_numbers(s->users, s->n_users, t->users, t->n_users);
    same_numbers(s->groups, s->n_groups, t->groups, t->n_groups);
    same_numbers(s->partitions, s->n_partitions, t->partitions, t->n_partitions);
    same_names(a->server.administrators, a->server.n_administrators, b->server.administrators,
               b->server.n_administrators);
    assert_int_equal(a->server.retention, b->server.retention);
    assert_int_equal(a->server.grace, b->server.grace);
    assert_int_equal(a->server.max_jobs_per_user, b->server.max_jobs_per_user);
    assert_int_equal(a->server.max_stored_per_user, b->server.max_stored_per_user);
    assert_int_equal(a->server.requests_per_second, b->server.requests_per_second);
    assert_int_equal(a->server.tasks_per_core, b->server.tasks_per_core);
    assert_int_equal(a->server.processes_per_core, b->server.processes_per_core);
}

/* What the scheduler refuses is refused by the reader, in the same words. */
static bool is_refused(const struct config *made, const struct config *read, const char *text,
                       const berth_error_t *err)
{
    berth_error_t why;
    char expected[sizeof(why.text)];
    bool refused = sched_check_config(&made->sched, &why) < 0;
    if (refused == !read) {
        snprintf(expected, sizeof(expected), "shown: %.240s", refused ? why.text : "");
        if (refused && strncmp(err->text, expected, strlen(expected)) != 0)
            fail_msg("%s, not %s", err->text, expected);
        return refused;
    }
    fail_msg("%s\n%s", refused ? why.text : err->text, text);
    return true;
}

static void what_is_shown_reads_as_the_same(void **state)
{
    int same = 0;
    (void)state;
    static const int64_t seconds[] = {1, 3, 1000, 1000000, 1000000000};
    struct maker m = {.r = {1}};
    for (int step = 0; step < STEPS; step++) {
        struct arena_mark mark = arena_mark(&m.arena);
        struct config made;
        berth_error_t err;
        m.second = seconds[any(&m, 0, COUNT(seconds) - 1)];
        make_config(&m, &made);
        char *text = config_show(&made, m.second);
        assert_non_null(text);
        struct config *c = config_read("shown", text, strlen(text), m.second, &err);
        if (!is_refused(&made, c, text, &err)) {
            same_config(&made, c);
            same++;
        }
        config_destroy(c);
        free(text);
        arena_release(&m.arena, mark);
    }
    arena_clear(&m.arena);
    assert_true(same > STEPS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_shown_reads_as_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
