/* The event loop of berthd: requests, engine events, timers and signals drive the server's turns. */
#ifndef SERVER_LOOP_H
#define SERVER_LOOP_H

#include "server/daemon/daemon.h"
#include "server/server.h"

/* Serve until told to stop; calls daemon_ready once requests are served. 0, or -1 with errno and a text if
 * it could not start. The caller owns the server and the engine.
 */
int loop_run(struct daemon *d, server_t *server, struct engine *engine, berth_error_t *err);

#endif
