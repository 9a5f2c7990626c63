#include "server/core/slice.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The offset behind a string that begins at i. */
static size_t skip_string(const char *text, size_t length, size_t i)
{
    for (i++; i < length; i++) {
        const char *quote = memchr(text + i, '"', length - i);
        if (!quote)
            return length;
        size_t at = (size_t)(quote - text), slashes = 0;
        while (at - slashes > i && text[at - slashes - 1] == '\\')
            slashes++;
        i = at;
        if (slashes % 2 == 0)
            return at + 1;
    }
    return length;
}

/* The offset behind a value that begins at i. */
static size_t skip_value(const char *text, size_t length, size_t i)
{
    size_t depth = 0;
    for (; i < length; i++) {
        switch (text[i]) {
        case '"':
            i = skip_string(text, length, i) - 1;
            break;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            if (depth == 0)
                return i;
            depth--;
            break;
        case ',':
            if (depth == 0)
                return i;
            break;
        default:
            break;
        }
    }
    return length;
}

static size_t skip_spaces(const char *text, size_t length, size_t i)
{
    while (i < length && text[i] == ' ')
        i++;
    return i;
}

void slice_find(const char *text, size_t length, const char *const *keys, size_t n,
                struct slice *values)
{
    size_t i = 1;
    for (size_t k = 0; k < n; k++)
        values[k] = (struct slice){0};
    while (text && i < length && text[i] == '"') {
        size_t name = i + 1;
        i = skip_string(text, length, i);
        size_t name_length = i - name - 1, value = skip_spaces(text, length, i + 1);
        if (value >= length)
            return;
        i = skip_value(text, length, value);
        for (size_t k = 0; k < n; k++)
            if (keys[k][0] == text[name] && strncmp(keys[k], text + name, name_length) == 0 &&
                !keys[k][name_length])
                values[k] = (struct slice){text + value, i - value};
        i = skip_spaces(text, length, i + 1);
    }
}

bool slice_next(struct slice array, size_t *at, struct slice *value)
{
    if (!array.at || array.length == 0 || array.at[0] != '[')
        return false;
    size_t begin = skip_spaces(array.at, array.length, *at + 1);
    if (begin >= array.length || array.at[begin] == ']')
        return false;
    *at = skip_value(array.at, array.length, begin);
    *value = (struct slice){array.at + begin, *at - begin};
    return true;
}

int64_t slice_whole(struct slice s, int64_t otherwise)
{
    char number[24], *end;
    if (!s.at || s.length == 0 || s.length >= sizeof(number))
        return otherwise;
    memcpy(number, s.at, s.length);
    number[s.length] = '\0';
    errno = 0;
    long long value = strtoll(number, &end, 10);
    return *end || errno != 0 ? otherwise : value;
}

int slice_text(struct slice s, char **text)
{
    *text = NULL;
    if (!s.at || s.length < 2 || s.at[0] != '"')
        return 0;
    if (!memchr(s.at, '\\', s.length)) {
        *text = strndup(s.at + 1, s.length - 2);
        return *text ? 0 : -1;
    }
    json_t *value = json_loadb(s.at, s.length, JSON_DECODE_ANY, NULL);
    if (!value)
        return 0;
    *text = json_is_string(value) ? strdup(json_string_value(value)) : NULL;
    int rc = json_is_string(value) && !*text ? -1 : 0;
    json_decref(value);
    if (rc < 0)
        errno = ENOMEM;
    return rc;
}

int slice_copy(struct slice s, struct arena *arena, const char **text)
{
    char *whole = NULL;
    *text = NULL;
    if (!s.at || s.length < 2 || s.at[0] != '"')
        return 0;
    const char *from = s.at + 1;
    size_t length = s.length - 2;
    if (memchr(s.at, '\\', s.length)) {
        if (slice_text(s, &whole) < 0)
            return -1;
        if (!whole)
            return 0;
        from = whole;
        length = strlen(whole);
    }
    char *copy = arena_alloc(arena, length + 1);
    if (copy) {
        memcpy(copy, from, length);
        copy[length] = '\0';
    }
    free(whole);
    *text = copy;
    return copy ? 0 : -1;
}
