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
    free(g->here);
    free(g->end);
    *g = (struct gaps){0};
}

void gaps_empty(struct gaps *g)
{
    g->n = g->n_late = g->n_here = 0;
    g->is_here = false;
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

/* Where the last gaps of an interval are noted; NULL: there is no memory for notes. */
static struct gap_latest *latest_of(struct gaps *g, int64_t from, int64_t until)
{
    if (!g->latest)
        g->latest = calloc(GAPS_LATEST, sizeof(*g->latest));
    uint64_t hash =
        ((uint64_t)from * 0x9e3779b97f4a7c15u) ^ ((uint64_t)until * 0xc2b2ae3d27d4eb4fu);
    return g->latest ? &g->latest[(hash ^ hash >> 32) % GAPS_LATEST] : NULL;
}

/* Put a gap among others: with the last one of its interval if that is there. Returns 0, or -1 with ENOMEM. */
static int put_gap(struct gap **v, uint32_t *n, uint32_t *capacity, uint32_t *last,
                   const struct gap *x)
{
    if (last && *last < *n && (*v)[*last].from == x->from && (*v)[*last].until == x->until) {
        (*v)[*last].pieces += x->pieces;
        return 0;
    }
    if (*n == *capacity) {
        uint32_t more = *capacity + *capacity / 2 + 16;
        struct gap *wide = reallocarray(*v, more, sizeof(*wide));
        if (!wide)
            return -1;
        *v = wide;
        *capacity = more;
    }
    if (last)
        *last = *n;
    (*v)[(*n)++] = *x;
    return 0;
}

static int put_here(struct gaps *g, struct gap_latest *latest, const struct gap *x)
{
    g->begun = x->from > g->begun ? x->from : g->begun;
    return put_gap(&g->here, &g->n_here, &g->here_capacity, latest ? &latest->here : NULL, x);
}

/* Reservations that are set aside and put back change the same intervals again and again, so that most of what
 * is added goes to a late gap that is there.
 */
int gaps_add(struct gaps *g, int64_t from, int64_t until, int64_t pieces)
{
    const struct gap x = {from, until, pieces};
    struct gap_latest *latest = latest_of(g, from, until);

    if (put_gap(&g->late, &g->n_late, &g->late_capacity, latest ? &latest->late : NULL, &x) < 0)
        return -1;
    if (from > g->here_at)
        g->next = from < g->next ? from : g->next;
    else if (g->is_here && until > g->here_at &&
             (g->n_here >= g->here_most || put_here(g, latest, &x) < 0))
        g->is_here = false;
    return 0;
}

/* The two orders: by beginnings, or by ends. Not called but for constants of `by_until`, so that each has code of its own. */
static inline bool is_before(const struct gap *x, const struct gap *y, bool by_until)
{
    int64_t x1 = by_until ? x->until : x->from, y1 = by_until ? y->until : y->from;
    int64_t x2 = by_until ? x->from : x->until, y2 = by_until ? y->from : y->until;

    return x1 != y1 ? x1 < y1 : x2 < y2;
}

static inline bool is_same_interval(const struct gap *x, const struct gap *y)
{
    return x->from == y->from && x->until == y->until;
}

static inline void insert_each(struct gap *v, uint32_t n, bool by_until)
{
    for (uint32_t i = 1; i < n; i++) {
        struct gap x = v[i];
        uint32_t k = i;
        for (; k > 0 && is_before(&x, &v[k - 1], by_until); k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

/* Merge two sorted lists that follow each other, of which the first ends where the second begins. */
static inline void merge_halves(const struct gap *v, uint32_t middle, uint32_t n, struct gap *out,
                                bool by_until)
{
    uint32_t i = 0, k = middle;

    while (i < middle && k < n)
        *out++ = is_before(&v[k], &v[i], by_until) ? v[k++] : v[i++];
    memcpy(out, &v[i], (middle - i) * sizeof(*v));
    memcpy(out + (middle - i), &v[k], (n - k) * sizeof(*v));
}

/* Sort few gaps, with room for as many in `scratch`. Not by qsort, as most of a settling's time was spent in calls of what
 * compares. Returns the sorted list: `v` or `scratch`. O(n log n).
 */
static inline struct gap *sort_gaps(struct gap *v, uint32_t n, struct gap *scratch, bool by_until)
{
    enum { EACH = 8 };

    for (uint32_t i = 0; i < n; i += EACH)
        insert_each(&v[i], n - i < EACH ? n - i : EACH, by_until);
    for (uint32_t width = EACH; width < n; width *= 2) {
        for (uint32_t i = 0; i < n; i += 2 * width) {
            uint32_t left = n - i;
            merge_halves(&v[i], left < width ? left : width, left < 2 * width ? left : 2 * width,
                         &scratch[i], by_until);
        }
        struct gap *sorted = scratch;
        scratch = v;
        v = sorted;
    }
    return v;
}

/* The first place in a sorted list, from `low` on, that is not before an interval. Few are passed over at once as
 * often as many. O(log of those passed over).
 */
static inline uint32_t place_of(const struct gap *v, uint32_t low, uint32_t n, const struct gap *x,
                                bool by_until)
{
    uint32_t high = low, step = 1;

    for (; high < n && is_before(&v[high], x, by_until); step *= 2) {
        low = high + 1;
        high = n - high > step ? high + step : n;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_before(&v[middle], x, by_until))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Merge a sorted list with few others in the same order; equal intervals become one, and those without pieces none.
 * Returns their number. O(n_b log n_a), and a copy of the first list.
 */
static inline uint32_t merge(const struct gap *a, uint32_t n_a, const struct gap *b, uint32_t n_b,
                             bool by_until, struct gap *out)
{
    uint32_t i = 0, n = 0;

    for (uint32_t k = 0; k < n_b;) {
        struct gap next = b[k++];
        uint32_t place = place_of(a, i, n_a, &next, by_until);
        if (place > i)
            memcpy(&out[n], &a[i], (place - i) * sizeof(*a));
        n += place - i;
        i = place;
        if (i < n_a && is_same_interval(&a[i], &next))
            next.pieces += a[i++].pieces;
        for (; k < n_b && is_same_interval(&b[k], &next); k++)
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
    struct gap *by_from = reallocarray(NULL, (size_t)capacity + g->n_late, sizeof(*by_from));
    struct gap *by_until = reallocarray(NULL, capacity, sizeof(*by_until));
    if (!by_from || !by_until) {
        free(by_from);
        free(by_until);
        errno = ENOMEM;
        return -1;
    }
    struct gap *scratch = by_from + capacity;
    const struct gap *late = sort_gaps(g->late, g->n_late, scratch, false);
    uint32_t n = merge(g->by_from, g->n, late, g->n_late, false, by_from);
    late = sort_gaps(g->late, g->n_late, scratch, true);
    merge(g->by_until, g->n, late, g->n_late, true, by_until);
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

/* The first of those that begin after a time. */
static uint32_t first_after(const struct gaps *g, int64_t at)
{
    uint32_t low = 0, high = g->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->by_from[middle].from <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool gaps_begin(const struct gaps *g, int64_t from, int64_t until)
{
    if (g->is_here && until == g->here_at)
        return g->begun > from;
    for (uint32_t i = 0; i < g->n_late; i++)
        if (g->late[i].from > from && g->late[i].from <= until)
            return true;
    uint32_t first = first_after(g, from);
    return first < g->n && g->by_from[first].from <= until;
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

/* Put those of a list that begin in (after, at], and end later, among those over a time. Returns 0, or -1 with ENOMEM. */
static int put_all_here(struct gaps *g, const struct gap *v, uint32_t n, int64_t after, int64_t at)
{
    for (uint32_t i = 0; i < n; i++)
        if (v[i].from <= at && v[i].from > after && v[i].until > at &&
            put_here(g, latest_of(g, v[i].from, v[i].until), &v[i]) < 0)
            return -1;
    return 0;
}

/* The same of late ones, of which it is found out when the next one begins. */
static int put_late_here(struct gaps *g, int64_t after, int64_t at)
{
    if (after >= 0 && at < g->next)
        return 0;
    g->next = INT64_MAX;
    for (uint32_t i = 0; i < g->n_late; i++)
        if (g->late[i].from > at && g->late[i].from < g->next)
            g->next = g->late[i].from;
    return put_all_here(g, g->late, g->n_late, after, at);
}

static void drop_ended(struct gaps *g, int64_t at)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_here; i++)
        if (g->here[i].until > at && g->here[i].pieces != 0)
            g->here[n++] = g->here[i];
    g->n_here = n;
}

int gaps_stand(struct gaps *g, int64_t at)
{
    enum { FEW = 64 };
    int64_t after = g->here_at;

    if (g->is_here && at == g->here_at)
        return 0;
    if (g->n_late > 4 * g->n + GAPS_LATE && gaps_settle(g) < 0)
        return -1;
    if (!g->is_here || at < g->here_at) {
        after = -1;
        g->n_here = 0;
        g->begun = 0;
    }
    g->is_here = false;
    drop_ended(g, at);
    uint32_t first = after < 0 ? 0 : first_after(g, after);
    if (g->n > 0 && put_all_here(g, g->by_from + first, first_after(g, at) - first, after, at) < 0)
        return -1;
    if (put_late_here(g, after, at) < 0)
        return -1;
    g->is_here = true;
    g->here_at = at;
    g->here_most = 2 * g->n_here + FEW;
    return 0;
}

int64_t gaps_from_here(const struct gaps *g, int64_t end)
{
    int64_t pieces = 0;

    for (uint32_t i = 0; i < g->n_here; i++)
        if (g->here[i].until >= end)
            pieces += g->here[i].pieces;
    return pieces;
}

/* List when those over the time end, and how many pieces. Returns 0, or -1 with ENOMEM. */
static int list_ends(struct gaps *g)
{
    if (g->end_capacity < g->n_here) {
        struct gap_end *end = reallocarray(g->end, g->here_capacity, sizeof(*end));
        if (!end)
            return -1;
        g->end = end;
        g->end_capacity = g->here_capacity;
    }
    for (uint32_t i = 0; i < g->n_here; i++)
        g->end[i] = (struct gap_end){g->here[i].until, g->here[i].pieces};
    return 0;
}

/* Keep the ends in (after, before), and return their number. */
static uint32_t keep_ends(struct gap_end *end, uint32_t n, int64_t after, int64_t before)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++)
        if (end[i].until > after && end[i].until < before)
            end[kept++] = end[i];
    return kept;
}

/* Of the ends that may be the last with enough pieces, one is looked at, and those on its wrong side are dropped, until none is
 * left: about half of them each time.
 */
int64_t gaps_longest_here(struct gaps *g, int64_t least, int64_t most, int64_t pieces)
{
    int64_t at = g->here_at, before = most < INT64_MAX - at ? at + most : INT64_MAX;
    int64_t after = least < INT64_MAX - at ? at + least - 1 : INT64_MAX;
    int64_t beyond = gaps_from_here(g, before); /* pieces that end at `before` or later */

    if (beyond >= pieces || list_ends(g) < 0)
        return most;
    uint32_t n = keep_ends(g->end, g->n_here, after, before);
    while (n > 0) {
        int64_t end = g->end[n / 2].until, later = 0, there = 0;
        for (uint32_t i = 0; i < n; i++) {
            later += g->end[i].until > end ? g->end[i].pieces : 0;
            there += g->end[i].until == end ? g->end[i].pieces : 0;
        }
        if (beyond + later >= pieces) {
            after = end;
        } else if (beyond + later + there >= pieces) {
            return end - at;
        } else {
            beyond += later + there;
            before = end;
        }
        n = keep_ends(g->end, n, after, before);
    }
    return 0;
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

/* Whether questions from here have the answer of those about any time, wherever a gap of a list ends. */
static bool check_from_here(const struct gaps *g, const struct gap *v, uint32_t n)
{
    bool is_right = true;

    for (uint32_t i = 0; i < n && is_right; i++)
        is_right = v[i].until <= g->here_at ||
                   gaps_from_here(g, v[i].until) == gaps_within(g, g->here_at, v[i].until);
    return is_right;
}

bool gaps_check(const struct gaps *g)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < g->n; i++) {
        const struct gap *x = &g->by_from[i];
        if (x->from >= x->until || x->pieces <= 0 || (i > 0 && !is_before(x - 1, x, false)) ||
            (i > 0 && !is_before(&g->by_until[i - 1], &g->by_until[i], true)))
            return false;
        sum += x->pieces - g->by_until[i].pieces;
    }
    return sum == 0 && (!g->is_here || (check_from_here(g, g->by_from, g->n) &&
                                        check_from_here(g, g->late, g->n_late) &&
                                        check_from_here(g, g->here, g->n_here)));
}
