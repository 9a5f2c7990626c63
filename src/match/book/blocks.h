/* Blocks: vertices that are set aside during a window of time, once or periodically. Only a job with a
 * permit for a block may use them then.
 *
 * Nothing is booked for a block, and its occurrences are computed, never listed. The state of a vertex
 * (state.h) has the numbers of the blocks that contain it and of those that contain something below it. A
 * match looks only at the blocks that overlap its window.
 */
#ifndef MATCH_BLOCKS_H
#define MATCH_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/blocks.h"

struct match_blocks {
    uint64_t used; /* a bit for each number that is set */
    struct match_block {
        uint32_t *vertex;
        size_t n;
        int64_t start, duration; /* ticks */
        int64_t every;           /* the period, > duration; 0: it occurs once */
    } block[BLOCKS_MAX];
};

/* Which of the blocks in `numbers` overlap [at, end), as bits. O(blocks). */
uint64_t match_blocks_during(const struct match_blocks *s, uint64_t numbers, int64_t at,
                             int64_t end);

/* A lower bound for when a window as long as [at, end) may start clear of the blocks in `numbers`, all of
 * which overlap [at, end): the latest end of those occurrences. INT64_MAX if a block's gaps are too short.
 */
int64_t match_blocks_until(const struct match_blocks *s, uint64_t numbers, int64_t at, int64_t end);

/* The first time after `now` at which a block in `numbers` begins or ends; INT64_MAX if none does. */
int64_t match_blocks_next_change(const struct match_blocks *s, uint64_t numbers, int64_t now);

/* From when on blocks repeat, as early as *from, and after how long; false: that is not within 64 bits. */
bool match_blocks_repeat(const struct match_blocks *s, int64_t *from, int64_t *length);

void match_blocks_clear(struct match_blocks *s);

struct match;

/* Set a block, or remove it if it has no vertices (n = 0). The matcher takes over the array of vertices.
 * Returns 0, or -1 with ENOMEM, nothing changed and the array still the caller's.
 */
int match_blocks_set(struct match *m, uint32_t number, const struct match_block *block);

/* Mark the vertices of all blocks in their states, which have no marks yet. Returns 0, or -1 with ENOMEM. */
int match_blocks_mark(struct match *m);

#endif
