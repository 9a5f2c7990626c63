/* Order and look-up in a planner's span table (spans.h). */
#include "planner/spans.h"

#include "planner/ids.h"

uint32_t spans_above(const struct span *v, uint32_t n, int64_t id)
{
    return ids_above(v, sizeof(*v), n, id);
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
