/* Options of `berth sim` that can't be combined. */
#include "cli/sim_together.h"

#include <inttypes.h>
#include <string.h>

#include "cli/verb.h"

#define MODEL_PROCS_MAX INT64_C(1000000000)

/* Ended by 0. */
static const int scenario_only[] = {OPT_DECISIONS, OPT_UNTIL, OPT_SAVE, OPT_WHAT_IF, 0};
static const int in_the_configuration[] = {
    OPT_PROCS, OPT_MACHINE,           OPT_MATCH_POLICY, OPT_POLICY,
    OPT_ORDER, OPT_RESERVATION_DEPTH, OPT_QUEUE_DEPTH,  0};
static const int replay_only[] = {OPT_EVENTS,     OPT_TAU,  OPT_JOBS, OPT_MODEL,
                                  OPT_JOBS_COUNT, OPT_SEED, 0};
static const int trace_only[] = {OPT_ESTIMATES, OPT_LIMIT, 0};

/* The name of the first of these options that was given; NULL if none was. */
static const char *find_seen(const bool *seen, const int *options)
{
    for (; *options; options++)
        if (seen[*options - OPT_PROCS])
            return sim_option_name(*options);
    return NULL;
}

static bool is_seen(const bool *seen, enum sim_option option)
{
    return seen[option - OPT_PROCS];
}

/* A trace or a model. */
static bool check_workload(const struct sim_options *o, int nargs, char **args, const bool *seen)
{
    if (nargs > 1)
        cli_usage("sim", "one trace at a time, but '%.60s' follows '%.60s'", args[1], args[0]);
    else if (o->machine && o->procs)
        cli_usage("sim", "either --machine or --procs: the machine's cores are its processors");
    else if (is_seen(seen, OPT_MATCH_POLICY) && !o->machine)
        cli_usage("sim", "--match-policy is for --machine");
    else if (is_seen(seen, OPT_MODEL) && nargs == 1)
        cli_usage("sim", "either a trace or --model, but got '%.60s' too", args[0]);
    else if (is_seen(seen, OPT_MODEL) && is_seen(seen, OPT_LIMIT))
        cli_usage("sim", "--limit is for traces; a model takes --jobs-count");
    else if (is_seen(seen, OPT_MODEL) && o->procs > MODEL_PROCS_MAX)
        cli_usage("sim", "--procs: the model goes up to %" PRId64, MODEL_PROCS_MAX);
    else if (!is_seen(seen, OPT_MODEL) &&
             (is_seen(seen, OPT_JOBS_COUNT) || is_seen(seen, OPT_SEED)))
        cli_usage("sim", "--%s is for --model lublin",
                  is_seen(seen, OPT_SEED) ? "seed" : "jobs-count");
    else if (!is_seen(seen, OPT_MODEL) && nargs == 0)
        cli_usage("sim", "no trace given: name a file, - or --model lublin");
    else if (nargs == 1 && !*args[0])
        cli_usage("sim", "the trace's name is empty");
    else
        return true;
    return false;
}

/* The option that is given for a scenario, but is for replays: with a trace beside it, fewer are. */
static const char *find_replay(const bool *seen, int nargs)
{
    const char *option = find_seen(seen, replay_only);
    return option || nargs > 0 ? option : find_seen(seen, trace_only);
}

/* With a configuration: a trace, a model, or a scenario, perhaps with a trace. */
static bool check_config(const struct sim_options *o, int nargs, char **args, const bool *seen)
{
    bool plays = is_seen(seen, OPT_SCENARIO) || is_seen(seen, OPT_LOAD);
    if (!o->config)
        cli_usage("sim", "--%s needs --config", o->scenario ? "scenario" : "load");
    else if (find_seen(seen, in_the_configuration))
        cli_usage("sim", "--%s is in the configuration", find_seen(seen, in_the_configuration));
    else if (plays && find_replay(seen, nargs))
        cli_usage("sim", "--%s is for traces and models", find_replay(seen, nargs));
    else if (o->load && nargs > 0)
        cli_usage("sim", "either a trace or --load, but got '%.60s' too", args[0]);
    else if (plays && nargs > 0 && strcmp(o->scenario, "-") == 0 && strcmp(args[0], "-") == 0)
        cli_usage("sim", "either the trace or the scenario is standard input");
    else if (!plays && find_seen(seen, scenario_only))
        cli_usage("sim", "--%s is for --scenario", find_seen(seen, scenario_only));
    else if (!plays && is_seen(seen, OPT_EVENTS) && o->events != SIMULATE_BATCHED)
        cli_usage("sim", "--events: with queues they are batched");
    else if (o->asks && o->save)
        cli_usage("sim", "either --save or --what-if");
    else if (plays && nargs == 0)
        return true;
    else
        return check_workload(o, nargs, args, seen);
    return false;
}

bool sim_options_together(const struct sim_options *o, int nargs, char **args, const bool *seen)
{
    if (o->config || is_seen(seen, OPT_SCENARIO) || is_seen(seen, OPT_LOAD))
        return check_config(o, nargs, args, seen);
    if (!find_seen(seen, scenario_only))
        return check_workload(o, nargs, args, seen);
    cli_usage("sim", "--%s is for --scenario", find_seen(seen, scenario_only));
    return false;
}
