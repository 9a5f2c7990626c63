/* The scheduling core: jobs, a queue, and passes that decide who starts when.
 *
 * A shell (simulator, daemon, module) reports events: submitted, finished, cancelled, priority changed. Then it
 * runs a pass, which returns decisions: start, reserve, reject. The shell carries them out. The core is a
 * function of these calls: time is an argument, in ticks whose length the shell chooses, and the same calls
 * give the same decisions on any machine.
 *
 * A policy is a bound K on the jobs that may hold a reservation. The first K jobs in queue order that can't
 * start now hold one, at their earliest time; a later job may start if the calendar, which carries them, has
 * room for its whole duration. K = 0 is fcfs: with nothing promised to anyone, nobody may overtake. K = 1 is
 * easy, a number N hybrid, no bound conservative. See Mu'alem and Feitelson 2001 (doi:10.1109/71.932708) for
 * easy and conservative. A policy may have an order of its own: ageing is easy in the order of the time of
 * submission, in seconds, less 3600 times the priority, the least first, so that an hour of waiting is
 * worth a unit of priority.
 *
 * A reservation is kept until its job starts. After ends, the next pass first takes the reservations in queue order
 * and moves each to its earliest time, given all the others. A job that has come since (submitted, raised, released) and
 * that the queue's order puts before holders is not to wait for them: it is placed as if those behind it held nothing, of
 * whom each then keeps its reservation if it still fits, or else gets another; where the bound K is used up, the last one
 * gives way.
 *
 * Calls return 0 or a value, or -1 (NULL for pointers) with errno. One that fails leaves the core as it was.
 * Not thread-safe.
 */
#ifndef BERTH_SCHED_H
#define BERTH_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"
#include "berth/resource.h"
#include "berth/sched_reason.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sched sched_t;

/* A job's handle: never negative, never used for another job. */
typedef int64_t sched_job_t;

#define SCHED_UNLIMITED INT64_MAX

/* With named queues, priorities go from the negative of these up to them. */
#define SCHED_PRIORITY_MAX       INT64_C(10000000000000) /* of a job */
#define SCHED_QUEUE_PRIORITY_MAX INT64_C(100000)

/* The order of the queue; equal jobs keep the order in which they were submitted. */
enum sched_order {
    SCHED_ORDER_SUBMIT,   /* first submitted, first considered */
    SCHED_ORDER_SHORTEST, /* shortest duration first */
    SCHED_ORDER_PRIORITY  /* highest priority first */
};

struct sched_params {
    const char *policy; /* one of sched_policies() */

    /* Jobs that may hold a reservation; <= 0: the policy's default. A policy that is not tunable
     * (sched_policy) has its own whatever this says.
     */
    int64_t reservation_depth;

    /* Waiting jobs that a pass considers, the first in queue order; <= 0: all. Jobs that start make room for
     * those behind them in the same pass; a holder that is no longer among the first still starts in its time.
     */
    int64_t queue_depth;

    enum sched_order order; /* of a policy that has none of its own */
    int64_t second;         /* ticks in one, for an order that goes by time; <= 0: 1 */
};

/* What a job asks for and who asks. All zero is fine but for what is said to be needed; what pointers lead to is copied.
 */
struct sched_request {
    int64_t units; /* on a flat machine, >= 1; more than the machine has: the job is rejected */
    int64_t
        duration; /* ticks: a job is expected to end by then. 0: the jobspec's, or the queue's default */
    int64_t priority; /* higher goes first, under SCHED_ORDER_PRIORITY and in named queues */
    uint64_t tag;     /* the caller's own number for the job, handed back in decisions */

    /* The rest is for schedulers with named queues (sched_create). */
    const char *jobspec; /* the text of a jobspec; needed */
    size_t jobspec_length;
    const char *id;    /* how reasons and dependencies call it; NULL: the tag in decimal */
    const char *queue; /* NULL: the jobspec's, or the default queue */
    const char *user;  /* NULL: "" */
    const char *const *groups;
    size_t n_groups;
    const char *name; /* what dependency singleton goes by; NULL: the id */
    const char *
        dependency; /* "afterok:ID[:ID...][,TYPE:ID...]": after, afterany, afterok, afternotok; singleton */
    int64_t begin; /* it starts no earlier */
    bool hold;     /* it waits until it is released */
    int64_t
        preemptible_after; /* ticks after its start from which on it may be preempted, a second at least; 0: the jobspec's */
    uint32_t members; /* of an array: jobs placed one by one, alike in all; 0 or 1: it is none */
    uint64_t
        order; /* its place among jobs of equal priority, the least goes first, used once; of an array its first member's, the
                  others have those behind it; 0: behind all that came before */
    /* When it came, if that was before this call, at most `now`; 0: now. */
    int64_t submitted;
};

enum sched_state {
    SCHED_WAITING,  /* holds nothing */
    SCHED_RESERVED, /* waits and holds a reservation */
    SCHED_RUNNING,
    SCHED_REJECTED, /* the next pass says so, and forgets it */
    SCHED_BLOCKED   /* waits for something else than resources: a release, a time, a job, a limit */
};

enum sched_decision_kind {
    SCHED_START,   /* start the job now */
    SCHED_RESERVE, /* the job will start at `at`, or earlier; again with the same `at`: it will get other resources then */
    SCHED_REJECT,  /* the job can never start; its handle is no longer valid */
    SCHED_WAIT,    /* the job waits, for a new reason (named queues only) */
    SCHED_PREEMPT /* stop this running job: job `other` gets what it holds. Then sched_finish, as for any end */
};

/* How a job that starts was chosen. */
enum sched_how {
    SCHED_IMMEDIATE,  /* it was first */
    SCHED_BACKFILLED, /* before jobs that hold reservations */
    SCHED_PROMISED    /* it held one itself ("reserved") */
};

struct sched_decision {
    enum sched_decision_kind kind;
    sched_job_t job;
    uint64_t tag;
    int64_t at; /* start or reserved time; of SCHED_WAIT the estimated start, or -1 */
    const struct sched_reason
        *reason;        /* of SCHED_REJECT and SCHED_WAIT, else NULL; valid as the decision is */
    int64_t until;      /* of SCHED_START: start plus duration */
    enum sched_how how; /* of SCHED_START */
    uint32_t member;    /* of an array, from 0 */
    sched_job_t other;  /* of SCHED_PREEMPT: for whom */
    bool
        requeue; /* of SCHED_PREEMPT: it will wait again, with the place in the queue that it had */
};

#define SCHED_POLICIES_MAX 16 /* as many policies as there may be */

/* A policy, as those who configure schedulers and explain them need to know it. */
struct sched_policy {
    const char *name;
    const char *summary; /* what it does: a sentence without its full stop */
    int64_t depth;       /* K, unless told otherwise; SCHED_UNLIMITED: no bound */
    bool is_tunable;     /* it can be told another K, or, where there is no bound, be given one */
    bool is_usual;       /* one is: what programs run where none is named */
};

/* The names of the policies, ended by NULL; the first is what a queue has that names none. */
const char *const *sched_policies(void);

/* A policy by its place among the names, by its name (which may be NULL), and the usual one. NULL:
 * there is none. All of it is constant and belongs to the library.
 */
const struct sched_policy *sched_policy(size_t i);
const struct sched_policy *sched_policy_find(const char *name);
const struct sched_policy *sched_policy_usual(void);

/* A scheduler for a flat machine of `units` interchangeable units. EINVAL with a text: units < 1, an unknown
 * policy or order; ENOMEM.
 */
sched_t *sched_create_flat(int64_t units, const struct sched_params *params, berth_error_t *err);

struct match;

/* A scheduler for the cores of a matcher's machine (berth/match.h), each of which is a unit and given to one job at a
 * time. The matcher has no jobs, outlives the scheduler, and nobody else asks it for anything meanwhile.
 *
 * When a job can start is a matter of counts, so that decisions are those of a flat machine with as many units. A
 * reservation is for so many cores and names none: which ones would be free throughout its time depends on what ends
 * until then. A job gets its cores when it starts, of those that are free then, by the matcher's policy, and keeps them
 * until it ends or counts as gone (sched_finish). There are always enough: what has started and what the calendar
 * counts at that instant is the same.
 *
 * Cores that are down when the scheduler is made are no units. EINVAL with a text: there are no cores, or pools of
 * them, a match policy that gives whole nodes, or an unknown policy or order; ENOMEM.
 */
sched_t *sched_create_match(struct match *machine, const struct sched_params *params,
                            berth_error_t *err);

/* ---- Named queues over a resource graph ---- */

/* At most so much of something at once. What: a resource type ("node", "core", "gpu", ...), "running" or "pending" (jobs),
 * or "duration" (ticks, of one job). A resource counts as it is really held: of a node that a job has to itself, all of
 * its cores. "node" counts the nodes on which a job holds anything.
 */
struct sched_limit {
    const char *what;
    int64_t most; /* >= 0 or SCHED_UNLIMITED */
};

struct sched_limits {
    const struct sched_limit *job; /* that one job may ask for or hold; a job over it is rejected */
    size_t n_job;
    const struct sched_limit
        *user; /* that all jobs of a user in the queue may hold; a job over it waits */
    size_t n_user;
    const struct sched_limit *queue; /* that all jobs in the queue may hold */
    size_t n_queue;
};

/* Other limits for some; what they don't name stays as it is. The first exception that names a user, or a group of his,
 * holds for him.
 */
struct sched_exception {
    const char *const *users;
    size_t n_users;
    const char *const *groups;
    size_t n_groups;
    struct sched_limits limits; /* of job and user; queue is not looked at */
};

enum sched_preemptible {
    SCHED_NOT_PREEMPTIBLE,
    SCHED_PREEMPT_CANCEL, /* its running jobs may be stopped for jobs of queues that are not preemptible */
    SCHED_PREEMPT_REQUEUE /* and wait again then */
};

/* A named queue (RFC 33). Strings and arrays are copied. */
struct sched_queue_config {
    const char *name;
    const char *
        parent; /* a virtual queue: its jobs are jobs of this one, but for what it says itself about limits, priority,
                           who is admitted and the default duration; NULL: a queue of its own */
    const char *policy;            /* NULL: the first of sched_policies() */
    int64_t queue_depth;           /* waiting jobs that a pass considers; 0: all */
    int64_t max_queue_depth;       /* bounds it; 0: unlimited */
    int64_t reservation_depth;     /* hybrid only; 0: 64 */
    int64_t max_reservation_depth; /* bounds hybrid and conservative; 0: unlimited */
    const char *requires; /* which resources are its own: an RFC 31 constraint as JSON; NULL: all */
    int64_t priority;     /* jobs of a queue with a higher one go first */
    const char *const *users; /* who may submit; no users and no groups: everybody */
    size_t n_users;
    const char *const *groups;
    size_t n_groups;
    int64_t default_duration; /* of a job that names none, ticks; 0: that of all queues */
    enum sched_preemptible preemptible;
    struct sched_limits limits;
    const struct sched_exception *exceptions;
    size_t n_exceptions;
};

/* Resources set aside for a time. Jobs that it is not for are planned around it. */
struct sched_block {
    const char *name;
    const char *resources; /* names or paths, with ranges: "node[0-3],node7", "/cluster0/rack1" */
    int64_t start;         /* ticks */
    int64_t duration;      /* >= 1 */
    int64_t every;         /* ticks from one start to the next, > duration; 0: once */
    const char *const *users; /* those whose jobs may use it; all of these may be empty: nobody */
    size_t n_users;
    const char *const *queues;
    size_t n_queues;
    const char *const *jobs; /* by id */
    size_t n_jobs;
};

struct sched_config {
    int64_t second; /* ticks in one, >= 1; jobspecs give durations in seconds */
    const struct sched_queue_config *queues;
    size_t n_queues;           /* 0: one, named "default", with the default of everything */
    const char *default_queue; /* NULL: the only one, else a job must name one */
    int64_t default_duration;  /* of jobs that name none in queues that name none; 0: an hour */
    int64_t min_interval; /* ticks between passes that events ask for (sched_next_time); 0: none */
    int64_t max_events;   /* events after which a pass is due all the same; 0: unlimited */
    const struct sched_block *blocks;
    size_t n_blocks;
};

/* A scheduler with named queues over a matcher's machine. The matcher has no jobs, outlives the
 * scheduler, and nobody else changes it meanwhile. EINVAL with a text that names the queue and the
 * key: a wrong configuration; ENOMEM.
 *
 * Jobs of all queues are considered in one order: priority of the queue, priority of the job, time
 * of submission, order of submission. Where a policy has an order of its own, its rank, from
 * -SCHED_PRIORITY_MAX - 1 up to SCHED_PRIORITY_MAX, takes the place of the job's priority, which is
 * the rank -1 - priority of others: queues of one priority that share resources should have one
 * order. Reservations name resources.
 */
sched_t *sched_create(struct match *machine, const struct sched_config *config, berth_error_t *err);

/* Another configuration; every job and allocation is kept, or nothing is changed. The next pass takes reservations back that are
 * over the limits there are now, the last ones in queue order first, and rejects waiting jobs whose queue has another part of
 * the machine from now on and could never give them what they ask for. EINVAL: it is wrong, or a queue that has jobs is
 * missing; ENOMEM.
 */
int sched_configure(sched_t *s, int64_t now, const struct sched_config *config, berth_error_t *err);

/* The units that the machine has. */
int64_t sched_units(const sched_t *s);

/* NULL is fine; errno is kept. */
void sched_destroy(sched_t *s);

/* Times given to the calls below never go back and are at least 0; with named queues they are at most INT64_MAX / 4
 * (EINVAL).
 */

/* A job is submitted. Returns its handle; of an array, that of its first member, and those of the others follow
 * (sched_member). EINVAL: units or duration < 1 (flat), or duration past the end of time; ENOMEM. With named queues, what
 * is wrong with a request otherwise (jobspec, queue, user, dependency, limits) makes the next pass reject the job with the
 * reason. O(log n).
 */
sched_job_t sched_submit(sched_t *s, int64_t now, const struct sched_request *request);

/* Submit n members of an array, from `first` on, as sched_submit does all of them: an array may come bit by bit, with the same
 * request each time but for what has been changed of the others meanwhile. Those that have not come have neither started nor
 * ended, for who waits for the array. Their handles go to jobs. A failure leaves out all n; members that are known already
 * are rejected. Named queues only; EINVAL also for members that it has not. O(n log n).
 */
int sched_submit_members(sched_t *s, int64_t now, const struct sched_request *request,
                         uint32_t first, uint32_t n, sched_job_t *jobs);

/* The handle of an array's i-th member; -1 with EINVAL. It is valid until that member is forgotten. */
sched_job_t sched_member(sched_t *s, sched_job_t array, uint32_t i);

/* A job's handle by its id (and member; 0 if it is no array), or -1 with ENOENT. */
sched_job_t sched_find(const sched_t *s, const char *id, uint32_t member);

/* A running job has ended and what it held is free. On a flat machine a job counts as gone from its start plus its
 * duration on: the shell ends it by then and says so before a pass at that time, or two jobs may hold the same units for
 * a while. With named queues a job that overruns holds what it holds until this is called. One that was to be preempted
 * and has come to its end before it was stopped is over all the same. `ok`: what afterok and afternotok go by. EINVAL: it
 * isn't running. O(log n).
 */
int sched_finish(sched_t *s, int64_t now, sched_job_t job);
int sched_finish_as(sched_t *s, int64_t now, sched_job_t job, bool ok);

/* A running job has been stopped, as SCHED_PREEMPT with `requeue` asks for or for the shell's own reasons, and waits again,
 * with the place in the queue that it had; what it held is free (named queues only). EINVAL: it isn't running; ENOMEM.
 * O(log n).
 */
int sched_requeue(sched_t *s, int64_t now, sched_job_t job);

/* A job is cancelled, in whatever state; it is forgotten, and what it held is free. The shell has stopped it
 * if it was running. For the next pass, that a running or reserved job is cancelled is an end. EINVAL: no such
 * job. O(log n).
 */
int sched_cancel(sched_t *s, int64_t now, sched_job_t job);

/* A job that was submitted and has neither started nor been promised anything is as if it had never been: its id may be given
 * again, and who waits for it never starts. EINVAL: there is no such job, or it is too late; named queues only. O(log n).
 */
int sched_withdraw(sched_t *s, int64_t now, sched_job_t job);

/* A waiting job's priority changes; without effect on a flat machine unless the order is by priority. A holder keeps its
 * reservation until a job without one has come before it (above). EINVAL: no such job, or it no longer waits; ENOMEM.
 * O(log n).
 */
int sched_prioritize(sched_t *s, int64_t now, sched_job_t job, int64_t priority);

/* The calls from here to sched_pass are for named queues; on another scheduler they fail with EINVAL. Those with an error
 * text fail with EINVAL or ENOENT for what does not exist or can't be, ENOMEM.
 */

/* A waiting job waits until it is released; a reservation is given back. EINVAL: it doesn't wait. */
int sched_hold(sched_t *s, int64_t now, sched_job_t job);
int sched_release(sched_t *s, int64_t now, sched_job_t job);

/* Another duration: of a waiting job, or of a running one, whose end is then its start plus that, now at the earliest.
 * Reservations that are in the way of a longer one move.
 */
int sched_set_duration(sched_t *s, int64_t now, sched_job_t job, int64_t duration,
                       berth_error_t *err);

/* A waiting job goes to another queue, with its time of submission. */
int sched_set_queue(sched_t *s, int64_t now, sched_job_t job, const char *queue,
                    berth_error_t *err);

/* Whether a queue takes new jobs (else they are rejected), and whether its waiting jobs may start. A drained queue takes
 * none and lets those that it has start; a stopped one neither.
 */
int sched_queue_set(sched_t *s, int64_t now, const char *queue, bool enabled, bool started,
                    berth_error_t *err);

/* Resources go down, are drained, or come up. */
int sched_set_status(sched_t *s, int64_t now, const char *resources, enum resource_status status,
                     berth_error_t *err);

/* A property of resources; value NULL: it is removed. */
int sched_set_property(sched_t *s, int64_t now, const char *resources, const char *key,
                       const char *value, berth_error_t *err);

/* More resources, a subgraph in JGF; and resources that are no more: jobs hold the rest of what they hold on. */
int sched_attach(sched_t *s, int64_t now, const char *jgf, size_t length, berth_error_t *err);
int sched_remove(sched_t *s, int64_t now, const char *resources, berth_error_t *err);

/* The running jobs that hold something of these resources: *n handles that belong to the core, valid until its next call.
 */
int sched_holders(sched_t *s, const char *resources, const sched_job_t **jobs, size_t *n,
                  berth_error_t *err);

/* A block is added, or the one of that name is changed or removed. Reservations that are in its way move. */
int sched_block(sched_t *s, int64_t now, const struct sched_block *block, berth_error_t *err);
int sched_unblock(sched_t *s, int64_t now, const char *name, berth_error_t *err);

/* A job as it was known to another scheduler: first all of them are restored, then events and passes go on. Of a job that
 * runs, has been promised resources, or is being preempted, R says which (format "rv1_nosched" or "jgf").
 */
struct sched_record {
    struct sched_request request; /* one member's: members is that of the whole array */
    uint32_t member;
    enum sched_state state;
    int64_t submitted;     /* when */
    int64_t at, until;     /* of a running or reserved job */
    const char *resources; /* of such a job: what it holds, in JGF */
    size_t resources_length;
    enum sched_how how;
    bool held;          /* by sched_hold or request.hold */
    const char *reason; /* of a waiting job: why, as last told; of a rejected one, why: as text */
    bool fresh;         /* no pass has looked at it since it came, was raised or was released */
    bool
        untold; /* the next pass tells why it waits, if that is not `reason`; without one it does anyway */
};

/* What sched_restore needs of a job, as it is after a pass; what pointers lead to belongs to the core and is valid until its next call. Jobs are
 * to be restored in the order of sched_first and sched_next. EINVAL: no such job; ENOMEM.
 */
int sched_record(sched_t *s, sched_job_t job, struct sched_record *record);

/* Restore a job. Returns its handle. EINVAL with a text: it can't be: what it holds is not there or not free, its queue is
 * no more; ENOMEM. A running job may be in the way of a reservation, if it was given more time since the
 * last pass: both are restored as they were, and the next pass moves the reservation.
 */
sched_job_t sched_restore(sched_t *s, int64_t now, const struct sched_record *record,
                          berth_error_t *err);

/* A job that has ended before, for those that depend on it: to be told before any of these is restored. EINVAL: a job of
 * this id and member is known; ENOMEM.
 */
int sched_restore_ended(sched_t *s, const char *id, uint32_t member, uint32_t members, bool ok);

/* What passes are put off by: when the last one was (-1: never), and how many events there were since. To be told when all
 * jobs are restored. EINVAL: a time before -1 or after `now`.
 */
int sched_passed(const sched_t *s, int64_t *passed, uint64_t *events);
int sched_restore_passed(sched_t *s, int64_t now, int64_t passed, uint64_t events);

/* Match policies that take what is found first (first, firstnodex, locality, ...) go by what was taken before. A text of
 * that, valid until the next call, and to take it up when all jobs are restored, on a machine that was made and changed
 * alike. EINVAL with a text: it is of another machine; ENOMEM.
 */
int sched_hints(sched_t *s, const char **text, size_t *length);
int sched_restore_hints(sched_t *s, const char *text, size_t length, berth_error_t *err);

/* All jobs, in the order of submission; -1: there is none (any more). O(1). */
sched_job_t sched_first(const sched_t *s);
sched_job_t sched_next(const sched_t *s, sched_job_t job);

/* What a user wants to know of a job. */
struct sched_annotation {
    enum sched_state state;
    uint64_t tag;
    const char *id, *queue, *user;
    uint32_t member, members;
    int64_t priority;
    int64_t submitted;
    int64_t
        start; /* of a running job; when a waiting one will start as far as can be said now; -1: unknown */
    int64_t until; /* of a running or reserved job, else -1 */
    struct sched_reason
        reason;         /* why it waits or is rejected; of kind SCHED_REASON_NONE for others */
    enum sched_how how; /* of a running job */
    const sched_job_t *
        holders; /* of a job that waits for resources: who holds such, in the order of their ends */
    size_t n_holders;
};

/* *annotation points to what belongs to the core and is valid until its next call. EINVAL: no such job; ENOMEM. For a job
 * without reservation the start is that of the earliest fit beside all that is booked: a match.
 */
int sched_annotate(sched_t *s, sched_job_t job, struct sched_annotation *annotation);

/* What a waiting job would ask for instead of what it asks for. */
struct sched_instead {
    const char *jobspec; /* of its text the resources and constraints count; NULL: its own */
    size_t jobspec_length;
    int64_t duration; /* ticks, at most its own; 0: its own */
};

/* How much could it ask for? The largest n from `least` to `most` with which it would start. */
struct sched_question {
    /* What it asks for with n; what `instead` points to is valid until the next call. It calls nothing of the scheduler's.
     * Returns 0, or -1 with errno.
     */
    int (*make)(void *context, int64_t n, struct sched_instead *instead);
    void *context;
    int64_t least, most;
    int64_t found; /* the answer; least - 1: none of them, or there is none */
};

/* What if a waiting job asked for less: would it start in a pass at `now`, at its place in the order, as if it had just come
 * back to it with that request? What a pass goes by counts: what runs, what is promised to others and who of these it goes
 * before, its queue (policy, depth, stopped), limits, blocks, and what else it waits for. That it might preempt others does
 * not.
 *
 * Nothing is changed, and no pass is run: all decisions to come are the same as without the question. Answers hold if nothing
 * has happened since the last pass and none is due. Then a job that is said to start does, unless it has a promise, and one before
 * it preempts others as soon as that promise is not in its way. One that isn't might all the same where a job before it in the
 * order would take its turn, because this one gives up its promise, which that one may be given instead, or because limits let
 * that one go on; where a promise to another leaves it room by choosing other resources or an earlier time; or where more than 1,024
 * promises to jobs behind it are in its way: then only some of its first times are known to be. Answers are found by halves: less
 * is taken to find room where more does, and to be let have it by limits.
 *
 * Returns 0, or -1 with a text: EINVAL (no such job waits, now is before the last call's, a duration is too long, a jobspec is
 * none or names a type that the machine has not), what `make` failed with, ENOMEM. Then the answers are undefined.
 *
 * O(log (most - least)) matches for each question; but for that, promises to jobs behind it which start while it would run, and
 * if it has one itself, the kinds of jobs (sched_pass) before it.
 */
int sched_what_if(sched_t *s, int64_t now, sched_job_t job, struct sched_question *questions,
                  size_t n, berth_error_t *err);

/* What a running or reserved job holds, by host, in the order of ranks, as R says it (RFC 20): hosts on which
 * cores or GPUs are told (named queues only). It belongs to the core and is valid until its next call.
 * EINVAL: it holds nothing, or a host has no rank; ENOMEM.
 */
struct sched_allocation {
    const struct resource_host *hosts;
    size_t n_hosts;
};

int sched_allocation(sched_t *s, sched_job_t job, struct sched_allocation *allocation);

/* All that such a job holds, as text: a short one for people, "node[0-1]/core[0-3]", or in one of
 * match_write's formats. *text belongs to the core and is valid until its next call.
 */
int sched_resources(sched_t *s, sched_job_t job, const char **text);
int sched_write(sched_t *s, sched_job_t job, const char *format, const char **text, size_t *length);

/* Counts of a queue's jobs by state (enum sched_state) now, and of what has been decided; what there is to be told is for
 * stats. ENOENT.
 */
struct sched_queue_stats {
    size_t now[SCHED_BLOCKED + 1];
    uint64_t submitted, started, finished, cancelled, rejected, preempted, reprioritized;
    bool enabled, started_up;
};
int sched_queue_stats(const sched_t *s, const char *queue, struct sched_queue_stats *stats);

/* Decide what can be decided at `now`. `more` says that further events of this very instant will follow, with a
 * pass after them. As long as no more jobs wait than may hold a reservation, such a pass starts none: each gets
 * its reservation, for `now` if it could start, and the closing pass, without `more`, starts them in queue
 * order. Otherwise it is a pass like any other, but after mere submissions it does nothing unless one of the new
 * jobs can get a reservation, goes before a holder, or needs no more units than would be free if the holders
 * whose time has come left theirs. The closing pass may be left out where sched_next_time is later than `now`.
 *
 * Decisions, in the order taken, belong to the core and are valid until the next pass, whatever else it is
 * told and asked meanwhile. With a min_interval, a pass before sched_next_time is put off: it decides
 * nothing.
 *
 * Returns 0, or -1 with EINVAL, or with ENOMEM: then the decisions taken before are returned and stand, and
 * another pass goes on.
 *
 * With s jobs started, r reservations made or moved and q waiting: O((s + r + 1) log q) and what the calendar
 * takes for each, as long as few waiting jobs lie between what is free and the next power of two units.
 *
 * With named queues, h reservations, k kinds (different requests and queues) that wait, and g different gaps that opened since
 * the last pass: O((h + k) g) to find out who may be concerned, and for each of these a search among the gaps of its part, as
 * many as there are different bookings, and a match, which looks at the machine's nodes, if there is one to be had. Policies
 * that compare slots on shared nodes, requests with alternatives and things outside of nodes need more matches.
 */
int sched_pass(sched_t *s, int64_t now, bool more, const struct sched_decision **decisions,
               size_t *n);

/* As sched_pass, looking at `budget` jobs at most. Returns 1 if there is more to do: called again at the same time, with
 * no event in between, it goes on where it was, and decides in all what one long pass would have. After an event, or
 * later, a pass begins anew.
 */
int sched_pass_some(sched_t *s, int64_t now, uint64_t budget,
                    const struct sched_decision **decisions, size_t *n);

/* The time at which the next pass is to be made, given what has happened and when the last one was;
 * INT64_MAX: none before something happens. Whoever makes a pass at each such time, and no other, misses
 * nothing. A pass made then is never put off, and right after a whole one (without `more`) the next is
 * due later.
 *
 * If something has happened since the last pass, the next is due at once; with a min_interval, so long
 * after that pass as long as fewer than max_events are gathered. Else, and before that, it is due when
 * time alone brings something: the earliest reservation's time; with named queues also when a job may
 * begin or be preempted, and, while jobs wait for resources, when a block begins or ends. After a pass
 * that failed with ENOMEM or was cut off it is due at once. "At once" is the time of the last call;
 * nothing is due before that.
 *
 * The pass is to be given this time even if it comes late: what a job holds is booked from its
 * reservation's time on.
 */
int64_t sched_next_time(const sched_t *s);

/* The last time at which time alone may let a job start: past it passes come to nothing for those that wait, for ever,
 * unless something happens. INT64_MAX while jobs run, have reservations or begin times, or an event waits for a pass. -1 with
 * ENOMEM. It is 0 where none that waits can ever start. With w jobs waiting: O(w), and a search for each different request.
 */
int64_t sched_last_time(sched_t *s);

/* A job's state, or -1 with EINVAL if there is no such job. */
int sched_state(const sched_t *s, sched_job_t job);

/* When a running job started or a reserved one will; -1 with EINVAL for any other. */
int64_t sched_start_time(const sched_t *s, sched_job_t job);

/* The cores that a running job was given: *n ranges, ascending, with gaps between them, that belong to the core and are
 * valid until its next call. Cores are numbered from 0 over the whole machine, those that are down too, in the order in
 * which a walk from the root that enters each vertex before its next sibling meets them. On a flat machine *n is 0.
 * Returns 0, or -1 with EINVAL (the job isn't running) or ENOMEM. O(cores of the job).
 */
int sched_cores(sched_t *s, sched_job_t job, const struct resource_range **ranges, size_t *n);

/* Numbers of waiting (reserved ones included) and of running jobs. */
size_t sched_waiting(const sched_t *s);
size_t sched_running(const sched_t *s);

/* True if the core's structures are in order and agree with each other. O(n log n). */
bool sched_check(const sched_t *s);

#ifdef __cplusplus
}
#endif

#endif
