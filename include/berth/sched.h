/* The scheduling core: jobs, a queue, and passes that decide who starts when.
 *
 * Draft of the parameters; the calls follow.
 */
#ifndef BERTH_SCHED_H
#define BERTH_SCHED_H

#include <stdint.h>

#include "berth/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SCHED_UNLIMITED INT64_MAX

/* The order of the queue; equal jobs keep the order in which they were submitted. */
enum sched_order {
    SCHED_ORDER_SUBMIT,   /* first submitted, first considered */
    SCHED_ORDER_SHORTEST, /* shortest duration first */
    SCHED_ORDER_PRIORITY  /* highest priority first */
};

struct sched_params {
    const char *policy;        /* "fcfs", "easy", "hybrid", "conservative" */
    int64_t reservation_depth; /* jobs that may hold a reservation; < 0: the policy's default */
    int64_t queue_depth;       /* waiting jobs a pass considers; <= 0: all */
    enum sched_order order;
};

#ifdef __cplusplus
}
#endif

#endif
