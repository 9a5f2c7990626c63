/* Looks at a case before it is played. */
#include "case_shape.h"

#include <stdio.h>
#include <string.h>

struct where {
    char *why;
    size_t room;
    char path[200]; /* of the value at hand */
};

static bool is_number_or_inf(json_t *value)
{
    const char *text = json_string_value(value);
    return json_is_number(value) || (text && strcmp(text, "inf") == 0);
}

static bool is_amounts(json_t *value)
{
    const char *name;
    json_t *amount;
    json_object_foreach (value, name, amount) {
        bool scalars = strcmp(name, "scalars") == 0;
        if (!json_is_null(amount) && !(scalars ? is_amounts(amount) : is_number_or_inf(amount)))
            return false;
    }
    return json_is_object(value);
}

static bool is_time(json_t *value)
{
    double number = json_number_value(value);
    return json_is_number(value) && number >= 0 && number <= (double)SHAPE_COUNT_MAX;
}

static bool is_count(json_t *value)
{
    return json_is_integer(value) && is_time(value);
}

static bool is_of_kind(json_t *value, enum shape_kind kind)
{
    switch (kind) {
    case SHAPE_TEXT:
        return json_is_string(value);
    case SHAPE_NUMBER:
        return json_is_number(value);
    case SHAPE_COUNT:
        return is_count(value);
    case SHAPE_TIME:
        return is_time(value);
    case SHAPE_AMOUNTS:
        return is_amounts(value);
    case SHAPE_OBJECT:
        return json_is_object(value);
    case SHAPE_LIST:
        return json_is_array(value);
    case SHAPE_BOOLEAN:
        return json_is_boolean(value);
    case SHAPE_ANY:
        break;
    }
    return true;
}

static bool wrong(const struct where *at, enum shape_kind kind)
{
    static const char *const words[] = {[SHAPE_TEXT] = "a text",
                                        [SHAPE_NUMBER] = "a number",
                                        [SHAPE_COUNT] = "a whole number from 0 to 1e12",
                                        [SHAPE_TIME] = "a number from 0 to 1e12",
                                        [SHAPE_AMOUNTS] = "an object of numbers",
                                        [SHAPE_OBJECT] = "an object",
                                        [SHAPE_LIST] = "a list",
                                        [SHAPE_BOOLEAN] = "true or false",
                                        [SHAPE_ANY] = "something"};
    snprintf(at->why, at->room, "%s: expected %s", at->path, words[kind]);
    return false;
}

static bool check(json_t *value, const char *path, const struct shape *shape, struct where *at);

/* What is below a value: each of a list, each member of an object, or one of them. */
static bool check_below(json_t *value, const char *path, const struct shape *shape,
                        struct where *at)
{
    size_t length = strlen(at->path), i, name = strcspn(path, ".[{!");
    const char *key;
    char part[100];
    json_t *each;
    bool good = true;
    if (strncmp(path, "[]", 2) == 0) {
        json_array_foreach (value, i, each) {
            snprintf(at->path + length, sizeof(at->path) - length, "[%zu]", i);
            good = good && check(each, path + 2, shape, at);
        }
    } else if (strncmp(path, "{}", 2) == 0) {
        json_object_foreach (value, key, each) {
            snprintf(at->path + length, sizeof(at->path) - length, ".%s", key);
            good = good && check(each, path + 2, shape, at);
        }
    } else {
        snprintf(part, sizeof(part), "%.*s", (int)name, path);
        snprintf(at->path + length, sizeof(at->path) - length, "%s%s", length > 0 ? "." : "", part);
        good = check(json_object_get(value, part), path + name, shape, at);
    }
    at->path[length] = '\0';
    return good;
}

static bool check(json_t *value, const char *path, const struct shape *shape, struct where *at)
{
    bool is = value && !json_is_null(value);
    path += *path == '.';
    if (*path == '\0' || *path == '!')
        return (is ? is_of_kind(value, shape->kind) : *path == '\0') || wrong(at, shape->kind);
    if (!is)
        return true;
    enum shape_kind kind = *path == '[' ? SHAPE_LIST : SHAPE_OBJECT;
    return is_of_kind(value, kind) ? check_below(value, path, shape, at) : wrong(at, kind);
}

bool shape_check(json_t *c, const struct shape *shapes, size_t n, char *why, size_t room)
{
    for (size_t i = 0; i < n; i++) {
        struct where at = {.why = why, .room = room};
        if (!check(c, shapes[i].path, &shapes[i], &at))
            return false;
    }
    return true;
}

bool shape_has(json_t *c, const char *const *members, char *why, size_t room)
{
    for (; *members; members++) {
        for (const char *end = *members; *end != '\0';) {
            char path[100];
            end += 1 + strcspn(end + 1, ".");
            snprintf(path, sizeof(path), "%.*s!", (int)(end - *members), *members);
            if (!shape_check(c, &(struct shape){path, SHAPE_ANY}, 1, why, room))
                return false;
        }
    }
    return true;
}
