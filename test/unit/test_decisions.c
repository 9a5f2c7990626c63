/* sim/decisions.c: the lines of issue 4, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/decisions.h"

#define SECOND INT64_C(1000000)

static void take(void *arg, const char *bytes, size_t n)
{
    strbuf_put(arg, bytes, n);
}

static void lines(void **state)
{
    (void)state;
    struct strbuf out = {0};
    struct decisions d = {.write = take, .arg = &out};
    decisions_start(&d, 0, "a", SCHED_IMMEDIATE, 3600 * SECOND, "node[0-1]/core[0-3]");
    decisions_wait(&d, 5 * SECOND, "b", "dependency a", -1);
    decisions_wait(&d, 5500000, "b", "resources core", 1);
    decisions_reserve(&d, 7 * SECOND, "b[0]", 1800 * SECOND, false, NULL);
    decisions_reserve(&d, 7 * SECOND, "b[0]", 1800 * SECOND, false, "resources core");
    decisions_reject(&d, 7 * SECOND, "c", "a \"quoted\" reason");
    decisions_refuse(&d, 7 * SECOND, "c", "queue q takes no jobs");
    decisions_preempt(&d, 7 * SECOND, "d", "e", true);
    decisions_preempt(&d, 7 * SECOND, "d", "e", false);
    decisions_await(&d, 7 * SECOND, "f", "d");
    decisions_end(&d, 1800 * SECOND, "a", "done", NULL);
    decisions_end(&d, 1800 * SECOND, "a", "failed", "node3 is down");
    assert_false(d.failed);
    assert_string_equal(
        strbuf_text(&out),
        "{\"at\": 0, \"job\": \"a\", \"decision\": \"start\", \"how\": \"immediate\", \"until\": "
        "3600, "
        "\"resources\": \"node[0-1]/core[0-3]\"}\n"
        "{\"at\": 5, \"job\": \"b\", \"decision\": \"wait\", \"reason\": \"dependency a\"}\n"
        "{\"at\": 5.5, \"job\": \"b\", \"decision\": \"wait\", \"reason\": \"resources core\", "
        "\"start\": 0.000001}\n"
        "{\"at\": 7, \"job\": \"b[0]\", \"decision\": \"reserve\", \"start\": 1800}\n"
        "{\"at\": 7, \"job\": \"b[0]\", \"decision\": \"reserve\", \"start\": 1800, \"reason\": "
        "\"resources core\"}\n"
        "{\"at\": 7, \"job\": \"c\", \"decision\": \"reject\", \"reason\": \"a \\\"quoted\\\" "
        "reason\"}\n"
        "{\"at\": 7, \"job\": \"c\", \"decision\": \"refuse\", \"reason\": \"queue q takes no "
        "jobs\"}\n"
        "{\"at\": 7, \"job\": \"d\", \"decision\": \"preempt\", \"for\": \"e\", \"then\": "
        "\"requeue\"}\n"
        "{\"at\": 7, \"job\": \"d\", \"decision\": \"preempt\", \"for\": \"e\", \"then\": "
        "\"cancel\"}\n"
        "{\"at\": 7, \"job\": \"f\", \"decision\": \"await\", \"of\": \"d\"}\n"
        "{\"at\": 1800, \"job\": \"a\", \"decision\": \"end\", \"status\": \"done\"}\n"
        "{\"at\": 1800, \"job\": \"a\", \"decision\": \"end\", \"status\": \"failed\", \"reason\": "
        "\"node3 is down\"}\n");
    decisions_clear(&d);
    strbuf_clear(&out);
}

static void to_nobody(void **state)
{
    (void)state;
    struct decisions d = {0};
    decisions_end(&d, 0, "a", "done", NULL);
    assert_false(d.failed);
    decisions_clear(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(to_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
