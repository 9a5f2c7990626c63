/* Bookings that name resources: each is a job of the matcher (place/graph.h). */
#include "place/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "match/text/names.h"
#include "place/graph/bundle.h"
#include "place/graph/graph_priv.h"

static int fail_graph_place(int error)
{
    errno = error;
    return -1;
}

/* ---- Slots ---- */

static int64_t alloc_booking_slot(struct graph_place *n)
{
    uint32_t slot = n->free_booking;

    if (slot == PLACE_NONE && n->n_bookings == n->cap_bookings) {
        uint32_t capacity = n->cap_bookings + n->cap_bookings / 2 + 64;
        struct booking *v =
            capacity < INT32_MAX ? reallocarray(n->bookings, capacity, sizeof(*v)) : NULL;
        if (!v)
            return fail_graph_place(ENOMEM);
        n->bookings = v;
        n->cap_bookings = capacity;
    }
    if (slot == PLACE_NONE) {
        slot = n->n_bookings++;
        n->bookings[slot] = (struct booking){0};
    } else {
        n->free_booking = n->bookings[slot].next;
    }
    n->bookings[slot].used = true;
    n->bookings[slot].has_ids = false;
    n->bookings[slot].is_best = false;
    n->bookings[slot].note.kind = HELD_UNKNOWN;
    return slot;
}

/* The array of shares is kept for the next booking. */
static void free_booking_slot(struct graph_place *n, int64_t slot)
{
    struct booking *b = &n->bookings[slot];

    b->used = false;
    b->n = 0;
    b->counted = false;
    b->next = n->free_booking;
    n->free_booking = (uint32_t)slot;
}

/* ---- In and out of the calendars ---- */

static void lift_booking(struct graph_place *n, int64_t booking)
{
    if (match_job_is_forced(n->match, booking))
        capacity_doubt(n);
    capacity_note(n, booking);
    match_job_lift(n->match, booking);
    graph_place_count(n, booking, &n->bookings[booking], false);
}

static void drop_booking(struct graph_place *n, int64_t booking)
{
    capacity_note(n, booking);
    match_job_drop(n->match, booking);
    graph_place_count(n, booking, &n->bookings[booking], !match_job_is_forced(n->match, booking));
}

static void graph_place_try(struct place *place, bool begin)
{
    if (begin)
        capacity_try(graph_place_of(place), NULL);
    else
        capacity_tried(graph_place_of(place));
}

/* Of one that is lifted briefly rows and gaps stay as they are: they will be right again. */
static void graph_place_lift(struct place *place, int64_t booking, bool briefly)
{
    struct graph_place *n = graph_place_of(place);
    n->bookings[booking].is_aside = briefly;
    if (!briefly) {
        lift_booking(n, booking);
        return;
    }
    match_job_lift(n->match, booking);
    graph_place_count(n, booking, &n->bookings[booking], false);
}

static void graph_place_drop(struct place *place, const struct place_ask *ask, int64_t booking)
{
    struct graph_place *n = graph_place_of(place);
    struct booking *b = &n->bookings[booking];
    (void)ask;
    if (!b->is_aside) {
        drop_booking(n, booking);
        return;
    }
    b->is_aside = false;
    match_job_return(n->match, booking);
    graph_place_count(n, booking, b, !match_job_is_forced(n->match, booking));
}

/* ---- Questions ---- */

static int64_t graph_place_when(const struct place *place, const struct place_ask *ask,
                                int64_t from)
{
    struct graph_place *n = graph_place_of(place);

    if (!class_of(n, ask))
        return fail_graph_place(EINVAL);
    if (graph_place_refresh(n) < 0)
        return -1;
    struct counted counted;
    graph_place_plan_counted(&counted, n, ask);
    return match_plan_when(n->match, &counted.plan, from, INT64_MAX);
}

/* Whether what a lifted booking holds is good during [at, end), and free until `until`: 1, 0, or -1 with
 * ENOMEM.
 */
static int is_fit(struct graph_place *n, const struct place_ask *ask, int64_t booking, int64_t at,
                  int64_t end, int64_t until)
{
    struct plan_ask plan = graph_place_plan(n, ask);

    return match_job_is_free(n->match, booking, at, until)
               ? match_job_still_fits(n->match, booking, &plan, at, end)
               : 0;
}

/* The time of a booking that is yet to come: it may be kept for a job that starts late. */
static void rest_of(const struct graph_place *n, int64_t booking, int64_t *at, int64_t *end)
{
    match_job_window(n->match, booking, at, end);
    if (*at < n->now && n->now < *end)
        *at = n->now;
}

static bool graph_place_fits(struct place *place, const struct place_ask *ask, int64_t booking)
{
    struct graph_place *n = graph_place_of(place);
    int64_t at, end;

    rest_of(n, booking, &at, &end);
    return graph_place_refresh(n) == 0 && is_fit(n, ask, booking, at, end, end) == 1;
}

static bool graph_place_is_there(struct place *place, const struct place_ask *ask, int64_t booking)
{
    struct graph_place *n = graph_place_of(place);
    struct plan_ask plan = graph_place_plan(n, ask);
    int64_t at, end;

    rest_of(n, booking, &at, &end);
    return graph_place_refresh(n) == 0 &&
           match_job_still_fits(n->match, booking, &plan, at, end) == 1;
}

/* ---- Bookings ---- */

/* A booking was chosen just now for an ask, of all that its class may take or of some nodes only. */
static void note_best(struct graph_place *n, int64_t booking, const struct place_ask *ask,
                      bool is_narrow)
{
    n->bookings[booking].is_best = !is_narrow;
    n->bookings[booking].best_of = *ask;
}

/* Book it at the earliest time of [from, before). `counts` unless it is known that there are pieces enough. */
static int64_t book(struct graph_place *n, const struct place_ask *ask, int64_t from,
                    int64_t before, bool counts, int64_t *at)
{
    struct counted counted;

    if (!class_of(n, ask))
        return fail_graph_place(EINVAL);
    if (graph_place_refresh(n) < 0)
        return -1;
    int64_t booking = alloc_booking_slot(n);
    if (booking < 0)
        return -1;
    graph_place_plan_counted(&counted, n, ask);
    if (!counts)
        counted.plan.next = NULL;
    *at = match_plan_first(n->match, &counted.plan, booking, from, before, true);
    if (*at < 0) {
        free_booking_slot(n, booking);
        return -1;
    }
    if (graph_place_enter(n, booking, &n->bookings[booking]) < 0) {
        match_cancel(n->match, booking, NULL, NULL);
        free_booking_slot(n, booking);
        return fail_graph_place(ENOMEM);
    }
    graph_place_count(n, booking, &n->bookings[booking], true);
    capacity_note(n, booking);
    note_best(n, booking, ask, n->is_narrow);
    return booking;
}

static void tell_now(struct place *place, int64_t now)
{
    graph_place_tell(graph_place_of(place), now);
}

static int64_t graph_place_reserve(struct place *place, const struct place_ask *ask, int64_t from,
                                   int64_t *at)
{
    struct graph_place *n = graph_place_of(place);
    const struct class *c = class_of(n, ask);
    struct held_note note = {0};
    int64_t first = -1;

    if (c && c->capacity != PLACE_NONE && graph_place_refresh(n) == 0)
        first = capacity_first(n, c, ask->duration, INT64_MAX, &note);
    int64_t booking = book(n, ask, from, INT64_MAX, true, at);
    if (booking >= 0 && first == *at) {
        note.class = ask->class;
        n->bookings[booking].note = note;
    }
    return booking;
}

static int64_t graph_place_book(struct place *place, const struct place_ask *ask, int64_t at)
{
    int64_t found, booking = book(graph_place_of(place), ask, at, at + 1, true, &found);

    return booking >= 0 || errno == ENOMEM || errno == EINVAL ? booking : fail_graph_place(EBUSY);
}

int64_t graph_place_book_counted(struct graph_place *n, const struct place_ask *ask, int64_t at)
{
    int64_t found, booking = book(n, ask, at, at + 1, false, &found);

    return booking >= 0 || errno == ENOMEM || errno == EINVAL ? booking : fail_graph_place(EBUSY);
}

void graph_place_unbook(struct graph_place *n, int64_t booking)
{
    capacity_note(n, booking);
    graph_place_leave(n, booking, &n->bookings[booking]);
    match_cancel(n->match, booking, NULL, NULL);
    free_booking_slot(n, booking);
}

static void graph_place_release(struct place *place, int64_t booking)
{
    struct graph_place *n = graph_place_of(place);
    int64_t at, end;

    if (booking == BOOKING_TEMP) {
        match_plan_forget(n->match, booking);
        return;
    }
    if (match_job_is_forced(n->match, booking))
        capacity_doubt(n);
    match_job_window(n->match, booking, &at, &end);
    graph_place_free_job(n, booking, at, end);
    graph_place_unbook(n, booking);
    capacity_gave_back(n);
}

static int graph_place_start(struct place *place, const struct place_ask *ask, int64_t booking,
                             int64_t now)
{
    struct graph_place *n = graph_place_of(place);
    int64_t end = now + ask->duration, at, was;

    graph_place_tell(n, now);
    if (graph_place_refresh(n) < 0)
        return -1;
    match_job_window(n->match, booking, &at, &was);
    bool lasts =
        at <= now && was >= end; /* who comes later and is in its way is the core's affair */
    lift_booking(n, booking);
    int rc = is_fit(n, ask, booking, now, end, lasts ? now + 1 : end);
    if (rc == 1)
        rc = lasts ? 0 : graph_place_move(n, booking, &n->bookings[booking], now, end);
    else
        rc = rc < 0 ? -1 : fail_graph_place(EBUSY);
    if (rc == 0 && !lasts && end < was)
        graph_place_free_job(n, booking, end, was);
    if (rc == 0)
        match_job_allocate(n->match, booking);
    int error = errno;
    drop_booking(n, booking);
    errno = error;
    return rc;
}

static void graph_place_allocate(struct place *place, int64_t booking, int64_t now)
{
    struct graph_place *n = graph_place_of(place);

    graph_place_tell(n, now);
    match_job_allocate(n->match, booking);
}

/* Put what BOOKING_TEMP has been given in a lifted booking's place; whether that is the same. Returns 1, 0,
 * or -1 with ENOMEM, and nothing is changed but that BOOKING_TEMP is no more.
 */
static int replace(struct graph_place *n, int64_t booking)
{
    struct booking *b = &n->bookings[booking], anew = {.used = true};
    int64_t was, end;

    if (graph_place_enter(n, BOOKING_TEMP, &anew) < 0) {
        match_cancel(n->match, BOOKING_TEMP, NULL, NULL);
        free(anew.share);
        return fail_graph_place(ENOMEM);
    }
    graph_place_count(n, BOOKING_TEMP, &anew, true);
    capacity_note(n, BOOKING_TEMP);
    match_job_window(n->match, booking, &was, &end);
    bool same = match_job_is_same(n->match, booking, BOOKING_TEMP);
    if (!same)
        graph_place_free_job(n, booking, was, end);
    graph_place_leave(n, booking, b);
    free(b->share);
    free(b->node);
    *b = anew;
    match_job_replace(n->match, booking, BOOKING_TEMP);
    return same;
}

/* Book something for BOOKING_TEMP before `at`, or, if `anew`, at `at`. Returns its time, or -1 with EBUSY,
 * ENOENT, ENOMEM. The note is what is known of a booking at that time, or at `at`.
 */
static int64_t choose_booking(struct graph_place *n, const struct place_ask *ask, int64_t booking,
                              const struct place_pull *how, struct held_note *note)
{
    int64_t at = how->at, from = how->from;
    const struct class *c = class_of(n, ask);
    bool is_counted = c->capacity != PLACE_NONE;
    struct counted counted;
    int64_t first = n->now, found = fail_graph_place(ENOENT);

    graph_place_plan_counted(&counted, n, ask);
    *note = (struct held_note){0};
    if (from < at && is_counted)
        first = capacity_first(n, c, ask->duration, at, note);
    errno = ENOENT;
    if (from < at && first >= 0) {
        found = match_plan_first(n->match, &counted.plan, BOOKING_TEMP, from, at, true);
        if (found < 0 && is_counted)
            *note = (struct held_note){.kind = HELD_NO_MATCH,
                                       .duration = ask->duration,
                                       .before = at,
                                       .seen = n->place.freed.next};
        else if (found != first)
            note->kind = HELD_UNKNOWN;
    }
    if (found >= 0 || (errno != ENOENT && errno != EBUSY))
        return found;
    if (!how->anew || graph_place_choose_again(n, ask, &counted.plan, booking, at, how->since) < 0)
        return -1;
    return at;
}

/* Take what was chosen for BOOKING_TEMP back if the booking may not hold it. Returns whether it may. */
static bool booking_may_hold(struct graph_place *n, int64_t booking, const struct place_pull *how,
                             int64_t at, struct held_note *note)
{
    if (!how->may_hold || how->may_hold(how->arg, BOOKING_TEMP, at))
        return true;
    if (how->narrow && !n->is_narrow)
        how->narrow(how->arg, BOOKING_TEMP, at);
    match_cancel(n->match, BOOKING_TEMP, NULL, NULL);
    n->bookings[booking].is_best = false;
    note->kind = HELD_UNKNOWN;
    errno = EBUSY;
    return false;
}

static int64_t graph_place_pull(struct place *place, const struct place_ask *ask, int64_t booking,
                                struct place_pull *how)
{
    struct graph_place *n = graph_place_of(place);
    struct held_note note;
    uint64_t next = n->place.freed.next;

    how->freed = INT64_MAX;
    if (!class_of(n, ask))
        return fail_graph_place(EINVAL);
    if (graph_place_refresh(n) < 0)
        return -1;
    bool is_tried = capacity_is_tried(n); /* this is a part of it then */
    if (!is_tried)
        capacity_try(n, class_of(n, ask));
    lift_booking(n, booking);
    int64_t found = choose_booking(n, ask, booking, how, &note);
    bool may = found >= 0 && booking_may_hold(n, booking, how, found, &note);
    bool is_narrow = n->is_narrow;
    if (!may && is_narrow) {
        struct place_pull again = *how;
        again.from = found;
        again.anew = found == how->at; /* for its own time only if that is what was refused */
        found = choose_booking(n, ask, booking, &again, &note);
        note.kind = HELD_UNKNOWN;
        may = found >= 0 && booking_may_hold(n, booking, how, found, &note);
    }
    n->is_narrow = false;
    int rc = may ? replace(n, booking) : -1;
    int error = errno;
    if (rc < 0)
        drop_booking(n, booking);
    else
        note_best(n, booking, ask, is_narrow);
    if (rc >= 0)
        capacity_gave_back(n);
    if (!is_tried)
        capacity_tried(n);
    if (rc >= 0 || error == EBUSY || error == ENOENT) {
        capacity_catch_up(n, class_of(n, ask), &note);
        note.class = ask->class;
        n->bookings[booking].note = note;
    }
    if (n->place.freed.next != next) /* under other names it may hold it still */
        how->freed = how->at;
    errno = error;
    if (rc >= 0)
        return found;
    return error == EBUSY || error == ENOENT ? how->at : -1;
}

static int graph_place_extend(struct place *place, int64_t booking, int64_t end)
{
    struct graph_place *n = graph_place_of(place);
    bool lifted = match_job_is_lifted(n->match, booking);
    int64_t at, was;

    match_job_window(n->match, booking, &at, &was);
    if (end <= at)
        end = at + 1;
    lift_booking(n, booking);
    int rc = graph_place_move(n, booking, &n->bookings[booking], at, end);
    n->bookings[booking].is_best = false;
    if (!lifted)
        drop_booking(n, booking);
    if (rc == 0 && end < was)
        graph_place_free_job(n, booking, end, was);
    return rc;
}

/* Take all reservations, or all allocations, out of the calendars for a while, but for one booking. Returns
 * whether any were not out already.
 */
static bool set_bookings_aside(struct graph_place *n, int64_t but, bool reservations)
{
    bool any = false;

    for (uint32_t i = 0; i < n->n_bookings; i++) {
        struct booking *b = &n->bookings[i];
        b->is_out = b->used && i != but && !match_job_is_lifted(n->match, i) &&
                    match_job_is_reserved(n->match, i) == reservations;
        if (b->is_out)
            match_job_lift(n->match, i);
        any |= b->is_out;
    }
    return any;
}

static void return_set_aside(struct graph_place *n)
{
    for (uint32_t i = 0; i < n->n_bookings; i++)
        if (n->bookings[i].is_out) {
            match_job_return(n->match, i);
            n->bookings[i].is_out = false;
        }
}

/* What a text says that a booking holds, and when. */
struct adoption {
    const char *format, *text;
    size_t length;
    int64_t at, end;
    bool reservation;
};

/* Book it, also over what is in the way: an allocation may have been given another end since a reservation was made, and
 * who has preempted others holds what these still use. It is left lifted, to be dropped as forced or not. Returns 0, or
 * -1 with a text.
 */
static int take_adopted(struct graph_place *n, int64_t booking, const struct adoption *a,
                        berth_error_t *err)
{
    const struct held_text held = {a->format, a->text, a->length, true};
    int64_t lasts = a->end - a->at;
    int rc = match_adopt(n->match, &held, booking, a->at, lasts, a->reservation, err);
    bool is_over = rc < 0 && errno == EINVAL && set_bookings_aside(n, booking, !a->reservation);

    if (is_over)
        rc = match_adopt(n->match, &held, booking, a->at, lasts, a->reservation, err);
    int error = errno;
    if (rc == 0)
        match_job_lift(n->match, booking);
    if (is_over)
        return_set_aside(n);
    errno = error;
    return rc;
}

static int64_t graph_place_adopt(struct place *place, const char *format, const char *text,
                                 size_t length, int64_t at, int64_t end, bool reservation,
                                 berth_error_t *err)
{
    struct graph_place *n = graph_place_of(place);
    struct adoption a = {format, text, length, at, end, reservation};

    if (end <= at)
        return errtext_set(err, EINVAL, "expected an end after the start");
    int64_t booking = graph_place_refresh(n) < 0 ? -1 : alloc_booking_slot(n);
    if (booking < 0)
        return errtext_no_memory(err);
    if (take_adopted(n, booking, &a, err) < 0) {
        int error = errno;
        free_booking_slot(n, booking);
        errno = error;
        return -1;
    }
    errno = 0;
    bool tells =
        !text || (match_write_job(n->match, booking, "jgf", &text, &length) == 0 && length > 0);
    if (!tells || graph_place_enter(n, booking, &n->bookings[booking]) < 0) {
        int errnum = errno;
        match_cancel(n->match, booking, NULL, NULL);
        free_booking_slot(n, booking);
        return errnum == ENOMEM ? errtext_no_memory(err)
                                : errtext_set(err, EINVAL, "expected something that it holds");
    }
    drop_booking(n, booking);
    return booking;
}

static int graph_place_give(struct place *place, int64_t booking, const char *ranks,
                            berth_error_t *err)
{
    struct graph_place *n = graph_place_of(place);
    struct booking *b = &n->bookings[booking];

    if (graph_place_refresh(n) < 0)
        return errtext_no_memory(err);
    lift_booking(n, booking);
    int rc = match_give_ranks(n->match, booking, ranks, err), error = errno;
    if (rc == 0) {
        freed_add_all(&n->place.freed);
        graph_place_leave(n, booking, b);
        if (graph_place_enter(n, booking, b) < 0)
            n->stale = true; /* it is measured again when that is needed */
        b->has_ids = false;
        b->is_best = false;
    }
    drop_booking(n, booking);
    errno = error;
    return rc;
}

/* ---- The place ---- */

static bool graph_place_check(const struct place *place)
{
    const struct graph_place *n = graph_place_of(place);

    return match_check(n->match) && graph_place_parts_check(n) && capacity_check(n) &&
           freed_check(&n->freed_nodes);
}

static uint64_t graph_place_blocks(const struct place *place, int64_t booking)
{
    return match_job_blocks(graph_place_of(place)->match, booking);
}

static void graph_place_destroy(struct place *place)
{
    struct graph_place *n = graph_place_of(place);

    for (uint32_t i = 0; i < n->n_bookings; i++) {
        if (n->bookings[i].used)
            match_cancel(n->match, i, NULL, NULL);
        free(n->bookings[i].share);
        free(n->bookings[i].node);
    }
    for (uint32_t i = 0; i < BLOCKS_MAX; i++)
        match_block(n->match, i, NULL, 0, 0, 0, 0);
    free(n->bookings);
    graph_place_classes_clear(n);
    bundles_clear(n);
    capacity_clear(n);
    graph_place_parts_clear(n);
    free(n->touched);
    free(n->marked);
    free(n->among);
    free(n->meets);
    free(n->those);
    free(n->units);
    free(n->narrow);
    free(n->outer);
    core_ids_clear(n);
    strbuf_clear(&n->text);
    free(n);
}

/* What a bundle is asked as anything else. */
#define FOR_ALL                                                                                    \
    .idle = graph_place_idle, .rooms = graph_place_rooms, .check = graph_place_check,              \
    .destroy = graph_place_destroy, .part = graph_place_part, .settle = graph_place_settle,        \
    .hints = graph_place_hints, .take_hints = graph_place_take_hints, .try = graph_place_try,      \
    .tell = tell_now, .allow = graph_place_allow, .allow_few = graph_place_allow_few,              \
    .ever_on = graph_place_ever_on, .total = graph_place_total, .up = graph_place_up,              \
    .change = graph_place_change, .block = graph_place_block, .turn = graph_place_turn

const struct place_ops graph_place_ops = {
    FOR_ALL,
    .when = graph_place_when,
    .book = graph_place_book,
    .release = graph_place_release,
    .start = graph_place_start,
    .allocate = graph_place_allocate,
    .pull = graph_place_pull,
    .given = graph_place_given,
    .know = graph_place_know,
    .ever = graph_place_ever,
    .could_up = graph_place_could_up,
    .forget = graph_place_forget,
    .units = graph_place_units,
    .is_short = graph_place_is_short,
    .is_stuck = graph_place_is_stuck,
    .reserve = graph_place_reserve,
    .probe = graph_place_probe,
    .betters = graph_place_betters,
    .wants = graph_place_wants,
    .lift = graph_place_lift,
    .drop = graph_place_drop,
    .fits = graph_place_fits,
    .is_there = graph_place_is_there,
    .extend = graph_place_extend,
    .adopt = graph_place_adopt,
    .give = graph_place_give,
    .amount = graph_place_amount,
    .clear = graph_place_clear,
    .next_shared = graph_place_next_shared,
    .narrow = graph_place_narrow,
    .deny = graph_place_deny,
    .write = graph_place_write,
    .lacks = graph_place_lacks,
    .useful = graph_place_useful,
    .mark = graph_place_mark,
    .meets = graph_place_meets,
    .weigh = graph_place_weigh,
    .keep_free = graph_place_keep_free,
    .blocks = graph_place_blocks,
    .touches = graph_place_touches,
};

static const struct place_ops bundle_ops = {
    FOR_ALL,
    .when = bundle_when,
    .book = bundle_book,
    .release = bundle_release,
    .start = bundle_start,
    .allocate = bundle_allocate,
    .pull = bundle_pull,
    .given = bundle_given,
    .know = bundle_know,
    .ever = bundle_ever,
    .could_up = bundle_could_up,
    .forget = bundle_forget,
    .units = bundle_units,
    .is_short = bundle_is_short,
    .is_stuck = bundle_is_stuck,
    .reserve = bundle_reserve,
    .probe = bundle_probe,
    .betters = bundle_betters,
    .wants = bundle_wants,
    .lift = bundle_lift,
    .drop = bundle_drop,
    .fits = bundle_fits,
    .lay = bundle_lay,
    .shift = bundle_shift,
    .stands = bundle_stands,
    .free_beside = graph_place_free_beside,
    .withheld = graph_place_withheld,
    .is_there = bundle_is_there,
    .extend = bundle_extend,
    .give = bundle_give,
    .adopt = bundle_adopt,
    .amount = bundle_amount,
    .clear = bundle_clear,
    .next_shared = bundle_next_shared,
    .narrow = bundle_narrow,
    .deny = bundle_deny,
    .write = bundle_write,
    .lacks = bundle_lacks,
    .useful = bundle_useful,
    .mark = bundle_mark,
    .meets = bundle_meets,
    .weigh = bundle_weigh,
    .keep_free = bundle_keep_free,
    .blocks = bundle_blocks,
    .touches = bundle_touches,
    .gather = bundle_gather,
    .is_bundle = bundle_is,
    .at_most = bundle_at_most,
    .members = bundle_members,
    .holds = bundle_holds,
    .room = bundle_room,
    .first = bundle_first,
    .first_role = bundle_first_role,
    .detach = bundle_detach,
};

struct place *graph_place_create(match_t *match, berth_error_t *err)
{
    struct graph_place *n = calloc(1, sizeof(*n));
    uint16_t node;

    if (!n) {
        errtext_no_memory(err);
        return NULL;
    }
    n->place.ops = &bundle_ops;
    n->place.most = INT64_MAX;
    n->place.is_fixed = !match_order_is_dynamic(match);
    n->place.endless = match_end(match) / 2;
    n->match = match;
    n->graph = match_inner_graph(match);
    n->free_class = n->free_booking = PLACE_NONE;
    n->turn = INT64_MAX;
    freed_init(&n->place.freed, &n->freed_nodes);
    n->any_down = true;
    n->has_unit = match_part_amount(match, NULL, TYPE_CORE, false) > 0;
    n->unit = TYPE_CORE;
    if (!n->has_unit && graph_place_type(n, "node", &node)) {
        n->has_unit = match_part_amount(match, NULL, node, false) > 0;
        n->unit = node;
    }
    if (graph_place_part(&n->place, NULL, err) == 0)
        return &n->place;
    int saved = errno;
    graph_place_destroy(&n->place);
    errno = saved;
    return NULL;
}
