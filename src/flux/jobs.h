/* The jobs that a module knows: those that wait for an answer, and those that have resources. */
#ifndef FLUX_JOBS_H
#define FLUX_JOBS_H

#include <flux/core.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dict.h"
#include "berth/sched.h"

struct flux_job {
    struct dict_entry entry; /* its text is `id` */
    uint64_t id;
    sched_job_t handle;
    uint32_t user;
    size_t at; /* its place in the list */

    /* The request sched.alloc, as long as it has no answer; NULL: the job has resources. */
    const flux_msg_t *request;

    bool until_end; /* it has no duration, and so lasts as long as the instance */
    bool
        unconfirmed; /* it had resources when the module was loaded, and may have ended before the module was ready */

    /* What Flux was told last. */
    int64_t told_start; /* ticks; -1: no estimate */
    char *told_reason;  /* NULL: none */
};

struct flux_jobs {
    struct dict by_id;
    struct flux_job **v;
    size_t n, cap;
};

/* An id as Flux prints it. */
struct job_name {
    char text[32];
};
struct job_name job_f58(uint64_t id);
struct job_name job_plain_f58(uint64_t id); /* in ASCII */

/* A new job, which waits if there is a request (whose reference is taken). NULL with ENOMEM. */
struct flux_job *flux_jobs_add(struct flux_jobs *jobs, uint64_t id, sched_job_t handle,
                               const flux_msg_t *request);

/* A job by its id; NULL: there is none. O(1). */
struct flux_job *flux_jobs_find(const struct flux_jobs *jobs, uint64_t id);

/* The job has its answer. */
void flux_job_answered(struct flux_job *job);

void flux_jobs_remove(struct flux_jobs *jobs, struct flux_job *job);
void flux_jobs_clear(struct flux_jobs *jobs);

#endif
