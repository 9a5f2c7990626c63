/* The parts of a pass, each of which does one thing at a time (pass.c). */
#ifndef SCHED_STEPS_H
#define SCHED_STEPS_H

#include "sched/queues.h"

/* In one step, so many jobs or holders that it has nothing to do for are passed over, at most: a pass that events cut off
 * again and again is to come to its end, so that what it has done already takes few steps.
 */
enum { STEP_PASSES = 64 };

/* How many open jobs of a lane before a key don't count for its depth: they are of classes that start nothing, or what is up
 * could not run them, were it idle (needs_down.c). O(lines * log open).
 */
size_t uncounted_before(const sched_t *s, const struct lane *lane, struct queue_key key);
bool needs_down_check(const sched_t *s, const struct lane *lane);

/* How many waiting jobs of a lane before a key a pass considers, if its depth is large enough. */
static inline size_t considered_before(const sched_t *s, const struct lane *lane,
                                       struct queue_key key)
{
    return queue_rank(lane->open, key) + queue_rank(lane->held, key) -
           uncounted_before(s, lane, key);
}

/* Whether an open job, or one that would be there, is among the first that a pass considers. */
static inline bool is_considered(const sched_t *s, const struct lane *lane, struct queue_key key)
{
    return lane->queue_depth == SCHED_UNLIMITED ||
           considered_before(s, lane, key) < (size_t)lane->queue_depth;
}

/* depth.c: a pass ends: note of jobs before the holders of their lane that they are beyond its depth. And of those, those that are
 * not are new, in a walk once all before them have had what their lane has to promise; those that have missed their turn in this
 * pass and have it now: whether there were any, or -1 with ENOMEM.
 * O(lanes + open jobs before holders of their lane * log open), and as outrank_has_turn for each lane of which a job has missed
 * its turn.
 */
void depth_note(sched_t *s);
int depth_let_in(sched_t *s);

/* depth.c: a new job that goes before holders has missed its turn, or has it: in this pass it is as one beyond its queue's depth,
 * also where nobody goes before the first of that, or no more. O(1).
 */
void depth_note_missed(sched_t *s, uint32_t slot);
void depth_has_let(sched_t *s, uint32_t slot);

/* sweep.c: move each reservation, in queue order, to its earliest time; one at a time, with those before it that stay, or all
 * of the only lane at once in a whole pass.
 */
enum step sweep_step(sched_t *s);

/* sweep.c: nobody has had a turn yet for which a promise was taken back. O(holders) where one was, else O(1). */
void sweep_forget(sched_t *s);

/* sweep.c: the same for the next one behind `pass.after` that is not behind `pass.before`. STEP_BUSY: there is none. */
enum step sweep_before(sched_t *s);

/* Whether an open job before a key is to have its turn in the sweep yet, as a promise was taken back for it. O(lanes). */
bool sweep_lets_before(const sched_t *s, struct queue_key key);

/* Whether a lane has a promise for a job before a key that has its turn in the sweep, while new jobs of its level are placed
 * before that. O(1), or O(jobs that a limit lets go on).
 */
bool sweep_gives_before(const sched_t *s, const struct lane *lane, struct queue_key key);

/* Let a holder have its earliest time, all others as they stand. Returns 0, or -1 with ENOMEM. */
int holder_pull(sched_t *s, uint32_t slot);

/* reseat.c: take a holder out of the calendars, unless it is; put it where it was if it fits there, and
 * tell whether; or else give it another reservation, without which it is open again. Without memory
 * (STEP_FAILED) it stays lifted, or is open, and then goes before holders in the next pass.
 */
void holder_lift(sched_t *s, uint32_t slot);
bool holder_put_back(sched_t *s, uint32_t slot);

/* reseat.c: put back one that was taken out, if nothing has been booked since. */
void holder_return(sched_t *s, uint32_t slot);

enum step holder_reseat(sched_t *s, uint32_t slot);

/* outrank.c: jobs that became open and go before holders get what these hold; once each, one at a time. */
enum step outrank(sched_t *s);

/* outrank.c: it is an open job's turn before holders: it starts, or is promised a time if its lane has one to give. STEP_DONE,
 * whatever came of it, or STEP_FAILED.
 */
enum step outrank_take_turn(sched_t *s, uint32_t slot);

/* Whether a new job that has had none goes before a holder of its level, and its lane would let it now. O(lanes * log waiting) */
bool outrank_has_turn(const sched_t *s, uint32_t slot);

/* outrank.c: an open job has another key: if its turn is yet to come, it comes by that. */
void outrank_rekeyed(sched_t *s, uint32_t slot);

/* The key right before the first of these jobs, or that of what an outrank that was cut off has left: the holders behind it
 * will be placed anew. False: there is none. O(fresh log open)
 */
bool outrank_first(const sched_t *s, struct queue_key *key);

/* A holder with this key is lifted, or stands where it was not when holders were lifted. */
void replan_reach(sched_t *s, struct queue_key key, bool lifted);

/* The key right before another one. */
static inline struct queue_key key_before(struct queue_key key)
{
    return (struct queue_key){key.rank, key.seq - 1, key.brevity};
}

/* levels.c: a pass begins, level by level or with all at once; on to the next level: false if that was the
 * last.
 */
void levels_begin(sched_t *s);
bool levels_next(sched_t *s);

static inline bool level_is_last(const struct pass *p)
{
    return p->floor.rank == KEY_LAST.rank;
}

static inline bool level_is_first(const struct pass *p)
{
    return p->above.rank == KEY_FIRST.rank;
}

/* The bookings of first jobs are out of the calendars until those of the level are made anew; a lane's is
 * given back.
 */
void heads_lift(sched_t *s);
enum step heads_step(sched_t *s);

/* For a question about a job: what keeps lower levels from overtaking others is out of the calendars, as far as the job does not
 * see it, and back. `briefly`: as in place_ops.lift.
 */
void heads_set_aside(sched_t *s, struct queue_key key, bool briefly);
void heads_put_back(sched_t *s);
void head_release(sched_t *s, struct lane *lane);

/* After a restart, make these bookings again. All other jobs hold their own by then. Returns 0, or -1 with ENOMEM. */
int heads_restored(sched_t *s);

/* start.c */
enum step start_held(sched_t *s, uint32_t slot);

/* If a pass comes late for a reservation on a graph, put its end off as much. Returns 0, or -1 with ENOMEM. */
int held_late(sched_t *s, uint32_t slot);

/* Start an open job if there is room. STEP_BUSY: there is none. One that limits don't let start is promised a
 * time by these, or blocked, if it is its turn to be promised one (`turn`), or else once the machine has room.
 */
enum step start_open(sched_t *s, uint32_t slot, bool turn);

/* The same for one for which there is room, though others that ask for the same have none. */
enum step start_surely(sched_t *s, uint32_t slot);

/* Limits don't let a job start, whose details name the one that it is over: it is promised a time beside the
 * depth of its lane, if the limit has a promise to give, or else blocked.
 */
enum step promise_kept(sched_t *s, uint32_t slot);

/* A job that is in no lane any more runs with the booking that it has. There is room for the decision. */
void job_started(sched_t *s, uint32_t slot, enum sched_how how);

/* start_gang.c: a gang is in no lane, and a bundle is booked for it that begins now. Each member that starts takes its
 * booking out of the bundle; the members for whom there is none go on waiting. gang_prepare has the memory for those
 * (0, or -1 with ENOMEM). If memory runs out for a member that starts, those before it have started, and the others
 * hold what is left: STEP_FAILED.
 */
int gang_prepare(sched_t *s, uint32_t slot);
enum step gang_start(sched_t *s, uint32_t slot, enum sched_how how);

/* Go on with a start for which there was no memory. Returns 0, or -1 with ENOMEM. */
int gang_go_on(sched_t *s);

/* A starving job that can't start is promised a time beside the depth of its lane. STEP_BUSY: there is none. */
enum step promise_starving(sched_t *s, uint32_t slot);

/* Give an open job a reservation at its earliest time. STEP_BUSY: there is none for the time being. */
enum step promise(sched_t *s, uint32_t slot);

/* The earliest time on or after `from` at which both the machine and controllers have room for a job, by what
 * it asks for at least; -1: ENOENT, ENOMEM.
 */
int64_t promise_time(sched_t *s, uint32_t slot, int64_t from);

/* The next held job in queue order over all lanes after the key; JOB_NONE if there is none. O(lanes), and O(held log held)
 * after a change of them.
 */
uint32_t held_next(const sched_t *s, bool begun, struct queue_key after);

/* repair.c: reservations that something has come in the way of move; one at a time. Something is in the way
 * of those that overlap [from, until).
 */
enum step repair_step(sched_t *s);
void repair_note(sched_t *s, int64_t from, int64_t until);
static inline bool repair_is_due(const sched_t *s)
{
    return s->queues->repair_from < s->queues->repair_until;
}

/* Whether it has left reservations to outrank.c in this pass. */
bool repair_is_left(const sched_t *s);

/* All reservations behind a key have been placed anew, which is what repair has left of its work if it left
 * any.
 */
void repair_done_behind(sched_t *s, struct queue_key key);

/* settle.c: let jobs go on that are blocked for no reason any more, and reject those that never can, which lets go
 * others; one at a time. At the end of a pass (`again`), it is to look at them again for that (pass.let). And
 * as a phase of its own.
 */
static inline bool settle_is_due(const sched_t *s)
{
    return *s->controllers || s->rejected != JOB_NONE || s->rejecting != JOB_NONE;
}
static inline void settle_begin(sched_t *s)
{
    s->pass.stage = s->pass.row = 0;
    s->pass.let = 0;
    s->pass.is_letting = false;
}
enum step settle_jobs(sched_t *s, bool again);
enum step settle_first(sched_t *s);

/* clock.c: whether a pass at `now` is put off, as events are gathered for a while yet. */
bool clock_is_early(const sched_t *s, int64_t now);

/* Right after a pass time alone makes none due that would be no later. */
bool clock_check(const sched_t *s);

#endif
