/* What the machines that count units (flat.h, cores.h) have in common: calendars say all there is to know
 * of them, so that nothing needs to be remembered of what was freed.
 */
#ifndef PLACE_COUNTED_H
#define PLACE_COUNTED_H

#include "place/place.h"

int64_t counted_part(struct place *place, const char *requires, berth_error_t *err);
bool counted_is_stuck(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                      bool apart);
bool counted_betters(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                     uint64_t since);
void counted_try(struct place *place, bool begin);
int counted_hints(struct place *place, const char **text, size_t *length);
int counted_take_hints(struct place *place, const char *text, size_t length, berth_error_t *err);
int64_t counted_turn(const struct place *place, int64_t now);

/* Their rows of the table of operations. */
#define COUNTED_OPS                                                                                \
    .part = counted_part, .is_stuck = counted_is_stuck, .betters = counted_betters,                \
    .try = counted_try, .hints = counted_hints, .take_hints = counted_take_hints,                  \
    .turn = counted_turn

/* From when on units are free that a booking held before it was pulled to `found`: from its new end on, or
 * where that is before its old start from there on.
 */
static inline int64_t counted_freed(const struct place_ask *ask, const struct place_pull *how,
                                    int64_t found)
{
    if (found < 0 || found >= how->at)
        return INT64_MAX;
    int64_t end = found + ask->duration;
    return end > how->at ? end : how->at;
}

#endif
