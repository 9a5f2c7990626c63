/* A multi planner: calendars of several resource types that are asked and booked together.
 * It holds one planner (berth/planner.h) for each type, all over the same window, in an order that every
 * array argument follows. A span takes a number of units of each type during [start, start + duration). 0
 * units are allowed: such a span only adds its two points. Times are integers whose length is the caller's
 * choice.
 *
 * The interface is that of Fluxion's planner_multi (flux-sched, resource/planner/c/planner_multi.h). Four
 * things that are wrong there are right here: an add that fails gives back what it took, the earliest fit
 * looks at the points of all types and not only of the first, spans follow their types through an update,
 * and a call that fails changes nothing. A NULL handle, NULL array, or index out of range is EINVAL
 * everywhere.
 *
 * Cost, with k types, n points in a planner and g gaps too short for a request: first and next are
 * O(k (g + 1) log n); adding, removing and reducing a span, and the questions about what is free, are
 * O(k log n). With up to two spans, a multi planner is one allocation beside its k planners.
 *
 * Calls return 0 or a value, or -1 (NULL for pointers) with errno. A call that fails leaves the multi planner
 * as it was. Any call that adds a span or makes a handle or a type may fail with ENOMEM. Not thread-safe: the
 * earliest-fit and span iterations are part of the multi planner.
 */
#ifndef BERTH_PLANNER_MULTI_H
#define BERTH_PLANNER_MULTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/planner.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct planner_multi_t planner_multi_t;

/* Make a multi planner of len types without spans; the caller destroys it. Names are copied. There may be no
 * types: then there is no window either, and asking for it is EINVAL. EINVAL: duration < 1,
 * base_time + duration overflows, an array or name NULL, a name twice; ERANGE: a total over INT64_MAX.
 */
planner_multi_t *planner_multi_new(int64_t base_time, uint64_t duration,
                                   const uint64_t *resource_totals, const char **resource_types,
                                   size_t len);

/* Make a multi planner without types, as a target for planner_multi_assign. */
planner_multi_t *planner_multi_empty(void);

/* Make a deep copy, with the planners, the spans, the ids given out and the state of the iterations. */
planner_multi_t *planner_multi_copy(planner_multi_t *mp);

/* Make lhs a deep copy of rhs; planners that lhs lent out are gone. If memory runs out, lhs stays as it was
 * and errno is ENOMEM; a NULL handle changes nothing and is EINVAL.
 */
void planner_multi_assign(planner_multi_t *lhs, planner_multi_t *rhs);

/* Drop all spans and begin a new window. Types and totals stay; ids start at 0 again. EINVAL: NULL,
 * duration < 1 or base_time + duration overflows.
 */
int planner_multi_reset(planner_multi_t *ctx, int64_t base_time, uint64_t duration);

/* Destroy *ctx_p with its planners and set it to NULL; either may be NULL already. */
void planner_multi_destroy(planner_multi_t **ctx_p);

/* The window; EINVAL for NULL and where there are no types. */
int64_t planner_multi_base_time(planner_multi_t *ctx);
int64_t planner_multi_duration(planner_multi_t *ctx);

/* The number of types; 0 with EINVAL for NULL. */
size_t planner_multi_resources_len(planner_multi_t *ctx);

/* The name and the total of the i-th type, and the total by name. A name belongs to the multi planner and is
 * valid until its type is removed. EINVAL: no such type.
 */
const char *planner_multi_resource_type_at(planner_multi_t *ctx, unsigned int i);
int64_t planner_multi_resource_total_at(planner_multi_t *ctx, unsigned int i);
int64_t planner_multi_resource_total_by_type(planner_multi_t *ctx, const char *resource_type);

/* The planner of the i-th type. It belongs to the multi planner and is valid until its type is removed. The
 * caller may ask it anything and add spans of its own, but must not reset it, assign to it or destroy it.
 */
planner_t *planner_multi_planner_at(planner_multi_t *ctx, unsigned int i);

/* Start an earliest-fit iteration: the first point of any type on or after on_or_after from which
 * resource_requests[i] units of each type i are free for `duration`. Points are the starts and ends of spans
 * and the base time; first and next return them in ascending order. EINVAL: NULL, no types, len not their
 * number, on_or_after outside the window, duration < 1; ERANGE: the first type's request is over its total;
 * ENOENT: no such point from which the duration ends within the window, as when another type's request is
 * over its total.
 */
int64_t planner_multi_avail_time_first(planner_multi_t *ctx, int64_t on_or_after, uint64_t duration,
                                       const uint64_t *resource_requests, size_t len);

/* The next such point of the last planner_multi_avail_time_first. Adding or removing a span, or removing all
 * of its units of a type, ends the iteration (EINVAL until the next first); reducing a span in part restarts
 * it; an update continues it, with a request of 0 for new types. ERANGE: the first type's total has shrunk
 * below its request; ENOENT: no more.
 */
int64_t planner_multi_avail_time_next(planner_multi_t *ctx);

/* The units of the i-th type that are free at an instant, which may be the window's end. EINVAL: NULL or no
 * such type; ERANGE: at outside the window.
 */
int64_t planner_multi_avail_resources_at(planner_multi_t *ctx, int64_t at, unsigned int i);

/* The same for all types, into resource_counts[0..len). EINVAL: NULL, or len not the number of types; ERANGE:
 * at outside the window.
 */
int planner_multi_avail_resources_array_at(planner_multi_t *ctx, int64_t at,
                                           int64_t *resource_counts, size_t len);

/* 0 if resource_requests[i] units of each type i are free during [at, at + duration). EINVAL: NULL, len not
 * the number of types, duration < 1, at before the window; ERANGE: the end is after the window's. Else the
 * first type that refuses decides: ERANGE if its request is over its total, EBUSY if that is not free.
 */
int planner_multi_avail_during(planner_multi_t *ctx, int64_t at, uint64_t duration,
                               const uint64_t *resource_requests, size_t len);

/* The units of each type that are free throughout [at, at + duration), into resource_counts[0..len).
 * EINVAL: NULL, no types, len not their number, duration < 1, at outside the window; ERANGE: the end
 * after the window's.
 */
int planner_multi_avail_resources_array_during(planner_multi_t *ctx, int64_t at, uint64_t duration,
                                               int64_t *resource_counts, size_t len);

/* Take resource_requests[i] units of each type i during [start_time, start_time + duration) and end the
 * earliest-fit iteration. Returns the span's id: 0, 1, 2... in each multi planner, never used again until a
 * reset. An add that is refused takes nothing, but uses an id. EINVAL: NULL, len not the number of types,
 * duration < 1, outside the window, or not that much free; ERANGE: a request over INT64_MAX.
 */
int64_t planner_multi_add_span(planner_multi_t *ctx, int64_t start_time, uint64_t duration,
                               const uint64_t *resource_requests, size_t len);

/* Give a span's units of all types back and end the earliest-fit iteration. EINVAL: NULL or a negative id;
 * ENOENT: no such span.
 */
int planner_multi_rem_span(planner_multi_t *ctx, int64_t span_id);

/* Give back reduced_totals[i] of a span's units of the type named resource_types[i], in any order. Names that
 * are not types of this planner are ignored; a type that is not named gives back nothing. A type of which the
 * span then has nothing (or had nothing, and no more is to be given back) is removed from the span, and
 * reducing it again is ignored. Once all types are removed the span is too, and *removed is true, else false.
 * Everything is checked before anything is given back. EINVAL: NULL (a name too), a negative id, more of a
 * type than the span has; ENOENT: no such span; ERANGE: a count over INT64_MAX.
 */
int planner_multi_reduce_span(planner_multi_t *ctx, int64_t span_id, const uint64_t *reduced_totals,
                              const char **resource_types, size_t len, bool *removed);

/* A span's units of the i-th type; 0 if they were given back. EINVAL: NULL, a negative id, no such type;
 * ENOENT: no such span.
 */
int64_t planner_multi_span_planned_at(planner_multi_t *ctx, int64_t span_id, unsigned int i);

/* Iterate over the ids of the spans, ascending. EINVAL: NULL; ENOENT: no more. */
int64_t planner_multi_span_first(planner_multi_t *ctx);
int64_t planner_multi_span_next(planner_multi_t *ctx);

/* The number of spans; 0 with EINVAL for NULL. */
size_t planner_multi_span_size(planner_multi_t *ctx);

/* True if the ids given out, the spans, the earliest-fit iteration and the planner of each type are the same;
 * the order of the types does not matter. O(n) in the number of points and spans.
 */
bool planner_multis_equal(planner_multi_t *lhs, planner_multi_t *rhs);

/* Make the types those listed, in that order and with these totals. A type that stays keeps its planner, and
 * so its spans. A type that is removed takes its part of every span with it. A new type has the window of the
 * others and no part in the spans there are. If no types are listed, nothing happens. EINVAL: NULL (a name
 * too), a name twice, no types so far; ERANGE: a total over INT64_MAX. O(1) for each type while the list of
 * types is the same, else O(n) in the number of spans.
 */
int planner_multi_update(planner_multi_t *ctx, const uint64_t *resource_totals,
                         const char **resource_types, size_t len);

#ifdef __cplusplus
}
#endif

#endif
