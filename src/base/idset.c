/* Sets of ids as sorted ranges. */
#include "base/idset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    return ((uint64_t)r.hi - r.lo) / (r.gap + 1) + 1;
}

/* Whether an id between the ends of a range is one of it. */
static bool range_has(struct idset_range r, uint32_t id)
{
    return (id - r.lo) % (r.gap + 1) == 0;
}

/* The ids of a range from lo to hi. False: there are none. */
static bool cut_range(struct idset_range r, uint32_t lo, uint32_t hi, struct idset_range *to)
{
    uint32_t step = r.gap + 1;
    if (lo > r.hi || hi < r.lo)
        return false;
    *to = r;
    if (lo > r.lo)
        to->lo = r.lo + ((lo - r.lo) + (step - 1)) / step * step;
    if (hi < r.hi)
        to->hi = r.lo + (hi - r.lo) / step * step;
    if (to->lo >= to->hi)
        to->gap = 0;
    return to->lo <= to->hi;
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

/* Make one of two ranges without gaps that touch. */
static void join_ranges(struct idset *s, uint32_t i)
{
    if (i == 0 || i >= s->n || s->v[i - 1].gap > 0 || s->v[i].gap > 0 ||
        s->v[i].lo > s->v[i - 1].hi + 1)
        return;
    s->v[i - 1].hi = s->v[i].hi;
    memmove(&s->v[i], &s->v[i + 1], (s->n - i - 1) * sizeof(*s->v));
    s->n--;
}

/* Something has changed at a range: join those around it that touch by now. */
static void join_around(struct idset *s, uint32_t i)
{
    for (uint32_t k = i + 2; k + 1 >= i && k > 0; k--)
        join_ranges(s, k);
}

/* Add ids where ranges with gaps are. */
static int add_among_gaps(struct idset *s, uint32_t lo, uint32_t hi)
{
    if (idset_reserve(s, (uint64_t)s->n + 2) < 0)
        return -1;
    idset_remove_range(s, lo, hi);
    uint32_t i = range_at_or_above(s, lo);
    if (i < s->n && s->v[i].lo < lo) { /* between two ids of a range */
        struct idset_range upper = s->v[i];
        cut_range(upper, upper.lo, lo, &s->v[i]);
        cut_range(upper, hi, upper.hi, &upper);
        s->count -= size_of(upper);
        insert(s, ++i, upper);
    }
    insert(s, i, (struct idset_range){lo, hi, 0});
    join_around(s, i);
    return 0;
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
        insert(s, i, (struct idset_range){lo, hi, 0});
        return 0;
    }
    uint32_t end = range_at_or_above(s, hi);
    if (end < s->n && s->v[end].lo <= hi + 1)
        end++;
    for (uint32_t k = i; k < end; k++)
        if (s->v[k].gap > 0)
            return add_among_gaps(s, lo, hi);
    struct idset_range whole = {
        .lo = s->v[i].lo < lo ? s->v[i].lo : lo,
        .hi = s->v[end - 1].hi > hi ? s->v[end - 1].hi : hi,
    };
    drop_ranges(s, i + 1, end);
    s->count += size_of(whole) - size_of(s->v[i]);
    s->v[i] = whole;
    return 0;
}

int idset_add_apart(struct idset *s, struct idset_range range)
{
    if (idset_reserve(s, (uint64_t)s->n + 1) < 0)
        return -1;
    uint32_t i = range_at_or_above(s, range.lo);
    insert(s, i, range);
    join_around(s, i);
    return 0;
}

/* Remove ids from within a range, of which there are some on either side. */
static int remove_inside(struct idset *s, uint32_t i, uint32_t lo, uint32_t hi)
{
    struct idset_range lower = s->v[i], upper = s->v[i];
    cut_range(s->v[i], 0, lo - 1, &lower);
    cut_range(s->v[i], hi + 1, IDSET_ID_MAX, &upper);
    if (size_of(lower) + size_of(upper) == size_of(s->v[i]))
        return 0;
    if (idset_reserve(s, (uint64_t)s->n + 1) < 0)
        return -1;
    s->count -= size_of(s->v[i]) - size_of(lower);
    s->v[i] = lower;
    insert(s, i + 1, upper);
    join_around(s, i);
    return 0;
}

int idset_remove_range(struct idset *s, uint32_t lo, uint32_t hi)
{
    if (check_range(lo, hi) < 0)
        return -1;
    uint32_t i = range_at_or_above(s, lo);
    struct idset_range rest;
    if (i < s->n && s->v[i].lo < lo) {
        if (s->v[i].hi > hi)
            return remove_inside(s, i, lo, hi);
        cut_range(s->v[i], 0, lo - 1, &rest);
        s->count -= size_of(s->v[i]) - size_of(rest);
        s->v[i++] = rest;
    }
    uint32_t end = i;
    while (end < s->n && s->v[end].hi <= hi)
        end++;
    if (end < s->n && cut_range(s->v[end], hi + 1, IDSET_ID_MAX, &rest)) {
        s->count -= size_of(s->v[end]) - size_of(rest);
        s->v[end] = rest;
    }
    drop_ranges(s, i, end);
    join_around(s, i > 0 ? i - 1 : 0);
    return 0;
}

bool idset_has(const struct idset *s, uint32_t id)
{
    uint32_t i = range_at_or_above(s, id);
    return i < s->n && s->v[i].lo <= id && range_has(s->v[i], id);
}

uint64_t idset_count_in(const struct idset *s, uint32_t from, uint32_t n)
{
    uint64_t count = 0, end = (uint64_t)from + n;
    if (n == 0)
        return 0;
    uint32_t last = end - 1 < IDSET_ID_MAX ? (uint32_t)(end - 1) : IDSET_ID_MAX;
    struct idset_range some;
    for (uint32_t i = range_at_or_above(s, from); i < s->n && s->v[i].lo <= last; i++)
        count += cut_range(s->v[i], from, last, &some) ? size_of(some) : 0;
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
    struct idset_range rest;
    if (id >= IDSET_ID_MAX)
        return IDSET_NONE;
    uint32_t i = range_at_or_above(s, id + 1);
    return i < s->n && cut_range(s->v[i], id + 1, IDSET_ID_MAX, &rest) ? rest.lo : IDSET_NONE;
}

uint32_t idset_prev(const struct idset *s, uint32_t id)
{
    uint32_t i = range_at_or_above(s, id);
    struct idset_range rest;
    if (i < s->n && s->v[i].lo < id && cut_range(s->v[i], 0, id - 1, &rest))
        return rest.hi;
    return i > 0 ? s->v[i - 1].hi : IDSET_NONE;
}

bool idset_check(const struct idset *s)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        struct idset_range r = s->v[i];
        const struct idset_range *before = i > 0 ? &s->v[i - 1] : NULL;
        if (r.lo > r.hi || r.hi > IDSET_ID_MAX || (r.gap > 0 && r.lo == r.hi) ||
            !range_has(r, r.hi) || (before && r.lo <= before->hi) ||
            (before && before->gap == 0 && r.gap == 0 && r.lo == before->hi + 1))
            return false;
        count += size_of(r);
    }
    return count == s->count && s->n <= s->cap;
}
