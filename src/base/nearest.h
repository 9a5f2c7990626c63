/* What may have been meant by a word that is none of those expected. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/* How many letters have to be inserted, removed, replaced or exchanged with the next one to make one word of
 * the other (optimal string alignment: Boytsov 2011, doi:10.1145/1963190.1963191). Words of more than 31 bytes
 * differ in 32. O(product of the lengths).
 */
unsigned nearest_distance(const char *a, const char *b);

/* Names are members of structs or elements of an array: the first is at *names, each next one `stride` bytes further. */
struct nearest_names {
    const char *const *names;
    size_t stride, n;
};

/* The name that no other is as close to, at one or two letters, or one of a word of up to three; NULL. */
const char *nearest_name(const struct nearest_names *names, const char *word);

/* What to say behind "unknown key "x"": ", expected a, b or c" where these are at most NEAREST_LIST_MAX bytes; else
 * the name that is close, ", did you mean "b"?", or "" if none is. Cut to `size`.
 */
#define NEAREST_LIST_MAX 200
void nearest_expected(const struct nearest_names *names, const char *word, char *text, size_t size);

#endif
