/* The configuration or machine of `berth sim`, and the stage for a scenario: the configuration with its
 * machine.
 */
#ifndef CLI_SIM_CONFIG_H
#define CLI_SIM_CONFIG_H

#include "cli/sim_options.h"
#include "config/config.h"
#include "report/outfile.h"
#include "sim/play.h"

/* Read a file; `second`: ticks in one. NULL with errno and a text that names the file. */
struct config *sim_config_read(const char *path, int64_t second, berth_error_t *err);

/* Read the machine and count its processors into *procs. Returns a matcher, which the caller destroys, or
 * NULL with errno and a text.
 */
match_t *sim_machine_load(const struct sim_options *o, int64_t *procs, berth_error_t *err);

/* The name of the input that finishing an output would replace; NULL if none. */
const char *sim_replaced(const struct outfile *out, const struct sim_options *options);

/* What a scenario is played on: a configuration and a machine of its own. All zeroes initially. */
struct sim_stage {
    struct config *config;
    match_t *machine;
    char *folder; /* of the scenario; NULL: the current one */
    struct play_options options;
};

/* Read configuration and machine. Returns 0, or -1 with errno and a text. */
int sim_stage_open(struct sim_stage *stage, const struct sim_options *options, berth_error_t *err);
void sim_stage_close(struct sim_stage *stage);

#endif
