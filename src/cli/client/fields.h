/* The members of a JSON object in a list, found in its text without making anything of what nobody looks at: a table of
 * 100,000 jobs needs a dozen members of each.
 */
#ifndef CLI_CLIENT_FIELDS_H
#define CLI_CLIENT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_scan.h"

#define FIELDS_MAX 64 /* what is behind them is not seen */

struct field {
    struct json_part key, value;
};

struct fields {
    struct field v[FIELDS_MAX];
    size_t n;
};

/* Find the members. They point into the text. False if it is no object. */
bool fields_find(struct fields *f, const char *text, size_t length);

/* A string, decoded into the buffer in place of what was there; "" where there is none. Valid until the buffer changes. */
const char *fields_text(const struct fields *f, const char *key, struct strbuf *buffer);

/* A number; -1 where there is none. */
double fields_number(const struct fields *f, const char *key);

/* A whole number: false where there is none. */
bool fields_whole(const struct fields *f, const char *key, int64_t *number);

bool fields_is_false(const struct fields *f, const char *key);

#endif
