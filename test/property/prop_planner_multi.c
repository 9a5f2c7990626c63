/* The multi planner against calendars that hold the load of every single tick, one for each type: random
 * steps, each answer compared, with types that come, go and change places.
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

#define SPANS_MAX 400
#define TYPES_MAX 6
#define GONE      (-1)

static const char *const names[TYPES_MAX] = {"A",    "B", "C", "a name of more than 24 characters",
                                             "core", "F"};

/* All arrays below are by name, not by index. */
struct model_span {
    int64_t id, start, last;
    int64_t planned[TYPES_MAX];
};

struct model {
    int64_t base, window;
    struct calendar cal[TYPES_MAX];
    size_t types;
    int type[TYPES_MAX]; /* names in the order of the multi planner */
    struct model_span span[SPANS_MAX];
    int n;
    int limit; /* spans to hover around */
    int64_t counter;
    /* the running first/next */
    int querying;
    int64_t on_or_after, from, duration;
    int64_t request[TYPES_MAX];
};

struct shape {
    int64_t base, window, total, longest;
    int spans;
    int steps;
    int check_every;
};

static int64_t model_next(struct model *m)
{
    for (int64_t t = m->from; t + m->duration <= m->base + m->window; t++) {
        int point = 0;
        int fits = 1;
        for (size_t i = 0; i < m->types && fits; i++) {
            const struct calendar *cal = &m->cal[m->type[i]];
            point |= calendar_point(cal, t);
            fits = calendar_fits(cal, t, m->duration, m->request[m->type[i]]);
        }
        if (point && fits) {
            m->from = t + 1;
            return t;
        }
    }
    m->from = m->base + m->window + 1;
    return -1;
}

static int64_t pick_duration(const struct shape *s, struct random *r)
{
    int64_t longest = random_next(r) % 4 ? s->longest : s->window;
    return random_between(r, 1, longest);
}

/* Requests by index, as the interface takes them; mostly of few types. */
static void pick_requests(const struct model *m, struct random *r, uint64_t request[TYPES_MAX])
{
    int sparse = random_next(r) % 2 == 0;
    for (size_t i = 0; i < m->types; i++) {
        int64_t units = calendar_pick_request(&m->cal[m->type[i]], r);
        request[i] = sparse && random_next(r) % 2 ? 0 : (uint64_t)units;
    }
    if (random_next(r) % 32 == 0)
        request[random_next(r) % m->types] += 1 + (uint64_t)m->cal[m->type[0]].total;
}

static int pick_span(const struct model *m, struct random *r)
{
    return (int)random_between(r, 0, m->n - 1);
}

static void step_add(planner_multi_t *p, struct model *m, const struct shape *s, struct random *r)
{
    uint64_t request[TYPES_MAX];
    struct model_span span = {.start = random_between(r, m->base, m->base + m->window - 1)};
    int64_t duration = pick_duration(s, r);
    span.last = span.start + duration;
    pick_requests(m, r, request);
    int ok = span.last <= m->base + m->window;
    for (size_t i = 0; i < m->types; i++) {
        int t = m->type[i];
        ok = ok && calendar_fits(&m->cal[t], span.start, duration, (int64_t)request[i]);
        span.planned[t] = (int64_t)request[i];
    }
    if (m->n == SPANS_MAX)
        return;
    span.id = m->counter++;
    errno = 0;
    int64_t id = planner_multi_add_span(p, span.start, (uint64_t)duration, request, m->types);
    if (!ok) {
        assert_int_equal(id, -1);
        assert_int_equal(errno, EINVAL);
        return;
    }
    assert_int_equal(id, span.id);
    for (size_t i = 0; i < m->types; i++)
        calendar_take(&m->cal[m->type[i]], span.start, span.last, (int64_t)request[i], 1);
    for (int t = 0; t < TYPES_MAX; t++)
        if (!m->cal[t].load)
            span.planned[t] = GONE;
    m->span[m->n++] = span;
    m->querying = 0;
}

/* A type's part of a span ends. */
static void model_part_gone(struct model *m, struct model_span *span, int t)
{
    if (span->planned[t] == GONE)
        return;
    calendar_take(&m->cal[t], span->start, span->last, -span->planned[t], -1);
    span->planned[t] = GONE;
}

static void model_forget(struct model *m, int i)
{
    memmove(&m->span[i], &m->span[i + 1], (size_t)(m->n - i - 1) * sizeof(m->span[0]));
    m->n--;
}

static void step_remove(planner_multi_t *p, struct model *m, struct random *r)
{
    if (m->n == 0 || random_next(r) % 64 == 0) {
        errno = 0;
        assert_int_equal(planner_multi_rem_span(p, m->counter), -1);
        assert_int_equal(errno, ENOENT);
        return;
    }
    int i = pick_span(m, r);
    assert_int_equal(planner_multi_rem_span(p, m->span[i].id), 0);
    for (int t = 0; t < TYPES_MAX; t++)
        model_part_gone(m, &m->span[i], t);
    model_forget(m, i);
    m->querying = 0;
}

/* What a list of reductions makes of a span, entry by entry; false if one asks for too much. */
static int model_reduce(int64_t left[TYPES_MAX], const struct model *m, const int *type,
                        const uint64_t *units, size_t len)
{
    int listed[TYPES_MAX] = {0};
    for (size_t i = 0; i < len; i++) {
        int64_t *rest = &left[type[i]];
        listed[type[i]] = 1;
        if (*rest == GONE)
            continue;
        if ((int64_t)units[i] > *rest)
            return 0;
        *rest = (int64_t)units[i] == *rest ? GONE : *rest - (int64_t)units[i];
    }
    for (size_t i = 0; i < m->types; i++)
        if (!listed[m->type[i]] && left[m->type[i]] == 0)
            left[m->type[i]] = GONE;
    return 1;
}

static void model_reduced(struct model *m, int i, const int64_t left[TYPES_MAX])
{
    struct model_span *span = &m->span[i];
    int rest = 0;
    for (int t = 0; t < TYPES_MAX; t++) {
        if (left[t] == GONE && span->planned[t] != GONE) {
            model_part_gone(m, span, t);
            m->querying = 0;
        } else if (left[t] != span->planned[t]) {
            calendar_take(&m->cal[t], span->start, span->last, left[t] - span->planned[t], 0);
            span->planned[t] = left[t];
            m->from = m->on_or_after;
        }
        rest |= left[t] != GONE;
    }
    if (!rest)
        model_forget(m, i);
}

static void step_reduce(planner_multi_t *p, struct model *m, struct random *r)
{
    if (m->n == 0)
        return;
    int i = pick_span(m, r);
    int type[TYPES_MAX + 2];
    const char *list[TYPES_MAX + 2];
    uint64_t units[TYPES_MAX + 2];
    int64_t left[TYPES_MAX];
    size_t len = (size_t)random_between(r, 0, TYPES_MAX + 2);
    memcpy(left, m->span[i].planned, sizeof(left));
    for (size_t k = 0; k < len; k++) {
        type[k] = (int)(random_next(r) % TYPES_MAX);
        list[k] = names[type[k]];
        int64_t has = left[type[k]];
        int64_t most = random_next(r) % 16 ? has : has + 2;
        units[k] = has == GONE ? random_next(r) % 9 : (uint64_t)random_between(r, 0, most);
        if (random_next(r) % 3 == 0 && has != GONE)
            units[k] = (uint64_t)has;
    }
    int ok = model_reduce(left, m, type, units, len);
    bool removed = true;
    errno = 0;
    int rc = planner_multi_reduce_span(p, m->span[i].id, units, list, len, &removed);
    assert_int_equal(rc, ok ? 0 : -1);
    if (!ok) {
        assert_int_equal(errno, EINVAL);
        assert_false(removed);
        return;
    }
    int n = m->n;
    model_reduced(m, i, left);
    assert_int_equal(removed, m->n < n);
}

static void step_first(planner_multi_t *p, struct model *m, const struct shape *s, struct random *r)
{
    uint64_t request[TYPES_MAX];
    int64_t from = random_between(r, m->base, m->base + m->window - 1);
    int64_t duration = pick_duration(s, r);
    pick_requests(m, r, request);
    errno = 0;
    int64_t at = planner_multi_avail_time_first(p, from, (uint64_t)duration, request, m->types);
    if (request[0] > (uint64_t)m->cal[m->type[0]].total) {
        assert_int_equal(at, -1);
        assert_int_equal(errno, ERANGE);
        return;
    }
    m->on_or_after = m->from = from;
    m->duration = duration;
    m->querying = 1;
    memset(m->request, 0, sizeof(m->request));
    for (size_t i = 0; i < m->types; i++)
        m->request[m->type[i]] = (int64_t)request[i];
    int64_t expected = model_next(m);
    assert_int_equal(at, expected);
    assert_int_equal(errno, expected < 0 ? ENOENT : 0);
}

static void step_next(planner_multi_t *p, struct model *m)
{
    errno = 0;
    int64_t at = planner_multi_avail_time_next(p);
    if (!m->querying) {
        assert_int_equal(at, -1);
        assert_int_equal(errno, EINVAL);
    } else if (m->request[m->type[0]] > m->cal[m->type[0]].total) {
        assert_int_equal(at, -1);
        assert_int_equal(errno, ERANGE);
    } else {
        assert_int_equal(at, model_next(m));
    }
}

static void step_during(planner_multi_t *p, struct model *m, const struct shape *s,
                        struct random *r)
{
    uint64_t request[TYPES_MAX];
    int64_t at = random_between(r, m->base, m->base + m->window - 1);
    int64_t duration = pick_duration(s, r);
    int64_t counts[TYPES_MAX];
    pick_requests(m, r, request);
    int expected = at + duration > m->base + m->window ? ERANGE : 0;
    for (size_t i = 0; i < m->types && !expected; i++) {
        const struct calendar *cal = &m->cal[m->type[i]];
        if ((int64_t)request[i] > cal->total)
            expected = ERANGE;
        else if (!calendar_fits(cal, at, duration, (int64_t)request[i]))
            expected = EBUSY;
    }
    errno = 0;
    int rc = planner_multi_avail_during(p, at, (uint64_t)duration, request, m->types);
    assert_int_equal(rc, expected ? -1 : 0);
    assert_int_equal(errno, expected);
    rc = planner_multi_avail_resources_array_during(p, at, (uint64_t)duration, counts, m->types);
    assert_int_equal(rc, at + duration > m->base + m->window ? -1 : 0);
    for (size_t i = 0; rc == 0 && i < m->types; i++) {
        const struct calendar *cal = &m->cal[m->type[i]];
        assert_true(calendar_fits(cal, at, duration, counts[i]));
        assert_true(!calendar_fits(cal, at, duration, counts[i] + 1));
    }
    assert_int_equal(planner_multi_avail_resources_array_at(p, at, counts, m->types), 0);
    for (size_t i = 0; i < m->types; i++) {
        assert_int_equal(counts[i], calendar_free_at(&m->cal[m->type[i]], at));
        assert_int_equal(planner_multi_avail_resources_at(p, at, (unsigned)i), counts[i]);
    }
}

/* A type comes, or the model forgets it with its part of all spans. */
static void model_type(struct model *m, int t, int wanted, int64_t total)
{
    struct calendar *cal = &m->cal[t];
    if (wanted && !cal->load) {
        *cal = calendar_make(m->base, m->window, total);
        m->request[t] = 0;
    } else if (!wanted && cal->load) {
        for (int i = 0; i < m->n; i++)
            m->span[i].planned[t] = GONE;
        calendar_free(cal);
        *cal = (struct calendar){0};
    }
    cal->total = wanted ? total : 0;
}

static void step_update(planner_multi_t *p, struct model *m, const struct shape *s,
                        struct random *r)
{
    int order[TYPES_MAX];
    const char *list[TYPES_MAX];
    uint64_t totals[TYPES_MAX];
    size_t len = m->types;
    for (int t = 0; t < TYPES_MAX; t++)
        order[t] = t;
    memcpy(order, m->type, len * sizeof(order[0]));
    if (random_next(r) % 3 == 0) {
        len = (size_t)random_between(r, 1, TYPES_MAX);
        for (int t = 0; t < TYPES_MAX; t++)
            order[t] = t;
        for (int t = TYPES_MAX - 1; t > 0; t--) {
            int u = (int)random_between(r, 0, t);
            int swap = order[t];
            order[t] = order[u];
            order[u] = swap;
        }
    }
    int wanted[TYPES_MAX] = {0};
    for (size_t i = 0; i < len; i++) {
        wanted[order[i]] = 1;
        list[i] = names[order[i]];
        totals[i] = (uint64_t)(random_next(r) % 4 ? s->total : random_between(r, 0, s->total));
        model_type(m, order[i], 1, (int64_t)totals[i]);
    }
    for (int t = 0; t < TYPES_MAX; t++)
        if (!wanted[t])
            model_type(m, t, 0, 0);
    memcpy(m->type, order, sizeof(m->type));
    m->types = len;
    assert_int_equal(planner_multi_update(p, totals, list, len), 0);
}

static void check_spans(planner_multi_t *p, const struct model *m)
{
    assert_true(planner_multi_check(p));
    assert_int_equal(planner_multi_span_size(p), m->n);
    int64_t id = planner_multi_span_first(p);
    for (int i = 0; i < m->n; i++) {
        assert_int_equal(id, m->span[i].id);
        for (size_t k = 0; k < m->types; k++) {
            int64_t planned = m->span[i].planned[m->type[k]];
            assert_int_equal(planner_multi_span_planned_at(p, id, (unsigned)k),
                             planned == GONE ? 0 : planned);
        }
        id = planner_multi_span_next(p);
    }
    assert_int_equal(id, -1);
    assert_int_equal(planner_multi_resources_len(p), m->types);
    for (size_t k = 0; k < m->types; k++) {
        const char *name = names[m->type[k]];
        assert_string_equal(planner_multi_resource_type_at(p, (unsigned)k), name);
        assert_int_equal(planner_multi_resource_total_by_type(p, name), m->cal[m->type[k]].total);
    }
}

static void check_copies(planner_multi_t *p)
{
    planner_multi_t *copy = planner_multi_copy(p);
    assert_true(planner_multis_equal(p, copy));
    assert_true(planner_multi_check(copy));
    planner_multi_t *other = planner_multi_empty();
    assert_false(planner_multis_equal(p, other));
    planner_multi_assign(other, copy);
    assert_true(planner_multis_equal(p, other));
    assert_true(planner_multi_check(other));
    planner_multi_assign(copy, other);
    assert_true(planner_multis_equal(p, copy));
    planner_multi_destroy(&other);
    planner_multi_destroy(&copy);
}

static void step(planner_multi_t *p, struct model *m, const struct shape *s, struct random *r)
{
    uint64_t dice = random_next(r) % 100;
    if (dice < 46) {
        if ((dice < 26) == (m->n < m->limit))
            step_add(p, m, s, r);
        else
            step_remove(p, m, r);
    } else if (dice < 56) {
        step_reduce(p, m, r);
    } else if (dice < 68) {
        step_first(p, m, s, r);
    } else if (dice < 82) {
        step_next(p, m);
    } else if (dice < 96) {
        step_during(p, m, s, r);
    } else {
        step_update(p, m, s, r);
    }
}

static void run(const struct shape *s, uint64_t seed)
{
    struct random r = {seed};
    struct model *m = calloc(1, sizeof(*m));
    uint64_t totals[TYPES_MAX];
    const char *list[TYPES_MAX];
    m->base = s->base;
    m->window = s->window;
    m->types = 1 + seed % 4;
    for (size_t i = 0; i < m->types; i++) {
        m->type[i] = (int)i;
        list[i] = names[i];
        totals[i] = (uint64_t)s->total;
        model_type(m, (int)i, 1, s->total);
    }
    planner_multi_t *p = planner_multi_new(s->base, (uint64_t)s->window, totals, list, m->types);
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
    planner_multi_destroy(&p);
    for (int t = 0; t < TYPES_MAX; t++)
        calendar_free(&m->cal[t]);
    free(m);
}

static void test_few_spans(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++)
        run(&(struct shape){.window = 40,
                            .total = 6,
                            .longest = 12,
                            .spans = 8,
                            .steps = 8000,
                            .check_every = 7},
            seed);
}

static void test_base_and_zero_total(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++)
        run(&(struct shape){.base = 1000,
                            .window = 25,
                            .total = (int64_t)(seed % 3),
                            .longest = 9,
                            .spans = 12,
                            .steps = 4000,
                            .check_every = 5},
            seed);
}

static void test_many_spans(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++)
        run(&(struct shape){.window = 400,
                            .total = 60,
                            .longest = 40,
                            .spans = 180,
                            .steps = 20000,
                            .check_every = 53},
            seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_spans),
        cmocka_unit_test(test_base_and_zero_total),
        cmocka_unit_test(test_many_spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
