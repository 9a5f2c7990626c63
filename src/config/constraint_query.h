/* Constraints as people type them (Flux RFC 35): "gpu,!old", "host:n[1-4] | (fast & -rank:0)". */
#ifndef CONFIG_CONSTRAINT_QUERY_H
#define CONFIG_CONSTRAINT_QUERY_H

#include <jansson.h>

#include "berth/error.h"

#define CONSTRAINT_QUERY_DEPTH 50 /* parentheses and negations within each other, at most */

/* Read terms that `|`, `||` and `or` join, or `&`, `&&`, `and`, commas and blanks, which bind closer. A term is a property,
 * `host:` with a list of hosts (RFC 29), `rank:` with a set of ranks (RFC 22), or something in parentheses; `!`, `-`, `^` and
 * `not` before it negate it; it may be in quotes. The result is an array of properties where there is nothing else, or an
 * RFC 31 constraint, which the caller frees. NULL with EINVAL or ENOMEM and a
 * text. O(length).
 */
json_t *constraint_query(const char *text, berth_error_t *err);

#endif
