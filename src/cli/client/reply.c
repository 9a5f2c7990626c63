#include "cli/client/reply.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define FIELDS_MAX 256

void reply_init(struct reply *r)
{
    r->part = REPLY_STATUS;
    r->status = 0;
    r->left = 0;
    r->has_length = r->chunked = r->closes = false;
    r->fields = 0;
    r->n = 0;
}

static int reply_malformed(void)
{
    errno = EPROTO;
    return -1;
}

static int digit(char c, unsigned base)
{
    int v = c >= '0' && c <= '9'   ? c - '0'
            : c >= 'a' && c <= 'f' ? c - 'a' + 10
            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                   : 99;
    return v < (int)base ? v : -1;
}

/* A whole number at the beginning of a text; *end points behind it. */
static int reply_number(const char *text, unsigned base, uint64_t *number, const char **end)
{
    uint64_t v = 0;

    if (digit(*text, base) < 0)
        return reply_malformed();
    for (; digit(*text, base) >= 0; text++) {
        if (v > (UINT64_MAX >> 8) / base)
            return reply_malformed();
        v = v * base + (uint64_t)digit(*text, base);
    }
    *number = v;
    *end = text;
    return 0;
}

/* "HTTP/1.1 200 OK" */
static int read_status(struct reply *r)
{
    uint64_t status;
    const char *end;

    if (strncmp(r->line, "HTTP/1.", 7) != 0 || digit(r->line[7], 10) < 0 || r->line[8] != ' ' ||
        reply_number(r->line + 9, 10, &status, &end) < 0 || end != r->line + 12 || status < 100 ||
        (*end != ' ' && *end != '\0'))
        return reply_malformed();
    r->status = (long)status;
    r->closes = r->line[7] == '0';
    r->part = REPLY_FIELDS;
    return 0;
}

static const char *header_value_of(const char *line, const char *name)
{
    size_t n = strlen(name);

    if (strncasecmp(line, name, n) != 0 || line[n] != ':')
        return NULL;
    line += n + 1;
    return line + strspn(line, " \t");
}

static int read_length(struct reply *r, const char *value)
{
    uint64_t length;
    const char *end;

    if (reply_number(value, 10, &length, &end) < 0 || end[strspn(end, " \t")] != '\0' ||
        (r->has_length && r->left != length))
        return reply_malformed();
    r->has_length = true;
    r->left = length;
    return 0;
}

static bool header_is(const char *value, const char *word)
{
    size_t n = strlen(word);
    return strncasecmp(value, word, n) == 0 && value[n + strspn(value + n, " \t")] == '\0';
}

/* After the last field. */
static int begin_body(struct reply *r)
{
    if (r->status < 200) {
        if (r->status == 101)
            return reply_malformed();
        /* The reply itself is still to come. */
        unsigned fields = r->fields;
        reply_init(r);
        r->fields = fields;
    } else if (r->status == 204 || r->status == 304)
        r->part = REPLY_DONE;
    else if (r->chunked)
        r->part = REPLY_CHUNK_SIZE;
    else if (r->has_length)
        r->part = r->left ? REPLY_BODY : REPLY_DONE;
    else {
        r->closes = true;
        r->part = REPLY_REST;
    }
    return 0;
}

static int read_field(struct reply *r)
{
    const char *value;

    if (r->line[0] == '\0')
        return begin_body(r);
    if (++r->fields > FIELDS_MAX || r->line[0] == ' ' || r->line[0] == '\t' ||
        !strchr(r->line, ':'))
        return reply_malformed();
    if ((value = header_value_of(r->line, "Content-Length")))
        return read_length(r, value);
    if ((value = header_value_of(r->line, "Transfer-Encoding"))) {
        r->chunked = true;
        return header_is(value, "chunked") ? 0 : reply_malformed();
    }
    if ((value = header_value_of(r->line, "Connection")) && header_is(value, "close"))
        r->closes = true;
    return 0;
}

static int read_chunk_size(struct reply *r)
{
    const char *end;

    if (reply_number(r->line, 16, &r->left, &end) < 0)
        return -1;
    end += strspn(end, " \t");
    if (*end != '\0' && *end != ';')
        return reply_malformed();
    r->part = r->left ? REPLY_CHUNK : REPLY_TRAILER;
    return 0;
}

static int reply_line(struct reply *r)
{
    switch (r->part) {
    case REPLY_STATUS:
        return read_status(r);
    case REPLY_FIELDS:
        return read_field(r);
    case REPLY_CHUNK_SIZE:
        return read_chunk_size(r);
    case REPLY_CHUNK_END:
        r->part = REPLY_CHUNK_SIZE;
        return r->line[0] ? reply_malformed() : 0;
    default: /* a trailer */
        if (r->line[0] == '\0')
            r->part = REPLY_DONE;
        return ++r->fields > FIELDS_MAX ? reply_malformed() : 0;
    }
}

/* Add to the line, and read it when it is complete. */
static ptrdiff_t reply_take_line(struct reply *r, const char *bytes, size_t n)
{
    const char *end = memchr(bytes, '\n', n);
    size_t length = end ? (size_t)(end - bytes) : n;

    if (length >= sizeof(r->line) - r->n || memchr(bytes, '\0', length))
        return reply_malformed();
    memcpy(r->line + r->n, bytes, length);
    r->n += length;
    if (!end)
        return (ptrdiff_t)n;
    if (r->n && r->line[r->n - 1] == '\r')
        r->n--;
    r->line[r->n] = '\0';
    r->n = 0;
    return reply_line(r) < 0 ? -1 : (ptrdiff_t)length + 1;
}

static ptrdiff_t take_body(struct reply *r, const char *bytes, size_t n,
                           const struct client_taker *taker)
{
    size_t part = r->part != REPLY_REST && r->left < n ? (size_t)r->left : n;

    if (taker->take(taker->context, r->status, bytes, part) != 0) {
        errno = ECANCELED;
        return -1;
    }
    if (r->part == REPLY_REST)
        return (ptrdiff_t)part;
    r->left -= part;
    if (r->left == 0)
        r->part = r->part == REPLY_CHUNK ? REPLY_CHUNK_END : REPLY_DONE;
    return (ptrdiff_t)part;
}

ptrdiff_t reply_take(struct reply *r, const char *bytes, size_t n, const struct client_taker *taker)
{
    size_t at = 0;

    while (at < n && r->part != REPLY_DONE) {
        bool in_body = r->part == REPLY_BODY || r->part == REPLY_REST || r->part == REPLY_CHUNK;
        ptrdiff_t taken = in_body ? take_body(r, bytes + at, n - at, taker)
                                  : reply_take_line(r, bytes + at, n - at);
        if (taken < 0)
            return -1;
        at += (size_t)taken;
    }
    return (ptrdiff_t)at;
}

bool reply_end(struct reply *r)
{
    if (r->part == REPLY_REST)
        r->part = REPLY_DONE;
    return r->part == REPLY_DONE;
}
