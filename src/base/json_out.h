/* Writing JSON, straight into a text buffer.
 *
 * The writer puts the commas. For that it remembers one thing: whether the open object or list has a
 * value before the next one. So a writer is a few bytes on the stack, levels nest without bound, and a
 * text may be written in pieces: into a buffer that is emptied in between, or after a piece that was
 * copied into it.
 *
 * Each value comes with its key; in a list, and at the top, the key is NULL. Keys are not escaped, so
 * they must be words of the program itself. A value with its own writer is appended to the buffer after
 * json_key. White space may be put into the buffer between values. The caller must close what it opens;
 * the writer does not check that. There are two styles: compact, {"a":1,"b":[2]}, and spaced, {"a": 1,
 * "b": [2]}, as jansson writes by default.
 *
 * No call reports failure: the buffer remembers that memory ran out. A key costs one check for room and
 * one copy, and both are inline if it is a constant.
 */
#ifndef BASE_JSON_OUT_H
#define BASE_JSON_OUT_H

#include "base/strbuf.h"

struct json_out {
    struct strbuf *text;
    bool spaced;    /* the style; false: compact */
    bool has_value; /* the next value needs a comma before it */
};

/* Write what comes before a value: a comma if one is needed, and the key. Returns where to write the
 * value, with room for `first` bytes; json_wrote then says where the value ends. NULL if the buffer has
 * failed.
 */
static inline char *json_begin(struct json_out *j, const char *key, size_t first)
{
    struct strbuf *b = j->text;
    size_t n = key ? strlen(key) : 0, space = j->spaced;
    if (!strbuf_room(b, n + 6 + first)) /* a comma, two quotes, a colon and two spaces */
        return NULL;
    char *to = b->data + b->len;
    memcpy(to, ", ", 2);
    to += (size_t)j->has_value << space;
    j->has_value = true;
    if (!key)
        return to;
    to[0] = '"';
    memcpy(to + 1, key, n);
    memcpy(to + 1 + n, "\": ", 3);
    return to + n + 3 + space;
}

static inline void json_wrote(struct json_out *j, const char *to)
{
    j->text->len = (size_t)(to - j->text->data);
}

/* Begin a value: the caller next appends all of it to the buffer. */
static inline void json_key(struct json_out *j, const char *key)
{
    const char *to = json_begin(j, key, 0);
    if (to)
        json_wrote(j, to);
}

/* The same with a key that may be any text, and is escaped. */
static inline void json_key_bytes(struct json_out *j, const char *key, size_t n)
{
    json_key(j, NULL);
    strbuf_put_json(j->text, key, n);
    strbuf_puts(j->text, j->spaced ? ": " : ":");
}

/* Open an object, '{', or a list, '['. */
static inline void json_open(struct json_out *j, const char *key, char bracket)
{
    char *to = json_begin(j, key, 1);
    if (!to)
        return;
    *to = bracket;
    json_wrote(j, to + 1);
    j->has_value = false;
}

/* Close it, with '}' or ']'. */
static inline void json_close(struct json_out *j, char bracket)
{
    strbuf_putc(j->text, bracket);
    j->has_value = true;
}

/* Begin a new line for the next value. */
static inline void json_line(struct json_out *j)
{
    strbuf_puts(j->text, j->has_value ? ",\n" : "\n");
    j->has_value = false;
}

/* Put a text that is JSON already. */
static inline void json_put_raw(struct json_out *j, const char *key, const char *text)
{
    json_key(j, key);
    strbuf_puts(j->text, text);
}

static inline void json_put_null(struct json_out *j, const char *key)
{
    json_put_raw(j, key, "null");
}

static inline void json_put_bool(struct json_out *j, const char *key, bool value)
{
    json_put_raw(j, key, value ? "true" : "false");
}

static inline void json_put_uint(struct json_out *j, const char *key, uint64_t number)
{
    char *to = json_begin(j, key, STRBUF_NUMBER_MAX);
    if (to)
        json_wrote(j, strbuf_digits(to, number));
}

static inline void json_put_int(struct json_out *j, const char *key, int64_t number)
{
    char *to = json_begin(j, key, STRBUF_NUMBER_MAX);
    if (!to)
        return;
    if (number < 0)
        *to++ = '-';
    json_wrote(j, strbuf_digits(to, number < 0 ? 0 - (uint64_t)number : (uint64_t)number));
}

/* Put a number as a string, "17". */
static inline void json_put_int_string(struct json_out *j, const char *key, int64_t number)
{
    char *to = json_begin(j, key, STRBUF_NUMBER_MAX + 2);
    if (!to)
        return;
    *to++ = '"';
    if (number < 0)
        *to++ = '-';
    to = strbuf_digits(to, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
    *to++ = '"';
    json_wrote(j, to);
}

/* Put a string of n bytes, escaped as strbuf_put_json does. */
static inline void json_put_bytes(struct json_out *j, const char *key, const char *text, size_t n)
{
    json_key(j, key);
    strbuf_put_json(j->text, text, n);
}

/* Put a string; NULL is null. */
static inline void json_put_string(struct json_out *j, const char *key, const char *text)
{
    if (text)
        json_put_bytes(j, key, text, strlen(text));
    else
        json_put_null(j, key);
}

/* Put a string of any bytes: those that are not UTF-8 become '?', so that the result is JSON. NULL is
 * null.
 */
void json_put_text(struct json_out *j, const char *key, const char *text);

#endif
