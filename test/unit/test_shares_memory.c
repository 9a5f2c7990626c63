/* A tree of shares without memory: each allocation that a call makes fails once. What failed has changed
 * nothing.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture/failing_alloc.h"
#include "share/tree.h"

static void a_tree_grows_without_memory(void **state)
{
    (void)state;
    enum { NODES = 200 };
    int64_t total = 1000, one = 1;
    struct share_tree *t = NULL;
    struct share_settings s;
    share_default_settings(&s);
    for (int64_t nth = 0; !t; nth++) {
        fail_allocation(nth);
        t = share_new(1, &total, NULL);
        int error = errno;
        assert_true(end_failures() == !t);
        assert_true(t || error == ENOMEM);
    }
    uint32_t failed = 0;
    for (uint32_t n = 1; n < NODES; n++) {
        uint32_t node = SHARE_NO_NODE;
        for (int64_t nth = 0; node == SHARE_NO_NODE; nth++) {
            fail_allocation(nth);
            node = share_add(t, n % 3 ? SHARE_ROOT : n - 2, &s);
            int error = errno;
            assert_true(end_failures() == (node == SHARE_NO_NODE));
            if (node == SHARE_NO_NODE) {
                failed++;
                assert_int_equal(error, ENOMEM);
                assert_int_equal(share_nodes(t), n);
                assert_true(share_check(t));
            }
        }
        assert_int_equal(node, n);
    }
    assert_true(failed > 20);
    /* What is told and asked needs no memory. */
    fail_allocation(0);
    struct share_first first = {0};
    assert_int_equal(share_job(t, NODES - 1, SHARE_ABSENT, SHARE_WAITING, 1, &one, 0), 0);
    share_offer(t, NODES - 1, &first);
    assert_int_equal(share_next(t, 0), NODES - 1);
    assert_false(end_failures());
    share_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_tree_grows_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
