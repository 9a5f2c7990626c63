#include "place/graph/bundle.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/errtext.h"
#include "base/json_scan.h"

#define OPS graph_place_ops

static int fail_bundle(int error)
{
    errno = error;
    return -1;
}

/* ---- Slots ---- */

/* A slot for a bundle of so many; -1 with ENOMEM. */
static int64_t alloc_bundle_slot(struct bundles *t, uint32_t total)
{
    uint32_t i = 0;
    while (i < t->n_bundles && t->bundle[i].used)
        i++;
    if (i == t->n_bundles) {
        if (array_grow((void **)&t->bundle, &t->cap_bundles, (size_t)t->n_bundles + 1,
                       sizeof(*t->bundle)) < 0)
            return -1;
        t->bundle[t->n_bundles++] = (struct bundle){0};
    }
    int64_t *v = reallocarray(NULL, total, sizeof(*v));
    if (!v)
        return -1;
    t->bundle[i] = (struct bundle){.used = true, .v = v};
    return BUNDLE_BOOKING | i;
}

static void free_bundle_slot(struct place *place, int64_t booking)
{
    struct bundle *b = bundle_of(place, booking);
    free(b->v);
    *b = (struct bundle){0};
}

/* ---- Trying ---- */

/* Take back what was booked for a try. */
static void unbook_try(struct place *place, struct bundle *b)
{
    while (b->n > 0)
        graph_place_unbook(graph_place_of(place), b->v[--b->n]);
}

/* Book so many equal ones at a time, of which counts say that they fit. Returns 0, or -1 with EBUSY or ENOMEM after the
 * last one for which there is room.
 */
static int book_role(struct place *place, const struct place_ask *one, uint32_t n, int64_t at,
                     struct bundle *b)
{
    struct graph_place *g = graph_place_of(place);
    int64_t booking = 0;
    if (graph_place_expect_slots(g, n) < 0)
        return -1;
    match_plan_alike(g->match, true);
    for (uint32_t i = 0; i < n && booking >= 0; i++) {
        booking = graph_place_book_counted(g, one, at);
        if (booking >= 0)
            b->v[b->n++] = booking;
    }
    int error = errno;
    match_plan_alike(g->match, false);
    errno = error;
    return booking >= 0 ? 0 : -1;
}

/* Book at a time as many of each role as there is room for. Returns 0, or -1 with ENOMEM. */
static int book_some(struct place *place, const struct place_ask *ask, int64_t at, struct bundle *b,
                     uint32_t *of_role)
{
    const struct bundle_class *c = bundle_class_of(place, ask->class);
    for (uint32_t role = 0; role < c->n; role++) {
        struct place_ask one = bundle_role_ask(place, ask, role);
        int64_t most = bundle_most(place, ask, role, at); /* before any of the role is booked */
        uint32_t count = c->role[role].count, before = b->n;
        if (book_role(place, &one, most < count ? (uint32_t)most : count, at, b) < 0 &&
            errno != EBUSY)
            return -1;
        if (of_role)
            of_role[c->role[role].number] = b->n - before;
    }
    return 0;
}

/* Book all at a time that counts don't rule out. Returns 0, or -1 with EBUSY or ENOMEM and nothing booked, and the role
 * of which one found no room.
 */
static int book_all(struct place *place, const struct place_ask *ask, int64_t at, struct bundle *b,
                    uint32_t *role)
{
    const struct bundle_class *c = bundle_class_of(place, ask->class);
    for (*role = 0; *role < c->n; ++*role) {
        struct place_ask one = bundle_role_ask(place, ask, *role);
        if (book_role(place, &one, c->role[*role].count, at, b) == 0)
            continue;
        int error = errno;
        unbook_try(place, b);
        return fail_bundle(error);
    }
    return 0;
}

/* Book all at the earliest time of [from, before). Returns it, or -1 with ENOENT, also after as many times as a search
 * tries, or ENOMEM.
 */
static int64_t book_first(struct place *place, const struct place_ask *ask, int64_t from,
                          int64_t before, struct bundle *b)
{
    struct graph_place *n = graph_place_of(place);
    uint64_t tries = match_plan_tries(n->match);
    uint32_t role;
    if (graph_place_refresh(n) < 0)
        return -1;
    int64_t repeats = match_plan_repeats(n->match, from < 0 ? 0 : from, n->place.endless);
    if (repeats < before) /* later there is room behind jobs of unknown end at most */
        before = repeats + 1;
    for (; from < before && tries > 0; tries--) {
        int64_t at = bundle_next(place, ask, from, before);
        if (at < 0)
            return -1;
        if (book_all(place, ask, at, b, &role) == 0)
            return at;
        if (errno != EBUSY)
            return -1;
        from = bundle_retry(place, ask, role, at, before);
        if (from < 0)
            return -1;
    }
    return fail_bundle(ENOENT);
}

/* The same as a booking. */
static int64_t book_within(struct place *place, const struct place_ask *ask, int64_t from,
                           int64_t before, int64_t *at)
{
    int64_t booking =
        alloc_bundle_slot(graph_place_of(place)->bundles, bundle_members(place, ask->class));
    if (booking < 0)
        return fail_bundle(ENOMEM);
    bool outermost = bundle_try_begin(place, ask);
    *at = book_first(place, ask, from, before, bundle_of(place, booking));
    bundle_try_end(graph_place_of(place), outermost);
    if (*at >= 0)
        return booking;
    int error = errno;
    free_bundle_slot(place, booking);
    return fail_bundle(error);
}

/* ---- As place.h says ---- */

int64_t bundle_when(const struct place *place, const struct place_ask *ask, int64_t from)
{
    struct place *trying = &graph_place_of(place)->place;
    int64_t at;
    if (!is_bundle_class(ask->class))
        return OPS.when(place, ask, from);
    int64_t booking = book_within(trying, ask, from, INT64_MAX, &at);
    if (booking < 0)
        return -1;
    unbook_try(trying, bundle_of(place, booking));
    free_bundle_slot(trying, booking);
    return at;
}

int64_t bundle_book(struct place *place, const struct place_ask *ask, int64_t at)
{
    int64_t found;
    if (!is_bundle_class(ask->class))
        return OPS.book(place, ask, at);
    int64_t booking = book_within(place, ask, at, at + 1, &found);
    return booking >= 0 || errno == ENOMEM || errno == EINVAL ? booking : fail_bundle(EBUSY);
}

int64_t bundle_reserve(struct place *place, const struct place_ask *ask, int64_t from, int64_t *at)
{
    struct bundle_lack lack;
    if (!is_bundle_class(ask->class))
        return OPS.reserve(place, ask, from, at);
    if (graph_place_refresh(graph_place_of(place)) < 0)
        return -1;
    bundle_lack(place, ask, INT64_MAX, &lack);
    int64_t booking = book_within(place, ask, from, INT64_MAX, at);
    if (booking >= 0 && lack.first == *at)
        bundle_of(place, booking)->lack = lack;
    return booking;
}

int64_t bundle_probe(struct place *place, const struct place_ask *ask, int64_t at)
{
    if (!is_bundle_class(ask->class))
        return OPS.probe(place, ask, at);
    int64_t booking = bundle_book(place, ask, at);
    if (booking >= 0)
        bundle_of(place, booking)->is_try = true;
    return booking;
}

int bundle_loosen(struct place *place, int64_t booking, int64_t other)
{
    struct bundle *b = bundle_of(place, booking);
    uint32_t kept = 0;
    if (bundle_mark(place, other, true) < 0)
        return -1;
    for (uint32_t i = 0; i < b->n; i++)
        if (OPS.meets(place, b->v[i]) == PLACE_APART)
            b->v[kept++] = b->v[i];
        else
            OPS.undo(place, b->v[i]);
    b->n = kept;
    bundle_mark(place, other, false);
    return 0;
}

int bundle_mend(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at)
{
    struct bundle *b = bundle_of(place, booking);
    const struct bundle_class *c = bundle_class_of(place, ask->class);
    struct place_ask one = bundle_role_ask(place, ask, 0);
    uint32_t missing = c->role[0].count - b->n;
    if (bundle_most(place, ask, 0, at) < missing)
        return fail_bundle(EBUSY);
    return missing > 0 ? book_role(place, &one, missing, at, b) : 0;
}

int64_t bundle_room(struct place *place, const struct place_ask *ask, int64_t at, uint32_t *of_role)
{
    if (!is_bundle_class(ask->class)) {
        int64_t one = OPS.book(place, ask, at);
        if (one >= 0)
            graph_place_unbook(graph_place_of(place), one);
        return one >= 0 ? 1 : errno == ENOMEM ? -1 : 0;
    }
    int64_t booking =
        alloc_bundle_slot(graph_place_of(place)->bundles, bundle_members(place, ask->class));
    if (booking < 0)
        return fail_bundle(ENOMEM);
    struct bundle *b = bundle_of(place, booking);
    bool outermost = bundle_try_begin(place, ask);
    int64_t room = book_some(place, ask, at, b, of_role) < 0 ? -1 : (int64_t)b->n;
    int error = errno;
    unbook_try(place, b);
    bundle_try_end(graph_place_of(place), outermost);
    free_bundle_slot(place, booking);
    errno = error;
    return room;
}

void bundle_release(struct place *place, int64_t booking)
{
    if (!is_bundle(booking)) {
        OPS.release(place, booking);
        return;
    }
    struct bundle *b = bundle_of(place, booking);
    if (b->is_try)
        unbook_try(place, b);
    for (uint32_t i = 0; i < b->n; i++)
        OPS.release(place, b->v[b->first + i]);
    free_bundle_slot(place, booking);
}

void bundle_undo(struct place *place, int64_t booking)
{
    if (!is_bundle(booking)) {
        OPS.undo(place, booking);
        return;
    }
    struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++)
        OPS.undo(place, b->v[b->first + i]);
    free_bundle_slot(place, booking);
}

void bundle_lift(struct place *place, int64_t booking, bool briefly)
{
    if (!is_bundle(booking)) {
        OPS.lift(place, booking, briefly);
        return;
    }
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++)
        OPS.lift(place, b->v[b->first + i], briefly);
}

void bundle_drop(struct place *place, const struct place_ask *ask, int64_t booking)
{
    if (!is_bundle(booking)) {
        OPS.drop(place, ask, booking);
        return;
    }
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++)
        OPS.drop(place, ask, b->v[b->first + i]);
}

/* Whether each one is as `is` says. */
static bool are_all(struct place *place, const struct place_ask *ask, int64_t booking,
                    bool (*is)(struct place *place, const struct place_ask *ask, int64_t booking))
{
    if (!is_bundle(booking))
        return is(place, ask, booking);
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++) {
        struct place_ask one = bundle_member_ask(place, ask, i, b->n);
        if (!is(place, &one, b->v[b->first + i]))
            return false;
    }
    return true;
}

bool bundle_fits(struct place *place, const struct place_ask *ask, int64_t booking)
{
    return are_all(place, ask, booking, OPS.fits);
}

bool bundle_is_there(struct place *place, const struct place_ask *ask, int64_t booking)
{
    return are_all(place, ask, booking, OPS.is_there);
}

void bundle_lay(struct place *place, int64_t booking)
{
    if (!is_bundle(booking)) {
        graph_place_lay(place, booking);
        return;
    }
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++)
        graph_place_lay(place, b->v[b->first + i]);
}

int bundle_shift(struct place *place, int64_t booking, int64_t at, int64_t end)
{
    if (!is_bundle(booking))
        return graph_place_shift(place, booking, at, end);
    const struct bundle *b = bundle_of(place, booking);
    int64_t was, till;
    match_job_window(graph_place_of(place)->match, b->v[b->first], &was, &till);
    for (uint32_t i = 0; i < b->n; i++) {
        if (graph_place_shift(place, b->v[b->first + i], at, end) == 0)
            continue;
        while (i-- > 0) /* the memory is there still that this took until just now */
            graph_place_shift(place, b->v[b->first + i], was, till);
        return fail_bundle(ENOMEM);
    }
    return 0;
}

bool bundle_stands(struct place *place, const struct place_ask *ask, int64_t booking, int64_t now)
{
    if (!is_bundle(booking))
        return graph_place_stands(place, ask, booking, now);
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++) {
        struct place_ask one = bundle_member_ask(place, ask, i, b->n);
        if (!graph_place_stands(place, &one, b->v[b->first + i], now))
            return false;
    }
    return true;
}

/* Where one may not start, those before it are allocations by then, and all are to be released. */
int bundle_start(struct place *place, const struct place_ask *ask, int64_t booking, int64_t now)
{
    if (!is_bundle(booking))
        return OPS.start(place, ask, booking, now);
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++) {
        struct place_ask one = bundle_member_ask(place, ask, i, b->n);
        if (OPS.start(place, &one, b->v[b->first + i], now) < 0)
            return -1;
    }
    return 0;
}

void bundle_allocate(struct place *place, int64_t booking, int64_t now)
{
    if (!is_bundle(booking)) {
        OPS.allocate(place, booking, now);
        return;
    }
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++)
        OPS.allocate(place, b->v[b->first + i], now);
}

int bundle_extend(struct place *place, int64_t booking, int64_t end)
{
    if (!is_bundle(booking))
        return OPS.extend(place, booking, end);
    const struct bundle *b = bundle_of(place, booking);
    int64_t at, was;
    match_job_window(graph_place_of(place)->match, b->v[b->first], &at, &was);
    for (uint32_t i = 0; i < b->n; i++) {
        if (OPS.extend(place, b->v[b->first + i], end) == 0)
            continue;
        while (i-- > 0) /* the points are there still that this was until just now */
            OPS.extend(place, b->v[b->first + i], was);
        return fail_bundle(ENOMEM);
    }
    return 0;
}

int bundle_give(struct place *place, int64_t booking, const char *ranks, berth_error_t *err)
{
    if (is_bundle(booking)) /* who runs has a booking of its own */
        return errtext_set(err, EINVAL, "it is promised, not held");
    return OPS.give(place, booking, ranks, err);
}

/* ---- To move one ---- */

/* Choose for a lifted bundle an earlier time; failing that, with `anew`, other resources at its own time. Returns the
 * time, or -1 as book_first, or with EBUSY if there is nothing for it at its own time.
 */
static int64_t choose_for_bundle(struct place *place, const struct place_ask *ask, int64_t from,
                                 const struct place_pull *how, struct bundle *b,
                                 struct bundle_lack *lack)
{
    uint32_t role;
    bool searches = from < how->at;
    int64_t at = searches ? book_first(place, ask, from, how->at, b) : fail_bundle(ENOENT);
    if (at < 0 && errno != ENOENT)
        return -1;
    if (searches)
        bundle_lack_found(place, ask, how->at, at, lack);
    if (at >= 0)
        return at;
    if (!how->anew)
        return fail_bundle(ENOENT);
    if (bundle_next(place, ask, how->at, how->at + 1) < 0)
        return fail_bundle(EBUSY);
    return book_all(place, ask, how->at, b, &role) < 0 ? -1 : how->at;
}

/* What it may hold of that. As choose_for_bundle. */
static int64_t choose_good(struct place *place, const struct place_ask *ask,
                           const struct place_pull *how, int64_t temp, struct bundle_lack *lack)
{
    struct bundle *b = bundle_of(place, temp);
    int64_t at = choose_for_bundle(place, ask, how->from, how, b, lack);
    for (bool again = false; at >= 0 && how->may_hold && !how->may_hold(how->arg, temp, at);) {
        if (how->narrow && !again)
            how->narrow(how->arg, temp, at);
        unbook_try(place, b);
        lack->note.kind = HELD_UNKNOWN;
        if (again || !graph_place_of(place)->is_narrow)
            return fail_bundle(EBUSY);
        struct place_pull narrow = *how;
        narrow.anew = at == how->at; /* for its own time only if that is what was refused */
        again = true;
        at = choose_for_bundle(place, ask, at, &narrow, b, lack);
        lack->note.kind = HELD_UNKNOWN;
    }
    return at;
}

/* Give a bundle what another one holds, which gets what it held. */
static void exchange_bundles(struct bundle *b, struct bundle *other)
{
    struct bundle was = *b;
    *b = *other;
    *other = was;
}

/* Give back what the members of a lifted bundle held; what one of another bundle holds just so has not been freed. */
static void release_replaced(struct place *place, const struct bundle *b, const struct bundle *by)
{
    struct graph_place *n = graph_place_of(place);
    for (uint32_t i = 0; i < b->n; i++) {
        int64_t was = b->v[b->first + i];
        if (i < by->n && match_job_is_same(n->match, was, by->v[by->first + i]))
            graph_place_unbook(n, was);
        else
            OPS.release(place, was);
    }
}

int64_t bundle_pull(struct place *place, const struct place_ask *ask, int64_t booking,
                    struct place_pull *how)
{
    struct graph_place *n = graph_place_of(place);
    struct bundle_lack lack;
    if (!is_bundle(booking))
        return OPS.pull(place, ask, booking, how);
    uint64_t next = place->freed.next;
    how->freed = INT64_MAX;
    int64_t temp = alloc_bundle_slot(n->bundles, bundle_members(place, ask->class));
    if (temp < 0 || graph_place_refresh(n) < 0) {
        if (temp >= 0)
            free_bundle_slot(place, temp);
        return fail_bundle(ENOMEM);
    }
    bool outermost = bundle_try_begin(place, ask);
    bundle_lift(place, booking, false);
    struct bundle *b = bundle_of(place, booking);
    lack = b->lack; /* if there is no search */
    if (how->from < how->at)
        bundle_lack(place, ask, how->at, &lack);
    int64_t at = choose_good(place, ask, how, temp, &lack);
    int error = errno;
    OPS.narrow(place, NULL, false);
    if (at < 0) {
        bundle_drop(place, ask, booking);
    } else {
        release_replaced(place, b, bundle_of(place, temp));
        exchange_bundles(b, bundle_of(place, temp));
    }
    bundle_try_end(n, outermost);
    free_bundle_slot(place, temp);
    if (how->from < how->at)
        bundle_lack_keep(place, ask, &lack, b);
    else
        b->lack = lack;
    errno = error;
    if (at < 0)
        return error == EBUSY || error == ENOENT ? how->at : -1;
    if (place->freed.next != next)
        how->freed = how->at;
    return at;
}

int64_t bundle_detach(struct place *place, int64_t booking)
{
    struct bundle *b = bundle_of(place, booking);
    int64_t first = b->v[b->first++];
    if (--b->n == 0)
        free_bundle_slot(place, booking);
    return first;
}

int bundle_narrow(struct place *place, const struct place_ask *ask, bool all)
{
    struct place_ask one;
    if (!ask || !is_bundle_class(ask->class))
        return OPS.narrow(place, ask, all);
    one = bundle_role_ask(place, ask, 0);
    return OPS.narrow(place, &one, all);
}

/* ---- What was freed, and what lacks ---- */

bool bundle_betters(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                    uint64_t since)
{
    if (!is_bundle_class(ask->class))
        return OPS.betters(place, ask, booking, at, since);
    const struct bundle_class *c = bundle_class_of(place, ask->class);
    const struct bundle *b = booking < 0 ? NULL : bundle_of(place, booking);
    uint32_t n = b ? b->n : c->n;
    for (uint32_t i = 0; i < n; i++) {
        struct place_ask one =
            b ? bundle_member_ask(place, ask, i, n) : bundle_role_ask(place, ask, i);
        if (OPS.betters(place, &one, b ? b->v[b->first + i] : -1, at, since))
            return true;
    }
    return false;
}

const char *bundle_lacks(struct place *place, const struct place_ask *ask, int64_t at,
                         struct place_counts *counts)
{
    struct place_ask one;
    if (!is_bundle_class(ask->class))
        return OPS.lacks(place, ask, at, counts);
    one = bundle_role_ask(place, ask, 0);
    return OPS.lacks(place, &one, at, counts);
}

/* ---- A bundle that others have kept ---- */

/* The texts of its members are a list in JSON. */
int64_t bundle_adopt(struct place *place, const char *format, const char *text, size_t length,
                     int64_t at, int64_t end, bool reservation, berth_error_t *err)
{
    struct graph_place *n = graph_place_of(place);
    struct json_part key, value;
    struct json_scan scan;
    uint32_t members = 0;
    if (length == 0 || text[0] != '[' || !n->bundles)
        return OPS.adopt(place, format, text, length, at, end, reservation, err);
    json_scan_begin(&scan, json_part(text, length));
    while (json_scan_next(&scan, &key, &value))
        members++;
    int64_t booking = members > 0 ? alloc_bundle_slot(n->bundles, members) : fail_bundle(EINVAL);
    if (booking < 0)
        return errtext_set(err, errno,
                           errno == ENOMEM ? "out of memory" : "expected what members hold");
    struct bundle *b = bundle_of(place, booking);
    json_scan_begin(&scan, json_part(text, length));
    while (json_scan_next(&scan, &key, &value)) {
        int64_t one = OPS.adopt(place, format, value.at, value.length, at, end, reservation, err);
        if (one < 0) {
            int error = errno;
            unbook_try(place, b);
            free_bundle_slot(place, booking);
            return fail_bundle(error);
        }
        b->v[b->n++] = one;
    }
    return booking;
}
