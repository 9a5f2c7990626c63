#include "cli/client/fields.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* Behind a string that begins here; NULL if it does not end. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : NULL;
}

/* Behind a value; NULL if it does not end. */
static const char *skip_value(const char *at, const char *end)
{
    unsigned depth = 0;

    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            if (!at)
                return NULL;
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (depth == 0 && (*at == ',' || *at == '}')) {
            return at;
        } else {
            depth -= depth > 0 && (*at == '}' || *at == ']');
            at++;
        }
        if (depth == 0 && at < end && (at[-1] == '}' || at[-1] == ']' || at[-1] == '"'))
            return at;
    }
    return NULL;
}

bool fields_find(struct fields *f, const char *text, size_t length)
{
    const char *end = text + length, *at = skip_blanks(text, end);

    f->n = 0;
    if (at == end || *at++ != '{')
        return false;
    for (at = skip_blanks(at, end); at < end && *at == '"'; at = skip_blanks(at, end)) {
        struct field field = {.key = at + 1};
        if (!(at = skip_string(at, end)))
            return false;
        field.key_length = (size_t)(at - field.key) - 1;
        at = skip_blanks(at, end);
        if (at == end || *at != ':')
            return false;
        field.value = skip_blanks(at + 1, end);
        if (!(at = skip_value(field.value, end)))
            return false;
        field.value_length = (size_t)(at - field.value);
        while (field.value_length && strchr(" \n\t\r", field.value[field.value_length - 1]))
            field.value_length--;
        if (f->n == FIELDS_MAX)
            return true;
        f->v[f->n++] = field;
        at = skip_blanks(at, end);
        if (at < end && *at == ',')
            at = skip_blanks(at + 1, end);
    }
    return at < end && *at == '}';
}

static const struct field *find(const struct fields *f, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i].key_length == length && memcmp(f->v[i].key, key, length) == 0)
            return &f->v[i];
    return NULL;
}

/* One that has an escape in it is left to a JSON reader. */
static void decode(const struct field *field, struct strbuf *buffer)
{
    json_t *value = json_loadb(field->value, field->value_length, JSON_DECODE_ANY, NULL);
    if (json_is_string(value))
        strbuf_puts(buffer, json_string_value(value));
    json_decref(value);
}

const char *fields_text(const struct fields *f, const char *key, struct strbuf *buffer)
{
    const struct field *field = find(f, key);

    strbuf_reset(buffer);
    if (field && field->value_length >= 2 && *field->value == '"') {
        if (memchr(field->value, '\\', field->value_length))
            decode(field, buffer);
        else
            strbuf_put(buffer, field->value + 1, field->value_length - 2);
    }
    return strbuf_text(buffer);
}

double fields_number(const struct fields *f, const char *key)
{
    const struct field *field = find(f, key);
    char text[40];

    if (!field || field->value_length == 0 || field->value_length >= sizeof(text) ||
        !memchr("-0123456789", *field->value, 11))
        return -1;
    memcpy(text, field->value, field->value_length);
    text[field->value_length] = '\0';
    return strtod(text, NULL);
}

bool fields_whole(const struct fields *f, const char *key, int64_t *number)
{
    const struct field *field = find(f, key);
    int64_t value = 0;

    if (!field || field->value_length == 0 || field->value_length > 18)
        return false;
    bool negative = *field->value == '-';
    for (size_t i = negative; i < field->value_length; i++) {
        if (field->value[i] < '0' || field->value[i] > '9')
            return false;
        value = value * 10 + (field->value[i] - '0');
    }
    *number = negative ? -value : value;
    return true;
}

bool fields_is_false(const struct fields *f, const char *key)
{
    const struct field *field = find(f, key);
    return field && field->value_length == 5 && memcmp(field->value, "false", 5) == 0;
}
