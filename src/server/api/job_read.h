/* A job as a client asks for it, read and checked, and made into what is kept of it. */
#ifndef SERVER_JOB_READ_H
#define SERVER_JOB_READ_H

#include "server/core/priv.h"

/* Where and when a request is looked at. */
struct job_context {
    server_t *s;
    struct user *user;
    const char *what;           /* what stands before keys in errors: "" or "jobs[3]: " */
    struct shared *environment; /* the last job's, to be shared if it is the same; NULL */
    struct shared *script;
};

/* Make a job of an object; its id is taken as said, and it is not in the table yet. NULL with EINVAL and a text, or
 * ENOMEM.
 */
struct job *job_read(struct job_context *c, json_t *object, int64_t id, berth_error_t *err);

/* Values that are not only numbers. False: it is none. */

/* Ticks: seconds as a number, or "90", "90s", "5m", "1h30m", "2d", "HH:MM:SS", "D-HH:MM:SS". Above 0. */
bool duration_read(const json_t *value, int64_t *ticks);

/* Bytes: a whole number, or "4G", "512MiB", "100k". Above 0. */
bool memory_read(const json_t *value, int64_t *bytes);

/* A signal that a program may send: "USR1", "SIGUSR1", or its number. */
bool signal_read(const json_t *value, int *number);

/* ---- The short form ---- */

struct job_shape {
    int64_t nodes;              /* 0: not said */
    int64_t tasks, cores, gpus; /* cores and gpus of a task; cores 0: whole nodes */
    int64_t memory;             /* of all, in the machine's units; 0: not said */
    bool exclusive;
    const json_t *constraint; /* RFC 31; NULL */
};

/* Append it as a jobspec. */
void shape_put(struct strbuf *out, const struct job_shape *shape);

#endif
