/* The options of `berth sim` by number, and their table. */
#ifndef CLI_SIM_OPTION_LIST_H
#define CLI_SIM_OPTION_LIST_H

#include "cli/option_table.h"

enum sim_option {
    OPT_PROCS = OPTION_LONG(0),
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

/* Print the help, which names the policies. Returns an enum cli_exit. */
int sim_help(void);

/* The name of an option; "?" if there is none with that number. */
const char *sim_option_name(int option);

#endif
