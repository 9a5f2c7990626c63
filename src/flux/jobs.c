#include "flux/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

static struct job_name name_in(const char *notation, uint64_t id)
{
    struct job_name name = {""};

    if (flux_job_id_encode(id, notation, name.text, sizeof(name.text)) < 0)
        snprintf(name.text, sizeof(name.text), "%" PRIu64, id);
    return name;
}

struct job_name job_f58(uint64_t id)
{
    return name_in("f58", id);
}

struct job_name job_plain_f58(uint64_t id)
{
    return name_in("f58plain", id);
}

struct flux_job *flux_jobs_add(struct flux_jobs *jobs, uint64_t id, sched_job_t handle,
                               const flux_msg_t *request)
{
    struct flux_job *job = NULL;

    if (array_grow((void **)&jobs->v, &jobs->cap, jobs->n + 1, sizeof(*jobs->v)) == 0 &&
        dict_reserve(&jobs->by_id) == 0)
        job = calloc(1, sizeof(*job));
    if (!job) {
        errno = ENOMEM;
        return NULL;
    }
    job->id = id;
    job->handle = handle;
    job->request = request ? flux_msg_incref(request) : NULL;
    job->told_start = -1;
    job->entry.text = (const char *)&job->id;
    job->entry.length = sizeof(job->id);
    dict_put(&jobs->by_id, &job->entry);
    job->at = jobs->n;
    jobs->v[jobs->n++] = job;
    return job;
}

struct flux_job *flux_jobs_find(const struct flux_jobs *jobs, uint64_t id)
{
    /* The entry is the job's first member. */
    return (struct flux_job *)dict_find(&jobs->by_id, (const char *)&id, sizeof(id));
}

void flux_job_answered(struct flux_job *job)
{
    flux_msg_decref(job->request);
    job->request = NULL;
    free(job->told_reason);
    job->told_reason = NULL;
    job->told_start = -1;
}

void flux_jobs_remove(struct flux_jobs *jobs, struct flux_job *job)
{
    dict_take(&jobs->by_id, &job->entry);
    jobs->v[job->at] = jobs->v[--jobs->n];
    jobs->v[job->at]->at = job->at;
    flux_job_answered(job);
    free(job);
}

void flux_jobs_clear(struct flux_jobs *jobs)
{
    while (jobs->n > 0)
        flux_jobs_remove(jobs, jobs->v[jobs->n - 1]);
    free(jobs->v);
    dict_clear(&jobs->by_id);
    *jobs = (struct flux_jobs){0};
}
