/* The scheduling core: jobs, queues, and passes that decide who starts when.
 *
 * A shell (simulator, daemon, module) reports events: a job was submitted, has finished, was cancelled, got
 * another priority. Then it runs a pass, which returns decisions: start, reserve, reject, preempt. The
 * shell carries them out. The core is a function of these calls: time is an argument, in ticks whose length
 * the shell chooses, and the same calls give the same decisions on any machine.
 *
 *     struct sched_params params = {.policy = "easy"};
 *     sched_t *s = sched_create_flat(128, &params, &err);             // a machine with 128 units
 *     struct sched_request request = {.units = 64, .duration = 3600, .tag = 1};
 *     sched_submit(s, now, &request);
 *     for (;;) {
 *         const struct sched_decision *d;
 *         size_t n;
 *         sched_pass(s, now, false, &d, &n);
 *         for (size_t i = 0; i < n; i++)
 *             if (d[i].kind == SCHED_START)
 *                 start_your_job(d[i].tag, d[i].until);
 *         now = wait_until(sched_next_time(s));                       // or until something happens:
 *         if (your_job_has_ended(&job))
 *             sched_finish(s, now, job, true);
 *     }
 *
 * This header has what every shell needs. Schedulers with named queues over a resource graph are made and
 * configured by berth/sched_config.h, administered by berth/sched_admin.h, asked by berth/sched_query.h and
 * berth/sched_shares.h,
 * and kept over a restart by berth/sched_snapshot.h. Why a job waits is told as a struct:
 * berth/sched_reason.h.
 *
 * A policy is a bound K on the jobs that may hold a reservation. The first K jobs in queue order that can't
 * start now each hold one, at their earliest time; a later job may start if the calendar, which carries the
 * reservations, has room for its whole duration. K = 0 is fcfs: where nothing is promised, nobody may
 * overtake. K = 1 is easy, a number N hybrid, no bound conservative. See Mu'alem and Feitelson 2001
 * (doi:10.1109/71.932708) for easy and conservative. A policy may have an order of its own: ageing is easy
 * in the order of the time of submission, in seconds, less 3600 times the priority, the least first, so
 * that an hour of waiting is worth a unit of priority.
 *
 * Calendars go by estimates. A start is promised only if it stands even when every job takes its whole limit;
 * else it is expected. Before promised starts others may start whose limits fit, before expected ones those
 * whose estimates do. When an estimate runs out while its job runs, what the job holds stays taken, up to its
 * limit at most, and expected starts behind it move.
 *
 * A reservation is kept until its job starts. After ends, the next pass takes the reservations in queue
 * order and moves each to its earliest time, given all the others. A job that was submitted, raised or
 * released since takes precedence over the reservations behind it in queue order: these are lifted, the job
 * is placed, and each is put back where it still fits or moved where not. Where K is used up, the last one
 * is given up.
 *
 * What becomes of the machine (resources go down, a block is set, a job lasts longer) may take a reservation
 * from a job. With named queues it is then placed anew by its rank, and those behind it that are in its way
 * move. The job is displaced until it has its old time again; so is one whose turn to be promised a time came
 * while too much was down, until it has any. Whenever something comes back (resources come up or are added or
 * changed, a block is changed or taken back, a running job is shortened, a configuration is loaded), it takes
 * precedence over the reservations behind it as if it had just been submitted. So do jobs that another configuration
 * puts before others.
 *
 * The members of an array that wait are one job in all this: they have one place in the order, that of the
 * first of them, and at most one reservation, which is its own. When it starts, the next one takes its place in
 * the same pass, as an open job that is not new. So also under conservative the members behind the first are
 * promised nothing: a reservation for each of a million would cost as much as a million jobs, and name times
 * that each early end moves. Jobs behind the array may be promised what later members could have had.
 *
 * Calls return 0 or a value, or -1 (NULL for pointers) with errno. One that fails leaves the core as it
 * was. Times never go back and are at least 0; with named queues they are at most INT64_MAX / 4 (EINVAL).
 * Not thread-safe.
 */
#ifndef BERTH_SCHED_H
#define BERTH_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"
#include "berth/sched_reason.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sched sched_t;

/* A job's handle: never negative, never used for another job. */
typedef int64_t sched_job_t;

#define SCHED_UNLIMITED INT64_MAX

/* ---- Make and destroy ---- */

/* The order of the queue; equal jobs keep the order in which they were submitted. */
enum sched_order {
    SCHED_ORDER_SUBMIT,   /* first submitted, first considered */
    SCHED_ORDER_SHORTEST, /* shortest duration first */
    SCHED_ORDER_PRIORITY  /* highest priority first */
};

struct sched_params {
    /* One of sched_policies (berth/sched_config.h). */
    const char *policy;

    /* Jobs that may hold a reservation; <= 0: the policy's default. A policy that is not tunable
     * (sched_policy) has its own whatever this says.
     */
    int64_t reservation_depth;

    /* Waiting jobs that a pass considers, the first in queue order; <= 0: all. Jobs that start make room for
     * those behind them in the same pass; a holder that is no longer among the first still starts in its
     * time.
     */
    int64_t queue_depth;

    /* Of a policy that has none of its own. */
    enum sched_order order;

    /* Ticks in one second, for an order that goes by time; <= 0: 1. */
    int64_t second;
};

/* A scheduler for a flat machine of `units` interchangeable units. EINVAL with a text: units < 1, an unknown
 * policy or order; ENOMEM.
 */
sched_t *sched_create_flat(int64_t units, const struct sched_params *params, berth_error_t *err);

struct match;

/* A scheduler for the cores of a matcher's machine (berth/match.h), each of which is a unit and given to
 * one job at a time. The matcher has no jobs, outlives the scheduler, and nobody else uses it meanwhile.
 *
 * When a job can start is a matter of counts, so decisions are those of a flat machine with as many units. A
 * reservation is for so many cores and names none: which ones will be free depends on what ends until then.
 * A job gets its cores when it starts, of those that are free then, by the matcher's policy, and keeps them
 * until it ends or counts as gone (sched_finish). There are always enough: what has started and what the
 * calendar counts at that instant is the same.
 *
 * Cores that are down when the scheduler is made are no units. EINVAL with a text: there are no cores, or
 * pools of them, a match policy that gives whole nodes, or an unknown policy or order; ENOMEM.
 */
sched_t *sched_create_match(struct match *machine, const struct sched_params *params,
                            berth_error_t *err);

/* NULL is fine; errno is kept. */
void sched_destroy(sched_t *s);

/* ---- Events ---- */

/* What becomes of a gang of which a member fails, is stopped for a block, or is cancelled. */
enum sched_gang_failure {
    SCHED_FAIL_ALL, /* the others are stopped, too, and those that wait are rejected */
    /* The same as soon as fewer than `min` run or have succeeded; until then the others go on. One that is being stopped for
     * another job does not count as running.
     */
    SCHED_FAIL_GO_ON,
    /* The member waits again (sched_replaces, berth/sched_admin.h), and the others go on; the gang's members as often as
     * there are members, and then as with GO_ON.
     */
    SCHED_FAIL_REPLACE
};

#define SCHED_ROLES_MAX     16
#define SCHED_ROLE_NAME_MAX 32

/* Members of a gang that ask for the same, where not all do. */
struct sched_role {
    const char *
        name; /* 1 to SCHED_ROLE_NAME_MAX letters, digits and "_-."; each of a gang has another one */

    /* What each of them asks for: the text of a jobspec, of which resources and constraints count. */
    const char *jobspec;
    size_t jobspec_length;

    uint32_t members; /* at least 1 */
    uint32_t min;     /* so many start together with those of the other roles, at most `members` */
};

/* What a job asks for and who asks. What pointers lead to is copied. Zero is fine for all that is not said
 * to be needed.
 */
struct sched_request {
    /* On a flat machine, >= 1. A job that asks for more than the machine has is rejected. */
    int64_t units;

    /* Ticks that it may take at most: its limit. On a flat machine, >= 1. In a named queue, 0: the jobspec's,
     * else the queue's default or the longest that the queue's limits let a job last, whichever is less;
     * SCHED_UNLIMITED: it has none.
     */
    int64_t duration;

    /* Higher goes first, under SCHED_ORDER_PRIORITY and in named queues. */
    int64_t priority;

    /* The caller's own number for the job, given back in decisions. */
    uint64_t tag;

    /* The rest is for schedulers with named queues. */

    /* The text of a jobspec; needed. */
    const char *jobspec;
    size_t jobspec_length;

    /* What reasons and dependencies call it; NULL: the tag in decimal. */
    const char *id;

    /* Ticks that planning goes by: when it is expected to have ended, at most its limit. 0: the limit; of a
     * job without one, the queue's default duration. SCHED_UNLIMITED: nobody knows. What it holds is then
     * taken without end, and nothing is promised behind it.
     */
    int64_t estimate;

    /* NULL: the jobspec's, or the default queue. */
    const char *queue;

    /* What it is charged to (sched_account, berth/sched_config.h). NULL: the jobspec's, or the user's default. */
    const char *account;

    /* NULL: "". */
    const char *user;
    const char *const *groups;
    size_t n_groups;

    /* What the dependency "singleton" goes by; NULL: the id. */
    const char *name;

    /* "afterok:ID[:ID...][,TYPE:ID...]": after, afterany, afterok, afternotok; singleton. */
    const char *dependency;

    /* It starts no earlier than this time. */
    int64_t begin;

    /* It waits until it is released. */
    bool hold;

    /* A time by which it is to have started, for the order of queues that go by deadlines (sched_share_order,
     * berth/sched_config.h); it takes no promise away. 0: the jobspec's, or its queue's; SCHED_UNLIMITED: none.
     */
    int64_t deadline;

    /* Ticks after its start from which on it may be preempted, a second at least; 0: the jobspec's. */
    int64_t preemptible_after;

    /* Of an array: one above the largest index of its members, which are placed one by one and are alike in all.
     * 0 or 1: it is no array, unless `indices` has others.
     */
    uint32_t members;

    /* Which of these exist, as a set of ids (RFC 22), in which ranges may have steps: "0-8:2,17". NULL: all. Memory
     * goes by the ranges.
     */
    const char *indices;

    /* So many members of an array may run or be promised a time at once; 0: any number. */
    uint32_t max_running;

    /* Of an array: it is a gang, of which so many members start together or none does. What is promised is promised
     * to that many. The others start one by one when these run, as an array's. Members that have succeeded count
     * as there; when none runs, as many as are missing start together again. 0: it is none.
     */
    uint32_t min;
    enum sched_gang_failure failure;

    /* Of a gang: it is one of the array of gangs of this name, of which so many may run, or be promised a time, at once. Of
     * those that wait the first ones by priority, then by submission, go on; the others are blocked. The first gang of the
     * name says how many. NULL or 0: any number.
     */
    const char *gangs;
    uint32_t gangs_at_once;

    /* Of a gang whose members are not alike: up to SCHED_ROLES_MAX roles. The members of the first one have the indices from
     * 0 on, those of the next one follow. `members` and `min` are 0 or the sums of theirs, which are at least 2 and 1, and
     * `indices` is NULL. The mins of all roles start together, have one promise, and last equally long; beyond its min
     * each role grows by itself, for which each member that waits then has a handle of its own. `jobspec` says what
     * else the job asks for (its queue, its duration); NULL: the first role's. A gang with SCHED_FAIL_GO_ON is over as
     * soon as fewer of one role than its min run or have succeeded.
     */
    const struct sched_role *roles;
    size_t n_roles;

    /* Its place among jobs of equal priority, the least goes first. Each number is used once. An array's
     * member of index 0 has it, and the others have those that follow. 0: behind all jobs that came before.
     */
    uint64_t order;

    /* When it was submitted, if that was before this call, at most `now`; 0: now. */
    int64_t submitted;
};

/* Submit a job. Returns its handle. An array is one job, which is taken whole or refused whole, until members
 * start: its handle is that of all members that wait (sched_admin.h has more of arrays).
 * EINVAL: units or duration < 1 (flat), or a duration past the end of time; ENOMEM. With named queues, a
 * request that is wrong otherwise (jobspec, queue, user, dependency, limits) is rejected with the reason by
 * the next pass. O(log n).
 *
 * So is a job that can never start: all up and idle, its queue's part of the machine could not give it what
 * it asks for; blocks that come again (sched_block) leave no gap as long as it is; or it alone is over a
 * limit. One that waits, also if it is held or blocked, is rejected as soon as something makes it such: what
 * is removed, properties, another configuration, a block, or time, when a block comes for the first time. For
 * what is down or drained it waits. A call about one job that would make it such fails with EINVAL instead.
 * A job that runs goes on.
 */
sched_job_t sched_submit(sched_t *s, int64_t now, const struct sched_request *request);

/* A running job has ended, and what it held is free. On a flat machine a job counts as gone from its start
 * plus its duration on: the shell ends it by then and says so before a pass at that time, or two jobs may
 * hold the same units for a while. With named queues a job that overruns keeps what it holds until this is
 * called. A job that was to be preempted and has ended before it was stopped is over as well. Dependencies
 * afterok and afternotok go by `ok`. EINVAL: it isn't running. O(log n).
 */
int sched_finish(sched_t *s, int64_t now, sched_job_t job, bool ok);

/* Cancel a job in any state: it is forgotten, and what it held is free. The shell has stopped it if it was
 * running. For the next pass, a running or reserved job that is cancelled is an end. EINVAL: no such job.
 * O(log n).
 */
int sched_cancel(sched_t *s, int64_t now, sched_job_t job);

/* Change a job's priority; without effect on a flat machine unless the order is by priority. A holder keeps
 * its reservation until a job without one goes before it (above). Of a running job it is the priority by which it may be
 * stopped for others of its queue, and that it waits with should it be requeued. EINVAL: no such job, or it was
 * rejected, or that is another priority that jobs may not have (sched_priorities); ENOMEM, never of a running job.
 * O(log n).
 */
int sched_prioritize(sched_t *s, int64_t now, sched_job_t job, int64_t priority);

/* The priorities that jobs of named queues may have which go by them, as the configuration says: deadlines, gangs and
 * classes leave room for fewer. O(1).
 */
void sched_priorities(const sched_t *s, int64_t *least, int64_t *most);

/* ---- Passes and decisions ---- */

enum sched_decision_kind {
    /* Start the job now. */
    SCHED_START,

    /* The job will start at `at`, or earlier; `expected` says how sure that is. The same `at` again: it will
     * get other resources then, or is more or less sure of it.
     */
    SCHED_RESERVE,

    /* The job can never start; its handle is no longer valid. */
    SCHED_REJECT,

    /* The job waits, for a new reason (named queues only). */
    SCHED_WAIT,

    /* Stop this running job: job `other` gets what it holds, or some of it. Then tell its end, as any other. */
    SCHED_PREEMPT,

    /* Stop this running job, for a reason: it has no limit and has taken longer than its estimate, and a block is
     * on that it may not use; or its gang has failed (named queues only). Then tell its end. It is told once, and
     * again by a restored scheduler.
     */
    SCHED_STOP,

    /* A running job that is being stopped already, as it was told to or its limit is over: job `other` waits for its end,
     * too.
     */
    SCHED_AWAIT
};

/* How a job that starts was chosen. */
enum sched_how {
    SCHED_IMMEDIATE,  /* it was first, or others were preempted for it, whatever it was promised */
    SCHED_BACKFILLED, /* before jobs that hold reservations */
    SCHED_PROMISED    /* it held one itself ("reserved") */
};

struct sched_decision {
    enum sched_decision_kind kind;
    sched_job_t job;
    uint64_t tag;

    /* The time at which the job starts or has its reservation; of SCHED_WAIT -1. */
    int64_t at;

    /* Of SCHED_REJECT, SCHED_WAIT and SCHED_STOP, else NULL; valid as the decision is. */
    const struct sched_reason *reason;

    /* Of SCHED_RESERVE: the start is only expected: it may come later if a job takes longer than its estimate.
     * Otherwise it is promised, even if every job takes its whole limit.
     */
    bool expected;

    /* Of SCHED_START: when it is expected to have ended, start plus estimate; INT64_MAX: that is unknown. */
    int64_t until;
    enum sched_how how;

    /* Of an array, its index. A member that starts does so under a handle of its own (of the last one that is the
     * array's); a time is promised to the first one that waits; a reason to wait, or for a rejection, is that of
     * all that wait under this handle, of which this is the first.
     */
    uint32_t member;

    /* Of SCHED_PREEMPT and SCHED_AWAIT: for whom. Of SCHED_PREEMPT: whether the job will wait again, in the place in the
     * queue that it had.
     */
    sched_job_t other;
    bool requeue;

    /* Of SCHED_PREEMPT: by which rule; whether its gang goes on without it; and what it has done so far, cores times
     * ticks (INT64_MAX: that or more).
     */
    enum sched_may_stop why;
    bool is_spare;
    int64_t work;
};

/* Decide what can be decided at `now`. `more` says that further events of this very instant will follow,
 * with a pass after them. As long as no more jobs wait than may hold a reservation, such a pass starts
 * none: each gets its reservation, for `now` if it could start, and the closing pass, without `more`,
 * starts them in queue order. Otherwise it is a pass like any other, but after mere submissions it does
 * nothing unless one of the new jobs can get a reservation, goes before a holder, or needs no more units
 * than would be free if the holders whose time has come left theirs. The closing pass may be left out where
 * sched_next_time is later than `now`.
 *
 * Decisions, in the order taken, belong to the core and are valid until the next pass, whatever else the
 * core is told and asked meanwhile. With a min_interval, a pass before sched_next_time is put off: it
 * decides nothing.
 *
 * Returns 0, or -1 with EINVAL, or with ENOMEM: then the decisions taken before are returned and stand, and
 * another pass goes on.
 *
 * With s jobs started, r reservations made or moved and q waiting: O((s + r + 1) log q) and what the calendar
 * takes for each, as long as few waiting jobs lie between what is free and the next power of two units.
 *
 * With named queues, h reservations, k kinds (different requests and queues) that wait, and g different
 * gaps that opened since the last pass: O((h + k) g) to find out which may be concerned, and for each of
 * these a search among the gaps of its part, as many as there are different bookings, and a match, which
 * looks at the machine's nodes, if there is one to be had. Policies that compare slots on shared nodes,
 * requests with alternatives, and resources outside of nodes need more matches.
 */
int sched_pass(sched_t *s, int64_t now, bool more, const struct sched_decision **decisions,
               size_t *n);

/* As sched_pass, but look at `budget` jobs at most. Returns 1 if there is more to do: called again at the
 * same time, with no event in between, it goes on where it was, and decides in all what one long pass would
 * have. After an event, or at a later time, a pass begins from the start. Between two such calls promises may
 * overlap what has been decided: they stand until the pass has come to them.
 */
int sched_pass_some(sched_t *s, int64_t now, uint64_t budget,
                    const struct sched_decision **decisions, size_t *n);

/* The time at which the next pass is due, given what has happened and when the last one was; INT64_MAX: not
 * before something happens. Whoever makes a pass at each such time, and no other, misses nothing. A pass
 * made then is never put off, and right after a whole one (without `more`) the next is due later.
 *
 * If something has happened since the last pass, the next is due at once; with a min_interval, so long
 * after that pass as long as fewer than max_events are gathered. Otherwise, and before that, it is due when
 * time alone brings something: the earliest reservation's time; with named queues also when a job may begin
 * or be preempted, and, while jobs wait for resources, when a block begins or ends. After a pass that
 * failed with ENOMEM or was cut off it is due at once. "At once" is the time of the last call; nothing is
 * due before that.
 *
 * The pass is given this time even if it comes late: what a job holds is booked from its reservation's time
 * on.
 */
int64_t sched_next_time(const sched_t *s);

/* The last time at which time alone may let a job start: passes after it never start those that wait,
 * unless something happens. INT64_MAX while jobs run, have reservations or begin times, or an event waits
 * for a pass. -1 with ENOMEM. 0: none that waits can ever start. With w jobs waiting: O(w), and a search
 * for each different request.
 */
int64_t sched_last_time(sched_t *s);

/* ---- State ---- */

enum sched_state {
    SCHED_WAITING,  /* holds nothing */
    SCHED_RESERVED, /* waits and holds a reservation */
    SCHED_RUNNING,
    SCHED_REJECTED, /* the next pass says so, and forgets it */
    SCHED_BLOCKED   /* waits for something else than resources: a release, a time, a job, a limit */
};

/* A job's state, or -1 with EINVAL if there is no such job. */
int sched_state(const sched_t *s, sched_job_t job);

/* When a running job started or a reserved one will; -1 with EINVAL for any other. */
int64_t sched_start_time(const sched_t *s, sched_job_t job);

/* The units that the machine has. */
int64_t sched_units(const sched_t *s);

/* Numbers of waiting (reserved ones included) and of running jobs, of arrays of their members. O(jobs) for those
 * that wait.
 */
size_t sched_waiting(const sched_t *s);
size_t sched_running(const sched_t *s);

/* True if the core's structures are in order and agree with each other. O(n log n). */
bool sched_check(const sched_t *s);

#ifdef __cplusplus
}
#endif

#endif
