#include "cli/sim_option_list.h"

#include <stddef.h>

const struct option sim_option_list[] = {
    {"procs", required_argument, NULL, OPT_PROCS},
    {"machine", required_argument, NULL, OPT_MACHINE},
    {"match-policy", required_argument, NULL, OPT_MATCH_POLICY},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"events", required_argument, NULL, OPT_EVENTS},
    {"order", required_argument, NULL, OPT_ORDER},
    {"estimates", required_argument, NULL, OPT_ESTIMATES},
    {"reservation-depth", required_argument, NULL, OPT_RESERVATION_DEPTH},
    {"queue-depth", required_argument, NULL, OPT_QUEUE_DEPTH},
    {"tau", required_argument, NULL, OPT_TAU},
    {"limit", required_argument, NULL, OPT_LIMIT},
    {"json", no_argument, NULL, OPT_JSON},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"plot", required_argument, NULL, OPT_PLOT},
    {"model", required_argument, NULL, OPT_MODEL},
    {"jobs-count", required_argument, NULL, OPT_JOBS_COUNT},
    {"seed", required_argument, NULL, OPT_SEED},
    {"config", required_argument, NULL, OPT_CONFIG},
    {"scenario", required_argument, NULL, OPT_SCENARIO},
    {"decisions", required_argument, NULL, OPT_DECISIONS},
    {"until", required_argument, NULL, OPT_UNTIL},
    {"save", required_argument, NULL, OPT_SAVE},
    {"load", required_argument, NULL, OPT_LOAD},
    {"what-if", required_argument, NULL, OPT_WHAT_IF},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

const char *sim_option_name(int id)
{
    for (const struct option *o = sim_option_list; o->name; o++)
        if (o->val == id)
            return o->name;
    return "";
}
