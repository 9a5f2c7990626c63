/* The vertices of one type, such as cores, for a caller that gives them out one by one.
 *
 * Most policies prefer vertices in an order that does not depend on what is free: a job that wants n
 * slots with one vertex each gets the first n in that order that are free. Where the order is known,
 * there is nothing to match.
 */
#ifndef MATCH_UNITS_H
#define MATCH_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "berth/match.h"

struct match_units {
    /* reached from the root, in order of discovery; a vertex's number is its index here */
    uint32_t *vertex;
    uint32_t n;
    /* numbers of those that are up, in the policy's order; ascending if that is not fixed */
    uint32_t *order;
    uint32_t n_up;
    bool fixed; /* the policy's order does not depend on what is free */
};

/* List the vertices of a type; the caller clears the list. Returns 0, or -1 with an empty list: EINVAL if the
 * policy gives whole nodes or a vertex is a pool of a size other than 1, ENOMEM. O(n log n).
 */
int match_units_list(const match_t *m, const char *type, struct match_units *units,
                     berth_error_t *err);
void match_units_clear(struct match_units *units);

/* The vertices of a type that the last match gives: the first max of them are written to `vertex`.
 * Returns how many there are. O(vertices matched).
 */
uint32_t match_units_given(const match_t *m, const char *type, uint32_t *vertex, uint32_t max);

#endif
