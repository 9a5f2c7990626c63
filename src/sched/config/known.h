/* What a job is in its queue, taken and put back: where jobs go to other queues, or ask for something else. */
#ifndef SCHED_CONFIG_KNOWN_H
#define SCHED_CONFIG_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/queues.h"

/* What a job's slot and details say of its queue. */
struct known {
    struct job job;
    uint32_t queue, party, job_group;
    uint32_t leaf; /* of shares; 0 without */
    const char *account;
    bool is_known; /* the job asks for something in the new state too */
    bool is_counted, is_open;
    uint32_t keeper;
    struct limits_list *shared;
};

struct known job_known(const sched_t *s, uint32_t slot);
void job_known_restore(sched_t *s, uint32_t slot, const struct known *k);

/* The slot of a job that waits, or JOB_NONE, also where time goes back. */
uint32_t job_waiting(const sched_t *s, int64_t now, sched_job_t handle);

/* What a job asks for in a queue that is not the one it was submitted to: queue, lane, key, ask and party, and no group yet
 * (job_know_group). With `refuse` that is nothing which the queue's resources could never give. Returns 0, or -1 with a text.
 */
int job_know_in(sched_t *s, uint32_t slot, uint32_t queue, bool refuse, berth_error_t *err);

#endif
