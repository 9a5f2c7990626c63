/* The decisions of a pass stay until the next one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "fixture/world.h"

#define PLAIN ((struct sched_request){0})

struct kept {
    struct sched_decision decision[16];
    char reason[16][SCHED_REASON_TEXT];
    size_t n;
};

static void keep(struct kept *k, const struct world *w)
{
    assert_true(w->n <= sizeof(k->decision) / sizeof(*k->decision));
    k->n = w->n;
    for (size_t i = 0; i < w->n; i++) {
        k->decision[i] = w->decision[i];
        sched_reason_text(w->decision[i].reason, k->reason[i]);
    }
}

static void expect_kept(const struct kept *k, const struct world *w)
{
    assert_true(sched_check(w->sched));
    for (size_t i = 0; i < k->n; i++) {
        assert_memory_equal(&w->decision[i], &k->decision[i], sizeof(*k->decision));
        char reason[SCHED_REASON_TEXT];
        assert_string_equal(sched_reason_text(w->decision[i].reason, reason), k->reason[i]);
    }
}

static const char queues[] = "resources: {nodes: 2, cores: 4}\n"
                             "match: {policy: low}\n"
                             "queues: {q: {policy: easy}, other: {policy: easy}}\n"
                             "default-queue: q\n";

enum { A, B, C, D, E, JOBS };

/* A pass that starts A and E, promises B a time, rejects one, and says that C and D wait. */
static void decide(struct world *w, sched_job_t *job, struct kept *kept)
{
    world_open(w, queues);
    job[A] = world_enter(w, 0, "a", 4, PLAIN);
    job[E] = world_enter(w, 0, "e", 2, PLAIN);
    job[B] = world_enter(w, 0, "b", 4, PLAIN);
    job[C] = world_enter(w, 0, "c", 4, PLAIN);
    job[D] = world_enter(w, 0, "d", 1, (struct sched_request){.hold = true});
    world_enter(w, 0, "x", 1, (struct sched_request){.queue = "none"});
    world_pass(w, 0);
    keep(kept, w);
    assert_int_equal(kept->n, 6);
    size_t reasons = 0;
    for (size_t i = 0; i < kept->n; i++)
        reasons += kept->reason[i][0] != '\0';
    assert_int_equal(reasons, 3);
}

static void events_leave_decisions(void **state)
{
    struct world w;
    struct kept kept;
    sched_job_t job[JOBS];
    char id[16];
    (void)state;
    decide(&w, job, &kept);
    for (int i = 0; i < 300; i++) { /* more than there is room for at first */
        snprintf(id, sizeof(id), "more%d", i);
        world_enter(&w, 1, id, 1,
                    (struct sched_request){.hold = i % 2, .queue = i % 3 ? "q" : "none"});
    }
    expect_kept(&kept, &w);
    assert_int_equal(sched_finish(w.sched, 2, job[A], true), 0);
    expect_kept(&kept, &w);
    assert_int_equal(sched_requeue(w.sched, 2, job[E]), 0);
    expect_kept(&kept, &w);
    assert_int_equal(sched_hold(w.sched, 3, job[B]), 0);
    assert_int_equal(sched_release(w.sched, 3, job[D]), 0);
    expect_kept(&kept, &w);
    assert_int_equal(sched_prioritize(w.sched, 4, job[C], 7), 0);
    assert_int_equal(sched_set_duration(w.sched, 4, job[C], 7, 0, NULL), 0);
    assert_int_equal(sched_set_queue(w.sched, 4, job[C], "other", NULL), 0);
    expect_kept(&kept, &w);
    assert_int_equal(sched_queue_set(w.sched, 5, "q", true, false, NULL), 0);
    assert_int_equal(sched_set_status(w.sched, 5, "node0", RESOURCE_DOWN, NULL), 0);
    expect_kept(&kept, &w);
    assert_int_equal(sched_configure(w.sched, 6, &w.config->sched, NULL), 0);
    expect_kept(&kept, &w);
    for (int i = A; i < JOBS; i++)
        sched_cancel(w.sched, 7, job[i]);
    expect_kept(&kept, &w);
    assert_int_equal(
        sched_pass(w.sched, 6, false, &(const struct sched_decision *){0}, &(size_t){0}),
        -1); /* time goes back: that is no pass */
    expect_kept(&kept, &w);
    world_pass(&w, 7);
    assert_true(w.n > kept.n);
    world_close(&w);
}

static int half(void *context, int64_t n, struct sched_instead *instead)
{
    (void)context;
    *instead = (struct sched_instead){.duration = n};
    return 0;
}

static void questions_leave_decisions(void **state)
{
    struct world w;
    struct kept kept;
    sched_job_t job[JOBS];
    struct sched_annotation a;
    struct sched_record r;
    struct sched_queue_stats stats;
    struct sched_question question = {.make = half, .least = 1, .most = 100};
    const struct resource_range *ranges;
    const sched_job_t *holders;
    const char *text;
    size_t n;
    (void)state;
    decide(&w, job, &kept);
    for (int i = A; i < JOBS; i++) {
        assert_int_equal(sched_annotate(w.sched, job[i], &a), 0);
        assert_int_equal(sched_record(w.sched, job[i], &r), 0);
        sched_resources(w.sched, job[i], &text);
        sched_write(w.sched, job[i], "jgf", &text, &n);
        sched_cores(w.sched, job[i], &ranges, &n);
        struct sched_allocation given;
        bool holds = a.state == SCHED_RUNNING || a.state == SCHED_RESERVED;
        assert_int_equal(sched_allocation(w.sched, job[i], &given), holds ? 0 : -1);
        assert_true(!holds || given.n_hosts == 1);
    }
    expect_kept(&kept, &w);
    assert_int_equal(sched_what_if(w.sched, 0, job[C], &question, 1, NULL), 0);
    assert_int_equal(sched_holders(w.sched, "node0", &holders, &n, NULL), 0);
    assert_int_equal(sched_queue_stats(w.sched, "q", &stats), 0);
    assert_int_equal(sched_hints(w.sched, &text, &n), 0);
    assert_true(sched_last_time(w.sched) >= 0);
    expect_kept(&kept, &w);
    world_close(&w);
}

/* A job that is restored as running was started before: that is no decision of this scheduler's. */
static void a_restored_job_leaves_decisions(void **state)
{
    struct world w;
    struct kept kept;
    sched_job_t job[JOBS];
    struct sched_record r;
    (void)state;
    decide(&w, job, &kept);
    assert_int_equal(sched_record(w.sched, job[A], &r), 0);
    char *resources = strndup(r.resources, r.resources_length);
    char *jobspec = strndup(r.request.jobspec, r.request.jobspec_length);
    r.resources = resources;
    r.request.jobspec = jobspec;
    r.request.id = "again";
    r.request.dependency = NULL;
    r.reason = NULL; /* it is gone with the job */
    assert_int_equal(sched_cancel(w.sched, 1, job[A]), 0);
    assert_true(sched_restore(w.sched, 1, &r, NULL) >= 0);
    expect_kept(&kept, &w);
    free(resources);
    free(jobspec);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_leave_decisions),
        cmocka_unit_test(questions_leave_decisions),
        cmocka_unit_test(a_restored_job_leaves_decisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
