#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "berth/sched_config.h"
#include "sched/controllers/depend.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int begin(void **state)
{
    *state = depend_create();
    return *state ? 0 : -1;
}

static int end(void **state)
{
    assert_true(depend_check(*state));
    depend_destroy(*state);
    return 0;
}

static void submit_named(struct depend *d, uint32_t slot, const char *id, const char *user,
                         const char *name, const char *expression)
{
    berth_error_t err = {""};
    if (depend_job(d, slot, id, 0, 0, user, name, expression, &err) < 0)
        fail_msg("%s: %s", id, err.text);
    assert_true(depend_check(d));
}

static void submit(struct depend *d, uint32_t slot, const char *id, const char *expression)
{
    submit_named(d, slot, id, "u", NULL, expression);
}

/* Members from first to last, in slots from `slot` on. */
static void submit_array(struct depend *d, uint32_t slot, const char *id, uint32_t members,
                         const char *expression)
{
    for (uint32_t i = 0; i < members; i++)
        assert_int_equal(depend_job(d, slot + i, id, i, members, "u", NULL, expression, NULL), 0);
    assert_true(depend_check(d));
}

static void refuse(struct depend *d, const char *id, const char *expression, const char *why)
{
    berth_error_t err = {""};
    errno = 0;
    assert_int_equal(depend_job(d, 99, id, 0, 1, "u", NULL, expression, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, why);
    assert_int_equal(depend_job(d, 99, id, 0, 1, "u", NULL, expression, NULL), -1);
    assert_true(depend_check(d));
}

/* Who became ready, "3 5!" for slot 3 ready and slot 5 never. */
static void expect_ready(struct depend *d, const char *expected)
{
    char found[100] = "";
    uint32_t slot;
    bool never;
    assert_true(depend_check(d));
    while (depend_next_ready(d, &slot, &never)) {
        size_t at = strlen(found);
        snprintf(found + at, sizeof(found) - at, "%s%u%s", at ? " " : "", (unsigned)slot,
                 never ? "!" : "");
        assert_int_equal(depend_waits(d, slot), never);
    }
    assert_string_equal(found, expected);
    assert_true(depend_check(d));
}

static void expect_reason(struct depend *d, uint32_t slot, const char *expected)
{
    struct sched_reason reason;
    char text[SCHED_REASON_TEXT];
    depend_reason(d, slot, &reason);
    assert_string_equal(sched_reason_text(&reason, text), expected);
}

static void expect_expression(struct depend *d, uint32_t slot, const char *expected)
{
    struct strbuf b = {0};
    depend_expression(d, slot, &b);
    assert_string_equal(strbuf_text(&b), expected);
    strbuf_clear(&b);
}

static void finish(struct depend *d, uint32_t slot, bool ok)
{
    depend_started(d, slot);
    depend_ended(d, slot, ok);
    depend_forget(d, slot);
}

static void ids_are_known_until_forgotten(void **state)
{
    struct depend *d = *state;
    submit(d, 7, "a", NULL);
    submit_array(d, 2, "b", 3, "");
    assert_int_equal(depend_find(d, "a", 0), 7);
    assert_int_equal(depend_find(d, "a", 1), -1);
    assert_int_equal(depend_find(d, "b", 2), 4);
    assert_int_equal(depend_find(d, "c", 0), -1);
    assert_string_equal(depend_id(d, 7), "a");
    assert_string_equal(depend_id(d, 4), "b[2]");
    assert_false(depend_waits(d, 7));
    expect_reason(d, 7, "");
    depend_ended(d, 7, true);
    depend_ended(d, 7, false); /* not looked at */
    assert_int_equal(depend_find(d, "a", 0), 7);
    depend_forget(d, 7);
    assert_int_equal(depend_find(d, "a", 0), -1);
    submit(d, 7, "c", "afterok:a");
    assert_false(depend_waits(d, 7));
    expect_ready(d, "");
}

/* One row for each type: whether a waiter is ready after a start, after an end ok and after one that is
 * not.
 */
static void types_wait_for_different_things(void **state)
{
    struct depend *d = *state;
    submit(d, 0, "a", NULL);
    submit(d, 1, "after", "after:a");
    submit(d, 2, "afterany", "afterany:a");
    submit(d, 3, "afterok", "afterok:a");
    submit(d, 4, "afternotok", "afternotok:a");
    for (uint32_t slot = 1; slot <= 4; slot++) {
        assert_true(depend_waits(d, slot));
        expect_reason(d, slot, "dependency a");
    }
    depend_started(d, 0);
    expect_ready(d, "1");
    depend_started(d, 0);
    expect_ready(d, "");
    depend_ended(d, 0, true);
    expect_ready(d, "2 3 4!");
    expect_reason(d, 4, "dependency a: never met");
    depend_forget(d, 0);
    expect_reason(d, 4, "dependency a: never met");

    submit(d, 10, "b", NULL);
    submit(d, 11, "1", "after:b");
    submit(d, 12, "2", "afterany:b");
    submit(d, 13, "3", "afterok:b");
    submit(d, 14, "4", "afternotok:b");
    depend_ended(d, 10, false); /* cancelled */
    expect_ready(d, "11 12 13! 14");
}

static void all_terms_must_be_met(void **state)
{
    struct depend *d = *state;
    for (uint32_t i = 0; i < 6; i++)
        submit(d, i, (const char *[]){"a", "b", "c", "d", "e", "f"}[i], NULL);
    submit(d, 10, "x", "afterok:a:b,afterany:c,after:d,afterok:e:f");
    expect_reason(d, 10, "dependency a,b,c,d,...");
    expect_expression(d, 10, "afterok:a:b,afterany:c,after:d,afterok:e:f");
    finish(d, 1, true);
    expect_reason(d, 10, "dependency a,c,d,e,...");
    finish(d, 0, true);
    depend_started(d, 3);
    expect_reason(d, 10, "dependency c,e,f");
    expect_expression(d, 10, "afterany:c,afterok:e:f");
    finish(d, 4, true);
    finish(d, 2, false);
    expect_ready(d, "");
    finish(d, 5, false);
    expect_ready(d, "10!");
    expect_reason(d, 10, "dependency f: never met");
    depend_ended(d, 10, false);
    assert_false(depend_waits(d, 10));
    depend_forget(d, 10);
    submit(d, 11, "y", "afterany:x,afterok:x");
    expect_ready(d, "11!");
    expect_expression(d, 11, "afterok:x");
}

static void arrays_are_waited_for_as_a_whole(void **state)
{
    struct depend *d = *state;
    submit_array(d, 0, "a", 3, NULL);
    submit(d, 10, "p", "after:a");
    submit(d, 11, "q", "afterany:a");
    submit(d, 12, "r", "afterok:a");
    submit(d, 13, "s", "afternotok:a");
    submit(d, 14, "t", "afterok:a[2]");
    expect_reason(d, 14, "dependency a[2]");
    expect_expression(d, 14, "afterok:a[2]");
    finish(d, 0, true);
    depend_started(d, 1);
    expect_ready(d, "");
    depend_started(d, 2);
    expect_ready(d, "10");
    depend_ended(d, 1, false);
    expect_ready(d, "12!");
    depend_ended(d, 2, true);
    expect_ready(d, "14 11 13");
}

static void an_array_without_failure(void **state)
{
    struct depend *d = *state;
    submit_array(d, 0, "a", 2, NULL);
    submit(d, 10, "p", "afterok:a");
    submit(d, 11, "q", "afternotok:a");
    finish(d, 0, true);
    finish(d, 1, true);
    expect_ready(d, "10 11!");
    submit(d, 0, "x", "afterok:a:a[0],afterany:a[1]");
    assert_false(depend_waits(d, 0));
}

static void a_requeued_job_has_not_ended(void **state)
{
    struct depend *d = *state;
    submit(d, 0, "a", NULL);
    submit(d, 1, "b", "after:a");
    submit(d, 2, "c", "afterany:a");
    depend_started(d, 0);
    depend_requeued(d, 0);
    expect_ready(d, "1");
    submit(d, 3, "d", "after:a");
    assert_true(depend_waits(d, 3));
    depend_started(d, 0);
    expect_ready(d, "3");
    depend_ended(d, 0, true);
    expect_ready(d, "2");
}

static void singletons_go_one_by_one(void **state)
{
    struct depend *d = *state;
    submit_named(d, 0, "a", "u", "n", NULL);
    submit_named(d, 1, "b", "u", "n", "singleton");
    submit_named(d, 2, "c", "u", "n", "singleton");
    submit_named(d, 3, "d", "v", "n", "singleton");
    submit_named(d, 4, "e", "u", "m", "singleton,afterany:c");
    submit(d, 5, "f", "singleton");
    assert_false(depend_waits(d, 3) || depend_waits(d, 5));
    expect_reason(d, 1, "dependency singleton");
    expect_expression(d, 1, "singleton");
    expect_reason(d, 4, "dependency c");
    submit_named(d, 6, "g", "u", "m", "afterany:c,singleton");
    expect_reason(d, 6, "dependency c,singleton");
    expect_expression(d, 6, "afterany:c,singleton");
    depend_ended(d, 1, false); /* cancelled: the first is still there */
    expect_ready(d, "");
    depend_ended(d, 0, true);
    expect_ready(d, "2");
    depend_ended(d, 2, true);
    expect_ready(d, "4");
    expect_reason(d, 6, "dependency singleton");
    depend_ended(d, 4, true);
    expect_ready(d, "6");
}

/* Whether they run one at a time is not for dependencies to say. */
static void members_of_a_singleton_array_wait_for_other_jobs(void **state)
{
    struct depend *d = *state;
    submit_named(d, 0, "b", "u", "a", NULL);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(depend_job(d, 1 + i, "a", i, 3, "u", "a", "singleton", NULL), 0);
    submit_named(d, 4, "c", "u", "a", "singleton");
    assert_true(depend_waits(d, 1));
    finish(d, 0, true);
    expect_ready(d, "1 2 3");
    finish(d, 2, true);
    finish(d, 1, false);
    expect_ready(d, "");
    finish(d, 3, true);
    expect_ready(d, "4");
}

static void forgetting_takes_a_submission_back(void **state)
{
    struct depend *d = *state;
    submit_named(d, 0, "a", "u", "n", NULL);
    submit_array(d, 1, "b", 2, "afterok:a");
    submit_named(d, 4, "c", "u", "n", "afterany:b,singleton");
    submit(d, 5, "e", "afterany:b[1]");
    depend_forget(d, 1);
    expect_ready(d, "");
    submit(d, 6, "f", "after:b[0]"); /* still to come */
    depend_forget(d, 2);
    expect_ready(d, "5! 4! 6!");
    expect_reason(d, 4, "dependency b: never met");
    expect_reason(d, 5, "dependency b[1]: never met");
    assert_int_equal(depend_find(d, "b", 0), -1);
    refuse(d, "d", "afterok:b", "dependency b: no such job");
    depend_forget(d, 4);
    depend_forget(d, 0);
    expect_ready(d, "");
    submit(d, 0, "a", NULL);
}

static void what_is_ready_may_be_cancelled(void **state)
{
    struct depend *d = *state;
    submit(d, 0, "a", NULL);
    submit(d, 1, "b", "after:a");
    submit(d, 2, "c", "after:a,afterok:b");
    submit(d, 3, "d", "after:a");
    depend_started(d, 0);
    depend_ended(d, 1, false);
    depend_forget(d, 1);
    expect_ready(d, "3 2!");
}

static void wrong_expressions(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"afterok:x", "dependency x: no such job"},
        {"afterok:me", "dependency me: no such job"},
        {"afterok:a[0]", "dependency a[0]: no such job"},
        {"afterok:b[2]", "dependency b[2]: no such job"},
        {"afterok:b[01]", "dependency b[01]: no such job"},
        {"afterok:b[]", "dependency b[]: no such job"},
        {"afterok:a\n", "dependency a?: no such job"},
        {"afterok", "dependency: offset 7: expected ':' and job ids after 'afterok'"},
        {"afterok:", "dependency: offset 8: expected a job id"},
        {"afterok:a:", "dependency: offset 10: expected a job id"},
        {"afterok:a,", "dependency: offset 10: expected after, afterany, afterok, afternotok or "
                       "singleton, found ''"},
        {",", "dependency: offset 0: expected after, afterany, afterok, afternotok or singleton, "
              "found ''"},
        {"before:a", "dependency: offset 0: expected after, afterany, afterok, afternotok or "
                     "singleton, found 'before'"},
        {"singleton:a", "dependency: offset 9: expected ',' or the end after 'singleton'"},
        {"singleton,,after:a", "dependency: offset 10: expected after, afterany, afterok, "
                               "afternotok or singleton, found ''"},
    };
    struct depend *d = *state;
    submit(d, 0, "a", NULL);
    submit_array(d, 1, "b", 2, NULL);
    for (size_t i = 0; i < COUNT(cases); i++)
        refuse(d, "me", cases[i].text, cases[i].why);
    refuse(d, "", NULL, "id: it is empty");
    refuse(d, "a[3]", NULL, "id a[3]: it reads as a member of an array");
    refuse(d, "a", NULL, "id a: there is a job with it");
    refuse(d, "b", NULL, "id b: there is a job with it");
    assert_int_equal(depend_job(d, 9, "c", 2, 2, "u", NULL, NULL, NULL), -1);
    assert_int_equal(depend_job(d, 9, "b", 1, 2, "u", NULL, NULL, NULL), -1);
    assert_int_equal(depend_find(d, "me", 0), -1);
}

static void an_id_can_be_used_again(void **state)
{
    struct depend *d = *state;
    submit(d, 0, "a", NULL);
    finish(d, 0, false);
    submit(d, 1, "b", "afterok:a");
    expect_ready(d, "1!");
    submit(d, 0, "a", NULL);
    expect_reason(d, 1, "dependency a: never met");
    submit(d, 2, "c", "afterok:a");
    finish(d, 0, true);
    expect_ready(d, "2");
}

/* All that has ended, as "a b[1]!": "!" where it was not ok. */
static void expect_outcomes(const struct depend *d, const char *expected)
{
    char found[100] = "";
    struct depend_walk walk = {0};
    struct depend_outcome o;
    while (depend_next_outcome(d, &walk, &o)) {
        size_t at = strlen(found);
        at += (size_t)snprintf(found + at, sizeof(found) - at, "%s%s", at ? " " : "", o.id);
        if (o.members > 1)
            at += (size_t)snprintf(found + at, sizeof(found) - at, "[%u/%u]", (unsigned)o.member,
                                   (unsigned)o.members);
        snprintf(found + at, sizeof(found) - at, "%s", o.ok ? "" : "!");
    }
    assert_string_equal(found, expected);
    assert_false(depend_next_outcome(d, &walk, &o));
}

static void outcomes_are_saved_and_restored(void **state)
{
    struct depend *d = *state;
    expect_outcomes(d, "");
    submit(d, 0, "a", NULL);
    submit_array(d, 1, "b", 2, NULL);
    submit(d, 3, "c", NULL);
    finish(d, 2, false);
    finish(d, 3, true);
    finish(d, 0, false);
    expect_outcomes(d, "c a! b[1/2]!");
    struct depend *again = depend_create();
    struct depend_walk walk = {0};
    struct depend_outcome o;
    while (depend_next_outcome(d, &walk, &o)) {
        assert_int_equal(depend_outcome_of(again, &o), 0);
        assert_int_equal(depend_outcome_of(again, &o), -1);
        assert_int_equal(errno, EINVAL);
        assert_true(depend_check(again));
    }
    expect_outcomes(again, "c a! b[1/2]!");
    assert_int_equal(depend_job(again, 5, "b", 1, 2, "u", NULL, NULL, NULL), -1);
    assert_int_equal(depend_job(again, 5, "b", 0, 2, "u", NULL, "afterok:c", NULL), 0);
    assert_false(depend_waits(again, 5));
    submit(again, 6, "x", "afternotok:b");
    finish(again, 5, true);
    expect_ready(again, "6");
    expect_outcomes(again, "c a! b[0/2] b[1/2]!");
    assert_int_equal(depend_outcome(again, "x", true), -1);
    assert_int_equal(depend_outcome(again, "", true), -1);
    assert_int_equal(depend_outcome(again, "y[2]", true), -1);
    assert_int_equal(depend_outcome_of(again, &(struct depend_outcome){"y", 3, 3, true}), -1);
    assert_true(depend_check(again));
    depend_destroy(again);
    depend_destroy(NULL);
}

/* The last member of an array may come as an outcome. */
static void outcomes_meet_what_waits(void **state)
{
    struct depend *d = *state;
    assert_int_equal(depend_outcome_of(d, &(struct depend_outcome){"b", 0, 3, true}), 0);
    assert_int_equal(depend_job(d, 0, "b", 1, 3, "u", NULL, NULL, NULL), 0);
    submit(d, 1, "x", "afterok:b");
    submit(d, 2, "y", "after:b[2]");
    finish(d, 0, true);
    expect_ready(d, "");
    assert_int_equal(depend_outcome_of(d, &(struct depend_outcome){"b", 2, 3, true}), 0);
    expect_ready(d, "2 1");
}

static void what_is_remembered_is_bounded(void **state)
{
    struct depend *d = *state;
    char id[16];
    submit(d, 0, "old", NULL);
    submit(d, 1, "x", "afterok:old");
    finish(d, 0, false);
    expect_ready(d, "1!");
    for (unsigned i = 0; i < SCHED_ENDED_JOBS; i++) {
        snprintf(id, sizeof(id), "%u", i);
        assert_int_equal(depend_outcome(d, id, true), 0);
    }
    expect_reason(d, 1, "dependency old: never met");
    refuse(d, "y", "afterok:old", "dependency old: no such job");
    submit(d, 2, "y", "afterok:0");
    assert_int_equal(depend_outcome(d, "z", true), 0);
    refuse(d, "w", "afterok:0", "dependency 0: no such job");
    submit(d, 3, "w", "afterok:1");
}

static void what_is_remembered_can_be_set(void **state)
{
    struct depend *d = *state;
    depend_remember(d, 2);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(depend_outcome(d, (const char *[]){"a", "b", "c"}[i], true), 0);
    refuse(d, "w", "afterok:a", "dependency a: no such job");
    submit(d, 3, "w", "afterok:b:c");
    assert_false(depend_waits(d, 3));
    depend_remember(d, 1);
    assert_int_equal(depend_outcome(d, "d", true), 0);
    refuse(d, "x", "afterok:c", "dependency c: no such job");
    submit(d, 4, "x", "afterok:d");
}

/* Who waits for one thing less, once for each time it is asked; who is ready is no more among them. */
static void some_come_nearer(void **state)
{
    struct depend *d = *state;
    uint32_t slot;
    submit(d, 1, "a", NULL);
    submit(d, 2, "b", NULL);
    submit(d, 3, "c", NULL);
    submit(d, 4, "all", "afterany:a:b:c");
    submit(d, 5, "two", "afterany:a:b");
    submit(d, 6, "cancelled", "afterany:a:b");
    submit(d, 7, "never", "afterany:a,afternotok:b");
    assert_false(depend_next_nearer(d, &slot));
    finish(d, 1, true);
    depend_forget(d, 6);
    finish(d, 2, true);
    expect_ready(d, "5 7!");
    assert_true(depend_next_nearer(d, &slot));
    assert_int_equal(slot, 4);
    expect_reason(d, 4, "dependency c");
    assert_false(depend_next_nearer(d, &slot));
}

static void change(struct depend *d, uint32_t slot, const char *expression)
{
    berth_error_t err = {""};
    if (depend_change(d, slot, expression, &err) < 0)
        fail_msg("%u: %s", (unsigned)slot, err.text);
    assert_true(depend_check(d));
}

static void refuse_change(struct depend *d, uint32_t slot, const char *expression, const char *why)
{
    berth_error_t err = {""};
    errno = 0;
    assert_int_equal(depend_change(d, slot, expression, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, why);
    assert_true(depend_check(d));
}

/* Jobs a to e in slots 0 to 4; what d waits for changes. */
static void what_is_waited_for_changes(void **state)
{
    struct depend *d = *state;
    submit(d, 0, "a", NULL);
    submit(d, 1, "b", NULL);
    submit(d, 2, "c", NULL);
    submit(d, 3, "d", "afterok:a");
    submit(d, 4, "e", "afterok:d");
    change(d, 3, "afterany:b,after:c");
    expect_expression(d, 3, "afterany:b,after:c");
    finish(d, 0, false); /* it waits for this no more */
    expect_ready(d, "");
    assert_true(depend_waits(d, 3));
    depend_started(d, 2);
    finish(d, 1, false);
    expect_ready(d, "3");
    finish(d, 3, true); /* and who waits for it does so still */
    expect_ready(d, "4");

    /* To nothing, from nothing, and to what has come about. */
    submit(d, 5, "f", "afterok:c");
    change(d, 5, "");
    assert_false(depend_waits(d, 5));
    change(d, 5, "afterok:c");
    assert_true(depend_waits(d, 5));
    change(d, 5, "after:c,afternotok:b,afterok:d");
    assert_false(depend_waits(d, 5));
    expect_ready(d, "");

    /* One that is ready, which nobody has taken note of, waits again. */
    submit(d, 6, "g", "afterok:c");
    depend_ended(d, 2, true);
    change(d, 6, "afterok:f");
    expect_ready(d, "");
    assert_true(depend_waits(d, 6));
}

static void changes_that_are_refused(void **state)
{
    struct depend *d = *state;
    submit(d, 0, "a", NULL);
    submit(d, 1, "b", "afterok:a");
    submit_array(d, 2, "m", 3, NULL);
    refuse_change(d, 0, "afterany:b", "dependency b: it was submitted after a");
    refuse_change(d, 0, "after:m[1]", "dependency m: it was submitted after a");
    refuse_change(d, 1, "afterok:b", "dependency b: no such job");
    refuse_change(d, 1, "afterok:z", "dependency z: no such job");
    refuse_change(d, 1, "soon:a",
                  "dependency: offset 0: expected after, afterany, afterok, "
                  "afternotok or singleton, found 'soon'");
    expect_expression(d, 1, "afterok:a");
    change(d, 3, "afterok:b");
    expect_expression(d, 3, "afterok:b");
    assert_false(depend_waits(d, 2)); /* a member by itself */
    finish(d, 0, true);
    expect_ready(d, "1");
    refuse_change(d, 1, "afternotok:a", "dependency afternotok:a: it can never be met");
    submit(d, 5, "z", NULL);
    finish(d, 5, true);
    change(d, 1, "afterok:z"); /* submitted later, but it has ended */
    assert_false(depend_waits(d, 1));
}

static void singletons_that_change(void **state)
{
    struct depend *d = *state;
    submit_named(d, 0, "a", "u", "n", NULL);
    submit_named(d, 1, "b", "u", "n", "singleton");
    submit_named(d, 2, "c", "u", "n", NULL);
    change(d, 2, "singleton");
    assert_true(depend_waits(d, 2));
    change(d, 1, NULL);
    assert_false(depend_waits(d, 1));
    change(d, 0, "singleton"); /* it is the first */
    assert_false(depend_waits(d, 0));
    finish(d, 0, true);
    expect_ready(d, "");
    finish(d, 1, true);
    expect_ready(d, "2");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(ids_are_known_until_forgotten),
        TEST(types_wait_for_different_things),
        TEST(all_terms_must_be_met),
        TEST(arrays_are_waited_for_as_a_whole),
        TEST(an_array_without_failure),
        TEST(a_requeued_job_has_not_ended),
        TEST(singletons_go_one_by_one),
        TEST(members_of_a_singleton_array_wait_for_other_jobs),
        TEST(forgetting_takes_a_submission_back),
        TEST(what_is_ready_may_be_cancelled),
        TEST(wrong_expressions),
        TEST(an_id_can_be_used_again),
        TEST(outcomes_are_saved_and_restored),
        TEST(outcomes_meet_what_waits),
        TEST(what_is_remembered_is_bounded),
        TEST(what_is_remembered_can_be_set),
        TEST(some_come_nearer),
        TEST(what_is_waited_for_changes),
        TEST(changes_that_are_refused),
        TEST(singletons_that_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
