/* `berth sim --what-if`: when would jobs start? */
#ifndef CLI_SIM_WHAT_IF_H
#define CLI_SIM_WHAT_IF_H

#include <jansson.h>

#include "berth/error.h"
#include "cli/sim_options.h"

/* Play on from a state to the end of all jobs, once without and once with the events of --what-if, and print
 * when jobs start. Returns 0, or -1 with errno and a text.
 */
int sim_what_if(const struct sim_options *options, json_t *state, berth_error_t *err);

#endif
