/* A job that can't start takes what jobs of preemptible queues hold (RFC 33, RFC 14's preemptible-after).
 *
 * Victims are taken youngest first until the job fits; then each that turns out not to be needed is spared,
 * oldest first. The job holds a reservation for now, of what the victims hold as well, who hold all of it
 * until their ends; it starts once the shell has told the end of the last victim. Until then its time is
 * not due.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "berth/sched_config.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/rows.h"
#include "sched/queues.h"

struct hunt {
    sched_t *s;
    const struct place_ops *ops;
    uint32_t *victim; /* youngest first */
    size_t n;
    size_t taken; /* of them are lifted, but for the spared */
    bool *spared;
};

static bool is_younger(const struct job *a, const struct job *b)
{
    return a->at != b->at ? a->at > b->at : queue_before(b->key, a->key);
}

/* From when on a running job of such a queue may be preempted: not in its first second, or one that starts
 * might be stopped at the same instant, for good perhaps, without having run.
 */
static int64_t preemptible_from(const sched_t *s, const struct job *job)
{
    int64_t after = job->details->preemptible_after;
    if (after < s->queues->setup->second)
        after = s->queues->setup->second;
    return job->at < INT64_MAX - after ? job->at + after : INT64_MAX;
}

static bool is_prey(const sched_t *s, const struct job *victim, const struct place_ask *ask)
{
    const struct details *d = victim->details;
    return victim->state == SCHED_RUNNING && d->preempted_for == JOB_NONE &&
           s->queues->setup->queue[d->queue].preemptible != SCHED_NOT_PREEMPTIBLE &&
           s->now >= preemptible_from(s, victim) &&
           s->place->ops->bars(s->place, ask, victim->booking);
}

/* List whom the job may preempt. Returns 0, or -1 with ENOMEM. */
static int hunt_begin(struct hunt *h, sched_t *s, const struct place_ask *ask)
{
    struct queues *n = s->queues;
    *h = (struct hunt){.s = s, .ops = s->place->ops};
    if (n->n_victims == 0)
        return 0;
    h->victim = reallocarray(NULL, n->n_victims, sizeof(*h->victim));
    h->spared = calloc(n->n_victims, sizeof(*h->spared));
    if (!h->victim || !h->spared)
        return -1;
    for (size_t i = 0; i < n->n_victims; i++) {
        uint32_t slot = n->victims[i];
        if (!is_prey(s, &s->jobs[slot], ask))
            continue;
        size_t k = h->n++;
        for (; k > 0 && is_younger(&s->jobs[slot], &s->jobs[h->victim[k - 1]]); k--)
            h->victim[k] = h->victim[k - 1];
        h->victim[k] = slot;
    }
    return 0;
}

static void take(struct hunt *h, size_t i)
{
    struct job *job = &h->s->jobs[h->victim[i]];
    h->ops->lift(h->s->place, job->booking, false);
    job->is_lifted = true;
}

static void give_back(struct hunt *h, size_t i)
{
    struct job *job = &h->s->jobs[h->victim[i]];
    h->ops->drop(h->s->place, &job->ask, job->booking);
    job->is_lifted = false;
}

static void give_all_back(struct hunt *h)
{
    for (size_t i = 0; i < h->taken; i++)
        if (!h->spared[i])
            give_back(h, i);
    h->taken = 0;
}

/* Take victims until the job fits, and spare those that are not needed. Returns a booking for now, or -1
 * with EBUSY or ENOMEM and all victims as they were.
 */
static int64_t hunt_down(struct hunt *h, const struct place_ask *ask)
{
    sched_t *s = h->s;
    int64_t booking = -1;
    errno = EBUSY;
    while (booking < 0 && errno == EBUSY && h->taken < h->n) {
        take(h, h->taken++);
        booking = h->ops->book(s->place, ask, s->now);
    }
    for (size_t i = h->taken; booking >= 0 && i-- > 0;) {
        h->ops->release(s->place, booking);
        give_back(h, i);
        h->spared[i] = true;
        booking = h->ops->book(s->place, ask, s->now);
        if (booking >= 0 || errno != EBUSY)
            continue;
        take(h, i);
        h->spared[i] = false;
        booking = h->ops->book(s->place, ask, s->now);
    }
    if (booking < 0) {
        int saved = errno;
        give_all_back(h);
        errno = saved;
    }
    return booking;
}

/* Tell the victims. There is room for the decisions. */
static uint32_t doom(struct hunt *h, uint32_t slot)
{
    sched_t *s = h->s;
    uint32_t victims = 0;
    for (size_t i = 0; i < h->taken; i++) {
        uint32_t victim = h->victim[i];
        struct details *d = s->jobs[victim].details;
        if (h->spared[i])
            continue;
        d->preempted_for = slot;
        struct sched_decision *decision = decision_add(s, SCHED_PREEMPT, victim, s->now, NULL);
        decision->other = job_handle(s, slot);
        decision->requeue = s->queues->setup->queue[d->queue].preemptible == SCHED_PREEMPT_REQUEUE;
        give_back(h, i);
        s->queues->stats[d->queue].preempted++;
        victims++;
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
static enum step hold_prey(struct hunt *h, uint32_t slot, int64_t booking)
{
    sched_t *s = h->s;
    struct job *job = &s->jobs[slot];
    enum step step = controllers_count(s, slot, booking);
    if (step == STEP_BUSY &&
        (decisions_reserve(s, h->taken) < 0 || held_insert(s, slot, s->now, booking) < 0)) {
        controllers_uncount(s, slot, booking);
        step = STEP_FAILED;
    }
    if (step != STEP_BUSY) {
        h->ops->release(s->place, booking);
        give_all_back(h);
        return step;
    }
    s->booked++;
    job->details->victims = doom(h, slot);
    if (job->details->victims == 0) /* what others have left since is enough */
        return start_held(s, slot);
    heap_move(&s->due, slot, INT64_MAX, job->key.seq);
    job->is_preempting = true;
    lane_of(s, slot)->preempting++;
    return STEP_DONE;
}

/* Take what an open job needs. */
static enum step make_room(sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    struct hunt h;
    if (s->queues->n_victims == 0 ||
        s->queues->setup->queue[d->queue].preemptible != SCHED_NOT_PREEMPTIBLE)
        return STEP_BUSY;
    struct place_ask ask = s->jobs[slot].ask;
    enum step step = STEP_FAILED;
    if (hunt_begin(&h, s, &ask) == 0) {
        int64_t booking = hunt_down(&h, &ask);
        if (booking >= 0)
            step = hold_prey(&h, slot, booking);
        else if (errno == EBUSY)
            step = STEP_BUSY;
    }
    free(h.victim);
    free(h.spared);
    return step;
}

/* Whether limits let a holder have a booking in place of its own. */
static bool may_take(sched_t *s, uint32_t slot, int64_t booking)
{
    int64_t own = s->jobs[slot].booking;
    controllers_uncount(s, slot, own);
    bool may = controllers_may_hold(s, slot, s->jobs[slot].details->limit, booking);
    controllers_recount(s, slot, own, false); /* it was just there: that takes no memory */
    return may;
}

/* The same for a job that holds a reservation for later. */
static enum step make_room_for_holder(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    const struct place_ops *ops = s->place->ops;
    if (job->details->victims > 0 || job->at <= s->now ||
        s->queues->setup->queue[job->details->queue].preemptible != SCHED_NOT_PREEMPTIBLE)
        return STEP_BUSY;
    struct hunt h;
    ops->lift(s->place, job->booking, false);
    int64_t booking = hunt_begin(&h, s, &job->ask) == 0 ? hunt_down(&h, &job->ask) : -1;
    enum step step = booking < 0 && errno != EBUSY ? STEP_FAILED : STEP_BUSY;
    bool may = booking >= 0 && may_take(s, slot, booking); /* else it keeps what it is promised */
    if (may && held_to_open(s, slot, false) == 0) {
        step = hold_prey(&h, slot, booking);
    } else {
        if (booking >= 0) {
            h.ops->release(s->place, booking);
            give_all_back(&h);
            step = may ? STEP_FAILED : STEP_BUSY;
        }
        ops->drop(s->place, &job->ask, job->booking);
    }
    free(h.victim);
    free(h.spared);
    return step;
}

/* Holders of reservations for later may take what has become preemptible. */
static enum step hunt(sched_t *s)
{
    if (!s->queues->has_victims)
        return STEP_BUSY;
    uint32_t slot = held_next(s, s->pass.begun, s->pass.after);
    if (slot == JOB_NONE) {
        s->queues->has_victims = false;
        return STEP_BUSY;
    }
    s->pass.begun = true;
    s->pass.after = s->jobs[slot].key;
    return make_room_for_holder(s, slot) == STEP_FAILED ? STEP_FAILED : STEP_DONE;
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
            (n->setup->queue[d->queue].preemptible != SCHED_NOT_PREEMPTIBLE ||
             d->preempted_for != JOB_NONE)) /* one that is being stopped stays one */
            n->victims[n->n_victims++] = slot;
    }
    n->has_victims = true;
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
    if (n->setup->queue[job->details->queue].preemptible == SCHED_NOT_PREEMPTIBLE)
        return;
    n->victims[n->n_victims++] = slot;
    int64_t from = preemptible_from(s, job);
    if (from > s->now && from < n->preemptible_next)
        n->preemptible_next = from;
}

static void released(sched_t *s, uint32_t slot)
{
    let_victims_go(s, slot);
    leave_preempting(s, slot);
}

static void requeued(sched_t *s, uint32_t slot)
{
    victim_ended(s, slot);
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
    if (n->preemptible_next <= s->now) {
        n->preemptible_next = next_preemptible(s, s->now);
        n->has_victims = true;
    }
    return STEP_BUSY;
}

static enum step settle(sched_t *s, bool again)
{
    struct queues *n = s->queues;
    if (again)
        return STEP_BUSY;
    if (n->has_victims)
        n->wake_all = true;
    if (!s->swept && n->n_victims > 0) /* with what was freed, victims may be enough */
        n->has_victims = true;
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
    .settle = settle,
    .make_room = make_room,
    .hunt = hunt,
    .next_time = next_time,
};
