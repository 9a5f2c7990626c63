/* What the scheduling core asks of a planner and of a multi planner, beyond their public headers: times
 * that are not points, since a job may start now, and moving a span without removing it first.
 */
#ifndef PLANNER_PLANNER_EXT_H
#define PLANNER_PLANNER_EXT_H

#include "berth/planner.h"
#include "berth/planner_multi.h"

#pragma GCC visibility push(hidden)

/* The earliest time on or after `from`, which need not be a point, from which `request` units are free
 * for `duration`; -1 with EINVAL, ERANGE or ENOENT as planner_avail_time_first. Does not change that
 * iteration.
 */
int64_t planner_earliest(const planner_t *ctx, int64_t from, uint64_t duration, uint64_t request);

/* The same, but returns 0 and the time in *at, so that the time may be -1. */
int planner_fit(const planner_t *ctx, int64_t from, uint64_t duration, uint64_t request,
                int64_t *at);

/* The first point (the base time, or where a span starts or ends) at or after `from`, which must not be
 * before the window; INT64_MAX if there is none.
 */
int64_t planner_next_point(const planner_t *ctx, int64_t from);

/* The earliest time in [from, before) from which `request` units are free for `duration`, if everything
 * counts as free from `before` on; `before` if there is none. This finds a better place for a span: with
 * its own start as `before`, what the span itself takes counts as free. Times must be in the window, and
 * units not over the total. O((g + 1) log n).
 */
int64_t planner_earliest_before(const planner_t *ctx, int64_t from, int64_t duration,
                                int64_t request, int64_t before);

/* Move a span to an earlier start, found by planner_earliest_before. 0, or -1 with nothing changed:
 * EINVAL (no such span, or the start is not earlier or is before the window) or ENOMEM. O(log n).
 */
int planner_advance_span(planner_t *ctx, int64_t span_id, int64_t start);

/* Change the units of a span to a number >= 0, whatever else is taken. 0, or -1 with EINVAL (no such
 * span, units out of range) and nothing changed. With 0 units a span is out of the calendar for a while,
 * and putting it back needs no memory. O(log n).
 */
int planner_retake_span(planner_t *ctx, int64_t span_id, int64_t units);

/* How much is free from an instant on, depending on the duration: `free` units throughout
 * [at, at + duration) for every duration up to `within`. In a list, `within` ascends and `free` descends.
 */
struct planner_room {
    int64_t within;
    int64_t free;
};

/* Write the list for `at`, which is in the window, to room[0..max), and return its length, at least 1.
 * The `within` of the last entry is INT64_MAX. If max, at least 2, cuts the list short, its last entry
 * claims no less than is free. O(s log n) for s entries.
 */
size_t planner_rooms(const planner_t *ctx, int64_t at, struct planner_room *room, size_t max);

/* True if the calendar is in order and agrees with its spans. For tests. O(n log n). */
bool planner_check(const planner_t *ctx);

/* True if the multi planner's table of spans and its planners are in order and agree. For tests. */
bool planner_multi_check(const planner_multi_t *ctx);

#pragma GCC visibility pop

#endif
