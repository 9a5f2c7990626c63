/* Jobs and what each holds. */
#ifndef MATCH_JOB_H
#define MATCH_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HOLD_EXCLUSIVE = 1, /* has the vertex to itself */
    HOLD_COVERED = 2,   /* booked by the same job's having its parent to itself: not booked again */
    HOLD_UNITS = 4,     /* of a divisible pool: has some units */
    HOLD_TOLD = 8       /* told, and counted above, as if it had the vertex to itself */
};

/* A vertex that a job holds something of, itself or below. In the order in which the match told them: children first.
 */
struct hold {
    uint32_t vertex;
    uint32_t flags;
    int64_t needs;
    uint32_t
        counts; /* place in job.counts of what is booked in its filter, if that isn't COVERED */
    uint32_t n_counts;
};

struct job {
    int64_t id;
    int64_t at, end; /* holds during [at, end) */
    bool reserved;   /* a reservation, not an allocation */
    struct hold *hold;
    uint32_t n, capacity;
    int64_t *counts;
    uint32_t n_counts, counts_capacity;
};

/* All jobs, by number. */
struct jobs {
    struct job **slot; /* open addressing */
    uint32_t slots, n;
};

struct job *jobs_find(const struct jobs *t, int64_t id);

/* Add a job, whose id must be new. Returns 0, or -1 with ENOMEM. */
int jobs_add(struct jobs *t, struct job *job);
void jobs_remove(struct jobs *t, int64_t id);

struct job *job_new(int64_t id, int64_t at, int64_t end, bool reserved);
void job_destroy(struct job *job);

/* Add a hold with n counts, which may be NULL if n is 0. Returns 0, or -1 with ENOMEM. */
int job_hold(struct job *job, uint32_t vertex, uint32_t flags, int64_t needs, const int64_t *counts,
             uint32_t n);

void jobs_clear(struct jobs *t);

#endif
