/* From when on there may be room for a bundle, as far as counts say, and what a promised one lacks before.
 *
 * The members of a role need pieces of one capacity: of nodes that they may share each needs its own part, so these count
 * for as many pieces as they have room for. A time at which there are too few is not tried. Counts are right but where
 * the cores of a node are free at different times, or where constraints or blocks rule nodes out; then a search goes on
 * to the next time at which anything changes and one member at least would find room.
 */
#include <errno.h>

#include "place/graph/bundle.h"
#include "place/graph/capacity.h"

#define OPS graph_place_ops

static int64_t fail_when(int error)
{
    errno = error;
    return -1;
}

/* What all members of a role need, as if one class did. */
static struct class bundle_all(const struct graph_place *n, const struct bundle_class *b,
                               uint32_t role)
{
    struct class all = n->classes[b->role[role].class];
    all.capacity = b->need[role].capacity;
    all.pieces = b->need[role].pieces;
    return all;
}

/* What the matcher is asked of a member, but that all are counted. */
static void plan_all(struct counted *counted, struct graph_place *n, const struct bundle_class *b,
                     const struct place_ask *one, const struct class *all)
{
    graph_place_plan_counted(counted, n, one);
    counted->class = all;
    if (counted->plan.calendar)
        counted->plan.limit = n->parts[b->part].capacity - bundle_cores(n, b);
}

int64_t bundle_next(struct place *place, const struct place_ask *ask, int64_t from, int64_t before)
{
    struct graph_place *n = graph_place_of(place);
    const struct bundle_class *b = bundle_class_of(place, ask->class);
    int64_t at = from < 0 ? 0 : from;
    do {
        from = at;
        for (uint32_t i = 0; i < b->n; i++) {
            struct place_ask one = bundle_role_ask(place, ask, i);
            struct class all = bundle_all(n, b, i);
            struct counted counted;
            plan_all(&counted, n, b, &one, &all);
            at = match_plan_next(n->match, &counted.plan, at, before);
            if (at < 0)
                return fail_when(ENOENT);
        }
    } while (at > from);
    return at;
}

int64_t bundle_retry(struct place *place, const struct place_ask *ask, uint32_t role, int64_t at,
                     int64_t before)
{
    struct graph_place *n = graph_place_of(place);
    const struct bundle_class *b = bundle_class_of(place, ask->class);
    struct place_ask one = bundle_role_ask(place, ask, role);
    struct class all = bundle_all(n, b, role);
    struct counted counted;
    int64_t from = match_plan_point(n->match, at);
    if (from >= before)
        return fail_when(ENOENT);
    plan_all(&counted, n, b, &one, &all);
    return match_plan_when(n->match, &counted.plan, from, before);
}

int64_t bundle_most(struct place *place, const struct place_ask *ask, uint32_t role, int64_t at)
{
    struct graph_place *n = graph_place_of(place);
    const struct bundle_class *b = bundle_class_of(place, ask->class);
    struct class all = bundle_all(n, b, role);
    int64_t pieces = n->classes[b->role[role].class].pieces, most;
    if (!b->need[role].is_all || pieces < 1)
        return INT64_MAX;
    most = capacity_most(n, &all, ask->duration, at);
    return most == INT64_MAX ? most : most / pieces;
}

/* ---- Trying ---- */

bool bundle_try_begin(struct place *place, const struct place_ask *ask)
{
    struct graph_place *n = graph_place_of(place);
    if (!is_bundle_class(ask->class))
        return OPS.try_one(place, ask);
    const struct bundle_class *b = bundle_class_of(place, ask->class);
    if (capacity_is_tried(n))
        return false;
    struct class all = bundle_all(n, b, 0);
    capacity_try(n, b->n == 1 ? &all : NULL);
    return true;
}

void bundle_try_end(struct graph_place *n, bool outermost)
{
    int error = errno;
    if (outermost)
        capacity_tried(n);
    errno = error;
}

/* ---- What a promised one lacks ---- */

/* Whether it is known what a role lacks while the bundle itself is in the calendars: where it holds just so many pieces
 * of what the role needs, or nodes that nobody shares.
 */
static bool is_noted(const struct graph_place *n, const struct bundle_class *b, uint32_t role)
{
    const struct class *c = &n->classes[b->role[role].class];
    bool alone = true;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct class *other = &n->classes[b->role[i].class];
        alone &= other->is_exact && other->n_pieces == 1 && other->piece[0].alone;
    }
    return b->need[role].is_all && c->is_exact && (b->n == 1 || alone);
}

void bundle_lack(struct place *place, const struct place_ask *ask, int64_t before,
                 struct bundle_lack *lack)
{
    struct graph_place *n = graph_place_of(place);
    const struct bundle_class *b = bundle_class_of(place, ask->class);
    *lack = (struct bundle_lack){.first = n->now};
    for (uint32_t i = 0; i < b->n; i++) {
        struct held_note note;
        if (!is_noted(n, b, i))
            continue;
        struct class all = bundle_all(n, b, i);
        int64_t first = capacity_first(n, &all, ask->duration, before, &note);
        if (note.kind == HELD_UNKNOWN || (first >= 0 && first < lack->first) || lack->first < 0)
            continue;
        note.class = ask->class;
        *lack = (struct bundle_lack){note, i, first};
    }
}

void bundle_lack_found(struct place *place, const struct place_ask *ask, int64_t before, int64_t at,
                       struct bundle_lack *lack)
{
    struct graph_place *n = graph_place_of(place);
    const struct bundle_class *b = bundle_class_of(place, ask->class);
    if (lack->first == at)
        return;
    lack->note.kind = HELD_UNKNOWN;
    if (at < 0 && b->n == 1 && is_noted(n, b, 0) && n->classes[b->role[0].class].pieces == 1)
        lack->note = (struct held_note){.kind = HELD_NO_MATCH,
                                        .class = ask->class,
                                        .duration = ask->duration,
                                        .before = before,
                                        .seen = place->freed.next};
}

void bundle_lack_keep(struct place *place, const struct place_ask *ask,
                      const struct bundle_lack *lack, struct bundle *b)
{
    struct graph_place *n = graph_place_of(place);
    struct class all = bundle_all(n, bundle_class_of(place, ask->class), lack->role);
    b->lack = *lack;
    if (lack->note.kind == HELD_SHORT)
        capacity_catch_up(n, &all, &b->lack.note);
}

bool bundle_is_stuck(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                     bool apart)
{
    struct graph_place *n = graph_place_of(place);
    if (!is_bundle(booking))
        return OPS.is_stuck(place, ask, booking, at, apart);
    struct bundle *b = bundle_of(place, booking);
    struct held_note *note = &b->lack.note;
    if (note->kind == HELD_UNKNOWN || note->class != ask->class || ask->duration < note->duration ||
        at != note->before || graph_place_refresh(n) < 0)
        return false;
    const struct bundle_class *c = bundle_class_of(place, ask->class);
    if (!is_noted(n, c, b->lack.role))
        return false;
    for (uint32_t i = 0; i < b->n; i++)
        if (match_job_is_forced(n->match, b->v[b->first + i]))
            return false;
    struct class all = bundle_all(n, c, b->lack.role);
    if (note->kind == HELD_NO_MATCH)
        return !graph_place_is_helped(n, &all, ask->duration, note);
    return (!apart && capacity_stuck(n, &all, at, note)) ||
           capacity_lacks_aside(n, &all, b->v + b->first, b->n, ask->duration, at, note);
}

bool bundle_is_short(struct place *place, const struct place_ask *ask, int64_t now,
                     struct place_note *note)
{
    struct graph_place *n = graph_place_of(place);
    if (!is_bundle_class(ask->class))
        return OPS.is_short(place, ask, now, note);
    const struct bundle_class *b = bundle_class_of(place, ask->class);
    if (graph_place_refresh(n) < 0)
        return false;
    struct place_ask first = bundle_role_ask(place, ask, 0);
    struct plan_ask plan = graph_place_plan(n, &first);
    int64_t limit = n->parts[b->part].capacity - bundle_cores(n, b);
    if (plan.calendar &&
        (limit < 0 || profile_max(plan.calendar, now, now + ask->duration) > limit))
        return true;
    for (uint32_t i = 0; i < b->n; i++) {
        struct place_note own = {0}; /* what is noted is of one request */
        struct class all = bundle_all(n, b, i);
        if (all.capacity != PLACE_NONE &&
            capacity_short(n, &all, ask->duration, now, i == 0 ? note : &own))
            return true;
    }
    return false;
}

int64_t bundle_longest(struct place *place, const struct place_ask *ask, int64_t least, int64_t now)
{
    struct graph_place *n = graph_place_of(place);
    if (!is_bundle_class(ask->class))
        return OPS.longest(place, ask, least, now);
    const struct bundle_class *b = bundle_class_of(place, ask->class);
    if (graph_place_refresh(n) < 0)
        return ask->duration;
    int64_t longest = ask->duration;
    for (uint32_t i = 0; i < b->n && longest >= least; i++) {
        struct class all = bundle_all(n, b, i);
        longest = capacity_longest(n, &all, least, longest, now);
    }
    return longest;
}
