/* Ranks with gangs: they stand in the order of what a queue lists, within their room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sched/config/gang_ranks.h"

#define P SCHED_BY_PRIORITY
#define D SCHED_BY_DEADLINE
#define G SCHED_BY_GANG
#define S SCHED_BY_SHARE

struct job {
    int64_t by_priority, minute;
    bool behind;
};

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* What a queue lists, one after the other; priorities where it says nothing of them come last. */
static int compare(const struct sched_share_order *order, const struct job *a, const struct job *b)
{
    for (size_t i = 0; i < order->n; i++) {
        int c = order->by[i] == SCHED_BY_PRIORITY ? compare_numbers(a->by_priority, b->by_priority)
                : order->by[i] == SCHED_BY_DEADLINE ? compare_numbers(a->minute, b->minute)
                                                    : compare_numbers(a->behind, b->behind);
        if (c != 0)
            return c;
    }
    return compare_numbers(a->by_priority, b->by_priority);
}

static int64_t rank_of(const struct sched_share_order *order, const struct job *job)
{
    enum gangs gangs = gangs_in(order);
    int64_t rank =
        gang_deadline_rank(deadlines_in(order), gangs, job->by_priority, job->minute, job->behind);
    assert_in_range(rank + (SCHED_PRIORITY_MAX + 1) / 2, 0, SCHED_PRIORITY_MAX);
    return gang_half(rank, job->behind && gangs == GANGS_FIRST);
}

static void check_order(const struct sched_share_order *order)
{
    static const int64_t priorities[] = {-8192, -8191, -1, 0, 1, 8190, 8191};
    static const int64_t minutes[] = {0, 1, 29000000, DEADLINE_MINUTES - 2, DEADLINE_MINUTES - 1};
    struct job job[7 * 5 * 2];
    size_t n = 0;
    for (size_t i = 0; i < 7 * 5 * 2; i++)
        job[n++] = (struct job){priorities[i / 10], minutes[i / 2 % 5], i % 2 == 1};
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            assert_int_equal(compare_numbers(rank_of(order, &job[a]), rank_of(order, &job[b])),
                             compare(order, &job[a], &job[b]));
}

static void ranks_are_in_the_order_that_is_listed(void **state)
{
    static const struct sched_share_order orders[] = {
        {{P, D, G}, 3}, {{P, G, D}, 3}, {{G, P, D}, 3}, {{D, P, G}, 3},
        {{D, G, P}, 3}, {{G, D, P}, 3}, {{D, G}, 2},    {{G, D}, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
        check_order(&orders[i]);
}

/* A turn is behind all of its priority that are not behind, and before all of the next one. */
static void turns_are_between_priorities(void **state)
{
    (void)state;
    for (int64_t p = -8192; p < 8191; p++) {
        int64_t turn = gang_deadline_turn(p);
        assert_true(gang_deadline_rank(DEADLINES_BEHIND_PRIORITY, GANGS_LAST, p, INT64_MAX, true) <
                    turn);
        assert_true(turn <
                    gang_deadline_rank(DEADLINES_BEHIND_PRIORITY, GANGS_LAST, p + 1, 0, false));
    }
}

static void gangs_count_before_age_and_submit_only(void **state)
{
    (void)state;
    assert_int_equal(gangs_in(&(struct sched_share_order){{P, SCHED_BY_SUBMIT, G}, 3}), GANGS_NONE);
    assert_int_equal(gangs_in(&(struct sched_share_order){{SCHED_BY_AGE, G}, 2}), GANGS_NONE);
    assert_int_equal(gangs_in(&(struct sched_share_order){{P, S}, 2}), GANGS_NONE);
    assert_int_equal(gangs_in(&(struct sched_share_order){{S, G, P}, 3}), GANGS_FIRST);
    assert_int_equal(gangs_in(&(struct sched_share_order){{P, S, G}, 3}), GANGS_LAST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_are_in_the_order_that_is_listed),
                                       cmocka_unit_test(turns_are_between_priorities),
                                       cmocka_unit_test(gangs_count_before_age_and_submit_only)};
    return cmocka_run_group_tests_name("gang_ranks", tests, NULL, NULL);
}
