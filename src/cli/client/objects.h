/* A list of objects as its text comes, and what is in an object. */
#ifndef CLI_CLIENT_OBJECTS_H
#define CLI_CLIENT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_scan.h"

/* ---- Objects of a list ---- */

/* The objects of a list, {"jobs": [{...}, {...}], "next": ...}, found while the text comes in pieces of any
 * size. Each object is handed on as text. Memory is that of the largest object.
 */
struct records {
    int (*visit)(void *context, const char *text, size_t length);
    void *context;
    /* All zeroes at first. */
    struct strbuf object; /* as far as it has come, where it lies in more than one piece */
    unsigned depth;
    struct json_strings strings;
};

/* Take some more text. 0, or -1 with what visit failed with, EINVAL for text that is no such list, ENOMEM. */
int records_take(struct records *r, const char *bytes, size_t n);

/* True if the whole list has come. */
bool records_are_complete(const struct records *r);

void records_clear(struct records *r);

/* ---- Members of an object ---- */

#define FIELDS_MAX 64 /* what is behind them is not seen */

struct field {
    struct json_part key, value;
};

/* The members of an object, found in its text without making anything of what nobody looks at: a table of
 * 100,000 jobs needs a dozen members of each.
 */
struct fields {
    struct field v[FIELDS_MAX];
    size_t n;
};

/* Find the members. They point into the text. False if it is no object. */
bool fields_find(struct fields *f, const char *text, size_t length);

/* A string, decoded into the buffer in place of what was there; "" where there is none. Valid until the
 * buffer changes.
 */
const char *fields_text(const struct fields *f, const char *key, struct strbuf *buffer);

/* A number; -1 where there is none. */
double fields_number(const struct fields *f, const char *key);

/* A whole number: false where there is none. */
bool fields_whole(const struct fields *f, const char *key, int64_t *number);

bool fields_is_false(const struct fields *f, const char *key);

#endif
