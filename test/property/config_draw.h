/* Configurations made at random, of all that a file can say. */
#ifndef PROPERTY_CONFIG_DRAW_H
#define PROPERTY_CONFIG_DRAW_H

#include "base/arena.h"
#include "config/config.h"
#include "random.h"

/* Where one is made, in the arena. A second has so many ticks. */
struct maker {
    struct random r;
    struct arena arena;
    int64_t second;
};

/* A number of [low, high]. */
int64_t draw_any(struct maker *m, int64_t low, int64_t high);

void make_config(struct maker *m, struct config *c);

#endif
