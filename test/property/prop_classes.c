/* Classes over random settings and loads: laws of one decision, of many in a row, and of rebalancing.
 *
 * Convergence: while all of n classes always have more waiting than there are workers, from any time on, once
 * the tasks that ran then have ended, no class is above its target by more than (n - 1) percent, nor by more
 * than CLASS_PERCENT_CLAIMS - 1 percent, rounded up, of the most workers that one decision since found idle.
 * As all workers are busy, no class lacks more than the others have too much together.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"
#include "share/class_counts.h"

enum { MOST = 30, DECISIONS = 200000, WORLDS = 400, WORKERS = 2000, ROUNDS = 20000 };

struct world {
    struct random r;
    struct class_load c[MOST];
    size_t n;
    int64_t workers;
};

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Percentages, the largest first, mostly a few, some of them 0. */
static void draw_classes(struct world *w)
{
    int64_t percent[MOST];
    w->n = (size_t)random_between(&w->r, 1, random_between(&w->r, 0, 3) ? 12 : MOST);
    memset(w->c, 0, sizeof(w->c));
    for (size_t i = 0; i < w->n; i++) {
        int64_t p = random_between(&w->r, 0, 5) == 0 ? 0 : random_between(&w->r, 0, 60);
        size_t at = i;
        for (; at > 0 && percent[at - 1] < p; at--)
            percent[at] = percent[at - 1];
        percent[at] = p;
    }
    percent[0] += percent[0] == 0;
    class_normalise(percent, w->n);
    for (size_t i = 0; i < w->n; i++)
        w->c[i].percent = percent[i];
    w->workers = random_between(&w->r, 0, 3) == 0 ? random_between(&w->r, 0, 12)
                                                  : random_between(&w->r, 1, 100000);
}

static int64_t idle_of(const struct world *w)
{
    int64_t idle = w->workers;
    for (size_t i = 0; i < w->n; i++)
        idle -= w->c[i].running;
    return idle;
}

static void draw_loads(struct world *w)
{
    for (size_t i = 0; i < w->n; i++) {
        int64_t left = idle_of(w);
        bool few = random_between(&w->r, 0, 2) == 0;
        w->c[i].running =
            random_between(&w->r, 0, 3) == 0 ? 0 : random_between(&w->r, 0, few ? left : left / 2);
        w->c[i].waiting = random_between(&w->r, 0, 2) == 0
                              ? 0
                              : random_between(&w->r, 0, few ? 3 : 2 * w->workers + 2);
        w->c[i].fixed =
            random_between(&w->r, 0, 2) > 0 ? 0 : random_between(&w->r, 0, w->c[i].running);
    }
}

static int64_t waiting_of(const struct world *w)
{
    int64_t waiting = 0;
    for (size_t i = 0; i < w->n; i++)
        waiting += w->c[i].percent > 0 ? w->c[i].waiting : 0;
    return waiting;
}

/* ---- One decision ---- */

/* Nothing idles that somebody can use, and nobody borrows while another lacks some of its target. */
static void check_starts(const struct world *w, int64_t idle)
{
    int64_t starts = 0;
    bool lacks = false, borrows = false;
    for (size_t i = 0; i < w->n; i++) {
        const struct class_load *c = &w->c[i];
        starts += c->start;
        assert_int_equal(c->stop, 0);
        lacks |= c->percent > 0 && c->waiting > c->start && c->running + c->start < c->target;
        borrows |= c->start > 0 && c->running >= c->target;
    }
    assert_int_equal(starts, min64(idle, waiting_of(w)));
    assert_false(lacks && borrows);
}

/* Where a rebalancing starts less of what a class is entitled to than waits, others have nothing left that they may give
 * back.
 */
static void check_rebalanced(const struct world *w)
{
    bool lacks = false, may_give = false;
    for (size_t i = 0; i < w->n; i++) {
        const struct class_load *c = &w->c[i];
        int64_t has = c->running - c->stop, least = c->target > c->fixed ? c->target : c->fixed;
        lacks |= c->percent > 0 && c->waiting > c->start && c->running + c->start < c->target;
        may_give |= c->percent > 0 && has > least;
    }
    assert_false(lacks && may_give);
}

static void count(struct class_load *c, size_t n, int64_t workers, int64_t idle, bool rebalances)
{
    class_set_targets(c, n, workers);
    (rebalances ? class_count_rebalance : class_count_starts)(c, n, idle);
}

static void decide(struct world *w, bool rebalances)
{
    struct class_load again[MOST];
    int64_t idle = idle_of(w);
    memcpy(again, w->c, sizeof(again));
    count(w->c, w->n, w->workers, idle, rebalances);
    count(again, w->n, w->workers, idle, rebalances);
    assert_memory_equal(again, w->c, sizeof(again));
    assert_true(class_check(w->c, w->n, idle));
    if (rebalances)
        check_rebalanced(w);
    else
        check_starts(w, idle);
}

/* Classes of which something waits, or which hold more than their percentages: how many percent the farthest lacks of
 * its own, and how many the farthest has beyond it, by trying each number. What is held counts in whole percent.
 */
static int64_t naive_spread(const struct world *w)
{
    int64_t below = 0, above = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct class_load *c = &w->c[i];
        for (int64_t k = 1; k <= 100 && c->percent > 0 && w->n > 1 && w->workers > 0; k++) {
            bool lacks = c->waiting > 0 && c->running * 100 < (c->percent - k + 1) * w->workers;
            bool exceeds = c->running * 100 >= (c->percent + k) * w->workers;
            below = lacks && k > below ? k : below;
            above = exceeds && k > above ? k : above;
        }
    }
    return below + above;
}

static void decisions_keep_their_laws(void **state)
{
    struct world w = {.r = {1}};
    (void)state;
    for (int i = 0; i < DECISIONS; i++) {
        draw_classes(&w);
        draw_loads(&w);
        decide(&w, random_between(&w.r, 0, 1));
        assert_true(i % 8 > 0 || class_spread(w.c, w.n, w.workers) == naive_spread(&w));
    }
}

/* ---- Many decisions ---- */

/* Carry out what was decided; what is stopped waits again. */
static void carry_out(struct world *w)
{
    for (size_t i = 0; i < w->n; i++) {
        w->c[i].running += w->c[i].start - w->c[i].stop;
        w->c[i].waiting -= w->c[i].start - w->c[i].stop;
    }
}

/* Some tasks end, of those in old[] and of others. */
static void end_some(struct world *w, int64_t *old, int64_t most)
{
    for (size_t i = 0; i < w->n; i++) {
        int64_t before = min64(old[i], random_between(&w->r, 0, most));
        int64_t since = min64(w->c[i].running - old[i], random_between(&w->r, 0, most));
        old[i] -= before;
        w->c[i].running -= before + since;
    }
}

/* A step in which some tasks end, and more than enough wait. Returns how many workers are idle. */
static int64_t saturated_step(struct world *w, int64_t *old, int64_t most)
{
    end_some(w, old, most);
    for (size_t i = 0; i < w->n; i++)
        w->c[i].waiting = 2 * w->workers + 1;
    int64_t idle = idle_of(w);
    decide(w, false);
    carry_out(w);
    return idle;
}

static void check_converged(const struct world *w, int64_t most_idle)
{
    int64_t percent = min64((int64_t)w->n, CLASS_PERCENT_CLAIMS) - 1;
    int64_t bound = (percent * most_idle + 99) / 100, above = 0;
    for (size_t i = 0; i < w->n; i++) {
        int64_t over = w->c[i].running - w->c[i].target;
        assert_true(over <= bound);
        above += over > 0 ? over : 0;
    }
    for (size_t i = 0; i < w->n; i++)
        assert_true(w->c[i].target - w->c[i].running <= above);
    assert_int_equal(idle_of(w), 0);
}

static bool any(const int64_t *old, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (old[i] > 0)
            return true;
    return false;
}

/* From any beginning, until all tasks that ran then have ended. Returns the number of steps. */
static int converge(struct world *w)
{
    int64_t old[MOST], most_idle = 0;
    int64_t most = random_between(&w->r, 0, 1) ? 1 : 1 + w->workers / random_between(&w->r, 2, 50);
    int steps = 0;
    for (size_t i = 0; i < w->n; i++) {
        w->c[i].running = w->c[i].percent > 0 ? w->c[i].running : 0;
        old[i] = w->c[i].running;
    }
    for (; steps == 0 || any(old, w->n); steps++) {
        int64_t idle = saturated_step(w, old, most);
        most_idle = idle > most_idle ? idle : most_idle;
    }
    check_converged(w, most_idle);
    return steps;
}

/* Twice: at the second beginning the workers are busy, so few are idle at once, and the bound is tight. */
static void classes_converge(void **state)
{
    struct world w = {.r = {2}};
    int steps = 0;
    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        draw_classes(&w);
        w.workers = w.workers % WORKERS + 1;
        draw_loads(&w);
        steps += converge(&w);
        steps += converge(&w);
    }
    assert_true(steps >= 100000);
}

/* ---- Rebalancing ---- */

/* What is stopped waits again, and nothing else happens: classes are brought back once, and then nothing is
 * stopped any more, however often it is tried.
 */
static void classes_do_not_take_from_each_other_in_turns(void **state)
{
    struct world w = {.r = {3}};
    int stopped = 0;
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        struct class_timer timer = {0};
        int64_t threshold = random_between(&w.r, 1, 40);
        bool had_stops = false;
        draw_classes(&w);
        draw_loads(&w);
        for (int64_t now = 0; now < 150; now += random_between(&w.r, 1, 12)) {
            int64_t stops = 0;
            class_timer_note(&timer, now, class_spread(w.c, w.n, w.workers), threshold);
            bool rebalances = timer.is_over && now - timer.since >= 10;
            timer.is_over = timer.is_over && !rebalances;
            decide(&w, rebalances);
            for (size_t k = 0; k < w.n; k++)
                stops += w.c[k].stop;
            assert_true(stops == 0 || !had_stops);
            had_stops = had_stops || stops > 0;
            carry_out(&w);
        }
        stopped += had_stops;
    }
    assert_true(stopped > ROUNDS / 20);
}

/* The timer against all that it was told. */
static void the_timer_goes_by_unbroken_time(void **state)
{
    struct random r = {4};
    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        struct class_timer timer = {0};
        int64_t now = 0, since = -1;
        for (int step = 0; step < 300; step++) {
            bool over = random_between(&r, 0, 9) > 0;
            now += random_between(&r, 0, 5);
            since = !over ? -1 : since < 0 ? now : since;
            class_timer_note(&timer, now, over ? 31 : 30, 30);
            assert_int_equal(timer.is_over, over);
            assert_true(!over || timer.since == since);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_keep_their_laws),
        cmocka_unit_test(classes_converge),
        cmocka_unit_test(classes_do_not_take_from_each_other_in_turns),
        cmocka_unit_test(the_timer_goes_by_unbroken_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
