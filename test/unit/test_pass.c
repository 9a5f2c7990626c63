/* When a pass is due, and what it does after what has happened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "fixture/world.h"

#define PLAIN ((struct sched_request){0})

static const char queues[] = "resources: {nodes: 2, cores: 4}\n"
                             "match: {policy: low}\n"
                             "queues: {q: {policy: easy}, other: {policy: easy}}\n"
                             "default-queue: q\n";

/* ---- When the next pass is due ---- */

static int64_t next(const struct world *w)
{
    return sched_next_time(w->sched);
}

/* Something has happened at `now`: a pass is due at once, and after it none but by time. */
static void expect_due(struct world *w, int64_t now)
{
    assert_int_equal(next(w), now);
    world_pass(w, now);
    assert_true(next(w) > now);
}

static void each_event_makes_a_pass_due(void **state)
{
    struct world w;
    struct sched_block block = {.name = "b", .resources = "node1", .start = 900, .duration = 10};
    (void)state;
    world_open(&w, queues);
    assert_int_equal(next(&w), INT64_MAX);
    sched_job_t a = world_enter(&w, 0, "a", 4, PLAIN);
    expect_due(&w, 0);
    assert_int_equal(next(&w), INT64_MAX);
    world_pass(&w, 0);
    assert_int_equal(next(&w), INT64_MAX);
    sched_job_t b = world_enter(&w, 1, "b", 4, PLAIN);
    expect_due(&w, 1);
    sched_job_t c = world_enter(&w, 2, "c", 4, PLAIN);
    expect_due(&w, 2);
    assert_int_equal(next(&w), 100); /* when c will start */
    assert_int_equal(sched_hold(w.sched, 3, c), 0);
    expect_due(&w, 3);
    assert_int_equal(next(&w), INT64_MAX);
    assert_int_equal(sched_release(w.sched, 4, c), 0);
    expect_due(&w, 4);
    assert_int_equal(sched_prioritize(w.sched, 5, c, 1), 0);
    expect_due(&w, 5);
    assert_int_equal(sched_set_duration(w.sched, 6, a, 50, 0, NULL), 0);
    expect_due(&w, 6);
    assert_int_equal(next(&w), 50);
    assert_int_equal(sched_set_queue(w.sched, 7, c, "other", NULL), 0);
    expect_due(&w, 7);
    assert_int_equal(sched_queue_set(w.sched, 8, "other", true, false, NULL), 0);
    expect_due(&w, 8);
    assert_int_equal(sched_queue_set(w.sched, 9, "other", true, true, NULL), 0);
    expect_due(&w, 9);
    assert_int_equal(sched_set_status(w.sched, 10, "node1", RESOURCE_DRAINED, NULL), 0);
    expect_due(&w, 10);
    assert_int_equal(sched_set_property(w.sched, 11, "node1", "k", "v", NULL), 0);
    expect_due(&w, 11);
    assert_int_equal(sched_block(w.sched, 12, &block, NULL), 0);
    expect_due(&w, 12);
    assert_int_equal(sched_unblock(w.sched, 13, "b", NULL), 0);
    expect_due(&w, 13);
    assert_int_equal(sched_configure(w.sched, 14, &w.config->sched, NULL), 0);
    expect_due(&w, 14);
    assert_int_equal(sched_requeue(w.sched, 15, b), 0);
    expect_due(&w, 15);
    assert_int_equal(sched_finish(w.sched, 16, a, true), 0);
    expect_due(&w, 16);
    assert_int_equal(sched_cancel(w.sched, 17, b), 0);
    expect_due(&w, 17);
    world_enter(&w, 18, "x", 1, (struct sched_request){.queue = "none"}); /* to be rejected */
    expect_due(&w, 18);
    sched_job_t d = world_enter(&w, 19, "d", 1, PLAIN);
    assert_int_equal(sched_withdraw(w.sched, 20, d), 0);
    expect_due(&w, 20);
    world_close(&w);
}

static void questions_and_refusals_make_none_due(void **state)
{
    struct world w;
    struct sched_annotation a;
    (void)state;
    world_open(&w, queues);
    sched_job_t job = world_enter(&w, 5, "a", 4, PLAIN);
    world_pass(&w, 5);
    assert_int_equal(sched_annotate(w.sched, job, &a), 0);
    assert_int_equal(sched_hold(w.sched, 6, job), -1); /* it runs */
    assert_int_equal(sched_cancel(w.sched, 4, job), -1);
    assert_int_equal(sched_set_status(w.sched, 6, "node7", RESOURCE_DOWN, NULL), -1);
    assert_int_equal(next(&w), INT64_MAX);
    world_close(&w);
}

static void time_alone_makes_a_pass_due(void **state)
{
    static const char text[] = "resources: {nodes: 1, cores: 4}\n"
                               "match: {policy: low}\n"
                               "queues: {q: {policy: fcfs}, first: {policy: easy, priority: 9},\n"
                               "         spare: {policy: fcfs, preemptible: cancel}}\n"
                               "default-queue: q\n"
                               "blocks: [{name: b, resources: node0, start: 60, duration: 10,\n"
                               "          every: 100}]\n";
    struct world w;
    (void)state;
    world_open(&w, text);
    sched_job_t begins =
        world_enter(&w, 0, "a", 1, (struct sched_request){.begin = 7, .duration = 10});
    expect_due(&w, 0);
    assert_int_equal(next(&w), 7); /* blocks are nothing to who is blocked otherwise */
    expect_due(&w, 7);
    assert_int_equal(next(&w), INT64_MAX);
    sched_job_t waits = world_enter(&w, 8, "b", 4, (struct sched_request){.duration = 40});
    expect_due(&w, 8);
    assert_int_equal(next(&w), 60);
    expect_due(&w, 60); /* of what the first overruns no pass need know until then */
    assert_int_equal(next(&w), 70);
    assert_int_equal(sched_cancel(w.sched, 61, waits), 0);
    assert_int_equal(sched_finish(w.sched, 61, begins, true), 0);
    expect_due(&w, 61);
    assert_int_equal(next(&w), INT64_MAX);
    world_enter(&w, 75, "spare", 4,
                (struct sched_request){.queue = "spare", .preemptible_after = 10, .duration = 80});
    expect_due(&w, 75);
    assert_int_equal(next(&w), 85); /* from then on it may be preempted */
    sched_job_t first =
        world_enter(&w, 76, "first", 4, (struct sched_request){.queue = "first", .duration = 30});
    expect_due(&w, 76);
    assert_int_equal(sched_state(w.sched, first), SCHED_RESERVED);
    assert_int_equal(next(&w), 85);
    expect_due(&w, 85);
    assert_int_equal(w.n, 1);
    assert_int_equal(w.decision[0].kind, SCHED_PREEMPT);
    assert_int_equal(next(&w), 160); /* a block may leave it room beside what it has taken */
    assert_int_equal(sched_finish(w.sched, 90, w.decision[0].job, true), 0);
    expect_due(&w, 90);
    assert_int_equal(sched_state(w.sched, first), SCHED_RUNNING);
    world_close(&w);
}

/* A job that overruns moves the reservation behind it on, time and again. */
static void an_overrun_puts_the_next_pass_off(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, queues);
    world_enter(&w, 0, "a", 4, (struct sched_request){.duration = 10});
    world_enter(&w, 0, "long", 4, PLAIN);
    sched_job_t b = world_enter(&w, 0, "b", 4, PLAIN);
    expect_due(&w, 0);
    assert_int_equal(next(&w), 10);
    int64_t at = 10;
    for (int i = 0; i < 5; i++) {
        expect_due(&w, at);
        assert_int_equal(sched_state(w.sched, b), SCHED_RESERVED);
        assert_int_equal(next(&w), sched_start_time(w.sched, b));
        at = next(&w);
    }
    world_close(&w);
}

static const char gathering[] = "resources: {nodes: 1, cores: 4}\n"
                                "match: {policy: low}\n"
                                "queues: {q: {policy: easy, priority: 5},\n"
                                "         spare: {policy: easy, preemptible: cancel}}\n"
                                "default-queue: q\n"
                                "passes: {min-interval: 20, max-events: 3}\n";

static void events_are_gathered(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, gathering);
    struct sched_request no_limit = {.duration = SCHED_UNLIMITED, .estimate = 30};
    sched_job_t a = world_enter(&w, 3, "a", 4, no_limit);
    expect_due(&w, 3); /* before the first pass nothing is waited for */
    world_enter(&w, 5, "b", 4, PLAIN);
    assert_int_equal(next(&w), 23);
    world_pass(&w, 22); /* it is put off, */
    assert_int_equal(w.n, 0);
    assert_int_equal(next(&w), 23);
    expect_due(&w, 23); /* and at its time it is not */
    assert_int_equal(w.n, 1);
    assert_int_equal(next(&w), 33); /* a promise doesn't wait, */
    expect_due(&w, 33);             /* and, as a overruns, is put off */
    assert_true(next(&w) > 33);
    assert_int_equal(sched_finish(w.sched, 33, a, true), 0);
    assert_int_equal(next(&w), 34);
    expect_due(&w, 34);
    world_enter(&w, 35, "c", 1, PLAIN);
    world_enter(&w, 36, "d", 1, PLAIN);
    assert_int_equal(next(&w), 54);
    world_enter(&w, 37, "e", 1, PLAIN); /* they are as many as may wait */
    expect_due(&w, 37);
    world_enter(&w, 60, "f", 1, PLAIN);
    expect_due(&w, 60); /* a pass could have been before */
    assert_int_equal(w.n, 1);
    assert_int_equal(next(&w), 134);
    world_close(&w);
}

/* What a job has preempted others for it gets as soon as they have ended. */
static void who_has_preempted_does_not_wait(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, gathering);
    sched_job_t spare = world_enter(&w, 0, "a", 4, (struct sched_request){.queue = "spare"});
    expect_due(&w, 0);
    expect_due(&w, 1); /* from now on it may be preempted */
    sched_job_t b = world_enter(&w, 5, "b", 4, PLAIN);
    assert_int_equal(next(&w), 21);
    expect_due(&w, 21);
    assert_int_equal(w.decision[0].kind, SCHED_PREEMPT);
    assert_int_equal(sched_finish(w.sched, 22, spare, true), 0);
    expect_due(&w, 22);
    assert_int_equal(sched_state(w.sched, b), SCHED_RUNNING);
    world_close(&w);
}

static void a_pass_that_was_cut_off_goes_on_at_once(void **state)
{
    struct world w;
    char id[16];
    int rc = 1;
    (void)state;
    world_open(&w, gathering);
    world_pass(&w, 0);
    for (int i = 0; i < 10; i++) {
        snprintf(id, sizeof(id), "j%d", i);
        world_enter(&w, 1, id, 4, PLAIN);
    }
    for (int i = 0; rc == 1; i++) {
        assert_int_equal(next(&w), 1);
        rc = sched_pass_some(w.sched, 1, 1, &w.decision, &w.n);
        assert_true(rc == 0 || rc == 1);
        assert_true(i > 0 || rc == 1);
    }
    assert_int_equal(next(&w), 101);
    world_close(&w);
}

/* Also where something happens after each slice, and there are more holders than may be looked at in one. */
static void a_pass_that_events_cut_off_comes_to_its_end(void **state)
{
    enum { HOLDERS = 100, BUDGET = 20, SLICES = 50 };
    struct world w;
    char id[16];
    sched_job_t job = -1;
    int rc = 1, slices = 0;
    (void)state;
    world_open(&w, "resources: {nodes: 1, cores: 4}\n"
                   "queues: {q: {policy: conservative}}\n"
                   "default-queue: q\n");
    sched_job_t first = world_enter(&w, 0, "first", 4, PLAIN);
    for (int i = 0; i < HOLDERS; i++) {
        snprintf(id, sizeof(id), "j%d", i);
        job = world_enter(&w, 0, id, 4, PLAIN);
    }
    world_pass(&w, 0);
    assert_int_equal(sched_start_time(w.sched, job), HOLDERS * 100);
    assert_int_equal(sched_finish(w.sched, 10, first, true), 0);
    for (; rc == 1 && slices < SLICES; slices++) {
        rc = sched_pass_some(w.sched, 10, BUDGET, &w.decision, &w.n);
        assert_int_equal(sched_prioritize(w.sched, 10, job, 0), 0);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(sched_start_time(w.sched, job), 10 + (HOLDERS - 1) * 100);
    world_close(&w);
}

/* A scheduler that goes on where another was wants no pass that this one would not have made. */
static void a_restored_scheduler_has_the_same_next_time(void **state)
{
    static const char text[] = "resources: {nodes: 1, cores: 4}\n"
                               "match: {policy: low}\n"
                               "queues: {q: {policy: fcfs}}\n"
                               "blocks: [{name: b, resources: node0, start: 10, duration: 10,\n"
                               "          every: 100}]\n";
    struct world w, to;
    struct sched_record r;
    (void)state;
    world_open(&w, text);
    world_open(&to, text);
    /* as long as the gaps of the block are */
    sched_job_t job = world_enter(&w, 25, "a", 4, (struct sched_request){.duration = 90});
    expect_due(&w, 25);
    assert_int_equal(next(&w), 110);
    assert_int_equal(sched_record(w.sched, job, &r), 0);
    assert_true(sched_restore(to.sched, 30, &r, NULL) >= 0);
    assert_int_equal(sched_restore_passed(to.sched, 30, &(struct sched_passed){.at = 25}), 0);
    assert_true(sched_check(to.sched));
    assert_int_equal(next(&to), 110);
    world_close(&w);
    world_close(&to);
}

/* Another scheduler has the same jobs, as they are. */
static void restore_all(struct world *to, struct world *from, int64_t now)
{
    struct sched_record r;
    struct sched_passed passed;
    sched_passed(from->sched, &passed);
    for (sched_job_t job = sched_first(from->sched); job >= 0; job = sched_next(from->sched, job)) {
        assert_int_equal(sched_record(from->sched, job, &r), 0);
        sched_job_t same = sched_restore(to->sched, now, &r, NULL);
        assert_true(same >= 0);
        assert_int_equal(sched_state(to->sched, same), r.state);
        assert_true(sched_check(to->sched));
    }
    assert_int_equal(sched_restore_passed(to->sched, now, &passed), 0);
}

/* A running job is given more time, which is in the way of a promise. The next pass moves that, be it this
 * scheduler's or that of one which goes on where this one was, whichever of the two jobs came first.
 */
static void a_promise_in_the_way_is_moved_after_a_restart(void **state)
{
    static const char text[] = "resources: {nodes: 1, cores: 4}\n"
                               "queues: {q: {policy: conservative}}\n";
    (void)state;
    for (int longer = 0; longer < 2; longer++) {
        struct world w, to;
        world_open(&w, text);
        world_open(&to, text);
        sched_job_t a = world_enter(&w, 0, "a", 3, PLAIN);
        world_enter(&w, 0, "b", 4, PLAIN);
        sched_job_t c = world_enter(&w, 0, "c", 1, PLAIN);
        world_pass(&w, 0);
        assert_int_equal(sched_set_duration(w.sched, 10, longer ? c : a, 150, 0, NULL), 0);
        restore_all(&to, &w, 10);
        world_pass(&w, 10);
        world_pass(&to, 10);
        assert_int_equal(w.n, 1);
        assert_int_equal(w.decision[0].at, 150);
        assert_int_equal(to.n, 1);
        assert_int_equal(to.decision[0].kind, SCHED_RESERVE);
        assert_int_equal(to.decision[0].at, 150);
        world_close(&w);
        world_close(&to);
    }
}

/* A job comes within its queue's depth as one before it has gone, and no pass has followed: it takes its turn before a holder
 * behind it in a scheduler that goes on from there, too.
 */
static void who_comes_within_the_depth_has_a_turn_after_a_restart(void **state)
{
    static const char text[] = "resources: {nodes: 1, cores: 4}\n"
                               "queues: {q: {policy: conservative, queue-depth: 1}}\n";
    struct world w, to, *each[] = {&w, &to};
    (void)state;
    world_open(&w, text);
    world_open(&to, text);
    world_enter(&w, 1, "r", 3, (struct sched_request){.duration = 49});
    world_pass(&w, 1);
    world_enter(&w, 2, "h", 4, (struct sched_request){.duration = 100, .priority = -1});
    world_pass(&w, 2);
    sched_job_t a = world_enter(&w, 3, "a", 4, (struct sched_request){.duration = 10});
    world_pass(&w, 3);
    sched_job_t b = world_enter(&w, 4, "b", 4, (struct sched_request){.duration = 10});
    world_pass(&w, 4);
    assert_int_equal(sched_state(w.sched, b), SCHED_WAITING);
    assert_int_equal(sched_cancel(w.sched, 10, a), 0);
    restore_all(&to, &w, 10);
    for (int i = 0; i < 2; i++) {
        world_pass(each[i], 10);
        assert_int_equal(each[i]->n, 1);
        assert_int_equal(each[i]->decision[0].kind, SCHED_RESERVE);
        assert_int_equal(each[i]->decision[0].at, 50);
        world_close(each[i]);
    }
}

/* A job has gone and no pass has followed: who is promised something worse for the same time takes what that
 * job leaves, be it in this scheduler or in one which goes on where this one was, which can't know what was
 * freed before.
 */
static void a_promise_is_chosen_anew_after_a_restart(void **state)
{
    static const char text[] = "resources: {nodes: 2, cores: 4}\n"
                               "match: {policy: low}\n"
                               "queues: {q: {policy: conservative}}\n";
    struct world w, to;
    const char *what;
    (void)state;
    world_open(&w, text);
    world_open(&to, text);
    world_enter(&w, 0, "x", 4, PLAIN);
    world_enter(&w, 0, "y", 4, PLAIN);
    sched_job_t b = world_enter(&w, 0, "b", 4, PLAIN);
    sched_job_t c = world_enter(&w, 0, "c", 4, PLAIN);
    world_pass(&w, 0);
    assert_int_equal(sched_resources(w.sched, c, &what), 0);
    assert_string_equal(what, "node1/core[0-3]");
    assert_int_equal(sched_cancel(w.sched, 10, b), 0);
    restore_all(&to, &w, 10);
    world_pass(&w, 10);
    assert_int_equal(sched_resources(w.sched, c, &what), 0);
    assert_string_equal(what, "node0/core[0-3]");
    world_pass(&to, 10);
    assert_int_equal(to.n, w.n);
    c = sched_next(to.sched, sched_next(to.sched, sched_first(to.sched)));
    assert_int_equal(sched_resources(to.sched, c, &what), 0);
    assert_string_equal(what, "node0/core[0-3]");
    world_close(&w);
    world_close(&to);
}

/* ---- What if it asked for less ---- */

static int half_the_cores(void *context, int64_t n, struct sched_instead *instead)
{
    static char spec[WORLD_SPEC_MAX];
    (void)context;
    (void)n;
    world_spec(spec, 4);
    *instead = (struct sched_instead){spec, strlen(spec), 0};
    return 0;
}

static void configure(struct world *w, int64_t now, const char *text)
{
    berth_error_t err = {""};
    struct config *config = world_config(text);
    if (sched_configure(w->sched, now, &config->sched, &err) < 0)
        fail_msg("%s", err.text);
    config_destroy(config);
}

#define FIRST(more)                                                                                \
    "resources: {nodes: 1, cores: 8}\n"                                                            \
    "match: {policy: low}\n"                                                                       \
    "queues: {q: {policy: easy}, first: {policy: fcfs, priority: 1" more "}}\n"                    \
    "default-queue: q\n"

/* In a queue that goes first a job waits that is over a limit by now, for which it is rejected; then (`other`)
 * one that starts in its room, whatever a lower queue is promised there. A job behind them is promised all. Would it start if it asked for half of that, and so gave up its promise? It does if it is submitted
 * so.
 */
static void expect_would_start(const char *limited, bool other, bool would)
{
    struct world w;
    struct sched_question question = {.make = half_the_cores, .least = 1, .most = 1};
    struct sched_request first = {.queue = "first", .duration = 1000};
    world_open(&w, FIRST(""));
    sched_job_t a = world_enter(&w, 0, "a", 4, (struct sched_request){.duration = 50});
    world_enter(&w, 0, "b", 4, PLAIN);
    world_pass(&w, 0);
    world_enter(&w, 0, "x", 4, first);
    if (other)
        world_enter(&w, 0, "y", 3, first);
    sched_job_t c = world_enter(&w, 0, "c", 8, PLAIN);
    world_pass(&w, 0);
    configure(&w, 5, limited);
    world_pass(&w, 5);
    assert_int_equal(sched_finish(w.sched, 10, a, true), 0);
    world_pass(&w, 10);
    assert_int_equal(sched_start_time(w.sched, c), other ? 1010 : 100);
    assert_int_equal(sched_what_if(w.sched, 10, c, &question, 1, NULL), 0);
    assert_int_equal(question.found, would);
    assert_int_equal(sched_cancel(w.sched, 10, c), 0);
    c = world_enter(&w, 10, "c", 4, PLAIN);
    world_pass(&w, 10);
    assert_int_equal(sched_state(w.sched, c), would ? SCHED_RUNNING : SCHED_RESERVED);
    world_close(&w);
}

static void who_is_rejected_lets_the_next_take_its_turn(void **state)
{
    (void)state;
    for (int other = 0; other < 2; other++) {
        expect_would_start(FIRST(", limits: {job: {core: 3}}"), other, !other);
        expect_would_start(FIRST(", queue-depth: 1, limits: {job: {core: 3}}"), other, !other);
    }
}

static const char spares[] = "resources: {nodes: 2, cores: 4}\n"
                             "match: {policy: low}\n"
                             "queues: {q: {policy: easy, priority: 5},\n"
                             "         spare: {policy: easy, preemptible: cancel}}\n"
                             "default-queue: q\n";

static size_t n_preempted(const struct world *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += w->decision[i].kind == SCHED_PREEMPT;
    return n;
}

/* A victim that takes its time is told once, also if the job that it is stopped for is held meanwhile, or
 * another scheduler goes on.
 */
static void no_victim_is_told_twice(void **state)
{
    struct world w, to;
    (void)state;
    world_open(&w, spares);
    world_open(&to, spares);
    world_enter(&w, 0, "s", 4, (struct sched_request){.queue = "spare", .duration = 1000});
    world_enter(&w, 0, "a", 4, (struct sched_request){.duration = 1000});
    world_pass(&w, 0);
    sched_job_t b = world_enter(&w, 5, "b", 4, PLAIN);
    world_pass(&w, 5);
    assert_int_equal(n_preempted(&w), 1);
    assert_int_equal(sched_hold(w.sched, 6, b), 0);
    world_pass(&w, 6);
    assert_int_equal(sched_release(w.sched, 7, b), 0);
    world_pass(&w, 7);
    assert_int_equal(n_preempted(&w), 0);
    restore_all(&to, &w, 8);
    world_pass(&to, 8);
    assert_int_equal(n_preempted(&to), 0);
    assert_int_equal(sched_finish(to.sched, 9, sched_find(to.sched, "s", 0), true), 0);
    world_pass(&to, 9);
    assert_int_equal(sched_state(to.sched, sched_find(to.sched, "b", 0)), SCHED_RUNNING);
    world_close(&w);
    world_close(&to);
}

/* What a job of 3 ticks has preempted is still its own when its victim has taken longer than that to stop. */
static void nobody_else_gets_what_was_preempted(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, spares);
    sched_job_t slow = world_enter(&w, 0, "s", 2, (struct sched_request){.queue = "spare"});
    world_enter(&w, 0, "a", 4, (struct sched_request){.duration = 1000});
    world_pass(&w, 0);
    sched_job_t b = world_enter(&w, 5, "b", 3, (struct sched_request){.duration = 3});
    world_pass(&w, 5);
    assert_int_equal(n_preempted(&w), 1);
    sched_job_t c = world_enter(&w, 9, "c", 2, (struct sched_request){.duration = 1});
    world_pass(&w, 9);
    assert_int_equal(sched_state(w.sched, c), SCHED_RESERVED);
    assert_int_equal(sched_finish(w.sched, 12, slow, true), 0);
    world_pass(&w, 12);
    assert_int_equal(sched_state(w.sched, b), SCHED_RUNNING);
    assert_int_equal(sched_start_time(w.sched, c), 15);
    world_close(&w);
}

/* ---- The end of the plan ---- */

/* Beyond the half of the plan nothing is promised a time, as behind a job of unknown end: who doesn't fit waits, and
 * starts when it does. There is no limit that could keep it.
 */
static void nothing_is_promised_at_the_end_of_the_plan(void **state)
{
    static const int64_t late = MATCH_END / 2 + 1;
    struct world w;
    (void)state;
    world_open(&w, queues);
    sched_job_t first = world_enter(&w, late, "first", 4, PLAIN);
    world_enter(&w, late, "beside", 4, PLAIN);
    sched_job_t waits = world_enter(&w, late, "waits", 4, PLAIN);
    world_pass(&w, late);
    assert_int_equal(sched_state(w.sched, first), SCHED_RUNNING);
    assert_int_equal(sched_state(w.sched, waits), SCHED_WAITING);
    assert_int_equal(sched_finish(w.sched, late + 5, first, true), 0);
    world_pass(&w, late + 5);
    assert_int_equal(sched_state(w.sched, waits), SCHED_RUNNING);
    world_close(&w);
}

/* Nothing is known of who waits behind a job of unknown end, also where that is yet to start, in a higher queue. */
static void nothing_is_known_behind_an_unknown_end(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, "resources: {nodes: 1, cores: 4}\n"
                   "queues: {q: {policy: easy}, low: {policy: easy, priority: -10},\n"
                   "  dark: {policy: easy, default-duration: unknown}}\n"
                   "default-queue: q\n");
    world_enter(&w, 0, "a", 4, PLAIN);
    sched_job_t dark = world_enter(
        &w, 0, "d", 4, (struct sched_request){.queue = "dark", .duration = SCHED_UNLIMITED});
    sched_job_t low = world_enter(&w, 0, "l", 4, (struct sched_request){.queue = "low"});
    world_pass(&w, 0);
    assert_int_equal(sched_start_time(w.sched, dark), 100);
    assert_int_equal(sched_state(w.sched, low), SCHED_WAITING);
    assert_int_equal(sched_not_before(w.sched, low), -1);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_makes_a_pass_due),
        cmocka_unit_test(questions_and_refusals_make_none_due),
        cmocka_unit_test(time_alone_makes_a_pass_due),
        cmocka_unit_test(an_overrun_puts_the_next_pass_off),
        cmocka_unit_test(events_are_gathered),
        cmocka_unit_test(who_has_preempted_does_not_wait),
        cmocka_unit_test(a_pass_that_was_cut_off_goes_on_at_once),
        cmocka_unit_test(a_pass_that_events_cut_off_comes_to_its_end),
        cmocka_unit_test(a_restored_scheduler_has_the_same_next_time),
        cmocka_unit_test(a_promise_in_the_way_is_moved_after_a_restart),
        cmocka_unit_test(who_comes_within_the_depth_has_a_turn_after_a_restart),
        cmocka_unit_test(a_promise_is_chosen_anew_after_a_restart),
        cmocka_unit_test(who_is_rejected_lets_the_next_take_its_turn),
        cmocka_unit_test(no_victim_is_told_twice),
        cmocka_unit_test(nobody_else_gets_what_was_preempted),
        cmocka_unit_test(nothing_is_promised_at_the_end_of_the_plan),
        cmocka_unit_test(nothing_is_known_behind_an_unknown_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
