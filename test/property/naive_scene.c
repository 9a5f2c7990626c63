#include "naive_scene.h"

#include <stdlib.h>
#include <string.h>

size_t nq_draw_limits(struct random *r, struct sched_limit limit[NQ_WHATS], int64_t most[NQ_WHATS],
                      int64_t high)
{
    static const char *const whats[] = {"running", "node"};
    size_t n = 0;
    for (int what = 0; what < NQ_WHATS; what++) {
        most[what] = random_between(r, 0, 2) == 0 ? random_between(r, 1, high) : INT64_MAX;
        if (most[what] < INT64_MAX)
            limit[n++] = (struct sched_limit){whats[what], most[what]};
    }
    return n;
}

uint32_t nq_nodes_of(const char *text)
{
    uint32_t nodes = 0;
    text += strcspn(text, "0123456789");
    while (*text) {
        char *end;
        long low = strtol(text, &end, 10), high = low;
        if (*end == '-')
            high = strtol(end + 1, &end, 10);
        for (long i = low; i <= high; i++)
            nodes |= 1u << i;
        text = end + strcspn(end, "0123456789");
    }
    return nodes;
}
