/* server/api/job_values.c, config/quantity.c: what people write; server/http/users.c: what each of them may
 * have.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "config/quantity.h"
#include "server/api/job_read.h"
#include "server/http/users.h"

#define SECOND INT64_C(1000000)

static int64_t duration(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    int64_t ticks = -1;
    bool good = duration_read(value, JOB_DURATION_MAX, &ticks);
    json_decref(value);
    return good ? ticks : -1;
}

static void durations_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } good[] = {{"90", 90},
                {"\"90\"", 90},
                {"\"90s\"", 90},
                {"\"5m\"", 300},
                {"\"1h30m\"", 5400},
                {"\"2d\"", 172800},
                {"\"1d2h3m4s\"", 93784},
                {"\"01:30\"", 90},
                {"\"01:30:00\"", 5400},
                {"\"100:00:01\"", 360001},
                {"\"1-00:00:01\"", 86401}};
    static const char *const wrong[] = {"0",
                                        "-1",
                                        "\"\"",
                                        "\"x\"",
                                        "\"1x\"",
                                        "\"1m1h\"",
                                        "\"5m5m\"",
                                        "\"1:60:00\"",
                                        "\"1:00:60\"",
                                        "\"-1:0:0\"",
                                        "\"1h30\"",
                                        "1e12",
                                        "true",
                                        "null",
                                        "[]",
                                        "\"0\"",
                                        "\"1-2\"",
                                        "\"1 h\"",
                                        "\"99999999999999999999\""};
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        assert_int_equal(duration(good[i].text), good[i].seconds * SECOND);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_int_equal(duration(wrong[i]), -1);
    assert_int_equal(duration("0.5"), SECOND / 2);
}

static int64_t memory(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    int64_t bytes = -1;
    bool good = memory_read(value, &bytes);
    json_decref(value);
    return good ? bytes : -1;
}

static void sizes_are_read(void **state)
{
    (void)state;
    assert_int_equal(memory("5000"), 5000);
    assert_int_equal(memory("\"4G\""), INT64_C(4) << 30);
    assert_int_equal(memory("\"512MiB\""), INT64_C(512) << 20);
    assert_int_equal(memory("\"100k\""), 102400);
    assert_int_equal(memory("\"1TB\""), INT64_C(1) << 40);
    assert_int_equal(memory("\"7B\""), 7);
    assert_int_equal(memory("0"), -1);
    assert_int_equal(memory("\"0G\""), -1);
    assert_int_equal(memory("\"G\""), -1);
    assert_int_equal(memory("\"4X\""), -1);
    assert_int_equal(memory("\"4Gi\""), -1);
    assert_int_equal(memory("\"9999999999T\""), -1);
    assert_int_equal(memory("1.5"), -1);
}

static void signals_are_read(void **state)
{
    int number = 0;
    json_t *value =
        json_pack("[s, s, s, i, s, i, s]", "USR1", "sigterm", "9", 15, "NONE", 65, "-1");
    (void)state;
    assert_true(signal_read(json_array_get(value, 0), &number) && number == SIGUSR1);
    assert_true(signal_read(json_array_get(value, 1), &number) && number == SIGTERM);
    assert_true(signal_read(json_array_get(value, 2), &number) && number == SIGKILL);
    assert_true(signal_read(json_array_get(value, 3), &number) && number == SIGTERM);
    for (size_t i = 4; i < 7; i++)
        assert_false(signal_read(json_array_get(value, i), &number));
    json_decref(value);
}

/* Who reads no replies gets no more of them. */
static void replies_are_held_for_a_while(void **state)
{
    struct http_users u = {.limit = 2, .owner = 5};
    (void)state;
    assert_int_equal(http_users_connect(&u, 7), 0);
    assert_int_equal(http_users_connect(&u, 8), 0);
    http_users_hold(&u, 7, (size_t)60 << 20);
    assert_true(http_users_may_ask(&u, 7));
    http_users_hold(&u, 7, (size_t)30 << 20);
    assert_false(http_users_may_ask(&u, 7));
    assert_true(http_users_may_ask(&u, 8));
    http_users_release(&u, 7, (size_t)60 << 20);
    assert_true(http_users_may_ask(&u, 7));
    http_users_clear(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_read),
        cmocka_unit_test(sizes_are_read),
        cmocka_unit_test(signals_are_read),
        cmocka_unit_test(replies_are_held_for_a_while),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
