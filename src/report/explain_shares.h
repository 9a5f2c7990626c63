/* What shares keep a job waiting, in sentences and as JSON. */
#ifndef REPORT_EXPLAIN_SHARES_H
#define REPORT_EXPLAIN_SHARES_H

#include "base/json_out.h"
#include "berth/sched_shares.h"

/* The scheduler whose jobs are explained. */
struct explain_of {
    sched_t *sched;
    int64_t now;
    int64_t wall;        /* the time of day, in ticks since the epoch, at time 0 */
    int64_t memory_unit; /* bytes of a unit of memory */
};

/* Append to a text why others go before a job that waits, and which of these that hold what it waits for have
 * borrowed that; nothing where there are no shares. And to another one the same as the members "turns",
 * "own_first" and "entitled_to" of an object, which has some already. Returns 0, or -1 with ENOMEM.
 */
int explain_shares(struct explain_of of, sched_job_t job, const sched_job_t *holders, size_t n,
                   struct strbuf *text, struct json_out *json);

#endif
