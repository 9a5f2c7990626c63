/* A calendar of one resource type, spelled out: the load of every single tick, and how many spans start or
 * end there. What the property tests of the planners compare with.
 */
#ifndef PROPERTY_CALENDAR_H
#define PROPERTY_CALENDAR_H

#include <stdint.h>
#include <stdlib.h>

#include "random.h"

/* `window` ticks from `base`; tick `window` is the end, where nothing is taken. */
struct calendar {
    int64_t base, window, total;
    int64_t *load;
    int64_t *holds;
};

static inline struct calendar calendar_make(int64_t base, int64_t window, int64_t total)
{
    struct calendar c = {.base = base, .window = window, .total = total};
    c.load = calloc((size_t)window + 1, sizeof(*c.load));
    c.holds = calloc((size_t)window + 1, sizeof(*c.holds));
    c.holds[0] = 1;
    return c;
}

static inline void calendar_free(struct calendar *c)
{
    free(c->load);
    free(c->holds);
}

static inline int64_t calendar_free_at(const struct calendar *c, int64_t at)
{
    int64_t left = c->total - c->load[at - c->base];
    return left > 0 ? left : 0;
}

static inline int calendar_fits(const struct calendar *c, int64_t at, int64_t duration,
                                int64_t request)
{
    for (int64_t t = at; t < at + duration; t++)
        if (calendar_free_at(c, t) < request)
            return 0;
    return 1;
}

static inline int calendar_point(const struct calendar *c, int64_t at)
{
    return c->holds[at - c->base] > 0;
}

/* Take units, or give them back, during [start, last), and hold its ends so many times more. */
static inline void calendar_take(struct calendar *c, int64_t start, int64_t last, int64_t units,
                                 int hold)
{
    for (int64_t t = start; t < last; t++)
        c->load[t - c->base] += units;
    c->holds[start - c->base] += hold;
    c->holds[last - c->base] += hold;
}

static inline int64_t calendar_pick_time(const struct calendar *c, struct random *r)
{
    return random_between(r, c->base, c->base + c->window - 1);
}

/* Requests are often near a limit, so that answers vary. */
static inline int64_t calendar_pick_request(const struct calendar *c, struct random *r)
{
    switch (random_next(r) % 8) {
    case 0:
        return 0;
    case 1:
        return c->total;
    case 2:
    case 3:
        return random_between(r, 0, c->total);
    default:
        return random_between(r, 0, c->total / 8 + 1) % (c->total + 1);
    }
}

#endif
