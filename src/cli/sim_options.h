/* The command line of `berth sim`. */
#ifndef CLI_SIM_OPTIONS_H
#define CLI_SIM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/simulate.h"

#define SIM_WHAT_IFS 64 /* events of --what-if */

struct sim_options {
    const char *trace;   /* path, "-" for standard input; NULL: the model */
    int64_t procs;       /* 0: from the trace's header, or the model's default */
    const char *machine; /* path of a file that describes it; NULL: interchangeable processors */
    const char *machine_format, *match_policy;
    int64_t limit; /* jobs to keep; 0: all */
    int64_t jobs_count;
    uint64_t seed;
    const char *policies[SCHED_POLICIES_MAX];
    size_t npolicies;
    enum simulate_events events;
    enum sched_order order;
    bool exact;
    int64_t reservation_depth; /* 0: the policy's own */
    int64_t queue_depth;       /* 0: all */
    int64_t tau;
    bool json;
    const char *jobs_path, *plot_path; /* NULL: none */

    const char *config; /* path; NULL: none, and then the following are not set either */
    const char *scenario, *decisions, *save, *load; /* paths; NULL: none */
    bool stops;                                     /* at `until`, ticks of a microsecond */
    int64_t until;
    bool asks; /* --what-if: when jobs would start, with these events */
    const char *what_if[SIM_WHAT_IFS];
    size_t n_what_if;
};

/* Read the command line into *ret. Returns true to continue; or false with the exit status in *status, after
 * printing the help or one line that says what is wrong.
 */
bool sim_options_parse(int argc, char **argv, struct sim_options *ret, int *status);

/* Split FILE[:FORMAT] in place and return the format, grug by default. Only a known format after the last
 * colon counts, so that a file's name may have colons.
 */
const char *sim_machine_format(char *text);

/* The words of the command line for a setting. */
const char *sim_events_word(enum simulate_events events);
const char *sim_order_word(enum sched_order order);
const char *sim_estimates_word(bool exact);

/* Whether an output file is "-", standard output, which then gets nothing else. */
bool sim_is_output(const char *path);

/* The file for the jobs of one policy if there are several policies: out.csv.gz becomes out.easy.csv.gz.
 * Returns a string, which the caller frees, or NULL with ENOMEM.
 */
char *sim_policy_path(const char *path, const char *policy);

#endif
