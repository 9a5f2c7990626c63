/* Groups of jobs: waiting jobs of one lane that ask for the same, but for their durations.
 *
 * On a graph the numbers that `rooms` goes by are bounds: a job that they let through may still not fit.
 * What is learned of one job then holds for others of its group: if it does not fit for its duration, none
 * that lasts as long or longer does, until something is freed that the group could use (place_ops.is_short,
 * place_ops.betters). Until then these jobs are asleep and cost nothing.
 *
 * As finder (finder.h): a lane's `fill` holds the groups that have a job awake, each under the key of its
 * first open job or an earlier one, with a lower bound of the durations of its jobs.
 *
 * Where users take turns (waiting/shares.h), the open jobs of a group are also listed by leaf: a *part* of a group
 * has those of one line. What is learned of requests is learned of the group, for all of them.
 *
 * Why a group is not the same as a class (place/graph/class.c): a class is a request in a part of the
 * machine, and knows nothing of jobs. Those of one class may wait in several lanes, each of which a walk goes
 * through in its own way, and may differ in the blocks that they may use, so that one fits where another does
 * not. And requests are asked about that no job makes (pass/what_if.c).
 */
#ifndef SCHED_JOB_GROUP_H
#define SCHED_JOB_GROUP_H

#include "sched/sched_priv.h"

/* Whose jobs are stopped to make room: those of preemptible queues, or on workers that a class has borrowed. */
enum room_way { ROOM_BY_PREEMPTION, ROOM_BY_REBALANCING, ROOM_WAYS };

struct job_group {
    uint32_t class; /* of the place */
    uint32_t lane, line;
    uint64_t permits;
    int64_t units;
    uint32_t jobs; /* that know it, and parts; 0: the slot is free */
    uint32_t next; /* in the chain of the table, or free slot */
    struct queue *open;
    uint32_t whole; /* of a part: its group, which alone has what is below `beside`; else itself */

    /* In the list of a line's parts that have open jobs; of groups, in the list of all. JOB_GROUP_NONE: ends it. */
    uint32_t before, beside;
    int64_t
        fails; /* no job of this duration or a longer one fits now; INT64_MAX: not known of any */
    struct place_note note; /* of the shortest */
    struct {
        int64_t from;       /* room can't be made for a job of this duration or a longer one, */
        struct tried tried; /* as of then */
    } vain[ROOM_WAYS];
    bool is_reserved; /* `open` is kept though it is empty */
    bool in_fill;
    struct queue_key key; /* there */
    int64_t least;
    uint32_t candidate; /* of the walk: its job that is to be tried */

    /* What its jobs of durations from least to most lack, as found out in this telling of reasons
     * (reason.c).
     */
    uint64_t telling;
    int64_t fits_aside,
        lacks_aside; /* the longest that there is room for but for blocks, the shortest not */
    uint32_t n_lacks;
    struct job_group_lacks {
        const char *type;
        int64_t least, most;
    } lacks[JOB_GROUP_LACKS];
};

struct job_groups {
    struct job_group *v;
    uint32_t n, cap, free;
    uint32_t *chain; /* by hash; JOB_GROUP_NONE ends it */
    uint32_t chains;
    uint32_t first; /* in the list of groups; not valid while n is 0 */
};

void job_groups_clear(struct job_groups *t);

/* The number of the group of an ask in a lane, or of its part of a line other than 0; a group that is new takes over
 * nothing. -1 with ENOMEM. Each call is to be followed by a job_group_leave.
 */
int64_t job_group_enter(struct job_groups *t, const struct place_ask *ask, uint32_t lane,
                        uint32_t line);
void job_group_leave(sched_t *s, struct job_groups *t, uint32_t group);

/* A job's group: the whole. */
struct job_group *job_group_of(const sched_t *s, uint32_t slot);

/* Whether room can't be made for a job (controller.h) in a way; and that was found out of one in the walk of a pass.
 */
bool job_group_is_vain(const sched_t *s, uint32_t slot, enum room_way way);
void job_group_in_vain(const sched_t *s, uint32_t slot, enum room_way way);

/* The machine has changed: units are those of now, and all groups are awake in the next pass.
 */
void job_groups_measure(sched_t *s);

#endif
