#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdalign.h>
#include <string.h>

#include "base/arena.h"

static void pieces_do_not_overlap(void **state)
{
    enum { PIECES = 2000 };
    struct arena a = {0};
    unsigned char *piece[PIECES];

    (void)state;
    for (size_t i = 0; i < PIECES; i++) {
        piece[i] = arena_alloc(&a, i % 97);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % alignof(max_align_t), 0);
        memset(piece[i], (int)(i % 251), i % 97);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < i % 97; k++)
            assert_int_equal(piece[i][k], i % 251);
    arena_clear(&a);
}

static void a_mark_gives_back(void **state)
{
    struct arena a = {0};

    (void)state;
    memset(arena_alloc(&a, 100), 1, 100);
    for (int round = 0; round < 50; round++) {
        struct arena_mark mark = arena_mark(&a);
        char *first = arena_alloc(&a, 10);
        for (int i = 0; i < 100; i++)
            memset(arena_alloc(&a, 5000), 2, 5000);
        arena_release(&a, mark);
        assert_ptr_equal(arena_alloc(&a, 10), first);
        arena_release(&a, mark);
    }
    arena_release(&a, (struct arena_mark){0}); /* all */
    assert_non_null(arena_alloc(&a, 1 << 20));
    arena_clear(&a);
}

static void a_mark_of_nothing(void **state)
{
    struct arena a = {0};
    struct arena_mark mark = arena_mark(&a);

    (void)state;
    char *first = arena_alloc(&a, 1);
    arena_alloc(&a, 1 << 18);
    arena_release(&a, mark);
    assert_ptr_equal(arena_alloc(&a, 1), first);
    arena_clear(&a);
    arena_clear(&a);
}

static void too_much(void **state)
{
    struct arena a = {0};

    (void)state;
    errno = 0;
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_int_equal(errno, ENOMEM);
    assert_null(arena_alloc(&a, SIZE_MAX / 2));
    assert_non_null(arena_alloc(&a, 8));
    errno = 7;
    arena_clear(&a);
    assert_int_equal(errno, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_do_not_overlap),
        cmocka_unit_test(a_mark_gives_back),
        cmocka_unit_test(a_mark_of_nothing),
        cmocka_unit_test(too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
