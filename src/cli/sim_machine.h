/* The machine of `berth sim --machine`. */
#ifndef CLI_SIM_MACHINE_H
#define CLI_SIM_MACHINE_H

#include "berth/error.h"
#include "berth/match.h"
#include "cli/sim_options.h"

/* Read the machine and count its processors into *procs. Returns a matcher, which the caller destroys, or
 * NULL with errno and a text.
 */
match_t *sim_machine_load(const struct sim_options *o, int64_t *procs, berth_error_t *err);

#endif
