/* Why a job waits, in a few sentences. Times are counted in SECONDS_TICKS. */
#ifndef REPORT_EXPLAIN_H
#define REPORT_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "berth/sched_query.h"
#include "report/would_start.h"

/* Resources that are down or drained, in words of the one who said so. */
struct not_up {
    const char *resources, *status, *reason; /* reason: NULL if there is none */
};

enum { NOT_UP_TOLD = 3 };

#define VICTIMS_TOLD 4 /* of the jobs that are stopped for one, by name */

struct victim {
    char id[48]; /* "17" or "17[3]" */
};

struct waiting {
    const struct sched_reason *reason;
    const char *user, *queue;
    const char *job;        /* by which name it is released, if it is held */
    enum sched_state state; /* WAITING, RESERVED, BLOCKED or REJECTED */
    int64_t start;          /* ticks from now; -1: unknown */
    bool expected;          /* it is reserved, but not promised */
    int64_t begin;          /* the same for its earliest allowed start */
    size_t holders;
    struct not_up not_up[NOT_UP_TOLD]; /* the first few, and how many there are */
    size_t n_not_up;
    bool may_come; /* there are nodes that have not come yet */
    const struct would_start *would_start;
    const struct victim
        *victims; /* that are stopped for it: the first few, and how many there are */
    size_t n_victims;
    int64_t killed; /* ticks from now until the last of them is killed */
};

void explain_waiting(struct strbuf *out, const struct waiting *w);

/* "It can never start: ..." of a reason that the core rejects jobs for. */
void explain_never(struct strbuf *out, const struct sched_reason *reason, const char *user,
                   const char *queue);

/* Append a time in ticks: "2d 3h", "5m 10s", the two largest parts. */
void explain_span(struct strbuf *out, int64_t us);

/* " killed in 20s if it has not ended by then." */
void explain_killed(struct strbuf *out, int64_t left, const char *they, const char *have);

/* "job 17[3]" of a reason, and "17[3]" of a job that the core knows. */
void explain_put_job(struct strbuf *out, const struct sched_reason_job *job);
void explain_put_id(struct strbuf *out, const struct sched_annotation *a);

#endif
