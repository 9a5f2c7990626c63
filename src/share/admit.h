/* Whether a job is let in at all: what it asks for, besides what those who were let in have or wait for,
 * stays within a limit. Which limit, the caller chooses: a node's room (share_room), a quota, or all there is with
 * more added on top (share_overcommit), so that jobs are at hand when others end.
 *
 * The same units as in share/tree.h. Nothing fails.
 */
#ifndef SHARE_ADMIT_H
#define SHARE_ADMIT_H

#include <stdbool.h>
#include <stdint.h>

/* True if taken and asked together are within the limit in each dimension that is asked for. So who asks for
 * nothing is let in. A limit may be SHARE_UNLIMITED. O(dimensions).
 */
bool share_admits(uint32_t dimensions, const int64_t *asked, const int64_t *taken,
                  const int64_t *limit);

/* So many thousandths of what there is, rounded down, and at most SHARE_UNLIMITED. */
void share_overcommit(uint32_t dimensions, const int64_t *total, uint32_t thousandths,
                      int64_t *limit);

#endif
