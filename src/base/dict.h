/* A dictionary: a hash table of the caller's entries by text, where entries come and go.
 *
 * An entry is part of a struct of the caller's. Its text, which may be any bytes, must stay valid as long
 * as the entry is in the table, and no two entries may have the same text. Calls are O(length) on
 * average. The hash has no seed, but its order never shows: there is no way to walk over the table.
 */
#ifndef BASE_DICT_H
#define BASE_DICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dict_entry {
    struct dict_entry *next; /* in the same bucket */
    const char *text;
    size_t length;
    uint64_t hash;
};

struct dict {
    struct dict_entry **bucket;
    size_t buckets; /* a power of two, or 0 */
    size_t n;
};

/* Make a table empty, which is all zeroes. The entries stay the caller's. Keeps errno. */
void dict_clear(struct dict *d);

/* The entry of a text, or NULL. */
struct dict_entry *dict_find(const struct dict *d, const char *text, size_t length);

/* Make room for one more entry, which dict_put needs. 0, or -1 with ENOMEM. */
int dict_reserve(struct dict *d);

/* Add an entry, whose text is set. There must be room (dict_reserve), so this can't fail. */
void dict_put(struct dict *d, struct dict_entry *entry);

/* Remove an entry. */
void dict_take(struct dict *d, struct dict_entry *entry);

/* True if each entry is found by its text, and their number is right. For tests. */
bool dict_check(const struct dict *d);

#endif
