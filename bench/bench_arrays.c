/* What an array of a million members costs: its submission, its memory while it waits, and how fast its members
 * start; and the same for as many jobs that are submitted one by one.
 *
 * The machine has 1,000 nodes, of which each member wants one. Each round all that run end, and a pass starts
 * the next ones, until so many have started; then the rest is cancelled.
 */
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "berth/match.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "measure.h"

enum { NODES = 1000, MEMBERS = 1000000, STARTS = 200000 };

static const char jobspec[] =
    "{\"version\": 1, \"resources\": [{\"type\": \"node\", \"count\": 1, \"with\": [{\"type\": "
    "\"slot\", \"count\": 1, \"label\": \"s\", \"with\": [{\"type\": \"core\", \"count\": 1}]}]}], "
    "\"tasks\": [{\"command\": [\"a\"], \"slot\": \"s\", \"count\": {\"per_slot\": 1}}], "
    "\"attributes\": {\"system\": {\"duration\": 0}}}";

static void check(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "bench_arrays: %s\n", what);
    exit(1);
}

static sched_t *make_sched(const char *policy)
{
    static const char text[] =
        "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"0-999\", \"children\": "
        "{\"core\": \"0\"}}], \"starttime\": 0, \"expiration\": 0, \"nodelist\": "
        "[\"node[0-999]\"]}}";
    berth_error_t err = {""};
    resource_graph_t *graph = resource_graph_read("rv1exec", text, sizeof(text) - 1, &err);
    check(graph != NULL, err.text);
    match_t *m = match_create(
        graph, &(match_options_t){.policy = "low", .filters = "ALL:core,ALL:node"}, &err);
    check(m != NULL, err.text);
    struct sched_queue_config queue = {.name = "q", .policy = policy};
    struct sched_config config = {
        .queues = &queue, .n_queues = 1, .default_queue = "q", .second = 1};
    sched_t *s = sched_create(m, &config, &err);
    check(s != NULL, err.text);
    return s;
}

static void submit(sched_t *s, bool one_by_one)
{
    struct sched_request request = {.duration = 1,
                                    .tag = 1,
                                    .jobspec = jobspec,
                                    .jobspec_length = sizeof(jobspec) - 1,
                                    .members = MEMBERS};
    if (!one_by_one) {
        check(sched_submit(s, 0, &request) >= 0, "the array is refused");
        return;
    }
    request.members = 0;
    for (; request.tag <= MEMBERS; request.tag++)
        check(sched_submit(s, 0, &request) >= 0, "a job is refused");
}

/* Rounds until so many have started. Returns their number. */
static size_t start(sched_t *s)
{
    static sched_job_t running[NODES];
    size_t started = 0, n_running = 0, n;
    const struct sched_decision *d;
    for (int64_t now = 0; started < STARTS; now++) {
        for (size_t i = 0; i < n_running; i++)
            sched_finish(s, now, running[i], true);
        n_running = 0;
        check(sched_pass(s, now, false, &d, &n) == 0, "a pass fails");
        for (size_t i = 0; i < n; i++)
            if (d[i].kind == SCHED_START)
                running[n_running++] = d[i].job;
        started += n_running;
        check(n_running > 0, "nobody starts");
    }
    return started;
}

static void run(const char *policy, bool one_by_one)
{
    sched_t *s = make_sched(policy);
    size_t before = mallinfo2().uordblks;
    double began = worked();
    submit(s, one_by_one);
    double submitted = worked();
    size_t used = mallinfo2().uordblks - before;
    size_t started = start(s);
    double took = worked() - submitted;
    printf("%-12s  %-10s  %10.2f ms  %10.1f kB  %9.0f starts/s\n", policy,
           one_by_one ? "one by one" : "array", 1e3 * (submitted - began), (double)used / 1e3,
           (double)started / took);
    fflush(stdout);
}

int main(void)
{
    static const char *const policies[] = {"fcfs", "easy", "conservative"};
    printf("policy        members    submission      waiting           starts\n");
    fflush(stdout);
    for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++)
        for (int one = 0; one < 2; one++) {
            if (one && strcmp(policies[i], "conservative") == 0)
                continue; /* a million reservations */
            pid_t child = fork();
            check(child >= 0, "no process");
            if (child == 0) {
                run(policies[i], one);
                _exit(0);
            }
            int status;
            check(waitpid(child, &status, 0) == child && status == 0, "a run has failed");
        }
    return 0;
}
