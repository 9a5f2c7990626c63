/* The simulator against the reference simulator (refsim.h), in both orders of the events of an
 * instant, over random workloads where much falls on one instant; and hybrid against the
 * policies at its two ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"
#include "refsim.h"
#include "sim/simulate.h"

#define JOBS_MAX 120

struct workload {
    struct schedule_job jobs[JOBS_MAX];
    struct trace trace;
};

struct shape {
    int jobs;
    int64_t procs;
    int64_t longest, scale, gap;
};

static void pick_workload(struct workload *w, const struct shape *s, struct random *r)
{
    bool exact = random_next(r) % 4 == 0;
    bool shuffled = random_next(r) % 4 == 0;
    int n = (int)random_between(r, 1, s->jobs);
    int64_t procs = random_between(r, 1, s->procs);
    int64_t submit = 0;
    for (int i = 0; i < n; i++) {
        struct schedule_job *j = &w->jobs[i];
        bool large = random_next(r) % 3 == 0;
        if (random_next(r) % 2)
            submit += random_between(r, 0, s->gap / s->scale) * s->scale;
        *j = (struct schedule_job){.id = i, .submit = submit};
        if (shuffled)
            j->submit = random_between(r, 0, s->gap * n / 4 / s->scale) * s->scale;
        j->limit = random_between(r, 1, s->longest / s->scale) * s->scale;
        j->procs = random_between(r, 1, large ? procs : procs / 4 + 1);
        j->priority = random_between(r, 0, 3);
        if (j->procs > procs)
            j->procs = procs;
        j->run = j->limit;
        if (!exact && random_next(r) % 3)
            j->run = random_next(r) % 2 ? random_between(r, 1, j->limit)
                                        : random_between(r, 1, j->limit / s->scale) * s->scale;
    }
    w->trace = (struct trace){.jobs = w->jobs, .n = (size_t)n, .procs = procs};
}

static void run(const struct workload *w, const char *policy, int64_t depth, enum sched_order order,
                enum simulate_events events, int64_t *start)
{
    struct simulate_options options = {
        .sched = {.policy = policy, .reservation_depth = depth, .order = order}, .events = events};
    struct simulate_stats stats;
    assert_int_equal(simulate(&w->trace, &options, start, &stats, NULL), 0);
}

static void compare(const struct workload *w, const char *what, enum simulate_events events,
                    uint64_t seed, const int64_t *found, const int64_t *expected)
{
    for (size_t i = 0; i < w->trace.n; i++)
        if (found[i] != expected[i])
            fail_msg("seed %llu, %s, %s: job %zu starts at %lld instead of %lld",
                     (unsigned long long)seed, what,
                     events == SIMULATE_BATCHED ? "batched" : "per-event", i, (long long)found[i],
                     (long long)expected[i]);
}

static void compare_with_refsim(const struct workload *w, uint64_t seed)
{
    static const struct {
        const char *name;
        enum refsim_policy policy;
    } policies[] = {{"fcfs", REFSIM_FCFS}, {"easy", REFSIM_EASY}, {"conservative", REFSIM_CONS}};
    int64_t found[JOBS_MAX];
    int64_t expected[JOBS_MAX];
    for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
        for (int events = SIMULATE_BATCHED; events <= SIMULATE_PER_EVENT; events++) {
            run(w, policies[i].name, -1, SCHED_ORDER_SUBMIT, (enum simulate_events)events, found);
            refsim(w->jobs, (int)w->trace.n, w->trace.procs, policies[i].policy,
                   events == SIMULATE_BATCHED, expected);
            compare(w, policies[i].name, (enum simulate_events)events, seed, found, expected);
        }
    }
}

/* hybrid with one reservation is easy; with one for each job it is conservative. */
static void compare_hybrid(const struct workload *w, uint64_t seed)
{
    int64_t found[JOBS_MAX];
    int64_t expected[JOBS_MAX];
    for (int order = SCHED_ORDER_SUBMIT; order <= SCHED_ORDER_PRIORITY; order++) {
        for (int events = SIMULATE_BATCHED; events <= SIMULATE_PER_EVENT; events++) {
            enum sched_order o = (enum sched_order)order;
            enum simulate_events e = (enum simulate_events)events;
            run(w, "hybrid", 1, o, e, found);
            run(w, "easy", -1, o, e, expected);
            compare(w, "hybrid 1", e, seed, found, expected);
            run(w, "hybrid", (int64_t)w->trace.n, o, e, found);
            run(w, "conservative", -1, o, e, expected);
            compare(w, "hybrid n", e, seed, found, expected);
        }
    }
}

static void run_many(const struct shape *s, uint64_t seed, int rounds)
{
    int n = RANDOM_ROUNDS(rounds);
    for (int i = 0; i < n; i++, seed++) {
        struct random r = {seed};
        struct workload w;
        pick_workload(&w, s, &r);
        compare_with_refsim(&w, seed);
        if (i % 4 == 0)
            compare_hybrid(&w, seed);
    }
}

static void test_tiny(void **state)
{
    (void)state;
    run_many(&(struct shape){.jobs = 8, .procs = 4, .longest = 5, .scale = 1, .gap = 3}, 0, 12000);
}

static void test_ties(void **state)
{
    (void)state;
    run_many(&(struct shape){.jobs = 40, .procs = 12, .longest = 40, .scale = 10, .gap = 20},
             1000000, 2500);
}

static void test_small(void **state)
{
    (void)state;
    run_many(&(struct shape){.jobs = 40, .procs = 100, .longest = 30, .scale = 1, .gap = 8},
             2000000, 2000);
}

static void test_crowded(void **state)
{
    (void)state;
    run_many(&(struct shape){.jobs = JOBS_MAX, .procs = 64, .longest = 60, .scale = 3, .gap = 6},
             3000000, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiny),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_crowded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
