/* A waiting job asks for something else, or is called otherwise: the same job, in the place that it has. */
#ifndef SERVER_CORE_REWRITE_H
#define SERVER_CORE_REWRITE_H

#include "server/core/state.h"

/* What of it changes: its name and what its members ask for; whom it waits for; what it is charged to; or how many of its
 * members may run at once, which is no matter of a job that has not begun.
 */
enum rewrite_what { REWRITE_ASKED, REWRITE_DEPENDENCY, REWRITE_ACCOUNT, REWRITE_AT_ONCE };

/* Why that of a job can't be changed as a whole; NULL: it can. */
const char *rewrite_hindrance(const struct job *job, enum rewrite_what what);

/* The job is as `by`, which was read of a request for it, and differs in nothing else. What changes otherwise
 * (queue, priority, hold, times) stays, and so do its environment and script. named: the name that it was submitted with, by
 * which singletons go. `by` is discarded. Returns 0, or -1 with a text:
 * EINVAL (the core does not take it so), ENOMEM; then nothing has changed.
 */
int job_rewrite(server_t *s, struct job *job, struct job *by, enum rewrite_what what,
                const char *named, berth_error_t *err);

#endif
