/* Waiting jobs of a lane that ask for the same, but for their durations: a kind.
 *
 * On a graph the numbers that `rooms` goes by are bounds: a job that they let through may still not fit. What is
 * learned of one then holds for others of its kind: if it didn't fit for its duration, none that lasts as long or longer
 * does, until something changes that a job of the kind could use (place_ops.stirs). Such jobs are asleep and cost
 * nothing.
 *
 * A lane's `fill` holds the kinds that have a job awake, each under the key of its first open job or an earlier one, with
 * a lower bound of the durations of its jobs.
 */
#ifndef SCHED_KIND_H
#define SCHED_KIND_H

#include "sched/sched_priv.h"

enum { KIND_LACKS = 3 };

struct kind {
    uint32_t class; /* of the place */
    uint32_t lane;
    uint64_t permits;
    int64_t units;
    uint32_t jobs; /* that know it; 0: the slot is free */
    uint32_t next; /* in the chain of the table, or free slot */
    struct queue *open;
    int64_t
        fails; /* no job of this duration or a longer one fits now; INT64_MAX: not known of any */
    struct place_note note; /* of the shortest */
    bool is_reserved;       /* `open` is kept though it is empty */
    bool in_fill;
    struct queue_key key; /* there */
    int64_t least;
    uint32_t candidate; /* of the walk: its job that is to be tried */

    /* What its jobs of durations from least to most lack, as found out in this telling of reasons (reason.c). */
    uint64_t telling;
    uint32_t n_lacks;
    struct kind_lacks {
        const char *type;
        int64_t least, most;
    } lacks[KIND_LACKS];
};

struct kinds {
    struct kind *v;
    uint32_t n, cap, free;
    uint32_t *chain; /* by hash; KIND_NONE ends it */
    uint32_t chains;
};

void kinds_clear(struct kinds *t);

/* The number of the kind of an ask in a lane; a kind that is new takes over nothing. -1 with ENOMEM. Each call is to be
 * followed by a kind_leave.
 */
int64_t kind_enter(struct kinds *t, const struct place_ask *ask, uint32_t lane);
void kind_leave(sched_t *s, struct kinds *t, uint32_t kind);

/* An open job enters and leaves its kind, and with it the lane's fill. kind_add returns 0, or -1 with ENOMEM. */
int kind_add(sched_t *s, uint32_t slot);

/* Have memory for kind_add of a job, also if one is removed from the kind before. Returns 0, or -1 with ENOMEM. */
int kind_reserve(sched_t *s, uint32_t slot);
void kind_remove(sched_t *s, uint32_t slot);

struct kind *kind_of(const sched_t *s, uint32_t slot);

/* True if it is known that a job does not fit now. */
bool kind_sleeps(const sched_t *s, uint32_t slot);

/* A job has been found not to fit now. */
void kind_failed(sched_t *s, uint32_t slot);

/* The machine has changed: units are those of now, and all kinds are awake in the next pass.
 */
void kinds_measure(sched_t *s);

/* Wake the kinds that what happened since the last call may have let fit, or all of them. */
void kinds_wake(sched_t *s, bool all);

/* The next job of a lane in queue order, after those that this walk has had, that may fit beside all reservations now;
 * JOB_NONE if there is none, or -1 through *failed with ENOMEM. kind_fill_begin starts the walk.
 */
void kind_fill_begin(struct lane *lane);
uint32_t kind_fill_next(sched_t *s, uint32_t lane, bool *failed);

/* The job that kind_fill_next gave has been looked at: on to the next of its kind. Returns 0, or -1 with ENOMEM. */
int kind_fill_done(sched_t *s, uint32_t lane, uint32_t slot);

bool kinds_check(const sched_t *s);

#endif
