/* Texts by number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

static uint32_t put(struct intern *t, const char *text)
{
    uint32_t id = UINT32_MAX;
    assert_int_equal(intern_put(t, text, strlen(text), &id), 0);
    return id;
}

static void numbers_texts_in_order_of_coming(void **state)
{
    (void)state;
    struct intern t = {0};
    assert_int_equal(put(&t, "core"), 0);
    assert_int_equal(put(&t, "node"), 1);
    assert_int_equal(put(&t, ""), 2);
    assert_int_equal(put(&t, "core"), 0);
    assert_int_equal(put(&t, ""), 2);
    assert_int_equal(put(&t, "cor"), 3);
    assert_int_equal(t.n, 4);
    assert_string_equal(intern_text(&t, 1), "node");
    assert_int_equal(intern_length(&t, 1), 4);
    assert_string_equal(intern_text(&t, 2), "");
    assert_true(intern_check(&t));
    intern_clear(&t);
}

static void finds_without_putting(void **state)
{
    (void)state;
    struct intern t = {0};
    uint32_t id = 77;
    assert_false(intern_find(&t, "gpu", 3, &id));
    put(&t, "core");
    put(&t, "gpu");
    assert_false(intern_find(&t, "gp", 2, &id));
    assert_int_equal(id, 77);
    assert_true(intern_find(&t, "gpux", 3, &id));
    assert_int_equal(id, 1);
    assert_int_equal(t.n, 2);
    intern_clear(&t);
    assert_false(intern_find(&t, "gpu", 3, &id));
}

static void texts_are_any_bytes(void **state)
{
    (void)state;
    struct intern t = {0};
    uint32_t id[3];
    assert_int_equal(intern_put(&t, "a\0b", 3, &id[0]), 0);
    assert_int_equal(intern_put(&t, "a\0c", 3, &id[1]), 0);
    assert_int_equal(intern_put(&t, "a", 1, &id[2]), 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(id[i], i);
    assert_memory_equal(intern_text(&t, 1), "a\0c", 4);
    assert_true(intern_check(&t));
    intern_clear(&t);
}

static void texts_stay_where_they_are(void **state)
{
    (void)state;
    struct intern t = {0};
    char name[32];
    char *large = malloc(100000);
    memset(large, 'x', 100000);
    const char *first = intern_text(&t, put(&t, "first"));
    for (uint32_t i = 1; i < 20000; i++) {
        snprintf(name, sizeof(name), "host%u", i);
        assert_int_equal(put(&t, name), i);
        if (i % 5000 == 0)
            assert_true(intern_check(&t));
    }
    uint32_t id;
    assert_int_equal(intern_put(&t, large, 100000, &id), 0);
    assert_int_equal(intern_length(&t, id), 100000);
    assert_ptr_equal(intern_text(&t, 0), first);
    for (uint32_t i = 1; i < 20000; i++) {
        snprintf(name, sizeof(name), "host%u", i);
        assert_string_equal(intern_text(&t, i), name);
        assert_true(intern_find(&t, name, strlen(name), &id));
        assert_int_equal(id, i);
    }
    assert_true(intern_check(&t));
    free(large);
    intern_clear(&t);
    intern_clear(&t);
}

static void shrinks_to_what_it_was(void **state)
{
    (void)state;
    struct intern t = {0};
    char name[32];
    uint32_t id, sizes[] = {3000, 700, 699, 16, 1, 0};
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "host%u", i);
        put(&t, name);
    }
    for (uint32_t k = 0; k < 6; k++) {
        intern_shrink(&t, sizes[k]);
        assert_int_equal(t.n, sizes[k]);
        assert_true(intern_check(&t));
        snprintf(name, sizeof(name), "host%u", sizes[k]);
        assert_false(intern_find(&t, name, strlen(name), &id));
        assert_int_equal(put(&t, "new"), sizes[k]);
        assert_int_equal(put(&t, name), sizes[k] + 1);
        assert_true(intern_check(&t));
    }
    intern_clear(&t);
}

static void check_sees_disorder(void **state)
{
    (void)state;
    struct intern t = {0};
    put(&t, "a");
    put(&t, "b");
    t.v[1].hash++;
    assert_false(intern_check(&t));
    t.v[1].hash--;
    assert_true(intern_check(&t));
    t.n--;
    assert_false(intern_check(&t));
    t.n++;
    intern_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_texts_in_order_of_coming),
        cmocka_unit_test(finds_without_putting),
        cmocka_unit_test(texts_are_any_bytes),
        cmocka_unit_test(texts_stay_where_they_are),
        cmocka_unit_test(shrinks_to_what_it_was),
        cmocka_unit_test(check_sees_disorder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
