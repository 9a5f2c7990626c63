#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "match/walk/policy.h"

static struct policy parse(const char *text)
{
    struct policy p;
    berth_error_t err;

    if (policy_parse(&p, text, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return p;
}

static void refuse(const char *text, const char *why)
{
    struct policy p = {.first = true};
    berth_error_t err = {""};

    errno = 0;
    assert_int_equal(policy_parse(&p, text, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, why);
    assert_true(p.first);
    assert_int_equal(policy_parse(&p, text, NULL), -1);
}

static void names(void **state)
{
    static const struct {
        const char *name;
        enum policy_order within, slots, graph;
        bool node_centric, node_exclusive, first;
    } expected[] = {
        {"high", ORDER_DESCENDING, ORDER_DESCENDING, ORDER_DESCENDING, false, false, false},
        {"low", ORDER_ASCENDING, ORDER_ASCENDING, ORDER_ASCENDING, false, false, false},
        {"hinode", ORDER_DESCENDING, ORDER_DESCENDING, ORDER_DESCENDING, true, false, false},
        {"lonode", ORDER_ASCENDING, ORDER_ASCENDING, ORDER_ASCENDING, true, false, false},
        {"hinodex", ORDER_DESCENDING, ORDER_DESCENDING, ORDER_DESCENDING, true, true, false},
        {"lonodex", ORDER_ASCENDING, ORDER_ASCENDING, ORDER_ASCENDING, true, true, false},
        {"first", ORDER_DESCENDING, ORDER_DESCENDING, ORDER_DESCENDING, true, false, true},
        {"firstnodex", ORDER_DESCENDING, ORDER_DESCENDING, ORDER_DESCENDING, true, true, true},
        {"locality", ORDER_DESCENDING, ORDER_DESCENDING, ORDER_RUNS, false, false, false},
        {"variation", ORDER_ASCENDING, ORDER_DESCENDING, ORDER_ASCENDING, false, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        struct policy p = parse(expected[i].name);
        assert_int_equal(p.within, expected[i].within);
        assert_int_equal(p.slots, expected[i].slots);
        assert_int_equal(p.graph, expected[i].graph);
        assert_int_equal(p.node_centric, expected[i].node_centric);
        assert_int_equal(p.node_exclusive, expected[i].node_exclusive);
        assert_int_equal(p.first, expected[i].first);
        assert_int_equal(p.score, i == 9 ? SCORE_PERFORMANCE : SCORE_ID);
    }
}

/* Pack, spread and balance, by weights, and by the names of kube-batch's plugins: first fit, all scores the same. */
static void by_fill(void **state)
{
    static const struct {
        const char *name;
        enum policy_fill fill;
        int32_t by_use, by_balance;
    } expected[] = {{"pack", FILL_FULLEST, 1, 0},
                    {"binpack", FILL_FULLEST, 1, 0},
                    {"spread", FILL_EMPTIEST, 1, 0},
                    {"balance", FILL_EMPTIEST, 0, 1},
                    {"nodeorder", FILL_EMPTIEST, 1, 1},
                    {"pack=3", FILL_FULLEST, 3, 0},
                    {"spread=2 balance=1000000", FILL_EMPTIEST, 2, 1000000},
                    {"balance=5 pack=04", FILL_FULLEST, 4, 5},
                    {"balance=7", FILL_EMPTIEST, 0, 7},
                    {"first", FILL_IGNORED, 0, 0},
                    {"policy=low stop_on_1_matches=true", FILL_IGNORED, 0, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        struct policy p = parse(expected[i].name);
        assert_true(p.first && !p.node_exclusive);
        assert_int_equal(p.fill, expected[i].fill);
        assert_int_equal(p.by_use, expected[i].by_use);
        assert_int_equal(p.by_balance, expected[i].by_balance);
        assert_int_equal(p.score == SCORE_NONE, p.fill != FILL_IGNORED);
        assert_int_equal(policy_weighs(&p), p.fill == FILL_IGNORED);
    }
}

static void options(void **state)
{
    (void)state;
    struct policy p = parse("policy=low");
    assert_int_equal(p.graph, ORDER_ASCENDING);
    assert_false(p.node_centric || p.node_exclusive || p.first);
    p = parse("policy=high node_centric=true node_exclusive=true stop_on_1_matches=true");
    assert_int_equal(p.graph, ORDER_DESCENDING);
    assert_true(p.node_centric && p.node_exclusive && p.first);
    p = parse("node_centric=true policy=low node_centric=false");
    assert_false(p.node_centric);
}

static void wrong(void **state)
{
    (void)state;
    refuse("policy=middle", "policy key within custom policy accepts only low or high");
    refuse("policy=low node_centric=yes",
           "Policy option node_centric requires true or false, got yes");
    refuse("policy=low stop_on_1_matches=",
           "Policy option stop_on_1_matches requires true or false, got ");
    refuse("pack=0", "policy option pack: expected a weight from 1 to 1000000, got 0");
    refuse("spread=", "policy option spread: expected a weight from 1 to 1000000, got ");
    refuse("balance=1000001",
           "policy option balance: expected a weight from 1 to 1000000, got 1000001");
    refuse("balance=99999999999999999999",
           "policy option balance: expected a weight from 1 to 1000000, got 99999999999999999999");
    refuse("pack=1 spread=1",
           "policy \"pack=1 spread=1\": expected weights of pack or spread, and of "
           "balance, alone");
    refuse("policy=low balance=1", "policy \"policy=low balance=1\": expected weights of pack or "
                                   "spread, and of balance, alone");
    refuse("policy=low colour=red", "invalid policy option: colour");
    refuse("lowest", "invalid policy option: lowest");
    refuse("", "invalid policy option: ");
    refuse("policy=low  node_centric=true", "invalid policy option: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(by_fill),
        cmocka_unit_test(options),
        cmocka_unit_test(wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
