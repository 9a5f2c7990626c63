/* Bookings that name resources: each is a job of the matcher (place/graph.h). */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "place/graph/graph_priv.h"

static int fail_graph_place(int error)
{
    errno = error;
    return -1;
}

/* ---- Slots ---- */

int graph_place_expect_slots(struct graph_place *n, uint32_t more)
{
    size_t least = (size_t)n->n_bookings + more;
    if (least >= INT32_MAX)
        return fail_graph_place(ENOMEM);
    return array_grow((void **)&n->bookings, &n->cap_bookings, least, sizeof(*n->bookings));
}

int64_t graph_place_alloc_slot(struct graph_place *n)
{
    uint32_t slot = n->free_booking;

    if (slot == PLACE_NONE && graph_place_expect_slots(n, 1) < 0)
        return -1;
    if (slot == PLACE_NONE) {
        slot = n->n_bookings++;
        n->bookings[slot] = (struct booking){0};
    } else {
        n->free_booking = n->bookings[slot].next;
    }
    n->bookings[slot].used = true;
    n->bookings[slot].has_ids = false;
    n->bookings[slot].is_best = false;
    return slot;
}

void graph_place_free_slot(struct graph_place *n, int64_t slot)
{
    struct booking *b = &n->bookings[slot];

    booking_forget_note(b);
    b->used = false;
    b->n = 0;
    b->counted = false;
    b->next = n->free_booking;
    n->free_booking = (uint32_t)slot;
}

void booking_forget_note(struct booking *b)
{
    free(b->note);
    b->note = NULL;
}

/* What is known of a booking from now on; where memory runs out, nothing is. */
static void booking_note(struct booking *b, const struct held_note *note)
{
    int error = errno;
    if (!b->note && note->kind != HELD_UNKNOWN)
        b->note = malloc(sizeof(*b->note));
    if (b->note)
        *b->note = *note;
    errno = error;
}

/* ---- In and out of the calendars ---- */

void graph_place_lift_counted(struct graph_place *n, int64_t booking)
{
    if (match_job_is_forced(n->match, booking))
        capacity_doubt(n);
    capacity_note(n, booking);
    match_job_lift(n->match, booking);
    graph_place_count(n, booking, &n->bookings[booking], false);
}

void graph_place_drop_counted(struct graph_place *n, int64_t booking)
{
    capacity_note(n, booking);
    match_job_drop(n->match, booking);
    graph_place_count(n, booking, &n->bookings[booking], !match_job_is_forced(n->match, booking));
}

void graph_place_try(struct place *place, bool begin)
{
    if (begin)
        capacity_try(graph_place_of(place), NULL);
    else
        capacity_tried(graph_place_of(place));
}

bool graph_place_try_one(struct place *place, const struct place_ask *ask)
{
    struct graph_place *n = graph_place_of(place);
    if (capacity_is_tried(n))
        return false;
    capacity_try(n, class_of(n, ask));
    return true;
}

/* Of one that is lifted briefly rows and gaps stay as they are: they will be right again. */
void graph_place_lift(struct place *place, int64_t booking, bool briefly)
{
    struct graph_place *n = graph_place_of(place);
    n->bookings[booking].is_aside = briefly;
    if (!briefly) {
        graph_place_lift_counted(n, booking);
        return;
    }
    match_job_lift(n->match, booking);
    graph_place_count(n, booking, &n->bookings[booking], false);
}

void graph_place_drop(struct place *place, const struct place_ask *ask, int64_t booking)
{
    struct graph_place *n = graph_place_of(place);
    struct booking *b = &n->bookings[booking];
    (void)ask;
    if (!b->is_aside) {
        graph_place_drop_counted(n, booking);
        return;
    }
    b->is_aside = false;
    match_job_return(n->match, booking);
    graph_place_count(n, booking, b, !match_job_is_forced(n->match, booking));
}

/* ---- Questions ---- */

int64_t graph_place_when(const struct place *place, const struct place_ask *ask, int64_t from)
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

bool graph_place_fits(struct place *place, const struct place_ask *ask, int64_t booking)
{
    struct graph_place *n = graph_place_of(place);
    int64_t at, end;

    rest_of(n, booking, &at, &end);
    return graph_place_refresh(n) == 0 && is_fit(n, ask, booking, at, end, end) == 1;
}

bool graph_place_is_there(struct place *place, const struct place_ask *ask, int64_t booking)
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
    int64_t booking = graph_place_alloc_slot(n);
    if (booking < 0)
        return -1;
    graph_place_plan_counted(&counted, n, ask);
    if (!counts)
        counted.plan.next = NULL;
    *at = match_plan_first(n->match, &counted.plan, booking, from, before, true);
    if (*at < 0) {
        graph_place_free_slot(n, booking);
        return -1;
    }
    if (graph_place_enter(n, booking, &n->bookings[booking]) < 0) {
        match_cancel(n->match, booking, NULL, NULL);
        graph_place_free_slot(n, booking);
        return fail_graph_place(ENOMEM);
    }
    graph_place_count(n, booking, &n->bookings[booking], true);
    capacity_note(n, booking);
    note_best(n, booking, ask, n->is_narrow);
    return booking;
}

int64_t graph_place_reserve(struct place *place, const struct place_ask *ask, int64_t from,
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
        booking_note(&n->bookings[booking], &note);
    }
    return booking;
}

int64_t graph_place_book(struct place *place, const struct place_ask *ask, int64_t at)
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
    graph_place_free_slot(n, booking);
}

void graph_place_release(struct place *place, int64_t booking)
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

void graph_place_undo(struct place *place, int64_t booking)
{
    struct graph_place *n = graph_place_of(place);

    if (match_job_is_forced(n->match, booking))
        capacity_doubt(n);
    graph_place_unbook(n, booking);
    capacity_gave_back(n);
}

int graph_place_start(struct place *place, const struct place_ask *ask, int64_t booking,
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
    graph_place_lift_counted(n, booking);
    int rc = is_fit(n, ask, booking, now, end, lasts ? now + 1 : end);
    if (rc == 1)
        rc = lasts ? 0 : graph_place_move(n, booking, &n->bookings[booking], now, end);
    else
        rc = rc < 0 ? -1 : fail_graph_place(EBUSY);
    if (rc == 0 && !lasts && end < was)
        graph_place_free_job(n, booking, end, was);
    if (rc == 0)
        graph_place_allocate(place, booking, now);
    int error = errno;
    graph_place_drop_counted(n, booking);
    errno = error;
    return rc;
}

void graph_place_allocate(struct place *place, int64_t booking, int64_t now)
{
    struct graph_place *n = graph_place_of(place);

    graph_place_tell(n, now);
    match_job_allocate(n->match, booking);
    booking_forget_note(&n->bookings[booking]);
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
        free(anew.others);
        return fail_graph_place(ENOMEM);
    }
    graph_place_count(n, BOOKING_TEMP, &anew, true);
    capacity_note(n, BOOKING_TEMP);
    match_job_window(n->match, booking, &was, &end);
    bool same = match_job_is_same(n->match, booking, BOOKING_TEMP);
    if (!same)
        graph_place_free_job(n, booking, was, end);
    graph_place_leave(n, booking, b);
    free(b->others);
    free(b->node);
    anew.note = b->note;
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

int64_t graph_place_pull(struct place *place, const struct place_ask *ask, int64_t booking,
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
    graph_place_lift_counted(n, booking);
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
        graph_place_drop_counted(n, booking);
    else
        note_best(n, booking, ask, is_narrow);
    if (rc >= 0)
        capacity_gave_back(n);
    if (!is_tried)
        capacity_tried(n);
    if (rc >= 0 || error == EBUSY || error == ENOENT) {
        capacity_catch_up(n, class_of(n, ask), &note);
        note.class = ask->class;
        booking_note(&n->bookings[booking], &note);
    }
    if (n->place.freed.next != next) /* under other names it may hold it still */
        how->freed = how->at;
    errno = error;
    if (rc >= 0)
        return found;
    return error == EBUSY || error == ENOENT ? how->at : -1;
}

int graph_place_extend(struct place *place, int64_t booking, int64_t end)
{
    struct graph_place *n = graph_place_of(place);
    bool lifted = match_job_is_lifted(n->match, booking);
    int64_t at, was;

    match_job_window(n->match, booking, &at, &was);
    if (end <= at)
        end = at + 1;
    graph_place_lift_counted(n, booking);
    int rc = graph_place_move(n, booking, &n->bookings[booking], at, end);
    n->bookings[booking].is_best = false;
    if (!lifted)
        graph_place_drop_counted(n, booking);
    if (rc == 0 && end < was)
        graph_place_free_job(n, booking, end, was);
    return rc;
}
