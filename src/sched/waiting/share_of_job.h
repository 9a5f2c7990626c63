/* What the tree of shares (share/tree.h) is told of jobs.
 *
 * The tree counts a job while it is open, has a promise or runs. It is told when a job goes from one of these to another. An open job
 * counts with what it asks for at least, all members of an array together, of whatever role; the others count with what their
 * booking holds, as limits measure it, and each member of a gang in its workers. Members that wait behind the one of their array that is promised a time count as open, unless the array
 * has as many that hold something as it may. So an array counts the same, whichever of its members wait together.
 */
#ifndef SCHED_SHARE_OF_JOB_H
#define SCHED_SHARE_OF_JOB_H

#include "sched/sched_priv.h"
#include "share/tree.h"

/* So many members, and what they ask for or hold together. */
struct share_sum {
    uint64_t n;
    int64_t amount[SHARE_DIMENSIONS_MAX];
    int64_t units; /* the same in workers, of a queue with classes */
};

/* What is known of a job, by slot. */
struct share_of_job {
    uint32_t leaf;
    uint8_t state;    /* enum share_state: what the tree was told last, with this: */
    bool is_moved;    /* listed in `moved_jobs` */
    uint64_t members; /* of an open one those that wait; 1 */
    int64_t amount[SHARE_DIMENSIONS_MAX];
    int64_t units; /* the same in workers, of a queue with classes */
    struct share_sum
        rest; /* of members that wait behind a promise; n 0: the tree was told of none */
};

/* Have memory for a slot that gets a job; 0, or -1 with ENOMEM. And it gets a member of an entry, with what that
 * holds if it starts.
 */
int shares_reserve(sched_t *s, uint32_t slot);
void shares_part(sched_t *s, uint32_t slot, uint32_t part, bool starts);

/* How many members an open job counts as: those that wait, of a gang no fewer than start together. */
int64_t shares_members(const sched_t *s, uint32_t slot);

/* Workers that one of these asks for, of a queue with classes; where they are not alike, on average. */
int64_t shares_units_of_one(const sched_t *s, uint32_t slot);

/* Whether a job that is not running asks for members that are not alike. */
bool shares_are_mixed(const sched_t *s, uint32_t slot);

/* What of a job that is not running starts together. */
void shares_together(const sched_t *s, uint32_t slot, struct share_sum *sum);

/* A job is open, or is so with other members; is open no more. Nothing changes for one that holds something. */
void shares_opened(sched_t *s, uint32_t slot);
void shares_closed(sched_t *s, uint32_t slot);

/* As many of an entry's array hold something as may, or no longer. */
void shares_filled(sched_t *s, uint32_t slot);

/* With the machine has changed what jobs ask for. O(jobs) changes of the tree. */
void shares_measure_jobs(sched_t *s);

/* Of the gang that a job leads others wait with it than did. O(slots of the gang x roles). */
void shares_joined(sched_t *s, uint32_t slot);

/* It holds what a booking has, as a promise or running; runs, with what it was promised; holds nothing. */
void shares_hold(sched_t *s, uint32_t slot, int64_t booking, bool runs);
void shares_started(sched_t *s, uint32_t slot);
void shares_released(sched_t *s, uint32_t slot);

/* Whether the tree was told of a job as what it is. */
bool share_of_job_check(const sched_t *s, uint32_t slot);

#endif
