/* What the scheduling core asks of a planner, and of a multi planner, beyond their public headers.
 *
 * These look at times that are no points (a job may start now) and move a span without taking it out first.
 */
#ifndef PLANNER_PLANNER_EXT_H
#define PLANNER_PLANNER_EXT_H

#include "berth/planner.h"
#include "berth/planner_multi.h"

#pragma GCC visibility push(hidden)

/* The earliest time on or after `from`, not only of the points, from which `request` units are free for
 * `duration`; -1 with EINVAL, ERANGE or ENOENT as planner_avail_time_first. Leaves that iteration alone.
 */
int64_t planner_earliest(const planner_t *ctx, int64_t from, uint64_t duration, uint64_t request);

/* The same, the time in *at, and 0; there it is told from -1 as a time. */
int planner_fit(const planner_t *ctx, int64_t from, uint64_t duration, uint64_t request,
                int64_t *at);

/* The first point (the base time, or where a span starts or ends) at or after `from`, which must not lie
 * before the window; INT64_MAX if there is none.
 */
int64_t planner_next_point(const planner_t *ctx, int64_t from);

/* The earliest time on or after `from` and before `before` from which `request` units are free for
 * `duration`, where all is free from `before` on; `before` if there is none. So a span finds a better
 * place: with its own start as `before`, what it holds itself counts as free. All in the window, units
 * not over the total. O((g + 1) log n).
 */
int64_t planner_earliest_before(const planner_t *ctx, int64_t from, int64_t duration,
                                int64_t request, int64_t before);

/* Move a span to an earlier start, which planner_earliest_before has found. 0, or -1 with EINVAL (no such
 * span, the start not earlier or before the window) or ENOMEM, nothing changed. O(log n).
 */
int planner_advance_span(planner_t *ctx, int64_t span_id, int64_t start);

/* Have a span take another number of units, at least 0, whatever else is taken; 0, or -1 with EINVAL (no
 * such span, units out of range) and nothing changed. So one is out of the calendar for a while, at 0
 * units, without memory. O(log n).
 */
int planner_retake_span(planner_t *ctx, int64_t span_id, int64_t units);

/* How much is free from an instant on, by duration: `free` units throughout [at, at + duration) for every
 * duration up to `within`. Steps ascend in `within` and descend in `free`.
 */
struct planner_room {
    int64_t within;
    int64_t free;
};

/* Write the steps from `at`, in the window, into room[0..max) and return their number, at least 1. The last
 * one's `within` is INT64_MAX; where max, at least 2, cuts the list short, it claims no less than is free.
 * O(s log n) for s steps.
 */
size_t planner_rooms(const planner_t *ctx, int64_t at, struct planner_room *room, size_t max);

/* True if the calendar's structures are in order and agree with its spans. O(n log n). */
bool planner_check(const planner_t *ctx);

/* True if the multi planner's table of spans and all its planners are in order and agree. */
bool planner_multi_check(const planner_multi_t *ctx);

#pragma GCC visibility pop

#endif
