/* What passes cost where users take turns by shares: 10,000 nodes, 100,000 jobs that wait, of 5,000 users in 45
 * queues in 5 divisions. The first pass fills the machine. A cold pass decides the same as the one before it on
 * a full machine, with nothing that was known of what waits. Warm: a job ends, with a pass after it.
 *
 * usage: bench_shares_pass [plain | accounts | PENDING]
 *
 * With `plain` the same is measured without shares, with `accounts` by 500 accounts of 10 users each in each queue. The last line is a hash of all decisions: a change that costs
 * less must not decide anything differently.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/match.h"
#include "berth/sched_config.h"
#include "measure.h"

enum {
    NODES = 10000,
    QUEUES = 45,
    DIVISIONS = 5,
    USERS = 5000,
    ACCOUNTS = 500,
    PENDING = 100000,
    ENDS = 400,
    TEXT = 600
};

struct bench {
    match_t *m;
    sched_t *s;
    uint64_t random;
    int64_t now;
    sched_job_t *running;
    size_t n_running, n_jobs;
    uint64_t decided; /* all decisions in a number */
    bool plain, accounts;
};

static void check(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "bench_shares_pass: %s\n", what);
    exit(1);
}

static uint64_t draw(struct bench *b, uint64_t below)
{
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    return (b->random >> 33) % below;
}

static const char *queue_name(int i)
{
    static char name[QUEUES][8];
    snprintf(name[i], sizeof(name[i]), "q%d", i);
    return name[i];
}

static const char *user_name(int i)
{
    static char name[USERS][12];
    snprintf(name[i], sizeof(name[i]), "user%d", i);
    return name[i];
}

/* Accounts of users that are next to each other. */
static const struct sched_account *make_accounts(void)
{
    enum { EACH = USERS / ACCOUNTS };
    static struct sched_account account[ACCOUNTS];
    static const char *users[USERS];
    static char name[ACCOUNTS][12];
    for (int i = 0; i < USERS; i++)
        users[i] = user_name(i);
    for (int i = 0; i < ACCOUNTS; i++) {
        snprintf(name[i], sizeof(name[i]), "account%d", i);
        account[i] = (struct sched_account){
            .name = name[i], .weight = i % 3 + 1, .users = &users[i * EACH], .n_users = EACH};
    }
    return account;
}

static match_t *make_machine(void)
{
    static const char text[] =
        "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"0-9999\", \"children\": "
        "{\"core\": "
        "\"0-31\"}}], \"starttime\": 0, \"expiration\": 0, \"nodelist\": [\"node[0-9999]\"]}}";
    berth_error_t err;
    resource_graph_t *graph = resource_graph_read("rv1exec", text, sizeof(text) - 1, &err);
    check(graph != NULL, err.text);
    match_options_t options = {.policy = "low", .filters = "ALL:core,ALL:node"};
    match_t *m = match_create(graph, &options, &err);
    check(m != NULL, err.text);
    return m;
}

static void configure(struct bench *b)
{
    static const char *const resources[] = {"core"};
    static const char *const names[DIVISIONS] = {"d0", "d1", "d2", "d3", "d4"};
    struct sched_division division[DIVISIONS] = {{0}};
    struct sched_queue_config q[QUEUES] = {{0}};
    berth_error_t err;
    for (int i = 0; i < DIVISIONS; i++) {
        division[i].name = names[i];
        division[i].share.weight = i + 1;
    }
    for (int i = 0; i < QUEUES; i++) {
        q[i].name = queue_name(i);
        q[i].policy = "easy";
        if (b->plain)
            continue;
        q[i].share = (struct sched_share){.under = names[i % DIVISIONS], .weight = i % 7 + 1};
        q[i].by = b->accounts ? SCHED_SHARE_ACCOUNT : SCHED_SHARE_USER;
    }
    struct sched_config config = {.second = 1, .queues = q, .n_queues = QUEUES};
    if (!b->plain)
        config.shares = (struct sched_shares){.resources = resources,
                                              .n_resources = 1,
                                              .divisions = division,
                                              .n_divisions = DIVISIONS};
    if (b->accounts) {
        config.accounts = make_accounts();
        config.n_accounts = ACCOUNTS;
    }
    int rc = 0;
    if (b->s)
        rc = sched_configure(b->s, b->now, &config, &err);
    else
        b->s = sched_create(b->m, &config, &err);
    check(rc == 0 && b->s != NULL, err.text);
}

/* Whole nodes, or cores of one. */
static void submit(struct bench *b)
{
    char text[TEXT];
    int who = (int)draw(b, USERS);
    int n;
    if (draw(b, 2))
        n = snprintf(text, sizeof(text),
                     "{version: 9999, resources: [{type: node, count: %d, exclusive: true, with: "
                     "[{type: slot, count: 1, label: s, with: [{type: core, count: 1}]}]}]",
                     1 << draw(b, 8));
    else
        n = snprintf(
            text, sizeof(text),
            "{version: 9999, resources: [{type: node, count: 1, with: [{type: slot, count: "
            "1, label: s, with: [{type: core, count: %d}]}]}]",
            1 + (int)draw(b, 32));
    snprintf(text + n, sizeof(text) - (size_t)n,
             ", tasks: [{command: [app], slot: s, count: {per_slot: 1}}], attributes: {system: "
             "{duration: %d}}}",
             3600 + (int)draw(b, 80000));
    struct sched_request request = {.jobspec = text,
                                    .jobspec_length = strlen(text),
                                    .queue = queue_name(who % QUEUES),
                                    .user = user_name(who),
                                    .tag = b->n_jobs++};
    check(sched_submit(b->s, b->now, &request) >= 0, "cannot submit a job");
}

/* Take a decision to the hash of all, but for why a job waits: that is told again whenever the job is looked at
 * (base/bounds.h).
 */
static void note(struct bench *b, const struct sched_decision *d)
{
    if (d->kind == SCHED_WAIT)
        return;
    const int64_t what[] = {d->kind, d->job, d->at, d->until, d->how};
    for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
        b->decided = (b->decided ^ (uint64_t)what[i]) * 0x100000001b3u;
}

static size_t pass(struct bench *b)
{
    const struct sched_decision *d;
    size_t n, started = 0;
    check(sched_pass(b->s, b->now, false, &d, &n) == 0, "a pass failed");
    for (size_t i = 0; i < n; i++) {
        note(b, &d[i]);
        if (d[i].kind == SCHED_START) {
            b->running[b->n_running++] = d[i].job;
            started++;
        }
    }
    return started;
}

/* Jobs end one by one, with a pass after each. Not inlined, so that a profiler finds it. */
__attribute__((noinline)) static void measure_ends(struct bench *b)
{
    static double quiet[ENDS], started[ENDS];
    size_t n_quiet = 0, n_started = 0, all = 0;
    double sum = 0;
    for (int i = 0; i < ENDS; i++) {
        size_t k = (size_t)draw(b, b->n_running);
        sched_job_t job = b->running[k];
        b->running[k] = b->running[--b->n_running];
        b->now++;
        double start = worked();
        check(sched_finish(b->s, b->now, job, true) == 0, "a job cannot end");
        size_t n = pass(b);
        double took = worked() - start;
        sum += took;
        all += n;
        if (n > 0)
            started[n_started++] = took;
        else
            quiet[n_quiet++] = took;
    }
    qsort(quiet, n_quiet, sizeof(*quiet), compare);
    qsort(started, n_started, sizeof(*started), compare);
    if (n_quiet > 0)
        printf("  %-44s %6zu %9.0f %9.0f\n", "end and pass, nobody starts", n_quiet,
               1e6 * quiet[n_quiet / 2], 1e6 * quiet[n_quiet * 99 / 100]);
    if (n_started > 0)
        printf("  %-44s %6zu %9.0f %9.0f\n", "end and pass, jobs start", n_started,
               1e6 * started[n_started / 2], 1e6 * started[n_started * 99 / 100]);
    printf("  %-44s %6zu %9.0f\n", "all ends and passes: each", (size_t)ENDS, 1e6 * sum / ENDS);
    printf("  %-44s %6zu %9.0f\n", "all ends and passes: each start", all,
           1e6 * sum / (double)(all ? all : 1));
}

/* Not inlined, so that a profiler finds it. */
__attribute__((noinline)) static void measure_pass(struct bench *b, const char *what)
{
    double start = worked();
    size_t n = pass(b);
    double took = worked() - start;
    printf("  %-44s %6zu %9.0f\n", what, n, 1e6 * took);
}

int main(int argc, char **argv)
{
    static struct bench b = {.random = 1};
    b.plain = argc > 1 && strcmp(argv[1], "plain") == 0;
    b.accounts = argc > 1 && strcmp(argv[1], "accounts") == 0;
    long pending = argc > 1 && !b.plain && !b.accounts ? atol(argv[1]) : PENDING;
    b.running = malloc(2 * PENDING * sizeof(*b.running));
    check(b.running != NULL, "no memory");
    printf("Passes%s: %d nodes, %d queues in %d divisions, %d users, %ld jobs wait\n",
           b.plain      ? " without shares"
           : b.accounts ? " by shares of accounts"
                        : " by shares",
           NODES, QUEUES, DIVISIONS, USERS, pending);
    printf("  %-44s %6s %9s %9s\n", "", "n", "us", "99% us");
    b.m = make_machine();
    configure(&b);
    while (b.n_jobs < (size_t)pending + NODES / 4)
        submit(&b);
    measure_pass(&b, "first pass");
    while (b.n_jobs < (size_t)pending + b.n_running)
        submit(&b);
    measure_pass(&b, "pass after submissions");
    measure_ends(&b);
    double start = worked();
    configure(&b);
    printf("  %-44s %6d %9.0f\n", "the same configuration again", 1, 1e6 * (worked() - start));
    measure_pass(&b, "cold pass after that");
    b.now++;
    measure_pass(&b, "pass, a second later");
    measure_ends(&b);
    printf("  decisions %016" PRIx64 "\n", b.decided);
    sched_destroy(b.s);
    match_destroy(b.m);
    free(b.running);
    return 0;
}
