/* Bookings that name resources: each is a job of the matcher (named_place.h). */
#include "sched/named_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "match/names.h"
#include "sched/named_priv.h"

static int fail(int error)
{
    errno = error;
    return -1;
}

/* ---- Slots ---- */

static int64_t slot_alloc(struct named *n)
{
    uint32_t slot = n->free_booking;

    if (slot == NAMED_NONE && n->n_bookings == n->cap_bookings) {
        uint32_t capacity = n->cap_bookings + n->cap_bookings / 2 + 64;
        struct booking *v =
            capacity < INT32_MAX ? reallocarray(n->bookings, capacity, sizeof(*v)) : NULL;
        if (!v)
            return fail(ENOMEM);
        n->bookings = v;
        n->cap_bookings = capacity;
    }
    if (slot == NAMED_NONE) {
        slot = n->n_bookings++;
        n->bookings[slot] = (struct booking){0};
    } else {
        n->free_booking = n->bookings[slot].next;
    }
    n->bookings[slot].used = true;
    n->bookings[slot].has_ids = false;
    n->bookings[slot].note.kind = HELD_UNKNOWN;
    return slot;
}

/* The array of shares is kept for the next booking. */
static void slot_free(struct named *n, int64_t slot)
{
    struct booking *b = &n->bookings[slot];

    b->used = false;
    b->n = 0;
    b->counted = false;
    b->next = n->free_booking;
    n->free_booking = (uint32_t)slot;
}

/* ---- In and out of the calendars ---- */

static void lift(struct named *n, int64_t booking)
{
    if (match_job_is_forced(n->match, booking))
        named_hosts_doubt(n);
    named_hosts_note(n, booking);
    match_job_lift(n->match, booking);
    named_count(n, booking, &n->bookings[booking], false);
}

static void drop(struct named *n, int64_t booking)
{
    named_hosts_note(n, booking);
    match_job_drop(n->match, booking);
    named_count(n, booking, &n->bookings[booking], !match_job_is_forced(n->match, booking));
}

static void named_try(struct place *place)
{
    named_hosts_try(named_of(place), NULL);
}

static void named_tried(struct place *place)
{
    named_hosts_tried(named_of(place));
}

static void named_lift(struct place *place, int64_t booking)
{
    lift(named_of(place), booking);
}

static void named_drop(struct place *place, int64_t booking)
{
    drop(named_of(place), booking);
}

/* ---- Questions ---- */

static int64_t named_most(const struct place *place)
{
    (void)place;
    return INT64_MAX;
}

static int64_t named_when(const struct place *place, const struct place_ask *ask, int64_t from)
{
    struct named *n = named_of(place);

    if (!class_of(n, ask))
        return fail(EINVAL);
    if (named_freshen(n) < 0)
        return -1;
    struct counted counted;
    named_plan_counted(&counted, n, ask);
    return match_plan_when(n->match, &counted.plan, from, INT64_MAX);
}

/* Whether what a lifted booking holds is good during [at, end), and free until `until`: 1, 0, or -1 with ENOMEM. */
static int is_fit(struct named *n, const struct place_ask *ask, int64_t booking, int64_t at,
                  int64_t end, int64_t until)
{
    struct plan_ask plan = named_plan(n, ask);

    return match_job_is_free(n->match, booking, at, until)
               ? match_job_is_fit(n->match, booking, &plan, at, end)
               : 0;
}

static bool named_fits(struct place *place, const struct place_ask *ask, int64_t booking)
{
    struct named *n = named_of(place);
    int64_t at, end;

    match_job_window(n->match, booking, &at, &end);
    return named_freshen(n) == 0 && is_fit(n, ask, booking, at, end, end) == 1;
}

/* ---- Bookings ---- */

/* Book it at the earliest time of [from, before). */
static int64_t book(struct named *n, const struct place_ask *ask, int64_t from, int64_t before,
                    int64_t *at)
{
    struct counted counted;

    if (!class_of(n, ask))
        return fail(EINVAL);
    if (named_freshen(n) < 0)
        return -1;
    int64_t booking = slot_alloc(n);
    if (booking < 0)
        return -1;
    named_plan_counted(&counted, n, ask);
    *at = match_plan_first(n->match, &counted.plan, booking, from, before, true);
    if (*at < 0) {
        slot_free(n, booking);
        return -1;
    }
    if (named_enter(n, booking, &n->bookings[booking]) < 0) {
        match_cancel(n->match, booking, NULL, NULL);
        slot_free(n, booking);
        return fail(ENOMEM);
    }
    named_count(n, booking, &n->bookings[booking], true);
    named_hosts_note(n, booking);
    return booking;
}

static int64_t named_reserve(struct place *place, const struct place_ask *ask, int64_t from,
                             int64_t *at)
{
    struct named *n = named_of(place);
    const struct class *c = class_of(n, ask);
    struct held_note note = {0};
    int64_t first = -1;

    named_tell(n, from);
    if (c && c->host != NAMED_NONE && named_freshen(n) == 0)
        first = named_hosts_first(n, c, ask->duration, INT64_MAX, &note);
    int64_t booking = book(n, ask, from, INT64_MAX, at);
    if (booking >= 0 && first == *at) {
        note.class = ask->class;
        n->bookings[booking].note = note;
    }
    return booking;
}

static int64_t named_book(struct place *place, const struct place_ask *ask, int64_t at)
{
    int64_t found, booking = book(named_of(place), ask, at, at + 1, &found);

    return booking >= 0 || errno == ENOMEM || errno == EINVAL ? booking : fail(EBUSY);
}

static void named_release(struct place *place, int64_t booking)
{
    struct named *n = named_of(place);
    int64_t at, end;

    if (match_job_is_forced(n->match, booking))
        named_hosts_doubt(n);
    match_job_window(n->match, booking, &at, &end);
    named_free_job(n, booking, at, end);
    named_hosts_note(n, booking);
    named_leave(n, booking, &n->bookings[booking]);
    match_cancel(n->match, booking, NULL, NULL);
    slot_free(n, booking);
}

static int named_start(struct place *place, const struct place_ask *ask, int64_t booking,
                       int64_t now)
{
    struct named *n = named_of(place);
    int64_t end = now + ask->duration, at, was;

    named_tell(n, now);
    if (named_freshen(n) < 0)
        return -1;
    match_job_window(n->match, booking, &at, &was);
    bool lasts =
        at <= now && was >= end; /* who comes later and is in its way is the core's affair */
    lift(n, booking);
    int rc = is_fit(n, ask, booking, now, end, lasts ? now + 1 : end);
    if (rc == 1)
        rc = lasts ? 0 : named_move(n, booking, &n->bookings[booking], now, end);
    else
        rc = rc < 0 ? -1 : fail(EBUSY);
    if (rc == 0 && !lasts && end < was)
        named_free_job(n, booking, end, was);
    if (rc == 0)
        match_job_allocate(n->match, booking);
    int error = errno;
    drop(n, booking);
    errno = error;
    return rc;
}

/* Put what NAMED_TEMP has been given in a lifted booking's place; whether that is the same. Returns 1, 0, or -1 with ENOMEM,
 * and nothing is changed but that NAMED_TEMP is no more.
 */
static int replace(struct named *n, int64_t booking)
{
    struct booking *b = &n->bookings[booking], anew = {.used = true};
    int64_t was, end;

    if (named_enter(n, NAMED_TEMP, &anew) < 0) {
        match_cancel(n->match, NAMED_TEMP, NULL, NULL);
        free(anew.share);
        return fail(ENOMEM);
    }
    named_count(n, NAMED_TEMP, &anew, true);
    named_hosts_note(n, NAMED_TEMP);
    match_job_window(n->match, booking, &was, &end);
    bool same = match_job_is_same(n->match, booking, NAMED_TEMP);
    if (!same)
        named_free_job(n, booking, was, end);
    named_leave(n, booking, b);
    free(b->share);
    *b = anew;
    match_job_replace(n->match, booking, NAMED_TEMP);
    return same;
}

/* Book something for NAMED_TEMP before `at`, or, if `anew`, at `at`. Returns its time, or -1 with EBUSY, ENOENT, ENOMEM. The note is
 * what is known of a booking at that time, or at `at`.
 */
static int64_t choose(struct named *n, const struct place_ask *ask, int64_t at, int64_t from,
                      bool anew, struct held_note *note)
{
    const struct class *c = class_of(n, ask);
    bool is_counted = c->host != NAMED_NONE;
    struct counted counted;
    int64_t first = n->now, found = fail(ENOENT);

    named_plan_counted(&counted, n, ask);
    *note = (struct held_note){0};
    if (from < at && is_counted)
        first = named_hosts_first(n, c, ask->duration, at, note);
    errno = ENOENT;
    if (from < at && first >= 0) {
        found = match_plan_first(n->match, &counted.plan, NAMED_TEMP, from, at, true);
        if (found < 0 && is_counted)
            *note = (struct held_note){.kind = HELD_NO_MATCH,
                                       .duration = ask->duration,
                                       .before = at,
                                       .heard = named_freed(&n->place)};
        else if (found != first)
            note->kind = HELD_UNKNOWN;
    }
    if (found >= 0 || (errno != ENOENT && errno != EBUSY))
        return found;
    return anew && match_plan(n->match, &counted.plan, NAMED_TEMP, at, true) == 0 ? at : -1;
}

/* Take what was chosen for NAMED_TEMP back if the booking may not hold it. Returns whether it may. */
static bool may_hold(struct named *n, const struct place_pull *how, struct held_note *note)
{
    if (!how->may_hold || how->may_hold(how->arg, NAMED_TEMP))
        return true;
    match_cancel(n->match, NAMED_TEMP, NULL, NULL);
    note->kind = HELD_UNKNOWN;
    errno = EBUSY;
    return false;
}

static int64_t named_pull(struct place *place, const struct place_ask *ask, int64_t booking,
                          const struct place_pull *how)
{
    struct named *n = named_of(place);
    struct held_note note;

    if (!class_of(n, ask))
        return fail(EINVAL);
    if (named_freshen(n) < 0)
        return -1;
    named_hosts_try(n, class_of(n, ask));
    lift(n, booking);
    int64_t found = choose(n, ask, how->at, how->from, how->anew, &note);
    int rc = found < 0 || !may_hold(n, how, &note) ? -1 : replace(n, booking);
    int error = errno;
    if (rc < 0)
        drop(n, booking);
    named_hosts_tried(n);
    if (rc >= 0 || error == EBUSY || error == ENOENT) {
        named_hosts_hear(n, class_of(n, ask), &note);
        note.class = ask->class;
        n->bookings[booking].note = note;
    }
    errno = error;
    if (rc >= 0)
        return found;
    return error == EBUSY || error == ENOENT ? how->at : -1;
}

static int named_extend(struct place *place, int64_t booking, int64_t end)
{
    struct named *n = named_of(place);
    bool lifted = match_job_is_lifted(n->match, booking);
    int64_t at, was;

    match_job_window(n->match, booking, &at, &was);
    if (end <= at)
        end = at + 1;
    lift(n, booking);
    int rc = named_move(n, booking, &n->bookings[booking], at, end);
    if (!lifted)
        drop(n, booking);
    if (rc == 0 && end < was)
        named_free_job(n, booking, end, was);
    return rc;
}

static int64_t named_adopt(struct place *place, const char *format, const char *text, size_t length,
                           int64_t at, int64_t end, bool reservation, berth_error_t *err)
{
    struct named *n = named_of(place);

    if (end <= at)
        return errtext_set(err, EINVAL, "expected an end after the start");
    int64_t booking = named_freshen(n) < 0 ? -1 : slot_alloc(n);
    if (booking < 0)
        return errtext_set(err, ENOMEM, "out of memory");
    if (match_update(n->match, format, text, length, booking, at, end - at, reservation, err) < 0) {
        slot_free(n, booking);
        return -1;
    }
    errno = 0;
    bool tells = match_write_job(n->match, booking, format, &text, &length) == 0 && length > 0;
    if (!tells || named_enter(n, booking, &n->bookings[booking]) < 0) {
        int errnum = errno;
        match_cancel(n->match, booking, NULL, NULL);
        slot_free(n, booking);
        return errnum == ENOMEM ? errtext_set(err, ENOMEM, "out of memory")
                                : errtext_set(err, EINVAL, "expected something that it holds");
    }
    named_count(n, booking, &n->bookings[booking], true);
    named_hosts_note(n, booking);
    return booking;
}

/* ---- The place ---- */

static bool named_check(const struct place *place)
{
    const struct named *n = named_of(place);

    return match_check(n->match) && named_parts_check(n) && named_hosts_check(n);
}

static void named_destroy(struct place *place)
{
    struct named *n = named_of(place);

    for (uint32_t i = 0; i < n->n_bookings; i++) {
        if (n->bookings[i].used)
            match_cancel(n->match, i, NULL, NULL);
        free(n->bookings[i].share);
    }
    for (uint32_t i = 0; i < PLACE_BLOCKS; i++)
        match_block(n->match, i, NULL, 0, 0, 0, 0);
    free(n->bookings);
    named_classes_clear(n);
    named_hosts_clear(n);
    named_parts_clear(n);
    free(n->touched);
    free(n->marked);
    free(n->those);
    named_given_clear(n);
    strbuf_clear(&n->text);
    free(n);
}

static const struct place_named named_named = {
    .part = named_part,
    .know = named_know,
    .know_again = named_know_again,
    .forget = named_forget,
    .units = named_units,
    .stirs = named_stirs,
    .is_short = named_is_short,
    .is_stuck = named_is_stuck,
    .reserve = named_reserve,
    .probe = named_probe,
    .unprobe = named_unprobe,
    .set_aside = named_set_aside,
    .put_back = named_put_back,
    .betters = named_betters,
    .freed = named_freed,
    .forget_freed = named_forget_freed,
    .is_fixed = named_is_fixed,
    .settle = named_settle,
    .frees = named_frees,
    .hints = named_hints,
    .take_hints = named_take_hints,
    .wants = named_wants,
    .try = named_try,
    .tried = named_tried,
    .lift = named_lift,
    .drop = named_drop,
    .fits = named_fits,
    .extend = named_extend,
    .adopt = named_adopt,
    .amount = named_amount,
    .write = named_write,
    .lacks = named_lacks,
    .bars = named_bars,
    .status = named_status,
    .property = named_property,
    .attach = named_attach,
    .remove = named_remove,
    .touches = named_touches,
    .block = named_block,
    .unblock = named_unblock,
    .turn = named_turn,
};

static const struct place_ops named_ops = {
    .most = named_most,
    .idle = named_idle,
    .when = named_when,
    .book = named_book,
    .release = named_release,
    .start = named_start,
    .pull = named_pull,
    .given = named_given,
    .rooms = named_rooms,
    .check = named_check,
    .destroy = named_destroy,
    .named = &named_named,
};

struct place *named_place_create(match_t *match, berth_error_t *err)
{
    struct named *n = calloc(1, sizeof(*n));
    uint16_t node;

    if (!n) {
        errtext_set(err, ENOMEM, "out of memory");
        return NULL;
    }
    n->place.ops = &named_ops;
    n->match = match;
    n->graph = match_inner_graph(match);
    n->free_class = n->free_booking = NAMED_NONE;
    n->turn = INT64_MAX;
    n->any_down = true;
    n->has_unit = match_part_amount(match, NULL, TYPE_CORE, false) > 0;
    n->unit = TYPE_CORE;
    if (!n->has_unit && named_type(n, "node", &node)) {
        n->has_unit = match_part_amount(match, NULL, node, false) > 0;
        n->unit = node;
    }
    if (named_part(&n->place, NULL, err) == 0)
        return &n->place;
    int saved = errno;
    named_destroy(&n->place);
    errno = saved;
    return NULL;
}
