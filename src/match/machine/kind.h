/* Vertices that are of a kind, as a GPU is of a type: they have a property such as "gpu:a100". */
#ifndef MATCH_MACHINE_KIND_H
#define MATCH_MACHINE_KIND_H

#include "match/machine/topo.h"

/* Whether a vertex is of a kind. Where it has no property of that family ("gpu:"), what is above it says of what kind it
 * is, the nearest first. O(depth times properties).
 */
bool kind_is(const struct topo *t, uint32_t v, const char *property);

#endif
