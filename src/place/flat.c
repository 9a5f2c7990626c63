/* The flat machine: each question of place.h is one question to a planner. */
#include "place/flat.h"

#include <errno.h>
#include <stdlib.h>

#include "berth/planner.h"
#include "place/counted.h"

struct flat {
    struct place place;
    planner_t *planner;
};

static planner_t *planner_of(const struct place *place)
{
    return ((const struct flat *)place)->planner;
}

static int64_t flat_idle(const struct place *place, int64_t at)
{
    return planner_avail_resources_at(planner_of(place), at);
}

static int64_t flat_when(const struct place *place, const struct place_ask *ask, int64_t from)
{
    return planner_earliest(planner_of(place), from, (uint64_t)ask->duration, (uint64_t)ask->units);
}

static int64_t flat_book(struct place *place, const struct place_ask *ask, int64_t at)
{
    int64_t span =
        planner_add_span(planner_of(place), at, (uint64_t)ask->duration, (uint64_t)ask->units);
    if (span < 0 && errno == EINVAL)
        errno = EBUSY;
    return span;
}

static void flat_release(struct place *place, int64_t booking)
{
    planner_rem_span(planner_of(place), booking);
}

static int64_t flat_reserve(struct place *place, const struct place_ask *ask, int64_t from,
                            int64_t *at)
{
    *at = flat_when(place, ask, from);
    return *at < 0 ? -1 : flat_book(place, ask, *at);
}

static void flat_lift(struct place *place, int64_t booking, bool briefly)
{
    (void)briefly;
    planner_retake_span(planner_of(place), booking, 0);
}

static void flat_drop(struct place *place, const struct place_ask *ask, int64_t booking)
{
    planner_retake_span(planner_of(place), booking, ask->units);
}

static bool flat_fits(struct place *place, const struct place_ask *ask, int64_t booking)
{
    planner_t *planner = planner_of(place);
    return planner_avail_during(planner, planner_span_start_time(planner, booking),
                                (uint64_t)ask->duration, (uint64_t)ask->units) == 0;
}

static int64_t flat_pull(struct place *place, const struct place_ask *ask, int64_t booking,
                         struct place_pull *how)
{
    planner_t *planner = planner_of(place);
    int64_t found = planner_earliest_before(planner, how->from, ask->duration, ask->units, how->at);
    how->freed = counted_freed(ask, how, found);
    if (found < how->at && planner_advance_span(planner, booking, found) < 0)
        return -1;
    return found;
}

static size_t flat_rooms(const struct place *place, uint32_t part, int64_t at,
                         struct planner_room *room, size_t max)
{
    (void)part;
    return planner_rooms(planner_of(place), at, room, max);
}

static bool flat_check(const struct place *place)
{
    return planner_check(planner_of(place));
}

static void flat_destroy(struct place *place)
{
    planner_destroy(&((struct flat *)place)->planner);
    free(place);
}

static const struct place_ops flat_ops = {
    .idle = flat_idle,
    .when = flat_when,
    .book = flat_book,
    .reserve = flat_reserve,
    .release = flat_release,
    .undo = flat_release,
    .lift = flat_lift,
    .drop = flat_drop,
    .fits = flat_fits,
    .pull = flat_pull,
    .rooms = flat_rooms,
    .check = flat_check,
    .destroy = flat_destroy,
    COUNTED_OPS,
};

struct place *flat_create(int64_t units)
{
    struct flat *flat = malloc(sizeof(*flat));
    if (!flat)
        return NULL;
    flat->place = (struct place){.ops = &flat_ops, .most = units, .is_counted = true};
    flat->planner = planner_new(0, INT64_MAX, (uint64_t)units, "unit");
    if (!flat->planner) {
        free(flat);
        return NULL;
    }
    return &flat->place;
}
