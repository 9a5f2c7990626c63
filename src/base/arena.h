/* Memory for a while: allocated piece by piece, given back all at once or down to a mark. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *block; /* the one at work */
    size_t used;               /* of it */
};

struct arena_mark {
    struct arena_block *block;
    size_t used;
};

/* An arena of all zeroes is empty. */
void arena_clear(struct arena *a);

/* Memory for anything, not cleared; NULL with ENOMEM. O(1) on average. */
void *arena_alloc(struct arena *a, size_t size);

/* Where the arena stands, and back to there: what was allocated since is gone, its memory kept for later. */
struct arena_mark arena_mark(const struct arena *a);
void arena_release(struct arena *a, struct arena_mark mark);

#endif
