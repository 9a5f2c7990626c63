/* Pools that give exactly the units asked for, to many jobs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "berth/jobspec.h"
#include "berth/match.h"
#include "berth/resource.h"
#include "fixture/machine.h"

/* A node with two cores and 1000 units of memory that can be divided. */
static match_t *make_with(const char *filters)
{
    return machine_of("node(2 core memory:1000)",
                      &(match_options_t){.policy = "low", .filters = filters});
}

static match_t *make(void)
{
    return make_with("ALL:core,ALL:memory");
}

static int duration = 10; /* of the next jobs */

/* A slot with that much memory and so many cores; errno, or 0 and the time in *at. */
static int run(match_t *m, match_op_t op, int64_t id, int cores, int memory, int64_t *at)
{
    char text[600], core[60] = "";
    berth_error_t err;
    match_result_t result;

    if (cores > 0)
        snprintf(core, sizeof(core), "{type: core, count: %d}, ", cores);
    snprintf(text, sizeof(text),
             "version: 1\nresources: [{type: slot, count: 1, label: s, with: [%s{type: memory, "
             "count: %d}]}]\n"
             "tasks: [{command: [a], slot: s, count: {per_slot: 1}}]\nattributes: {system: "
             "{duration: %d}}\n",
             core, memory, duration);
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, &err);
    assert_non_null(spec);
    int rc = match_run(m, op, spec, id, 0, &result, &err) < 0 ? errno : 0;
    jobspec_destroy(spec);
    assert_true(match_check(m));
    if (at)
        *at = result.at;
    return rc;
}

static void gives_what_is_asked_for(void **state)
{
    const char *text;
    size_t length;
    match_t *m = make();

    (void)state;
    assert_int_equal(run(m, MATCH_ALLOCATE, 1, 1, 300, NULL), 0);
    assert_int_equal(match_write(m, "simple", &text, &length), 0);
    assert_non_null(strstr(text, "memory0[300:x]"));
    assert_int_equal(run(m, MATCH_ALLOCATE, 2, 1, 300, NULL), 0);
    assert_int_equal(run(m, MATCH_ALLOCATE, 3, 0, 400, NULL), 0);
    assert_int_equal(run(m, MATCH_ALLOCATE, 4, 0, 1, NULL), EBUSY);
    match_destroy(m);
}

static void accounts_for_it_over_time(void **state)
{
    int64_t at;
    match_t *m = make();

    (void)state;
    assert_int_equal(run(m, MATCH_ALLOCATE, 1, 0, 700, NULL), 0);
    assert_int_equal(run(m, MATCH_ALLOCATE_ORELSE_RESERVE, 2, 0, 600, &at), 0);
    assert_int_equal(at, 10);
    assert_int_equal(run(m, MATCH_ALLOCATE, 3, 0, 300, &at),
                     0); /* beside the first, before the second */
    assert_int_equal(run(m, MATCH_ALLOCATE_ORELSE_RESERVE, 4, 0, 400, &at), 0);
    assert_int_equal(at, 10);
    assert_int_equal(match_cancel(m, 1, NULL, NULL), 0);
    assert_int_equal(run(m, MATCH_ALLOCATE, 5, 0, 700, &at), 0);
    match_destroy(m);
}

static void never_gives_more_than_there_is(void **state)
{
    match_t *m = make();

    (void)state;
    assert_int_equal(run(m, MATCH_ALLOCATE_ORELSE_RESERVE, 1, 0, 1001, NULL), ENODEV);
    assert_int_equal(run(m, MATCH_SATISFIABILITY, 1, 2, 1000, NULL), 0);
    match_destroy(m);
}

/* Also where no filter counts it, and other jobs end one after the other before there is enough. */
static void is_awaited_bit_by_bit(void **state)
{
    match_t *m = make_with("ALL:core");
    int64_t at;

    (void)state;
    for (int i = 0; i < 3; i++) {
        duration = 10 * (i + 1);
        assert_int_equal(run(m, MATCH_ALLOCATE, i, 0, 300, NULL), 0);
    }
    assert_int_equal(run(m, MATCH_ALLOCATE_ORELSE_RESERVE, 3, 0, 950, &at), 0);
    assert_int_equal(at, 30);
    duration = 10;
    match_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_what_is_asked_for),
        cmocka_unit_test(accounts_for_it_over_time),
        cmocka_unit_test(never_gives_more_than_there_is),
        cmocka_unit_test(is_awaited_bit_by_bit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
