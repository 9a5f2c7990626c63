/* Bookings that delay nobody who is promised a start, even if their jobs take as long as they may (expect.c). */
#include <errno.h>

#include "sched/queues.h"

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

/* Book a job for now where there is room for its whole limit, even if others take longer than they are planned. Returns the
 * booking, or -1 with EBUSY or ENOMEM.
 */
static int64_t book_by_limit(sched_t *s, uint32_t slot)
{
    struct place_ask ask = ask_by_limit(s, slot);
    int64_t booking = s->place->ops->book(s->place, &ask, s->now);
    return booking < 0 || cut(s, slot, booking, s->now) < 0 ? -1 : keep_clear(s, slot, booking);
}

int64_t take_off_promises(sched_t *s, uint32_t slot, const struct place_ask *ask,
                          place_take_f *take, int64_t now)
{
    if (!s->place->ops->deny) {
        errno = EBUSY;
        return -1;
    }
    if (promises_avoid(s, slot, now) < 0)
        return -1;
    int64_t booking = take(s->place, ask, now);
    s->place->ops->narrow(s->place, NULL, false);
    return booking;
}

int64_t take_beside_promises(sched_t *s, uint32_t slot, const struct place_ask *ask,
                             place_take_f *take, int64_t now)
{
    struct place_ask beside = *ask;
    int64_t limit = s->jobs[slot].details->limit, booking = -1;
    int any = s->place->ops->keep_free ? promises_keep_free(s, slot, now) : 0;
    if (any < 0)
        return -1;
    errno = EBUSY;
    if (any > 0) {
        beside.clear = limit < SCHED_UNLIMITED ? limit : ask->clear;
        booking = take(s->place, &beside, now);
        int saved = errno;
        s->place->ops->keep_free(s->place, -1, 0);
        errno = saved;
    }
    return booking;
}

/* Keep a booking for now if it breaks no promise. Otherwise choose one that breaks none, even if the job takes its whole
 * limit. `narrow`: the choice is narrow for another reason. Returns the booking, or -1 with EBUSY or ENOMEM.
 */
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

int64_t reserve_clear(sched_t *s, uint32_t slot, int64_t from, int64_t *at, bool *unsure)
{
    int64_t booking = s->place->ops->reserve(s->place, &s->jobs[slot].ask, from, at);
    if (booking < 0 || keeps_promises(s, slot, booking, *at))
        return booking;
    *unsure = true;
    unbook(s, booking);
    struct place_ask ask = ask_by_limit(s, slot);
    for (;;) {
        booking = s->place->ops->reserve(s->place, &ask, from, at);
        if (booking < 0 || cut(s, slot, booking, *at) < 0)
            return -1;
        uint32_t broken = promise_broken(s, slot, booking, *at);
        if (broken == JOB_NONE)
            return booking;
        unbook(s, booking);
        from = job_until(&s->jobs[broken]); /* it starts while this one may be there */
    }
}
