/* A session of `berth query`: a machine, the jobs on it, and where answers go. */
#ifndef CLI_QUERY_SESSION_H
#define CLI_QUERY_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/intern.h"
#include "berth/match.h"
#include "cli/query/words.h"
#include "config/file_text.h"

/* The line above and below an answer. */
#define QUERY_RULE "INFO: =============================\n"

#define QUERY_GRAPH_MAX ((size_t)1 << 31) /* bytes of a machine's or a part's description */

enum job_mode { JOB_ALLOCATED, JOB_RESERVED, JOB_CANCELED };

struct job {
    int64_t id, at;
    double seconds; /* that its match took */
    uint32_t file;  /* in the session's files */
    enum job_mode mode;
};

struct session {
    match_t *machine;
    const char *format; /* in which resources are printed */
    bool elapse;        /* print what matches cost */
    bool at_terminal;   /* a person types: an unknown command is an error */
    FILE *out;          /* results: standard output, or the file of --test-output */
    FILE *info;         /* the rest: standard output */
    FILE *err;

    struct job *jobs; /* by id */
    size_t njobs, capacity;
    struct intern files; /* names of jobspecs */
    int64_t next_id;
    size_t nmatched; /* these are about all matches that gave a job something */
    double least, most, sum;

    struct text text; /* of the file last read */
    struct words words;
};

void session_init(struct session *s);
void session_clear(struct session *s); /* also destroys the machine; closes no file */

/* Print an error in one line, after all earlier answers. */
void session_error(struct session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Flush the answers so far. */
void session_flush(void *session);

/* Read a file into s->text. Returns 0, or -1 after printing an error. */
int session_read(struct session *s, const char *path, size_t max);

/* Write out the machine's last result. Returns 0, or -1 with errno. */
int session_tell(struct session *s);

/* The job with an id, or NULL; *place is its index, or where it would be inserted. */
struct job *session_job(struct session *s, int64_t id, size_t *place);

/* Whether a job holds or has reserved something. */
bool session_job_is_live(const struct job *job);

/* Add a job, or replace an earlier one with its id. Returns 0, or -1 with ENOMEM. */
int session_add(struct session *s, const struct job *job, const char *file);

/* Read a job's id, a whole number that isn't negative. */
bool session_parse_id(const char *word, int64_t *id);

double session_now(void); /* seconds of a clock that only goes forward */

#endif
