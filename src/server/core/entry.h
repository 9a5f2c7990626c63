/* What an object that the server keeps or is given says under a key. */
#ifndef SERVER_CORE_ENTRY_H
#define SERVER_CORE_ENTRY_H

#include <jansson.h>
#include <stdint.h>

/* A text, that of the object; "" if there is none. */
static inline const char *entry_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* A whole number; 0 if there is none. */
static inline int64_t entry_number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

#endif
