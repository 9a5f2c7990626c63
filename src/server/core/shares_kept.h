/* What shares have used, in the store, a value for each node of the tree; and since when classes have been uneven, in one
 * value.
 *
 * A node's value changes when what runs there does, so a commit writes those of the nodes above the leaves of which
 * jobs start and end. All are written anew after a restart and with another configuration, which number nodes anew and
 * may have others.
 */
#ifndef SERVER_SHARES_KEPT_H
#define SERVER_SHARES_KEPT_H

#include "server/core/state.h"

/* Tell the core what is stored, before its jobs. Returns 0, or -1 with a text. Nodes that there are no more are left
 * out.
 */
int shares_load(server_t *s, berth_error_t *err);

/* Tell the core since when classes are uneven, after its jobs. The same. */
int uneven_load(server_t *s, berth_error_t *err);

/* Add to the batch what has changed, or all. Returns 0, or -1 with a text. And it is stored. */
int shares_write(server_t *s, berth_error_t *err);
void shares_stored(server_t *s);

/* All of it is to be written, with the next commit. */
void shares_renumbered(server_t *s);

#endif
