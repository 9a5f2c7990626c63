/* Verbs about the jobs that their command line names. */
#ifndef CLI_CLIENT_NAMED_JOBS_H
#define CLI_CLIENT_NAMED_JOBS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "berth/error.h"
#include "cli/client/connection.h"
#include "cli/option_table.h"

/* ---- One job ---- */

/* Print something about a member (-1: the job), as JSON or for people. Returns 0, or -1 with a text. */
typedef int named_job_tell(struct connection *connection, int64_t id, int64_t member, bool json,
                           berth_error_t *err);

/* Read the command line of a verb about one job, [--json] JOB, and print. Returns the exit status. */
int named_job(const struct option_table *options, int argc, char **argv, named_job_tell *tell);

/* ---- Many jobs ---- */

/* Of verbs that do the same to many jobs by one request, POST /v1/jobs/VERB. The jobs are named, or selected by what
 * they have in common, or both. Their options are these.
 */
#define NAMED_JOBS_OPTIONS                                                                         \
    {'u', "user", "NAME", "only jobs of this user; '*': of all users (administrators)", "@user"},  \
        {'q', "queue", "NAME", "only jobs in this queue", "@queue"},                               \
        {OPTION_LONG('N'), "name", "NAME", "only jobs with this name", NULL},                      \
        {OPTION_LONG('a'), "all", NULL,                                                            \
         "all your jobs; other options without a JOB select among them", NULL},                    \
    {                                                                                              \
        OPTION_LONG('j'), "json", NULL, "print what was done, and what was refused", NULL          \
    }
#define NAMED_JOBS_STATES "pending held running"
/* And one of these. With the second, -s is a signal. */
#define NAMED_JOBS_STATE(words)                                                                    \
    {                                                                                              \
        's', "state", "LIST", words, NAMED_JOBS_STATES                                             \
    }
#define NAMED_JOBS_SIGNAL                                                                          \
    {'s', "signal", "SIG", "name or number (TERM)", "TERM INT HUP KILL USR1 USR2 STOP CONT"},      \
    {                                                                                              \
        OPTION_LONG('s'), "state", "LIST", "only running jobs", NAMED_JOBS_STATES                  \
    }

/* Run such a verb. Returns the exit status. */
int named_jobs_verb(int argc, char **argv, const struct option_table *options);

/* Send the request for the jobs that n words of the command line name and `filter` (NULL: none) selects, with
 * the keys of `more` (NULL: none). Prints a line for each job that is refused, or the answer as JSON. Returns the exit status:
 * CLI_USAGE for wrong words.
 */
int named_jobs_ask(const char *verb, char **words, int n, json_t *filter, json_t *more, bool json);

#endif
