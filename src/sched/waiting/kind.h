/* Waiting jobs of a lane that ask for the same, but for their durations: a kind.
 *
 * On a graph the numbers that `rooms` goes by are bounds: a job that they let through may still not fit.
 * What is learned of one then holds for others of its kind: if it didn't fit for its duration, none that
 * lasts as long or longer does, until something changes that a job of the kind could use
 * (place_ops.betters). Such jobs are asleep and cost nothing.
 *
 * As finder (finder.h): a lane's `fill` holds the kinds that have a job awake, each under the key of its
 * first open job or an earlier one, with a lower bound of the durations of its jobs.
 */
#ifndef SCHED_KIND_H
#define SCHED_KIND_H

#include "sched/sched_priv.h"

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

    /* What its jobs of durations from least to most lack, as found out in this telling of reasons
     * (reason.c).
     */
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

/* The number of the kind of an ask in a lane; a kind that is new takes over nothing. -1 with ENOMEM. Each
 * call is to be followed by a kind_leave.
 */
int64_t kind_enter(struct kinds *t, const struct place_ask *ask, uint32_t lane);
void kind_leave(sched_t *s, struct kinds *t, uint32_t kind);

struct kind *kind_of(const sched_t *s, uint32_t slot);

/* The machine has changed: units are those of now, and all kinds are awake in the next pass.
 */
void kinds_measure(sched_t *s);

#endif
