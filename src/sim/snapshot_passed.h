/* What the last pass has left to the next one (sched_passed), in the state of a player. */
#ifndef SIM_SNAPSHOT_PASSED_H
#define SIM_SNAPSHOT_PASSED_H

#include "config/seconds.h"
#include "sim/play_priv.h"

struct saved_passed {
    int64_t at, events;
    bool tries_holders, tries_starving;
};

/* The keys of a state, for a table of keys of `into`, whose `field` is a struct saved_passed. */
#define SNAPSHOT_PASSED_KEYS(into, field)                                                          \
    KEY_AS(into, field.at, "passed", KEY_WHOLE, .needed = true, .min = -1,                         \
           .max = SECONDS_MAX * SECONDS_TICKS),                                                    \
        KEY_AS(into, field.events, "events", KEY_WHOLE, .max = INT64_MAX),                         \
        KEY_AS(into, field.tries_holders, "tries-holders", KEY_BOOL),                              \
        KEY_AS(into, field.tries_starving, "tries-starving", KEY_BOOL)

/* Add the keys to a state: 0, or -1. */
int snapshot_put_passed(const struct play *p, json_t *state);

/* Tell the core what they say, after all else. Returns 0, or -1 with a text. */
int snapshot_load_passed(struct play *p, const struct saved_passed *passed,
                         const struct key_place *place, berth_error_t *err);

#endif
