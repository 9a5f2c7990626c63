/* A job as a client asks for it, read and checked, and made into what is kept of it. */
#ifndef SERVER_JOB_READ_H
#define SERVER_JOB_READ_H

#include "server/core/priv.h"

/* Where and when a request is looked at. */
struct job_context {
    server_t *s;
    struct user *user;
    const char *what;                /* what stands before keys in errors: "" or "jobs[3]: " */
    struct shared_text *environment; /* the last job's, to be shared if it is the same; NULL */
    struct shared_text *script;
};

/* Make a job of an object; its id is taken as said, and it is not in the table yet. NULL with EINVAL and
 * a text, or ENOMEM.
 */
struct job *job_read(struct job_context *c, json_t *object, int64_t id, berth_error_t *err);

#define JOB_DURATION_MAX (INT64_C(20) * 365 * 86400 * SERVER_SECOND)

/* A signal that a program may send: "USR1", "SIGUSR1", or its number. False: it is none. */
bool signal_read(const json_t *value, int *number);

#endif
