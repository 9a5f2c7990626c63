/* All rests on one look for brackets outside of strings (json_bracket). */
#include "base/json_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Strings and brackets ---- */

/* What bytes are outside of strings. */
enum { OTHER, QUOTE, BRACKET };
static const unsigned char kind[256] = {
    ['"'] = QUOTE, ['{'] = BRACKET, ['}'] = BRACKET, ['['] = BRACKET, [']'] = BRACKET};

/* How many backslashes come directly before a position. */
static size_t slashes_before(const char *from, const char *at)
{
    size_t n = 0;
    while (at - n > from && at[-1 - (ptrdiff_t)n] == '\\')
        n++;
    return n;
}

/* From inside of a string, and not behind a backslash: behind its end, or the end of the piece. */
static const char *leave_string(struct json_strings *s, const char *at, const char *end)
{
    const char *quote;
    while ((quote = memchr(at, '"', (size_t)(end - at))) && slashes_before(at, quote) % 2 == 1)
        at = quote + 1;
    s->inside = !quote;
    if (quote)
        return quote + 1;
    s->escaped = slashes_before(at, end) % 2 == 1;
    return end;
}

const char *json_bracket(struct json_strings *s, const char *at, const char *end)
{
    if (s->escaped && at < end) {
        s->escaped = false;
        at++;
    }
    if (s->inside)
        at = leave_string(s, at, end);
    for (; at < end && kind[(unsigned char)*at] != BRACKET; at++) {
        if (*at != '"')
            continue;
        s->inside = true;
        at = leave_string(s, at + 1, end) - 1;
    }
    return at;
}

/* The end of a string that begins with a quote here; NULL if it does not end. */
static const char *skip_string(const char *at, const char *end)
{
    struct json_strings s = {.inside = true};
    at = leave_string(&s, at + 1, end);
    return s.inside ? NULL : at;
}

static bool is_json_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static const char *skip_json_space(const char *at, const char *end)
{
    while (at < end && is_json_space(*at))
        at++;
    return at;
}

/* Behind the bracket that closes the one here; NULL if there is none. */
static const char *skip_brackets(const char *at, const char *end)
{
    struct json_strings s = {0};
    size_t depth = 0;
    for (; (at = json_bracket(&s, at, end)) < end; at++) {
        if (*at == '{' || *at == '[')
            depth++;
        else if ((*at == '}' || *at == ']') && --depth == 0)
            return at + 1;
    }
    return NULL;
}

/* Behind a value; NULL if it does not end before the text does, or there is none. */
static const char *skip_value(const char *at, const char *end)
{
    if (at == end)
        return NULL;
    if (*at == '"')
        return skip_string(at, end);
    if (*at == '{' || *at == '[')
        return skip_brackets(at, end);
    const char *from = at;
    while (at < end && !is_json_space(*at) && kind[(unsigned char)*at] == OTHER && *at != ',' &&
           *at != ':')
        at++;
    return at > from && at < end ? at : NULL;
}

/* ---- Members and elements ---- */

bool json_scan_begin(struct json_scan *s, struct json_part part)
{
    const char *end = part.at ? part.at + part.length : NULL;
    const char *at = part.at ? skip_json_space(part.at, end) : NULL;
    *s = (struct json_scan){.at = end, .end = end};
    if (at == end || (*at != '{' && *at != '['))
        return false;
    s->at = at + 1;
    s->is_object = *at == '{';
    return true;
}

/* There are no more. */
static bool end_scan(struct json_scan *s, bool is_whole)
{
    s->at = s->end;
    s->is_whole = s->is_whole || is_whole;
    return false;
}

static bool take_key(struct json_scan *s, struct json_part *key)
{
    const char *at = s->at;
    if (*at != '"' || !(s->at = skip_string(at, s->end)))
        return false;
    *key = json_part(at + 1, (size_t)(s->at - at) - 2);
    s->at = skip_json_space(s->at, s->end);
    if (s->at == s->end || *s->at != ':')
        return false;
    s->at = skip_json_space(s->at + 1, s->end);
    return true;
}

bool json_scan_next(struct json_scan *s, struct json_part *key, struct json_part *value)
{
    char close = s->is_object ? '}' : ']';
    *key = *value = (struct json_part){0};
    s->at = skip_json_space(s->at, s->end);
    if (s->at == s->end || *s->at == close)
        return end_scan(s, s->at < s->end);
    if (s->is_object && !take_key(s, key))
        return end_scan(s, false);
    const char *at = skip_value(s->at, s->end);
    if (!at)
        return end_scan(s, false);
    *value = json_part(s->at, (size_t)(at - s->at));
    at = skip_json_space(at, s->end);
    if (at < s->end && *at == ',')
        at++;
    else if (at < s->end && *at != close)
        at = s->end; /* what follows is no JSON */
    s->at = at;
    return true;
}

void json_find(struct json_part object, const char *const *keys, size_t n, struct json_part *values)
{
    struct json_scan s;
    struct json_part key, value;
    for (size_t k = 0; k < n; k++)
        values[k] = (struct json_part){0};
    if (!json_scan_begin(&s, object) || !s.is_object)
        return;
    while (json_scan_next(&s, &key, &value))
        for (size_t k = 0; k < n; k++)
            if ((keys[k][0] == *key.at || key.length == 0) &&
                strncmp(keys[k], key.at, key.length) == 0 && !keys[k][key.length])
                values[k] = value;
}

/* ---- Values ---- */

bool json_part_int(struct json_part part, int64_t *number)
{
    bool is_negative = part.length > 0 && *part.at == '-';
    int64_t value = 0;
    if (part.length == is_negative)
        return false;
    for (size_t i = is_negative; i < part.length; i++) {
        int digit = part.at[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value)) /* below 0 there is one more */
            return false;
    }
    if (!is_negative && value == INT64_MIN)
        return false;
    *number = is_negative ? value : -value;
    return true;
}

double json_part_double(struct json_part part, double otherwise)
{
    char text[40], *end;
    if (part.length == 0 || part.length >= sizeof(text) || !memchr("-0123456789", *part.at, 11))
        return otherwise;
    memcpy(text, part.at, part.length);
    text[part.length] = '\0';
    double number = strtod(text, &end);
    return *end ? otherwise : number;
}

bool json_part_is(struct json_part part, const char *word)
{
    return part.length == strlen(word) && memcmp(part.at, word, part.length) == 0;
}

/* Four digits of an escape, or -1. */
static long hex(const char *at, const char *end)
{
    long code = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = at[i], low = (char)(c | 0x20);
        int digit = c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

static void put_utf8(struct strbuf *out, unsigned long code)
{
    if (code < 0x80) {
        strbuf_putc(out, (char)code);
        return;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    strbuf_putc(out, (char)(0xf0u << (3 - more) | code >> 6 * more));
    while (more-- > 0)
        strbuf_putc(out, (char)(0x80 | (code >> 6 * more & 0x3f)));
}

/* Append the character of \uXXXX, or of a surrogate pair. Returns what comes after it, or NULL. */
static const char *put_code(struct strbuf *out, const char *at, const char *end)
{
    long code = hex(at, end);
    at += 4;
    if (code <= 0 || (code >= 0xdc00 && code < 0xe000))
        return NULL;
    if (code >= 0xd800 && code < 0xdc00) {
        long low = end - at > 2 && at[0] == '\\' && at[1] == 'u' ? hex(at + 2, end) : -1;
        if (low < 0xdc00 || low > 0xdfff)
            return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
    }
    put_utf8(out, (unsigned long)code);
    return at;
}

/* Append the character of an escape. Returns what comes after it, or NULL. */
static const char *put_escape(struct strbuf *out, const char *at, const char *end)
{
    static const char names[] = "bfnrt\"\\/", means[] = "\b\f\n\r\t\"\\/";
    if (++at == end)
        return NULL;
    if (*at == 'u')
        return put_code(out, at + 1, end);
    const char *name = memchr(names, *at, sizeof(names) - 1);
    if (name)
        strbuf_putc(out, means[name - names]);
    return name ? at + 1 : NULL;
}

static bool is_string(struct json_part part)
{
    return part.length >= 2 && part.at[0] == '"' && part.at[part.length - 1] == '"';
}

bool json_part_text(struct json_part part, struct strbuf *out)
{
    size_t was = out->len;
    if (!is_string(part))
        return false;
    const char *at = part.at + 1, *end = part.at + part.length - 1;
    while (at && at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        const char *stop = escape ? escape : end;
        strbuf_put(out, at, (size_t)(stop - at));
        at = escape ? put_escape(out, escape, end) : end;
    }
    if (at != end && !out->failed)
        out->len = was;
    return at == end;
}

int json_part_copy(struct json_part part, char **text)
{
    struct strbuf b = {0};
    bool is_text = json_part_text(part, &b);
    *text = is_text ? strbuf_steal(&b) : NULL;
    int rc = is_text && !*text ? -1 : 0;
    strbuf_clear(&b);
    return rc;
}

int json_part_keep(struct json_part part, struct arena *arena, const char **text)
{
    char *whole = NULL;
    *text = NULL;
    if (!is_string(part))
        return 0;
    struct json_part plain = json_part(part.at + 1, part.length - 2);
    if (memchr(plain.at, '\\', plain.length)) {
        if (json_part_copy(part, &whole) < 0)
            return -1;
        if (!whole)
            return 0;
        plain = json_part(whole, strlen(whole));
    }
    char *copy = arena_alloc(arena, plain.length + 1);
    if (copy) {
        memcpy(copy, plain.at, plain.length);
        copy[plain.length] = '\0';
    }
    free(whole);
    *text = copy;
    return copy ? 0 : -1;
}
