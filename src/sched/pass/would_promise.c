/* What would the next pass promise a new job?
 *
 * A question to the calendars, as what_if.c is one: what the job's turn would set aside is set aside, namely what those hold
 * that are behind it; a reservation is made as in a pass, judged, and given back; then everything is put back.
 */
#include <errno.h>

#include "berth/sched_query.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/make_room.h"
#include "sched/controllers/passed_on.h"
#include "sched/pass/book.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shut_class.h"

/* Whether the first job of a queue that promises nothing, and goes before all queues of the job's level, keeps these from
 * room that is not booked for it yet, as nobody waited behind it.
 */
static bool is_kept_from(const sched_t *s, struct queue_key key)
{
    struct queue_entry first;
    for (uint32_t i = 0; i < s->n_lanes && s->queues->setup->has_levels; i++) {
        const struct lane *lane = &s->lanes[i];
        if (lane->depth == 0 && !lane->is_stopped && !lane->head.is &&
            queue_first(lane->open, &first) && queue_before(level_last(first.key), key))
            return true;
    }
    return false;
}

/* How many open jobs of its lane have their turns before a job, at most: where shares say whose turn it is, all others. */
static size_t open_before(const sched_t *s, uint32_t slot)
{
    const struct queue *open = lane_of(s, slot)->open;
    return s->queues->shares ? queue_size(open) - 1 : queue_rank(open, s->jobs[slot].key);
}

/* Whether its lane has a promise for it when its turn comes, beside those before it: where shares say whose turn it is, a
 * new job has it behind all that hold a promise and that it does not outrank.
 */
static bool has_lane_promise(const sched_t *s, uint32_t slot)
{
    const struct lane *lane = lane_of(s, slot);
    size_t before = queue_rank(lane->held, key_turn(s, slot)) + open_before(s, slot);
    return (int64_t)before < lane->depth;
}

/* Whether it is looked at at all, and may be promised a time by what passes do. A queue that promises nothing looks at nobody
 * behind a job that can't start.
 */
static bool has_turn(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    const struct lane *lane = lane_of(s, slot);
    return job->state == SCHED_WAITING && !s->replan.is && !lane->is_stopped &&
           s->queues->setup->actions & DOES(ALLOCATE) && !shares_shut_class(s, slot) &&
           is_considered(s, lane, job->key) && !is_kept_from(s, job->key) &&
           (lane->depth > 0 || open_before(s, slot) == 0);
}

/* Those before whom it has its turn: all of lower levels, and those of its own that it outranks. */
static bool gives_way_to(const sched_t *s, const struct job *holder, uint32_t slot)
{
    return !holder->is_preempting && !holder->is_claiming &&
           queue_before(key_turn(s, slot), holder->key);
}

static void set_those_behind_aside(sched_t *s, uint32_t slot)
{
    for (size_t i = 0; i < s->due.n; i++) {
        struct job *holder = &s->jobs[s->due.v[i].item];
        if (!gives_way_to(s, holder, slot))
            continue;
        s->place->ops->lift(s->place, holder->booking, false);
        holder->is_lifted = true;
        controllers_set_aside(s, s->due.v[i].item);
    }
}

static void put_those_behind_back(sched_t *s, uint32_t slot)
{
    for (size_t i = 0; i < s->due.n; i++)
        if (gives_way_to(s, &s->jobs[s->due.v[i].item], slot))
            controllers_put_back(s, s->due.v[i].item);
    for (size_t i = 0; i < s->due.n; i++) {
        struct job *holder = &s->jobs[s->due.v[i].item];
        if (!gives_way_to(s, holder, slot))
            continue;
        s->place->ops->drop(s->place, &holder->ask, holder->booking);
        holder->is_lifted = false;
    }
}

/* What it gets at a time is over a limit: others, within it, as a pass would reserve them. Returns a booking from *at on,
 * before `next`, or -1 with EBUSY or ENOMEM.
 */
static int64_t reserve_fewer(sched_t *s, uint32_t slot, int64_t booking, int64_t *at, int64_t next)
{
    const struct place_ops *ops = s->place->ops;
    int narrows = controllers_narrow(s, slot, booking, *at);
    unbook(s, booking);
    errno = narrows < 0 ? ENOMEM : EBUSY;
    if (narrows <= 0)
        return -1;
    booking = ops->reserve(s->place, &s->jobs[slot].ask, *at, at);
    int saved = errno;
    ops->narrow(s->place, NULL, false);
    errno = saved;
    if (booking < 0 || (*at < next && keeps_promises(s, slot, booking, *at) &&
                        controllers_may_hold(s, slot, s->jobs[slot].ask.duration, booking, *at)))
        return booking;
    unbook(s, booking);
    errno = EBUSY;
    return -1;
}

/* A reservation at the first time at which machine and limits have room; -1 with EBUSY or ENOMEM. */
static int64_t reserve_within(sched_t *s, uint32_t slot, int64_t *at)
{
    int64_t from = s->now;
    bool unsure = false;
    for (;;) {
        int64_t asked = from;
        from = controllers_when(s, slot, -1, asked);
        errno = EBUSY;
        int64_t booking = from < s->place->endless ? reserve_clear(s, slot, from, at, &unsure) : -1;
        if (booking < 0)
            return -1;
        if (*at >= s->place->endless) {
            unbook(s, booking);
            errno = EBUSY;
            return -1;
        }
        if (controllers_may_hold(s, slot, s->jobs[slot].ask.duration, booking, *at))
            return booking;
        from = controllers_when(s, slot, booking, *at);
        from = controllers_rethink(s, slot, booking, *at, from);
        booking = reserve_fewer(s, slot, booking, at, from);
        if (booking >= 0 || errno == ENOMEM || from <= asked)
            return booking;
    }
}

/* Reserve and judge. Returns 1 and *at, 0 if there is no time, or -1 with ENOMEM. */
static int find_promise(sched_t *s, uint32_t slot, int64_t *at, bool *expected)
{
    if (s->place->ops->tell)
        s->place->ops->tell(s->place, s->now);
    int64_t booking = reserve_within(s, slot, at);
    if (booking < 0)
        return errno == ENOMEM ? -1 : 0;
    *expected = *at > s->now && !keeps_own_promise(s, slot, booking, *at);
    unbook(s, booking);
    return 1;
}

/* Whether its lane, or the limit that alone keeps it, promises it a time. If the lane has no promise left, a limit keeps
 * the job only where the machine has room now.
 */
static bool is_promised_any(sched_t *s, uint32_t slot)
{
    bool may = has_lane_promise(s, slot);
    if (limit_lets(s, slot, s->now))
        return may;
    if (!may) {
        int64_t booking = book_for_now(s, slot, false);
        if (booking < 0)
            return false;
        unbook(s, booking);
    }
    return limit_has_promise(s, slot);
}

/* Whether a limit keeps it only as that counts both jobs that are being stopped and those that wait for their ends, and it has
 * room beside either: it looks for victims then, and needs none.
 */
static bool needs_no_victims(sched_t *s, uint32_t slot)
{
    if (limit_lets(s, slot, s->now) || !controllers_may_make_room(s, lane_of(s, slot)) ||
        !may_ask_at_last(s, slot))
        return false;
    int64_t booking = book_for_now(s, slot, false);
    if (booking < 0)
        return false;
    bool may = may_hold_at_last(s, slot, booking);
    unbook(s, booking);
    return may;
}

/* What its turn comes to, with those behind it set aside. As find_promise. */
static int find_turn(sched_t *s, uint32_t slot, int64_t *at, bool *expected)
{
    if (needs_no_victims(s, slot)) {
        *at = s->now;
        return 1;
    }
    return is_promised_any(s, slot) ? find_promise(s, slot, at, expected) : 0;
}

int sched_annotate_new(sched_t *s, sched_job_t handle, struct sched_annotation *a)
{
    uint32_t slot = job_in_queue(s, handle);
    int64_t at = -1;
    bool expected = false;
    if (sched_annotate(s, handle, a) < 0)
        return -1;
    if ((a->start >= 0 && a->start <= s->now) || !has_turn(s, slot))
        return 0;
    set_those_behind_aside(s, slot);
    heads_set_aside(s, s->jobs[slot].key, false);
    int found = find_turn(s, slot, &at, &expected);
    int saved = errno;
    heads_put_back(s);
    put_those_behind_back(s, slot);
    errno = saved;
    if (found <= 0)
        return found;
    a->start = at;
    a->not_before = false;
    a->expected = expected;
    return 0;
}
