/* With how much less a waiting job would start now.
 *
 * Each kind of thing that it asks for in one place of its request, by a single number, is lowered there
 * alone; the core says whether it would start so (sched_what_if).
 */
#ifndef SERVER_WOULD_START_H
#define SERVER_WOULD_START_H

#include "server/core/priv.h"

/* The most with which it would start now, below what it asks for; 0: nothing would help, or it can't ask
 * for less.
 */
struct would_start {
    bool as_it_is;    /* it would start now anyway; the rest is 0 */
    int64_t duration; /* ticks, whole seconds */
    int64_t
        cores; /* of all tasks: fewer tasks of a node, or fewer cores a task, whichever gives it more */
    int64_t nodes;
    int64_t gpus;   /* of all tasks */
    int64_t memory; /* bytes */
};

/* handle: of a job that waits. Returns 0, or -1 with a text: EINVAL, ENOMEM. */
int would_start_find(server_t *s, sched_job_t handle, struct would_start *found,
                     berth_error_t *err);

#endif
