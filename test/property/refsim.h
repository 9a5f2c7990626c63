/* The reference simulator: what the three classical policies mean, event order by event order.
 *
 * Written after oracle/refsim.py of the recorded results, with its lists and its loops: the
 * queue is a list, what is free under conservative a list of steps.
 */
#ifndef PROPERTY_REFSIM_H
#define PROPERTY_REFSIM_H

#include <stdbool.h>
#include <stdint.h>

#include "report/schedule.h"

enum refsim_policy { REFSIM_FCFS, REFSIM_EASY, REFSIM_CONS };

#define REFSIM_JOBS_MAX 256

/* Simulate up to REFSIM_JOBS_MAX jobs, none larger than the machine, and write when each
 * started.
 */
void refsim(const struct schedule_job *jobs, int n, int64_t procs, enum refsim_policy policy,
            bool batched, int64_t *start);

#endif
