/* Reading a job of a client's request: checked, and turned into its stored form. */
#ifndef SERVER_JOB_READ_H
#define SERVER_JOB_READ_H

#include "server/core/state.h"

/* What reading jobs needs, and what they share. */
struct job_context {
    server_t *s;
    struct user *user;
    const char *what;                /* prefix of keys in errors */
    int64_t array;                   /* of gangs: the first id of its list; 0: the job's own */
    bool may_test;                   /* "test_only" may be asked for */
    struct shared_text *environment; /* of the last job, shared with the next if equal; NULL */
    struct shared_text *script;
};

/* Create a job from an object, with this id, not in the table yet. NULL with EINVAL and a text, or ENOMEM. */
struct job *job_read(struct job_context *c, json_t *object, int64_t id, berth_error_t *err);

#define JOB_DURATION_MAX (INT64_C(20) * 365 * 86400 * SERVER_SECOND)

/* Read a time: seconds since 1970, or "+1h", on the server's clock, at least 0. False: it is none. */
#define BEGIN_EXPECTED "seconds since 1970, or a time from now on such as \"+1h\""
bool begin_read(const server_t *s, const json_t *value, int64_t *at);

/* A signal: "USR1", "SIGUSR1" or its number. False: it is none. */
bool signal_read(const json_t *value, int *number);

#endif
