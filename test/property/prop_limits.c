/* The ledger of limits against a list of jobs, counted anew for every question and instant: random queues, some
 * of them parts of others, random limits and exceptions, users with changing groups, accounts of accounts.
 * SCENES=N plays as many, SCENE_SEED=S draws others: all follow from that one number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_config.h"
#include "random.h"
#include "sched/controllers/limits.h"

#define QUEUES   4
#define ACCOUNTS 4
#define USERS    4
#define GROUPS   3
#define LIMITS   4
#define EXCEPT   3
#define JOBS     60
#define STEPS    400
#define ROUNDS   200
#define SECOND   1000
#define NODES    5  /* that jobs share */
#define END      30 /* of time */

static const char *const users[USERS] = {"ann", "bob", "cid", ""};
static const char *const groups[GROUPS] = {"ops", "dev", "ann"};
static const char *const accounts[ACCOUNTS] = {"phys", "chem", "bio", "art"};
static const char *const types[] = {"node", "core", "gpu"};

struct job {
    bool used;
    bool runs;
    uint32_t queue;
    uint32_t user;
    uint32_t account; /* ACCOUNTS: of none */
    uint32_t party;
    const struct sched_exception *exception,
        *parents; /* that hold for the user in the queue, and in its parent */
    int64_t amount[3];
    uint32_t shared;             /* nodes of these that others may have, too, as bits */
    struct limits_window window; /* when it runs */
};

struct world {
    struct random random;
    struct sched_queue_config queue[QUEUES];
    struct sched_exception exception[QUEUES][EXCEPT];
    struct sched_limit limit[QUEUES][EXCEPT + 1][3][LIMITS];
    uint32_t n_queues;
    uint32_t parent[QUEUES];
    struct sched_account account[ACCOUNTS];
    struct sched_limit account_limit[ACCOUNTS][LIMITS];
    uint32_t n_accounts;
    uint32_t above[ACCOUNTS]; /* ACCOUNTS: it is part of none */
    struct job job[JOBS];
    struct setup *setup;
    struct limits *limits;
};

static uint64_t below(struct world *w, uint64_t n)
{
    return random_next(&w->random) % n;
}

/* ---- A random configuration ---- */

static size_t make_list(struct world *w, struct sched_limit *list, const char *const *what,
                        size_t n_what)
{
    size_t n = 0;
    for (size_t i = 0; i < n_what && n < LIMITS; i++)
        if (below(w, 2))
            list[n++] =
                (struct sched_limit){what[i], below(w, 8) ? (int64_t)below(w, 9) : SCHED_UNLIMITED};
    return n;
}

static void make_limits(struct world *w, struct sched_limits *limits,
                        struct sched_limit (*list)[LIMITS])
{
    static const char *const job[] = {"core", "duration", "node"};
    static const char *const other[] = {"running", "core", "pending", "node", "gpu"};
    limits->job = list[0];
    limits->n_job = make_list(w, list[0], job, 3);
    limits->user = list[1];
    limits->n_user = make_list(w, list[1], other, 5);
    limits->queue = list[2];
    limits->n_queue = make_list(w, list[2], other, 5);
}

static void make_account(struct world *w, uint32_t i)
{
    static const char *const other[] = {"running", "core", "pending", "node"};
    w->above[i] = i > 0 && below(w, 2) ? (uint32_t)below(w, i) : ACCOUNTS;
    w->account[i] = (struct sched_account){.name = accounts[i], .users = users, .n_users = 3};
    w->account[i].under = w->above[i] == ACCOUNTS ? NULL : accounts[w->above[i]];
    w->account[i].limits = w->account_limit[i];
    w->account[i].n_limits = make_list(w, w->account_limit[i], other, 4);
}

static void make_queue(struct world *w, uint32_t i)
{
    static const char *const names[QUEUES] = {"a", "b", "c", "d"};
    struct sched_queue_config *q = &w->queue[i];
    w->parent[i] = i > 0 && below(w, 2) ? w->parent[below(w, i)] : i;
    *q = (struct sched_queue_config){.name = names[i]};
    if (w->parent[i] != i)
        q->parent = names[w->parent[i]];
    make_limits(w, &q->limits, w->limit[i][EXCEPT]);
    q->exceptions = w->exception[i];
    q->n_exceptions = below(w, EXCEPT + 1);
    q->has_parents_exceptions = q->parent && below(w, 2);
    if (q->has_parents_exceptions)
        q->n_exceptions = 0;
    for (size_t k = 0; k < q->n_exceptions; k++) {
        struct sched_exception *e = &w->exception[i][k];
        *e = (struct sched_exception){.users = &users[below(w, USERS - 1)]};
        e->n_users = below(w, 2);
        e->groups = &groups[below(w, GROUPS)];
        e->n_groups = e->n_users == 0 || below(w, 2);
        make_limits(w, &e->limits, w->limit[i][k]);
    }
}

/* ---- The model ---- */

/* What a list of limits says of something, or -1. */
static int64_t said(const struct sched_limit *list, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].what, what) == 0)
            return list[i].most;
    return -1;
}

/* Whether a job's virtual queue limits something itself that a user may have. */
static bool has_own(const struct world *w, const struct job *job, const char *what)
{
    const struct sched_queue_config *q = &w->queue[job->queue];
    const struct sched_exception *e = q->has_parents_exceptions ? NULL : job->exception;
    return said(q->limits.user, q->limits.n_user, what) >= 0 ||
           (e && said(e->limits.user, e->limits.n_user, what) >= 0);
}

/* Whether a job counts for the limit that a queue sets to what a user may have of something. */
static bool counts(const struct world *w, const struct job *job, uint32_t queue, const char *what)
{
    return job->queue == queue || (w->parent[job->queue] == queue && !has_own(w, job, what));
}

struct question {
    const struct job *job;
    const char *whose; /* "job", "user", "queue", "account phys" */
    uint32_t queue;    /* that the limits are of */
    uint32_t account;  /* that they are of; ACCOUNTS */
    bool
        above; /* only of what the job's virtual queue leaves to its parent; else of what it has itself */
    struct limits_window window;
};

static int64_t held_by(const struct job *job, const char *what, int64_t at)
{
    bool runs = job->runs && job->window.from <= at && at < job->window.until;
    for (size_t i = 0; i < 3; i++)
        if (strcmp(types[i], what) == 0)
            return runs ? job->amount[i] : 0;
    return strcmp(what, "running") == 0 ? runs : !job->runs;
}

/* Whether a job counts for a question. */
static bool is_asked(const struct world *w, const struct question *q, const struct job *job,
                     const char *what)
{
    uint32_t account = q->account;
    if (!job->used)
        return false;
    if (account < ACCOUNTS) {
        for (account = job->account; account < ACCOUNTS && account != q->account;)
            account = w->above[account];
        return account < ACCOUNTS;
    }
    return strcmp(q->whose, "user") == 0
               ? job->user == q->job->user && counts(w, job, q->queue, what)
               : job->queue == q->queue || w->parent[job->queue] == q->queue;
}

static bool has_at(const struct job *job, int64_t at)
{
    return job->runs && job->window.from <= at && at < job->window.until;
}

/* The nodes that they share with others at an instant. */
static uint32_t shared_at(const struct world *w, const struct question *q, int64_t at)
{
    uint32_t nodes = 0;
    for (size_t i = 0; i < JOBS; i++)
        if (is_asked(w, q, &w->job[i], "node") && has_at(&w->job[i], at))
            nodes |= w->job[i].shared;
    return nodes;
}

/* What all others hold at an instant that count for a question; nodes that they share once. */
static int64_t held_at(const struct world *w, const struct question *q, const char *what,
                       int64_t at)
{
    int64_t sum = 0;
    for (size_t i = 0; i < JOBS; i++) {
        const struct job *job = &w->job[i];
        if (!is_asked(w, q, job, what))
            continue;
        sum += held_by(job, what, at);
        if (strcmp(what, "node") == 0 && has_at(job, at))
            sum -= __builtin_popcount(job->shared);
    }
    return strcmp(what, "node") == 0 ? sum + __builtin_popcount(shared_at(w, q, at)) : sum;
}

/* Whether so much more, of which the job may add less where it shares nodes, is too much during the window of
 * the question.
 */
static bool exceeds(const struct world *w, const struct question *q, const char *what, int64_t more,
                    int64_t most)
{
    bool nodes = strcmp(what, "node") == 0;
    if (more > most)
        return true;
    for (int64_t at = q->window.from; at < q->window.until; at++) {
        uint32_t again = nodes ? q->job->shared & shared_at(w, q, at) : 0;
        int64_t adds = more - __builtin_popcount(again);
        if (held_at(w, q, what, at) + adds > most)
            return true;
    }
    return false;
}

/* What a limit counts of the job at hand. */
static int64_t more_of(const struct job *job, const char *what, int64_t n)
{
    for (size_t i = 0; i < 3; i++)
        if (strcmp(types[i], what) == 0)
            return job->amount[i];
    return n;
}

enum kind { JOB, PENDING, RUN, TAKE };

static bool asks(enum kind kind, const char *what)
{
    bool running = strcmp(what, "running") == 0, pending = strcmp(what, "pending") == 0;
    return kind == JOB       ? true
           : kind == PENDING ? pending
           : kind == RUN     ? running
                             : !pending && !running;
}

/* Whether one limit stands in the way of n more; then why. */
static bool bars(const struct world *w, const struct question *q, enum kind kind, const char *what,
                 int64_t most, int64_t n, char *reason)
{
    int64_t more = more_of(q->job, what, n);
    if (most == SCHED_UNLIMITED || !asks(kind, what) || more == 0)
        return false;
    if (kind == JOB ? more <= most : !exceeds(w, q, what, more, most))
        return false;
    if (strcmp(q->whose, "user") == 0 && w->parent[q->job->queue] != q->job->queue &&
        has_own(w, q->job, what) == q->above)
        return false;
    bool time = strcmp(what, "duration") == 0;
    sprintf(reason, time && most > 0 ? "limit %s %s 0.%03" PRId64 : "limit %s %s %" PRId64,
            q->whose, what, most);
    for (size_t end = strlen(reason); time && most > 0 && reason[end - 1] == '0';)
        reason[--end] = '\0';
    return true;
}

/* A list, with an exception's that is stronger. */
static bool list_bars(const struct world *w, const struct question *q, enum kind kind,
                      const struct sched_limit *list, size_t n, const struct sched_limit *other,
                      size_t n_other, int64_t count, char *reason)
{
    for (size_t i = 0; i < n; i++) {
        int64_t most = said(other, n_other, list[i].what);
        if (bars(w, q, kind, list[i].what, most < 0 ? list[i].most : most, count, reason))
            return true;
    }
    for (size_t i = 0; i < n_other; i++)
        if (said(list, n, other[i].what) < 0 &&
            bars(w, q, kind, other[i].what, other[i].most, count, reason))
            return true;
    return false;
}

static bool model(const struct world *w, const struct job *job, enum kind kind, int64_t n,
                  struct limits_window window, char *reason)
{
    static const struct sched_exception nothing;
    const struct sched_exception *e = job->exception ? job->exception : &nothing;
    const struct sched_exception *above = job->parents ? job->parents : &nothing;
    const struct sched_limits *own = &w->queue[job->queue].limits;
    struct question q = {job, "job", job->queue, ACCOUNTS, false, window};
    if (kind == JOB)
        return !list_bars(w, &q, kind, own->job, own->n_job, e->limits.job, e->limits.n_job, n,
                          reason);
    q.whose = "user";
    if (list_bars(w, &q, kind, own->user, own->n_user, e->limits.user, e->limits.n_user, n, reason))
        return false;
    q.above = true;
    q.queue = w->parent[job->queue];
    if (q.queue != job->queue &&
        list_bars(w, &q, kind, w->queue[q.queue].limits.user, w->queue[q.queue].limits.n_user,
                  above->limits.user, above->limits.n_user, n, reason))
        return false;
    q.whose = "queue";
    q.queue = job->queue;
    if (list_bars(w, &q, kind, own->queue, own->n_queue, NULL, 0, n, reason))
        return false;
    q.queue = w->parent[job->queue];
    own = &w->queue[q.queue].limits;
    if (list_bars(w, &q, kind, own->queue, own->n_queue, NULL, 0, n, reason))
        return false;
    for (q.account = job->account; q.account < ACCOUNTS; q.account = w->above[q.account]) {
        const struct sched_account *a = &w->account[q.account];
        char whose[32];
        snprintf(whose, sizeof(whose), "account %s", a->name);
        q.whose = whose;
        if (list_bars(w, &q, kind, a->limits, a->n_limits, NULL, 0, n, reason))
            return false;
    }
    return true;
}

/* ---- Both ---- */

static int64_t amount(void *arg, const char *type)
{
    const struct job *job = arg;
    for (size_t i = 0; i < 3; i++)
        if (strcmp(types[i], type) == 0)
            return job->amount[i];
    fail_msg("asked for %s", type);
    return 0;
}

/* The nodes that a job shares. */
static bool next_node(void *arg, uint32_t *i, uint32_t *node)
{
    const struct job *job = arg;
    while (*i < NODES && !(job->shared >> *i & 1))
        ++*i;
    *node = *i;
    return (*i)++ < NODES;
}

static const struct limits_nodes *nodes_of(struct job *job)
{
    static struct limits_nodes nodes;
    nodes = (struct limits_nodes){next_node, job, __builtin_popcount(job->shared)};
    return nodes.n > 0 ? &nodes : NULL;
}

static struct limits_window draw_window(struct world *w)
{
    int64_t from = (int64_t)below(w, END);
    return (struct limits_window){from, from + 1 + (int64_t)below(w, 8), 0};
}

/* Numbers of jobs come before what is measured. */
static bool may_start(const struct world *w, const struct job *job, struct limits_window window,
                      char *reason)
{
    return model(w, job, RUN, 1, window, reason) && model(w, job, TAKE, 1, window, reason);
}

static int64_t first_start(const struct world *w, const struct job *job,
                           struct limits_window window)
{
    int64_t duration = window.until - window.from;
    char reason[64];
    for (int64_t at = window.from; at <= 2 * END; at++)
        if (may_start(w, job, (struct limits_window){at, at + duration, 0}, reason))
            return at;
    return INT64_MAX;
}

static void check(bool does, bool may, struct sched_reason_limit over, const char *expected)
{
    struct sched_reason found = {.second = SECOND, .limit = over};
    char text[SCHED_REASON_TEXT];
    assert_int_equal(does, may);
    found.kind = does ? SCHED_REASON_NONE : SCHED_REASON_LIMIT;
    assert_string_equal(sched_reason_text(&found, text), expected);
}

static void compare(struct world *w, struct job *job)
{
    char expected[64] = "";
    int64_t n = (int64_t)below(w, 5);
    struct limits_window window = draw_window(w);
    struct limits_over over;
    bool may = model(w, job, JOB, n, window, expected);
    check(limits_job(w->limits, job->party, n, amount, job, &over.limit), may, over.limit,
          expected);
    expected[0] = '\0';
    may = model(w, job, PENDING, n, window, expected);
    check(limits_pending(w->limits, job->party, (uint32_t)n, &over.limit), may, over.limit,
          expected);
    expected[0] = '\0';
    may = may_start(w, job, window, expected);
    check(limits_start(w->limits, job->party, window, amount, job, nodes_of(job), &over), may,
          over.limit, expected);
    assert_int_equal(limits_when(w->limits, job->party, window, amount, job, nodes_of(job)),
                     first_start(w, job, window));
}

static const struct sched_exception *exception_of(const struct world *w, const struct job *job,
                                                  uint32_t queue, const char *const *of,
                                                  size_t n_of)
{
    const struct sched_queue_config *q = &w->queue[queue];
    for (size_t i = 0; i < q->n_exceptions; i++) {
        const struct sched_exception *e = &q->exceptions[i];
        if (e->n_users > 0 && strcmp(e->users[0], users[job->user]) == 0)
            return e;
        for (size_t k = 0; k < n_of; k++)
            if (e->n_groups > 0 && strcmp(e->groups[0], of[k]) == 0)
                return e;
    }
    return NULL;
}

static void step(struct world *w)
{
    struct job *job = &w->job[below(w, JOBS)];
    if (!job->used) {
        const char *const *of = &groups[below(w, 2)];
        size_t n_of = below(w, 3);
        *job = (struct job){.queue = (uint32_t)below(w, w->n_queues)};
        job->user = (uint32_t)below(w, USERS);
        job->account = (uint32_t)below(w, w->n_accounts + 1);
        if (job->account == w->n_accounts)
            job->account = ACCOUNTS;
        for (size_t i = 0; i < 3; i++)
            job->amount[i] = (int64_t)below(w, 4);
        uint32_t some = (uint32_t)below(w, 1u << NODES);
        some &= (uint32_t)below(w, 1u << NODES);
        job->shared = below(w, 2) ? some : 0;
        job->amount[0] += __builtin_popcount(job->shared);
        job->parents = exception_of(w, job, w->parent[job->queue], of, n_of);
        job->exception = w->queue[job->queue].has_parents_exceptions
                             ? job->parents
                             : exception_of(w, job, job->queue, of, n_of);
        int64_t party = limits_party(w->limits, job->queue,
                                     job->account < ACCOUNTS ? accounts[job->account] : NULL,
                                     users[job->user], of, n_of);
        assert_true(party >= 0);
        job->party = (uint32_t)party;
        compare(w, job);
        limits_wait(w->limits, job->party, 1);
        job->used = true;
    } else if (!job->runs && below(w, 2)) {
        limits_wait(w->limits, job->party, -1);
        job->used = false;
        compare(w, job);
        job->used = true;
        job->window = draw_window(w);
        assert_int_equal(limits_open(w->limits, job->party, job->window, nodes_of(job)), 0);
        limits_add(w->limits, job->party, job->window, amount, job, nodes_of(job));
        job->runs = true;
    } else if (job->runs && below(w, 3) == 0) { /* lifted for a while */
        limits_sub(w->limits, job->party, job->window, amount, job, nodes_of(job));
        job->runs = job->used = false;
        compare(w, job);
        limits_add(w->limits, job->party, job->window, amount, job, nodes_of(job));
        job->runs = job->used = true;
    } else if (job->runs) {
        limits_sub(w->limits, job->party, job->window, amount, job, nodes_of(job));
        limits_close(w->limits, job->party, job->window, nodes_of(job));
        job->runs = false;
        job->used = below(w, 3) == 0; /* requeued */
        if (job->used)
            limits_wait(w->limits, job->party, 1);
    } else {
        limits_wait(w->limits, job->party, -1);
        job->used = false;
    }
}

static void the_ledger_counts_as_a_list_does(void **state)
{
    static struct world w;
    const char *from = getenv("SCENE_SEED"), *n = getenv("SCENES");
    const uint64_t rounds = n ? strtoull(n, NULL, 10) : RANDOM_ROUNDS(ROUNDS);
    (void)state;
    w.random.state = from ? strtoull(from, NULL, 10) : 4;
    for (uint64_t round = 0; round < rounds; round++) {
        w.n_queues = 1 + (uint32_t)below(&w, QUEUES);
        for (uint32_t i = 0; i < w.n_queues; i++)
            make_queue(&w, i);
        w.n_accounts = (uint32_t)below(&w, ACCOUNTS + 1);
        for (uint32_t i = 0; i < w.n_accounts; i++)
            make_account(&w, i);
        memset(w.job, 0, sizeof(w.job));
        struct sched_config config = {.second = SECOND,
                                      .queues = w.queue,
                                      .n_queues = w.n_queues,
                                      .accounts = w.account,
                                      .n_accounts = w.n_accounts};
        berth_error_t err = {""};
        w.setup = setup_create(&config, &err);
        if (!w.setup)
            fail_msg("%s", err.text);
        w.limits = limits_create(w.setup);
        assert_non_null(w.limits);
        for (int i = 0; i < STEPS; i++) {
            step(&w);
            if (i % 20 == 0)
                assert_true(limits_check(w.limits));
        }
        limits_destroy(w.limits);
        setup_destroy(w.setup);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ledger_counts_as_a_list_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
