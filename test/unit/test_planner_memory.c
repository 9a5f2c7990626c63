/* Planners without memory: each allocation that a call makes fails once, the first, the second and so on,
 * until the call comes through. What failed must have changed nothing.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fixture/failing_alloc.h"
#include "planner/planner_ext.h"

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Call until it comes through; some calls can do without the memory and come through at once. */
#define THROUGH(call, failure, unchanged)                                                          \
    for (int64_t nth = 0;; nth++) {                                                                \
        fail_allocation(nth);                                                                      \
        bool refused = (call) == (failure);                                                        \
        int error = errno;                                                                         \
        bool hit = end_failures();                                                                 \
        if (!refused)                                                                              \
            break;                                                                                 \
        assert_true(hit);                                                                          \
        assert_int_equal(error, ENOMEM);                                                           \
        unchanged;                                                                                 \
    }

static void unchanged(planner_t *p, planner_t *before, bool look)
{
    assert_true(planners_equal(p, before));
    if (look)
        assert_true(planner_check(p));
}

/* A calendar grows from nothing to three levels and back, and is moved about on the way. */
static void planner_steps(void **state)
{
    (void)state;
    enum { STEPS = 6000 };
    uint64_t r = 1;
    int64_t ids[STEPS];
    int n = 0;
    planner_t *p = planner_new(0, 1000000, 1000000, "core");
    planner_t *before = planner_copy(p);
    for (int i = 0; i < STEPS; i++) {
        bool grow = i < STEPS / 2 ? next_random(&r) % 8 > 0 : next_random(&r) % 8 == 0;
        bool look = i % 61 == 0 || n < 12;
        if (look)
            planner_assign(before, p);
        if (grow || n == 0) {
            int64_t start = (int64_t)(next_random(&r) % 900000);
            uint64_t duration = 1 + next_random(&r) % 90000;
            THROUGH(ids[n] = planner_add_span(p, start, duration, 3), -1,
                    if (look) unchanged(p, before, true));
            n++;
        } else {
            int k = (int)(next_random(&r) % (uint64_t)n);
            THROUGH(planner_rem_span(p, ids[k]), -1, fail());
            ids[k] = ids[--n];
        }
        if (i % 5 == 0 && n > 0) {
            int64_t id = ids[next_random(&r) % (uint64_t)n];
            planner_update_total(p, 1000000 + 3 * (uint64_t)n);
            int64_t start = planner_span_start_time(p, id);
            int64_t at = planner_earliest_before(p, 0, planner_span_duration(p, id),
                                                 planner_span_resource_count(p, id), start);
            if (at < start)
                THROUGH(planner_advance_span(p, id, at), -1,
                        assert_int_equal(planner_span_start_time(p, id), start));
            planner_update_total(p, 1000000);
        }
        if (look)
            assert_true(planner_check(p));
    }
    planner_destroy(&before);
    planner_destroy(&p);
}

/* Splits in the middle and removals that join nodes, each memory short in turn. */
static void planner_removals(void **state)
{
    (void)state;
    planner_t *full = planner_new(0, 1000000, 10, "core");
    for (int64_t i = 0; i < 600; i++)
        assert_true(planner_add_span(full, i * 7919 % 600 * 1000, 500, 1) > 0);
    for (int64_t n = 0; n < 40; n++) {
        planner_t *p = planner_copy(full);
        planner_t *same = planner_copy(full);
        fail_allocation(n);
        for (int64_t id = 1; id <= 600; id++)
            if (id % 97)
                assert_int_equal(planner_rem_span(p, id), 0);
        bool hit = end_failures();
        for (int64_t id = 1; id <= 600; id++)
            if (id % 97)
                assert_int_equal(planner_rem_span(same, id), 0);
        assert_true(planner_check(p));
        assert_true(planners_equal(p, same));
        planner_destroy(&p);
        planner_destroy(&same);
        if (!hit)
            break;
    }
    planner_destroy(&full);
}

static void planner_handles(void **state)
{
    (void)state;
    const char *name = "a name that does not fit into the planner itself";
    for (int spans = 0; spans < 400; spans += spans < 8 ? 1 : 49) {
        planner_t *p;
        planner_t *copy;
        THROUGH(p = planner_new(0, 1000, 500, name), NULL, );
        for (int i = 0; i < spans; i++)
            THROUGH(planner_add_span(p, i, 10, 1), -1, );
        THROUGH(copy = planner_copy(p), NULL, assert_true(planner_check(p)));
        assert_true(planners_equal(p, copy));
        planner_t *target;
        THROUGH(target = planner_new_empty(), NULL, );
        for (int round = 0; round < 2; round++) { /* onto nothing, then onto something else */
            planner_t *before = planner_copy(target);
            THROUGH((planner_assign(target, p), planners_equal(target, p)), false,
                    unchanged(target, before, true));
            planner_destroy(&before);
            assert_true(planner_check(target));
            assert_int_equal(planner_reset(target, 0, 70), 0);
            assert_int_equal(planner_add_span(target, 0, 7, 9), 1);
        }
        planner_destroy(&target);
        planner_destroy(&copy);
        planner_destroy(&p);
    }
}

static const char *names[] = {"node", "core", "memory that has a long name, too long", "gpu",
                              "nic"};
static const uint64_t totals[] = {1000, 2000, 3000, 4000, 5000};

/* All but the ids of a refused add, its own and those of its parts. */
static void multi_unchanged(planner_multi_t *m, planner_multi_t *before)
{
    assert_true(planner_multi_check(m));
    assert_int_equal(planner_multi_span_size(m), planner_multi_span_size(before));
    unsigned types = (unsigned)planner_multi_resources_len(m);
    assert_int_equal(types, planner_multi_resources_len(before));
    for (unsigned k = 0; k < types; k++) {
        planner_t *p = planner_multi_planner_at(m, k);
        planner_t *q = planner_multi_planner_at(before, k);
        assert_string_equal(planner_resource_type(p), planner_resource_type(q));
        assert_int_equal(planner_resource_total(p), planner_resource_total(q));
        assert_int_equal(planner_span_size(p), planner_span_size(q));
        int64_t at = 0;
        for (; at < INT64_MAX; at = planner_next_point(p, at + 1)) {
            assert_int_equal(at, planner_next_point(q, at));
            assert_int_equal(planner_avail_resources_at(p, at), planner_avail_resources_at(q, at));
        }
    }
    int64_t id = planner_multi_span_first(m);
    assert_int_equal(id, planner_multi_span_first(before));
    for (; id >= 0; id = planner_multi_span_next(m)) {
        for (unsigned k = 0; k < types; k++)
            assert_int_equal(planner_multi_span_planned_at(m, id, k),
                             planner_multi_span_planned_at(before, id, k));
    }
}

static void multi_handles(void **state)
{
    (void)state;
    const uint64_t units[] = {100, 1, 0, 300};
    for (int spans = 0; spans < 60; spans += spans < 8 ? 1 : 13) {
        planner_multi_t *m;
        planner_multi_t *copy;
        planner_multi_t *target;
        THROUGH(m = planner_multi_new(0, 1000, totals, names, 4), NULL, );
        for (int i = 0; i < spans; i++)
            assert_int_equal(planner_multi_add_span(m, i, 10, units, 4), i);
        THROUGH(copy = planner_multi_copy(m), NULL, assert_true(planner_multi_check(m)));
        assert_true(planner_multis_equal(m, copy));
        THROUGH(target = planner_multi_empty(), NULL, );
        for (int round = 0; round < 2; round++) {
            planner_multi_t *before = planner_multi_copy(target);
            THROUGH((planner_multi_assign(target, m), planner_multis_equal(target, m)), false,
                    assert_true(planner_multis_equal(target, before)));
            planner_multi_destroy(&before);
            assert_true(planner_multi_check(target));
            assert_int_equal(planner_multi_reset(target, 0, 70), 0);
            assert_int_equal(planner_multi_add_span(target, 0, 7, totals, 4), 0);
        }
        planner_multi_destroy(&target);
        planner_multi_destroy(&copy);
        planner_multi_destroy(&m);
    }
}

static void multi_steps(void **state)
{
    (void)state;
    enum { STEPS = 400 };
    uint64_t r = 7;
    int64_t ids[STEPS];
    int n = 0;
    planner_multi_t *m = planner_multi_new(0, 100000, totals, names, 4);
    planner_multi_t *before = planner_multi_empty();
    for (int i = 0; i < STEPS; i++) {
        const uint64_t units[] = {1, 2, 0, 3, 1};
        size_t types = planner_multi_resources_len(m);
        uint64_t dice = next_random(&r) % 8;
        planner_multi_assign(before, m);
        if (dice == 0) {
            size_t first = next_random(&r) % 3;
            size_t len = 1 + next_random(&r) % (5 - first);
            THROUGH(planner_multi_update(m, totals + first, names + first, len), -1,
                    assert_true(planner_multis_equal(m, before)));
        } else if (n == 0 || dice < (i < STEPS / 2 ? 7 : 3)) {
            int64_t start = (int64_t)(next_random(&r) % 90000);
            THROUGH(ids[n] =
                        planner_multi_add_span(m, start, 1 + (uint64_t)start % 999, units, types),
                    -1, multi_unchanged(m, before));
            n++;
        } else {
            int k = (int)(next_random(&r) % (uint64_t)n);
            THROUGH(planner_multi_rem_span(m, ids[k]), -1, fail());
            ids[k] = ids[--n];
        }
        assert_true(planner_multi_check(m));
        assert_int_equal(planner_multi_span_size(m), n);
    }
    planner_multi_destroy(&before);
    planner_multi_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planner_steps),   cmocka_unit_test(planner_removals),
        cmocka_unit_test(planner_handles), cmocka_unit_test(multi_handles),
        cmocka_unit_test(multi_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
