/* report/json.c, report/table.c and report/report.c: the numbers arrive under their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "report/json.h"
#include "report/table.h"

static const struct report_count dropped[] = {{"no_run_time", 0}, {"too_big", 1234}};
static const struct schedule schedules[] = {
    {.policy = "fcfs", .procs = 8, .n = 3, .passes = 5, .seconds = 0.5},
    {.policy = "easy", .procs = 8, .n = 3, .passes = 6, .seconds = 0},
};
static const struct metrics metrics[] = {
    {.n = 2,
     .rejected = 1,
     .avg_wait = 6836.87209,
     .median_wait = 3,
     .p95_wait = 4,
     .max_wait = 5,
     .avg_flow = 0.1,
     .max_flow = 7,
     .avg_bsld = 92.57654,
     .max_bsld = 8.5,
     .utilisation = 0.685613,
     .makespan = 29363626},
    {.n = 3},
};

static struct report make_report(void)
{
    return (struct report){
        .trace = "a \"b\".swf",
        .procs = 8,
        .jobs = 3,
        .tau = 10,
        .events = "batched",
        .order = "submit",
        .estimates = "user",
        .dropped = dropped,
        .ndropped = 2,
        .killed = 77777,
        .schedules = schedules,
        .metrics = metrics,
        .npolicies = 2,
    };
}

static void test_json(void **state)
{
    (void)state;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct report report = make_report();
    assert_int_equal(json_print(&report, out, NULL), 0);
    fclose(out);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    assert_int_equal(json_object_size(root), 4);
    const char *trace;
    int procs, no_run, too_big;
    json_t *policies, *first;
    assert_int_equal(json_unpack(root, "{s:s, s:i, s:{s:i, s:i}, s:o}", "trace", &trace, "procs",
                                 &procs, "dropped", "no_run_time", &no_run, "too_big", &too_big,
                                 "policies", &policies),
                     0);
    assert_string_equal(trace, report.trace);
    assert_int_equal(procs, 8);
    assert_int_equal(too_big, 1234);
    assert_int_equal(json_array_size(policies), 2);
    first = json_array_get(policies, 0);
    assert_int_equal(json_object_size(first), 16);
    assert_string_equal(json_string_value(json_object_get(first, "policy")), "fcfs");
    assert_true(json_real_value(json_object_get(first, "avg_wait_s")) == 6836.87209);
    assert_int_equal(json_integer_value(json_object_get(first, "p95_wait_s")), 4);
    assert_int_equal(json_integer_value(json_object_get(first, "makespan_s")), 29363626);
    assert_true(json_real_value(json_object_get(first, "jobs_per_s")) == 6);
    assert_int_equal(json_integer_value(json_object_get(first, "preemptions")), 0);
    assert_true(json_real_value(json_object_get(first, "work_lost_s")) == 0);
    assert_null(json_object_get(first, "shares"));
    /* Nothing measured is 0, not a division by zero. */
    assert_true(json_real_value(json_object_get(json_array_get(policies, 1), "jobs_per_s")) == 0);
    json_decref(root);
    free(text);
}

static void test_json_full_disk(void **state)
{
    (void)state;
    FILE *out = fopen("/dev/full", "w");
    if (!out)
        skip();
    setvbuf(out, NULL, _IONBF, 0);
    struct report report = make_report();
    assert_int_equal(json_print(&report, out, NULL), 0);
    assert_true(ferror(out)); /* for whoever closes the stream to report */
    fclose(out);
}

static void test_table(void **state)
{
    (void)state;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct report report = make_report();
    table_print(&report, out);
    fclose(out);
    assert_non_null(strstr(text, "a \"b\".swf: 3 jobs on 8 processors\n"));
    assert_non_null(strstr(text, "events batched, order submit, estimates user, tau 10 s\n"));
    assert_non_null(strstr(text, "dropped: 1,234 too_big\nkilled at their estimate: 77,777\n"));
    assert_non_null(strstr(text, "29,363,626"));
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") <= 80);
    free(text);
}

static void test_clean_text(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {"plain.swf", "plain.swf"},
        {"a\nb\x1b[1m", "a?b?[1m"},
        {"K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x9a\xa2", "K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x9a\xa2"},
        {"\xc3", "?"},
        {"\xc0\xaf \xed\xa0\x80", "?? ???"},
        {"\xc2\x85x\xef\xbf\xbf", "??x???"},
        {"\xf4\x90\x80\x80", "????"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *clean = report_clean_text(cases[i][0]);
        assert_string_equal(clean, cases[i][1]);
        free(clean);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_full_disk),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_clean_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
