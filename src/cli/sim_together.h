/* Which options of `berth sim` go together. */
#ifndef CLI_SIM_TOGETHER_H
#define CLI_SIM_TOGETHER_H

#include "cli/sim_option_list.h"
#include "cli/sim_options.h"

/* Whether options and arguments make sense together; seen[option - OPT_PROCS] tells which were given. If
 * not, that is said.
 */
bool sim_options_together(const struct sim_options *o, int nargs, char **args, const bool *seen);

#endif
