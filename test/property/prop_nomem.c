/* Memory runs out: each allocation of a scenario fails in turn, once or from there to the end of
 * the call. The core is in order after the call that failed, and the call made again goes on to
 * the same end.
 *
 * With one exception: a pass that fails while it moves reservations starts with the first of
 * them again, and may then move one that a whole sweep would have left to the next. What it
 * promised holds all the same.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/match.h"
#include "berth/sched_query.h"
#include "fixture/failing_alloc.h"
#include "fixture/machine.h"
#include "random.h"
#include "resource/graph.h"

#define JOBS 90

struct log {
    struct sched_decision d[16 * JOBS];
    size_t n;
};

struct job {
    sched_job_t handle;
    int64_t end;     /* of a running job; 0: it doesn't run */
    int64_t promise; /* of a reserved one; INT64_MAX: none */
    bool gone;
};

struct scene {
    sched_t *s;
    struct job job[JOBS];
    int jobs;
    bool keeps; /* no reservation may be moved to a later time */
    bool ended; /* something was given back since the last whole pass */
    bool anew;  /* a sweep may have failed */
    struct log log;
};

/* The machine of the scenes; NULL: a flat one. */
static match_t *machine;

/* Whether the call that just failed did so for want of memory, with the core in order; it is to
 * be made again.
 */
static bool again(struct scene *c, bool failed)
{
    if (!failed)
        return false;
    assert_int_equal(errno, ENOMEM);
    assert_true(allocation_failed);
    until_failure = -1;
    assert_true(!c->s || sched_check(c->s));
    return true;
}

/* What a job got can be asked for, also after that has failed. */
static void ask(struct scene *c, sched_job_t job)
{
    const struct resource_range *range;
    size_t n;
    while (again(c, sched_cores(c->s, job, &range, &n) < 0))
        ;
    assert_true((n > 0) == (machine != NULL));
}

static void pass(struct scene *c, int64_t now, bool more)
{
    const struct sched_decision *d;
    size_t n;
    int rc;
    do {
        rc = sched_pass(c->s, now, more, &d, &n);
        int error = errno;
        for (size_t i = 0; i < n; i++) {
            assert_true(c->log.n < sizeof(c->log.d) / sizeof(*c->log.d));
            c->log.d[c->log.n++] = d[i];
            struct job *job = &c->job[d[i].tag];
            assert_true(d[i].at <= job->promise || !c->keeps);
            job->promise = d[i].at;
            if (d[i].kind == SCHED_START && rc == 0)
                ask(c, job->handle);
            if (d[i].kind == SCHED_START)
                job->end = now + 1 + (int64_t)d[i].tag * 7 % 23;
            job->gone = d[i].kind == SCHED_REJECT;
        }
        c->anew = c->anew || (rc < 0 && c->ended);
        errno = error;
    } while (again(c, rc < 0));
    c->ended = false;
}

static void submit(struct scene *c, int64_t now, struct random *r)
{
    struct sched_request request = {.tag = (uint64_t)c->jobs};
    request.units = random_next(r) % 16 ? random_between(r, 1, 20) : 33;
    request.duration = random_between(r, 1, 40);
    request.priority = random_between(r, 0, 3);
    struct job *job = &c->job[c->jobs];
    job->promise = INT64_MAX;
    do {
        job->handle = sched_submit(c->s, now, &request);
    } while (again(c, job->handle < 0));
    c->jobs++;
}

static void end_jobs(struct scene *c, int64_t now)
{
    for (int i = 0; i < c->jobs; i++) {
        struct job *job = &c->job[i];
        if (job->gone || job->end == 0 || job->end > now)
            continue;
        while (again(c, sched_finish(c->s, now, job->handle, true) < 0))
            ;
        job->gone = true;
        c->ended = true;
    }
}

static void change(struct scene *c, int64_t now, struct random *r)
{
    int i = (int)random_between(r, 0, c->jobs - 1);
    struct job *job = &c->job[i];
    if (job->gone)
        return;
    if (random_next(r) % 3 == 0) {
        while (again(c, sched_cancel(c->s, now, job->handle) < 0))
            ;
        job->gone = true;
        c->ended = true;
    } else if (job->end == 0 && sched_state(c->s, job->handle) != SCHED_REJECTED) {
        while (again(c, sched_prioritize(c->s, now, job->handle, random_between(r, 0, 5)) < 0))
            ;
    }
}

/* All jobs to their end; which allocation fails is set before. */
static void play(struct scene *c, const struct sched_params *params, uint64_t seed)
{
    struct random r = {seed};
    memset(c, 0, sizeof(*c));
    c->keeps = params->order == SCHED_ORDER_SUBMIT; /* else a job may come that goes first */
    do {
        c->s = machine ? sched_create_match(machine, params, NULL)
                       : sched_create_flat(32, params, NULL);
    } while (again(c, !c->s));
    for (int64_t now = 0; c->jobs < JOBS || sched_waiting(c->s) > 0; now++) {
        end_jobs(c, now);
        pass(c, now, true);
        for (int64_t k = random_between(&r, 0, 8); k > 0 && c->jobs < JOBS; k--)
            submit(c, now, &r);
        if (c->jobs > 0 && now % 3 == 0)
            change(c, now, &r);
        pass(c, now, false);
    }
    until_failure = -1;
    assert_true(sched_check(c->s));
    sched_destroy(c->s);
}

static bool same_log(const struct log *a, const struct log *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (a->d[i].kind != b->d[i].kind || a->d[i].job != b->d[i].job ||
            a->d[i].tag != b->d[i].tag || a->d[i].at != b->d[i].at)
            return false;
    return a->n == b->n;
}

static void run(const char *policy, int64_t depth, enum sched_order order)
{
    struct sched_params params = {.policy = policy, .reservation_depth = depth, .order = order};
    struct scene *c = malloc(sizeof(*c));
    struct log *expected = malloc(sizeof(*expected));
    assert_non_null(c);
    assert_non_null(expected);
    int64_t before = allocations_tried;
    play(c, &params, 1);
    long tries = (long)(allocations_tried - before);
    *expected = c->log;
    assert_true(tries > 20);
    long same = 0;
    for (long n = 0; n < 2 * tries; n++) {
        fail_allocation(n / 2);
        failures_last = n % 2;
        play(c, &params, 1);
        same += same_log(&c->log, expected);
        if (!c->anew && !same_log(&c->log, expected))
            fail_msg("%s: other decisions when allocation %ld of %ld fails", policy, n / 2, tries);
    }
    assert_true(same > tries);
    free(expected);
    free(c);
}

static void test_machine(void **state)
{
    (void)state;
    machine = machine_of("4 node(8 core)", &(match_options_t){.policy = "low"});
    run("easy", -1, SCHED_ORDER_SUBMIT);
    run("hybrid", 7, SCHED_ORDER_PRIORITY);
    match_destroy(machine);
    machine = machine_of("4 node(8 core)", &(match_options_t){.policy = "first"});
    run("easy", -1, SCHED_ORDER_SUBMIT);
    match_destroy(machine);
    machine = NULL;
}

static void test_fcfs(void **state)
{
    (void)state;
    run("fcfs", -1, SCHED_ORDER_SUBMIT);
}

static void test_easy(void **state)
{
    (void)state;
    run("easy", -1, SCHED_ORDER_PRIORITY);
}

static void test_hybrid(void **state)
{
    (void)state;
    run("hybrid", 7, SCHED_ORDER_SUBMIT);
    run("hybrid", 7, SCHED_ORDER_PRIORITY);
}

static void test_conservative(void **state)
{
    (void)state;
    run("conservative", -1, SCHED_ORDER_SUBMIT);
    run("conservative", -1, SCHED_ORDER_SHORTEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fcfs),    cmocka_unit_test(test_easy),
        cmocka_unit_test(test_hybrid),  cmocka_unit_test(test_conservative),
        cmocka_unit_test(test_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
