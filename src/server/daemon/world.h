/* The real world of a server: the clocks, the users and the hardware of this machine. */
#ifndef SERVER_WORLD_H
#define SERVER_WORLD_H

#include "server/server.h"

struct world;

/* NULL with ENOMEM. */
struct world *world_create(void);
void world_destroy(struct world *w); /* NULL is fine */

/* Clocks, boot, users and the machine; the engine and the vfs are left as they are. */
void world_fill(struct world *w, struct server_world *out);

#endif
