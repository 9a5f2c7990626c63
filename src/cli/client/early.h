/* What of a job can only fail when it starts, told when it is submitted. */
#ifndef CLI_CLIENT_EARLY_H
#define CLI_CLIENT_EARLY_H

#include <jansson.h>

#include "berth/error.h"

/* Whether a job's directory, its program and the folders of its output are there. Nothing is looked at of a job that
 * waits for others or for a time, which may make them. 0, or -1 with ENOENT and a text.
 */
int early_check(const json_t *job, berth_error_t *err);

#endif
