/* Texts by number: each different text once, numbered from 0 in the order of first coming.
 *
 * A text is any bytes, compared as such; it is kept with a terminator behind it, at an address that
 * holds until the table is cleared or shrunk. Finding and putting are O(length) on average. The
 * hash has no seed and nothing shows its order: who walks over the texts walks over the numbers, 0
 * to n - 1.
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern_entry {
    const char *text;
    uint32_t length; /* bytes, without the terminator */
    uint32_t hash;
};

struct intern_block; /* where the texts lie */

struct intern {
    struct intern_entry *v; /* v[id] */
    uint32_t n;             /* ids are below */
    uint32_t cap;
    uint32_t *slot;             /* open addressing: an id plus 1, or 0 */
    uint32_t slots;             /* a power of two, at least twice the texts; or 0 */
    struct intern_block *block; /* the newest */
};

/* An empty table is all zeroes. Clearing keeps errno. */
void intern_clear(struct intern *t);

/* Give the id of a text, a new one if it hasn't come before. Returns 0, or -1 with ENOMEM, or ERANGE for
 * a text of 4 GiB or the 2^31st text, and nothing changed.
 */
int intern_put(struct intern *t, const char *text, size_t length, uint32_t *id);

/* Forget all texts but the first n. */
void intern_shrink(struct intern *t, uint32_t n);

/* True, with its id, if the text has come before. */
bool intern_find(const struct intern *t, const char *text, size_t length, uint32_t *id);

/* The text of an id, terminated; and its length. */
static inline const char *intern_text(const struct intern *t, uint32_t id)
{
    return t->v[id].text;
}

static inline size_t intern_length(const struct intern *t, uint32_t id)
{
    return t->v[id].length;
}

/* True if each text is found under its own id, and nothing else is. O(n) on average. */
bool intern_check(const struct intern *t);

#endif
