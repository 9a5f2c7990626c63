/* Why a job that the server knows waits, runs or has ended, in a few sentences. */
#ifndef SERVER_EXPLAIN_H
#define SERVER_EXPLAIN_H

#include "report/explain.h"
#include "server/core/job_text.h"

/* For whom a member is being stopped. */
struct stopping {
    bool is_stopping;
    bool is_preempted;
    int64_t id, member; /* of the job that waits for it; 0: none does; member -1: the only one */
    int64_t killed;     /* ticks from now */
    struct sched_reason
        why; /* why this one, and what is lost; of kind SCHED_REASON_PREEMPTED, else unknown */
};

/* A job that waits while starts are paused, and why they are. */
void explain_paused(struct strbuf *out, const char *hold);

/* A member that runs and is being stopped. */
void explain_stopping(struct strbuf *out, const struct stopping *stopping);

/* That a member without a limit is stopped for a block, in so many ticks. */
void explain_block(struct strbuf *out, const char *block, int64_t left);

/* A member that is starting, running or has ended, as of a wall time. `limited`: it is stopped at its time
 * limit.
 */
void explain_others(struct strbuf *out, const struct job_shown *j, int64_t wall);

/* The end of a sentence about an array that is over: why its members failed or were cancelled, or never started. */
void explain_whole(struct strbuf *out, const struct job_shown *j);

#endif
