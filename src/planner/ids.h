/* Look-up in a table whose rows begin with their ids, ascending.
 *
 * Ids are dense except for removed ones, so a guess by proportion mostly hits or nearly does: then a
 * look-up is O(1). It is never more than O(log n).
 */
#ifndef PLANNER_IDS_H
#define PLANNER_IDS_H

#include <stddef.h>
#include <stdint.h>

static inline int64_t ids_at(const void *rows, size_t row_bytes, uint32_t i)
{
    return *(const int64_t *)((const char *)rows + i * row_bytes);
}

/* The number of rows with an id of at most this. The search starts from a guess and widens. */
static inline uint32_t ids_above(const void *rows, size_t row_bytes, uint32_t n, int64_t id)
{
    if (n == 0 || id < ids_at(rows, row_bytes, 0))
        return 0;
    if (id >= ids_at(rows, row_bytes, n - 1))
        return n;
    uint32_t low = 0;      /* its id is at most this */
    uint32_t high = n - 1; /* its id is greater */
    int64_t first = ids_at(rows, row_bytes, 0);
    double share = (double)(id - first) / (double)(ids_at(rows, row_bytes, n - 1) - first);
    uint32_t guess = (uint32_t)(share * (double)(n - 1));
    for (uint32_t step = 1; guess > low && guess < high; step *= 2) {
        if (ids_at(rows, row_bytes, guess) <= id) {
            low = guess;
            guess = step < high - guess ? guess + step : high;
        } else {
            high = guess;
            guess = step < guess - low ? guess - step : low;
        }
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (ids_at(rows, row_bytes, middle) <= id)
            low = middle;
        else
            high = middle;
    }
    return high;
}

#endif
