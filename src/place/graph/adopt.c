/* Bookings that a text tells of, and what they hold under other ranks (place/graph.h). */
#include <errno.h>

#include "base/errtext.h"
#include "match/text/names.h"
#include "place/graph/graph_priv.h"

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

int64_t graph_place_adopt(struct place *place, const char *format, const char *text, size_t length,
                          int64_t at, int64_t end, bool reservation, berth_error_t *err)
{
    struct graph_place *n = graph_place_of(place);
    struct adoption a = {format, text, length, at, end, reservation};

    if (end <= at)
        return errtext_set(err, EINVAL, "expected an end after the start");
    int64_t booking = graph_place_refresh(n) < 0 ? -1 : graph_place_alloc_slot(n);
    if (booking < 0)
        return errtext_no_memory(err);
    if (take_adopted(n, booking, &a, err) < 0) {
        int error = errno;
        graph_place_free_slot(n, booking);
        errno = error;
        return -1;
    }
    errno = 0;
    bool tells =
        !text || (match_write_job(n->match, booking, "jgf", &text, &length) == 0 && length > 0);
    if (!tells || graph_place_enter(n, booking, &n->bookings[booking]) < 0) {
        int errnum = errno;
        match_cancel(n->match, booking, NULL, NULL);
        graph_place_free_slot(n, booking);
        return errnum == ENOMEM ? errtext_no_memory(err)
                                : errtext_set(err, EINVAL, "expected something that it holds");
    }
    graph_place_drop_counted(n, booking);
    return booking;
}

int graph_place_give(struct place *place, int64_t booking, const char *ranks, berth_error_t *err)
{
    struct graph_place *n = graph_place_of(place);
    struct booking *b = &n->bookings[booking];

    if (graph_place_refresh(n) < 0)
        return errtext_no_memory(err);
    graph_place_lift_counted(n, booking);
    int rc = match_give_ranks(n->match, booking, ranks, err), error = errno;
    if (rc == 0) {
        freed_add_all(&n->place.freed);
        graph_place_leave(n, booking, b);
        if (graph_place_enter(n, booking, b) < 0)
            n->stale = true; /* it is measured again when that is needed */
        b->has_ids = false;
        b->is_best = false;
    }
    graph_place_drop_counted(n, booking);
    errno = error;
    return rc;
}
