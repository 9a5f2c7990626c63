/* Which options of `berth sim` can be combined. */
#ifndef CLI_SIM_TOGETHER_H
#define CLI_SIM_TOGETHER_H

#include "cli/sim_option_list.h"
#include "cli/sim_options.h"

/* Whether options and arguments can be combined; seen[option - OPT_PROCS] says which were given. If not,
 * prints why.
 */
bool sim_options_together(const struct sim_options *o, int nargs, char **args, const bool *seen);

#endif
