/* What follows for a directed run, as doc/cluster.md has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/slurm/judge.h"

/* A run that was submitted long ago, of which Slurm says this; "": it has no such job, NULL: it does not answer. */
static enum judgement judge(enum taker taker, const char *state, int64_t seconds)
{
    const struct squeue_job job = {.job = "7", .state = state, .reason = "None"};
    const struct judge_seen seen = {.taker = taker,
                                    .asked = true,
                                    .answers = state != NULL,
                                    .job = state && *state ? &job : NULL,
                                    .since = 1000,
                                    .now = 1000 + seconds};
    return directed_judge(&seen);
}

static void what_nobody_has_taken_is_taken_back(void **state)
{
    struct judge_seen new = {.now = 1000};
    (void)state;
    assert_int_equal(directed_judge(&new), JUDGE_SUBMIT);
    new.cancel = 15;
    assert_int_equal(directed_judge(&new), JUDGE_TAKE_KILLED);
    assert_int_equal(judge(TAKEN_BY_NOBODY, NULL, 100000), JUDGE_WAIT);
    assert_int_equal(judge(TAKEN_BY_NOBODY, "", 9), JUDGE_WAIT);
    assert_int_equal(judge(TAKEN_BY_NOBODY, "", 10), JUDGE_TAKE_REFUSED);
    assert_int_equal(judge(TAKEN_BY_NOBODY, "PENDING", 4), JUDGE_WAIT);
    assert_int_equal(judge(TAKEN_BY_NOBODY, "PENDING", 5), JUDGE_TAKE_OCCUPIED);
    assert_int_equal(judge(TAKEN_BY_NOBODY, "CONFIGURING", 1000), JUDGE_WAIT);
    assert_int_equal(judge(TAKEN_BY_NOBODY, "RUNNING", 59), JUDGE_WAIT);
    assert_int_equal(judge(TAKEN_BY_NOBODY, "RUNNING", 60), JUDGE_TAKE_REFUSED);
    assert_int_equal(judge(TAKEN_BY_NOBODY, "CANCELLED", 0), JUDGE_TAKE_FAILED);
    assert_int_equal(judge(TAKEN_BY_NOBODY, "COMPLETED", 4), JUDGE_WAIT);
    assert_int_equal(judge(TAKEN_BY_NOBODY, "FAILED", 5), JUDGE_TAKE_REFUSED);
    assert_int_equal(judge(TAKEN_BY_NOBODY, "NODE_FAIL", 5), JUDGE_TAKE_REFUSED);
    assert_int_equal(judge(TAKEN_BY_NOBODY, "A_NEW_WORD", 5000), JUDGE_WAIT);
}

static void what_has_begun_is_lost_by_proof_only(void **state)
{
    (void)state;
    assert_int_equal(judge(TAKEN_BY_RUN, NULL, 100000), JUDGE_WAIT);
    assert_int_equal(judge(TAKEN_BY_RUN, "PENDING", 100000), JUDGE_WAIT);
    assert_int_equal(judge(TAKEN_BY_RUN, "RUNNING", 100000), JUDGE_WAIT);
    assert_int_equal(judge(TAKEN_BY_RUN, "COMPLETING", 100000), JUDGE_WAIT);
    assert_int_equal(judge(TAKEN_BY_RUN, "A_NEW_WORD", 100000), JUDGE_WAIT);
    assert_int_equal(judge(TAKEN_BY_RUN, "OUT_OF_MEMORY", 4), JUDGE_WAIT);
    assert_int_equal(judge(TAKEN_BY_RUN, "OUT_OF_MEMORY", 5), JUDGE_LOST);
    assert_int_equal(judge(TAKEN_BY_RUN, "", 9), JUDGE_WAIT);
    assert_int_equal(judge(TAKEN_BY_RUN, "", 10), JUDGE_LOST);
    assert_int_equal(judge(TAKEN_BY_RUN, "NODE_FAIL", 100000), JUDGE_WAIT);
}

/* By what a person knows, unless Slurm knows better. */
static void what_is_said_to_be_lost_is(void **state)
{
    const struct squeue_job failed = {.job = "7", .state = "NODE_FAIL", .reason = "None"},
                            runs = {.job = "7", .state = "RUNNING", .reason = "None"};
    struct judge_seen seen = {
        .taker = TAKEN_BY_RUN, .asked = true, .is_lost = true, .given_up = true};
    (void)state;
    assert_int_equal(directed_judge(&seen), JUDGE_LOST); /* it does not answer */
    seen.answers = true;
    assert_int_equal(directed_judge(&seen), JUDGE_LOST); /* it has no such job */
    seen.job = &failed;
    assert_int_equal(directed_judge(&seen), JUDGE_LOST);
    seen.job = &runs;
    assert_int_equal(directed_judge(&seen), JUDGE_WAIT);
    seen.ended = true;
    assert_int_equal(directed_judge(&seen), JUDGE_ENDED);
    seen = (struct judge_seen){.taker = TAKEN_BY_NOBODY, .is_lost = true};
    assert_int_equal(directed_judge(&seen), JUDGE_SUBMIT);
}

/* Slurm gives up a node, and forgets the job later. */
static void a_node_that_is_given_up_proves_nothing(void **state)
{
    struct judge_seen seen = {
        .taker = TAKEN_BY_RUN, .asked = true, .answers = true, .since = 1000, .now = 90000};
    (void)state;
    seen.given_up = true;
    assert_int_equal(directed_judge(&seen), JUDGE_WAIT);
    seen.nodes_are_back = true;
    assert_int_equal(directed_judge(&seen), JUDGE_LOST);
    seen.answers = false;
    assert_int_equal(directed_judge(&seen), JUDGE_WAIT);
}

static void what_the_run_says_counts_more(void **state)
{
    struct judge_seen seen = {.taker = TAKEN_BY_RUN, .asked = true, .broken = true, .now = 1000};
    (void)state;
    assert_int_equal(directed_judge(&seen), JUDGE_STOP);
    seen.ended = true;
    assert_int_equal(directed_judge(&seen), JUDGE_ENDED);
    seen = (struct judge_seen){.taker = TAKEN_BY_SERVER, .asked = true, .now = 1000};
    assert_int_equal(directed_judge(&seen), JUDGE_TAKE_REFUSED); /* its end was not yet told */
    seen.cancel = 9;
    assert_int_equal(directed_judge(&seen), JUDGE_TAKE_KILLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_has_taken_is_taken_back),
        cmocka_unit_test(what_has_begun_is_lost_by_proof_only),
        cmocka_unit_test(what_is_said_to_be_lost_is),
        cmocka_unit_test(a_node_that_is_given_up_proves_nothing),
        cmocka_unit_test(what_the_run_says_counts_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
