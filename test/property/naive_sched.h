/* The scheduling core spelled out: what berth/sched.h says, with no index and no cleverness.
 *
 * Jobs stand in one array in the order of their submission and are named by their place in it;
 * what is free is an array with the load of every single tick. Every pass looks at every job.
 */
#ifndef PROPERTY_NAIVE_SCHED_H
#define PROPERTY_NAIVE_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/sched.h"

#define NAIVE_GONE (-1) /* beside enum sched_state: ended, cancelled or rejected */

struct naive_job {
    int64_t units, duration, priority;
    int64_t at; /* reserved or started */
    int state;
    bool news;
    bool placed;
    /* looked at before the holders behind it, in this pass */ /* submitted since the last pass */
};

struct naive {
    int64_t units, bound, queue_depth;
    enum sched_order order;
    bool ended; /* since the last pass: a job that held something has given it back */
    bool woken; /* since the last pass: something else than a submission */

    struct naive_job *jobs;
    size_t n, cap;

    int64_t *load; /* units taken at each tick; none beyond */
    size_t ticks;

    struct sched_decision *decisions; /* tag is the job's place; handles stay 0 */
    size_t n_decisions, cap_decisions;
};

/* A scheduler that lets `bound` jobs hold a reservation. */
struct naive naive_make(int64_t units, int64_t bound, int64_t queue_depth, enum sched_order order);
void naive_clear(struct naive *s);

/* The events. A job is its place in `jobs`; submit returns it. */
size_t naive_submit(struct naive *s, const struct sched_request *request);
void naive_finish(struct naive *s, int64_t now, size_t job);
void naive_cancel(struct naive *s, int64_t now, size_t job);
void naive_prioritize(struct naive *s, int64_t now, size_t job, int64_t priority);

/* A pass, which leaves its decisions in s->decisions. */
void naive_pass(struct naive *s, int64_t now, bool more);

bool naive_waits(const struct naive *s, size_t job);

/* Whether job a goes before job b in the queue. */
bool naive_before(const struct naive *s, size_t a, size_t b);

/* `now` if something has happened since the last pass, or the earliest reservation's time; INT64_MAX for
 * none.
 */
int64_t naive_next_time(const struct naive *s, int64_t now);
size_t naive_count(const struct naive *s, int state);

#endif
