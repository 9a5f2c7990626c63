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

/* The times of R in ticks of a microsecond; *until is INT64_MAX where it has no end. Returns 0, or -1 with EINVAL: it has
 * none.
 */
int r_times(const json_t *r, int64_t *at, int64_t *until);

/* Set them: an end of INT64_MAX is written as none. Returns 0, or -1 with EINVAL (it is no R) or ENOMEM. */
int r_set_times(json_t *r, int64_t at, int64_t until);

/* What a matcher can read of R: its graph if it has one that is Fluxion's, else its ranks. *format is that of berth/match.h,
 * and `part` the value to read, which R owns.
 */
const json_t *r_readable(const json_t *r, const char **format);

#endif
