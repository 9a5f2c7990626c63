/* Groups of jobs: waiting jobs of one lane that ask for the same, but for their durations. What is learned of them
 * is learned of all jobs of their kind, in whatever lane (job_kind.h).
 *
 * As finder (finder.h): a lane's `fill` holds its groups that have an open job, each under the key of the first of
 * these, with the least of their durations.
 *
 * Where users take turns (waiting/shares.h), the open jobs of a group are also listed by leaf: a *part* of a group
 * has those of one line.
 *
 * Why a group is not the same as a kind: those of one kind may wait in several lanes, each of which a walk goes
 * through in its own way.
 */
#ifndef SCHED_JOB_GROUP_H
#define SCHED_JOB_GROUP_H

#include "sched/waiting/job_kind.h"

/* Whose jobs are stopped to make room: those of preemptible queues, on workers that a class has borrowed, or of less
 * priority or a larger share than is deserved.
 */
enum room_way { ROOM_BY_PREEMPTION, ROOM_BY_REBALANCING, ROOM_BY_RECLAIM, ROOM_WAYS };

struct job_group {
    uint32_t class; /* of the place */
    uint32_t lane, line;
    uint64_t permits;
    int64_t units;
    uint32_t jobs; /* that know it, and parts; 0: the slot is free */
    uint32_t next; /* in the chain of the table, or free slot */
    struct queue *open;
    uint32_t before; /* in the list that job_group_near.beside goes through */

    /* Of a group alone, no part: */
    uint32_t kind;
    struct {
        int64_t from;       /* room can't be made for a job of this duration or a longer one, */
        int64_t limit;      /* whose limit is this or a longer one (vain.c), */
        struct tried tried; /* as of then, */
        int64_t priority;   /* by reclaim, nor for one of less priority */
    } vain[ROOM_WAYS];
    int64_t least_limit; /* no open job has a shorter one */
    bool any_unlimited;  /* else each open job has one */
    bool is_reserved;    /* `open` is kept though it is empty */
    bool in_fill;
    struct queue_key key; /* there, */
    int64_t least;        /* with this duration */
    uint32_t candidate;   /* of the walk: its job that is to be tried */
};

/* What a walk asks of all parts of a line: apart from the rest of them, so that what it reads is little. */
struct job_group_near {
    int64_t shortest; /* duration of its open jobs; INT64_MAX: there are none */
    uint32_t whole;   /* of a part: its group; else itself */

    /* In the list of a line's parts that have open jobs; of groups, of those of a kind. JOB_GROUP_NONE ends it. */
    uint32_t beside;
};

struct job_groups {
    struct job_group *v;
    struct job_group_near *near; /* of each */
    uint32_t n, cap, free;
    uint32_t *chain; /* by hash; JOB_GROUP_NONE ends it */
    uint32_t chains;
    struct job_kinds kinds;
};

void job_groups_clear(struct job_groups *t);

/* The number of the group of an ask in a lane, or of its part of a line other than 0; a group that is new takes over
 * nothing. -1 with ENOMEM. Each call is to be followed by a job_group_leave.
 */
int64_t job_group_enter(sched_t *s, const struct place_ask *ask, uint32_t lane, uint32_t line);
void job_group_leave(struct job_groups *t, uint32_t group);

/* A job's group: the whole. And its kind. */
struct job_group *job_group_of(const sched_t *s, uint32_t slot);
struct job_kind *job_kind_of(const sched_t *s, uint32_t slot);

/* ---- vain.c ---- */

/* Whether room can't be made for a job (controller.h) in a way; and that was found out of one in the walk of a pass.
 * `by_limit`: it might have been in the way of a promise if it took its whole limit, and so one with a shorter limit
 * may find room.
 */
bool job_group_is_vain(const sched_t *s, uint32_t slot, enum room_way way);
void job_group_in_vain(const sched_t *s, uint32_t slot, enum room_way way, bool by_limit);

/* How long a job of a group could last that room may be made for; 0: there is none. `in_turn`: for one whose turn it is now;
 * else at any time in the walk, whatever shares give by then. O(1), or in turn as reach_is_nothing.
 */
int64_t job_group_made_within(sched_t *s, const struct lane *lane, const struct job_group *g,
                              bool in_turn);

/* Whether what all leave who are being stopped is too little for an open job, whatever shares, its lane or its limits are; and
 * that was found out of one in the walk of a pass.
 */
bool job_kind_is_left_little(const sched_t *s, uint32_t slot);
void job_kind_left_little(const sched_t *s, uint32_t slot);

/* A job is open, or has another limit. */
void job_group_note_limit(const sched_t *s, uint32_t slot);

/* The machine has changed: units are those of now, and all kinds are awake in the next pass.
 */
void job_groups_measure(sched_t *s);

#endif
