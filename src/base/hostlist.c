/* The host list: its ranges, and the questions about single hosts. Text is in hostlist_text.c, order in
 * hostlist_sort.c.
 */
#include "base/hostlist_priv.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void hostlist_clear(struct hostlist *h)
{
    int saved = errno;
    free(h->v);
    intern_clear(&h->names);
    *h = (struct hostlist){0};
    errno = saved;
}

void hostlist_reset(struct hostlist *h)
{
    h->n = 0;
    h->count = 0;
}

size_t hostlist_digits(uint64_t number)
{
    size_t n = 1;
    for (; number >= 10; number /= 10)
        n++;
    return n;
}

size_t hostlist_written(const struct hostlist_range *r, uint64_t number)
{
    if (r->width == 0)
        return 0;
    size_t n = hostlist_digits(number);
    return n > r->width ? n : r->width;
}

size_t hostlist_number_at(const char *name, size_t length)
{
    size_t at = length;
    while (at > 0 && length - at < HOSTLIST_DIGITS_MAX && name[at - 1] >= '0' &&
           name[at - 1] <= '9')
        at--;
    return at;
}

uint64_t hostlist_number(const char *digits, size_t n)
{
    uint64_t number = 0;
    for (size_t i = 0; i < n; i++)
        number = number * 10 + (uint64_t)(digits[i] - '0');
    return number;
}

size_t hostlist_write_number(char *to, uint64_t number, uint32_t width)
{
    char digits[STRBUF_NUMBER_MAX];
    size_t n = strbuf_decimal(digits, number);
    size_t zeros = n < width ? width - n : 0;
    memset(to, '0', zeros);
    memcpy(to + zeros, digits, n);
    return zeros + n;
}

size_t hostlist_write_name(const struct hostlist *h, const struct hostlist_range *r,
                           uint64_t offset, char *to)
{
    size_t n = intern_length(&h->names, r->prefix);
    memcpy(to, intern_text(&h->names, r->prefix), n);
    if (r->width > 0)
        n += hostlist_write_number(to + n, r->lo + offset, r->width);
    size_t suffix = intern_length(&h->names, r->suffix);
    memcpy(to + n, intern_text(&h->names, r->suffix), suffix);
    return n + suffix;
}

int hostlist_intern(struct hostlist *h, const char *text, size_t length, uint32_t *id)
{
    uint32_t none;
    if (h->names.n == 0 && intern_put(&h->names, "", 0, &none) < 0)
        return -1;
    return intern_put(&h->names, text, length, id);
}

static int reserve_ranges(struct hostlist *h, size_t n)
{
    if (n <= h->cap)
        return 0;
    size_t cap = h->cap + h->cap / 2;
    if (cap < n)
        cap = n;
    if (cap < 8)
        cap = 8;
    struct hostlist_range *v = reallocarray(h->v, cap, sizeof(*v));
    if (!v) {
        errno = ENOMEM;
        return -1;
    }
    h->v = v;
    h->cap = cap;
    return 0;
}

/* A width that pads nothing in a range, since its lowest number has as many digits, is 1. */
static void settle_width(struct hostlist_range *r)
{
    if (r->width > 0 && r->width <= hostlist_digits(r->lo))
        r->width = 1;
}

/* True if b's numbers go on where a's end, and look the same with a's width. */
static bool follows(const struct hostlist_range *a, const struct hostlist_range *b)
{
    return a->prefix == b->prefix && a->suffix == b->suffix && a->width > 0 && b->width > 0 &&
           b->lo == a->hi + 1 && hostlist_written(a, b->lo) == hostlist_written(b, b->lo);
}

int hostlist_push(struct hostlist *h, struct hostlist_range r)
{
    uint64_t size = hostlist_size(&r);
    if (size > (uint64_t)(INT64_MAX - h->count)) {
        errno = ERANGE;
        return -1;
    }
    settle_width(&r);
    if (h->n > 0 && follows(&h->v[h->n - 1], &r)) {
        h->v[h->n - 1].hi = r.hi;
    } else {
        if (reserve_ranges(h, h->n + 1) < 0)
            return -1;
        h->v[h->n++] = r;
    }
    h->count += (int64_t)size;
    return 0;
}

static bool is_host_name(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!hostlist_allows(name[i]))
            return false;
    return length > 0 && length <= HOSTLIST_NAME_MAX;
}

/* Hosts mostly come with the prefix of the one before. */
static int intern_prefix(struct hostlist *h, const char *text, size_t length, uint32_t *id)
{
    if (h->n > 0) {
        uint32_t last = h->v[h->n - 1].prefix;
        if (intern_length(&h->names, last) == length &&
            memcmp(intern_text(&h->names, last), text, length) == 0) {
            *id = last;
            return 0;
        }
    }
    return hostlist_intern(h, text, length, id);
}

int hostlist_append_host(struct hostlist *h, const char *name, size_t length)
{
    if (!is_host_name(name, length)) {
        errno = EINVAL;
        return -1;
    }
    size_t at = hostlist_number_at(name, length);
    struct hostlist_range r = {.width = (uint32_t)(length - at)};
    r.lo = r.hi = hostlist_number(name + at, length - at);
    if (intern_prefix(h, name, at, &r.prefix) < 0)
        return -1;
    return hostlist_push(h, r);
}

static int append_range(struct hostlist *h, const struct intern *names, struct hostlist_range r)
{
    const char *prefix = intern_text(names, r.prefix);
    const char *suffix = intern_text(names, r.suffix);
    size_t length = intern_length(names, r.suffix);
    if (intern_prefix(h, prefix, intern_length(names, r.prefix), &r.prefix) < 0 ||
        (r.suffix > 0 && hostlist_intern(h, suffix, length, &r.suffix) < 0))
        return -1;
    return hostlist_push(h, r);
}

int hostlist_append_list(struct hostlist *h, const struct hostlist *from)
{
    assert(h != from);
    size_t n = h->n;
    int64_t count = h->count;
    struct hostlist_range last = n > 0 ? h->v[n - 1] : (struct hostlist_range){0};
    for (size_t i = 0; i < from->n; i++) {
        if (append_range(h, &from->names, from->v[i]) < 0) {
            h->n = n;
            h->count = count;
            if (n > 0)
                h->v[n - 1] = last;
            return -1;
        }
    }
    return 0;
}

int hostlist_copy(struct hostlist *h, const struct hostlist *from)
{
    struct hostlist out = {0};
    if (hostlist_append_list(&out, from) < 0) {
        hostlist_clear(&out);
        return -1;
    }
    hostlist_clear(h);
    *h = out;
    return 0;
}

int64_t hostlist_count(const struct hostlist *h)
{
    return h->count;
}

int hostlist_nth(const struct hostlist *h, int64_t n, char name[HOSTLIST_NAME_SIZE])
{
    if (n < 0 || n >= h->count) {
        errno = ENOENT;
        return -1;
    }
    uint64_t offset = (uint64_t)n;
    size_t i = 0;
    for (; offset >= hostlist_size(&h->v[i]); i++)
        offset -= hostlist_size(&h->v[i]);
    name[hostlist_write_name(h, &h->v[i], offset, name)] = '\0';
    return 0;
}

bool hostlist_next(const struct hostlist *h, struct hostlist_cursor *c,
                   char name[HOSTLIST_NAME_SIZE])
{
    if (c->range >= h->n)
        return false;
    const struct hostlist_range *r = &h->v[c->range];
    name[hostlist_write_name(h, r, c->offset, name)] = '\0';
    if (++c->offset == hostlist_size(r))
        *c = (struct hostlist_cursor){.range = c->range + 1};
    return true;
}

/* True if the characters are a number of the range, written as it writes them; with its offset there. */
static bool number_is_in(const struct hostlist_range *r, const char *digits, size_t n,
                         uint64_t *offset)
{
    *offset = 0;
    if (r->width == 0)
        return n == 0;
    if (n < r->width || (n > r->width && digits[0] == '0'))
        return false;
    uint64_t number = 0;
    for (size_t i = 0; i < n; i++) {
        if (digits[i] < '0' || digits[i] > '9' || number > HOSTLIST_NUMBER_MAX / 10)
            return false;
        number = number * 10 + (uint64_t)(digits[i] - '0');
    }
    *offset = number - r->lo;
    return number >= r->lo && number <= r->hi;
}

static bool is_in(const struct hostlist *h, const struct hostlist_range *r, const char *name,
                  size_t length, uint64_t *offset)
{
    size_t prefix = intern_length(&h->names, r->prefix);
    size_t suffix = intern_length(&h->names, r->suffix);
    return length >= prefix + suffix &&
           memcmp(name, intern_text(&h->names, r->prefix), prefix) == 0 &&
           memcmp(name + length - suffix, intern_text(&h->names, r->suffix), suffix) == 0 &&
           number_is_in(r, name + prefix, length - prefix - suffix, offset);
}

int64_t hostlist_find(const struct hostlist *h, const char *name, size_t length)
{
    int64_t before = 0;
    uint64_t offset;
    for (size_t i = 0; i < h->n && length > 0; i++) {
        if (is_in(h, &h->v[i], name, length, &offset))
            return before + (int64_t)offset;
        before += (int64_t)hostlist_size(&h->v[i]);
    }
    errno = ENOENT;
    return -1;
}

/* Cut an offset out of the middle of a range: the upper part becomes the next range. */
static int cut_out_offset(struct hostlist *h, size_t i, uint64_t offset)
{
    if (reserve_ranges(h, h->n + 1) < 0)
        return -1;
    memmove(&h->v[i + 2], &h->v[i + 1], (h->n - i - 1) * sizeof(*h->v));
    h->n++;
    h->v[i + 1] = h->v[i];
    h->v[i].hi = h->v[i].lo + offset - 1;
    h->v[i + 1].lo += offset + 1;
    settle_width(&h->v[i + 1]);
    return 0;
}

static void drop_range(struct hostlist *h, size_t i)
{
    h->n--;
    memmove(&h->v[i], &h->v[i + 1], (h->n - i) * sizeof(*h->v));
}

/* Make one of a range and the next, if they are. */
static void join_ranges(struct hostlist *h, size_t i)
{
    if (i + 1 < h->n && follows(&h->v[i], &h->v[i + 1])) {
        h->v[i].hi = h->v[i + 1].hi;
        drop_range(h, i + 1);
    }
}

int hostlist_delete(struct hostlist *h, const char *name, size_t length)
{
    size_t i = 0;
    uint64_t offset;
    while (i < h->n && !(length > 0 && is_in(h, &h->v[i], name, length, &offset)))
        i++;
    if (i == h->n) {
        errno = ENOENT;
        return -1;
    }
    struct hostlist_range *r = &h->v[i];
    if (r->lo == r->hi) {
        drop_range(h, i);
    } else if (offset == 0) {
        r->lo++;
        settle_width(r);
    } else if (r->lo + offset == r->hi) {
        r->hi--;
    } else if (cut_out_offset(h, i, offset) < 0) {
        return -1;
    }
    join_ranges(h, i);
    if (i > 0)
        join_ranges(h, i - 1);
    h->count--;
    return 0;
}

static bool range_check(const struct hostlist *h, const struct hostlist_range *r)
{
    struct hostlist_range settled = *r;
    settle_width(&settled);
    return r->lo <= r->hi && r->hi <= HOSTLIST_NUMBER_MAX && r->width == settled.width &&
           (r->width > 0 || (r->hi == 0 && r->suffix == 0)) && r->prefix < h->names.n &&
           r->suffix < h->names.n &&
           intern_length(&h->names, r->prefix) + hostlist_written(r, r->hi) +
                   intern_length(&h->names, r->suffix) <=
               HOSTLIST_NAME_MAX;
}

bool hostlist_check(const struct hostlist *h)
{
    uint64_t count = 0;
    for (size_t i = 0; i < h->n; i++) {
        if (!range_check(h, &h->v[i]) || (i > 0 && follows(&h->v[i - 1], &h->v[i])))
            return false;
        count += hostlist_size(&h->v[i]);
    }
    return h->count >= 0 && count == (uint64_t)h->count && h->n <= h->cap &&
           (h->names.n == 0 || intern_length(&h->names, 0) == 0) && intern_check(&h->names);
}
