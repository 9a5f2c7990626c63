/* `berth sim --scenario`: play events, and answer what would happen. */
#ifndef CLI_SIM_SCENARIO_H
#define CLI_SIM_SCENARIO_H

#include "cli/sim_options.h"

/* Do what the options ask for, and print what went wrong. Returns the exit status. */
int sim_scenario(const struct sim_options *options);

#endif
