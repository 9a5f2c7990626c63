/* A workload to simulate: the jobs that passed the filters, the machine's size, what was dropped and why.
 *
 * Readers and models fill one (swf.h, lublin.h); trace_clear frees it.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "report/schedule.h"

/* Why a job of the trace is not simulated, in the order in which a reader asks. */
enum trace_drop {
    TRACE_DROP_NO_RUN,    /* run time missing or zero: cancelled before it ran */
    TRACE_DROP_NO_PROCS,  /* neither requested nor allocated processors known */
    TRACE_DROP_TOO_BIG,   /* more processors than the machine has */
    TRACE_DROP_NO_SUBMIT, /* submit time missing (negative) */
    TRACE_DROP_COUNT
};

/* Who submitted a job, and where to: the numbers of the trace, negative where they are unknown. */
struct trace_who {
    int64_t user, group, queue, partition;
};

struct trace {
    struct schedule_job *jobs; /* in the order of the file, that of submissions at one instant */
    struct trace_who *who;     /* of jobs[i]; NULL: nobody asked for it */
    size_t n;
    int64_t procs; /* size of the machine */
    uint64_t dropped[TRACE_DROP_COUNT];
    uint64_t killed; /* jobs that ran past their estimate: they end there */
};

/* The word under which --json and tables count a reason, such as "too_big"; "" outside the enum. */
const char *trace_drop_name(enum trace_drop reason);

/* Make *order the jobs by their submission, equal ones in the order of the trace: an array for the caller to
 * free, or NULL if that is the trace's order. Returns 0, or -1 with ENOMEM.
 */
int trace_sort(const struct trace *trace, uint32_t **order);

/* Free the jobs and leave *trace empty. */
void trace_clear(struct trace *trace);

#endif
