/* Blocks: vertices that are shut during windows of time, once or again and again, to all that have no permit.
 *
 * Nothing is booked for a block, and its occurrences are reckoned, never listed. A vertex knows which
 * blocks it belongs to and which something below it does (state.h); a match looks only at those that
 * overlap its window.
 */
#ifndef MATCH_SHUT_H
#define MATCH_SHUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHUT_MAX 64

struct shut {
    uint64_t used; /* by number */
    struct shut_window {
        uint32_t *vertex;
        size_t n;
        int64_t start, duration;
        int64_t every; /* > duration, or 0: once */
    } window[SHUT_MAX];
};

/* Those of some numbers that overlap [at, end). O(numbers). */
uint64_t shut_during(const struct shut *s, uint64_t numbers, int64_t at, int64_t end);

/* The earliest start, on or after `at`, of a window as long as [at, end) that none of these is known to
 * overlap; all overlap that one. INT64_MAX: never.
 */
int64_t shut_until(const struct shut *s, uint64_t numbers, int64_t at, int64_t end);

/* The first time after `now` at which one of some numbers begins or ends; INT64_MAX: never. */
int64_t shut_turn(const struct shut *s, uint64_t numbers, int64_t now);

void shut_clear(struct shut *s);

struct match;

/* Set a block, which takes the array over; or, with n = 0, take it away. Returns 0, or -1 with ENOMEM,
 * nothing changed and the array still the caller's.
 */
int match_shut(struct match *m, uint32_t number, const struct shut_window *window);

/* Note in the states which vertices belong to blocks, from nothing. Returns 0, or -1 with ENOMEM. */
int match_note_shut(struct match *m);

#endif
