/* The multi planner: the worked examples and the errno tables of its interface, and what it does better
 * than the one whose interface it has.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "planner/planner_ext.h"

/* The call returns -1 (or what a failed call returns) with this errno. */
#define FAILS(call, value, errnum)                                                                 \
    do {                                                                                           \
        errno = 0;                                                                                 \
        assert_true((call) == (value));                                                            \
        assert_int_equal(errno, errnum);                                                           \
    } while (0)

#define U(...) ((const uint64_t[]){__VA_ARGS__})
#define T(...) ((const char *[]){__VA_ARGS__})

/* Five types, A to E, over [0, INT64_MAX). */
static const char *five[] = {"A", "B", "C", "D", "E"};
static const uint64_t five_totals[] = {10, 20, 30, 40, 50};

static planner_multi_t *make_five(void)
{
    planner_multi_t *m = planner_multi_new(0, INT64_MAX, five_totals, five, 5);
    assert_non_null(m);
    return m;
}

static void finish(planner_multi_t *m)
{
    assert_true(planner_multi_check(m));
    planner_multi_destroy(&m);
    assert_null(m);
}

/* The earliest fits from `from` on are exactly these; a negative time ends the list. */
static void assert_fits(planner_multi_t *m, int64_t from, uint64_t duration, const uint64_t *units,
                        const int64_t *times)
{
    size_t len = planner_multi_resources_len(m);
    int64_t at = planner_multi_avail_time_first(m, from, duration, units, len);
    for (; *times >= 0; times++) {
        assert_int_equal(at, *times);
        errno = 0;
        at = planner_multi_avail_time_next(m);
    }
    assert_int_equal(at, -1);
    assert_int_equal(errno, ENOENT);
}

#define FITS(m, from, duration, units, ...)                                                        \
    assert_fits(m, from, duration, units, (const int64_t[]){__VA_ARGS__, -1})

static void assert_free(planner_multi_t *m, int64_t at, const uint64_t *free)
{
    int64_t counts[5] = {0};
    size_t len = planner_multi_resources_len(m);
    assert_int_equal(planner_multi_avail_resources_array_at(m, at, counts, len), 0);
    for (size_t i = 0; i < len; i++) {
        assert_int_equal(counts[i], free[i]);
        assert_int_equal(planner_multi_avail_resources_at(m, at, (unsigned)i), free[i]);
    }
}

static int reduce(planner_multi_t *m, int64_t id, const uint64_t *units, const char **types,
                  size_t len, bool expected)
{
    bool removed = !expected;
    int rc = planner_multi_reduce_span(m, id, units, types, len, &removed);
    assert_int_equal(removed, expected);
    return rc;
}

static void new_and_getters(void **state)
{
    (void)state;
    planner_multi_t *m = planner_multi_new(3, 9999, U(10, 20), T("1", "2"), 2);
    assert_int_equal(planner_multi_base_time(m), 3);
    assert_int_equal(planner_multi_duration(m), 9999);
    assert_int_equal(planner_multi_resources_len(m), 2);
    assert_int_equal(planner_multi_resource_total_at(m, 0), 10);
    assert_int_equal(planner_multi_resource_total_by_type(m, "2"), 20);
    assert_string_equal(planner_multi_resource_type_at(m, 1), "2");
    assert_string_equal(planner_resource_type(planner_multi_planner_at(m, 1)), "2");
    assert_int_equal(planner_multi_span_size(m), 0);
    FAILS(planner_multi_resource_type_at(m, 2), NULL, EINVAL);
    FAILS(planner_multi_resource_total_at(m, 2), -1, EINVAL);
    FAILS(planner_multi_resource_total_by_type(m, "3"), -1, EINVAL);
    FAILS(planner_multi_resource_total_by_type(m, NULL), -1, EINVAL);
    FAILS(planner_multi_planner_at(m, 2), NULL, EINVAL);
    FAILS(planner_multi_avail_resources_at(m, 3, 2), -1, EINVAL);
    finish(m);
    const uint64_t huge = (uint64_t)INT64_MAX + 1;
    FAILS(planner_multi_new(0, 0, U(1), T("a"), 1), NULL, EINVAL);
    FAILS(planner_multi_new(0, 1, NULL, T("a"), 1), NULL, EINVAL);
    FAILS(planner_multi_new(0, 1, U(1), NULL, 1), NULL, EINVAL);
    FAILS(planner_multi_new(0, 1, U(1, 1), T("a", NULL), 2), NULL, EINVAL);
    FAILS(planner_multi_new(0, 1, U(1, 1, 1), T("a", "b", "a"), 3), NULL, EINVAL);
    FAILS(planner_multi_new(0, 1, U(1, huge), T("a", "b"), 2), NULL, ERANGE);
    FAILS(planner_multi_new(2, INT64_MAX, U(1), T("a"), 1), NULL, EINVAL);
}

static void no_multi_planner(void **state)
{
    (void)state;
    int64_t counts[1];
    bool removed = true;
    planner_multi_t *none = NULL;
    planner_multi_t *m = make_five();
    FAILS(planner_multi_copy(NULL), NULL, EINVAL);
    errno = 0;
    planner_multi_assign(NULL, m);
    assert_int_equal(errno, EINVAL);
    errno = 0;
    planner_multi_assign(m, NULL);
    assert_int_equal(errno, EINVAL);
    FAILS(planner_multi_base_time(NULL), -1, EINVAL);
    FAILS(planner_multi_duration(NULL), -1, EINVAL);
    FAILS(planner_multi_resources_len(NULL), 0, EINVAL);
    FAILS(planner_multi_resource_type_at(NULL, 0), NULL, EINVAL);
    FAILS(planner_multi_resource_total_at(NULL, 0), -1, EINVAL);
    FAILS(planner_multi_resource_total_by_type(NULL, "A"), -1, EINVAL);
    FAILS(planner_multi_reset(NULL, 0, 1), -1, EINVAL);
    FAILS(planner_multi_planner_at(NULL, 0), NULL, EINVAL);
    FAILS(planner_multi_avail_time_first(NULL, 0, 1, U(1), 1), -1, EINVAL);
    FAILS(planner_multi_avail_time_next(NULL), -1, EINVAL);
    FAILS(planner_multi_avail_resources_at(NULL, 0, 0), -1, EINVAL);
    FAILS(planner_multi_avail_resources_array_at(NULL, 0, counts, 1), -1, EINVAL);
    FAILS(planner_multi_avail_resources_array_during(NULL, 0, 1, counts, 1), -1, EINVAL);
    FAILS(planner_multi_avail_during(NULL, 0, 1, U(1), 1), -1, EINVAL);
    FAILS(planner_multi_add_span(NULL, 0, 1, U(1), 1), -1, EINVAL);
    FAILS(planner_multi_rem_span(NULL, 0), -1, EINVAL);
    FAILS(planner_multi_reduce_span(NULL, 0, U(1), T("A"), 1, &removed), -1, EINVAL);
    assert_false(removed);
    FAILS(planner_multi_span_planned_at(NULL, 0, 0), -1, EINVAL);
    FAILS(planner_multi_span_first(NULL), -1, EINVAL);
    FAILS(planner_multi_span_next(NULL), -1, EINVAL);
    FAILS(planner_multi_span_size(NULL), 0, EINVAL);
    FAILS(planner_multi_update(NULL, U(1), T("A"), 1), -1, EINVAL);
    assert_false(planner_multis_equal(m, NULL));
    assert_false(planner_multis_equal(NULL, m));
    assert_true(planner_multis_equal(NULL, NULL));
    assert_false(planner_multi_check(NULL));
    planner_multi_destroy(&none);
    planner_multi_destroy(NULL);
    finish(m);
}

static void arguments(void **state)
{
    (void)state;
    const uint64_t huge = (uint64_t)INT64_MAX + 1;
    int64_t counts[2] = {77, 77};
    const uint64_t *fit = U(1, 1);
    planner_multi_t *m = planner_multi_new(10, 90, U(4, 8), T("a", "b"), 2);
    FAILS(planner_multi_avail_time_next(m), -1, EINVAL);
    FAILS(planner_multi_avail_time_first(m, 10, 1, NULL, 2), -1, EINVAL);
    FAILS(planner_multi_avail_time_first(m, 10, 1, fit, 1), -1, EINVAL);
    FAILS(planner_multi_avail_time_first(m, 10, 0, fit, 2), -1, EINVAL);
    FAILS(planner_multi_avail_time_first(m, 9, 1, fit, 2), -1, EINVAL);
    FAILS(planner_multi_avail_time_first(m, 100, 1, fit, 2), -1, EINVAL);
    FAILS(planner_multi_avail_time_first(m, 10, 1, U(5, 1), 2), -1, ERANGE);
    FAILS(planner_multi_avail_time_next(m), -1, EINVAL); /* none of these began an iteration */
    FAILS(planner_multi_avail_time_first(m, 10, 1, U(1, 9), 2), -1, ENOENT);
    FAILS(planner_multi_avail_time_first(m, 10, 1, U(1, huge), 2), -1, ENOENT);
    FAILS(planner_multi_avail_time_first(m, 10, 91, fit, 2), -1, ENOENT);
    FAILS(planner_multi_avail_time_first(m, 10, huge, fit, 2), -1, ENOENT);
    FAILS(planner_multi_avail_resources_at(m, 9, 1), -1, ERANGE);
    FAILS(planner_multi_avail_resources_array_at(m, 10, NULL, 2), -1, EINVAL);
    FAILS(planner_multi_avail_resources_array_at(m, 10, counts, 1), -1, EINVAL);
    FAILS(planner_multi_avail_resources_array_at(m, 101, counts, 2), -1, ERANGE);
    FAILS(planner_multi_avail_resources_array_during(m, 10, 1, NULL, 2), -1, EINVAL);
    FAILS(planner_multi_avail_resources_array_during(m, 10, 1, counts, 3), -1, EINVAL);
    FAILS(planner_multi_avail_resources_array_during(m, 10, 0, counts, 2), -1, EINVAL);
    FAILS(planner_multi_avail_resources_array_during(m, 101, 1, counts, 2), -1, EINVAL);
    FAILS(planner_multi_avail_resources_array_during(m, 50, 51, counts, 2), -1, ERANGE);
    assert_int_equal(counts[0], 77);
    assert_int_equal(counts[1], 77);
    FAILS(planner_multi_avail_during(m, 10, 1, NULL, 2), -1, EINVAL);
    FAILS(planner_multi_avail_during(m, 10, 1, fit, 0), -1, EINVAL);
    FAILS(planner_multi_avail_during(m, 9, 1, fit, 2), -1, EINVAL);
    FAILS(planner_multi_avail_during(m, 10, 0, fit, 2), -1, EINVAL);
    FAILS(planner_multi_avail_during(m, 10, 91, fit, 2), -1, ERANGE);
    FAILS(planner_multi_avail_during(m, 10, 1, U(1, 9), 2), -1, ERANGE);
    FAILS(planner_multi_add_span(m, 10, 1, NULL, 2), -1, EINVAL);
    FAILS(planner_multi_add_span(m, 10, 1, fit, 3), -1, EINVAL);
    assert_int_equal(planner_multi_add_span(m, 10, 90, U(4, 0), 2), 0);
    FAILS(planner_multi_avail_during(m, 99, 1, fit, 2), -1, EBUSY);
    FAILS(planner_multi_reset(m, 0, 0), -1, EINVAL);
    FAILS(planner_multi_reset(m, 2, INT64_MAX), -1, EINVAL);
    assert_int_equal(planner_multi_span_size(m), 1);
    finish(m);
}

static void span_arguments(void **state)
{
    (void)state;
    const uint64_t huge = (uint64_t)INT64_MAX + 1;
    bool removed;
    planner_multi_t *m = planner_multi_new(0, 100, U(4, 8), T("a", "b"), 2);
    FAILS(planner_multi_span_first(m), -1, ENOENT);
    FAILS(planner_multi_span_next(m), -1, ENOENT);
    int64_t id = planner_multi_add_span(m, 10, 20, U(2, 3), 2);
    planner_multi_t *before = planner_multi_copy(m);
    FAILS(planner_multi_rem_span(m, -1), -1, EINVAL);
    FAILS(planner_multi_rem_span(m, id + 1), -1, ENOENT);
    FAILS(planner_multi_span_planned_at(m, -1, 0), -1, EINVAL);
    FAILS(planner_multi_span_planned_at(m, id, 2), -1, EINVAL);
    FAILS(planner_multi_span_planned_at(m, id + 1, 0), -1, ENOENT);
    FAILS(planner_multi_reduce_span(m, -1, U(1), T("a"), 1, &removed), -1, EINVAL);
    FAILS(planner_multi_reduce_span(m, id, NULL, T("a"), 1, &removed), -1, EINVAL);
    FAILS(planner_multi_reduce_span(m, id, U(1), NULL, 1, &removed), -1, EINVAL);
    FAILS(planner_multi_reduce_span(m, id, U(1), T("a"), 1, NULL), -1, EINVAL);
    FAILS(planner_multi_reduce_span(m, id, U(1, 1), T("a", NULL), 2, &removed), -1, EINVAL);
    FAILS(planner_multi_reduce_span(m, id + 1, U(1), T("a"), 1, &removed), -1, ENOENT);
    FAILS(planner_multi_reduce_span(m, id, U(1, huge), T("a", "b"), 2, &removed), -1, ERANGE);
    FAILS(planner_multi_reduce_span(m, id, U(1, huge), T("a", "x"), 2, &removed), -1, ERANGE);
    FAILS(planner_multi_reduce_span(m, id, U(1, 4), T("a", "b"), 2, &removed), -1, EINVAL);
    FAILS(planner_multi_reduce_span(m, id, U(1, 2), T("a", "a"), 2, &removed), -1, EINVAL);
    assert_true(planner_multis_equal(m, before));
    finish(before);
    finish(m);
}

/* Without types there is no window; a span is a name for nothing. */
static void no_types(void **state)
{
    (void)state;
    planner_multi_t *a = planner_multi_new(0, 100, U(0), T(NULL), 0);
    planner_multi_t *b = planner_multi_empty();
    assert_true(planner_multis_equal(a, b));
    assert_int_equal(planner_multi_resources_len(a), 0);
    FAILS(planner_multi_base_time(a), -1, EINVAL);
    FAILS(planner_multi_duration(a), -1, EINVAL);
    FAILS(planner_multi_avail_time_first(a, 0, 1, U(0), 0), -1, EINVAL);
    FAILS(planner_multi_update(a, U(1), T("x"), 1), -1, EINVAL);
    assert_int_equal(planner_multi_update(a, U(1), T("x"), 0), 0);
    assert_int_equal(planner_multi_avail_during(a, 0, 1, U(0), 0), 0);
    assert_int_equal(planner_multi_add_span(a, 0, 1, U(0), 0), 0);
    assert_int_equal(planner_multi_add_span(a, 0, 1, U(0), 0), 1);
    assert_int_equal(planner_multi_rem_span(a, 0), 0);
    assert_int_equal(reduce(a, 1, U(0), T("x"), 0, true), 0);
    FAILS(planner_multi_span_first(a), -1, ENOENT);
    assert_int_equal(planner_multi_reset(a, 0, 5), 0);
    assert_true(planner_multis_equal(a, b));
    finish(a);
    finish(b);
}

static void what_is_free(void **state)
{
    (void)state;
    planner_multi_t *m = planner_multi_new(0, INT64_MAX, U(10, 20, 30, 20, 100), five, 5);
    const uint64_t *all = U(10, 20, 30, 20, 100);
    int64_t counts[5];
    assert_int_equal(planner_multi_avail_during(m, 0, 1, all, 5), 0);
    assert_int_equal(planner_multi_add_span(m, 1, 1000, U(5, 10, 15, 10, 50), 5), 0);
    assert_int_equal(planner_multi_add_span(m, 2000, 1001, all, 5), 1);
    FAILS(planner_multi_avail_during(m, 10, 2991, U(1, 2, 3, 2, 10), 5), -1, EBUSY);
    assert_int_equal(planner_multi_add_span(m, 10, 1990, U(1, 2, 3, 2, 10), 5), 2);
    assert_free(m, 1, U(5, 10, 15, 10, 50));
    assert_free(m, 10, U(4, 8, 12, 8, 40));
    assert_free(m, 1500, U(9, 18, 27, 18, 90));
    assert_free(m, 3000, U(0, 0, 0, 0, 0));
    assert_free(m, 3001, all);
    assert_int_equal(planner_multi_avail_resources_array_during(m, 5, 1995, counts, 5), 0);
    assert_int_equal(counts[4], 40);
    FITS(m, 0, 9, U(0, 0, 15, 0, 0), 0, 1, 1001, 3001);
    FITS(m, 0, 10, U(1, 1, 1, 1, 50), 0, 1001, 3001);
    finish(m);
}

/* One span of each type, ever longer: ever more is free. */
static void stairs(void **state)
{
    (void)state;
    planner_multi_t *m = make_five();
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t units[5] = {0};
        units[i] = i + 1;
        assert_int_equal(planner_multi_add_span(m, 0, 1000 * (i + 1), units, 5), i);
    }
    assert_free(m, 0, U(9, 18, 27, 36, 45));
    assert_free(m, 1000, U(10, 18, 27, 36, 45));
    assert_free(m, 2000, U(10, 20, 27, 36, 45));
    assert_free(m, 3000, U(10, 20, 30, 36, 45));
    assert_free(m, 4000, U(10, 20, 30, 40, 45));
    assert_free(m, 5000, five_totals);
    FITS(m, 0, 1000, U(10, 20, 30, 40, 45), 4000, 5000);
    FITS(m, 0, 1000, U(0, 0, 0, 30, 40), 0, 1000, 2000, 3000, 4000, 5000);
    FITS(m, 3500, 1000, U(0, 0, 0, 30, 40), 4000, 5000);
    FITS(m, 0, 1000, U(10, 18, 30, 30, 30), 3000, 4000, 5000);
    finish(m);
}

/* One span of each type, one after another. */
static void steps(void **state)
{
    (void)state;
    planner_multi_t *m = make_five();
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t units[5] = {0};
        units[i] = i + 1;
        assert_int_equal(planner_multi_add_span(m, (int64_t)i * 1000, 1000, units, 5), i);
    }
    FITS(m, 0, 1000, five_totals, 5000);
    FITS(m, 0, 1000, U(9, 20, 27, 36, 50), 0, 2000, 3000, 5000);
    FITS(m, 0, 1000, U(9, 19, 30, 40, 50), 0, 5000);
    finish(m);
}

static void many_spans(void **state)
{
    (void)state;
    planner_multi_t *m = planner_multi_new(0, INT64_MAX, U(99, 99, 99), five, 3);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t n = i % 100;
        assert_int_equal(planner_multi_add_span(m, (int64_t)i * 1000, 1000, U(n, 99 - n, n), 3), i);
    }
    FITS(m, 0, 1000, U(99, 99, 99), 1000000);
    int64_t at = planner_multi_avail_time_first(m, 0, 1000, U(98, 1, 98), 3);
    for (int64_t i = 0; i < 10; i++, at = planner_multi_avail_time_next(m))
        assert_int_equal(at, 1000 * (100 * i + 1));
    assert_int_equal(at, 1000000);
    FAILS(planner_multi_avail_time_next(m), -1, ENOENT);
    at = planner_multi_avail_time_first(m, 0, 1000, U(50, 49, 50), 3);
    for (int64_t i = 0; i < 10; i++, at = planner_multi_avail_time_next(m))
        assert_int_equal(at, 1000 * (100 * i + 49));
    assert_int_equal(at, 1000000);
    finish(m);
}

/* Candidates are the points of every type, also where the first type has none. */
static void points_of_all_types(void **state)
{
    (void)state;
    planner_multi_t *m = planner_multi_new(0, 1000, U(5, 5), T("a", "b"), 2);
    int64_t id = planner_multi_add_span(m, 0, 300, U(0, 5), 2);
    assert_int_equal(reduce(m, id, U(0), T("a"), 1, false), 0); /* the first type's part goes */
    assert_int_equal(planner_multi_span_planned_at(m, id, 0), 0);
    FITS(m, 0, 100, U(1, 1), 300);
    FITS(m, 0, 100, U(0, 1), 300);
    FITS(m, 0, 100, U(5, 0), 0, 300);
    assert_true(planner_add_span(planner_multi_planner_at(m, 0), 350, 100, 5) > 0);
    FITS(m, 0, 100, U(1, 1), 450);
    FITS(m, 0, 50, U(1, 1), 300, 450);
    FITS(m, 0, 100, U(0, 1), 300, 350, 450);
    finish(m);
}

static void iteration(void **state)
{
    (void)state;
    planner_multi_t *m = planner_multi_new(0, 100, U(5, 5), T("a", "b"), 2);
    const uint64_t *units = U(1, 1);
    int64_t id = planner_multi_add_span(m, 10, 10, U(4, 4), 2);
    FAILS(planner_multi_avail_time_next(m), -1, EINVAL);
    FITS(m, 0, 5, units, 0, 10, 20);
    FAILS(planner_multi_avail_time_next(m), -1, ENOENT);
    assert_int_equal(planner_multi_avail_time_first(m, 0, 5, units, 2), 0);
    FAILS(planner_multi_add_span(m, 10, 1, U(1, 5), 2), -1, EINVAL);        /* a refused add, */
    FAILS(planner_multi_avail_time_first(m, 0, 5, U(6, 1), 2), -1, ERANGE); /* a refused first */
    assert_int_equal(planner_multi_avail_time_next(m), 10);                 /* leave it alone */
    assert_int_equal(reduce(m, id, U(0, 0), T("a", "b"), 2, false), 0);
    assert_int_equal(planner_multi_avail_time_next(m), 20);
    assert_int_equal(reduce(m, id, U(1), T("b"), 1, false), 0);
    assert_int_equal(planner_multi_avail_time_next(m), 0); /* a part given back begins it anew */
    assert_int_equal(planner_multi_update(m, U(9, 0, 5), T("x", "a", "b"), 3), 0);
    FAILS(planner_multi_avail_time_next(m), -1, ENOENT); /* no longer with none of "a" */
    assert_int_equal(planner_multi_avail_time_first(m, 0, 5, U(0, 0, 1), 3), 0);
    assert_int_equal(planner_multi_update(m, U(0, 9, 5), T("b", "x", "a"), 3), 0);
    FAILS(planner_multi_avail_time_next(m), -1, ERANGE);
    assert_int_equal(planner_multi_update(m, U(5, 5), T("b", "a"), 2), 0);
    assert_int_equal(planner_multi_avail_time_next(m), 10);
    assert_int_equal(reduce(m, id, U(3), T("b"), 1, false), 0);
    FAILS(planner_multi_avail_time_next(m), -1, EINVAL); /* ended with a part of the span */
    assert_int_equal(planner_multi_avail_time_first(m, 0, 5, units, 2), 0);
    assert_int_equal(planner_multi_rem_span(m, id), 0);
    FAILS(planner_multi_avail_time_next(m), -1, EINVAL);
    assert_int_equal(planner_multi_avail_time_first(m, 0, 5, units, 2), 0);
    assert_int_equal(planner_multi_add_span(m, 0, 1, units, 2), 2);
    FAILS(planner_multi_avail_time_next(m), -1, EINVAL);
    assert_int_equal(planner_multi_avail_time_first(m, 0, 5, units, 2), 0);
    assert_int_equal(planner_multi_reset(m, 0, 100), 0);
    FAILS(planner_multi_avail_time_next(m), -1, EINVAL);
    finish(m);
}

/* Whichever type refuses, the others get back what was taken; the id is used up. */
static void refused_adds(void **state)
{
    (void)state;
    planner_multi_t *m = make_five();
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t units[5] = {1, 1, 1, 1, 1};
        units[i] = 60;
        FAILS(planner_multi_add_span(m, 100, 50, units, 5), -1, EINVAL);
        units[i] = (uint64_t)INT64_MAX + 1;
        FAILS(planner_multi_add_span(m, 100, 50, units, 5), -1, ERANGE);
        assert_free(m, 100, five_totals);
    }
    assert_int_equal(planner_multi_span_size(m), 0);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(planner_span_size(planner_multi_planner_at(m, i)), 0);
    FITS(m, 0, 1, U(1, 1, 1, 1, 1), 0); /* no points are left behind */
    assert_int_equal(planner_multi_add_span(m, 100, 50, five_totals, 5), 10);
    finish(m);
}

static void span_ids(void **state)
{
    (void)state;
    planner_multi_t *m = planner_multi_new(0, 1000, U(10, 10), T("a", "b"), 2);
    for (int64_t id = 0; id < 9; id++)
        assert_int_equal(planner_multi_add_span(m, id * 100, 100, U(1, 2), 2), id);
    static const int64_t gone[] = {4, 0, 8, 7, 1, 6};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(planner_multi_rem_span(m, gone[i]), 0);
        FAILS(planner_multi_rem_span(m, gone[i]), -1, ENOENT);
    }
    assert_int_equal(planner_multi_span_size(m), 3);
    assert_int_equal(planner_multi_span_first(m), 2);
    assert_int_equal(planner_multi_span_next(m), 3);
    assert_int_equal(planner_multi_span_next(m), 5);
    FAILS(planner_multi_span_next(m), -1, ENOENT);
    assert_int_equal(planner_multi_span_planned_at(m, 5, 1), 2);
    assert_int_equal(planner_multi_add_span(m, 0, 1, U(0, 0), 2), 9);
    assert_int_equal(planner_multi_reset(m, 50, 10), 0); /* the table of spans goes too */
    assert_int_equal(planner_multi_base_time(m), 50);
    assert_int_equal(planner_multi_duration(m), 10);
    assert_int_equal(planner_multi_resource_total_by_type(m, "b"), 10);
    assert_int_equal(planner_multi_span_size(m), 0);
    FAILS(planner_multi_rem_span(m, 5), -1, ENOENT);
    assert_int_equal(planner_multi_add_span(m, 50, 10, U(10, 10), 2), 0);
    finish(m);
}

static void copies(void **state)
{
    (void)state;
    planner_multi_t *m = make_five();
    planner_multi_t *a = planner_multi_empty();
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t units[5] = {0};
        units[i] = i + 1;
        assert_int_equal(planner_multi_add_span(m, (int64_t)i * 1000, 1000, units, 5), i);
    }
    assert_true(planner_multis_equal(m, m));
    assert_true(planner_multis_equal(a, a));
    assert_false(planner_multis_equal(m, a));
    planner_multi_assign(a, m);
    planner_multi_assign(a, a);
    assert_true(planner_multis_equal(m, a));
    planner_multi_t *b = planner_multi_copy(a);
    assert_true(planner_multis_equal(a, b));
    assert_true(planner_multis_equal(m, a));
    assert_int_equal(planner_multi_rem_span(a, 1), 0);
    assert_int_equal(planner_multi_span_size(a), 2);
    assert_int_equal(planner_multi_span_size(b), 3);
    assert_false(planner_multis_equal(a, b));
    planner_multi_assign(b, a);
    assert_int_equal(planner_multi_span_size(b), 2);
    assert_true(planner_multis_equal(a, b));
    assert_int_equal(planner_multi_avail_resources_at(b, 1500, 1), 20);
    planner_multi_t *none = planner_multi_empty();
    planner_multi_assign(b, none);
    assert_true(planner_multis_equal(b, none));
    finish(none);
    finish(m);
    finish(a);
    finish(b);
}

/* The order of types is no difference; ids, spans, totals, names and the iteration are. */
static void differences(void **state)
{
    (void)state;
    planner_multi_t *m = planner_multi_new(0, 100, U(5, 6), T("a", "b"), 2);
    planner_multi_t *other = planner_multi_new(0, 100, U(6, 5), T("b", "a"), 2);
    assert_true(planner_multis_equal(m, other));
    assert_int_equal(planner_multi_add_span(m, 0, 5, U(1, 2), 2), 0);
    assert_false(planner_multis_equal(m, other));
    assert_int_equal(planner_multi_add_span(other, 0, 5, U(2, 1), 2), 0);
    assert_true(planner_multis_equal(m, other));
    assert_int_equal(planner_multi_avail_time_first(m, 0, 5, U(1, 5), 2), 5);
    assert_false(planner_multis_equal(m, other));
    assert_int_equal(planner_multi_avail_time_first(other, 0, 5, U(5, 1), 2), 5);
    assert_true(planner_multis_equal(m, other));
    assert_int_equal(planner_multi_avail_time_first(other, 0, 5, U(1, 1), 2), 0);
    assert_false(planner_multis_equal(m, other));
    planner_multi_assign(other, m);
    assert_int_equal(planner_multi_update(other, U(5, 7), T("a", "b"), 2), 0);
    assert_false(planner_multis_equal(m, other));
    assert_int_equal(planner_multi_update(other, U(5, 6), T("a", "c"), 2), 0);
    assert_false(planner_multis_equal(m, other));
    finish(other);
    finish(m);
}

/* Reductions by name, in any order, of some types or of unknown ones. */
static void partial_cancel(void **state)
{
    (void)state;
    planner_multi_t *m = make_five();
    int64_t s1 = planner_multi_add_span(m, 0, 1000, U(2, 0, 0, 0, 0), 5);
    int64_t s2 = planner_multi_add_span(m, 0, 2000, U(1, 2, 3, 4, 5), 5);
    assert_int_equal(reduce(m, s1, U(1, 0, 0, 0, 0), five, 5, false), 0);
    assert_int_equal(planner_multi_avail_resources_at(m, 0, 0), 8);
    assert_int_equal(reduce(m, s1, U(1, 0, 0, 0, 0), five, 5, true), 0);
    assert_int_equal(planner_multi_avail_resources_at(m, 0, 0), 9);
    assert_int_equal(reduce(m, s2, U(2, 1, 5), T("B", "A", "E"), 3, false), 0);
    assert_free(m, 0, U(10, 20, 27, 36, 50));
    const char **unknown = T("B", "A", "C", "D", "G", "X", "Y");
    errno = 0;
    assert_int_equal(reduce(m, s2, U(2, 1, 5, 6, 7, 8, 9), unknown, 7, false), -1);
    assert_int_equal(errno, EINVAL);
    assert_free(m, 0, U(10, 20, 27, 36, 50));
    assert_int_equal(reduce(m, s2, U(3, 3, 0, 0, 0), T("C", "D", "A", "B", "E"), 5, false), 0);
    assert_free(m, 0, U(10, 20, 30, 39, 50));
    assert_int_equal(planner_multi_span_planned_at(m, s2, 3), 1);
    assert_int_equal(reduce(m, s2, U(1), T("D"), 1, true), 0);
    assert_free(m, 0, five_totals);
    FAILS(planner_multi_span_planned_at(m, s2, 3), -1, ENOENT);
    assert_int_equal(planner_multi_add_span(m, 0, 2000, five_totals, 5), 2);
    assert_free(m, 1000, U(0, 0, 0, 0, 0));
    int64_t s4 = planner_multi_add_span(m, 3000, 1000, U(2, 2, 0, 0, 0), 5);
    assert_int_equal(reduce(m, s4, U(1), T("A"), 1, false), 0);
    assert_int_equal(reduce(m, s4, U(1), T("A"), 1, false), 0);
    assert_int_equal(planner_multi_span_planned_at(m, s4, 0), 0);
    assert_int_equal(reduce(m, s4, U(1), T("B"), 1, false), 0);
    assert_int_equal(reduce(m, s4, U(1, 99), T("B", "A"), 2, true), 0); /* "A" is long gone */
    assert_free(m, 3500, five_totals);
    finish(m);
}

/* A part that somebody took off its planner counts as gone; the rest of the span can still be removed. */
static void part_taken_away(void **state)
{
    (void)state;
    planner_multi_t *m = planner_multi_new(0, 100, U(5, 5), T("a", "b"), 2);
    int64_t id = planner_multi_add_span(m, 0, 10, U(1, 2), 2);
    planner_t *a = planner_multi_planner_at(m, 0);
    assert_int_equal(planner_rem_span(a, planner_span_first(a)), 0);
    assert_int_equal(planner_multi_span_planned_at(m, id, 0), 0);
    assert_int_equal(reduce(m, id, U(1, 1), T("a", "b"), 2, false), 0);
    assert_int_equal(planner_multi_rem_span(m, id), 0);
    assert_int_equal(planner_multi_avail_resources_at(m, 0, 1), 5);
    finish(m);
}

static void updates(void **state)
{
    (void)state;
    planner_multi_t *m = make_five();
    assert_int_equal(planner_multi_add_span(m, 0, 1000, U(1, 0, 0, 0, 0), 5), 0);
    assert_int_equal(planner_multi_add_span(m, 1000, 1000, U(0, 2, 0, 0, 0), 5), 1);
    assert_int_equal(planner_multi_add_span(m, 2000, 1000, U(0, 0, 3, 0, 0), 5), 2);
    planner_multi_t *before = planner_multi_copy(m);
    assert_int_equal(planner_multi_update(m, five_totals, five, 5), 0);
    assert_true(planner_multis_equal(m, before));
    assert_int_equal(planner_multi_update(m, U(5, 10, 20), T("B", "C", "D"), 3), 0);
    assert_false(planner_multis_equal(m, before));
    assert_free(m, 1000, U(3, 10, 20));
    assert_int_equal(planner_multi_span_planned_at(m, 1, 0), 2); /* spans follow their types */
    assert_int_equal(planner_multi_span_planned_at(m, 2, 1), 3);
    FAILS(planner_multi_span_planned_at(m, 2, 3), -1, EINVAL);
    assert_int_equal(planner_multi_span_size(m), 3);
    assert_int_equal(planner_multi_update(m, five_totals, five, 5), 0);
    assert_false(planner_multis_equal(m, before)); /* what went does not come back */
    assert_int_equal(planner_multi_span_planned_at(m, 0, 0), 0);
    assert_free(m, 0, five_totals);
    assert_int_equal(planner_multi_update(m, U(5, 10, 20), T("B", "C", "D"), 3), 0);
    assert_int_equal(planner_multi_add_span(m, 2000, 1000, U(0, 0, 20), 3), 3);
    assert_free(m, 2000, U(5, 7, 0));
    FAILS(planner_multi_add_span(m, 3000, 1000, U(0, 0, 21), 3), -1, EINVAL);
    assert_free(m, 3000, U(5, 10, 20));
    const char **seven = T("B", "A", "C", "D", "G", "X", "Y");
    const uint64_t *totals = U(10, 20, 30, 40, 50, 60, 70);
    assert_int_equal(planner_multi_update(m, totals, seven, 7), 0);
    assert_int_equal(planner_multi_add_span(m, 4000, 1000, totals, 7), 5);
    for (unsigned i = 0; i < 7; i++) {
        assert_int_equal(planner_multi_resource_total_by_type(m, seven[i]), totals[i]);
        assert_string_equal(planner_multi_resource_type_at(m, i), seven[i]);
        assert_int_equal(planner_multi_avail_resources_at(m, 4000, i), 0);
    }
    assert_int_equal(planner_multi_base_time(m), 0);
    assert_int_equal(planner_multi_duration(m), INT64_MAX);
    for (int64_t id = 0; id < 6; id++)
        if (id != 4)
            assert_int_equal(planner_multi_rem_span(m, id), 0);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(planner_span_size(planner_multi_planner_at(m, i)), 0);
    finish(before);
    finish(m);
}

static void refused_updates(void **state)
{
    (void)state;
    const uint64_t huge = (uint64_t)INT64_MAX + 1;
    planner_multi_t *m = planner_multi_new(0, 100, U(5, 6), T("a", "b"), 2);
    assert_int_equal(planner_multi_add_span(m, 0, 5, U(1, 2), 2), 0);
    planner_multi_t *before = planner_multi_copy(m);
    FAILS(planner_multi_update(m, NULL, T("a"), 1), -1, EINVAL);
    FAILS(planner_multi_update(m, U(1), NULL, 1), -1, EINVAL);
    FAILS(planner_multi_update(m, U(1, 2), T("c", NULL), 2), -1, EINVAL);
    FAILS(planner_multi_update(m, U(1, 2, 3), T("c", "a", "c"), 3), -1, EINVAL);
    FAILS(planner_multi_update(m, U(1, huge), T("c", "a"), 2), -1, ERANGE);
    assert_int_equal(planner_multi_update(m, U(1), T("c"), 0), 0);
    assert_true(planner_multis_equal(m, before));
    /* A span of which no type is left is a span all the same, until it is removed or reduced. */
    assert_int_equal(planner_multi_update(m, U(1), T("c"), 1), 0);
    assert_int_equal(planner_multi_span_size(m), 1);
    assert_int_equal(planner_multi_span_planned_at(m, 0, 0), 0);
    assert_int_equal(reduce(m, 0, U(3), T("a"), 1, true), 0);
    finish(before);
    finish(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_and_getters), cmocka_unit_test(no_multi_planner),
        cmocka_unit_test(arguments),       cmocka_unit_test(span_arguments),
        cmocka_unit_test(no_types),        cmocka_unit_test(what_is_free),
        cmocka_unit_test(stairs),          cmocka_unit_test(steps),
        cmocka_unit_test(many_spans),      cmocka_unit_test(points_of_all_types),
        cmocka_unit_test(iteration),       cmocka_unit_test(refused_adds),
        cmocka_unit_test(span_ids),        cmocka_unit_test(copies),
        cmocka_unit_test(differences),     cmocka_unit_test(partial_cancel),
        cmocka_unit_test(part_taken_away), cmocka_unit_test(updates),
        cmocka_unit_test(refused_updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
