/* The sweep: after ends, each reservation in queue order moves to its earliest time, given all the others.
 *
 * Searching the calendar for each from now on would be right and slow. Two things are known instead.
 *
 *  1. A reservation stood at its earliest time when it was last tried. A window that has become possible
 *     since contains an instant that was freed since, so it does not end before the first of these (freed.h).
 *  2. If a job of the same shape, the same units and duration, was tried just now and has no window before t,
 *     then every such window has an instant before t at which too much is taken. That holds for the next job
 *     of this shape too, as long as it does not itself stand before t: what it holds would count as free for
 *     it. Windows that contain an instant freed meanwhile are excepted, as in 1.
 *
 * The second is known of machines that count units alone. Where resources have names, each may be taken at
 * another instant of a window, so that little would follow from it, and what is missing by count is known of
 * each capacity all the same (place/graph/capacity.h). So a shape is not one more way in which requests are
 * equal, but a note of the sweep. And on a graph a reservation that moves, or takes other resources at the
 * same time, frees what it had for all of its time.
 *
 * The search begins where these leave off, and ends at the reservation itself. Jobs of one shape often come
 * in crowds, of which only the first costs a search.
 */
#include <errno.h>

#include "sched/controllers/ask.h"
#include "sched/controllers/claims.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/make_room.h"
#include "sched/pass/book.h"
#include "sched/pass/displaced.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"

_Static_assert(SHAPE_BITS >= 1 && SHAPE_BITS <= 8, "job.shape is a byte");

uint8_t shape_slot(const struct place_ask *ask)
{
    uint64_t hash = ((uint64_t)ask->units * 0x9e3779b97f4a7c15u) ^
                    ((uint64_t)ask->duration * 0xc2b2ae3d27d4eb4fu);
    return (uint8_t)(hash >> (64 - SHAPE_BITS));
}

/* What is known of the job's shape, in its slot; what another shape has left there is forgotten. */
static struct shape *shape_of(sched_t *s, const struct job *job)
{
    struct shape *shape = &s->shapes[job->shape];
    if (shape->units != job->ask.units || shape->duration != job->ask.duration)
        *shape = (struct shape){
            .units = job->ask.units, .duration = job->ask.duration, .needs = INT64_MAX};
    return shape;
}

/* The first start whose window reaches `from`. */
static int64_t first_to_reach(int64_t from, int64_t duration)
{
    return from > duration ? from - duration + 1 : 0;
}

/* Before this time a reservation need not be looked for. What rules windows out for its shape must lie where
 * the job holds nothing itself.
 */
static int64_t known_bound(const sched_t *s, const struct job *job, const struct shape *shape)
{
    int64_t duration = job->ask.duration;
    int64_t own = first_to_reach(freed_since(&s->place->freed, job->seen), duration);
    int64_t bound = own > s->now ? own : s->now;
    if (shape && shape->needs <= job->at) {
        int64_t freed = first_to_reach(freed_since(&s->place->freed, shape->seen), duration);
        int64_t alike = shape->none_before < freed ? shape->none_before : freed;
        bound = alike > bound ? alike : bound;
    }
    return bound;
}

/* On a graph, whether what was freed since may serve a reservation better where it stands. */
static bool is_reached(const sched_t *s, const struct job *job, bool again)
{
    if (!s->place->is_fixed)
        return false;
    return again || (freed_since(&s->place->freed, job->seen) < job->at + job->ask.duration &&
                     freed_until(&s->place->freed, job->seen) > job->at &&
                     s->place->ops->betters(s->place, &job->ask, job->booking, job->at, job->seen));
}

/* Whether a reservation that may move as far as times are known may do so by what a graph counts. Reservations of lower levels
 * are out of the calendars, as they were when it was tried last, and are in them between.
 */
static bool may_move(const sched_t *s, const struct job *job, int64_t bound)
{
    return bound < job->at && !s->place->ops->is_stuck(s->place, &job->ask, job->booking, job->at,
                                                       !level_is_last(&s->pass));
}

struct gate {
    sched_t *s;
    uint32_t slot;
    int64_t next; /* where it may not hold what it would: from when on it may by that; INT64_MAX */
    int64_t at;   /* where it may: counting it there needs no memory; -1 */
    bool refused, failed;
    bool is_unsure; /* it is promised a start, or would be in the way of another's: */
    bool breaks;    /* this */
    int64_t avoids; /* what others are promised has been avoided from this time on; -1 */
    int64_t shares; /* from this time on something beside that, on shared nodes, may do; -1 */
    struct place_ask ask;
};

/* What a reservation would hold instead, controllers may refuse, or let it have at another time. */
static bool may_hold_instead(void *arg, int64_t booking, int64_t at)
{
    struct gate *gate = arg;
    const struct job *job = &gate->s->jobs[gate->slot];
    int64_t duration = job->ask.duration;
    gate->breaks = !keeps_promises(gate->s, gate->slot, booking, at);
    if (gate->breaks) {
        gate->is_unsure = true;
        if (gate->avoids >= 0 && gate->avoids < at && at < gate->next)
            gate->next = at < job->at ? at : INT64_MAX; /* there are others to avoid then */
        return false;
    }
    if (gate->avoids >= 0 && at >= gate->next)
        return false; /* some need not be avoided before that */
    if (!controllers_may_hold(gate->s, gate->slot, job->ask.duration, booking, at)) {
        int64_t next = controllers_when(gate->s, gate->slot, booking, at);
        next = controllers_rethink(gate->s, gate->slot, booking, at, next);
        /* What it would hold then it may hold later, or never: then something else, at its own time. */
        if (at < job->at)
            gate->next = next > at && next < job->at ? next : job->at;
        gate->refused = true;
        return false;
    }
    if (!keeps_own_promise(gate->s, gate->slot, booking, at)) {
        gate->is_unsure = true;
        gate->next = INT64_MAX; /* it stays where it is */
        return false;
    }
    gate->failed = controllers_open(gate->s, gate->slot, booking, at, at + duration) < 0;
    gate->at = gate->failed ? -1 : at;
    gate->next = INT64_MAX;
    return !gate->failed;
}

/* Of what it may not hold: others are avoided, or limits leave it less. */
static void narrow(void *arg, int64_t booking, int64_t at)
{
    struct gate *gate = arg;
    int64_t own = gate->s->jobs[gate->slot].at;
    if (gate->breaks && at == own)
        return; /* it stays where it is */
    if (gate->breaks && promises_share_nodes(gate->s, gate->slot, at)) {
        gate->shares = at;
    } else if (gate->breaks) {
        gate->failed |= promises_avoid(gate->s, gate->slot, at, &gate->next) < 0;
        gate->next = gate->next < own ? gate->next : own; /* last, other nodes at its own time */
        gate->avoids = at;
        gate->ask = ask_clear(gate->s, gate->slot, &gate->ask);
    } else if (!gate->is_unsure && controllers_narrow(gate->s, gate->slot, booking, at) < 0) {
        gate->failed = true;
    }
}

/* Count a reservation where it is now. */
static void count_moved(sched_t *s, uint32_t slot, const struct gate *gate, int64_t at, bool freed)
{
    struct job *job = &s->jobs[slot];
    int64_t until = at + job->ask.duration;
    if (gate->at == at && at >= 0)
        controllers_enter(s, slot, job->booking, at, until); /* that takes no memory */
    else
        controllers_put_back(s, slot);
    if (gate->at >= 0)
        controllers_close(s, slot, gate->at, gate->at + job->ask.duration);
    if (freed)
        controllers_freed(s, slot);
}

/* Let a reservation have something before its time that is chosen beside what others are promised. Returns its time, the one it
 * had if there is nothing, or -1 with ENOMEM.
 */
static int64_t choose_beside(struct gate *gate, bool *freed)
{
    sched_t *s = gate->s;
    struct job *job = &s->jobs[gate->slot];
    int64_t from = gate->shares, booking = -1, at = job->at;
    s->place->ops->lift(s->place, job->booking, false); /* it is in its own way */
    errno = EBUSY;
    for (int i = 0; booking < 0 && from < job->at && i < TIMES_TRIED; i++) {
        booking = reserve_off_promises(s, gate->slot, from, job->at, &at);
        gate->next = job->at; /* last, other nodes at its own time */
        if (booking < 0)
            break;
        if (may_hold_instead(gate, booking, at))
            continue;
        unbook(s, booking);
        booking = -1;
        from = gate->next;
        errno = gate->failed ? ENOMEM : EBUSY;
    }
    if (booking < 0) {
        int saved = errno;
        s->place->ops->drop(s->place, &job->ask, job->booking);
        errno = saved;
        return saved == ENOMEM ? -1 : job->at;
    }
    unbook(s, job->booking);
    note_freed(s, job->at, job->at + job->ask.duration);
    job->booking = booking;
    *freed = true;
    return at;
}

/* Let a reservation take the earliest time from `from` on; if `anew`, something else even at the time that
 * it has. Returns its time, or -1 with ENOMEM; *freed: something that it held is free, at the same time
 * under another name perhaps. Where a controller has no room for it at the time that the machine names, it is
 * looked for from the next time on at which that has.
 */
static int64_t choose_anew(sched_t *s, uint32_t slot, int64_t from, bool anew, bool *freed)
{
    struct job *job = &s->jobs[slot];
    struct gate gate = {.s = s, .slot = slot, .next = from, .at = -1};
    struct place_pull how = {
        .at = job->at, .anew = anew, .may_hold = may_hold_instead, .narrow = narrow, .arg = &gate};
    int64_t at = job->at;
    bool was_refused = job->is_tried_again && from > s->now; /* a time before `from`, perhaps */
    if (anew) /* the log does not have what lower levels have lifted, nor what a replan has */
        how.since = s->queues->setup->has_levels || s->replan.is ? UINT64_MAX : job->seen;
    controllers_set_aside(s, slot);
    for (int avoided = 0;
         gate.next < INT64_MAX && at == job->at && !gate.failed && avoided < TIMES_TRIED;
         avoided += gate.avoids >= 0 || gate.shares >= 0) {
        how.from = gate.next < job->at ? controllers_when(s, slot, -1, gate.next) : job->at;
        gate.refused |= how.from > gate.next;
        how.from = how.from < job->at ? how.from : job->at;
        gate.next = INT64_MAX;
        gate.avoids = gate.shares = -1;
        gate.breaks = false;
        gate.ask = job->ask;
        if (how.from == job->at && !anew)
            break;
        at = s->place->ops->pull(s->place, &gate.ask, job->booking, &how);
        *freed |= how.freed != INT64_MAX;
        if (how.freed != INT64_MAX)
            note_freed(s, how.freed, how.at + job->ask.duration);
        if (at == job->at && gate.shares >= 0)
            at = choose_beside(&gate, freed);
    }
    count_moved(s, slot, &gate, at, *freed);
    if (at >= 0 && !gate.failed) {
        if (!was_refused)
            held_waits(s, slot, gate.refused);
        else
            job->details->waits |= gate.refused;
        if (gate.is_unsure)
            held_unsure(s, slot);
        s->booked++;
        return at;
    }
    errno = ENOMEM;
    return -1;
}

/* Move one reservation to its earliest time from `from` on. Returns 0, or -1 with ENOMEM. */
static int move(sched_t *s, uint32_t slot, int64_t from, bool anew)
{
    struct job *job = &s->jobs[slot];
    int64_t was = job->at;
    bool freed = false;
    int64_t at =
        decision_reserve(s) < 0 ? -1 : choose_anew(s, slot, from < was ? from : was, anew, &freed);
    if (at < 0)
        return -1;
    job->at = at;
    held_seen(s, job);
    if (at != was)
        heap_move(&s->due, slot, at, job->key.seq);
    if (at != was)
        judge(s, slot);
    else
        judge_anew(s, slot);
    if (at != was || freed)
        decision_add(s, SCHED_RESERVE, slot, at, NULL);
    if ((at != was || freed) && at == s->now && job->ask.duration >= s->place->endless)
        displaced_return(s); /* nobody could be promised a time behind where it was to be */
    displaced_moved(s, slot);
    return 0;
}

int holder_pull(sched_t *s, uint32_t slot)
{
    return move(s, slot, s->now, s->place->is_fixed);
}

/* Whether a search goes from now on even where nothing was freed: with levels, what a limit or a promise has
 * refused may be let with lower levels out of the calendars.
 */
static bool looks_anywhere(const sched_t *s, const struct job *job)
{
    return s->pass.by_level && (s->queues->any_tails || job->is_tried_again);
}

/* Move one reservation, or let it choose again. *quiet: there was nothing to do for it. Returns 0, or -1 with ENOMEM. */
static int pull_beside(sched_t *s, uint32_t slot, bool *quiet)
{
    struct job *job = &s->jobs[slot];
    struct shape *shape = s->place->is_counted ? shape_of(s, job) : NULL;
    bool again = held_again(s, slot);
    int64_t bound = again || looks_anywhere(s, job) ? s->now : known_bound(s, job, shape);
    int64_t was = job->at;
    bool anew = is_reached(s, job, again);
    if (!anew && !(again && bound < was) && !may_move(s, job, bound)) {
        held_seen(s, job);
        bool judges = job->details && (job->details->is_expected || s->queues->judges_all);
        if (judges)
            judge_anew(s, slot); /* what has ended has made it sure, or who goes before it unsure */
        *quiet = !judges || !s->queues->any_tails;
        return 0;
    }
    if (move(s, slot, bound, anew) < 0)
        return -1;
    if (shape) {
        shape->none_before = job->at;
        shape->needs = was; /* what rules out the windows before the bound may lie beyond `at` */
        shape->seen = s->place->freed.next;
    }
    return 0;
}

/* The same where some claim what it may take of. */
static int pull(sched_t *s, uint32_t slot, bool *quiet)
{
    bool any = claims_lift(s, CLAIMS_BEHIND, slot);
    int rc = pull_beside(s, slot, quiet);
    if (any)
        claims_lay(s);
    *quiet &= !any;
    return rc;
}

/* What was freed before the sweep began has served everybody that it can, and those have had their turn for whom a promise was
 * taken back.
 */
static void swept(sched_t *s)
{
    freed_forget(&s->place->freed, s->pass.since, s->queues->seen);
    s->swept = true;
    for (uint32_t i = 0; i < s->n_lanes && s->queues->any_taken; i++)
        s->lanes[i].has_taken = false;
    s->queues->any_taken = false;
}

/* The first open job of a lane behind a key whose turn may be in the sweep. Whom a limit lets go on has it elsewhere: it is not
 * to go before the stopped one that the limit keeps, which looks once more.
 */
static bool next_of_lane(const sched_t *s, const struct lane *lane, struct queue_key after,
                         struct queue_entry *entry)
{
    bool any = queue_after(lane->open, &after, entry);
    while (any && limit_is_candidate(s, entry->item))
        any = queue_after(lane->open, &entry->key, entry);
    return any;
}

/* The first open job of a lane behind a key, if the lane has a promise for a stopped one that it has yet to give. */
static bool next_taken_of_lane(const sched_t *s, const struct lane *lane, struct queue_key after,
                               struct queue_entry *entry)
{
    return lane->has_taken && !lane->is_stopped && lane_holds(lane) < lane->depth &&
           next_of_lane(s, lane, after, entry) && is_considered(s, lane, entry->key);
}

/* The first such job of all lanes; JOB_NONE. It has its turn in its place: holders behind it are not to move into its room. */
static uint32_t next_taken(const sched_t *s, struct queue_key after)
{
    uint32_t best = JOB_NONE;
    for (uint32_t i = 0; i < s->n_lanes && s->queues->any_taken; i++) {
        struct queue_entry entry;
        if (next_taken_of_lane(s, &s->lanes[i], after, &entry) &&
            (best == JOB_NONE || queue_before(entry.key, s->jobs[best].key)))
            best = entry.item;
    }
    return best;
}

bool sweep_gives_before(const sched_t *s, const struct lane *lane, struct queue_key key)
{
    const struct pass *p = &s->pass;
    struct queue_entry entry;
    return p->by_level && p->phase == PASS_OUTRANK &&
           next_taken_of_lane(s, lane, p->above, &entry) && queue_before(entry.key, key);
}

bool sweep_lets_before(const sched_t *s, struct queue_key key)
{
    const struct pass *p = &s->pass;
    struct queue_key after = p->phase < PASS_OUTRANK              ? KEY_FIRST
                             : p->phase == PASS_SWEEP && p->begun ? p->after
                                                                  : p->above;
    uint32_t slot = p->phase <= PASS_SWEEP ? next_taken(s, after) : JOB_NONE;
    return slot != JOB_NONE && queue_before(s->jobs[slot].key, key);
}

/* The next one behind a key to be looked at: a holder, or an open job whose turn is among them; JOB_NONE. */
static uint32_t next_in_order(const sched_t *s, struct queue_key after)
{
    uint32_t holder = held_next(s, true, after), open = next_taken(s, after);
    bool is_open = open != JOB_NONE &&
                   (holder == JOB_NONE || queue_before(s->jobs[open].key, s->jobs[holder].key));
    return is_open ? open : holder;
}

/* Of those that were promised something by that, the next behind a key; JOB_NONE. They have put no holder off, wherever these
 * were to move: so they look once more when they have.
 */
static uint32_t next_once_more(const sched_t *s, struct queue_key after)
{
    uint32_t slot = held_next(s, true, after);
    while (slot != JOB_NONE && !s->jobs[slot].is_to_look_again)
        slot = held_next(s, true, s->jobs[slot].key);
    return slot;
}

/* An open job has its turn. */
static enum step let_take(sched_t *s, uint32_t slot)
{
    enum step step = outrank_take_turn(s, slot);
    s->jobs[slot].is_to_look_again = s->jobs[slot].state == SCHED_RESERVED;
    return step;
}

void sweep_forget(sched_t *s)
{
    uint32_t slot = s->queues->any_taken ? held_next(s, false, KEY_FIRST) : JOB_NONE;
    for (; slot != JOB_NONE; slot = held_next(s, true, s->jobs[slot].key))
        s->jobs[slot].is_to_look_again = false;
}

/* Look at one holder, or let an open job have its turn; *quiet: there was nothing to do. One stays that withholds what it needs,
 * or whose time has come before this pass, so that its booking ends as much later as it starts late; one that waits for its
 * victims starts if it has room elsewhere.
 */
static enum step look_at(sched_t *s, uint32_t slot, bool *quiet)
{
    const struct job *job = &s->jobs[slot];
    *quiet = false;
    if (job->state == SCHED_WAITING)
        return let_take(s, slot);
    if (job->is_preempting && job->details->victims > 0)
        return room_elsewhere(s, slot) == STEP_FAILED ? STEP_FAILED : STEP_DONE;
    *quiet = job->is_preempting || job->is_claiming || job->at < s->now;
    if (*quiet)
        return STEP_DONE;
    return pull(s, slot, quiet) < 0 ? STEP_FAILED : STEP_DONE;
}

/* All of the only lane, without a search for each: none of them leaves it. */
static enum step sweep_all(sched_t *s)
{
    struct queue_cursor c;
    for (bool any = queue_begin(s->lanes[0].held, &c); any; any = queue_next(&c)) {
        bool quiet;
        if (look_at(s, queue_item(&c), &quiet) == STEP_FAILED)
            return STEP_FAILED;
    }
    swept(s);
    return STEP_BUSY;
}

/* The next one of the level; JOB_NONE. */
static uint32_t next_to_sweep(sched_t *s)
{
    struct pass *p = &s->pass;
    uint32_t slot = p->looks_once_more ? next_once_more(s, p->after) : next_in_order(s, p->after);
    bool is_done = slot == JOB_NONE || queue_before(p->floor, s->jobs[slot].key);
    if (is_done && !p->looks_once_more && s->queues->any_taken) {
        p->looks_once_more = true;
        slot = next_once_more(s, p->above);
        is_done = slot == JOB_NONE || queue_before(p->floor, s->jobs[slot].key);
    }
    return is_done ? JOB_NONE : slot;
}

/* The next one that is not behind `pass.before`; JOB_NONE. */
static uint32_t next_before(sched_t *s)
{
    uint32_t slot = next_in_order(s, s->pass.after);
    return slot == JOB_NONE || queue_before(s->pass.before, s->jobs[slot].key) ? JOB_NONE : slot;
}

/* Look at the next ones, up to the first for whom there is something to do. STEP_BUSY: there is none. */
static enum step sweep_some(sched_t *s, uint32_t (*next)(sched_t *s))
{
    bool quiet = true;
    for (int i = 0; i < STEP_PASSES && quiet; i++) {
        uint32_t slot = next(s);
        if (slot == JOB_NONE)
            return STEP_BUSY;
        s->pass.after = s->jobs[slot].key;
        if (look_at(s, slot, &quiet) == STEP_FAILED)
            return STEP_FAILED;
    }
    return STEP_DONE;
}

enum step sweep_step(sched_t *s)
{
    struct pass *p = &s->pass;
    if (s->swept)
        return STEP_BUSY;
    if (!p->begun) {
        if (!p->by_level || level_is_first(p))
            p->since = s->place->freed.next;
        if (s->due.n == 0) { /* nobody holds a reservation: all have their turn in the walk */
            if (level_is_last(p))
                swept(s);
            return STEP_BUSY;
        }
        const struct lane *only = s->n_lanes == 1 ? &s->lanes[0] : NULL;
        if (only && p->is_whole && !p->by_level && !s->queues->any_taken &&
            queue_size(only->kept) + only->preempting == 0)
            return sweep_all(s);
        p->after = p->above;
        p->begun = true;
        p->looks_once_more = false;
    }
    enum step step = sweep_some(s, next_to_sweep);
    if (step == STEP_BUSY && level_is_last(p))
        swept(s);
    return step;
}

enum step sweep_before(sched_t *s)
{
    return sweep_some(s, next_before);
}
