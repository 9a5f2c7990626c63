/* Finding parts of a JSON text without building a tree: for a hundred thousand texts with a few members
 * of interest each, and for texts that come in pieces.
 *
 * A part is a value as written in the text. If the text is JSON, all parts are right. If it is not, or is
 * cut off, a part may be nonsense but lies within the text; is_whole says whether the end was there. To
 * read all of a text, or to learn what is wrong with it, use a JSON parser.
 *
 * Calls are O(length of what is passed over) and allocate memory only for strings.
 */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/strbuf.h"

/* A value without the blanks around it. */
struct json_part {
    const char *at; /* NULL: there is none */
    size_t length;
};

static inline struct json_part json_part(const char *text, size_t length)
{
    return (struct json_part){text, length};
}

/* ---- Members and elements ---- */

struct json_scan {
    const char *at, *end;
    bool is_object;
    bool is_whole; /* its closing bracket has been found */
};

/* Begin to scan an object or a list. False if the part is neither; then it has no members. */
bool json_scan_begin(struct json_scan *s, struct json_part part);

/* The next member or element. The key is as written in the text, without its quotes; elements of a list
 * have none. False if there are no more.
 */
bool json_scan_next(struct json_scan *s, struct json_part *key, struct json_part *value);

/* The values of n keys of an object; of members with the same key, the last. Keys are compared as written
 * in the text.
 */
void json_find(struct json_part object, const char *const *keys, size_t n,
               struct json_part *values);

/* ---- Values ---- */

/* Read an integer. False, and *number as it was, if the part is not one or does not fit 64 bits. */
bool json_part_int(struct json_part part, int64_t *number);

/* Read a number; `otherwise` if the part is not one. */
double json_part_double(struct json_part part, double otherwise);

/* True if the part is this word: true, false or null. */
bool json_part_is(struct json_part part, const char *word);

/* Append a string, decoded. False, and nothing appended, if the part is not a string, or has a wrong
 * escape or a NUL.
 */
bool json_part_text(struct json_part part, struct strbuf *out);

/* Copy a string, to be freed by the caller, or into an arena. *text is NULL if json_part_text would
 * return false. Returns 0, or -1 with ENOMEM.
 */
int json_part_copy(struct json_part part, char **text);
int json_part_keep(struct json_part part, struct arena *arena, const char **text);

/* ---- A text in pieces ---- */

/* Whether a piece ends within a string. All zeroes at first. */
struct json_strings {
    bool inside, escaped;
};

/* The next bracket outside of strings, or the end of the piece. */
const char *json_bracket(struct json_strings *s, const char *at, const char *end);

#endif
