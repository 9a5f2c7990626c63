/* A job as a command line asks for it: options, what to run, the environment; and the object that the API takes. */
#ifndef CLI_CLIENT_REQUEST_H
#define CLI_CLIENT_REQUEST_H

#include <jansson.h>
#include <stdbool.h>

#include "berth/error.h"

/* What is left of a command line of submit or run. */
struct request {
    json_t *job;      /* for POST /v1/jobs */
    const char *bulk; /* --bulk: a file of jobs, and no job */
    bool wants_help;
    bool has_output; /* somebody asked for the output in a file */
};

/* Read a command line, the options in the script that it names included. 0; -1: it is wrong, as the text says, or it has
 * errno other than EINVAL: a file can't be read, memory is out.
 */
int request_read(struct request *r, int argc, char **argv, berth_error_t *err);

void request_clear(struct request *r);

#endif
