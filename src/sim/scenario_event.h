/* Inside the reader of scenarios: what an event says. */
#ifndef SIM_SCENARIO_EVENT_H
#define SIM_SCENARIO_EVENT_H

#include "sim/scenario.h"

/* Read what happens, all but the time, from the object of a line. Returns 0, or -1 with EINVAL and a text. */
int scenario_event_read(struct scenario_event *e, json_t *object, const struct key_place *place,
                        berth_error_t *err);

/* The short form of a submission, but for its constraint. A unit of memory has so many bytes. Returns 0, or
 * -1 with the fault.
 */
int scenario_form(const struct scenario_submit *s, int64_t unit, struct short_form *form,
                  struct job_fault *fault);

#endif
