/* Error texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/errtext.h"

static void sets_text_and_errno(void **state)
{
    (void)state;
    berth_error_t err;
    errno = 0;
    assert_int_equal(errtext_set(&err, EINVAL, "line %d: %s", 7, "no size"), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, "line 7: no size");
}

static void takes_null(void **state)
{
    (void)state;
    errno = 0;
    assert_int_equal(errtext_set(NULL, ENOENT, "nobody reads %s", "this"), -1);
    assert_int_equal(errno, ENOENT);
}

static void cuts_long_text(void **state)
{
    (void)state;
    char expected[sizeof(((berth_error_t *)0)->text)];
    memset(expected, 'x', sizeof(expected));
    expected[sizeof(expected) - 1] = '\0';

    char longer[2 * sizeof(expected)];
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';

    struct {
        berth_error_t err;
        char guard;
    } box = {.guard = 'g'};
    assert_int_equal(errtext_set(&box.err, ERANGE, "%s", longer), -1);
    assert_int_equal(errno, ERANGE);
    assert_string_equal(box.err.text, expected);
    assert_int_equal(box.guard, 'g');
}

static void stays_one_line(void **state)
{
    (void)state;
    berth_error_t err;
    errtext_set(&err, EINVAL, "field \"%s\"", "a\nb\tc\x1b[31m\x7f\xc3\xbc");
    assert_string_equal(err.text, "field \"a?b?c?[31m?\xc3\xbc\"");
}

static void says_what_was_expected(void **state)
{
    (void)state;
    berth_error_t err;
    errno = 0;
    assert_int_equal(errtext_expected(&err, "ab\n", 3, 1, "a number"), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, "offset 1: expected a number, found 'b'");
    errtext_expected(&err, "ab\n", 3, 2, "a number");
    assert_string_equal(err.text, "offset 2: expected a number, found byte 0x0a");
    errtext_expected(&err, "ab\n", 3, 3, "a number");
    assert_string_equal(err.text, "offset 3: expected a number, found the end");
    assert_int_equal(errtext_expected(NULL, "", 0, 0, "a number"), -1);
}

static void lists_words(void **state)
{
    (void)state;
    static const char *const words[] = {"first", "second", "third", NULL};
    char text[ERRTEXT_LIST_MAX], small[10];
    assert_string_equal(errtext_list(text, sizeof(text), words, " or "), "first, second or third");
    assert_string_equal(errtext_list(text, sizeof(text), words + 2, " or "), "third");
    assert_string_equal(errtext_list(text, sizeof(text), words + 3, " or "), "");
    assert_string_equal(errtext_list(small, sizeof(small), words, ", "), "first, se");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_text_and_errno),    cmocka_unit_test(takes_null),
        cmocka_unit_test(cuts_long_text),         cmocka_unit_test(stays_one_line),
        cmocka_unit_test(says_what_was_expected), cmocka_unit_test(lists_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
