/* The real platform of a server: the clocks, the users and the hardware of this machine. */
#ifndef SERVER_PLATFORM_H
#define SERVER_PLATFORM_H

#include "server/server.h"

struct platform;

/* NULL with ENOMEM. */
struct platform *platform_create(void);
void platform_destroy(struct platform *w); /* NULL is fine */

/* Clocks, boot, users and the machine; the engine and the vfs are left as they are. */
void platform_fill(struct platform *w, struct server_platform *out);

#endif
