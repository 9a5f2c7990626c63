#include "config_draw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_config.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int64_t draw_any(struct maker *m, int64_t low, int64_t high)
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
    for (int64_t n = draw_any(m, 1, 4); n > 0; n--)
        strcat(text, pieces[draw_any(m, 0, name ? NAME_PIECES - 1 : (int64_t)COUNT(pieces) - 1)]);
    return text;
}

/* Names of which none comes twice. */
static const char *const *make_names(struct maker *m, size_t *n)
{
    *n = draw_any(m, 0, 1) ? 0 : (size_t)draw_any(m, 1, 4);
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
    int64_t shift = draw_any(m, 0, 50);
    int64_t time = draw_any(m, 0, 1) ? draw_any(m, 0, most >> shift)
                                     : draw_any(m, 0, 100) * (m->second / step);
    time = time < most ? time : most;
    return (time < min ? min : time) * step;
}

static int64_t make_count(struct maker *m, int64_t min)
{
    int64_t count = draw_any(m, min, INT64_C(1000000000000000) >> draw_any(m, 0, 49));
    return count < min ? min : count;
}

static const struct sched_limit *make_limits(struct maker *m, const char *extra, const char *other,
                                             size_t *n)
{
    const char *const whats[] = {"node", "core", extra, other ? other : "gpu", "~", "null"};
    *n = (size_t)draw_any(m, 0, COUNT(whats));
    struct sched_limit *limits = make(m, *n, sizeof(*limits));
    for (size_t i = 0; i < *n; i++) {
        limits[i].what = whats[i];
        limits[i].most = strcmp(whats[i], "duration") == 0 ? make_time(m, 0) : make_count(m, 0);
        if (draw_any(m, 0, 4) == 0)
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
    return constraints[draw_any(m, 0, COUNT(constraints) - 1)];
}

static void make_resources(struct maker *m, struct config_resources *r)
{
    static const char *const formats[] = {"grug",    "jgf",           "jgf_shorthand",
                                          "rv1exec", "rv1exec_force", "hwloc"};
    r->source = (enum config_source)draw_any(m, CONFIG_FILE, CONFIG_SLURM);
    if (r->source == CONFIG_FILE) {
        r->file = make_text(m, false);
        r->format = formats[draw_any(m, 0, COUNT(formats) - 1)];
    } else if (r->source == CONFIG_NODES) {
        r->nodes = draw_any(m, 1, 1000);
        r->cores = draw_any(m, 1, 1000);
        r->gpus = draw_any(m, 0, 9);
        r->gpu_memory = r->gpus > 0 && draw_any(m, 0, 1) > 0 ? draw_any(m, 1, 99) : 0;
        r->memory = draw_any(m, 0, 1000000000);
    }
}

static void make_slurm(struct maker *m, struct config *c)
{
    bool any_of_it = c->resources.source == CONFIG_SLURM;
    c->slurm.partition = any_of_it && draw_any(m, 0, 1) ? "batch" : NULL;
    c->slurm.options = any_of_it && draw_any(m, 0, 1) ? "-A physics --qos=low" : NULL;
}

static void make_match(struct maker *m, struct config *c)
{
    static const char *const policies[] = {"first", "low", "policy=high stop_on_1_matches=true"};
    static const char *const filters[] = {"ALL:core,ALL:node", "ALL:core", "rack:node,ALL:gpu"};
    static const char *const subsystems[] = {"CA", "C+PA", "ALL"};
    static const char *const formats[] = {"simple", "rv1", "jgf_shorthand"};
    c->match.policy = policies[draw_any(m, 0, 2)];
    c->match.traverser = draw_any(m, 0, 1) ? "simple" : "flexible";
    c->match.filters = filters[draw_any(m, 0, 2)];
    c->match.matcher = subsystems[draw_any(m, 0, 2)];
    c->match_format = formats[draw_any(m, 0, 2)];
}

static int64_t make_depth(struct maker *m)
{
    return draw_any(m, 0, 2) ? make_count(m, 1) : 0;
}

/* A depth is no more than its bound, where there is one. */
static int64_t bounded(int64_t depth, int64_t max)
{
    return max > 0 && (depth == 0 || depth > max) ? max : depth;
}

static void make_own(struct maker *m, struct sched_queue_config *q)
{
    q->policy = sched_policies()[draw_any(m, 0, 4)];
    q->max_queue_depth = make_depth(m);
    q->queue_depth = bounded(make_depth(m), q->max_queue_depth);
    if (strcmp(q->policy, "hybrid") == 0 || strcmp(q->policy, "conservative") == 0)
        q->max_reservation_depth = make_depth(m);
    if (strcmp(q->policy, "hybrid") == 0)
        q->reservation_depth = bounded(make_count(m, 1), q->max_reservation_depth);
    if (draw_any(m, 0, 1))
    q->requires = make_constraint(m);
    q->preemptible =
        (enum sched_preemptible)draw_any(m, SCHED_NOT_PREEMPTIBLE, SCHED_PREEMPT_REQUEUE);
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
    if (draw_any(m, 0, 1))
        limits[(*n)++] = (struct sched_limit){"socket", make_count(m, 0)};
    return limits;
}

static const struct sched_limit *make_amounts(struct maker *m, size_t *n)
{
    struct sched_limit *amounts = make(m, 2, sizeof(*amounts));
    *n = (size_t)draw_any(m, 0, 2);
    for (size_t i = 0; i < *n; i++)
        amounts[i] = (struct sched_limit){i ? "gpu" : "core", make_count(m, 0)};
    return amounts;
}

/* Of the machine, or of one of so many divisions. */
static struct sched_share make_share(struct maker *m, const struct sched_shares *shares, size_t n)
{
    struct sched_share share = {.weight = draw_any(m, 0, SCHED_SHARE_WEIGHT_MAX)};
    if (n > 0 && draw_any(m, 0, 1))
        share.under = shares->divisions[draw_any(m, 0, (int64_t)n - 1)].name;
    share.guarantee = make_amounts(m, &share.n_guarantee);
    share.deserved = make_amounts(m, &share.n_deserved);
    return share;
}

static struct sched_share_order make_order(struct maker *m)
{
    struct sched_share_order order = {.n = (size_t)draw_any(m, 0, SCHED_COMPARATORS)};
    int from = (int)draw_any(m, 0, SCHED_COMPARATORS - 1);
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
    shares->half_life = draw_any(m, 0, 1)   ? 0
                        : draw_any(m, 0, 3) ? make_time(m, 1)
                                            : SCHED_UNLIMITED;
    shares->order = make_order(m);
}

static const struct sched_weight *make_weights(struct maker *m, const char *const *names, size_t n)
{
    struct sched_weight *weights = make(m, n, sizeof(*weights));
    for (size_t i = 0; i < n; i++)
        weights[i] = (struct sched_weight){names[i], draw_any(m, 1, SCHED_SHARE_WEIGHT_MAX)};
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
        classes[i] = (struct sched_class){names[i], draw_any(m, 0, 1000000000)};
    c.classes = classes;
    const char *const *patterns = make_names(m, &c.n_patterns);
    struct sched_class_pattern *p = make(m, c.n_patterns, sizeof(*p));
    for (size_t i = 0; i < c.n_patterns; i++)
        p[i] = (struct sched_class_pattern){patterns[i], names[draw_any(m, 0, (int64_t)c.n - 1)]};
    c.patterns = p;
    c.default_class = draw_any(m, 0, 1) ? names[draw_any(m, 0, (int64_t)c.n - 1)] : NULL;
    const char *const *of = make_names(m, &c.n_worker);
    struct sched_limit *worker = make(m, c.n_worker, sizeof(*worker));
    for (size_t i = 0; i < c.n_worker; i++)
        worker[i] = (struct sched_limit){of[i], draw_any(m, 1, 1000000)};
    c.worker = worker;
    if (draw_any(m, 0, 1)) {
        c.rebalance_threshold = draw_any(m, 0, 200);
        c.rebalance_duration = make_time(m, 1);
    }
    return c;
}

static void make_queue_shares(struct maker *m, const struct sched_shares *shares, bool accounts,
                              struct sched_queue_config *q)
{
    if (q->parent || draw_any(m, 0, 1))
        return;
    q->share = make_share(m, shares, shares->n_divisions);
    q->share.capability = make_amounts(m, &q->share.n_capability);
    if (draw_any(m, 0, 1))
        return;
    q->classes = make_classes(m);
    if (q->classes.n > 0) {
        q->by = SCHED_SHARE_CLASS;
        return;
    }
    q->by = accounts && draw_any(m, 0, 1) ? SCHED_SHARE_ACCOUNT : SCHED_SHARE_USER;
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
        a->under = i > 0 && draw_any(m, 0, 1) ? names[draw_any(m, 0, (int64_t)i - 1)] : NULL;
        a->weight = draw_any(m, 1, SCHED_SHARE_WEIGHT_MAX);
        a->users = make_names(m, &a->n_users);
        a->n_weights = (size_t)draw_any(m, 0, (int64_t)a->n_users);
        a->weights = make_weights(m, a->users, a->n_weights);
        a->n_default_for = (size_t)draw_any(m, 0, (int64_t)a->n_users);
        a->default_for = a->users;
    }
}

static void make_queue(struct maker *m, struct sched_queue_config *q,
                       const struct sched_queue_config *parent)
{
    q->parent = parent ? parent->name : NULL;
    if (!parent)
        make_own(m, q);
    q->priority = draw_any(m, -1000, 1000);
    q->users = make_names(m, &q->n_users);
    q->groups = make_names(m, &q->n_groups);
    q->default_duration = draw_any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    q->default_limit = draw_any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    q->starvation_threshold = draw_any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    q->sla_waiting_time = draw_any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    q->claims = draw_any(m, 1, 9);
    q->claims_admit_unknown = draw_any(m, 0, 1);
    q->preempts = (unsigned)draw_any(m, 0, SCHED_PREEMPTS_NOBODY);
    q->keeps_gangs = draw_any(m, 0, 1);
    if (parent) {
        q->limits.job = make_more(m, parent->limits.job, parent->limits.n_job, &q->limits.n_job);
        q->limits.user =
            make_more(m, parent->limits.user, parent->limits.n_user, &q->limits.n_user);
    } else {
        q->limits.job = make_limits(m, "duration", NULL, &q->limits.n_job);
        q->limits.user = make_limits(m, "running", "pending", &q->limits.n_user);
    }
    q->limits.queue = make_limits(m, "running", "pending", &q->limits.n_queue);
    q->n_exceptions = (size_t)draw_any(m, 0, 2);
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
    size_t first = (size_t)draw_any(m, 0, (int64_t)n - 1);
    for (size_t i = 0; i < n; i++)
        queues[i].name = names[i];
    make_queue(m, &queues[first], NULL);
    for (size_t i = 0; i < n; i++)
        if (i != first)
            make_queue(m, &queues[i], draw_any(m, 0, 1) ? &queues[first] : NULL);
    for (size_t i = 0; i < n; i++)
        make_queue_shares(m, &s->shares, s->n_accounts > 0, &queues[i]);
    s->queues = queues;
    s->n_queues = n;
    if (n == 1 || draw_any(m, 0, 1))
        s->default_queue = names[draw_any(m, 0, (int64_t)n - 1)];
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
        b->resources = resources[draw_any(m, 0, COUNT(resources) - 1)];
        b->start = make_time(m, 0);
        b->duration = make_time(m, 1);
        b->every = make_time(m, 0);
        if (b->every <= b->duration)
            b->every = 0;
        b->users = make_names(m, &b->n_users);
        b->jobs = make_names(m, &b->n_jobs);
        b->n_queues = (size_t)draw_any(m, 0, 1);
        b->queues = &s->queues[0].name;
    }
    s->blocks = blocks;
    s->n_blocks = n;
}

enum numbers { TO_QUEUE, TO_NAME, TO_CONSTRAINT };

static const struct config_name *make_numbers(struct maker *m, const struct sched_config *s,
                                              enum numbers to, size_t *n)
{
    *n = (size_t)draw_any(m, 0, 3);
    struct config_name *names = make(m, *n, sizeof(*names));
    int64_t number = -2;
    for (size_t i = 0; i < *n; i++) {
        number += draw_any(m, 1, 1000);
        names[i].number = number;
        names[i].name = to == TO_QUEUE  ? s->queues[draw_any(m, 0, (int64_t)s->n_queues - 1)].name
                        : to == TO_NAME ? make_text(m, true)
                                        : make_constraint(m);
    }
    return names;
}

void make_config(struct maker *m, struct config *c)
{
    *c = (struct config){0};
    make_resources(m, &c->resources);
    make_slurm(m, c);
    make_match(m, c);
    c->sched.second = m->second;
    c->sched.default_duration = draw_any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    c->sched.default_limit = draw_any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    c->sched.starvation_threshold = draw_any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    c->sched.sla_waiting_time = draw_any(m, 0, 3) ? make_time(m, 1) : SCHED_UNLIMITED;
    c->sched.claims = draw_any(m, 1, 9);
    c->sched.n_actions = (size_t)draw_any(m, 0, SCHED_ACTIONS);
    for (size_t i = 0, first = (size_t)draw_any(m, 0, 3); i < c->sched.n_actions; i++)
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
    c->trace.processor = draw_any(m, 0, 1) ? "core" : "node";
    c->trace.queues = make_numbers(m, &c->sched, TO_QUEUE, &c->trace.n_queues);
    c->trace.users = make_numbers(m, &c->sched, TO_NAME, &c->trace.n_users);
    c->trace.groups = make_numbers(m, &c->sched, TO_NAME, &c->trace.n_groups);
    c->trace.partitions = make_numbers(m, &c->sched, TO_CONSTRAINT, &c->trace.n_partitions);
    c->server.administrators = make_names(m, &c->server.n_administrators);
    c->server.retention = draw_any(m, 0, 3) ? make_time(m, 0) : SCHED_UNLIMITED;
    c->server.grace = make_time(m, 0);
    c->server.max_jobs_per_user = draw_any(m, 0, 3) ? make_count(m, 1) : SCHED_UNLIMITED;
    c->server.max_stored_per_user =
        draw_any(m, 0, 3) ? 1 + make_count(m, 0) % (INT64_C(8) << 40) : SCHED_UNLIMITED;
    c->server.requests_per_second = draw_any(m, 0, 3) ? make_count(m, 1) : SCHED_UNLIMITED;
    c->server.tasks_per_core = draw_any(m, 1, 1000);
    c->server.processes_per_core = !draw_any(m, 0, 3)  ? 0
                                   : draw_any(m, 0, 3) ? make_count(m, 1)
                                                       : SCHED_UNLIMITED;
}
