/* Which places of a row are free: the first n that are can be taken, and given back.
 *
 * A bit a place, so that taking n costs n / 64 words where they lie together, and nothing here needs memory
 * once it is made but the list of what was taken.
 */
#ifndef PLACE_CORE_SET_H
#define PLACE_CORE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/resource.h"

struct core_set {
    uint64_t *word;
    uint32_t n;     /* places */
    uint32_t free;  /* of them */
    uint32_t first; /* no word before this one has a free place */
};

/* Ranges of places, ascending and with gaps between them. */
struct core_list {
    struct resource_range *v;
    size_t n, capacity;
};

/* n places, all free or none. Returns 0, or -1 with ENOMEM. */
int core_set_init(struct core_set *c, uint32_t n, bool free);
void core_set_clear(struct core_set *c);

/* Write the first n free places into the list. Returns 0, or -1 with EBUSY (so many are not free) or
 * ENOMEM.
 */
int core_set_find(const struct core_set *c, uint32_t n, struct core_list *list);

/* Write all free places into the list. Returns 0, or -1 with ENOMEM. */
int core_set_list(const struct core_set *c, struct core_list *list);

/* Take ranges of free places, and give ranges of taken ones back. */
void core_set_take(struct core_set *c, const struct resource_range *v, size_t n);
void core_set_give(struct core_set *c, const struct resource_range *v, size_t n);

/* Give one back. */
void core_set_give_one(struct core_set *c, uint32_t place);

/* Take all. O(words between the first and the last that is free). */
void core_set_take_all(struct core_set *c);

static inline bool core_set_has(const struct core_set *c, uint32_t place)
{
    return c->word[place / 64] >> (place % 64) & 1;
}

/* True if the numbers fit the bits. */
bool core_set_check(const struct core_set *c);

#endif
