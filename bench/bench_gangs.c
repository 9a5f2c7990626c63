/* What gangs cost: 10,000 nodes, 50 queues in 5 divisions with shares. First two gangs of 4,096 members start on the idle
 * machine, one per node, each in a pass of its own; they end. Then 5,000 gangs of 20 members wait, of half of which 12
 * start together and the rest one by one. The first pass fills the machine. A cold pass decides the same as the one
 * before it on a full machine, with nothing that was known of what waits. Warm: a member ends, with a pass after it.
 *
 * usage: bench_gangs [plain | plugins | reclaim] [GANGS [ENDS]]
 *
 * With `plain` the same is measured without shares. With `plugins` all of kube-batch's default tiers count (priority and gang;
 * drf, predicates, proportion and nodeorder, by their names in berth-config(5)): of several users in each queue, gangs of several
 * priorities, some of which ask for nodes that have a property. With `reclaim` jobs of each queue may have others stopped that have more
 * than they deserve: who is told to stop in a pass waits again after it, all of them together, before the next pass. Fewer
 * GANGS and ENDS are for a profiler. The last line is a hash of all decisions.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/match.h"
#include "berth/sched_admin.h"
#include "berth/sched_config.h"
#include "measure.h"

enum {
    NODES = 10000,
    QUEUES = 50,
    DIVISIONS = 5,
    GANGS = 5000,
    MEMBERS = 20,
    LARGE = 4096,
    ENDS = 100,
    STOPS = 1000,
    USERS = 20,
    PRIORITIES = 5,
    TEXT = 600
};

struct bench {
    match_t *m;
    sched_t *s;
    uint64_t random;
    int64_t now;
    sched_job_t *running, *told; /* of these, who was told to stop in the last pass */
    size_t n_running, n_told, n_jobs, ends;
    size_t stopped;
    uint64_t decided; /* all decisions in a number */
    bool plain, plugins, reclaim;
};

static void check(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "bench_gangs: %s\n", what);
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

static match_t *make_machine(const struct bench *b)
{
    static const char text[] =
        "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"0-9999\", \"children\": "
        "{\"core\": \"0-31\"}}], \"starttime\": 0, \"expiration\": 0, \"nodelist\": "
        "[\"node[0-9999]\"], \"properties\": {\"fast\": \"0-7499\"}}}";
    berth_error_t err;
    resource_graph_t *graph = resource_graph_read("rv1exec", text, sizeof(text) - 1, &err);
    check(graph != NULL, err.text);
    match_options_t options = {.policy = b->plugins ? "spread=1 balance=1" : "low",
                               .filters = "ALL:core,ALL:node"};
    match_t *m = match_create(graph, &options, &err);
    check(m != NULL, err.text);
    return m;
}

/* What the tiers compare: jobs by priority and gang, users by drf, queues by proportion. Their plugins predicates and nodeorder are
 * the constraints in submit and the policy in make_machine.
 */
static const struct sched_share_order tiers = {
    {SCHED_BY_PRIORITY, SCHED_BY_GANG, SCHED_BY_DRF, SCHED_BY_SHARE}, 4};

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
        if (b->plugins)
            division[i].order = tiers;
    }
    for (int i = 0; i < QUEUES; i++) {
        q[i].name = queue_name(i);
        q[i].policy = "easy";
        if (b->reclaim) {
            q[i].preempts = SCHED_PREEMPTS_BORROWERS;
            q[i].preemptible = SCHED_PREEMPT_REQUEUE;
        }
        if (!b->plain)
            q[i].share = (struct sched_share){.under = names[i % DIVISIONS], .weight = i % 7 + 1};
        if (b->plugins) {
            q[i].by = SCHED_SHARE_USER;
            q[i].order = tiers;
        }
    }
    struct sched_config config = {.second = 1, .queues = q, .n_queues = QUEUES};
    if (!b->plain)
        config.shares = (struct sched_shares){.resources = resources,
                                              .n_resources = 1,
                                              .divisions = division,
                                              .n_divisions = DIVISIONS};
    if (b->plugins)
        config.shares.order = tiers;
    int rc = 0;
    if (b->s)
        rc = sched_configure(b->s, b->now, &config, &err);
    else
        b->s = sched_create(b->m, &config, &err);
    check(rc == 0 && b->s != NULL, err.text);
}

/* A gang whose members take a node, or so many cores, each. */
static void submit(struct bench *b, int cores, uint32_t members, uint32_t min, int duration)
{
    char text[TEXT];
    int n;
    if (cores == 0)
        n = snprintf(text, sizeof(text),
                     "{version: 9999, resources: [{type: node, count: 1, exclusive: true, with: "
                     "[{type: slot, count: 1, label: s, with: [{type: core, count: 1}]}]}]");
    else
        n = snprintf(text, sizeof(text),
                     "{version: 9999, resources: [{type: node, count: 1, with: [{type: slot, "
                     "count: 1, label: s, with: [{type: core, count: %d}]}]}]",
                     cores);
    snprintf(text + n, sizeof(text) - (size_t)n,
             ", tasks: [{command: [app], slot: s, count: {per_slot: 1}}], attributes: {system: "
             "{duration: %d%s}}}",
             duration, b->plugins && draw(b, 4) == 0 ? ", constraints: {properties: [fast]}" : "");
    char user[TEXT];
    struct sched_request request = {.jobspec = text,
                                    .jobspec_length = strlen(text),
                                    .queue = queue_name((int)draw(b, QUEUES)),
                                    .members = members,
                                    .min = min,
                                    .tag = b->n_jobs++};
    if (b->plugins) {
        snprintf(user, sizeof(user), "u%d", (int)draw(b, USERS));
        request.user = user;
        request.priority = (int64_t)draw(b, PRIORITIES);
    }
    check(sched_submit(b->s, b->now, &request) >= 0, "cannot submit a gang");
}

static void submit_usual(struct bench *b)
{
    int cores = draw(b, 2) ? 0 : 1 + (int)draw(b, 32);
    uint32_t min = draw(b, 2) ? MEMBERS : 12;
    submit(b, cores, MEMBERS, min, 3600 + 60 * (int)draw(b, 1000));
}

/* Take a decision to the hash of all, but for why a job waits: that is told again whenever the job is looked at
 * (base/bounds.h).
 */
static void note(struct bench *b, const struct sched_decision *d)
{
    if (d->kind == SCHED_WAIT)
        return;
    const int64_t what[] = {d->kind, d->job, d->member, d->at, d->until, d->how};
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
        } else if (d[i].kind == SCHED_PREEMPT) {
            b->told[b->n_told++] = d[i].job;
        }
    }
    return started;
}

/* Who was told to stop in the last pass waits again. */
static void stop_told(struct bench *b)
{
    while (b->n_told > 0) {
        sched_job_t job = b->told[--b->n_told];
        size_t k = 0;
        while (k < b->n_running && b->running[k] != job)
            k++;
        check(k < b->n_running, "who does not run is told to stop");
        b->running[k] = b->running[--b->n_running];
        check(sched_requeue(b->s, b->now, job) == 0, "a member cannot be stopped");
        b->stopped++;
    }
}

static void end_all(struct bench *b)
{
    while (b->n_running > 0)
        check(sched_finish(b->s, b->now, b->running[--b->n_running], true) == 0, "no end");
}

static void print_took(const char *what, size_t started, double *took, size_t n)
{
    qsort(took, n, sizeof(*took), compare);
    printf("  %-44s %6zu %9.0f %9.0f\n", what, started, 1e6 * took[n / 2],
           1e6 * took[n * 99 / 100]);
}

/* Members end one by one, with a pass after each. Not inlined, so that a profiler finds it. */
__attribute__((noinline)) static void measure_ends(struct bench *b)
{
    static double took[ENDS];
    size_t started = 0;
    for (size_t i = 0; i < b->ends; i++) {
        size_t k = (size_t)draw(b, b->n_running);
        sched_job_t job = b->running[k];
        b->running[k] = b->running[--b->n_running];
        b->now++;
        double start = worked();
        check(sched_finish(b->s, b->now, job, true) == 0, "a member cannot end");
        started += pass(b);
        took[i] = worked() - start;
        stop_told(b);
    }
    print_took("end of a member and pass", started, took, b->ends);
}

/* Passes until nobody is told to stop, a second apart. Not inlined, so that a profiler finds it. */
__attribute__((noinline)) static void measure_stops(struct bench *b)
{
    static double took[STOPS];
    size_t started = 0, n = 0;
    do {
        check(n < STOPS, "jobs are stopped without end");
        stop_told(b);
        b->now++;
        double start = worked();
        started += pass(b);
        took[n++] = worked() - start;
    } while (b->n_told > 0);
    char what[TEXT];
    snprintf(what, sizeof(what), "%zu passes until nobody is stopped", n);
    print_took(what, started, took, n);
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
    b.plugins = argc > 1 && strcmp(argv[1], "plugins") == 0;
    b.reclaim = argc > 1 && strcmp(argv[1], "reclaim") == 0;
    int next = b.plain || b.plugins || b.reclaim ? 2 : 1;
    size_t gangs = argc > next ? (size_t)atol(argv[next]) : GANGS;
    b.ends = argc > next + 1 ? (size_t)atol(argv[next + 1]) : ENDS;
    check(b.ends > 0 && b.ends <= ENDS, "expected 1 to 100 ends");
    b.running = malloc((size_t)NODES * 32 * sizeof(*b.running));
    b.told = malloc((size_t)NODES * 32 * sizeof(*b.told));
    check(b.running != NULL && b.told != NULL, "no memory");
    printf("Gangs%s: %d nodes, %d queues in %d divisions, %zu gangs of %d wait\n",
           b.plain     ? " without shares"
           : b.plugins ? " by shares with all plugins"
           : b.reclaim ? " by shares that are reclaimed"
                       : " by shares",
           NODES, QUEUES, DIVISIONS, gangs, MEMBERS);
    printf("  %-44s %6s %9s %9s\n", "", "starts", "us", "99% us");
    b.m = make_machine(&b);
    configure(&b);
    for (int i = 0; i < 2; i++) {
        submit(&b, i == 0 ? 0 : 8, LARGE, LARGE, 3600);
        measure_pass(&b, i == 0 ? "a gang of 4,096, a node each" : "a gang of 4,096, 8 cores each");
    }
    b.now = 100;
    end_all(&b);
    pass(&b);
    for (size_t i = 0; i < gangs + NODES / MEMBERS; i++)
        submit_usual(&b);
    measure_pass(&b, "first pass");
    if (b.reclaim)
        measure_stops(&b);
    b.now++;
    measure_ends(&b);
    double start = worked();
    configure(&b);
    printf("  %-44s %6d %9.0f\n", "the same configuration again", 1, 1e6 * (worked() - start));
    measure_pass(&b, "cold pass after that");
    measure_ends(&b);
    printf("  decisions %016" PRIx64 ", %zu stopped\n", b.decided, b.stopped);
    sched_destroy(b.s);
    match_destroy(b.m);
    free(b.running);
    free(b.told);
    return 0;
}
