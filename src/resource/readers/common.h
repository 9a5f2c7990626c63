/* What the readers share. */
#ifndef RESOURCE_READER_COMMON_H
#define RESOURCE_READER_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"
#include "resource/graph.h"
#include "resource/readers/reader.h"

/* How many vertices the public readers allow, and how many edges, since a short text may describe any
 * number.
 */
#define READER_VERTICES_MAX 50000000

/* As read_grug, rv1_parse and read_rv1, with the caller's bound for vertices or ranks. */
int read_grug_within(struct graph *g, const char *text, size_t length, uint32_t max,
                     berth_error_t *err);
int rv1_parse_within(struct rv1 *r, const char *text, size_t length, uint32_t max,
                     berth_error_t *err);
int read_rv1_within(struct graph *g, const char *text, size_t length, uint32_t max,
                    berth_error_t *err);

/* Split a host name into what comes before the digits at its end, and their number; *id is -1 if there
 * are none. The base of a name that is all digits is the whole name. Returns 0, or -1 with EOVERFLOW if
 * the number is too large.
 */
int host_split(const char *name, size_t *base_length, int64_t *id);

/* True if a name is its basename followed by the id, so that a graph need not keep it. */
bool name_follows(const char *name, const char *basename, size_t base_length, int64_t id);

/* Exchange two graphs. A reader that starts a graph fills one of its own and then exchanges it, so that
 * the caller's is unchanged on failure.
 */
static inline void graph_swap(struct graph *a, struct graph *b)
{
    struct graph c = *a;

    *a = *b;
    *b = c;
}

/* Seal a graph that a reader has filled. Returns 0, or -1 with EINVAL or ENOMEM and the reason. */
int reader_seal(struct graph *g, berth_error_t *err);

/* Report why a call of the graph has failed, from its errno: ENOMEM, or EINVAL for more than a bound.
 * Returns -1.
 */
int reader_failed(berth_error_t *err);

#endif
