/* A generated workload: the model of Lublin and Feitelson, "The workload on parallel
 * supercomputers: modeling the characteristics of rigid jobs", J. Parallel Distrib. Comput. 63(11),
 * 2003.
 *
 * It is the model of all jobs together, with the paper's parameters, not its split into batch and
 * interactive jobs:
 *
 *   size       a job is serial with probability 0.244, its size is a power of two with 0.576, and free
 *              otherwise; the logarithm of a parallel size is uniform in two stages up to the machine's
 *
 *   run time   its natural logarithm is hyper-gamma, the share of the short part falling with the size; at
 *              most e^12 s, 45 h
 *
 *   arrivals   the logarithm of the gap is gamma, at most e^13 s, in a time that runs fast by day and slow by
 *              night: each half hour has the share of a gamma distribution over the day, which starts at
 *              midnight and peaks about 14:00
 *
 * Two things are added. How busy the model keeps a machine depends on the machine's size; so the
 * gaps of all jobs are scaled by one factor to an offered load of 0.8, which is their processor
 * seconds over those of the machine until the last arrival. And since the model has no estimates,
 * they are those of the f-model (Mu'alem and Feitelson, IEEE Trans. Parallel Distrib. Syst. 12(6),
 * 2001) with f = 3: uniform between the run time and four times as much, here rounded up to a whole
 * minute.
 */
#ifndef SIM_LUBLIN_H
#define SIM_LUBLIN_H

#include <stdint.h>

#include "berth/error.h"
#include "sim/trace.h"

#define LUBLIN_JOBS_MAX  INT64_C(100000000)
#define LUBLIN_PROCS_MAX INT64_C(1000000000)

struct lublin_options {
    int64_t jobs;  /* 1 to LUBLIN_JOBS_MAX */
    uint64_t seed; /* the same seed gives the same jobs on every machine (sim/rng.h) */
    int64_t procs; /* size of the machine, 1 to LUBLIN_PROCS_MAX */
};

/* Generate a workload into *trace, whose content is not freed; free it with trace_clear. Jobs are
 * numbered from 1 in the order of their submission, all of priority 0. Returns 0, or -1 with errno
 * and a text, *trace as it was: EINVAL for an option out of range, ENOMEM.
 */
int lublin_generate(const struct lublin_options *options, struct trace *trace, berth_error_t *err);

#endif
