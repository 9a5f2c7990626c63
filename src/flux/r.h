/* R, the text that describes resources (RFC 20), as Flux and the module exchange it. */
#ifndef FLUX_R_H
#define FLUX_R_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/idset.h"
#include "berth/error.h"

/* The ranks of R into an empty set. EINVAL with a text: it is no R; ENOMEM. */
int r_ranks(const json_t *r, struct idset *ranks, berth_error_t *err);

/* The times of R in ticks, of which a second has `second`; *until is INT64_MAX where it has no end. Returns 0, or -1
 * with EINVAL: it has none.
 */
int r_times(const json_t *r, int64_t second, int64_t *at, int64_t *until);

/* Set them: an end of INT64_MAX is written as none. Returns 0, or -1 with EINVAL (it is no R) or ENOMEM. */
int r_set_times(json_t *r, int64_t second, int64_t at, int64_t until);

/* What a matcher can read of R: its graph if it has one that is Fluxion's, else its ranks. *format is that of berth/match.h,
 * and `part` the value to read, which R owns.
 */
const json_t *r_readable(const json_t *r, const char **format);

/* Whether the `scheduling` of R is what its writer says: Fluxion's, as which one without a name counts (RFC 20), has a
 * graph. Returns 0, also where there is none, or -1 with EINVAL and a text.
 */
int r_check_scheduling(const json_t *r, berth_error_t *err);

/* Whether R's graph has the ranks of R_lite, or as many others that these may be (below). Returns 0, also where there is no
 * graph, or -1 with EINVAL and a text. O(vertices).
 */
int r_check_graph_ranks(const json_t *r, berth_error_t *err);

/* R whose graph is in the ranks and core ids of R_lite: an instance within another is given the graph of that one. A new
 * reference, to R itself where there is nothing to do; NULL with ENOMEM. O(vertices).
 */
json_t *r_in_own_ranks(const json_t *r);

/* True if R's graph has a core, or R_lite has none: short graphs leave out what is below a node that is given whole, and an
 * instance that has such nodes goes by R_lite. O(vertices).
 */
bool r_graph_has_cores(const json_t *r);

/* What an id of a type (rank, core, or another, which keeps theirs) on a rank of R's graph is there. -1: nothing; R may be
 * NULL. O(vertices).
 */
int64_t r_own_id(const json_t *r, int64_t rank, const char *type, int64_t id);

#endif
