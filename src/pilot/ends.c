#include "pilot/ends.h"

#include <inttypes.h>
#include <stdio.h>

void pilot_block_name(char name[PILOT_BLOCK_NAME], int64_t pilot, size_t others)
{
    if (others == 0)
        snprintf(name, PILOT_BLOCK_NAME, "pilot-%" PRId64, pilot);
    else
        snprintf(name, PILOT_BLOCK_NAME, "pilots-%" PRId64 "-and-%zu-other%s", pilot, others,
                 others > 1 ? "s" : "");
}

/* Groups of ends that are no more than so far from the first of theirs. */
static size_t group_within(const int64_t *end, size_t n, uint64_t width, size_t *group)
{
    size_t groups = 0, first = 0;
    for (size_t i = 0; i < n; i++) {
        if (groups == 0 || (uint64_t)end[i] - (uint64_t)end[first] > width) {
            groups++;
            first = i;
        }
        group[i] = groups - 1;
    }
    return groups;
}

size_t pilot_group_ends(const int64_t *end, size_t n, size_t most, size_t *group)
{
    uint64_t low = 0, high = n > 0 ? (uint64_t)end[n - 1] - (uint64_t)end[0] : 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (group_within(end, n, middle, group) <= most)
            high = middle;
        else
            low = middle + 1;
    }
    return group_within(end, n, low, group);
}
