/* The planner: the worked examples and the errno tables of its interface, edges of the number range, stress
 * sizes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "planner/planner_ext.h"

/* The call returns -1 (or what a failed call returns) with this errno. */
#define FAILS(call, value, errnum)                                                                 \
    do {                                                                                           \
        errno = 0;                                                                                 \
        assert_true((call) == (value));                                                            \
        assert_int_equal(errno, errnum);                                                           \
    } while (0)

static planner_t *make(uint64_t duration, uint64_t total)
{
    planner_t *p = planner_new(0, duration, total, "core");
    assert_non_null(p);
    return p;
}

/* Take what must be free. */
static int64_t add(planner_t *p, int64_t start, uint64_t duration, uint64_t units)
{
    int64_t id = planner_add_span(p, start, duration, units);
    assert_true(id > 0);
    return id;
}

/* The earliest fits from `from` on are exactly these; a negative time ends the list. */
static void assert_fits(planner_t *p, int64_t from, uint64_t duration, uint64_t units,
                        const int64_t *times)
{
    int64_t at = planner_avail_time_first(p, from, duration, units);
    for (; *times >= 0; times++) {
        assert_int_equal(at, *times);
        errno = 0;
        at = planner_avail_time_next(p);
    }
    assert_int_equal(at, -1);
    assert_int_equal(errno, ENOENT);
}

#define FITS(p, from, duration, units, ...)                                                        \
    assert_fits(p, from, duration, units, (const int64_t[]){__VA_ARGS__, -1})

static void finish(planner_t *p)
{
    assert_true(planner_check(p));
    planner_destroy(&p);
    assert_null(p);
}

static void new_and_getters(void **state)
{
    (void)state;
    planner_t *p = planner_new(5, 9999, 10, "a type of resource with a long name");
    assert_int_equal(planner_base_time(p), 5);
    assert_int_equal(planner_duration(p), 9999);
    assert_int_equal(planner_resource_total(p), 10);
    assert_string_equal(planner_resource_type(p), "a type of resource with a long name");
    assert_int_equal(planner_span_size(p), 0);
    finish(p);
    FAILS(planner_new(0, 0, 1, "x"), NULL, EINVAL);
    FAILS(planner_new(0, 1, 1, NULL), NULL, EINVAL);
    FAILS(planner_new(0, 1, (uint64_t)INT64_MAX + 1, "x"), NULL, ERANGE);
    FAILS(planner_new(0, (uint64_t)INT64_MAX + 1, 1, "x"), NULL, EINVAL);
    FAILS(planner_new(2, INT64_MAX - 1, 1, "x"), NULL, EINVAL);
    p = planner_new(1, INT64_MAX - 1, INT64_MAX, "");
    assert_int_equal(planner_duration(p), INT64_MAX - 1);
    assert_int_equal(planner_resource_total(p), INT64_MAX);
    finish(p);
}

/* What is no planner, because there is none or because it was never assigned to, is refused everywhere. */
static void refuses(planner_t *p)
{
    bool removed = true;
    FAILS(planner_reset(p, 0, 1), -1, EINVAL);
    FAILS(planner_base_time(p), -1, EINVAL);
    FAILS(planner_duration(p), -1, EINVAL);
    FAILS(planner_resource_total(p), -1, EINVAL);
    FAILS(planner_resource_type(p), NULL, EINVAL);
    FAILS(planner_avail_time_first(p, 0, 1, 1), -1, EINVAL);
    FAILS(planner_avail_time_next(p), -1, EINVAL);
    FAILS(planner_avail_during(p, 0, 1, 1), -1, EINVAL);
    FAILS(planner_avail_resources_during(p, 0, 1), -1, EINVAL);
    FAILS(planner_avail_resources_at(p, 0), -1, EINVAL);
    FAILS(planner_add_span(p, 0, 1, 1), -1, EINVAL);
    FAILS(planner_rem_span(p, 1), -1, EINVAL);
    FAILS(planner_reduce_span(p, 1, 1, &removed), -1, EINVAL);
    assert_false(removed);
    FAILS(planner_span_first(p), -1, EINVAL);
    FAILS(planner_span_next(p), -1, EINVAL);
    FAILS(planner_span_size(p), 0, EINVAL);
    FAILS(planner_is_active_span(p, 1), false, EINVAL);
    FAILS(planner_span_start_time(p, 1), -1, EINVAL);
    FAILS(planner_span_duration(p, 1), -1, EINVAL);
    FAILS(planner_span_resource_count(p, 1), -1, EINVAL);
    FAILS(planner_update_total(p, 1), -1, EINVAL);
    FAILS(planner_earliest(p, 0, 1, 1), -1, EINVAL);
    FAILS(planner_advance_span(p, 1, 0), -1, EINVAL);
}

static void no_planner(void **state)
{
    (void)state;
    planner_t *none = NULL;
    refuses(NULL);
    FAILS(planner_copy(NULL), NULL, EINVAL);
    planner_t *p = make(10, 1);
    errno = 0;
    planner_assign(p, NULL);
    assert_int_equal(errno, EINVAL);
    errno = 0;
    planner_assign(NULL, p);
    assert_int_equal(errno, EINVAL);
    assert_false(planners_equal(p, NULL));
    assert_false(planners_equal(NULL, p));
    assert_true(planners_equal(NULL, NULL));
    planner_destroy(&none);
    planner_destroy(NULL);
    assert_false(planner_check(NULL));
    finish(p);
    planner_t *empty = planner_new_empty();
    refuses(empty);
    planner_destroy(&empty);
}

static void arguments(void **state)
{
    (void)state;
    const uint64_t huge = (uint64_t)INT64_MAX + 1;
    planner_t *p = planner_new(10, 90, 10, "core"); /* [10, 100) */
    FAILS(planner_avail_time_first(p, 9, 1, 1), -1, EINVAL);
    FAILS(planner_avail_time_first(p, 100, 1, 1), -1, EINVAL);
    FAILS(planner_avail_time_first(p, 10, 0, 1), -1, EINVAL);
    FAILS(planner_avail_time_first(p, 10, 1, 11), -1, ERANGE);
    FAILS(planner_avail_time_first(p, 10, 1, huge), -1, ERANGE);
    FAILS(planner_avail_time_first(p, 10, 91, 1), -1, ENOENT);
    FAILS(planner_avail_time_first(p, 10, huge, 1), -1, ENOENT);
    FAILS(planner_avail_time_first(p, 11, 1, 1), -1, ENOENT);
    FAILS(planner_avail_during(p, 10, 0, 1), -1, EINVAL);
    FAILS(planner_avail_during(p, 9, 1, 1), -1, EINVAL);
    FAILS(planner_avail_during(p, INT64_MIN, UINT64_MAX, 1), -1, EINVAL);
    FAILS(planner_avail_during(p, 10, 1, 11), -1, ERANGE);
    FAILS(planner_avail_during(p, 10, 1, UINT64_MAX), -1, ERANGE);
    FAILS(planner_avail_during(p, 95, 6, 1), -1, ERANGE);
    FAILS(planner_avail_during(p, 100, 1, 1), -1, ERANGE);
    FAILS(planner_avail_during(p, 101, 1, 1), -1, ERANGE);
    FAILS(planner_avail_during(p, 10, UINT64_MAX, 1), -1, ERANGE);
    assert_int_equal(planner_avail_during(p, 95, 5, 10), 0);
    FAILS(planner_avail_resources_during(p, 10, 0), -1, EINVAL);
    FAILS(planner_avail_resources_during(p, 9, 1), -1, EINVAL);
    FAILS(planner_avail_resources_during(p, 101, 1), -1, EINVAL);
    FAILS(planner_avail_resources_during(p, 100, 1), -1, ERANGE);
    FAILS(planner_avail_resources_during(p, 50, huge), -1, ERANGE);
    FAILS(planner_avail_resources_at(p, 9), -1, ERANGE);
    FAILS(planner_avail_resources_at(p, 101), -1, ERANGE);
    assert_int_equal(planner_avail_resources_at(p, 100), 10);
    FAILS(planner_add_span(p, 9, 1, 1), -1, EINVAL);
    FAILS(planner_add_span(p, 100, 1, 1), -1, EINVAL);
    FAILS(planner_add_span(p, 10, 0, 1), -1, EINVAL);
    FAILS(planner_add_span(p, 10, 91, 1), -1, EINVAL);
    FAILS(planner_add_span(p, 10, huge, 1), -1, EINVAL);
    FAILS(planner_add_span(p, 10, 1, 11), -1, EINVAL);
    FAILS(planner_add_span(p, 10, 1, huge), -1, ERANGE);
    FAILS(planner_update_total(p, huge), -1, ERANGE);
    FAILS(planner_reset(p, 0, 0), -1, EINVAL);
    FAILS(planner_reset(p, 1, INT64_MAX), -1, EINVAL);
    assert_int_equal(add(p, 10, 90, 4), 1); /* a refused span uses up no id */
    FAILS(planner_avail_during(p, 10, 90, 7), -1, EBUSY);
    finish(p);
}

static void unknown_spans(void **state)
{
    (void)state;
    bool removed = true;
    planner_t *p = make(100, 10);
    const int64_t none[] = {0, 2, -1, INT64_MAX, INT64_MIN};
    int64_t id = add(p, 10, 20, 5);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        FAILS(planner_rem_span(p, none[i]), -1, EINVAL);
        FAILS(planner_is_active_span(p, none[i]), false, EINVAL);
        FAILS(planner_span_start_time(p, none[i]), -1, EINVAL);
        FAILS(planner_span_duration(p, none[i]), -1, EINVAL);
        FAILS(planner_span_resource_count(p, none[i]), -1, EINVAL);
        FAILS(planner_reduce_span(p, none[i], 0, &removed), -1, EINVAL);
    }
    FAILS(planner_reduce_span(p, id, 6, &removed), -1, EINVAL);
    FAILS(planner_reduce_span(p, id, -1, &removed), -1, EINVAL);
    FAILS(planner_reduce_span(p, id, 1, NULL), -1, EINVAL);
    assert_true(planner_is_active_span(p, id));
    assert_int_equal(planner_span_start_time(p, id), 10);
    assert_int_equal(planner_span_duration(p, id), 20);
    assert_int_equal(planner_span_resource_count(p, id), 5);
    finish(p);
}

static void fills_a_window(void **state)
{
    (void)state;
    planner_t *p = make(10, 1);
    FITS(p, 0, 5, 1, 0);
    add(p, 0, 5, 1);
    FITS(p, 0, 2, 1, 5);
    int64_t second = add(p, 5, 2, 1);
    FITS(p, 0, 2, 1, 7);
    int64_t third = add(p, 7, 2, 1);
    FAILS(planner_avail_time_first(p, 0, 2, 1), -1, ENOENT);
    FITS(p, 0, 1, 1, 9);
    add(p, 9, 1, 1);
    assert_int_equal(planner_rem_span(p, second), 0);
    assert_int_equal(planner_rem_span(p, third), 0);
    FAILS(planner_avail_time_first(p, 0, 5, 1), -1, ENOENT);
    FITS(p, 0, 4, 1, 5);
    assert_int_equal(add(p, 5, 4, 1), 5);
    FAILS(planner_avail_time_first(p, 0, 1, 1), -1, ENOENT);
    finish(p);
}

/* Three spans of a calendar of 10 units: what is free at, and during, and from when. */
static void what_is_free(void **state)
{
    (void)state;
    static const int64_t at[][2] = {{0, 10},   {1, 5},    {10, 4},   {1500, 9},
                                    {2000, 0}, {2500, 0}, {3000, 0}, {3001, 10}};
    static const int64_t during[][3] = {
        /* at, duration, free throughout */
        {0, 1001, 4},    {10, 1990, 4},   {4, 3, 5},       {20, 980, 4}, {1001, 998, 9},
        {2500, 101, 0},  {0, 1000, 4},    {10, 990, 4},    {20, 981, 4}, {1001, 999, 9},
        {100, 1401, 4},  {1500, 1001, 0}, {1000, 1001, 0}, {0, 3001, 0}, {0, 2001, 0},
        {2000, 1001, 0}, {10, 2991, 0},   {3001, 2000, 10}};
    planner_t *p = make(INT64_MAX, 10);
    add(p, 1, 1000, 5);
    add(p, 2000, 1001, 10);
    FAILS(planner_avail_during(p, 10, 2991, 1), -1, EBUSY);
    add(p, 10, 1990, 1);
    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
        assert_int_equal(planner_avail_resources_at(p, at[i][0]), at[i][1]);
    for (size_t i = 0; i < sizeof(during) / sizeof(during[0]); i++) {
        const int64_t *d = during[i];
        uint64_t free = (uint64_t)d[2];
        assert_int_equal(planner_avail_resources_during(p, d[0], (uint64_t)d[1]), d[2]);
        assert_int_equal(planner_avail_during(p, d[0], (uint64_t)d[1], free), 0);
        if (free < 10)
            FAILS(planner_avail_during(p, d[0], (uint64_t)d[1], free + 1), -1, EBUSY);
    }
    FITS(p, 0, 9, 5, 0, 1, 1001, 3001);
    FITS(p, 0, 10, 9, 1001, 3001);
    finish(p);
}

/* Only points are candidates, so that a time from which a request would fit need not be found. */
static void only_points(void **state)
{
    (void)state;
    planner_t *p = make(INT64_MAX, 3);
    FAILS(planner_avail_time_first(p, 5, 1, 1), -1, ENOENT);
    FAILS(planner_avail_time_first(p, 100000, 100, 2), -1, ENOENT);
    assert_int_equal(planner_avail_during(p, 100000, 100, 2), 0);
    assert_int_equal(planner_earliest(p, 100000, 100, 2), 100000);
    add(p, 100000, 100, 2);
    FITS(p, 100000, 200, 2, 100100);
    add(p, 100100, 200, 2);
    FITS(p, 100000, 200, 1, 100000, 100100, 100300);
    FITS(p, 0, 200, 1, 0, 100000, 100100, 100300);
    FITS(p, 99999, 200, 3, 100300);
    finish(p);
}

static void iteration(void **state)
{
    (void)state;
    bool removed;
    planner_t *p = make(10, 10);
    FAILS(planner_avail_time_next(p), -1, EINVAL); /* never begun */
    FITS(p, 0, 4, 3, 0);
    FAILS(planner_avail_time_next(p), -1, ENOENT); /* and remains at its end */
    int64_t id = add(p, 0, 4, 3);
    FAILS(planner_avail_time_next(p), -1, EINVAL); /* ended by an add */
    FITS(p, 0, 4, 3, 0, 4);
    assert_int_equal(planner_avail_time_first(p, 0, 4, 3), 0);
    FAILS(planner_avail_time_first(p, 0, 4, 11), -1, ERANGE); /* a refused first leaves it alone */
    FAILS(planner_avail_time_first(p, 10, 4, 1), -1, EINVAL);
    FAILS(planner_add_span(p, 0, 4, 8), -1, EINVAL); /* and so does a refused add */
    assert_int_equal(planner_avail_time_next(p), 4);
    assert_int_equal(planner_reduce_span(p, id, 0, &removed), 0);
    FAILS(planner_avail_time_next(p), -1, ENOENT);
    assert_int_equal(planner_reduce_span(p, id, 1, &removed), 0);
    assert_int_equal(planner_avail_time_next(p), 0); /* a part given back begins it anew */
    assert_int_equal(planner_update_total(p, 2), 0);
    FAILS(planner_avail_time_next(p), -1, ERANGE);
    assert_int_equal(planner_update_total(p, 10), 0);
    assert_int_equal(planner_avail_time_next(p), 4);
    assert_int_equal(planner_rem_span(p, id), 0);
    FAILS(planner_avail_time_next(p), -1, EINVAL); /* ended by a removal */
    assert_int_equal(planner_avail_time_first(p, 0, 4, 3), 0);
    assert_int_equal(planner_reset(p, 0, 10), 0);
    FAILS(planner_avail_time_next(p), -1, EINVAL);
    finish(p);
}

static void span_ids(void **state)
{
    (void)state;
    planner_t *p = make(100, 10);
    FAILS(planner_span_first(p), -1, EINVAL);
    FAILS(planner_span_next(p), -1, EINVAL);
    for (int64_t id = 1; id <= 5; id++)
        assert_int_equal(add(p, 10 * id, 5, 1), id);
    assert_int_equal(planner_rem_span(p, 3), 0);
    assert_int_equal(planner_rem_span(p, 5), 0);
    FAILS(planner_rem_span(p, 5), -1, EINVAL);
    assert_int_equal(add(p, 0, 100, 1), 6); /* ids are not used again */
    assert_int_equal(planner_span_size(p), 4);
    static const int64_t ids[] = {1, 2, 4, 6};
    int64_t id = planner_span_first(p);
    for (int i = 0; i < 4; i++, id = planner_span_next(p))
        assert_int_equal(id, ids[i]);
    FAILS(planner_span_next(p), -1, EINVAL);
    assert_int_equal(planner_reset(p, 7, 3), 0);
    assert_int_equal(planner_base_time(p), 7);
    assert_int_equal(planner_duration(p), 3);
    assert_int_equal(planner_resource_total(p), 10);
    assert_string_equal(planner_resource_type(p), "core");
    assert_int_equal(planner_span_size(p), 0);
    assert_int_equal(planner_avail_resources_during(p, 7, 3), 10);
    assert_int_equal(add(p, 7, 3, 1), 1);
    finish(p);
}

static void reduces_spans(void **state)
{
    (void)state;
    bool removed = true;
    planner_t *p = make(INT64_MAX, 100);
    int64_t s1 = add(p, 0, 600, 25);
    int64_t s2 = add(p, 0, 1200, 75);
    assert_int_equal(planner_reduce_span(p, s1, 15, &removed), 0);
    assert_false(removed);
    assert_int_equal(planner_avail_resources_at(p, 0), 15);
    assert_int_equal(planner_span_resource_count(p, s1), 10);
    assert_int_equal(planner_reduce_span(p, s1, 10, &removed), 0);
    assert_true(removed);
    assert_int_equal(planner_avail_resources_at(p, 0), 25);
    assert_false(planner_is_active_span(p, s1));
    assert_int_equal(planner_reduce_span(p, s2, 25, &removed), 0);
    assert_int_equal(planner_avail_resources_at(p, 300), 50);
    int64_t s3 = add(p, 300, 300, 50);
    assert_int_equal(planner_avail_resources_at(p, 300), 0);
    assert_int_equal(planner_rem_span(p, s2), 0);
    assert_int_equal(planner_reduce_span(p, s3, 50, &removed), 0);
    assert_true(removed);
    add(p, 300, 300, 100);
    assert_int_equal(planner_avail_resources_at(p, 300), 0);
    finish(p);
}

/* A span of nothing marks two points, and giving back none of it removes it. */
static void empty_spans(void **state)
{
    (void)state;
    bool removed = false;
    planner_t *p = make(100, 0);
    int64_t id = add(p, 20, 30, 0);
    FITS(p, 0, 10, 0, 0, 20, 50);
    FITS(p, 1, 50, 0, 20, 50);
    assert_int_equal(planner_reduce_span(p, id, 0, &removed), 0);
    assert_true(removed);
    FITS(p, 0, 10, 0, 0);
    finish(p);
}

static void copies(void **state)
{
    (void)state;
    planner_t *p = make(INT64_MAX, 100000);
    static const int64_t spans[][3] = {{0, 600, 36},          {0, 57600, 3600},
                                       {57600, 57600, 1800},  {115200, 57600, 1152},
                                       {172800, 57600, 2304}, {115200, 900, 468}};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 6; i++)
            add(p, spans[i][0], (uint64_t)spans[i][1], (uint64_t)spans[i][2]);
        for (int64_t id = 1; round == 0 && id <= 6; id++)
            assert_int_equal(planner_rem_span(p, id), 0);
    }
    planner_t *a = planner_new_empty();
    planner_t *b = planner_new_empty();
    assert_true(planners_equal(p, p));
    assert_true(planners_equal(a, b));
    assert_false(planners_equal(p, a));
    planner_assign(a, p);
    planner_assign(b, a);
    planner_assign(b, b);
    assert_true(planners_equal(a, b));
    assert_true(planners_equal(p, a));
    assert_int_equal(planner_reset(b, 0, INT64_MAX), 0);
    assert_false(planners_equal(a, b));
    planner_t *c = planner_copy(a);
    assert_true(planners_equal(a, c));
    assert_true(planners_equal(p, a));
    assert_int_equal(planner_rem_span(a, 10), 0);
    assert_false(planners_equal(a, c));
    assert_int_equal(planner_avail_resources_at(c, 115200), 100000 - 1152 - 468);
    planner_assign(c, a);
    assert_true(planners_equal(a, c));
    planner_t *none = planner_new_empty();
    planner_assign(c, none); /* back to nothing */
    assert_true(planners_equal(c, none));
    FAILS(planner_base_time(c), -1, EINVAL);
    finish(none);
    finish(a);
    finish(b);
    finish(c);
    finish(p);
}

/* Each of these makes a difference. */
static void differences(void **state)
{
    (void)state;
    planner_t *p = make(100, 10);
    planner_t *other[] = {planner_new(1, 100, 10, "core"), planner_new(0, 99, 10, "core"),
                          planner_new(0, 100, 9, "core"), planner_new(0, 100, 10, "cores")};
    for (int i = 0; i < 4; i++) {
        assert_false(planners_equal(p, other[i]));
        finish(other[i]);
    }
    planner_t *copy = planner_copy(p);
    assert_int_equal(planner_rem_span(copy, add(copy, 0, 1, 1)), 0);
    assert_false(planners_equal(p, copy)); /* ids given out */
    planner_assign(copy, p);
    assert_int_equal(planner_avail_time_first(copy, 0, 1, 1), 0);
    assert_false(planners_equal(p, copy)); /* the iteration */
    planner_t *third = planner_copy(copy);
    assert_true(planners_equal(copy, third));
    FAILS(planner_avail_time_next(third), -1,
          ENOENT); /* a copy goes on where the original stands */
    FAILS(planner_avail_time_next(copy), -1, ENOENT);
    finish(third);
    finish(copy);
    finish(p);
}

/* Shrinking below what is taken and growing again gives back exactly what was free. */
static void totals(void **state)
{
    (void)state;
    planner_t *p = make(INT64_MAX, 100000);
    add(p, 0, 600, 36);
    add(p, 0, 57600, 3600);
    add(p, 57600, 57600, 1800);
    int64_t id = add(p, 172800, 57600, 2304);
    planner_t *before = planner_copy(p);
    assert_int_equal(planner_update_total(p, 100000), 0);
    assert_true(planners_equal(p, before));
    assert_int_equal(planner_update_total(p, 50000), 0);
    assert_int_equal(planner_resource_total(p), 50000);
    assert_int_equal(planner_avail_resources_at(p, 0), 50000 - 3636);
    assert_int_equal(planner_update_total(p, 1000), 0);
    assert_int_equal(planner_avail_resources_at(p, 0), 0);
    assert_int_equal(planner_avail_resources_during(p, 0, 200000), 0);
    FITS(p, 0, 57600, 1000, 115200, 230400);
    FITS(p, 0, 1, 0, 0, 600, 57600, 115200, 172800, 230400);
    FAILS(planner_add_span(p, 1152000, 10, 1001), -1, EINVAL);
    assert_int_equal(planner_rem_span(p, id), 0);
    assert_int_equal(planner_rem_span(before, id), 0);
    assert_int_equal(planner_update_total(p, 0), 0);
    FAILS(planner_avail_during(p, 1152000, 1, 1), -1, ERANGE);
    assert_int_equal(planner_update_total(p, 100000), 0);
    assert_true(planners_equal(p, before));
    assert_int_equal(planner_avail_resources_at(p, 0), 100000 - 3636);
    finish(before);
    finish(p);
}

/* At the ends of the number range. */
static void extremes(void **state)
{
    (void)state;
    planner_t *p = make(INT64_MAX, INT64_MAX);
    add(p, 0, INT64_MAX, INT64_MAX - 1);
    FITS(p, 0, INT64_MAX, 1, 0);
    FAILS(planner_avail_time_first(p, 0, (uint64_t)INT64_MAX + 1, 1), -1, ENOENT);
    FAILS(planner_avail_time_first(p, 0, UINT64_MAX, 0), -1, ENOENT);
    FAILS(planner_avail_time_next(p), -1, ENOENT);
    assert_int_equal(planner_avail_resources_at(p, INT64_MAX - 1), 1);
    assert_int_equal(planner_avail_resources_at(p, INT64_MAX), INT64_MAX);
    add(p, INT64_MAX - 1, 1, 1);
    assert_int_equal(planner_avail_resources_at(p, INT64_MAX - 1), 0);
    FAILS(planner_add_span(p, INT64_MAX - 1, 1, 1), -1, EINVAL);
    FAILS(planner_add_span(p, INT64_MAX, 1, 0), -1, EINVAL);
    FAILS(planner_add_span(p, 1, INT64_MAX, 1), -1, EINVAL);
    FAILS(planner_avail_time_first(p, 0, 1, INT64_MAX), -1, ENOENT);
    FITS(p, INT64_MAX - 2, 1, 0, INT64_MAX - 1);
    finish(p);
    p = planner_new(INT64_MIN, INT64_MAX, 7, "core"); /* [INT64_MIN, -1) */
    assert_int_equal(planner_duration(p), INT64_MAX);
    assert_int_equal(add(p, INT64_MIN, INT64_MAX, 3), 1);
    assert_int_equal(planner_avail_resources_at(p, -2), 4);
    assert_int_equal(planner_avail_resources_at(p, -1), 7);
    assert_true(planner_avail_time_first(p, INT64_MIN, INT64_MAX, 4) == INT64_MIN);
    FAILS(planner_avail_time_next(p), -1, ENOENT);
    finish(p);
}

/* Spans that end with the window leave a point at its end, which is no candidate. */
static void end_of_window(void **state)
{
    (void)state;
    planner_t *p = make(100, 2);
    add(p, 50, 50, 2);
    assert_int_equal(planner_avail_resources_at(p, 99), 0);
    assert_int_equal(planner_avail_resources_at(p, 100), 2);
    FITS(p, 0, 50, 2, 0);
    FAILS(planner_avail_time_first(p, 1, 1, 1), -1, ENOENT);
    FITS(p, 1, 1, 0, 50);
    finish(p);
}

static void stress_overlap(void **state)
{
    (void)state;
    bool right = true;
    planner_t *p = make(INT64_MAX, 10);
    for (int64_t i = 0; i < 10000; i++)
        right = right && planner_add_span(p, i / 2 * 1000, 1000, 5) == i + 1;
    assert_true(right);
    FITS(p, 0, 1, 1, 5000000);
    for (int64_t id = 1; id <= 10000; id += 4)
        right = right && planner_rem_span(p, id) == 0;
    assert_true(right);
    assert_int_equal(planner_avail_time_first(p, 1, 1000, 5), 2000);
    finish(p);

    p = make(INT64_MAX, 10000000); /* everything at one time, then everything at the next */
    for (int i = 0; i < 200000; i++) {
        int64_t at = planner_avail_time_first(p, 0, 4, 100);
        right = right && at == (i < 100000 ? 0 : 4) && planner_add_span(p, at, 4, 100) == i + 1;
    }
    assert_true(right);
    finish(p);

    p = make(INT64_MAX, 10000000); /* four spans at any time */
    for (int64_t i = 0; i < 200000; i++)
        right = right && planner_avail_during(p, i, 4, 100) == 0 &&
                planner_add_span(p, i, 4, 100) == i + 1;
    assert_true(right);
    assert_int_equal(planner_avail_resources_during(p, 0, 200000), 10000000 - 400);
    finish(p);
}

/* Nine calendars and the three sums of those of a type: what a sum finds, its parts grant. */
static void stress_sums(void **state)
{
    (void)state;
    static const uint64_t units[3] = {16, 2, 32};
    planner_t *local[9];
    planner_t *sum[3];
    bool right = true;
    for (int i = 0; i < 3; i++)
        sum[i] = make(INT64_MAX, 3 * units[i]);
    for (int i = 0; i < 9; i++) {
        local[i] = make(INT64_MAX, units[i % 3]);
        add(local[i], 3600, 1000, units[i % 3]);
        add(sum[i % 3], 3600, 1000, units[i % 3]);
    }
    for (int i = 0; i < 50000; i++) {
        uint64_t n = units[i % 3];
        int64_t at = planner_avail_time_first(sum[i % 3], 4600, 1000, n);
        right = right && at == 4600 + i / 9 * 1000 &&
                planner_avail_during(local[i % 9], at, 1000, n) == 0 &&
                planner_add_span(local[i % 9], at, 1000, n) > 0 &&
                planner_add_span(sum[i % 3], at, 1000, n) > 0;
    }
    assert_true(right);
    for (int i = 0; i < 9; i++)
        finish(local[i]);
    for (int i = 0; i < 3; i++)
        finish(sum[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_and_getters), cmocka_unit_test(no_planner),
        cmocka_unit_test(arguments),       cmocka_unit_test(unknown_spans),
        cmocka_unit_test(fills_a_window),  cmocka_unit_test(what_is_free),
        cmocka_unit_test(only_points),     cmocka_unit_test(iteration),
        cmocka_unit_test(span_ids),        cmocka_unit_test(reduces_spans),
        cmocka_unit_test(empty_spans),     cmocka_unit_test(copies),
        cmocka_unit_test(differences),     cmocka_unit_test(totals),
        cmocka_unit_test(extremes),        cmocka_unit_test(end_of_window),
        cmocka_unit_test(stress_overlap),  cmocka_unit_test(stress_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
