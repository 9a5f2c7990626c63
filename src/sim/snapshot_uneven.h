/* Since when classes have been uneven, in the state of a player. */
#ifndef SIM_SNAPSHOT_UNEVEN_H
#define SIM_SNAPSHOT_UNEVEN_H

#include "sim/play_priv.h"

/* Add the key "uneven" to a state, if some are: 0, or -1. */
int snapshot_put_uneven(const struct play *p, json_t *state);

/* Tell the core what the key says (NULL: nothing), after its jobs. Returns 0, or -1 with a text. Queues that are not
 * there any more are left out.
 */
int snapshot_load_uneven(struct play *p, const json_t *uneven, const struct key_place *place,
                         berth_error_t *err);

#endif
