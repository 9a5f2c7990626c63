/* Parts of a JSON text: what is found, that it is what jansson finds, and that texts may be cut off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"

static struct json_part whole(const char *text)
{
    return json_part(text, strlen(text));
}

static void parts_of_objects_are_found(void **state)
{
    static const char text[] =
        "{\"a\":{\"b\":[1,\"]}\\\\\"]},\"b\":12,\"c\":\"x\\\"y\",\"ab\":true,\"b\" : 13 }";
    static const char *const keys[] = {"b", "c", "a", "none", "ab"};
    struct json_part v[5];
    int64_t number = -1;
    char *c;
    (void)state;
    json_find(whole(text), keys, 5, v);
    assert_true(json_part_int(v[0], &number) && number == 13); /* the last one */
    assert_int_equal(json_part_copy(v[1], &c), 0);
    assert_string_equal(c, "x\"y");
    free(c);
    assert_int_equal(v[2].length, strlen("{\"b\":[1,\"]}\\\\\"]}"));
    assert_null(v[3].at);
    assert_false(json_part_int(v[3], &number));
    assert_true(json_part_is(v[4], "true"));
    for (size_t n = 0; n < strlen(text); n++)
        json_find(json_part(text, n), keys, 5, v);
    json_find((struct json_part){0}, keys, 5, v);
    assert_null(v[0].at);
    json_find(whole("[1]"), keys, 5, v);
    assert_null(v[0].at);
}

static void elements_come_one_by_one(void **state)
{
    static const char text[] = " [ \"a=,]\",\"b=\\\"\\u00e9\",null , [1,[2]],\"\"\n]";
    static const char *const expected[] = {"a=,]", "b=\"\xc3\xa9", NULL, NULL, ""};
    struct arena arena = {0};
    struct json_part key, value;
    struct json_scan s;
    (void)state;
    assert_true(json_scan_begin(&s, whole(text)));
    for (size_t i = 0; i < 5; i++) {
        const char *copy;
        assert_true(json_scan_next(&s, &key, &value));
        assert_null(key.at);
        assert_int_equal(json_part_keep(value, &arena, &copy), 0);
        if (expected[i])
            assert_string_equal(copy, expected[i]);
        else
            assert_null(copy);
    }
    assert_false(json_scan_next(&s, &key, &value));
    assert_false(json_scan_next(&s, &key, &value));
    assert_true(s.is_whole);
    arena_clear(&arena);
}

static void what_is_cut_off_is_not_whole(void **state)
{
    static const char *const wrong[] = {
        "{",        "[",  "{\"a\"", "{\"a\":",   "{\"a\":1", "{\"a\" 1}", "{\"a\":\"x",
        "{\"a\":[", "[1", "[1 2]",  "[\"a\\\"]", "{1:2}",    "[,]"};
    static const char *const none[] = {"", " ", "1", "\"{}\"", "null"};
    struct json_part key, value;
    struct json_scan s;
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_true(json_scan_begin(&s, whole(wrong[i])));
        while (json_scan_next(&s, &key, &value))
            assert_true(value.at + value.length <= wrong[i] + strlen(wrong[i]));
        assert_false(s.is_whole);
    }
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
        assert_false(json_scan_begin(&s, whole(none[i])));
        assert_false(json_scan_next(&s, &key, &value));
    }
}

static void numbers_are_read(void **state)
{
    static const struct {
        const char *text;
        bool is_int;
        int64_t number;
    } cases[] = {{"0", true, 0},
                 {"-17", true, -17},
                 {"9223372036854775807", true, INT64_MAX},
                 {"-9223372036854775808", true, INT64_MIN},
                 {"9223372036854775808", false, 0},
                 {"-9223372036854775809", false, 0},
                 {"92233720368547758070", false, 0},
                 {"1.5", false, 0},
                 {"1e3", false, 0},
                 {"-", false, 0},
                 {"\"1\"", false, 0},
                 {"null", false, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int64_t number = 42;
        assert_int_equal(json_part_int(whole(cases[i].text), &number), cases[i].is_int);
        assert_int_equal(number, cases[i].is_int ? cases[i].number : 42);
    }
    assert_true(fabs(json_part_double(whole("-1.5e1"), 0) + 15) < 1e-9);
    assert_true(json_part_double(whole("null"), -1) < 0);
    assert_true(json_part_double(whole("1x"), -1) < 0);
    assert_true(json_part_double((struct json_part){0}, -1) < 0);
}

static void strings_are_decoded(void **state)
{
    static const char *const cases[][2] = {
        {"\"\"", ""},
        {"\"\\b\\f\\n\\r\\t\\\"\\\\\\/\"", "\b\f\n\r\t\"\\/"},
        {"\"a\\u0041\\u00e9\\u20AC\\ud83d\\ude00b\"", "aA\u00e9\u20ac\U0001f600b"},
        {"\"\\u0000\"", NULL},
        {"\"\\ud83d\"", NULL},
        {"\"\\ud83d\\u0041\"", NULL},
        {"\"\\ude00\"", NULL},
        {"\"\\u12\"", NULL},
        {"\"\\u12g4\"", NULL},
        {"\"\\x\"", NULL},
        {"\"\\\"", NULL},
        {"\"", NULL},
        {"1", NULL}};
    struct strbuf b = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        strbuf_reset(&b);
        strbuf_puts(&b, "before");
        assert_int_equal(json_part_text(whole(cases[i][0]), &b), cases[i][1] != NULL);
        assert_string_equal(strbuf_text(&b) + 6, cases[i][1] ? cases[i][1] : "");
    }
    strbuf_clear(&b);
}

/* ---- Beside jansson, over documents of all kinds ---- */

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16 & 0x7fff;
}

static json_t *random_text(unsigned *seed)
{
    static const char *const pieces[] = {"\"", "\\",   "{", "]", ",",      ":",
                                         "\n", "\x01", "a", " ", "\u00e9", "\U0001f600"};
    struct strbuf b = {0};
    for (unsigned n = next(seed) % 8; n > 0; n--)
        strbuf_puts(&b, pieces[next(seed) % (sizeof(pieces) / sizeof(*pieces))]);
    json_t *text = json_string(strbuf_text(&b));
    strbuf_clear(&b);
    return text;
}

static json_t *random_value(unsigned *seed, int depth)
{
    unsigned kind = next(seed) % (depth > 0 ? 8 : 6), n = next(seed) % 5;
    json_t *value;
    switch (kind) {
    case 0:
        return json_integer((json_int_t)next(seed) * next(seed) - (1 << 29));
    case 1:
        return json_real((double)next(seed) / 8 - 1000);
    case 2:
        return json_boolean(n % 2);
    case 3:
        return json_null();
    case 4:
    case 5:
        return random_text(seed);
    case 6:
        value = json_array();
        while (n-- > 0)
            json_array_append_new(value, random_value(seed, depth - 1));
        return value;
    default:
        value = json_object();
        while (n-- > 0) {
            json_t *key = random_text(seed);
            json_object_set_new(value, json_string_value(key), random_value(seed, depth - 1));
            json_decref(key);
        }
        return value;
    }
}

static void compare(struct json_part part, const json_t *value);

static void compare_members(struct json_part part, json_t *value)
{
    struct json_scan s;
    struct json_part key, member;
    struct strbuf name = {0};
    const char *expected;
    size_t i = 0;
    json_t *child;
    assert_true(json_scan_begin(&s, part));
    assert_int_equal(s.is_object, json_is_object(value));
    if (s.is_object) {
        json_object_foreach (value, expected, child) {
            assert_true(json_scan_next(&s, &key, &member));
            strbuf_reset(&name);
            assert_true(json_part_text(json_part(key.at - 1, key.length + 2), &name));
            assert_string_equal(strbuf_text(&name), expected);
            compare(member, child);
        }
    } else {
        json_array_foreach (value, i, child) {
            assert_true(json_scan_next(&s, &key, &member));
            compare(member, child);
        }
    }
    assert_false(json_scan_next(&s, &key, &member));
    assert_true(s.is_whole);
    strbuf_clear(&name);
}

static void compare(struct json_part part, const json_t *value)
{
    int64_t number = 0;
    char *text;
    assert_int_equal(json_part_int(part, &number), json_is_integer(value));
    if (json_is_integer(value))
        assert_int_equal(number, json_integer_value(value));
    if (json_is_real(value))
        assert_true(fabs(json_part_double(part, 0) - json_real_value(value)) < 1e-9);
    assert_int_equal(json_part_is(part, "true"), json_is_true(value));
    assert_int_equal(json_part_is(part, "false"), json_is_false(value));
    assert_int_equal(json_part_is(part, "null"), json_is_null(value));
    assert_int_equal(json_part_copy(part, &text), 0);
    assert_int_equal(text != NULL, json_is_string(value));
    if (text)
        assert_string_equal(text, json_string_value(value));
    free(text);
    if (json_is_object(value) || json_is_array(value))
        compare_members(part, (json_t *)value);
}

/* The brackets, whatever the pieces are. */
static void check_brackets(const char *text, size_t length)
{
    struct strbuf expected = {0}, got = {0};
    for (size_t piece = length; piece > 0; piece = piece / 2) {
        struct json_strings s = {0};
        strbuf_reset(&got);
        for (size_t at = 0; at < length; at += piece) {
            const char *end = text + (length - at < piece ? length : at + piece);
            for (const char *bracket = text + at; (bracket = json_bracket(&s, bracket, end)) < end;
                 bracket++)
                strbuf_putc(&got, *bracket);
        }
        assert_false(s.inside);
        if (piece == length)
            strbuf_puts(&expected, strbuf_text(&got));
        assert_string_equal(strbuf_text(&got), strbuf_text(&expected));
    }
    strbuf_clear(&expected);
    strbuf_clear(&got);
}

static void all_is_what_jansson_finds(void **state)
{
    static const size_t styles[] = {0, JSON_COMPACT, JSON_INDENT(2), JSON_ENSURE_ASCII};
    unsigned seed = 7;
    (void)state;
    for (int i = 0; i < 4000; i++) {
        json_t *value = random_value(&seed, 4);
        char *text = json_dumps(value, styles[i % 4] | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
        assert_non_null(text);
        compare(whole(text), value);
        check_brackets(text, strlen(text));
        free(text);
        json_decref(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_objects_are_found),   cmocka_unit_test(elements_come_one_by_one),
        cmocka_unit_test(what_is_cut_off_is_not_whole), cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(strings_are_decoded),          cmocka_unit_test(all_is_what_jansson_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
