/* Sorting a host list without spelling it out.
 *
 * Hosts are ordered only by their names, however the names are split into prefix and number. So ranges
 * are divided into pieces: a prefix followed by numbers of the same length, where digits at the end of
 * the prefix belong to the number as far as a number may be long. Pieces with the same prefix and length
 * are then ranges of numbers, and a sweep merges those that overlap.
 */
#include "base/hostlist_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct piece {
    const char *prefix; /* in the old list's names or in the new one's */
    size_t prefix_length;
    size_t digits; /* of each number, padding included; 0: there is none */
    uint64_t lo;
    uint64_t hi;
};

struct sorter {
    struct hostlist out; /* the new list */
    struct piece *v;
    size_t n;
    size_t cap;
    uint64_t *ends; /* of the pieces of a class, sorted */
    uint64_t spelled;
    uint64_t limit; /* of that */
    bool unique;
};

static int no_memory(void)
{
    errno = ENOMEM;
    return -1;
}

static int spell(struct sorter *s, uint64_t hosts, uint64_t times)
{
    if (hosts > s->limit / times || s->spelled + hosts * times > s->limit) {
        errno = ERANGE;
        return -1;
    }
    s->spelled += hosts * times;
    return 0;
}

static int append_piece(struct sorter *s, struct piece piece)
{
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;
        struct piece *v = reallocarray(s->v, cap, sizeof(*v));
        if (!v)
            return no_memory();
        s->v = v;
        s->cap = cap;
    }
    s->v[s->n++] = piece;
    return 0;
}

static int add_name(struct sorter *s, const char *name, size_t length)
{
    size_t at = hostlist_number_at(name, length);
    uint32_t id;
    if (hostlist_intern(&s->out, name, at, &id) < 0)
        return -1;
    uint64_t number = hostlist_number(name + at, length - at);
    return append_piece(
        s, (struct piece){intern_text(&s->out.names, id), at, length - at, number, number});
}

/* Ranges with a suffix end in another number than theirs, or in none. */
static int add_spelled(struct sorter *s, const struct hostlist *h, const struct hostlist_range *r)
{
    char name[HOSTLIST_NAME_SIZE];
    uint64_t size = hostlist_size(r);
    if (spell(s, size, 1) < 0)
        return -1;
    for (uint64_t i = 0; i < size; i++)
        if (add_name(s, name, hostlist_write_name(h, r, i, name)) < 0)
            return -1;
    return 0;
}

/* The numbers of a piece have too many digits: move the leading ones, which are all zeroes, to the prefix. */
static int shorten(struct sorter *s, struct piece *piece)
{
    char prefix[HOSTLIST_NAME_SIZE];
    size_t zeros = piece->digits - HOSTLIST_DIGITS_MAX;
    memcpy(prefix, piece->prefix, piece->prefix_length);
    memset(prefix + piece->prefix_length, '0', zeros);
    uint32_t id;
    if (hostlist_intern(&s->out, prefix, piece->prefix_length + zeros, &id) < 0)
        return -1;
    piece->prefix = intern_text(&s->out.names, id);
    piece->prefix_length += zeros;
    piece->digits = HOSTLIST_DIGITS_MAX;
    return 0;
}

/* The prefix of a piece may end in digits: they are the number's, up to as many as that may have. */
static void lengthen(struct piece *piece)
{
    uint64_t unit = 1;
    for (size_t i = 0; i < piece->digits; i++)
        unit *= 10;
    while (piece->digits < HOSTLIST_DIGITS_MAX && piece->prefix_length > 0) {
        char c = piece->prefix[piece->prefix_length - 1];
        if (c < '0' || c > '9')
            return;
        piece->lo += unit * (uint64_t)(c - '0');
        piece->hi += unit * (uint64_t)(c - '0');
        piece->prefix_length--;
        piece->digits++;
        unit *= 10;
    }
}

static int add_range(struct sorter *s, const struct hostlist *h, const struct hostlist_range *r)
{
    struct piece piece = {
        .prefix = intern_text(&h->names, r->prefix),
        .prefix_length = intern_length(&h->names, r->prefix),
    };
    for (uint64_t lo = r->lo; lo <= r->hi; lo = piece.hi + 1) {
        struct piece part = piece;
        part.lo = lo;
        part.digits = hostlist_written(r, lo);
        uint64_t limit = 1; /* the first number that takes more digits */
        for (size_t i = 0; i < part.digits && i < HOSTLIST_DIGITS_MAX; i++)
            limit *= 10;
        part.hi = piece.hi = r->hi < limit ? r->hi : limit - 1;
        if (part.digits > HOSTLIST_DIGITS_MAX && shorten(s, &part) < 0)
            return -1;
        if (r->width > 0)
            lengthen(&part);
        if (append_piece(s, part) < 0)
            return -1;
    }
    return 0;
}

static int compare_classes(const struct piece *a, const struct piece *b)
{
    size_t length = a->prefix_length < b->prefix_length ? a->prefix_length : b->prefix_length;
    int order = memcmp(a->prefix, b->prefix, length);
    if (order != 0)
        return order;
    if (a->prefix_length != b->prefix_length)
        return a->prefix_length < b->prefix_length ? -1 : 1;
    return (a->digits > b->digits) - (a->digits < b->digits);
}

static int compare_pieces(const void *x, const void *y)
{
    const struct piece *a = x;
    const struct piece *b = y;
    int order = compare_classes(a, b);
    return order != 0 ? order : (a->lo > b->lo) - (a->lo < b->lo);
}

static struct piece piece_of(const char *name)
{
    size_t length = strlen(name), at = hostlist_number_at(name, length);
    uint64_t number = hostlist_number(name + at, length - at);
    return (struct piece){name, at, length - at, number, number};
}

int hostlist_compare(const char *a, const char *b)
{
    struct piece x = piece_of(a), y = piece_of(b);
    return compare_pieces(&x, &y);
}

static int compare_ends(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x;
    uint64_t b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

/* Append numbers that are there so many times. */
static int emit(struct sorter *s, struct hostlist_range range, uint64_t times)
{
    if (s->unique || times == 1)
        return hostlist_push(&s->out, range);
    uint64_t hi = range.hi;
    if (spell(s, hostlist_size(&range), times) < 0)
        return -1;
    for (; range.lo <= hi; range.lo++) {
        range.hi = range.lo;
        for (uint64_t i = 0; i < times; i++)
            if (hostlist_push(&s->out, range) < 0)
                return -1;
    }
    return 0;
}

/* Append the hosts of a class: n pieces in the order of their lowest numbers. */
static int sweep(struct sorter *s, const struct piece *v, size_t n)
{
    struct hostlist_range range = {.width = (uint32_t)v->digits};
    if (hostlist_intern(&s->out, v->prefix, v->prefix_length, &range.prefix) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        s->ends[i] = v[i].hi;
    qsort(s->ends, n, sizeof(*s->ends), compare_ends);
    size_t begun = 0;
    size_t ended = 0;
    uint64_t at = 0;
    while (ended < n) {
        if (begun == ended)
            at = v[begun].lo;
        while (begun < n && v[begun].lo == at)
            begun++;
        range.lo = at;
        range.hi = s->ends[ended];
        if (begun < n && v[begun].lo <= range.hi)
            range.hi = v[begun].lo - 1;
        if (emit(s, range, begun - ended) < 0)
            return -1;
        at = range.hi + 1;
        while (ended < n && s->ends[ended] < at)
            ended++;
    }
    return 0;
}

static int sort_pieces(struct sorter *s)
{
    s->ends = reallocarray(NULL, s->n, sizeof(*s->ends));
    if (!s->ends)
        return no_memory();
    qsort(s->v, s->n, sizeof(*s->v), compare_pieces);
    s->limit += s->n; /* duplicates that are spelled out already */
    for (size_t i = 0; i < s->n;) {
        size_t end = i + 1;
        while (end < s->n && compare_classes(&s->v[i], &s->v[end]) == 0)
            end++;
        if (sweep(s, &s->v[i], end - i) < 0)
            return -1;
        i = end;
    }
    return 0;
}

static int sort_ranges(struct hostlist *h, bool unique)
{
    struct sorter s = {.limit = HOSTLIST_SPELLED_MAX, .unique = unique};
    int rc = 0;
    if (h->n == 0)
        return 0;
    for (size_t i = 0; i < h->n && rc == 0; i++)
        rc = h->v[i].suffix > 0 ? add_spelled(&s, h, &h->v[i]) : add_range(&s, h, &h->v[i]);
    if (rc == 0)
        rc = sort_pieces(&s);
    free(s.v);
    free(s.ends);
    struct hostlist *old = rc < 0 ? &s.out : h;
    hostlist_clear(old);
    if (rc == 0)
        *h = s.out;
    return rc;
}

int hostlist_sort(struct hostlist *h)
{
    return sort_ranges(h, false);
}

int hostlist_uniq(struct hostlist *h)
{
    return sort_ranges(h, true);
}
