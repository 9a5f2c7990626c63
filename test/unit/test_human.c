/* report/human.c and report/axis.c: numbers as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/axis.h"
#include "report/human.h"

static void test_count(void **state)
{
    (void)state;
    char buf[HUMAN_SIZE];
    assert_string_equal(human_count(0, buf), "0");
    assert_string_equal(human_count(999, buf), "999");
    assert_string_equal(human_count(1000, buf), "1,000");
    assert_string_equal(human_count(-1234567, buf), "-1,234,567");
    assert_string_equal(human_count(INT64_MIN, buf), "-9,223,372,036,854,775,808");
}

static void test_real(void **state)
{
    (void)state;
    char buf[HUMAN_SIZE];
    assert_string_equal(human_real(6836.872, 2, buf), "6,836.87");
    assert_string_equal(human_real(0.05, 2, buf), "0.05");
    assert_string_equal(human_real(0.999, 2, buf), "1.00");
    assert_string_equal(human_real(-0.25, 1, buf), "-0.3");
    assert_string_equal(human_real(1234.5, 0, buf), "1,235");
    assert_string_equal(human_real(1e15, 6, buf), "1e+15");
}

static void test_duration(void **state)
{
    (void)state;
    char buf[HUMAN_SIZE];
    assert_string_equal(human_duration(0, buf), "0s");
    assert_string_equal(human_duration(59, buf), "59s");
    assert_string_equal(human_duration(60, buf), "1m");
    assert_string_equal(human_duration(61, buf), "1m 1s");
    assert_string_equal(human_duration(3599, buf), "59m 59s");
    assert_string_equal(human_duration(6836, buf), "1h 54m");
    assert_string_equal(human_duration(86399, buf), "1d");
    assert_string_equal(human_duration(353776, buf), "4d 2h");
    assert_string_equal(human_duration(86400 * 400, buf), "1y 35d");
}

static void test_axis(void **state)
{
    (void)state;
    char buf[HUMAN_SIZE];
    assert_int_equal(axis_time_step(1, 10), 1);
    assert_int_equal(axis_time_step(86400, 12), 2 * 3600);
    assert_int_equal(axis_time_step(INT64_C(340) * 86400, 12), 30 * 86400);
    assert_int_equal(axis_time_step(INT64_C(20) * 365 * 86400, 12), INT64_C(2) * 365 * 86400);
    assert_true(axis_time_step(INT64_MAX, 12) >= INT64_MAX / 13);
    assert_string_equal(axis_time_label(0, 60, buf), "0");
    assert_string_equal(axis_time_label(30 * 3600, 6 * 3600, buf), "1d 6h");
    assert_string_equal(axis_time_label(420 * 86400, 60 * 86400, buf), "420d");
    assert_int_equal(axis_count_step(100, 5), 20);
    assert_int_equal(axis_machine_step(100), 20);
    assert_int_equal(axis_machine_step(256), 64);
    assert_int_equal(axis_machine_step(2), 1);
    assert_int_equal(axis_count_step(1, 2), 1);
    assert_int_equal(axis_count_step(80640, 5), 20000);
    assert_int_equal(axis_count_step(INT64_MAX, 5), INT64_C(2000000000000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_real),
        cmocka_unit_test(test_duration),
        cmocka_unit_test(test_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
