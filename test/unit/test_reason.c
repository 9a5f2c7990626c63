/* Reasons: their texts, these read again, and copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sched/reason_copy.h"

#define SECOND 1000000

static void expect_same(const struct sched_reason *a, const struct sched_reason *b)
{
    const char *const texts[] = {a->limit.what,    b->limit.what,    a->type,  b->type,
                                 a->queue,         b->queue,         a->user,  b->user,
                                 a->limit.account, b->limit.account, a->words, b->words};
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->limit.whose, b->limit.whose);
    assert_int_equal(a->limit.most, b->limit.most);
    assert_int_equal(a->at, b->at);
    assert_int_equal(a->gang.have, b->gang.have);
    assert_int_equal(a->gang.need, b->gang.need);
    assert_int_equal(a->n_jobs, b->n_jobs);
    assert_int_equal(a->singleton, b->singleton);
    assert_int_equal(a->others, b->others);
    for (size_t i = 0; i < a->n_jobs; i++) {
        assert_string_equal(a->job[i].id, b->job[i].id);
        assert_int_equal(a->job[i].member, b->job[i].member);
    }
    assert_int_equal(a->may, b->may);
    assert_int_equal(a->spare, b->spare);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i += 2) {
        assert_int_equal(texts[i] != NULL, texts[i + 1] != NULL);
        if (texts[i])
            assert_string_equal(texts[i], texts[i + 1]);
    }
}

/* It has that text, which is read as it again; so has a copy of it. */
static void both_ways(struct sched_reason r, const char *expected)
{
    char text[SCHED_REASON_TEXT], again[SCHED_REASON_TEXT];
    struct sched_reason read;
    r.second = SECOND;
    assert_ptr_equal(sched_reason_text(&r, text), text);
    assert_string_equal(text, expected);
    sched_reason_read(&read, text, SECOND);
    expect_same(&read, &r);
    struct sched_reason *copy = sched_reason_copy(&r);
    assert_non_null(copy);
    expect_same(copy, &r);
    assert_true(reason_is_same(copy, &r));
    copy->others = !copy->others;
    assert_false(reason_is_same(copy, &r));
    copy->others = r.others;
    assert_string_equal(sched_reason_text(copy, again), expected);
    free(copy);
}

#define BOTH(text, ...) both_ways((struct sched_reason){.kind = __VA_ARGS__}, text)

static void what_is_written_is_read(void **state)
{
    (void)state;
    BOTH("", SCHED_REASON_NONE);
    BOTH("held", SCHED_REASON_HELD);
    BOTH("queue stopped", SCHED_REASON_STOPPED);
    BOTH("class a has 0 percent", SCHED_REASON_CLASS, .words = "a");
    BOTH("class b has 0 percent has 0 percent", SCHED_REASON_CLASS, .words = "b has 0 percent");
    BOTH("queue depth", SCHED_REASON_DEPTH);
    BOTH("priority", SCHED_REASON_PRIORITY);
    BOTH("preempting", SCHED_REASON_PREEMPTING);
    BOTH("waits for its gang", SCHED_REASON_GANG_WAITS);
    BOTH("3 of 6 members fit", SCHED_REASON_GANG, .gang = {3, 6});
    BOTH("0 of 6 members are left", SCHED_REASON_GANG_LEFT, .gang = {0, 6});
    BOTH("member 12 failed", SCHED_REASON_GANG_FAILED, .gang = {.have = 12});
    BOTH("the gang has fewer members than its min", SCHED_REASON_MIN);
    BOTH("x of 6 members fit", SCHED_REASON_REQUEST, .words = "x of 6 members fit");
    BOTH("3 of  members are left", SCHED_REASON_REQUEST, .words = "3 of  members are left");
    BOTH("member  failed", SCHED_REASON_REQUEST, .words = "member  failed");
    BOTH("member a failed", SCHED_REASON_REQUEST, .words = "member a failed");
    BOTH("preempted for 57: its queue is preemptible, 160 core-seconds lost",
         SCHED_REASON_PREEMPTED, .job = {{"57", -1}}, .n_jobs = 1, .has = 160);
    BOTH("preempted for 57[3]: its queue has more than it deserves, its gang goes on, 0 "
         "core-seconds lost",
         SCHED_REASON_PREEMPTED, .job = {{"57", 3}}, .n_jobs = 1, .may = SCHED_MAY_SHARE,
         .spare = true);
    BOTH("preempted for ...: its priority is lower, 1 core-second lost", SCHED_REASON_PREEMPTED,
         .may = SCHED_MAY_PRIORITY, .has = 1);
    BOTH("preempted for 57: its user has more, 2 core-seconds lost", SCHED_REASON_PREEMPTED,
         .job = {{"57", -1}}, .n_jobs = 1, .may = SCHED_MAY_RICHER, .has = 2);
    BOTH("preempted for 5: its class has borrowed workers, x core-seconds lost",
         SCHED_REASON_REQUEST,
         .words = "preempted for 5: its class has borrowed workers, x core-seconds lost");
    BOTH("starving", SCHED_REASON_STARVING);
    BOTH("claims 6 of 8 cores", SCHED_REASON_CLAIM, .has = 6, .of = 8, .type = "core");
    BOTH("claims 0 of 1 node", SCHED_REASON_CLAIM, .of = 1, .type = "node");
    BOTH("claims 0 of 1 core, waits for 57", SCHED_REASON_CLAIM, .of = 1, .type = "core",
         .job = {{"57", -1}}, .n_jobs = 1);
    BOTH("claims 0 of 2 nodes, waits for 57,58[3],...", SCHED_REASON_CLAIM, .of = 2, .type = "node",
         .job = {{"57", -1}, {"58", 3}}, .n_jobs = 2, .others = true);
    BOTH("block night until 3600.5", SCHED_REASON_SET_ASIDE, .block = "night", .at = 3600500000);
    BOTH("block a until 5 until 7", SCHED_REASON_SET_ASIDE, .block = "a until 5", .at = 7000000);
    BOTH("unsatisfiable: asks for 3 nodes, the queue has 2", SCHED_REASON_UNSATISFIABLE,
         .words = "asks for 3 nodes, the queue has 2");
    BOTH("block night recurs: give a time limit", SCHED_REASON_BLOCK_RECURS, .block = "night");
    BOTH("block night recurs: no gap is that long", SCHED_REASON_BLOCK, .block = "night");
    BOTH("jobspec: a job needs one", SCHED_REASON_JOBSPEC, .words = "a job needs one");
    BOTH("more units than the machine has", SCHED_REASON_UNITS);
    BOTH("no time in the calendar is long enough", SCHED_REASON_NO_TIME);
    BOTH("no queue named, and there is no default queue", SCHED_REASON_NO_QUEUE);
    BOTH("duration out of range", SCHED_REASON_DURATION);
    BOTH("priority out of range", SCHED_REASON_RANK);
    BOTH("priority out of range: expected a number from -65536 to 65535", SCHED_REASON_RANK,
         .has = -65536, .of = 65535);
    BOTH("priority out of range: a few", SCHED_REASON_REQUEST,
         .words = "priority out of range: a few");
}

static void resources_times_limits_and_dependencies_are_read(void **state)
{
    (void)state;
    BOTH("resources core", SCHED_REASON_RESOURCES, .type = "core");
    BOTH("begin 0", SCHED_REASON_BEGIN, .at = 0);
    BOTH("begin 12.000001", SCHED_REASON_BEGIN, .at = 12000001);
    BOTH("begin 12.05", SCHED_REASON_BEGIN, .at = 12050000);
    BOTH("limit user core 8", SCHED_REASON_LIMIT,
         .limit = {.whose = SCHED_OF_USER, .what = "core", .most = 8});
    BOTH("limit account phys core 8", SCHED_REASON_LIMIT,
         .limit = {SCHED_OF_ACCOUNT, "core", 8, "phys"});
    BOTH("limit account phys 8", SCHED_REASON_REQUEST, .words = "limit account phys 8");
    BOTH("limit account  core 8", SCHED_REASON_REQUEST, .words = "limit account  core 8");
    BOTH("limit queue running 0", SCHED_REASON_LIMIT,
         .limit = {.whose = SCHED_OF_QUEUE, .what = "running", .most = 0});
    BOTH("limit job duration 3600.5", SCHED_REASON_LIMIT,
         .limit = {.whose = SCHED_OF_JOB, .what = "duration", .most = INT64_C(3600500000)});
    BOTH("dependency 57", SCHED_REASON_DEPENDENCY, .job = {{"57", -1}}, .n_jobs = 1);
    BOTH("dependency a,b[3],singleton", SCHED_REASON_DEPENDENCY, .job = {{"a", -1}, {"b", 3}},
         .n_jobs = 2, .singleton = true);
    BOTH("dependency singleton", SCHED_REASON_DEPENDENCY, .singleton = true);
    BOTH("dependency a,b,c,d,...", SCHED_REASON_DEPENDENCY,
         .job = {{"a", -1}, {"b", -1}, {"c", -1}, {"d", -1}}, .n_jobs = 4, .others = true);
    BOTH("dependency b[3]: never met", SCHED_REASON_NEVER_MET, .job = {{"b", 3}}, .n_jobs = 1);
    BOTH("dependency a: no such job", SCHED_REASON_REQUEST, .words = "dependency a: no such job");
}

#undef BOTH

static void expect_text(struct sched_reason r, const char *expected)
{
    char text[SCHED_REASON_TEXT];
    assert_string_equal(sched_reason_text(&r, text), expected);
}

static void what_is_wrong_with_a_queue_is_said(void **state)
{
    (void)state;
    expect_text((struct sched_reason){.kind = SCHED_REASON_UNKNOWN_QUEUE, .queue = "q"},
                "queue (q) doesn't exist");
    expect_text((struct sched_reason){.kind = SCHED_REASON_CLOSED, .queue = "q"},
                "queue q takes no jobs");
    expect_text(
        (struct sched_reason){.kind = SCHED_REASON_NOT_ADMITTED, .queue = "q", .user = "ann"},
        "user ann is not admitted to queue q");
    expect_text((struct sched_reason){.kind = SCHED_REASON_ESTIMATE,
                                      .queue = "q",
                                      .limit = {.what = "duration", .most = 3 * SECOND},
                                      .second = SECOND},
                "the estimate is longer than the time limit: limit job duration 3 of queue q");
}

/* What looks like a reason and is none stays as it is. */
static void other_texts_stay_as_they_are(void **state)
{
    static const char *const texts[] = {"begin",
                                        "begin ",
                                        "begin x",
                                        "begin 1.",
                                        "begin 01",
                                        "begin 1.50",
                                        "begin 1.1234567",
                                        "begin 99999999999999999999",
                                        "begin 9223372036854775807.5",
                                        "limit",
                                        "limit user core",
                                        "limit us core 8",
                                        "limit users core 8",
                                        "limit user core 8.5",
                                        "limit user core ",
                                        "limit user  8",
                                        "limit user core 99999999999999999999",
                                        "dependency ",
                                        "dependency: x",
                                        "dependency a: met",
                                        "dependency a,b: never met: never met",
                                        "dependency a,b,c,d,e",
                                        "Held",
                                        "held ",
                                        "not started: the engine can't",
                                        "a\nb"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char text[SCHED_REASON_TEXT], again[SCHED_REASON_TEXT];
        struct sched_reason r;
        strcpy(text, texts[i]);
        sched_reason_read(&r, text, SECOND);
        if (r.kind != SCHED_REASON_REQUEST)
            fail_msg("%s: read as a reason of kind %d", texts[i], (int)r.kind);
        assert_string_equal(r.words, texts[i]);
        assert_string_equal(sched_reason_text(&r, again), texts[i]);
    }
    expect_text((struct sched_reason){.kind = SCHED_REASON_NONE}, "");
    char text[SCHED_REASON_TEXT];
    assert_string_equal(sched_reason_text(NULL, text), "");
}

/* Ticks of any length come back. */
static void times_come_back(void **state)
{
    static const int64_t seconds[] = {1, 3, 7, 10, 999, 1000000};
    (void)state;
    for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++)
        for (int64_t at = 0; at < 3000; at++) {
            struct sched_reason r = {.kind = SCHED_REASON_BEGIN, .at = at, .second = seconds[i]},
                                read;
            char text[SCHED_REASON_TEXT];
            sched_reason_text(&r, text);
            sched_reason_read(&read, text, seconds[i]);
            assert_int_equal(read.kind, SCHED_REASON_BEGIN);
            assert_int_equal(read.at, at);
        }
    struct sched_reason r = {.kind = SCHED_REASON_BEGIN, .at = INT64_MAX / 4, .second = 1}, read;
    char text[SCHED_REASON_TEXT];
    sched_reason_text(&r, text);
    sched_reason_read(&read, text, 1);
    assert_int_equal(read.at, INT64_MAX / 4);
}

static void what_is_too_long_is_cut(void **state)
{
    char words[400], text[SCHED_REASON_TEXT], long_text[400];
    struct sched_reason r = {.kind = SCHED_REASON_JOBSPEC, .words = words};
    (void)state;
    memset(words, 'x', sizeof(words) - 1);
    words[sizeof(words) - 1] = '\0';
    assert_int_equal(strlen(sched_reason_text(&r, text)), SCHED_REASON_TEXT - 1);
    memcpy(long_text, words, sizeof(words));
    sched_reason_read(&r, long_text, SECOND);
    assert_int_equal(r.kind, SCHED_REASON_REQUEST);
    assert_string_equal(r.words, words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(resources_times_limits_and_dependencies_are_read),
        cmocka_unit_test(what_is_wrong_with_a_queue_is_said),
        cmocka_unit_test(other_texts_stay_as_they_are),
        cmocka_unit_test(times_come_back),
        cmocka_unit_test(what_is_too_long_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
