/* Sets of properties. A vertex has the number of its set, and equal sets have the same number, so that
 * what is true of a set is found out once. Sets never change; a new one is made instead. Number 0 is the
 * empty set.
 */
#ifndef RESOURCE_PROPSET_H
#define RESOURCE_PROPSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/intern.h"

struct property {
    uint32_t key, value; /* numbers of texts */
};

struct propset {
    struct intern texts; /* keys and values */
    struct intern sets;  /* a set's text: its properties, by key */
};

/* Make a table with the empty set. Returns 0, or -1 with ENOMEM. */
int propset_init(struct propset *p);
void propset_clear(struct propset *p);

/* Give the set that has one property more than `set`, or another value for it. Returns 0, or -1 with
 * ENOMEM. O(size).
 */
int propset_with(struct propset *p, uint32_t set, const char *key, const char *value,
                 uint32_t *result);

/* Give the set that is `set` without a property. Returns 0, or -1 with ENOMEM, or ENOENT if `set` does
 * not have it.
 */
int propset_without(struct propset *p, uint32_t set, const char *key, uint32_t *result);

/* The value of a property, or NULL if the set does not have it. O(log size). */
const char *propset_value(const struct propset *p, uint32_t set, const char *key);

/* The number of properties of a set, and the i-th of them in the order of the bytes of their keys. */
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
