/* The tree of shares: small cases whose answers are worked out on paper, refusals, the ends of the ranges. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "share/tree.h"
#include "share/tree_inner.h"

static struct share_tree *tree_of(int64_t total)
{
    const struct share_usage_rule rule = {.half_life = 10, .weights = {1}};
    struct share_tree *t = share_new(1, &total, &rule);
    assert_non_null(t);
    return t;
}

static uint32_t add(struct share_tree *t, uint32_t parent, struct share_settings *s)
{
    uint32_t node = share_add(t, parent, s);
    assert_int_not_equal(node, SHARE_NO_NODE);
    assert_true(share_check(t));
    return node;
}

static uint32_t add_weight(struct share_tree *t, uint32_t parent, int32_t weight)
{
    struct share_settings s;
    share_default_settings(&s);
    s.weight = weight;
    return add(t, parent, &s);
}

static void move(struct share_tree *t, uint32_t leaf, enum share_state from, enum share_state to,
                 int64_t amount, int64_t now)
{
    assert_int_equal(share_job(t, leaf, from, to, 1, &amount, now), 0);
    assert_true(share_check(t));
}

static void asks(struct share_tree *t, uint32_t leaf, int64_t amount)
{
    move(t, leaf, SHARE_ABSENT, SHARE_WAITING, amount, 0);
}

static int64_t deserved(struct share_tree *t, uint32_t node)
{
    struct share_view view;
    share_look(t, node, &view);
    return view.deserved[0];
}

static void weights_divide_to_the_unit(void **state)
{
    (void)state;
    struct share_tree *t = tree_of(10);
    uint32_t a = add_weight(t, SHARE_ROOT, 1), b = add_weight(t, SHARE_ROOT, 1);
    uint32_t c = add_weight(t, SHARE_ROOT, 1);
    asks(t, a, 20);
    assert_int_equal(deserved(t, a), 10); /* who asks for nothing deserves nothing */
    asks(t, b, 20);
    asks(t, c, 20);
    assert_int_equal(deserved(t, a), 3);
    assert_int_equal(deserved(t, b), 3);
    assert_int_equal(deserved(t, c), 4);
    struct share_settings s;
    share_default_settings(&s);
    s.weight = 3;
    assert_int_equal(share_set(t, c, &s), 0);
    assert_int_equal(deserved(t, a) + deserved(t, b), 4);
    assert_int_equal(deserved(t, c), 6);
    move(t, c, SHARE_WAITING, SHARE_ABSENT, 20, 0);
    asks(t, c, 2);
    assert_int_equal(deserved(t, a), 4);
    assert_int_equal(deserved(t, b), 4);
    assert_int_equal(deserved(t, c), 2);
    share_free(t);
}

/* A guarantee of 4 of which 2 are asked for, a capability of 3, and a rest that asks for more than there is. */
static void guarantees_come_first_and_capabilities_last(void **state)
{
    (void)state;
    struct share_tree *t = tree_of(12);
    struct share_settings s;
    share_default_settings(&s);
    s.guarantee[0] = 4;
    uint32_t a = add(t, SHARE_ROOT, &s);
    share_default_settings(&s);
    s.capability[0] = 3;
    uint32_t b = add(t, SHARE_ROOT, &s), c = add_weight(t, SHARE_ROOT, 1);
    asks(t, a, 2);
    asks(t, b, 20);
    asks(t, c, 20);
    assert_int_equal(deserved(t, a), 2);
    assert_int_equal(deserved(t, b), 3);
    assert_int_equal(deserved(t, c), 7);
    share_default_settings(&s);
    s.guarantee[0] = 4;
    s.keeps_guarantee = true;
    assert_int_equal(share_set(t, a, &s), 0);
    assert_int_equal(deserved(t, a), 4);
    assert_int_equal(deserved(t, b), 3);
    assert_int_equal(deserved(t, c), 5);
    assert_true(share_allows(t, b, (int64_t[]){3}));
    assert_false(share_allows(t, b, (int64_t[]){4}));
    assert_true(share_allows(t, c, (int64_t[]){8})); /* on loan, but not of what is kept */
    assert_false(share_allows(t, c, (int64_t[]){9}));
    share_free(t);
}

static void too_much_guaranteed_is_scaled_down(void **state)
{
    (void)state;
    struct share_tree *t = tree_of(6);
    struct share_settings s;
    share_default_settings(&s);
    s.guarantee[0] = 8;
    uint32_t a = add(t, SHARE_ROOT, &s);
    s.guarantee[0] = 4;
    uint32_t b = add(t, SHARE_ROOT, &s);
    asks(t, a, 20);
    asks(t, b, 20);
    assert_int_equal(deserved(t, a), 4);
    assert_int_equal(deserved(t, b), 2);
    share_free(t);
}

/* Two divisions of 12, weights 1 and 2; in the second, one user leaves something to the other. */
static void what_a_node_deserves_is_divided_below_it(void **state)
{
    (void)state;
    struct share_tree *t = tree_of(12);
    uint32_t x = add_weight(t, SHARE_ROOT, 1), y = add_weight(t, SHARE_ROOT, 2);
    uint32_t x1 = add_weight(t, x, 1), y1 = add_weight(t, y, 1), y2 = add_weight(t, y, 1);
    asks(t, x1, 20);
    asks(t, y1, 1);
    asks(t, y2, 20);
    assert_int_equal(deserved(t, x1), 4);
    assert_int_equal(deserved(t, y1), 1);
    assert_int_equal(deserved(t, y2), 7);
    move(t, x1, SHARE_WAITING, SHARE_RUNNING, 20, 0);
    assert_false(share_is_entitled(t, x1, (int64_t[]){1}));
    assert_true(share_is_entitled(t, y2, (int64_t[]){7}));
    assert_false(share_is_entitled(t, y2, (int64_t[]){8}));
    assert_true(share_may_reclaim(t, y2, (int64_t[]){7}, x1, (int64_t[]){20}, NULL));
    assert_false(share_may_reclaim(t, y1, (int64_t[]){2}, x1, (int64_t[]){20}, NULL));
    assert_false(share_may_reclaim(t, x1, (int64_t[]){1}, y2, (int64_t[]){1}, NULL));
    share_free(t);
}

static void what_is_configured_is_deserved_and_lent_meanwhile(void **state)
{
    (void)state;
    struct share_tree *t = tree_of(10);
    struct share_settings s;
    share_default_settings(&s);
    s.deserved[0] = 5;
    uint32_t a = add(t, SHARE_ROOT, &s), b = add_weight(t, SHARE_ROOT, 1);
    uint32_t last = add_weight(t, SHARE_ROOT, 0);
    asks(t, a, 2);
    asks(t, b, 20);
    asks(t, last, 20);
    assert_int_equal(deserved(t, a), 5);
    assert_int_equal(deserved(t, b), 8);
    assert_int_equal(deserved(t, last), 0);
    move(t, a, SHARE_WAITING, SHARE_RUNNING, 2, 0);
    struct share_fraction f = share_of(t, a);
    assert_int_equal(f.numerator * 5, f.denominator * 2);
    f = share_of(t, last);
    assert_int_equal(f.numerator, f.denominator);
    share_free(t);
}

/* Eight for a half-life leaves an average of four, to the digit, and half of that each half-life later. */
static void usage_fades(void **state)
{
    (void)state;
    struct share_tree *t = tree_of(10);
    uint32_t a = add_weight(t, SHARE_ROOT, 1);
    int64_t eight = 8;
    assert_int_equal(share_job(t, a, SHARE_ABSENT, SHARE_RUNNING, 1, &eight, 100), 0);
    struct share_usage u = share_usage(t, a, 110);
    assert_true(u.high == 0 && u.low == UINT64_C(4) << 32);
    assert_int_equal(share_job(t, a, SHARE_RUNNING, SHARE_ABSENT, 1, &eight, 110), 0);
    u = share_usage(t, SHARE_ROOT, 130);
    assert_true(u.high == 0 && u.low == UINT64_C(1) << 32);
    u = share_usage(t, a, INT64_MAX);
    assert_true(u.high == 0 && u.low == 0);
    assert_int_equal(share_usage_set(t, a, (struct share_usage){0, 0}, 110), 0);
    u = share_usage(t, SHARE_ROOT, 110);
    assert_true(u.high == 0 && u.low == 0);
    share_free(t);
}

static void fading_is_exact(void **state)
{
    (void)state;
    uint64_t r = 1;
    /* Where long doubles are no longer than doubles, as under valgrind, there is less to compare with. */
    volatile long double one = 1;
    long double slack = one + 0x1p-62L > one ? 0x1p-60L : 0x1p-48L;
    for (int i = 0; i < 200000; i++) {
        r = r * 6364136223846793005u + 1442695040888963407u;
        int64_t h = 1 + (int64_t)(r >> 24) % ((INT64_C(1) << (i % 40)) + 1);
        r = r * 6364136223846793005u + 1442695040888963407u;
        uint64_t dt = 1 + (r >> 20) % (8 * (uint64_t)h);
        long double want = exp2l(-(long double)dt / (long double)h);
        long double got = (long double)share_fading(dt, h) * 0x1p-64L;
        assert_true(fabsl(want - got) < slack);
    }
    assert_int_equal(share_fading(64, 1), 0);
    assert_int_equal(share_fading(63, 1), 2);
    assert_int_equal(share_fading(UINT64_MAX, 1), 0);
}

/* Who has less of what they deserve is next, and a start moves the turn on. */
static void a_start_moves_the_turn_on(void **state)
{
    (void)state;
    struct share_tree *t = tree_of(12);
    struct share_settings s;
    share_default_settings(&s);
    s.by[0] = SHARE_BY_JOB_PRIORITY;
    s.by[1] = SHARE_BY_SHARE;
    assert_int_equal(share_set(t, SHARE_ROOT, &s), 0);
    uint32_t a = add_weight(t, SHARE_ROOT, 1), b = add_weight(t, SHARE_ROOT, 2);
    struct share_first first = {.deadline = INT64_MAX};
    assert_int_equal(share_next(t, 0), SHARE_NO_NODE);
    for (int i = 0; i < 12; i++) {
        asks(t, a, 1);
        asks(t, b, 1);
    }
    share_offer(t, a, &first);
    share_offer(t, b, &first);
    static const char turns[] =
        "abbabbabbabb"; /* 0/4 0/8: a; 1/4 0/8: b; 1/4 1/8: b; 1/4 2/8: a ... */
    for (int i = 0; i < 12; i++) {
        uint32_t next = share_next(t, 0);
        assert_int_equal(next, turns[i] == 'a' ? a : b);
        move(t, next, SHARE_WAITING, SHARE_RUNNING, 1, 0);
    }
    enum share_by by;
    uint32_t where;
    first.priority = 1;
    share_offer(t, b, &first);
    assert_int_equal(share_next(t, 0), b);
    assert_true(share_compare(t, a, b, 0, &by, &where) > 0);
    assert_int_equal(by, SHARE_BY_JOB_PRIORITY);
    assert_int_equal(where, SHARE_ROOT);
    share_withdraw(t, b);
    assert_int_equal(share_next(t, 0), a);
    share_withdraw(t, a);
    share_withdraw(t, a);
    assert_int_equal(share_next(t, 0), SHARE_NO_NODE);
    share_free(t);
}

static void bad_arguments_change_nothing(void **state)
{
    (void)state;
    int64_t most = SHARE_MOST, more = SHARE_MOST + 1, less = -1, one = 1;
    struct share_usage_rule rule = {.half_life = 0};
    struct share_settings s;
    assert_null(share_new(0, &most, NULL));
    assert_null(share_new(1, &more, NULL));
    assert_null(share_new(1, &most, &rule));
    struct share_tree *t = tree_of(most);
    uint32_t a = add_weight(t, SHARE_ROOT, SHARE_WEIGHT_MAX);
    uint32_t b = add_weight(t, SHARE_ROOT, SHARE_WEIGHT_MAX);
    assert_int_equal(share_job(t, a, SHARE_ABSENT, SHARE_RUNNING, 1, &less, 0), -1);
    assert_int_equal(share_job(t, SHARE_ROOT, SHARE_ABSENT, SHARE_RUNNING, 1, &one, 0), -1);
    assert_int_equal(share_job(t, 99, SHARE_ABSENT, SHARE_RUNNING, 1, &one, 0), -1);
    assert_int_equal(errno, EINVAL);
    move(t, a, SHARE_ABSENT, SHARE_RUNNING, most, 0);
    assert_int_equal(share_job(t, b, SHARE_ABSENT, SHARE_WAITING, 1, &one, 0), -1);
    assert_int_equal(errno, EOVERFLOW);
    assert_int_equal(share_job(t, b, SHARE_ABSENT, SHARE_ABSENT, 1, &one, 0), 0);
    share_default_settings(&s);
    assert_int_equal(share_add(t, a, &s), SHARE_NO_NODE); /* it has jobs */
    s.guarantee[0] = SHARE_MOST;
    assert_int_equal(share_set(t, a, &s), 0);
    assert_int_equal(share_set(t, b, &s), -1);
    assert_int_equal(errno, EOVERFLOW);
    s.capability[0] = 1;
    assert_int_equal(share_set(t, a, &s), -1);
    assert_int_equal(errno, EINVAL);
    share_default_settings(&s);
    s.weight = SHARE_WEIGHT_MAX + 1;
    assert_int_equal(share_add(t, SHARE_ROOT, &s), SHARE_NO_NODE);
    assert_int_equal(share_nodes(t), 3);
    assert_int_equal(deserved(t, a), most);
    assert_int_equal(share_usage_restore(t, a, (struct share_usage){UINT64_C(1) << 52, 1}, 0), -1);
    assert_int_equal(share_usage_restore(t, a, (struct share_usage){UINT64_C(1) << 52, 0}, 0), 0);
    assert_true(share_check(t));
    share_free(t);
}

static void nothing_limits_the_room(void **state)
{
    (void)state;
    int64_t room[1];
    struct share_tree *t = tree_of(10);
    share_room(t, add_weight(t, SHARE_ROOT, 1), room);
    assert_int_equal(room[0], SHARE_UNLIMITED);
    share_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_divide_to_the_unit),
        cmocka_unit_test(guarantees_come_first_and_capabilities_last),
        cmocka_unit_test(too_much_guaranteed_is_scaled_down),
        cmocka_unit_test(what_a_node_deserves_is_divided_below_it),
        cmocka_unit_test(what_is_configured_is_deserved_and_lent_meanwhile),
        cmocka_unit_test(usage_fades),
        cmocka_unit_test(fading_is_exact),
        cmocka_unit_test(a_start_moves_the_turn_on),
        cmocka_unit_test(bad_arguments_change_nothing),
        cmocka_unit_test(nothing_limits_the_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
