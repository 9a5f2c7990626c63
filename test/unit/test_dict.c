#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/dict.h"

#define MANY 500

struct thing {
    struct dict_entry entry;
    char text[16];
};

static void an_empty_table_has_nothing(void **state)
{
    (void)state;
    struct dict d = {0};
    assert_null(dict_find(&d, "a", 1));
    assert_true(dict_check(&d));
    dict_clear(&d);
}

static void texts_come_and_go(void **state)
{
    static struct thing things[MANY];
    (void)state;
    struct dict d = {0};
    for (int i = 0; i < MANY; i++) {
        int length = snprintf(things[i].text, sizeof(things[i].text), "job%d", i);
        things[i].entry.text = things[i].text;
        things[i].entry.length = (size_t)length;
        assert_int_equal(dict_reserve(&d), 0);
        dict_put(&d, &things[i].entry);
    }
    assert_int_equal(d.n, MANY);
    assert_true(dict_check(&d));
    for (int i = 0; i < MANY; i += 2)
        dict_take(&d, &things[i].entry);
    assert_true(dict_check(&d));
    for (int i = 0; i < MANY; i++) {
        struct dict_entry *expected = i % 2 ? &things[i].entry : NULL;
        assert_ptr_equal(dict_find(&d, things[i].text, strlen(things[i].text)), expected);
    }
    dict_clear(&d);
    assert_null(dict_find(&d, "job1", 4));
}

static void a_text_is_any_bytes(void **state)
{
    (void)state;
    struct dict d = {0};
    struct dict_entry zero = {.text = "a\0b", .length = 3};
    struct dict_entry empty = {.text = "", .length = 0};
    assert_int_equal(dict_reserve(&d), 0);
    dict_put(&d, &zero);
    assert_int_equal(dict_reserve(&d), 0);
    dict_put(&d, &empty);
    assert_ptr_equal(dict_find(&d, "a\0b", 3), &zero);
    assert_null(dict_find(&d, "a\0c", 3));
    assert_null(dict_find(&d, "a", 1));
    assert_ptr_equal(dict_find(&d, NULL, 0), &empty);
    dict_clear(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table_has_nothing),
        cmocka_unit_test(texts_come_and_go),
        cmocka_unit_test(a_text_is_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
