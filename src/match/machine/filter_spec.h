/* Pruning filters: which types a vertex counts below itself, by its own type.
 *
 * A specification is "HIGH:LOW", or several with commas between them: vertices of type HIGH count what is
 * of type LOW below them. HIGH may be ALL, for every vertex that has something below it. So
 * "ALL:core,rack:node" lets every vertex count cores, and racks nodes as well. Blanks mean nothing.
 *
 * What every vertex counts anyway is not noted for a type of its own, whichever of the two is said first.
 */
#ifndef MATCH_FILTER_SPEC_H
#define MATCH_FILTER_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"
#include "resource/graph.h"

#define FILTER_ALL TYPE_ALL /* as a high type: every one */

struct filter_pair {
    uint16_t high, low; /* types */
};

struct filter_spec {
    struct filter_pair *v; /* by high, then by low; each pair once */
    size_t n;
    size_t cap;
};

/* An empty specification is all zeroes. Clearing keeps errno. */
void filter_spec_clear(struct filter_spec *s);

/* Copy into an empty one. Returns 0, or -1 with ENOMEM. */
int filter_spec_copy(struct filter_spec *to, const struct filter_spec *from);

/* Add what a text says; its types are put into the graph's table. Returns 0, or -1 and nothing changed:
 * EINVAL for a wrong text, EOVERFLOW for a type too many, ENOMEM (then a type may have come into the
 * table).
 */
int filter_spec_parse(struct filter_spec *s, struct graph *g, const char *text, berth_error_t *err);

/* Add a pair. Returns 0, or -1 with ENOMEM and nothing changed. O(pairs). */
int filter_spec_add(struct filter_spec *s, uint16_t high, uint16_t low);

/* Write the types that a vertex of a type counts to types, which has room for s->n: those noted for its
 * type, then those that every vertex counts but for its own type, each in the order of their numbers.
 * Returns how many. O(pairs).
 */
size_t filter_spec_types(const struct filter_spec *s, uint16_t high, uint16_t *types);

/* True if something counts that type. O(pairs). */
bool filter_spec_is_pruning(const struct filter_spec *s, uint16_t low);

/* True if the pairs are in order, and none says what is said for every vertex. */
bool filter_spec_check(const struct filter_spec *s);

#endif
