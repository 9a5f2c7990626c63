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
#define KEY_FIRST      ((struct queue_key){INT64_MIN, 0, 0}) /* before those of all jobs */
#define KEY_LAST       ((struct queue_key){INT64_MAX, UINT64_MAX, UINT32_MAX}) /* and after them */

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
    bool is_to_look_again; /* held: promised a time in this sweep, it looks once more at its end */
    bool has_roles;        /* it is of a gang of several roles */
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

    /* Where any job may be tried, in place of candidates as long as they are in queue order: */
    bool scans, scan_begun;
    struct queue_key scan_after; /* the next one behind this is tried, */
    uint32_t scanned;            /* which was this when it was asked for last */
};

/* The waiting jobs of one queue. */
struct lane {
    int64_t depth;       /* jobs that may hold a reservation */
    int64_t queue_depth; /* waiting jobs a pass considers */
    uint32_t part;       /* of the machine */
    uint32_t queue;      /* in the setup of a scheduler with queues */
    uint32_t preempting; /* held jobs that have preempted others: beside `depth` */
    uint32_t relieved;   /* those that are kept as they were starving */
    uint32_t missed;     /* the first new job that has missed its turn in this pass, if any has */
    bool is_stopped;     /* its waiting jobs may not start */
    bool makes_room;     /* in this walk, room may be made for its jobs (controller.h) */
    bool is_rebalanced;  /* in this pass, on workers that classes have borrowed (rebalance.c) */
    bool is_given_up; /* it has been stopped: the next pass takes back all that it has promised */
    bool
        is_returned; /* a job was stopped that has no turn before holders: of its own queue it is to have one's promise */
    bool
        has_taken; /* a promise for such a job, left or taken back, whose turn is in the next sweep */
    int64_t width; /* entries of open and held have up to so many units */
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

/* A job that a limit has blocked, for which it is not enough to stop others. */
struct limited_vain {
    uint64_t round; /* when that was tried: queues.rounds */
    struct place_ask ask;
    uint32_t party;
    uint32_t leaf; /* of shares */
    int64_t limit, priority;
};
#define LIMITED_VAIN 256

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
    bool moves_before;      /* of outrank.c: holders up to there are to move first */
    struct queue_key before;
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
    bool has_been_due;  /* and for one to whom a walk has promised the present */
    bool tries_holders; /* the walk makes room for holders too, */
    bool has_made_room; /* and has done so for one, which has left what it was promised */
    bool has_told; /* somebody is to stop by it, so that blocked jobs may have others stopped */
    bool puts_holders_off; /* of share_walk.c: room is made for some after open jobs */
    struct queue_key share_above,
        share_floor; /* of share_walk.c: the level begins behind this, ends here */
    size_t
        n_put_off; /* so many have not had their turns yet, as they borrow (controllers/loans.h) */
    bool lends;    /* those that were put off have their turns now */
    bool is_whole; /* it is not cut off */
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
    size_t cap_jobs;
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

/* Make room for so many decisions, so that what follows can't fail; or for one. Returns 0, or -1 with ENOMEM. */
static inline int decisions_expect(sched_t *s, size_t n)
{
    return array_grow((void **)&s->decisions, &s->cap_decisions, s->n_decisions + n,
                      sizeof(*s->decisions));
}

static inline int decision_reserve(sched_t *s)
{
    return decisions_expect(s, 1);
}

struct sched_decision *decision_add(sched_t *s, enum sched_decision_kind kind, uint32_t slot,
                                    int64_t at, const struct sched_reason *reason);

/* A slot for a job, or JOB_NONE with ENOMEM; given back if its handle was never told. */
uint32_t job_alloc(sched_t *s);
void job_unalloc(sched_t *s, uint32_t slot);

/* The slot that job_alloc gives next, which does not fail then, as long as none is given or given back before; or JOB_NONE with
 * ENOMEM. It is nobody's yet: what handles jobs get does not depend on who asked for memory in vain.
 */
uint32_t job_next_slot(sched_t *s);

/* So many more slots will be asked for: have memory for them at once. Returns 0, or -1 with ENOMEM and nothing changed. */
int job_expect(sched_t *s, uint32_t more);

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

#endif
