/* Constraints outside of jobspecs. */
#ifndef JOBSPEC_CONSTRAINT_CHECK_H
#define JOBSPEC_CONSTRAINT_CHECK_H

#include <stdint.h>

#include "jobspec/doc.h"

/* Check that the subtree i of a document is a constraint (Flux RFC 31). Scalars in it count as strings,
 * in quotes or not, and are marked as strings. Returns 0, or -1 with EINVAL and a text, or ENOMEM.
 * O(n log n).
 */
int constraint_check(struct doc *d, uint32_t i);

#endif
