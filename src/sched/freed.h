/* What has become free since reservations were last tried.
 *
 * A reservation stands at the earliest time there was when it was last tried. It can move only if something
 * was freed since, at some time before its start, where there are now enough units for it. A note says from
 * when on units were freed and the most that are free at any time there; a front keeps, of many notes, those
 * that no other one covers. A reservation that matches no note of its front needs no look at the calendar.
 */
#ifndef SCHED_FREED_H
#define SCHED_FREED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sched/queue.h"

struct note {
    int64_t from;
    int64_t most;
};

#define FRONT_MAX 16 /* notes kept apart; more are joined, which only makes the front match more */

/* Notes with `from` descending and `most` descending: none is at least as early and as large as another. */
struct front {
    size_t n;
    struct note note[FRONT_MAX];
};

void front_add(struct front *front, struct note note);
void front_join(struct front *front, const struct front *other);

/* The earliest `from` of the notes that a reservation of these units, starting at `start`, matches; INT64_MAX
 * if it matches none.
 */
int64_t front_match(const struct front *front, int64_t units, int64_t start);

/* The front as bounds for queue_match over entries whose value is their start, negated. Returns their number,
 * at most FRONT_MAX.
 */
size_t front_bounds(const struct front *front, struct queue_bound *bound);

#endif
