/* Kinds: what waiting jobs ask for, but for their durations and whatever lane they wait in.
 *
 * On a graph the numbers that `rooms` goes by are bounds: a job that they let through may still not fit. So it is counted
 * for how long a kind has room before one of its jobs is looked at. What is learned of a job that does not fit all the same
 * holds for all of its kind: if it does not fit for its duration, none that lasts as long or longer does, until something
 * is freed that the kind could use (place_ops.is_short, place_ops.betters). Until then these jobs are asleep and cost
 * nothing.
 *
 * Why a kind is not the same as a class (place/graph/class.c): a class knows nothing of jobs, and requests are asked
 * about that no job makes (pass/what_if.c). And jobs of one class may differ in the blocks that they may use, so that
 * one fits where another does not.
 */
#ifndef SCHED_JOB_KIND_H
#define SCHED_JOB_KIND_H

#include "sched/sched_priv.h"

struct job_kind {
    uint32_t class; /* of the place */
    uint32_t part;
    uint64_t permits;
    uint32_t apart; /* 0: of all lanes but some; else of one, the lane + 1 */
    int64_t units;
    uint32_t groups; /* that are of it; 0: the slot is free */
    uint32_t first;  /* of these */
    uint32_t next;   /* of the class, or free slot */

    int64_t
        fails; /* no job of this duration or a longer one fits now; INT64_MAX: not known of any */
    uint64_t counted_as_of; /* of which bookings it was counted for how long there is room, */
    int64_t counted;        /* up to this long */
    struct place_note note; /* of the shortest */
    int64_t least;          /* no open job lasts less; INT64_MAX: there is none */
    bool is_less;           /* it may be that all last longer */

    /* What is left by all who are being stopped is too little for jobs of this duration or a longer one (vain.c), */
    int64_t leaves_little;
    struct tried leaves_tried; /* as of then, */
    uint64_t leaves_lists;     /* and of who they were: queues.stopping_lists */

    /* What its jobs of durations from least to most lack, as found out in this telling of reasons
     * (reason.c).
     */
    uint64_t telling;
    int64_t fits_aside,
        lacks_aside; /* the longest that there is room for but for blocks, the shortest not */
    uint32_t n_lacks;
    struct job_kind_lacks {
        const char *type;
        int64_t least, most;
    } lacks[JOB_KIND_LACKS];
};

#define JOB_KIND_NONE UINT32_MAX

struct job_kinds {
    struct job_kind *v;
    uint32_t n, free;
    size_t cap;
    uint32_t *of_class; /* the first kind of a class, at list_of; JOB_KIND_NONE: there is none */
    uint32_t classes;
};

void job_kinds_clear(struct job_kinds *t);

/* The number of an ask's kind, of lanes that learn `apart` or together, which is of one group more; -1 with ENOMEM. And it
 * is of one less.
 */
int64_t job_kind_enter(struct job_kinds *t, const struct place_ask *ask, uint32_t apart);
void job_kind_leave(struct job_kinds *t, uint32_t kind);

/* A job of a duration is open; is open no more. */
void job_kind_opened(struct job_kind *k, int64_t duration);
void job_kind_closed(struct job_kind *k, int64_t duration);

/* Whether some job of a kind that sleeps may fit now, as far as counts say; else none that lasts as long as the
 * shortest does. `least` is right.
 */
static inline void job_kind_wake(struct job_kind *k)
{
    k->fails = INT64_MAX;
    k->counted_as_of = UINT64_MAX;
}

bool job_kind_may_fit(sched_t *s, struct job_kind *k);

/* Learn from counts for how long a kind has room now, within so long, so that no job is looked at that lasts longer.
 * `within` is as long as the shortest lasts, or longer. O(1) while nothing else is booked, else O(gaps over now).
 */
void job_kind_count(sched_t *s, struct job_kind *k, int64_t within);

#endif
