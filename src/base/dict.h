/* Texts that come and go: a hash table of the caller's own entries by their text.
 *
 * An entry lies in a struct of the caller's, with its text, which must hold as long as it is in the
 * table. A text is any bytes, and more than one entry of the same text is the caller's mistake. All is
 * O(length) on average. The hash has no seed, and nothing shows its order: there is no walk over the
 * table.
 */
#ifndef BASE_DICT_H
#define BASE_DICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dict_entry {
    struct dict_entry *next; /* of the same bucket */
    const char *text;
    size_t length;
    uint64_t hash;
};

struct dict {
    struct dict_entry **bucket;
    size_t buckets; /* a power of two, or 0 */
    size_t n;
};

/* An empty table is all zeroes. Clearing leaves the entries to the caller and keeps errno. */
void dict_clear(struct dict *d);

/* The entry of a text, or NULL. */
struct dict_entry *dict_find(const struct dict *d, const char *text, size_t length);

/* Make room for one more entry, so that the next dict_put can't fail. 0, or -1 with ENOMEM. */
int dict_reserve(struct dict *d);

/* Enter an entry that has its text, for which there is room. */
void dict_put(struct dict *d, struct dict_entry *entry);

/* Take an entry out. */
void dict_take(struct dict *d, struct dict_entry *entry);

/* True if each entry is found by its text, and all are counted. */
bool dict_check(const struct dict *d);

#endif
