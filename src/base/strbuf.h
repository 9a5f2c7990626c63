/* A growing buffer of bytes, for writing text.
 *
 * Appending never reports failure. When memory runs out, the buffer drops its content and ignores further
 * appends; `failed` is then true until the buffer is reset. So a writer is a sequence of appends, with
 * one check at its end.
 *
 * Appends are O(length) and mostly inline; the buffer at least doubles when it grows. Numbers are written in
 * decimal, the same in every locale.
 */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct strbuf {
    char *data; /* len bytes, and room for a terminator */
    size_t len;
    size_t cap; /* bytes that fit, not counting the terminator */
    bool failed;
};

#define STRBUF_NUMBER_MAX 20 /* bytes of a 64-bit number in decimal, sign included */

/* Make a buffer empty, which is all zeroes, and free its memory. Keeps errno. */
void strbuf_clear(struct strbuf *b);

/* Empty the buffer and clear `failed`, but keep the memory for the next text. */
static inline void strbuf_reset(struct strbuf *b)
{
    b->len = 0;
    b->failed = false;
}

/* Make room for n more bytes. False if the buffer has failed, now or before. */
bool strbuf_grow(struct strbuf *b, size_t n);

/* Make room for n more bytes, which the caller then writes to data + len and adds to len. False as above. */
static inline bool strbuf_room(struct strbuf *b, size_t n)
{
    return n <= b->cap - b->len || strbuf_grow(b, n);
}

/* Append n bytes. */
static inline void strbuf_put(struct strbuf *b, const char *bytes, size_t n)
{
    if (n == 0 || !strbuf_room(b, n))
        return;
    memcpy(b->data + b->len, bytes, n);
    b->len += n;
}

/* Append a terminated string. */
static inline void strbuf_puts(struct strbuf *b, const char *text)
{
    strbuf_put(b, text, strlen(text));
}

/* Append a byte. */
static inline void strbuf_putc(struct strbuf *b, char c)
{
    if (strbuf_room(b, 1))
        b->data[b->len++] = c;
}

/* Append a byte n times. */
static inline void strbuf_fill(struct strbuf *b, char c, size_t n)
{
    if (n == 0 || !strbuf_room(b, n))
        return;
    memset(b->data + b->len, c, n);
    b->len += n;
}

/* Write a number in decimal to memory with room for STRBUF_NUMBER_MAX bytes. Returns how many bytes it
 * took; there is no terminator.
 */
size_t strbuf_decimal(char *to, uint64_t number);

/* The same, inline for small numbers. Returns the end of what was written. */
static inline char *strbuf_digits(char *to, uint64_t number)
{
    if (number >= 10)
        return to + strbuf_decimal(to, number);
    *to = (char)('0' + number);
    return to + 1;
}

/* Append a number in decimal. */
static inline void strbuf_put_uint(struct strbuf *b, uint64_t number)
{
    if (strbuf_room(b, STRBUF_NUMBER_MAX))
        b->len = (size_t)(strbuf_digits(b->data + b->len, number) - b->data);
}

static inline void strbuf_put_int(struct strbuf *b, int64_t number)
{
    if (number < 0)
        strbuf_putc(b, '-');
    strbuf_put_uint(b, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

/* Append n bytes as a JSON string, in quotes. Only what JSON requires is escaped: quotes, backslashes and
 * control characters, as \b \f \n \r \t or \u00XX with capital digits. That is what jansson writes by
 * default for UTF-8; bytes that are not UTF-8 are copied.
 */
void strbuf_put_json(struct strbuf *b, const char *text, size_t n);

/* The text so far, terminated, until the next append; "" if the buffer is empty or has failed. */
const char *strbuf_text(struct strbuf *b);

/* Hand over the text, terminated; the caller frees it. The buffer is then empty and has no memory. If it
 * has failed, it is cleared, and the result is NULL with ENOMEM.
 */
char *strbuf_steal(struct strbuf *b);

#endif
