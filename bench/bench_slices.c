/* The longest step of a pass over 100,000 pending jobs, and the longest call beside it: what a request has to
 * wait for at most, beyond the slice of a pass that its turn makes.
 *
 * A machine of 16 nodes with 64 cores each and one queue, under each policy. Jobs of 1 to 8 cores and of up
 * to a thousand hours are submitted while the queue is stopped. Then things happen to them, each followed by a
 * pass, one step at a time. Times are those of the processor. A bulk change is many calls, as a server makes
 * them: its row has the longest of these beside the longest step of the pass that follows all of them.
 *
 * Under conservative, where each job has a reservation, there are 20,000 unless told otherwise: with all of
 * them it takes a quarter of an hour.
 *
 *     bench_slices [POLICY [PENDING]]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/match.h"
#include "berth/sched_admin.h"
#include "berth/sched_config.h"
#include "berth/sched_query.h"
#include "measure.h"

enum { PENDING = 100000, PROMISED = 20000, RAISED = 10000, TEXT = 512 };

struct bench {
    sched_t *s;
    const char *policy;
    int64_t now;
    uint64_t random;
    sched_job_t *job; /* by tag; -1: it is gone */
    size_t n_jobs;
    double call; /* the longest of a case, in seconds */
};

static void check(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "bench_slices: %s\n", what);
    exit(1);
}

static uint64_t draw(struct bench *b, uint64_t below)
{
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    return (b->random >> 33) % below;
}

/* ---- The scheduler ---- */

static match_t *make_machine(void)
{
    static const char text[] =
        "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"0-15\", \"children\": "
        "{\"core\": \"0-63\"}}], \"starttime\": 0, \"expiration\": 0, \"nodelist\": "
        "[\"node[0-15]\"]}}";
    berth_error_t err;
    resource_graph_t *graph = resource_graph_read("rv1exec", text, strlen(text), &err);
    check(graph != NULL, err.text);
    match_options_t options = {.policy = "low", .filters = "ALL:core,ALL:node"};
    match_t *m = match_create(graph, &options, &err);
    check(m != NULL, err.text);
    return m;
}

/* Of a queue with another depth of reservations, which only hybrid has, it is another configuration. */
static struct sched_config config_of(const struct bench *b, struct sched_queue_config *queue,
                                     int64_t depth)
{
    bool is_tunable = sched_policy_find(b->policy)->is_tunable;
    *queue = (struct sched_queue_config){.name = "batch", .policy = b->policy};
    if (is_tunable && sched_policy_find(b->policy)->depth != SCHED_UNLIMITED)
        queue->reservation_depth = depth;
    return (struct sched_config){.second = 1, .queues = queue, .n_queues = 1};
}

static void submit(struct bench *b, int64_t priority)
{
    char text[TEXT];
    size_t i = b->n_jobs;
    size_t n = (size_t)snprintf(text, sizeof(text),
                                "{version: 9999, resources: [{type: slot, count: 1, label: s, "
                                "with: [{type: core, count: %d}]}], "
                                "tasks: [{command: [app], slot: s, count: {per_slot: 1}}], "
                                "attributes: {system: {duration: %d}}}",
                                1 + (int)(i % 8), 36000 * (1 + (int)(i % 100)));
    struct sched_request request = {
        .jobspec = text, .jobspec_length = n, .user = "ann", .priority = priority, .tag = i};
    b->job[i] = sched_submit(b->s, b->now, &request);
    check(b->job[i] >= 0, "cannot submit a job");
    b->n_jobs++;
}

/* ---- What is measured ---- */

/* Of a call that began then. */
static void called(struct bench *b, double since)
{
    double took = worked() - since;
    b->call = took > b->call ? took : b->call;
}

/* A pass, one step at a time, and the row of its case. */
static void pass(struct bench *b, const char *what)
{
    const struct sched_decision *d;
    size_t n, steps = 0, started = 0, moved = 0;
    double longest = 0, all = 0;
    int rc;
    do {
        double start = worked();
        rc = sched_pass_some(b->s, b->now, 1, &d, &n);
        double took = worked() - start;
        longest = took > longest ? took : longest;
        all += took;
        steps++;
        check(rc >= 0, "a pass failed");
        for (size_t i = 0; i < n; i++) {
            started += d[i].kind == SCHED_START;
            moved += d[i].kind == SCHED_RESERVE;
        }
    } while (rc == 1);
    printf("  %-40s %9zu %8zu %8zu %9.2f %9.2f %9.2f\n", what, steps, started, moved, all,
           longest * 1e3, b->call * 1e3);
    fflush(stdout);
    b->call = 0;
}

static void set_queue(struct bench *b, bool started)
{
    double start = worked();
    check(sched_queue_set(b->s, b->now, "batch", true, started, NULL) == 0, "cannot set a queue");
    called(b, start);
}

static bool is_waiting(const struct bench *b, size_t i)
{
    int state = sched_state(b->s, b->job[i]);
    return state == SCHED_WAITING || state == SCHED_RESERVED || state == SCHED_BLOCKED;
}

static void prioritize(struct bench *b)
{
    for (int n = 0; n < RAISED;) {
        size_t i = draw(b, b->n_jobs);
        if (!is_waiting(b, i))
            continue;
        double start = worked();
        check(sched_prioritize(b->s, b->now, b->job[i], (int64_t)draw(b, 100)) == 0,
              "cannot give a job another priority");
        called(b, start);
        n++;
    }
}

static void hold_all(struct bench *b, bool hold)
{
    for (size_t i = 0; i < b->n_jobs; i++) {
        if (!is_waiting(b, i))
            continue;
        double start = worked();
        int rc =
            hold ? sched_hold(b->s, b->now, b->job[i]) : sched_release(b->s, b->now, b->job[i]);
        called(b, start);
        check(rc == 0, "cannot hold or release a job");
    }
}

static void end_one(struct bench *b)
{
    for (size_t i = 0; i < b->n_jobs; i++) {
        if (sched_state(b->s, b->job[i]) != SCHED_RUNNING)
            continue;
        double start = worked();
        check(sched_finish(b->s, b->now, b->job[i], true) == 0, "cannot end a job");
        called(b, start);
        return;
    }
}

static void reload(struct bench *b, int64_t depth)
{
    struct sched_queue_config queue;
    struct sched_config config = config_of(b, &queue, depth);
    berth_error_t err;
    double start = worked();
    check(sched_configure(b->s, b->now, &config, &err) == 0, err.text);
    called(b, start);
}

static void set_status(struct bench *b, enum resource_status status)
{
    double start = worked();
    check(sched_set_status(b->s, b->now, "node3", status, NULL) == 0, "cannot set a status");
    called(b, start);
}

static void measure(const char *policy, size_t pending)
{
    struct bench b = {.policy = policy, .random = 1};
    struct sched_queue_config queue;
    berth_error_t err;
    struct sched_config config = config_of(&b, &queue, 64);
    match_t *m = make_machine();
    b.job = malloc((pending + 1) * sizeof(*b.job));
    check(b.job != NULL, "no memory");
    b.s = sched_create(m, &config, &err);
    check(b.s != NULL, err.text);
    printf("%s, %zu pending jobs\n", policy, pending);
    set_queue(&b, false);
    while (b.n_jobs < pending)
        submit(&b, 0);
    pass(&b, "the queue is stopped");
    set_queue(&b, true);
    pass(&b, "it is started");
    b.now += 3600;
    end_one(&b);
    pass(&b, "a job ends");
    submit(&b, 1000);
    pass(&b, "a job is submitted that goes first");
    prioritize(&b);
    pass(&b, "10,000 get other priorities");
    reload(&b, 64);
    pass(&b, "the same configuration again");
    reload(&b, 32);
    pass(&b, "another one");
    set_status(&b, RESOURCE_DOWN);
    pass(&b, "a node goes down");
    set_status(&b, RESOURCE_UP);
    pass(&b, "it comes up");
    hold_all(&b, true);
    pass(&b, "all are held");
    hold_all(&b, false);
    pass(&b, "all are released");
    set_queue(&b, false);
    pass(&b, "the queue is stopped");
    sched_destroy(b.s);
    match_destroy(m);
    free(b.job);
}

int main(int argc, char **argv)
{
    static const char *const policies[] = {"fcfs", "easy", "hybrid", "conservative"};
    printf("%-42s %9s %8s %8s %9s %9s %9s\n", "", "steps", "started", "promised", "pass s",
           "step ms", "call ms");
    for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
        bool is_bounded = sched_policy_find(policies[i])->depth != SCHED_UNLIMITED;
        size_t pending = is_bounded ? PENDING : PROMISED;
        if (argc < 2 || strcmp(argv[1], policies[i]) == 0 || strcmp(argv[1], "all") == 0)
            measure(policies[i], argc > 2 ? strtoul(argv[2], NULL, 10) : pending);
    }
    return 0;
}
