/* Reading a list of objects as its text arrives, and the members of an object. */
#ifndef CLI_CLIENT_OBJECTS_H
#define CLI_CLIENT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_scan.h"

/* ---- Objects of a list ---- */

/* Finds the objects of a list, {"jobs": [{...}, {...}], "next": ...}, while the text arrives in pieces of any
 * size. Each object is handed on as text. The memory needed is that of the largest object.
 */
struct records {
    int (*visit)(void *context, const char *text, size_t length);
    void *context;
    /* All zeroes at first. */
    struct strbuf object; /* the part that has arrived, if it spans several pieces */
    unsigned depth;
    struct json_strings strings;
};

/* Take more text. Returns 0, or -1 with the errno of visit, EINVAL if the text is not such a list, or ENOMEM.
 */
int records_take(struct records *r, const char *bytes, size_t n);

/* True if the whole list has arrived. */
bool records_are_complete(const struct records *r);

void records_clear(struct records *r);

/* ---- Members of an object ---- */

#define FIELDS_MAX 64 /* further members are not seen */

struct field {
    struct json_part key, value;
};

/* The members of an object, found in its text without decoding those that nobody looks at: a table of 100,000
 * jobs needs a dozen members of each.
 */
struct fields {
    struct field v[FIELDS_MAX];
    size_t n;
};

/* Find the members. They point into the text. False if it is not an object. */
bool fields_find(struct fields *f, const char *text, size_t length);

/* A string, decoded into the buffer, whose former content it replaces; "" if there is none. Valid until the
 * buffer changes.
 */
const char *fields_text(const struct fields *f, const char *key, struct strbuf *buffer);

/* A number; -1 if there is none. */
double fields_number(const struct fields *f, const char *key);

/* A whole number; false if there is none. */
bool fields_whole(const struct fields *f, const char *key, int64_t *number);

/* The members of an object within; false if there is none. */
bool fields_inside(const struct fields *f, const char *key, struct fields *inside);

bool fields_is_true(const struct fields *f, const char *key);

#endif
