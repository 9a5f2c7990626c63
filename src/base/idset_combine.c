/* Two sets of ids together.
 *
 * A sweep cuts both into pieces between which nothing begins or ends: in each, either has one range or none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idset.h"

/* What one of the sets has in the piece that is looked at. */
struct side {
    const struct idset *set;
    uint32_t i;                      /* its range there or above */
    const struct idset_range *range; /* NULL: none there */
    struct idset_range part;         /* the ids of it there; */
    bool any;                        /* if there are any */
};

struct sweep {
    struct side s, t;
    uint64_t at; /* where the next piece begins */
    struct idset out;
    const struct idset_range *from; /* the last range put out is a piece of that */
};

/* Cut a range to [lo, hi], both within it. */
static void cut_side(struct side *side, uint32_t lo, uint32_t hi)
{
    const struct idset_range *r = side->range;
    uint32_t step = r->gap + 1;
    side->part = *r;
    side->part.lo = r->lo + ((lo - r->lo) + (step - 1)) / step * step;
    side->part.hi = r->lo + (hi - r->lo) / step * step;
    side->any = side->part.lo <= side->part.hi;
    if (side->part.lo == side->part.hi)
        side->part.gap = 0;
}

static void pass_by(struct side *side, uint64_t at)
{
    while (side->i < side->set->n && side->set->v[side->i].hi < at)
        side->i++;
}

/* How far the piece from `lo` reaches at most, as far as one of the sets goes. */
static uint32_t end_of_piece(struct side *side, uint32_t lo)
{
    const struct idset_range *r = side->i < side->set->n ? &side->set->v[side->i] : NULL;
    side->range = r && r->lo <= lo ? r : NULL;
    side->any = false;
    return side->range ? r->hi : r ? r->lo - 1 : IDSET_ID_MAX;
}

/* Go on to the next piece. False: there is none. */
static bool next_piece(struct sweep *w)
{
    pass_by(&w->s, w->at);
    pass_by(&w->t, w->at);
    const struct idset *s = w->s.set, *t = w->t.set;
    uint32_t first = IDSET_NONE;
    if (w->s.i < s->n)
        first = s->v[w->s.i].lo;
    if (w->t.i < t->n && t->v[w->t.i].lo < first)
        first = t->v[w->t.i].lo;
    if (first == IDSET_NONE)
        return false;
    uint32_t lo = first > w->at ? first : (uint32_t)w->at;
    uint32_t hi = end_of_piece(&w->s, lo), end = end_of_piece(&w->t, lo);
    hi = hi < end ? hi : end;
    if (w->s.range)
        cut_side(&w->s, lo, hi);
    if (w->t.range)
        cut_side(&w->t, lo, hi);
    w->at = (uint64_t)hi + 1;
    return true;
}

static uint64_t ids_in(struct idset_range r)
{
    return ((uint64_t)r.hi - r.lo) / (r.gap + 1) + 1;
}

/* Put a piece of a range out, above all before. What touches, or goes on with the same range, becomes one with it. */
static int put_piece(struct sweep *w, struct idset_range piece, const struct idset_range *from)
{
    struct idset *out = &w->out;
    struct idset_range *last = out->n > 0 ? &out->v[out->n - 1] : NULL;
    bool goes_on = last && from->gap > 0 && from == w->from && piece.lo - last->hi == from->gap + 1;
    out->count += ids_in(piece);
    if (last && last->gap == 0 && piece.gap == 0 && piece.lo == last->hi + 1) {
        last->hi = piece.hi;
        w->from = NULL;
        return 0;
    }
    w->from = from;
    if (goes_on) {
        last->hi = piece.hi;
        last->gap = from->gap;
        return 0;
    }
    if (idset_reserve(out, (uint64_t)out->n + 1) < 0)
        return -1;
    out->v[out->n++] = piece;
    return 0;
}

static bool part_has(struct idset_range part, uint32_t id)
{
    return id >= part.lo && id <= part.hi && (id - part.lo) % (part.gap + 1) == 0;
}

static bool is_same(struct idset_range a, struct idset_range b)
{
    return a.lo == b.lo && a.hi == b.hi && a.gap == b.gap;
}

/* True if the ids of two parts are at different places of the same steps. */
static bool never_meet(struct idset_range a, struct idset_range b)
{
    return a.gap == b.gap && a.gap > 0 && (a.lo > b.lo ? a.lo - b.lo : b.lo - a.lo) % (a.gap + 1);
}

static int take_side(struct sweep *w, const struct side *side)
{
    return side->any ? put_piece(w, side->part, side->range) : 0;
}

/* Both have some there, and neither has all. */
static int unite_ids(struct sweep *w)
{
    const struct idset_range *a = &w->s.part, *b = &w->t.part;
    static const struct idset_range one = {0};
    uint64_t x = a->lo, y = b->lo;
    while (x <= a->hi || y <= b->hi) {
        uint32_t id = (uint32_t)(x < y ? x : y);
        if (put_piece(w, (struct idset_range){id, id, 0}, &one) < 0)
            return -1;
        x += x == id ? a->gap + 1 : 0;
        y += y == id ? b->gap + 1 : 0;
        x = x > a->hi ? UINT64_MAX : x;
        y = y > b->hi ? UINT64_MAX : y;
    }
    return 0;
}

static int unite_piece(struct sweep *w)
{
    if (!w->t.any || (w->s.any && w->s.range->gap == 0))
        return take_side(w, &w->s);
    if (!w->s.any || w->t.range->gap == 0 || is_same(w->s.part, w->t.part))
        return take_side(w, &w->t);
    return unite_ids(w);
}

static int intersect_piece(struct sweep *w)
{
    struct idset_range a = w->s.part, b = w->t.part;
    if (!w->s.any || !w->t.any || never_meet(a, b))
        return 0;
    if (w->t.range->gap == 0 || is_same(a, b))
        return take_side(w, &w->s);
    if (a.lo == a.hi)
        return part_has(b, a.lo) ? take_side(w, &w->s) : 0;
    for (uint64_t id = b.lo; id <= b.hi; id += b.gap + 1)
        if (part_has(a, (uint32_t)id) &&
            put_piece(w, (struct idset_range){(uint32_t)id, (uint32_t)id, 0}, w->s.range) < 0)
            return -1;
    return 0;
}

/* Put out a part's ids from one to before another. */
static int take_before(struct sweep *w, uint64_t from, uint32_t before)
{
    struct idset_range piece = w->s.part;
    uint32_t step = piece.gap + 1;
    if (from >= before)
        return 0;
    piece.lo = (uint32_t)from;
    piece.hi = before - step;
    piece.gap = piece.lo == piece.hi ? 0 : piece.gap;
    return put_piece(w, piece, w->s.range);
}

static int subtract_piece(struct sweep *w)
{
    struct idset_range a = w->s.part, b = w->t.part;
    if (!w->s.any || !w->t.any || never_meet(a, b))
        return take_side(w, &w->s);
    if (w->t.range->gap == 0 || is_same(a, b))
        return 0;
    if (a.lo == a.hi)
        return part_has(b, a.lo) ? 0 : take_side(w, &w->s);
    uint64_t from = a.lo;
    for (uint64_t id = b.lo; id <= b.hi; id += b.gap + 1) {
        if (!part_has(a, (uint32_t)id))
            continue;
        if (take_before(w, from, (uint32_t)id) < 0)
            return -1;
        from = id + a.gap + 1;
    }
    return from <= a.hi ? take_before(w, from, a.hi + a.gap + 1) : 0;
}

static int combine(struct idset *s, const struct idset *t, int (*piece)(struct sweep *w))
{
    struct sweep w = {.s.set = s, .t.set = t};
    int rc = 0;
    while (rc == 0 && next_piece(&w))
        rc = piece(&w);
    if (rc < 0) {
        idset_clear(&w.out);
        return -1;
    }
    free(s->v);
    *s = w.out;
    return 0;
}

int idset_unite(struct idset *s, const struct idset *t)
{
    return t->n == 0 ? 0 : combine(s, t, unite_piece);
}

int idset_intersect(struct idset *s, const struct idset *t)
{
    return combine(s, t, intersect_piece);
}

int idset_subtract(struct idset *s, const struct idset *t)
{
    return s->n == 0 || t->n == 0 ? 0 : combine(s, t, subtract_piece);
}

int idset_pick(struct idset *s, const struct idset *t)
{
    struct idset out = {0};
    if (idset_copy(&out, t) < 0 || idset_intersect(&out, s) < 0) {
        idset_clear(&out);
        return -1;
    }
    free(s->v);
    *s = out;
    return 0;
}

static bool parts_meet(const struct side *s, const struct side *t)
{
    struct idset_range a = s->part, b = t->part;
    if (!s->any || !t->any || never_meet(a, b))
        return false;
    if (s->range->gap == 0 || t->range->gap == 0 || is_same(a, b))
        return true;
    if (a.lo == a.hi)
        return part_has(b, a.lo);
    for (uint64_t id = b.lo; id <= b.hi; id += b.gap + 1)
        if (part_has(a, (uint32_t)id))
            return true;
    return false;
}

bool idset_meets(const struct idset *s, const struct idset *t)
{
    struct sweep w = {.s.set = s, .t.set = t};
    while (next_piece(&w))
        if (parts_meet(&w.s, &w.t))
            return true;
    return false;
}

static bool part_covers(const struct side *s, const struct side *t)
{
    struct idset_range a = s->part, b = t->part;
    if (!t->any || (s->any && (s->range->gap == 0 || is_same(a, b))))
        return true;
    if (!s->any || ids_in(b) > ids_in(a))
        return false;
    for (uint64_t id = b.lo; id <= b.hi; id += b.gap + 1)
        if (!part_has(a, (uint32_t)id))
            return false;
    return true;
}

bool idset_covers(const struct idset *s, const struct idset *t)
{
    struct sweep w = {.s.set = s, .t.set = t};
    while (next_piece(&w))
        if (!part_covers(&w.s, &w.t))
            return false;
    return true;
}

static bool has_gaps(const struct idset *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->v[i].gap > 0)
            return true;
    return false;
}

bool idset_equal(const struct idset *s, const struct idset *t)
{
    if (s->count != t->count)
        return false;
    if (s->n == t->n && (s->n == 0 || memcmp(s->v, t->v, s->n * sizeof(*s->v)) == 0))
        return true;
    if (!has_gaps(s) && !has_gaps(t))
        return false;
    uint32_t a = idset_first(s), b = idset_first(t);
    for (; a == b && a != IDSET_NONE; a = idset_next(s, a), b = idset_next(t, b))
        ;
    return a == b;
}
