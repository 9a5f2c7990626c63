/* What a new job is told of the time that it would be promised is what the next pass promises it, whatever has a say in that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "berth/sched_query.h"
#include "fixture/world.h"

#define FOR(d, ...) ((struct sched_request){.duration = (d), __VA_ARGS__})

static sched_job_t submit(struct world *w, int64_t now, int cores, struct sched_request request)
{
    static uint64_t last; /* no two have one name */
    request.tag = ++last;
    return world_submit(w, now, cores, request);
}

static struct sched_annotation look(struct world *w, sched_job_t job)
{
    struct sched_annotation a;
    assert_int_equal(sched_annotate(w->sched, job, &a), 0);
    return a;
}

/* Submit a job, ask, and ask again after the pass: a time of the first answer is that of the second. */
static void expect_told(struct world *w, int64_t now, int cores, struct sched_request request,
                        int64_t start, bool expected)
{
    struct sched_annotation a;
    sched_job_t job = submit(w, now, cores, request);
    assert_true(job >= 0);
    assert_int_equal(sched_annotate_new(w->sched, job, &a), 0);
    assert_true(sched_check(w->sched));
    assert_false(a.not_before);
    assert_int_equal(a.start, start);
    assert_int_equal(a.expected, expected);
    world_pass(w, now);
    struct sched_annotation after = look(w, job);
    assert_int_equal(after.state, start > now ? SCHED_RESERVED : SCHED_RUNNING);
    assert_int_equal(after.start, start);
    assert_int_equal(after.expected, expected);
}

/* Likewise one that is promised nothing. */
static void expect_not_before(struct world *w, int64_t now, int cores, struct sched_request request,
                              int64_t start)
{
    struct sched_annotation a;
    sched_job_t job = submit(w, now, cores, request);
    assert_int_equal(sched_annotate_new(w->sched, job, &a), 0);
    assert_true(a.not_before);
    assert_int_equal(a.start, start);
    world_pass(w, now);
    assert_true(look(w, job).state != SCHED_RESERVED);
}

static void starts(struct world *w, int64_t now, int cores, struct sched_request request)
{
    sched_job_t job = submit(w, now, cores, request);
    world_pass(w, now);
    assert_int_equal(look(w, job).state, SCHED_RUNNING);
}

static void a_queue_promises(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, "resources: {nodes: 2, cores: 4}\n"
                   "match: {policy: low}\n"
                   "default-queue: q\n"
                   "queues: {q: {policy: easy}}\n");
    starts(&w, 0, 4, FOR(100));
    starts(&w, 0, 4, FOR(200, .estimate = 50));
    expect_told(&w, 1, 4, FOR(10, .priority = -1), 50, true);
    expect_not_before(&w, 2, 4, FOR(10, .priority = -1), 60);
    expect_told(&w, 3, 4, FOR(10), 50, true);
    world_close(&w);
}

/* What a job of a lower queue is promised is free to one of a higher queue, now or later. */
static void a_level_goes_first(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, "resources: {nodes: 2, cores: 4}\n"
                   "match: {policy: low}\n"
                   "queues: {high: {policy: easy, priority: 1}, low: {policy: easy}}\n");
    starts(&w, 0, 4, FOR(100, .queue = "low"));
    starts(&w, 0, 4, FOR(60, .queue = "low"));
    expect_told(&w, 1, 4, FOR(500, .queue = "low"), 60, false);
    expect_told(&w, 2, 4, FOR(10, .queue = "high"), 60, false);
    world_close(&w);
}

/* A job that a limit keeps has the promise of the limit, beside that of its queue, until the limit has none left. */
static void a_limit_promises(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, "resources: {nodes: 2, cores: 4}\n"
                   "match: {policy: low}\n"
                   "default-queue: q\n"
                   "queues: {q: {policy: easy, limits: {user: {running: 1}}}}\n");
    starts(&w, 0, 2, FOR(100, .user = "ann"));
    expect_told(&w, 1, 1, FOR(10, .user = "ann"), 100, false);
    expect_told(&w, 2, 1, FOR(10, .user = "ann", .priority = 1), 100, false);
    world_close(&w);
}

/* A machine that is full is what keeps a job, whatever a limit says, unless its queue has a promise for it. */
static void a_limit_and_a_full_machine(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, "resources: {nodes: 1, cores: 4}\n"
                   "match: {policy: low}\n"
                   "default-queue: q\n"
                   "queues: {q: {policy: easy, limits: {user: {core: 4}}}}\n");
    starts(&w, 0, 3, FOR(100, .user = "ann"));
    starts(&w, 0, 1, FOR(150, .user = "bob"));
    expect_told(&w, 1, 2, FOR(10, .user = "ann"), 100, false);
    expect_told(&w, 2, 4, FOR(10, .user = "bob"), 150, false);
    world_close(&w);
}

/* A limit keeps a job whose queue has no promise left only where it would start otherwise. One that may still be there when
 * another is promised its start would not, though the machine is idle for as long as it is planned with.
 */
static void a_limit_and_a_promise(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, "resources: {nodes: 1, cores: 4}\n"
                   "match: {policy: low}\n"
                   "default-queue: q\n"
                   "queues: {q: {policy: easy, limits: {user: {running: 1}}}}\n");
    starts(&w, 0, 2, FOR(100, .user = "ann"));
    starts(&w, 0, 1, FOR(100, .user = "bob"));
    expect_told(&w, 1, 4, FOR(10, .user = "carol"), 100, false);
    expect_not_before(&w, 2, 1, FOR(200, .estimate = 50, .user = "ann"), 110);
    expect_told(&w, 3, 1, FOR(50, .user = "bob"), 110, false);
    world_close(&w);
}

/* A limit counts both a job that is being stopped and the one that waits for its end. Who has room beside either starts at
 * once, and is told so.
 */
static void a_limit_counts_twice(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, "resources: {nodes: 3, cores: 4}\n"
                   "match: {policy: low}\n"
                   "default-queue: high\n"
                   "accounts:\n"
                   "  phys: {users: [ann, bob, cid], limits: {running: 2}}\n"
                   "  chem: {users: [dan]}\n"
                   "queues:\n"
                   "  high: {policy: easy, priority: 10}\n"
                   "  low: {policy: easy, preemptible: cancel}\n");
    starts(&w, 0, 4, FOR(100, .user = "ann", .queue = "low"));
    starts(&w, 0, 2, FOR(300, .user = "dan"));
    starts(&w, 0, 3, FOR(300, .user = "dan"));
    sched_job_t job = submit(&w, 1, 4, FOR(50, .user = "bob"));
    world_pass(&w, 1);
    assert_int_equal(sched_victims(w.sched, job, NULL, 0), 1);
    expect_told(&w, 2, 2, FOR(20, .user = "cid"), 2, false);
    world_close(&w);
}

/* A queue that promises nothing looks at nobody behind a job that can't start, so that no limit keeps these. */
static void a_queue_in_order(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, "resources: {nodes: 1, cores: 4}\n"
                   "match: {policy: low}\n"
                   "default-queue: q\n"
                   "queues: {q: {policy: fcfs, limits: {user: {running: 1}}}}\n");
    starts(&w, 0, 3, FOR(100, .user = "ann"));
    expect_told(&w, 1, 1, FOR(10, .user = "ann"), 100, false);
    expect_not_before(&w, 2, 2, FOR(10, .user = "bob"), 100);
    expect_not_before(&w, 3, 1, FOR(10, .user = "ann"), 110);
    world_close(&w);
}

/* Users take turns: a new job has its own behind those that are promised a time. */
static void shares_leave_promises(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, "resources: {nodes: 1, cores: 4}\n"
                   "match: {policy: low}\n"
                   "default-queue: q\n"
                   "queues: {q: {policy: conservative, shares: {by: user}}}\n");
    starts(&w, 0, 4, FOR(100, .user = "ann"));
    expect_told(&w, 1, 4, FOR(10, .user = "ann"), 100, false);
    expect_told(&w, 2, 4, FOR(10, .user = "bob"), 110, false);
    expect_told(&w, 3, 4, FOR(20, .user = "bob", .priority = 1), 100, false);
    world_close(&w);
}

/* Passes that allocate promise times, whatever else they do. */
static void actions_allocate(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, "resources: {nodes: 1, cores: 4}\n"
                   "match: {policy: low}\n"
                   "actions: [backfill, allocate]\n"
                   "default-queue: q\n"
                   "queues: {q: {policy: easy}}\n");
    starts(&w, 0, 4, FOR(100));
    expect_told(&w, 1, 4, FOR(10), 100, false);
    world_close(&w);
    world_open(&w, "resources: {nodes: 1, cores: 4}\n"
                   "match: {policy: low}\n"
                   "actions: [backfill]\n"
                   "default-queue: q\n"
                   "queues: {q: {policy: easy}}\n");
    starts(&w, 0, 4, FOR(100));
    expect_not_before(&w, 1, 4, FOR(10), 100);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_promises),      cmocka_unit_test(a_level_goes_first),
        cmocka_unit_test(a_limit_promises),      cmocka_unit_test(a_limit_and_a_full_machine),
        cmocka_unit_test(a_limit_and_a_promise), cmocka_unit_test(a_limit_counts_twice),
        cmocka_unit_test(a_queue_in_order),      cmocka_unit_test(shares_leave_promises),
        cmocka_unit_test(actions_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
