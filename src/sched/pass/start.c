/* Jobs start, or are promised a time. */
#include <errno.h>

#include "sched/controllers/arrays.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/blocks.h"
#include "sched/controllers/claims.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/make_room.h"
#include "sched/controllers/passed_on.h"
#include "sched/controllers/starving.h"
#include "sched/pass/book.h"
#include "sched/pass/displaced.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"

bool starts_clear(const sched_t *s, uint32_t slot, int64_t booking)
{
    const struct job *job = &s->jobs[slot];
    const struct details *d = job->details;
    return !d || !s->queues->any_tails || d->limit == SCHED_UNLIMITED || d->limit <= d->estimate ||
           blocks_keep_clear(s, slot, booking, s->now + d->estimate, s->now + d->limit);
}

/* Let the machine choose what a job gets that starts with its booking, which may have been made just now. 0, or -1 with
 * EBUSY or ENOMEM.
 */
static int let_machine_choose(sched_t *s, uint32_t slot, int64_t booking, bool is_new)
{
    const struct place_ops *ops = s->place->ops;
    const struct job *job = &s->jobs[slot];
    if (!starts_clear(s, slot, booking)) {
        errno = EBUSY;
        return -1;
    }
    if (is_new && ops->allocate) {
        ops->allocate(s->place, booking, s->now);
        return 0;
    }
    return ops->start ? ops->start(s->place, &job->ask, booking, s->now) : 0;
}

/* How an open job is chosen that can start: has a holder of its queue to wait longer than it? */
static enum sched_how how_of(const sched_t *s, uint32_t slot)
{
    struct queue_entry first;
    bool waits = queue_first(lane_of(s, slot)->held, &first) &&
                 (s->queues->shares || queue_before(first.key, s->jobs[slot].key));
    return waits ? SCHED_BACKFILLED : SCHED_IMMEDIATE;
}

void job_started(sched_t *s, uint32_t slot, enum sched_how how)
{
    struct job *job = &s->jobs[slot];
    job->state = SCHED_RUNNING;
    job->at = s->now;
    s->running++;
    displaced_end(s, slot);
    struct sched_decision *d = decision_add(s, SCHED_START, slot, s->now, NULL);
    bool is_endless = job->details && job->ask.duration >= s->place->endless;
    d->until = !is_endless && job->ask.duration < INT64_MAX - s->now ? s->now + job->ask.duration
                                                                     : INT64_MAX;
    d->how = job->is_preempting ? SCHED_IMMEDIATE : how;
    controllers_started(s, slot, d->how);
    array_filled(s, slot);
}

/* A pass comes late for a reservation: the job will end that much later, and reservations in the way of that
 * move. A machine that only counts units keeps its booking as it is. Returns 0, or -1 with ENOMEM.
 */
int held_late(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (s->now <= job->at || s->place->is_counted)
        return 0;
    int64_t duration = job->ask.duration;
    int64_t from = job->details->put_off > job->at ? job->details->put_off : job->at;
    if (from >= s->now)
        return 0;
    if (s->place->ops->extend(s->place, job->booking, s->now + duration) < 0 ||
        controllers_extend(s, slot, s->now + duration) < 0)
        return -1;
    job->details->put_off = s->now;
    if (has_tail(s, slot))
        judge_all(s->queues); /* it may stay that much longer, too */
    s->booked++;
    repair_note(s, from + duration, s->now + duration);
    return 0;
}

/* Limits count what a holder takes, and then the machine chooses it, if it does: *rc. Claims may lie over it; and what
 * others who have preempted wait for is not theirs yet. They have their turn at limits when they start.
 */
static enum step take_held(sched_t *s, uint32_t slot, int *rc)
{
    bool preempts = s->jobs[slot].is_preempting;
    if (preempts) {
        preemptors_aside(s, slot, true);
        preemptors_due_aside(s, slot, true);
    }
    enum step step = controllers_count_held(s, slot, s->now);
    if (step == STEP_KEPT && preempts)
        step = await_more(s, slot);
    if (preempts)
        preemptors_due_aside(s, slot, false);
    if (step == STEP_BUSY) {
        bool any = claims_lift(s, CLAIMS_ALL, slot);
        *rc = let_machine_choose(s, slot, s->jobs[slot].booking, false);
        int saved = errno;
        if (any)
            claims_lay(s);
        errno = saved;
    }
    int saved = errno;
    if (preempts)
        preemptors_aside(s, slot, false);
    errno = saved;
    return step;
}

/* The next member of an array, or of a gang, behind those that a limit has promised a time, and that start: it is let go on for
 * the promise that is left, as the next one that the limit keeps would be, and has its turn before those behind it are looked at.
 */
static void let_next_member(sched_t *s, uint32_t slot)
{
    if (s->jobs[slot].state != SCHED_WAITING)
        return;
    open_renew(s, slot); /* there is memory for it */
    s->pass.has_made_room = true;
}

static void let_next_of_gang(sched_t *s, const struct gang *gang)
{
    uint32_t next = gang->first;
    while (next != JOB_NONE && s->jobs[next].state != SCHED_WAITING)
        next = s->jobs[next].details->gang_behind;
    if (next != JOB_NONE)
        let_next_member(s, next);
}

enum step start_held(sched_t *s, uint32_t slot)
{
    uint32_t starts = decision_reserve(s) < 0 ? JOB_NONE : part_reserve(s, slot);
    if (starts == JOB_NONE || controllers_prepare(s, starts) < 0)
        return STEP_FAILED;
    struct job *job = &s->jobs[slot];
    int rc = 0;
    enum step step = take_held(s, slot, &rc);
    if (step == STEP_KEPT)
        return held_to_open(s, slot, true) < 0 ? STEP_FAILED : STEP_DONE;
    if (step != STEP_BUSY)
        return step;
    if (rc < 0) {
        int64_t was = job->at;
        if (errno != EBUSY || held_to_open(s, slot, true) < 0)
            return STEP_FAILED;
        displaced_begin(s, slot, was);
        return STEP_DONE;
    }
    if (gang_asks_whole(s, slot) && gang_prepare(s, slot) < 0)
        return STEP_FAILED;
    queue_remove(held_of(s, slot), s->jobs[slot].key);
    heap_take(&s->due, slot);
    bool is_kept = job->is_kept && !job->details->is_relieved;
    if (gang_asks_whole(s, slot)) {
        step = gang_start(s, slot, SCHED_PROMISED);
        if (step == STEP_DONE && is_kept)
            let_next_of_gang(s, gang_of(s, slot));
        return step;
    }
    uint32_t part = part_first(s, slot);
    job_started(s, part, SCHED_PROMISED);
    if (is_kept && part != slot)
        let_next_member(s, slot);
    return STEP_DONE;
}

/* Whether it was refused more nodes than its limits leave, but has not yet got the room on so many. */
static bool lacks_nodes(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    return d && d->calendar == NO_CALENDAR;
}

/* A booking for now is over a limit by the nodes that it holds: book others now that are within it. *booking is
 * another one then, which is counted, or is given back (-1). STEP_KEPT, or STEP_BUSY without a booking: there are none.
 */
static enum step book_narrowly(sched_t *s, uint32_t slot, int64_t *booking)
{
    int narrows = controllers_narrow(s, slot, *booking, s->now);
    unbook(s, *booking);
    if (narrows <= 0)
        return narrows < 0 ? STEP_FAILED : STEP_KEPT;
    *booking = s->place->ops->book(s->place, &s->jobs[slot].ask, s->now);
    s->place->ops->narrow(s->place, NULL, false);
    if (*booking < 0 &&
        errno == EBUSY) /* as it may have them, it is the machine that has not so much on so few */
        return s->jobs[slot].details->calendar == NO_CALENDAR ? STEP_BUSY : STEP_KEPT;
    if (*booking < 0)
        return STEP_FAILED;
    enum step step = keeps_promises(s, slot, *booking, s->now)
                         ? controllers_count(s, slot, *booking, s->now)
                         : STEP_KEPT;
    if (step != STEP_BUSY)
        unbook(s, *booking);
    return step;
}

static enum step start_beside(sched_t *s, uint32_t slot, bool turn, bool knows);

/* A limit keeps an open job whose turn it is: room may be made for that too, or the limit counts what others wait for twice. Then
 * it is resources that keep the job, and the first one of a lane that promises nothing is not to be overtaken.
 */
static enum step keep_for_limit(sched_t *s, uint32_t slot)
{
    enum step step = STEP_BUSY;
    bool is_twice = may_ask_at_last(s, slot);
    if ((s->queues->setup->preempts && s->pass.phase == PASS_WALK) || is_twice)
        step = controllers_make_room(s, slot);
    bool waits = is_twice && lane_of(s, slot)->depth == 0;
    if (step != STEP_BUSY || waits)
        return step;
    claims_lay(s); /* it may run in them: a time there is in the way of their jobs */
    return promise_kept(s, slot);
}

/* There is no room for an open job beside what claims withhold. If it may be stopped it may have of that. */
static enum step start_in_claims(sched_t *s, uint32_t slot, bool turn)
{
    if (!claims_admit(s, slot) || !claims_lift(s, CLAIMS_TO_ENTER, slot))
        return STEP_BUSY;
    enum step step = start_beside(s, slot, turn, true);
    claims_lay(s);
    return step;
}

/* Of what jobs behind it claim it may have, too. What has no room then has none for those behind the claims either. */
enum step start_open(sched_t *s, uint32_t slot, bool turn)
{
    bool any = s->queues->n_claims > 0 && claims_lift(s, CLAIMS_BEHIND_TURN, slot);
    enum step step = start_beside(s, slot, turn, true);
    if (step == STEP_BUSY && s->queues->n_claims > 0)
        step = start_in_claims(s, slot, turn);
    if (any)
        claims_lay(s);
    return step;
}

enum step start_surely(sched_t *s, uint32_t slot)
{
    return start_beside(s, slot, true, false);
}

/* `knows`: what is known of those that ask for the same holds for it. */
static enum step start_beside(sched_t *s, uint32_t slot, bool turn, bool knows)
{
    if (decision_reserve(s) < 0)
        return STEP_FAILED;
    enum step gate = controllers_gate(s, slot);
    if (gate == STEP_FAILED || gate == STEP_DONE)
        return gate;
    if (gate == STEP_KEPT && turn)
        return keep_for_limit(s, slot);
    if (knows && s->finder->is_hopeless(s, slot))
        return STEP_BUSY;
    uint32_t starts = part_reserve(s, slot);
    if (starts == JOB_NONE || controllers_prepare(s, starts) < 0)
        return STEP_FAILED;
    struct job *job = &s->jobs[slot];
    int64_t booking = s->place->ops->book(s->place, &job->ask, s->now);
    if (booking < 0) {
        if (errno != EBUSY)
            return STEP_FAILED;
        if (knows && !claims_are_open(s, lane_of(s, slot)))
            s->finder->failed(s, slot);
        return STEP_BUSY;
    }
    booking = book_clear(s, slot, booking, false);
    if (booking < 0)
        return errno == EBUSY ? STEP_BUSY : STEP_FAILED;
    enum step step = gate == STEP_KEPT ? gate : controllers_count(s, slot, booking, s->now);
    if (step == STEP_KEPT && gate == STEP_BUSY)
        step = book_narrowly(s, slot, &booking);
    else if (step != STEP_BUSY)
        unbook(s, booking);
    if (step != STEP_BUSY || booking < 0)
        return step == STEP_KEPT ? keep_for_limit(s, slot) : step;
    if (let_machine_choose(s, slot, booking, true) < 0 ||
        (gang_asks_whole(s, slot) && gang_prepare(s, slot) < 0)) {
        controllers_uncount(s, slot, booking);
        unbook(s, booking);
        return STEP_FAILED;
    }
    s->jobs[slot].booking = booking;
    s->booked++;
    enum sched_how how = how_of(s, slot);
    displaced_leave(s, slot);
    open_remove(s, slot);
    if (gang_asks_whole(s, slot))
        return gang_start(s, slot, how);
    job_started(s, part_first(s, slot), how);
    return STEP_DONE;
}

/* A booking from *at on is over a limit by the nodes that it holds: reserve others that are within it, before `next`.
 * *booking is another one then, which is counted (STEP_BUSY), or is given back. STEP_KEPT: there are none.
 */
static enum step reserve_narrowly(sched_t *s, uint32_t slot, int64_t *booking, int64_t *at,
                                  int64_t next)
{
    int narrows = controllers_narrow(s, slot, *booking, *at);
    unbook(s, *booking);
    if (narrows <= 0)
        return narrows < 0 ? STEP_FAILED : STEP_KEPT;
    *booking = s->place->ops->reserve(s->place, &s->jobs[slot].ask, *at, at);
    s->place->ops->narrow(s->place, NULL, false);
    if (*booking < 0)
        return errno == ENOMEM ? STEP_FAILED : STEP_KEPT;
    enum step step = *at < next && *at < s->place->endless && keeps_promises(s, slot, *booking, *at)
                         ? controllers_count(s, slot, *booking, *at)
                         : STEP_KEPT;
    if (step != STEP_BUSY)
        unbook(s, *booking);
    return step;
}

/* Make an open job a held one with a booking from `at` on. STEP_KEPT: it may not hold that then, but perhaps
 * from *next on.
 */
static enum step hold(sched_t *s, uint32_t slot, int64_t at, int64_t booking, int64_t *next)
{
    enum step step = controllers_count(s, slot, booking, at);
    if (step == STEP_KEPT) {
        *next = controllers_when(s, slot, booking, at);
        *next = controllers_rethink(s, slot, booking, at, *next);
        step = reserve_narrowly(s, slot, &booking, &at, *next);
        s->jobs[slot].details->waits |= step == STEP_BUSY;
    } else if (step != STEP_BUSY) {
        unbook(s, booking);
    }
    if (step != STEP_BUSY)
        return step;
    if (held_insert(s, slot, at, booking) < 0) {
        controllers_uncount(s, slot, booking);
        unbook(s, booking);
        return STEP_FAILED;
    }
    s->booked++;
    array_filled(s, slot);
    displaced_moved(s, slot);
    if (s->jobs[slot].details)
        s->jobs[slot].details->is_expected = s->queues->any_tails; /* nothing was promised yet */
    judge(s, slot);
    decision_add(s, SCHED_RESERVE, slot, at, NULL);
    return STEP_DONE;
}

/* On a machine where nothing goes down it will never be otherwise. */
static enum step never(sched_t *s, uint32_t slot)
{
    static const struct sched_reason why = {.kind = SCHED_REASON_NO_TIME};
    open_remove(s, slot);
    decision_add(s, SCHED_REJECT, slot, s->now, &why);
    job_free(s, slot);
    return STEP_DONE;
}

/* The machine names the first time at which it has room, controllers the next one from there on at which they
 * have, and so on until they agree: a reservation from then on. STEP_BUSY: the machine has none; STEP_KEPT:
 * nor have they.
 */
static enum step reserve_beside(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    int64_t from = s->now, at;
    enum step step = STEP_KEPT;
    bool waits = false, unsure = false;
    if (s->place->ops->tell)
        s->place->ops->tell(s->place, s->now);
    while (step == STEP_KEPT) {
        int64_t asked = from;
        from = controllers_when(s, slot, -1, asked);
        if (from >=
            (s->place->is_counted ? INT64_MAX : s->place->endless)) /* or the plan is over */
            return (from > asked || asked > s->now) && !lacks_nodes(s, slot) ? STEP_KEPT
                                                                             : STEP_BUSY;
        int64_t booking = reserve_clear(s, slot, from, &at, &unsure);
        if (booking < 0)
            return errno == ENOMEM ? STEP_FAILED : STEP_BUSY;
        if (!s->place->is_counted && at >= s->place->endless) { /* behind who has no end */
            unbook(s, booking);
            return STEP_BUSY;
        }
        waits |= from > s->now;
        if (job->details)
            job->details->waits = waits;
        step = hold(s, slot, at, booking, &from);
        if (step == STEP_DONE && job->details && job->state == SCHED_RESERVED)
            held_waits(s, slot, job->details->waits);
        if (unsure && step == STEP_DONE && job->state == SCHED_RESERVED)
            held_unsure(s, slot);
    }
    return step;
}

/* The same, where it may take of what jobs behind it claim, as holders do. */
static enum step reserve_over_claims(sched_t *s, uint32_t slot)
{
    bool any = claims_lift(s, CLAIMS_BEHIND, slot);
    enum step step = reserve_beside(s, slot);
    if (any)
        claims_lay(s);
    return step;
}

/* Give an open job a reservation at its earliest time. STEP_BUSY: things are down, or set aside for ever. */
enum step promise(sched_t *s, uint32_t slot)
{
    enum step step = controllers_gate(s, slot);
    if (step == STEP_DONE)
        return step;
    if (step == STEP_FAILED || decision_reserve(s) < 0)
        return STEP_FAILED;
    if (step == STEP_BUSY)
        step = reserve_over_claims(s, slot);
    if (step == STEP_KEPT)
        return promise_kept(s, slot);
    if (step == STEP_BUSY && s->place->is_counted)
        return never(s, slot);
    if (step == STEP_BUSY)
        displaced_begin(s, slot, DISPLACED_ANY);
    return step;
}

/* One that a limit has promised a time has not looked for victims: it does so as a holder, in a walk at once (walk.c), but in a
 * round that has nobody preempted in a later one.
 */
static void try_as_holder(sched_t *s)
{
    s->queues->holders_tried = (struct tried){0};
    if (s->pass.phase == PASS_WALK && !pass_does(s, DOES(PREEMPT)))
        s->pass.tried = (struct tried){0};
}

enum step promise_kept(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    enum step step = controllers_keep(s, slot);
    if (step != STEP_BUSY)
        return step;
    if (decision_reserve(s) < 0 || limit_take_place(s, slot) < 0)
        return STEP_FAILED;
    struct sched_reason_limit over = d->over;
    d->keeper = d->calendar;
    job->is_kept = true;
    step = reserve_over_claims(s, slot);
    d->over = over;
    if (step == STEP_DONE && job->state == SCHED_RESERVED) {
        try_as_holder(s);
        return limit_promised(s, slot) < 0 ? STEP_FAILED : STEP_DONE;
    }
    job->is_kept = false;
    if (step == STEP_FAILED || step == STEP_DONE)
        return step;
    return limit_block(s, slot) < 0 ? STEP_FAILED : STEP_DONE;
}

enum step promise_starving(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    enum step step = controllers_gate(s, slot);
    if (step == STEP_DONE)
        return step;
    if (step == STEP_FAILED || decision_reserve(s) < 0)
        return STEP_FAILED;
    job->is_kept = true;
    job->details->keeper = NO_CALENDAR;
    if (step == STEP_BUSY)
        step = reserve_over_claims(s, slot);
    if (step == STEP_DONE && job->state == SCHED_RESERVED) {
        starving_relieved(s, slot);
        return STEP_DONE;
    }
    job->is_kept = false;
    if (step == STEP_BUSY)
        return claim_make(s, slot);
    return step == STEP_KEPT ? promise_kept(s, slot) : step;
}

int64_t promise_time(sched_t *s, uint32_t slot, int64_t from)
{
    int64_t at = from;
    do {
        from = controllers_when(s, slot, -1, at);
        errno = ENOENT;
        at = from < INT64_MAX ? s->place->ops->when(s->place, &s->jobs[slot].ask, from) : -1;
    } while (at > from);
    if (s->place->is_counted || at < s->place->endless)
        return at;
    errno = ENOENT; /* behind who has no end */
    return -1;
}
