#include "report/alloc.h"

#include <stdlib.h>

enum { NUMBER_MAX = 5 }; /* bytes that a number needs at most: 7 bits in each */

int alloc_init(struct alloc *a, size_t n)
{
    *a = (struct alloc){.n = n, .at = calloc(n + 1, sizeof(*a->at))};
    return a->at ? 0 : -1;
}

void alloc_clear(struct alloc *a)
{
    free(a->bytes);
    free(a->at);
    *a = (struct alloc){0};
}

static void put_varint(struct alloc *a, uint32_t number)
{
    while (number >= 128) {
        a->bytes[a->used++] = (uint8_t)(number | 128);
        number >>= 7;
    }
    a->bytes[a->used++] = (uint8_t)number;
}

static uint32_t get(struct alloc_cursor *c)
{
    uint32_t number = 0, shift = 0;

    while (*c->next & 128) {
        number |= (uint32_t)(*c->next++ & 127) << shift;
        shift += 7;
    }
    return number | (uint32_t)*c->next++ << shift;
}

static int reserve_bytes(struct alloc *a, size_t more)
{
    if (more <= a->size - a->used)
        return 0;
    size_t size = a->size + a->size / 2 + more;
    uint8_t *bytes = realloc(a->bytes, size);
    if (!bytes)
        return -1;
    a->bytes = bytes;
    a->size = size;
    return 0;
}

int alloc_add(struct alloc *a, size_t job, const struct resource_range *ranges, size_t n)
{
    uint32_t end = 0;

    if (reserve_bytes(a, (n + 1) * 2 * NUMBER_MAX) < 0)
        return -1;
    a->at[job] = a->used + 1;
    for (size_t i = 0; i < n; i++) {
        put_varint(a, ranges[i].last - ranges[i].first + 1);
        put_varint(a, ranges[i].first - end);
        end = ranges[i].last + 1;
    }
    put_varint(a, 0);
    return 0;
}

struct alloc_cursor alloc_read(const struct alloc *a, size_t job)
{
    return (struct alloc_cursor){a->at[job] ? a->bytes + a->at[job] - 1 : NULL, 0};
}

bool alloc_next(struct alloc_cursor *c, struct resource_range *range)
{
    uint32_t length = c->next ? get(c) : 0;

    if (length == 0) {
        c->next = NULL;
        return false;
    }
    range->first = c->end + get(c);
    range->last = range->first + length - 1;
    c->end = range->last + 1;
    return true;
}
