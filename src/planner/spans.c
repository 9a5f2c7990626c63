/* Order and look-up in a planner's span table (spans.h). */
#include "planner/spans.h"

/* Number of entries with id <= the given one. A guess by proportion comes first, since ids are dense but for
 * what was packed away; the search widens from there.
 */
uint32_t spans_above(const struct span *v, uint32_t n, int64_t id)
{
    if (n == 0 || id < v[0].id)
        return 0;
    if (id >= v[n - 1].id)
        return n;
    uint32_t low = 0;      /* v[low].id <= id */
    uint32_t high = n - 1; /* v[high].id > id */
    double share = (double)(id - v[0].id) / (double)(v[n - 1].id - v[0].id);
    uint32_t guess = (uint32_t)(share * (double)(n - 1));
    for (uint32_t step = 1; guess > low && guess < high; step *= 2) {
        if (v[guess].id <= id) {
            low = guess;
            guess = step < high - guess ? guess + step : high;
        } else {
            high = guess;
            guess = step < guess - low ? guess - step : low;
        }
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (v[middle].id <= id)
            low = middle;
        else
            high = middle;
    }
    return high;
}

uint32_t spans_find(const struct span *v, uint32_t n, int64_t id)
{
    uint32_t i = spans_above(v, n, id);
    return i > 0 && v[i - 1].id == id && v[i - 1].planned != SPAN_REMOVED ? i - 1 : n;
}

uint32_t spans_live(const struct span *v, uint32_t n, uint32_t i)
{
    while (i < n && v[i].planned == SPAN_REMOVED)
        i++;
    return i;
}

uint32_t spans_pack(struct span *v, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (v[i].planned != SPAN_REMOVED)
            v[kept++] = v[i];
    return kept;
}
