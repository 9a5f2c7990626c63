/* Parts of a JSON object's text, found without making a tree of it: for texts that the server has written itself, of which
 * there may be a hundred thousand to look at. Of other texts what is found may make no sense, but lies within them.
 */
#ifndef SERVER_SLICE_H
#define SERVER_SLICE_H

#include <stddef.h>
#include <stdint.h>

struct slice {
    const char *at; /* NULL: there is none */
    size_t length;
};

/* The values of n keys of an object, without what is around them. O(length). */
void slice_find(const char *text, size_t length, const char *const *keys, size_t n,
                struct slice *values);

/* A whole number; `otherwise` if there is none. */
int64_t slice_whole(struct slice s, int64_t otherwise);

/* A string's text. *text is NULL if there is none; the caller frees it. Returns 0, or -1 with ENOMEM. */
int slice_text(struct slice s, char **text);

#endif
