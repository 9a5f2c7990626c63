/* Replay of a workload in virtual time under one policy. */
#ifndef SIM_SIMULATE_H
#define SIM_SIMULATE_H

#include <stdint.h>

#include "berth/error.h"
#include "berth/sched.h"
#include "sim/trace.h"

/* What happens when several events fall on one instant. */
enum simulate_events {
    SIMULATE_BATCHED, /* all ends, then all submissions, then one pass */
    SIMULATE_PER_EVENT /* submissions, then ends, a pass after each: the classical simulators' order */
};

struct simulate_options {
    struct sched_params sched; /* policy, depths, order */
    enum simulate_events events;
    /* Called every few thousand jobs with how many of the n have ended; NULL for none. */
    void (*progress)(void *arg, size_t done, size_t n);
    void *progress_arg;
};

struct simulate_stats {
    uint64_t passes; /* scheduling passes run */
};

/* Run the workload to its end and write when each job started into start[0 .. trace->n), SCHEDULE_NEVER
 * for a job that was rejected. A job ends run seconds after its start. Returns 0, or -1 with errno and a
 * text: EINVAL for options or jobs out of range, ENOMEM.
 */
int simulate(const struct trace *trace, const struct simulate_options *options, int64_t *start,
             struct simulate_stats *stats, berth_error_t *err);

#endif
