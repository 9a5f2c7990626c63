/* Shared by reading a job and writing its stored form. */
#ifndef SERVER_JOB_READER_H
#define SERVER_JOB_READER_H

#include "base/json_out.h"
#include "berth/jobspec.h"
#include "config/gang_keys.h"
#include "config/job_keys.h"
#include "config/role_keys.h"
#include "server/api/job_read.h"

#define JOB_TASKS_MAX 65536
#define JOB_COUNT_MAX 1000000

struct ask {
    struct job_keys job;
    struct gang_keys gang;
    json_t *command, *args, *environment /* an object, or true: that of the job before */, *umask,
        *signal;
    const char *script, *directory, *input, *output, *error;
    bool overcommit, requeue, append, slurm, apart;
    json_t *attach;
    int64_t batch;                           /* 0: not given */
    int64_t retries, retry_delay, max_fails; /* 0, 0, -1: not given */
    const char *retry_on;
    json_t *labels;
    const char *notify, *notify_on;
    bool test_only;
    int64_t gang_index,
        gang_count; /* of an array of gangs: its index, and how many these are; -1, 0: it is of none */
    int64_t gang_at_once; /* so many of these run at once; 0: no bound */
};

/* What one member asks for, and what follows from that once it is written. */
struct member_ask {
    const struct job_keys *keys;
    jobspec_t *spec; /* the client's jobspec, */
    char *text;      /* and its text; NULL: short form */
    int64_t nodes, cores, gpus, tasks;
    int64_t memory; /* bytes; 0: none is asked for */
};

/* The job being read. */
struct job_reader {
    struct job_context *c;
    json_t *object; /* that is read */
    struct ask ask;
    struct key_place place;
    struct job *job;
    const char *what; /* before keys in errors */
    struct member_ask member;
    struct role_keys *roles; /* of a gang of several, n_roles, */
    size_t n_roles;
    struct strbuf roles_text; /* and as they are stored */
    const char *account;      /* NULL: there are none */
    int64_t begin, deadline, warn_before;
    int umask, warn_signal;
    const char *attach, *attach_as; /* where its input or terminal comes from; NULL: nowhere */
    uint32_t at_once;               /* so many members of an array run at once; 0: no bound */
    berth_error_t *err;
};

/* Report a wrong value (found NULL: without showing it), or that memory is short. Return -1. */
int job_wrong(struct job_reader *r, const char *key, const json_t *found, const char *expected);
int job_too_long(struct job_reader *r, const char *key, const char *most);
int job_no_memory(struct job_reader *r);

/* Check that the system can start a program with this command and environment: 0, or -1 with a text
 * (job_size.c).
 */
int job_check_size(struct job_reader *r);

/* Read where a client passes on its input or terminal, and check it once all else is known (job_attach.c). */
int job_read_attach(struct job_reader *r);
int job_put_attach(struct job_reader *r, struct json_out *out);

/* Read a member's jobspec, if it is asked for by one; the caller clears it. And write what it asks for, of which the rest
 * of `a` becomes known (job_ask.c).
 */
int job_read_spec(struct job_reader *r, struct member_ask *a);
void member_ask_clear(struct member_ask *a);
int job_put_member(struct job_reader *r, struct member_ask *a, struct json_out *out);

/* Read the roles of a gang, and how many members these have; make those of the job, and their stored form; and write what
 * listings show of them (job_roles.c).
 */
int job_read_roles(struct job_reader *r);
int job_make_roles(struct job_reader *r);
void job_put_roles(const struct job_reader *r, struct json_out *out);

/* Whether all of a list are strings; and write them. */
bool job_are_words(const json_t *list);
void job_put_words(struct json_out *out, const json_t *list);

/* Give the job its name. */
int job_put_name(struct job_reader *r);

/* Write the stored request, and the job's row and counts. */
int job_put_request(struct job_reader *r, struct strbuf *out);

#endif
