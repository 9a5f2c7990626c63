/* Sets of properties: a vertex's properties are the number of a set, and equal sets have the same number,
 * so that what is true of a set need be found out once. Sets are never changed, only others made. Number
 * 0 is the empty set.
 */
#ifndef RESOURCE_PROPSET_H
#define RESOURCE_PROPSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/intern.h"

struct property {
    uint32_t key, value; /* texts' numbers */
};

struct propset {
    struct intern texts; /* keys and values */
    struct intern sets;  /* a set's text: its properties, by key */
};

/* A table with the empty set. Returns 0, or -1 with ENOMEM. */
int propset_init(struct propset *p);
void propset_clear(struct propset *p);

/* The set that is `set` with a property more, or with another value for it. Returns 0, or -1 with ENOMEM.
 * O(size).
 */
int propset_with(struct propset *p, uint32_t set, const char *key, const char *value,
                 uint32_t *result);

/* The set that is `set` without a property. Returns 0, or -1 with ENOMEM, or ENOENT if it doesn't have it. */
int propset_without(struct propset *p, uint32_t set, const char *key, uint32_t *result);

/* The value of a property, or NULL if the set doesn't have it. O(log size). */
const char *propset_value(const struct propset *p, uint32_t set, const char *key);

/* How many properties a set has, and its i-th in the order of their keys' bytes. */
static inline size_t propset_size(const struct propset *p, uint32_t set)
{
    return intern_length(&p->sets, set) / sizeof(struct property);
}

static inline struct property propset_at(const struct propset *p, uint32_t set, size_t i)
{
    struct property found;

    memcpy(&found, intern_text(&p->sets, set) + i * sizeof(found), sizeof(found));
    return found;
}

static inline const char *propset_text(const struct propset *p, uint32_t text)
{
    return intern_text(&p->texts, text);
}

#endif
