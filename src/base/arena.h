/* An arena: memory that is allocated piece by piece and released all at once, or back to a mark. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *block; /* the block from which memory is taken */
    size_t used;               /* bytes of that block */
};

struct arena_mark {
    struct arena_block *block;
    size_t used;
};

/* Free everything. An empty arena is all zeroes. */
void arena_clear(struct arena *a);

/* Allocate memory, aligned for any type and not cleared. NULL with ENOMEM. O(1) on average. */
void *arena_alloc(struct arena *a, size_t size);

/* Copy a text. NULL with ENOMEM. */
char *arena_text(struct arena *a, const char *text);

/* Mark how far the arena is used; and release what was allocated since a mark. The arena keeps that
 * memory for later.
 */
struct arena_mark arena_mark(const struct arena *a);
void arena_release(struct arena *a, struct arena_mark mark);

#endif
