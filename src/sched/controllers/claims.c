#include "sched/controllers/claims.h"

#include <errno.h>

#include "base/array.h"
#include "base/number.h"
#include "berth/sched_config.h"
#include "sched/controllers/arrays.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/claims_priv.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/rows.h"
#include "sched/controllers/starving.h"
#include "sched/pass/displaced.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"

static int64_t end_of_time(const sched_t *s, int64_t at)
{
    return at + s->place->endless;
}

/* The last one that has a claim, where jobs of a queue have as many as they may, or with `more` more than that; else
 * JOB_NONE.
 */
static uint32_t last_claim(const sched_t *s, uint32_t queue, bool more)
{
    const struct queues *n = s->queues;
    uint32_t last = JOB_NONE;
    int64_t found = 0;
    for (size_t i = 0; i < n->n_claims; i++) {
        uint32_t slot = n->claims[i].slot;
        if (s->jobs[slot].details->queue != queue)
            continue;
        found++;
        if (last == JOB_NONE || queue_before(s->jobs[last].key, s->jobs[slot].key))
            last = slot;
    }
    return found >= n->setup->queue[queue].claims + more ? last : JOB_NONE;
}

static void note_claim(sched_t *s, uint32_t slot, int64_t at)
{
    struct queues *n = s->queues;
    struct job *job = &s->jobs[slot];
    heap_move(&s->due, slot, INT64_MAX, job->key.seq);
    held_waits(s, slot, false); /* as it did with a promise that it had before: a claim is kept */
    job->is_claiming = true;
    job->details->is_expected = false; /* as its promise was: others go by their limits */
    n->claims[n->n_claims++] = (struct claim){.slot = slot, .clear = at};
    n->had_claims = true;
}

static int claims_reserve(struct queues *n)
{
    return array_grow((void **)&n->claims, &n->cap_claims, n->n_claims + 1, sizeof(*n->claims));
}

/* An open job holds a booking of all that it claims, which lies over others. */
static enum step hold(sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    struct job *job = &s->jobs[slot];
    int64_t duration = job->ask.duration;
    job->ask.duration = s->place->endless;
    enum step step = controllers_count(s, slot, booking, at);
    if (step == STEP_BUSY) {
        job->is_kept = true;
        job->details->keeper = NO_CALENDAR;
        if (claims_reserve(s->queues) < 0 || held_insert(s, slot, at, booking) < 0) {
            controllers_uncount(s, slot, booking);
            job->is_kept = false;
            step = STEP_FAILED;
        }
    }
    if (step != STEP_BUSY) {
        s->place->ops->release(s->place, booking);
        if (job->state == SCHED_WAITING)
            job->ask.duration = duration;
        return step == STEP_KEPT ? STEP_BUSY : step;
    }
    s->booked++;
    s->queues->starving_tried = (struct tried){0}; /* the walk looks at it */
    note_claim(s, slot, at);
    starving_relieved(s, slot);
    displaced_end(s, slot);
    tell_later(s, slot);
    return STEP_DONE;
}

/* There is none beside what holders behind the job are promised: it takes its turn before them; again, if a starving job has
 * started since it had that, which may have had a claim.
 */
static enum step take_turn(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    bool before = held_next(s, true, s->jobs[slot].key) != JOB_NONE;
    bool has_missed = d->starts_seen != s->queues->starving_starts;
    if (s->pass.phase == PASS_OUTRANK || !before || (s->jobs[slot].is_fresh && !has_missed))
        return STEP_BUSY;
    d->starts_seen = s->queues->starving_starts;
    if (!s->jobs[slot].is_fresh)
        return open_renew(s, slot) < 0 ? STEP_FAILED : STEP_BUSY;
    s->jobs[slot].is_placed = false;
    s->pass.has_made_room = true;
    return STEP_BUSY;
}

/* Count what a booking and the claims in the calendars have of pools, or don't any more. Returns 0, or -1 with ENOMEM. */
static int weigh_claims(const sched_t *s, int64_t booking, bool on)
{
    const struct queues *n = s->queues;
    if (s->place->ops->weigh(s->place, booking, on) < 0)
        return -1;
    for (size_t i = 0; i < n->n_claims; i++)
        if (!s->jobs[n->claims[i].slot].is_lifted)
            s->place->ops->weigh(s->place, s->jobs[n->claims[i].slot].booking, on);
    return 0;
}

/* The last claim of those in the calendars, of jobs behind one (JOB_NONE: of all), that is in the way of a booking: it holds
 * something of that, or a pool has no room for all; JOB_NONE. Returns 0, or -1 with ENOMEM.
 */
static int find_met(const sched_t *s, uint32_t slot, int64_t booking, uint32_t *met)
{
    const struct queues *n = s->queues;
    const struct place_ops *ops = s->place->ops;
    bool is_weighed = false, fails = false;
    *met = JOB_NONE;
    if (n->n_claims == 0)
        return 0;
    if (ops->mark(s->place, booking, true) < 0)
        return -1;
    for (size_t i = n->n_claims; i-- > 0 && *met == JOB_NONE && !fails;) {
        const struct job *other = &s->jobs[n->claims[i].slot];
        if (other->is_lifted ||
            (slot != JOB_NONE && !queue_before(key_held(s, slot, 0), other->key)))
            continue;
        enum place_meet meet = ops->meets(s->place, other->booking);
        if (meet == PLACE_BESIDE && !is_weighed) {
            is_weighed = weigh_claims(s, booking, true) == 0;
            fails = !is_weighed;
            meet = ops->meets(s->place, other->booking);
        }
        *met = meet == PLACE_IN_WAY ? n->claims[i].slot : JOB_NONE;
    }
    if (is_weighed)
        weigh_claims(s, booking, false);
    ops->mark(s->place, booking, false);
    return fails ? -1 : 0;
}

/* Jobs behind one lose their claims to it, if limits let it have its own: the last one where its queue has no claim left, and
 * those that hold something of its booking. STEP_BUSY if that is done; STEP_DONE: limits do not; STEP_FAILED.
 */
static enum step take_claims(sched_t *s, uint32_t slot, uint32_t last, int64_t booking, int64_t at)
{
    uint32_t met;
    if (find_met(s, slot, booking, &met) < 0)
        return STEP_FAILED;
    if ((last != JOB_NONE || met != JOB_NONE) &&
        !controllers_may_hold(s, slot, s->place->endless, booking, at))
        return STEP_DONE;
    for (last = last == JOB_NONE ? met : last; last != JOB_NONE; last = met) {
        if (held_to_open(s, last, false) < 0)
            return STEP_FAILED;
        starving_opened(s, last);
        if (find_met(s, slot, booking, &met) < 0)
            return STEP_FAILED;
    }
    return STEP_BUSY;
}

enum step claim_make(sched_t *s, uint32_t slot)
{
    uint32_t last = last_claim(s, s->jobs[slot].details->queue, false);
    bool none_left = last != JOB_NONE && !queue_before(key_held(s, slot, 0), s->jobs[last].key);
    if (s->pass.phase == PASS_OUTRANK)
        s->jobs[slot].details->starts_seen = s->queues->starving_starts;
    if (none_left)
        return STEP_BUSY;
    claims_lift(s, CLAIMS_BEHIND, slot);
    int64_t at, booking = claim_choose(s, slot, &at);
    int error = errno;
    claims_lay(s);
    if (booking < 0)
        return error == ENOMEM ? STEP_FAILED : take_turn(s, slot);
    enum step step = take_claims(s, slot, last, booking, at);
    if (step != STEP_BUSY) {
        s->place->ops->release(s->place, booking);
        return step == STEP_DONE ? STEP_BUSY : step;
    }
    s->place->ops->lay(s->place, booking);
    return hold(s, slot, booking, at);
}

bool claim_put_back(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    int64_t clear = greater(s->now, claim_of(s, slot)->clear);
    uint32_t met;
    if (!s->place->ops->stands(s->place, &job->ask, job->booking, clear) ||
        !controllers_may_return(s, slot) || find_met(s, JOB_NONE, job->booking, &met) < 0 ||
        met != JOB_NONE)
        return false;
    s->place->ops->lay(s->place, job->booking);
    controllers_put_back(s, slot);
    job->is_lifted = false;
    s->booked++;
    return true;
}

/* ---- Others may take of it ---- */

static bool claim_concerns(const sched_t *s, enum claims_which which, uint32_t claim, uint32_t slot)
{
    switch (which) {
    case CLAIMS_TO_ENTER:
        return claim_admits(s, claim, slot);
    case CLAIMS_BEHIND: /* as what it is when it is promised a time */
        return queue_before(key_held(s, slot, 0), s->jobs[claim].key);
    case CLAIMS_BEHIND_TURN:
        return queue_before(s->jobs[slot].key, s->jobs[claim].key);
    default:
        return true;
    }
}

bool claims_lift(sched_t *s, enum claims_which which, uint32_t slot)
{
    struct queues *n = s->queues;
    bool any = false;
    for (size_t i = 0; i < n->n_claims; i++) {
        struct job *job = &s->jobs[n->claims[i].slot];
        if (job->is_lifted || !claim_concerns(s, which, n->claims[i].slot, slot))
            continue;
        s->place->ops->lift(s->place, job->booking, false);
        job->is_lifted = n->claims[i].is_aside = any = true;
    }
    return any;
}

/* The last claim in queue order; JOB_NONE. */
static uint32_t last_of_all(const sched_t *s)
{
    const struct queues *n = s->queues;
    uint32_t last = JOB_NONE;
    for (size_t i = 0; i < n->n_claims; i++) {
        uint32_t slot = n->claims[i].slot;
        if (last == JOB_NONE || queue_before(s->jobs[last].key, s->jobs[slot].key))
            last = slot;
    }
    return last;
}

bool claims_are_behind(const sched_t *s)
{
    uint32_t last = last_of_all(s);
    for (uint32_t i = 0; i < s->n_lanes && last != JOB_NONE; i++) {
        struct queue_entry first;
        if (queue_first(s->lanes[i].open, &first) && queue_before(first.key, s->jobs[last].key))
            return true;
    }
    return false;
}

void claims_lay(sched_t *s)
{
    struct queues *n = s->queues;
    for (size_t i = 0; i < n->n_claims; i++) {
        struct job *job = &s->jobs[n->claims[i].slot];
        if (!n->claims[i].is_aside)
            continue;
        s->place->ops->lay(s->place, job->booking);
        job->is_lifted = n->claims[i].is_aside = false;
    }
}

/* ---- In a walk ---- */

struct first_end {
    uint32_t slot;   /* the claim's job */
    int64_t starves; /* from when on it is starving */
    int64_t end;
};

/* The first end of all. A job that has started since the claim's job was starving counts as ending when the claim begins, if it ends
 * before that or nobody knows when: others are promised times until then.
 */
static bool is_later_end(void *arg, const sched_t *s, uint32_t other)
{
    struct first_end *first = arg;
    int64_t known = known_end(s, first->slot, other), begin = s->jobs[first->slot].at;
    bool has_come = s->jobs[other].at >= first->starves;
    if (has_come && begin > s->now && (known < begin || known == INT64_MAX))
        known = begin;
    if (known < first->end || known == INT64_MAX)
        first->end = known == INT64_MAX ? s->now : known;
    return first->end > s->now;
}

/* When the first of those ends that a claim waits for: now, where somebody's end is not known; INT64_MAX: it waits for
 * nobody. -1 with ENOMEM.
 */
static int64_t first_end(const sched_t *s, uint32_t slot)
{
    struct first_end first = {.slot = slot, .starves = starves_at(s, slot), .end = INT64_MAX};
    if (claim_each_awaited(s, slot, is_later_end, &first) < 0)
        return -1;
    return first.end > s->now ? first.end : s->now;
}

/* A claim that is out of the calendars begins when the first of those ends that it waits for. Returns 0, or -1 with
 * ENOMEM.
 */
static int begin_with(sched_t *s, uint32_t slot, int64_t at)
{
    struct job *job = &s->jobs[slot];
    int64_t was = job->at;
    if (at == was || (at <= s->now && was <= s->now))
        return 0;
    if (s->place->ops->shift(s->place, job->booking, at, end_of_time(s, at)) < 0)
        return -1;
    controllers_set_aside(s, slot);
    if (controllers_enter(s, slot, job->booking, at, end_of_time(s, at)) < 0)
        return -1;
    job->at = at;
    note_freed(s, was, at);
    s->pass.has_made_room = true; /* for others, which are to be looked at */
    s->swept = false;
    return 0;
}

static bool may_have(const sched_t *s, uint32_t slot, int64_t booking)
{
    return keeps_promises(s, slot, booking, s->now) &&
           controllers_may_hold(s, slot, s->jobs[slot].ask.duration, booking, s->now);
}

/* The same where the choice is narrow, as it may not have what the policy would choose. 1, 0, or -1 with ENOMEM. */
static int can_start_narrowly(sched_t *s, uint32_t slot)
{
    const struct place_ops *ops = s->place->ops;
    int64_t booking = ops->probe(s->place, &s->jobs[slot].ask, s->now);
    int saved = errno;
    ops->narrow(s->place, NULL, false);
    if (booking == -1)
        return saved == ENOMEM ? -1 : 0;
    bool may = may_have(s, slot, booking);
    ops->release(s->place, booking);
    return may;
}

/* Whether it can start now, or would be rejected as it is over a limit by itself: 1, 0, or -1 with ENOMEM. Its claim is
 * out of the calendars.
 */
static int can_start(sched_t *s, uint32_t slot)
{
    const struct place_ops *ops = s->place->ops;
    int64_t booking = ops->probe(s->place, &s->jobs[slot].ask, s->now);
    if (booking == -1)
        return errno == ENOMEM ? -1 : 0;
    bool may = may_have(s, slot, booking) || !limit_ever_lets(s, slot, booking);
    int narrows = may ? 0 : controllers_narrow(s, slot, booking, s->now);
    ops->release(s->place, booking);
    return narrows > 0 ? can_start_narrowly(s, slot) : narrows < 0 ? -1 : may;
}

/* Its claim, out of the calendars, is gone: it starts, or takes another one. */
static enum step start_or_claim_again(sched_t *s, uint32_t slot, bool starts)
{
    if (held_to_open(s, slot, false) < 0)
        return STEP_FAILED;
    enum step step = starts ? start_surely(s, slot) : STEP_BUSY;
    s->finder->wake(s, true); /* counts, which kinds go by, know nothing of claims */
    if (step == STEP_BUSY)
        step = promise_starving(s, slot);
    return step == STEP_FAILED ? STEP_FAILED : STEP_DONE;
}

/* Put it back, from when on it is to withhold; and whether only those are in its way that may be stopped. STEP_KEPT: it does not
 * stand any more, as a block has come over it, say, or all of it is free, and what keeps the job, such as a block that begins
 * too soon, has a time.
 */
static enum step wait_on(sched_t *s, uint32_t slot, bool *only_stopped)
{
    struct claim *claim = claim_of(s, slot);
    int64_t at = first_end(s, slot), over = blocks_over(s, slot, s->jobs[slot].booking, s->now);
    *only_stopped = at == INT64_MAX;
    if (at < 0 || over > greater(s->now, claim->clear))
        return at < 0 ? STEP_FAILED : STEP_KEPT;
    claim->clear = over;
    int is_free = *only_stopped ? claim_is_free(s, slot) : 0;
    if (is_free != 0)
        return is_free < 0 ? STEP_FAILED : STEP_KEPT;
    if (*only_stopped)
        at = s->now;
    if (begin_with(s, slot, greater(at, over)) < 0)
        return STEP_FAILED;
    if (!claim_put_back(s, slot))
        return STEP_KEPT;
    array_filled(s, slot);
    return STEP_BUSY;
}

/* Stop those for it that may be, if it starts by that. If it does not, though nobody else is in its way, it is as if all were
 * free.
 */
static enum step preempt(sched_t *s, uint32_t slot, bool only_stopped)
{
    claims_lift(s, CLAIMS_BEHIND, slot);
    enum step step = controllers_make_room_for_holder(s, slot);
    claims_lay(s);
    if (step == STEP_DONE) {
        s->pass.has_made_room = true;
        s->swept = false;
    }
    if (step == STEP_DONE || step == STEP_FAILED || !only_stopped)
        return step;
    claims_lift(s, CLAIMS_BEHIND, slot);
    holder_lift(s, slot);
    step = start_or_claim_again(s, slot, false);
    claims_lay(s);
    return step;
}

int claim_could_start(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    bool any = claims_lift(s, CLAIMS_BEHIND, slot), was_lifted = job->is_lifted;
    if (!was_lifted)
        holder_lift(s, slot);
    job->ask.duration = job->details->estimate;
    int can = can_start(s, slot);
    int saved = errno;
    job->ask.duration = s->place->endless;
    if (!was_lifted) {
        s->place->ops->lay(s->place, job->booking);
        controllers_put_back(s, slot);
        job->is_lifted = false;
        s->booked++;
    }
    if (any)
        claims_lay(s);
    errno = saved;
    return can;
}

enum step claim_look(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (decision_reserve(s) < 0)
        return STEP_FAILED;
    if (!pass_does(s, DOES(ALLOCATE)))
        return preempt(s, slot, false) == STEP_FAILED ? STEP_FAILED : STEP_DONE;
    claims_lift(s, CLAIMS_BEHIND, slot);
    holder_lift(s, slot);
    job->ask.duration = job->details->estimate;
    int can = can_start(s, slot);
    job->ask.duration = s->place->endless;
    enum step step = can < 0 ? STEP_FAILED : STEP_KEPT;
    bool only_stopped = false;
    if (can == 0 && !job->is_tried_again)
        step = wait_on(s, slot, &only_stopped);
    if (step == STEP_KEPT)
        step = start_or_claim_again(s, slot, can == 1);
    claims_lay(s);
    if (step == STEP_BUSY)
        step = preempt(s, slot, only_stopped);
    if (s->jobs[slot].is_claiming)
        tell_later(s, slot);
    return step == STEP_FAILED ? STEP_FAILED : STEP_DONE;
}

/* ---- The controller ---- */

static void drop_claim(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    struct job *job = &s->jobs[slot];
    size_t i = 0;
    if (!job->is_claiming)
        return;
    while (n->claims[i].slot != slot)
        i++;
    for (n->n_claims--; i < n->n_claims; i++)
        n->claims[i] = n->claims[i + 1];
    job->is_claiming = false;
    job->ask.duration = job->details->estimate;
}

/* A queue may have fewer: the last ones in queue order are given up. */
static enum step give_up_last_claim(sched_t *s)
{
    struct queues *n = s->queues;
    n->had_claims = n->n_claims > 0;
    n->wake_all |= n->had_claims; /* counts, which kinds go by, know nothing of claims */
    uint32_t last = JOB_NONE;
    for (size_t i = 0; i < n->n_claims && last == JOB_NONE; i++)
        last = last_claim(s, s->jobs[n->claims[i].slot].details->queue, true);
    if (last == JOB_NONE)
        return STEP_BUSY;
    s->swept = false;
    return held_to_open(s, last, true) < 0 ? STEP_FAILED : STEP_DONE;
}

/* Whoever starts may have something that is claimed, for whom those jobs wait, too. */
static void tell_claims(sched_t *s, uint32_t slot, enum sched_how how)
{
    (void)slot;
    (void)how;
    for (size_t i = 0; i < s->queues->n_claims; i++)
        tell_later(s, s->queues->claims[i].slot);
}

const struct controller claim_controller = {
    .name = "claims",
    .started = tell_claims,
    .released = drop_claim,
    .turn = give_up_last_claim,
};

/* ---- Restored ---- */

int claim_restored(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (claims_reserve(s->queues) < 0)
        return -1;
    int64_t over = blocks_over(s, slot, job->booking, s->now); /* that it waits for already */
    note_claim(s, slot, over);
    job->ask.duration = s->place->endless;
    job->details->keeper = NO_CALENDAR;
    starving_relieved(s, slot);
    return 0;
}

/* All that runs or is reserved is out of the calendars, or back. */
static void all_aside(sched_t *s, bool aside)
{
    const struct place_ops *ops = s->place->ops;
    const struct heap *from[] = {&s->queues->ends, &s->due};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < from[k]->n; i++) {
            const struct job *job = &s->jobs[from[k]->v[i].item];
            if ((job->state == SCHED_RUNNING) != (k == 0) || job->is_claiming || job->is_lifted)
                continue;
            if (aside)
                ops->lift(s->place, job->booking, false);
            else
                ops->drop(s->place, &job->ask, job->booking);
        }
}

void claims_begin(sched_t *s)
{
    claims_lift(s, CLAIMS_ALL, JOB_NONE);
    all_aside(s, true);
}

void claims_end(sched_t *s, int64_t booking)
{
    if (booking >= 0)
        s->place->ops->lift(s->place, booking, false);
    all_aside(s, false);
    if (booking >= 0)
        s->place->ops->lay(s->place, booking);
    claims_lay(s);
}

void claims_settle(sched_t *s)
{
    if (s->queues->n_claims == 0)
        return;
    claims_begin(s);
    claims_end(s, -1);
}
