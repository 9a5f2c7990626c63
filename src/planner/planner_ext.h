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

/* The first point (the base time, or where a span starts or ends) at or after `from`, which must not lie before
 * the window; INT64_MAX if there is none.
 */
int64_t planner_next_point(const planner_t *ctx, int64_t from);

/* Move a span to the earliest time on or after `from` at which its units are free for its duration, what it
 * holds itself counting as free, if that is before its start. Returns its start, moved or not; -1 with EINVAL
 * (NULL, no such span, from before the window) or ENOMEM, nothing changed. O((g + 1) log n).
 */
int64_t planner_pull_span(planner_t *ctx, int64_t span_id, int64_t from);

/* The most units that are free at any instant of [from, to), from < to, both in the window. */
int64_t planner_avail_most(const planner_t *ctx, int64_t from, int64_t to);

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
