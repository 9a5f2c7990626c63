/* The objects of a list, {"jobs": [{...}, {...}], "next": ...}, found while the text comes in pieces of any size. Each
 * object is handed on as text; what is in it is for a JSON reader. Memory is that of the largest object.
 */
#ifndef CLI_CLIENT_RECORDS_H
#define CLI_CLIENT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json_scan.h"

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

#endif
