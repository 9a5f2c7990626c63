/* A role of a gang as an option has it: "server", "worker:8,min=6,gpus=1", "worker:8,cores=2,run=./work.sh --fast".
 *
 * NAME[:COUNT][,KEY[=VALUE]]... The keys are min, what a member asks for (nodes, tasks, cores, gpus, gpu_type,
 * gpu_memory, memory, requires, exclusive) and, as the last one, run: a line for a shell, which may have commas.
 */
#ifndef CLI_CLIENT_ROLE_OPTION_H
#define CLI_CLIENT_ROLE_OPTION_H

#include <jansson.h>

#include "berth/error.h"

/* What is expected where something else is given. */
#define ROLE_EXPECTED "a role such as server or worker:8,min=6,cores=2"

/* Read one as the object that the API takes. NULL with EINVAL or ENOMEM, and one line that says what was expected. */
json_t *role_option_read(const char *text, berth_error_t *err);

#endif
