/* A verb that tells about one job: its command line is [--json] JOB. */
#ifndef CLI_CLIENT_ONE_H
#define CLI_CLIENT_ONE_H

#include <stdbool.h>
#include <stdint.h>

#include "berth/error.h"
#include "cli/client/talk.h"

/* Tell about a member (-1: the job), as JSON or for people. Returns 0, or -1 with a text. */
typedef int one_tell_f(struct talk *talk, int64_t id, int64_t member, bool json,
                       berth_error_t *err);

/* Read the command line of a verb and tell. Returns the exit status. */
int one_job(const char *verb, const char *help, int argc, char **argv, one_tell_f *tell);

#endif
