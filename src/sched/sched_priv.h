/* Inside the scheduling core: its state, shared by events, sweeps and passes.
 *
 * A waiting job that could start is in its lane: in `held` if it holds a reservation, in `open` if not.
 * Both are in queue order, and an entry's value is the job's duration. A job that waits for something else
 * than resources is in neither (queues.h).
 *
 * Invariants:
 *  1. A job is in `open`, in `held`, running, rejected or blocked, and no more of a lane are held than its
 *     depth allows, but for those that have preempted others and those that only a limit keeps.
 *  2. Each held job, and no other, is in the heap `due` under its reservation's time.
 *  3. Each held or running job has a booking, from its reservation or start on, and no other has one, but for
 *     the first ones of lanes that promise nothing, where lower levels wait (levels.c).
 *  4. After a pass without `more`, no open job within the queue depth could hold a reservation, but where
 *     the machine has no time for it at all while things are down.
 *
 * sched_check verifies the first two. The others show in decisions, which test/property compares with naive
 * schedulers'.
 */
#ifndef SCHED_SCHED_PRIV_H
#define SCHED_SCHED_PRIV_H

#include "base/array.h"
#include "base/bounds.h"
#include "base/heap.h"
#include "berth/sched.h"
#include "place/place.h"
#include "sched/config/order.h"
#include "sched/waiting/queue.h"

#define JOB_FREE       255 /* beside enum sched_state: a slot without a job */
#define JOB_NONE       UINT32_MAX
#define JOB_GROUP_NONE UINT32_MAX
#define KEY_FIRST      ((struct queue_key){INT64_MIN, 0})          /* before those of all jobs */
#define KEY_LAST       ((struct queue_key){INT64_MAX, UINT64_MAX}) /* and after them */

/* What a step of a pass comes to: there is no memory; there is nothing (left) to do; one thing was done; of
 * some calls, a controller keeps the job from what it may do otherwise.
 */
enum step { STEP_FAILED = -1, STEP_BUSY, STEP_DONE, STEP_KEPT };

/* How a job ends. */
enum job_end { JOB_FINISHED, JOB_FAILED, JOB_CANCELLED, JOB_REJECTED };

#define QUEUES_TIME_MAX                                                                            \
    (INT64_MAX /                                                                                   \
     4) /* times and durations of schedulers with queues: sums of a few are no overflow */

struct controller;
struct details;
struct finder;
struct queues;
struct setup;

/* Aligned to be 128 bytes where pointers have 8, so that a slot is found by a shift. */
struct job {
    _Alignas(16) struct queue_key key;
    struct place_ask ask;
    int64_t submitted;
    int64_t at;      /* reserved or started */
    int64_t booking; /* of a held or running job */
    uint64_t tag;
    uint64_t
        seen; /* of a held job: next event of the log of what was freed when it was last tried */
    struct details *details; /* of a job in a queue with a name; else NULL */
    uint32_t generation;     /* how often the slot was used: the upper half of the handle */
    uint32_t next;           /* in the list of free or of rejected jobs */
    uint32_t lane;
    uint8_t state;
    uint8_t shape;      /* slot in the table of shapes */
    bool is_fresh;      /* open since the last pass: listed in `fresh` */
    bool is_placed;     /* of a fresh job: outrank has looked at it in this pass */
    bool is_let_again;  /* in this pass, from being blocked by limits */
    bool is_lifted;     /* held, and its booking is out of the calendars for a while */
    bool is_kept;       /* held: beside the lane's depth, by a limit alone or as it was starving */
    bool is_claiming;   /* held: a claim (controllers/claims.h), and its start is not known */
    bool is_preempting; /* held: it has what its victims still use, or have left to it */
    /* Held: a controller did not let it have something better: it is tried again when that may have changed. */
    bool is_tried_again;
};

/* Whether a job is yet to start: it waits, is promised a start, or is blocked. */
static inline bool job_is_waiting(const struct job *job)
{
    return job->state == SCHED_WAITING || job->state == SCHED_RESERVED ||
           job->state == SCHED_BLOCKED;
}

/* What a sweep of a machine that counts units knows of all jobs that ask for the same (sweep.c). */
struct shape {
    int64_t units, duration;
    int64_t none_before; /* no window for it begins before this, */
    int64_t needs;       /* even if nothing were held from here on, */
    uint64_t seen;       /* as of this event of the log of what was freed */
};

/* Steps of what is free for how long that a search for open jobs by group (finder_by_group.c) goes by; of more, what
 * comes later is taken for as much as there is at the last. Then a job is looked at that has no room, which
 * by a look alone may preempt others, or be found to be over a limit, and so let the next one into the
 * queue depth. There are as many steps as reservations that begin while less and less is free: more than
 * these only where hybrid, or conservative beside another policy, promises so many jobs a time.
 */
enum { FILL_ROOMS_MAX = 64 };

/* A job in a list in queue order. */
struct due {
    struct queue_key key;
    uint32_t slot;
};

/* For qsort. */
static inline int due_compare(const void *a, const void *b)
{
    const struct due *x = a;
    const struct due *y = b;
    return queue_before(x->key, y->key) ? -1 : queue_before(y->key, x->key);
}

/* How the walk of a pass goes on with a lane. */
enum lane_mode {
    LANE_PLAN,  /* each open job in order: it starts or is promised a time */
    LANE_SERVE, /* each in order, until one can't start */
    LANE_FILL,  /* those that fit beside all reservations */
    LANE_DONE
};

/* What keeps lower levels from overtaking the first job of a queue that promises nothing (levels.c). */
struct head {
    bool is;
    bool is_lifted;
    bool is_aside; /* while a question is answered (what_if.c) */
    int64_t job;   /* its handle */
    struct queue_key key;
    int64_t booking, at;
    struct place_ask ask;
};

/* The open jobs of a lane that a walk looks at one after the other. */
struct line {
    struct queue *open; /* of a leaf of shares: its own; NULL: all of the lane's */
    struct queue *fill; /* the finder's own: groups that may fit (job_group.h); of a leaf NULL, */
    uint32_t parts;     /* and the first part of a group with an open job of its own */
    struct queue *
        down; /* where a queue depth counts: open jobs that what is up could not run; NULL: none yet */

    /* Of the walk at work; of a leaf, only if `walk` says so (shares.walk). */
    uint64_t walk;
    bool begun;
    struct queue_key after; /* jobs up to here were looked at */
    bool fill_begun;
    struct queue_key fill_after; /* groups up to here are among the candidates */
    struct heap candidates;      /* groups by the key of the job that is to be tried */
};

/* The waiting jobs of one queue. */
struct lane {
    int64_t depth;       /* jobs that may hold a reservation */
    int64_t queue_depth; /* waiting jobs a pass considers */
    uint32_t part;       /* of the machine */
    uint32_t queue;      /* in the setup of a scheduler with queues */
    uint32_t preempting; /* held jobs that have preempted others: beside `depth` */
    uint32_t relieved;   /* those that are kept as they were starving */
    bool is_stopped;     /* its waiting jobs may not start */
    bool makes_room;     /* in this walk, room may be made for its jobs (controller.h) */
    bool is_rebalanced;  /* in this pass, on workers that classes have borrowed (rebalance.c) */
    bool is_given_up; /* it has been stopped: the next pass takes back all that it has promised */
    bool
        is_returned; /* a job was stopped that has no turn before holders: of its own queue it is to have one's promise */
    bool has_taken;  /* a promise back for such a job, whose turn is in the next sweep; */
    uint32_t taken_for; /* who was promised something in that, JOB_NONE before */
    int64_t width;      /* entries of open and held have up to so many units */
    struct queue *open;
    struct queue *held;
    struct queue
        *kept; /* those that hold a reservation beside the depth, as only a limit keeps them */
    struct line line;  /* of all of `open`, */
    struct line *more; /* or of those of one user each (waiting/shares.h), numbered from 1 */
    uint32_t n_more;
    struct head head;

    /* Of the walk at work. */
    enum lane_mode mode;
    bool is_listed;        /* its leaves that have jobs which may fit are (waiting/may_fit.h): */
    uint32_t first_listed; /* the first of these; JOB_NONE */
    uint64_t rooms_as_of;  /* sched.booked when `bound` was asked for */
    size_t n_bounds;
    struct queue_bound bound[FILL_ROOMS_MAX];
};

/* When it was tried to make room, in vain: until something is freed, or more jobs may be preempted, there is
 * none.
 */
struct tried {
    uint64_t
        freed; /* place.freed.next + 1, and queues.more_preemptible; both 0: it was not tried */
    uint64_t more_preemptible;
};

/* What is left of a pass that was cut off. */
enum pass_phase {
    PASS_IDLE,
    PASS_KEEP,
    PASS_TURN,
    PASS_LATE,
    PASS_SETTLE,
    PASS_PREPARED,
    PASS_REPAIR,
    PASS_OUTRANK,
    PASS_SWEEP,
    PASS_DUE,
    PASS_WALK, /* in rounds, of which each does some of what a pass does */
    PASS_HEADS,
    PASS_JUDGE,
    PASS_TELL
};

struct pass {
    enum pass_phase phase;
    bool begun;             /* within the phase, */
    struct queue_key after; /* up to here */
    uint8_t stage;          /* of outrank.c, settle.c: what its steps do */
    uint8_t row;            /* of the controllers: which is asked */
    uint8_t round;          /* of a walk (setup.h) */
    size_t let;             /* jobs that are to be looked at again */
    bool is_due_left;       /* more than one may go on for a promise */
    bool is_letting;        /* limiter.c goes through those that limits have blocked; */
    bool is_let_left;       /* one may go on, but has done so in this pass */
    bool looks_once_more;   /* of sweep.c: at those that were promised something in it */
    size_t gathered;        /* of outrank.c: how many of the fresh jobs were looked at, */
    bool outranks_again;    /* a new one has lost what it held since then, or missed its turn */
    bool skips;             /* one was left out as it is not its turn, nor that of its equals, */
    int64_t skipped;        /* whose rank this is */
    bool lifts;             /* whether reservations are taken out, */
    struct queue_key last;  /* the last holder's key when it began, */
    struct queue_key first; /* and behind which all are placed */
    uint64_t since;         /* next event of the log of what was freed when the sweep began */
    size_t n_due, next_due;
    size_t n_fresh; /* jobs that were new when it began */
    bool by_level;  /* level by level: jobs behind `above` up to `floor` are looked at (levels.c) */
    struct queue_key above, floor;
    bool is_again;      /* it goes through its phases once more */
    bool yields;        /* a job did not start as it might have been in the way of a promise */
    bool softens;       /* a reservation is only expected from now on, */
    bool has_softened;  /* for which the phases have been gone through once more */
    bool has_renewed;   /* and so they have for those that are displaced (displaced.c) */
    bool tries_holders; /* the walk makes room for holders too, */
    bool has_made_room; /* and has done so for one, which has left what it was promised */
    struct queue_key share_above,
        share_floor;    /* of share_walk.c: the level begins behind this, ends here */
    bool is_whole;      /* it is not cut off */
    struct tried tried; /* when the walk began */
    bool is_left;       /* repair has left the holders behind `left` to outrank */
    struct queue_key left;
    uint64_t budget;
};

/* Reservations are out of the calendars, and are to be placed anew (outrank.c): a pass was cut off, or had no
 * memory. Some of the holders behind `from` are lifted, and none before; those up to `until` are, as far as
 * they were to be.
 */
struct replan {
    bool is;
    struct queue_key from, until;
    bool displaces; /* something has come in the way of some of them */
};

struct sched {
    struct place *place;
    struct queues *queues;
    const struct controller *const
        *controllers;            /* who has a say (controllers/controller.h); NULL ends them */
    const struct finder *finder; /* which open jobs may fit (waiting/finder.h) */
    struct lane *lanes;
    uint32_t n_lanes;
    int64_t latest; /* time that a call may be given */

    struct job *jobs;
    uint32_t n_jobs; /* slots ever used */
    uint32_t cap_jobs;
    uint32_t free_job;
    uint32_t rejected;  /* jobs that the next pass rejects, last one first */
    uint32_t rejecting; /* and those before them, first one first */
    size_t running;
    uint64_t seq; /* of the next submission */
    int64_t now;

    struct heap due;
    struct due *due_list; /* room for all of the heap */
    size_t cap_due;

    uint32_t *fresh; /* jobs that became open since the last pass; some may be open no more */
    size_t n_fresh, cap_fresh;

    bool failed; /* the last pass had no memory: another one is to go on */
    struct replan replan;
    struct heap turns;   /* of outrank.c: jobs that are to have their turn before holders, by key */
    bool swept;          /* no end since the last sweep */
    bool woken;          /* something else than a submission since the last pass */
    uint64_t booked;     /* bookings made and released so far */
    int64_t fresh_least; /* least units of the jobs submitted since; INT64_MAX: none */
    struct shape shapes[1 << SHAPE_BITS];
    struct pass pass;

    struct sched_decision *decisions;
    size_t n_decisions;
    size_t cap_decisions;
};

static inline sched_job_t job_handle(const sched_t *s, uint32_t slot)
{
    return (int64_t)((uint64_t)s->jobs[slot].generation << 32 | slot);
}

/* Whether a call may be given this time. */
static inline bool time_is_good(const sched_t *s, int64_t now)
{
    return now >= s->now && now <= s->latest;
}

/* Whether a held job waits for the ends of others that were preempted for it. */
bool job_waits_for_victims(const struct job *job);

/* The state of a job as others are told: one that has a claim waits. */
static inline int state_told(const struct job *job)
{
    return job->is_claiming ? SCHED_WAITING : job->state;
}

static inline struct lane *lane_of(const sched_t *s, uint32_t slot)
{
    return &s->lanes[s->jobs[slot].lane];
}

/* The line in which a job stands when it is open, and its number. */
uint32_t line_number(const sched_t *s, uint32_t slot);

static inline struct line *line_at(struct lane *lane, uint32_t number)
{
    return number == 0 ? &lane->line : &lane->more[number - 1];
}

static inline struct line *line_of(const sched_t *s, uint32_t slot)
{
    struct lane *lane = lane_of(s, slot);
    return lane->n_more == 0 ? &lane->line : line_at(lane, line_number(s, slot));
}

/* ---- job.c: slots, decisions, lists ---- */

/* Make room for a decision, so that what follows can't fail. Returns 0, or -1 with ENOMEM. */
static inline int decision_reserve(sched_t *s)
{
    return array_grow((void **)&s->decisions, &s->cap_decisions, s->n_decisions + 1,
                      sizeof(*s->decisions));
}

struct sched_decision *decision_add(sched_t *s, enum sched_decision_kind kind, uint32_t slot,
                                    int64_t at, const struct sched_reason *reason);

/* A slot for a job, or JOB_NONE with ENOMEM; given back if its handle was never told. */
uint32_t job_alloc(sched_t *s);
void job_unalloc(sched_t *s, uint32_t slot);

/* Forget a job: its slot is free for another. */
void job_free(sched_t *s, uint32_t slot);

/* The slot of a job that exists, or JOB_NONE with EINVAL; and of one that was submitted to a queue with a
 * name.
 */
uint32_t job_find(const sched_t *s, sched_job_t job);
uint32_t job_in_queue(const sched_t *s, sched_job_t job);

/* Take over the time of a call; -1 with EINVAL if it goes back. Every event goes through here: a pass that
 * was cut off begins anew.
 */
int core_advance(sched_t *s, int64_t now);

/* The same, as something that the next pass is to look at. */
int core_event(sched_t *s, int64_t now);

/* A scheduler on a machine with the queues of a setup, both of which are its own from then on, also when
 * the call fails. Either may be NULL: then it fails, with the errno there is. NULL with EINVAL or ENOMEM
 * and a text.
 */
sched_t *core_new(struct place *place, struct setup *setup, berth_error_t *err);

void rejected_push(sched_t *s, uint32_t slot);
void rejected_unlink(sched_t *s, uint32_t slot);

/* ---- order.c ---- */

/* A job's key, were that its priority; false where that is out of range. */
bool key_of(const sched_t *s, uint32_t slot, int64_t priority, struct queue_key *key);

/* Whether it says how long the job is expected to take. */
bool key_has_length(const sched_t *s, uint32_t slot);

/* Of a job in a named queue: its deadline, or SCHED_UNLIMITED; the whole minute of that by which it is compared,
 * INT64_MAX: by none.
 */
int64_t job_deadline(const sched_t *s, uint32_t slot);
int64_t job_deadline_minute(const sched_t *s, uint32_t slot);

/* Whether it goes behind those of its queue that are of no gang, or of one that lacks its min, as its key says
 * (waiting/gang_order.h).
 */
bool job_goes_behind(const sched_t *s, uint32_t slot);

/* The key under which a job that waits, and holds nothing, has its turn before holders. Where there are shares, a holder
 * keeps its promise unless a job of a higher priority comes, of its queue or its own: the turn comes behind holders of
 * the same priority, or of the same level where the priority of jobs counts for nothing. One that the machine has taken a
 * promise from has its own place.
 */
struct queue_key key_turn(const sched_t *s, uint32_t slot);

/* In the number of such a turn: it is that of a job which has come since. */
#define TURN_OF_NEW (UINT64_C(1) << 63)

/* A job's key as an open one of whose array so many workers are held (waiting/class_order.h); that of key_of with 0, and
 * its own in a queue without classes or with an order of its own, but as one of no gang.
 */
struct queue_key key_held(const sched_t *s, uint32_t slot, int64_t units);

/* The last key of the level that a key is of: of queues of that priority. */
struct queue_key level_last(struct queue_key key);

/* ---- lane.c: into lanes and out of them ---- */

/* A lane without jobs, for asks of up to `most` units. Its queues distinguish jobs by up to `width` units.
 * Returns 0, or -1 with ENOMEM.
 */
int lane_init(struct lane *lane, int64_t most, int64_t width);
void lane_clear(struct lane *lane);

/* One more line. Returns 0, or -1 with ENOMEM. */
int lane_add_line(struct lane *lane);

/* Add a job to the open ones, to those that are new in the next pass. Returns 0, or -1 with ENOMEM. */
int open_insert(sched_t *s, uint32_t slot, bool fresh);
void open_remove(sched_t *s, uint32_t slot);

/* Have memory for open_insert of a job, also after open_remove. Returns 0, or -1 with ENOMEM. */
int open_reserve(sched_t *s, uint32_t slot);

/* A job has the place of an open one, whose key has become another: it has the same lane, and asks for the same. */
void open_give(sched_t *s, uint32_t slot, uint32_t to);

/* Give an open job another key, and nothing else. Returns 0, or -1 with ENOMEM and nothing changed. */
int open_rekey(sched_t *s, uint32_t slot, struct queue_key key);

/* Give a holder another key; it keeps its reservation. Returns 0, or -1 with ENOMEM and nothing changed. */
int held_rekey(sched_t *s, uint32_t slot, struct queue_key key);

/* An open job is new in the next pass, also if it was looked at in this one. Returns 0, or -1 with ENOMEM. */
int open_renew(sched_t *s, uint32_t slot);

/* Where a held job stands: among those that count for the depth, or beside them. */
static inline struct queue *held_of(const sched_t *s, uint32_t slot)
{
    const struct lane *lane = lane_of(s, slot);
    return s->jobs[slot].is_kept ? lane->kept : lane->held;
}

/* Give a waiting job another key. One that goes before others now is new in the next pass, for which a holder gives its
 * reservation back only if its turn comes before another one's that it stood behind; and so does a holder that others go
 * before now. Returns 0, or -1 with ENOMEM and nothing changed.
 */
int job_rekey(sched_t *s, uint32_t slot, struct queue_key key);

/* Make an open job a held one with a booking from `at` on, and back to an open one (state and decision are
 * not theirs). Return 0, or -1 with ENOMEM and nothing changed.
 */
int held_insert(sched_t *s, uint32_t slot, int64_t at, int64_t booking);
int held_to_open(sched_t *s, uint32_t slot, bool fresh);

/* Note that something is free during [from, until). */
void note_freed(sched_t *s, int64_t from, int64_t until);

/* A reservation is looked at, or made: what is freed from now on may serve it. */
static inline void held_seen(const sched_t *s, struct job *job)
{
    job->seen = s->place->freed.next;
}

/* What was freed since a reservation was looked at is not known: it may be earlier, or hold something else at
 * its time.
 */
static inline void held_unseen(sched_t *s, struct job *job)
{
    job->seen = 0;
    note_freed(s, s->now, INT64_MAX);
}

/* Whether a controller has kept a reservation from something better when it was looked at last; and whether
 * that may have changed since. O(1).
 */
void held_waits(sched_t *s, uint32_t slot, bool waits);

/* It may not hold something earlier, as that would be in the way of a promise: this may move at any time. */
void held_unsure(sched_t *s, uint32_t slot);
bool held_again(const sched_t *s, uint32_t slot);

/* Enter a held job, which is due already, into its lane. Returns 0, or -1 with ENOMEM. */
int held_enter(sched_t *s, uint32_t slot);

/* Take a job out of the held ones and give its booking back, noting what became free. */
void held_release(sched_t *s, uint32_t slot);

/* Give back what a held or running job has booked, and note it. And a job that ran has done so. */
void job_release(sched_t *s, uint32_t slot);
void running_released(sched_t *s, uint32_t slot);

/* How many jobs of a lane hold a reservation that counts for its depth, and the last of them; JOB_NONE. */
int64_t lane_holds(const struct lane *lane);
uint32_t last_holder(const sched_t *s, const struct lane *lane);

/* A lane that has promised more jobs a time than it may takes those of the last ones back; a stopped one,
 * all. Returns 0, or -1 with ENOMEM. And one of them: STEP_BUSY if there is none.
 */
int lane_keep(sched_t *s, struct lane *lane);
enum step lane_keep_one(sched_t *s, struct lane *lane);

/* Where a job has been stopped that has no turn before holders (is_returned) and goes before the last holder of its own lane,
 * which has no more to promise: that one's reservation is taken back (has_taken). STEP_BUSY, or STEP_FAILED.
 */
enum step lane_take_place(sched_t *s, struct lane *lane);

/* The slot for what is known of jobs that ask for this. */
uint8_t shape_slot(const struct place_ask *ask);

/* ---- The parts of a pass ---- */

/* Whether the open jobs of a line are of a class that starts nothing (shares.c). */
bool shares_is_shut(const sched_t *s, const struct lane *lane, const struct line *line);

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

/* sweep.c: move each reservation, in queue order, to its earliest time; one at a time, or all of the only
 * lane at once in a whole pass.
 */
enum step sweep_step(sched_t *s);

/* Let a holder have its earliest time, all others as they stand. Returns 0, or -1 with ENOMEM. */
int holder_pull(sched_t *s, uint32_t slot);

/* reseat.c: take a holder out of the calendars, unless it is; put it where it was if it fits there, and
 * tell whether; or else give it another reservation, without which it is open again. Without memory
 * (STEP_FAILED) it stays lifted, or is open, and then goes before holders in the next pass.
 */
void holder_lift(sched_t *s, uint32_t slot);
bool holder_put_back(sched_t *s, uint32_t slot);
enum step holder_reseat(sched_t *s, uint32_t slot);

/* outrank.c: jobs that became open and go before holders get what these hold; once each, one at a time. */
enum step outrank(sched_t *s);

/* outrank.c: it is an open job's turn before holders: it starts, or is promised a time if its lane has one to give. STEP_DONE,
 * whatever came of it, or STEP_FAILED.
 */
enum step outrank_take_turn(sched_t *s, uint32_t slot);

/* outrank.c: an open job has another key: if its turn is yet to come, it comes by that. */
void outrank_rekeyed(sched_t *s, uint32_t slot);

/* The key of the first of these jobs, or of what an outrank that was cut off has left: the holders behind it
 * will be placed anew. False: there is none. O(fresh log open)
 */
bool outrank_first(const sched_t *s, struct queue_key *key);

/* A holder with this key is lifted, or stands where it was not when holders were lifted. */
void replan_reach(sched_t *s, struct queue_key key, bool lifted);

/* The key right before another one. */
static inline struct queue_key key_before(struct queue_key key)
{
    return (struct queue_key){key.rank, key.seq - 1};
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
void head_release(sched_t *s, struct lane *lane);

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

/* A booking that a controller or the machine refuses after all. errno stays. */
void unbook(sched_t *s, int64_t booking);

/* Where a booking for now is in the way of a promise, another one in its place that is in nobody's way even if the
 * job takes its whole limit: as book_for_now.
 */
int64_t book_clear(sched_t *s, uint32_t slot, int64_t booking, bool narrow);

/* Book a job for now: by its estimate, or where that is in the way of a promise or a block, by its whole limit, or off the
 * nodes of such promises, or beside what is promised on them. `narrow`: neither of these, as the machine's choice is narrow
 * for another reason. Returns the booking, or -1 with EBUSY or ENOMEM.
 */
int64_t book_for_now(sched_t *s, uint32_t slot, bool narrow);

/* Book or probe (place.h) a job by its estimate for now: on no node that is promised to another job before its limit is over;
 * or with what is left on such nodes. Whether that keeps promises is to be asked of the booking. -1 with EBUSY or ENOMEM.
 */
typedef int64_t place_take_f(struct place *place, const struct place_ask *ask, int64_t at);
int64_t take_off_promises(sched_t *s, uint32_t slot, const struct place_ask *ask,
                          place_take_f *take, int64_t now);
int64_t take_beside_promises(sched_t *s, uint32_t slot, const struct place_ask *ask,
                             place_take_f *take, int64_t now);

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

/* Reserve from a time on, as the machine does: by the job's estimate, or where that is in the way of a promise or a block
 * (*unsure), by its limit, or if that is sooner by its estimate off what is promised before its limit is
 * over. Returns the booking and its time, or -1 with EBUSY or ENOMEM.
 */
int64_t reserve_clear(sched_t *s, uint32_t slot, int64_t from, int64_t *at, bool *unsure);

/* Reserve by a job's estimate, from a time on and before another one, nothing that is promised to another job before its limit is
 * over: beside that where nodes are shared, or else on no node of which something is. Who the others are goes by when
 * it begins, so this is asked of one time after the other. Returns as reserve_clear.
 */
int64_t reserve_off_promises(sched_t *s, uint32_t slot, int64_t from, int64_t before, int64_t *at);

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

#endif
