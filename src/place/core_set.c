#include "place/core_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { WORD = 64 };

static uint32_t words(const struct core_set *c)
{
    return c->n / WORD + 1;
}

int core_set_init(struct core_set *c, uint32_t n, bool free)
{
    *c = (struct core_set){.n = n, .first = UINT32_MAX};
    c->word = calloc(words(c), sizeof(*c->word));
    if (!c->word)
        return -1;
    if (free && n > 0)
        core_set_give(c, &(struct resource_range){0, n - 1}, 1);
    return 0;
}

void core_set_clear(struct core_set *c)
{
    free(c->word);
    *c = (struct core_set){0};
}

/* The first place on or after `from` that is free, or taken; n if there is none. */
static uint32_t next(const struct core_set *c, uint32_t from, bool free)
{
    uint64_t flip = free ? 0 : UINT64_MAX;
    uint32_t i = from / WORD;

    if (from >= c->n)
        return c->n;
    uint64_t bits = (c->word[i] ^ flip) & UINT64_MAX << (from % WORD);
    while (!bits) {
        if (++i == words(c))
            return c->n;
        bits = c->word[i] ^ flip;
    }
    uint32_t place = i * WORD + (uint32_t)__builtin_ctzll(bits);
    return place < c->n ? place : c->n;
}

static int add_core_range(struct core_list *list, uint32_t first, uint32_t last)
{
    if (array_grow((void **)&list->v, &list->capacity, list->n + 1, sizeof(*list->v)) < 0)
        return -1;
    list->v[list->n++] = (struct resource_range){first, last};
    return 0;
}

int core_set_find(const struct core_set *c, uint32_t n, struct core_list *list)
{
    list->n = 0;
    if (n > c->free) {
        errno = EBUSY;
        return -1;
    }
    uint32_t at = n > 0 ? c->first * WORD : 0;
    while (n > 0) {
        uint32_t first = next(c, at, true);
        at = next(c, first, false);
        if (at - first > n)
            at = first + n;
        n -= at - first;
        if (add_core_range(list, first, at - 1) < 0)
            return -1;
    }
    return 0;
}

int core_set_list(const struct core_set *c, struct core_list *list)
{
    return core_set_find(c, c->free, list);
}

/* Turn the bits of a range. */
static void turn_bits(struct core_set *c, struct resource_range r)
{
    uint32_t i = r.first / WORD, last = r.last / WORD;
    uint64_t bits = UINT64_MAX << (r.first % WORD);

    for (; i < last; i++) {
        c->word[i] ^= bits;
        bits = UINT64_MAX;
    }
    c->word[i] ^= bits & UINT64_MAX >> (WORD - 1 - r.last % WORD);
}

void core_set_take(struct core_set *c, const struct resource_range *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        turn_bits(c, v[i]);
        c->free -= v[i].last - v[i].first + 1;
    }
    while (c->free > 0 && !c->word[c->first])
        c->first++;
    if (c->free == 0)
        c->first = UINT32_MAX;
}

void core_set_give(struct core_set *c, const struct resource_range *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        turn_bits(c, v[i]);
        c->free += v[i].last - v[i].first + 1;
        if (v[i].first / WORD < c->first)
            c->first = v[i].first / WORD;
    }
}

void core_set_give_one(struct core_set *c, uint32_t place)
{
    c->word[place / WORD] |= UINT64_C(1) << (place % WORD);
    c->free++;
    if (place / WORD < c->first)
        c->first = place / WORD;
}

void core_set_take_all(struct core_set *c)
{
    for (uint32_t i = c->first; c->free > 0; i++) {
        c->free -= (uint32_t)__builtin_popcountll(c->word[i]);
        c->word[i] = 0;
    }
    c->first = UINT32_MAX;
}

bool core_set_check(const struct core_set *c)
{
    uint64_t free = 0;

    for (uint32_t i = 0; i < words(c); i++) {
        if (c->word[i] && i < c->first)
            return false;
        free += (uint64_t)__builtin_popcountll(c->word[i]);
    }
    return free == c->free && (c->word[c->n / WORD] >> (c->n % WORD)) == 0;
}
