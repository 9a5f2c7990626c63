/* Room is made for a job: others that run are stopped, and it holds what they leave.
 *
 * Who they are is in a struct preemption (victims.h). The job then holds a reservation for now, of what the
 * victims hold as well, who hold all of it until their ends; it starts once the shell has reported the end of the
 * last victim. Until then its time is not due.
 */
#include "sched/controllers/make_room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_config.h"
#include "sched/controllers/arrays.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/awaited.h"
#include "sched/controllers/claims.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/passed_on.h"
#include "sched/pass/book.h"
#include "sched/pass/displaced.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/gang_array.h"
#include "sched/waiting/lane.h"

/* By which rule a job may be stopped for another one. */
static enum sched_may_stop why(const struct preemption *h, uint32_t slot, uint32_t victim)
{
    if (h->turns)
        return SCHED_MAY_CLASS;
    if (!h->lots)
        return SCHED_MAY_PREEMPTIBLE;
    const struct job *job = &h->s->jobs[slot];
    if (h->s->jobs[victim].lane != job->lane)
        return SCHED_MAY_SHARE;
    unsigned preempts = h->s->queues->setup->queue[job->details->queue].preempts;
    return preempts & SCHED_PREEMPTS_RICHER ? SCHED_MAY_RICHER : SCHED_MAY_PRIORITY;
}

/* The job waits for the ends of its victims. They are told, or only that this one waits, too. There is room for the
 * decisions, and in the list of victims.
 */
static void preempt_taken(struct preemption *h, uint32_t slot)
{
    sched_t *s = h->s;
    size_t before = s->n_decisions;
    bool told = false;
    for (size_t i = 0; i < h->n; i++) {
        struct victim *victim = &h->victim[i];
        struct details *d = s->jobs[victim->slot].details;
        if (!victim->is_taken)
            continue;
        struct sched_decision *decision = decision_add(
            s, victim->is_stopping ? SCHED_AWAIT : SCHED_PREEMPT, victim->slot, s->now, NULL);
        awaited_add(s, victim->slot, slot);
        preemption_put_back(h, victim);
        decision->other = job_handle(s, slot);
        if (victim->is_stopping)
            continue;
        d->is_stopping = s->queues->stopping_is_stale = true;
        told = true;
        gang_stops(s, victim->slot);
        victim_add(s, victim->slot);
        decision->why = why(h, slot, victim->slot);
        decision->work = work_of(s, &s->jobs[victim->slot]);
        decision->requeue = s->queues->setup->queue[d->queue].preemptible != SCHED_PREEMPT_CANCEL;
        s->queues->stats[d->queue].preempted++;
    }
    if (told) {
        s->queues->more_preemptible++; /* what they leave may be enough for others, too */
        s->pass.has_told |= limit_seek_again(s);
    }
    for (size_t i = before; i < s->n_decisions; i++) {
        const struct gang *gang = gang_of(s, job_in_queue(s, s->decisions[i].job));
        s->decisions[i].is_spare = gang && !gang_leaves(gang);
    }
}

/* Have memory to tell n victims. Returns 0, or -1 with ENOMEM. */
static int telling_reserve(sched_t *s, size_t n)
{
    size_t had = s->n_decisions;
    int rc = victims_reserve(s->queues, s->queues->n_victims + n);
    if (rc == 0)
        rc = awaited_reserve(s->queues, n);
    for (size_t i = 0; i <= n && rc == 0; i++, s->n_decisions++)
        rc = decision_reserve(s);
    s->n_decisions = had;
    return rc;
}

/* Limits count a booking, or let a job have it, beside what will be left: not what others wait for. But until that is left
 * it is there, in place of what these are to have: the job starts when its own victims have ended.
 */
static enum step count_at_last(sched_t *s, uint32_t slot, int64_t booking)
{
    bool any = passed_on_aside(s, true);
    enum step step = controllers_count(s, slot, booking, s->now);
    passed_on_aside(s, false);
    if (step != STEP_BUSY || !any)
        return step;
    controllers_uncount(s, slot, booking);
    preemptors_aside(s, slot, true);
    step = controllers_count(s, slot, booking, s->now);
    preemptors_aside(s, slot, false);
    return step;
}

bool may_hold_at_last(sched_t *s, uint32_t slot, int64_t booking)
{
    int64_t duration = s->jobs[slot].ask.duration;
    bool any = passed_on_aside(s, true);
    bool may = controllers_may_hold(s, slot, duration, booking, s->now);
    passed_on_aside(s, false);
    if (!may || !any)
        return may;
    preemptors_aside(s, slot, true);
    may = controllers_may_hold(s, slot, duration, booking, s->now);
    preemptors_aside(s, slot, false);
    return may;
}

/* The job, open, holds its booking for now, until the victims have ended. */
static enum step hold_for(struct preemption *h, uint32_t slot, int64_t booking)
{
    sched_t *s = h->s;
    struct job *job = &s->jobs[slot];
    enum step step = count_at_last(s, slot, booking);
    if (step == STEP_BUSY && (telling_reserve(s, h->n) < 0 || array_reserve(s) < 0 ||
                              held_insert(s, slot, s->now, booking) < 0)) {
        controllers_uncount(s, slot, booking);
        step = STEP_FAILED;
    }
    if (step != STEP_BUSY) {
        s->place->ops->release(s->place, booking);
        preemption_put_all_back(h);
        return step == STEP_KEPT ? promise_kept(s, slot) : step;
    }
    s->booked++;
    array_filled(s, slot);
    preempt_taken(h, slot);
    job->is_preempting = true;
    gang_array_changed(s, slot);
    lane_of(s, slot)->preempting++;
    if (job->details->victims == 0) /* what others have left since, or wait for, is enough */
        return start_held(s, slot);
    heap_move(&s->due, slot, INT64_MAX, job->key.seq);
    job->details->is_expected = false;
    displaced_end(s, slot); /* it is promised to start as soon as it can */
    return STEP_DONE;
}

/* The job that takes what was booked, open: of an array the first member, which waits by itself then, so that the next may do the
 * same before its victims have ended. JOB_NONE with ENOMEM: nobody takes it.
 */
static uint32_t taker(struct preemption *h, uint32_t slot, int64_t booking)
{
    sched_t *s = h->s;
    if (!is_entry(s, slot) || gang_asks_whole(s, slot))
        return slot;
    if (!may_hold_at_last(s, slot, booking))
        return slot; /* what is refused is so to all of them */
    size_t fresh = s->n_fresh;
    uint32_t part = part_any(s, slot, s->jobs[slot].details->member);
    s->pass.n_fresh += s->n_fresh - fresh; /* it is as new as the array, and has what it needs */
    if (part == JOB_NONE) {
        s->place->ops->release(s->place, booking);
        preemption_put_all_back(h);
        return JOB_NONE;
    }
    displaced_end(s, slot); /* that was the first member, which has what it needs now */
    return part;
}

/* Limits refuse a booking: book what is on fewer nodes, with other victims perhaps, if it is that which is too much, else
 * leave it as it is. Returns the booking, which limits may refuse again, or -1 with EBUSY or ENOMEM.
 */
static int64_t book_fewer(struct preemption *h, uint32_t slot, int64_t booking)
{
    sched_t *s = h->s;
    int narrows = controllers_narrow(s, slot, booking, s->now);
    if (narrows == 0)
        return booking;
    s->place->ops->release(s->place, booking);
    preemption_put_all_back(h);
    if (narrows < 0) {
        errno = ENOMEM;
        return -1;
    }
    h->sum = h->too_little = 0;
    h->is_narrow = true;
    booking = preemption_book(h);
    int saved = errno;
    s->place->ops->narrow(s->place, NULL, false);
    errno = saved;
    return booking;
}

/* As room_for_open; STEP_KEPT: a limit keeps it. */
static enum step make_for_open(sched_t *s, uint32_t slot, victims_begin begin)
{
    struct preemption h;
    enum step gate = controllers_gate(s, slot);
    if (gate != STEP_BUSY && gate != STEP_KEPT)
        return gate;
    struct place_ask ask = s->jobs[slot].ask;
    enum step step = STEP_FAILED;
    bool begun = begin(&h, s, slot, &ask) == 0;
    if (begun && gate == STEP_KEPT && !h.lots && !may_ask_at_last(s, slot)) {
        step = STEP_KEPT; /* what limits keep, victims don't help */
    } else if (begun) {
        int64_t booking = preemption_book(&h);
        bool is_let = booking < 0 || may_hold_at_last(s, slot, booking);
        if (!is_let)
            booking = book_fewer(&h, slot, booking);
        uint32_t by = booking >= 0 ? taker(&h, slot, booking) : JOB_NONE;
        if (by != JOB_NONE)
            step = hold_for(&h, by, booking);
        else if (booking < 0 && errno == EBUSY)
            step = !is_let || h.is_refused ? STEP_KEPT /* by its limits: others have their own */
                                           : STEP_BUSY;
    }
    preemption_end(&h);
    return step;
}

int room_would_be(sched_t *s, uint32_t slot, victims_begin begin)
{
    struct preemption h;
    struct place_ask ask = s->jobs[slot].ask;
    int64_t booking = begin(&h, s, slot, &ask) == 0 ? preemption_book(&h) : -1;
    int is = booking < 0 && errno != EBUSY ? -1 : 0;
    if (booking >= 0) {
        is = may_hold_at_last(s, slot, booking);
        s->place->ops->undo(s->place, booking);
        preemption_put_all_back(&h);
    }
    preemption_end(&h);
    return is;
}

enum step room_for_open(sched_t *s, uint32_t slot, victims_begin begin, enum room_way way)
{
    struct pass *p = &s->pass;
    bool yields = p->yields;
    /* Else reservations are out of the calendars; what is in vain in one round is not so in another; and with shares a job whose
     * turn comes later may go before a claim that was in the way of this one.
     */
    bool notes = p->phase == PASS_WALK &&
                 (way != ROOM_BY_RECLAIM || s->queues->setup->n_rounds == 1) &&
                 (s->queues->n_claims == 0 || !s->queues->shares);
    if (notes && job_group_is_vain(s, slot, way))
        return STEP_BUSY;
    p->yields = false;
    bool any = claims_lift(s, CLAIMS_BEHIND_TURN, slot);
    enum step step = make_for_open(s, slot, begin);
    if (any)
        claims_lay(s);
    if (notes && step == STEP_BUSY)
        job_group_in_vain(s, slot, way, p->yields);
    p->yields |= yields;
    return step == STEP_KEPT ? STEP_BUSY : step;
}

enum step room_for_holder(sched_t *s, uint32_t slot, victims_begin begin)
{
    struct job *job = &s->jobs[slot];
    const struct place_ops *ops = s->place->ops;
    const struct gang *gang = gang_of(s, slot);
    struct preemption h;
    if (gang && (gang->is_over || gang_leaves(gang)))
        return STEP_BUSY; /* nobody of it starts: it is told so when the walk has ended */
    struct place_ask ask = s->jobs[slot].ask;
    bool any = claims_lift(s, CLAIMS_BEHIND, slot); /* it may take of them */
    ops->lift(s->place, job->booking, false);
    controllers_set_aside(s, slot);
    int64_t booking = begin(&h, s, slot, &ask) == 0 ? preemption_book(&h) : -1;
    enum step step = booking < 0 && errno != EBUSY ? STEP_FAILED : STEP_BUSY;
    bool may = booking >= 0 && may_hold_at_last(s, slot, booking); /* else it keeps its promise */
    controllers_put_back(s, slot);
    if (may && held_to_open(s, slot, false) == 0) {
        uint32_t by = taker(&h, slot, booking);
        step = by == JOB_NONE ? STEP_FAILED : hold_for(&h, by, booking);
    } else {
        if (booking >= 0) {
            ops->release(s->place, booking);
            preemption_put_all_back(&h);
            step = may ? STEP_FAILED : STEP_BUSY;
        }
        if (job->is_claiming)
            ops->lay(s->place, job->booking);
        else
            ops->drop(s->place, &job->ask, job->booking);
    }
    preemption_end(&h);
    if (any)
        claims_lay(s);
    return step;
}

/* ---- Whose ends a limit waits for ---- */

/* Those for whose ends others wait, who run, in queue order. There is room for them. Returns how many. */
static size_t awaited_list(const sched_t *s, struct due *list)
{
    const struct queues *n = s->queues;
    size_t found = 0;
    for (size_t i = 0; i < n->n_victims; i++) {
        const struct job *job = &s->jobs[n->victims[i]];
        if (job->state == SCHED_RUNNING && !job->is_lifted && is_awaited(s, n->victims[i]))
            list[found++] = (struct due){job->key, n->victims[i]};
    }
    if (found > 0)
        qsort(list, found, sizeof(*list), due_compare);
    return found;
}

static bool may_start_held(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return controllers_may_hold(s, slot, job->ask.duration, job->booking, s->now);
}

/* Keep those in the list whose ends the holder needs. Returns how many, 0 if all are not enough. */
static size_t keep_needed(sched_t *s, uint32_t slot, struct due *list, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        controllers_set_aside(s, list[i].slot);
    bool may = may_start_held(s, slot);
    for (size_t i = n; i-- > 0;) {
        controllers_put_back(s, list[i].slot);
        if (!may || may_start_held(s, slot))
            continue;
        controllers_set_aside(s, list[i].slot);
        list[n - ++kept] = list[i]; /* behind those to be looked at */
    }
    memmove(list, list + n - kept, kept * sizeof(*list));
    for (size_t i = 0; i < kept; i++)
        controllers_put_back(s, list[i].slot);
    return kept;
}

enum step await_more(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    struct due *list = reallocarray(NULL, n->n_victims + 1, sizeof(*list));
    size_t found = list ? awaited_list(s, list) : 0;
    if (!list || awaited_reserve(n, found) < 0 || decisions_expect(s, found) < 0) {
        free(list);
        return STEP_FAILED;
    }
    found = keep_needed(s, slot, list, found);
    controllers_put_back(s, slot); /* it was refused */
    for (size_t i = 0; i < found; i++) {
        decision_add(s, SCHED_AWAIT, list[i].slot, s->now, NULL)->other = job_handle(s, slot);
        awaited_add(s, list[i].slot, slot);
    }
    if (found > 0)
        heap_move(&s->due, slot, INT64_MAX, s->jobs[slot].key.seq);
    free(list);
    return found > 0 ? STEP_DONE : STEP_KEPT;
}

/* Whether it has room for a start now beside its victims, who still hold all they had. 1, 0, or -1 with ENOMEM. */
static int has_room_elsewhere(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    const struct place_ops *ops = s->place->ops;
    ops->lift(s->place, job->booking, false);
    controllers_set_aside(s, slot);
    int64_t booking = book_for_now(s, slot, false);
    int has = booking < 0 && errno == ENOMEM ? -1 : booking >= 0;
    if (has > 0) {
        has = controllers_may_hold(s, slot, job->ask.duration, booking, s->now);
        unbook(s, booking);
    }
    controllers_put_back(s, slot);
    ops->drop(s->place, &job->ask, job->booking);
    return has;
}

/* A gang has started for which victims are told in this pass: they are told for the first member that has started, in place
 * of the handle under which the rest of it waits.
 */
static void tell_for_started(sched_t *s, uint32_t slot, size_t before)
{
    sched_job_t rest = job_handle(s, slot), first = -1;
    if (s->jobs[slot].state == SCHED_RUNNING)
        return;
    for (size_t i = before; i < s->n_decisions && first < 0; i++)
        if (s->decisions[i].kind == SCHED_START)
            first = s->decisions[i].job;
    for (size_t i = 0; i < before && first >= 0; i++)
        if (s->decisions[i].other == rest)
            s->decisions[i].other = first;
}

enum step room_elsewhere(sched_t *s, uint32_t slot)
{
    size_t before = s->n_decisions;
    const struct gang *gang = gang_of(s, slot);
    if (gang && (gang->is_over || gang_leaves(gang)))
        return STEP_BUSY;
    bool any = claims_lift(s, CLAIMS_BEHIND, slot);
    int has = has_room_elsewhere(s, slot);
    enum step step = has < 0 ? STEP_FAILED : STEP_BUSY;
    if (has > 0)
        step = held_to_open(s, slot, false) < 0 ? STEP_FAILED : start_surely(s, slot);
    if (has > 0 && step != STEP_FAILED)
        tell_for_started(s, slot, before);
    if (any)
        claims_lay(s);
    return step;
}
