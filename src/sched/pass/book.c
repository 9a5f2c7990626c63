#include "sched/pass/book.h"

#include <errno.h>

#include "sched/pass/expect.h"

void unbook(sched_t *s, int64_t booking)
{
    int saved = errno;
    s->place->ops->release(s->place, booking);
    s->booked++;
    errno = saved;
}

/* A booking that would fit with the job's whole limit is cut to its estimate. 0, or -1 with ENOMEM. */
static int cut(sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    if (s->place->ops->extend(s->place, booking, at + s->jobs[slot].ask.duration) == 0)
        return 0;
    unbook(s, booking);
    errno = ENOMEM;
    return -1;
}

/* The booking, if it delays nobody who is promised a start, or -1 with EBUSY. */
static int64_t keep_clear(sched_t *s, uint32_t slot, int64_t booking)
{
    if (booking < 0 || keeps_promises(s, slot, booking, s->now))
        return booking;
    unbook(s, booking);
    errno = EBUSY;
    return -1;
}

/* Book a job for now where there is room for its whole limit, even if others take longer than they are planned. */
static int64_t book_by_limit(sched_t *s, uint32_t slot)
{
    struct place_ask ask = ask_by_limit(s, slot);
    int64_t booking = s->place->ops->book(s->place, &ask, s->now);
    return booking < 0 || cut(s, slot, booking, s->now) < 0 ? -1 : keep_clear(s, slot, booking);
}

struct place_ask ask_clear(const sched_t *s, uint32_t slot, const struct place_ask *ask)
{
    struct place_ask clear = *ask;
    int64_t limit = s->jobs[slot].details->limit;
    if (limit < SCHED_UNLIMITED)
        clear.clear = limit;
    return clear;
}

int64_t take_off_promises(sched_t *s, uint32_t slot, const struct place_ask *ask,
                          place_take_f *take, int64_t now)
{
    if (!s->place->ops->deny) {
        errno = EBUSY;
        return -1;
    }
    int64_t until;
    if (promises_avoid(s, slot, now, &until) < 0)
        return -1;
    struct place_ask off = ask_clear(s, slot, ask);
    int64_t booking = take(s->place, &off, now);
    s->place->ops->narrow(s->place, NULL, false);
    return booking;
}

int64_t take_beside_promises(sched_t *s, uint32_t slot, const struct place_ask *ask,
                             place_take_f *take, int64_t now)
{
    struct place_ask beside = ask_clear(s, slot, ask);
    int64_t booking = -1;
    int any = s->place->ops->keep_free ? promises_keep_free(s, slot, now) : 0;
    if (any < 0)
        return -1;
    errno = EBUSY;
    if (any > 0) {
        booking = take(s->place, &beside, now);
        int saved = errno;
        s->place->ops->keep_free(s->place, -1, 0);
        errno = saved;
    }
    return booking;
}

int64_t book_clear(sched_t *s, uint32_t slot, int64_t booking, bool narrow)
{
    if (keeps_promises(s, slot, booking, s->now))
        return booking;
    unbook(s, booking);
    const struct place_ask *ask = &s->jobs[slot].ask;
    place_take_f *book = s->place->ops->book;
    booking = book_by_limit(s, slot);
    if (booking < 0 && errno == EBUSY && !narrow)
        booking = keep_clear(s, slot, take_off_promises(s, slot, ask, book, s->now));
    if (booking < 0 && errno == EBUSY && !narrow)
        booking = keep_clear(s, slot, take_beside_promises(s, slot, ask, book, s->now));
    s->pass.yields |= booking < 0;
    return booking;
}

int64_t book_for_now(sched_t *s, uint32_t slot, bool narrow)
{
    int64_t booking = s->place->ops->book(s->place, &s->jobs[slot].ask, s->now);
    return booking < 0 ? booking : book_clear(s, slot, booking, narrow);
}

/* Reserve where there is room for a job's whole limit, from a time on. */
static int64_t reserve_by_limit(sched_t *s, uint32_t slot, int64_t from, int64_t *at)
{
    struct place_ask ask = ask_by_limit(s, slot);
    for (;;) {
        int64_t booking = s->place->ops->reserve(s->place, &ask, from, at);
        if (booking < 0 || cut(s, slot, booking, *at) < 0)
            return -1;
        uint32_t broken = promise_broken(s, slot, booking, *at);
        if (broken == JOB_NONE)
            return booking;
        unbook(s, booking);
        from = job_until(&s->jobs[broken]); /* it starts while this one may be there */
    }
}

/* Reserve from a time on beside what others are promised before the job's limit is over, were it to begin then, if they share
 * nodes. Whether that keeps promises is to be asked of the booking.
 */
static int64_t reserve_beside(sched_t *s, uint32_t slot, const struct place_ask *ask, int64_t from,
                              int64_t *at)
{
    int any = s->place->ops->keep_free ? promises_keep_free(s, slot, from) : 0;
    if (any < 0)
        return -1;
    errno = EBUSY;
    if (any == 0)
        return -1;
    int64_t booking = s->place->ops->reserve(s->place, ask, from, at);
    int saved = errno;
    s->place->ops->keep_free(s->place, -1, 0);
    errno = saved;
    return booking;
}

int64_t reserve_off_promises(sched_t *s, uint32_t slot, int64_t from, int64_t before, int64_t *at)
{
    struct place_ask ask = ask_clear(s, slot, &s->jobs[slot].ask);
    int64_t until;
    for (int i = 0; s->place->ops->deny && from < before && i < TIMES_TRIED; i++) {
        int64_t beside = reserve_beside(s, slot, &ask, from, at);
        if (beside < 0 && errno == ENOMEM)
            return -1;
        if (beside >= 0 && *at < before && keeps_promises(s, slot, beside, *at))
            return beside;
        if (beside >= 0)
            unbook(s, beside);
        if (beside >= 0 &&
            *at > from) { /* others are promised something before its limit is over then */
            from = *at;
            continue;
        }
        if (promises_avoid(s, slot, from, &until) < 0)
            return -1;
        int64_t booking = s->place->ops->reserve(s->place, &ask, from, at);
        s->place->ops->narrow(s->place, NULL, false);
        if (booking < 0 && errno == ENOMEM)
            return -1;
        bool is_sooner = booking >= 0 && *at < until && *at < before;
        if (is_sooner && keeps_promises(s, slot, booking, *at))
            return booking;
        if (booking >= 0)
            unbook(s, booking);
        from = is_sooner && *at > from ? *at : until; /* with others to avoid */
    }
    errno = EBUSY;
    return -1;
}

/* At the time of a booking where there is room for the whole limit, others may do as well: those that are chosen by the
 * estimate.
 */
static int64_t reserve_as_usual(sched_t *s, uint32_t slot, int64_t booking, int64_t *at)
{
    int64_t from = *at;
    unbook(s, booking);
    booking = s->place->ops->reserve(s->place, &s->jobs[slot].ask, from, at);
    if (booking >= 0 && *at == from && keeps_promises(s, slot, booking, from))
        return booking;
    if (booking >= 0)
        unbook(s, booking);
    return reserve_by_limit(s, slot, from, at);
}

int64_t reserve_clear(sched_t *s, uint32_t slot, int64_t from, int64_t *at, bool *unsure)
{
    int64_t booking = s->place->ops->reserve(s->place, &s->jobs[slot].ask, from, at), sooner;
    if (booking < 0 || keeps_promises(s, slot, booking, *at))
        return booking;
    *unsure = true;
    unbook(s, booking);
    from = *at;
    booking = reserve_by_limit(s, slot, from, at);
    if (booking < 0 && errno == ENOMEM)
        return -1;
    if (booking >= 0) /* else it is in its own way */
        s->place->ops->lift(s->place, booking, false);
    int64_t off = reserve_off_promises(s, slot, from, booking < 0 ? INT64_MAX : *at, &sooner);
    if (off < 0 && errno != ENOMEM && booking >= 0) {
        s->place->ops->drop(s->place, &s->jobs[slot].ask, booking);
        return *at > from ? reserve_as_usual(s, slot, booking, at) : booking;
    }
    int saved = errno;
    if (booking >= 0)
        unbook(s, booking);
    errno = saved;
    *at = sooner;
    return off;
}
