/* Inside the reader of scenarios: what an event says. */
#ifndef SIM_SCENARIO_EVENT_H
#define SIM_SCENARIO_EVENT_H

#include "sim/scenario.h"

#define SCENARIO_COUNT_MAX INT64_C(1000000000) /* of what a job asks for */

/* Read what happens, all but the time, from the object of a line. Returns 0, or -1 with EINVAL and a text. */
int scenario_event_read(struct scenario_event *e, json_t *object, const struct key_place *place,
                        berth_error_t *err);

/* The same of a block, from its object. */
int scenario_block_read(struct scenario_event *e, json_t *value, const struct key_place *place,
                        berth_error_t *err);

/* Check what an object asks for, but for what depends on the machine; `what` comes before keys in errors. Returns 0, or -1
 * with EINVAL.
 */
int scenario_ask_check(const struct job_keys *k, const json_t *object, const char *what,
                       const struct key_place *place, berth_error_t *err);

/* The roles of a gang, checked, which the caller frees. Returns how many, or -1 with EINVAL or ENOMEM and a text. */
int scenario_roles(json_t *array, const struct key_place *place, struct role_keys **roles,
                   berth_error_t *err);

#endif
