/* The loop of berthd: requests, the engine's events, time and signals drive the server, turn by turn. */
#ifndef SERVER_LOOP_H
#define SERVER_LOOP_H

#include "server/daemon/daemon.h"
#include "server/server.h"

/* Serve until told to stop. `ready` of the daemon is called once requests are answered. 0, or -1 with
 * errno and a text if it could not begin. The server and the engine belong to the caller.
 */
int loop_run(struct daemon *d, server_t *server, struct engine *engine, berth_error_t *err);

#endif
