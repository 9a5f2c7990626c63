/* The text of a host list (RFC 29), both ways. */
#include "base/hostlist_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"

/* A number or a range of numbers in brackets. */
struct numbers {
    uint64_t lo;
    uint64_t hi;
    uint32_t width;
};

/* A list of numbers, the text before it, and the position of a walk over it. */
struct brackets {
    const char *before;
    size_t before_length;
    size_t first; /* in the reader's numbers */
    size_t n;
    size_t at;
    uint64_t number;
};

/* Reads one expression after the other; the numbers of the last one are kept. */
struct reader {
    const char *text;
    size_t length;
    size_t at;
    berth_error_t *err;
    struct numbers *v;
    size_t n;
    size_t cap;
    uint64_t spelled; /* ranges made of more brackets than one, so far */
};

static bool at_char(const struct reader *r, char c)
{
    return r->at < r->length && r->text[r->at] == c;
}

static int read_digits(struct reader *r, uint64_t *number)
{
    size_t start = r->at;
    uint64_t value = 0;
    while (r->at < r->length && r->text[r->at] >= '0' && r->text[r->at] <= '9') {
        if (value > HOSTLIST_NUMBER_MAX / 10)
            return errtext_set(r->err, ERANGE, "offset %zu: expected a number of at most %lld",
                               start, (long long)HOSTLIST_NUMBER_MAX);
        value = value * 10 + (uint64_t)(r->text[r->at++] - '0');
    }
    if (r->at == start)
        return errtext_expected(r->err, r->text, r->length, start, "a number");
    *number = value;
    return 0;
}

/* A number or a range. Of the padding, what the text itself has or the brackets' first number, the wider
 * counts.
 */
static int read_numbers(struct reader *r, uint32_t *padding, bool first)
{
    struct numbers range;
    size_t start = r->at;
    if (read_digits(r, &range.lo) < 0)
        return -1;
    if (r->at - start > HOSTLIST_NAME_MAX)
        return errtext_set(r->err, ERANGE, "offset %zu: expected at most %d digits", start,
                           HOSTLIST_NAME_MAX);
    range.width = (uint32_t)(r->at - start);
    if (first && r->text[start] == '0')
        *padding = range.width;
    if (range.width < *padding)
        range.width = *padding;
    range.hi = range.lo;
    if (at_char(r, '-')) {
        start = ++r->at;
        if (read_digits(r, &range.hi) < 0)
            return -1;
        if (range.hi < range.lo)
            return errtext_set(r->err, EINVAL, "offset %zu: expected a number from %llu on", start,
                               (unsigned long long)range.lo);
    }
    if (r->n == r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 16;
        struct numbers *v = reallocarray(r->v, cap, sizeof(*v));
        if (!v)
            return errtext_no_memory(r->err);
        r->v = v;
        r->cap = cap;
    }
    r->v[r->n++] = range;
    return 0;
}

/* From behind the opening bracket to behind the closing one. */
static int read_brackets(struct reader *r, struct brackets *b)
{
    uint32_t padding = 0;
    b->first = r->n;
    do {
        if (read_numbers(r, &padding, r->n == b->first) < 0)
            return -1;
        b->n = r->n - b->first;
        if (!at_char(r, ',') && !at_char(r, ']'))
            return errtext_expected(r->err, r->text, r->length, r->at, "',' or ']'");
    } while (r->text[r->at++] == ',');
    return 0;
}

static size_t skip_literal(struct reader *r)
{
    size_t start = r->at;
    while (r->at < r->length && hostlist_allows(r->text[r->at]))
        r->at++;
    return r->at - start;
}

static int too_long(struct reader *r)
{
    return errtext_set(r->err, ERANGE,
                       "the host names before offset %zu have more than %d characters", r->at,
                       HOSTLIST_NAME_MAX);
}

static int too_many(struct reader *r)
{
    return errtext_set(r->err, ERANGE, "the brackets before offset %zu stand for too many hosts",
                       r->at);
}

static int push_failed(struct reader *r)
{
    return errno == ENOMEM ? errtext_no_memory(r->err) : too_many(r);
}

/* Append the hosts of one pair of brackets. */
static int append_brackets(struct reader *r, struct hostlist *h, const struct brackets *b,
                           const char *prefix, size_t prefix_length, size_t suffix_length)
{
    const char *suffix = r->text + r->at - suffix_length;
    struct hostlist_range range = {0};
    if (prefix_length + suffix_length >= HOSTLIST_NAME_MAX)
        return too_long(r);
    if (hostlist_intern(h, prefix, prefix_length, &range.prefix) < 0 ||
        hostlist_intern(h, suffix, suffix_length, &range.suffix) < 0)
        return push_failed(r);
    for (size_t i = 0; i < b->n; i++) {
        const struct numbers *numbers = &r->v[b->first + i];
        range.lo = numbers->lo;
        range.hi = numbers->hi;
        range.width = numbers->width;
        if (prefix_length + hostlist_written(&range, range.hi) + suffix_length > HOSTLIST_NAME_MAX)
            return too_long(r);
        if (hostlist_push(h, range) < 0)
            return push_failed(r);
    }
    return 0;
}

static void rewind_brackets(const struct reader *r, struct brackets *b)
{
    b->at = b->first;
    b->number = r->v[b->first].lo;
}

/* On to the next number. False, and back at the first one, if that was the last. */
static bool step_brackets(const struct reader *r, struct brackets *b)
{
    if (b->number < r->v[b->at].hi) {
        b->number++;
    } else if (++b->at < b->first + b->n) {
        b->number = r->v[b->at].lo;
    } else {
        rewind_brackets(r, b);
        return false;
    }
    return true;
}

/* Write what comes before the last brackets, with the current numbers of the other brackets. -1: that is
 * too long.
 */
static int64_t write_prefix(const struct reader *r, const struct brackets *b, size_t n, char *to)
{
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        size_t width = i + 1 < n ? r->v[b[i].at].width : 0;
        size_t number = width > STRBUF_NUMBER_MAX ? width : STRBUF_NUMBER_MAX;
        if (length + b[i].before_length + number > HOSTLIST_NAME_MAX + STRBUF_NUMBER_MAX)
            return -1;
        memcpy(to + length, b[i].before, b[i].before_length);
        length += b[i].before_length;
        if (i + 1 < n)
            length += hostlist_write_number(to + length, b[i].number, (uint32_t)width);
    }
    return (int64_t)length;
}

/* How many ranges these brackets make: hosts of all but the last, times the ranges of that. */
static int count_spelled(struct reader *r, const struct brackets *b, size_t n)
{
    uint64_t total = b[n - 1].n;
    for (size_t i = 0; i + 1 < n; i++) {
        uint64_t hosts = 0;
        for (size_t k = 0; k < b[i].n && hosts <= HOSTLIST_SPELLED_MAX; k++) {
            const struct numbers *numbers = &r->v[b[i].first + k];
            hosts += numbers->hi - numbers->lo + 1;
        }
        if (hosts > HOSTLIST_SPELLED_MAX || total > HOSTLIST_SPELLED_MAX / hosts)
            return too_many(r);
        total *= hosts;
    }
    r->spelled += total;
    return r->spelled > HOSTLIST_SPELLED_MAX ? too_many(r) : 0;
}

/* Append the hosts of several brackets: the last ones as ranges, for each number of the others. */
static int append_product(struct reader *r, struct hostlist *h, struct brackets *b, size_t n,
                          size_t suffix_length)
{
    char prefix[HOSTLIST_NAME_MAX + 2 * STRBUF_NUMBER_MAX];
    if (count_spelled(r, b, n) < 0)
        return -1;
    for (size_t i = 0; i + 1 < n; i++)
        rewind_brackets(r, &b[i]);
    bool more;
    do {
        int64_t length = write_prefix(r, b, n, prefix);
        if (length < 0)
            return too_long(r);
        if (append_brackets(r, h, &b[n - 1], prefix, (size_t)length, suffix_length) < 0)
            return -1;
        more = false;
        for (size_t i = n - 1; i > 0 && !more; i--)
            more = step_brackets(r, &b[i - 1]);
    } while (more);
    return 0;
}

/* One expression: a host name, or one with brackets. */
static int read_expression(struct reader *r, struct hostlist *h)
{
    struct brackets b[HOSTLIST_BRACKETS_MAX];
    size_t n = 0;
    r->n = 0;
    const char *literal = r->text + r->at;
    size_t length = skip_literal(r);
    while (at_char(r, '[')) {
        if (n == HOSTLIST_BRACKETS_MAX)
            return errtext_set(r->err, ERANGE, "offset %zu: expected at most %d brackets in a name",
                               r->at, HOSTLIST_BRACKETS_MAX);
        r->at++;
        b[n] = (struct brackets){.before = literal, .before_length = length};
        if (read_brackets(r, &b[n++]) < 0)
            return -1;
        literal = r->text + r->at;
        length = skip_literal(r);
    }
    if (r->at < r->length && r->text[r->at] != ',')
        return errtext_expected(r->err, r->text, r->length, r->at,
                                n == 0 && length == 0 ? "a host name" : "','");
    if (n == 0 && length > HOSTLIST_NAME_MAX)
        return too_long(r);
    if (n == 0)
        return hostlist_append_host(h, literal, length) < 0 ? push_failed(r) : 0;
    if (n == 1)
        return append_brackets(r, h, b, b[0].before, b[0].before_length, length);
    return append_product(r, h, b, n, length);
}

int hostlist_decode(struct hostlist *h, const char *text, size_t length, berth_error_t *err)
{
    struct reader r = {.text = text, .length = length, .err = err};
    struct hostlist out = {0};
    int rc = 0;
    while (rc == 0 && r.at < r.length) {
        if (at_char(&r, ','))
            r.at++;
        else
            rc = read_expression(&r, &out);
    }
    free(r.v);
    struct hostlist *old = rc < 0 ? &out : h;
    hostlist_clear(old);
    if (rc == 0)
        *h = out;
    return rc;
}

int hostlist_append(struct hostlist *h, const char *text, size_t length, berth_error_t *err)
{
    struct hostlist more = {0};
    if (hostlist_decode(&more, text, length, err) < 0)
        return -1;
    int rc = hostlist_append_list(h, &more);
    hostlist_clear(&more);
    if (rc < 0)
        return errtext_set(err, errno, errno == ENOMEM ? "out of memory" : "too many hosts");
    return 0;
}

static void put_padded(struct strbuf *out, uint64_t number, uint32_t width)
{
    if (width > STRBUF_NUMBER_MAX) {
        size_t digits = hostlist_digits(number);
        strbuf_fill(out, '0', digits < width ? width - digits : 0);
        width = 1;
    }
    if (strbuf_room(out, STRBUF_NUMBER_MAX))
        out->len += hostlist_write_number(out->data + out->len, number, width);
}

/* True if b may share brackets that begin with a: the padding of the first number applies to all of them. */
static bool shares_brackets(const struct hostlist_range *a, const struct hostlist_range *b)
{
    return a->prefix == b->prefix && a->suffix == b->suffix && a->width > 0 && b->width > 0 &&
           hostlist_written(b, b->lo) >= a->width;
}

static void put_interned(const struct hostlist *h, uint32_t id, struct strbuf *out)
{
    strbuf_put(out, intern_text(&h->names, id), intern_length(&h->names, id));
}

/* Append the ranges from i on that share brackets. Returns the first that doesn't. */
static size_t put_group(const struct hostlist *h, size_t i, struct strbuf *out)
{
    const struct hostlist_range *first = &h->v[i];
    size_t end = i + 1;
    while (end < h->n && shares_brackets(first, &h->v[end]))
        end++;
    bool brackets = end > i + 1 || first->lo < first->hi;
    put_interned(h, first->prefix, out);
    if (brackets)
        strbuf_putc(out, '[');
    for (size_t k = i; k < end && first->width > 0; k++) {
        const struct hostlist_range *r = &h->v[k];
        if (k > i)
            strbuf_putc(out, ',');
        put_padded(out, r->lo, r->width);
        if (r->lo < r->hi) {
            strbuf_putc(out, '-');
            put_padded(out, r->hi, r->width);
        }
    }
    if (brackets)
        strbuf_putc(out, ']');
    put_interned(h, first->suffix, out);
    return end;
}

static void put_spelled(const struct hostlist *h, const struct hostlist_range *r,
                        struct strbuf *out)
{
    for (uint64_t i = 0; i < hostlist_size(r); i++) {
        if (!strbuf_room(out, HOSTLIST_NAME_SIZE))
            return;
        if (i > 0)
            strbuf_putc(out, ',');
        out->len += hostlist_write_name(h, r, i, out->data + out->len);
    }
}

void hostlist_encode(const struct hostlist *h, struct strbuf *out)
{
    uint64_t spelled = 0; /* cannot run over: there are fewer than 2^63 hosts */
    for (size_t i = 0; i < h->n; i++)
        spelled += h->v[i].suffix > 0 ? hostlist_size(&h->v[i]) : 0;
    for (size_t i = 0; i < h->n;) {
        if (i > 0)
            strbuf_putc(out, ',');
        if (h->v[i].suffix > 0 && spelled <= HOSTLIST_SPELLED_MAX)
            put_spelled(h, &h->v[i++], out);
        else
            i = put_group(h, i, out);
    }
}
