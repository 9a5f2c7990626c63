/* Ends in few groups, beside all ways there are to divide them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pilot/ends.h"
#include "random.h"

enum { CASES = 4000, ENDS = 11 };

static int64_t wider(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The least width of all ways: each bit of `cuts` says whether a group begins behind that end. */
static int64_t naive_width(const int64_t *end, size_t n, size_t most)
{
    int64_t best = INT64_MAX;
    for (uint32_t cuts = 0; cuts < UINT32_C(1) << (n - 1); cuts++) {
        int64_t width = 0;
        size_t first = 0, groups = 1;
        for (size_t i = 1; i < n; i++) {
            if (cuts >> (i - 1) & 1) {
                first = i;
                groups++;
            }
            width = wider(width, end[i] - end[first]);
        }
        if (groups <= most && width < best)
            best = width;
    }
    return best;
}

static void draw_ends(struct random *r, int64_t *end, size_t n)
{
    int64_t step = random_between(r, 0, 1) ? 3 : 100000;
    end[0] = random_between(r, 0, 1000);
    for (size_t i = 1; i < n; i++)
        end[i] = end[i - 1] + random_between(r, 0, random_between(r, 0, step));
}

static void groups_are_as_narrow_as_can_be(void **state)
{
    struct random r = {.state = 11};
    int together = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        int64_t end[ENDS], width = 0;
        size_t group[ENDS], n = (size_t)random_between(&r, 1, ENDS), first = 0;
        size_t most = (size_t)random_between(&r, 1, ENDS);
        draw_ends(&r, end, n);
        size_t groups = pilot_group_ends(end, n, most, group);
        assert_in_range(groups, 1, most);
        assert_int_equal(group[0], 0);
        assert_int_equal(group[n - 1], groups - 1);
        for (size_t k = 1; k < n; k++) {
            assert_in_range(group[k] - group[k - 1], 0, 1);
            first = group[k] == group[k - 1] ? first : k;
            width = wider(width, end[k] - end[first]);
            assert_true(end[k] > end[k - 1] || group[k] == group[k - 1]);
        }
        assert_int_equal(width, naive_width(end, n, most));
        together += width > 0;
    }
    assert_int_equal(pilot_group_ends(NULL, 0, 1, NULL), 0);
    assert_in_range(together, CASES / 4, CASES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups_are_as_narrow_as_can_be)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
