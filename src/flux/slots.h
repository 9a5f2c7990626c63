/* Slots of a jobspec that name nothing to run on. */
#ifndef FLUX_SLOTS_H
#define FLUX_SLOTS_H

#include <jansson.h>

/* The jobspec, with `exclusive` written out where a slot names neither cores nor GPUs, such as one of whole nodes: what is
 * in a slot is the job's alone (RFC 14), so that all that is in such a node is the job's, and R says so. A new reference, to
 * the jobspec itself where there is nothing to write; NULL with ENOMEM. What is no jobspec is left as it is. O(resources).
 */
json_t *slots_written_out(json_t *jobspec);

#endif
