/* The spans of a planner, ordered by id.
 *
 * Ids only grow, so a new span goes to the end. A removed span leaves a marked entry behind, until half
 * of the table is such entries and the table is packed. So adding and removing are O(1), amortised.
 * Finding is O(log n), and mostly O(1), since ids are nearly evenly spaced. The array is the caller's;
 * this file only keeps it in order.
 */
#ifndef PLANNER_SPANS_H
#define PLANNER_SPANS_H

#include <stdint.h>

#define SPAN_REMOVED (-1)

struct span {
    int64_t id;
    int64_t start;
    int64_t last;    /* start + duration */
    int64_t planned; /* units, or SPAN_REMOVED */
};

/* Index of the span with this id among v[0..n), or n if there is none or it is removed. */
uint32_t spans_find(const struct span *v, uint32_t n, int64_t id);

/* Index of the first span at or after index i that is not removed, or n. */
uint32_t spans_live(const struct span *v, uint32_t n, uint32_t i);

/* Index of the first entry, removed ones included, with an id greater than this, or n. */
uint32_t spans_above(const struct span *v, uint32_t n, int64_t id);

/* Move the spans that are not removed to the front; returns their number. O(n). */
uint32_t spans_pack(struct span *v, uint32_t n);

#endif
