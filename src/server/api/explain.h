/* Why a job waits, runs or has ended, in a few sentences. */
#ifndef SERVER_EXPLAIN_H
#define SERVER_EXPLAIN_H

#include "server/api/would_start.h"
#include "server/core/job_text.h"

#define VICTIMS_TOLD 4 /* of the jobs that are stopped for one, by name */

/* Resources that are down or drained, in words of the one who said so. */
struct not_up {
    const char *resources, *status, *reason; /* reason: NULL if there is none */
};

enum { NOT_UP_TOLD = 3 };

struct waiting {
    const struct sched_reason *reason;
    const char *hold; /* why no job is started at present; NULL: starts are not paused */
    const char *user, *queue;
    int64_t job;
    int64_t held_member;    /* it is held by itself; -1: its job is, or it is not held */
    enum sched_state state; /* WAITING, RESERVED, BLOCKED or REJECTED */
    int64_t start;          /* ticks from now; -1: unknown */
    bool expected;          /* it is reserved, but not promised */
    int64_t begin;          /* the same for its earliest allowed start */
    size_t holders;
    struct not_up not_up[NOT_UP_TOLD]; /* the first few, and how many there are */
    size_t n_not_up;
    const struct would_start *would_start;
    const struct victim
        *victims; /* that are stopped for it: the first few, and how many there are */
    size_t n_victims;
    int64_t killed; /* ticks from now until the last of them is killed */
};

/* For whom a member is being stopped. */
struct stopping {
    bool is_stopping;
    bool is_preempted;
    int64_t id, member; /* of the job that waits for it; 0: none does; member -1: the only one */
    int64_t killed;     /* ticks from now */
    struct sched_reason
        why; /* why this one, and what is lost; of kind SCHED_REASON_PREEMPTED, else unknown */
};

/* Append a time in ticks: "2d 3h", "5m 10s", the two largest parts. */
void explain_span(struct strbuf *out, int64_t us);

void explain_waiting(struct strbuf *out, const struct waiting *w);

/* A member that runs and is being stopped. */
void explain_stopping(struct strbuf *out, const struct stopping *stopping);

/* That a member without a limit is stopped for a block, in so many ticks. */
void explain_block(struct strbuf *out, const char *block, int64_t left);

/* A member that is starting, running or has ended, as of a wall time. `limited`: it is stopped at its time
 * limit.
 */
void explain_others(struct strbuf *out, const struct job_shown *j, int64_t wall);

#endif
