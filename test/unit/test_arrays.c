/* Arrays whose members wait together: index sets, parts, records, and what others wait for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "fixture/world.h"

static const char text[] = "resources: {nodes: 1, cores: 2}\n"
                           "match: {policy: low}\n"
                           "queues: {q: {policy: easy}}\n";

static sched_job_t submit(struct world *w, const char *id, const char *indices, uint32_t most,
                          const char *dependency)
{
    return world_submit(
        w, 0, 1,
        (struct sched_request){
            .id = id, .indices = indices, .max_running = most, .dependency = dependency});
}

static void expect_members(sched_t *s, sched_job_t job, const char *expected)
{
    const char *found;
    assert_true(sched_members(s, job, &found) >= 1);
    assert_string_equal(found, expected);
    assert_true(sched_check(s));
}

static void members_have_their_indices(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, text);
    sched_t *s = w.sched;
    sched_job_t a = submit(&w, "a", "2,4-5,9", 0, NULL);
    assert_true(a >= 0);
    expect_members(s, a, "2,4-5,9");
    assert_int_equal(sched_member(s, a, 4), a);
    assert_int_equal(sched_member(s, a, 3), -1);
    assert_int_equal(sched_find(s, "a", 9), a);
    assert_int_equal(sched_waiting(s), 4);
    world_pass(&w, 0);
    assert_int_equal(w.decision[0].kind, SCHED_START);
    assert_int_equal(w.decision[0].member, 2);
    assert_int_equal(w.decision[1].member, 4);
    assert_int_equal(sched_running(s), 2);
    expect_members(s, a, "5,9");
    assert_int_equal(sched_index(s, a), 5);
    assert_int_equal(sched_state(s, a), SCHED_RESERVED);
    /* The promise stays with those that are left, and the last one has their handle. */
    sched_job_t five = sched_split(s, 0, a, 5);
    assert_true(five >= 0 && five != a);
    assert_int_equal(sched_state(s, five), SCHED_WAITING);
    assert_int_equal(sched_state(s, a), SCHED_RESERVED);
    assert_int_equal(sched_index(s, a), 9);
    assert_int_equal(sched_split(s, 0, a, 9), a);
    assert_int_equal(sched_split(s, 0, a, 7), -1);
    assert_int_equal(sched_split(s, 0, a, 5), five);
    assert_true(sched_check(s));
    world_close(&w);
}

/* What depends on one of them, on all of them, and on one that there is not. */
static void others_wait_for_them(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, text);
    sched_t *s = w.sched;
    sched_job_t a = submit(&w, "a", "1,3", 0, NULL);
    sched_job_t one = submit(&w, "one", NULL, 0, "afterok:a[3]");
    sched_job_t all = submit(&w, "all", NULL, 0, "afterany:a");
    sched_job_t none = submit(&w, "none", NULL, 0, "afterok:a[2]");
    assert_int_equal(sched_state(s, none), SCHED_REJECTED);
    world_pass(&w, 0);
    sched_job_t first = sched_member(s, a, 1), last = sched_member(s, a, 3);
    assert_int_equal(last, a); /* it was the last one to start */
    assert_int_equal(sched_finish(s, 1, last, true), 0);
    assert_int_not_equal(sched_state(s, one), SCHED_BLOCKED);
    assert_int_equal(sched_state(s, all), SCHED_BLOCKED);
    assert_int_equal(sched_finish(s, 1, first, false), 0);
    assert_int_not_equal(sched_state(s, all), SCHED_BLOCKED);
    assert_true(sched_check(s));
    world_close(&w);
}

/* Cancelling those that wait ends them badly. */
static void those_that_wait_are_cancelled_together(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, text);
    sched_t *s = w.sched;
    struct sched_queue_stats stats;
    sched_job_t a = submit(&w, "a", "0-9", 2, NULL);
    sched_job_t never = submit(&w, "never", NULL, 0, "afterok:a[7]");
    sched_job_t later = submit(&w, "later", NULL, 0, "afterany:a");
    world_pass(&w, 0);
    assert_int_equal(sched_state(s, a), SCHED_BLOCKED); /* two of them hold something */
    assert_int_equal(sched_cancel(s, 1, a), 0);
    assert_int_equal(sched_queue_stats(s, "q", &stats), 0);
    assert_int_equal(stats.cancelled, 8);
    assert_int_equal(stats.submitted, 12);
    assert_int_equal(sched_state(s, never), SCHED_REJECTED);
    assert_int_equal(sched_state(s, later), SCHED_BLOCKED);
    assert_int_equal(sched_cancel(s, 1, sched_find(s, "a", 0)), 0);
    assert_int_equal(sched_cancel(s, 1, sched_find(s, "a", 1)), 0);
    assert_int_not_equal(sched_state(s, later), SCHED_BLOCKED);
    assert_true(sched_check(s));
    world_close(&w);
}

/* All of it in another scheduler. */
static void it_is_restored(void **state)
{
    struct world w, v;
    struct sched_record r;
    berth_error_t err = {""};
    (void)state;
    world_open(&w, text);
    world_open(&v, text);
    sched_job_t a = submit(&w, "a", "0-2,4,8-9", 0, NULL);
    world_pass(&w, 0);
    assert_int_equal(sched_finish(w.sched, 1, sched_find(w.sched, "a", 0), true), 0);
    assert_true(sched_split(w.sched, 1, a, 8) >= 0);
    world_pass(&w, 1);
    expect_members(w.sched, a, "4,9");
    struct sched_ended ended = {"a", 10, "0-2,4,8-9", "0", ""};
    assert_int_equal(sched_restore_ended_members(v.sched, &ended), 0);
    assert_int_equal(sched_restore_ended_members(v.sched, &ended), -1); /* it is known */
    for (sched_job_t j = sched_first(w.sched); j >= 0; j = sched_next(w.sched, j)) {
        assert_int_equal(sched_record(w.sched, j, &r), 0);
        assert_string_equal(r.request.indices, "0-2,4,8-9");
        assert_int_equal(r.waiting != NULL, j == a);
        if (sched_restore(v.sched, 1, &r, &err) < 0)
            fail_msg("%s", err.text);
    }
    assert_int_equal(sched_restore_passed(v.sched, 1, &(struct sched_passed){.at = 1}), 0);
    expect_members(v.sched, sched_find(v.sched, "a", 9), "4,9");
    expect_members(v.sched, sched_find(v.sched, "a", 8), "");
    assert_int_equal(sched_find(v.sched, "a", 0), -1);
    assert_int_equal(sched_find(v.sched, "a", 3), -1);
    world_close(&w);
    world_close(&v);
}

/* A member of a gang that is held waits for its gang besides, in another scheduler too. */
static void held_members_wait_for_their_gang(void **state)
{
    struct world w, v;
    struct sched_record r;
    berth_error_t err = {""};
    (void)state;
    world_open(&w, text);
    world_open(&v, text);
    sched_job_t gang =
        world_submit(&w, 0, 1, (struct sched_request){.id = "g", .members = 2, .min = 2});
    assert_true(gang >= 0);
    assert_int_equal(sched_hold(w.sched, 0, sched_split(w.sched, 0, gang, 1)), 0);
    world_pass(&w, 0);
    for (sched_job_t j = sched_first(w.sched); j >= 0; j = sched_next(w.sched, j)) {
        assert_int_equal(sched_record(w.sched, j, &r), 0);
        if (sched_restore(v.sched, 1, &r, &err) < 0)
            fail_msg("%s", err.text);
    }
    assert_int_equal(sched_restore_passed(v.sched, 1, &(struct sched_passed){.at = 0}), 0);
    sched_t *const both[] = {w.sched, v.sched};
    for (size_t i = 0; i < 2; i++) {
        sched_job_t member = sched_find(both[i], "g", 1);
        assert_int_equal(sched_release(both[i], 1, member), 0);
        assert_int_equal(sched_state(both[i], member), SCHED_BLOCKED);
    }
    world_close(&w);
    world_close(&v);
}

/* Sets that are none, or name others than there are. */
/* The handle under which the first member of an array starts once another job has ended; `looks`: before that, a pass has looked
 * at the array while there was no room.
 */
static sched_job_t started_under(bool looks)
{
    struct world w;
    world_open(&w, text);
    sched_job_t other = world_submit(&w, 0, 2, (struct sched_request){.id = "other"});
    world_pass(&w, 0);
    assert_int_equal(sched_state(w.sched, other), SCHED_RUNNING);
    assert_true(world_submit(&w, 1, 2, (struct sched_request){.id = "a", .members = 3}) >= 0);
    if (looks)
        world_pass(&w, 1);
    assert_int_equal(sched_finish(w.sched, 2, other, true), 0);
    world_pass(&w, 2);
    for (size_t i = 0; i < w.n; i++)
        if (w.decision[i].kind == SCHED_START) {
            sched_job_t job = w.decision[i].job;
            assert_int_equal(w.decision[i].member, 0);
            world_close(&w);
            return job;
        }
    fail();
    return -1;
}

/* Who was looked at in vain decides nothing, nor what handle a member has. */
static void looks_take_no_handle(void **state)
{
    (void)state;
    assert_int_equal(started_under(true), started_under(false));
}

static void wrong_sets_are_refused(void **state)
{
    static const char *const wrong[] = {"", "2-1", "1,1", "x", "0-8:0"};
    struct world w;
    (void)state;
    world_open(&w, text);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        errno = 0;
        assert_int_equal(submit(&w, "a", wrong[i], 0, NULL), -1);
        assert_int_equal(errno, EINVAL);
    }
    struct sched_ended ended = {"a", 4, "0-2", "0", "3"};
    assert_int_equal(sched_restore_ended_members(w.sched, &ended), -1);
    assert_true(sched_check(w.sched));
    world_close(&w);
}

/* Every other index is one range, while they wait, when some have left, and when they are cancelled: nothing is
 * spelled out.
 */
static void steps_stay_steps(void **state)
{
    struct world w, v;
    struct sched_record r;
    berth_error_t err = {""};
    (void)state;
    world_open(&w, text);
    world_open(&v, text);
    sched_t *s = w.sched;
    sched_job_t a = submit(&w, "a", "1-999999:2", 0, NULL);
    sched_job_t one = submit(&w, "one", NULL, 0, "afternotok:a[7]");
    sched_job_t none = submit(&w, "none", NULL, 0, "afterok:a[2]");
    assert_int_equal(sched_waiting(s), 500000); /* and one is blocked */
    assert_int_equal(sched_state(s, none), SCHED_REJECTED);
    expect_members(s, a, "1-999999:2");
    assert_int_equal(sched_member(s, a, 4), -1);
    world_pass(&w, 0);
    assert_int_equal(w.decision[0].kind, SCHED_REJECT); /* none */
    assert_int_equal(w.decision[1].member, 1);
    assert_int_equal(w.decision[2].member, 3);
    assert_true(sched_split(s, 0, a, 9) >= 0);
    expect_members(s, a, "5,7,11-999999:2");
    assert_int_equal(sched_finish(s, 1, sched_find(s, "a", 1), true), 0);
    struct sched_ended ended = {"a", 1000000, "1-999999:2", "1", ""};
    assert_int_equal(sched_restore_ended_members(v.sched, &ended), 0);
    for (sched_job_t j = sched_first(s); j >= 0; j = sched_next(s, j)) {
        assert_int_equal(sched_record(s, j, &r), 0);
        if (sched_restore(v.sched, 1, &r, &err) < 0)
            fail_msg("%s", err.text);
    }
    assert_int_equal(sched_restore_passed(v.sched, 1, &(struct sched_passed){.at = 0}), 0);
    expect_members(v.sched, sched_find(v.sched, "a", 5), "5,7,11-999999:2");
    assert_int_equal(sched_find(v.sched, "a", 1), -1);
    sched_t *const both[] = {s, v.sched};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(sched_cancel(both[i], 1, sched_find(both[i], "a", 5)), 0);
        assert_int_equal(sched_state(both[i], sched_find(both[i], "one", 0)), SCHED_WAITING);
        assert_int_equal(sched_waiting(both[i]), 2); /* 9 and one */
        assert_true(sched_check(both[i]));
    }
    (void)one;
    world_close(&w);
    world_close(&v);
}

/* Steps of those that have ended or wait need not be those of the array. */
static void steps_of_others_are_read(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, text);
    struct sched_ended ended = {"a", 10, NULL, "1-7:3", "0-8:4"};
    assert_int_equal(sched_restore_ended_members(w.sched, &ended), -1); /* 4 twice */
    ended.failed = "0,6,8";
    assert_int_equal(sched_restore_ended_members(w.sched, &ended), 0);
    char spec[WORLD_SPEC_MAX];
    world_spec(spec, 1);
    struct sched_record r = {.request = {.id = "a",
                                         .queue = "q",
                                         .members = 10,
                                         .duration = 10,
                                         .jobspec = spec,
                                         .jobspec_length = strlen(spec)},
                             .waiting = "3-9:2",
                             .state = SCHED_WAITING};
    berth_error_t err = {""};
    assert_int_equal(sched_restore(w.sched, 0, &r, &err), -1); /* 7 has ended */
    r.waiting = "2,3,5,9";
    sched_job_t a = sched_restore(w.sched, 0, &r, &err);
    if (a < 0)
        fail_msg("%s", err.text);
    expect_members(w.sched, a, "2-3,5,9");
    assert_int_equal(sched_cancel(w.sched, 0, a), 0);
    assert_true(sched_check(w.sched));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_have_their_indices),
        cmocka_unit_test(others_wait_for_them),
        cmocka_unit_test(those_that_wait_are_cancelled_together),
        cmocka_unit_test(it_is_restored),
        cmocka_unit_test(held_members_wait_for_their_gang),
        cmocka_unit_test(looks_take_no_handle),
        cmocka_unit_test(wrong_sets_are_refused),
        cmocka_unit_test(steps_stay_steps),
        cmocka_unit_test(steps_of_others_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
