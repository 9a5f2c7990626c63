/* What a pass leaves behind: its decisions, which stay until the next one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"

#define SPEC                                                                                       \
    "{\"version\":9999,\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"t\",\"with\":["   \
    "{\"type\":\"core\",\"count\":%d}]}],\"tasks\":[{\"command\":[\"x\"],\"slot\":\"t\","          \
    "\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":{}}}"

struct world {
    struct config *config;
    match_t *machine;
    sched_t *sched;
    const struct sched_decision *decision; /* of the last pass */
    size_t n;
};

static void open_world(struct world *w, const char *text)
{
    berth_error_t err = {""};
    *w = (struct world){.config = config_read("c", text, strlen(text), 1, &err)};
    if (!w->config)
        fail_msg("%s", err.text);
    resource_graph_t *graph = config_make_nodes(&w->config->resources, &err);
    w->machine = match_create(graph, &w->config->match, &err);
    w->sched = sched_create(w->machine, &w->config->sched, &err);
    if (!w->sched)
        fail_msg("%s", err.text);
}

static void close_world(struct world *w)
{
    sched_destroy(w->sched);
    match_destroy(w->machine);
    config_destroy(w->config);
}

/* Submit a job for so many cores; what else it asks for is in `request`. */
static sched_job_t submit(struct world *w, int64_t now, const char *id, int cores,
                          struct sched_request request)
{
    char spec[sizeof(SPEC) + 16];
    snprintf(spec, sizeof(spec), SPEC, cores);
    request.id = id;
    request.jobspec = spec;
    request.jobspec_length = strlen(spec);
    request.duration = request.duration > 0 ? request.duration : 100;
    sched_job_t job = sched_submit(w->sched, now, &request);
    assert_true(job >= 0);
    return job;
}

#define PLAIN ((struct sched_request){0})

static void pass(struct world *w, int64_t now)
{
    assert_int_equal(sched_pass(w->sched, now, false, &w->decision, &w->n), 0);
    assert_true(sched_check(w->sched));
}

/* ---- Decisions stay ---- */

struct kept {
    struct sched_decision decision[16];
    char reason[16][128];
    size_t n;
};

static void keep(struct kept *k, const struct world *w)
{
    assert_true(w->n <= sizeof(k->decision) / sizeof(*k->decision));
    k->n = w->n;
    for (size_t i = 0; i < w->n; i++) {
        k->decision[i] = w->decision[i];
        snprintf(k->reason[i], sizeof(k->reason[i]), "%s",
                 w->decision[i].reason ? w->decision[i].reason : "");
    }
}

static void expect_kept(const struct kept *k, const struct world *w)
{
    assert_true(sched_check(w->sched));
    for (size_t i = 0; i < k->n; i++) {
        assert_memory_equal(&w->decision[i], &k->decision[i], sizeof(*k->decision));
        if (w->decision[i].reason)
            assert_string_equal(w->decision[i].reason, k->reason[i]);
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
    open_world(w, queues);
    job[A] = submit(w, 0, "a", 4, PLAIN);
    job[E] = submit(w, 0, "e", 2, PLAIN);
    job[B] = submit(w, 0, "b", 4, PLAIN);
    job[C] = submit(w, 0, "c", 4, PLAIN);
    job[D] = submit(w, 0, "d", 1, (struct sched_request){.hold = true});
    submit(w, 0, "x", 1, (struct sched_request){.queue = "none"});
    pass(w, 0);
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
        submit(&w, 1, id, 1, (struct sched_request){.hold = i % 2, .queue = i % 3 ? "q" : "none"});
    }
    expect_kept(&kept, &w);
    assert_int_equal(sched_finish(w.sched, 2, job[A]), 0);
    expect_kept(&kept, &w);
    assert_int_equal(sched_requeue(w.sched, 2, job[E]), 0);
    expect_kept(&kept, &w);
    assert_int_equal(sched_hold(w.sched, 3, job[B]), 0);
    assert_int_equal(sched_release(w.sched, 3, job[D]), 0);
    expect_kept(&kept, &w);
    assert_int_equal(sched_prioritize(w.sched, 4, job[C], 7), 0);
    assert_int_equal(sched_set_duration(w.sched, 4, job[C], 7, NULL), 0);
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
    pass(&w, 7);
    assert_true(w.n > kept.n);
    close_world(&w);
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
        sched_allocation(w.sched, job[i], &ranges, &n);
    }
    expect_kept(&kept, &w);
    assert_int_equal(sched_what_if(w.sched, 0, job[C], &question, 1, NULL), 0);
    assert_int_equal(sched_holders(w.sched, "node0", &holders, &n, NULL), 0);
    assert_int_equal(sched_queue_stats(w.sched, "q", &stats), 0);
    assert_int_equal(sched_hints(w.sched, &text, &n), 0);
    assert_true(sched_last_time(w.sched) >= 0);
    expect_kept(&kept, &w);
    close_world(&w);
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
    assert_int_equal(sched_cancel(w.sched, 1, job[A]), 0);
    assert_true(sched_restore(w.sched, 1, &r, NULL) >= 0);
    expect_kept(&kept, &w);
    free(resources);
    free(jobspec);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_leave_decisions),
                                       cmocka_unit_test(questions_leave_decisions),
                                       cmocka_unit_test(a_restored_job_leaves_decisions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
