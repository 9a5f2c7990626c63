#include "naive_scene.h"

#include <stdlib.h>
#include <string.h>

size_t nq_draw_limits(struct random *r, const char *of_nodes, struct sched_limit limit[NQ_WHATS],
                      int64_t most[NQ_WHATS], int64_t high)
{
    const char *const whats[] = {"running", of_nodes};
    size_t n = 0;
    for (int what = 0; what < NQ_WHATS; what++) {
        most[what] = random_between(r, 0, 2) == 0 ? random_between(r, 1, high) : INT64_MAX;
        if (most[what] < INT64_MAX)
            limit[n++] = (struct sched_limit){whats[what], most[what]};
    }
    return n;
}

/* The numbers behind a name, "4" or "[0-1,3]", as bits; `text` is behind them then. */
static uint32_t numbers(const char **text)
{
    const char *at = *text + strcspn(*text, "0123456789");
    bool many = at > *text && at[-1] == '[';
    uint32_t set = 0;
    do {
        char *end;
        long low = strtol(at, &end, 10), high = low;
        if (*end == '-')
            high = strtol(end + 1, &end, 10);
        for (long i = low; i <= high; i++)
            set |= 1u << i;
        at = end + (many ? 1 : 0);
    } while (many && at[-1] == ',');
    *text = at;
    return set;
}

uint32_t nq_nodes_of(const char *text, int cores)
{
    uint32_t bits = 0;
    while (*text) {
        uint32_t nodes = numbers(&text);
        uint32_t of_node = *text == '/' ? numbers(&text) : (1u << cores) - 1;
        for (int i = 0; nodes >> i; i++)
            bits |= nodes >> i & 1 ? of_node << i * cores : 0;
        text += *text == ',';
    }
    return bits;
}
