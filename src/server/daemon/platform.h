/* The real platform: this machine's clocks, users and hardware. */
#ifndef SERVER_PLATFORM_H
#define SERVER_PLATFORM_H

#include "server/server.h"

struct platform;

/* NULL with ENOMEM. */
struct platform *platform_create(void);
void platform_destroy(struct platform *w); /* NULL is fine */

/* Fill in all but the engine and the vfs. */
void platform_fill(struct platform *w, struct server_platform *out);

#endif
