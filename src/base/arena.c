#include "base/arena.h"

#include <errno.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN ((size_t)16 << 10)

/* Blocks are in the order of their use; those after the current one are kept for later. */
struct arena_block {
    struct arena_block *before, *after;
    size_t size;
    alignas(max_align_t) char memory[];
};

void arena_clear(struct arena *a)
{
    struct arena_block *b = a->block;
    int saved = errno;

    while (b && b->after)
        b = b->after;
    while (b) {
        struct arena_block *before = b->before;
        free(b);
        b = before;
    }
    *a = (struct arena){0};
    errno = saved;
}

/* A block with room for size bytes behind the one at work. */
static struct arena_block *next_block(struct arena *a, size_t size)
{
    struct arena_block *b = a->block ? a->block->after : NULL;

    if (b && b->size >= size)
        return b;
    size_t room = a->block ? a->block->size * 2 : BLOCK_MIN;
    if (room < size)
        room = size;
    if (size > SIZE_MAX / 4) {
        errno = ENOMEM;
        return NULL;
    }
    struct arena_block *new = malloc(sizeof(*new) + room);
    if (!new)
        return NULL;
    new->before = a->block;
    new->after = b;
    new->size = room;
    if (b)
        b->before = new;
    if (a->block)
        a->block->after = new;
    return new;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size_t rounded = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);

    if (rounded < size) {
        errno = ENOMEM;
        return NULL;
    }
    if (!a->block || a->block->size - a->used < rounded) {
        struct arena_block *b = next_block(a, rounded);
        if (!b)
            return NULL;
        a->block = b;
        a->used = 0;
    }
    void *piece = a->block->memory + a->used;
    a->used += rounded;
    return piece;
}

char *arena_text(struct arena *a, const char *text)
{
    size_t size = strlen(text) + 1;
    char *to = arena_alloc(a, size);
    return to ? memcpy(to, text, size) : NULL;
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->block, a->used};
}

void arena_release(struct arena *a, struct arena_mark mark)
{
    while (!mark.block && a->block && a->block->before)
        a->block = a->block->before;
    if (mark.block)
        a->block = mark.block;
    a->used = mark.used;
}
