/* A table of texts by number: each different text once, numbered from 0 in the order in which texts first
 * come.
 *
 * A text is any bytes. It is kept with a terminator, at an address that stays valid until the table is
 * cleared or shrunk. Finding and putting are O(length) on average. The hash has no seed, but its order
 * never shows: a walk over the texts goes by number, 0 to n - 1.
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

struct intern_block; /* memory of texts */

struct intern {
    struct intern_entry *v; /* v[id] */
    uint32_t n;             /* the number of texts; ids are below it */
    uint32_t cap;
    uint32_t *slot;             /* open addressing: an id plus 1, or 0 */
    uint32_t slots;             /* a power of two, at least twice the texts; or 0 */
    struct intern_block *block; /* the newest */
};

/* Make a table empty, which is all zeroes. Keeps errno. */
void intern_clear(struct intern *t);

/* Give the id of a text, which is a new one if the text is new. Returns 0, or -1 with nothing changed:
 * ENOMEM, or ERANGE for a text of 4 GiB or the 2^31st text.
 */
int intern_put(struct intern *t, const char *text, size_t length, uint32_t *id);

/* Remove all texts except the first n. */
void intern_shrink(struct intern *t, uint32_t n);

/* Find a text: true and its id, or false. */
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

/* True if each text, and nothing else, is found under its id. For tests. O(n) on average. */
bool intern_check(const struct intern *t);

#endif
