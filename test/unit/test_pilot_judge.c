/* What follows from Slurm's words, as doc/cluster.md has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/pilot_judge.h"

#define NOW 1000000

/* Pilot 1 has nodes n1 and n2 until 2000000, and n3, given up, until 999900. */
static const char known[] =
    "{\"pilot\": 1, \"job\": \"7\", \"slurm\": \"RUNNING\", \"reason\": \"None\", \"start\": null, "
    "\"since\": 999000,"
    " \"nodes\": [{\"name\": \"n1\", \"host\": \"n1\", \"end\": 2000000, \"given_up\": false},"
    "             {\"name\": \"n2.1\", \"host\": \"n2\", \"end\": 2000000, \"given_up\": false},"
    "             {\"name\": \"n3\", \"host\": \"n3\", \"end\": 999900, \"given_up\": true}]}";

static void expect_change(const char *pilot, const char *line, int64_t absent_since,
                          const char *expected)
{
    struct squeue_job job;
    char *copy = line ? strdup(line) : NULL;
    json_t *from = json_loads(pilot, 0, NULL);
    assert_non_null(from);
    if (copy)
        assert_int_equal(squeue_read(copy, &job), 0);
    json_t *change = pilot_judge(from, copy ? &job : NULL, absent_since, NOW);
    char *text = change ? json_dumps(change, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    assert_string_equal(text ? text : "", expected);
    free(text);
    free(copy);
    json_decref(change);
    json_decref(from);
}

static void lines_are_read(void **state)
{
    struct squeue_job job;
    char good[] = "7|RUNNING|N/A|2026-11-25T23:10:00|n[1-2,4]|berth:0a:1|a|b",
         few[] = "7|RUNNING|N/A";
    char word[] = "x|RUNNING|N/A|N/A|n1|c|None", empty[] = "";
    (void)state;
    assert_int_equal(squeue_read(good, &job), 0);
    assert_string_equal(job.job, "7");
    assert_string_equal(job.nodes, "n[1-2,4]");
    assert_string_equal(job.comment, "berth:0a:1");
    assert_string_equal(job.reason, "a|b"); /* the last one may be anything */
    assert_int_equal(squeue_read(few, &job), -1);
    assert_int_equal(squeue_read(word, &job), -1);
    assert_int_equal(squeue_read(empty, &job), -1);
    setenv("TZ", "UTC", 1);
    tzset();
    assert_int_equal(squeue_time("1970-01-02T00:00:01"), 86401);
    assert_int_equal(squeue_time("N/A"), 0);
    assert_int_equal(squeue_time("1970-01-02T00:00:01x"), 0);
}

#define LINE(state, nodes) "7|" state "|N/A|N/A|" nodes "|c|None"

static void proofs(void **state)
{
    (void)state;
    /* All is as it was. */
    expect_change(known, LINE("RUNNING", "n[1-2]"), 0, "");
    expect_change(known, NULL, 0, ""); /* Slurm is silent */
    /* A node leaves the job. */
    expect_change(known, LINE("RUNNING", "n1"), 0, "{\"given_up\":\"n2.1\"}");
    /* The job is over: so are its nodes, but not the one that it had given up. */
    expect_change(known, LINE("CANCELLED", "n[1-2]"), 0,
                  "{\"lost\":\"n1,n2.1\",\"over\":true,\"slurm\":\"CANCELLED\"}");
    expect_change(known, LINE("TIMEOUT", "n1"), 0,
                  "{\"lost\":\"n1,n2.1\",\"over\":true,\"slurm\":\"TIMEOUT\"}");
    /* It still has processes. */
    expect_change(known, LINE("COMPLETING", "n[1-2]"), 0, "{\"slurm\":\"COMPLETING\"}");
    /* Its nodes failed: they may go on. */
    expect_change(known, LINE("NODE_FAIL", "n[1-2]"), 0,
                  "{\"given_up\":\"n1,n2.1\",\"over\":true,\"slurm\":\"NODE_FAIL\"}");
    /* Slurm has no such job: twice, 10 s apart. */
    expect_change(known, NULL, NOW, "");
    expect_change(known, NULL, NOW - 9, "");
    expect_change(known, NULL, NOW - 10, "{\"lost\":\"n1,n2.1\",\"over\":true,\"slurm\":\"gone\"}");
}

static void times(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    /* 1970-01-12T14:00:00 is 1000800 */
    expect_change(known, "7|RUNNING|N/A|1970-01-12T14:00:00|n[1-2]|c|None", 0, "{\"end\":1000800}");
    expect_change(
        "{\"pilot\": 1, \"job\": \"\", \"slurm\": \"\", \"reason\": \"\", \"start\": null, "
        "\"since\": 999990, \"nodes\": []}",
        "8|PENDING|1970-01-12T14:00:00|N/A||c|Priority", 0,
        "{\"job\":\"8\",\"reason\":\"Priority\",\"slurm\":\"PENDING\",\"start\":1000800}");
    /* One whose submission nobody knows the end of has a while to appear. */
    expect_change("{\"pilot\": 1, \"job\": \"\", \"since\": 999980, \"nodes\": []}", NULL, 999980,
                  "");
    expect_change("{\"pilot\": 1, \"job\": \"\", \"since\": 999970, \"nodes\": []}", NULL, 999970,
                  "{\"over\":true,\"slurm\":\"gone\"}");
    /* A node that is long past its end is over, whatever is heard. */
    expect_change("{\"pilot\": 1, \"job\": \"7\", \"since\": 1, \"nodes\": ["
                  "{\"name\": \"a\", \"host\": \"a\", \"end\": 999880, \"given_up\": true},"
                  "{\"name\": \"b\", \"host\": \"b\", \"end\": 999881, \"given_up\": false}]}",
                  NULL, 0, "{\"lost\":\"a\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read),
        cmocka_unit_test(proofs),
        cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
