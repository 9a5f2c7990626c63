/* Which places of a row are free: the first n that are can be taken, and given back.
 *
 * A bit a place, so that taking n costs n / 64 words where they lie together, and nothing here needs memory once it is
 * made but the list of what was taken.
 */
#ifndef SCHED_CORES_H
#define SCHED_CORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/sched.h"

struct cores {
    uint64_t *word;
    uint32_t n;     /* places */
    uint32_t free;  /* of them */
    uint32_t first; /* no word before this one has a free place */
};

/* Ranges of places, ascending and with gaps between them. */
struct core_list {
    struct sched_range *v;
    size_t n, capacity;
};

/* n places, all free or none. Returns 0, or -1 with ENOMEM. */
int cores_init(struct cores *c, uint32_t n, bool free);
void cores_clear(struct cores *c);

/* Write the first n free places into the list. Returns 0, or -1 with EBUSY (so many are not free) or ENOMEM. */
int cores_find(const struct cores *c, uint32_t n, struct core_list *list);

/* Write all free places into the list. Returns 0, or -1 with ENOMEM. */
int cores_list(const struct cores *c, struct core_list *list);

/* Take ranges of free places, and give ranges of taken ones back. */
void cores_take(struct cores *c, const struct sched_range *v, size_t n);
void cores_give(struct cores *c, const struct sched_range *v, size_t n);

/* Give one back. */
void cores_give_one(struct cores *c, uint32_t place);

/* Take all. O(words between the first and the last that is free). */
void cores_take_all(struct cores *c);

static inline bool cores_has(const struct cores *c, uint32_t place)
{
    return c->word[place / 64] >> (place % 64) & 1;
}

/* True if the numbers fit the bits. */
bool cores_check(const struct cores *c);

#endif
