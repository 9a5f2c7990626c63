/* Constraints (RFC 31) on their own, as in a configuration. */
#ifndef JOBSPEC_CONSTRAINT_TEXT_H
#define JOBSPEC_CONSTRAINT_TEXT_H

#include <stddef.h>

#include "berth/error.h"
#include "berth/jobspec.h"

/* Read a constraint from length bytes of JSON or YAML, as in a jobspec; the caller destroys it. NULL with
 * EINVAL and a text, or ENOMEM. O(n log n).
 */
struct jobspec_constraint *jobspec_constraint_parse(const char *json, size_t length,
                                                    berth_error_t *err);

/* Destroy a constraint. NULL is allowed; errno is kept. */
void jobspec_constraint_destroy(struct jobspec_constraint *constraint);

#endif
