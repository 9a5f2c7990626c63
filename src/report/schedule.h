/* A schedule: the jobs of a workload and when each of them started.
 *
 * A simulation reads an array of schedule_job and makes an array of start times. Everything in this room
 * (metrics, tables, pictures) is computed from these two. Times are seconds.
 */
#ifndef REPORT_SCHEDULE_H
#define REPORT_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

struct schedule_job {
    int64_t id;       /* as the trace names it */
    int64_t submit;   /* >= 0 */
    int64_t run;      /* seconds it runs, 1 <= run <= limit (a job is killed at its limit) */
    int64_t limit;    /* its estimate, which the scheduler knows */
    int64_t procs;    /* processors, >= 1 */
    int64_t priority; /* higher goes first under --order priority */
};

struct alloc;
struct sharing;

/* Nodes that were borrowed. */
struct schedule_pilots {
    int64_t pilots; /* how many were asked for */
    double asked, had,
        used; /* node seconds: asked for, until they were given back, and in which jobs ran */
};

struct schedule {
    const char *policy;              /* the policy that made it */
    int64_t procs;                   /* size of the machine */
    size_t n;                        /* jobs */
    const struct schedule_job *jobs; /* in the order of the trace; borrowed */
    const int64_t *start;            /* start of jobs[i], or SCHEDULE_NEVER; borrowed */
    const struct alloc *alloc;       /* the cores of jobs[i]; NULL: they have no names; borrowed */
    const struct sharing *sharing;   /* what shares came to; NULL: there are none; borrowed */
    const struct schedule_pilots *pilots; /* NULL: there is no rule; borrowed */
    uint64_t preemptions;                 /* jobs stopped for others */
    double lost;                          /* processor seconds that these had run */
    uint64_t passes;                      /* scheduling passes that were run */
    double seconds;                       /* wall time of the simulation, without reading */
};

#define SCHEDULE_NEVER (-1) /* the job was rejected and never started */

#endif
