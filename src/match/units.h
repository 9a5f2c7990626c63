/* The things of one type that a matcher's machine has, cores say, for those who give them out one by one.
 *
 * Most policies prefer things in an order that does not depend on what is free: a job that wants n slots
 * with one thing each gets the first n that are free in it. Where that is known, it need not be matched.
 */
#ifndef MATCH_UNITS_H
#define MATCH_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "berth/match.h"

struct match_units {
    /* those that are reached from the root, in the order of discovery: its number is its place */
    uint32_t *vertex;
    uint32_t n;
    /* numbers of those that are up, in the policy's order; by number if there is none */
    uint32_t *order;
    uint32_t n_up;
    bool fixed; /* there is such an order */
};

/* List them; the caller clears the list. Returns 0, or -1, the list empty: EINVAL where the policy gives
 * whole nodes or one is a pool of a size other than 1, ENOMEM. O(n log n).
 */
int match_units_list(const match_t *m, const char *type, struct match_units *units,
                     berth_error_t *err);
void match_units_clear(struct match_units *units);

/* The vertices of a type that what was matched last gives, the first max of them; their number.
 * O(vertices matched).
 */
uint32_t match_units_given(const match_t *m, const char *type, uint32_t *vertex, uint32_t max);

#endif
