/* Sets of ids as sorted ranges. */
#include "base/idset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"

void idset_clear(struct idset *s)
{
    int saved = errno;
    free(s->v);
    *s = (struct idset){0};
    errno = saved;
}

void idset_reset(struct idset *s)
{
    s->n = 0;
    s->count = 0;
}

static uint64_t size_of(struct idset_range r)
{
    return (uint64_t)r.hi - r.lo + 1;
}

int idset_reserve(struct idset *s, uint64_t n)
{
    if (n <= s->cap)
        return 0;
    uint64_t cap = (uint64_t)s->cap + s->cap / 2;
    if (cap < n)
        cap = n;
    if (cap < 4)
        cap = 4;
    struct idset_range *v = cap < UINT32_MAX ? reallocarray(s->v, cap, sizeof(*v)) : NULL;
    if (!v) {
        errno = ENOMEM;
        return -1;
    }
    s->v = v;
    s->cap = (uint32_t)cap;
    return 0;
}

int idset_copy(struct idset *s, const struct idset *from)
{
    if (idset_reserve(s, from->n) < 0)
        return -1;
    if (from->n > 0)
        memmove(s->v, from->v, from->n * sizeof(*s->v));
    s->n = from->n;
    s->count = from->count;
    return 0;
}

/* The first range that ends at id or above; n if there is none. */
static uint32_t range_at_or_above(const struct idset *s, uint32_t id)
{
    if (s->n == 0 || s->v[s->n - 1].hi < id)
        return s->n;
    uint32_t low = 0;
    uint32_t high = s->n - 1; /* this one does */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->v[middle].hi < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct idset *s, uint32_t i, struct idset_range r)
{
    memmove(&s->v[i + 1], &s->v[i], (s->n - i) * sizeof(*s->v));
    s->v[i] = r;
    s->n++;
    s->count += size_of(r);
}

/* Take the ranges from i to before end out. */
static void drop_ranges(struct idset *s, uint32_t i, uint32_t end)
{
    if (i == end)
        return;
    for (uint32_t k = i; k < end; k++)
        s->count -= size_of(s->v[k]);
    memmove(&s->v[i], &s->v[end], (s->n - end) * sizeof(*s->v));
    s->n -= end - i;
}

static int check_range(uint32_t lo, uint32_t hi)
{
    if (lo <= hi && hi <= IDSET_ID_MAX)
        return 0;
    errno = EINVAL;
    return -1;
}

int idset_add_range(struct idset *s, uint32_t lo, uint32_t hi)
{
    if (check_range(lo, hi) < 0)
        return -1;
    /* What overlaps or touches becomes one with it. */
    uint32_t i = range_at_or_above(s, lo > 0 ? lo - 1 : 0);
    if (i == s->n || s->v[i].lo > hi + 1) {
        if (idset_reserve(s, (uint64_t)s->n + 1) < 0)
            return -1;
        insert(s, i, (struct idset_range){lo, hi});
        return 0;
    }
    uint32_t end = range_at_or_above(s, hi);
    if (end < s->n && s->v[end].lo <= hi + 1)
        end++;
    struct idset_range whole = {
        .lo = s->v[i].lo < lo ? s->v[i].lo : lo,
        .hi = s->v[end - 1].hi > hi ? s->v[end - 1].hi : hi,
    };
    drop_ranges(s, i + 1, end);
    s->count += size_of(whole) - size_of(s->v[i]);
    s->v[i] = whole;
    return 0;
}

static int split_range(struct idset *s, uint32_t i, uint32_t lo, uint32_t hi)
{
    if (idset_reserve(s, (uint64_t)s->n + 1) < 0)
        return -1;
    struct idset_range upper = {hi + 1, s->v[i].hi};
    s->count -= size_of(s->v[i]);
    s->v[i].hi = lo - 1;
    s->count += size_of(s->v[i]);
    insert(s, i + 1, upper);
    return 0;
}

int idset_remove_range(struct idset *s, uint32_t lo, uint32_t hi)
{
    if (check_range(lo, hi) < 0)
        return -1;
    uint32_t i = range_at_or_above(s, lo);
    if (i < s->n && s->v[i].lo < lo) {
        if (s->v[i].hi > hi)
            return split_range(s, i, lo, hi);
        s->count -= s->v[i].hi - lo + 1;
        s->v[i].hi = lo - 1;
        i++;
    }
    uint32_t end = i;
    while (end < s->n && s->v[end].hi <= hi)
        end++;
    if (end < s->n && s->v[end].lo <= hi) {
        s->count -= hi - s->v[end].lo + 1;
        s->v[end].lo = hi + 1;
    }
    drop_ranges(s, i, end);
    return 0;
}

bool idset_has(const struct idset *s, uint32_t id)
{
    uint32_t i = range_at_or_above(s, id);
    return i < s->n && s->v[i].lo <= id;
}

uint64_t idset_count_in(const struct idset *s, uint32_t from, uint32_t n)
{
    uint64_t count = 0, end = (uint64_t)from + n;
    for (uint32_t i = 0; i < s->n && s->v[i].lo < end; i++) {
        uint64_t lo = s->v[i].lo > from ? s->v[i].lo : from;
        uint64_t hi = (uint64_t)s->v[i].hi + 1 < end ? (uint64_t)s->v[i].hi + 1 : end;
        count += hi > lo ? hi - lo : 0;
    }
    return count;
}

uint32_t idset_first(const struct idset *s)
{
    return s->n > 0 ? s->v[0].lo : IDSET_NONE;
}

uint32_t idset_last(const struct idset *s)
{
    return s->n > 0 ? s->v[s->n - 1].hi : IDSET_NONE;
}

uint32_t idset_next(const struct idset *s, uint32_t id)
{
    if (id >= IDSET_ID_MAX)
        return IDSET_NONE;
    uint32_t i = range_at_or_above(s, id + 1);
    if (i == s->n)
        return IDSET_NONE;
    return s->v[i].lo > id ? s->v[i].lo : id + 1;
}

uint32_t idset_prev(const struct idset *s, uint32_t id)
{
    uint32_t i = range_at_or_above(s, id);
    if (i < s->n && s->v[i].lo < id)
        return id - 1;
    return i > 0 ? s->v[i - 1].hi : IDSET_NONE;
}

/* Append a range that does not start below the last one; there must be room. */
static void push_range(struct idset *s, struct idset_range r)
{
    struct idset_range *last = s->n > 0 ? &s->v[s->n - 1] : NULL;
    if (!last || r.lo > last->hi + 1) {
        s->v[s->n++] = r;
        s->count += size_of(r);
    } else if (r.hi > last->hi) {
        s->count += r.hi - last->hi;
        last->hi = r.hi;
    }
}

static void replace_ranges(struct idset *s, struct idset *by)
{
    free(s->v);
    *s = *by;
}

int idset_unite(struct idset *s, const struct idset *t)
{
    if (t->n == 0)
        return 0;
    struct idset out = {0};
    if (idset_reserve(&out, (uint64_t)s->n + t->n) < 0)
        return -1;
    for (uint32_t i = 0, j = 0; i < s->n || j < t->n;) {
        if (j == t->n || (i < s->n && s->v[i].lo <= t->v[j].lo))
            push_range(&out, s->v[i++]);
        else
            push_range(&out, t->v[j++]);
    }
    replace_ranges(s, &out);
    return 0;
}

int idset_intersect(struct idset *s, const struct idset *t)
{
    struct idset out = {0};
    if (s->n > 0 && idset_reserve(&out, (uint64_t)s->n + t->n) < 0)
        return -1;
    for (uint32_t i = 0, j = 0; i < s->n && j < t->n;) {
        struct idset_range a = s->v[i];
        struct idset_range b = t->v[j];
        struct idset_range both = {a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
        if (both.lo <= both.hi)
            push_range(&out, both);
        if (a.hi < b.hi)
            i++;
        else
            j++;
    }
    replace_ranges(s, &out);
    return 0;
}

int idset_subtract(struct idset *s, const struct idset *t)
{
    if (s->n == 0 || t->n == 0)
        return 0;
    struct idset out = {0};
    if (idset_reserve(&out, (uint64_t)s->n + t->n) < 0)
        return -1;
    uint32_t j = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        struct idset_range rest = s->v[i];
        while (j < t->n && t->v[j].hi < rest.lo)
            j++;
        /* The last of t's ranges to reach into this one may reach into the next as well. */
        for (; j < t->n && t->v[j].lo <= rest.hi; j++) {
            if (t->v[j].lo > rest.lo)
                push_range(&out, (struct idset_range){rest.lo, t->v[j].lo - 1});
            rest.lo = t->v[j].hi + 1;
            if (t->v[j].hi >= rest.hi)
                break;
        }
        if (rest.lo <= rest.hi)
            push_range(&out, rest);
    }
    replace_ranges(s, &out);
    return 0;
}

bool idset_equal(const struct idset *s, const struct idset *t)
{
    return s->n == t->n && s->count == t->count &&
           (s->n == 0 || memcmp(s->v, t->v, s->n * sizeof(*s->v)) == 0);
}

bool idset_meets(const struct idset *s, const struct idset *t)
{
    for (uint32_t i = 0, j = 0; i < s->n && j < t->n;) {
        if (s->v[i].hi < t->v[j].lo)
            i++;
        else if (t->v[j].hi < s->v[i].lo)
            j++;
        else
            return true;
    }
    return false;
}

struct reader {
    const char *text;
    size_t length;
    size_t at;
    berth_error_t *err;
};

static int read_id(struct reader *r, uint32_t *id)
{
    size_t start = r->at;
    uint64_t value = 0;
    while (r->at < r->length && r->text[r->at] >= '0' && r->text[r->at] <= '9') {
        value = value * 10 + (uint64_t)(r->text[r->at++] - '0');
        if (r->at - start == 2 && r->text[start] == '0')
            return errtext_set(r->err, EINVAL, "offset %zu: an id has no leading zeros", start);
        if (value > IDSET_ID_MAX)
            return errtext_set(r->err, ERANGE, "offset %zu: expected an id of at most %d", start,
                               IDSET_ID_MAX);
    }
    if (r->at == start)
        return errtext_expected(r->err, r->text, r->length, start, "an id");
    *id = (uint32_t)value;
    return 0;
}

static int read_range(struct reader *r, struct idset *s)
{
    struct idset_range range;
    size_t start = r->at;
    if (read_id(r, &range.lo) < 0)
        return -1;
    range.hi = range.lo;
    if (s->n > 0 && range.lo <= s->v[s->n - 1].hi)
        return errtext_set(r->err, EINVAL, "offset %zu: expected an id above %u, found %u", start,
                           s->v[s->n - 1].hi, range.lo);
    if (r->at < r->length && r->text[r->at] == '-') {
        start = ++r->at;
        if (read_id(r, &range.hi) < 0)
            return -1;
        if (range.hi <= range.lo)
            return errtext_set(r->err, EINVAL, "offset %zu: expected an id above %u, found %u",
                               start, range.lo, range.hi);
    }
    if (idset_reserve(s, (uint64_t)s->n + 1) < 0)
        return errtext_no_memory(r->err);
    push_range(s, range);
    return 0;
}

/* Ranges up to the end or, if there was an opening bracket, the closing one. */
static int read_ranges(struct reader *r, bool brackets, struct idset *s)
{
    const char *expected = brackets ? "',' or ']'" : "','";
    while (s->n == 0 || r->at < r->length) {
        if (s->n > 0) {
            if (r->text[r->at] != ',')
                break;
            r->at++;
        }
        if (read_range(r, s) < 0)
            return -1;
    }
    if (brackets && r->at < r->length && r->text[r->at] == ']')
        r->at++;
    else if (brackets)
        return errtext_expected(r->err, r->text, r->length, r->at, expected);
    if (r->at < r->length)
        return errtext_expected(r->err, r->text, r->length, r->at, brackets ? "the end" : expected);
    return 0;
}

int idset_decode(struct idset *s, const char *text, size_t length, berth_error_t *err)
{
    struct idset out = {0};
    struct reader r = {text, length, 0, err};
    bool brackets = length > 0 && text[0] == '[';
    bool empty = length == 0 || (length == 2 && memcmp(text, "[]", 2) == 0);
    r.at = brackets;
    if (!empty && read_ranges(&r, brackets, &out) < 0) {
        idset_clear(&out);
        return -1;
    }
    replace_ranges(s, &out);
    return 0;
}

void idset_encode(const struct idset *s, bool brackets, struct strbuf *out)
{
    brackets = brackets && s->count > 1;
    if (brackets)
        strbuf_putc(out, '[');
    for (uint32_t i = 0; i < s->n; i++) {
        if (i > 0)
            strbuf_putc(out, ',');
        strbuf_put_uint(out, s->v[i].lo);
        if (s->v[i].hi > s->v[i].lo) {
            strbuf_putc(out, '-');
            strbuf_put_uint(out, s->v[i].hi);
        }
    }
    if (brackets)
        strbuf_putc(out, ']');
}

bool idset_check(const struct idset *s)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->v[i].lo > s->v[i].hi || s->v[i].hi > IDSET_ID_MAX ||
            (i > 0 && s->v[i].lo <= s->v[i - 1].hi + 1))
            return false;
        count += size_of(s->v[i]);
    }
    return count == s->count && s->n <= s->cap;
}
