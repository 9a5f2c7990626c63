/* The numbers by which a schedule is judged.
 *
 * wait = start - submit, flow = wait + run, bounded slowdown = max(1, flow / max(tau, run)). Jobs
 * that never started are left out. Of the n sorted waits the median is number n / 2 and the 95th
 * percentile number n * 0.95, cut off, counted from 0. Makespan reaches from the first submission
 * to the last end; utilisation is the sum of procs * run over makespan * machine size.
 */
#ifndef REPORT_METRICS_H
#define REPORT_METRICS_H

#include "berth/error.h"
#include "report/schedule.h"

struct metrics {
    size_t n;        /* jobs counted: those that started */
    size_t rejected; /* jobs that never started */
    double avg_wait;
    int64_t median_wait;
    int64_t p95_wait;
    int64_t max_wait;
    double avg_flow;
    int64_t max_flow;
    double avg_bsld;
    double max_bsld;
    double utilisation; /* 0 to 1 */
    int64_t makespan;
};

/* Compute the metrics of a schedule with bounded slowdown's threshold tau >= 1 seconds. With no
 * started job all are 0. It uses 8 bytes for each job while it runs. Returns 0, or -1 with errno and a text:
 * EINVAL for a tau below 1 or a job whose times are out of order or overflow, ENOMEM; *ret is then
 * untouched.
 */
int metrics_compute(const struct schedule *schedule, int64_t tau, struct metrics *ret,
                    berth_error_t *err);

#endif
