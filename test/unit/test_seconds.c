/* config/seconds.c: every microsecond can be read and written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/seconds.h"

static bool read_text(const char *text, int64_t *ticks)
{
    json_t *number = json_loads(text, JSON_DECODE_ANY, NULL);
    bool good = seconds_read(number, ticks);
    json_decref(number);
    return good;
}

static void reads(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ticks;
    } cases[] = {
        {"0", 0},
        {"0.0", 0},
        {"-0.0", 0},
        {"1", 1000000},
        {"0.000001", 1},
        {"4.709164", 4709164},
        {"1.5e3", 1500000000},
        {"1e-6", 1},
        {"0.1", 100000},
        {"12345678.123456", INT64_C(12345678123456)},
        {"3999999999.999999", INT64_C(3999999999999999)},
        {"4000000000", INT64_C(4000000000000000)},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ticks = -1;
        assert_true(read_text(cases[i].text, &ticks));
        assert_int_equal(ticks, cases[i].ticks);
    }
}

static void refuses(void **state)
{
    (void)state;
    static const char *const texts[] = {"-1",
                                        "-0.000001",
                                        "0.0000001",
                                        "0.1234567",
                                        "1e-7",
                                        "4000000001",
                                        "4000000000.5",
                                        "1e300",
                                        "\"1\"",
                                        "true",
                                        "null",
                                        "[]",
                                        "9223372036854775807"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int64_t ticks = -7;
        assert_false(read_text(texts[i], &ticks));
        assert_int_equal(ticks, -7);
    }
    int64_t ticks = -7;
    assert_false(seconds_read(NULL, &ticks));
}

/* What is written reads as the same, in the smallest and in the largest times. */
static void round_trip(void **state)
{
    (void)state;
    static const int64_t from[] = {0, 999000, INT64_C(86399999500), INT64_C(1700000000000000),
                                   INT64_C(3999999999999000)};
    struct strbuf text = {0};
    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
        for (int64_t t = from[i]; t < from[i] + 1000; t++) {
            int64_t ticks = -1;
            strbuf_reset(&text);
            seconds_put(&text, t);
            assert_true(read_text(strbuf_text(&text), &ticks));
            assert_int_equal(ticks, t);
        }
    }
    strbuf_clear(&text);
}

static void writes(void **state)
{
    (void)state;
    static const struct {
        int64_t ticks;
        const char *text;
    } cases[] = {{0, "0"},
                 {1800000000, "1800"},
                 {1, "0.000001"},
                 {500000, "0.5"},
                 {4709164, "4.709164"},
                 {10000010, "10.00001"},
                 {-1500000, "-1.5"},
                 {INT64_MAX, "9223372036854.775807"}};
    struct strbuf text = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        strbuf_reset(&text);
        seconds_put(&text, cases[i].ticks);
        assert_string_equal(strbuf_text(&text), cases[i].text);
    }
    strbuf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(refuses),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
