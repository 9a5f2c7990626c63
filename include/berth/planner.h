/* A planner: the calendar of one countable resource over time.
 *
 * A planner says how many of `total` interchangeable units are free at each instant of a window
 * [base_time, base_time + duration). A span takes `request` units during [start, start + duration). Times are
 * integers whose length is the caller's choice; intervals are half open.
 * The interface is that of Fluxion's planner (flux-sched, resource/planner/c/planner.h). Two things that are
 * undefined or wrong there are defined here: a NULL handle and a time before the window are EINVAL, and
 * after a total has shrunk below what is in use and has grown again, as much is free as before.
 *
 * Cost, with n points (starts and ends of spans) and g gaps too short for a request: first and next are
 * O((g + 1) log n). Adding, removing and reducing a span, and the questions about what is free, are O(log n),
 * however many points they cover. (Finding a span by its id is O(log n) in the number of spans; removing one
 * is amortised.) A calendar with up to two spans is one allocation of at most 192 bytes.
 *
 * Calls return 0 or a value, or -1 (NULL for pointers) with errno. A call that fails leaves the planner as it
 * was. Any call that adds a span or makes a handle may fail with ENOMEM. Not thread-safe: the earliest-fit
 * and span iterations are part of the planner.
 */
#ifndef BERTH_PLANNER_H
#define BERTH_PLANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct planner_t planner_t;

/* Make a planner without spans; the caller destroys it. The type is copied. EINVAL: duration < 1, type NULL,
 * or base_time + duration overflows; ERANGE: total over INT64_MAX.
 */
planner_t *planner_new(int64_t base_time, uint64_t duration, uint64_t resource_total,
                       const char *resource_type);

/* Make a planner without a window, as a target for planner_assign. It can be compared with planners_equal;
 * any other call on it is EINVAL.
 */
planner_t *planner_new_empty(void);

/* Make a deep copy, with the spans, the ids given out and the state of the iterations. NULL handle: EINVAL.
 * O(n).
 */
planner_t *planner_copy(planner_t *p);

/* Make lhs a deep copy of rhs. If memory runs out, lhs stays as it was and errno is ENOMEM. O(n). */
void planner_assign(planner_t *lhs, planner_t *rhs);

/* Drop all spans and begin a new window. Total and type stay; ids start at 1 again. EINVAL: NULL,
 * duration < 1 or base_time + duration overflows.
 */
int planner_reset(planner_t *ctx, int64_t base_time, uint64_t duration);

/* Destroy *ctx_p and set it to NULL; either may be NULL already. */
void planner_destroy(planner_t **ctx_p);

/* The window, total and type. The type belongs to the planner and is valid until the planner is assigned to
 * or destroyed. NULL handle: -1 or NULL with EINVAL.
 */
int64_t planner_base_time(planner_t *ctx);
int64_t planner_duration(planner_t *ctx);
int64_t planner_resource_total(planner_t *ctx);
const char *planner_resource_type(planner_t *ctx);

/* Start an earliest-fit iteration: the first point on or after on_or_after from which `request` units are
 * free for `duration`. Points are the starts and ends of spans and the base time; first and next return them
 * in ascending order. EINVAL: NULL, on_or_after outside the window, duration < 1; ERANGE: request over the
 * total; ENOENT: no such point from which the duration ends within the window.
 */
int64_t planner_avail_time_first(planner_t *ctx, int64_t on_or_after, uint64_t duration,
                                 uint64_t request);

/* The next such point of the last planner_avail_time_first. Adding or removing a span ends the iteration
 * (EINVAL until the next first); reducing a span in part restarts it. ERANGE: the total has shrunk below the
 * request; ENOENT: no more.
 */
int64_t planner_avail_time_next(planner_t *ctx);

/* 0 if `request` units are free during [at, at + duration). EINVAL: NULL, duration < 1, at before the window;
 * ERANGE: request over the total, or the end after the window's; EBUSY: not free.
 */
int planner_avail_during(planner_t *ctx, int64_t at, uint64_t duration, uint64_t request);

/* The units that are free throughout [at, at + duration). EINVAL: NULL, duration < 1, at outside the window;
 * ERANGE: the end is after the window's.
 */
int64_t planner_avail_resources_during(planner_t *ctx, int64_t at, uint64_t duration);

/* The units that are free at an instant, which may be the window's end. EINVAL: NULL; ERANGE: at outside the
 * window.
 */
int64_t planner_avail_resources_at(planner_t *ctx, int64_t at);

/* Take `request` units during [start_time, start_time + duration) and end the earliest-fit iteration. 0 units
 * are allowed: such a span only adds its two points. Returns the span's id: 1, 2, 3... in each planner, never
 * used again until a reset. EINVAL: NULL, duration < 1, outside the window, or not that much free; ERANGE:
 * request over INT64_MAX.
 */
int64_t planner_add_span(planner_t *ctx, int64_t start_time, uint64_t duration, uint64_t request);

/* Give a span's units back and end the earliest-fit iteration. EINVAL: NULL or no such span. */
int planner_rem_span(planner_t *ctx, int64_t span_id);

/* Give back to_remove of a span's units. Giving back all of them removes the span and sets *removed; giving
 * back 0 changes nothing, except that a span of 0 units is removed. EINVAL: NULL, no such span, to_remove
 * negative or more than the span has.
 */
int planner_reduce_span(planner_t *ctx, int64_t span_id, int64_t to_remove, bool *removed);

/* Iterate over the ids of the spans, ascending. EINVAL: NULL, or no more. */
int64_t planner_span_first(planner_t *ctx);
int64_t planner_span_next(planner_t *ctx);

/* The number of spans; 0 with EINVAL for NULL. */
size_t planner_span_size(planner_t *ctx);

/* True if there is a span with this id; false with EINVAL if not, or if ctx is NULL. */
bool planner_is_active_span(planner_t *ctx, int64_t span_id);

/* A span's start, duration and units; -1 with EINVAL for NULL or no such span. */
int64_t planner_span_start_time(planner_t *ctx, int64_t span_id);
int64_t planner_span_duration(planner_t *ctx, int64_t span_id);
int64_t planner_span_resource_count(planner_t *ctx, int64_t span_id);

/* True if window, total, type, spans, ids given out and the earliest-fit iteration are the same. O(n). */
bool planners_equal(planner_t *lhs, planner_t *rhs);

/* Change the total. Spans stay; while they take more than the new total, nothing is free. EINVAL: NULL;
 * ERANGE: over INT64_MAX. O(1).
 */
int planner_update_total(planner_t *ctx, uint64_t resource_total);

#ifdef __cplusplus
}
#endif

#endif
