/* Where jobs are placed: what the scheduling core asks of a machine.
 *
 * The core knows jobs and time; what a job asks for and whether it fits is the machine's affair. Allocations
 * and reservations are bookings in the same calendars, so that backfill is a question to the calendar and never
 * a comparison of jobs with jobs. Times are ticks.
 */
#ifndef SCHED_PLACE_H
#define SCHED_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "berth/sched.h"
#include "planner/planner_ext.h"

struct place;

struct place_ask {
    int64_t units;    /* >= 1 */
    int64_t duration; /* ticks, >= 1 */
};

struct place_ops {
    /* The most units a job can ever ask for. */
    int64_t (*most)(const struct place *place);

    /* Units that are free at an instant. */
    int64_t (*idle)(const struct place *place, int64_t at);

    /* The earliest time on or after `from` at which it can start; -1 with ENOENT if there is none. */
    int64_t (*when)(const struct place *place, const struct place_ask *ask, int64_t from);

    /* Book it from `at` on. Returns a booking, or -1: EBUSY if it does not fit then, ENOMEM. */
    int64_t (*book)(struct place *place, const struct place_ask *ask, int64_t at);

    /* Give a booking back. */
    void (*release)(struct place *place, int64_t booking);

    /* Its job starts: choose which parts of the machine it gets. Returns 0, or -1 and nothing is changed: EBUSY if the
     * booking has run out and there are not enough, ENOMEM. NULL where parts have no names.
     */
    int (*start)(struct place *place, const struct place_ask *ask, int64_t booking, int64_t now);

    /* What a booking whose job has started was given, as ranges of ids; their number, or -1 with ENOMEM.
     * They hold until the next call. NULL where parts have no names.
     */
    int64_t (*given)(struct place *place, int64_t booking, const struct sched_range **ranges);

    /* Move a booking, which starts at `at`, to the earliest time on or after `from` if that is before; what it
     * holds itself counts as free. Returns its time, moved or not, or -1 with ENOMEM.
     */
    int64_t (*pull)(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                    int64_t from);

    /* Bounds on what can start at `at`: nothing that fits no step can (planner_rooms). */
    size_t (*rooms)(const struct place *place, int64_t at, struct planner_room *room, size_t max);

    /* True if the calendars are in order. */
    bool (*check)(const struct place *place);

    void (*destroy)(struct place *place);
};

/* What every implementation begins with. */
struct place {
    const struct place_ops *ops;
};

#endif
