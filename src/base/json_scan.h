/* Looking for parts of a JSON text without making a tree of it: for texts of which there are a hundred
 * thousand and of each of which a few members count, and for those that come in pieces.
 *
 * A part is a value as it stands in the text. Of a text that is JSON all parts are right. Of another one,
 * or one that is cut off, what is found may make no sense, but lies within it, and whoever must know asks
 * whether the end was there. Who needs all of a text, or wants to be told what is wrong with it, reads it
 * with a JSON parser.
 *
 * All is O(length of what is passed over), with no memory but for strings.
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
    bool is_whole; /* its closing bracket has come */
};

/* Begin with an object or a list. False if the part is neither; then there is nothing in it. */
bool json_scan_begin(struct json_scan *s, struct json_part part);

/* The next member or element. The key is as it stands in the text, without its quotes; a list's have none.
 * False if there are no more.
 */
bool json_scan_next(struct json_scan *s, struct json_part *key, struct json_part *value);

/* The values of n keys of an object, each the last of its name. Keys are compared as they stand in the
 * text.
 */
void json_find(struct json_part object, const char *const *keys, size_t n,
               struct json_part *values);

/* ---- Values ---- */

/* A whole number. False, and *number as it was, if it is none or not within 64 bits. */
bool json_part_int(struct json_part part, int64_t *number);

/* A number; `otherwise` if it is none. */
double json_part_double(struct json_part part, double otherwise);

/* Whether it is this word: true, false, null. */
bool json_part_is(struct json_part part, const char *word);

/* Append a string, decoded. False, and nothing appended, if it is none or has an escape that is wrong or a
 * NUL.
 */
bool json_part_text(struct json_part part, struct strbuf *out);

/* A copy of a string, to be freed, or in an arena. *text is NULL where the one above says false. Returns 0,
 * or -1 with ENOMEM.
 */
int json_part_copy(struct json_part part, char **text);
int json_part_keep(struct json_part part, struct arena *arena, const char **text);

/* ---- A text in pieces ---- */

/* Whether a piece ends inside of a string. All zeroes at first. */
struct json_strings {
    bool inside, escaped;
};

/* The next bracket that is not in a string, or the end of the piece. */
const char *json_bracket(struct json_strings *s, const char *at, const char *end);

#endif
