/* cli/sim_options.c: defaults, and where the jobs of one policy go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/sim_options.h"

enum { MOST_WORDS = 32 };

static bool parse(const char *const *words, struct sim_options *ret)
{
    char *argv[MOST_WORDS];
    int argc = 0, status;
    for (; words[argc]; argc++)
        argv[argc] = (char *)words[argc]; /* getopt_long reorders the words and writes to none */
    argv[argc] = NULL;
    return sim_options_parse(argc, argv, ret, &status);
}

static void test_defaults(void **state)
{
    (void)state;
    const char *const words[] = {"sim", "a.swf", NULL};
    struct sim_options o;
    assert_true(parse(words, &o));
    assert_string_equal(o.trace, "a.swf");
    assert_int_equal(o.npolicies, 1);
    assert_string_equal(o.policies[0], "easy");
    assert_string_equal(sim_events_word(o.events), "batched");
    assert_string_equal(sim_order_word(o.order), "submit");
    assert_string_equal(sim_estimates_word(o.exact), "user");
    assert_int_equal(o.procs, 0);
    assert_int_equal(o.limit, 0);
    assert_int_equal(o.reservation_depth, 0);
    assert_int_equal(o.queue_depth, 0);
    assert_int_equal(o.tau, 10);
    assert_false(o.json);
}

/* Options may follow the trace, and the last of two holds. */
static void test_given(void **state)
{
    (void)state;
    const char *const words[] = {"sim",       "-",
                                 "--policy",  "conservative,fcfs",
                                 "--tau=60",  "--events",
                                 "per-event", "--order",
                                 "shortest",  "--tau",
                                 "30",        "--estimates",
                                 "exact",     "--reservation-depth",
                                 "7",         NULL};
    struct sim_options o;
    assert_true(parse(words, &o));
    assert_string_equal(o.trace, "-");
    assert_int_equal(o.npolicies, 2);
    assert_string_equal(o.policies[0], "conservative");
    assert_string_equal(o.policies[1], "fcfs");
    assert_string_equal(sim_events_word(o.events), "per-event");
    assert_string_equal(sim_order_word(o.order), "shortest");
    assert_string_equal(sim_estimates_word(o.exact), "exact");
    assert_int_equal(o.tau, 30);
    assert_int_equal(o.reservation_depth, 7);
}

static void test_model(void **state)
{
    (void)state;
    const char *const words[] = {"sim", "--model", "lublin", "--seed", "18446744073709551615",
                                 NULL};
    struct sim_options o;
    assert_true(parse(words, &o));
    assert_null(o.trace);
    assert_int_equal(o.procs, 256);
    assert_int_equal(o.jobs_count, 10000);
    assert_true(o.seed == UINT64_MAX);
}

/* Only a known format after the last colon is one. */
static void test_machine_format(void **state)
{
    (void)state;
    const char *const cases[][3] = {
        {"m.graphml", "m.graphml", "grug"},
        {"m.json:jgf", "m.json", "jgf"},
        {"r:rv1exec", "r", "rv1exec"},
        {"a:b", "a:b", "grug"},
        {"a:jgf:grug", "a:jgf", "grug"},
        {"a:jgf:b", "a:jgf:b", "grug"},
        {"a:hwloc", "a:hwloc", "grug"},
        {"a:", "a:", "grug"},
        {"a:jgf/b", "a:jgf/b", "grug"},
        {":jgf", "", "jgf"},
        {"a:b:rv1exec:jgf", "a:b:rv1exec", "jgf"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = strdup(cases[i][0]);
        assert_string_equal(sim_machine_format(text), cases[i][2]);
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
}

static void test_paths(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {"out.csv", "out.easy.csv"},
        {"out.csv.gz", "out.easy.csv.gz"},
        {"out", "out.easy"},
        {"a.b/out", "a.b/out.easy"},
        {"out.gz", "out.easy.gz"},
        {"a.b/c.d.csv", "a.b/c.d.easy.csv"},
        {"/tmp/.hidden", "/tmp/.hidden.easy"},
        {".gz", ".gz.easy"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *path = sim_policy_path(cases[i][0], "easy");
        assert_string_equal(path, cases[i][1]);
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_given),
        cmocka_unit_test(test_model),    cmocka_unit_test(test_machine_format),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
