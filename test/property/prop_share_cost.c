/* What events and questions cost in a tree of shares, in calls of functions: each look at a node, each comparison and each
 * move in a heap is one at least. The sources of the tree are compiled so that each call is counted.
 *
 * The law: a start, an end, or a submission, with the question who is next after it, costs O(depth * log fan-out), besides
 * the children that deserve another amount by it. So ten times as many children cost less than twice as much, and four
 * levels less than five times as much as one; what looked at all children would cost ten times and a thousand times as
 * much. Of these children there are few where all ask for more than they deserve, where all are given what they ask for,
 * and where few ask for more and many are given what they ask for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random.h"
#include "share/tree.h"

#define UNCOUNTED __attribute__((no_instrument_function))

enum { EVENTS = 3000, WAITING = 24, LEAVES_MAX = 10000, ALL = LEAVES_MAX };

static uint64_t calls;

void __cyg_profile_func_enter(void *function, void *from) UNCOUNTED;
void __cyg_profile_func_exit(void *function, void *from) UNCOUNTED;

void __cyg_profile_func_enter(void *function, void *from)
{
    (void)function;
    (void)from;
    calls++;
}

void __cyg_profile_func_exit(void *function, void *from)
{
    (void)function;
    (void)from;
}

struct cost {
    uint64_t start, end, submission; /* calls, on average */
};

static struct scene {
    struct share_tree *tree;
    struct random random;
    uint32_t leaf[LEAVES_MAX];
    size_t leaves;
    int waiting[2 * LEAVES_MAX];      /* at a node */
    uint32_t running[2 * LEAVES_MAX]; /* the leaves of jobs that run */
    size_t n;
} scene;

static const int64_t one[1] = {1};

/* `configured`: what each is to deserve, SHARE_UNSET: what its weight gives it. */
static void add_below(uint32_t parent, int depth, uint32_t fan, const uint8_t *by,
                      int64_t configured)
{
    for (uint32_t i = 0; i < fan; i++) {
        struct share_settings s;
        share_default_settings(&s);
        s.weight = (int32_t)random_between(&scene.random, 1, 3);
        s.deserved[0] = depth > 1 ? SHARE_UNSET : configured;
        for (int k = 0; k < 3; k++)
            s.by[k] = by[k];
        uint32_t node = share_add(scene.tree, parent, &s);
        assert_true(node != SHARE_NO_NODE);
        if (depth > 1)
            add_below(node, depth - 1, fan, by, configured);
        else
            scene.leaf[scene.leaves++] = node;
    }
}

static void submit(uint32_t leaf)
{
    struct share_first first = {.submit = leaf};
    assert_int_equal(share_job(scene.tree, leaf, SHARE_ABSENT, SHARE_WAITING, 1, one, 0), 0);
    if (scene.waiting[leaf]++ == 0)
        share_offer(scene.tree, leaf, &first);
}

/* The next job starts, if one waits. */
static bool start_next(void)
{
    uint32_t leaf = share_next(scene.tree, 0);
    if (leaf == SHARE_NO_NODE)
        return false;
    assert_int_equal(share_job(scene.tree, leaf, SHARE_WAITING, SHARE_RUNNING, 1, one, 0), 0);
    scene.running[scene.n++] = leaf;
    if (--scene.waiting[leaf] == 0)
        share_withdraw(scene.tree, leaf);
    return true;
}

/* So many leaves have more waiting than they deserve, the others one job; and as many jobs run as there is room for. */
static void make(int depth, uint32_t fan, const uint8_t *by, size_t greedy, int64_t configured)
{
    int64_t total = 1;
    struct share_settings root;
    for (int i = 0; i < depth; i++)
        total *= fan;
    if (greedy < ALL)
        total += (int64_t)greedy * WAITING / 2 + 1;
    scene = (struct scene){.random = {7}};
    scene.tree = share_new(1, &total, NULL);
    assert_non_null(scene.tree);
    share_default_settings(&root);
    for (int k = 0; k < 3; k++)
        root.by[k] = by[k];
    assert_int_equal(share_set(scene.tree, SHARE_ROOT, &root), 0);
    add_below(SHARE_ROOT, depth, fan, by, configured);
    for (size_t i = 0; i < scene.leaves; i++)
        for (int k = 0; k < (i < greedy ? WAITING : 1); k++)
            submit(scene.leaf[i]);
    while ((int64_t)scene.n < total && start_next())
        ;
}

/* A job ends, its leaf has another one, and the next one starts. */
static struct cost measure_made(int depth, uint32_t fan)
{
    struct cost c = {0, 0, 0};
    for (int i = 0; i < EVENTS; i++) {
        size_t k = (size_t)random_between(&scene.random, 0, (int64_t)scene.n - 1);
        uint32_t leaf = scene.running[k];
        scene.running[k] = scene.running[--scene.n];
        uint64_t before = calls;
        share_job(scene.tree, leaf, SHARE_RUNNING, SHARE_ABSENT, 1, one, 0);
        share_next(scene.tree, 0);
        c.end += calls - before;
        before = calls;
        submit(leaf);
        share_next(scene.tree, 0);
        c.submission += calls - before;
        before = calls;
        start_next();
        share_next(scene.tree, 0);
        c.start += calls - before;
    }
    assert_true(share_check(scene.tree));
    share_free(scene.tree);
    c.end /= EVENTS;
    c.submission /= EVENTS;
    c.start /= EVENTS;
    print_message("%d levels of %u: start %d, end %d, submission %d calls\n", depth, fan,
                  (int)c.start, (int)c.end, (int)c.submission);
    return c;
}

static struct cost measure(int depth, uint32_t fan, const uint8_t *by, size_t greedy)
{
    make(depth, fan, by, greedy, SHARE_UNSET);
    return measure_made(depth, fan);
}

static bool is_less(const struct cost *c, const struct cost *of, uint64_t times)
{
    return c->start < times * of->start && c->end < times * of->end &&
           c->submission < times * of->submission;
}

static const uint8_t orders[][3] = {
    {SHARE_BY_SHARE, SHARE_BY_FEWEST_RUNNING, SHARE_BY_SUBMIT},
    {SHARE_BY_DRF, SHARE_BY_SUBMIT, SHARE_BY_END},
    {SHARE_BY_FEWEST_RUNNING, SHARE_BY_SHARE, SHARE_BY_END},
};
enum { ORDERS = sizeof(orders) / sizeof(*orders) };

static void ten_times_as_many_children_cost_less_than_twice_as_much(void **state)
{
    (void)state;
    for (int i = 0; i < ORDERS; i++) {
        struct cost hundred = measure(1, 100, orders[i], ALL),
                    thousand = measure(1, 1000, orders[i], ALL);
        struct cost most = measure(1, LEAVES_MAX, orders[i], ALL);
        assert_true(is_less(&thousand, &hundred, 2));
        assert_true(is_less(&most, &thousand, 2));
    }
}

static void four_levels_cost_less_than_five_times_as_much_as_one(void **state)
{
    (void)state;
    for (int i = 0; i < ORDERS; i++) {
        struct cost one_level = measure(1, 10, orders[i], ALL),
                    four = measure(4, 10, orders[i], ALL);
        assert_true(is_less(&four, &one_level, 5));
    }
}

/* Where jobs end whose leaf asks for no more than its part, the others are not looked at. */
static void
ends_of_who_is_given_all_cost_less_than_twice_as_much_among_ten_times_as_many(void **state)
{
    (void)state;
    for (int i = 0; i < ORDERS; i++)
        for (size_t greedy = 0; greedy <= 8; greedy += 4) {
            struct cost hundred = measure(1, 100, orders[i], greedy);
            struct cost thousand = measure(1, 1000, orders[i], greedy);
            struct cost most = measure(1, LEAVES_MAX, orders[i], greedy);
            assert_true(is_less(&thousand, &hundred, 2));
            assert_true(is_less(&most, &thousand, 2));
        }
}

/* Where what children deserve is configured, an end elsewhere changes what is there for all of them. */
static struct cost measure_configured(uint32_t fan, const uint8_t *by)
{
    make(2, fan, by, 4, 2);
    return measure_made(2, fan);
}

static void configured_parts_cost_less_than_twice_as_much_among_ten_times_as_many(void **state)
{
    (void)state;
    for (int i = 0; i < ORDERS; i++) {
        struct cost ten = measure_configured(10, orders[i]),
                    hundred = measure_configured(100, orders[i]);
        assert_true(is_less(&hundred, &ten, 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_times_as_many_children_cost_less_than_twice_as_much),
        cmocka_unit_test(four_levels_cost_less_than_five_times_as_much_as_one),
        cmocka_unit_test(
            ends_of_who_is_given_all_cost_less_than_twice_as_much_among_ten_times_as_many),
        cmocka_unit_test(configured_parts_cost_less_than_twice_as_much_among_ten_times_as_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
