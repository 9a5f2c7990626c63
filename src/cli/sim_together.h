/* Inside the command line of `berth sim`: the options by number, and which go together. */
#ifndef CLI_SIM_TOGETHER_H
#define CLI_SIM_TOGETHER_H

#include "cli/sim_options.h"

enum sim_option {
    OPT_PROCS = 256,
    OPT_MACHINE,
    OPT_MATCH_POLICY,
    OPT_POLICY,
    OPT_EVENTS,
    OPT_ORDER,
    OPT_ESTIMATES,
    OPT_RESERVATION_DEPTH,
    OPT_QUEUE_DEPTH,
    OPT_TAU,
    OPT_LIMIT,
    OPT_JSON,
    OPT_JOBS,
    OPT_PLOT,
    OPT_MODEL,
    OPT_JOBS_COUNT,
    OPT_SEED,
    OPT_CONFIG,
    OPT_SCENARIO,
    OPT_DECISIONS,
    OPT_UNTIL,
    OPT_SAVE,
    OPT_LOAD,
    OPT_WHAT_IF,
    OPT_END
};

const char *sim_option_name(int option);

/* Whether options and arguments make sense together; seen[option - OPT_PROCS] tells which were given. If not, that is
 * said.
 */
bool sim_options_together(const struct sim_options *o, int nargs, char **args, const bool *seen);

#endif
