/* Starting a server of one's own. */
#ifndef CLI_CLIENT_START_H
#define CLI_CLIENT_START_H

#include <stdbool.h>

#include "berth/error.h"

/* Start berthd, which is found beside this program, and wait until it answers. Is another just being started for the
 * same directory, that one is waited for. config: a file, or NULL. 0, or -1 with errno and what berthd said.
 */
int start_server(const char *socket, const char *config, berth_error_t *err);

/* True if somebody listens at the socket. */
bool start_is_there(const char *socket);

#endif
