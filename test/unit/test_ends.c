/* Ends of runs for which a job is tried again, as people give them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "config/ends.h"

static void right_texts(void **state)
{
    static const struct {
        const char *text;
        int status, signal; /* of an end that is among them */
        int other_status, other_signal;
    } good[] = {{"75", 75, 0, 74, 0},
                {"1-3,100", 2, 0, 4, 0},
                {"1-3,100", 100, 0, 0, SIGKILL},
                {"75,SIGKILL", 0, SIGKILL, 9, 0},
                {"usr1", 0, SIGUSR1, 0, SIGUSR2},
                {"timeout,255", 255, 0, 254, 0},
                {"64,128", 128, 0, 63, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        struct ends e;
        assert_int_equal(ends_read(&e, good[i].text, strlen(good[i].text), NULL), 0);
        assert_true(ends_has(&e, good[i].status, good[i].signal));
        assert_false(ends_has(&e, good[i].other_status, good[i].other_signal));
        assert_int_equal(e.timeout, strstr(good[i].text, "timeout") != NULL);
    }
}

static void wrong_texts(void **state)
{
    static const char expected[] =
        "expected an exit status from 1 to 255, a signal such as SIGKILL, or timeout, found ";
    static const struct {
        const char *text, *where, *found;
    } bad[] = {{"", "offset 0: ", "the end"},      {"0", "offset 0: ", "'0'"},
               {"256", "offset 0: ", "'2'"},       {"75,", "offset 3: ", "the end"},
               {"75,SIGFOO", "offset 3: ", "'S'"}, {"3-1", "offset 0: ", "'3'"},
               {"1-", "offset 0: ", "'1'"},        {"75 ", "offset 0: ", "'7'"},
               {",75", "offset 0: ", "','"}};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct ends e;
        berth_error_t err = {""};
        char text[sizeof(err.text)];
        assert_int_equal(ends_read(&e, bad[i].text, strlen(bad[i].text), &err), -1);
        assert_int_equal(errno, EINVAL);
        snprintf(text, sizeof(text), "%s%s%s", bad[i].where, expected, bad[i].found);
        assert_string_equal(err.text, text);
        assert_false(ends_has(&e, 75, 0));
    }
}

static void failures_are_all_but_success(void **state)
{
    struct ends e;
    (void)state;
    ends_failures(&e);
    assert_false(ends_has(&e, 0, 0));
    for (int i = 1; i <= 255; i++)
        assert_true(ends_has(&e, i, 0));
    for (int i = 1; i <= 64; i++)
        assert_true(ends_has(&e, 0, i));
    assert_false(e.timeout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(right_texts), cmocka_unit_test(wrong_texts),
                                       cmocka_unit_test(failures_are_all_but_success)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
