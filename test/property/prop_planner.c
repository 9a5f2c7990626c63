/* The planner against an array that holds the load of every single tick: over a million random steps, each
 * answer compared, the calendar checking itself as it goes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calendar.h"
#include "planner/planner_ext.h"
#include "random.h"

#define SPANS_MAX 6000

struct model_span {
    int64_t id, start, last, planned;
};

struct model {
    struct calendar cal;
    struct model_span span[SPANS_MAX];
    int n;
    int limit; /* spans to hover around */
    int64_t counter;
    /* the running first/next */
    int querying;
    int64_t on_or_after, from, duration, request;
};

struct shape {
    int64_t base, window, total, longest;
    int spans;
    int steps;
    int check_every;
    int whole; /* most spans take all there is */
};

static int64_t free_at(const struct model *m, int64_t at)
{
    return calendar_free_at(&m->cal, at);
}

static int fits(const struct model *m, int64_t at, int64_t duration, int64_t request)
{
    return calendar_fits(&m->cal, at, duration, request);
}

static void take(struct model *m, const struct model_span *s, int64_t units, int hold)
{
    calendar_take(&m->cal, s->start, s->last, units, hold);
}

static int64_t model_next(struct model *m)
{
    for (int64_t t = m->from; t + m->duration <= m->cal.base + m->cal.window; t++) {
        if (calendar_point(&m->cal, t) && fits(m, t, m->duration, m->request)) {
            m->from = t + 1;
            return t;
        }
    }
    m->from = m->cal.base + m->cal.window + 1;
    return -1;
}

/* Durations are mostly short. */
static int64_t pick_duration(const struct shape *s, struct random *r)
{
    int64_t longest = random_next(r) % 4 ? s->longest : s->window;
    return random_between(r, 1, longest);
}

static void step_add(planner_t *p, struct model *m, const struct shape *s, struct random *r)
{
    struct model_span span = {.start = calendar_pick_time(&m->cal, r)};
    span.planned = calendar_pick_request(&m->cal, r);
    int64_t duration = pick_duration(s, r);
    if (s->whole && random_next(r) % 4)
        span.planned = m->cal.total;
    span.last = span.start + duration;
    int inside = span.last <= m->cal.base + m->cal.window;
    int ok = inside && m->n < SPANS_MAX && fits(m, span.start, duration, span.planned);
    if (inside && m->n == SPANS_MAX)
        return;
    errno = 0;
    span.id = planner_add_span(p, span.start, (uint64_t)duration, (uint64_t)span.planned);
    if (!ok) {
        assert_int_equal(span.id, -1);
        assert_int_equal(errno, EINVAL);
        return;
    }
    assert_int_equal(span.id, ++m->counter);
    take(m, &span, span.planned, 1);
    m->span[m->n++] = span;
    m->querying = 0;
}

static void model_forget(struct model *m, int i)
{
    take(m, &m->span[i], -m->span[i].planned, -1);
    memmove(&m->span[i], &m->span[i + 1], (size_t)(m->n - i - 1) * sizeof(m->span[0]));
    m->n--;
    m->querying = 0;
}

static void step_remove(planner_t *p, struct model *m, struct random *r)
{
    if (m->n == 0 || random_next(r) % 64 == 0) {
        assert_int_equal(planner_rem_span(p, m->counter + 1), -1);
        assert_int_equal(errno, EINVAL);
        return;
    }
    int i = (int)random_between(r, 0, m->n - 1);
    int64_t id = m->span[i].id;
    assert_int_equal(planner_rem_span(p, id), 0);
    assert_false(planner_is_active_span(p, id));
    model_forget(m, i);
}

static void step_reduce(planner_t *p, struct model *m, struct random *r)
{
    if (m->n == 0)
        return;
    int i = (int)random_between(r, 0, m->n - 1);
    struct model_span *span = &m->span[i];
    int64_t units = random_between(r, 0, span->planned + 1);
    bool removed = true;
    int rc = planner_reduce_span(p, span->id, units, &removed);
    assert_int_equal(rc, units > span->planned ? -1 : 0);
    assert_int_equal(removed, units == span->planned);
    if (units == span->planned) {
        model_forget(m, i);
    } else if (units > 0 && units < span->planned) {
        take(m, span, -units, 0);
        span->planned -= units;
        m->from = m->on_or_after;
    }
}

/* What the span holds counts as free for it, even where the total has shrunk below what is taken. */
static void step_advance(planner_t *p, struct model *m, struct random *r)
{
    if (m->n == 0)
        return;
    struct model_span *span = &m->span[random_between(r, 0, m->n - 1)];
    int64_t from = random_between(r, m->cal.base, span->start);
    int64_t at = from;
    int64_t duration = span->last - span->start;
    while (at < span->start) {
        int64_t end = at + duration < span->start ? at + duration : span->start;
        if (fits(m, at, end - at, span->planned))
            break;
        at++;
    }
    if (at < span->start)
        m->querying = 0;
    assert_int_equal(planner_earliest_before(p, from, duration, span->planned, span->start), at);
    assert_int_equal(planner_advance_span(p, span->id, at), at < span->start ? 0 : -1);
    take(m, span, -span->planned, -1);
    span->start = at;
    span->last = at + duration;
    take(m, span, span->planned, 1);
}

static void step_first(planner_t *p, struct model *m, const struct shape *s, struct random *r)
{
    m->on_or_after = m->from = calendar_pick_time(&m->cal, r);
    m->duration = pick_duration(s, r);
    m->request = calendar_pick_request(&m->cal, r);
    m->querying = 1;
    int64_t expected = model_next(m);
    errno = 0;
    int64_t at =
        planner_avail_time_first(p, m->on_or_after, (uint64_t)m->duration, (uint64_t)m->request);
    assert_int_equal(at, expected);
    assert_int_equal(errno, expected < 0 ? ENOENT : 0);
}

static void step_next(planner_t *p, struct model *m)
{
    errno = 0;
    int64_t at = planner_avail_time_next(p);
    if (!m->querying) {
        assert_int_equal(at, -1);
        assert_int_equal(errno, EINVAL);
    } else if (m->request > m->cal.total) {
        assert_int_equal(at, -1);
        assert_int_equal(errno, ERANGE);
    } else {
        assert_int_equal(at, model_next(m));
    }
}

static void step_earliest(planner_t *p, struct model *m, const struct shape *s, struct random *r)
{
    int64_t from = calendar_pick_time(&m->cal, r);
    int64_t duration = pick_duration(s, r);
    int64_t request = calendar_pick_request(&m->cal, r);
    int64_t at = from;
    while (at + duration <= m->cal.base + m->cal.window && !fits(m, at, duration, request))
        at++;
    if (at + duration > m->cal.base + m->cal.window)
        at = -1;
    assert_int_equal(planner_earliest(p, from, (uint64_t)duration, (uint64_t)request), at);
}

static void step_during(planner_t *p, struct model *m, const struct shape *s, struct random *r)
{
    int64_t at = calendar_pick_time(&m->cal, r);
    int64_t duration = pick_duration(s, r);
    int64_t request = calendar_pick_request(&m->cal, r);
    int outside = at + duration > m->cal.base + m->cal.window;
    errno = 0;
    int rc = planner_avail_during(p, at, (uint64_t)duration, (uint64_t)request);
    if (outside) {
        assert_int_equal(errno, ERANGE);
        assert_int_equal(planner_avail_resources_during(p, at, (uint64_t)duration), -1);
        return;
    }
    assert_int_equal(rc, fits(m, at, duration, request) ? 0 : -1);
    assert_int_equal(errno, rc < 0 ? EBUSY : 0);
    int64_t least = INT64_MAX;
    for (int64_t t = at; t < at + duration; t++) {
        least = free_at(m, t) < least ? free_at(m, t) : least;
    }
    assert_int_equal(planner_avail_resources_during(p, at, (uint64_t)duration), least);
    at = random_between(r, m->cal.base, m->cal.base + m->cal.window);
    assert_int_equal(planner_avail_resources_at(p, at), free_at(m, at));
}

static void step_rooms(planner_t *p, struct model *m, struct random *r)
{
    struct planner_room room[8];
    int64_t at = calendar_pick_time(&m->cal, r);
    size_t n = planner_rooms(p, at, room, 8);
    int64_t least = INT64_MAX;
    size_t k = 0;
    for (int64_t t = at; t <= m->cal.base + m->cal.window; t++) {
        least = free_at(m, t) < least ? free_at(m, t) : least;
        while (room[k].within < t + 1 - at)
            k++;
        assert_true(k < n);
        if (k + 1 < n || n < 8)
            assert_int_equal(room[k].free, least);
        else
            assert_true(room[k].free >= least);
    }
}

static void step_total(planner_t *p, struct model *m, const struct shape *s, struct random *r)
{
    m->cal.total = random_next(r) % 4 ? s->total : random_between(r, 0, s->total);
    assert_int_equal(planner_update_total(p, (uint64_t)m->cal.total), 0);
}

static void check_spans(planner_t *p, const struct model *m)
{
    assert_true(planner_check(p));
    assert_int_equal(planner_span_size(p), m->n);
    int64_t id = planner_span_first(p);
    for (int i = 0; i < m->n; i++) {
        const struct model_span *span = &m->span[i];
        assert_int_equal(id, span->id);
        assert_int_equal(planner_span_start_time(p, id), span->start);
        assert_int_equal(planner_span_duration(p, id), span->last - span->start);
        assert_int_equal(planner_span_resource_count(p, id), span->planned);
        id = planner_span_next(p);
    }
    assert_int_equal(id, -1);
}

static void check_copies(planner_t *p)
{
    planner_t *copy = planner_copy(p);
    assert_true(planners_equal(p, copy));
    assert_true(planner_check(copy));
    planner_t *other = planner_new(0, 10, 1, "another type with a rather long name");
    assert_false(planners_equal(p, other));
    planner_assign(other, copy);
    assert_true(planners_equal(p, other));
    assert_true(planner_check(other));
    planner_assign(copy, other);
    assert_true(planners_equal(p, copy));
    planner_destroy(&other);
    planner_destroy(&copy);
}

static void step(planner_t *p, struct model *m, const struct shape *s, struct random *r)
{
    uint64_t dice = random_next(r) % 100;
    if (dice < 40) {
        if ((dice < 22) == (m->n < m->limit))
            step_add(p, m, s, r);
        else
            step_remove(p, m, r);
    } else if (dice < 46) {
        step_reduce(p, m, r);
    } else if (dice < 54) {
        step_advance(p, m, r);
    } else if (dice < 64) {
        step_first(p, m, s, r);
    } else if (dice < 74) {
        step_next(p, m);
    } else if (dice < 84) {
        step_earliest(p, m, s, r);
    } else if (dice < 94) {
        step_during(p, m, s, r);
    } else if (dice < 98) {
        step_rooms(p, m, r);
    } else {
        step_total(p, m, s, r);
    }
}

static void run(const struct shape *s, uint64_t seed)
{
    struct random r = {seed};
    struct model *m = calloc(1, sizeof(*m));
    m->cal = calendar_make(s->base, s->window, s->total);
    planner_t *p = planner_new(s->base, (uint64_t)s->window, (uint64_t)s->total, "unit");
    assert_non_null(p);
    for (int i = 0; i < s->steps; i++) {
        if (i % 997 == 0) /* from empty to the shape's full size and back */
            m->limit = (int)random_between(&r, 0, s->spans);
        step(p, m, s, &r);
        if (i % s->check_every == 0) {
            check_spans(p, m);
            check_copies(p);
        }
    }
    planner_destroy(&p);
    calendar_free(&m->cal);
    free(m);
}

static void test_few_spans(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < RANDOM_ROUNDS(40); seed++)
        run(&(struct shape){.window = 40,
                            .total = 6,
                            .longest = 12,
                            .spans = 8,
                            .steps = 12000,
                            .check_every = 7},
            seed);
}

static void test_base_and_zero_total(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < RANDOM_ROUNDS(20); seed++)
        run(&(struct shape){.base = 1000,
                            .window = 25,
                            .total = (int64_t)(seed % 3),
                            .longest = 9,
                            .spans = 12,
                            .steps = 6000,
                            .check_every = 5},
            seed);
}

static void test_many_spans(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < RANDOM_ROUNDS(8); seed++)
        run(&(struct shape){.window = 400,
                            .total = 60,
                            .longest = 40,
                            .spans = 180,
                            .steps = 50000,
                            .check_every = 53},
            seed);
}

/* Thousands of points: inner nodes above inner nodes, splits, joins, shifts between neighbours. */
static void test_deep_trees(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < RANDOM_ROUNDS(3); seed++)
        run(&(struct shape){.window = 20000,
                            .total = 1000,
                            .longest = 300,
                            .spans = 5500,
                            .steps = 40000,
                            .check_every = 4001},
            seed);
}

/* Loads as large as numbers are, in a tree whose nodes split and join under them. */
static void test_huge_loads(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < RANDOM_ROUNDS(10); seed++)
        run(&(struct shape){.window = 5000,
                            .total = INT64_MAX - 2,
                            .longest = seed % 2 ? 30 : 2000,
                            .spans = 900,
                            .steps = 30000,
                            .check_every = 401,
                            .whole = 1},
            seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_spans),  cmocka_unit_test(test_base_and_zero_total),
        cmocka_unit_test(test_many_spans), cmocka_unit_test(test_deep_trees),
        cmocka_unit_test(test_huge_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
