/* Usage in fixed point, beside an integral that is worked out another way: 100,000 changes of what runs in a tree of two
 * levels, at instants that lie from nothing to many half-lives apart, with amounts of 1 to 2^40 and corrections between.
 *
 * Two laws of share/tree.h:
 *  - a change adds less than 2^-32 to the error, and at most 2^-60 of the distance between usage and what ran: what is
 *    stored is compared with what the number stored before should have become;
 *  - errors fade as usage does, and nothing else adds to them: usage is compared with the integral over all that has run,
 *    each instant by 2^(-age / half-life), which is a sum over the stretches in which the same ran.
 *
 * The last line of each scene says how much of the two bounds was used at most.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random.h"
#include "share/tree.h"

enum {
    STEPS = 25000, /* of each scene */
    NODES = 5,     /* the root, a queue, two users in it, another queue */
    JOBS = 40,
    COMPARED_EVERY = 25,
    FORGOTTEN = 75 /* half-lives after which what ran counts for nothing */
};

static const uint32_t leaves[] = {2, 3, 4};
enum { LEAVES = sizeof(leaves) / sizeof(leaves[0]) };

/* From an instant on. */
struct stretch {
    int64_t from;
    long double rate; /* what runs */
    long double more; /* what a correction added then */
};

struct node {
    uint32_t parent;
    long double rate, stored;
    int64_t at;        /* of what is stored */
    long double error; /* how far off that may be */
    struct stretch *v;
    size_t n;
};

struct job {
    uint32_t leaf;
    int64_t amount;
};

struct scene {
    struct share_tree *tree;
    struct random random;
    int64_t half_life, now, largest;
    struct node node[NODES];
    struct job job[JOBS];
    size_t running;
    long double worst_step, worst_sum; /* of the bounds, and what long doubles may be off */
};

/* What a long double may be off, of a number of this size; it may be no longer than a double, as under valgrind. */
static long double coarse(long double number)
{
    volatile long double one = 1;
    return fabsl(number) * (one + 0x1p-62L > one ? 0x1p-62L : 0x1p-50L);
}

static long double as_number(struct share_usage u)
{
    return ((long double)u.high * 0x1p64L + (long double)u.low) * 0x1p-32L;
}

static long double fading(const struct scene *s, int64_t dt)
{
    return exp2l(-(long double)dt / (long double)s->half_life);
}

static long double bound_of(long double usage, long double rate)
{
    return 0x1p-32L + fabsl(usage - rate) * 0x1p-60L;
}

/* A node's usage is stored at this instant: compare it with what the one stored before has become by now. */
static void check_step(struct scene *s, uint32_t i)
{
    struct node *n = &s->node[i];
    int64_t at;
    long double is = as_number(share_usage_saved(s->tree, i, &at));
    long double left = fading(s, s->now - n->at);
    long double want = n->rate + (n->stored - n->rate) * left;
    long double bound = bound_of(n->stored, n->rate), off = fabsl(is - want);
    long double within = bound + coarse(n->stored) + coarse(n->rate);
    assert_int_equal(at, s->now);
    if (off > within)
        fail_msg("node %u at %lld: stored %.20Lg, want %.20Lg, bound %Lg", i, (long long)s->now, is,
                 want, within);
    s->worst_step = fmaxl(s->worst_step, off / within);
    n->error = n->error * left + bound;
    n->stored = is;
    n->at = s->now;
}

/* All that has run at a node, each instant by its age. *slack: how far off this sum may be. */
static long double integral(const struct scene *s, const struct node *n, long double *slack)
{
    long double sum = 0, until = 1, later = 0, lost = 0;
    bool counts = true; /* what began before */
    *slack = 0;
    for (size_t k = n->n; k-- > 0 && counts;) {
        counts = s->now - n->v[k].from < FORGOTTEN * s->half_life;
        long double from = counts ? fading(s, s->now - n->v[k].from) : 0;
        long double term = n->v[k].rate * (until - from) + n->v[k].more * from - lost;
        long double with = sum + term;
        lost = with - sum - term; /* in the last addition */
        sum = with;
        *slack += coarse((fabsl(n->v[k].rate - later) + fabsl(n->v[k].more)) * until);
        later = n->v[k].rate;
        until = from;
    }
    *slack += coarse(sum);
    return sum;
}

static void check_sum(struct scene *s)
{
    for (uint32_t i = 0; i < NODES; i++) {
        const struct node *n = &s->node[i];
        long double slack, want = integral(s, n, &slack);
        long double is = as_number(share_usage(s->tree, i, s->now));
        long double within =
            n->error * fading(s, s->now - n->at) + bound_of(n->stored, n->rate) + slack;
        if (fabsl(is - want) > within)
            fail_msg("node %u at %lld: usage %.20Lg, integral %.20Lg, bound %Lg", i,
                     (long long)s->now, is, want, within);
        s->worst_sum = fmaxl(s->worst_sum, fabsl(is - want) / within);
    }
}

static void note(struct scene *s, uint32_t i, long double rate, long double more)
{
    struct node *n = &s->node[i];
    n->v[n->n++] = (struct stretch){s->now, rate, more};
    n->rate = rate;
}

/* A job starts, or ends. */
static void run(struct scene *s, uint32_t leaf, int64_t amount, bool starts)
{
    enum share_state from = starts ? SHARE_ABSENT : SHARE_RUNNING;
    enum share_state to = starts ? SHARE_RUNNING : SHARE_ABSENT;
    assert_int_equal(share_job(s->tree, leaf, from, to, 1, &amount, s->now), 0);
    for (uint32_t i = leaf;; i = s->node[i].parent) {
        check_step(s, i);
        note(s, i, s->node[i].rate + (starts ? 1 : -1) * (long double)amount, 0);
        if (i == SHARE_ROOT)
            return;
    }
}

static void correct(struct scene *s)
{
    uint32_t leaf = leaves[random_next(&s->random) % LEAVES];
    struct share_usage to = {0, (uint64_t)random_between(&s->random, 0, s->largest) << 20};
    long double was[NODES];
    for (uint32_t i = 0; i < NODES; i++)
        was[i] = as_number(share_usage(s->tree, i, s->now));
    long double more = as_number(to) - was[leaf];
    assert_int_equal(share_usage_set(s->tree, leaf, to, s->now), 0);
    for (uint32_t i = leaf;; i = s->node[i].parent) {
        struct node *n = &s->node[i];
        long double left = fading(s, s->now - n->at), to_here = fmaxl(was[i] + more, 0);
        n->error = n->error * left + bound_of(n->stored, n->rate); /* of what was there */
        n->at = s->now;
        int64_t at;
        n->stored = as_number(share_usage_saved(s->tree, i, &at));
        assert_true(fabsl(n->stored - to_here) <= coarse(was[i]) + coarse(more));
        note(s, i, n->rate, n->stored - was[i]);
        if (i == SHARE_ROOT)
            return;
    }
}

/* Time passes: mostly a part of a half-life, often nothing, rarely many half-lives. */
static void pass_time(struct scene *s)
{
    switch (random_next(&s->random) % 8) {
    case 0:
        return;
    case 1:
        s->now += random_between(&s->random, 0, 3);
        return;
    case 2:
        s->now += random_between(&s->random, 0, s->half_life * 4);
        return;
    case 3:
        if (random_next(&s->random) % 50 == 0)
            s->now += random_between(&s->random, 0, s->half_life * 70);
        return;
    default:
        s->now += random_between(&s->random, 0, s->half_life / 8 + 1);
    }
}

static void step(struct scene *s)
{
    pass_time(s);
    uint64_t what = random_next(&s->random) % 100;
    if (what == 0) {
        correct(s);
        return;
    }
    if (s->running == JOBS || (s->running > 0 && what < 50)) {
        struct job *job = &s->job[random_next(&s->random) % s->running];
        struct job ends = *job;
        *job = s->job[--s->running];
        run(s, ends.leaf, ends.amount, false);
        return;
    }
    struct job *job = &s->job[s->running++];
    *job = (struct job){leaves[random_next(&s->random) % LEAVES],
                        random_between(&s->random, 1, s->largest)};
    run(s, job->leaf, job->amount, true);
}

static void play(int64_t half_life, int64_t largest, uint64_t seed)
{
    static const uint32_t parents[NODES] = {SHARE_NO_NODE, SHARE_ROOT, 1, 1, SHARE_ROOT};
    struct scene s = {.random = {seed}, .half_life = half_life, .largest = largest, .now = 1000};
    struct share_usage_rule rule = {.half_life = half_life, .weights = {1}};
    struct share_settings settings;
    int64_t total = INT64_C(1) << 46;
    s.tree = share_new(1, &total, &rule);
    assert_non_null(s.tree);
    share_default_settings(&settings);
    for (uint32_t i = 0; i < NODES; i++) {
        if (i > 0)
            assert_int_equal(share_add(s.tree, parents[i], &settings), i);
        s.node[i] = (struct node){.parent = parents[i], .v = calloc(STEPS, sizeof(struct stretch))};
        assert_non_null(s.node[i].v);
    }
    for (int k = 0; k < RANDOM_ROUNDS(STEPS); k++) {
        step(&s);
        if (k % COMPARED_EVERY == 0)
            check_sum(&s);
    }
    print_message("half-life %lld, amounts up to %lld: %.3Lf of the bound of a change, %.3Lf of "
                  "that of the sum\n",
                  (long long)half_life, (long long)largest, s.worst_step, s.worst_sum);
    share_free(s.tree);
    for (uint32_t i = 0; i < NODES; i++)
        free(s.node[i].v);
}

static void usage_is_within_its_bound(void **state)
{
    (void)state;
    play(60, 8, 1);
    play(604800, 4096, 2);
    play(7, INT64_C(1) << 40, 3);
    play(INT64_C(604800000000), 1, 4); /* a week in microseconds */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(usage_is_within_its_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
