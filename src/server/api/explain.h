/* Why a job that the server knows waits, runs or has ended, in a few sentences. */
#ifndef SERVER_EXPLAIN_H
#define SERVER_EXPLAIN_H

#include "report/explain.h"
#include "server/core/job_text.h"

struct call;

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

/* For whom a member that waits again was stopped, why this one, and what was lost: the end of what is said of it. */
void explain_preempted_before(struct strbuf *out, const struct sched_reason *why);

/* The same of member i of a job that waits, if its events say that it was preempted. Of many events only the first
 * API_EVENTS_MAX are looked at. O(events of the job).
 */
void explain_again(struct call *c, const struct job *job, uint32_t i, struct strbuf *text);

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
