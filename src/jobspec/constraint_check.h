/* Constraints that stand elsewhere than in a jobspec. */
#ifndef JOBSPEC_CONSTRAINT_CHECK_H
#define JOBSPEC_CONSTRAINT_CHECK_H

#include <stdint.h>

#include "jobspec/doc.h"

/* Whether the subtree i of a document is a constraint (Flux RFC 31). Scalars in it count as strings, in
 * quotes or not: they are marked as such. Returns 0, or -1 with EINVAL and a text, or ENOMEM. O(n log n).
 */
int constraint_check(struct doc *d, uint32_t i);

#endif
