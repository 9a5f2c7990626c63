/* Replay of a workload in virtual time under one policy. */
#ifndef SIM_SIMULATE_H
#define SIM_SIMULATE_H

#include <stdint.h>

#include "berth/error.h"
#include "berth/match.h"
#include "berth/sched.h"
#include "config/config.h"
#include "report/alloc.h"
#include "report/schedule.h"
#include "report/sharing.h"
#include "sim/trace.h"

/* What happens when several events fall on one instant. */
enum simulate_events {
    SIMULATE_BATCHED, /* all ends, then all submissions, then one pass */
    SIMULATE_PER_EVENT /* submissions, then ends, a pass after each: the classical simulators' order */
};

struct simulate_options {
    struct sched_params sched; /* policy, depths, order */
    enum simulate_events events;
    /* Whose cores are the processors, so that jobs get named ones; NULL: they are interchangeable. No job
     * holds anything of it, and it is borrowed.
     */
    match_t *machine;
    /* Queues and policies over that machine, and how its jobs are mapped to them, read with ticks of a
     * second; `sched` and `events` are not looked at then. NULL: there are no queues.
     */
    const struct config *config;
    struct alloc *alloc; /* with a machine: which job got which cores, added; NULL: never mind */
    /* With a configuration: what its shares come to, if it has some, is added; NULL: never mind. */
    struct sharing *sharing;
    /* Called every few thousand jobs with how many of the n have ended; NULL for none. */
    void (*progress)(void *arg, size_t done, size_t n);
    void *progress_arg;
};

struct simulate_stats {
    uint64_t passes;      /* scheduling passes run */
    uint64_t preemptions; /* jobs stopped for others */
    double lost;          /* processor seconds that these had run: work to be done again, or lost */
    struct schedule_pilots pilots; /* of a configuration with a rule for pilots */
};

/* The processors that a machine makes: its cores that are up. -1 with EINVAL (there are none, or they
 * can't be given one by one) or ENOMEM.
 */
int64_t simulate_procs(match_t *machine, berth_error_t *err);

/* Run the workload to its end and write when each job started into start[0 .. trace->n), SCHEDULE_NEVER
 * for a job that was rejected, never could start, or was stopped for another for good. A job ends run
 * seconds after its start; one that was stopped and waits again runs from its beginning. Returns 0, or -1
 * with errno and a text: EINVAL for options or jobs out of range, ENOMEM.
 */
int simulate(const struct trace *trace, const struct simulate_options *options, int64_t *start,
             struct simulate_stats *stats, berth_error_t *err);

#endif
