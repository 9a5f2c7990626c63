/* How many units each class may start: counts only, no jobs and no machine.
 *
 * Classes stand in an array, the largest percentage first; of equals the order of the array decides. Counts
 * are units of what a queue schedules; a task that takes n counts n. Each count is 0 to CLASS_UNITS_MAX, and
 * there are at most CLASSES_MAX classes, so sums fit. All is exact integers. Of what a round distributes each
 * class gets its part, rounded up, until nothing is left. Parts are whole percent, or millionths if more than
 * CLASS_PERCENT_CLAIMS classes claim something.
 *
 * A class with 0 percent is as if it were not there: it starts nothing, and what it runs is not counted.
 *
 * Of n classes each call is O(n), but where it says otherwise. No call allocates memory.
 */
#ifndef SHARE_CLASS_COUNTS_H
#define SHARE_CLASS_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLASS_UNITS_MAX ((int64_t)1 << 52)

/* Classes that claim something in one round, up to which each gets whole percents of it. */
#define CLASS_PERCENT_CLAIMS 10

struct class_load {
    /* Given: in percent, the sum being 100; and in units. */
    int64_t percent;
    int64_t running, waiting;
    int64_t fixed; /* of what runs, what may not be stopped */
    /* What the class is meant to have (class_set_targets). */
    int64_t target;
    /* Decided: at most one of the two is above 0. */
    int64_t start, stop;
    /* While deciding: what still waits, what of the next round it has a claim to, and what part of the round
     * that is.
     */
    int64_t left, claim, part;
};

/* Scale percentages, the largest first and not all 0, to a sum of 100: each is rounded down, and the first
 * takes what is missing.
 */
void class_normalise(int64_t *percent, size_t n);

/* Set what each class is meant to have of so many workers: its percentage rounded down; the first has the
 * rest.
 */
void class_set_targets(struct class_load *c, size_t n, int64_t workers);

/* How far classes are from their percentages of so many workers: the farthest above plus the farthest below,
 * in percent, a share that is held being rounded down. A class counts if something of it waits or if it has
 * more than its percentage. 0 for fewer than two classes, or no workers.
 */
int64_t class_spread(const struct class_load *c, size_t n, int64_t workers);

/* Decide how many units each class starts on idle workers: first what classes are entitled to, in proportion
 * to what each lacks; then loans, by the percentages of the classes that still wait, so that all that is
 * lent, now and before, comes near to them. The targets are set. The starts add up to the idle workers or to
 * all that waits, whichever is less. O(n * rounds): a round gives all that is left, or all that one class
 * waits for, but for what rounding leaves, which is less than n parts of it.
 *
 * A class without a target to fill gets nothing as long as others lack something of theirs. Of those that do,
 * the first takes what rounding leaves. So no class goes beyond its target, unless it borrows, by more than
 * n - 1 percent of the idle workers of one decision, nor by more than CLASS_PERCENT_CLAIMS - 1 percent.
 */
void class_count_starts(struct class_load *c, size_t n, int64_t idle);

/* Decide how many units of each class start and stop to bring the classes back to their targets. Stops are
 * of units above the target only, and of those that are not fixed: what is, stays lent. They are no more than the
 * starts that fill targets: what one class has borrowed is never taken from it to be lent to another, so two classes
 * can't take from each other in turns, also if what was stopped waits again. Nor are they more than what waits beyond
 * the idle workers. Starts are no more than idle workers and stops together. Lends in one round: what rounding leaves
 * is lent by the next pass.
 */
void class_count_rebalance(struct class_load *c, size_t n, int64_t idle);

/* For how long the spread has been above the threshold. All zeroes at first. */
struct class_timer {
    bool is_over;
    int64_t since;
};

/* Note the spread at a time: the time since which it has been above the threshold, at each look. */
void class_timer_note(struct class_timer *t, int64_t now, int64_t spread, int64_t threshold);

struct class_rule {
    int64_t threshold, duration; /* of rebalancing: percent and ticks */
};

/* True if counts of a decision hold: starts within what waits and what is idle or stopped, stops within what
 * is above the targets and what fills others. For tests.
 */
bool class_check(const struct class_load *c, size_t n, int64_t idle);

#endif
