/* Writing JSON: what comes out, and that it is JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"

static void check(struct strbuf *b, const char *expected)
{
    assert_string_equal(strbuf_text(b), expected);
    json_t *read = json_loads(expected, JSON_DECODE_ANY, NULL);
    assert_non_null(read);
    json_decref(read);
    strbuf_reset(b);
}

static void nothing_comes_before_a_first_value(void **state)
{
    (void)state;
    struct strbuf b = {0};
    struct json_out j = {.text = &b};
    json_open(&j, NULL, '{');
    json_close(&j, '}');
    check(&b, "{}");
    j = (struct json_out){.text = &b, .spaced = true};
    json_open(&j, NULL, '[');
    json_close(&j, ']');
    check(&b, "[]");
    j = (struct json_out){.text = &b};
    json_put_string(&j, NULL, "");
    check(&b, "\"\"");
    strbuf_clear(&b);
}

static void put_all(struct json_out *j)
{
    json_open(j, NULL, '{');
    json_put_int(j, "int", INT64_MIN);
    json_put_uint(j, "uint", INT64_MAX);
    json_open(j, "list", '[');
    json_put_bool(j, NULL, true);
    json_put_bool(j, NULL, false);
    json_put_null(j, NULL);
    json_open(j, NULL, '{');
    json_open(j, "empty", '{');
    json_close(j, '}');
    json_put_string(j, "none", NULL);
    json_close(j, '}');
    json_open(j, NULL, '[');
    json_close(j, ']');
    json_close(j, ']');
    json_put_raw(j, "raw", "[1]");
    json_key(j, "own");
    strbuf_puts(j->text, "0.5");
    json_put_bytes(j, "bytes", "node", 2);
    json_key_bytes(j, "\"key\"", 4);
    strbuf_putc(j->text, '0');
    json_close(j, '}');
}

static void commas_stand_between_values_on_all_levels(void **state)
{
    (void)state;
    struct strbuf b = {0};
    struct json_out j = {.text = &b};
    put_all(&j);
    check(&b, "{\"int\":-9223372036854775808,\"uint\":9223372036854775807,"
              "\"list\":[true,false,null,{\"empty\":{},\"none\":null},[]],\"raw\":[1],\"own\":0.5,"
              "\"bytes\":\"no\",\"\\\"key\":0}");
    strbuf_clear(&b);
}

static void the_spaced_style_is_janssons(void **state)
{
    (void)state;
    struct strbuf b = {0};
    struct json_out j = {.text = &b, .spaced = true};
    json_open(&j, NULL, '{');
    json_put_string(&j, "a", "\x01\x1f\b\f\n\r\t\"\\/\x7f\u00e9");
    json_open(&j, "b", '[');
    for (int i = -1; i < 2; i++)
        json_put_int(&j, NULL, i);
    json_close(&j, ']');
    json_close(&j, '}');
    json_t *read = json_loads(strbuf_text(&b), 0, NULL);
    char *text = json_dumps(read, 0);
    assert_non_null(text);
    check(&b, text);
    free(text);
    json_decref(read);
    strbuf_clear(&b);
}

static void lines_begin_where_they_are_asked_for(void **state)
{
    (void)state;
    struct strbuf b = {0};
    struct json_out j = {.text = &b};
    json_open(&j, NULL, '[');
    json_line(&j);
    json_put_int(&j, NULL, 1);
    json_line(&j);
    json_open(&j, NULL, '{');
    json_close(&j, '}');
    strbuf_putc(&b, '\n');
    json_close(&j, ']');
    check(&b, "[\n1,\n{}\n]");
    strbuf_clear(&b);
}

/* The buffer may be emptied between any two values. */
static void a_text_is_written_in_pieces(void **state)
{
    (void)state;
    struct strbuf whole = {0}, piece = {0};
    struct json_out j = {.text = &piece};
    json_open(&j, NULL, '[');
    for (int i = 0; i < 3; i++) {
        strbuf_puts(&whole, strbuf_text(&piece));
        strbuf_reset(&piece);
        json_put_int(&j, NULL, i);
    }
    json_close(&j, ']');
    strbuf_puts(&whole, strbuf_text(&piece));
    check(&whole, "[0,1,2]");
    strbuf_clear(&whole);
    strbuf_clear(&piece);
}

static void text_of_whatever_bytes_is_utf8(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"", "\"\""},
        {"plain \x7f", "\"plain \x7f\""},
        {"\u00e9\u20ac\U0001f600", "\"\u00e9\u20ac\U0001f600\""},
        {"\xff\"", "\"?\\\"\""},
        {"a\xe2\x82", "\"a??\""},                 /* cut off */
        {"\xe2\"\n\u00e9", "\"?\\\"\\n\u00e9\""}, /* what is escaped does not continue it */
        {"\xc0\x80\xed\xa0\x80", "\"?????\""},    /* too long; half of a pair */
        {"\xf4\x90\x80\x80\xf8", "\"?????\""}};   /* too high; never begins one */
    struct strbuf b = {0};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct json_out j = {.text = &b};
        json_put_text(&j, NULL, texts[i][0]);
        check(&b, texts[i][1]);
    }
    struct json_out j = {.text = &b};
    json_put_text(&j, NULL, NULL);
    check(&b, "null");
    strbuf_clear(&b);
}

static void failure_is_the_buffers(void **state)
{
    (void)state;
    struct strbuf b = {.failed = true};
    struct json_out j = {.text = &b};
    put_all(&j);
    json_line(&j);
    json_put_text(&j, "key", "\xff");
    assert_true(b.failed);
    assert_int_equal(b.len, 0);
    strbuf_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_comes_before_a_first_value),
        cmocka_unit_test(commas_stand_between_values_on_all_levels),
        cmocka_unit_test(the_spaced_style_is_janssons),
        cmocka_unit_test(lines_begin_where_they_are_asked_for),
        cmocka_unit_test(a_text_is_written_in_pieces),
        cmocka_unit_test(text_of_whatever_bytes_is_utf8),
        cmocka_unit_test(failure_is_the_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
