/* Numbers and texts in bytes. */
#include "engine/local/wire.h"

#include <endian.h>
#include <string.h>

#define NONE UINT32_MAX /* the length of a text that is NULL */

static const char *wire_take(struct wire *w, size_t n)
{
    if (w->bad || n > w->left) {
        w->bad = true;
        w->left = 0;
        return NULL;
    }
    const char *at = w->at;
    w->at += n;
    w->left -= n;
    return at;
}

uint8_t wire_u8(struct wire *w)
{
    const char *at = wire_take(w, 1);
    return at ? (uint8_t)*at : 0;
}

uint32_t wire_u32(struct wire *w)
{
    uint32_t n = 0;
    const char *at = wire_take(w, sizeof(n));
    if (at)
        memcpy(&n, at, sizeof(n));
    return le32toh(n);
}

uint64_t wire_u64(struct wire *w)
{
    uint64_t n = 0;
    const char *at = wire_take(w, sizeof(n));
    if (at)
        memcpy(&n, at, sizeof(n));
    return le64toh(n);
}

static const char *take_ended_text(struct wire *w, size_t length)
{
    const char *at = wire_take(w, length + 1);
    if (at && at[length] == '\0')
        return at;
    w->bad = true;
    w->left = 0;
    return NULL;
}

const char *wire_text(struct wire *w, size_t *length)
{
    uint32_t n = wire_u32(w);
    const char *text = w->bad ? NULL : take_ended_text(w, n);
    *length = text ? n : 0;
    return text ? text : "";
}

const char *wire_string(struct wire *w)
{
    uint32_t n = wire_u32(w);
    if (!w->bad && n == NONE)
        return NULL;
    const char *text = w->bad ? NULL : take_ended_text(w, n);
    if (text && strlen(text) == n)
        return text;
    w->bad = true;
    w->left = 0;
    return "";
}

size_t wire_count(struct wire *w, size_t bytes)
{
    uint32_t n = wire_u32(w);
    if (!w->bad && n <= w->left / bytes)
        return n;
    w->bad = true;
    w->left = 0;
    return 0;
}

void wire_put_u8(struct strbuf *b, uint8_t n)
{
    strbuf_putc(b, (char)n);
}

void wire_put_u32(struct strbuf *b, uint32_t n)
{
    n = htole32(n);
    strbuf_put(b, (const char *)&n, sizeof(n));
}

void wire_put_u64(struct strbuf *b, uint64_t n)
{
    n = htole64(n);
    strbuf_put(b, (const char *)&n, sizeof(n));
}

void wire_put_text(struct strbuf *b, const char *text, size_t length)
{
    if (length >= NONE) {
        strbuf_grow(b, SIZE_MAX - b->len); /* as if memory had run out */
        return;
    }
    wire_put_u32(b, (uint32_t)length);
    strbuf_put(b, text, length);
    strbuf_putc(b, '\0');
}

void wire_put_string(struct strbuf *b, const char *text)
{
    if (text)
        wire_put_text(b, text, strlen(text));
    else
        wire_put_u32(b, NONE);
}

size_t wire_begin(struct strbuf *b)
{
    size_t begun = b->len;
    wire_put_u32(b, 0);
    return begun;
}

void wire_end(struct strbuf *b, size_t begun)
{
    if (b->failed)
        return;
    uint32_t n = htole32((uint32_t)(b->len - begun - sizeof(n)));
    memcpy(b->data + begun, &n, sizeof(n));
}

int wire_next(const char *bytes, size_t n, struct wire *message, size_t *taken)
{
    uint32_t length;
    if (n < sizeof(length))
        return 0;
    memcpy(&length, bytes, sizeof(length));
    length = le32toh(length);
    if (length == 0 || length > WIRE_MESSAGE_MAX)
        return -1;
    if (n - sizeof(length) < length)
        return 0;
    *message = (struct wire){.at = bytes + sizeof(length), .left = length};
    *taken = sizeof(length) + length;
    return 1;
}
