/* `berth sim --scenario`: play events, and answer what would happen. */
#ifndef CLI_SIM_SCENARIO_H
#define CLI_SIM_SCENARIO_H

#include "cli/sim_options.h"
#include "sim/play.h"

/* Do what the options ask for, and say what went wrong. Returns the exit status. */
int sim_scenario(const struct sim_options *options);

/* A scheduler to play with: a configuration and a machine of its own. All zeroes at first. */
struct sim_stage {
    struct config *config;
    match_t *machine;
    char *folder; /* of the scenario; NULL: the current one */
    struct play_options options;
};

/* Read configuration and machine. Returns 0, or -1 with errno and a text. */
int sim_stage_open(struct sim_stage *stage, const struct sim_options *options, berth_error_t *err);
void sim_stage_close(struct sim_stage *stage);

/* Print the jobs as they are, as a table or JSON. Returns 0, or -1 with ENOMEM and a text. */
int sim_jobs_print(struct play *p, const char *name, bool json, berth_error_t *err);

/* Play on from a state to the end of all jobs, as it is and with the events of --what-if, and print when jobs start.
 * Returns 0, or -1 with errno and a text.
 */
int sim_what_if(const struct sim_options *options, json_t *state, berth_error_t *err);

#endif
