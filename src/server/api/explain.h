/* Why a job waits, runs or is no more, in a few sentences for people. */
#ifndef SERVER_EXPLAIN_H
#define SERVER_EXPLAIN_H

#include "server/api/would_start.h"
#include "server/core/job_text.h"

struct waiting {
    const struct sched_reason *reason;
    const char *hold; /* why nothing is started at present; NULL: it is */
    const char *user, *queue;
    int64_t job;
    enum sched_state state; /* WAITING, RESERVED, BLOCKED or REJECTED */
    int64_t start;          /* ticks from now on; -1: unknown */
    int64_t begin;          /* the same of the time that it is not to start before */
    size_t holders;
    const struct would_start *would_start;
};

void explain_waiting(struct strbuf *out, const struct waiting *w);

/* What runs, is about to, or has ended, at a wall time. `limited`: it is stopped at its limit. */
void explain_others(struct strbuf *out, const struct job_shown *j, bool limited, int64_t wall);

#endif
