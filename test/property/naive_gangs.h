/* Gangs in plain words: cores that are alike, jobs in order, nobody is promised a time. What the core does with
 * bundles, slots, kinds and lanes is a sum here.
 */
#ifndef NAIVE_GANGS_H
#define NAIVE_GANGS_H

#include <stdbool.h>
#include <stdint.h>

#include "berth/sched.h"

enum { NAIVE_JOBS = 40, NAIVE_MEMBERS = 8, NAIVE_ROLES = 3, NAIVE_ARRAYS = 2, NAIVE_BLOCKS = 3 };
enum { NAIVE_USERS = 2 };

/* Priority, then submission; where gangs count: then, or before all, who lacks its min, or is of no gang. Or that alone, among
 * users who have one job each.
 */
enum naive_by {
    NAIVE_BY_PRIORITY,
    NAIVE_BY_PRIORITY_GANG,
    NAIVE_BY_GANG_PRIORITY,
    NAIVE_BY_GANG,
    NAIVE_BYS
};

/* NAIVE_LEAVES: it is stopped for another job, and waits again then. NAIVE_CLEARS: it is stopped for a block. NAIVE_CANCELLED: by
 * its shell. NAIVE_STOPS: as its gang has failed.
 */
enum naive_state {
    NAIVE_WAITS,
    NAIVE_RUNS,
    NAIVE_LEAVES,
    NAIVE_CLEARS,
    NAIVE_CANCELLED,
    NAIVE_STOPS,
    NAIVE_DONE,
    NAIVE_FAILED
};

/* Members from `first` on, each of which asks for so many cores. */
struct naive_role {
    int first, members, min, cores;
};

struct naive_job {
    int priority, members;
    int user;
    bool is_gang;
    int array; /* of gangs, from 1 on; 0: it is of none */
    int roles;
    struct naive_role role[NAIVE_ROLES];
    enum sched_gang_failure failure;
    int64_t estimate, limit; /* of each member; INT64_MAX: nobody knows, and it has none */
    int replaced; /* how often a member that ran has waited again, as it failed or was requeued */
    bool is_over; /* a member has failed, or too few are left */
    enum naive_state state[NAIVE_MEMBERS];
    bool held[NAIVE_MEMBERS];
    int64_t begin[NAIVE_MEMBERS];   /* it starts no earlier */
    uint32_t on[NAIVE_MEMBERS];     /* the cores that it holds, as bits */
    bool is_awaited[NAIVE_MEMBERS]; /* it is being stopped, and others wait for that */
    int64_t start[NAIVE_MEMBERS];
    int64_t stays;           /* for how long nobody stops it after its start, a tick at least */
    int awaits[NAIVE_ROLES]; /* of those that wait so many start once others have left, */
    uint32_t awaited;        /* on these cores */
};

/* Cores that are set aside during [start, start + duration), and again each `every` (0: never), but for these jobs, as bits. */
struct naive_block {
    uint32_t cores; /* 0: there is no such block */
    int64_t start, duration, every;
    uint64_t jobs;
};

/* What some jobs may have at once; 0: as much as there is. */
struct naive_most {
    int running, cores; /* members that run, and what they hold */
};

struct naive_gangs {
    int cores;
    uint32_t down; /* of these, or drained */
    struct naive_block block[NAIVE_BLOCKS];
    bool in_order;                           /* nobody starts before one that waits for cores */
    enum naive_by by;                        /* which job goes first */
    struct naive_most user_most, queue_most; /* of each user, and of all together */
    int at_once[NAIVE_ARRAYS + 1];           /* gangs of an array that run at a time */
    bool preempts;    /* jobs of lower priority are stopped for those that lack cores, */
    bool keeps_gangs; /* but no gang as a whole */
    int64_t now;
    struct naive_job job[NAIVE_JOBS]; /* in the order of submission */
    int jobs;
    /* Members that were stopped for jobs that limits keep, and how often these needed only those that were being stopped: */
    uint64_t stopped_for_limits, awaited_for_limits;
};

/* A running member fails, or would. Returns whether it is to wait again instead. */
bool naive_gangs_replaces(const struct naive_gangs *m, int job);
void naive_gangs_failed(struct naive_gangs *m, int job, int member);

/* What a pass does: those start for whom others were stopped, who have left by now; members that a block is in the way of are
 * stopped (NAIVE_CLEARS); members of gangs that are over are stopped (NAIVE_STOPS) or gone (NAIVE_FAILED), as are those that can
 * never start; others run or are stopped for them (NAIVE_LEAVES).
 */
void naive_gangs_pass(struct naive_gangs *m);

/* The cores that nobody has, nor is to have. */
uint32_t naive_gangs_free(const struct naive_gangs *m);

/* The cores that are up, and that no block takes from a job before it is over, if it starts now (naive_gang_blocks.c). */
uint32_t naive_gangs_clear(const struct naive_gangs *m, const struct naive_job *j);

/* Whether a user and the queue may have so many members of a job's roles more, with some members of each job gone (as bits; NULL:
 * none are), and whether they may if they have nothing else (naive_gang_limits.c).
 */
bool naive_gangs_within(const struct naive_gangs *m, const struct naive_job *j,
                        const int members[NAIVE_ROLES], const uint32_t gone[NAIVE_JOBS]);
bool naive_gangs_alone(const struct naive_gangs *m, const struct naive_job *j,
                       const int members[NAIVE_ROLES]);

/* Whether so many cores are clear for a job at some time from now on, were all idle, and but for blocks that come once. */
bool naive_gangs_ever(const struct naive_gangs *m, const struct naive_job *j, int cores);

/* Members are stopped that have no limit, whose estimate is over, and which hold what a block takes now. */
void naive_gangs_clear_blocks(struct naive_gangs *m);

/* The `n` lowest of some cores. */
uint32_t naive_gangs_lowest(uint32_t cores, int n);

/* Stop others so that so many members of a job's roles have room and are within limits, or (`may_stop` is false) wait for what
 * those leave who are stopped for others (naive_victims.c). Returns the cores that they have then, or 0 and nobody is stopped.
 */
uint32_t naive_gangs_preempt(struct naive_gangs *m, int job, const int members[NAIVE_ROLES],
                             bool may_stop);

/* The cores of so many members of a job's roles. */
int naive_gangs_cores(const struct naive_job *j, const int members[NAIVE_ROLES]);

/* How many members of a role are in a state, and how many hold cores. */
int naive_gangs_count(const struct naive_job *j, const struct naive_role *r,
                      enum naive_state state);
int naive_gangs_holding(const struct naive_job *j, const struct naive_role *r);

#endif
