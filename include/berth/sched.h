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
 * easy and conservative.
 *
 * A reservation is kept until its job starts; a submission never moves it. After ends, the next pass first
 * takes the reservations in queue order and moves each to its earliest time, given all the others. Where the
 * queue's order puts a job without a reservation before a holder, and the bound K is used up by holders that
 * can't start now, the last one gives way.
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

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sched sched_t;

/* A job's handle: never negative, never used for another job. */
typedef int64_t sched_job_t;

#define SCHED_UNLIMITED INT64_MAX

/* The order of the queue; equal jobs keep the order in which they were submitted. */
enum sched_order {
    SCHED_ORDER_SUBMIT,   /* first submitted, first considered */
    SCHED_ORDER_SHORTEST, /* shortest duration first */
    SCHED_ORDER_PRIORITY  /* highest priority first */
};

struct sched_params {
    const char *policy; /* "fcfs", "easy", "hybrid", "conservative" */

    /* Jobs that may hold a reservation; <= 0: the policy's default, 64 for hybrid, unlimited for conservative.
     * fcfs and easy have 0 and 1 whatever this says.
     */
    int64_t reservation_depth;

    /* Waiting jobs that a pass considers, the first in queue order; <= 0: all. Jobs that start make room for
     * those behind them in the same pass; a holder that is no longer among the first still starts in its time.
     */
    int64_t queue_depth;

    enum sched_order order;
};

struct sched_request {
    int64_t units;    /* >= 1; more than the machine has: the job is rejected */
    int64_t duration; /* ticks, >= 1: a job is expected to end by then */
    int64_t priority; /* higher goes first under SCHED_ORDER_PRIORITY */
    uint64_t tag;     /* the caller's own name for the job, handed back in decisions */
};

enum sched_state {
    SCHED_WAITING,  /* holds nothing */
    SCHED_RESERVED, /* waits and holds a reservation */
    SCHED_RUNNING,
    SCHED_REJECTED /* the next pass says so, and forgets it */
};

enum sched_decision_kind {
    SCHED_START,   /* start the job now */
    SCHED_RESERVE, /* the job will start at `at`, or earlier */
    SCHED_REJECT   /* the job can never start; its handle is no longer valid */
};

struct sched_decision {
    enum sched_decision_kind kind;
    sched_job_t job;
    uint64_t tag;
    int64_t at;         /* start or reserved time */
    const char *reason; /* of a rejection, else NULL; constant */
};

/* The names of the policies, ascending in their bound, ended by NULL. */
const char *const *sched_policies(void);

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

/* With named queues, priorities go from the negative of these up to them. */
#define SCHED_PRIORITY_MAX       INT64_C(10000000000000) /* of a job */
#define SCHED_QUEUE_PRIORITY_MAX INT64_C(100000)

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
    const char *policy;            /* "fcfs", "easy", "hybrid", "conservative"; NULL: fcfs */
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

/* The units that the machine has. */
int64_t sched_units(const sched_t *s);

/* NULL is fine; errno is kept. */
void sched_destroy(sched_t *s);

/* Times given to the calls below never go back and are at least 0 (EINVAL). */

/* A job is submitted. Returns its handle. EINVAL: units or duration < 1, or duration past the end of time; ENOMEM.
 * O(log n).
 */
sched_job_t sched_submit(sched_t *s, int64_t now, const struct sched_request *request);

/* A running job has ended and what it held is free. From its start plus its duration on a job counts as gone: the shell
 * ends it by then and says so before a pass at that time, or two jobs may hold the same units for a while.
 * EINVAL: it isn't running. O(log n).
 */
int sched_finish(sched_t *s, int64_t now, sched_job_t job);

/* A job is cancelled, in whatever state; it is forgotten, and what it held is free. The shell has stopped it
 * if it was running. For the next pass, that a running or reserved job is cancelled is an end. EINVAL: no such
 * job. O(log n).
 */
int sched_cancel(sched_t *s, int64_t now, sched_job_t job);

/* A waiting job's priority changes; without effect on the order unless that is by priority. A holder keeps its
 * reservation until a job without one has come before it (above). EINVAL: no such job, or it no longer waits; ENOMEM.
 * O(log n).
 */
int sched_prioritize(sched_t *s, int64_t now, sched_job_t job, int64_t priority);

/* Decide what can be decided at `now`. `more` says that further events of this very instant will follow, with a
 * pass after them. As long as no more jobs wait than may hold a reservation, such a pass starts none: each gets
 * its reservation, for `now` if it could start, and the closing pass, without `more`, starts them in queue
 * order. Otherwise it is a pass like any other, but after mere submissions it does nothing unless one of the new
 * jobs can get a reservation, goes before a holder, or needs no more units than would be free if the holders
 * whose time has come left theirs. The closing pass may be left out where sched_next_time is later than `now`.
 *
 * Decisions, in the order taken, belong to the core and are valid until its next call. Returns 0, or -1 with
 * EINVAL, or with ENOMEM: then the decisions taken before are returned and stand, and another pass goes on.
 *
 * With s jobs started, r reservations made or moved and q waiting: O((s + r + 1) log q) and what the calendar
 * takes for each, as long as few waiting jobs lie between what is free and the next power of two units.
 */
int sched_pass(sched_t *s, int64_t now, bool more, const struct sched_decision **decisions,
               size_t *n);

/* The time at which a pass is needed even if nothing happens: the earliest reservation's; INT64_MAX for none. The
 * pass is to be given this time even if it comes late: what a job holds is booked from its reservation's time on.
 */
int64_t sched_next_time(const sched_t *s);

/* A job's state, or -1 with EINVAL if there is no such job. */
int sched_state(const sched_t *s, sched_job_t job);

/* When a running job started or a reserved one will; -1 with EINVAL for any other. */
int64_t sched_start_time(const sched_t *s, sched_job_t job);

/* The ids from first to last. */
struct sched_range {
    uint32_t first;
    uint32_t last;
};

/* The cores that a running job was given: *n ranges, ascending, with gaps between them, that belong to the core and are
 * valid until its next call. Cores are numbered from 0 over the whole machine, those that are down too, in the order in
 * which a walk from the root that enters each vertex before its next sibling meets them. On a flat machine *n is 0.
 * Decisions stay valid.
 * Returns 0, or -1 with EINVAL (the job isn't running) or ENOMEM. O(cores of the job).
 */
int sched_allocation(sched_t *s, sched_job_t job, const struct sched_range **ranges, size_t *n);

/* Numbers of waiting (reserved ones included) and of running jobs. */
size_t sched_waiting(const sched_t *s);
size_t sched_running(const sched_t *s);

/* True if the core's structures are in order and agree with each other. O(n log n). */
bool sched_check(const sched_t *s);

#ifdef __cplusplus
}
#endif

#endif
