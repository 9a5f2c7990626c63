/* Gaps: when there is room for how many pieces (gaps.h). */
#include "place/graph/gaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gaps_clear(struct gaps *g)
{
    free(g->by_from);
    free(g->by_until);
    free(g->late);
    free(g->latest);
    *g = (struct gaps){0};
}

uint32_t gaps_of(const struct room_step *step, uint32_t n, struct gap *gap)
{
    /* Begun and not ended, each at a higher level, which is its pieces, than the one before. */
    struct gap open[GAPS_STEPS_MAX];
    uint32_t depth = 0, found = 0;

    for (uint32_t i = 0; i <= n; i++) {
        int64_t at = i < n ? step[i].at : INT64_MAX, level = i < n ? step[i].pieces : 0;
        int64_t from = at;
        while (depth > 0 && open[depth - 1].pieces > level) {
            const struct gap *top = &open[--depth];
            int64_t below = depth > 0 ? open[depth - 1].pieces : 0;
            int64_t base = below > level ? below : level;
            from = top->from;
            gap[found++] = (struct gap){from, at, top->pieces - base};
        }
        if (level > (depth > 0 ? open[depth - 1].pieces : 0))
            open[depth++] = (struct gap){from, 0, level};
    }
    return found;
}

/* ---- Changes ---- */

/* Where the last late gap of an interval is noted; NULL: there is no memory for notes. */
static uint32_t *latest_of(struct gaps *g, int64_t from, int64_t until)
{
    if (!g->latest)
        g->latest = calloc(GAPS_LATEST, sizeof(*g->latest));
    uint64_t hash =
        ((uint64_t)from * 0x9e3779b97f4a7c15u) ^ ((uint64_t)until * 0xc2b2ae3d27d4eb4fu);
    return g->latest ? &g->latest[(hash ^ hash >> 32) % GAPS_LATEST] : NULL;
}

/* Reservations that are set aside and put back change the same intervals again and again, so that most of what
 * is added goes to a late gap that is there.
 */
int gaps_add(struct gaps *g, int64_t from, int64_t until, int64_t pieces)
{
    uint32_t *latest = latest_of(g, from, until);

    if (latest && *latest < g->n_late && g->late[*latest].from == from &&
        g->late[*latest].until == until) {
        g->late[*latest].pieces += pieces;
        return 0;
    }
    if (g->n_late == g->late_capacity) {
        uint32_t capacity = g->late_capacity + g->late_capacity / 2 + 16;
        struct gap *more = reallocarray(g->late, capacity, sizeof(*more));
        if (!more)
            return -1;
        g->late = more;
        g->late_capacity = capacity;
    }
    if (latest)
        *latest = g->n_late;
    g->late[g->n_late++] = (struct gap){from, until, pieces};
    return 0;
}

static int compare_from(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->until < y->until ? -1 : x->until > y->until;
}

static int compare_until(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;

    if (x->until != y->until)
        return x->until < y->until ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* The first place in a sorted list, from `low` on, that is not before an interval. Few are passed over at once as
 * often as many. O(log of those passed over).
 */
static uint32_t place_of(const struct gap *v, uint32_t low, uint32_t n, const struct gap *x,
                         int (*compare)(const void *, const void *))
{
    uint32_t high = low, step = 1;

    for (; high < n && compare(&v[high], x) < 0; step *= 2) {
        low = high + 1;
        high = n - high > step ? high + step : n;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(&v[middle], x) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Merge a sorted list with few others in the same order; equal intervals become one, and those without pieces none.
 * Returns their number. O(n_b log n_a), and a copy of the first list.
 */
static uint32_t merge(const struct gap *a, uint32_t n_a, const struct gap *b, uint32_t n_b,
                      int (*compare)(const void *, const void *), struct gap *out)
{
    uint32_t i = 0, n = 0;

    for (uint32_t k = 0; k < n_b;) {
        struct gap next = b[k++];
        uint32_t place = place_of(a, i, n_a, &next, compare);
        if (place > i)
            memcpy(&out[n], &a[i], (place - i) * sizeof(*a));
        n += place - i;
        i = place;
        if (i < n_a && compare(&a[i], &next) == 0)
            next.pieces += a[i++].pieces;
        for (; k < n_b && compare(&b[k], &next) == 0; k++)
            next.pieces += b[k].pieces;
        if (next.pieces != 0)
            out[n++] = next;
    }
    if (n_a > i)
        memcpy(&out[n], &a[i], (n_a - i) * sizeof(*a));
    return n + n_a - i;
}

/* What was taken and given again is no change. */
static void drop_unchanged(struct gaps *g)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_late; i++)
        if (g->late[i].pieces != 0)
            g->late[n++] = g->late[i];
    g->n_late = n;
}

int gaps_settle(struct gaps *g)
{
    drop_unchanged(g);
    if (g->n_late == 0)
        return 0;
    uint32_t capacity = g->n + g->n_late;
    struct gap *by_from = reallocarray(NULL, capacity, sizeof(*by_from));
    struct gap *by_until = reallocarray(NULL, capacity, sizeof(*by_until));
    if (!by_from || !by_until) {
        free(by_from);
        free(by_until);
        errno = ENOMEM;
        return -1;
    }
    qsort(g->late, g->n_late, sizeof(*g->late), compare_from);
    uint32_t n = merge(g->by_from, g->n, g->late, g->n_late, compare_from, by_from);
    qsort(g->late, g->n_late, sizeof(*g->late), compare_until);
    merge(g->by_until, g->n, g->late, g->n_late, compare_until, by_until);
    free(g->by_from);
    free(g->by_until);
    g->by_from = by_from;
    g->by_until = by_until;
    g->n = n;
    g->n_late = 0;
    if (g->late_capacity > 256 + n) {
        free(g->late);
        g->late = NULL;
        g->late_capacity = 0;
    }
    return 0;
}

int gaps_settle_many(struct gaps *g)
{
    if (g->n_late > GAPS_LATE)
        drop_unchanged(g);
    return g->n_late > GAPS_LATE ? gaps_settle(g) : 0;
}

/* ---- Questions ---- */

bool gaps_begin(const struct gaps *g, int64_t from, int64_t until)
{
    uint32_t low = 0, high = g->n;

    for (uint32_t i = 0; i < g->n_late; i++)
        if (g->late[i].from > from && g->late[i].from <= until)
            return true;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->by_from[middle].from <= from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->n && g->by_from[low].from <= until;
}

int64_t gaps_within(const struct gaps *g, int64_t from, int64_t end)
{
    int64_t pieces = 0;

    for (uint32_t i = 0; i < g->n && g->by_from[i].from <= from; i++)
        if (g->by_from[i].until >= end)
            pieces += g->by_from[i].pieces;
    for (uint32_t i = 0; i < g->n_late; i++)
        if (g->late[i].from <= from && g->late[i].until >= end)
            pieces += g->late[i].pieces;
    return pieces;
}

/* The first of those that end at or after a time. */
static uint32_t first_until(const struct gaps *g, int64_t until)
{
    uint32_t low = 0, high = g->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->by_until[middle].until < until)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Gaps that are long enough serve from when they begin until the duration before they end: with time they
 * come in the order of their beginnings and go in the order of their ends.
 */
struct passing {
    const struct gaps *gaps;
    int64_t duration, from;
    uint32_t begun, ended;
};

static struct passing pass_from(const struct gaps *g, int64_t duration, int64_t from)
{
    return (struct passing){g, duration, from, 0, first_until(g, from + duration)};
}

/* The pieces that come and go up to a time. */
static int64_t pass_to(struct passing *p, int64_t at)
{
    const struct gaps *g = p->gaps;
    int64_t more = 0;

    for (; p->begun < g->n && g->by_from[p->begun].from <= at; p->begun++)
        if (g->by_from[p->begun].until - g->by_from[p->begun].from >= p->duration &&
            g->by_from[p->begun].until - p->duration >= p->from)
            more += g->by_from[p->begun].pieces;
    for (; p->ended < g->n && g->by_until[p->ended].until - p->duration < at; p->ended++)
        if (g->by_until[p->ended].until - g->by_until[p->ended].from >= p->duration)
            more -= g->by_until[p->ended].pieces;
    return more;
}

static int64_t next_begin(const struct passing *p)
{
    return p->begun < p->gaps->n ? p->gaps->by_from[p->begun].from : INT64_MAX;
}

int64_t gaps_first(const struct gaps *g, int64_t duration, int64_t from, int64_t before,
                   int64_t pieces, struct gaps_lack *lack)
{
    return gaps_first_beside(g, NULL, duration, from, before, pieces, lack);
}

int64_t gaps_first_beside(const struct gaps *g, const struct gaps *beside, int64_t duration,
                          int64_t from, int64_t before, int64_t pieces, struct gaps_lack *lack)
{
    static const struct gaps none;
    int64_t at = from, there = 0;
    uint32_t known = GAPS_LACKS;

    for (uint32_t k = 0; lack && k < GAPS_LACKS; k++)
        lack->first[k] = before;
    if (from >= before)
        return -1;
    struct passing own = pass_from(g, duration, from);
    struct passing other = pass_from(beside ? beside : &none, duration, from);
    for (;;) {
        there += pass_to(&own, at) + pass_to(&other, at);
        if (there >= pieces) {
            while (lack && known > 0)
                lack->first[--known] = at;
            return at;
        }
        while (lack && known > 0 && pieces - there <= INT64_C(1) << (known - 1))
            lack->first[--known] = at;
        int64_t next = next_begin(&own), also = next_begin(&other);
        at = also < next ? also : next;
        if (at >= before)
            return -1;
    }
}

bool gaps_check(const struct gaps *g)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < g->n; i++) {
        const struct gap *x = &g->by_from[i];
        if (x->from >= x->until || x->pieces <= 0 || (i > 0 && compare_from(x - 1, x) >= 0) ||
            (i > 0 && compare_until(&g->by_until[i - 1], &g->by_until[i]) >= 0))
            return false;
        sum += x->pieces - g->by_until[i].pieces;
    }
    return sum == 0;
}
