/* The tree of shares against a naive one that works everything out anew, and what its turns lead to. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "share_scene.h"

enum { SEEDS = 1000, STEPS = 250 };

static void set(struct scene *s)
{
    uint32_t node = (uint32_t)scene_draw(s, 0, s->m.n - 1);
    struct share_settings new;
    scene_draw_settings(s, &new);
    assert_int_equal(share_set(s->t, node, &new), 0);
    s->m.node[node].settings = new;
    s->limits_lowered = true;
}

static void set_total(struct scene *s)
{
    for (uint32_t d = 0; d < s->m.dimensions; d++)
        s->m.total[d] = scene_draw(s, 0, 7) ? scene_draw(s, 0, s->largest) * 8 : 0;
    assert_int_equal(share_set_total(s->t, s->m.total), 0);
    s->limits_lowered = true;
}

static void job_moves(struct scene *s)
{
    if (s->m.n_jobs == 0)
        return;
    uint32_t i = (uint32_t)scene_draw(s, 0, s->m.n_jobs - 1);
    const struct naive_job *job = &s->m.job[i];
    enum share_state to = (enum share_state)scene_draw(s, SHARE_ABSENT, SHARE_RUNNING);
    if (job->state == SHARE_WAITING && to >= SHARE_PROMISED) {
        bool allowed = share_allows(s->t, job->leaf, job->amount);
        assert_int_equal(allowed, naive_allows(&s->m, job->leaf, job->amount));
        assert_int_equal(share_is_entitled(s->t, job->leaf, job->amount),
                         naive_is_entitled(&s->m, job->leaf, SHARE_ROOT, job->amount));
        if (!allowed)
            return;
    }
    scene_move(s, i, to);
}

/* The first job that waits at a leaf, of those with numbers of their own; or none does. */
static void wait(struct scene *s, uint32_t leaf, bool any)
{
    struct naive_node *n = &s->m.node[leaf];
    n->any_waits = any;
    n->waits = (struct share_first){scene_draw(s, -2, 2), scene_draw(s, 0, 9), scene_draw(s, 0, 3),
                                    (uint64_t)scene_draw(s, 0, 9) * NAIVE_NODES + leaf,
                                    scene_draw(s, 0, 1)};
    share_wait(s->t, leaf, any ? &n->waits : NULL);
}

static void close_or_open(struct scene *s)
{
    uint32_t node = (uint32_t)scene_draw(s, 0, s->m.n - 1);
    if (node == SHARE_ROOT)
        return;
    s->m.node[node].closed = scene_draw(s, 0, 2) == 0;
    if (s->m.node[node].closed)
        share_close(s->t, node);
    else
        share_open(s->t, node);
}

static bool takes_part(const struct scene *s, uint32_t leaf)
{
    bool is = s->m.node[leaf].offered;
    for (uint32_t i = leaf; i != SHARE_ROOT; i = s->m.node[i].parent)
        is &= !s->m.node[i].closed;
    return is;
}

static void offer(struct scene *s)
{
    uint32_t leaf = scene_draw_leaf(s);
    if (leaf == SHARE_NO_NODE)
        return;
    struct naive_node *n = &s->m.node[leaf];
    n->offered = scene_draw(s, 0, 3) > 0;
    n->first = (struct share_first){
        scene_draw(s, -2, 2), scene_draw(s, 0, 3) ? INT64_MAX : scene_draw(s, 0, 9),
        scene_draw(s, 0, 3), (uint64_t)scene_draw(s, 0, 9), scene_draw(s, 0, 1)};
    if (s->m.by_first)
        wait(s, leaf, n->offered || scene_draw(s, 0, 1));
    if (n->offered)
        share_offer(s->t, leaf, &n->first);
    else
        share_withdraw(s->t, leaf);
    assert_int_equal(share_is_offered(s->t, leaf), n->offered);
}

static void time_passes(struct scene *s)
{
    s->now += scene_draw(s, 0, 2) ? scene_draw(s, 0, 5) : scene_draw(s, 0, 3 * s->m.rule.half_life);
}

static void next(struct scene *s)
{
    uint32_t leaf = share_next(s->t, s->now);
    assert_int_equal(leaf, naive_next(&s->m, s->t, s->now));
    if (leaf == SHARE_NO_NODE)
        return;
    for (uint32_t i = 1; i < s->m.n; i++) {
        enum share_by by;
        uint32_t where;
        if (i != leaf && takes_part(s, i)) {
            assert_true(share_compare(s->t, leaf, i, s->now, &by, &where) < 0);
            assert_int_equal(where, naive_common(&s->m, leaf, i));
        }
    }
    s->decisions = s->decisions * 31 + leaf;
}

static long double as_number(struct share_usage u)
{
    return ((long double)u.high * 0x1p64L + (long double)u.low) * 0x1p-32L;
}

static void check_usage(struct scene *s)
{
    for (uint32_t i = 0; i < s->m.n; i++) {
        long double error;
        long double want = naive_usage(&s->m, i, s->now, &error);
        long double got = as_number(share_usage(s->t, i, s->now));
        if (fabsl(want - got) > error)
            fail_msg("node %u: usage %Lg, integral %Lg, bound %Lg", i, got, want, error);
    }
}

static void correct_usage(struct scene *s)
{
    uint32_t node = (uint32_t)scene_draw(s, 0, s->m.n - 1);
    struct share_usage u = {0, (uint64_t)scene_draw(s, 0, s->largest) << 3};
    long double most[NAIVE_NODES];
    for (uint32_t i = 0; i < s->m.n; i++)
        most[i] = as_number(share_usage(s->t, i, s->now));
    assert_int_equal(share_usage_set(s->t, node, u, s->now), 0);
    struct share_usage now = share_usage(s->t, node, s->now);
    assert_true(now.high == u.high && now.low == u.low);
    for (uint32_t i = node;; i = s->m.node[i].parent) {
        long double rate = 0;
        for (uint32_t d = 0; d < s->m.dimensions; d++)
            rate += (long double)naive_sum(&s->m, i, 1 << SHARE_RUNNING, d) *
                    (long double)s->m.rule.weights[d];
        long double more = most[node] > as_number(u) ? -fminl(most[node] - as_number(u), most[i])
                                                     : as_number(u) - most[node];
        s->m.change[s->m.n_changes++] = (struct naive_change){i, s->now, rate, more};
        if (i == SHARE_ROOT)
            break;
    }
}

/* Usage that is saved and restored goes on to the digit. */
static void save_and_restore(struct scene *s)
{
    struct share_usage saved[NAIVE_NODES], before[NAIVE_NODES];
    int64_t at[NAIVE_NODES];
    for (uint32_t i = 0; i < s->m.n; i++) {
        saved[i] = share_usage_saved(s->t, i, &at[i]);
        before[i] = share_usage(s->t, i, s->now + 7);
    }
    for (uint32_t i = 0; i < s->m.n; i++)
        assert_int_equal(share_usage_restore(s->t, i, (struct share_usage){0, 99}, s->now), 0);
    for (uint32_t i = 0; i < s->m.n; i++)
        assert_int_equal(share_usage_restore(s->t, i, saved[i], at[i]), 0);
    for (uint32_t i = 0; i < s->m.n; i++) {
        struct share_usage after = share_usage(s->t, i, s->now + 7);
        assert_true(after.high == before[i].high && after.low == before[i].low);
    }
}

static void compare_nodes(struct scene *s)
{
    enum { HELD = 1 << SHARE_PROMISED | 1 << SHARE_RUNNING };
    for (uint32_t i = 0; i < s->m.n; i++) {
        struct share_view view;
        share_look(s->t, i, &view);
        for (uint32_t d = 0; d < s->m.dimensions; d++) {
            assert_int_equal(view.received[d], naive_sum(&s->m, i, HELD, d));
            assert_int_equal(view.waiting[d], naive_sum(&s->m, i, 1 << SHARE_WAITING, d));
            assert_int_equal(view.demand[d], naive_demand(&s->m, i, d));
            assert_int_equal(view.deserved[d], naive_deserved(&s->m, i, d));
            if (i > 0 && !s->limits_lowered)
                assert_true(view.received[d] <= view.settings.capability[d]);
            s->decisions = s->decisions * 31 + (uint64_t)view.deserved[d];
        }
        for (uint32_t state = SHARE_WAITING; state <= SHARE_RUNNING; state++)
            assert_int_equal(view.jobs[state], naive_count(&s->m, i, (enum share_state)state));
    }
}

/* The laws of water filling, by what the tree says of itself, of the children of a node of which none has a configured
 * deserved: together they deserve what it deserves, or all that they ask for where that is less, if all have a weight;
 * and each its guarantee, as far as it asks for it, where there is enough for all.
 */
static void check_laws(const struct scene *s, uint32_t parent, uint32_t d)
{
    struct share_view above, view;
    wide deserved = 0, guaranteed = 0, asked = 0;
    bool by_weight = true;
    share_look(s->t, parent, &above);
    for (int second = 0; second < 2; second++)
        for (uint32_t i = 1; i < s->m.n; i++) {
            share_look(s->t, i, &view);
            if (view.parent != parent)
                continue;
            int64_t guarantee = view.settings.guarantee[d], demand = view.demand[d];
            bool keeps = view.settings.keeps_guarantee && guarantee > demand;
            int64_t asks = keeps ? guarantee : demand, least = guarantee < asks ? guarantee : asks;
            if (view.settings.deserved[d] != SHARE_UNSET)
                return;
            if (second) {
                assert_true(view.deserved[d] <= asks);
                assert_true(view.deserved[d] >= least || guaranteed > above.deserved[d]);
                continue;
            }
            deserved += view.deserved[d];
            guaranteed += least;
            asked += asks;
            by_weight &= view.settings.weight > 0;
        }
    assert_true(deserved <= above.deserved[d]);
    if (by_weight && above.children > 0)
        assert_true(deserved == (asked < above.deserved[d] ? asked : above.deserved[d]));
}

/* ---- Whether scenes come to what is hard ---- */

enum {
    GUARANTEE_COUNTS,     /* a node is given its guarantee, above what its weight gives it */
    CAPABILITY_COUNTS,    /* a node is given its capability, and asks for more */
    GUARANTEES_EXCEED,    /* what is guaranteed to children, and asked for, is more than there is */
    GUARANTEE_IS_KEPT,    /* nobody asks for what a node is kept */
    CONFIGURED_COUNTS,    /* a node is given what is configured */
    ALL_BELOW_EACH_OTHER, /* guarantees and capabilities count on two levels below each other */
    CASES
};

static const char *const case_names[CASES] = {
    "guarantees above weights", "capabilities below demands",   "guarantees beyond what there is",
    "guarantees kept",          "parts as they are configured", "guarantees below capabilities"};

static uint64_t seen[CASES];

static bool gets_capability(const struct share_view *view, uint32_t d)
{
    return view->deserved[d] == view->settings.capability[d] && view->deserved[d] > 0 &&
           view->waiting[d] + view->received[d] > view->settings.capability[d];
}

/* What is seen of a dimension of a node and its siblings, of which one has been looked at after the other. */
static void note_node(struct scene *s, uint32_t node, uint32_t d, wide weights, wide lows)
{
    struct share_view view, above;
    share_look(s->t, node, &view);
    share_look(s->t, view.parent, &above);
    const struct share_settings *set = &view.settings;
    int64_t guarantee = set->guarantee[d], deserved = view.deserved[d];
    bool is_set = set->deserved[d] != SHARE_UNSET;
    bool guaranteed = !is_set && deserved == guarantee && guarantee > 0 &&
                      view.demand[d] >= guarantee &&
                      guarantee * weights > (wide)above.deserved[d] * set->weight;
    seen[GUARANTEE_COUNTS] += guaranteed;
    seen[CAPABILITY_COUNTS] += gets_capability(&view, d);
    seen[GUARANTEES_EXCEED] += guarantee > 0 && lows > above.deserved[d];
    seen[GUARANTEE_IS_KEPT] += set->keeps_guarantee && guarantee > view.demand[d];
    seen[CONFIGURED_COUNTS] += is_set && deserved == set->deserved[d] && deserved > 0;
    seen[ALL_BELOW_EACH_OTHER] +=
        guaranteed && view.parent != SHARE_ROOT && gets_capability(&above, d);
}

static void note_cases(struct scene *s)
{
    for (uint32_t parent = 0; parent < s->m.n; parent++)
        for (uint32_t d = 0; d < s->m.dimensions; d++) {
            wide weights = 0, lows = 0;
            for (uint32_t i = 1; i < s->m.n; i++) {
                const struct share_settings *set = &s->m.node[i].settings;
                int64_t asks = naive_demand(&s->m, i, d);
                if (s->m.node[i].parent != parent)
                    continue;
                weights += set->weight;
                lows += set->guarantee[d] < asks ? set->guarantee[d] : asks;
            }
            for (uint32_t i = 1; i < s->m.n; i++)
                if (s->m.node[i].parent == parent)
                    note_node(s, i, d, weights, lows);
        }
}

static void step(struct scene *s)
{
    static void (*const steps[])(struct scene *) = {scene_add,
                                                    set,
                                                    set_total,
                                                    scene_job_comes,
                                                    scene_job_comes,
                                                    scene_job_comes,
                                                    job_moves,
                                                    job_moves,
                                                    next,
                                                    next,
                                                    time_passes,
                                                    time_passes,
                                                    offer,
                                                    close_or_open,
                                                    correct_usage,
                                                    save_and_restore,
                                                    offer,
                                                    offer};
    int64_t which = scene_draw(s, 0, sizeof(steps) / sizeof(steps[0]) - 1);
    if (which < 3 && which > 0 && scene_draw(s, 0, 3))
        which = 8;
    steps[which](s);
    if (scene_draw(s, 0, 7) == 0)
        next(s);
    assert_true(share_check(s->t));
}

/* All is looked at after some steps only, as that takes its time; with PROP_EVERY set, after each. */
static uint64_t play(uint64_t seed)
{
    bool each = getenv("PROP_EVERY");
    struct scene *s = malloc(sizeof(*s));
    scene_start(s, seed);
    for (int i = 0; i < STEPS; i++) {
        step(s);
        if (i % 4 == 0 || each)
            compare_nodes(s);
        for (uint32_t n = 0; n < s->m.n && (i % 8 == 0 || each); n++)
            for (uint32_t d = 0; d < s->m.dimensions; d++)
                check_laws(s, n, d);
        if (i % 16 == 0 || each)
            check_usage(s);
        if (i % 16 == 0)
            note_cases(s);
    }
    share_free(s->t);
    uint64_t decisions = s->decisions;
    free(s);
    return decisions;
}

static void is_the_naive_tree(void **state)
{
    (void)state;
    const char *one = getenv("PROP_SEED");
    for (uint64_t seed = one ? strtoull(one, NULL, 10) : 0; seed < SEEDS; seed++) {
        uint64_t decisions = play(seed);
        assert_int_equal(play(seed), decisions);
        if (one)
            return;
    }
    for (int i = 0; i < CASES; i++) {
        print_message("%s: %llu times\n", case_names[i], (unsigned long long)seen[i]);
        assert_true(seen[i] >= 50);
    }
}

/* A tree that compares by shares, with nodes at random places and weights, and leaves that ask for units. */
static void start_filling(struct scene *s, uint64_t seed, int64_t *waiting)
{
    struct share_settings set;
    *s = (struct scene){.r = {seed}, .largest = 32, .heaviest = 20};
    s->m.dimensions = 1;
    s->m.total[0] = scene_draw(s, 1, 200);
    s->t = share_new(1, s->m.total, NULL);
    assert_non_null(s->t);
    for (s->m.n = 0; s->m.n < 15; s->m.n++) {
        share_default_settings(&set);
        set.weight = (int32_t)scene_draw(s, 1, s->heaviest);
        set.guarantee[0] = scene_draw(s, 0, 2) ? 0 : scene_draw(s, 0, 9);
        set.capability[0] = scene_draw(s, 0, 2) ? SHARE_UNLIMITED : scene_draw(s, 9, 40);
        set.by[0] = SHARE_BY_SHARE;
        uint32_t parent = s->m.n > 0 ? (uint32_t)scene_draw(s, 0, s->m.n - 1) : SHARE_NO_NODE;
        s->m.node[s->m.n] = (struct naive_node){.parent = parent, .settings = set};
        if (s->m.n > 0)
            assert_int_equal(share_add(s->t, parent, &set), s->m.n);
        else
            assert_int_equal(share_set(s->t, SHARE_ROOT, &set), 0);
    }
    for (uint32_t i = 1; i < s->m.n; i++) {
        waiting[i] = naive_children(&s->m, i) > 0 ? 0 : scene_draw(s, 0, 60);
        for (int64_t k = 0; k < waiting[i]; k++)
            assert_int_equal(
                share_job(s->t, i, SHARE_ABSENT, SHARE_WAITING, 1, (const int64_t[]){1}, 0), 0);
        if (waiting[i] > 0)
            share_offer(s->t, i, &(struct share_first){.deadline = INT64_MAX});
    }
}

/* Units that start one after another as the tree says leave every node with what it deserves, to the unit:
 * with all that is asked for, or with all that there is.
 */
static void turns_end_in_what_is_deserved(void **state)
{
    (void)state;
    struct scene *s = malloc(sizeof(*s));
    int64_t waiting[NAIVE_NODES] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        start_filling(s, seed, waiting);
        struct share_view view;
        int64_t deserved = 0;
        for (uint32_t i = 1; i < s->m.n; i++) {
            share_look(s->t, i, &view);
            deserved += view.parent == SHARE_ROOT ? view.deserved[0] : 0;
        }
        for (; deserved > 0; deserved--) {
            uint32_t leaf = share_next(s->t, 0);
            assert_int_not_equal(leaf, SHARE_NO_NODE);
            assert_int_equal(
                share_job(s->t, leaf, SHARE_WAITING, SHARE_RUNNING, 1, (const int64_t[]){1}, 0), 0);
            if (--waiting[leaf] == 0)
                share_withdraw(s->t, leaf);
        }
        for (uint32_t i = 1; i < s->m.n; i++) {
            share_look(s->t, i, &view);
            assert_int_equal(view.received[0], view.deserved[0]);
        }
        assert_true(share_check(s->t));
        share_free(s->t);
    }
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_naive_tree),
        cmocka_unit_test(turns_end_in_what_is_deserved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
