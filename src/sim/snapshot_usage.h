/* What shares have used, in the state of a player. */
#ifndef SIM_SNAPSHOT_USAGE_H
#define SIM_SNAPSHOT_USAGE_H

#include "sim/play_priv.h"

/* Add the key "usage" to a state, if there are shares: 0, or -1. */
int snapshot_put_usage(const struct play *p, json_t *state);

/* Tell the core what the key says (NULL: nothing), before its jobs. Returns 0, or -1 with a text. Nodes that are not
 * there any more are left out.
 */
int snapshot_load_usage(struct play *p, const json_t *usage, const struct key_place *place,
                        berth_error_t *err);

#endif
