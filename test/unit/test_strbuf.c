/* The growing buffer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"

static void appends_of_all_kinds(void **state)
{
    (void)state;
    struct strbuf b = {0};
    assert_string_equal(strbuf_text(&b), "");
    strbuf_put(&b, NULL, 0);
    strbuf_puts(&b, "");
    strbuf_puts(&b, "node");
    strbuf_putc(&b, '[');
    strbuf_fill(&b, '0', 3);
    strbuf_put(&b, "7-8xyz", 3);
    strbuf_putc(&b, ']');
    assert_int_equal(b.len, 12);
    assert_string_equal(strbuf_text(&b), "node[0007-8]");
    strbuf_clear(&b);
    strbuf_clear(&b);
}

static void grows_and_keeps_what_it_has(void **state)
{
    (void)state;
    struct strbuf b = {0};
    for (int i = 0; i < 100000; i++)
        strbuf_putc(&b, (char)('a' + i % 26));
    assert_int_equal(b.len, 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(b.data[i], 'a' + i % 26);
    size_t cap = b.cap;
    strbuf_reset(&b);
    assert_string_equal(strbuf_text(&b), "");
    assert_int_equal(b.cap, cap);
    strbuf_clear(&b);
}

static void check_uint(uint64_t number)
{
    char expected[32];
    struct strbuf b = {0};
    strbuf_put_uint(&b, number);
    snprintf(expected, sizeof(expected), "%" PRIu64, number);
    assert_string_equal(strbuf_text(&b), expected);
    strbuf_reset(&b);
    strbuf_put_int(&b, (int64_t)number);
    snprintf(expected, sizeof(expected), "%" PRId64, (int64_t)number);
    assert_string_equal(strbuf_text(&b), expected);
    strbuf_clear(&b);
}

static void numbers_are_what_printf_writes(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20000; i++)
        check_uint(i);
    uint64_t power = 1;
    for (int i = 0; i < 20; i++, power *= 10) {
        check_uint(power - 1);
        check_uint(power);
        check_uint(power + 1);
        check_uint(0 - power);
    }
    check_uint(UINT64_MAX);
    check_uint((uint64_t)INT64_MAX);
    check_uint((uint64_t)INT64_MIN);
}

static void json_is_what_jansson_writes(void **state)
{
    (void)state;
    struct strbuf b = {0};
    char text[3] = "";
    for (int c = 0; c < 128; c++) {
        text[0] = (char)c;
        text[1] = 'x';
        json_t *string = json_stringn(text, 2);
        char *expected = json_dumps(string, JSON_ENCODE_ANY);
        strbuf_reset(&b);
        strbuf_put_json(&b, text, 2);
        assert_string_equal(strbuf_text(&b), expected);
        free(expected);
        json_decref(string);
    }
    const char *mixed = "\"K\xc3\xb6ln\"\\/\t\xe2\x82\xac \xf0\x9f\x9a\xa2\x1f\x7f\n";
    json_t *string = json_string(mixed);
    char *expected = json_dumps(string, JSON_ENCODE_ANY);
    strbuf_reset(&b);
    strbuf_put_json(&b, mixed, strlen(mixed));
    assert_string_equal(strbuf_text(&b), expected);
    free(expected);
    json_decref(string);
    strbuf_reset(&b);
    strbuf_put_json(&b, NULL, 0);
    assert_string_equal(strbuf_text(&b), "\"\"");
    strbuf_clear(&b);
}

static void stealing_empties(void **state)
{
    (void)state;
    struct strbuf b = {0};
    char *text = strbuf_steal(&b);
    assert_string_equal(text, "");
    free(text);
    strbuf_puts(&b, "mine");
    text = strbuf_steal(&b);
    assert_string_equal(text, "mine");
    assert_null(b.data);
    assert_int_equal(b.len, 0);
    free(text);
}

static void failure_sticks_until_reset(void **state)
{
    (void)state;
    struct strbuf b = {0};
    strbuf_puts(&b, "before");
    assert_false(strbuf_room(&b, SIZE_MAX));
    assert_true(b.failed);
    strbuf_puts(&b, "x");
    strbuf_putc(&b, 'x');
    strbuf_put_uint(&b, 7);
    strbuf_fill(&b, 'x', 2);
    strbuf_put_json(&b, "x", 1);
    assert_int_equal(b.len, 0);
    assert_string_equal(strbuf_text(&b), "");
    assert_true(b.failed);
    errno = 0;
    assert_null(strbuf_steal(&b));
    assert_int_equal(errno, ENOMEM);
    assert_false(strbuf_room(&b, SIZE_MAX - 1));
    strbuf_reset(&b);
    strbuf_puts(&b, "after");
    assert_string_equal(strbuf_text(&b), "after");
    strbuf_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_of_all_kinds),
        cmocka_unit_test(grows_and_keeps_what_it_has),
        cmocka_unit_test(numbers_are_what_printf_writes),
        cmocka_unit_test(json_is_what_jansson_writes),
        cmocka_unit_test(stealing_empties),
        cmocka_unit_test(failure_sticks_until_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
