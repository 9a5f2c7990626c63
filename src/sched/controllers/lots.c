#include "sched/controllers/lots.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/limits.h"
#include "sched/controllers/lots_priv.h"
#include "sched/controllers/make_room.h"
#include "sched/waiting/job_group.h"
#include "sched/waiting/shares.h"

void lots_free(struct lots *lots)
{
    if (!lots)
        return;
    free(lots->v);
    free(lots->gang);
    free(lots->gone);
    free(lots);
}

static void take_lot(struct preemption *h, struct lot *lot, bool take)
{
    struct lots *lots = h->lots;
    for (uint32_t i = lot->first; i < lot->first + lot->n; i++) {
        if (take)
            preemption_take(h, &h->victim[i]);
        else
            preemption_put_back(h, &h->victim[i]);
    }
    lot->is_taken = take;
    if (lot->rank != LOT_GOES) /* else it is gone as it is */
        lots_note_gone(h->s, lots, lot->slot, lot->amount, take ? 1 : -1);
    if (lot->gang == NO_GANG)
        return;
    if (lot->is_whole)
        lots->gang[lot->gang].is_whole = take;
    else
        lots->gang[lot->gang].taken += take ? 1u : -1u;
}

static bool share_lets(const struct preemption *h, const struct lot *lot)
{
    const struct lots *lots = h->lots;
    const sched_t *s = h->s;
    if (!lot->by_share)
        return true;
    struct share_tree *tree = s->queues->shares->tree;
    if (s->jobs[lot->slot].lane == s->jobs[lots->slot].lane)
        return share_may_even_out(tree, lots->leaf, lots->amount, lots_leaf(s, lot->slot),
                                  lot->amount, lots->gone);
    return share_may_reclaim(tree, lots->node, lots->amount, lots_node(s, lot->slot), lot->amount,
                             lots->gone);
}

/* What is left of a gang goes after its spare members. */
static bool has_turn(const struct preemption *h, const struct lot *lot)
{
    const struct lots *lots = h->lots;
    return !lot->is_whole || lots->gang[lot->gang].taken == lots->gang[lot->gang].spare;
}

/* Whether limits let the job have a booking. What those hold that others wait for counts once, as theirs or as that of these
 * (passed_on.h).
 */
static bool lets_hold(const struct preemption *h, int64_t booking)
{
    sched_t *s = h->s;
    uint32_t slot = h->lots->slot;
    return controllers_may_hold(s, slot, s->jobs[slot].ask.duration, booking, s->now) ||
           (s->queues->n_awaited > 0 && may_hold_at_last(s, slot, booking));
}

/* Book it within all limits. Returns the booking, or -1 with EBUSY or ENOMEM. */
static int64_t book(struct preemption *h)
{
    sched_t *s = h->s;
    const struct place_ops *ops = s->place->ops;
    struct place_note note = {0};
    errno = EBUSY;
    if (ops->is_short(s->place, h->ask, s->now, &note))
        return -1;
    int64_t booking = preemption_try(h);
    if (booking < 0 || lets_hold(h, booking))
        return booking;
    ops->undo(s->place, booking);
    h->is_refused = true;
    errno = EBUSY;
    return -1;
}

/* Whether a spare member goes as its gang does. */
static bool goes_along(const struct lots *lots, const struct lot *lot)
{
    return lot->gang != NO_GANG && !lot->is_whole && lots->gang[lot->gang].is_whole;
}

/* Whether another booking would be the same if others took more, but none of what it has: then only limits may refuse it. Where
 * it may have to keep promises beyond its end, or limits narrow the choice, that is not known.
 */
static bool is_steady(const struct preemption *h)
{
    const struct place_ops *ops = h->s->place->ops;
    return !h->is_narrow && !h->s->queues->any_tails && ops->is_steady &&
           ops->is_steady(h->s->place, h->ask);
}

/* Whether nobody of a lot has anything of the booking that is marked. */
static bool is_apart(const struct preemption *h, const struct lot *lot)
{
    const sched_t *s = h->s;
    bool apart = true;
    for (uint32_t i = lot->first; i < lot->first + lot->n && apart; i++)
        apart = s->place->ops->meets(s->place, s->jobs[h->victim[i].slot].booking) == PLACE_APART;
    return apart;
}

/* Put a lot back that has nothing of the booking, unless limits refuse that beside it. */
static void spare_apart(struct preemption *h, struct lot *lot, int64_t booking)
{
    take_lot(h, lot, false);
    if (!lets_hold(h, booking))
        take_lot(h, lot, true);
}

/* Whether limits measure nothing of where a booking is, and the booking may be mended. */
static bool may_be_mended(const struct preemption *h)
{
    const sched_t *s = h->s;
    const struct place_ops *ops = s->place->ops;
    return BOOKINGS_MENDED && ops->may_mend && ops->may_mend(s->place, h->ask) &&
           !limits_measures(s->queues->limits, s->jobs[h->lots->slot].details->party);
}

/* The booking of a job while lots are put back that it does not need. */
struct sparing {
    int64_t booking;
    bool is_steady, is_marked;
    bool is_lifted; /* out of the calendars, as a lot was needed */
    bool is_mended; /* it may be another one than without so many lots */
};

/* Put a lot back and book the job without it. If the job needs the lot, take it again and keep the former booking: a steady one
 * is lifted from then on, as the job would be given the same again; any other is made again. booking -1: ENOMEM.
 */
static void book_without(struct preemption *h, struct lot *lot, struct sparing *is)
{
    struct place *place = h->s->place;
    if (!is->is_steady)
        place->ops->undo(place, is->booking);
    else if (!is->is_lifted)
        place->ops->lift(place, is->booking, false);
    is->is_lifted = is->is_steady;
    take_lot(h, lot, false);
    int64_t without = book(h);
    int saved = errno;
    if (without < 0 && errno == EBUSY) {
        take_lot(h, lot, true);
        if (!is->is_steady)
            is->booking = book(h);
        return;
    }
    if (is->is_steady)
        place->ops->undo(place, is->booking);
    is->is_lifted = false;
    is->booking = without;
    errno = saved;
}

/* The same, where it does not matter what the job is given. Members that hold something of the lot leave the booking and are booked
 * elsewhere. The others stay.
 */
static void mend_without(struct preemption *h, struct lot *lot, struct sparing *is)
{
    sched_t *s = h->s;
    const struct place_ops *ops = s->place->ops;
    int rc = 0;
    for (uint32_t i = lot->first; i < lot->first + lot->n && rc == 0; i++)
        rc = ops->loosen(s->place, is->booking, s->jobs[h->victim[i].slot].booking);
    if (rc == 0) {
        take_lot(h, lot, false);
        rc = ops->mend(s->place, h->ask, is->booking, s->now);
        bool has_room = rc == 0, is_busy = rc < 0 && errno == EBUSY;
        bool is_let = has_room && lets_hold(h, is->booking);
        h->is_refused |= has_room && !is_let;
        if (!is_let)
            take_lot(h, lot, true);
        if (is_busy)
            rc = ops->mend(s->place, h->ask, is->booking, s->now);
    }
    if (rc == 0)
        return;
    ops->undo(s->place, is->booking);
    is->booking = -1;
    errno = ENOMEM;
}

/* Put back the lots that the job does not need, beginning with the last one. To see whether it needs a lot, it is booked anew
 * without it. Bookings that are steady (is_steady) stay the same without a lot of which they hold nothing: that one is put back,
 * and nothing is booked anew. With `anywhere` the booking only shows that there is room: it may be another one than the job would
 * be given. Returns the booking, or -1 with ENOMEM. A match for each lot that is tried, two if it is needed and bookings are
 * not steady.
 */
static int64_t spare_lots(struct preemption *h, int64_t booking, bool anywhere)
{
    struct lots *lots = h->lots;
    struct place *place = h->s->place;
    struct sparing is = {.booking = booking, .is_steady = booking >= 0 && is_steady(h)};
    is.is_mended = is.is_steady && anywhere && may_be_mended(h);
    for (size_t i = lots->n; i-- > 0 && is.booking >= 0;) {
        struct lot *lot = &lots->v[i];
        if (!lot->is_taken || goes_along(lots, lot))
            continue;
        if (is.is_steady && !is.is_marked)
            is.is_marked = place->ops->mark(place, is.booking, true) == 0;
        if (is.is_marked && is_apart(h, lot)) {
            spare_apart(h, lot, is.booking);
            continue;
        }
        if (is.is_marked)
            place->ops->mark(place, is.booking, false);
        is.is_marked = false;
        if (is.is_mended)
            mend_without(h, lot, &is);
        else
            book_without(h, lot, &is);
    }
    if (is.is_marked)
        place->ops->mark(place, is.booking, false);
    if (is.is_lifted)
        place->ops->drop(place, h->ask, is.booking);
    return is.booking;
}

/* Whether stopping a lot may be of use: what it holds, or what its user's or queue's limits count. Members of gangs always
 * are, as others may go with them.
 */
static bool is_of_use(const struct preemption *h, const struct lot *lot)
{
    const sched_t *s = h->s;
    const struct place_ops *ops = s->place->ops;
    const struct job *job = &s->jobs[lot->slot];
    return lot->rank == LOT_GOES || lot->gang != NO_GANG || !ops->useful ||
           ops->useful(s->place, h->ask, job->booking) > 0 ||
           limits_share(s->queues->limits, s->jobs[h->lots->slot].details->party,
                        job->details->party);
}

static void put_all_back(struct preemption *h)
{
    struct lots *lots = h->lots;
    for (size_t i = 0; i < lots->n; i++)
        if (lots->v[i].is_taken)
            take_lot(h, &lots->v[i], false);
}

enum which_lots { ANY, NEEDED, USEFUL };

static bool is_lot_among(const struct preemption *h, const struct lot *lot, enum which_lots which)
{
    return which == ANY || (which == NEEDED ? lot->is_needed : is_of_use(h, lot));
}

/* Whether what fits with some lots fits with more of them, so that those behind them are not needed: bookings are steady, and
 * limits do not look at what is booked.
 */
static bool is_enough_for_all(const struct preemption *h)
{
    const sched_t *s = h->s;
    return is_steady(h) &&
           !limits_measures(s->queues->limits, s->jobs[h->lots->slot].details->party);
}

/* Whether a lot is to be tried now, beside those that are taken. */
static bool is_next(const struct preemption *h, const struct lot *lot, enum which_lots which)
{
    return !lot->is_taken && is_lot_among(h, lot, which) && has_turn(h, lot);
}

/* Take lots in their order until the job fits. Where a job that fits with some lots also fits with more, it is not tried after each
 * lot: first after as many as are being stopped already, then after twice as many more each time. Lots that are too many
 * are put back later, from the last one on, with the same outcome. Useful lots are tried one by one, as lots behind them may have
 * been taken before. Returns the booking, or -1 with EBUSY or ENOMEM. *refused: a share gave one no more.
 */
static int64_t take_lots(struct preemption *h, enum which_lots which, bool *refused)
{
    struct lots *lots = h->lots;
    bool grows = which != USEFUL && is_enough_for_all(h), failed = false;
    size_t many = grows && h->s->queues->n_stopping > 1 ? h->s->queues->n_stopping : 1, more = 0;
    int64_t booking = -1;
    for (size_t i = 0; i < lots->n && booking < 0 && !failed; i++) {
        struct lot *lot = &lots->v[i];
        if (!is_next(h, lot, which))
            continue;
        if (!share_lets(h, lot)) {
            *refused = true;
            continue;
        }
        take_lot(h, lot, true);
        if (++more < many)
            continue;
        booking = book(h);
        failed = booking < 0 && errno != EBUSY;
        many = grows ? many * 2 : 1;
        more = 0;
    }
    if (more > 0)
        return book(h);
    if (!failed)
        errno = EBUSY;
    return booking;
}

/* Take all lots that may be needed. Where a job that fits with some also fits with more, take only the first ones until it fits,
 * twice as many each time: those behind are not needed. Returns the booking, or -1 with EBUSY or ENOMEM.
 */
static int64_t take_needed(struct preemption *h)
{
    struct lots *lots = h->lots;
    size_t next = 0, end = is_enough_for_all(h) ? 1 : lots->n;
    int64_t booking;
    do {
        end = end < lots->n ? end : lots->n;
        for (; next < end; next++)
            if (lots->v[next].is_needed && has_turn(h, &lots->v[next]))
                take_lot(h, &lots->v[next], true);
        booking = book(h);
        end *= 2;
    } while (booking < 0 && errno == EBUSY && next < lots->n);
    return booking;
}

/* Find who is needed: of all those that shares give one by one, the least important ones that are enough together. Returns
 * 0, or -1 with EBUSY, if all are not, or ENOMEM.
 */
static int find_needed(struct preemption *h)
{
    struct lots *lots = h->lots;
    put_all_back(h);
    for (size_t i = 0; i < lots->n; i++)
        lots->v[i].is_needed = share_lets(h, &lots->v[i]);
    int64_t booking = take_needed(h);
    if (booking >= 0)
        booking = spare_lots(h, booking, true);
    if (booking < 0)
        return -1;
    h->s->place->ops->undo(h->s->place, booking);
    for (size_t i = 0; i < lots->n; i++)
        lots->v[i].is_needed = lots->v[i].is_taken;
    put_all_back(h);
    return 0;
}

/* Whether shares give all that are taken, whichever of them is the last: beside the others it is more than its queue deserves.
 * If not, this might have them back, and both would take from each other in turns.
 */
static bool shares_let_all(const struct preemption *h)
{
    const struct lots *lots = h->lots;
    bool let = true;
    for (size_t i = 0; i < lots->n && let; i++) {
        const struct lot *lot = &lots->v[i];
        if (!lot->is_taken || !lot->by_share || goes_along(lots, lot))
            continue;
        lots_note_gone(h->s, h->lots, lot->slot, lot->amount, -1);
        let = share_lets(h, lot);
        lots_note_gone(h->s, h->lots, lot->slot, lot->amount, 1);
    }
    return let;
}

/* Put back who is not needed of those with whom it is booked, if it is, and see whether shares give the others. Returns the
 * booking, or -1 with EBUSY or ENOMEM.
 */
static int64_t settle_lots(struct preemption *h, int64_t booking)
{
    if (booking >= 0)
        booking = spare_lots(h, booking, false);
    if (booking < 0 || shares_let_all(h))
        return booking;
    h->s->place->ops->undo(h->s->place, booking);
    errno = EBUSY;
    return -1;
}

/* Whether an open job is tried in the walk of a pass: other calendars have what is reserved, too. */
static bool is_open_in_walk(const sched_t *s, uint32_t slot)
{
    return s->pass.phase == PASS_WALK && s->jobs[slot].state == SCHED_WAITING;
}

/* Where all are not enough who are being stopped, they are not for others that ask for the same: if no limit, no promise and no
 * claim has kept this one.
 */
static void note_little(const struct preemption *h)
{
    const sched_t *s = h->s;
    if (h->lots->is_going && is_open_in_walk(s, h->slot) && !h->is_refused && !s->pass.yields &&
        s->queues->n_claims == 0 && is_enough_for_all(h))
        job_kind_left_little(s, h->slot);
}

/* Where shares give no more after lots that leave nothing of what is short, those go first that do. */
static int64_t choose_lots(struct preemption *h)
{
    bool refused = h->lots->is_cut;
    put_all_back(h);
    int64_t booking = take_lots(h, ANY, &refused);
    refused |= booking >= 0;
    booking = settle_lots(h, booking);
    if (booking < 0 && errno == EBUSY && refused && find_needed(h) == 0) {
        booking = take_lots(h, NEEDED, &refused);
        if (booking < 0 && errno == EBUSY)
            booking = take_lots(h, USEFUL, &refused);
        booking = settle_lots(h, booking);
    }
    if (booking < 0 && errno == EBUSY)
        note_little(h);
    return booking;
}

int lots_begin(struct preemption *h, sched_t *s, uint32_t slot, const struct place_ask *ask,
               lots_may may)
{
    struct lots *lots = calloc(1, sizeof(*lots));
    *h = (struct preemption){.s = s, .slot = slot, .ask = ask, .choose = choose_lots, .lots = lots};
    if (!lots)
        return -1;
    lots->slot = slot;
    lots->may = may;
    if (!s->queues->shares)
        return lots_list(h, false);
    lots_measure(s, lots, slot);
    if (lots_count_gone(s, lots, slot) < 0)
        return -1;
    lots->is_going = lots_none_is_let(s, lots);
    if (lots->is_going && is_open_in_walk(s, slot) && job_kind_is_left_little(s, slot))
        return 0; /* there is no lot that is of use */
    return lots_take_kept(h) ? 0 : lots_list(h, lots->is_going);
}
