/* Submitting a job and staying with it: its input, its output or its terminal, and its end. */
#ifndef CLI_CLIENT_ATTEND_H
#define CLI_CLIENT_ATTEND_H

#include "cli/client/request.h"

/* Submit the job of a request and wait for its end. Returns the status of this program: that of the job, or
 * 128 + its signal, or CLI_FAILED or CLI_USAGE with a line on standard error.
 */
int attend_job(struct request *r, const char *verb);

#endif
