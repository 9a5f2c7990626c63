/* Members of JSON objects, with errors that name the member by its path: `graph.nodes[3].metadata.type`. */
#ifndef RESOURCE_JSON_FIELD_H
#define RESOURCE_JSON_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"

/* Where the reader is: what stands before a member's name is made from this when something is wrong. */
struct json_place {
    berth_error_t *err;
    const char *prefix; /* "", or a path with a dot at its end */
    const char *array;  /* the array whose element is looked at, or NULL */
    size_t index;
    const char *within; /* "", or a path below the element with a dot at its end */
};

/* Parse a text of any length. Returns NULL with EINVAL or ENOMEM and the reason. */
json_t *json_text(const char *text, size_t length, berth_error_t *err);

/* Say what was expected of a member and what it is. Returns -1 with EINVAL. */
int json_wrong(const struct json_place *p, const char *key, const json_t *found,
               const char *expected);

/* What to do without a member. */
enum json_need { JSON_OPTIONAL, JSON_REQUIRED };

/* Fetch a member. Without one that is optional, *value stays as it was. Returns 0, or -1 with EINVAL. */
int json_string_field(const struct json_place *p, json_t *object, const char *key,
                      enum json_need need, const char **value);
int json_number_field(const struct json_place *p, json_t *object, const char *key, int64_t min,
                      int64_t max, int64_t *value);
int json_bool_field(const struct json_place *p, json_t *object, const char *key, bool *value);

/* Fetch an object or an array; NULL if it is optional and not there, or null. */
int json_object_field(const struct json_place *p, json_t *object, const char *key,
                      enum json_need need, json_t **value);
int json_array_field(const struct json_place *p, json_t *object, const char *key,
                     enum json_need need, json_t **value);

#endif
