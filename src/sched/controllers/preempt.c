/* A job that can't start takes what jobs of preemptible queues hold (RFC 33, RFC 14's preemptible-after).
 *
 * Any job of another queue may, wherever it stands, in queue order, if that lets it start now beside all
 * reservations. The choice of its victims is in victims.h. The job then holds a reservation for now, of what
 * the victims hold as well, who hold all of it until their ends; it starts once the shell has reported the
 * end of the last victim. Until then its time is not due.
 *
 * A search for victims that was in vain is not repeated until something was freed or more may be preempted: a lane's open
 * jobs know that by group (waiting/job_group.h); of holders, the last pass that went through all of them
 * does.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "berth/sched_config.h"
#include "berth/sched_query.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/rows.h"
#include "sched/controllers/victims.h"
#include "sched/queues.h"

/* Tell the victims, but for those who have been. There is room for the decisions. */
static uint32_t preempt_taken(struct preemption *h, uint32_t slot)
{
    sched_t *s = h->s;
    uint32_t victims = 0;
    for (size_t i = 0; i < h->n; i++) {
        struct victim *victim = &h->victim[i];
        struct details *d = s->jobs[victim->slot].details;
        if (!victim->is_taken)
            continue;
        victims++;
        d->preempted_for = slot;
        preemption_put_back(h, victim);
        if (d->is_stopping)
            continue;
        d->is_stopping = true;
        struct sched_decision *decision =
            decision_add(s, SCHED_PREEMPT, victim->slot, s->now, NULL);
        decision->other = job_handle(s, slot);
        decision->requeue = s->queues->setup->queue[d->queue].preemptible == SCHED_PREEMPT_REQUEUE;
        s->queues->stats[d->queue].preempted++;
    }
    return victims;
}

static int decisions_reserve(sched_t *s, size_t n)
{
    size_t had = s->n_decisions;
    int rc = 0;
    for (size_t i = 0; i <= n && rc == 0; i++, s->n_decisions++)
        rc = decision_reserve(s);
    s->n_decisions = had;
    return rc;
}

/* The job, open, holds its booking for now, until the victims have ended. */
static enum step hold_for(struct preemption *h, uint32_t slot, int64_t booking)
{
    sched_t *s = h->s;
    struct job *job = &s->jobs[slot];
    enum step step = controllers_count(s, slot, booking, s->now);
    if (step == STEP_BUSY &&
        (decisions_reserve(s, h->n) < 0 || held_insert(s, slot, s->now, booking) < 0)) {
        controllers_uncount(s, slot, booking);
        step = STEP_FAILED;
    }
    if (step != STEP_BUSY) {
        s->place->ops->release(s->place, booking);
        preemption_put_all_back(h);
        return step == STEP_KEPT ? promise_kept(s, slot) : step;
    }
    s->booked++;
    job->details->victims = preempt_taken(h, slot);
    if (job->details->victims == 0) /* what others have left since is enough */
        return start_held(s, slot);
    heap_move(&s->due, slot, INT64_MAX, job->key.seq);
    job->is_preempting = true;
    displaced_end(s, slot); /* it is promised to start as soon as it can */
    lane_of(s, slot)->preempting++;
    return STEP_DONE;
}

/* The job that takes what was booked, open: of an array the first member, so that the next may do the same
 * before its victims have ended. JOB_NONE with ENOMEM: nobody takes it.
 */
static uint32_t taker(struct preemption *h, uint32_t slot, int64_t booking)
{
    sched_t *s = h->s;
    if (members_of(s, slot) == 1)
        return slot;
    if (!controllers_may_hold(s, slot, s->jobs[slot].ask.duration, booking, s->now))
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

/* What a job that preempts asks for: if anybody is promised a start, or a block comes, what fits beside that even if it
 * takes its whole limit.
 */
static struct place_ask preemptor_ask(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    bool blocks = d->limit < SCHED_UNLIMITED && s->queues->blocks_set & ~s->jobs[slot].ask.permits;
    return d->limit > d->estimate && (blocks || promises_any(s)) ? ask_by_limit(s, slot)
                                                                 : s->jobs[slot].ask;
}

/* Book it with victims, and cut that to the job's estimate. Returns the booking, or -1 with EBUSY or ENOMEM. */
static int64_t book_with_victims(struct preemption *h, uint32_t slot)
{
    sched_t *s = h->s;
    const struct place_ask *ask = &s->jobs[slot].ask;
    int64_t booking = preemption_book(h);
    if (booking < 0 || h->ask->duration == ask->duration ||
        s->place->ops->extend(s->place, booking, s->now + ask->duration) == 0)
        return booking;
    s->place->ops->release(s->place, booking);
    preemption_put_all_back(h);
    errno = ENOMEM;
    return -1;
}

/* Take what an open job needs. */
static enum step make_room(sched_t *s, uint32_t slot)
{
    struct preemption h;
    bool walks = s->pass.phase == PASS_WALK; /* else reservations are out of the calendars */
    if (s->queues->n_victims == 0 || is_preemptible(s, &s->jobs[slot]) ||
        (walks && job_group_is_vain(s, slot)))
        return STEP_BUSY;
    enum step gate = controllers_gate(s, slot);
    if (gate != STEP_BUSY) /* nobody is preempted for one that limits keep */
        return gate == STEP_KEPT ? STEP_BUSY : gate;
    struct place_ask ask = preemptor_ask(s, slot);
    enum step step = STEP_FAILED;
    if (preemption_begin(&h, s, &ask) == 0) {
        int64_t booking = book_with_victims(&h, slot);
        uint32_t by = booking >= 0 ? taker(&h, slot, booking) : JOB_NONE;
        if (by != JOB_NONE)
            step = hold_for(&h, by, booking);
        else if (booking < 0 && errno == EBUSY)
            step = STEP_BUSY;
    }
    if (walks && step == STEP_BUSY)
        job_group_in_vain(s, slot);
    preemption_end(&h);
    return step;
}

/* Whether limits let a holder have a booking in place of its own. */
static bool may_take(sched_t *s, uint32_t slot, int64_t booking)
{
    controllers_set_aside(s, slot);
    bool may = controllers_may_hold(s, slot, s->jobs[slot].ask.duration, booking, s->now);
    controllers_put_back(s, slot);
    return may;
}

/* The same for a job that holds a reservation for later. */
static enum step make_room_for_holder(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    const struct place_ops *ops = s->place->ops;
    if (job->is_preempting || job->at <= s->now || is_preemptible(s, job))
        return STEP_BUSY;
    struct preemption h;
    struct place_ask ask = preemptor_ask(s, slot);
    ops->lift(s->place, job->booking, false);
    int64_t booking = preemption_begin(&h, s, &ask) == 0 ? book_with_victims(&h, slot) : -1;
    enum step step = booking < 0 && errno != EBUSY ? STEP_FAILED : STEP_BUSY;
    bool may = booking >= 0 && may_take(s, slot, booking); /* else it keeps what it is promised */
    if (may && held_to_open(s, slot, false) == 0) {
        uint32_t by = taker(&h, slot, booking);
        step = by == JOB_NONE ? STEP_FAILED : hold_for(&h, by, booking);
    } else {
        if (booking >= 0) {
            ops->release(s->place, booking);
            preemption_put_all_back(&h);
            step = may ? STEP_FAILED : STEP_BUSY;
        }
        ops->drop(s->place, &job->ask, job->booking);
    }
    preemption_end(&h);
    return step;
}

/* Whether jobs of a lane may preempt any. */
static bool may_make_room(const sched_t *s, const struct lane *lane)
{
    return s->queues->n_victims > 0 && !lane->is_stopped &&
           s->queues->setup->queue[lane->queue].preemptible == SCHED_NOT_PREEMPTIBLE;
}

/* ---- Who may be preempted, and from when on ---- */

int64_t next_preemptible(const sched_t *s, int64_t after)
{
    const struct queues *n = s->queues;
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < n->n_victims; i++) {
        int64_t from = preemptible_from(s, &s->jobs[n->victims[i]]);
        if (from > after && from < next)
            next = from;
    }
    return next;
}

/* A job runs no more that might have been preempted; one that could not may be told too. */
static void victim_remove(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    size_t kept = 0;
    for (size_t i = 0; i < n->n_victims; i++)
        if (n->victims[i] != slot)
            n->victims[kept++] = n->victims[i];
    if (kept == n->n_victims)
        return;
    n->n_victims = kept;
    if (n->preemptible_next > s->now) /* else it has come, and is yet to be looked at */
        n->preemptible_next = next_preemptible(s, s->now);
}

int victims_reserve(struct queues *n, size_t more)
{
    return array_grow((void **)&n->victims, &n->cap_victims, more, sizeof(*n->victims));
}

void victims_list(sched_t *s)
{
    struct queues *n = s->queues;
    n->n_victims = 0;
    for (uint32_t slot = n->first; slot != JOB_NONE; slot = s->jobs[slot].details->following) {
        const struct details *d = s->jobs[slot].details;
        if (s->jobs[slot].state == SCHED_RUNNING &&
            (is_preemptible(s, &s->jobs[slot]) || d->is_stopping))
            n->victims[n->n_victims++] = slot;
    }
    n->more_preemptible++;
    n->preemptible_next = s->now;
}

/* A running job that is being preempted has ended, and whoever waited for it waits for one less. */
static void victim_ended(sched_t *s, uint32_t slot)
{
    uint32_t other = s->jobs[slot].details->preempted_for;
    if (other == JOB_NONE)
        return;
    struct job *job = &s->jobs[other];
    s->jobs[slot].details->preempted_for = JOB_NONE;
    if (--job->details->victims == 0)
        heap_move(&s->due, other, job->at, job->key.seq);
}

/* The job that waits for its victims is no more: these are stopped for nobody. */
static void let_victims_go(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    for (size_t i = 0; i < n->n_victims && s->jobs[slot].details->victims > 0; i++) {
        struct job *victim = &s->jobs[n->victims[i]];
        if (victim->details->preempted_for != slot)
            continue;
        victim->details->preempted_for = JOB_NONE; /* it is being stopped all the same */
        s->jobs[slot].details->victims--;
    }
}

size_t sched_victims(const sched_t *s, sched_job_t job, sched_job_t *victims, size_t most)
{
    const struct queues *n = s->queues;
    uint32_t slot = job_in_queue(s, job),
             left = slot == JOB_NONE ? 0 : s->jobs[slot].details->victims;
    size_t found = 0;
    for (size_t i = 0; i < n->n_victims && found < left; i++)
        if (s->jobs[n->victims[i]].details->preempted_for == slot && found++ < most)
            victims[found - 1] = job_handle(s, n->victims[i]);
    return found;
}

sched_job_t sched_preemptor(const sched_t *s, sched_job_t job)
{
    uint32_t slot = job_in_queue(s, job);
    uint32_t other = slot == JOB_NONE ? JOB_NONE : s->jobs[slot].details->preempted_for;
    return other == JOB_NONE ? -1 : job_handle(s, other);
}

/* ---- The controller ---- */

static int prepare(sched_t *s, uint32_t slot)
{
    (void)slot;
    return victims_reserve(s->queues, s->queues->n_victims + 1);
}

/* A held job has preempted others no longer, or starts. */
static void leave_preempting(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    lane_of(s, slot)->preempting -= job->is_preempting;
    job->is_preempting = false;
}

static void started(sched_t *s, uint32_t slot, enum sched_how how)
{
    struct queues *n = s->queues;
    const struct job *job = &s->jobs[slot];
    (void)how;
    leave_preempting(s, slot);
    if (!is_preemptible(s, job) && !job->details->is_stopping)
        return;
    n->victims[n->n_victims++] = slot;
    int64_t from = preemptible_from(s, job);
    if (from > s->now && from < n->preemptible_next)
        n->preemptible_next = from;
}

static void released(sched_t *s, uint32_t slot)
{
    s->queues->more_preemptible++;
    let_victims_go(s, slot);
    leave_preempting(s, slot);
}

static void requeued(sched_t *s, uint32_t slot)
{
    victim_ended(s, slot);
    s->jobs[slot].details->is_stopping = false;
    victim_remove(s, slot);
}

static void ended(sched_t *s, uint32_t slot, enum job_end end)
{
    (void)end;
    victim_ended(s, slot);
}

static enum step turn(sched_t *s)
{
    struct queues *n = s->queues;
    /* Whoever waits for victims ends later as these take their time: nobody else is to start there. */
    for (size_t i = 0; i < n->n_victims; i++) {
        uint32_t other = s->jobs[n->victims[i]].details->preempted_for;
        if (other != JOB_NONE && held_late(s, other) < 0)
            return STEP_FAILED;
    }
    if (n->preemptible_next > s->now)
        return STEP_BUSY;
    n->preemptible_next = next_preemptible(s, s->now);
    n->more_preemptible++;
    return STEP_BUSY;
}

static int64_t next_time(const sched_t *s)
{
    return s->queues->preemptible_next;
}

const struct controller preemption_controller = {
    .name = "preemption",
    .prepare = prepare,
    .started = started,
    .released = released,
    .requeued = requeued,
    .ended = ended,
    .forgotten = victim_remove,
    .turn = turn,
    .make_room = make_room,
    .make_room_for_holder = make_room_for_holder,
    .may_make_room = may_make_room,
    .next_time = next_time,
};
