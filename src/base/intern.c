/* The table of numbered texts: a hash over an array. */
#include "base/intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN 240
#define BLOCK_MAX 65536

/* Texts must not move, so they are in blocks that don't grow. */
struct intern_block {
    struct intern_block *older;
    size_t used;
    size_t size;
    char text[];
};

void intern_clear(struct intern *t)
{
    int saved = errno;
    while (t->block) {
        struct intern_block *older = t->block->older;
        free(t->block);
        t->block = older;
    }
    free(t->v);
    free(t->slot);
    *t = (struct intern){0};
    errno = saved;
}

/* FNV-1a, its upper half folded in. */
static uint32_t intern_hash(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3;
    return (uint32_t)(hash ^ hash >> 32);
}

static bool is(const struct intern_entry *e, uint32_t hash, const char *text, size_t length)
{
    return e->hash == hash && e->length == length &&
           (length == 0 || memcmp(e->text, text, length) == 0);
}

/* The slot of the text, or the empty one where it would go. There is always an empty one. */
static uint32_t find_text_slot(const struct intern *t, uint32_t hash, const char *text,
                               size_t length)
{
    uint32_t mask = t->slots - 1;
    uint32_t i = hash & mask;
    while (t->slot[i] && !is(&t->v[t->slot[i] - 1], hash, text, length))
        i = (i + 1) & mask;
    return i;
}

bool intern_find(const struct intern *t, const char *text, size_t length, uint32_t *id)
{
    if (t->n == 0)
        return false;
    uint32_t found = t->slot[find_text_slot(t, intern_hash(text, length), text, length)];
    if (found)
        *id = found - 1;
    return found > 0;
}

static int reserve_entry(struct intern *t)
{
    if (t->n < t->cap)
        return 0;
    uint32_t cap = t->cap ? t->cap + t->cap / 2 : 8;
    struct intern_entry *v = reallocarray(t->v, cap, sizeof(*v));
    if (!v)
        return -1;
    t->v = v;
    t->cap = cap;
    return 0;
}

static int reserve_slot(struct intern *t)
{
    if (t->n < t->slots / 2)
        return 0;
    uint32_t slots = t->slots ? 2 * t->slots : 16;
    uint32_t *slot = calloc(slots, sizeof(*slot));
    if (!slot)
        return -1;
    for (uint32_t id = 0; id < t->n; id++) {
        uint32_t i = t->v[id].hash & (slots - 1);
        while (slot[i])
            i = (i + 1) & (slots - 1);
        slot[i] = id + 1;
    }
    free(t->slot);
    t->slot = slot;
    t->slots = slots;
    return 0;
}

/* Room for size bytes in the newest block. A large text has a block of its own size, which is then full. */
static int reserve_text(struct intern *t, size_t size)
{
    if (t->block && size <= t->block->size - t->block->used)
        return 0;
    size_t room = t->block ? 2 * t->block->size : BLOCK_MIN;
    if (room > BLOCK_MAX)
        room = BLOCK_MAX;
    if (room < size)
        room = size;
    struct intern_block *block = malloc(sizeof(*block) + room);
    if (!block)
        return -1;
    *block = (struct intern_block){.older = t->block, .size = room};
    t->block = block;
    return 0;
}

int intern_put(struct intern *t, const char *text, size_t length, uint32_t *id)
{
    uint32_t hash = intern_hash(text, length);
    if (t->n > 0) {
        uint32_t found = t->slot[find_text_slot(t, hash, text, length)];
        if (found) {
            *id = found - 1;
            return 0;
        }
    }
    if (length >= UINT32_MAX || t->n >= INT32_MAX) {
        errno = ERANGE;
        return -1;
    }
    if (reserve_entry(t) < 0 || reserve_slot(t) < 0 || reserve_text(t, length + 1) < 0) {
        errno = ENOMEM;
        return -1;
    }
    char *kept = t->block->text + t->block->used;
    if (length > 0)
        memcpy(kept, text, length);
    kept[length] = '\0';
    t->block->used += length + 1;
    t->slot[find_text_slot(t, hash, text, length)] = t->n + 1;
    t->v[t->n] = (struct intern_entry){kept, (uint32_t)length, hash};
    *id = t->n++;
    return 0;
}

/* Remove the newest first: then no text that stays was displaced in the hash table by one that is
 * removed, and blocks are freed in order.
 */
void intern_shrink(struct intern *t, uint32_t n)
{
    while (t->n > n) {
        const struct intern_entry *e = &t->v[--t->n];
        struct intern_block *block = t->block;
        t->slot[find_text_slot(t, e->hash, e->text, e->length)] = 0;
        block->used -= (size_t)e->length + 1;
        if (block->used == 0) {
            t->block = block->older;
            free(block);
        }
    }
}

bool intern_check(const struct intern *t)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < t->slots; i++)
        taken += t->slot[i] > 0;
    if (taken != t->n || t->n > t->cap || t->n > t->slots / 2)
        return false;
    for (uint32_t id = 0; id < t->n; id++) {
        const struct intern_entry *e = &t->v[id];
        uint32_t found;
        if (e->text[e->length] != '\0' || e->hash != intern_hash(e->text, e->length) ||
            !intern_find(t, e->text, e->length, &found) || found != id)
            return false;
    }
    return true;
}
