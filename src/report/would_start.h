/* How much less a waiting job would have to request to start now.
 *
 * Each resource type that occurs once in the request, as a single number, is lowered alone; the core says
 * whether the job would start so (sched_what_if).
 */
#ifndef REPORT_WOULD_START_H
#define REPORT_WOULD_START_H

#include <stdbool.h>
#include <stdint.h>

#include "berth/error.h"
#include "berth/sched.h"

/* The most with which it would start now, below its request; 0: lowering it does not help, or is
 * impossible.
 */
struct would_start {
    bool as_it_is;    /* it would start now unchanged; the rest is 0 */
    int64_t duration; /* ticks, whole seconds */
    int64_t cores; /* of all tasks: by fewer tasks or fewer cores per task, whichever leaves more */
    int64_t nodes;
    int64_t gpus;   /* of all tasks */
    int64_t memory; /* bytes */
};

/* handle: a waiting job; memory_unit: bytes of a unit of memory. Time is counted in SECONDS_TICKS. Returns 0, or -1 with a
 * text: EINVAL, ENOMEM. O(log n) matches for each type, by sched_what_if.
 */
int would_start_find(sched_t *sched, int64_t now, sched_job_t handle, int64_t memory_unit,
                     struct would_start *found, berth_error_t *err);

#endif
