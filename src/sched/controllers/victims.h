/* Which running jobs a job preempts.
 *
 * Those that are being stopped already, for others, as their gang has failed or for a block, come for nothing, beside what others hold who wait for them. If they are not enough, as few
 * others as can be are told; of sets of so many that with which least work is lost; of these the one whose jobs have
 * run for the shortest time together, and then the last one in queue order. Work is what a job holds in cores times how
 * long it has run.
 *
 * This is exact for one, and for several as long as the sets to be compared are few (victim_sets.c): a set is tried by
 * a match. Else they are chosen by what they hold: those that hold most of what the job could use come first, until the
 * job fits; then each that is not needed is spared, the one with most work to lose first; and each that another one
 * with less work can stand in for, as far as amounts tell, is exchanged for that.
 */
#ifndef SCHED_VICTIMS_H
#define SCHED_VICTIMS_H

#include "sched/sched_priv.h"

struct class_turns;
struct lots;

struct victim {
    uint32_t slot;
    int64_t at; /* when it started */
    struct queue_key key;
    bool is_stopping; /* it has been told */
    bool is_taken;    /* its booking is out of the calendars, */
    bool is_aside;    /* and it is out of limits: by lots, or as others wait for its end, too */
    int64_t useful;   /* resources that it holds and the job could use */
    int64_t work;     /* ticks times cores; INT64_MAX: that or more */
};

struct preemption {
    sched_t *s;
    uint32_t slot; /* for whom */
    const struct place_ask *ask;
    int64_t (*choose)(struct preemption *h); /* what preemption_book does */
    struct class_turns *turns;               /* of who borrowed (rebalance.c) */
    struct lots *lots; /* who goes together (lots.h): limits make room as resources do; NULL */
    struct victim *victim;
    size_t n, cap;
    size_t tellable;    /* the first so many are not being stopped */
    bool is_refused;    /* with lots: limits have refused what there was room for */
    bool is_narrow;     /* the machine's choice is so by limits */
    int64_t sum;        /* of what those taken hold that is useful, where several are needed, */
    int64_t too_little; /* and a sum that was not enough */
};

/* Whether a running job is listed as one whose end others may wait for: it may be told to stop, or has been for
 * others, or where others are stopped at all as its gang has failed or for a block; or as others do wait for it, whatever
 * other rules say by now.
 */
bool is_listed_victim(const sched_t *s, uint32_t slot);

/* Whether a running job may be stopped since its queue is preemptible, or is being stopped: its gang can spare it, and its
 * preemptible-after is over, but for the second that each job has. O(1) for one of no gang, or of one that has no more than
 * its min; else O(members).
 */
bool is_spare(const sched_t *s, uint32_t slot);

/* List who is being stopped of those that run (queues.h), in a pass. Returns 0, or -1 with ENOMEM. O(1) where that is known,
 * as nobody has been told or is out of time since the last call; else O(running).
 */
int stopping_list(sched_t *s);

/* A pass begins: some may be out of time by now. A job runs, or has another limit; it runs no more. And whether those who are
 * listed are all that are being stopped, where that is known.
 */
void stopping_begin(sched_t *s);
void stopping_started(sched_t *s, uint32_t slot);
void stopping_left(sched_t *s, uint32_t slot);
bool stopping_check(const sched_t *s);

/* Whether a running job may be told to stop by now: it has not been told yet. */
bool may_be_told(const sched_t *s, uint32_t slot);

/* Cores that a running job holds times the ticks that it has run; INT64_MAX: that or more. */
int64_t work_of(const sched_t *s, const struct job *job);

/* List whom a job may preempt, and preemption_end frees that. Returns 0, or -1 with ENOMEM. O(victims log
 * victims).
 */
int preemption_begin(struct preemption *h, sched_t *s, uint32_t slot, const struct place_ask *ask);
void preemption_end(struct preemption *h);

/* Take what the job needs out of the calendars, and book it from now on. Returns the booking, or -1 with
 * EBUSY or ENOMEM and everything as it was. O(victims) matches, and at most 1,000 more.
 */
int64_t preemption_book(struct preemption *h);

/* Take what one holds out of the calendars. */
void preemption_take(struct preemption *h, struct victim *victim);

/* Put what one, or all, that were taken hold back into the calendars, whatever is booked there by now. */
void preemption_put_back(struct preemption *h, struct victim *victim);
void preemption_put_all_back(struct preemption *h);

/* Book it for now beside all that are not taken, and beside promises. Returns the booking, or -1 with EBUSY or ENOMEM. And
 * whether it fits so: 1, 0, or -1 with ENOMEM.
 */
int64_t preemption_try(struct preemption *h);
int preemption_fits(struct preemption *h);

/* Take the best set of two or more of those that are not being stopped, which are the first ones, in the order of
 * work. Returns 1, 0 if there are too many sets to be compared, or none is enough, or -1 with ENOMEM.
 */
int preemption_take_best(struct preemption *h);

/* Whether a running job may be preempted at some time; whether one may preempt such jobs; and from when on one may be
 * preempted: not in its first second, or one that starts might be stopped at the same instant, for good perhaps, without
 * having run.
 */
bool is_preemptible(const sched_t *s, const struct job *job);
bool may_preempt(const sched_t *s, const struct job *job);
int64_t preemptible_from(const sched_t *s, const struct job *job);

#endif
