/* The heap of numbered items. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/heap.h"

static uint32_t take_first(struct heap *h)
{
    uint32_t item = h->v[0].item;
    heap_take(h, item);
    assert_true(heap_check(h));
    assert_false(heap_has(h, item));
    return item;
}

static void gives_least_first_and_equals_by_their_order(void **state)
{
    (void)state;
    struct heap h = {0};
    assert_int_equal(heap_put(&h, 4, 20, 0), 0);
    assert_int_equal(heap_put(&h, 0, 10, 7), 0);
    assert_int_equal(heap_put(&h, 9, 10, 3), 0);
    assert_int_equal(heap_put(&h, 2, INT64_MIN, 9), 0);
    assert_int_equal(heap_put(&h, 3, INT64_MAX, 1), 0);
    assert_true(heap_check(&h));
    assert_int_equal(take_first(&h), 2);
    assert_int_equal(take_first(&h), 9);
    assert_int_equal(take_first(&h), 0);
    assert_int_equal(take_first(&h), 4);
    assert_int_equal(take_first(&h), 3);
    assert_int_equal(h.n, 0);
    heap_clear(&h);
}

static void second_number_comes_before_the_order(void **state)
{
    (void)state;
    struct heap h = {0};
    assert_int_equal(heap_put(&h, 1, 5, 9), 0);
    assert_int_equal(heap_put_by(&h, 2, 5, 8, 1), 0);
    assert_int_equal(heap_put_by(&h, 3, 5, 7, 3), 0);
    assert_int_equal(heap_put_by(&h, 4, 5, 7, 2), 0);
    assert_int_equal(heap_put_by(&h, 5, 4, UINT32_MAX, 4), 0);
    heap_move_by(&h, 1, 5, UINT32_MAX, 9);
    assert_true(heap_check(&h));
    assert_int_equal(take_first(&h), 5);
    assert_int_equal(take_first(&h), 4);
    assert_int_equal(take_first(&h), 3);
    assert_int_equal(take_first(&h), 2);
    assert_int_equal(take_first(&h), 1);
    heap_clear(&h);
}

/* Room for all is room for each, in whatever order they come. */
static void what_has_room_needs_no_memory(void **state)
{
    (void)state;
    struct heap h = {0};
    assert_int_equal(heap_put(&h, 7, 3, 0), 0);
    assert_int_equal(heap_reserve(&h, 100), 0);
    assert_true(heap_check(&h));
    const void *entries = h.v, *places = h.place;
    for (uint32_t i = 100; i-- > 0;)
        if (i != 7)
            assert_int_equal(heap_put(&h, i, i % 5, i), 0);
    assert_ptr_equal(h.v, entries);
    assert_ptr_equal(h.place, places);
    assert_true(heap_check(&h));
    heap_clear(&h);
}

static void empty_heap_has_nothing(void **state)
{
    (void)state;
    struct heap h = {0};
    assert_true(heap_check(&h));
    assert_false(heap_has(&h, 0));
    assert_false(heap_has(&h, UINT32_MAX));
    heap_clear(&h);
    heap_clear(&h);
}

static void moves_an_item_both_ways(void **state)
{
    (void)state;
    struct heap h = {0};
    for (uint32_t i = 0; i < 50; i++)
        assert_int_equal(heap_put(&h, i, i, i), 0);
    heap_move(&h, 49, -1, 0);
    assert_true(heap_check(&h));
    assert_int_equal(h.v[0].item, 49);
    heap_move(&h, 49, 100, 0);
    assert_true(heap_check(&h));
    assert_int_equal(h.v[0].item, 0);
    heap_move(&h, 30, 0, 1); /* the same key as item 0, behind it */
    assert_true(heap_check(&h));
    assert_int_equal(take_first(&h), 0);
    assert_int_equal(take_first(&h), 30);
    heap_clear(&h);
}

static void takes_from_the_middle(void **state)
{
    (void)state;
    struct heap h = {0};
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(heap_put(&h, i, (int64_t)(i * 37 % 101), i), 0);
    for (uint32_t i = 1; i < 200; i += 3) {
        heap_take(&h, i);
        assert_true(heap_check(&h));
    }
    int64_t last = INT64_MIN;
    while (h.n > 0) {
        assert_true(h.v[0].key >= last);
        last = h.v[0].key;
        assert_int_not_equal(take_first(&h) % 3, 1);
    }
    heap_clear(&h);
}

static void item_comes_back_after_it_was_taken(void **state)
{
    (void)state;
    struct heap h = {0};
    assert_int_equal(heap_put(&h, 1000, 5, 0), 0);
    heap_take(&h, 1000);
    assert_false(heap_has(&h, 1000));
    assert_int_equal(heap_put(&h, 1000, 6, 0), 0);
    assert_true(heap_has(&h, 1000));
    assert_false(heap_has(&h, 999));
    assert_true(heap_check(&h));
    heap_clear(&h);
    assert_false(heap_has(&h, 1000));
}

static void check_sees_disorder(void **state)
{
    (void)state;
    struct heap h = {0};
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(heap_put(&h, i, i, 0), 0);
    h.v[9].key = -1;
    assert_false(heap_check(&h));
    h.v[9].key = 9;
    assert_true(heap_check(&h));
    h.place[3] = 0;
    assert_false(heap_check(&h));
    heap_clear(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_least_first_and_equals_by_their_order),
        cmocka_unit_test(second_number_comes_before_the_order),
        cmocka_unit_test(what_has_room_needs_no_memory),
        cmocka_unit_test(empty_heap_has_nothing),
        cmocka_unit_test(moves_an_item_both_ways),
        cmocka_unit_test(takes_from_the_middle),
        cmocka_unit_test(item_comes_back_after_it_was_taken),
        cmocka_unit_test(check_sees_disorder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
