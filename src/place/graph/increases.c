/* Increases of capacity since, and which waiting requests they could serve (capacity.h).
 *
 * Why these are not read from the log of what was freed (place/freed.h): that says in which nodes something
 * was freed and when, so that for each of thousands of requests as many nodes would have to be counted as
 * were freed since it was looked at. An increase says how many pieces more there is room for: many nodes that
 * change alike are one, what is freed and taken again is none, and a request only subtracts. So there is a
 * list for each capacity, and requests with the same pieces share it.
 */
#include <string.h>

#include "place/graph/capacity.h"

/* Nobody has seen the latest: only older ones are forgotten. */
_Static_assert(INCREASES_AT_ONCE <= INCREASES_MAX / 2, "the older half has been seen");

/* ---- The list ---- */

static int64_t distance(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

/* Of the increases that nobody has seen, the one of the same interval, or where there are many the one that
 * is most like it; NULL: none.
 */
static struct increase *increase_like(struct capacity *h, const struct increase *increase)
{
    struct increase *like = NULL;

    for (uint32_t i = h->unseen; i < h->n_increases; i++) {
        struct increase *x = &h->increase[i];
        if (x->from == increase->from && x->until == increase->until)
            return x;
        if (!like || distance(x->from, increase->from) < distance(like->from, increase->from) ||
            (x->from == like->from &&
             distance(x->until, increase->until) < distance(like->until, increase->until)))
            like = x;
    }
    return h->n_increases - h->unseen >= INCREASES_AT_ONCE ? like : NULL;
}

/* Note an increase. Increases that are put together count for more than they are, and for longer. */
static void increase_add(struct capacities *all, struct capacity *h,
                         const struct increase *increase)
{
    if (h->batch != all->batch) {
        h->batch = all->batch;
        h->unseen = h->n_increases;
    }
    struct increase *like = increase_like(h, increase);
    if (like) {
        bool same = like->from == increase->from && like->until == increase->until;
        like->from = increase->from < like->from ? increase->from : like->from;
        like->until = same ? increase->until : INT64_MAX;
        like->before = increase->before > like->before ? increase->before : like->before;
        like->pieces += increase->pieces;
        return;
    }
    if (h->n_increases == INCREASES_MAX) {
        h->n_increases -= INCREASES_MAX / 2;
        h->first_increase += INCREASES_MAX / 2;
        h->unseen -= INCREASES_MAX / 2;
        memmove(h->increase, h->increase + INCREASES_MAX / 2,
                h->n_increases * sizeof(*h->increase));
    }
    h->increase[h->n_increases++] = *increase;
}

/* The least room throughout a gap. */
static int64_t least_in(const struct room_step *room, uint32_t n, const struct gap *gap)
{
    int64_t least = INT64_MAX;

    for (uint32_t i = 0; i < n && room[i].at < gap->until; i++)
        if ((i + 1 == n || room[i + 1].at > gap->from) && room[i].pieces < least)
            least = room[i].pieces;
    return least;
}

/* From when on a gap of so many pieces was there before. */
static int64_t before_of(const struct capacity_change *x, const struct gap *gap, int64_t pieces)
{
    int64_t before = INT64_MAX;

    for (uint32_t i = 0; i < x->n_was; i++)
        if (x->was[i].until >= gap->until && x->was[i].from < before &&
            least_in(x->old, x->n_old, &x->was[i]) >= pieces)
            before = x->was[i].from;
    return before;
}

void capacity_find_increases(struct capacity_change *x)
{
    x->n_increases = 0;
    for (uint32_t i = 0; i < x->n_is; i++) {
        const struct gap *gap = &x->is[i];
        int64_t least = least_in(x->new, x->n_new, gap);
        int64_t more = least - least_in(x->old, x->n_old, gap);
        if (more > 0)
            x->increase[x->n_increases++] =
                (struct increase){gap->from, gap->until, before_of(x, gap, least), more};
    }
}

void capacity_note_increases(struct capacities *all, struct capacity *h,
                             const struct capacity_change *x, int64_t count)
{
    for (uint32_t i = 0; i < x->n_increases; i++) {
        struct increase increase = x->increase[i];
        increase.pieces *= count;
        increase_add(all, h, &increase);
    }
}

/* ---- Who is short ---- */

int64_t capacity_gap_end(const struct capacity *h, int64_t until, int64_t own)
{
    return (h->piece.alone ? until == own : until >= own) ? INT64_MAX : until;
}

/* The capacity of a class with what changed in increases; NULL: nothing is known. */
static struct capacity *listen(struct graph_place *n, const struct class *c)
{
    if (c->capacity == PLACE_NONE || !usage_settle(n))
        return NULL;
    struct capacity *h = &n->capacities->v[c->capacity];
    if (!h->filled)
        return NULL;
    h->asked = n->capacities->passes;
    return h;
}

/* Whether what a note says still holds: take off it the increases that are new. */
static bool holds(struct capacity *h, struct place_note *note, int64_t duration, int64_t now)
{
    if (note->missing <= 0 || note->epoch != h->epoch || note->seen < h->first_increase ||
        duration < note->duration || gaps_stand(&h->gaps, now) < 0 ||
        gaps_begin(&h->gaps, note->now, now))
        return false;
    note->now = now;
    for (; note->seen < h->first_increase + h->n_increases && note->missing > 0; note->seen++) {
        const struct increase *g = &h->increase[note->seen - h->first_increase];
        if (g->from <= now && g->until - note->duration >= now)
            note->missing -= g->pieces < note->missing ? g->pieces : note->missing;
    }
    return note->missing > 0;
}

bool capacity_short(struct graph_place *n, const struct class *c, int64_t duration, int64_t now,
                    struct place_note *note)
{
    struct capacity *h = listen(n, c);

    if (h && holds(h, note, duration, now))
        return true;
    int64_t pieces = 0;
    if (n->capacities && now > n->capacities->now)
        n->capacities->now = now;
    h = capacity_within(n, c, now, now + duration, &pieces);
    note->missing = h ? c->pieces - pieces : 0;
    if (note->missing <= 0)
        return false;
    note->duration = duration;
    note->now = now;
    note->seen = h->first_increase + h->n_increases;
    note->epoch = h->epoch;
    return true;
}

int64_t capacity_longest(struct graph_place *n, const struct class *c, int64_t least, int64_t most,
                         int64_t now)
{
    struct capacity *h = capacity_counted(n, c);

    if (!h)
        return most;
    if (now > n->capacities->now)
        n->capacities->now = now;
    if (gaps_stand(&h->gaps, now) == 0)
        return gaps_longest_here(&h->gaps, least, most, c->pieces);
    capacity_reset(n);
    return most;
}

/* What is left to increase before something is possible at a time of one of the ranges that a lack divides
 * time into.
 */
static int64_t left_of(uint32_t range)
{
    return range == 0 ? 1 : (INT64_C(1) << (range - 1)) + 1;
}

/* Take an increase off what is missing: where its windows begin, [first, last]. False if something may be
 * possible there.
 */
static bool take_off(struct held_note *note, int64_t first, int64_t last, int64_t pieces)
{
    for (uint32_t k = 0; k <= GAPS_LACKS; k++) {
        int64_t begin = k < GAPS_LACKS ? note->lack.first[k] : 0;
        int64_t end = k > 0 ? note->lack.first[k - 1] : note->before;
        if (begin >= end || last < begin || first >= end)
            continue;
        note->left[k] -= pieces < note->left[k] ? pieces : note->left[k];
        if (note->left[k] == 0)
            return false;
    }
    return true;
}

bool capacity_stuck(struct graph_place *n, const struct class *c, int64_t at,
                    struct held_note *note)
{
    const struct capacity *h = listen(n, c);

    if (!h || note->epoch != h->epoch || note->seen < h->first_increase ||
        (note->tried > 0 && note->tried <= n->capacities->given_back))
        return false;
    for (; note->seen < h->first_increase + h->n_increases; note->seen++) {
        const struct increase *g = &h->increase[note->seen - h->first_increase];
        int64_t first = g->from > n->now ? g->from : n->now;
        int64_t last = capacity_gap_end(h, g->until, at);
        if (last != INT64_MAX)
            last -= note->duration;
        last = last < g->before - 1 ? last : g->before - 1;
        if (first <= last && first < at && !take_off(note, first, last, g->pieces))
            return false;
    }
    return true;
}

int64_t capacity_first(struct graph_place *n, const struct class *c, int64_t duration,
                       int64_t before, struct held_note *note)
{
    return capacity_first_beside(n, c, NULL, duration, before, note);
}

int64_t capacity_first_beside(struct graph_place *n, const struct class *c,
                              const struct gaps *beside, int64_t duration, int64_t before,
                              struct held_note *note)
{
    const struct capacity *h = capacity_ready(n, c);

    *note = (struct held_note){.duration = duration, .before = before};
    if (!h)
        return n->now;
    int64_t first =
        gaps_first_beside(&h->gaps, beside, duration, n->now, before, c->pieces, &note->lack);
    for (uint32_t k = 0; k <= GAPS_LACKS; k++)
        note->left[k] = left_of(k);
    note->kind = HELD_SHORT;
    note->before = first < 0 ? before : first;
    note->seen = h->first_increase + h->n_increases;
    note->epoch = h->epoch;
    note->tried = capacity_note_tried(n->capacities);
    return first;
}

void capacity_doubt(struct graph_place *n)
{
    for (uint32_t i = 0; n->capacities && i < n->capacities->n; i++)
        n->capacities->v[i].epoch = ++n->capacities->epochs;
}

void capacity_catch_up(struct graph_place *n, const struct class *c, struct held_note *note)
{
    const struct capacity *h = listen(n, c);

    if (h && note->kind == HELD_SHORT && note->epoch == h->epoch)
        note->seen = h->first_increase + h->n_increases;
}
