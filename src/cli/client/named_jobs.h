/* Verbs about the jobs that their command line names. */
#ifndef CLI_CLIENT_NAMED_JOBS_H
#define CLI_CLIENT_NAMED_JOBS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "berth/error.h"
#include "cli/client/connection.h"

/* ---- One job ---- */

/* Print something about a member (-1: the job), as JSON or for people. Returns 0, or -1 with a text. */
typedef int named_job_tell(struct connection *connection, int64_t id, int64_t member, bool json,
                           berth_error_t *err);

/* Read the command line of a verb about one job, [--json] JOB, and print. Returns the exit status. */
int named_job(const char *verb, const char *help, int argc, char **argv, named_job_tell *tell);

/* ---- Many jobs ---- */

/* A verb that does the same to many jobs by one request. The jobs are named, or selected by what they have in
 * common, or both.
 */
struct named_jobs_verb {
    const char *name;    /* also in its path, /v1/jobs/NAME */
    const char *help;    /* what it does */
    const char *states;  /* what --state selects */
    const char *done;    /* exit status 0 means this */
    const char *failed;  /* exit status 1: some jobs could not be this */
    const char *example; /* a command line */
    bool signals;        /* the verb takes -s SIGNAL; else -s is short for --state */
};

/* Run such a verb. Returns the exit status. */
int named_jobs_verb(int argc, char **argv, const struct named_jobs_verb *verb);

/* Send the request for the jobs that n words of the command line name and `filter` (NULL: none) selects, with
 * the keys of `more` (NULL: none). Prints a line for each job that is refused. Returns the exit status:
 * CLI_USAGE for wrong words.
 */
int named_jobs_ask(const char *verb, char **words, int n, json_t *filter, json_t *more);

#endif
