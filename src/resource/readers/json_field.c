#include "resource/readers/json_field.h"

#include <errno.h>
#include <stdio.h>

#include "base/errtext.h"

json_t *json_text(const char *text, size_t length, berth_error_t *err)
{
    json_error_t error;
    json_t *json = json_loadb(text, length, 0, &error);

    if (json)
        return json;
    if (json_error_code(&error) == json_error_out_of_memory)
        errtext_no_memory(err);
    else
        errtext_set(err, EINVAL, "line %d, column %d: %s, expected JSON", error.line, error.column,
                    error.text);
    return NULL;
}

static const char *describe_kind(const json_t *json)
{
    switch (json ? (int)json_typeof(json) : -1) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "another string";
    case JSON_INTEGER:
        return "another number";
    case JSON_REAL:
        return "a real number";
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        return "null";
    default:
        return "nothing";
    }
}

int json_wrong(const struct json_place *p, const char *key, const json_t *found,
               const char *expected)
{
    char index[32] = "";

    if (p->array)
        snprintf(index, sizeof(index), "[%zu]%s", p->index, *p->within || *key ? "." : "");
    return errtext_set(p->err, EINVAL, "%s%s%s%s%s: expected %s, found %s", p->prefix,
                       p->array ? p->array : "", index, p->within, key, expected,
                       describe_kind(found));
}

int json_string_field(const struct json_place *p, json_t *object, const char *key,
                      enum json_need need, const char **value)
{
    const json_t *found = json_object_get(object, key);

    if (!found && need == JSON_OPTIONAL)
        return 0;
    if (!json_is_string(found))
        return json_wrong(p, key, found, "a string");
    *value = json_string_value(found);
    return 0;
}

int json_number_field(const struct json_place *p, json_t *object, const char *key, int64_t min,
                      int64_t max, int64_t *value)
{
    const json_t *found = json_object_get(object, key);
    char expected[80];

    if (!found)
        return 0;
    if (!json_is_integer(found) || json_integer_value(found) < min ||
        json_integer_value(found) > max) {
        snprintf(expected, sizeof(expected), "a number from %lld to %lld", (long long)min,
                 (long long)max);
        return json_wrong(p, key, found, expected);
    }
    *value = json_integer_value(found);
    return 0;
}

int json_bool_field(const struct json_place *p, json_t *object, const char *key, bool *value)
{
    const json_t *found = json_object_get(object, key);

    if (!found)
        return 0;
    if (!json_is_boolean(found))
        return json_wrong(p, key, found, "true or false");
    *value = json_is_true(found);
    return 0;
}

int json_object_field(const struct json_place *p, json_t *object, const char *key,
                      enum json_need need, json_t **value)
{
    json_t *found = json_object_get(object, key);

    *value = NULL;
    if (need == JSON_OPTIONAL && (!found || json_is_null(found)))
        return 0;
    if (!json_is_object(found))
        return json_wrong(p, key, found, "an object");
    *value = found;
    return 0;
}

int json_array_field(const struct json_place *p, json_t *object, const char *key,
                     enum json_need need, json_t **value)
{
    json_t *found = json_object_get(object, key);

    *value = NULL;
    if (need == JSON_OPTIONAL && (!found || json_is_null(found)))
        return 0;
    if (!json_is_array(found))
        return json_wrong(p, key, found, "an array");
    *value = found;
    return 0;
}
