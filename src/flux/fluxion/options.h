/* The options of Fluxion's modules, by arguments KEY=VALUE and tables of Flux's TOML; arguments win. */
#ifndef FLUX_FLUXION_OPTIONS_H
#define FLUX_FLUXION_OPTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "berth/error.h"
#include "berth/match.h"

/* Of sched-fluxion-resource and sched-fluxion-feasibility, as they are told back. */
enum resource_option {
    OPTION_LOAD_FILE,
    OPTION_LOAD_FORMAT,
    OPTION_LOAD_ALLOWLIST,
    OPTION_POLICY,
    OPTION_MATCH_FORMAT,
    OPTION_SUBSYSTEMS,
    OPTION_RESERVE_VTX_VEC,
    OPTION_PRUNE_FILTERS,
    OPTION_UPDATE_INTERVAL,
    OPTION_TRAVERSER,
    N_RESOURCE_OPTIONS
};

struct resource_options {
    char *value[N_RESOURCE_OPTIONS]; /* NULL: none */
};

/* Read them for the module of a name (its table). Returns 0, or -1 with a text: EINVAL (there is no such option, policy or
 * traverser) or ENOMEM. resource_options_clear frees them in either case.
 */
int resource_options_read(struct resource_options *o, const char *table, const json_t *conf,
                          int argc, char **argv, berth_error_t *err);
void resource_options_clear(struct resource_options *o);

/* The end of the plan, in seconds since 1970: a promise can be so far ahead that jobs of the longest duration end before. */
#define FLUXION_END (4 * MATCH_END)

/* How to match by them; texts are the options'. */
match_options_t resource_options_match(const struct resource_options *o);

/* As they are told back: {"load-file": null, ...}; NULL with ENOMEM. */
json_t *resource_options_json(const struct resource_options *o);

/* Of sched-fluxion-qmanager: the settings of each queue, by its name, as given. */
#define QMANAGER_TABLE "sched-fluxion-qmanager"

/* What `params` answers: {"queue-policy", "queue-params", "policy-params", QUEUE: {same three}...}. The queues are those
 * of conf that are not virtual, or "default". A policy that is none becomes the one without reservations, and is told
 * by unknown(). NULL with a text: EINVAL or ENOMEM.
 */
json_t *qmanager_options_read(const json_t *conf, int argc, char **argv,
                              void (*unknown)(void *context, const char *policy), void *context,
                              berth_error_t *err);

/* The configuration of a scheduler with such queues: Flux's, with a table for it (flux/settings.h). NULL with ENOMEM. */
json_t *qmanager_options_conf(const json_t *params, const json_t *conf);

#endif
