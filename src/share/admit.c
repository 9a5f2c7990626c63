/* Whether a job is let in. */
#include "share/admit.h"

#include "share/tree_inner.h"

bool share_admits(uint32_t dimensions, const int64_t *asked, const int64_t *taken,
                  const int64_t *limit)
{
    for (uint32_t d = 0; d < dimensions; d++)
        if (asked[d] > 0 && (asked[d] > limit[d] || taken[d] > limit[d] - asked[d]))
            return false;
    return true;
}

void share_overcommit(uint32_t dimensions, const int64_t *total, uint32_t thousandths,
                      int64_t *limit)
{
    for (uint32_t d = 0; d < dimensions; d++) {
        share_wide most = (share_wide)total[d] * thousandths / 1000;
        limit[d] = most < SHARE_UNLIMITED ? (int64_t)most : SHARE_UNLIMITED;
    }
}
