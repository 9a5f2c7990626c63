/* What if a waiting job asked for less: would it start now?
 *
 * That is a question to the calendars, as any backfill. What a pass would set aside to look at the job is
 * set aside for the question, and put back after it: what the job is promised itself, and, where it goes
 * before holders of reservations and so takes its turn before them (outrank.c), what they hold. What it
 * would then get is chosen and measured, for limits, but never booked. No other job is looked at, but for
 * one case: a job that goes without its own reservation leaves room that jobs before it in the order may
 * want, or be let have by limits, and a promise that its queue may give to one of them; if one of these
 * would take its turn, the answer is no. Limits may refuse what one of them would get, a whole node say: it
 * leaves its lane, and where jobs go one after the other the next one has its turn.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "sched/controllers/arrays.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/limiter.h"
#include "sched/pass/book.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/job_group.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"
#include "sched/waiting/shut_class.h"

#define SEEN_FOR_ONE 16         /* holders that are looked at for each that may be set aside */
#define ANY_LANE     UINT32_MAX /* of all lanes */

struct question {
    sched_t *s;
    uint32_t slot;
    int64_t now;
    bool is_hopeless; /* it does not start whatever it asks for */
    bool had;         /* its own reservation counts for limits no more, */
    bool is_aside;    /* and is out of the calendars */
    bool is_limited;  /* what it asks for is its limit as well as its estimate */
    uint32_t *lifted; /* holders set aside */
    size_t n_lifted;
};

/* ---- What is set aside ---- */

static bool is_asked_about(const struct question *q, uint32_t slot)
{
    return slot == q->slot;
}

/* Whether a holder is another job, and behind it. */
static bool is_behind(const struct question *q, uint32_t slot)
{
    const sched_t *s = q->s;
    return slot != JOB_NONE && !is_asked_about(q, slot) &&
           queue_before(s->jobs[q->slot].key, s->jobs[slot].key);
}

/* Whether a pass would give it its turn before holders: some of them are behind it. */
static bool goes_before_holders(const struct question *q)
{
    const sched_t *s = q->s;
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        struct queue_entry kept;
        if (is_behind(q, last_holder(s, &s->lanes[i])) ||
            (queue_last(s->lanes[i].kept, &kept) && is_behind(q, kept.item)))
            return true;
    }
    return false;
}

/* How many holders may be set aside, and be looked at to find these. */
static size_t most_lifted(const sched_t *s)
{
    uint64_t most = s->queues->setup->what_if_holders;
    return most < s->due.n ? (size_t)most : s->due.n;
}

static size_t most_seen(const sched_t *s)
{
    size_t most = most_lifted(s);
    return most < s->due.n / SEEN_FOR_ONE ? most * SEEN_FOR_ONE : s->due.n;
}

/* List the places in the heap of holders that start before a time: their number, or most + 1 if they are
 * more.
 */
static size_t list_due(const struct heap *due, int64_t before, uint32_t *seen, size_t most)
{
    size_t n = 0;
    if (due->n > 0 && due->v[0].key < before)
        seen[n++] = 0;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = 1; k <= HEAP_ARITY; k++) {
            uint64_t child = (uint64_t)seen[i] * HEAP_ARITY + k;
            if (child >= due->n || due->v[child].key >= before)
                continue;
            if (n == most)
                return most + 1;
            seen[n++] = (uint32_t)child;
        }
    }
    return n;
}

/* Those of them that give way to the job, at most as many as may be set aside; one more: there are more. */
static size_t pick_behind(const struct question *q, uint32_t *seen, size_t n)
{
    const sched_t *s = q->s;
    size_t picked = 0, most = most_lifted(s);
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = s->due.v[seen[i]].item;
        const struct job *job = &s->jobs[slot];
        if (is_asked_about(q, slot) || job->is_lifted || job->is_preempting || job->is_claiming ||
            !queue_before(s->jobs[q->slot].key, job->key))
            continue;
        if (picked == most)
            return most + 1;
        seen[picked++] = slot;
    }
    return picked;
}

/* Set the holders behind the job aside that start while it might run. Where they are too many, only those
 * that start while it would if it lasted half as long, and so on. Returns 0, or -1 with ENOMEM.
 */
static int lift_behind(struct question *q)
{
    const sched_t *s = q->s;
    const struct place_ops *ops = s->place->ops;
    size_t n = 0, lifted = most_lifted(s), looks = most_seen(s);
    uint32_t *seen = reallocarray(NULL, looks + 1, sizeof(*seen));
    if (!seen)
        return -1;
    for (int64_t within = ask_by_limit(s, q->slot).duration; within > 0; within /= 2) {
        n = list_due(&s->due, q->now + within, seen, looks);
        n = n > looks ? lifted + 1 : pick_behind(q, seen, n);
        if (n <= lifted)
            break;
        n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        ops->lift(s->place, s->jobs[seen[i]].booking, true);
        s->jobs[seen[i]].is_lifted = true; /* it is promised nothing meanwhile */
        controllers_set_aside(q->s, seen[i]);
    }
    q->lifted = seen;
    q->n_lifted = n;
    return 0;
}

static void uncount_own(struct question *q)
{
    const struct job *job = &q->s->jobs[q->slot];
    q->had = job->state == SCHED_RESERVED && !job->is_lifted;
    if (q->had)
        controllers_set_aside(q->s, q->slot);
}

static void lift_own(struct question *q)
{
    const sched_t *s = q->s;
    if (q->had)
        s->place->ops->lift(s->place, s->jobs[q->slot].booking, true);
    q->is_aside = q->had;
}

static void drop_lifted(const struct question *q, uint32_t slot)
{
    struct job *job = &q->s->jobs[slot];
    q->s->place->ops->drop(q->s->place, &job->ask, job->booking);
    job->is_lifted = false;
}

static void put_back_after_question(struct question *q)
{
    sched_t *s = q->s;
    const struct place_ops *ops = s->place->ops;
    for (size_t i = 0; i < q->n_lifted; i++)
        controllers_put_back(s, q->lifted[i]);
    for (size_t i = 0; i < q->n_lifted; i++)
        drop_lifted(q, q->lifted[i]);
    free(q->lifted);
    heads_put_back(s);
    if (q->is_aside)
        ops->drop(s->place, &s->jobs[q->slot].ask, s->jobs[q->slot].booking);
    if (q->had)
        controllers_put_back(s, q->slot);
}

/* ---- Who would take its place ---- */

/* What becomes of a job at its turn: it waits for room, takes its turn, or leaves its lane, as limits
 * refuse what it would get.
 */
enum turn { TURN_FAILED = -1, TURN_WAITS, TURN_TAKEN, TURN_LEFT };

/* Whether a booking is in nobody's way, even if its job takes its whole limit: that of our job may be
 * another.
 */
static bool keeps(const struct question *q, uint32_t slot, int64_t booking, int64_t at)
{
    return (is_asked_about(q, slot) && q->is_limited) || keeps_promises(q->s, slot, booking, at);
}

/* A choice that is in nobody's way, or -1 with EBUSY. */
static int64_t choice_kept(const struct question *q, uint32_t slot, int64_t booking, int64_t at)
{
    if (booking < 0 || keeps(q, slot, booking, at))
        return booking;
    q->s->place->ops->release(q->s->place, booking);
    errno = EBUSY;
    return -1;
}

/* As place_ops.probe: by the job's estimate, or where that is in the way of a promise, by its limit, or for now as book.c
 * does.
 */
static int64_t choose_what_if(const struct question *q, uint32_t slot, const struct place_ask *ask,
                              int64_t at)
{
    sched_t *s = q->s;
    place_take_f *probe = s->place->ops->probe;
    int64_t booking = probe(s->place, ask, at);
    if (booking < 0 || keeps(q, slot, booking, at))
        return booking;
    s->place->ops->release(s->place, booking);
    struct place_ask whole = ask_by_limit(s, slot);
    whole.class = ask->class;
    whole.units = ask->units;
    booking = choice_kept(q, slot, probe(s->place, &whole, at), at);
    if (booking < 0 && errno == EBUSY && at == q->now)
        booking = choice_kept(q, slot, take_off_promises(s, slot, ask, probe, at), at);
    if (booking < 0 && errno == EBUSY && at == q->now)
        booking = choice_kept(q, slot, take_beside_promises(s, slot, ask, probe, at), at);
    return booking;
}

/* What becomes of one that asks for this at a time, if limits let it ask for that. */
static enum turn is_given(const struct question *q, uint32_t slot, const struct place_ask *ask,
                          int64_t at)
{
    const sched_t *s = q->s;
    int64_t booking = choose_what_if(q, slot, ask, at);
    if (booking < 0)
        return errno == EBUSY ? TURN_WAITS : TURN_FAILED;
    bool may = controllers_may_hold(s, slot, ask->duration, booking, at);
    s->place->ops->release(s->place, booking);
    return may ? TURN_TAKEN : TURN_LEFT;
}

/* Whether a lane has jobs before ours that a pass doesn't consider. */
static bool has_beyond(const struct question *q, const struct lane *lane)
{
    struct queue_key key = q->s->jobs[q->slot].key;
    return lane->queue_depth != SCHED_UNLIMITED &&
           considered_before(q->s, lane, key) > (size_t)lane->queue_depth;
}

/* An open job's turn to start. One that limits don't let go on leaves its lane when it is looked at: where
 * jobs go one after the other, in any case, else if it has room. That matters only if others come in then.
 */
static enum turn starts(const struct question *q, uint32_t slot)
{
    const struct lane *lane = lane_of(q->s, slot);
    bool lets = limit_lets(q->s, slot, q->now);
    if (!lets && (lane->depth == 0 || !has_beyond(q, lane)))
        return TURN_LEFT;
    enum turn is = is_given(q, slot, &q->s->jobs[slot].ask, q->now);
    return is == TURN_TAKEN && !lets ? TURN_LEFT : is;
}

/* Its turn to be promised a time. The calendars are as they are: our promise, which ends, is in them yet. */
static enum turn is_promised(const struct question *q, uint32_t slot)
{
    const sched_t *s = q->s;
    const struct place_ask *ask = &s->jobs[slot].ask;
    if (!limit_lets(s, slot, q->now))
        return TURN_LEFT;
    int64_t at = promise_time(q->s, slot, q->now);
    if (at < 0)
        return errno == ENOMEM ? TURN_FAILED : TURN_WAITS;
    return is_given(q, slot, ask, at);
}

/* A turn to start, or to be promised a time. */
typedef enum turn turn_fn(const struct question *q, uint32_t slot);

/* A job's turn. One that leaves its lane lets others be considered, and one of these may take its own: so
 * it counts as taken.
 */
static enum turn turn_of(const struct question *q, const struct lane *lane, uint32_t slot,
                         uint64_t tries, turn_fn *turn)
{
    enum turn is = tries < q->s->queues->setup->what_if_tries ? turn(q, slot) : TURN_TAKEN;
    return is == TURN_LEFT && has_beyond(q, lane) ? TURN_TAKEN : is;
}

/* Whether one of a group's jobs before ours would take its turn, in a lane where each may. -1: ENOMEM. */
static int is_taken_by(const struct question *q, const struct job_group *k, turn_fn *turn)
{
    const sched_t *s = q->s;
    const struct lane *lane = &s->lanes[k->lane];
    struct queue_bound bound = {1, INT64_MAX};
    struct queue_key after;
    struct queue_entry entry;
    bool begun = false;
    if (lane->is_stopped || lane->depth == 0 || !k->open)
        return 0;
    for (uint64_t tries = 0; queue_match(k->open, begun ? &after : NULL, &bound, 1, &entry);
         tries++) {
        if (!queue_before(entry.key, s->jobs[q->slot].key) || !is_considered(q->s, lane, entry.key))
            return 0;
        enum turn is = turn_of(q, lane, entry.item, tries, turn);
        if (is == TURN_TAKEN || is == TURN_FAILED)
            return is;
        if (is == TURN_WAITS) /* so does one that lasts as long or longer */
            bound.value = entry.value - 1;
        begun = true;
        after = entry.key;
    }
    return 0;
}

/* Whether one of a lane whose jobs go one after the other would, before ours: the first, or, where that
 * leaves the lane, the next. -1: ENOMEM.
 */
static int is_taken_in_order(const struct question *q, const struct lane *lane, turn_fn *turn)
{
    const sched_t *s = q->s;
    struct queue_key after;
    struct queue_entry entry;
    if (lane->is_stopped || lane->depth > 0)
        return 0;
    for (uint64_t tries = 0; queue_after(lane->open, tries ? &after : NULL, &entry); tries++) {
        if (!queue_before(entry.key, s->jobs[q->slot].key) || !is_considered(q->s, lane, entry.key))
            return 0;
        enum turn is = turn_of(q, lane, entry.item, tries, turn);
        if (is != TURN_LEFT)
            return is;
        after = entry.key;
    }
    return 0;
}

/* Whether a job before ours would take its turn; of one lane, or of all. -1: ENOMEM. */
static int is_turn_taken(const struct question *q, uint32_t lane, turn_fn *turn)
{
    const sched_t *s = q->s;
    const struct job_groups *t = &s->queues->job_groups;
    int rc = 0;
    for (uint32_t i = 0; i < t->n && rc == 0; i++)
        if (t->v[i].jobs > 0 && (lane == ANY_LANE || t->v[i].lane == lane))
            rc = is_taken_by(q, &t->v[i], turn);
    for (uint32_t i = 0; i < s->n_lanes && rc == 0; i++)
        if (lane == ANY_LANE || i == lane)
            rc = is_taken_in_order(q, &s->lanes[i], turn);
    return rc;
}

/* Whether our queue would give the promise that ours leaves to a job before it: one that could be promised
 * nothing when ours was, because things were down then. Where it has more promises to give, it has asked
 * that job; and what a limit has promised us is none of its own. -1: ENOMEM.
 */
static int is_promise_taken(const struct question *q)
{
    const struct lane *lane = lane_of(q->s, q->slot);
    bool leaves_one = !q->s->jobs[q->slot].is_kept && lane_holds(lane) >= lane->depth;
    return leaves_one ? is_turn_taken(q, q->s->jobs[q->slot].lane, is_promised) : 0;
}

/* Whether limits, or our array, would let a job before ours go on, now or once ours gives up what it is promised. The answer
 * for one job holds for later jobs of its party with the same request.
 */
static bool is_overtaken(const struct question *q)
{
    const sched_t *s = q->s;
    const struct queues *n = s->queues;
    const struct job *last = NULL;
    uint64_t tries = 0;
    if (q->had && array_keeps_before(s, q->slot))
        return true;
    for (size_t i = 0; i < n->n_limited; i++) {
        const struct job *job = &s->jobs[n->limited[i]];
        if (job->state != SCHED_BLOCKED || job->details->blocked != BLOCK_LIMIT ||
            (!s->queues->shares && !queue_before(job->key, s->jobs[q->slot].key)) ||
            !(q->had || limit_is_due(s, job)) ||
            (last && last->details->party == job->details->party &&
             last->ask.class == job->ask.class))
            continue;
        if (tries++ == n->setup->what_if_tries || limit_lets(s, n->limited[i], q->now))
            return true;
        last = job;
    }
    return false;
}

/* ---- The question ---- */

/* Whether its queue lets it start now, whatever it asks for. Nobody is told so while reservations are out of
 * the calendars for a pass that goes on: what seems to be free is promised.
 */
static bool is_looked_at(const struct question *q)
{
    const sched_t *s = q->s;
    const struct job *job = &s->jobs[q->slot];
    const struct lane *lane = lane_of(s, q->slot);
    if (job->state == SCHED_BLOCKED && job->details->blocked != BLOCK_LIMIT)
        return false;
    return !s->replan.is && !job->is_preempting && !job->is_claiming &&
           !gang_asks_whole(s, q->slot) && !lane->is_stopped && !shares_shut_class(s, q->slot) &&
           is_considered(s, lane, job->key) &&
           (lane->depth > 0 || queue_rank(lane->open, job->key) == 0);
}

/* Where there are shares, they say whose turn it is: that is not known for what a job's own promise leaves, nor in a lane
 * whose jobs go one after the other. What nobody else could use before, the others leave to it. Nor is it known where
 * passes do one action after the other, or not all.
 */
static bool is_unknown(const struct question *q)
{
    const struct queues *n = q->s->queues;
    return n->setup->config->n_actions > 0 ||
           (n->shares && (q->had || lane_of(q->s, q->slot)->depth == 0));
}

/* Set aside what is to be. Returns 0, or -1 with ENOMEM; put_back_after_question ends it in any case. */
static int set_aside_for_question(struct question *q)
{
    q->is_hopeless = !is_looked_at(q);
    if (q->is_hopeless)
        return 0;
    bool has_shares = q->s->queues->shares != NULL;
    bool before = !has_shares && goes_before_holders(q);
    uncount_own(q);
    q->is_hopeless = is_unknown(q) || is_overtaken(q);
    if (q->is_hopeless)
        return 0;
    int taken = q->had && !before ? is_promise_taken(q) : 0;
    lift_own(q);
    heads_set_aside(q->s, q->s->jobs[q->slot].key, true);
    if (before)
        return lift_behind(q);
    if (q->had && taken == 0)
        taken = is_turn_taken(q, ANY_LANE, starts);
    q->is_hopeless = taken != 0;
    return taken < 0 ? -1 : 0;
}

/* Whether it may ask for this, and is given it. */
static enum turn may_be_given(struct question *q, const struct place_ask *ask)
{
    struct details *d = q->s->jobs[q->slot].details;
    int64_t limit = d->limit;
    if (q->is_limited)
        d->limit = ask->duration;
    enum turn is = controllers_may_ask(q->s, q->slot, ask, q->now)
                       ? is_given(q, q->slot, ask, q->now)
                       : TURN_LEFT;
    d->limit = limit;
    return is;
}

/* Whether it would start with another request. -1 with a text. */
static int asks_else(struct question *q, const struct sched_instead *instead, berth_error_t *err)
{
    const sched_t *s = q->s;
    const struct place_ops *ops = s->place->ops;
    struct place_ask ask = s->jobs[q->slot].ask;
    if (instead->duration < 0 || instead->duration > ask.duration)
        return errtext_set(err, EINVAL, "expected a duration of at most the job's own");
    q->is_limited = instead->duration > 0;
    if (q->is_limited)
        ask.duration = instead->duration;
    jobspec_t *spec = NULL;
    if (instead->jobspec) {
        spec = jobspec_parse(instead->jobspec, instead->jobspec_length, NULL, err);
        if (!spec || ops->know(s->place, spec, ask.part, false, &ask.class, &ask.units, err) < 0) {
            jobspec_destroy(spec);
            return -1;
        }
    }
    enum turn is = may_be_given(q, &ask);
    if (is == TURN_FAILED)
        errtext_set(err, errno, errno == ENOMEM ? "out of memory" : "the request can't be matched");
    if (spec) {
        int saved = errno;
        ops->forget(s->place, ask.class);
        jobspec_destroy(spec);
        errno = saved;
    }
    return is == TURN_FAILED ? -1 : is == TURN_TAKEN;
}

static int would_start(struct question *q, struct sched_question *question, int64_t n,
                       berth_error_t *err)
{
    struct sched_instead instead = {0};
    if (question->make(question->context, n, &instead) < 0)
        return errtext_set(err, errno,
                           errno == ENOMEM ? "out of memory" : "there is no such request");
    return asks_else(q, &instead, err);
}

/* The largest that would start, by halves: less finds room where more does. Returns 0, or -1. */
static int search(struct question *q, struct sched_question *question, berth_error_t *err)
{
    int64_t low = question->least, high = question->most;
    question->found = low - 1;
    if (q->is_hopeless || low > high)
        return 0;
    int rc = would_start(q, question, low, err);
    if (rc <= 0)
        return rc;
    rc = high > low ? would_start(q, question, high, err) : 1;
    if (rc > 0)
        low = high;
    while (rc >= 0 && high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        rc = would_start(q, question, middle, err);
        if (rc > 0)
            low = middle;
        else
            high = middle;
    }
    question->found = low;
    return rc < 0 ? -1 : 0;
}

int sched_what_if(sched_t *s, int64_t now, sched_job_t handle, struct sched_question *questions,
                  size_t n, berth_error_t *err)
{
    struct question q = {.s = s, .slot = job_in_queue(s, handle), .now = now};
    uint8_t state = q.slot == JOB_NONE ? JOB_FREE : s->jobs[q.slot].state;
    if (state != SCHED_WAITING && state != SCHED_RESERVED && state != SCHED_BLOCKED)
        return errtext_set(err, EINVAL, "no such job waits");
    if (!time_is_good(s, now))
        return errtext_set(err, EINVAL, "time goes back");
    int rc = set_aside_for_question(&q);
    if (rc < 0)
        errtext_set(err, errno, errno == ENOMEM ? "out of memory" : "the request can't be matched");
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = search(&q, &questions[i], err);
    int saved = errno;
    put_back_after_question(&q);
    errno = saved;
    return rc;
}
