/* Parts of a JSON text (base/json_scan.h), as requests are kept in the store. */
#ifndef SERVER_JSON_PARTS_H
#define SERVER_JSON_PARTS_H

#include "base/json_scan.h"

static inline void parts_find(const char *text, size_t length, const char *const *keys, size_t n,
                              struct json_part *values)
{
    json_find(json_part(text, length), keys, n, values);
}

/* *at is 0 at first. */
static inline bool parts_next(struct json_part array, size_t *at, struct json_part *value)
{
    struct json_scan s;
    struct json_part key;
    if (!json_scan_begin(&s, array) || s.is_object)
        return false;
    if (*at > 0)
        s.at = array.at + *at;
    bool is_there = json_scan_next(&s, &key, value);
    *at = (size_t)(s.at - array.at);
    return is_there;
}

static inline int64_t parts_whole(struct json_part part, int64_t otherwise)
{
    json_part_int(part, &otherwise);
    return otherwise;
}

static inline int parts_copy(struct json_part part, struct arena *arena, const char **text)
{
    return json_part_keep(part, arena, text);
}

#endif
