/* What reading a job and keeping it share. */
#ifndef SERVER_JOB_READER_H
#define SERVER_JOB_READER_H

#include "berth/jobspec.h"
#include "config/job_keys.h"
#include "server/api/job_read.h"

#define JOB_TASKS_MAX 65536

struct ask {
    struct job_keys job;
    json_t *command, *args, *environment, *umask, *signal;
    const char *script, *directory, *input, *output, *error;
    bool overcommit, requeue, append;
};

/* What is read of one job. */
struct job_reader {
    struct job_context *c;
    struct ask ask;
    struct key_place place;
    struct job *job;
    jobspec_t *spec; /* a jobspec of the client's; NULL */
    char *spec_text; /* its text, if it was one */
    int64_t begin, warn_before, memory;
    int umask, warn_signal;
    int64_t tasks;
    berth_error_t *err;
};

/* Say that a value is another than was expected (found NULL: without telling it), or that there is no
 * memory. Return -1.
 */
int job_wrong(struct job_reader *r, const char *key, const json_t *found, const char *expected);
int job_too_long(struct job_reader *r, const char *key, const char *most);
int job_no_memory(struct job_reader *r);

/* Whether a program can be started with its command and environment: 0, or -1 with a text (job_size.c). */
int job_check_size(struct job_reader *r);

/* Give the job its name. */
int job_put_name(struct job_reader *r);

/* Write what is kept of the request, and the job's row and counts. */
int job_put_request(struct job_reader *r, struct strbuf *out);

#endif
