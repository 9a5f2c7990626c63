/* Durations and sizes as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "config/quantity.h"

#define S INT64_C(1000000)

static void durations(void **state)
{
    static const struct {
        const char *text;
        int64_t us;
    } good[] = {{"0", 0},
                {"90", 90 * S},
                {"90s", 90 * S},
                {"0.5", S / 2},
                {"1.000001s", S + 1},
                {"5m", 300 * S},
                {"1h30m", 5400 * S},
                {"1.5h", 5400 * S},
                {"1d", 86400 * S},
                {"2w", 14 * 86400 * S},
                {"1w1d", 8 * 86400 * S},
                {"1d2h3m4s", (86400 + 7200 + 180 + 4) * S},
                {"5:30", 330 * S},
                {"90:00", 5400 * S},
                {"1:30:00", 5400 * S},
                {"100:00:00", 360000 * S},
                {"0:00:00.5", S / 2},
                {"2-03:04:05", (2 * 86400 + 3 * 3600 + 4 * 60 + 5) * S},
                {"4000000000", 4000000000 * S}};
    int64_t us;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(quantity_duration(good[i].text, &us), 0);
        assert_int_equal(us, good[i].us);
    }
}

static void other_texts_are_no_durations(void **state)
{
    static const char *const bad[] = {"",
                                      "s",
                                      "-1",
                                      "+1",
                                      "1x",
                                      "1h1h",
                                      "1h30", /* half an hour or half a minute? */
                                      "1m1h",
                                      "1d1w",
                                      "1 h",
                                      "1.",
                                      ".5",
                                      "1.1234567",
                                      "1:60",
                                      "1:2:60",
                                      "1:60:00",
                                      "1-24:00:00",
                                      "1-2:30",
                                      "1-5",
                                      "1:2:3:4",
                                      ":30",
                                      "1:",
                                      "1.5:30",
                                      "4000000001",
                                      "99999999999999999999",
                                      "9999999999d",
                                      "1h30m ",
                                      "99999999999999999999:00",
                                      "99999999999999999-00:00:00",
                                      "222802025-22:08:30",
                                      "4000000000-00:00:00"};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t us = 7;
        errno = 0;
        assert_int_equal(quantity_duration(bad[i], &us), -1);
        assert_int_equal(errno, EINVAL);
        assert_int_equal(us, 7);
    }
}

static void sizes(void **state)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } good[] = {{"0", 0},
                {"4096", 4096},
                {"4096B", 4096},
                {"1K", 1024},
                {"1k", 1024},
                {"512M", INT64_C(512) << 20},
                {"4G", INT64_C(4) << 30},
                {"4GB", INT64_C(4) << 30},
                {"4GiB", INT64_C(4) << 30},
                {"1.5G", INT64_C(3) << 29},
                {"1.5T", INT64_C(3) << 39},
                {"2P", INT64_C(2) << 50},
                {"0.5P", INT64_C(1) << 49}};
    static const char *const bad[] = {
        "",   "G", "-1G", "4X", "4GG", "4Gi", "4 G", "4GBB", "1.", "8192P", "9999999999999999999",
        "1e9"};
    int64_t bytes;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(quantity_size(good[i].text, &bytes), 0);
        assert_int_equal(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        bytes = 7;
        assert_int_equal(quantity_size(bad[i], &bytes), -1);
        assert_int_equal(bytes, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(durations),
                                       cmocka_unit_test(other_texts_are_no_durations),
                                       cmocka_unit_test(sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
