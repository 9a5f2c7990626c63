/* Specifications of pruning filters: which types a vertex counts below itself, depending on its own type.
 *
 * A specification is a list of "HIGH:LOW" with commas between them: vertices of type HIGH count what is
 * of type LOW below them. HIGH may be ALL, for every vertex that has something below it. With
 * "ALL:core,rack:node" every vertex counts cores, and racks count nodes as well. Blanks are ignored.
 *
 * A pair is left out if ALL counts its low type too, whichever of the two comes first.
 */
#ifndef MATCH_FILTER_SPEC_H
#define MATCH_FILTER_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"
#include "resource/graph.h"

#define FILTER_ALL TYPE_ALL /* as a high type: all types */

struct filter_pair {
    uint16_t high, low; /* types */
};

struct filter_spec {
    struct filter_pair *v; /* sorted by high, then by low; each pair once */
    size_t n;
    size_t cap;
};

/* Make a specification empty, which is all zeroes. Keeps errno. */
void filter_spec_clear(struct filter_spec *s);

/* Copy into an empty specification. Returns 0, or -1 with ENOMEM. */
int filter_spec_copy(struct filter_spec *to, const struct filter_spec *from);

/* Add the pairs of a text; its types are added to the graph's table. Returns 0, or -1 and nothing
 * changed: EINVAL for a wrong text, EOVERFLOW for too many types, ENOMEM (then the table may have got
 * types).
 */
int filter_spec_parse(struct filter_spec *s, struct graph *g, const char *text, berth_error_t *err);

/* Add a pair. Returns 0, or -1 with ENOMEM and nothing changed. O(pairs). */
int filter_spec_add(struct filter_spec *s, uint16_t high, uint16_t low);

/* Write the types that a vertex of type `high` counts to `types`, which has room for s->n: first those of
 * its own pairs, then those of ALL except its own type, each by number. Returns how many. O(pairs).
 */
size_t filter_spec_types(const struct filter_spec *s, uint16_t high, uint16_t *types);

/* True if some type counts type `low`. O(pairs). */
bool filter_spec_is_pruning(const struct filter_spec *s, uint16_t low);

/* True if the pairs are in order, and none repeats one of ALL. For tests. */
bool filter_spec_check(const struct filter_spec *s);

#endif
