/* The part of a jobspec that a match depends on, as text. */
#ifndef JOBSPEC_CANONICAL_H
#define JOBSPEC_CANONICAL_H

#include "berth/jobspec.h"

/* One line of JSON, a jobspec with the resources and constraints of this one, one task and no duration;
 * the caller frees it. Read again it gives equal resources and constraints, but for labels: no match
 * depends on them, so slots get all the same and others none. Requests of which resources (types, counts,
 * exclusivity, units, ids) and constraints are equal, in this order, have equal texts. NULL with ENOMEM.
 * O(length).
 */
char *jobspec_canonical(const jobspec_t *spec);

#endif
