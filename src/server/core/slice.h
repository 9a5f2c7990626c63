/* Parts of a JSON text, found without making a tree of it: for texts that the server or the core have written themselves,
 * of which there may be a hundred thousand to look at. Spaces may stand before a key and a value, and nowhere else. Of
 * other texts what is found may make no sense, but lies within them.
 */
#ifndef SERVER_SLICE_H
#define SERVER_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct slice {
    const char *at; /* NULL: there is none */
    size_t length;
};

/* The values of n keys of an object, without what is around them. O(length). */
void slice_find(const char *text, size_t length, const char *const *keys, size_t n,
                struct slice *values);

/* One value of an array after the other: *at is 0 at first. False: there are no more. O(length of the value). */
bool slice_next(struct slice array, size_t *at, struct slice *value);

/* A whole number; `otherwise` if there is none. */
int64_t slice_whole(struct slice s, int64_t otherwise);

/* A string's text. *text is NULL if there is none; the caller frees it. Returns 0, or -1 with ENOMEM. */
int slice_text(struct slice s, char **text);

/* The same in an arena. */
int slice_copy(struct slice s, struct arena *arena, const char **text);

#endif
