/* The canonical text of a jobspec: only what a match depends on. */
#ifndef JOBSPEC_CANONICAL_H
#define JOBSPEC_CANONICAL_H

#include "berth/jobspec.h"

/* Make one line of JSON: a jobspec with the resources and constraints of this one, one task and no
 * duration. The caller frees it. Reading it gives equal resources and constraints, except for labels:
 * matches do not depend on them, so all slots have the same label and other resources none. Requests with
 * equal resources (types, counts, exclusivity, units, ids) and constraints, in the same order, have equal
 * texts. NULL with ENOMEM. O(length).
 */
char *jobspec_canonical(const jobspec_t *spec);

/* Make one line of a jobspec (JSON, but for a duration that is no number) for one member of a role of a gang: with its
 * resources, their tasks' commands and counts, and the system attributes of this one, but for the environment, the
 * directory and the gang. The caller frees it. NULL with ENOMEM. O(length).
 */
char *jobspec_of_role(const jobspec_t *spec, const struct jobspec_role *role);

#endif
