/* Constraints (RFC 31) by themselves, as a configuration has them. */
#ifndef JOBSPEC_CONSTRAINT_TEXT_H
#define JOBSPEC_CONSTRAINT_TEXT_H

#include <stddef.h>

#include "berth/error.h"
#include "berth/jobspec.h"

/* Read one constraint from length bytes of JSON or YAML, as a jobspec's are read; the caller destroys it.
 * NULL with EINVAL and a text: it is none; ENOMEM. O(n log n).
 */
struct jobspec_constraint *jobspec_constraint_parse(const char *json, size_t length,
                                                    berth_error_t *err);

/* NULL is fine; errno is kept. */
void jobspec_constraint_destroy(struct jobspec_constraint *constraint);

#endif
