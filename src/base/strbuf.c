/* The growing buffer: growth, numbers, escapes. */
#include "base/strbuf.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAP 120

void strbuf_clear(struct strbuf *b)
{
    int saved = errno;
    free(b->data);
    *b = (struct strbuf){0};
    errno = saved;
}

/* Without memory every append comes here and is turned away, so that only growth looks at the flag. */
static bool refuse_append(struct strbuf *b)
{
    strbuf_clear(b);
    b->failed = true;
    return false;
}

bool strbuf_grow(struct strbuf *b, size_t n)
{
    if (b->failed || n >= PTRDIFF_MAX - b->len)
        return refuse_append(b);
    size_t need = b->len + n;
    size_t cap = 2 * b->cap;
    if (cap < FIRST_CAP)
        cap = FIRST_CAP;
    if (cap < need)
        cap = need;
    char *data = realloc(b->data, cap + 1);
    if (!data)
        return refuse_append(b);
    b->data = data;
    b->cap = cap;
    return true;
}

static const char pairs[] = "00010203040506070809"
                            "10111213141516171819"
                            "20212223242526272829"
                            "30313233343536373839"
                            "40414243444546474849"
                            "50515253545556575859"
                            "60616263646566676869"
                            "70717273747576777879"
                            "80818283848586878889"
                            "90919293949596979899";

static size_t digits_of(uint64_t number)
{
    size_t n = 1;
    for (;;) {
        if (number < 10)
            return n;
        if (number < 100)
            return n + 1;
        if (number < 1000)
            return n + 2;
        if (number < 10000)
            return n + 3;
        number /= 10000;
        n += 4;
    }
}

size_t strbuf_decimal(char *to, uint64_t number)
{
    size_t n = digits_of(number);
    size_t at = n;
    while (number >= 100) {
        at -= 2;
        memcpy(to + at, pairs + number % 100 * 2, 2);
        number /= 100;
    }
    if (number >= 10)
        memcpy(to, pairs + number * 2, 2);
    else
        to[0] = (char)('0' + number);
    return n;
}

static bool is_unescaped(char c)
{
    return (unsigned char)c >= ' ' && c != '"' && c != '\\';
}

static void put_escape(struct strbuf *b, char c)
{
    static const char hex[] = "0123456789ABCDEF";
    static const char named[] = "\b\f\n\r\t\"\\";
    static const char names[] = "bfnrt\"\\";
    const char *which = memchr(named, c, sizeof(named) - 1);
    if (which) {
        char text[2] = {'\\', names[which - named]};
        strbuf_put(b, text, sizeof(text));
    } else {
        char text[6] = {'\\', 'u', '0', '0', hex[(unsigned char)c >> 4], hex[c & 15]};
        strbuf_put(b, text, sizeof(text));
    }
}

void strbuf_put_json(struct strbuf *b, const char *text, size_t n)
{
    strbuf_putc(b, '"');
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && is_unescaped(text[end]))
            end++;
        strbuf_put(b, text + i, end - i);
        if (end < n)
            put_escape(b, text[end++]);
        i = end;
    }
    strbuf_putc(b, '"');
}

const char *strbuf_text(struct strbuf *b)
{
    if (!b->data)
        return "";
    b->data[b->len] = '\0';
    return b->data;
}

char *strbuf_steal(struct strbuf *b)
{
    if (b->failed || (!b->data && !strbuf_grow(b, 0))) {
        strbuf_clear(b);
        errno = ENOMEM;
        return NULL;
    }
    char *text = b->data;
    text[b->len] = '\0';
    *b = (struct strbuf){0};
    return text;
}
