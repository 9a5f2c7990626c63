/* The content of a report: one workload, the settings that affect its numbers, and for each policy a
 * schedule with its metrics. The table, the JSON and the picture are three views of it.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "report/metrics.h"
#include "report/schedule.h"

struct report_count {
    const char *name; /* a reason, such as "too_big" */
    uint64_t count;
};

struct report {
    const char *trace; /* where the workload came from; valid UTF-8 without control characters */
    int64_t procs;     /* size of the machine */
    size_t jobs;       /* jobs of the workload */
    int64_t tau;       /* bounded slowdown's threshold */
    const char *events, *order, *estimates; /* the words of the command line */
    /* where its cores come from, as valid a text as the trace's; NULL: they have no names */
    const char *machine;
    const char *match_policy; /* with a machine */
    const struct report_count *dropped;
    size_t ndropped;
    uint64_t killed;                  /* jobs whose run time was cut to their estimate */
    const struct schedule *schedules; /* one a policy */
    const struct metrics *metrics;    /* beside them */
    size_t npolicies;
};

/* Simulated jobs per second; 0 if no time was measured. */
double report_jobs_per_s(const struct schedule *schedule);

/* Copy text, with everything that is not printable UTF-8 replaced by '?', so that a file name can be put
 * into JSON or XML and on a terminal. Returns a string to free, or NULL with ENOMEM.
 */
char *report_clean_text(const char *text);

#endif
