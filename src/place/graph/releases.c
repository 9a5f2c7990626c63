/* Gains: capacity released since, and which waiting requests it could serve (capacity.h). */
#include <string.h>

#include "place/graph/capacity.h"

/* Nobody has seen the latest: only older ones are forgotten. */
_Static_assert(GAINS_AT_ONCE <= GAINS_MAX / 2, "the older half has been seen");

/* ---- The list ---- */

static int64_t distance(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

/* Of the gains that nobody has seen, the one of the same interval, or where there are many the one that
 * is most like it; NULL: none.
 */
static struct gain *gain_like(struct capacity *h, const struct gain *gain)
{
    struct gain *like = NULL;

    for (uint32_t i = h->unseen; i < h->n_gains; i++) {
        struct gain *x = &h->gain[i];
        if (x->from == gain->from && x->until == gain->until)
            return x;
        if (!like || distance(x->from, gain->from) < distance(like->from, gain->from) ||
            (x->from == like->from &&
             distance(x->until, gain->until) < distance(like->until, gain->until)))
            like = x;
    }
    return h->n_gains - h->unseen >= GAINS_AT_ONCE ? like : NULL;
}

/* Note a gain. Gains that are put together count for more than they are, and for longer. */
static void gain_add(struct capacities *hosts, struct capacity *h, const struct gain *gain)
{
    if (h->batch != hosts->batch) {
        h->batch = hosts->batch;
        h->unseen = h->n_gains;
    }
    struct gain *like = gain_like(h, gain);
    if (like) {
        bool same = like->from == gain->from && like->until == gain->until;
        like->from = gain->from < like->from ? gain->from : like->from;
        like->until = same ? gain->until : INT64_MAX;
        like->before = gain->before > like->before ? gain->before : like->before;
        like->pieces += gain->pieces;
        return;
    }
    if (h->n_gains == GAINS_MAX) {
        h->n_gains -= GAINS_MAX / 2;
        h->first_gain += GAINS_MAX / 2;
        h->unseen -= GAINS_MAX / 2;
        memmove(h->gain, h->gain + GAINS_MAX / 2, h->n_gains * sizeof(*h->gain));
    }
    h->gain[h->n_gains++] = *gain;
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
static int64_t before_of(const struct host_change *x, const struct gap *gap, int64_t pieces)
{
    int64_t before = INT64_MAX;

    for (uint32_t i = 0; i < x->n_was; i++)
        if (x->was[i].until >= gap->until && x->was[i].from < before &&
            least_in(x->old, x->n_old, &x->was[i]) >= pieces)
            before = x->was[i].from;
    return before;
}

void capacity_note_gains(struct capacities *hosts, struct capacity *h, const struct host_change *x,
                         int64_t count)
{
    for (uint32_t i = 0; i < x->n_is; i++) {
        const struct gap *gap = &x->is[i];
        int64_t least = least_in(x->new, x->n_new, gap);
        int64_t more = least - least_in(x->old, x->n_old, gap);
        struct gain gain = {gap->from, gap->until, before_of(x, gap, least), more * count};
        if (more > 0)
            gain_add(hosts, h, &gain);
    }
}

/* ---- Who is short ---- */

int64_t capacity_gap_end(const struct capacity *h, int64_t until, int64_t own)
{
    return (h->piece.alone ? until == own : until >= own) ? INT64_MAX : until;
}

/* The host of a class with what changed in gains; NULL: nothing is known. */
static struct capacity *listen(struct graph_place *n, const struct class *c)
{
    if (c->host == PLACE_NONE || !usage_settle(n))
        return NULL;
    struct capacity *h = &n->hosts->v[c->host];
    if (!h->filled)
        return NULL;
    h->asked = n->hosts->passes;
    return h;
}

/* Whether what a note says still holds: take off it the gains that are new. */
static bool holds(const struct capacity *h, struct place_note *note, int64_t duration, int64_t now)
{
    if (note->missing <= 0 || note->epoch != h->epoch || note->seen < h->first_gain ||
        duration < note->duration || gaps_begin(&h->gaps, note->now, now))
        return false;
    note->now = now;
    for (; note->seen < h->first_gain + h->n_gains && note->missing > 0; note->seen++) {
        const struct gain *g = &h->gain[note->seen - h->first_gain];
        if (g->from <= now && g->until - note->duration >= now)
            note->missing -= g->pieces < note->missing ? g->pieces : note->missing;
    }
    return note->missing > 0;
}

bool capacity_short(struct graph_place *n, const struct class *c, int64_t duration, int64_t now,
                    struct place_note *note)
{
    const struct capacity *h = listen(n, c);

    if (h && holds(h, note, duration, now))
        return true;
    h = capacity_ready(n, c);
    note->missing = h ? c->pieces - gaps_within(&h->gaps, now, now + duration) : 0;
    if (note->missing <= 0)
        return false;
    note->duration = duration;
    note->now = now;
    note->seen = h->first_gain + h->n_gains;
    note->epoch = h->epoch;
    return true;
}

/* What is left to be gained before something is possible at a time of one of the ranges that a lack divides
 * time into.
 */
static int64_t left_of(uint32_t range)
{
    return range == 0 ? 1 : (INT64_C(1) << (range - 1)) + 1;
}

/* Take a gain off what is missing: where its windows begin, [first, last]. False if something may be
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

    if (!h || note->epoch != h->epoch || note->seen < h->first_gain)
        return false;
    for (; note->seen < h->first_gain + h->n_gains; note->seen++) {
        const struct gain *g = &h->gain[note->seen - h->first_gain];
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
    const struct capacity *h = capacity_ready(n, c);

    *note = (struct held_note){.duration = duration, .before = before};
    if (!h)
        return n->now;
    int64_t first = gaps_first(&h->gaps, duration, n->now, before, c->pieces, &note->lack);
    for (uint32_t k = 0; k <= GAPS_LACKS; k++)
        note->left[k] = left_of(k);
    note->kind = HELD_SHORT;
    note->before = first < 0 ? before : first;
    note->seen = h->first_gain + h->n_gains;
    note->epoch = h->epoch;
    return first;
}

void capacity_doubt(struct graph_place *n)
{
    for (uint32_t i = 0; n->hosts && i < n->hosts->n; i++)
        n->hosts->v[i].epoch = ++n->hosts->epochs;
}

void capacity_catch_up(struct graph_place *n, const struct class *c, struct held_note *note)
{
    const struct capacity *h = listen(n, c);

    if (h && note->kind == HELD_SHORT && note->epoch == h->epoch)
        note->seen = h->first_gain + h->n_gains;
}
